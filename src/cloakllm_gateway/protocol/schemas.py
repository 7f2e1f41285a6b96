"""JSON Schemas that tokens fit: what is advertised of a schema whose instances will hold tokens.

Strict clients hold a result against the schema they were shown, and throw it
away where a token stands for an address whose ``format`` they assert.

Theory of operation.  A schema is a graph: subschemas inside each other, and
references across.  Over it three facts spread until nothing changes:

* *proven*, downwards: values here stand under a key that makes them personal
  data, so a number may become a string;
* *negative*, downwards: what is accepted here may count against the instance
  (``not``, ``if``, and ``oneOf``, which refuses what two branches accept);
* *touched*, upwards: more is accepted here than before, so whatever denies or
  counts above it has to go too, or the whole would accept less.

Then the schema is rebuilt around the touched places.  What would surprise you:
``patternProperties`` takes ``additionalProperties`` along, because a key that
no pattern claims any more would fall to it; a reference into something that
goes is dropped, and one through a ``oneOf`` is rewritten; where a keyword
goes that ``unevaluatedProperties`` relies on, that goes everywhere.

Relaxing is monotone: what was valid stays valid.  Everything here is linear in
the size of the schema.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum, auto
from typing import Any, NamedTuple, TypeAlias

from msgspec import Struct, field

from cloakllm_gateway.protocol.walk import Path

#: Whether values under this key are personal data whatever they look like; the empty key stands for any.
Proves: TypeAlias = Callable[[str], bool]
#: The key that an instance stands under itself.
_WHOLE = "structuredContent"
#: Whether this value of ``enum`` (a list) or ``const`` holds something that is hidden in instances.
Hides: TypeAlias = Callable[[Any], bool]


class _Reach(Enum):
    """Which values a subschema speaks of, seen from the schema it stands in."""

    SAME = auto()  # the same value, or the elements of it, which stand under the same key
    NEGATIVE = auto()  # the same value, but accepting it counts against it
    NAMED = auto()  # the member of that name
    OTHER = auto()  # members of any name
    APART = auto()  # none, until something refers to it


#: The keywords that hold schemas: one, a list of them, or (in _MAPS) a map of them.
_APPLICATORS: Mapping[str, _Reach] = {
    **dict.fromkeys(("allOf", "anyOf", "then", "else", "dependentSchemas", "dependencies"), _Reach.SAME),
    **dict.fromkeys(("items", "prefixItems", "additionalItems", "unevaluatedItems", "contains"), _Reach.SAME),
    **dict.fromkeys(("not", "if", "oneOf"), _Reach.NEGATIVE),
    "properties": _Reach.NAMED,
    **dict.fromkeys(("patternProperties", "additionalProperties", "unevaluatedProperties"), _Reach.OTHER),
    **dict.fromkeys(("propertyNames", "$defs", "definitions"), _Reach.APART),
}
_MAPS = frozenset({"properties", "patternProperties", "dependentSchemas", "dependencies", "$defs", "definitions"})
_TEXT = frozenset({"format", "pattern", "minLength", "maxLength"})
_NUMERIC = frozenset({"minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf"})
_DENYING = frozenset({"not", "if", "then", "else", "maxContains"})
_NAMING = frozenset({"patternProperties", "propertyNames"})
_UNEVALUATED = frozenset({"unevaluatedProperties", "unevaluatedItems"})
#: Keywords on whose matches ``unevaluatedProperties`` relies.
_EVALUATING = frozenset({"if", "then", "else", "patternProperties", "additionalProperties", "oneOf", "$ref"})
_REFERENCES = frozenset({"$ref", "$dynamicRef", "$recursiveRef"})
_ANCHORS = ("$id", "$anchor", "$dynamicAnchor", "$recursiveAnchor")
#: Stands for every place that a reference may mean which is no pointer.
_ANCHORED: Path = (-1,)


def relax(schema: Any, proves: Proves, hides: Hides, *, names: bool = True) -> Any:
    """``schema`` as it may be advertised when its instances will hold tokens; itself if nothing has to change.

    Strings lose what limits their text, ``enum`` and ``const`` go where a
    member ``hides`` something or the key ``proves`` it, numbers under such a
    key may be strings, and with ``names`` the rules for undeclared keys go.
    """
    if not isinstance(schema, dict):
        return schema
    return _Relaxation(schema, proves, hides, names).result()


class _Edge(NamedTuple):
    source: Path
    target: Path
    reach: _Reach
    name: str = ""


class _Graph:
    """The subschemas of one schema by their path, and how each reaches others."""

    def __init__(self, schema: dict[str, Any]) -> None:
        self.schema = schema
        self.nodes: dict[Path, dict[str, Any]] = {_ANCHORED: {}}
        self.edges: dict[Path, list[_Edge]] = {_ANCHORED: []}
        self.into: dict[Path, list[_Edge]] = {}
        self.meant: dict[Path, Path] = {}  # from the holder of a `$ref` to what it refers to
        self.holders: dict[Path, list[Path]] = {}  # for each place, who refers to it or to something inside it
        waiting: list[Path] = [()]
        while waiting:
            path = waiting.pop()
            node = _at(schema, path)
            if path not in self.nodes and isinstance(node, dict):
                self.nodes[path] = node
                self.edges[path] = list(self._leading(path, node))
                if any(anchor in node for anchor in _ANCHORS) or not path:
                    self.edges[_ANCHORED].append(_Edge(_ANCHORED, path, _Reach.SAME))
                    self._held(path, _ANCHORED)
                waiting += [edge.target for edge in self.edges[path] if edge.target != _ANCHORED]
        for edges in self.edges.values():
            for edge in edges:
                self.into.setdefault(edge.target, []).append(edge)

    def _leading(self, path: Path, node: dict[str, Any]) -> Iterator[_Edge]:
        for keyword, reach in _APPLICATORS.items():
            inner = node.get(keyword)
            here = (*path, keyword)
            if isinstance(inner, list):
                yield from (_Edge(path, (*here, i), reach) for i, sub in enumerate(inner) if isinstance(sub, dict))
            elif isinstance(inner, dict) and keyword in _MAPS:
                for name, sub in inner.items():
                    if isinstance(sub, dict):
                        yield _Edge(path, (*here, name), reach, name if reach is _Reach.NAMED else "")
            elif isinstance(inner, dict):
                yield _Edge(path, here, reach)
        for keyword in sorted(_REFERENCES & node.keys()):
            if isinstance(node.get(keyword), str):
                target = self._target(path, node[keyword]) if keyword == "$ref" else _ANCHORED
                if target != _ANCHORED:
                    self.meant[path] = target
                    self._held(target, path)
                yield _Edge(path, target, _Reach.SAME)

    def _held(self, target: Path, holder: Path) -> None:
        for depth in range(1, len(target) + 1):
            self.holders.setdefault(target[:depth], []).append(holder)

    def _target(self, holder: Path, reference: str) -> Path:
        """What a reference means; nothing is ever fetched, so one that is no pointer may mean any anchor."""
        if reference != "#" and not reference.startswith("#/"):
            return _ANCHORED
        from urllib.parse import unquote  # most schemas refer to nothing

        base = _base(self.schema, holder)
        path, node = base, _at(self.schema, base)
        for step in unquote(reference).split("/")[1:]:
            step = step.replace("~1", "/").replace("~0", "~")
            if isinstance(node, dict) and step in node:
                path, node = (*path, step), node[step]
            elif isinstance(node, list) and step.isdecimal() and int(step) < len(node):
                path, node = (*path, int(step)), node[int(step)]
            else:
                return _ANCHORED
        return path

    def spread(self, start: Mapping[Path, bool], passes: Callable[[_Edge, bool], bool]) -> set[Path]:
        """The places where a fact holds: given at the ``start``, else if it passes some edge that leads there."""
        holds: set[Path] = set()
        seen: set[tuple[Path, bool]] = set()
        waiting = list(start.items())
        while waiting:
            path, fact = waiting.pop()
            if (path, fact) in seen:
                continue
            seen.add((path, fact))
            if fact:
                holds.add(path)
            waiting += [(edge.target, passes(edge, fact)) for edge in self.edges.get(path, ())]
        return holds

    def negative(self) -> set[Path]:
        return self.spread({(): False}, lambda edge, fact: fact or edge.reach is _Reach.NEGATIVE)


class _Relaxation:
    """One relaxing: which places are touched, what goes there, and the schema without it."""

    def __init__(self, schema: dict[str, Any], proves: Proves, hides: Hides, names: bool) -> None:
        self._schema = schema
        self._graph = _Graph(schema)
        self._hides = hides
        self._names = names
        self._proven = self._graph.spread({(): proves(_WHOLE)}, lambda edge, fact: _proves(edge, fact, proves))
        self._negative = self._graph.negative()
        self._touched: set[Path] = set()
        self._loose: set[Path] = set()  # holders of a reference to something that goes
        self._unanchored = False  # something that goes had an anchor
        self._lossy = False  # something that goes was a match that `unevaluatedProperties` relies on

    def result(self) -> Any:
        self._touch([path for path, node in self._graph.nodes.items() if self._starts(path, node)])
        return self._rebuilt(self._schema, ())

    # -- what is touched -----------------------------------------------------------------------------

    def _starts(self, path: Path, node: dict[str, Any]) -> bool:
        """Whether a schema accepts more than before by itself, or judges what becomes of a number."""
        if self._own(path, node) or (path in self._proven and _widened(node.get("type")) is not None):
            return True
        return path in self._proven and path in self._negative and _tells_numbers(node)

    def _own(self, path: Path, node: dict[str, Any]) -> set[str]:
        """The keywords that go for what they say themselves."""
        going: set[str] = {
            name for name in ("enum", "const") if name in node and self._tells(node[name], path in self._proven)
        }
        kinds = _kinds(node.get("type"))
        if not kinds or "string" in kinds or (path in self._proven and kinds & {"integer", "number"}):
            going |= _TEXT & node.keys()
        if self._names:
            going |= _NAMING & node.keys()
        return going

    def _tells(self, said: Any, proven: bool) -> bool:
        return self._hides(said) or (proven and any(not isinstance(leaf, bool) for leaf in _leaves(said)))

    def _touch(self, waiting: list[Path]) -> None:
        while waiting:
            path = waiting.pop()
            if path in self._touched:
                continue
            self._touched.add(path)
            going = self._going(path)
            for keyword in going & _APPLICATORS.keys():
                waiting += self._drop((*path, keyword))
            if going & _EVALUATING and not self._lossy:
                self._lossy = True
                for holder, node in self._graph.nodes.items():
                    if _UNEVALUATED & node.keys():
                        self._touched.discard(holder)  # more goes there than when it was looked at
                        waiting.append(holder)
            waiting += [edge.source for edge in self._graph.into.get(path, ()) if edge.reach is not _Reach.APART]

    def _going(self, path: Path) -> set[str]:
        """The keywords that go at a place that is touched."""
        node = self._graph.nodes[path]
        going = self._own(path, node) | (_DENYING & node.keys())
        if "patternProperties" in going:
            going |= {"additionalProperties"} & node.keys()
        if "oneOf" in node and "anyOf" in node:
            going.add("oneOf")  # there is no room for both, and a combinator is never added
        if path in self._loose:
            going |= _REFERENCES & node.keys()
        if self._lossy:
            going |= _UNEVALUATED & node.keys()
        return going

    def _drop(self, top: Path) -> list[Path]:
        """A keyword goes with all that is in it: whoever refers to that, and now accepts more."""
        holders = self._graph.holders.get(top, [])
        if _ANCHORED in holders and not self._unanchored:
            self._unanchored = True
            holders = [*holders, *(edge.source for edge in self._graph.into.get(_ANCHORED, ()))]
        loose = [holder for holder in holders if holder not in self._loose and holder != _ANCHORED]
        self._loose.update(loose)
        self._touched.difference_update(loose)
        return loose

    # -- the schema without it -----------------------------------------------------------------------

    def _rebuilt(self, value: Any, path: Path) -> Any:
        if isinstance(value, list):
            items = [self._rebuilt(item, (*path, i)) for i, item in enumerate(value)]
            return value if all(new is old for new, old in zip(items, value, strict=True)) else items
        if not isinstance(value, dict):
            return value
        is_node = self._graph.nodes.get(path) is value
        going = self._going(path) if is_node and path in self._touched else ()
        out: dict[str, Any] = {}
        for keyword, inner in value.items():
            if keyword in going:
                continue
            new = self._rebuilt(inner, (*path, keyword))
            if is_node and keyword == "type" and path in self._proven:
                new = _widened(inner) or inner
            elif is_node and keyword == "$ref":
                new = self._reference(path, inner)
            out["anyOf" if keyword == "oneOf" and is_node and path in self._touched else keyword] = new
        same = out.keys() == value.keys() and all(out[keyword] is value[keyword] for keyword in out)
        return value if same else out

    def _reference(self, holder: Path, reference: str) -> str:
        """The same reference where a ``oneOf`` on its way is called ``anyOf`` now."""
        target = self._graph.meant.get(holder, ())
        renamed = {depth for depth, step in enumerate(target) if step == "oneOf" and target[:depth] in self._touched}
        if not renamed:
            return reference
        from urllib.parse import quote

        steps = ["anyOf" if depth in renamed else str(step) for depth, step in enumerate(target)]
        inside = steps[len(_base(self._schema, holder)) :]
        pointer = "/".join(("", *(step.replace("~", "~0").replace("/", "~1") for step in inside)))
        return "#" + quote(pointer, safe="/$~", errors="surrogatepass")


def _proves(edge: _Edge, fact: bool, proves: Proves) -> bool:
    """A name decides for its value; any name may come where none is given."""
    if edge.reach in (_Reach.NAMED, _Reach.OTHER):
        return proves(edge.name)
    return fact and edge.reach is not _Reach.APART


# -- whether tokens fit what a client was shown ------------------------------------------------------


class Demands(Struct, frozen=True):
    """Where instances of a schema must not be changed: by key for numbers, by what it says for a string.

    The empty key stands for the instance itself; ``others`` says that keys
    which the schema does not name are limited too.
    """

    numbers: frozenset[str] = field(default_factory=frozenset)
    others: bool = False
    words: frozenset[str] = field(default_factory=frozenset)
    names: frozenset[str] = field(default_factory=frozenset)

    def admit(self, before: Any, after: Any) -> bool:
        """Whether an instance may become ``after``: the same shape, with tokens for some of its values and keys."""
        waiting = [("", before, after)]
        while waiting:
            key, old, new = waiting.pop()
            if new is old:
                continue
            if isinstance(old, dict):
                for (name, inner), (shown, clean) in zip(old.items(), new.items(), strict=True):
                    if name != shown and name in self.names:
                        return False
                    waiting.append((name, inner, clean))
            elif isinstance(old, list):
                waiting += [(key, inner, clean) for inner, clean in zip(old, new, strict=True)]
            elif old != new and (old in self.words if isinstance(old, str) else self._forbids_token(key)):
                return False
        return True

    def _forbids_token(self, key: str) -> bool:
        return key in self.numbers or (self.others and key not in self.names)


def demands(schema: Any) -> Demands:
    """What an advertised ``schema`` does not let tokens do; it may name more than there is, and never less."""
    if not isinstance(schema, dict):
        return Demands()
    graph = _Graph(schema)
    negative = graph.negative()
    words: set[str] = set()
    names: set[str] = set()
    waiting: list[Path] = []
    for path, node in graph.nodes.items():
        said = [leaf for keyword in ("enum", "const") if keyword in node for leaf in _leaves(node[keyword])]
        words.update(leaf for leaf in said if isinstance(leaf, str))
        names.update(_named(node))
        counted = any(not isinstance(leaf, str | bool) for leaf in said)
        if counted or _widened(node.get("type")) is not None or (path in negative and _tells_numbers(node)):
            waiting.append(path)
    numbers: set[str] = set()
    others = False
    strict: set[Path] = set()
    while waiting:
        path = waiting.pop()
        if path in strict:
            continue
        strict.add(path)
        for edge in graph.into.get(path, ()):
            if edge.reach in (_Reach.SAME, _Reach.NEGATIVE):
                waiting.append(edge.source)
            elif edge.reach is _Reach.NAMED:
                numbers.add(edge.name)
            elif edge.reach is _Reach.OTHER:
                others = True
    if () in strict:
        numbers.add("")
    return Demands(frozenset(numbers), others, frozenset(words), frozenset(names))


def _named(node: Mapping[str, Any]) -> Iterator[str]:
    """Every member name that a schema speaks of."""
    for keyword in ("properties", "dependentSchemas", "dependentRequired", "dependencies"):
        inner = node.get(keyword)
        if isinstance(inner, dict):
            yield from inner
    required = node.get("required")
    if isinstance(required, list):
        yield from (name for name in required if isinstance(name, str))


# -- small decisions -----------------------------------------------------------------------------------


def _kinds(kind: Any) -> set[str]:
    """The types a ``type`` allows; empty for any."""
    if isinstance(kind, str):
        return {kind}
    return {name for name in kind if isinstance(name, str)} if isinstance(kind, list) else set()


def _widened(kind: Any) -> list[Any] | None:
    """A ``type`` for numbers that allows strings too; ``None`` where it does, or speaks of no numbers."""
    kinds = _kinds(kind)
    if "string" in kinds or not kinds & {"integer", "number"}:
        return None
    return [*(kind if isinstance(kind, list) else [kind]), "string"]


def _tells_numbers(node: Mapping[str, Any]) -> bool:
    """Whether a schema judges a number and a string differently."""
    kinds = _kinds(node.get("type"))
    return not _NUMERIC.isdisjoint(node) or (
        not kinds.isdisjoint({"string", "integer", "number"}) and not kinds >= {"string", "number"}
    )


def _leaves(value: Any) -> Iterator[Any]:
    """The strings, numbers and flags of ``value``, keys included."""
    stack = [value]
    while stack:
        node = stack.pop()
        if isinstance(node, dict):
            stack.extend(node)
            stack.extend(node.values())
        elif isinstance(node, list):
            stack.extend(node)
        elif node is not None:
            yield node


def _at(schema: Any, path: Path) -> Any:
    for step in path:
        schema = schema[step]
    return schema


def _base(schema: Any, path: Path) -> Path:
    """Where pointers of the schema at ``path`` start: the schema around it that has an identifier of its own."""
    base: Path = ()
    for depth, step in enumerate(path):
        schema = schema[step]
        if isinstance(schema, dict) and isinstance(schema.get("$id"), str) and not schema["$id"].startswith("#"):
            base = path[: depth + 1]
    return base
