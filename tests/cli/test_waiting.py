"""What stands on the terminal of who waits, by what is waited for; the clock is set by hand."""

from __future__ import annotations

import io
from types import SimpleNamespace

import pytest

from cloakllm_gateway.cli import waiting as waiting_module
from cloakllm_gateway.cli.waiting import Waiting


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True

    def taken(self) -> str:
        """What was written since this was last asked."""
        text = self.getvalue()
        self.seek(0)
        self.truncate()
        return text


def test_a_bar_follows_on_loading_and_only_when_it_takes_long_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", terminal := Terminal())
    monkeypatch.setenv("TERM", "xterm")
    loading, now = True, 0.0
    monkeypatch.setattr(waiting_module, "time", SimpleNamespace(monotonic=lambda: now))
    with Waiting(450, is_loading=lambda: loading) as waiting:
        waiting.advance(0)
        now = 2.0
        waiting.advance(0)
        waiting.hide()  # draws what stood there once more
        assert "Loading the models of names" in (shown := terminal.taken()) and "bytes" not in shown
        now = 6.0
        loading = False
        waiting.advance(100)
        waiting.hide()
        assert terminal.taken() == ""
        now = 8.0
        waiting.advance(100, "2/3 files")
        waiting.hide()
        assert "2/3 files" in (shown := terminal.taken()) and "200/450 bytes" in shown


def test_without_a_terminal_nothing_is_drawn(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.stderr", plain := io.StringIO())
    monkeypatch.setattr(waiting_module, "time", SimpleNamespace(monotonic=iter(range(0, 1000, 10)).__next__))
    with Waiting(450) as waiting:
        waiting.advance(100)
    assert plain.getvalue() == ""
