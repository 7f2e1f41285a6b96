"""``scan`` of folders, as a process: which files are read, what is shown of them, and what is said at the end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from cloakllm_gateway.cli.scan_files import LARGEST
from tests.cli.test_scan import KIM, on_terminal, scan
from tests.patience import PATIENCE


def made(folder: Path, **files: str | bytes) -> None:
    """Files by names in which ``__`` is a separator and ``_`` a dot."""
    for name, content in files.items():
        path = folder / name.replace("__", "/").replace("_", ".")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())


def told(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.removeprefix("cloakllm-gateway: ") for line in done.stderr.splitlines()]


def test_a_folder_shows_the_lines_with_values_under_the_name_of_their_file(tmp_path):
    made(tmp_path, b_txt=f"nothing\n\nto {KIM}\nnothing\n", a__z_txt=KIM, a__clean_txt="nothing\n", c_txt="")
    done = scan("--no-names", ".", cwd=tmp_path)
    assert done.stdout == f"==> ./a/z.txt <==\n1: «{KIM}»[EMAIL_0]\n==> ./b.txt <==\n3: to «{KIM}»[EMAIL_0]\n"
    assert told(done) == ["./a/z.txt: 1 EMAIL", "./b.txt: 1 EMAIL", "4 files scanned, 2 with finds: 2 EMAIL"]
    assert done.returncode == 0


def test_a_value_over_several_lines_is_one_piece_and_numbers_go_on_behind_it(tmp_path):
    key = "-----BEGIN PRIVATE KEY-----\nMIIBVAIBADANBgkqhkiG9w0BAQEFAASCAT4wggE6AgEAAkEA\n-----END PRIVATE KEY-----"
    made(tmp_path, key_txt=f"one\r\n{key} {KIM}\nfive\na@example.com b@example.com\n{KIM}")
    done = scan("--no-names", str(tmp_path))
    assert done.stdout.splitlines() == [
        f"==> {tmp_path / 'key.txt'} <==",
        *f"2: «{key}»[PRIVATE_KEY_0] «{KIM}»[EMAIL_0]".splitlines(),
        "6: «a@example.com»[EMAIL_1] «b@example.com»[EMAIL_2]",
        f"7: «{KIM}»[EMAIL_0]",
    ]


def test_folders_and_files_are_read_as_they_are_named_each_folder_in_the_order_of_its_names(tmp_path):
    made(tmp_path, src__b__x_txt=KIM, src__a_txt=KIM, src__c_txt=KIM, docs__a_txt=KIM, docs__b_txt=KIM)
    done = scan("--no-names", "src", "docs/b.txt", cwd=tmp_path)
    heads = [line[4:-4] for line in done.stdout.splitlines() if line.startswith("==>")]
    assert heads == ["src/a.txt", "src/b/x.txt", "src/c.txt", "docs/b.txt"]
    assert scan("--no-names", "src", "docs/b.txt", cwd=tmp_path).stdout == done.stdout


def test_json_of_a_folder_has_an_object_for_each_file_with_finds(tmp_path):
    made(tmp_path, a_txt=f"to\n{KIM}", b_txt="nothing", c_txt=KIM)
    done = scan("--no-names", "--format", "json", ".", cwd=tmp_path)
    assert json.loads(done.stdout) == [
        {"file": "./a.txt", "spans": [{"start": 3, "end": 18, "category": "EMAIL"}], "text": "to\n[EMAIL_0]"},
        {"file": "./c.txt", "spans": [{"start": 0, "end": 15, "category": "EMAIL"}], "text": "[EMAIL_0]"},
    ]
    assert told(done) == ["3 files scanned, 2 with finds: 2 EMAIL"]


def test_what_is_no_text_is_counted_by_its_reason(tmp_path):
    for name, data in {
        ".git/config": KIM.encode(),
        "module/.git": KIM.encode(),
        "image": f"{KIM} \0".encode(),
        "late": f"{'x ' * 5_000}\0 {KIM}".encode(),
        "latin": f"Übersicht {KIM}".encode("latin-1"),
        "wide": KIM.encode("utf-32"),
        "marked": KIM.encode("utf-16"),
        "cut": KIM.encode("utf-16")[:-1],
    }.items():
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(data)
    with (tmp_path / "large").open("wb") as file:
        file.truncate(LARGEST + 1)
    done = scan("--no-names", ".", cwd=tmp_path)
    assert told(done) == [
        "./late: 1 EMAIL",
        "./marked: 1 EMAIL",
        "2 files scanned, 2 with finds: 2 EMAIL",
        "skipped: 2 binary files, 2 files that are neither UTF-8 nor marked UTF-16, 1 file larger than 10 MiB, 2 .git",
    ]
    assert done.returncode == 0


def test_a_folder_without_files_is_scanned(tmp_path):
    done = scan("--no-names", "--expect-clean", str(tmp_path))
    assert (done.stdout, told(done), done.returncode) == ("", ["0 files scanned, nothing would be hidden"], 0)


@pytest.mark.skipif(sys.platform == "win32", reason="needs the right to make links")
def test_no_link_in_a_folder_is_followed_and_a_folder_that_is_one_is(tmp_path):
    made(tmp_path, elsewhere__secret_txt="away@example.com", folder__a_txt=KIM)
    folder = tmp_path / "folder"
    for name, to in {
        "file": "../elsewhere/secret.txt", "out": "../elsewhere", "loop": ".", "itself": "itself", "none": "nowhere",
    }.items():  # fmt: skip
        (folder / name).symlink_to(to)
    (tmp_path / "link").symlink_to("folder")
    for named in ("folder", "link"):
        done = scan("--no-names", named, cwd=tmp_path)
        assert done.stdout == f"==> {named}/a.txt <==\n1: «{KIM}»[EMAIL_0]\n"
        assert told(done)[1:] == ["1 file scanned, 1 with finds: 1 EMAIL", "skipped: 5 symbolic links"]
        assert done.returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="has no such files")
def test_what_would_never_end_is_not_opened(tmp_path, monkeypatch):
    made(tmp_path, a_txt=KIM)
    os.mkfifo(tmp_path / "pipe")
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind("socket")
        done = scan("--no-names", ".")
    assert told(done)[1:] == ["1 file scanned, 1 with finds: 1 EMAIL", "skipped: 2 pipes, sockets or devices"]


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="needs files that nobody can read")
def test_what_can_not_be_read_is_named_and_the_others_are_scanned(tmp_path):
    closed = "/proc/self/mem"  # it opens, and reading it fails, for every user
    made(tmp_path, a_txt=KIM, b_txt=KIM, c__d_txt=KIM)
    (tmp_path / "b.txt").chmod(0)
    (tmp_path / "c").chmod(0)
    done = scan("--no-names", closed, ".", cwd=tmp_path)
    (tmp_path / "c").chmod(0o700)
    assert f"{closed}: cannot be read: Input/output error" in told(done)
    assert f"==> ./a.txt <==\n1: «{KIM}»[EMAIL_0]\n" in done.stdout
    if os.geteuid():
        assert {"./b.txt: cannot be read: Permission denied", "./c: cannot be read: Permission denied"} < set(
            told(done)
        )
        assert told(done)[-2:] == ["1 file scanned, 1 with finds: 1 EMAIL", "3 could not be scanned"]
    assert done.returncode == 1


def test_folders_may_lie_deeper_than_python_can_call(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for _ in range(1_500):
        os.mkdir("d")
        os.chdir("d")
    try:
        Path("a.txt").write_text(KIM)
        done = scan("--no-names", ".", cwd=tmp_path)
        Path("a.txt").unlink()
    finally:  # what clears up behind the tests calls itself for every folder
        for _ in range(1_500):
            os.chdir("..")
            os.rmdir("d")
    assert told(done)[-1] == "1 file scanned, 1 with finds: 1 EMAIL"


@pytest.mark.skipif(sys.platform == "win32", reason="names of files have rules of their own there")
def test_the_name_of_a_file_is_shown_as_it_is_but_for_what_a_terminal_would_obey(tmp_path):
    for name in (f"{KIM} Jürgen.txt".encode(), b"\x1b[2J.txt", b"\xff.txt"):
        Path(os.fsdecode(os.fsencode(tmp_path) + b"/" + name)).write_text(KIM)
    shown = scan("--no-names", ".", cwd=tmp_path).stdout
    assert f"==> ./{KIM} Jürgen.txt <==\n" in shown
    assert "==> ./\\x1b[2J.txt <==\n" in shown and "==> ./\\udcff.txt <==\n" in shown


def test_statuses_are_those_of_files(tmp_path):
    made(tmp_path, a_txt="nothing")
    assert scan("--no-names", "--expect-clean", str(tmp_path)).returncode == 0
    made(tmp_path, b_txt=KIM)
    assert scan("--no-names", "--expect-clean", str(tmp_path)).returncode == 3
    assert scan("--no-names", "--expect-clean", str(tmp_path), str(tmp_path / "none")).returncode == 1


def test_a_folder_is_not_clean_where_text_was_skipped(tmp_path):
    made(tmp_path, a_txt="nothing", b_bin="\0")
    assert scan("--no-names", "--expect-clean", str(tmp_path)).returncode == 0
    (tmp_path / "c.txt").write_bytes("Übersicht".encode("latin-1"))
    assert scan("--no-names", "--expect-clean", str(tmp_path)).returncode == 1
    assert scan("--no-names", str(tmp_path)).returncode == 0


@pytest.mark.skipif(sys.platform == "win32", reason="interrupts otherwise")
@pytest.mark.slow
def test_a_scan_of_many_small_files_can_be_interrupted(tmp_path):
    made(tmp_path, first_txt=KIM)
    for number in range(20_000):
        (tmp_path / f"n{number}").write_text("nothing " * 50)
    command = [sys.executable, "-m", "cloakllm_gateway", "scan", "--no-names", "."]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as running:
        assert running.stdout and running.stderr
        running.stdout.readline()
        running.send_signal(signal.SIGINT)
        told = running.stderr.read()
        assert b"files scanned" not in told and b"Traceback" not in told
        assert running.wait(PATIENCE) not in (0, -signal.SIGINT)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform == "win32", reason="needs a pseudo-terminal")
def test_who_waits_sees_how_many_files_and_bytes_are_done(tmp_path):
    for number in range(2_000):
        (tmp_path / f"{number}.txt").write_text(f"{number}@example.com " + "filler " * 500)
    shown = on_terminal("stderr", "--format", "json", str(tmp_path))
    assert "/2000 files" in shown and " MB" in shown


@pytest.mark.slow
def test_memory_does_not_grow_with_the_number_of_files(tmp_path):
    pytest.importorskip("resource")

    def peak(count: int) -> int:
        folder = tmp_path / str(count)
        folder.mkdir()
        for number in range(count):
            (folder / f"{number}.txt").write_text(f"{number}@example.com " + "filler " * 2_000)
        source = (
            "import resource, subprocess, sys; subprocess.run(sys.argv[1:], stdout=subprocess.DEVNULL,"
            "stderr=subprocess.DEVNULL, check=True); print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)"
        )
        command = [sys.executable, "-c", source, sys.executable, "-m", "cloakllm_gateway", "scan", "--no-names"]
        return int(subprocess.run([*command, str(folder)], capture_output=True, check=True).stdout)

    assert peak(1_200) < 1.2 * peak(150)
