"""Names recognised by context: by what stands before, behind and beside a word that no list knows.

Only people smile, have a brother and are given an address; who speaks in a
dialogue is somebody, and so is everybody in a row with somebody; a surname
stands again for whoever was named in full before.  All of it is English but
for the shapes of surnames.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from functools import cache

from cloakllm_gateway import linear
from cloakllm_gateway.detection.name_runs import CAPITALISED, GLUED_AFTER, PERSON, SURE, WORD, Found, glued_before
from cloakllm_gateway.detection.name_words import (
    ACTS,
    AMBIGUOUS_NAMES,
    ARTICLES,
    CALENDAR,
    CUES_AFTER,
    CUES_BEFORE,
    FIRST_NAMES,
    FOREIGN_OPENERS,
    GERMAN_NOUNS,
    GREETINGS,
    NOT_NAMES,
    OPENERS,
    PLACES,
    SURNAMES_AND_WORDS,
    TITLES,
    plain,
    words_of,
)
from cloakllm_gateway.detection.surnames import SURNAMES

_NAME = r"[A-ZÀ-ÖØ-ÞĀ-Ž][^\W\d_]*(?:['’-][^\W\d_]+){0,2}"
_FULL = rf"{_NAME}(?: [A-Z]\.?)?(?: {_NAME})?"


def in_company(text: str) -> Iterator[Found]:
    """The people that the words around them tell, in no order; one may be found twice."""
    screen = linear.as_bytes(text)
    for start, end in _worth_a_look(text, screen, _rows()):
        yield from _in_rows(text, start, end)
    for start, end in _worth_a_look(text, screen, _cues()):
        yield from _told_by(text, start, end)
        yield from _speaking(text, start, end)
        yield from _shaped(text, start, end)


#: Code points around a cue that are read.
_REACH = 160


def _worth_a_look(text: str, screen: bytes, cues: linear.Search) -> Iterator[tuple[int, int]]:
    """Stretches of whole lines around whatever may tell a name, disjoint and in order."""
    start = end = -1
    for first, last in linear.spans(cues, screen):
        left = max(first - _REACH, 0)
        left = text.find("\n", left, first) + 1 or left if left else 0
        right = text.find("\n", last, last + _REACH)
        right = right if right >= 0 else min(last + _REACH, len(text))
        if left <= end:
            end = max(end, right)
            continue
        if end >= 0:
            yield start, end
        start, end = left, right
    if end >= 0:
        yield start, end


def _may_be_name(word: str) -> bool:
    low = plain(word)
    return (
        len(word) > 1 and not word.isupper() and low not in NOT_NAMES and low not in PLACES and low not in GERMAN_NOUNS
    )


def _is_known(word: str) -> bool:
    """Whether a word is a given name or a surname, even one that means something else as well."""
    low = plain(word)
    return low in FIRST_NAMES or low in SURNAMES or low in SURNAMES_AND_WORDS


def _found(match: re.Match[str], group: int = 1) -> Found:
    return Found(*match.span(group), PERSON)


# -- what people do, whose they are, what is said of them -----------------------------------------------

_ACTS = (
    r"(?:(?:shouted|yelled|screamed|whispered|smiled|nodded|shrugged|laughed|giggled|sighed|grinned|frowned|winked)\b"
    r"|(?:has |had )?(?:given|told|asked|shown|sent|gave|handed) [\w-]+ (?:his|her)\b"
    r"|spent (?:a|an|two|three|many|the) (?:\w+ )?(?:years?|summers?|weeks?|months?|days?)\b|grew up\b|got married\b"
    r"|(?:asked|told|called|texted|emailed) me\b|is (?:very )?(?:reliable|my|his|her)\b|is from\b|lives on\b"
    r"|just has to\b|listed (?:his|her)\b|began (?:writing|working|playing|singing|studying|acting|his|her)\b)"
)
_KIN = (
    r"(?:kid|son|daughter|wife|husband|brother|sister|mother|father|mom|mum|dad|friend|boss|colleague|boyfriend|girlfriend"
    r"|fianc[ée]e?|uncle|aunt|cousin|nephew|niece|grand(?:mother|father|son|daughter|ma|pa)|neighbou?r|roommate|flatmate"
    r"|teacher|co-?worker|landlord)"
)
_ROLE = (
    r"(?:Producer|Singer|Actor|Actress|Director|Drummer|Guitarist|Author|Writer|Coach|Officer|Nurse|Engineer|Secretary|Ambassador"
    r"|(?<!Vice )President|Chancellor|Minister|Sheriff|Sen\.|Rep\.|Gov\.|Mayor|Governor|Congressman|Congresswoman)"
)
_PART = (
    r"(?:patient|plaintiff|defendant|victim|suspect|tenant|client|customer|employee|applicant|witness|candidate|student"
    r"|author|driver|owner|caller|judge|attorney|lawyer|guest|passenger|claimant)"
)
_GOODBYE = (
    r"(?:(?:[Bb]est|[Kk]ind|[Ww]arm)?(?:est)?[ ]?(?:[Rr]egards|[Ww]ishes)|Best|Thanks(?: again| a lot)?|Thank you"
    r"|Many thanks|Cheers|(?:[Yy]ours )?(?:[Ss]incerely|[Tt]ruly|[Ff]aithfully)(?: yours)?|Love|Take care"
    r"|Viele Grüße|Liebe Grüße|Beste Grüße|Mit freundlichen Grüßen|MfG|LG|VG|Cordialement|Bien à vous|Saludos"
    r"|Un saludo|Atentamente|Cordiali saluti|Atenciosamente|Abraços|Met vriendelijke groet|Groeten"
    r"|Med vänliga hälsningar|Med venlig hilsen|Pozdrawiam)"
)
#: What tells the name in group 1, whichever it is.
_TOLD_BY = tuple(
    map(
        re.compile,
        (
            # `Zak shouted at Scott`, `Aloisia, can I please speak to your boss`, `Why is Natasja so impulsive?`
            rf"(?<![\w/.@'’-])({_FULL}) {_ACTS}",
            rf"(?<![^\n\x1c])({_NAME}), (?:can|could|would|will) (?:I|you)\b",
            rf"\b[Ww]hy is ({_NAME}) so ",
            # `my kid Florence`, `his wife, Agi`, `shouted at Tiffany`
            r"\b(?:[Mm]y|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir|[Yy]our) "
            r"(?:(?:older|younger|elder|late|dear|best|little|big|good|ex|new) )?"
            rf"{_KIN}(?:'s name is|,)? ({_NAME}(?: {_NAME})?)",
            rf"\b(?:shouted|yelled|screamed|smiled|nodded|laughed|winked) (?:at|to) ({_NAME})",
            # `the Sokolov novel`, `Producer Mashuu Samurakami`, `ms. Quinzia`
            rf"\b(?:[Tt]he|[Aa]n?) ({_FULL}) (?:novel|concert|biography|sonata|symphony|obituary|version recorded)\b",
            rf"\b{_ROLE} ({_NAME}(?: [A-Z]\.)? {_NAME})",
            rf"\b(?:mr|mrs|ms|dr|prof)\. ({_NAME})",
            # `the patient, Dorotea Quaranta,`, and who ends a letter
            rf"\b(?:[Tt]he|[Oo]ur|[Mm]y|[Aa]n?) {_PART},? ({_NAME}(?: [A-Z]\.)? {_NAME})",
            rf"(?<![^\n\x1c]){_GOODBYE}[,.!]?[ ]?\n{{1,2}}({_NAME}(?: {_NAME}){{0,2}})[ \t]*(?=\n|\Z)",
            # a line above that of a street
            rf"(?<![^\n\x1c])[>? ]{{0,5}}({_NAME}(?: [A-Z]\.?)? {_NAME})\n(?:[>? ]{{0,5}}[^\n]{{1,60}}\n){{0,3}}"
            r"[>? ]{0,5}\d{1,5} [^\W\d]",
        ),
    )
)


def _told_by(text: str, start: int, end: int) -> Iterator[Found]:
    for expression in _TOLD_BY:
        for match in expression.finditer(text, start, end):
            alone = match.start(1) < 2 or not _CAPITAL_BEFORE.search(text, max(match.start(1) - 24, 0), match.start(1))
            if (alone or match.start(1) > match.start()) and all(map(_may_be_name, _words(match[1]))):
                yield _found(match)
    for match in _CALLED.finditer(text, start, end):
        words = match[1].split()
        if match[1][0].isupper() or not any(plain(word) in NOT_NAMES or word in _NO_VALUES for word in words):
            yield _found(match)
    for match in _SMALL.finditer(text, start, end):
        if plain(match[2]) in SURE:
            yield _found(match)


def _words(name: str) -> list[str]:
    return [word for word in name.replace(".", " ").split() if len(word) > 1]


_CAPITAL_BEFORE = re.compile(r"[A-ZÀ-Þ][\w'’-]*[ -]\Z")
#: In whatever case: a person says it, and nothing follows.
_CALLED = re.compile(
    r"\b(?:(?:[Mm]aiden|[Ll]ast|[Ff]irst|[Ff]amily|[Gg]iven|[Mm]iddle|[Ff]ull|[Rr]eal|[Mm]arried|[Bb]irth)"
    r" name(?: is|:)|[Cc]alls? me|goes by|also known as|answers to) ([^\W\d_]{2,20}(?: [^\W\d_]{2,20})?)(?=[.,!?\n]|\Z)"
)
_NO_VALUES = frozenset(
    "required optional missing empty invalid unknown wrong blank mandatory later back now again".split()
)
#: Small letters with an initial in the middle.
_SMALL = re.compile(r"(?<![\w.@/'’-])(([a-zß-öø-ÿ]{3,20}) [b-hj-z]\.? [a-zß-öø-ÿā-ž'-]{3,20})(?![\w@/=(])")


# -- rows ------------------------------------------------------------------------------------------

_ROW = re.compile(
    rf"(?<![^\W\d_][ -])(?<![\w/.@'’-])({_NAME}(?:, {_NAME}){{0,8}},? (?:and|&|und|et|y|e) {_NAME})"
    r"(?! [A-ZÀ-Þ])(?![\w'’/(-])"
)
_PLURAL = re.compile(r",? (?:were|are|have|had|met|married|agreed|wrote|both|say|said|think|want|share|live)\b")
_ROLES = re.compile(
    r"\b(?:founders|authors|members|winners|children|kids|sons|daughters|brothers|sisters|friends|colleagues|partners|actors"
    r"|players|writers|students|names|people|guests|parents|had \d{1,2}|by|starring)(?::| are| were)? $"
)


def _in_rows(text: str, start: int, end: int) -> Iterator[Found]:
    """`Torpy and Salinas were`, `our founders: Kónya, Becker and Hodge`: one of them is known, none is a thing."""
    for match in _ROW.finditer(text, start, end):
        told = _PLURAL.match(text, match.end()) or _ROLES.search(text, max(match.start() - 24, 0), match.start())
        names = [(name.start(), name.end(), name[0]) for name in WORD.finditer(match[1]) if name[0][0].isupper()]
        if not told or not any(_is_known(name) for _, _, name in names):
            continue
        if all(_may_be_name(name) or plain(name) in SURNAMES_AND_WORDS for _, _, name in names):
            for first, last, _ in names:
                yield Found(match.start() + first, match.start() + last, PERSON)


_LINE = re.compile(
    rf"^({_NAME}): ?(?:\"[A-Z][^\"\n]{{2,200}}\"\.?|[A-Z][^\n\"{{}}\[\]=;]{{2,200}}[.?!])[ \t]*$", re.MULTILINE
)


def _speaking(text: str, start: int, end: int) -> Iterator[Found]:
    """Who speaks in a dialogue, a line each, if one of them has a given name."""
    speakers = [
        match for match in _LINE.finditer(text, start, end) if _may_be_name(match[1]) or plain(match[1]) in FIRST_NAMES
    ]
    if len({match[1] for match in speakers}) > 1 and any(plain(match[1]) in FIRST_NAMES for match in speakers):
        yield from map(_found, speakers)


# -- the shapes of surnames --------------------------------------------------------------------------

_SURNAME = re.compile(
    r".{2,}(?:i[ćč]|ovi[ćc]h?|evi[ćc]h?|ovna|evna|sk[yi]|skaya|ck[ayi]|ová|[oe]v|[oe]va|sson|ssen|d[óo]ttir|escu|enko|czyk|wicz"
    r"|shvili|poulos|akis|str[öo]m|qvist|quist|gren|gaard|aard|nen|o[ğg]lu|yan)"
)
_NO_SURNAMES = frozenset(
    "republika srpska genova padova nebraska alaska moldova polska hrvatska narodna casanova villanova bossanova nova "
    "kiev rostov tambov saratov pskov prev kosova slovenska ceska czeska cyan".split()
)
_PAIR = re.compile(
    rf"(?<![\w/.@'’-])(?:(?:The|By|And|But|For|With|From) )?({_NAME}(?: [A-Z]\.)? ({_NAME}?))(?=['’]s\b|[^\w'’/(-]|$)"
)


def _shaped(text: str, start: int, end: int) -> Iterator[Found]:
    """A word that may be a given name, and one with the end of a surname: `Edi Živković`, `Ayna Khadzhiyeva`."""
    for match in _PAIR.finditer(text, start, end):
        first, last = match[1].split(maxsplit=1)[0], match[2]
        shaped = _SURNAME.fullmatch(last) and len(last) > 4 and plain(last) not in _NO_SURNAMES
        if shaped and _may_be_name(first) and _may_be_name(last) and plain(first) not in _NO_SURNAMES:
            yield _found(match)


@cache
def _rows() -> linear.Search:
    """What a row of names needs, over bytes that are ``?`` where a letter is not ASCII; a wider net."""
    return linear.compiled(r"[a-z?],? (?:and|&|und|et|y|e) [A-Z?][a-z?]")


@cache
def _cues() -> linear.Search:
    """The same for the other rules."""
    kin = _KIN.replace("é", "[?]")
    acts = _ACTS.replace("[\\w-]", "[\\w?-]")
    capital = "[A-Z?]"
    cues = (
        rf"[a-z?.] {acts}",
        r", (?:can|could|would|will) (?:I|you)\b",
        r"\b[Ww]hy is",
        rf"\b(?:[Mm]y|[Hh]is|[Hh]er|[Oo]ur|[Tt]heir|[Yy]our) (?:[a-z]+ )?{kin}",
        r"[a-z?.] (?:novel|concert|biography|sonata|symphony|obituary|version recorded)\b",
        rf"\b{_ROLE.replace('(?<!Vice )', '')} {capital}",
        r"\b(?:mr|mrs|ms|dr|prof)[.] ",
        r"\n[>? ]{0,5}[0-9]{1,5} [A-Za-z?]",
        r"\b(?:name(?: is|:)|[Cc]alls? me|goes by|also known as|answers to) ",
        rf"\b(?:[Tt]he|[Oo]ur|[Mm]y|[Aa]n?) {_PART},? {capital}",
        rf"(?:^|\n){re.sub('[^ -~]', '[?]', _GOODBYE)}[,.!]?[ ]?\n{{1,2}}{capital}",
        r"[a-z?]{3} [b-hj-z][.]? [a-z?]{3}",
        rf"(?:^|\n){capital}[a-z?'-]*: ?(?:\"[A-Z?]|[A-Z?][^\n]*[.?!][ \t]*(?:[\n]|\z))",
        rf"{capital}[a-z?'-]* (?:[A-Z][.] )?{capital}[a-z?]+(?:i[c?]|i[ck]h|sk[yi]|aya|ck[ayi]|[oe]va?|ov[?]"
        r"|vna|sson|ssen|ttir|escu|enko|czyk|wicz|shvili|poulos|akis|str[o?]m|quist|qvist|gren|aard|nen|glu|yan)(?:[^A-Za-z?]|\z)",
    )
    return linear.compiled("|".join(f"(?:{cue})" for cue in cues), memory=64 << 20)


# -- the same person again -------------------------------------------------------------------------


def parts(text: str, found: Iterable[Found]) -> frozenset[str]:
    """The words of full names that stand for whoever was named before."""
    return frozenset(part for name in found if name.label == PERSON for part in _parts(text[name.start : name.end]))


def _parts(name: str) -> Iterable[str]:
    """The surname, and a given name that is nothing else."""
    words = [word for word in WORD.findall(name) if word[0].isupper() and len(word) > 2 and not word.isupper()]
    if len(words) < 2:
        return ()
    return (words[-1], words[0]) if plain(words[0]) in SURE else (words[-1],)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether no other capitalised word is beside it; a word that is a common one too stands inside a sentence."""
    word = plain(text[start:end])
    after = text[end : end + 2]
    if _GLUED.match(text, end) or (after[:1] == " " and after[1:].isupper()):
        return False
    before = _BEFORE.search(text, max(start - 24, 0), start)
    if before is None:
        return False
    if word in NOT_NAMES or word in PLACES or word in SURNAMES_AND_WORDS:
        return before[1].islower() and before[1] not in _ARTICLES
    return not before[1][:1].isupper()


_BEFORE = re.compile(r"(?:\A|(?<=\s)|(?<=[(\"“>]))([^\W\d_]*)[ ]?[\n(\"“>]?\Z")
_ARTICLES = frozenset(("the", "a", "an", "this", "that", "each", "every", "no", "in", "at", "via"))
_GLUED = re.compile(r"[\w/\\@=(_]|[.:]\w")


def part_at(
    text: str, start: int, first: Collection[str], last: Collection[str], beside: Mapping[tuple[str, str], bool]
) -> tuple[int, int] | None:
    """Where the name stands that has a part of a known one at ``start``; None if nobody is meant there.

    ``first`` and ``last`` are the words with which known names begin and end.  A given name before such a surname
    belongs to the name, and so does a surname behind such a given name.  Where two words follow each other that are
    ``beside`` each other in a name of more the whole name may stand, and is found as a known value.
    """
    match = CAPITALISED.match(text, start)
    if match is None or (match[0] not in first and match[0] not in last):
        return None
    word, end = match[0], match.end()
    low = plain(word)
    if len(word) < _SHORTEST_PART or low in TITLES or low in OPENERS or not _ONE_CAPITAL.fullmatch(word):
        return None
    if glued_before(text, start) or GLUED_AFTER.match(text, end):
        return None
    before, gap = _word_before(text, start)
    match = _WORD_BEHIND.match(text, end)
    behind, is_next = (match[2], match[1] in _BLANKS) if match else ("", False)
    if match and is_next and beside.get((word, behind)):
        return start, match.end()
    if (word, behind) in beside or (before, word) in beside:
        return None
    if match and is_next and behind[0].isupper():
        is_name = word in first and _is_surname_behind(low, behind) and not GLUED_AFTER.match(text, match.end())
        return (start, match.end()) if is_name else None
    led = before if gap in _BLANKS or (gap == ". " and plain(before) in TITLES) else ""
    if led[:1].isupper() and word in last and _is_given_before(led, low):
        begin = start - len(gap) - len(led)
        if not glued_before(text, begin):
            return begin, end
    return (start, end) if _stands_as_name(low, led, behind if is_next else "") else None


#: Shorter words are no part that stands for a name; no longer one is looked for before it.
_SHORTEST_PART, _LONGEST_WORD = 3, 32
_BLANKS = (" ", "\u00a0")
#: A name has one capital, but for `McDonald`, `O'Brien`, `Anne-Marie`: identifiers have more.
_ONE_CAPITAL = re.compile(r"(?:Mc|Ma?c|De|Di|Du|La|Le|Van|Von|Fitz)?[^\W\d_][^A-Z]*(?:['’-][^\W\d_][^A-Z]*)*")
#: The word behind a place, over whatever a line ends and begins with; and the one before it, read backwards.
_WORD_BEHIND = re.compile(rf"([^\w]{{1,12}})({WORD.pattern})")
_WORD_BACKWARDS = re.compile(r"([^\w]{1,12})((?:[^\W\d_]|(?<=[^\W\d_])['’-](?=[^\W\d_]))+)")


def _word_before(text: str, start: int) -> tuple[str, str]:
    """The word before a place and what is between the two, "" where there is none."""
    match = _WORD_BACKWARDS.match(text[max(start - _LONGEST_WORD, 0) : start][::-1])
    return (match[2][::-1], match[1][::-1]) if match else ("", "")


def is_ordinary(low: str) -> bool:
    """Whether a word is more than a name: a word, a place, a month, a product."""
    return low in NOT_NAMES or low in PLACES or low in SURNAMES_AND_WORDS or low in AMBIGUOUS_NAMES


def _is_surname_behind(first: str, word: str) -> bool:
    low = plain(word)
    return low in SURNAMES or (not is_ordinary(first) and _may_be_name(word) and low not in OPENERS)


def _is_given_before(word: str, last: str) -> bool:
    low = plain(word)
    if low in TITLES or low in OPENERS or low in FOREIGN_OPENERS or not _ONE_CAPITAL.fullmatch(word):
        return False
    return low in SURE or (not is_ordinary(last) and last not in GERMAN_NOUNS and _may_be_name(word))


#: Parts of names that are places as well: they stand inside of sentences as places do.
_TOWNS = words_of("""
    adelaide asuncion austin carolina charlotte chelsea concepcion dallas florence geneva georgia guadalupe holland
    houston israel jackson jordan kent lincoln lourdes madison milan orlando paris santiago sydney victoria virginia
    washington wells york
""")


def _stands_as_name(low: str, before: str, after: str) -> bool:
    """Whether a part of a name means somebody between two words, "" for none; it has no other name beside it."""
    led = plain(before)
    if led in TITLES or led in GREETINGS or after in ACTS:
        return True
    is_capital = before[:1].isupper()
    if low in CALENDAR or low in GERMAN_NOUNS or low in _TOWNS:
        return False
    if is_ordinary(low):
        if is_capital:
            return led in CUES_BEFORE
        given = low in FIRST_NAMES and low not in SURNAMES_AND_WORDS
        return (led != "" and led not in _ARTICLES and led not in ARTICLES) or (given and after in CUES_AFTER)
    return not is_capital or led in NOT_NAMES or led in OPENERS or led in GERMAN_NOUNS
