"""The same session three ways: with the server itself, through the gateway as a mere relay, and sanitized.

What the relay shows may differ from the server in nothing; what the sanitizing gateway shows, in tokens
that stand for what the server said and in nothing else.  What the model writes is looked up on disk.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.acceptance.everything import play as play_everything
from tests.acceptance.real import Conversation, from_npm, from_pypi, relaxed
from tests.peers.compare import spoken, vocabulary
from tests.peers.driver import Processes, text_of
from tests.peers.values import exposed, readings, values

VERSION = "2025-11-25"
KIM, LEE = values(1), values(2)
PERSONAL = {*KIM.by_shape, LEE.email}
CUSTOMERS = f"""Customers as of 2025-11-25, list 7 of 12
Kim; {KIM.email}; {KIM.phone}
SSN {KIM.ssn}, card {KIM.card}, IBAN {KIM.iban}
host {KIM.ip}, keys {KIM.api_key} and {KIM.aws_key}
Lee; {LEE.email}
"""
WAYS = ("direct", "passing", "sanitizing")


def play_all(peers: Processes, name: str, server: dict[str, Any], play: Callable[[Conversation], None]) -> Any:
    """The session ``play`` in all three ways, one after the other."""
    gateway = {"upstreams": {name: server}}
    starts: dict[str, Callable[[], Conversation]] = {
        "direct": lambda: Conversation(peers.direct(server)),
        "passing": lambda: Conversation(peers.gateway({**gateway, "sanitize": False}), f"{name}__"),
        "sanitizing": lambda: Conversation(peers.gateway(gateway), f"{name}__"),
    }
    conversations = {}
    for way in WAYS:
        conversations[way] = starts[way]()
        play(conversations[way])
        conversations[way].driver.finish()
    return conversations


# -- the filesystem server


@pytest.fixture(scope="module")
def files(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("shelf") / "files"
    server = from_npm("server-filesystem", str(folder))
    disk: dict[str, dict[str, str]] = {}

    def play(talk: Conversation) -> None:
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        (folder / "customers.txt").write_text(CUSTOMERS)
        (folder / f"note {LEE.email}.txt").write_text("call back")
        (folder / "data.json").write_text(json.dumps({"rows": [{"email": KIM.email, "n": 1.50}]}))
        talk.initialize(VERSION, {})
        talk.ask("tools/list")
        talk.tool("list_allowed_directories", {})
        read = talk.tool("read_text_file", {"path": f"{folder}/customers.txt"})
        known = vocabulary(CUSTOMERS, text_of(read))
        note = spoken(f"{folder}/note {LEE.email}.txt", known)
        talk.tool("list_directory", {"path": str(folder)})
        talk.tool("directory_tree", {"path": str(folder)})
        talk.tool("search_files", {"path": str(folder), "pattern": "**/*.txt"})
        talk.tool("read_multiple_files", {"paths": [f"{folder}/data.json", note]})
        talk.tool("read_text_file", {"path": note})
        talk.tool("write_file", {"path": f"{folder}/letter.txt", "content": spoken(letter(), known)})
        talk.tool("read_text_file", {"path": f"{folder}/letter.txt"})
        edit = {"oldText": spoken(KIM.email, known), "newText": spoken(f"{LEE.email} (was {KIM.email})", known)}
        talk.tool("edit_file", {"path": f"{folder}/customers.txt", "edits": [edit]})
        talk.tool("move_file", {"source": note, "destination": spoken(f"{folder}/{KIM.email}.txt", known)})
        talk.tool("read_text_file", {"path": spoken(f"{folder}/no {LEE.email}.txt", known)})
        talk.tool("read_text_file", {"path": spoken(f"/no/{KIM.email}", known)})
        talk.tool("read_text_file", {})
        disk[talk.prefix + str(len(disk))] = {file.name: file.read_text() for file in folder.iterdir()}

    conversations = play_all(module_peers, "fs", server, play)
    return {**conversations, "disk": dict(zip(WAYS, disk.values(), strict=True))}


def letter() -> str:
    return f"Dear Kim,\nwe write to {KIM.email} and call {KIM.phone};\n\tcard {KIM.card}.\n"


def test_files_a_relay_changes_nothing_but_the_prefix(files: dict[str, Any]) -> None:
    assert files["passing"].said == files["direct"].said


def test_files_the_model_sees_tokens_for_the_personal_data_and_the_rest_as_it_is(files: dict[str, Any]) -> None:
    found = vocabulary(relaxed(files["direct"].said), files["sanitizing"].said)
    assert set(found.values()) == {*PERSONAL, "Kim"}  # beside the address in a row


@pytest.mark.parametrize("way", WAYS[1:])
def test_files_input_schemas_arrive_byte_for_byte(files: dict[str, Any], way: str) -> None:
    assert files["direct"].input_schemas()
    assert files[way].input_schemas() == files["direct"].input_schemas()


def test_files_no_value_reaches_the_client(files: dict[str, Any]) -> None:
    assert exposed(PERSONAL, readings(bytes(files["direct"].driver.received))) != []
    assert exposed(PERSONAL, readings(bytes(files["sanitizing"].driver.received))) == []
    assert exposed(PERSONAL, files["sanitizing"].driver.stderr.decode()) == []


def test_files_what_the_model_writes_with_tokens_lands_on_disk_with_the_values(files: dict[str, Any]) -> None:
    assert files["disk"]["sanitizing"]["letter.txt"] == letter()
    assert f"{LEE.email} (was {KIM.email})" in files["disk"]["sanitizing"]["customers.txt"]
    assert files["disk"]["sanitizing"][f"{KIM.email}.txt"] == "call back"


def test_files_the_disk_is_the_same_whichever_way_the_session_went(files: dict[str, Any]) -> None:
    assert files["disk"]["sanitizing"] == files["disk"]["passing"] == files["disk"]["direct"]


def test_files_the_sentence_about_tokens_is_told_when_there_are_tokens(files: dict[str, Any]) -> None:
    assert "[EMAIL_0]" in files["sanitizing"].hello["instructions"]
    assert "[EMAIL_0]" not in files["passing"].hello.get("instructions", "")


# -- the server with everything


@pytest.fixture(scope="module")
def everything(module_peers: Processes) -> dict[str, Any]:
    return dict(play_all(module_peers, "every", from_npm("server-everything", "stdio"), play_everything))


def test_everything_a_relay_changes_nothing_but_the_prefix(everything: dict[str, Any]) -> None:
    assert everything["passing"].said == everything["direct"].said


def test_everything_only_what_is_personal_becomes_a_token(everything: dict[str, Any]) -> None:
    direct, through = relaxed(everything["direct"].said), everything["sanitizing"].said
    assert set(vocabulary(direct, through).values()) == {KIM.email, KIM.iban, "Kim"}  # a name that the user typed


@pytest.mark.parametrize("way", WAYS[1:])
def test_everything_input_schemas_arrive_byte_for_byte(everything: dict[str, Any], way: str) -> None:
    assert everything["direct"].input_schemas()
    assert everything[way].input_schemas() == everything["direct"].input_schemas()


def test_everything_the_answer_to_a_form_reaches_the_server_and_comes_back_as_a_token(
    everything: dict[str, Any],
) -> None:
    assert KIM.email in everything["direct"].driver.received.decode()
    assert KIM.email not in readings(bytes(everything["sanitizing"].driver.received))


def test_everything_instructions_are_kept(everything: dict[str, Any]) -> None:
    own = everything["direct"].hello["instructions"]
    assert own in everything["passing"].hello["instructions"]
    assert own in everything["sanitizing"].hello["instructions"]


# -- a server written in Python


@pytest.fixture(scope="module")
def history(module_peers: Processes, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("history")
    repository, template = folder / "work", folder / "template"
    server = from_pypi("mcp-server-git", "--repository", str(repository))
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    git(None, "init", "--quiet", str(template))
    (template / "customers.txt").write_text(CUSTOMERS)
    git(template, "add", ".")
    git(template, "commit", "--quiet", "--message", f"Add {LEE.email}\n\nCall {KIM.phone}.")
    commits = []

    def play(talk: Conversation) -> None:
        shutil.rmtree(repository, ignore_errors=True)
        shutil.copytree(template, repository)
        (repository / "customers.txt").write_text(CUSTOMERS.replace("Lee", "Mr Lee"))
        here = {"repo_path": str(repository)}
        talk.initialize(VERSION, {})
        talk.ask("tools/list")
        log = talk.tool("git_log", {**here, "max_count": 5})
        show = talk.tool("git_show", {**here, "revision": "HEAD"})
        talk.tool("git_diff_unstaged", here)
        talk.tool("git_add", {**here, "files": ["customers.txt"]})
        known = vocabulary("\n".join(direct_texts(talk, log, show)), text_of(log) + "\n" + text_of(show))
        message = spoken(f"Correct the entry of {LEE.email}\n\nAgreed with {KIM.email}.", known)
        talk.driver.tool(talk.prefix + "git_commit", {**here, "message": message})
        commits.append(git(repository, "log", "-1", "--format=%B"))

    def direct_texts(talk: Conversation, log: Any, show: Any) -> tuple[str, str]:
        if not talk.prefix:
            texts.extend((text_of(log), text_of(show)))
        return texts[0], texts[1]

    texts: list[str] = []
    conversations = play_all(module_peers, "git", server, play)
    return {**conversations, "commits": dict(zip(WAYS, commits, strict=True))}


def git(folder: Path | None, *arguments: str) -> str:
    who = {"NAME": "Lee", "EMAIL": LEE.email, "DATE": "2025-11-25T12:00:00Z"}
    env = {f"GIT_{role}_{name}": value for role in ("AUTHOR", "COMMITTER") for name, value in who.items()}
    command = ["git", "-c", "init.defaultBranch=main", *arguments]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, **env}, check=True, capture_output=True, text=True
    ).stdout


def test_git_a_relay_changes_nothing_but_the_prefix(history: dict[str, Any]) -> None:
    assert history["passing"].said == history["direct"].said


def test_git_the_model_sees_tokens_for_the_personal_data_and_the_rest_as_it_is(history: dict[str, Any]) -> None:
    found = vocabulary(relaxed(history["direct"].said), history["sanitizing"].said)
    assert set(found.values()) == {*PERSONAL, "Kim", "Mr Lee", "Lee"}  # of customers, and of the author


def test_git_a_commit_written_with_tokens_is_in_the_history_with_the_values(history: dict[str, Any]) -> None:
    assert history["commits"]["sanitizing"] == history["commits"]["direct"]
    assert LEE.email in history["commits"]["sanitizing"]
