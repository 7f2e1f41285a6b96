"""How people say that one can call somebody, by language, and what the numbers of its countries look like.

A national number is a row of digits like any other, and a word of calling beside it alone does not tell it from an
order, a date or hours: so it has to be as long, and begin, as numbers do where the language is spoken, and in one piece
it counts only where nothing that is numbered otherwise is named between the two.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from typing import NamedTuple

from cloakllm_gateway.detection.catalogue.checks import Proof, digits
from cloakllm_gateway.detection.catalogue.model import CONTEXT, Pattern
from cloakllm_gateway.patterns import lazy


class Calling(NamedTuple):
    """The words of a language, how a number begins that is written behind them, and its digits as a whole.

    ``behind`` are words that follow a number.  Accents may be left out.
    """

    words: str
    begins: str
    number: str
    behind: str = ""


CALLING: dict[str, Calling] = {
    "de": Calling(
        r"rückruf(?:bitte|nummer|nr)?|rufe?|rufen|ruft|an(?:zu|ge)?rufen?|zurück(?:zu|ge)?rufen|anruf|wählen|wähle"
        r"|telefonat|telefonisch|telefonier(?:en|t)|telefonn(?:umme)?r|handyn(?:umme)?r|mobiln(?:umme)?r|mobilfunk"
        r"|festnetz(?:nummer)?|rufnr|notruf|notfallnummer|kontakt(?:nummer|ieren|iert)?|anschluss|melden?|meldet"
        r"|erreich(?:en|bar|t|e|st)|durchwahl|servicenummer"
        r"|(?:mein|dein|sein|ihr|unser|d|folgend)(?:e|er)(?: neue| alte)? nummer"
        r"|(?:sie|mich|uns|ihn|ihr|man|bin|ist|sind|auch|gerne?|jederzeit|immer|direkt|an|bitte|nur|werktags|sich)"
        r" unter",
        r"\(?0[1-9]",
        r"0[1-9]\d{6,11}",  # Germany, Austria, Switzerland
        r"an(?:zu)?rufen|zurück(?:zu)?rufen|(?:zu )?erreichen|erreichbar|nicht erreicht",
    ),
    "fr": Calling(
        r"(?:r?appel(?:ez|le|er|ons)|contact(?:ez|er)|joindre|joignez|télépho(?:ner|nez|ne))(?:[ -](?:moi|nous|le|la))?"
        r"|joignables?|contact|fixe|composez|composer|ligne directe|standard|portable|mobile|coordonnées"
        r"|(?:mon|ton|son|notre|votre|leur|le|au|du)(?: nouveau)? numéro|je suis(?= au)|téléphone",
        r"\(?0[1-9]",
        r"0[1-9]\d{7,8}",  # France, Switzerland; Belgium has one digit less in places
    ),
    "es": Calling(
        r"llám[ae](?:me|nos|le|lo|la)|llam[ae]|llamen|llamar(?:me|nos|le|lo|la)?|llamada|marque|marcar|contact[eoa]"
        r"|contáct(?:eme|enos|ame|anos)|contactar(?:me|nos)?|localizable|escríb(?:e|a)me|móvil|celular|tfno|tlfn?o?"
        r"|fijo|teléfonos?|cel(?=[.:] )|(?:mi|su|tu|nuestro|el|al)(?: nuevo)? número",
        r"\(?[1-9]",
        r"[6-9]\d{8}|[2-9]\d{9}|11\d{8}|[29]\d{8}",  # Spain, Chile, Peru; Mexico, Colombia, Argentina
    ),
    "it": Calling(
        r"chiam(?:ami|aci|atemi|ateci|are|arlo|arla|armi|arci|i|ate)|richiam(?:are|armi|ami|i)|telefon(?:are|ami|i)"
        r"|contatt(?:armi|arci|ami|aci|atemi|ateci|are|i)|reperibile|raggiungibile|recapito|cellulare|fisso|utenza"
        r"|mi trov[ia]|trovarmi|numero verde|telefono|(?:mio|suo|tuo|nostro|al|il)(?: nuovo)? numero",
        r"\(?[03]\d|800",
        r"3\d{8,9}|0[1-9]\d{5,9}|800\d{6}",
    ),
    "pt": Calling(
        r"lig(?:ue|a)(?:-(?:me|nos))?|ligar(?:-me)?|telefon(?:ar|e|a)(?:-me)?|chama(?=[ ](?:no|me))|contact[oe]|contato"
        r"|contact(?:ar|ar-me|e-me)|telemóvel|telm|celular|fixo|zap|zapzap"
        r"|(?:meu|seu|nosso|teu|o|no|pelo)(?: novo)? número|telefones?",
        r"\(?[0-9][1-9]|0800",
        r"[2-9]\d{8}|0?[1-9][1-9](?:9\d{8}|[2-5]\d{7})|0800\d{6,7}",  # Portugal; Brazil
    ),
    "nl": Calling(
        r"bel(?:t|len|de)?|gebeld|terug(?:te)?bel(?:len|verzoek|nummer)?|opbellen|telefoon(?:nummer|nr)?|mobiel(?:nummer)?"
        r"|bereik(?:baar|en)|contact|(?:mijn|zijn|haar|ons|het|uw|je)(?: nieuwe)? nummer"
        r"|app(?= me| mij| ons)|appen|vast(?=:)|gsm",
        r"\(?0[1-9]",
        r"0[1-9]\d{7,8}|0[89]00\d{4}",  # the Netherlands, Belgium
        r"(?:terug)?bellen",
    ),
    "pl": Calling(
        r"(?:za|od)?dzwo(?:nić|ń|nię|ńcie|ni|nisz)|kontakt|telefon(?:u|icznie)?|numer(?:em|u|ze)?|infolinia|stacjonarny"
        r"|komórk[aęi]|komórkowy",
        r"\(?[1-9]\d",
        r"[1-9]\d{8}",
    ),
    "ru": Calling(  # and the other languages of its alphabet
        r"(?:по|пере|до)?зво(?:ните|нить|ни)|наб(?:ери|ерите|рать)|телефону?|номеру?|мобильный|моб|сотовый|тел|контакт"
        r"|связь|ватсап|вотсап|смс|телефонуйте|дзвоніть|зателефонуйте|подзвоніть",
        r"\(?[0378494]",
        r"[78]\d{10}|[3489]\d{9}|0[3-9]\d{8}",  # Russia, Kazakhstan; without trunk prefix; Ukraine
    ),
    "sv": Calling(
        r"telefon(?:nummer|nr)?|mobil(?:nummer|telefon|nr)?|tfn|tel|nås|når (?:mig|oss)|kontakta?|ring"
        r"|(?:mitt|vårt|hans|hennes) nummer",
        r"\(?0[1-9]",
        r"0[1-9]\d{5,8}",
    ),
    "da": Calling(  # and Norwegian
        r"(?:telefon|mobil|direkte|kontakt)(?:nummer|nr)?|kontakte?|træffes|nås"
        r"|(?:mit|mitt|hans|hendes|vores|vårt) nummer",
        r"[2-9]\d",
        r"[2-9]\d{7}",
    ),
    "cs": Calling(  # and Slovak
        r"(?:za|při)?vol(?:ejte|ej|at|ajte|aj)(?: mi)?|telefonní|telefónne|(?:moje|mé|naše) číslo|telefonu|kontakt"
        r"|zastižení|k dispozici",
        r"0?[2-9]\d",
        r"0?[2-9]\d{8}",
    ),
    "tr": Calling(
        r"arayın(?:ız)?|beni ara|telefonu?|cep(?: telefonu)?|numara(?:m|mız)|(?:i|İ)letişim|bana(?= 0)|ulaşın",
        r"\(?0? ?\(?[2-58]\d",
        r"0?[2-58]\d{9}",
        r"numara(?:lı|sı|sını|sına|sından|ya|yı|dan)?",
    ),
}  # fmt: skip

#: What has numbers of its own: parts of words in any language, and short ones that are whole.
_NUMBERED = (
    r"auftrag|bestell|rechnung|vertrag|vorgang|aktenz|artikel|serien|kunden-?n|konto|beleg|sendung|steuer|lieferschein"
    r"|buchung|mitglied|personaln|matrikel|commande|dossier|factu|client|contrat|compte|série|suivi|colis|pedido"
    r"|fatur|fattur|cuenta|expediente|ordin[ei]|pratica|encomenda|processo|código|codice|protocol|prenotazion|bestelling"
    r"|klantn|van de polis|rekening|zamówieni|faktur|klient|konta|umow|spraw|zgłoszeni|paczk|przesył|ordre|ärende"
    r"|objedn|smlouv|sipariş|sözleşme|takip|versi|wersj|заказ|счет|счёт|договор|клиент|заявк|обращени|верси|заявлени"
    r"|ticket|referen[zc]|tracking|order|invoice|account|build|release|code|€|isbn|iban"
    r"|(?<![a-z])(?:az|plz|nip|pesel|regon|nif|dni|nie|kvk|sag|sak|chf|siret|siren|ičo|инн|код|дело|дела|zaak|fall"
    r"|id|ref|case|pin|tan|port|ip|eur|tc|model|modell)(?![a-z])"
)

#: What a number does not go on with: letters, more digits, money, the hours that it would be.
_TAIL = r"(?![A-Za-z0-9]|[.:,-]\d|[ ]?(?:[€$£%]|(?i:eur|usd|chf|zł|kč|kr|uhr|uur|h|руб|tl)(?![a-z])))"


def _written(words: str) -> str:
    """Words in any case, with their accents or without."""
    return words.translate({ord(char): _spellings(char) for char in set(words) if not char.isascii()})


def _spellings(char: str) -> str:
    bare = _WITHOUT_STROKE.get(char) or unicodedata.normalize("NFD", char)[0]
    return f"[{''.join(dict.fromkeys((bare if bare.isascii() else '') + char + char.upper()))}]"


_WITHOUT_STROKE = {"ł": "l", "ı": "i", "æ": "æ", "ø": "o"}

#: Dates, and hours from one to the other.
_OTHERWISE = lazy(
    r"\A(?:19|20)\d\d ?[-–/] ?(?:19|20)\d\d\Z|(?<!\d)(?:19|20)\d\d[-./ ]?[01]\d[-./ ]?[0-3]\d(?!\d)"
    r"|(?<!\d)[0-3]?\d([-./ ])[0-3]?\d\1(?:19|20)\d\d(?!\d)"
    r"|(?<![\d.])[0-3]?\d\.[01]?\d\.\d\d(?= |\Z)"
    r"|\A[0-2]?\d[.][0-5]\d[ /-]{1,3}[0-2]?\d[.][0-5]\d"
)
#: Thousands set apart by dots.
_AMOUNT = lazy(r"[1-9]\d{0,2}(?:\.\d{3})+")


def _numbered(number: str) -> Proof:
    """The proof of what is a number of some countries, or begins with one that is a group of its digits less."""
    plan = lazy(number)

    def proof(text: str) -> int:
        if _OTHERWISE.search(text) or _AMOUNT.fullmatch(text) or len(set(digits(text))) < 2:
            return 0
        ends = (len(text), *(gap.start() for gap in reversed([*_GAP.finditer(text)])))
        return next((end for end in ends if plan.fullmatch(digits(text[:end]))), 0)

    return proof


_GAP = lazy(r"[^\d(]+")


def patterns(separator: str) -> Iterator[Pattern]:
    """A pattern for each language: its words, and a number that is not that of something else."""
    gap = r"[^\d\n+(]{0,24}"
    other = rf"(?!{gap}(?i:{_written(_NUMBERED)}){gap}\d{{1,15}}(?:-\d{{1,9}}){{0,3}}(?![ ./()-]?\d))"
    for said in CALLING.values():
        words = rf"(?<![A-Za-zÀ-žЀ-ӿ])(?i:{_written(said.words)})(?![A-Za-zÀ-žЀ-ӿ])"
        number = rf"((?:{said.begins})(?:{separator}\d){{5,13}})"
        proof = _numbered(said.number)
        yield Pattern(rf"{words}{other}{gap}\n?[ ]{{0,4}}{number}{_TAIL}", proof, rank=CONTEXT)
        if said.behind:
            yield Pattern(
                rf"(?<![A-Za-z0-9+./_:#-]){number}[ ]{{1,2}}(?i:{_written(said.behind)})(?![A-Za-zÀ-ž])",
                proof,
                rank=CONTEXT,
            )
