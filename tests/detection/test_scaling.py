"""Time and memory grow with the text and with nothing else."""

from __future__ import annotations

import gc
import time
import tracemalloc

import pytest

from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.spans import Text

corpora = pytest.importorskip("bench.corpora", reason="the benchmarks are not part of a source distribution")

DETECTOR = Detector()
SMALL, LARGE, DOUBLINGS = 50_000, 1_600_000, 5


def seconds(text: str, rounds: int) -> float:
    """CPU seconds of the quickest of some rounds, the collector aside."""
    best = float("inf")
    for _ in range(rounds):
        gc.collect()
        gc.disable()
        began = time.process_time()
        DETECTOR.find([Text(text)])
        best = min(best, time.process_time() - began)
        gc.enable()
    return best


@pytest.mark.slow
@pytest.mark.parametrize("personal", [True, False], ids=["with", "without"])
@pytest.mark.parametrize("kind", corpora.KINDS)
def test_twice_the_text_takes_about_twice_the_time(kind: str, personal: bool) -> None:
    text = corpora.text(kind, personal, LARGE)
    growth = seconds(text, 4) / seconds(text[:SMALL], 6)  # of the large ones, the first builds the automata
    assert growth ** (1 / DOUBLINGS) <= 2.3


@pytest.mark.slow
@pytest.mark.parametrize("unit", corpora.HOSTILE)
def test_repetition_takes_no_more_than_its_length_says(unit: str) -> None:
    growth = seconds(unit * (LARGE // len(unit)), 2) / seconds(unit * (SMALL // len(unit)), 6)
    assert growth ** (1 / DOUBLINGS) <= 2.3


@pytest.mark.parametrize(
    "letters",
    [
        "абвгдежзийклмнопрстуфхцчшщ",
        "αβγδεζηθικλμνξοπρςστυφχψωά",
        "一丁七万丈三上下不与丑专世丘丙业丛东丝丢两严丧个丫中",
    ],
)
def test_a_text_of_another_script_takes_not_much_longer(letters: str) -> None:
    """To the linear engine all letters that are not ASCII are one."""
    plain = corpora.text("prose", False, SMALL)
    other = plain.translate(str.maketrans("abcdefghijklmnopqrstuvwxyz", letters))
    DETECTOR.find([Text(other)])
    assert seconds(other, 4) <= 120 * seconds(plain, 6)  # 30 to 55; without a look at what leads a truth 260


@pytest.mark.parametrize(
    ("unit", "end"),
    [
        ("я", "@x.org"),
        ("文", "@x.org"),
        ("d.", "://u:pw9@h"),
        ("G-", r"L81\q__362"),
        ("Birth_", 'Birth_date":{"year":1980'),
        ("O3_8yy_", "-k-5iB-5-F7N-NB____.EOnmB-.x_Tz80h--4_-_p0-hu_9W8-_YrK"),
        ("(36-.-2(-5-(9--3--6", "-celL"),
        ("ñя", "ñ嵐ᜟ?\xa0Ste.v1522J"),
        ("97 98 99 100 ", "1111"),
        ("97,98, 99,", "98.5"),
        ("0x61, 0x62 ", "0x63z"),
        ("0x610x62", "0x63z"),
        ("61 62 63 ", "64:"),
        ("61:62:", "63z"),
        (r"\141\142", r"\14"),
    ],
)
def test_many_beginnings_with_one_far_end_take_no_more_than_their_length_says(unit: str, end: str) -> None:
    """Each looks like a place to the linear engine, which then reads on to the end."""
    text = unit * (60_000 // len(unit)) + end
    DETECTOR.find([Text(text)])
    assert seconds(text, 2) < 1  # it took 2 to 15, and four times as long for twice the text


def test_question_marks_are_not_taken_for_letters() -> None:
    """To the linear engine they look like letters that are not ASCII."""
    DETECTOR.find([Text("?" * SMALL)])
    assert seconds("?" * SMALL, 4) <= 60 * seconds(corpora.text("prose", False, SMALL), 6)


@pytest.mark.slow
@pytest.mark.parametrize("personal", [True, False], ids=["with", "without"])
@pytest.mark.parametrize("kind", corpora.KINDS)
def test_a_text_needs_less_than_twelve_times_as_much_memory(kind: str, personal: bool) -> None:
    """Even a table whose every cell is somebody's, with a span in 22 characters."""
    text = corpora.text(kind, personal, 3_000_000)
    DETECTOR.find([Text(text[:2_000])])
    tracemalloc.start()
    DETECTOR.find([Text(text)])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 12 * len(text)  # so it is for ten megabytes, as the benchmark shows: memory grows like time
