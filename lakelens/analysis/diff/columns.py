"""Schemas compared by field id."""

from __future__ import annotations

from collections.abc import Iterator

from lakelens.analysis.diff.diff import SchemaChange
from lakelens.model.schema import Field, Schema


def diff_schemas(before: Schema | None, after: Schema) -> tuple[SchemaChange, ...]:
    """Columns added, dropped, renamed and retyped, nested ones too; the same column is the one with the same field id.

    A change of nullability counts as a change of type: `int not null` to `int`.
    """
    old = dict(_index(before.fields)) if before is not None else {}
    new = dict(_index(after.fields))
    changes = []
    for key, (name, column) in new.items():
        if key not in old:
            changes.append(SchemaChange("added", column.id, name, None, _word(column)))
            continue
        was_name, was = old[key]
        if was.name != column.name:
            changes.append(SchemaChange("renamed", column.id, name, was_name, name))
        if _word(was) != _word(column):
            changes.append(SchemaChange("retyped", column.id, name, _word(was), _word(column)))
    gone = [(name, column) for key, (name, column) in old.items() if key not in new]
    return (
        *changes,
        *(SchemaChange("dropped", column.id, name, _word(column), None) for name, column in gone),
    )


def _index(
    fields: tuple[Field, ...], prefix: str = "", parent: tuple[object, ...] = ()
) -> Iterator[tuple[tuple[object, ...], tuple[str, Field]]]:
    """Every field by what tells it apart: its id in a table or struct, its place in a list or map."""
    for column in fields:
        key = (*parent, column.name) if parent and parent[-1] == "of" else (column.id,)
        name = f"{prefix}{column.name}"
        yield key, (name, column)
        inside = () if column.type.logical == "struct" else (*key, "of")
        yield from _index(column.type.children, f"{name}.", inside)


def _word(column: Field) -> str:
    # the children of a nested type are told on lines of their own
    kind = column.type.logical if column.type.is_nested else str(column.type)
    return kind if column.nullable else f"{kind} not null"
