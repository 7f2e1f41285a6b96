"""Channels between many HTTP requests and one core, without either: ids, order, who is let go."""

from __future__ import annotations

import json
from collections.abc import AsyncIterator
from contextlib import aclosing, asynccontextmanager
from typing import Any

import anyio
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cloakllm_gateway.core.events import CLIENT, Event, Received, Send
from cloakllm_gateway.errors import VaultError
from cloakllm_gateway.protocol import jsonrpc
from cloakllm_gateway.protocol.eras import SUBSCRIPTION
from cloakllm_gateway.protocol.jsonrpc import Notification, Request
from cloakllm_gateway.shell.front.asgi import Refusal
from cloakllm_gateway.shell.front.channels import Channel, Exchange, SessionChannel, StatelessChannel
from cloakllm_gateway.shell.front.hub import Bounds, Hub
from cloakllm_gateway.shell.logging import Logger
from tests.patience import PATIENCE

pytestmark = pytest.mark.anyio
LOGGER = Logger("error")
IDS = st.one_of(st.integers(-5, 5), st.sampled_from(["0", "1", "a", "", 'quo"te', "\u2028"]))


@pytest.fixture
def anyio_backend() -> str:
    return "asyncio"


@asynccontextmanager
async def running(channel: Channel) -> AsyncIterator[list[Event]]:
    """The events that a channel's core is told."""
    told: list[Event] = []

    async def post(event: Event) -> None:
        told.append(event)

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(channel.run, post)
        yield told
        channel.end()


async def say(channel: Channel, message: dict[str, Any], **more: Any) -> None:
    """What a core does with a message for its client."""
    await channel.send(jsonrpc.encode(message), Send(CLIENT, message, **more))


async def all_of(exchange: Exchange) -> list[Any]:
    """What an exchange got, once it has ended."""
    async with aclosing(exchange.stream.follow()) as events:
        return [json.loads(event.line) async for event in events if event is not None]


# -- the stateless era -------------------------------------------------------------------------------------


@given(st.lists(IDS, min_size=1, max_size=8), st.randoms(use_true_random=False))
def test_each_client_gets_its_own_answer_under_its_own_id(ids: list[Any], random: Any) -> None:
    async def converse() -> None:
        channel = StatelessChannel("alice", 10_000, LOGGER)
        async with running(channel) as told:
            exchanges = []
            for id in ids:
                message = {"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {}}
                exchanges.append(await channel.ask(Request(id, "tools/call", {}), message, {}, {}))
            numbers = [json.loads(event.line)["id"] for event in told if isinstance(event, Received)]
            assert len(set(numbers)) == len(ids)
            order = list(zip(numbers, exchanges, strict=True))
            random.shuffle(order)
            for number, _ in order:
                await say(channel, jsonrpc.notification("notifications/progress", {"n": number}), related=number)
                await say(channel, jsonrpc.result(number, {"n": number, "id": number}))
            for number, exchange in order:
                progress, answer = await all_of(exchange)
                assert progress["params"] == {"n": number}
                assert answer == {"jsonrpc": "2.0", "id": exchange.id, "result": {"n": number, "id": number}}
                assert type(answer["id"]) is type(exchange.id)

    anyio.run(converse)


async def test_a_subscription_and_its_end_are_named_as_the_client_named_them() -> None:
    channel = StatelessChannel("alice", 10_000, LOGGER)
    async with running(channel) as told:
        whole = {"jsonrpc": "2.0", "id": "mine", "method": "subscriptions/listen", "params": {}}
        exchange = await channel.ask(Request("mine", "subscriptions/listen", {}), whole, {}, {})
        assert isinstance(told[0], Received)
        number = json.loads(told[0].line)["id"]
        named = {"_meta": {SUBSCRIPTION: number, "other": number}}
        await say(channel, jsonrpc.notification("notifications/tools/list_changed", named), related=number)
        await say(channel, jsonrpc.notification("notifications/cancelled", {"requestId": number}), related=number)
        await say(channel, jsonrpc.result(number, named))
    changed, cancelled, ended = await all_of(exchange)
    assert changed["params"]["_meta"] == ended["result"]["_meta"] == {SUBSCRIPTION: "mine", "other": number}
    assert cancelled["params"]["requestId"] == ended["id"] == "mine"


async def test_a_stateless_request_is_taken_back_by_its_own_name_and_once() -> None:
    channel = StatelessChannel("alice", 10_000, LOGGER)
    async with running(channel) as told:
        exchange = await channel.ask(
            Request("x", "tools/call"), {"jsonrpc": "2.0", "id": "x", "method": "tools/call"}, {}, {}
        )
        await channel.left(exchange)
        await channel.left(exchange)
        assert isinstance(told[0], Received)
        number = json.loads(told[0].line)["id"]
        await say(channel, jsonrpc.result(number, {}))  # too late, and for nobody
    cancelled = [json.loads(event.line) for event in told[1:] if isinstance(event, Received)]
    assert [message["method"] for message in cancelled] == ["notifications/cancelled"]
    assert cancelled[0]["params"]["requestId"] == number


# -- sessions ------------------------------------------------------------------------------------------------


async def test_a_reader_too_far_behind_loses_its_own_stream_and_nothing_else() -> None:
    channel = SessionChannel("alice", 100, LOGGER)
    async with running(channel):
        slow = await channel.ask(Request(1, "tools/call"), b"{}", {})
        other = await channel.ask(Request(2, "tools/call"), b"{}", {})
        for _ in range(10):
            await say(channel, jsonrpc.notification("notifications/progress", {"text": "x" * 40}), related=1)
        await say(channel, jsonrpc.result(1, {}))
        await say(channel, jsonrpc.result(2, {}))
    assert len(await all_of(slow)) < 3
    assert await all_of(other) == [jsonrpc.result(2, {})]


async def test_answers_that_nobody_comes_back_for_are_not_kept_beyond_what_one_reader_may_owe() -> None:
    channel = SessionChannel("alice", 1000, LOGGER)
    async with running(channel):
        numbers = []
        for id, size in enumerate((300, 300, 500, 900, 10)):
            exchange = await channel.ask(Request(id, "tools/call"), b"{}", {})
            numbers.append(exchange.number)
            await say(channel, jsonrpc.result(id, {"text": "x" * size}))
            channel.left(exchange, may_return=True, answered=False)
        for number in numbers[:3]:
            with pytest.raises(Refusal):
                channel.resumed(channel.event_id(number, 0))
        for number in numbers[3:]:
            channel.resumed(channel.event_id(number, 0))


async def test_initialize_cannot_be_taken_back() -> None:
    channel = SessionChannel("alice", 100, LOGGER)
    async with running(channel):
        exchange = await channel.ask(Request(1, "initialize"), b"{}", {})
        await channel.tell(Notification("notifications/cancelled", {"requestId": 1}), b"{}")
        await say(channel, jsonrpc.result(1, {}))
    assert await all_of(exchange) == [jsonrpc.result(1, {})]


async def test_what_comes_for_a_session_that_is_over_is_refused_and_not_lost() -> None:
    channel = SessionChannel("alice", 100, LOGGER)
    async with running(channel):
        pass
    with pytest.raises(Refusal) as refused:
        await channel.ask(Request(1, "ping"), b"{}", {})
    assert refused.value.status == 503


# -- all of them ---------------------------------------------------------------------------------------------


@asynccontextmanager
async def hub_of(serve: Any = None, **bounds: Any) -> AsyncIterator[Hub]:
    async def talk(channel: Channel) -> None:
        async def post(event: Event) -> None: ...

        await channel.run(post)

    limits = Bounds(**{"idle": 1000.0, "total": 3, "per_principal": 2, "unread": 100, **bounds})
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as tasks:
            hub = Hub(limits, serve or talk, tasks, LOGGER)
            tasks.start_soon(hub.run)
            yield hub
            await hub.shut_down()
            tasks.cancel_scope.cancel()


def is_there(hub: Hub, channel: SessionChannel) -> bool:
    try:
        return hub.session(channel.principal, channel.id) is channel
    except Refusal as refusal:
        assert refusal.status == 404
        return False


async def test_one_principal_cannot_take_the_place_of_another() -> None:
    async with hub_of() as hub:
        alices = [hub.new_session("alice") for _ in range(2)]
        bobs = hub.new_session("bob")
        with pytest.raises(Refusal) as refused:
            hub.new_session("carol")  # all places are taken, and none of them is hers
        assert (refused.value.status, refused.value.headers["retry-after"]) == (503, "60")
        assert all(is_there(hub, channel) for channel in (*alices, bobs))


async def test_a_session_in_use_makes_no_room() -> None:
    async with hub_of() as hub:
        one, other = hub.new_session("alice"), hub.new_session("alice")
        with one, other, pytest.raises(Refusal):
            hub.new_session("alice")
        with other:
            third = hub.new_session("alice")
        assert [is_there(hub, channel) for channel in (one, other, third)] == [False, True, True]


async def test_nobody_has_a_session_of_somebody_else() -> None:
    async with hub_of() as hub:
        alices = hub.new_session("alice")
        assert hub.stateless("alice") is not hub.stateless("bob")
        with pytest.raises(Refusal) as refused:
            hub.session("bob", alices.id)
        with pytest.raises(Refusal) as unknown:
            hub.session("bob", "no such session")
        assert (refused.value.status, refused.value.text) == (unknown.value.status, unknown.value.text)


@pytest.mark.parametrize("error", [VaultError("The token store is away"), ValueError("a bug of ours")], ids=type)
async def test_a_session_that_fails_ends_alone_and_keeps_nobody_waiting(error: Exception) -> None:
    async def serve(channel: Channel) -> None:
        if channel.principal == "alice":
            raise error
        await channel.run(lambda _event: anyio.sleep(0))

    async with hub_of(serve) as hub:
        bobs, alices = hub.new_session("bob"), hub.new_session("alice")
        with pytest.raises(Refusal) as refused:
            await alices.ask(Request(1, "initialize"), b"{}", {})
        assert refused.value.status == 503
        assert is_there(hub, bobs)
        assert not is_there(hub, alices)
        with pytest.raises(Refusal):
            hub.closing = True
            hub.new_session("bob")
