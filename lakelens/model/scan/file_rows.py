"""The files of a set as rows of tables: all of one, some of it, those of several, in any order."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from typing import TYPE_CHECKING, Any

from lakelens.model.scan.file_table import CHUNK, IDENTITY, OWN_SIZE, RowTable
from lakelens.model.scan.files_to_arrow import (
    assemble_batch,
    assemble_table,
    batch_files,
    lay_out,
    list_columns,
    make_request,
)
from lakelens.model.scan.plan import FileBatch, ScanRequest

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileColumns
    from lakelens.model.scan.file_table import Numbers
    from lakelens.model.stats import Partition


class FewFiles(RowTable):
    """Files that were decoded one by one."""

    def __init__(
        self, files: Sequence[DataFile], columns: FileColumns, encode: Callable[..., pa.Array]
    ) -> None:
        self._files = files
        self.columns = columns
        self._encode = encode

    def __len__(self) -> int:
        return len(self._files)

    def load(self, names: Sequence[str]) -> None:
        """Nothing is to be read."""

    def column(self, name: str) -> pa.Array:
        """See `RowTable.column`."""
        import pyarrow as pa

        if name == IDENTITY:
            return self._encode(self._files)
        if name == OWN_SIZE:
            return pa.array([file.own_size_bytes for file in self._files], pa.int64())
        return batch_files(self._files, self.columns, ScanRequest(False, (name,))).plain[name]

    def encode(self, files: Sequence[DataFile]) -> pa.Array:
        """See `RowTable.encode`."""
        return self._encode(files)

    def make(self, number: int) -> DataFile:
        """See `RowTable.make`."""
        return self._files[number]

    def iterate(self, numbers: Numbers | None) -> Iterator[DataFile]:
        """See `RowTable.iterate`."""
        return iter(self._files) if numbers is None else (self._files[number] for number in numbers.tolist())

    def read(self, request: ScanRequest, numbers: Numbers | None) -> Iterator[FileBatch]:
        """See `RowTable.read`."""
        import numpy as np

        chosen = list(self.iterate(None if numbers is None else np.unique(numbers)))
        yield batch_files(chosen, self.columns, request)

    def pair_partitions(self, name: str) -> Iterator[tuple[Any, Partition]]:
        """See `RowTable.pair_partitions`."""
        values = self.column(name).to_pylist()
        partitions = (file.partition for file in self._files)
        return iter(dict.fromkeys(zip(values, partitions, strict=True)))


@dataclass(frozen=True)
class FileRows:
    """Rows of tables, in order: of each the numbers of its rows, None for all."""

    parts: tuple[tuple[RowTable, Numbers | None], ...]

    def __len__(self) -> int:
        return sum(len(table) if numbers is None else len(numbers) for table, numbers in self.parts)

    def __iter__(self) -> Iterator[DataFile]:
        return chain.from_iterable(table.iterate(numbers) for table, numbers in self.parts)

    def load(self, names: Sequence[str]) -> None:
        """Read columns together that will be asked for."""
        for table, _ in self.parts:
            table.load(names)

    def column(self, name: str) -> pa.Array:
        """A column of these rows."""
        import pyarrow as pa

        found = [
            table.column(name) if numbers is None else table.column(name).take(pa.array(numbers))
            for table, numbers in self.parts
        ]
        return found[0] if len(found) == 1 else pa.concat_arrays(found)

    def pick(self, names: Sequence[str]) -> Iterator[tuple[Any, ...]]:
        """Pick the values of some columns, row by row."""
        self.load(names)
        columns = [self.column(name) for name in names]
        for start in range(0, len(self), CHUNK):
            yield from zip(*(column.slice(start, CHUNK).to_pylist() for column in columns), strict=True)

    def make(self, number: int) -> DataFile:
        """Make the file of a row. Raises IndexError."""
        place = number + len(self) if number < 0 else number
        for table, numbers in self.parts if place >= 0 else ():
            count = len(table) if numbers is None else len(numbers)
            if place < count:
                return table.make(place if numbers is None else int(numbers[place]))
            place -= count
        raise IndexError(number)

    def __contains__(self, file: object) -> bool:
        identity, path = getattr(file, "identity", None), getattr(file, "recorded_path", None)
        if identity is None or path is None:
            return False
        import pyarrow.compute as pc

        named_so = self.choose(pc.equal(self.column("recorded_path"), path))
        return any(found.identity == identity for found in named_so)

    def find(self, name: str, path: str) -> DataFile | None:
        """Find the first file whose `path` or `recorded_path` is one."""
        import pyarrow.compute as pc

        place = pc.index(self.column(name), path).as_py()
        return self.make(place) if place >= 0 else None

    @property
    def record_count(self) -> int:
        """See `FileSet.record_count`."""
        import pyarrow.compute as pc

        self.load(["content", "record_count"])
        is_data = pc.equal(self.column("content"), "data")
        return pc.sum(self.column("record_count").filter(is_data)).as_py() or 0

    @property
    def size_bytes(self) -> int:
        """See `FileSet.size_bytes`."""
        import pyarrow.compute as pc

        return pc.sum(self.column(OWN_SIZE)).as_py() or 0

    def take(self, numbers: Numbers | Sequence[int]) -> FileRows:
        """Take the rows of these numbers, in the order of the numbers."""
        import numpy as np

        numbers = np.asarray(numbers, np.int64)
        ends = np.cumsum([len(table) if known is None else len(known) for table, known in self.parts])
        owners = np.searchsorted(ends, numbers, side="right")
        parts: list[tuple[RowTable, Numbers | None]] = []
        for run in np.split(np.arange(len(numbers)), np.flatnonzero(np.diff(owners)) + 1):
            owner = int(owners[run[0]]) if len(run) else 0
            table, known = self.parts[owner]
            own = numbers[run] - (ends[owner - 1] if owner else 0)
            parts.append((table, own if known is None else known[own]))
        return FileRows(tuple(parts))

    def choose(self, mask: Any) -> FileRows:
        """Choose the rows for which an Arrow array of booleans holds; null counts as false."""
        import numpy as np
        import pyarrow.compute as pc

        return self.take(np.flatnonzero(pc.fill_null(mask, False).to_numpy(zero_copy_only=False)))

    def share(self, other: FileRows) -> FileRows:
        """The rows whose file the other rows have too."""
        return self.choose(self._find_common(other)) if len(other) else self.take(())

    def unite(self, other: FileRows) -> FileRows:
        """These rows, then those of the others whose file is not among them."""
        return FileRows((*self.parts, *other.leave_out(self).parts))

    def leave_out(self, other: FileRows) -> FileRows:
        """The rows whose file the other rows do not have."""
        import pyarrow.compute as pc

        return self.choose(pc.invert(self._find_common(other))) if len(other) else self

    def _find_common(self, other: FileRows) -> pa.Array:
        """Find for each row whether the other rows have the same file."""
        import pyarrow.compute as pc

        return pc.is_in(self.column(IDENTITY), value_set=other.column(IDENTITY))

    def encode(self, files: Sequence[DataFile]) -> pa.Array:
        """Encode what distinguishes other files, as the column `IDENTITY` has it."""
        return self.parts[0][0].encode(files)

    @property
    def columns(self) -> FileColumns:
        """The columns of the files as far as they are known by now."""
        return self.parts[0][0].columns

    def read(self, request: ScanRequest) -> Iterator[FileBatch]:
        """Read the rows in batches, those of each table in its own order; read again, and not kept."""
        for table, numbers in self.parts:
            yield from table.read(request, numbers)

    def to_arrow(self, stats: bool, wanted: Sequence[str] | None) -> pa.Table:
        """The rows as `FileSet.to_arrow` has them. Raises KeyError for an unknown column."""
        import pyarrow as pa

        request = make_request(self.columns, stats=stats, wanted=wanted)
        assert request.columns is not None
        plain = list_columns(self.columns, stats=False)
        if all(name in plain for name in request.columns):
            self.load(request.columns)
            schema = lay_out(self.columns, request).schema
            return pa.table([self.column(name) for name in request.columns], schema=schema)
        table = assemble_table(list(self.read(request)), self.columns, request)
        places = self._find_places()
        return table if places is None else table.take(places)

    def stream(self, size: int, stats: bool, wanted: Sequence[str] | None) -> Iterator[pa.RecordBatch]:
        """The rows in record batches of at most `size`, all of one schema. Raises KeyError for an unknown column."""
        request = make_request(self.columns, stats=stats, wanted=wanted)
        layout = lay_out(self.columns, request)
        if self._find_places() is not None:  # in another order than they are read
            yield from self.to_arrow(stats, wanted).to_batches(max_chunksize=size)
            return
        for batch in self.read(replace(request, sparing=True)):
            record_batch = assemble_batch(batch, layout)
            for start in range(0, record_batch.num_rows, size):
                yield record_batch.slice(start, size)

    def _find_places(self) -> pa.Array | None:
        """Find where each row is among those that `read` gives; None where they are in order."""
        import numpy as np
        import pyarrow as pa

        places, begin, is_ordered = [], 0, True
        for table, numbers in self.parts:
            if numbers is None:
                places.append(np.arange(begin, begin + len(table)))
                begin += len(table)
                continue
            known, own = np.unique(numbers, return_inverse=True)
            is_ordered = is_ordered and len(known) == len(numbers) and bool((np.diff(numbers) > 0).all())
            places.append(own + begin)
            begin += len(known)
        return None if is_ordered else pa.array(np.concatenate(places))
