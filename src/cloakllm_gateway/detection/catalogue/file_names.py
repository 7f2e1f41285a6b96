"""Names of people in the names of files and folders: `Rechnung_Anna_Schmidt.pdf`, `/srv/Schmidt, Anna/x`.

A name is found whole or not at all: half of one tells the other half, and looks as if all were hidden.  What the
file is stays outside, but for the two letters of a CV.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

from cloakllm_gateway.detection.catalogue.letters import CAP, LOWER, UPPER
from cloakllm_gateway.detection.catalogue.model import NAMED, Pattern, example
from cloakllm_gateway.patterns import lazy

#: What files are about somebody: English, German, French, Spanish, Portuguese, Italian, Dutch, Polish.
_DOCUMENTS = (
    "cv resume résumé invoice contract payslip passport referral "
    "rechnung arztbrief lebenslauf vertrag arbeitsvertrag mietvertrag bewerbung zeugnis arbeitszeugnis befund attest "
    "rezept gehaltsabrechnung lohnabrechnung gehaltszettel lohnzettel kündigung kuendigung angebot mahnung gutachten "
    "bescheid bestätigung bestaetigung vollmacht anschreiben überweisung ueberweisung steuerbescheid ausweis reisepass "
    "facture contrat candidature ordonnance attestation bulletin devis lettre passeport "
    "factura contrato currículum curriculum solicitud nómina nomina carta informe receta pasaporte "
    "fatura fattura currículo curriculo atestado holerite contratto lettera certificato referto "
    "factuur contract sollicitatie loonstrook brief verklaring "
    "faktura umowa życiorys zyciorys zaświadczenie zaswiadczenie wypis"
).split()
_DOCUMENT = f"(?i:{'|'.join(dict.fromkeys(_DOCUMENTS))})"
#: What may stand between: a number, and of or for whom it is.
_OF = r"(?:(?i:nr|no|of|for|von|vom|für|fuer|an|de|del|di|da|do|pour|para|per|voor|van|dla)|\d{1,10})"
_WORD = rf"[{UPPER}{LOWER}]{{1,24}}"
_SUFFIX = r"\.[A-Za-z][A-Za-z0-9]{1,4}(?![A-Za-z0-9_(])"
#: What ends the name of a folder, or of a file.
_END = rf"(?=[/\\]|{_SUFFIX})"
_WORDS = lazy(r"[^\W\d_]+(?:['’][^\W\d_]+)?")


def _joined(text: str) -> int:
    """How far a name goes that words without a document before them begin with; 0 for none."""
    return _name(text, behind_document=False)


def _behind_document(text: str) -> int:
    return _name(text, behind_document=True)


def _name(text: str, *, behind_document: bool) -> int:
    """The leading words up to what is no name, if there is a given name among the first two."""
    from cloakllm_gateway.detection.name_runs import SURE, SURE_BEFORE_SURNAME
    from cloakllm_gateway.detection.name_words import FIRST_NAMES, plain
    from cloakllm_gateway.detection.surnames import SURNAMES

    words = [word for word in _WORDS.finditer(text) if word[0] != "CV"]
    low = [plain(word[0]) for word in words]
    name = low[: _size(low)]
    while name and name[-1] in _PARTICLES:
        name.pop()
    if len(name) < 2:
        return 0
    first, second, *more = name
    if more and first not in FIRST_NAMES | SURNAMES and second in SURE and FIRST_NAMES.isdisjoint(more):
        return 0  # what the file is, then the name: that is found at its own place
    is_sure = first in SURE or second in SURE
    may_be = first in SURE_BEFORE_SURNAME or second in SURE_BEFORE_SURNAME
    is_told = (behind_document and not text.islower()) or not SURNAMES.isdisjoint(name)
    return words[len(name) - 1].end() if is_sure or (may_be and is_told) else 0


#: Small words within a name: they begin no name and end none.
_PARTICLES = frozenset("von der den zu van de la del di da dos".split())


def _size(low: Sequence[str]) -> int:
    """How many leading words may be a name; the second may be a word too, behind a given name (`Ann_Price`)."""
    from cloakllm_gateway.detection.name_runs import SURE
    from cloakllm_gateway.detection.name_words import GERMAN_NOUNS, NOT_NAMES, SURNAMES_AND_WORDS

    documents = _plain_documents()
    for at, word in enumerate(low):
        if at == 1 and low[0] in SURE and word in SURNAMES_AND_WORDS:
            continue
        if 0 < at < len(low) - 1 and word in _PARTICLES:
            continue
        if word in documents or (len(word) > 1 and (word in NOT_NAMES or word in GERMAN_NOUNS) and word not in SURE):
            return at
    return len(low)


@cache
def _plain_documents() -> frozenset[str]:
    from cloakllm_gateway.detection.name_words import plain

    return frozenset(map(plain, _DOCUMENTS))


def _full_name(text: str) -> int:
    """`Anna Schmidt` as a whole."""
    from cloakllm_gateway.detection.catalogue.people import known_name

    return known_name(text)


def _family_first(text: str) -> int:
    """`Schmidt, Anna`."""
    from cloakllm_gateway.detection.catalogue.people import known_name

    family, _, given = text.replace("_", " ").partition(",")
    return len(text) if known_name(f"{given.strip()} {family}") else 0


def _account(text: str) -> int:
    """The folder of a person: not `All Users`, `Default User`."""
    from cloakllm_gateway.detection.name_words import NOT_NAMES, plain

    return 0 if plain(text.split()[0]) in NOT_NAMES else len(text)


PATTERNS = (
    Pattern(
        rf"(?<![A-Za-z0-9])(?:CV_)?{CAP}(?:_{CAP}){{1,3}}(?=[_.-][A-Za-z0-9]|[/\\])", _joined, rank=NAMED, prose=True
    ),
    Pattern(
        rf"(?<![A-Za-z0-9]){_DOCUMENT}[_-](?:{_OF}[_-]){{0,2}}({CAP}(?:[_-]{CAP}){{1,3}})(?![A-Za-z0-9(])",
        _behind_document,
        rank=NAMED,
        prose=True,
    ),
    Pattern(
        rf"(?<![A-Za-z0-9]){_DOCUMENT}[_-](?:{_OF}[_-]){{0,2}}({_WORD}(?:[_-]{_WORD}){{1,3}})"
        rf"(?=(?:[_-][A-Za-z0-9]{{1,20}}){{0,4}}{_SUFFIX})",
        _behind_document,
        rank=NAMED,
        prose=True,
    ),
    Pattern(rf"(?<=[/\\]){CAP}(?: [A-Z]\.)?(?: {CAP}){{1,3}}{_END}", _full_name, rank=NAMED, prose=True),
    Pattern(rf"(?<![^\s/\\\"']){CAP}(?: {CAP})?,[ _]?{CAP}(?: {CAP})?{_END}", _family_first, rank=NAMED, prose=True),
    Pattern(
        rf"(?<=[/\\])(?:home|Users)[/\\]{{1,4}}({CAP}(?: [A-Z]\.?)?(?: {CAP}){{1,3}})(?=[/\\])", _account, rank=NAMED
    ),
)
EXAMPLES = (
    example("Attachment: «CV_Monika_Dvorakova»_2026.pdf"),
    example("Rechnung_«Anna_Schmidt».pdf"),
    example("Gehaltszettel_Juni_«Anna_Schmidt»_2026.pdf"),
    example("«Huber_Franz»_2026/befund.pdf"),
    example("Lebenslauf_«Max_Mustermann».pdf"),
    example("see Lebenslauf-«Max-Mustermann» below"),
    example("invoice-«john-smith»-2026.pdf"),
    example("/tmp/x/«Anna Schmidt».txt"),
    example("/srv/kunden/«Schmidt, Anna»/befund.pdf"),
    example(r"C:\Users\«Anna Schmidt»\Documents"),
    example("/home/«Anna Quillon»/x"),
)
LOOKALIKES = (
    "Release_Notes_2026.pdf Python_Docker_v1",
    r"C:\Users\All Users\x C:\Users\Default User\x C:\Program Files\Common Files\x",
    "invoice-template-final.pdf contract_max_value.json cv_results_mean.csv Contract_Max_Amount.pdf",
    "/srv/San Francisco/x.txt, /opt/Google Chrome/x, Berlin, Germany.pdf",
)
