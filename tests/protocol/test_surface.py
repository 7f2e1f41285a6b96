"""The surface table against the official wire models, and against itself.

The models are the oracle: each field they define must have a row.  The other
way round, a row that no model has must be one this file can name.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from types import UnionType
from typing import Annotated, Any, TypeAlias, Union, get_args, get_origin

import pytest

from cloakllm_gateway.protocol import surface
from cloakllm_gateway.protocol.surface import (
    ANSWER,
    DATA,
    RESTORE,
    RESTORE_OWN,
    SURFACE,
    Marked,
    Nested,
    Role,
    Shape,
    Tagged,
)

wire = pytest.importorskip("mcp_types.methods", reason="the wire models of the MCP SDK are the oracle here")

Where: TypeAlias = tuple[str, ...]

# -- what the wire models say ----------------------------------------------------------------------


def _fields(annotation: Any) -> Iterator[tuple[str, Any]]:
    """The fields of a model by their names on the wire."""
    for name, field in getattr(annotation, "model_fields", {}).items():
        yield field.alias or name, field.annotation


def _tag(annotation: Any, field: str) -> str | None:
    """The literal that a model has under the field that tells a union's members apart."""
    literal = dict(_fields(annotation)).get(field)
    values = get_args(literal)
    return values[0] if values and isinstance(values[0], str) else None


class _Comparison:
    """One wire type beside the shape of its row: what the row lacks, and what the type has met of the table."""

    def __init__(self) -> None:
        self.lacking: set[Where] = set()
        self.met: set[tuple[int, str]] = set()  # id of a dict shape or of a union's cases, name in it
        self._seen: set[tuple[Any, int]] = set()

    def compare(self, annotation: Any, shape: Shape, where: Where = ()) -> None:
        annotation = getattr(annotation, "__value__", annotation)
        origin, arguments = get_origin(annotation), get_args(annotation)
        if isinstance(shape, (Role, Nested)) or (annotation, id(shape)) in self._seen:
            return
        if origin is Annotated:
            self.compare(arguments[0], shape, where)
        elif origin in (Union, UnionType):
            for member in arguments:
                self.compare(member, shape, where)
        elif isinstance(origin, type) and issubclass(origin, Sequence):
            self.compare(arguments[0], shape[0] if isinstance(shape, list) else shape, (*where, "[]"))
        elif isinstance(shape, list):
            self.compare(annotation, shape[0], where)
        elif hasattr(annotation, "model_fields"):
            self._model(annotation, shape, where)

    def _model(self, model: Any, shape: Shape, where: Where) -> None:
        fields = dict(_fields(model))
        if "root" in fields:
            self.compare(fields["root"], shape, where)
        elif isinstance(shape, Tagged):
            tag = _tag(model, shape.field)
            self.met.add((id(shape.cases), tag or ""))
            if tag in shape.cases:
                self.compare(model, shape.cases[tag], (*where, f"<{tag}>"))
            else:
                self.lacking.add((*where, f"<{tag}>"))
        elif isinstance(shape, dict):
            self._seen.add((model, id(shape)))
            for name, inner in fields.items():
                self.met.add((id(shape), name))
                if name in shape:
                    self.compare(inner, shape[name], (*where, name))
                else:
                    self.lacking.add((*where, name))


def _models() -> Iterator[Any]:
    """Every method of every version, with the wire type of its params or of its result."""
    for table in ("CLIENT_REQUESTS", "SERVER_REQUESTS", "CLIENT_NOTIFICATIONS", "SERVER_NOTIFICATIONS"):
        for (method, version), model in getattr(wire, table).items():
            params = model.model_fields.get("params")
            if params is not None:
                yield pytest.param(method, "params", params.annotation, id=f"{version}-{method}-params-{table}")
    for table in ("SERVER_RESULTS", "CLIENT_RESULTS"):
        for (method, version), model in getattr(wire, table).items():
            yield pytest.param(method, "result", model, id=f"{version}-{method}-result-{table}")


MODELS = list(_models())


@pytest.mark.parametrize(("method", "part", "model"), MODELS)
def test_every_field_on_the_wire_has_a_row(method: str, part: str, model: Any) -> None:
    comparison = _Comparison()
    comparison.compare(model, getattr(SURFACE[method], part))
    assert comparison.lacking == set()


# -- what the table says beyond them ---------------------------------------------------------------


def _places(shape: Shape, where: Where = (), inside: frozenset[int] = frozenset()) -> Iterator[tuple[Where, Role]]:
    """Every place of a shape with its role; content inside content is entered once."""
    if isinstance(shape, Role):
        yield where, shape
    elif isinstance(shape, list):
        yield from _places(shape[0], (*where, "[]"), inside)
    elif isinstance(shape, Nested):
        if shape is Nested.RESULTS:
            yield from _places(ANSWER, (*where, "{}"), inside)
    elif isinstance(shape, (Tagged, Marked)):
        for tag, case in (*shape.cases.items(), ("", shape.otherwise)):
            yield from _places(case, (*where, f"<{tag}>"), inside)
    elif id(shape) not in inside:
        for name, inner in shape.items():
            yield from _places(inner, (*where, name), inside | {id(shape)})


PLACES = [
    ((method, part, *where), role)
    for method, row in SURFACE.items()
    for part in ("params", "result")
    if getattr(row, part) is not None
    for where, role in _places(getattr(row, part))
]

#: The tasks of 2025-11-25 and of the 2026 extension: the SDK has no wire models for them.
TASK_METHODS = {
    "tasks/get", "tasks/result", "tasks/list", "tasks/cancel", "tasks/update",
    "notifications/tasks/status", "notifications/tasks",
}  # fmt: skip
TASK_NAMES = {
    "taskId", "taskIds", "tasks", "status", "statusMessage", "createdAt", "lastUpdatedAt", "pollInterval",
    "pollIntervalMs", "result", "error", "code", "io.modelcontextprotocol/related-task",
}  # fmt: skip


def test_every_method_of_the_table_is_on_the_wire_or_a_task_method() -> None:
    on_the_wire = {parameters.values[0] for parameters in MODELS} | {"ping"}
    assert set(SURFACE) - on_the_wire == TASK_METHODS


def test_every_name_of_the_table_is_on_the_wire_or_a_name_of_tasks() -> None:
    """A name that is spelt wrong here would leave the real one without its role."""
    comparison = _Comparison()
    for parameters in MODELS:
        method, part, model = parameters.values
        comparison.compare(model, getattr(SURFACE[method], part))
    on_the_wire = {name for _, name in comparison.met}
    of_the_table = {name for where, _ in PLACES for name in where[2:] if name[0] not in "<[{"}
    assert of_the_table - on_the_wire == TASK_NAMES


def test_a_request_has_a_result_and_a_notification_has_none() -> None:
    for method, row in SURFACE.items():
        assert (row.result is None) == method.startswith("notifications/"), method


def test_a_row_restores_nothing_unless_it_is_listed_here() -> None:
    restoring = {where for where, role in PLACES if role is RESTORE}
    assert restoring == {
        ("tools/call", "params", "arguments"),
        ("prompts/get", "params", "arguments"),
        ("resources/read", "params", "uri"),
        ("resources/subscribe", "params", "uri"),
        ("resources/unsubscribe", "params", "uri"),
        ("subscriptions/listen", "params", "notifications", "resourceSubscriptions", "[]"),
    }


OWN = {
    ("completion/complete", "params", "ref", "uri"),
    ("completion/complete", "params", "argument", "value"),
    ("completion/complete", "params", "context", "arguments"),
    ("roots/list", "result", "roots", "[]"),
    ("sampling/createMessage", "result", "content"),
    ("elicitation/create", "result", "content"),
    ("tools/call", "params", "inputResponses"),
    ("prompts/get", "params", "inputResponses"),
    ("resources/read", "params", "inputResponses"),
    ("tasks/update", "params", "inputResponses"),
}


def test_own_values_go_only_into_answers_and_completions() -> None:
    own_places = {where for where, role in PLACES if role is RESTORE_OWN}
    assert {where for where in own_places if not any(where[: len(listed)] == listed for listed in OWN)} == set()
    assert {listed for listed in OWN if not any(where[: len(listed)] == listed for where in own_places)} == set()


def test_meta_is_never_restored_into() -> None:
    assert [where for where, role in PLACES if "_meta" in where and role in (RESTORE, RESTORE_OWN)] == []


def test_an_answer_says_by_its_own_fields_what_it_answers() -> None:
    """A form's `content` may hold any field; a sampled block's `type` is none of it."""
    answers = dict(_places(ANSWER))
    assert answers["<action>", "content"] is RESTORE_OWN
    assert answers["<role>", "content", "<text>", "text"] is RESTORE_OWN
    assert answers["<role>", "content", "<text>", "type"] is Role.PROTOCOL
    assert answers["<roots>", "roots", "[]", "uri"] is RESTORE_OWN


@pytest.mark.parametrize("method", sorted(SURFACE))
def test_what_goes_to_the_model_holds_no_place_to_restore_into(method: str) -> None:
    """An upstream's results and requests are sanitized: a RESTORE there would be a DATA that nobody noticed."""
    own_answers = ("roots/list", "sampling/createMessage", "elicitation/create")
    for where, role in PLACES:
        if where[:2] == (method, "result") and method not in own_answers:
            assert role not in (RESTORE, RESTORE_OWN), where
        if where[:2] == (method, "params") and method in own_answers:
            assert role not in (RESTORE, RESTORE_OWN), where


def test_the_error_of_any_answer_is_data() -> None:
    assert surface.ERROR == {"code": Role.PROTOCOL, "message": DATA, "data": DATA}


def test_only_the_page_that_a_person_is_sent_to_is_shown_as_it_is() -> None:
    assert {where for where, role in PLACES if role is Role.LINK} == {("elicitation/create", "params", "<url>", "url")}
    beyond = [where for where, role in _places(surface.SENT_ELSEWHERE) if role is Role.LINK]
    assert beyond == [("data", "elicitations", "[]", "<url>", "url")]
