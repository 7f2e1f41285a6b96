"""``vault`` as a person meets it: no value on the screen, in arguments or the audit; revealing for a person alone."""

from __future__ import annotations

import json
import os
import selectors
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import pytest

from cloakllm_gateway.shell.stores import Options
from cloakllm_gateway.shell.stores.sqlite import sqlite_store
from cloakllm_gateway.vault.entries import Entry, Spelling
from tests.contracts.test_stores import assign, spelled
from tests.patience import PATIENCE

SECRET = "ana.kowalska@example.org"
PASSPHRASE = "correct horse battery"

pty_only = pytest.mark.skipif(not hasattr(os, "forkpty"), reason="there are no pseudo-terminals here")


class Scene:
    """A configuration, the vault behind it, and the command."""

    def __init__(self, folder: Path, **vault: object) -> None:
        self.state = folder / "state"
        self.config = folder / "gateway.json"
        upstreams = {"crm": {"command": "crm-server"}}
        self.config.write_text(json.dumps({"upstreams": upstreams, "state_dir": str(self.state), "vault": vault}))

    def assign(self, *values: str | Spelling, namespace: str = "default") -> list[Entry]:
        with closing(sqlite_store(Options(self.state))) as store:
            return assign(store, *values, namespace=namespace)

    def run(self, command: str, *more: str, given: str = "") -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            self.command(command, *more), input=given, capture_output=True, text=True, timeout=PATIENCE, check=False,
            start_new_session=True,
        )  # fmt: skip
        assert "Traceback" not in done.stderr, done.stderr
        return done

    def command(self, command: str, *more: str) -> list[str]:
        return [sys.executable, "-m", "cloakllm_gateway", "vault", command, "--config", str(self.config), *more]

    def at_a_terminal(self, command: str, *talk: tuple[str, str]) -> tuple[int, str]:
        """Type each answer once its prompt is there; the exit status, and all that the terminal showed."""
        pid, terminal = os.forkpty()
        if pid == 0:
            arguments = self.command(command)
            os.execve(arguments[0], arguments, {**os.environ, "COLUMNS": "200"})
        shown = ""
        for prompt, answer in talk:
            shown += _until(terminal, lambda text, prompt=prompt: prompt in text)  # type: ignore[misc]
            os.write(terminal, answer.encode())
        shown += _until(terminal, lambda _text: False)
        os.close(terminal)
        _, status = os.waitpid(pid, 0)
        return os.waitstatus_to_exitcode(status), shown

    def audited(self) -> list[dict[str, object]]:
        lines = [line for path in self.state.glob("audit/*.jsonl") for line in path.read_text().splitlines()]
        return [entry for entry in map(json.loads, lines) if entry["event_type"] == "vault"]

    def everything_kept(self) -> bytes:
        return b"".join(path.read_bytes() for path in self.state.rglob("*") if path.is_file())


def _until(terminal: int, enough: Callable[[str], bool]) -> str:
    """What the terminal shows until ``enough`` of it is there, or the command has ended."""
    text, end = "", time.monotonic() + PATIENCE
    with selectors.DefaultSelector() as selector:
        selector.register(terminal, selectors.EVENT_READ)
        while not enough(text):
            assert time.monotonic() < end, f"the terminal shows {text!r} and no more"
            if selector.select(timeout=1):
                try:
                    data = os.read(terminal, 4096)
                except OSError:  # Linux: the other side is closed
                    return text
                if not data:
                    return text
                text += data.decode()
    return text


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path, backend="sqlite")


# -- looking ---------------------------------------------------------------------------------------


def test_list_shows_tokens_and_origins_and_no_value(scene):
    ana, _ = scene.assign(SECRET, "bob@x.org")
    scene.assign("elsewhere@x.org", namespace="other")
    done = scene.run("list")
    assert done.returncode == 0
    assert str(ana.token) in done.stdout
    assert "crm" in done.stdout
    assert "2 tokens in the namespace default" in done.stdout
    assert "ana" not in done.stdout + done.stderr
    assert [(e["action"], e["count"]) for e in scene.audited()] == [("list", 2)]


@pytest.mark.parametrize("command", ["list", "forget", "purge", "rekey", "passphrase", "reveal"])
def test_with_the_vault_in_memory_every_command_says_how_to_switch(tmp_path, command):
    done = Scene(tmp_path).run(command)
    assert done.returncode == 1
    assert "memory of the gateway that serves" in done.stderr
    assert '"vault": {"backend": "sqlite"}' in done.stderr


def test_a_store_without_its_key_is_one_line_and_a_status(scene):
    scene.assign(SECRET)
    (scene.state / "vault" / "key").unlink()
    done = scene.run("list")
    assert done.returncode == 1
    assert "is missing" in done.stderr and done.stderr.count("\n") == 1


# -- forgetting ------------------------------------------------------------------------------------


def test_forget_takes_the_value_from_standard_input_and_keeps_it_nowhere(scene):
    ana, bob = scene.assign(SECRET, "bob@x.org")
    done = scene.run("forget", given=SECRET.upper() + "\n")
    assert (done.returncode, done.stdout.split(".")[0]) == (0, "Forgotten: 1 spelling")
    assert "ana" not in done.stdout + done.stderr
    (again, same) = scene.assign(SECRET, "bob@x.org")
    assert again.token.number > bob.token.number > ana.token.number
    assert same == bob
    assert b"kowalska" not in scene.everything_kept().lower()


def test_forget_takes_no_value_as_an_argument(scene):
    done = scene.run("forget", SECRET)
    assert done.returncode == 2


def test_forget_says_that_there_was_nothing(scene):
    scene.assign(SECRET)
    assert scene.run("forget", given="nobody@x.org\n").returncode == 1
    assert scene.run("forget").returncode == 1


def test_a_number_is_the_same_with_spaces_and_hyphens(scene):
    scene.assign(spelled("4111 1111-1111 1111", "CREDIT_CARD"))
    assert scene.run("forget", given="4111111111111111").returncode == 0


def test_purge_asks_first_and_empties_its_own_namespace(scene):
    scene.assign(SECRET, "bob@x.org")
    (other,) = scene.assign(SECRET, namespace="other")
    assert scene.run("purge", given="n\n").returncode == 1
    assert "0 tokens" not in scene.run("list").stdout
    assert scene.run("purge", "--yes").stdout == "Forgotten: 2 spellings.\n"
    assert "0 tokens" in scene.run("list").stdout
    assert scene.assign(SECRET, namespace="other") == [other]


@pytest.mark.parametrize("name", [None, "team"])
def test_the_values_of_clients_over_http_are_the_operators_to_see_and_to_forget(tmp_path, name):
    scene = Scene(tmp_path, backend="sqlite", **({"namespace": name} if name else {}))
    (alices,) = scene.assign(SECRET, namespace=f"{name or 'http'}:alice")
    (bobs,) = scene.assign(SECRET, namespace=f"{name or 'http'}:bob")
    strangers = scene.assign(SECRET, namespace="other:bob")
    lines = scene.run("list").stdout.splitlines()
    assert lines[0].split()[:3] == ["token", "principal", "from"]
    assert [line.split()[:2] for line in lines[1:3]] == [[str(alices.token), "alice"], [str(bobs.token), "bob"]]
    assert "1 token in" in scene.run("list", "--principal", "alice").stdout
    assert scene.run("purge", "--yes", "--principal", "bob").stdout == "Forgotten: 1 spelling.\n"
    assert "1 token in" in scene.run("list").stdout
    assert scene.run("forget", given=SECRET).stdout.startswith("Forgotten: 1 spelling.")
    assert "0 tokens in" in scene.run("list").stdout
    assert scene.assign(SECRET, namespace="other:bob") == strangers


def test_rekey_keeps_everything_under_another_key(scene):
    before = scene.assign(SECRET)
    key = (scene.state / "vault" / "key").read_bytes()
    assert scene.run("rekey").returncode == 1  # nobody to say yes
    assert scene.run("rekey", "--yes").stdout.startswith("Sealed anew: 1 spelling.")
    assert (scene.state / "vault" / "key").read_bytes() != key
    assert scene.assign(SECRET) == before


# -- revealing -------------------------------------------------------------------------------------


def set_passphrase(scene: Scene, passphrase: str = PASSPHRASE) -> None:
    status, shown = scene.at_a_terminal(
        "passphrase", ("New passphrase:", f"{passphrase}\n"), ("Once more:", f"{passphrase}\n")
    )
    assert status == 0, shown
    assert passphrase not in shown


def test_without_a_passphrase_revealing_is_off_and_that_is_audited(scene):
    scene.assign(SECRET)
    done = scene.run("reveal", given=f"{PASSPHRASE}\n[EMAIL_0]\n")
    assert done.returncode == 1
    assert "Revealing is off" in done.stderr
    assert SECRET not in done.stdout + done.stderr
    assert [(e["action"], e["refused"]) for e in scene.audited()] == [("reveal", True)]


@pty_only
def test_a_person_with_the_passphrase_reads_what_the_tokens_stand_for(scene):
    scene.assign(SECRET, "bob@x.org")
    set_passphrase(scene)
    status, shown = scene.at_a_terminal(
        "reveal",
        ("Passphrase:", f"{PASSPHRASE}\n"),
        ("Ctrl-D", "Write to [EMAIL_0], not to [email_1] or [EMAIL_99]\n\x04"),
    )
    assert status == 0, shown
    assert f"Write to {SECRET}, not to bob@x.org or [EMAIL_99]" in shown
    assert "Not in this vault, or no longer: [EMAIL_99]." in shown
    assert [(e["action"], e["count"], e["refused"]) for e in scene.audited()] == [
        ("passphrase", 0, False),
        ("reveal", 2, False),
    ]
    assert SECRET.encode() not in scene.everything_kept()
    assert PASSPHRASE.encode() not in scene.everything_kept()


@pty_only
def test_a_person_reads_what_the_token_of_a_client_over_http_stands_for(scene):
    scene.assign(SECRET, namespace="http:alice")
    set_passphrase(scene)
    _, shown = scene.at_a_terminal("reveal", ("Passphrase:", f"{PASSPHRASE}\n"), ("Ctrl-D", "[EMAIL_0]\n\x04"))
    assert SECRET in shown


@pty_only
def test_with_another_passphrase_nothing_is_shown_and_that_is_audited(scene):
    scene.assign(SECRET)
    set_passphrase(scene)
    status, shown = scene.at_a_terminal("reveal", ("Passphrase:", "a guess of mine\n"))
    assert status == 1
    assert "That is not the passphrase" in shown
    assert SECRET not in shown
    assert scene.audited()[-1]["refused"] is True


@pty_only
def test_who_has_no_terminal_is_shown_nothing(scene):
    scene.assign(SECRET)
    set_passphrase(scene)
    done = scene.run("reveal", given=f"{PASSPHRASE}\n[EMAIL_0]\n")
    assert done.returncode == 1
    assert "needs a terminal" in done.stderr
    assert SECRET not in done.stdout + done.stderr


@pty_only
def test_a_new_passphrase_needs_the_old_one(scene):
    set_passphrase(scene)
    status, shown = scene.at_a_terminal("passphrase", ("until now:", "no idea\n"))
    assert (status, "not the passphrase" in shown) == (1, True)
    new = "another one entirely"
    status, shown = scene.at_a_terminal(
        "passphrase", ("until now:", f"{PASSPHRASE}\n"), ("New passphrase:", f"{new}\n"), ("Once more:", f"{new}\n")
    )
    assert status == 0, shown


@pty_only
def test_what_can_not_be_audited_is_not_revealed(scene):
    scene.assign(SECRET)
    set_passphrase(scene)
    config = json.loads(scene.config.read_text())
    scene.config.write_text(json.dumps({**config, "audit": {"path": str(scene.config)}}))
    status, shown = scene.at_a_terminal("reveal", ("Passphrase:", f"{PASSPHRASE}\n"), ("Ctrl-D", "[EMAIL_0]\n\x04"))
    assert status != 0
    assert SECRET not in shown
    scene.config.write_text(json.dumps({**config, "audit": False}))
    status, shown = scene.at_a_terminal("reveal")
    assert status != 0 and SECRET not in shown


@pty_only
def test_a_value_can_not_act_on_the_terminal(scene):
    scene.assign("\x1b]0;evil\x07@x.org")
    set_passphrase(scene)
    _, shown = scene.at_a_terminal("reveal", ("Passphrase:", f"{PASSPHRASE}\n"), ("Ctrl-D", "[EMAIL_0]\n\x04"))
    assert "\x1b" not in shown and "\x07" not in shown
