"""Names where a person should stand: one word of them is known, whatever else the words mean.

In free text `Dev Smith` and `Will Young` may be anything.  Behind ``author`` they are somebody, and `Platform Team`
and `Red Hat` are nobody.  So are programs that have a given name: `Ruby`, `Phoenix`.
"""

from __future__ import annotations

from cloakllm_gateway.detection.name_words import (
    AMBIGUOUS_NAMES,
    FIRST_NAMES,
    NOT_NAMES,
    PARTICLES,
    PLACES,
    SOFTWARE,
    SURNAMES_AND_WORDS,
    WORD_NAMES,
    plain,
    words_of,
)
from cloakllm_gateway.detection.surnames import SURNAMES

#: Words of what teams, programs and firms are called that own and write things.
_GROUPS = words_of("""
    account accounts admin admins alliance app authors bot bots bureau community consortium contributors corp crew
    department dept desk developers division engineering foundation gmbh group groups guild hat helpdesk inc
    initiative it labs llc ltd maintainers marketing operations ops platform project qa sales security service
    services squad support sysadmin system team teams test tribe user users
    abteilung equipe equipo gruppe squadra zespol
""")
#: Family names that stand first and are too short to be told elsewhere.
_FAMILIES = words_of("""
    bai cai cao chen cheng cho choi cui dai deng ding dong duan fang feng fu gao gong gu guo han hao hu huang jia
    jiang jin jung kang kim kong lai lee lei li liang liao lin liu lu luo lyu mao meng ngo nguyen park peng pham
    phan qian qin qiu ren shao shen shi tang tao tian tran wan wang wei wen wu xia xiang xiao xie xiong xu xue yan
    yang yao ye yin yoo yu yuan zeng zhang zhao zheng zhong zhou zhu zou
""")
#: Those of the surnames that are words that are hardly anything else: names behind a word that is none (`Dev Smith`).
_ONLY_SURNAMES = words_of("lincoln maclean mann morris nichols parsons smith thomas tucker turner webb woodward wright")
#: The most letters of what follows them.
_SYLLABLES = 9
_MOST_WORDS = 4


def known_name(text: str) -> int:
    """The length of a full name with a known given name or surname in its place; 0 for anything else."""
    if not is_full_name(text):
        return 0
    low = _low(text)
    if any(part in NOT_NAMES and part not in FIRST_NAMES and len(part) > 1 for part in low[1:-1]):
        return 0
    return len(text) if _is_pair(low[0], low[-1]) else 0


def given_name(text: str) -> int:
    """The length of a known given name that is all of a text, with a capital; 0 for anything else."""
    low = plain(text)
    is_name = low in FIRST_NAMES and len(low) > 1 and text[0].isupper() and not text.isupper()
    return len(text) if is_name and not (low in WORD_NAMES and low in SOFTWARE) else 0


def is_given_name_only(text: str) -> bool:
    """Whether a text is a known given name that means nothing else."""
    return given_name(text) > 0 and plain(text) not in AMBIGUOUS_NAMES


def is_full_name(text: str) -> bool:
    """Whether a text is written as a full name is, and names no team or program."""
    words = text.split()
    if not 2 <= len(words) <= _MOST_WORDS or text.isupper():
        return False
    low = _low(text)
    return _GROUPS.isdisjoint(low) and all(
        word[0].isupper() or part in PARTICLES for word, part in zip(words, low, strict=True)
    )


def _low(text: str) -> list[str]:
    return [plain(word.rstrip(".")) for word in text.split()]


def _is_pair(first: str, last: str) -> bool:
    is_common = last in NOT_NAMES or last in PLACES
    if first in FIRST_NAMES and (last in SURNAMES or last in SURNAMES_AND_WORDS):
        return True
    if is_common:
        return False
    if first in FIRST_NAMES:
        return first not in WORD_NAMES
    if last in SURNAMES or last in _ONLY_SURNAMES:
        return True
    return (first in _FAMILIES and len(last) <= _SYLLABLES) or (first in SURNAMES and last in FIRST_NAMES)
