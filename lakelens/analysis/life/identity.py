"""By what a row of one version is known to be the row of another: a key, a row id, or what the predicate names."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal

from lakelens.analysis.life.following import freeze
from lakelens.display import Named
from lakelens.model.predicate import Condition, Group, Term

if TYPE_CHECKING:
    from lakelens.analysis.life.slots import Slots
    from lakelens.model.life.merging import Record
    from lakelens.model.table import Table


@dataclass(frozen=True)
class Identity(Named):
    """What identifies a row: the kind, the columns, and the places of their values."""

    kind: Literal["primary key", "identifier fields", "row id", "predicate", "values"]
    columns: tuple[str, ...]
    places: tuple[int, ...]

    @property
    def is_tracked(self) -> bool:
        """Whether versions that do not fit the predicate belong to the row too, and can be looked for."""
        return self.kind in ("primary key", "identifier fields")

    @property
    def follows(self) -> bool:
        """Whether a row is known to be gone when no later version is found: else a later one may not fit the predicate."""
        return self.is_tracked or self.kind == "row id"

    @property
    def words(self) -> str:
        """In words."""
        columns = ", ".join(self.columns)
        return {
            "primary key": f"by primary key ({columns})",
            "identifier fields": f"by identifier fields ({columns})",
            "row id": "by row id (row lineage)",
            "predicate": f"by what the predicate names ({columns}): the table has no key",
            "values": "by all values alone: the table has no key, and the predicate names no single value",
        }[self.kind]

    def identify(self, record: Record) -> Hashable:
        """What is equal for versions of one row."""
        if self.kind == "row id":
            return record.row_id
        return tuple(freeze(record.values[place]) for place in self.places)


def choose_identity(table: Table, slots: Slots, condition: Condition, *, has_row_ids: bool) -> Identity:
    """The strongest identity that a table has."""
    names = tuple(name for name in table.schema.identifier_names if name in slots.by_name)
    if names:
        kind: Literal["primary key", "identifier fields"] = "identifier fields"
        if getattr(table, "primary_keys", None):
            kind = "primary key"
        return Identity(kind, names, tuple(slots.by_name[name] for name in names))
    if has_row_ids:
        return Identity("row id", (), ())
    parts = condition.parts if isinstance(condition, Group) and condition.kind == "and" else (condition,)
    equal = [part.column for part in parts if isinstance(part, Term) and part.test in ("=", "in")]
    found = tuple(dict.fromkeys(name for name in equal if name in slots.by_name))
    if found:
        return Identity("predicate", found, tuple(slots.by_name[name] for name in found))
    return Identity("values", (), tuple(range(slots.today)))
