"""Who is named in one place of a message is hidden where another has a part of the name, and nothing else is."""

from __future__ import annotations

import re

import pytest

from cloakllm_gateway.detection.allow_list import AllowList
from cloakllm_gateway.detection.engine import Detector
from cloakllm_gateway.detection.name_again import told_again
from cloakllm_gateway.spans import Proof, Span, Text
from tests.cost import Work, compare

DETECTOR = Detector()


def shown(*texts: Text) -> list[str]:
    """The texts with what is hidden in marks."""
    return ["".join(_marked(text.text, spans)) for text, spans in zip(texts, DETECTOR.find(list(texts)), strict=True)]


def _marked(text: str, spans: list[Span]) -> list[str]:
    pieces, done = [], 0
    for span in spans:
        pieces += [text[done : span.start], "«", text[span.start : span.end], "»"]
        done = span.end
    return [*pieces, text[done:]]


@pytest.mark.parametrize(
    "text",
    [
        "From: «Grace Hopper» <«grace@example.org»>\n\n«Grace» will call. «Hopper» agreed.",
        "«Herr Öztürk» rief an. Die Ehefrau, «Gülay Öztürk», kam. Firma «Öztürk» zahlt.",
        "| Name | Role |\n|---|---|\n| «Grace» | Intern |\n| «Bob Miller» | CTO |\n\nContact «Grace» for it.",
        '{"first_name": "«Zoltana»", "last_name": "«Quillon»"} and then «Zoltana Quillon» left.',
        "«John McDonald» met «Pat O'Brien». «McDonald» left; «O'Brien»'s car stayed.",
        "«Jane Price» called. Hi «Jane», ask «Price». «Price» agreed.",
        "By «Anna Kowalska-Nowak»: «Kowalska-Nowak» signed, «Anna» did not.",
    ],
)
def test_a_part_of_a_name_is_hidden_where_it_stands_for_somebody(text: str) -> None:
    assert shown(Text(text.replace("«", "").replace("»", ""))) == [text]


@pytest.mark.parametrize(
    "text",
    [
        "By «Jane May», «Jane Price», «Jane Rose»: Price is 20. The Price. May I? In May. A Rose. Rose petals.",
        '{"first_name": "«Grace»"} A Grace Period. Grace period. The Grace clause. no grace',
        "By «Kim Hopper»: a class Hopper(x), os.Hopper, Hopper_1, /Hopper, hopper, HOPPER, Hopper Building, Hopperly",
        "By «Kim Öztürk»: a LifeÖztürk, an ÖztürkFactory",
        "By «Kim Paris»: she flew to Paris, from Paris and over Paris",
        "By «Anna Koch» und «Anna Weber»: Dr. No",
    ],
)
def test_ordinary_words_identifiers_and_what_is_called_after_somebody_are_shown(text: str) -> None:
    assert shown(Text(text.replace("«", "").replace("»", ""))) == [text]


def test_it_holds_for_all_texts_of_a_message_but_those_that_are_not_read_for_names() -> None:
    texts = [Text("By Kim Hopper"), Text("Hopper agreed"), Text("Hopper agreed", names=False)]
    assert shown(*texts) == ["By «Kim Hopper»", "«Hopper» agreed", "Hopper agreed"]


def test_each_part_is_a_value_of_its_own_that_words_prove() -> None:
    ((_, part),) = DETECTOR.find([Text("Kim Hopper came. Then HOPPER and Hopper left.")])
    assert (part.value, part.canonical, part.proof) == ("Hopper", "hopper", Proof.NAME)


def test_a_part_that_is_a_word_as_well_is_known_in_no_later_message() -> None:
    ((_, part),) = DETECTOR.find([Text("Jane Price came, and Price agreed.")])
    assert (part.value, part.proof) == ("Price", Proof.PART)


def test_a_part_that_is_allowed_is_shown() -> None:
    text = "Kim Hopper came. Hopper left."
    found = DETECTOR.find([Text(text)])
    assert told_again([found[0][:1]], [Text(text)], AllowList({"Hopper"})) == [[found[0][0]]]


@pytest.mark.parametrize(
    "unit", ["Kim Qa{}en. Qa{}en left. ", "Kim Hopper{} ", "Kim Hopper. Hopper Hopper ", "O'", "ö"]
)
def test_a_message_with_any_number_of_names_takes_time_in_proportion_to_its_length(unit: str) -> None:
    def work(count: int) -> Work:
        text = "".join(unit.replace("{}", "".join(chr(97 + int(digit)) for digit in str(i))) for i in range(count))
        people = [
            Span(name.start(), name.end(), "PERSON", name[0], name[0]) for name in re.finditer("Kim [A-Z][a-z]+", text)
        ]
        return lambda: told_again([people], [Text(text)])

    compare(work(5_000), work(40_000), most=8 * 3, slack=0.01)
