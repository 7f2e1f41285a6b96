"""Whose tasks are whose: a task belongs to the upstream that made it."""

from __future__ import annotations

from typing import Any

from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.upstream import Upstream

#: Tasks that a session can follow at once; an upstream that makes more loses its oldest.
MOST = 10_000


class Tasks:
    """The tasks that results spoke of, and the upstreams they came from."""

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        self._makers: dict[str, str] = {}

    def maker(self, id: Any) -> str | None:
        """The upstream that made the task the client calls ``id``."""
        return self._makers.get(id) if isinstance(id, str) else None

    def original(self, upstream: Upstream, id: str) -> str:
        """What ``upstream`` calls the task that the client calls ``id``."""
        return str(self._handles.original(upstream.settings.origin, id))

    def told(self, upstream: Upstream, said: dict[str, Any]) -> dict[str, Any]:
        """What is said of a task, under the id that the client knows it by."""
        id = said.get("taskId")
        return said if self.maker(id) in (None, upstream.name) else self._own(upstream, said)

    def with_own(self, upstream: Upstream, method: str, result: dict[str, Any]) -> dict[str, Any]:
        """Note whose tasks a result of ``method`` speaks of; an id that is another upstream's already becomes a handle.

        In the stateless era the result is the task itself.
        """
        listed = result.get("tasks")
        if isinstance(listed, list):
            result = {
                **result,
                "tasks": [self._own(upstream, task) if isinstance(task, dict) else task for task in listed],
            }
        if method.startswith("tasks/") or result.get("resultType") == "task":
            return self._own(upstream, result)
        task = result.get("task")
        return {**result, "task": self._own(upstream, task)} if isinstance(task, dict) else result

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
        if len(self._makers) > MOST:
            del self._makers[next(iter(self._makers))]
        return maker
