"""Notifications of upstreams on their way to the client: sanitized, in order, for the request they concern."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, TypeAlias

from cloakllm_gateway.core import pages
from cloakllm_gateway.core.calls import Calls
from cloakllm_gateway.core.directory import Directory
from cloakllm_gateway.core.events import CLIENT, Effect, Log, Send
from cloakllm_gateway.core.front import Front
from cloakllm_gateway.core.jobs import Jobs, Work
from cloakllm_gateway.core.lanes import Lanes
from cloakllm_gateway.core.questions import Questions
from cloakllm_gateway.core.requests import Asked
from cloakllm_gateway.core.settings import Settings
from cloakllm_gateway.core.subscriptions import TASK, URI, Subscriptions, Watch
from cloakllm_gateway.core.tasks import NO_TOOL, Tasks, Tool, is_about_task
from cloakllm_gateway.core.upstream import Upstream
from cloakllm_gateway.protocol import eras, jsonrpc
from cloakllm_gateway.protocol.eras import Era
from cloakllm_gateway.protocol.jsonrpc import Notification, Response
from cloakllm_gateway.protocol.surface import DATA, SURFACE

LIST_CHANGED = {
    "notifications/tools/list_changed": "tools",
    "notifications/prompts/list_changed": "prompts",
    "notifications/resources/list_changed": "resources",
}

#: What the log and the audit call a notification whose method is the upstream's own text.
UNKNOWN = "notifications/unknown"

#: Takes the clean params (None where there were none) and gives what is sent.
Deliver: TypeAlias = Callable[[Mapping[str, Any] | None], Sequence[Effect]]


class Notifications:
    """Relays the notifications of upstreams.

    ``list_changed`` is called with the kind of a list that changed and the
    name of its upstream; ``fitting`` makes what a task of a tool says fit the
    schema of the tool (:meth:`.advertised.Tools.fitting`).
    """

    def __init__(
        self,
        settings: Settings,
        front: Front,
        lanes: Lanes,
        jobs: Jobs,
        calls: Calls,
        questions: Questions,
        subscriptions: Subscriptions,
        tasks: Tasks,
        directory: Directory,
        emit: Callable[[Effect], None],
        list_changed: Callable[[str, str], None],
        fitting: Callable[[str, Any, Any], Any],
    ) -> None:
        self._settings = settings
        self._front = front
        self._lanes = lanes
        self._jobs = jobs
        self._calls = calls
        self._questions = questions
        self._subscriptions = subscriptions
        self._tasks = tasks
        self._directory = directory
        self._emit = emit
        self._list_changed = list_changed
        self._fitting = fitting

    def arrived(self, upstream: Upstream, notification: Notification, during: str | int | None = None) -> None:
        """One notification of an upstream; ``during`` is the call on whose stream it came, where there are streams."""
        method, params = notification.method, notification.params
        if Era.STATELESS in (upstream.era, self._front.era):  # the streams that it names are not the client's
            params = eras.without(params, (eras.SUBSCRIPTION,))
        given = params or {}
        match method:
            case _ if method in LIST_CHANGED:
                self._list_changed(LIST_CHANGED[method], upstream.name)
            case "notifications/progress":
                call = self._calls.progressed(upstream, given.get("progressToken"))
                if call is not None and call.asked is not None:
                    self._relay(upstream, method, params, self._progress_of(call.asked))
            case "notifications/cancelled":
                self._cancelled(upstream, params)
            case "notifications/resources/updated" if self._owned_by_another(upstream, given.get("uri")):
                self._emit(Log("warning", "update_of_anothers_resource", {"upstream": upstream.name}))
            case (
                "notifications/initialized"
                | "notifications/roots/list_changed"
                | "notifications/subscriptions/acknowledged"
            ):
                self._emit(Log("debug", "notification_out_of_place", {"upstream": upstream.name}))
            case _ if self._front.era is Era.STATELESS and (watch := _watched(method, given)):
                self._relay(upstream, method, params, self._streamed(upstream, watch, method))
            case "notifications/message":
                self._relay(upstream, method, params, self._logged(upstream, during, given.get("level")))
            case _:
                self._relay(upstream, method, params, self._about(upstream, during, method))

    # -- to whom ---------------------------------------------------------------------------------------

    def _about(self, upstream: Upstream, during: str | int | None, method: str) -> Deliver:
        """With the request that the upstream is working on, if there is one."""
        asked = next(iter(upstream.serving(during)), None)

        def deliver(params: Mapping[str, Any] | None) -> Sequence[Effect]:
            return [_notice(method, params, asked.waits if asked else None)]

        return deliver

    def _logged(self, upstream: Upstream, during: str | int | None, level: Any) -> Deliver:
        """A session hears what it asked to hear; a stateless client what one of its requests asked for."""
        method = "notifications/message"
        if self._front.era is Era.SESSION:
            return self._about(upstream, during, method)
        listening = [asked for asked in upstream.serving(during) if eras.is_audible(level, asked.client.log_level)]

        def deliver(params: Mapping[str, Any] | None) -> Sequence[Effect]:
            return [_notice(method, params, asked.waits) for asked in listening[:1] if asked.waits is not None]

        return deliver

    def _progress_of(self, asked: Asked) -> Deliver:
        def deliver(params: Mapping[str, Any] | None) -> Sequence[Effect]:
            if asked.progress is None or asked.waits is None:
                return []
            said = {**(params or {}), "progressToken": asked.progress}
            return [_notice("notifications/progress", said, asked.waits)]

        return deliver

    def _streamed(self, upstream: Upstream, watch: Watch, method: str) -> Deliver:
        def deliver(params: Mapping[str, Any] | None) -> Sequence[Effect]:
            return self._subscriptions.told(upstream.name, watch, method, params or {})

        return deliver

    def _cancelled(self, upstream: Upstream, params: Mapping[str, Any] | None) -> None:
        """It takes a question back, or ends a stream of the gateway's."""
        said = (params or {}).get("requestId")
        call = upstream.calls.get(said) if isinstance(said, int) and upstream.era is Era.STATELESS else None
        if call is not None:
            if call.method == "subscriptions/listen" and self._calls.take(upstream, call.id):
                call.answered(call, Response(call.id, {}))
            return
        id = self._questions.cancelled(upstream, said)
        if id is not None:

            def deliver(params: Mapping[str, Any] | None) -> Sequence[Effect]:
                return [_notice("notifications/cancelled", {**(params or {}), "requestId": id}, None)]

            self._relay(upstream, "notifications/cancelled", params, deliver)

    def _owned_by_another(self, upstream: Upstream, uri: Any) -> bool:
        owner = self._directory.owner(uri) if isinstance(uri, str) else None
        return owner is not None and owner.upstream != upstream.name

    # -- made clean --------------------------------------------------------------------------------------

    def _relay(self, upstream: Upstream, method: str, params: Mapping[str, Any] | None, deliver: Deliver) -> None:
        """Pass it on in the order in which the upstream spoke."""
        row = SURFACE.get(method)
        tool = self._tool(upstream, method, params)
        if is_about_task(method):
            self._tasks.heard(upstream, dict(params or {}))

        def done(part: Any, effects: list[Effect]) -> None:
            part = pages.granted(upstream.settings, part)
            if isinstance(part, dict):
                part = self._tasks.told(upstream, method, part)
            if method == "notifications/tasks":
                part = self._questions.within(upstream, part)
            sent = deliver(None if params is None else self._fitting(tool.name, params, part))
            self._front.send([*effects, *sent])
            self._lanes.leave(upstream)

        def failed(_reason: str) -> None:
            self._lanes.leave(upstream)

        if row is None and self._settings.enforces:
            # The name of an unknown notification is the upstream's own text.
            def checked(part: Any, effects: list[Effect]) -> None:
                if part["method"] != method:
                    failed("")
                    return
                done(part.get("params"), effects)

            said = {"method": method, "params": params}
            work = Work(upstream, UNKNOWN, said, DATA, checked, failed, upstream.disclosed.lately())
        else:
            shape, known_as = (row.params, method) if row else (DATA, UNKNOWN)
            restored = upstream.disclosed.lately()
            exact = self._questions.exact_links(upstream, None)
            work = Work(
                upstream, known_as, params or {}, shape, done, failed, restored, tool=tool.original, exact_links=exact
            )
        self._lanes.enter(upstream, partial(self._jobs.start, work), keeps=True)

    def _tool(self, upstream: Upstream, method: str, params: Mapping[str, Any] | None) -> Tool:
        """The tool whose task a notification is about."""
        return self._tasks.tool(upstream, (params or {}).get("taskId")) if is_about_task(method) else NO_TOOL


def _notice(method: str, params: Mapping[str, Any] | None, related: str | int | None) -> Send:
    return Send(CLIENT, jsonrpc.notification(method, None if params is None else dict(params)), related=related)


def _watched(method: str, params: Mapping[str, Any]) -> Watch | None:
    """What a notification is about that goes to streams only."""
    uri, task = params.get("uri"), params.get("taskId")
    if method == "notifications/resources/updated" and isinstance(uri, str):
        return Watch(URI, uri)
    if method == "notifications/tasks" and isinstance(task, str):
        return Watch(TASK, task)
    return None
