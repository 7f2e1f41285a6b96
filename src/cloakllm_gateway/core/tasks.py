"""Tasks: which upstream and which tool each belongs to."""

from __future__ import annotations

from typing import Any, NamedTuple, TypeVar

from cloakllm_gateway.core.form_input import words
from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.upstream import Call, Upstream
from cloakllm_gateway.protocol import eras
from cloakllm_gateway.protocol.jsonrpc import Request
from cloakllm_gateway.protocol.walk import Path

#: Tasks of one upstream that a session can follow at once; who makes more loses its oldest, and nobody else's.
MOST = 10_000
#: Those of one upstream whose questions are remembered.
MOST_ASKING = 16


class Tool(NamedTuple):
    """A tool that was called, as the client and as its upstream calls it; empty for none."""

    name: str = ""
    original: str = ""


NO_TOOL = Tool()

#: A result that speaks of tasks has one of these members.
_SPEAKING = frozenset(("tasks", "task", "resultType"))


class Tasks:
    """The tasks that results spoke of, and the upstreams they came from."""

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        #: By the client's id for the task.
        self._makers: dict[str, str] = {}
        #: By upstream: the client's ids, and what is known by the upstream's own.
        self._made: dict[str, dict[str, None]] = {}
        self._tools: dict[str, dict[str, Tool]] = {}
        self._asking: dict[str, dict[str, frozenset[str]]] = {}

    def maker(self, id: Any) -> str | None:
        """The upstream that made the task the client calls ``id``."""
        return self._makers.get(id) if isinstance(id, str) else None

    def original(self, upstream: Upstream, id: str) -> str:
        """What ``upstream`` calls the task that the client calls ``id``."""
        return str(self._handles.original(upstream.settings.origin, id))

    def tool(self, upstream: Upstream, id: Any) -> Tool:
        """The tool whose call became the task that ``upstream`` calls ``id``."""
        return self._tools.get(upstream.name, {}).get(id, NO_TOOL) if isinstance(id, str) else NO_TOOL

    def answered(self, request: Request, upstream: Upstream, call: Call, result: dict[str, Any]) -> Tool:
        """The tool that the answer to a call is of; a task that it promises is remembered, with what it was given."""
        named, about = (request.params or {}).get("name"), call.params or {}
        if is_about_task(call.method):
            id, tool = about.get("taskId"), self.tool(upstream, about.get("taskId"))
        else:
            tool = Tool(str(named), str(about.get("name"))) if call.method == "tools/call" else NO_TOOL
            id = _promised(result).get("taskId")
            if isinstance(id, str):
                _keep(self._tools.setdefault(upstream.name, {}), id, tool, MOST)
        if isinstance(id, str):
            upstream.disclosed.follow(id, call.restored)
        self.heard(upstream, result)
        return tool

    def heard(self, upstream: Upstream, said: dict[str, Any]) -> None:
        """Remember the words of what a task asks: a choice of its form is the upstream's own word."""
        id, asks = said.get("taskId"), said.get("inputRequests")
        if isinstance(id, str) and isinstance(asks, dict):
            _keep(self._asking.setdefault(upstream.name, {}), id, words(asks), MOST_ASKING)

    def form(self, upstream: Upstream, id: Any) -> frozenset[str]:
        """The words of what the task asked that the client calls ``id``."""
        if self.maker(id) != upstream.name:
            return frozenset()
        return self._asking.get(upstream.name, {}).get(self.original(upstream, id), frozenset())

    def tools(self, upstream: Upstream, result: dict[str, Any]) -> dict[Path, str]:
        """The upstream's own names of the tools that the tasks of a list are of, by the paths of the tasks."""
        tasks = result.get("tasks")
        items = tasks if isinstance(tasks, list) else ()
        ids = [task.get("taskId") if isinstance(task, dict) else None for task in items]
        found = ((("tasks", at), self.tool(upstream, id).original) for at, id in enumerate(ids))
        return {path: tool for path, tool in found if tool}

    def told(self, upstream: Upstream, method: str, said: dict[str, Any]) -> dict[str, Any]:
        """What a notification or a question says of a task, under the id that the client knows it by.

        That is never the id of another upstream's task.
        """
        said = self._related(upstream, said)
        return self._named(upstream, said) if is_about_task(method) else said

    def _named(self, upstream: Upstream, said: dict[str, Any]) -> dict[str, Any]:
        return said if self.maker(said.get("taskId")) in (None, upstream.name) else self._own(upstream, said)

    def _related(self, upstream: Upstream, part: dict[str, Any]) -> dict[str, Any]:
        """``part`` with the task that its ``_meta`` says it belongs to under the client's id."""
        meta = eras.meta_of(part)
        task = meta.get(eras.RELATED_TASK)
        if not isinstance(task, dict) or (named := self._named(upstream, task)) is task:
            return part
        return {**part, "_meta": {**meta, eras.RELATED_TASK: named}}

    def with_own(self, upstream: Upstream, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """Note whose tasks a result of ``method`` speaks of; an id that is another upstream's already becomes a handle.

        In the stateless era the result is the task itself.
        """
        result = self._related(upstream, result)
        if _SPEAKING.isdisjoint(result) and not is_about_task(method):
            return result
        if isinstance(listed := result.get("tasks"), list):
            tasks = [self._own(upstream, task) if isinstance(task, dict) else task for task in listed]
            result = {**result, "tasks": tasks}
        if is_about_task(method):
            return self._own(upstream, result)
        task = _promised(result)
        if task is result:
            return self._own(upstream, result)
        return {**result, "task": self._own(upstream, task)} if task else result

    def _own(self, upstream: Upstream, task: dict[str, Any]) -> dict[str, Any]:
        id = task.get("taskId")
        if not isinstance(id, str):
            return task
        if self._note(id, upstream) == upstream.name:
            return task
        handle = self._handles.issue(upstream.settings.origin, id)
        self._note(handle, upstream)
        return {**task, "taskId": handle}

    def _note(self, id: str, upstream: Upstream) -> str:
        """Whose the task is that the client knows as ``id``: the first one's that said so."""
        maker = self._makers.setdefault(id, upstream.name)
        if maker == upstream.name and (gone := _keep(self._made.setdefault(maker, {}), id, None, MOST)):
            del self._makers[gone]
        return maker


Kept = TypeVar("Kept")


def _keep(held: dict[str, Kept], id: str, what: Kept, most: int) -> str:
    """Hold ``what`` as well; the id of the oldest where it had to go, else empty."""
    held[id] = what
    if len(held) <= most:
        return ""
    oldest = next(iter(held))
    del held[oldest]
    return oldest


def is_about_task(method: str) -> bool:
    """Whether a request or notification is about a task that exists already."""
    return method.startswith(("tasks/", "notifications/tasks"))


def _promised(result: dict[str, Any]) -> dict[str, Any]:
    """The task that a result promises, empty for none: itself in the stateless era, a member of it before."""
    if result.get("resultType") == "task":
        return result
    task = result.get("task")
    return task if isinstance(task, dict) else {}
