"""``scan`` as a person or a script meets it: what would be hidden, as a process, with nothing left behind."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from contextlib import suppress
from typing import Any

import pytest

from cloakllm_gateway.detection.settings import NameSettings
from cloakllm_gateway.shell.name_models import available
from tests.patience import PATIENCE

KIM = "kim@example.com"


def scan(*arguments: str, given: str | bytes = "", **more: Any) -> subprocess.CompletedProcess[str]:
    data = given if isinstance(given, bytes) else given.encode()
    done = subprocess.run(
        [sys.executable, "-m", "cloakllm_gateway", "scan", *arguments],
        input=data, capture_output=True, timeout=PATIENCE, check=False, **more,
    )  # fmt: skip
    told = subprocess.CompletedProcess(done.args, done.returncode, done.stdout.decode(), done.stderr.decode())
    assert "Traceback" not in told.stderr, told.stderr
    return told


def lines(*texts: Any) -> str:
    return "".join(json.dumps({"id": number, "text": text}) + "\n" for number, text in enumerate(texts))


def test_a_text_shows_each_value_marked_and_followed_by_its_token(tmp_path):
    path = tmp_path / "mail.txt"
    path.write_text(f"Write to {KIM}, card 4111 1111 1111 1111.\nOr {KIM}\n")
    done = scan("--no-names", str(path))
    assert done.stdout == (
        f"Write to «{KIM}»[EMAIL_0], card «4111 1111 1111 1111»[CREDIT_CARD_0].\nOr «{KIM}»[EMAIL_0]\n"
    )
    assert done.stderr == f"cloakllm-gateway: {path}: 2 EMAIL, 1 CREDIT_CARD\n"
    assert done.returncode == 0


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", ["", "\ufeff"])
def test_a_text_without_values_is_shown_byte_for_byte(end: str, mark: str, tmp_path):
    path = tmp_path / "plain.txt"
    text = f"{mark}a\tb{end}{end}\u00fcber{end}"
    path.write_bytes(text.encode())
    assert scan("--no-names", str(path)).stdout == text
    path.write_bytes(f"{text}{KIM}{end}".encode())
    assert scan("--no-names", str(path)).stdout == f"{text}\u00ab{KIM}\u00bb[EMAIL_0]{end}"


def test_nothing_is_stored(tmp_path):
    home = {"HOME": str(tmp_path), "PATH": os.environ["PATH"]}
    scan("--no-names", "-", given=f"{KIM}\n", env=home, cwd=tmp_path)
    assert list(tmp_path.iterdir()) == []


def test_json_is_one_array_with_spans_and_the_text_as_the_model_would_see_it(tmp_path):
    path = tmp_path / "row.json"
    path.write_text('{"ssn": 536228726, "mail": "kim@example.com"}')
    (told,) = json.loads(scan("--no-names", "--format", "json", str(path)).stdout)
    assert told == {
        "file": str(path),
        "spans": [
            {"start": 8, "end": 17, "category": "SSN"},
            {"start": 28, "end": 43, "category": "EMAIL"},
        ],
        "text": '{"ssn": "[SSN_0]", "mail": "[EMAIL_0]"}',
    }


def test_json_lines_keep_their_ids_and_offsets_are_code_points():
    text = f"😀 Jürgen: {KIM} and {KIM}, card 4111 1111 1111 1111"
    given = json.dumps({"id": {"any": [1, "x"]}, "text": text, "spans": "ignored"}) + "\n\n" + lines("nothing here")
    first, second = map(json.loads, scan("--no-names", "--jsonl", given=given).stdout.splitlines())
    assert first["id"] == {"any": [1, "x"]}
    assert [(text[s["start"] : s["end"]], s["category"]) for s in first["spans"]] == [
        (KIM, "EMAIL"),
        (KIM, "EMAIL"),
        ("4111 1111 1111 1111", "CREDIT_CARD"),
    ]
    assert first["text"] == "😀 Jürgen: [EMAIL_0] and [EMAIL_0], card [CREDIT_CARD_0]"
    assert second == {"id": 0, "spans": [], "text": "nothing here"}


def test_tokens_begin_anew_on_every_line():
    done = scan("--no-names", "--jsonl", given=lines("a@example.com", "b@example.com"))
    assert [json.loads(line)["text"] for line in done.stdout.splitlines()] == ["[EMAIL_0]", "[EMAIL_0]"]


def test_broken_lines_are_told_by_number_and_the_others_are_scanned():
    given = (
        b'{"id": 1, "text": "a@example.com"}\nno json for kim\n{"text": 3}\n\xff\n{"id": 5, "text": "b@example.com"}\n'
    )
    done = scan("--no-names", "--jsonl", given=given)
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 5]
    assert done.stderr.splitlines() == [
        "cloakllm-gateway: standard input: line 2: is not a line of JSON; without --jsonl a file is scanned whole",
        'cloakllm-gateway: standard input: line 3: is not an object with a string "text"',
        "cloakllm-gateway: standard input: line 4: is not UTF-8 text: "
        "convert it (iconv -f WINDOWS-1252 -t UTF-8, or whatever it was written in)",
    ]
    assert done.returncode == 1


@pytest.mark.parametrize(
    ("data", "why"),
    [
        ("Übersicht".encode("latin-1"), "is not UTF-8 text: convert it (iconv -f WINDOWS-1252 -t UTF-8, or"),
        (b"\xff\xfek", "is not UTF-8 text: convert it (iconv -f UTF-16 -t UTF-8)"),
        ("kim".encode("utf-32"), "is no text: it holds zero bytes"),
        (b"\x7fELF\x02\x01\x01\0\0\xff", "is no text: it holds zero bytes"),
    ],
)
def test_why_bytes_can_not_be_scanned(data: bytes, why: str) -> None:
    done = scan("--no-names", given=data)
    assert why in done.stderr.replace("\n", " ")
    assert done.returncode == 1


@pytest.mark.parametrize("code", ["utf-16", "utf-16-be"])
def test_utf_16_is_read_by_its_mark(code: str) -> None:
    mark = "\ufeff" if code == "utf-16-be" else ""
    assert scan("--no-names", given=f"{mark}Ü {KIM}\n".encode(code)).stdout == f"Ü «{KIM}»[EMAIL_0]\n"


def test_lines_of_json_are_files_of_their_own_kind(tmp_path):
    done = scan("--no-names", "--jsonl", str(tmp_path))
    assert f"{tmp_path}: is a directory: name the files in it" in done.stderr
    assert done.returncode == 1


def test_a_line_is_answered_before_the_next_one_is_there():
    command = [sys.executable, "-m", "cloakllm_gateway", "scan", "--no-names", "--jsonl"]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as running:
        assert running.stdin and running.stdout
        for number in range(3):
            running.stdin.write(lines(f"{number}@example.com").encode())
            running.stdin.flush()
            assert json.loads(running.stdout.readline())["text"] == "[EMAIL_0]"
        running.stdin.close()
        assert running.wait(PATIENCE) == 0


def test_files_that_can_not_be_read_do_not_stop_the_others(tmp_path):
    good, bad = tmp_path / "good.txt", tmp_path / "bad.txt"
    good.write_text(KIM)
    bad.write_bytes(b"\xff\xfekim")
    done = scan("--no-names", str(tmp_path / "none.txt"), str(bad), str(good))
    assert done.stdout == f"==> {good} <==\n«{KIM}»[EMAIL_0]\n"
    assert "none.txt: cannot be read: No such file" in done.stderr
    assert "bad.txt: is not UTF-8 text: convert it" in done.stderr
    assert done.returncode == 1


def test_files_that_can_not_even_be_looked_up_do_not_stop_the_others(tmp_path):
    good, closed, long = tmp_path / "good.txt", tmp_path / "closed", "n" * 300
    good.write_text(KIM)
    closed.mkdir()
    (closed / "bad.txt").write_text(KIM)
    closed.chmod(0)
    done = scan("--no-names", str(closed / "bad.txt"), long, str(closed), str(good))
    closed.chmod(0o700)
    assert f"==> {good} <==\n1: «{KIM}»[EMAIL_0]\n" in done.stdout
    assert f"{long}: cannot be read: File name too long" in done.stderr
    assert os.geteuid() == 0 or f"{closed}: cannot be read: Permission denied" in done.stderr
    assert os.geteuid() == 0 or f"{closed / 'bad.txt'}: cannot be read: Permission denied" in done.stderr
    assert done.returncode == 1


def test_what_serving_would_withhold_is_told_by_its_reason(tmp_path):
    config = tmp_path / "gateway.json"
    detection = {"ner_entity_types": [], "max_input_length": 20}
    config.write_text(json.dumps({"upstreams": {"x": {"command": "x"}}, "detection": detection}))
    done = scan("--config", str(config), "--jsonl", given=lines(KIM, "x" * 21, KIM))
    assert len(done.stdout.splitlines()) == 2
    assert "line 2: would be withheld: A text is longer than max_input_length (20)" in done.stderr
    assert done.returncode == 1


def test_the_detection_settings_of_a_configuration_count(tmp_path):
    config = tmp_path / "gateway.json"
    detection = {"ner_entity_types": [], "detect_emails": False, "deny_list": ["Project Heron"]}
    config.write_text(json.dumps({"upstreams": {"x": {"command": "x"}}, "detection": detection}))
    done = scan("--config", str(config), given=f"{KIM} on Project Heron\n")
    assert done.stdout == f"{KIM} on «Project Heron»[TERM_0]\n"


def test_a_locale_may_be_named_without_a_configuration():
    assert scan("--no-names", "--locale", "de_AT", given="0664 1234567\n").stdout == "«0664 1234567»[PHONE_0]\n"
    done = scan("--no-names", "--locale", "de_UK")
    assert done.returncode == 2 and 'is no locale that is known here. Did you mean "de' in done.stderr


def test_a_wrong_configuration_and_a_wrong_command_line_are_status_2(tmp_path):
    config = tmp_path / "gateway.json"
    config.write_text("{")
    assert scan("--config", str(config)).returncode == 2
    assert scan("--jsonl", "--format", "json").returncode == 2


def test_expect_clean_has_a_status_of_its_own_for_finds():
    assert scan("--no-names", "--expect-clean", given="nothing\n").returncode == 0
    assert scan("--no-names", "--expect-clean", given=KIM).returncode == 3


def test_text_that_looks_like_a_token_is_a_find_of_its_own():
    told = json.loads(scan("--no-names", "--jsonl", given=lines(f"[EMAIL_0] {KIM} [EMAIL_9]")).stdout)
    assert told["text"] == "[LITERAL_0] [EMAIL_0] [LITERAL_1]"
    assert [span["category"] for span in told["spans"]] == ["LITERAL", "EMAIL", "LITERAL"]


@pytest.mark.skipif(available(NameSettings()) is not None, reason="the name model is not installed")
def test_names_are_found_where_their_model_is_installed():
    given = lines("Yesterday Quillon Abernathy moved to a new office near the river.")
    assert "[PERSON_0]" in json.loads(scan("--jsonl", given=given).stdout)["text"]
    assert json.loads(scan("--jsonl", "--no-names", given=given).stdout)["spans"] == []


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_on_a_terminal_values_are_in_colour_and_control_characters_are_harmless():
    shown = on_terminal("stdout", "-", given=f"to {KIM}\x1b[2J\n")
    assert f"\x1b[31m{KIM}\x1b[0m\x1b[32m[EMAIL_0]\x1b[0m" in shown
    assert "\x1b[2J" not in shown and "\\x1b[2J" in shown


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.skipif(available(NameSettings()) is not None, reason="the name model is not installed")
def test_on_a_terminal_models_are_waited_for(tmp_path):
    """What is drawn meanwhile depends on the machine: see ``test_waiting``."""
    path = tmp_path / "short.txt"
    path.write_text("Yesterday Quillon Abernathy moved to a new office near the river.")
    assert "1 PERSON" in on_terminal("stderr", str(path), names=True)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_who_waits_sees_how_far_it_is(tmp_path):
    path = tmp_path / "long.jsonl"
    path.write_text(lines(*(f"{number}@example.com " + "filler " * 200 for number in range(3_000))))
    assert " MB" in on_terminal("stderr", "--jsonl", str(path))


@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
@pytest.mark.parametrize("environment", [{"NO_COLOR": "1"}, {"TERM": "dumb"}])
def test_on_a_terminal_without_colour_values_are_marked(environment):
    assert f"to «{KIM}»[EMAIL_0]" in on_terminal("stdout", "-", given=f"to {KIM}\n", **environment)


def test_a_terminal_of_few_letters_gets_what_it_can_show():
    done = scan("--no-names", given=f"Übersicht: {KIM}\n", env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert done.stdout == f"\\xdcbersicht: <<{KIM}>>[EMAIL_0]\n"
    assert done.returncode == 0


@pytest.mark.parametrize("form", [["--jsonl"], ["--format", "json"], []])
def test_a_reader_that_has_enough_ends_it_quietly(form, tmp_path):
    path = tmp_path / "texts"
    path.write_text(lines(*(f"{KIM} {'filler ' * 20_000}" for _ in range(3))))
    command = [sys.executable, "-m", "cloakllm_gateway", "scan", "--no-names", *form, *[str(path)] * 4]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout and running.stderr
        running.stdout.read(1)
        running.stdout.close()
        assert b"error" not in running.stderr.read()
        assert running.wait(PATIENCE) == 1


def test_what_is_too_much_for_one_message_is_shown_with_the_limit_that_it_is_over(tmp_path):
    config = tmp_path / "gateway.json"
    limits = {"detection": {"ner_entity_types": []}, "vault": {"max_values_per_message": 2}}
    config.write_text(json.dumps({"upstreams": {"x": {"command": "x"}}, **limits}))
    done = scan("--config", str(config), given="a@example.com b@example.com c@example.com\n")
    assert done.stdout.count("[EMAIL_") == 3
    assert "holds 3 values, and one message may bring 2 (vault.max_values_per_message)" in done.stderr
    assert done.returncode == 0


def on_terminal(stream: str, *arguments: str, given: str = "", names: bool = False, **variables: str) -> str:
    """What appears on a terminal that only ``stream`` leads to."""
    import pty

    ours, theirs = pty.openpty()
    command = [sys.executable, "-m", "cloakllm_gateway", "scan", *([] if names else ["--no-names"]), *arguments]
    streams = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, stream: theirs}
    environment = {**os.environ, "TERM": "xterm", "NO_COLOR": "", **variables}
    shown = b""
    with subprocess.Popen(command, stdin=subprocess.PIPE, env=environment, **streams) as running:
        os.close(theirs)
        assert running.stdin
        running.stdin.write(given.encode())
        running.stdin.close()
        with suppress(OSError):  # how the end of a terminal is told
            while piece := os.read(ours, 4096):
                shown += piece
    os.close(ours)
    return shown.decode()


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_lines(tmp_path):
    pytest.importorskip("resource")

    def peak(count: int) -> int:
        path = tmp_path / f"{count}.jsonl"
        with path.open("w") as file:
            for number in range(count):
                file.write(json.dumps({"id": number, "text": f"{number}@example.com " + "filler " * 200}) + "\n")
        source = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL, check=True);"
            "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        command = [sys.executable, "-c", source, sys.executable, "-m", "cloakllm_gateway", "scan"]
        done = subprocess.run([*command, "--no-names", "--jsonl", str(path)], capture_output=True, check=True)
        return int(done.stdout)

    assert peak(4_000) < 1.2 * peak(500)
