"""What libraries say of themselves: by its kind alone, since any of it may be what was in a message."""

from __future__ import annotations

import asyncio
import logging

import pytest

from cloakllm_gateway.shell.library_logs import library_logs
from tests.shell.notes import Notes

VALUE = "kim@acme-corp.com"


def fails(value: str) -> None:
    raise ValueError(value)


async def fails_too(value: str) -> str:
    raise ValueError(value)


async def with_a_callback() -> None:
    asyncio.get_running_loop().call_soon(fails, VALUE)
    await asyncio.sleep(0)


async def with_a_task_that_nobody_waits_for() -> None:
    task = asyncio.get_running_loop().create_task(fails_too(VALUE))
    await asyncio.sleep(0)
    del task


@pytest.mark.parametrize("work", [with_a_callback, with_a_task_that_nobody_waits_for])
def test_what_goes_wrong_in_the_event_loop_is_told_by_its_kind_alone(work, capfd: pytest.CaptureFixture[str]) -> None:
    """The loop itself would show a callback with its arguments, and an error with its text."""
    notes = Notes()
    with library_logs(notes):
        asyncio.run(work())
    assert notes.lines == ["error internal_error {'kind': 'ValueError', 'library': 'asyncio'}"]
    assert VALUE not in "".join(capfd.readouterr())


def test_a_remark_is_shown_without_what_it_is_about(capfd: pytest.CaptureFixture[str]) -> None:
    notes = Notes()
    with library_logs(notes):
        logging.getLogger("some.library").warning("could not send %s\nto %s", VALUE, VALUE)
    assert notes.lines == ["debug library_says {'library': 'some.library', 'line': 'could not send %s'}"]
    assert VALUE not in "".join(capfd.readouterr())
