"""The entries of manifests by column: fields by name whatever the container, absent ones null."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.errors import Unsupported

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.scan.plan import ScanTask

_FAMILIES = {
    "integer": "is_integer",
    "text": "is_string",
    "bytes": "is_binary",
    "list": "is_list",
    "struct": "is_struct",
}


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive entries of one manifest: from `start`, as many as `table` has."""

    task: ScanTask
    table: pa.Table
    start: int = 0

    @property
    def rows(self) -> int:
        """How many entries."""
        return int(self.table.num_rows)

    @property
    def span(self) -> tuple[int, int, int]:
        """Where they are: the position of the task, the number of the first, how many."""
        return self.task.position, self.start, self.rows


@dataclass(slots=True)
class EntryRows:
    """Some entries of `parts`, in order: those of a `choice` (numbers of rows; None: all of them).

    Fields of an entry and of its `_FILE` go by their own names, those of its statistics by `_VALUE_STATS._MIN_VALUES`.
    """

    parts: Sequence[Part]
    choice: Any = None
    _columns: dict[str, Any] = field(default_factory=dict)

    def __len__(self) -> int:
        return sum(part.rows for part in self.parts) if self.choice is None else len(self.choice)

    def choose(self, numbers: Any) -> EntryRows:
        """The rows of these numbers."""
        import numpy as np
        import pyarrow as pa

        numbers = np.asarray(numbers)
        indices = pa.array(numbers)
        chosen = {name: column.take(indices) for name, column in self._columns.items()}
        return EntryRows(self.parts, numbers if self.choice is None else self.choice[numbers], chosen)

    def find(self, name: str, family: str) -> pa.Array:
        """A column, of nulls where no manifest has it. Raises `Unsupported` when its type is of another family."""
        import pyarrow as pa

        if name not in self._columns:
            self._columns[name] = self._join([self._reach(part.table, name) for part in self.parts])
        column = self._columns[name]
        if pa.types.is_null(column.type):
            return column
        if family == "time" and (pa.types.is_integer(column.type) or pa.types.is_timestamp(column.type)):
            return column
        if family != "time" and getattr(pa.types, _FAMILIES[family])(column.type):
            return column
        raise Unsupported(f"{name} of the type {column.type} is not read by column")

    def spread(self, values: Any) -> Any:
        """One value for each part, as a numpy array with one for each row."""
        import numpy as np

        every = np.repeat(np.asarray(values), [part.rows for part in self.parts])
        return every if self.choice is None else every[self.choice]

    def find_numbers(self) -> Any:
        """The number of each entry in its manifest."""
        import numpy as np

        every = np.concatenate([np.arange(p.start, p.start + p.rows, dtype=np.int64) for p in self.parts])
        return every if self.choice is None else every[self.choice]

    def _reach(self, table: pa.Table, name: str) -> pa.Array:
        import pyarrow as pa
        import pyarrow.compute as pc

        *above, last = name.split(".")
        if last in table.column_names and not above:
            return join_chunks(table[last])
        if "_FILE" not in table.column_names:
            return pa.nulls(table.num_rows)
        column = table["_FILE"]
        for step in (*above, last):
            if not pa.types.is_struct(column.type) or column.type.get_field_index(step) < 0:
                return pa.nulls(table.num_rows)
            column = pc.struct_field(column, step)
        return join_chunks(column)  # the field alone: the whole record is many times as large

    def _join(self, columns: Sequence[pa.Array]) -> pa.Array:
        import pyarrow as pa

        kinds = {column.type for column in columns if not pa.types.is_null(column.type)}
        if len(kinds) > 1:
            raise Unsupported(f"manifests of different types: {sorted(map(str, kinds))}")
        if kinds:
            (kind,) = kinds
            columns = [column if column.type == kind else pa.nulls(len(column), kind) for column in columns]
        joined = columns[0] if len(columns) == 1 else pa.concat_arrays(columns)
        return joined if self.choice is None else joined.take(pa.array(self.choice))


def make_part(task: ScanTask) -> Part:
    """The part of a manifest of which nothing can be read."""
    import pyarrow as pa

    return Part(task, pa.table({}))


def cut_parts(parts: Sequence[Part], most: int) -> Iterator[list[Part]]:
    """Consecutive parts of at most so many entries together; a larger one is cut."""
    piece: list[Part] = []
    room = most
    for part in parts:
        done = 0
        while done < part.rows:
            count = min(room, part.rows - done)
            piece.append(Part(part.task, part.table.slice(done, count), part.start + done))
            done, room = done + count, room - count
            if not room:
                yield piece
                piece, room = [], most
    if piece:
        yield piece


def count_kinds(rows: EntryRows) -> tuple[int, int]:
    """How many ADD and DELETE entries there are. Raises `Unsupported` for what is no entry of these two kinds."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if not len(rows):
        return 0, 0
    kinds, names = rows.find("_KIND", "integer"), rows.find("_FILE_NAME", "text")
    if kinds.null_count or names.null_count or pa.types.is_null(names.type):
        raise Unsupported("records that are no entries")
    deleted = int(pc.sum(pc.equal(kinds, 1)).as_py())
    added = int(pc.sum(pc.equal(kinds, 0)).as_py())
    if added + deleted < len(rows):
        raise Unsupported("entries of unknown kinds")
    return added, deleted


def join_chunks(column: Any) -> pa.Array:
    """A column of a table as one array."""
    import pyarrow as pa

    if not isinstance(column, pa.ChunkedArray):
        return column
    if column.num_chunks == 1:
        return column.chunk(0)
    return pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
