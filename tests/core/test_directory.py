"""Who serves what: how much of it is remembered."""

from __future__ import annotations

import pytest

from cloakllm_gateway.core import directory
from cloakllm_gateway.core.directory import Directory


def test_who_shows_resources_without_end_loses_the_oldest_and_nobody_else_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(directory, "MOST", 3)
    known = Directory()
    assert known.claim("crm", "crm://a", "crm://a")
    assert known.claim("evil", "x://0", "x://0")
    assert not known.claim("evil", "crm://a", "crm://a")
    for n in range(1, 10):
        assert known.claim("evil", f"x://{n}", f"x://{n}")
        assert known.claim("evil", "x://0", "x://0")  # shown again, it is not the oldest
    assert list(known.shown("evil")) == ["x://8", "x://9", "x://0"]
    assert [n for n in range(10) if known.owner(f"x://{n}")] == [0, 8, 9]
    owner = known.owner("crm://a")
    assert owner is not None and (owner.upstream, owner.contested) == ("crm", True)
