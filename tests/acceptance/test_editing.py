"""Editing files through the real filesystem server, as a model does: read, send pieces, write something new."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.acceptance.real import from_npm
from tests.peers.compare import TOKEN
from tests.peers.driver import Driver, Processes, text_of

RECORD = {"card": 4539148800000019, "email": "jörg@posteo-mail.de", "cards": [4539148800000019, 1]}


class Shelf:
    """One file of JSON, with its letters escaped, and what the model sees of it."""

    def __init__(self, peers: Processes, folder: Path) -> None:
        folder.mkdir()
        self.folder = folder
        self.file = folder / "record.json"
        self.file.write_text(json.dumps(RECORD, indent=2))
        self.driver: Driver = peers.gateway({"upstreams": {"fs": from_npm("server-filesystem", str(folder))}})
        self.driver.initialize()
        self.seen = text_of(self.driver.tool("fs__read_text_file", path=str(self.file)))
        assert len(set(TOKEN.findall(self.seen))) == 2

    def edit(self, old: str, new: str) -> None:
        edits = [{"oldText": old, "newText": new}]
        assert "isError" not in self.driver.tool("fs__edit_file", path=str(self.file), edits=edits)


@pytest.fixture
def shelf(peers: Processes, tmp_path: Path) -> Shelf:
    return Shelf(peers, tmp_path / "files")


def test_a_line_of_a_json_file_is_edited_and_stays_what_it_was(shelf: Shelf) -> None:
    for key in ("card", "email", "cards"):
        line = next(line for line in shelf.seen.split("\n") if f'"{key}":' in line)
        shelf.edit(line, line.replace(f'"{key}"', f'"{key}_of_old"'))
    assert shelf.file.read_text() == json.dumps({f"{k}_of_old": v for k, v in RECORD.items()}, indent=2)


def test_what_is_written_about_a_record_is_written_for_people(shelf: Shelf) -> None:
    card, email = (TOKEN.search(shelf.seen[shelf.seen.index(f'"{key}"') :]) for key in ("card", "email"))
    assert card and email
    letter = f"To {email[0]},\nyour card {card[0]} is here.\n"
    shelf.driver.tool("fs__write_file", path=str(shelf.folder / "letter.txt"), content=letter)
    written = (shelf.folder / "letter.txt").read_text("utf-8")
    assert written == f"To {RECORD['email']},\nyour card {RECORD['card']} is here.\n"
