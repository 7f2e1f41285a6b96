"""How far the answers of name models are believed: the name-shaped core of each, without words that are no names."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import chain, dropwhile, zip_longest

from cloakllm_gateway.detection.languages import ENGLISH, FUNCTION_WORDS
from cloakllm_gateway.detection.name_rules import NO_END, NO_START, SHORT, end_of
from cloakllm_gateway.detection.name_runs import GLUED_AFTER, SURE, WORD, Found, Word, glued_before
from cloakllm_gateway.detection.name_words import (
    CUES_BEFORE,
    FIRST_NAMES,
    FOREIGN_OPENERS,
    GERMAN_NOUNS,
    GREETINGS,
    KEYWORDS,
    NOT_NAMES,
    PARTICLES,
    PLACE_CUES,
    PLACES,
    ROLES,
    SURNAMES_AND_WORDS,
    THING_CUES,
    TITLES,
    plain,
)
from cloakllm_gateway.detection.surnames import SURNAMES

#: Lower case, then upper case: `ValueError`, `myClass`; but not `McDonald`, `DeLuca`.
_CAMEL = re.compile(r"(?!(?:Mc|Mac|De|Di|Da|Du|Le|La|Van|Von|Fitz|St)[A-Z])\w*[a-z][A-Z]")

_NAME = re.compile(r"[^\W\d_]+(?:(?:(?!['’]s\b)['’-]|\.?[ \u00a0]{1,5}|[.\n])[^\W\d_]+)*")


def cores(text: str, found: Found, language: str = ENGLISH) -> Iterator[Found]:
    """The name-shaped parts of what the model calls a person, less the words that are no names."""
    rest = _REST.match(text, found.end)
    assert rest is not None  # it may be empty
    for match in _NAME.finditer(text, found.start, rest.end()):
        whole = words_within(text, *match.span())
        in_small = language == ENGLISH and any(map(_is_name_in_small, whole))
        for stretch in (whole,) if in_small else _capitals(whole):
            name = _less_roles(list(dropwhile(_starts_no_name, stretch)))
            while name and (name[-1].low in NO_END or name[-1].text in PARTICLES):
                name.pop()
            if not name or (len(name) == 1 and _is_no_lone_name(text, name[0], whole[0], language)):
                continue
            if _is_name(name) and not _is_out_of_place(text, name) and not _is_place(name):
                yield Found(name[0].start, end_of(text, name[-1]), found.label)
                break


def _is_name_in_small(word: Word) -> bool:
    """A given name in lower case, and no word of a programming language (`elif`)."""
    return not word.capital and word.low in SURE and word.low not in KEYWORDS


#: The rest of the word in which a model sees the end of a name.
_REST = re.compile(r"(?:(?!['’]s\b)['’-]?[^\W\d_])*")


def _is_place(name: Sequence[Word]) -> bool:
    """`Hall Orchestra`, `Tales`: what ends as places and works do, and begins with no given name."""
    return name[-1].low in PLACES and name[-1].low not in SURNAMES and name[0].low not in FIRST_NAMES


def _is_out_of_place(text: str, name: Sequence[Word]) -> bool:
    """Whether what is around a name says that it is a bound, an order, a place or a thing."""
    return _bounds(text, name) or _orders(text, name[0]) or _placed(text, name)


def _is_no_lone_name(text: str, name: Word, first: Word, language: str) -> bool:
    """Whether the single word that is left of a find is none: what is behind it, or before it, says so."""
    if name.low in SURE or name.low in SURNAMES:
        return name.low in FUNCTION_WORDS
    led = first.capital and first.end < name.start
    if (
        led
        and first.low not in GREETINGS
        and first.low not in CUES_BEFORE
        and not first.title
        and first.low not in ROLES
        and first.low not in FOREIGN_OPENERS
    ):
        return True  # `Docker Swarm`, `Hidden Treasure`
    if name.low in FUNCTION_WORDS or name.low in GERMAN_NOUNS or name.low in FOREIGN_OPENERS:
        return True
    return language == "de" and _is_german_noun(text, name)


def _bounds(text: str, name: Sequence[Word]) -> bool:
    """`Max fetch size`, `the Max value`: a bound of what is measured; `Max Price` may be somebody."""
    first = name[0]
    if first.low != "max" or (len(name) > 1 and name[1].low in SURNAMES_AND_WORDS):
        return False
    return _MEASURED.match(text, first.end) is not None and _led(_BEFORE_BOUND, text, first)


def _orders(text: str, name: Word) -> bool:
    """`Mark it as read.`, `Grant access`: a verb that begins its sentence, with what it is to be done to."""
    return name.low in _VERBS and _TO_IT.match(text, name.end) is not None and _led(_BEGINS, text, name)


def _led(before: re.Pattern[str], text: str, name: Word) -> bool:
    return before.search(text, max(name.start - 6, 0), name.start) is not None


#: Nouns, which no one does: `Max requests a refund`, and `Max lost weight`.
_MEASURED = re.compile(
    r" (?i:(?:fetch|batch|pool|page|line|retry|request|response|row|queue|file|message|upload|result|context|output"
    r"|input|field|idle|wait|body|header|name|path|string|buffer|chunk|thread|worker|connection|token) )?"
    r"(?i:age|amount|bytes|capacity|chars|characters|concurrency|connections|count|depth|distance|duration|height"
    r"|heap|iterations|latency|length|memory|payload|price|size|speed|temperature|time|timeout|tokens|value|weight"
    r"|width)\b| Retries\b"
)
_VERBS = frozenset("bill chase drew grant hope jack mark pat pierce rob skip sue trace wade".split())
_TO_IT = re.compile(r" (?:it|them|this|these|those|each|every|all|as|access|permissions?|your)\b", re.IGNORECASE)
_BEGINS = re.compile(r"(?:\A|\n|[.!?:;>)*•–-][ \t]{0,2})\Z")
_BEFORE_BOUND = re.compile(rf"(?:{_BEGINS.pattern}|(?<![^\W_])(?i:the|an?|your|its?|set|no|per)[ ]\Z)")


def _less_roles(name: list[Word]) -> list[Word]:
    """Cut behind two words and more at what is a role or a department; short ones may be names (`Nguyen Van An`)."""
    for at in range(2, len(name)):
        if name[at].low in NOT_NAMES and len(name[at].text) >= _ROLE:
            return name[:at]
    return name


#: Letters of the shortest word that ends a name.
_ROLE = 5


def _capitals(name: Sequence[Word]) -> Iterator[list[Word]]:
    """The stretches of capitalised words, with the particles between them: models are unsure about verbs."""
    kept: list[Word] = []
    for word in name:
        if _is_like_capital(word) or (kept and word.text in PARTICLES):
            kept.append(word)
        elif kept:
            yield kept
            kept = []
    if kept:
        yield kept


def _is_like_capital(word: Word) -> bool:
    return word.capital or _ARABIC.match(word.text) is not None


_ARABIC = re.compile(r"(?:al|el|ad|ar|as|az|ibn)-[A-Z]")


# -- what is worth a question --------------------------------------------------------------------------


def may_be_believed(text: str, start: int, end: int) -> bool:
    """Whether :func:`cores` could keep anything of a stretch, whatever a model takes for a person in it.

    A find may begin where a word does, or a part of one behind what is no cased letter.
    Of a very long word that is not looked into.
    """
    rest = _REST.match(text, end, end + _LONGEST)
    assert rest is not None  # it may be empty
    if rest.end() == end + _LONGEST:
        return True
    return any(_may_hold_name(text, *match.span()) for match in _NAME.finditer(text, start, rest.end()))


#: A word with more letters than this may hold anything: it has a part for each letter without case.
_LONGEST = 32


def _may_hold_name(text: str, start: int, end: int) -> bool:
    """The same for words that stand together: two in a row that may be one, or one that is nothing else."""
    found = _words(text, start, end)
    if any(len(word.text) > _LONGEST for word in found):
        return True
    words = [[word, *_parts(word)] for word in found]
    in_small = any(map(_is_name_in_small, chain(*words)))
    if glued_before(text, start):
        words[0].pop(0)
    if GLUED_AFTER.match(text, end):
        words.pop()

    def may_belong(word: Word) -> bool:
        return (in_small or _is_like_capital(word) or word.text in PARTICLES) and not _CAMEL.match(word.text)

    for firsts, after in zip_longest(words, words[1:], fillvalue=()):
        begins = [word for word in firsts if may_belong(word) and not _starts_no_name(word)]
        if begins and any(map(may_belong, after)):
            return True
        if any(_is_name([word]) and not _is_out_of_place(text, [word]) for word in begins):
            return True
    return False


def _parts(word: Word) -> list[Word]:
    """What a word ends with that may pass for one: `Luc` of `Jean-Luc`, and `Ann` behind a letter without case."""
    if word.text.isascii() and word.text.isalpha():
        return []
    text = word.text
    starts = (at for at in range(1, len(text)) if text[at].isalpha() and text[at - 1].lower() == text[at - 1].upper())
    return [Word(word.start + at, word.end, text[at:], plain(text[at:]), text[at].isupper()) for at in starts]


#: What stands before a noun of German and hardly ever before a name: articles, and adjectives by their endings.
_GERMAN_ATTRIBUTE = re.compile(
    r"(?:\b(?:[Dd](?:er|ie|as|em|en|es)|[Ee]in(?:e[mnrs]?)?|[Kk]eine?[mnrs]?|[Ii][mn]s?|[Zz]u[mr]|[Vv]om|[Bb]eim|[Aa]ns?"
    r"|(?:[MmDdSs]ein|[Ii]hr|[Uu]nser|[Dd]ies|[Jj]ede|[Jj]en|[Aa]lle|[Vv]iele|[Nn]eue|[Gg]ute|[Gg]roße|[Aa]ndere"
    r"|[Ee]rste|[Ll]etzte|[Ee]igene|[Bb]eide|[Mm]ehrere|[Ee]inige)(?:[mnrs]|e[mnrs]?)?)"
    r"|[^\W\d_]{3,}(?:er|es|em|(?:isch|lich|ig|sam|iv|al|ell|bar|haft)e[mnrs]?))[ ]\Z"
)
_GERMAN_ENDING = re.compile(
    r".+(?:ung|ungen|heit|heiten|keit|keiten|schaft|schaften|ion|ionen|tät|ismus|nis|tum|chen|mittel|ium|isten|esier)"
)


def _is_german_noun(text: str, word: Word) -> bool:
    """Whether a lone capitalised word of German is a noun: a common one, by its ending or by what is before it."""
    if (
        word.low in GERMAN_NOUNS
        or (_GERMAN_ENDING.fullmatch(word.low) and len(word.text) > 6)
        or text[word.start - 1 : word.start] == "„"
    ):
        return True
    attribute = _GERMAN_ATTRIBUTE.search(text, max(word.start - 20, 0), word.start)
    return attribute is not None and not (
        attribute[0][0].isupper() and text[attribute.start() - 1 : attribute.start()] == " "
    )


def is_name_in(language: str, text: str, found: Found) -> bool:
    """Whether to believe a model of English that sees a person in another language.

    Two capitalised words; German, where every noun has a capital, asks for a given name among them.
    """
    name = [word for word in words_within(text, found.start, found.end) if word.capital]
    return len(name) > 1 and (language != "de" or any(word.low in FIRST_NAMES for word in name))


def _starts_no_name(word: Word) -> bool:
    if word.low.endswith("-by"):
        return True  # `Reviewed-by: Ann Lee`
    return (word.low in NO_START or word.low in GERMAN_NOUNS or word.low in FOREIGN_OPENERS) and not (
        word.title and len(word.text) <= SHORT
    )


def is_nobody(text: str) -> bool:
    """Whether a text is only forms of address and what begins a sentence before a name."""
    return all(low in _NOBODY or low in TITLES for low in map(plain, WORD.findall(text)))


#: `M. Lefèvre` is addressed in French.
_NOBODY = FOREIGN_OPENERS | {"m"}


def is_known_name(word: str) -> bool:
    """Whether a word is a well-known given name or surname."""
    low = plain(word)
    return low in FIRST_NAMES or low in SURNAMES


_DETERMINERS = frozenset("the a an this these those their its our".split())
#: What is called after somebody.
_OWNED = re.compile(
    r"(?: \w+)? (?:government|administration|regime|family|camp|campaign|trial|brothers|sisters|estate|novel)\b"
)
_CODE_AFTER = re.compile(r"[(\[_=\d]|\.\w|::")


def stands_as_thing(text: str, start: int, end: int) -> bool:
    """Whether a word stands as identifiers and products do: glued to code, or behind `class`, `import`, `the`."""
    if _CODE_AFTER.match(text, end) or text[start - 1 : start] in ("_", "$", "."):
        return True
    *_, cue = ("", *text[max(start - 12, 0) : start].split())
    return cue.lower() in THING_CUES


def is_more_than_common(text: str, found: Found) -> bool:
    """Whether what the model calls a firm or a place holds a word that is neither common nor software."""
    return any(plain(match.group()) not in NOT_NAMES for match in WORD.finditer(text, found.start, found.end))


def words_within(text: str, start: int, end: int) -> list[Word]:
    """The words of a stretch of ``text``, none where the stretch is glued to an identifier or a number."""
    if glued_before(text, start) or GLUED_AFTER.match(text, end):
        return []
    return _words(text, start, end)


def _words(text: str, start: int, end: int) -> list[Word]:
    found = WORD.finditer(text, start, end)
    return [Word(*m.span(), m.group(), plain(m.group()), m.group()[0].isupper()) for m in found]


def _is_name(name: Sequence[Word]) -> bool:
    if all(word.low in NOT_NAMES or word.low in TITLES for word in name):
        return False
    if not any(word.capital or word.low in FIRST_NAMES for word in name) or any(_CAMEL.match(w.text) for w in name):
        return False
    alone = name[0]
    return len(name) > 1 or (len(alone.text) > 1 and (not alone.text.isupper() or alone.low in FIRST_NAMES))


def _placed(text: str, name: Sequence[Word]) -> bool:
    """Whether a single word stands where a place or a thing stands (`in Rotterdam`, `via Jenkins`)."""
    if len(name) > 1 or name[0].low in SURE:
        return False
    *_, cue = ("", *text[max(name[0].start - 12, 0) : name[0].start].split())
    if cue.lower() in _DETERMINERS and name[0].low not in SURNAMES and name[0].low not in FIRST_NAMES:
        return _OWNED.match(text, name[0].end) is None  # `the Bateleurs`, `their Thali`
    return cue in PLACE_CUES or (cue.lower() in THING_CUES and name[0].low not in SURNAMES)
