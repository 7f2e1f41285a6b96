"""Whose tasks are whose: a task belongs to the upstream that made it."""

from __future__ import annotations

from typing import Any

from cloakllm_gateway.core.handles import Handles
from cloakllm_gateway.core.upstream import Upstream


class Tasks:
    """The tasks that results spoke of, and the upstreams they came from."""

    def __init__(self, handles: Handles) -> None:
        self._handles = handles
        self._makers: dict[str, str] = {}

    def maker(self, id: Any) -> str | None:
        """The upstream that made the task the client calls ``id``."""
        return self._makers.get(id) if isinstance(id, str) else None

    def with_own(self, upstream: Upstream, result: dict[str, Any]) -> dict[str, Any]:
        """Note whose tasks a result speaks of; an id that is another upstream's already becomes a handle."""
        listed = result.get("tasks")
        if isinstance(listed, list):
            result = {**result, "tasks": [self._own(upstream, task) for task in listed]}
        if result.get("resultType") == "task":  # the extension of the stateless era: the result is the task
            return self._own(upstream, result)  # type: ignore[no-any-return]
        return {**result, "task": self._own(upstream, result["task"])} if "task" in result else result

    def _own(self, upstream: Upstream, task: Any) -> Any:
        id = task.get("taskId") if isinstance(task, dict) else None
        if not isinstance(id, str):
            return task
        if self._makers.setdefault(id, upstream.name) == upstream.name:
            return task
        handle = self._handles.issue(upstream.settings.origin, id)
        self._makers[handle] = upstream.name
        return {**task, "taskId": handle}
