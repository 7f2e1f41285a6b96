"""What people call numbers of documents and insurances where they write about them, language by language.

The catalogue's keys are those of fields, with accents and blanks off.  In a sentence the same words stand with both,
and mostly without a colon before the number.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping

#: Category to names, divided by commas; what has no name here is told by the words of its own row.
NAMES: Mapping[str, str] = {
    "PASSPORT": "passport, travel document, Reisepass, Pass-Nr, Passnummer, passeport, pasaporte, passaporto, "
    "passaporte, paspoort, paszport, paszportu",
    "DRIVER_LICENSE": "driving licence, driving license, driver's license, driver's licence, driver license, "
    "driver licence, drivers license, drivers licence, Führerschein, permis de conduire, numéro permis, "
    "carnet de conducir, permiso de conducir, permiso de conducción, licencia de conducir, licencia de conducción, "
    "patente di guida, numero patente, carta de condução, carteira de motorista, CNH, rijbewijs, prawo jazdy, "
    "prawa jazdy",
    "NATIONAL_ID": "identity card, ID card, national ID, national identity, Ausweisnummer, Ausweis-Nr, Ausweis, "
    "Personalausweis, carte d'identité, carte nationale d'identité, CNI, documento de identidad, "
    "documento nacional de identidad, carta d'identità, carta di identità, cartão de cidadão, cartão do cidadão, "
    "bilhete de identidade, identiteitskaart, identiteitsbewijs, dowód osobisty, dowodu osobistego, numer dowodu, "
    "nr dowodu",
    "INSURANCE_NUMBER": "insurance policy, policy, member ID, health card, health insurance, KVNR, KV-Nr, "
    "KV-Nummer, Krankenversicherung, Krankenversicherungs, Krankenversicherten, Krankenkassen, Versicherten, "
    "Versichertenkarte, Versicherungs, eGK, Rentenversicherungs, RVNR, numéro d'assuré, numéro de mutuelle, "
    "numéro d'adhérent, carte vitale, tarjeta sanitaria, seguridad social, número de afiliado, número de afiliación, "
    "número de póliza, póliza, tessera sanitaria, polizza, número de utente, cartão de saúde, apólice, "
    "segurança social, polisnummer, zorgverzekerings, verzekerings, numer polisy, nr polisy, numer ubezpieczenia",
    "TAX_ID": "tax identification, Steuernummer, Steuer-Nr, St.-Nr, USt-IdNr, numéro fiscal, numéro de TVA, "
    "identificación fiscal, identificação fiscal, partita IVA, numero fiscale, btw-nummer, fiscaal nummer, "
    "numer podatkowy, tax reference",
    "MEDICAL_RECORD": "medical record, MRN, patient number, patient no, patient ID, hospital number, Patientennummer, "
    "Patienten-Nr, Patienten-ID, Krankenakten, numéro de patient, dossier médical, historia clínica, "
    "cartella clinica, prontuário, patiëntnummer, numer pacjenta, nr pacjenta",
    "EMPLOYEE_ID": "employee ID, employee no, employee number, staff ID, staff no, staff number, Personalnummer, "
    "Personal-Nr, Mitarbeiternummer, Mitarbeiter-Nr, numéro d'employé, matricule, número de empleado, "
    "numero dipendente, matricola, número de funcionário, personeelsnummer, numer pracownika, nr pracownika",
    "VIN": "VIN, vehicle identification, Fahrgestell, numéro de châssis, bastidor, telaio, chassi, chassis, nadwozia",
    "LICENSE_PLATE": "license plate, licence plate, number plate, Kennzeichen, immatriculation, matrícula, targa, "
    "kenteken, rejestracyjny",
    "VNR_AT": "SVNR, SV-Nr, SV-Nummer, Sozialversicherungs, Versicherungs",
    "NISS_BE": "rijksregister, numéro national, registre national, INSZ, NISS",
    "NHS_GB": "NHS number, NHS no",
    "NINO_GB": "National Insurance, NI number, NI no, NINO",
    "TFN_AU": "tax file number, TFN",
    "MEDICARE_AU": "Medicare",
    "NIR_FR": "sécurité sociale, numéro sécu, NIR, INSEE",
    "NIF_PT": "NIF, contribuinte",
    "STEUER_ID_DE": "Steuer-ID, Steuer-IdNr, Steueridentifikations, Identifikationsnummer, IdNr",
    "BSN_NL": "BSN, burgerservice, sofinummer",
    "PESEL_PL": "PESEL",
    "CODICE_FISCALE_IT": "codice fiscale",
    "DNI_ES": "DNI, NIF",
    "AHV_CH": "AHV-Nummer, AHV-Nr, AVS",
    "SIN_CA": "social insurance",
}  # fmt: skip

#: How a name may go on to say that it is of a number; German and Dutch write it in the same word.
SIGN = r"(?:s?[ _-]?(?:nummer|number|num|nr|no|code))?"


def said(category: str) -> str:
    """An expression for what a category is called, in any case; nothing where it has no names here.

    Accents may be left off, blanks be hyphens, underscores or missing.

    >>> said("PESEL_PL")
    'pesel'
    """
    return "|".join(map(_expression, NAMES.get(category, "").split(", "))) if category in NAMES else ""


def _expression(name: str) -> str:
    return "".join(_written(char) for char in unicodedata.normalize("NFC", name).lower())


def _written(char: str) -> str:
    if char in _BETWEEN:
        return _BETWEEN[char]
    if char.isascii():
        return char
    return (
        f"(?:[{_BARE.get(char) or unicodedata.normalize('NFD', char)[0]}{char}{char.upper()}]{_SPREAD.get(char, '')})"
    )


#: What stands between words, and after an article that lost its vowel.
_BETWEEN = {" ": "[ _-]?", "-": "[ _.-]{0,2}", "'": "[ '’_]?", ".": r"\.?"}
#: Letters that no accent makes, and those that are two letters without one.
_BARE, _SPREAD = {"ł": "l"}, {"ü": "e?", "ä": "e?", "ö": "e?"}
