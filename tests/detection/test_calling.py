"""National numbers beside words of calling in many languages, and what has such words and is no number."""

from __future__ import annotations

import re

import pytest

from cloakllm_gateway.detection.catalogue.calling import CALLING
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

#: One sentence a line, its number between marks.
CALLS = {
    "de": """
Rückruf unter «0171 1234567»
Ruf mich an: «0171 1234567»
Bitte anrufen: «0171 1234567»
Bitte um Rückruf: «030 / 901820»
Telefonisch erreichbar unter «0171 1234567»
Sie erreichen mich unter «0151-23456789» ab 9 Uhr
Du kannst mich auf «0176 98765432» anrufen
Rufen Sie uns unter der Nummer «089 1234567» an
Kontakt unter «0221/4710815»
Durchwahl «030 90182-123»
Mobil: «0160 9988776»
Meine Handynummer ist «01711234567».
Telefonnummer: «0431 988-1234»
Rückrufnummer «040 4286312»
WhatsApp «0171 1234567»
Festnetz: «06221 542345»
Notfallnummer «0664 1234567»
Wählen Sie «0800 1234567»
Rufnr. «0171-1234567»
Melde dich bei mir: «0171 1234567»
Tel.: «044 668 18 00»
Telefonat mit «079 123 45 67» geführt
Wir haben Sie unter «0171 1234567» nicht erreicht.
erreicht man sie unter «0171/1234567»
Sein Anschluss ist «0711 2345678»
Fax «0711 2345679»
ich bin unter «0171 1234567» zu erreichen
SMS an «0171 1234567»
anrufen unter «0171 1234567»
""",
    "fr": """
Appelez-moi au «06 12 34 56 78»
Appelle-moi au «06.12.34.56.78» ce soir
Tél. «01 42 68 53 00»
Téléphone : «01 42 68 53 00»
Portable : «0612345678»
Vous pouvez me joindre au «07 61 23 45 67»
joignable au «06 12 34 56 78»
Rappelez le «04 91 12 34 56»
Merci de me rappeler au «06 12 34 56 78»
contactez-nous au «01 23 45 67 89»
Contact : «01 23 45 67 89»
Fixe «02 40 12 34 56»
Mon numéro : «06 12 34 56 78»
Mon numéro est le «06 12 34 56 78»
numéro de téléphone «0475 12 34 56»
Composez le «0800 12 34 56»
Envoyez un SMS au «06 12 34 56 78»
ligne directe «022 327 41 11»
je suis au «06 12 34 56 78» pour un appel
téléphoner au «05 56 12 34 56»
Mobile 06 : «06-12-34-56-78»
par téléphone au «03 88 12 34 56»
Standard : «01 42 68 53 00»
appelez le «01 42 68 53 00»
WhatsApp : «06 12 34 56 78»
""",
    "es": """
Llámame al «612 34 56 78»
Llámame al «612 345 678»
Llamame al «612345678»
Llame al «91 123 45 67»
Puede llamarme al «612 345 678»
Móvil: «612 34 56 78»
Teléfono «93 412 34 56»
Tfno. «934 12 34 56»
Tlf: «612345678»
Mi número es «612 345 678»
Mi número es el «612 345 678»
contacte con nosotros en el «900 123 456»
Marque el «902 123 456»
Celular: «55 1234 5678»
Cel. «300 123 4567»
WhatsApp «11 2345-6789»
Número de teléfono: «612-345-678»
estoy en el teléfono «612 345 678»
localizable en el «612 345 678»
Devolver la llamada al «612 345 678»
Contacto: «612 345 678»
Fijo: «912 345 678»
por teléfono al «612 345 678»
""",
    "it": """
Chiamami al «347 1234567»
Mi chiami al «347 123 4567»
Chiamare il «02 12345678»
Cellulare: «3471234567»
Cell. «347/1234567»
Tel. «06 12345678»
Telefono «011 1234567»
Il mio numero è «347 1234567»
Può contattarmi al «347 1234567»
contattatemi al numero «347 1234567»
Recapito: «349 8765432»
richiamare al «081 1234567»
telefonare allo «055 123456»
numero di telefono «347-1234567»
reperibile al «347 1234567»
Fisso «02 1234 5678»
numero verde «800 123 456»
Scrivimi su WhatsApp al «347 1234567»
Mi trovi al «347 1234567»
sms al «347 1234567»
Utenza «333 1234567»
""",
    "pt": """
Ligue-me para o «912 345 678»
Liga-me para «912345678»
Telemóvel: «912 345 678»
Celular: «(11) 91234-5678»
Telefone «21 123 45 67»
Tel. «213 456 789»
O meu número é «912 345 678»
Meu número é «11 91234-5678»
Ligar para «(21) 2345-6789»
Contacto: «912 345 678»
Contato: «(11) 91234-5678»
me chama no WhatsApp «11 91234 5678»
Telefonar para o «912 345 678»
ligue para «0800 123 4567»
pode contactar-me pelo «912 345 678»
número de telefone: «912-345-678»
Fixo «(11) 3456-7890»
Telm. «912 345 678»
Zap: «(11) 91234-5678»
""",
    "nl": """
Bel me op «06 12345678»
Bel mij: «06-12345678»
Bel «020 123 4567» voor
U kunt mij bellen op «06 1234 5678»
Telefoon: «030-1234567»
Telefoonnummer «0612345678»
Mobiel: «06 12 34 56 78»
bereikbaar op «06-12345678»
te bereiken op «020-1234567»
Mijn nummer is «06 12345678»
terugbellen op «06 12345678»
Graag terugbelverzoek: «06 12345678»
Gsm «0475 12 34 56»
app me op «06 12345678»
Neem contact op via «010 1234567»
Contact: «06-12345678»
Vast: «030 123 45 67»
stuur een sms naar «06 12345678»
Tel «0475/12.34.56»
""",
    "pl": """
Zadzwoń: «601 234 567»
Proszę dzwonić pod «601 234 567»
Zadzwoń do mnie pod numer «601-234-567»
Telefon: «22 123 45 67»
Tel. «601234567»
Komórka: «601 234 567»
tel. kom. «601 234 567»
Mój numer to «601 234 567»
numer telefonu «601 234 567»
Kontakt: «601 234 567»
kontakt pod numerem «(22) 123 45 67»
oddzwonić na «601 234 567»
Proszę o telefon na «601 234 567»
Wyślij SMS na «601 234 567»
infolinia «801 234 567»
zadzwonić na numer «601 234 567»
jestem pod numerem «601 234 567»
stacjonarny «22 123-45-67»
nr tel. «601 234 567»
WhatsApp «601 234 567»
""",
    "ru": """
позвоните «8 912 345-67-89»
Позвоните мне: «8 (912) 345-67-89»
Телефон «8 495 123-45-67»
тел. «89123456789»
моб. «8 912 345 67 89»
мобильный: «8-912-345-67-89»
Звоните по номеру «8 800 555-35-35»
Мой номер «8 912 345-67-89»
Мой номер: «912 345-67-89»
перезвоните на «8 912 345 67 89»
перезвонить по «8(495)123-45-67»
номер телефона «8 912 345-67-89»
набери меня «8 912 345-67-89»
Связь по «8 912 345-67-89»
контакт: «8 912 345-67-89»
Ватсап «8 912 345-67-89»
сотовый «8 912 345-67-89»
рабочий телефон: «(495) 123-45-67»
пишите в WhatsApp «8 912 345-67-89»
смс на «8 912 345-67-89»
""",
    "sv": """
Ring mig på «070-123 45 67»
Ring «08-123 456 78»
Telefon: «031-12 34 56»
Mobil «070 123 45 67»
nås på «070-1234567»
Mitt nummer är «070-123 45 67»
Mobilnummer: «0701234567»
tfn «08-12 34 56 78»
tel. «070-123 45 67»
Kontakta mig på «070-123 45 67»
sms:a «070-123 45 67»
du når mig på «070-123 45 67»
""",
    "da": """
Ring til mig på «20 12 34 56»
Ring «33 12 34 56»
Tlf. «20123456»
Telefon: «33 12 34 56»
Mobil «2012 3456»
Mit nummer er «20 12 34 56»
kan træffes på «20 12 34 56»
Kontakt: «20 12 34 56»
sms til «20 12 34 56»
ring tilbage på «20 12 34 56»
""",
    "no": """
Ring meg på «912 34 567»
Ring «22 12 34 56»
Tlf. «91234567»
Telefon: «22 12 34 56»
Mobil «912 34 567»
Mobilnummer «912 34 567»
Mitt nummer er «912 34 567»
kan nås på «912 34 567»
Kontakt: «912 34 567»
send sms til «912 34 567»
""",
    "cs": """
Zavolejte mi na «601 234 567»
Zavolej «601234567»
Telefon: «224 123 456»
tel. «601 234 567»
Mobil: «601 234 567»
Volejte «800 123 456»
Moje číslo je «601 234 567»
telefonní číslo «601 234 567»
kontakt: «601 234 567»
k zastižení na «601 234 567»
volat na «601 234 567»
""",
    "tr": """
Beni arayın: «0532 123 45 67»
Beni ara «0532 1234567»
Telefon: «0212 123 45 67»
Tel: «0532 123 4567»
Cep: «0532 123 45 67»
cep telefonu «0 532 123 45 67»
numaram «0532 123 45 67»
Telefon numaram «0532 123 45 67»
bana «0532 123 45 67» numarasından ulaşabilirsiniz
«0532 123 45 67» numaralı telefondan arayın
İletişim: «0532 123 45 67»
GSM «0532 123 45 67»
WhatsApp «0532 123 45 67»
""",
}

#: One sentence a line, without a telephone number.
OTHERS = {
    "de": """
Rückruf am 01.02.2026 um 14:30 Uhr
Rückruf zu Auftrag 0123456789
Rückruf wegen Bestellung 012-3456789
Ruf mich am 03.04.2026 an
Ruf mich an: 08.30 - 12.00 Uhr
Bitte anrufen zwischen 08.00 und 17.00 Uhr
Telefonisch erreichbar 08.30-12.00
Telefonisch erreichbar 0800-1200 Uhr
Telefonisch erreichbar Mo-Fr 09:00-17:00
Kontakt Kundennummer 0123456789
Kontakt: Rechnung 01234-5678
Handy für 0,99 €
Mobilfunk 2026-03-01 bis 2026-06-30
Anruf vom 12.11.2025, Dauer 00:04:12
Telefonat am 1.2.26 geführt, Ticket 4711815
Wir haben 2.500.000 Anrufe erreicht
Erreicht wurden 1234567 Haushalte
Die Durchwahl ändert sich ab 01.03.2026
Melden Sie sich bis 05.06.2026
Meldet sich mit Code 0123456
Wählen Sie 3 oder 4
Wählen Sie Artikel 0815-4711-22
Anschluss 0-10 V, 0,2 A
Anschluss von Gleis 12 um 12:05
Der Zug erreicht 250 km/h nach 0:12:34
Die Methode ruft 0x01234567 auf
rufe Vorgang 2026-0001234 auf
Rückrufaktion 2024: 1.234.567 Autos
IBAN auf Anruf: 1234 5678 9012
Festnetz 19,90 EUR, ab 01.07.2026
Notruf 112 und 110
erreichbar ab 10.12.2025 08.00 Uhr
Rückruf: PLZ 01067 Dresden
Rückruf in 0123456 ms
Anruf am 24.12.25
Wir melden 12345678 Fälle
Wählen Sie Version 1.2.3.4.5.6.7.8
""",
    "fr": """
Appelez-moi le 01/02/2026 à 14h30
Appelez le 03.04.2026
Appelez au sujet de la commande 0123456789
Mobile à 199,99 €
Standard ouvert 08.30-12.00
Standard ouvert de 08h30 à 12h00
joignable du 01/03/2026 au 05/03/2026
Votre numéro de client 0123456789
Votre numéro de commande : 0612345678
le numéro de dossier 0123456789
numéro de série 0123456789
Composez 3 puis 2
La fixe est de 1 234 567 €
Coordonnées 48.8566, 2.3522
Coordonnées GPS 48.856613 2.352222
joindre le fichier 20260301_001
Appel du 12 janvier 2026 : durée 00:12:45
Rappel du dossier 0123456789
Portable 15 pouces 1920 1080
contactez avant le 05.06.2026
Code client au standard 123456
Appelle la fonction 3 fois, 1000 ms
Fixe : 35 000 euros
au numéro 12 de la rue
téléphone 128 Go 899 €
Rappeler le 05-06-2026
Contact 2026-11-30 10:00
Le standard ISO 9001 2015
Composer avec 10 20 30 40
""",
    "es": """
Llámame el 01/02/2026 a las 14:30
Llámame por el pedido 612345678
Llamar el 03-04-2026
Móvil 199,99 €
Llamada del 12/11/2025, 00:04:12
Llamada de 20260301
Contacto: factura 612345678
Contacte antes del 05.06.2026
Su número de cliente 612345678
el número de expediente 912345678
mi número de pedido 612345678
Fijo de 1.234.567 €
Fijo 35.000
Marque 1 o 2
Celular de 128 GB por 5.999 pesos
llama a la función 1000 veces
llama 2026-11-30 10:00:00
Localizable de 08.30-14.00
Localizable entre 08:00 y 17:00
El número 12345678
Llamadas: 1.234.567
Llame de 9 a 14 h
Móvil 2024: 45.678.901 líneas
Llamada con código 612345678
cuenta de contacto 123
llamar a las 10.30 o 12.45
Contacto con DNI 12345678
Escríbeme el 10 de 12 de 2025
""",
    "it": """
Chiamami il 01/02/2026 alle 14:30
Chiamami per l'ordine 3471234567
Chiamare il 03.04.2026
Cellulare a 199,99 €
Fisso 35.000 €
Telefono 128 GB 899 €
Chiamata del 12/11/2025 durata 00:04:12
Chiamate: 1.234.567
contattare per la pratica 0123456789
il numero 12
Contatti 2026-03-01
reperibile 08.30-12.00
reperibile dalle 08:00 alle 17:00
reperibile dal 01.03.2026
raggiungibile in 3 ore e 30
Recapito entro il 05/06/2026
Utenza luce codice 0123456789
Utenza gas contratto 3471234567
richiama la funzione 1000 volte
chiama 2026-11-30 10:00:00
Cellulare 2024: 45.678.901 linee
telefonare dopo il 10.12.25
Chiama entro 30 minuti
Recapito: fattura 01234-5678
telefono 1080 x 1920
contattami alle 10.30
Fisso 2,5% di 1000000
trovarmi il 05-06-2026
""",
    "pt": """
Ligue-me em 01/02/2026 às 14:30
Ligue sobre a encomenda 912345678
Ligar em 03.04.2026
Telemóvel a 199,99 €
Celular versão 12.0.1.2345678
Celular R$ 1.999,90
Fixo 35.000 €
Chamada de 12/11/2025, 00:04:12
Contacto: fatura 912345678
Contato até 05/06/2026
Meu número de pedido 912345678
O número de processo 912345678
o número de cliente 912345678
no número 12
Telefone 128 GB 899 €
Telefone: 1 a 5 de 2026
ligar das 08.30-12.00
ligar entre 08:00 e 17:00
liga a função 1000 vezes
liga 2026-11-30 10:00:00
Fixo: 1.234.567 assinantes
Celular 2024: 45.678.901 linhas
contactar antes de 10.12.25
Telefonar em 30 minutos
contato com código 912345678
Contacto ticket 912345678
pelo número 3
Ligue a tomada 220 240 V
Liga: 10 000 000 €
telefonar dia 05-06-2026
Zap em 24/12/2025
""",
    "nl": """
Bel me op 01-02-2026 om 14:30
Bel over bestelling 0123456789
Bel op 03.04.2026
Mobiel voor 199,99 €
Mobiel abonnement 0,99 euro
bereikbaar 08.30-12.00 uur
bereikbaar 0800-1200 uur
bereikbaar van 09:00 tot 17:00
bereikbaar vanaf 05-06-2026
te bereiken in 0:45
mijn nummer 12
het nummer van de polis 0123456789
uw nummer bij rekening 012345678
Gebeld op 12/11/2025, duur 00:04:12
terugbellen zaak 0123456789
bellen na 10.12.25
Vast 35.000 €
gsm 2024: 45.678.901 lijnen
belt de functie 1000 keer
Bel binnen 30 minuten
contact op 2026-11-30 10:00:00
bereiken 1.234.567 mensen
telefoonnummer volgt 01-03-2026
bellen met code 0123456789
bel 3 keer
mobiel 0,5 procent
opbellen ticket 0612345678
""",
    "pl": """
Zadzwoń 01.02.2026 o 14:30
Zadzwoń w sprawie zamówienia 601234567
Dzwonić po 03-04-2026
Telefon za 199,99 zł
numer 12
Kontakt: zgłoszenie 601234567
Kontakt do 05.06.2026
kontakt w godz. 08.30-16.00
dzwonić w godz. 08:00-16:00
dzwoniłem 12.11.2025
infolinia czynna 08.00-20.00
stacjonarny 35 000 zł
komórki 1.234.567
telefonu 128 GB
telefonicznie do 10.12.25
dzwonić za 30 minut
numer PESEL 44051401359
kontakt 2026-11-30 10:00:00
numeru wersji 1.2.3.4.5.6.7
stacjonarny 2024: 45.678.901 linii
zadzwonić z kodem 123456
telefon 1080 x 1920
""",
    "ru": """
позвоните 01.02.2026 в 14:30
позвоните по заказу 8912345678
Позвоните до 03-04-2026
Телефон за 19 990 руб
Телефон за 89 123 456 789 руб
номеру заказа 89123456789
по номеру договора 89123456789
номер 12
номер заявки 89123456789
Контакт: счет 89123456789
контакт до 05.06.2026
звонить с 08.30-16.00
звонить с 08:00 до 16:00
звоните 12.11.2025
связь 4,5 балла
связь 2024: 45.678.901 линий
мобильный интернет 500 000 000
сотовый за 9 990
тел. аппарат 300
телефон 128 ГБ
перезвонить через 30 минут
набери код 8912345678
наберите 112
номер ИНН 3912345678
мобильный 2026-11-30 10:00:00
смс 10.12.25
звонить клиент 89123456789
позвони 3 раза
по номеру дела 89123456789
""",
    "sv": """
Ring mig den 2026-02-01 kl 14:30
nås 08.30-12.00
nås kl 08:00-17:00
kontakta oss senast 2026-06-05
mobil för 1 999 kr
mitt nummer 12
kontakta om faktura 0701234567
kontakt ärende 0701234567
tel 128 GB
telefonnummer kommer 2026-03-01
mobiltelefon 0,5 procent
ring om 30 minuter
tfn öppen 08.00-16.00
ring 3 gånger
""",
    "da": """
Ring til mig den 01.02.2026 kl. 14.30
træffes 08.30-12.00
træffes kl. 08.00-16.00
kontakt faktura 20123456
kontakt sag 20123456
kontakt senest 05.06.2026
kontakt 2026-11-30
mobil for 1.999 kr
mit nummer 12
telefon 128 GB
telefonnummer følger 01-03-2026
mobil version 12.0.1.23
mitt ordrenummer 20123456
kontakt ordre 20123456
nås 30 minutter
direkte 45.678.901
direkte 24 12 34 56 kr
""",
    "cs": """
Zavolejte 01.02.2026 v 14:30
Zavolejte ohledně objednávky 601234567
volat po 03-04-2026
telefonu za 1 999 Kč
kontakt faktura 601234567
kontakt do 05.06.2026
moje číslo 12
k dispozici 601.234.567 Kč
k dispozici 234 567 891 Kč
k dispozici 08.30-16.00
telefonní číslo bude 01.03.2026
volat za 30 minut
kontakt 2026-11-30 10:00:00
kontakt smlouva 601234567
volej 3 krát
telefonu 128 GB
zavolej 10.12.25
""",
    "tr": """
beni ara 01.02.2026 saat 14:30
telefon 1.999 TL
numara 12
sipariş numarası 5321234567
numarası sipariş 5321234567
iletişim 08.30-16.00
iletişim 05.06.2026
iletişim fatura 5321234567
cep 128 GB
ulaşın 2026-11-30 10:00:00
arayın 10.12.25
telefonu 5 000 000 000 TL
müşteri numarası 5321234567
numaram 3
takip numarası 5321234567
""",
    "tech": """
call 3 times: retry 0123456
mobile: 375px 812px 1024px
const port = 30123; // contact 01234
contact_id 123456789
telefon_id=601234567
standard: 2026 11 30 0001
standard ISO 0123456789abc
nummer = 0123456789
numero = 3
fixe 12 34 56 78 9
contact.rs:123:45 0612345678901234
"le numéro": 12
cel.width 612345678.0
bel 0 07 08 09
volat 20 30 40 50
standard 0x0123456789
standard deviation 0.123456789
direkte 20260101
kontakt 20260101
""",
}


def sentences(blocks: dict[str, str]) -> list[object]:
    return [pytest.param(block.strip().split("\n"), id=language) for language, block in blocks.items()]


@pytest.fixture(scope="module")
def detector() -> Detector:
    return Detector()


def numbers(detector: Detector, text: str) -> list[str]:
    return [span.value for span in detector.find([Text(text)])[0] if span.category == "PHONE"]


@pytest.mark.parametrize("lines", sentences(CALLS))
def test_a_number_beside_a_word_of_calling_needs_no_locale(lines: list[str], detector: Detector) -> None:
    for line in lines:
        marked = re.search("«(.*)»", line)
        assert marked is not None
        found = "".join(numbers(detector, line.replace("«", "").replace("»", "")))
        assert re.sub(r"\D", "", marked[1]) in re.sub(r"\D", "", found), line


@pytest.mark.parametrize("lines", sentences(OTHERS))
def test_what_is_numbered_dated_or_priced_beside_such_a_word_stays(lines: list[str], detector: Detector) -> None:
    assert [line for line in lines if numbers(detector, line)] == []


def test_every_language_of_the_table_is_tried() -> None:
    assert CALLING.keys() <= CALLS.keys()
    assert CALLING.keys() <= OTHERS.keys()


def test_words_of_calling_count_in_capitals_and_without_their_accents(detector: Detector) -> None:
    assert numbers(detector, "RÜCKRUF UNTER 0171 1234567") == ["0171 1234567"]
    assert numbers(detector, "Llamame al 612 345 678") == ["612 345 678"]
    assert numbers(detector, "ПОЗВОНИТЕ 8 912 345-67-89") == ["8 912 345-67-89"]


def test_a_number_ends_where_its_country_ends_it(detector: Detector) -> None:
    assert numbers(detector, "Appelez-moi au 06 12 34 56 78 10 fois") == ["06 12 34 56 78"]
    assert numbers(detector, "Zadzwoń: 601 234 567 8-16") == ["601 234 567"]


def test_a_number_in_groups_counts_whatever_is_named_before_it(detector: Detector) -> None:
    assert numbers(detector, "Kontakt für Bestellungen: 0171 1234567") == ["0171 1234567"]
    assert numbers(detector, "Rappelez le client au 06 12 34 56 78") == ["06 12 34 56 78"]
    assert numbers(detector, "Llame al cliente 612 345 678") == ["612 345 678"]


def test_a_key_of_calling_counts_as_a_word(detector: Detector) -> None:
    assert numbers(detector, '{"Kontakt": "0171 1234567"}') == ["0171 1234567"]
