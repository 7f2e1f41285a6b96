"""From a stream to the response of an HTTP request: one JSON body where that is enough, else an event stream."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Mapping
from contextlib import aclosing
from typing import Final

import anyio
from msgspec import Struct, field

from cloakllm_gateway.shell.front.asgi import Http, Refusal, Stalled
from cloakllm_gateway.shell.front.streams import COMMENT, Event, framed

#: Milliseconds that a client may wait until it comes back for what it missed.
RETRY: Final = 1000


class Form(Struct, frozen=True):
    """How a response looks.

    ``event_id`` gives events their ids, where they can be read again;
    ``primed`` puts an id at the beginning, before there is a message, and says when to come back with it;
    ``streamed`` is for readers who would rather have a stream, or asked for one and not for an answer.
    """

    headers: Mapping[str, str] = field(default_factory=dict)
    event_id: Callable[[int], str] | None = None
    primed: bool = False
    streamed: bool = False

    def id_of(self, number: int) -> str | None:
        return None if self.event_id is None else self.event_id(number)


async def deliver(http: Http, events: AsyncGenerator[Event | None, None], form: Form) -> None:
    """Write what comes until it ends; nothing is written where nothing came and none was asked for as a stream.

    An answer that nothing came before is the whole body.  Whatever else comes
    first, silence included, begins an event stream.  Raises :class:`Stalled`.
    """
    async with aclosing(events):
        if form.streamed:
            await _begin(http, form)
        async for event in events:
            if not http.streaming:
                if event is not None and event.status is not None:
                    await http.respond(event.status, event.line, form.headers)
                    return
                await _begin(http, form)
            await http.write(COMMENT if event is None else framed(event, form.id_of(event.number)))
    if http.streaming:
        await http.write(b"", last=True)


async def _begin(http: Http, form: Form) -> None:
    await http.begin_stream(form.headers)
    if form.primed and form.event_id is not None:
        await http.write(f"id: {form.event_id(0)}\nretry: {RETRY}\ndata: \n\n".encode("ascii"))
    elif form.streamed:
        await http.write(COMMENT)  # the head alone would wait for the first message in some servers and proxies


async def until_left(http: Http, work: Callable[[], Awaitable[None]]) -> None:
    """Do ``work``, or as much of it as can be done before the client leaves.

    Raises :class:`Refusal` and :class:`Stalled` as the work does.
    """
    failed: Refusal | Stalled | None = None
    async with anyio.create_task_group() as tasks:

        async def watch() -> None:
            await http.left()
            tasks.cancel_scope.cancel()

        tasks.start_soon(watch)
        try:
            await work()
        except (Refusal, Stalled) as error:
            failed = error
        tasks.cancel_scope.cancel()
    if failed is not None:
        raise failed
