"""Columns and partition fields compared by id."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar

from lakelens.display import Displayable
from lakelens.model.collections import Items
from lakelens.model.facts.facts import Fact
from lakelens.model.schema import Field, PartitionSpec, Schema

Kind = Literal["added", "dropped", "renamed", "retyped", "changed"]


@dataclass(frozen=True, slots=True)
class FieldChange(Displayable):
    """One field that changed: `kind`, its field id (None where the format has none), its name today, before and after."""

    kind: Kind
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
    make: Callable[[Kind, int | None, str, str | None, str | None], Change],
    altered: Kind,
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
