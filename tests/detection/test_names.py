"""Names in free text: where they may stand, what is evident, what the model is believed, and how well it all does."""

from __future__ import annotations

import json
import keyword
import os
import re
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cloakllm_gateway.detection import names
from cloakllm_gateway.detection.allow_list import AllowList
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.languages import Languages, language_of
from cloakllm_gateway.detection.name_beliefs import cores, may_be_believed
from cloakllm_gateway.detection.name_rules import _addresses, evident
from cloakllm_gateway.detection.name_runs import (
    CAPITALISED,
    GLUED_AFTER,
    LONGEST,
    WORD,
    Found,
    _is_part,
    runs,
    windows,
)
from cloakllm_gateway.detection.name_words import (
    AMBIGUOUS_NAMES,
    FIRST_NAMES,
    FOREIGN_OPENERS,
    NOT_NAMES,
    PARTICLES,
    SURNAMES_AND_WORDS,
    WORD_NAMES,
    canonical,
    plain,
)
from cloakllm_gateway.detection.settings import NameSettings
from cloakllm_gateway.detection.surnames import SURNAMES
from cloakllm_gateway.errors import DetectionError
from cloakllm_gateway.shell import name_models
from cloakllm_gateway.spans import Encoding, Proof, Span, Text
from tests.cost import compare
from tests.effort import examples

DETECTOR = Detector()

MISSING = name_models.available(NameSettings())
needs_model = pytest.mark.skipif(MISSING is not None, reason=str(MISSING))

SHARED = Path(os.environ.get("CLOAKLLM_SHARED", Path(__file__).parents[2].parent / "shared")) / "data"
needs_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the labelled texts are not here; set CLOAKLLM_SHARED")

#: Pieces that names and their look-alikes are made of.
WORDS = [
    "Ann",
    "Lee",
    "Dr.",
    "J.",
    "Jr.",
    "van",
    "O'Brien",
    "'s",
    "Jenkins",
    "Docker",
    "the",
    "met",
    "said",
    "Dear",
    "李",
]
MARKS = [" ", "\n", "\n\n", ", ", ".", "@", "_", "/", "4", "(", "=", "É", "ß", "İ", "é", "\u00a0", "\u200b", "\ud800"]
MESSY = st.lists(st.sampled_from([*WORDS, *MARKS]), max_size=40)


def told(text: str) -> list[str]:
    """What is a name in ``text`` without asking a model."""
    return [text[found.start : found.end] for found in evident(text, runs(text))]


def shown(text: str) -> list[str]:
    """What of ``text`` a model is shown."""
    return [text[start:end] for start, end in windows(text, runs(text))]


class Stubborn:
    """A recogniser that knows one name."""

    def __init__(self, name: str) -> None:
        self._name = name
        self.seen: list[str] = []

    def find(self, texts: Sequence[str], known: Sequence[Sequence[Span]] = ()) -> list[list[Span]]:
        self.seen += texts
        return [self._one(text) for text in texts]

    def _one(self, text: str) -> list[Span]:
        start = text.find(self._name)
        if start < 0:
            return []
        return names.spread(text, [Found(start, start + len(self._name), "PERSON")])


@pytest.fixture(scope="module")
def recogniser() -> names.Recogniser:
    return name_models.load(NameSettings())


# -- word lists ------------------------------------------------------------------------------------


def test_the_lists_are_in_the_form_that_words_are_looked_up_in():
    for words in (FIRST_NAMES, AMBIGUOUS_NAMES, NOT_NAMES):
        assert all(word == plain(word) for word in words)


def test_nobody_is_called_what_letters_begin_with():
    assert FOREIGN_OPENERS.isdisjoint(FIRST_NAMES | SURNAMES | SURNAMES_AND_WORDS)


def test_the_lists_of_given_names_are_nested():
    assert WORD_NAMES <= AMBIGUOUS_NAMES <= FIRST_NAMES


# -- where the model looks -------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "the report was written by Thessaly Vandermeer last week",
        "we asked Abernathy about it",
        "Dear Quillon, thank you",
        "Vandermeer said that it is done",
        "From: Thessaly Vandermeer <t@example.org>",
        "please ask sarah about it",
    ],
)
def test_a_plausible_name_is_shown_with_its_surroundings(text: str):
    assert shown(text)


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-03T10:22:01Z INFO [worker-3] com.acme.svc.OrderService - request handled id=3fa9 took=12ms",
        "from os.path import join; class HttpHandler(Base): pass",
        "10231,SKU-A100,blue widget,12,9.90,shipped,2025-03-01",
        '{"sha": "81a08069693ea747", "status": "Open", "type": "Bug"}',
        "The migration finished without any problem. Please confirm.",
        "Authorization: Bearer abc.def.ghi",
    ],
)
def test_logs_code_tables_and_common_words_are_not_shown(text: str):
    assert shown(text) == []


def test_a_window_is_short_however_long_the_text():
    text = "nothing of interest here " * 400 + "we met Thessaly Vandermeer there " + "nothing at all " * 400
    (window,) = shown(text)
    assert "Thessaly Vandermeer" in window
    assert len(window) < 120


@given(MESSY)
@settings(max_examples=examples(300))
def test_words_with_a_capital_are_those_of_all_words(pieces: list[str]):
    text = "".join(pieces)
    of_all, alone = ([m.span() for m in words.finditer(text) if m[0][0].isupper()] for words in (WORD, CAPITALISED))
    assert alone == of_all


@given(MESSY)
@settings(max_examples=examples(300))
def test_a_run_is_words_that_stand_alone_between_the_next_ones(pieces: list[str]):
    text = "".join(pieces)
    words = [
        match.span()
        for match in WORD.finditer(text)
        if not GLUED_AFTER.match(text, match.end()) and not _is_part(text, match.start(), match[0])
    ]
    around = [(-1, -1), *words, (-1, -1)]
    for run in runs(text):
        first = around.index((run.words[0].start, run.words[0].end))
        before, *held, after = around[first - 1 : first + len(run.words) + 1]
        assert held == [(word.start, word.end) for word in run.words]
        assert after == (run.after.start, run.after.end)
        assert before == (run.before.start, run.before.end) or text[slice(*before)] in PARTICLES


@given(MESSY)
@settings(max_examples=examples(300))
def test_windows_are_sorted_pieces_of_the_text_and_never_too_long(pieces: list[str]):
    text = "".join(pieces)
    found = windows(text, runs(text))
    assert found == sorted(found)
    assert all(0 <= start < end <= len(text) and end - start <= LONGEST for start, end in found)


@given(MESSY)
@settings(max_examples=examples(300))
def test_whatever_is_evident_is_a_capitalised_part_of_the_text(pieces: list[str]):
    text = "".join(pieces)
    for found in evident(text, runs(text)):
        assert 0 <= found.start < found.end <= len(text)
        assert any(char.isupper() for char in text[found.start : found.end])


def _look(text: str) -> None:
    names.plausible(text)
    names.spread(text, list(evident(text, runs(text))))


@pytest.mark.parametrize("unit", ["A. ", "Dear ", "Ann van ", "Ann\n\n", "Ann  Lee, ", "A-", "Dr. "])
def test_twice_the_text_takes_about_twice_the_time(unit: str):
    few, many = unit * 4_000, unit * 32_000
    compare(lambda: _look(few), lambda: _look(many), most=8 * 4, slack=0.02)


@given(st.text(st.sampled_from("ab1.+-_@é \n"), max_size=100))
@settings(max_examples=examples(300))
def test_addresses_are_found_from_their_sign_as_an_expression_finds_them(text: str):
    plainly = re.finditer(r"(?<![\w.+-])[^\W\d_][\w.+-]{2,63}@[\w-]", text)
    assert list(_addresses(text)) == [match.span() for match in plainly]


# -- what is evident -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "name"),
    [
        ("call Ann Lee tomorrow", "Ann Lee"),
        ("signed Mrs. Rivera", "Mrs. Rivera"),
        ("by Dr. Ludwig van der Berg in May", "Dr. Ludwig van der Berg"),
        ("Sehr geehrte Frau Dr. Gruber,", "Dr. Gruber"),
        ("Sehr geehrter Herr Prof. Dr. Huber,", "Prof. Dr. Huber"),
        ("вчера Иван Петров позвонил.", "Иван Петров"),
        ("Пані Олена Шевченко тут.", "Олена Шевченко"),
        ("with John F. Kennedy Jr. at noon", "John F. Kennedy Jr."),
        ("María Hernández wrote", "María Hernández"),
        ("Brigadier General Ross G. Hoyt", "Ross G. Hoyt"),
        ("Dear Quillon, thank you", "Quillon"),
        ("my name is Vandermeer", "Vandermeer"),
        ("that is Franciska and Amanda's car", "Amanda"),
        ("Ann Price is here", "Ann Price"),
        ("directed by Brad L Key for us", "Brad L Key"),
        ('{"owner":"Kevin Montgomery","id":4}', "Kevin Montgomery"),
        ("the papers that Torvald Johansson signed", "Torvald Johansson"),
        ("as Petersen said yesterday", "Petersen"),
        ("I asked for it, and Rodriguez agreed", "Rodriguez"),
        ("Florence moved to the coast", "Florence"),
        ("so Bill and Melinda are here", "Bill"),
        ("Al,\n\nthank you for the notes", "Al"),
        ("assigned to dmitri volkov since Monday", "dmitri volkov"),
        ("Hollis Vandermeer <hvandermeer@example.org> wrote", "Hollis Vandermeer"),
        ("Vandermeer, Hollis (h.vandermeer@example.org)", "Vandermeer"),
        ("GOMEZ, ABERNATHY, and QUILLON joined", "QUILLON"),
        ("Hollis Quillon/HOU/CORP@CORP", "Hollis Quillon"),
        ("Hollis Quillon@CORP", "Hollis Quillon@CORP"),
        ("https://example.org/p?name=Susan Anderson&page=2", "Susan Anderson"),
        ("REUTERS/Jason Reed", "Jason Reed"),
    ],
)
def test_a_name_that_words_alone_tell_is_found_exactly(text: str, name: str):
    assert name in told(text)


@pytest.mark.parametrize(
    "text",
    [
        "Deploy C4 diagrams to EKS and S3 via Jenkins; statements are quarterly; Docker Hub in Jordan release",
        "Grace Period, May Day, Summer Sale, Ruby Gems",
        "the Martin Luther King Hospital and Victoria Street",
        "MS SQL took 12 ms Retry",
        "Hi Team, Dear Customer, Hello World",
        "import Path from os.Path and use self.Ann.Lee",
        "ValueError in Alice_Smith/Bob",
        "Bill was paid, Mark is set, Art in May",
        "Support <support@example.org>, Billing (billing@example.org)",
        "GET, POST, and PUT are allowed",
        "the campus in Wilson and the road to Jackson",
        "name=Result&user=Default",
        "Im Sommer kam der Kaiser in den Klein",
    ],
)
def test_technical_words_places_and_greetings_of_nobody_are_not_evident(text: str):
    assert told(text) == []


@pytest.mark.parametrize("opener", ["Der", "Die", "Das", "Ein", "Dieser", "Mein", "Ihr", "The", "Une", "Los", "Het"])
def test_what_begins_a_sentence_is_no_part_of_the_name_behind_it(opener: str):
    assert told(f"{opener} Petersen said so. {opener} Max Quillon said so.") == ["Petersen", "Max Quillon"]
    assert told(f"{opener} Bericht ist da. {opener} Stein fiel. {opener} said so.") == []


@pytest.mark.parametrize(
    "head",
    "Station Bridge Airport Street Square Line Memorial Pier Clinic Platz Straße Bahnhof Brücke Allee Institut".split(),
)
@pytest.mark.parametrize("name", ["Victoria", "Albert", "Marie Curie", "Robert Schuman"])
def test_what_is_called_after_somebody_is_nobody(name: str, head: str):
    assert told(f"We met at {name} {head}, and then at the {name} {head} again.") == []


@pytest.mark.parametrize("head", ["station", "bridge", "airport", "avenue", "square"])
def test_a_place_called_after_somebody_is_nobody_in_small_letters_either(head: str):
    assert told(f"We met at Victoria {head} at noon, and Victoria said so.") == ["Victoria"]


@pytest.mark.parametrize(
    "word", [*keyword.kwlist, *"val var let mut fn def end begin then fi esac elsif elseif unless".split()]
)
def test_a_word_of_a_programming_language_in_small_letters_is_nobody(word: str):
    for text in (f"{word} value\n{word} other", f"assigned to {word} something, call {word} later"):
        assert told(text) == []
        assert not any(list(cores(text, Found(at.start(), at.end(), "PERSON"))) for at in re.finditer(r"\w+ \w+", text))


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        ("Docker Hub", []),
        ("Contact Thessaly Vandermeer Email", ["Thessaly Vandermeer"]),
        ("a1:79:76", []),
        ("ValueError", []),
        ("SID", []),
        ("Tom Jenkins", ["Tom Jenkins"]),
        ("McDonald", ["McDonald"]),
        ("order_id", []),
        ("Thessaly Vandermeer Administrative Coordinator", ["Thessaly Vandermeer"]),
        ("Nguyen Van An", ["Nguyen Van An"]),
        ("Hidden Treasure", []),
        ("asked for support of Vandermeer", ["Vandermeer"]),
        ("Dear Quillon", ["Quillon"]),
        ("Saluti", []),
        ("Cheers", []),
        ("Geboren", []),
        ("Ieri", []),
        ("Oggi Quillon", ["Quillon"]),
        ("Appelez Thessaly Vandermeer", ["Thessaly Vandermeer"]),
        ("Reviewed-by", []),
        ("Reviewed-by: Thessaly Vandermeer", ["Thessaly Vandermeer"]),
        ("Ieri Thessaly Vandermeer", ["Thessaly Vandermeer"]),
        ("Thessaly Gentile", ["Thessaly Gentile"]),
    ],
)
def test_what_a_model_calls_a_person_is_cut_to_its_name_or_dropped(said: str, kept: list[str]):
    assert [said[core.start : core.end] for core in cores(said, Found(0, len(said), "PERSON"))] == kept


@pytest.mark.parametrize(
    ("text", "said", "kept"),
    [
        ("Er hat einen guten Ruf", "Ruf", []),
        ("die Verwaltung", "Verwaltung", []),
        ("das sagte Vandermeer dazu", "Vandermeer", ["Vandermeer"]),
        ("hat Thessaly Vandermeer gesagt", "hat Thessaly Vandermeer gesagt", ["Thessaly Vandermeer"]),
    ],
)
def test_nouns_of_german_are_no_people(text: str, said: str, kept: list[str]):
    start = text.index(said)
    found = cores(text, Found(start, start + len(said), "PERSON"), "de")
    assert [text[core.start : core.end] for core in found] == kept


@given(MESSY, st.data())
@settings(max_examples=examples(500))
def test_where_nothing_may_be_believed_nothing_is_whatever_a_model_finds(pieces: list[str], data: st.DataObject):
    text = "".join(pieces) or "-"
    first = data.draw(st.integers(0, len(text) - 1))
    last = data.draw(st.integers(first + 1, len(text)))
    start = data.draw(st.integers(first, last - 1))
    while start > first and text[start - 1].isalpha():
        start -= 1
    found = Found(start, data.draw(st.integers(start + 1, last)), "PERSON")
    for language in ("en", "de"):
        assert may_be_believed(text, first, last) or not list(cores(text, found, language))


@pytest.mark.parametrize(
    ("text", "worth"),
    [
        ("                return NotImplemented\n            elif isinstance(other, Iterable)", True),
        ("            raise NotImplementedError\n        except ValueError: return None", False),
        ('"-" "Mozilla/5.0 (Windows NT 10.0; Win64; x64; rv:133.0) Gecko"', False),
        ("the warehouse in Rotterdam received it", False),
        ("we asked Abernathy about it", True),
        ("ABERNATHY, or THESSALY VANDERMEER of course", True),
        ("please ask sarah about it", True),
        ("Mark it as read", False),
    ],
)
def test_what_can_be_nobody_is_not_worth_a_question(text: str, worth: bool):
    assert may_be_believed(text, 0, len(text)) is worth


class Seeing:
    """A model that takes each of its words for a person, wherever it reads it."""

    labels = frozenset({"PERSON"})

    def __init__(self, *words: str) -> None:
        self.words = words
        self.read_texts: list[str] = []

    def read(self, pieces):
        for piece in pieces:
            self.read_texts.append(piece)
            yield [Found(m.start(), m.end(), "PERSON") for w in self.words for m in re.finditer(w, piece)]


GERMAN = "Gestern ist Quillon Abernathy mit dem Zug nach Hause gefahren und hat die Verwaltung nicht gesehen."


def test_a_text_is_read_by_the_model_of_its_language():
    english, others = Seeing("Abernathy"), Seeing("Abernathy")
    both = names.Names({"en": english, "*": others}, ("PERSON",))
    both.find([GERMAN])
    assert others.read_texts and not english.read_texts
    both.find(["Yesterday Quillon Abernathy went home by train and did not see the office."])
    assert english.read_texts


def test_a_model_is_not_asked_about_what_is_hidden_already_and_the_name_is_found_wherever_else_it_stands():
    text = '{"name": "Thessaly Vandermeer", "email": "tv@posteo-mail.de", "note": "THE Thessaly Vandermeer file"}'
    (found,) = DETECTOR.find([Text(text)])
    assert "Thessaly Vandermeer" in {span.value for span in found}
    model = Seeing()
    (spans,) = names.with_names([found], [Text(text)], names.Names({"en": model}, ("PERSON",)))
    hidden = [(span.start, span.end) for span in spans if span.category == "PERSON"]
    assert [text[start:end] for start, end in hidden] == ["Thessaly Vandermeer"] * 2
    assert not any('"name"' in piece for piece in model.read_texts)


def test_a_model_is_not_asked_where_no_answer_would_be_believed_unless_other_labels_are_wanted_too():
    text = "we had told him that ValueError is raised, and Docker Hub, in Rotterdam too"
    people, places = Seeing(), Seeing()
    names.Names({"en": people}, ("PERSON",)).find([text])
    names.Names({"en": places}, ("PERSON", "GPE")).find([text])
    assert places.read_texts and not people.read_texts


def test_what_only_the_model_knows_is_asked_although_something_beside_it_is_hidden():
    text = "Yesterday Quillon Abernathy wrote from tv@posteo-mail.de and went home."
    (found,) = DETECTOR.find([Text(text)])
    (spans,) = names.with_names([found], [Text(text)], names.Names({"en": Seeing("Quillon Abernathy")}, ("PERSON",)))
    assert [span.category for span in spans] == ["PERSON", "EMAIL"]


def test_a_model_of_english_is_believed_less_about_other_languages():
    alone = names.Names({"en": Seeing("Quillon Abernathy", "Verwaltung", "Zug")}, ("PERSON",))
    assert alone.find([GERMAN]) == [[]]
    (found,) = alone.find(["Ontem Quillon Abernathy não foi para casa e o escritório também não estava mais aberto."])
    assert [span.value for span in found] == ["Quillon Abernathy"]


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("The train to the office was late and we had to wait for it.", "en"),
        ("Der Zug zum Büro war zu spät und wir haben auf ihn gewartet.", "de"),
        ("Le train pour le bureau était en retard et nous avons attendu.", "fr"),
        ("El tren para la oficina llegó tarde y los empleados esperaron.", "es"),
        ("O trem para o escritório não chegou e as pessoas já foram embora.", "pt"),
        ("Il treno per l'ufficio non è arrivato e anche la gente del bar aspetta.", "it"),
        ("De trein naar het kantoor was te laat en wij hebben gewacht op een bus.", "nl"),
        ("Pociąg do biura się spóźnił i nie było go przez godzinę, ale już jest.", "pl"),
        ("kim@example.com 4711 --verbose /usr/bin", "en"),
        ('{"o": 1, "e": 2, "com": "a"}', "en"),
    ],
)
def test_a_language_is_told_by_its_function_words(text: str, language: str):
    assert language_of(text) == language


def test_each_stretch_of_a_text_has_a_language_of_its_own():
    english = "The train to the office was late and we had to wait for it. " * 10
    text = english + GERMAN * 10
    assert (Languages(text).at(10), Languages(text).at(len(text) - 10)) == ("en", "de")


def test_a_single_word_where_a_place_stands_is_no_person():
    text = "the warehouse in Rotterdam"
    assert list(cores(text, Found(17, 26, "PERSON"))) == []


# -- spans -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("one", "other"),
    [("Ann  LEE", "ann lee"), ("Dr. Ann Lee", "Ann Lee"), ("O’Brien", "O'Brien"), ("Ann\u00a0Lee", "Ann Lee")],
)
def test_spellings_of_one_name_share_a_canonical_form(one: str, other: str):
    assert canonical(one) == canonical(other)


def test_people_of_whom_only_title_and_surname_are_known_stay_two():
    assert canonical("Mr. Rivera") != canonical("Mrs. Rivera")


def test_a_name_found_once_is_found_wherever_it_stands_alone():
    text = "Thessaly wrote; thessaly, Thessalyx and [Thessaly] did not"
    found = names.spread(text, [Found(0, 8, "PERSON")])
    assert [(span.start, span.value) for span in found] == [(0, "Thessaly"), (41, "Thessaly")]


def test_spans_say_what_they_are():
    (span,) = names.spread("ask  Ann Lee", [Found(5, 12, "PERSON")])
    assert span == Span(5, 12, "PERSON", "Ann Lee", "ann lee", Encoding.PLAIN, Proof.NAME, names.RANK)


@given(MESSY, st.data())
@settings(max_examples=examples(200))
def test_spread_names_are_disjoint_sorted_and_say_what_stands_there(pieces: list[str], data: st.DataObject):
    text = "".join(pieces)
    found = [Found(run.start, run.end, "PERSON") for run in runs(text)]
    some = data.draw(st.lists(st.sampled_from(found), max_size=5)) if found else []
    spans = names.spread(text, some)
    assert all(text[span.start : span.end] == span.value for span in spans)
    assert all(left.end <= right.start for left, right in pairwise(spans))


# -- joining the two kinds of detection ------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        "import Chatter from './chatter'; Chatter.start()",
        "The Breakpoint of it is set; see Breakpoint(1) below and class Breakpoint",
        "class Chatter implements Runnable {",
    ],
)
def test_a_word_that_stands_as_code_elsewhere_is_nobody(text: str):
    seeing = names.Names({"en": Seeing("Chatter", "Breakpoint")}, ("PERSON",))
    assert seeing.find([text]) == [[]]


@pytest.mark.parametrize(
    ("text", "believed"),
    [
        ("Max fetch size is 100. Max age: 5; the Max value", []),
        ("Set Max Retries. Max Fetch Size", []),
        ("They gave Max time. Max requests a refund. I met Max. Time flies", ["Max", "Max", "Max"]),
        ("Mark it as read. Grant Access! Grant access, then", []),
        ("- Mark all as done", []),
        ("Max said it, Mark is here. Grant called, bill it to Mark", ["Max", "Mark", "Grant", "Mark"]),
        ("Max Price and Max Mustermann", ["Max Price", "Max Mustermann"]),
    ],
)
def test_a_bound_and_an_order_are_nobody(text: str, believed: list[str]):
    """A model that takes each of these words, and what is capitalised behind it, for somebody."""
    seeing = re.finditer(r"(?:Max|Mark|Grant)(?: [A-Z][a-z]+)*", text)
    cut = [part for match in seeing for part in cores(text, Found(*match.span(), "PERSON"))]
    assert [text[part.start : part.end] for part in cut] == believed


def test_names_join_what_else_was_found_and_give_way_to_it():
    mail = Span(0, 21, "EMAIL", "Vandermeer@example.org", "vandermeer@example.org", rank=300)
    text = "Vandermeer@example.or, Vandermeer"
    (found,) = names.with_names([[mail]], [Text(text)], Stubborn("Vandermeer"))
    assert [(span.category, span.start) for span in found] == [("EMAIL", 0), ("PERSON", 23)]


class Told:
    """A recogniser that finds what it is told."""

    def __init__(self, *said: str) -> None:
        self._said = said

    def find(self, texts: Sequence[str], known: Sequence[Sequence[Span]] = ()) -> list[list[Span]]:
        return [
            [Span(at, at + len(name), "PERSON", name, canonical(name), proof=Proof.NAME, rank=names.RANK)]
            for text, name in zip(texts, self._said, strict=True)
            for at in (text.index(name),)
        ]


@pytest.mark.parametrize(
    ("text", "said", "hidden"),
    [
        ("Frau Dr. Gruber ist da", "Frau Dr. Gruber", ["Dr. Gruber"]),
        ("M. Anna Berger est là", "M. Anna Berger", ["Anna Berger"]),
        ("Appelez Anna Berger", "Appelez Anna Berger", ["Anna Berger"]),
        ("by Thessaly Anna Berger", "Thessaly Anna Berger", ["Thessaly", "Anna Berger"]),
    ],
)
def test_a_form_of_address_beside_a_name_that_was_found_is_nobody(text: str, said: str, hidden: list[str]):
    texts = [Text(text)]
    found = names.with_names(Detector().find(texts), texts, Told(said))
    assert [text[span.start : span.end] for span in found[0]] == hidden


def test_a_text_that_may_not_be_read_for_names_is_not_shown():
    stubborn = Stubborn("Thessaly")
    found = names.with_names([[], []], [Text("Thessaly", names=False), Text("ask Thessaly")], stubborn)
    assert [len(spans) for spans in found] == [0, 1]
    assert stubborn.seen == ["ask Thessaly"]


def test_allowed_values_are_no_finds():
    assert names.with_names([[]], [Text("ask Thessaly")], Stubborn("Thessaly"), AllowList({"Thessaly"})) == [[]]


def test_an_encoded_name_is_read_and_cut_from_the_original():
    text = "ask Bj\\u00f6rn Str\\u00f6mqvist"
    ((span,),) = names.with_names([[]], [Text(text)], Stubborn("Björn Strömqvist"))
    assert (text[span.start : span.end], span.value) == ("Bj\\u00f6rn Str\\u00f6mqvist", "Björn Strömqvist")
    assert span.encoding is Encoding.JSON


def test_text_worth_asking_about_is_told_from_text_that_is_not():
    assert names.plausible("ask Bj%C3%B6rn%20Str%C3%B6mqvist")
    assert names.plausible("we met Vandermeer")
    assert not names.plausible("the build took 12 s")


# -- the model -------------------------------------------------------------------------------------


@pytest.mark.parametrize("model", ["no_such_model_here", "../evil", "os.path"])
def test_an_absent_model_is_said_to_be_absent_and_cannot_be_loaded(model: str):
    settings = NameSettings((("*", model),))
    assert name_models.available(settings) is not None
    with pytest.raises(DetectionError, match="Names cannot be detected"):
        name_models.load(settings)


@needs_model
def test_the_examples_are_found_by_the_model_and_not_by_the_words(recogniser: names.Recogniser):
    names.prove(recogniser, ("PERSON",))
    assert all(told(sentence) == [] for sentence, _ in names.EXAMPLES["PERSON"])


def test_a_recogniser_that_finds_nothing_fails_the_proof():
    with pytest.raises(DetectionError, match="PERSON"):
        names.prove(Stubborn("nobody"), ("PERSON",))


@needs_model
def test_other_labels_are_proved_too():
    names.prove(name_models.load(NameSettings(labels=("ORG", "GPE"))), ("ORG", "GPE"))


@needs_model
def test_a_label_the_model_does_not_know_is_refused():
    with pytest.raises(DetectionError, match="STARSHIP"):
        name_models.load(NameSettings(labels=("PERSON", "STARSHIP")))


@needs_model
@pytest.mark.parametrize(
    "text",
    [
        "Deploy C4 diagrams to EKS and S3 via Jenkins; statements are quarterly, due 2026-03-01 14:05Z; "
        "Docker Hub in Jordan release",
        "Redis and Kubernetes are down since Monday. Kafka restarted in March, Grafana shows it.",
        "# Installation\n\nRun Docker Compose, then open Grafana.\n\n## Known Issues\n\nSee Release Notes.",
        "Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/120.0.0.0 Safari/537.36",
    ],
)
def test_technical_words_are_not_names(recogniser: names.Recogniser, text: str):
    assert recogniser.find([text]) == [[]]


@needs_model
@given(st.lists(MESSY.map("".join), max_size=3))
@settings(max_examples=examples(60))
def test_whatever_the_text_spans_are_disjoint_and_say_what_stands_there(texts: list[str]):
    recogniser = _shared_recogniser()
    for text, spans in zip(texts, recogniser.find(texts), strict=True):
        assert all(text[span.start : span.end] == span.value for span in spans)
        assert all(left.end <= right.start for left, right in pairwise(spans))


@needs_model
def test_asking_again_or_in_other_company_gives_the_same_answer(recogniser: names.Recogniser):
    texts = ["we met Thessaly Vandermeer there", "ask Quillon about it", "no one"]
    together = recogniser.find(texts)
    assert together == [recogniser.find([text])[0] for text in texts] == recogniser.find(texts)


_RECOGNISERS: list[names.Recogniser] = []


def _shared_recogniser() -> names.Recogniser:
    """One for all examples of a property: loading takes a second."""
    if not _RECOGNISERS:
        _RECOGNISERS.append(name_models.load(NameSettings()))
    return _RECOGNISERS[0]


# -- how well ---------------------------------------------------------------------------------------


@needs_model
@needs_data
@pytest.mark.parametrize(
    ("data", "recall", "precision"),
    [
        ("uner/en", 0.70, 0.84),
        ("wikigold_en/data", 0.82, 0.96),
        ("presidio_synth/data", 0.75, 0.96),
        ("pii_anon_technology/data", 0.97, 0.99),
        ("cloakllm_hard/data", 1.0, 1.0),
    ],
)
def test_people_in_labelled_texts_are_found(recogniser: names.Recogniser, data: str, recall: float, precision: float):
    rows = [json.loads(line) for line in (SHARED / f"{data}.jsonl").read_text("utf-8").splitlines()]
    found = recogniser.find([row["text"] for row in rows])
    hidden = [_is_hidden(row, label, spans) for row, spans in zip(rows, found, strict=True) for label in _people(row)]
    right = [_is_right(row, span) for row, spans in zip(rows, found, strict=True) for span in spans]
    assert sum(hidden) / len(hidden) >= recall
    assert sum(right) / len(right) >= precision


@needs_model
@needs_data
def test_machine_output_holds_no_people(recogniser: names.Recogniser):
    rows = [json.loads(line) for line in (SHARED / "clean_tech/data.jsonl").read_text("utf-8").splitlines()]
    assert recogniser.find([row["text"] for row in rows]) == [[] for _ in rows]


def _people(row: dict) -> list[dict]:
    return [label for label in row["spans"] if label["label"] == "PERSON"]


def _is_hidden(row: dict, label: dict, spans: list[Span]) -> bool:
    """At least 99 % of the characters that are no space are covered."""
    at = [i for i in range(label["start"], label["end"]) if not row["text"][i].isspace()]
    return sum(any(span.start <= i < span.end for span in spans) for i in at) >= 0.99 * len(at)


def _is_right(row: dict, span: Span) -> bool:
    """At least half of the characters lie in a labelled span of any label."""
    inside = sum(any(label["start"] <= i < label["end"] for label in row["spans"]) for i in range(span.start, span.end))
    return 2 * inside >= span.end - span.start


@pytest.mark.parametrize("unit", ["文", "-a", "'a", "aé"])
def test_a_word_without_end_is_not_taken_apart(unit: str) -> None:
    """Each letter without case, and each mark, may begin a name in a word."""

    def seconds(size: int) -> float:
        text = "I met Ann A" + unit * (size // len(unit))
        began = time.process_time()
        for start, end in windows(text, runs(text)):
            may_be_believed(text, start, end)
        return time.process_time() - began

    assert seconds(20_000) < 1


@pytest.mark.parametrize("text", ["Sra. García / Sra. Muñoz", "Herr Weber\nHerr Weiß", "Frau STRAUSS / Frau O’Shea"])
def test_no_name_goes_on_behind_the_end_of_its_text(text: str) -> None:
    """A shorter name at the end is no longer one that begins alike."""
    found = [Found(match.start(), match.end(), "PERSON") for match in re.finditer(r"(?:Sra\.|Herr|Frau) \S+", text)]
    spans = names.spread(text, found)
    assert all(span.end <= len(text) and span.value == text[span.start : span.end] for span in spans)
