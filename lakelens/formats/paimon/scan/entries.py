"""The entries of manifests by column: fields by name whatever the container, absent ones null."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any

from lakelens.lazy import dataclass
from lakelens.model.scan.columnar import NotColumnar, Part, number_entries, number_parts
from lakelens.model.scan.files_to_arrow import STATS

if TYPE_CHECKING:
    import pyarrow as pa

_FAMILIES = {
    "integer": ("is_integer",),
    "text": ("is_string",),
    "bytes": ("is_binary",),
    "list": ("is_list",),
    "time": ("is_integer", "is_timestamp"),
}


@dataclass(slots=True)
class EntryRows:
    """Some entries of `parts`, in order: those of a `choice` (numbers of rows; None: all of them).

    Fields of an entry and of its `_FILE` go by their own names, those of its statistics by `_VALUE_STATS._MIN_VALUES`.
    """

    parts: Sequence[Part]
    table: pa.Table
    choice: Any = None
    _columns: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return int(self.table.num_rows) if self.choice is None else len(self.choice)

    def choose(self, numbers: Any) -> EntryRows:
        """Choose the rows of these numbers."""
        import numpy as np
        import pyarrow as pa

        numbers = np.asarray(numbers)
        indices = pa.array(numbers)
        chosen = {name: column.take(indices) for name, column in self._columns.items()}
        choice = numbers if self.choice is None else self.choice[numbers]
        return EntryRows(self.parts, self.table, choice, chosen)

    def choose_kind(self, *, is_delete: bool) -> EntryRows:
        """Choose the DELETE entries, or those that are not."""
        import numpy as np

        kinds = self.find("_KIND", "integer").to_numpy(zero_copy_only=False)
        chosen = np.flatnonzero((kinds == 1) == is_delete)
        return self if len(chosen) == len(self) else self.choose(chosen)

    def find(self, name: str, family: str) -> pa.Array:
        """Find a column, of nulls where no manifest has it. Raises `NotColumnar` when its type is of another family."""
        import pyarrow as pa

        if name not in self._columns:
            column = self._reach(name)
            self._columns[name] = column if self.choice is None else column.take(pa.array(self.choice))
        column = self._columns[name]
        if not pa.types.is_null(column.type) and not any(
            getattr(pa.types, check)(column.type) for check in _FAMILIES[family]
        ):
            raise NotColumnar(f"{name} is {column.type}")
        return column

    def find_parts(self) -> Any:
        """For each row the number of its part: a numpy array."""
        every = number_parts(self.parts)
        return every if self.choice is None else every[self.choice]

    def find_order(self) -> pa.Array:
        """Find the place of each entry among all."""
        import pyarrow as pa

        every = number_entries(self.parts)
        return pa.array(every if self.choice is None else every[self.choice])

    def _reach(self, name: str) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        *above, last = name.split(".")
        if not above and _holds(self.table.schema, last):
            return join_chunks(self.table[last])
        if not _holds(self.table.schema, "_FILE"):
            return pa.nulls(self.table.num_rows)
        column = self.table["_FILE"]
        for step in (*above, last):
            if not pa.types.is_struct(column.type) or not _holds(column.type, step):
                return pa.nulls(self.table.num_rows)
            column = pc.struct_field(column, step)
        return join_chunks(column)  # the field alone: the whole record is many times as large


def _holds(fields: pa.Schema | pa.StructType, name: str) -> bool:
    """Check whether there is such a field. Raises `NotColumnar` where there are two: which one is meant the records say."""
    count = len(fields.get_all_field_indices(name))
    if count > 1:
        raise NotColumnar(f"{name} is there {count} times")
    return count == 1


def list_unused(wanted: Collection[str]) -> tuple[str, ...]:
    """List the large fields of a file that no wanted column is made of; none where statistics are wanted.

    >>> list_unused(["path", "min_key"]), list_unused(["path", "null_counts"])
    (('_VALUE_STATS', '_KEY_STATS', '_MAX_KEY'), ())
    """
    if not STATS.keys().isdisjoint(wanted):
        return ()
    used = {f"_{name.upper()}" for name in wanted}
    return tuple(name for name in ("_VALUE_STATS", "_KEY_STATS", "_MIN_KEY", "_MAX_KEY") if name not in used)


def drop_fields(table: pa.Table, names: Collection[str]) -> pa.Table:
    """Entries without some fields of their `_FILE`: statistics that nobody asked for take most of the memory.

    What is kept is copied, because records that were decoded together are also freed together.
    """
    import pyarrow as pa

    place = table.schema.get_field_index("_FILE")
    if not names or place < 0 or not pa.types.is_struct(table.schema.field(place).type):
        return table
    fields = [field for field in table.schema.field(place).type if field.name not in names]

    def keep(chunk: pa.StructArray) -> pa.Array:
        mask = chunk.is_null() if chunk.null_count else None
        return pa.StructArray.from_arrays([chunk.field(f.name) for f in fields], fields=fields, mask=mask)

    kept = pa.chunked_array([keep(chunk) for chunk in table.column(place).chunks], pa.struct(fields))
    table = table.set_column(place, pa.field("_FILE", kept.type), kept)
    copies = [pa.concat_arrays([*column.chunks, pa.nulls(0, column.type)]) for column in table.columns]
    return pa.Table.from_arrays(copies, schema=table.schema)


def cut_parts(parts: Sequence[Part], most: int) -> Iterator[list[Part]]:
    """Consecutive parts of at most that many entries together; a larger one is cut."""
    piece: list[Part] = []
    room = most
    for part in parts:
        done = 0
        while done < part.rows:
            count = min(room, part.rows - done)
            piece.append(replace(part, start=part.start + done, first=part.first + done, rows=count))
            done, room = done + count, room - count
            if not room:
                yield piece
                piece, room = [], most
    if piece:
        yield piece


def count_kinds(rows: EntryRows) -> tuple[int, int]:
    """Count how many ADD and DELETE entries there are. Raises `NotColumnar` for what is no entry of these two kinds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(rows):
        return 0, 0
    kinds, names = rows.find("_KIND", "integer"), rows.find("_FILE_NAME", "text")
    if kinds.null_count or names.null_count or pa.types.is_null(names.type):
        raise NotColumnar("records that are no entries")
    deleted = int(pc.sum(pc.equal(kinds, 1)).as_py())
    added = int(pc.sum(pc.equal(kinds, 0)).as_py())
    if added + deleted < len(rows):
        raise NotColumnar("entries of unknown kinds")
    return added, deleted


def sum_records(rows: EntryRows) -> int:
    """Give the rows of all files together, unknown ones left out."""
    import pyarrow.compute as pc

    return int(pc.sum(rows.find("_ROW_COUNT", "integer")).as_py() or 0)


def join_chunks(column: Any) -> pa.Array:
    """Join a column of a table as one array."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
