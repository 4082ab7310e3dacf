"""JSON documents compared place by place."""

from __future__ import annotations

import dataclasses
import json
import re
from collections.abc import Callable, Hashable, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, Self, TypeVar

from lakelens.display import Displayable
from lakelens.lazy import dataclass
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.facts.traits import UNKNOWN, Place, Vocabulary
from lakelens.model.schema import Field, PartitionSpec, Schema

# what identifies the items of a list, tried in this order
_IDENTIFIERS = (
    "snapshot-id", "schema-id", "spec-id", "order-id", "metadata-file", "field-id", "id", "key-id", "name",
)  # fmt: skip
_DEEPEST = 64  # deeper values are compared as a whole: no document of a format is as deep
_PLAIN = re.compile(r"[A-Za-z_][\w-]*\Z")
Kind = Literal["added", "removed", "changed"]


@dataclass(frozen=True, slots=True)
class JsonChange(Displayable):
    """One place of a JSON document that changed: `path` (`$.refs.main`), `kind`, the old and the new value.

    `place` are the keys and positions that lead to it in the newer document, in the older one where it was removed.

    >>> print(JsonChange("$.last-updated-ms", "changed", 1, 2))
    $.last-updated-ms: 1 → 2
    """

    path: str
    kind: Kind
    before: Any = None
    after: Any = None
    place: Place = dataclasses.field(default=(), compare=False, repr=False, kw_only=True)
    vocabulary: Vocabulary = dataclasses.field(default=UNKNOWN, compare=False, repr=False, kw_only=True)

    def __str__(self) -> str:
        before = "absent" if self.kind == "added" else _dump(self.before)
        after = "absent" if self.kind == "removed" else _dump(self.after)
        return f"{self.path}: {before} → {after}"


class JsonChanges(Items[JsonChange]):
    """The places where two JSON documents differ, in the order of the newer one, removed places last.

    `documents` are the two, `vocabulary` is what their format says of their keys.
    """

    __slots__ = ("documents", "vocabulary")
    facts = (
        Fact("path"),
        Fact("kind"),
        Fact("before", "string", lambda change: None if change.kind == "added" else _dump(change.before)),
        Fact("after", "string", lambda change: None if change.kind == "removed" else _dump(change.after)),
    )

    def __init__(
        self,
        changes: Iterable[JsonChange] = (),
        documents: tuple[Any, Any] = (None, None),
        vocabulary: Vocabulary = UNKNOWN,
    ) -> None:
        super().__init__(changes)
        self.documents = documents
        self.vocabulary = vocabulary

    def _like(self, held: Sequence[Any]) -> Self:
        return type(self)(held, self.documents, self.vocabulary)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (tuple(self), self.documents, self.vocabulary)

    def __repr__(self) -> str:
        return f"<JsonChanges {len(self)} {'place' if len(self) == 1 else 'places'}>"


@dataclass(frozen=True, slots=True)
class Neighbours:
    """Changes that are said in one line: one place, or items that stand side by side in a list and all came, or all went.

    `path` is where, without the `$.`; `words` says what came or went, as the format words it, empty where the values speak
    for themselves.
    """

    path: str
    place: Place
    changes: tuple[JsonChange, ...]
    words: str = ""

    @property
    def kind(self) -> Kind:
        """What happened to all of them."""
        return self.changes[0].kind


def join_neighbours(changes: Sequence[JsonChange]) -> list[Neighbours]:
    """Join the changes line by line; what was added to a list, or removed from it, is one line however many items it is.

    >>> changes = diff_json({"log": [{"at": 1}]}, {"log": [{"at": 1}, {"at": 2}, {"at": 3}]})
    >>> [(line.path, len(line.changes)) for line in join_neighbours(changes)]
    [('log[1…2]', 2)]
    """
    groups: list[list[JsonChange]] = []
    for change in changes:
        if groups and _is_next(groups[-1][-1], change):
            groups[-1].append(change)
        else:
            groups.append([change])
    documents = changes.documents if isinstance(changes, JsonChanges) else (None, None)
    return [_join(group, documents) for group in groups]


def _is_next(last: JsonChange, change: JsonChange) -> bool:
    """Check whether a change is of the item that follows in the same list, and of the same kind."""
    if change.kind != last.kind or change.kind == "changed" or not change.place or not last.place:
        return False
    step, before = change.place[-1], last.place[-1]
    is_neighbour = isinstance(step, int) and isinstance(before, int) and step == before + 1
    return is_neighbour and change.place[:-1] == last.place[:-1]


def _join(changes: Sequence[JsonChange], documents: tuple[Any, Any]) -> Neighbours:
    first, last = changes[0], changes[-1]
    place, words = first.place, ""
    is_item = bool(place) and isinstance(place[-1], int)
    path = first.path
    if is_item and first.kind != "changed":
        end = f"…{last.place[-1]}" if len(changes) > 1 else ""
        above = "".join(f"[{step}]" if isinstance(step, int) else _step(step) for step in place[:-1])
        path = f"{above}[{place[-1]}{end}]"
    if first.kind != "changed":
        held = [change.after if change.kind == "added" else change.before for change in changes]
        words = first.vocabulary.words(place, held, documents[1 if first.kind == "added" else 0])
        words = words or (f"{len(held):,} items" if len(held) > 1 else "")
    return Neighbours(path.removeprefix("$").removeprefix(".") or "$", place, tuple(changes), words)


def diff_json(before: Any, after: Any, path: str = "$") -> JsonChanges:
    """The places where two JSON documents differ, in the order of the newer one, removed places last.

    Items of a list of objects are matched by their id (`snapshot-id`, `schema-id`, …) where all have one, else by
    position. A subtree that is new or gone is one change.

    Parameters
    ----------
    before, after
        Two documents, as `json.loads` gives them, or as tables have them (`table.metadata`, `snapshot.raw`).
    path
        What the paths of the changes begin with.

    Returns
    -------
    JsonChanges
        The changes: a sequence with a card, in which times have their clock beside them.

    Examples
    --------
    >>> for change in diff_json({"a": 1, "refs": {}}, {"a": 2, "refs": {"main": {"snapshot-id": 7}}}):
    ...     print(change)
    $.a: 1 → 2
    $.refs.main: absent → {"snapshot-id": 7}
    """
    return diff_documents(before, after, path, find_vocabulary(after, before))


def find_vocabulary(*documents: Any) -> Vocabulary:
    """Find what the format of some documents says of their keys, by the first of them that knows its format."""
    known = (getattr(document, "vocabulary", None) for document in documents)
    return next((one for one in known if one is not None), UNKNOWN)


def diff_documents(before: Any, after: Any, path: str, vocabulary: Vocabulary) -> JsonChanges:
    """`diff_json` of documents whose format says what their keys mean."""
    comparison = _Comparison(vocabulary)
    return JsonChanges(comparison.compare(before, after, path, ()), (before, after), vocabulary)


@dataclass(frozen=True, slots=True)
class _Comparison:
    vocabulary: Vocabulary

    def compare(self, before: Any, after: Any, path: str, place: Place) -> Iterator[JsonChange]:
        if len(place) > _DEEPEST:
            if not _is_equal(before, after):
                yield self._make(path, "changed", before, after, place)
        elif isinstance(before, dict) and isinstance(after, dict):
            yield from self._compare_objects(before, after, path, place)
        elif isinstance(before, list) and isinstance(after, list):
            old, new, name = _match_items(before, after)
            for position, (key, value) in enumerate(new.items()):
                inner, step = (*place, position), f"{path}[{name}{key}]"
                if key in old:
                    yield from self.compare(old[key], value, step, inner)
                else:
                    yield self._make(step, "added", None, value, inner)
            for position, (key, value) in enumerate(old.items()):
                if key not in new:
                    yield self._make(f"{path}[{name}{key}]", "removed", value, None, (*place, position))
        elif type(before) is not type(after) or before != after:
            yield self._make(path, "changed", before, after, place)

    def _compare_objects(
        self, before: dict[str, Any], after: dict[str, Any], path: str, place: Place
    ) -> Iterator[JsonChange]:
        for key, value in after.items():
            inner, step = (*place, key), path + _step(key)
            if key in before:
                yield from self.compare(before[key], value, step, inner)
            else:
                yield self._make(step, "added", None, value, inner)
        for key, value in before.items():
            if key not in after:
                yield self._make(path + _step(key), "removed", value, None, (*place, key))

    def _make(self, path: str, kind: Kind, before: Any, after: Any, place: Place) -> JsonChange:
        return JsonChange(path, kind, before, after, place=place, vocabulary=self.vocabulary)


def _is_equal(before: Any, after: Any) -> bool:
    """Check whether two values are the same, however deep they are."""
    pairs = [(before, after)]
    while pairs:
        one, other = pairs.pop()
        if type(one) is not type(other):
            return False
        if isinstance(one, dict):
            if one.keys() != other.keys():
                return False
            pairs.extend((value, other[key]) for key, value in one.items())
        elif isinstance(one, list):
            if len(one) != len(other):
                return False
            pairs.extend(zip(one, other, strict=True))
        elif one != other:
            return False
    return True


def _match_items(before: list[Any], after: list[Any]) -> tuple[Mapping[Any, Any], Mapping[Any, Any], str]:
    """Match the items of both lists by what identifies them, and what stands before that in a path."""
    for name in _IDENTIFIERS:
        old, new = _index_by(before, name), _index_by(after, name)
        if old is not None and new is not None:
            return old, new, f"{name}="
    return dict(enumerate(before)), dict(enumerate(after)), ""


def _index_by(items: list[Any], name: str) -> dict[Any, Any] | None:
    """The items by one of their keys, None unless every item has it, as a plain value of its own."""
    if not all(isinstance(item, dict) and isinstance(item.get(name), int | str) for item in items):
        return None
    indexed = {item[name]: item for item in items}
    return indexed if len(indexed) == len(items) else None


def _step(key: str) -> str:
    return f".{key}" if _PLAIN.match(key) else f"[{_dump(key)}]"


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, default=str)


# Columns and partition fields compared by id.

FieldKind = Literal["added", "dropped", "renamed", "retyped", "changed"]


@dataclass(frozen=True, slots=True)
class FieldChange(Displayable):
    """One field that changed: `kind`, its field id (None where the format has none), its name today, before and after."""

    kind: FieldKind
    field_id: int | None
    name: str
    before: str | None = None
    after: str | None = None

    @property
    def words(self) -> str:
        """What happened to it, without its name: `int became long`, `was note`."""
        if self.kind == "renamed":
            return f"was {self.before}"
        if self.kind in ("retyped", "changed"):
            return f"{self.before} became {self.after}"
        return str(self.after if self.kind == "added" else self.before)

    def __str__(self) -> str:
        return f"{self.name} {self.kind}: {self.words}"


class SchemaChange(FieldChange):
    """One column that was added, dropped, renamed or retyped.

    >>> print(SchemaChange("retyped", 3, "total", "int", "long"))
    total retyped: int became long
    """

    __slots__ = ()


class PartitioningChange(FieldChange):
    """One part of the partitioning that was added, dropped, renamed or changed; Paimon's number of buckets is `bucket`.

    >>> print(PartitioningChange("added", 1001, "id_bucket", None, "bucket[4](id)"))
    id_bucket added: bucket[4](id)
    """

    __slots__ = ()


Change = TypeVar("Change", bound=FieldChange)


class FieldChanges(Items[Change]):
    """What changed in the columns of a schema, or in the fields of a partitioning."""

    __slots__ = ()
    facts = (Fact("kind"), Fact("name"), Fact("field_id", "int64"), Fact("before"), Fact("after"))


class _Compared(NamedTuple):
    """A field as it is compared: `name` is its own, `path` the one that is shown, `value` what makes it another one."""

    id: int | None
    name: str
    path: str
    value: str
    text: str


def diff_schemas(before: Schema | None, after: Schema) -> FieldChanges[SchemaChange]:
    """Columns added, dropped, renamed and retyped, nested ones too; the same column is the one with the same field id.

    A change of nullability counts as a change of type: `int not null` to `int`.
    """
    old = dict(_index_columns(before.fields)) if before is not None else {}
    return FieldChanges(_compare(SchemaChange, "retyped", old, dict(_index_columns(after.fields))))


def diff_partitioning(
    before: PartitionSpec | None,
    after: PartitionSpec | None,
    old_options: Mapping[str, str] | None = None,
    new_options: Mapping[str, str] | None = None,
) -> FieldChanges[PartitioningChange]:
    """Partition fields added, dropped, renamed and changed; the same field is the one with the same field id.

    Where the format gives fields no id, it is the one with the same source column. The options are those of Paimon's
    schemas: their number of buckets is compared too.
    """
    changes = list(_compare(PartitioningChange, "changed", _index_spec(before), _index_spec(after)))
    if old_options is not None and new_options is not None:
        buckets = [
            f"{o.get('bucket') or 'the default number of'} buckets" for o in (old_options, new_options)
        ]
        if buckets[0] != buckets[1]:
            changes.append(PartitioningChange("changed", None, "bucket", *buckets))
    return FieldChanges(changes)


def _compare(
    make: Callable[[FieldKind, int | None, str, str | None, str | None], Change],
    altered: FieldKind,
    old: Mapping[Hashable, _Compared],
    new: Mapping[Hashable, _Compared],
) -> Iterator[Change]:
    for key, field in new.items():
        was = old.get(key)
        if was is None:
            yield make("added", field.id, field.path, None, field.text)
            continue
        if was.name != field.name:
            yield make("renamed", field.id, field.path, was.path, field.path)
        if was.value != field.value:
            yield make(altered, field.id, field.path, was.text, field.text)
    for key, field in old.items():
        if key not in new:
            yield make("dropped", field.id, field.path, field.text, None)


def _index_columns(
    fields: Sequence[Field], prefix: str = "", parent: tuple[object, ...] = ()
) -> Iterator[tuple[Hashable, _Compared]]:
    """Every field by what identifies it: its id in a table or struct, its place in a list or map."""
    for column in fields:
        key = (*parent, column.name) if parent and parent[-1] == "of" else (column.id,)
        path = f"{prefix}{column.name}"
        # the children of a nested type have lines of their own
        kind = column.type.logical if column.type.is_nested else str(column.type)
        text = kind if column.nullable else f"{kind} not null"
        yield key, _Compared(column.id, column.name, path, text, text)
        inside = () if column.type.logical == "struct" else (*key, "of")
        yield from _index_columns(column.type.children, f"{path}.", inside)


def _index_spec(spec: PartitionSpec | None) -> dict[Hashable, _Compared]:
    """The fields by what identifies them. A field of transform void is what version 1 leaves of a dropped one."""
    return {
        field.source_name if field.field_id is None else field.field_id: _Compared(
            field.field_id, field.name, field.name, field.transform, str(field)
        )
        for field in spec or ()
        if field.transform != "void"
    }
