"""Which language a stretch of text is in, told by its function words; good enough to choose a name model by.

English is what a text is taken for that says too little about itself: keys,
logs and commands are written in it, and the English model is the quick one.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter

ENGLISH = "en"

#: The words that texts of a language have most of, and those of no other language here.
_FUNCTION_WORDS = {
    ENGLISH: "the and of to is was for that with are you your it this from have has not be by on as at or he she they "
    "we his her their our been were will would can which who but if an its about there please do what when",
    "de": "der die das und ist nicht ein eine einen einem einer eines zu von mit auf für im dem den des sich auch als "
    "wie aus bei nach wurde wird war hat haben hatte sind dass oder über aber noch nur durch vor zum zur vom ich wir "
    "sie er es man kann werden sein ihr ihre seine bitte am",
    "fr": "le les des une est et dans pour que qui sur pas plus par au aux avec ce cette ses son sont ont été être "
    "nous vous je il elle ils du en un mais ou où leur comme votre notre mon sa à",
    "es": "el los las una es y en por que para con del al su lo como más pero sus fue son está han ha muy este "
    "esta entre cuando ya también usted nosotros hay era donde",
    "pt": "o os as um uma é e em por que para da dos das não ao à na nas sua seu mais foi são ser "
    "como mas está pelo pela também ele ela você nós já há entre muito disse",
    "it": "il gli una è e di che per con del della dei delle non si al alla nel nella sono ha anche come più ma dal "
    "dalla questo questa loro suo sua stato sul lo ed hanno era",
    "nl": "het een en van is dat niet op te voor met zijn aan door ook als maar bij om uit naar werd heeft hebben nog "
    "wordt er deze dit wij ik u je jullie over kan",
    "pl": "i w na z się nie do to jest że o jak po od dla przez ale był była są za jego jej tym co ze oraz lub przy "
    "może już tylko pan pani",
    "sv": "och att det som en på är av för med den till inte har de om ett han var jag vi från men kan efter under vid",
    "da": "og at det som en på er af for med den til ikke har de om et han var jeg vi fra men kan efter blev ved",
    "nb": "og at det som en på er av for med den til ikke har de om et han var jeg vi fra men kan etter ble ved",
}
_LANGUAGES_OF: dict[str, list[str]] = {}
for _language, _words in _FUNCTION_WORDS.items():
    for _word in _words.split():
        _LANGUAGES_OF.setdefault(_word, []).append(_language)

#: The function words of all languages, less single letters.
FUNCTION_WORDS = frozenset(word for word in _LANGUAGES_OF if len(word) > 1)

_WORD = re.compile(r"[^\W\d_]+")
#: Code points of a stretch that is judged by itself.
_STRETCH = 400
#: How many different function words tell a language, and one in how many words has to be one.
_ENOUGH = 2
_SPARSEST = 8


def language_of(text: str) -> str:
    """The language of a short text as a two-letter code: what most of its function words are of, if it has enough."""
    words = _WORD.findall(text.lower())
    counts: Counter[str] = Counter()
    different: dict[str, set[str]] = {}
    for word in words:
        for language in _LANGUAGES_OF.get(word, ()):
            counts[language] += 1
            if len(word) > 1:  # a letter alone may be anything
                different.setdefault(language, set()).add(word)
    best, most = max(counts.items(), key=lambda item: item[1], default=(ENGLISH, 0))
    told = len(different.get(best, ())) >= _ENOUGH and most * _SPARSEST >= len(words)
    return best if told and most > counts[ENGLISH] else ENGLISH


class Languages:
    """The languages of the stretches of one text, each told when it is asked for."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._starts = [0]
        while self._starts[-1] + _STRETCH < len(text):
            cut = text.find(" ", self._starts[-1] + _STRETCH, self._starts[-1] + 2 * _STRETCH)
            self._starts.append(cut + 1 if cut >= 0 else self._starts[-1] + 2 * _STRETCH)
        self._known: dict[int, str] = {}

    def at(self, place: int) -> str:
        stretch = bisect_right(self._starts, place)
        if stretch not in self._known:
            start, *ends = self._starts[stretch - 1 : stretch + 1]
            self._known[stretch] = language_of(self._text[start : ends[0] if ends else None])
        return self._known[stretch]
