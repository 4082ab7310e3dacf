"""The columns that a table has or had: a place for each in the values of a row, whatever it was called at the time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import LakeError

if TYPE_CHECKING:
    from lakelens.model.schema import Field, Schema
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table


@dataclass(frozen=True, slots=True)
class Slot:
    """One column: its newest field, and the name under which it is shown (`name#id` where it was dropped)."""

    field: Field
    name: str


class Slots:
    """The top-level columns of all schemas; by field id, or by name where a format has no ids."""

    def __init__(self, table: Table) -> None:
        self._is_by_id = table.format_version is not None
        today = {self._key(field): field for field in table.schema.fields}
        known: dict[Any, Field] = {}
        for schema in (*table.schemas, table.schema):
            known |= {self._key(field): field for field in schema.fields}
        ordered = [*today, *(key for key in known if key not in today)]
        self.slots = tuple(
            Slot(known[key], known[key].name if key in today else f"{known[key].name}#{key}")
            for key in ordered
        )
        self._places = {key: place for place, key in enumerate(ordered)}
        self.today = len(today)
        self._schema = table.schema

    def _key(self, field: Field) -> Any:
        return field.id if self._is_by_id else field.name

    @cached_property
    def by_id(self) -> Mapping[int, int]:
        """The place of each column by field id."""
        return {slot.field.id: place for place, slot in enumerate(self.slots)}

    @cached_property
    def by_name(self) -> Mapping[str, int]:
        """The place of each of today's columns by name."""
        return {slot.name: place for place, slot in enumerate(self.slots)}

    def list_names(self, snapshot: Snapshot | None) -> list[tuple[str, int]]:
        """The columns that a reader of a snapshot sees, each under its name then, with its place."""
        schema: Schema = self._schema
        if snapshot is not None:
            try:
                schema = snapshot.schema
            except LakeError:
                schema = self._schema
        keys = ((field.name, self._places.get(self._key(field))) for field in schema.fields)
        return [(name, place) for name, place in keys if place is not None]

    def show(self, values: Sequence[Any], snapshot: Snapshot | None) -> dict[str, Any]:
        """The values of a row under the names of a snapshot's schema."""
        return {name: values[place] for name, place in self.list_names(snapshot)}
