"""Log lines: structured, escaped, and never in anybody's way."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.shell.logging import BACKLOG, Logger, line
from tests.patience import PATIENCE


def read_all(fd: int) -> str:
    with open(fd, "rb") as stream:
        return stream.read().decode("utf-8")


def test_an_event_is_one_line_of_level_name_and_fields():
    assert line("info", "upstream_ready", upstream="crm", tools=3, late=False) == (
        "info upstream_ready upstream=crm tools=3 late=false"
    )


def test_a_value_with_spaces_or_quotes_is_quoted():
    assert line("info", "e", a='x "y"', b="") == 'info e a="x \\"y\\"" b=""'


def test_counts_and_lists_are_written_as_people_write_them():
    seen = line("info", "seen", found={"EMAIL": 2, "SSN": 1}, names=["a", "b"])
    assert seen == "info seen found=EMAIL:2,SSN:1 names=a,b"
    assert line("info", "seen", found={}) == 'info seen found=""'


def test_control_and_direction_characters_are_escaped():
    assert line("info", "e", a="\x1b[2J\r\n\x9b\u202e\u2028\ud800") == (
        'info e a="\\x1b[2J\\x0d\\n\\x9b\\u202e\\u2028\\ud800"'
    )


def test_letters_of_any_language_stay_readable():
    assert line("info", "e", a="東京 Müller") == 'info e a="東京 Müller"'


@given(st.text())
def test_no_value_leaves_its_line_or_speaks_to_the_terminal(value):
    assert line("info", "e", a=value).isprintable()


def test_events_below_the_level_are_not_written():
    read, write = os.pipe()
    log = Logger("warning", write)
    log.log("info", "quiet")
    log.log("error", "loud")
    log.close()
    os.close(write)
    assert read_all(read) == "error loud\n"


def test_a_reader_that_does_not_read_costs_lines_and_no_time():
    read, write = os.pipe()
    log = Logger("info", write)
    for i in range(3 * BACKLOG):
        log.log("info", "e", i=i, filling="x" * 200)
    reader = ThreadPoolExecutor(1).submit(read_all, read)
    log.close()
    log.log("info", "after")
    log.close()
    os.close(write)
    told = reader.result(timeout=PATIENCE).splitlines()
    assert told[0].startswith("info e i=0 ")
    assert told[-1] == "info after"
    reports = [text for text in told if text.startswith("warning log_lines_lost lines=")]
    lost = sum(int(report.rpartition("=")[2]) for report in reports)
    assert lost > 0
    assert len(told) - len(reports) + lost == 3 * BACKLOG + 1


def test_a_closed_standard_error_is_no_reason_to_fail():
    read, write = os.pipe()
    os.close(read)
    log = Logger("info", write)
    log.log("error", "unheard")
    log.close()
    os.close(write)
