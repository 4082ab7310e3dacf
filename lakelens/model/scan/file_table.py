"""All files of a scan as a table: its columns are read when they are first asked for, and kept within a bound.

A `FileRow` is one row, of which a format makes its `DataFile` when somebody looks at it; how, its `FileReader` knows.
"""

from __future__ import annotations

import weakref
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from copy import copy
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.lazy import dataclass
from lakelens.model.scan.plan import ORDER_BITS, FileBatch, FileScan, ScanRequest, ScanTask

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.comparison import FileCounts
    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileColumns, FileSet
    from lakelens.model.scan.scan_to_arrow import Begun, Repeats
    from lakelens.model.stats import Partition

    Numbers = NDArray[np.int64]

#: Bytes of columns that a table keeps; those that were not asked for lately go first.
KEPT_BYTES = 256 * 1024 * 1024
#: What distinguishes the files, and the number of each file's `Partition`: columns that no one sees.
IDENTITY, PARTITION = "#identity", "#partition"
OWN_SIZE = "own_size_bytes"
_VECTOR_SIZE = "content_size_in_bytes"
# few different texts: kept as numbers
_CODED = ("content", "file_format", "manifest")
_FEW = 300_000  # files of which all facts are read at once: they take some hundred bytes each
CHUNK = 8_192
_VIEWS = 256
_NOTHING = ScanRequest(stats=False, columns=())


class FileReader(ABC):
    """How a format reads the files of a set where they are many."""

    @property
    @abstractmethod
    def tasks(self) -> Sequence[ScanTask]:
        """The manifests of the set, by which it is known whether there are many; nothing else is read for that."""

    @abstractmethod
    def measure(self) -> tuple[ScanTask, ...]:
        """The same manifests with the bytes that they have where they are, which whoever writes a list may get wrong."""

    @abstractmethod
    def plan(self) -> FileScan:
        """How they are read by column; made from manifest lists alone."""

    @abstractmethod
    def view(self, row: FileRow) -> DataFile:
        """The file of a row: nothing is read for it."""

    def see(self, found: DataFile) -> DataFile:
        """A file that was decoded alone, as the state sees it: with its deletes."""
        return found

    def first(self) -> Iterator[DataFile]:
        """The files one by one, each decoded alone, from the first manifest on; none where all must be read for that."""
        return iter(())

    def count(self) -> FileCounts | None:
        """Count how many files and rows there are as the lists record it; None where they do not."""
        return None

    @abstractmethod
    def conclude(self, files: FileSet) -> None:
        """Keep as findings what is odd about all of the files together."""


@dataclass(frozen=True, slots=True)
class FileRow:
    """One file of a table: `task` is the position of its manifest in the scan, `entry` its number there."""

    table: FileTable
    number: int

    @property
    def task(self) -> int:
        """The position of its manifest in the order of the scan."""
        return int(self.table.order[self.number]) >> ORDER_BITS

    @property
    def entry(self) -> int:
        """The number of its entry in the manifest."""
        return int(self.table.order[self.number]) & ((1 << ORDER_BITS) - 1)

    def find(self, name: str) -> Any:
        """Find the value of a column that was read already. Raises KeyError for any other."""
        return self.table.find_value(name, self.number)

    def load(self, name: str) -> Any:
        """Load the value of a column, which is read for all files if it was not yet."""
        self.table.load([name])
        return self.find(name)


class RowTable(ABC):
    """Files by column, and each as an object."""

    columns: FileColumns

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def load(self, names: Sequence[str]) -> None:
        """Read columns together that will be asked for."""

    @abstractmethod
    def column(self, name: str) -> pa.Array:
        """A column of all files."""

    @abstractmethod
    def encode(self, files: Sequence[DataFile]) -> pa.Array:
        """What distinguishes other files, as the column `IDENTITY` has it."""

    @abstractmethod
    def make(self, number: int) -> DataFile:
        """One file."""

    @abstractmethod
    def iterate(self, numbers: Numbers | None) -> Iterator[DataFile]:
        """Some files, None for all, in this order."""

    @abstractmethod
    def read(self, request: ScanRequest, numbers: Numbers | None) -> Iterator[FileBatch]:
        """Some files, None for all, in the order of the table; read again, and not kept."""

    @abstractmethod
    def pair_partitions(self, name: str) -> Iterator[tuple[Any, Partition]]:
        """Pair the values of a column with the partitions of the files that have them; each pair comes once."""


_MUCH_BYTES = 16 * 1024 * 1024
# those that keep more than that, and were not looked for yet
_MUCH: weakref.WeakSet[FileTable] = weakref.WeakSet()


def _forget_left() -> None:
    """Let go what a table keeps that nobody holds: it is a circle of objects, and Python may look for it much later."""
    if _MUCH:
        import gc

        gc.collect()
        _MUCH.clear()


class FileTable(RowTable):
    """All files of a scan."""

    def __init__(self, scan: FileScan, reader: FileReader) -> None:
        self.scan = scan
        self.reader = reader
        self._columns: dict[str, pa.Array] = {}
        self.begun: Begun = {}
        self._partitions: list[Partition] = []
        self._singles: dict[int, DataFile] = {}
        self._found_twice = False
        self._is_open: bool | None = None
        self._alive: weakref.WeakValueDictionary[int, DataFile] = weakref.WeakValueDictionary()
        self._latest: deque[DataFile] = deque(maxlen=_VIEWS)

    @property
    def columns(self) -> FileColumns:  # type: ignore[override]
        """As far as is known by now."""
        return self.scan.columns

    def open(self) -> bool:
        """Read what the files are; False where a file stands in it twice, which only the record path can merge."""
        if self._is_open is None:
            self.read_all()
            self._is_open = not self._found_twice and self.scan.conclude()
        return self._is_open

    def open_with(self, request: ScanRequest) -> list[FileBatch] | None:
        """Read in one pass what the files are and what is asked of them.

        None where what is asked has to be read once more: a file stands in the table twice, or manifests had columns that
        were not known when the pass began, so that its batches do not have the same ones.
        """
        known = self.columns
        batches = self.read_all(request)
        self._is_open = not self._found_twice and self.scan.conclude()
        return batches if self._is_open and self.columns == known else None

    @cached_property
    def is_large(self) -> bool:
        """Whether all facts of all files are too much to keep; of a few hundred thousand files they are read at once."""
        return sum(task.entries or 0 for task in self.scan.tasks) > _FEW

    def read_all(self, request: ScanRequest = _NOTHING) -> list[FileBatch]:
        """Read what the files are, and in the same pass what is asked of them."""
        import pyarrow as pa

        from lakelens.model.scan.scan_to_arrow import has_repeats

        facts = () if self.is_large else (*self.scan.facts, IDENTITY)
        names = tuple(dict.fromkeys((*self.scan.totals, PARTITION, *facts)))
        settle = self._drop_identity if self.is_large else None
        _forget_left()
        batches = self._read((*names, IDENTITY), settle, request)
        found: Numbers = _join([batch.order for batch in batches], pa.int64()).to_numpy()
        self.order = found
        self._keep(names, batches)
        number = 0
        for batch in batches:
            self._singles.update(enumerate(batch.files, number))
            number += batch.rows
        self._found_twice = self._found_twice or (
            not self.is_large and has_repeats([one.identity for one in batches])
        )
        if sum(column.nbytes for column in self._columns.values()) > _MUCH_BYTES:
            _MUCH.add(self)
        return batches

    def _drop_identity(self, batch: FileBatch) -> FileBatch:
        """Drop a batch without what distinguishes its files, after they were compared with those before."""
        assert batch.identity is not None
        self._found_twice = self._found_twice or not self._repeats.find_new(batch.identity).all()
        return replace(batch, identity=None)

    @cached_property
    def _repeats(self) -> Repeats:
        from lakelens.model.scan.scan_to_arrow import Repeats

        return Repeats()

    def seen_by(self, reader: FileReader) -> FileTable:
        """The same files, made by another reader."""
        seen = copy(self)
        seen.reader, seen._alive = reader, weakref.WeakValueDictionary()
        return seen

    def __len__(self) -> int:
        return len(self.order)

    def load(self, names: Sequence[str]) -> None:
        """See `RowTable.load`."""
        wanted = (name for name in names if name not in self.scan.absent)
        needed = {part for name in wanted for part in _need(name, self.columns)}
        missing = tuple(sorted(needed - self._columns.keys()))
        if missing:
            self._keep(missing, self._read(missing), needed)

    def column(self, name: str) -> pa.Array:
        """See `RowTable.column`."""
        import pyarrow as pa

        from lakelens.model.scan.files_to_arrow import type_column

        if name in self.scan.absent:
            return pa.nulls(len(self), type_column(name, self.columns))
        self.load([name])
        if name == OWN_SIZE:
            return _measure_own(self)
        if name == "partition":
            return pa.array(map(str, self._partitions), pa.string()).take(self._columns[PARTITION])
        found = self._columns.pop(name)
        self._columns[name] = found  # the one asked for last is the last to go
        return found.dictionary_decode() if pa.types.is_dictionary(found.type) else found

    def pair_partitions(self, name: str) -> Iterator[tuple[Any, Partition]]:
        """See `RowTable.pair_partitions`."""
        import numpy as np
        import pyarrow.compute as pc

        self.load([name, "partition"])
        encoded = pc.dictionary_encode(self.column(name))
        places = self._columns[PARTITION].to_numpy()
        pairs = encoded.indices.to_numpy().astype(np.int64) * len(self._partitions) + places
        values = encoded.dictionary.to_pylist()
        for pair in np.unique(pairs).tolist():
            value, partition = divmod(pair, len(self._partitions))
            yield values[value], self._partitions[partition]

    def find_value(self, name: str, number: int) -> Any:
        """Find the value of a column that was read already. Raises KeyError for any other."""
        return None if name in self.scan.absent else self._columns[name][number].as_py()

    def make(self, number: int) -> DataFile:
        """See `RowTable.make`. The same object as long as somebody holds it; those asked for last are kept."""
        found = self._alive.get(number)
        if found is None:
            found = self._alive[number] = self._make(number)
        self._latest.append(found)
        return found

    def iterate(self, numbers: Numbers | None) -> Iterator[DataFile]:
        """See `RowTable.iterate`."""
        import numpy as np

        places = np.arange(len(self)) if numbers is None else numbers
        if not self.is_large:
            yield from self._iterate_kept(places)
        elif (np.diff(places) > 0).all():
            yield from self._iterate_read(places, numbers is None)
        else:  # in another order than they are read
            ordered = np.unique(places)
            made = dict(zip(ordered.tolist(), self._iterate_read(ordered, False), strict=True))
            yield from map(made.__getitem__, places.tolist())

    def _iterate_kept(self, places: Numbers) -> Iterator[DataFile]:
        """Files whose facts are kept."""
        names = [*self.scan.facts, PARTITION]
        self.load(names)
        columns = [self.column(name) for name in names]
        for start in range(0, len(places), CHUNK):
            chosen = places[start : start + CHUNK]
            *facts, partitions = (column.take(chosen).to_pylist() for column in columns)
            yield from self._fill(chosen, facts, [self._partitions[partition] for partition in partitions])

    def _iterate_read(self, places: Numbers, is_all: bool) -> Iterator[DataFile]:
        """Files in the order of the table, whose facts are read for this alone."""
        request = ScanRequest(False, self.scan.facts, partitions=True)
        done = 0
        for batch in self.read(request, None if is_all else places):
            found, codes = batch.partitions or ((), ())
            facts = [batch.plain[name].to_pylist() for name in self.scan.facts]
            chosen = places[done : done + batch.rows]
            yield from self._fill(chosen, facts, [found[code.as_py()] for code in codes])
            done += batch.rows

    def _fill(
        self, places: Numbers, facts: Sequence[Sequence[Any]], partitions: Sequence[Partition]
    ) -> Iterator[DataFile]:
        """Files with facts that are known of them: by name a value for each."""
        names = (*self.scan.facts, "partition")
        columns = [
            [tuple(value) if isinstance(value, list) else value for value in column]
            if list in set(map(type, column))
            else column
            for column in facts
        ]
        for place, *values in zip(places.tolist(), *columns, partitions, strict=True):
            known = self._alive.get(place)
            made = self._make(place) if known is None else known
            if known is not None and place not in self._singles:  # what a file knows already stays
                made.__dict__.update(dict(zip(names, values, strict=True)) | made.__dict__)
            elif place not in self._singles:
                made.__dict__.update(zip(names, values, strict=True))
            yield made

    def read(self, request: ScanRequest, numbers: Numbers | None) -> Iterator[FileBatch]:
        """See `RowTable.read`: only the manifests that hold some of the files."""
        import numpy as np
        import pyarrow as pa

        from lakelens.model.scan.files_to_arrow import STATS
        from lakelens.model.scan.scan_to_arrow import iterate_batches

        if numbers is None:
            yield from self._read_again(request)
            return
        if not len(numbers):
            return
        orders = np.sort(self.order[numbers])
        positions = set(np.unique(orders >> ORDER_BITS).tolist())
        scan = self.scan.with_tasks([task for task in self.scan.tasks if task.position in positions])
        if self.columns.dropped and any(name in STATS for name in request.columns or ()):
            # only all of them together show which dropped columns the chosen files have anything for
            request = replace(request, columns=tuple(dict.fromkeys((*(request.columns or ()), *STATS))))
        for batch in iterate_batches(scan, request.with_identity()):
            assert batch.order is not None
            own = batch.order.to_numpy()
            kept = (
                orders[np.searchsorted(orders[:-1], own)] == own
            )  # np.isin sorts or hashes all of them each time
            if kept.any():
                yield batch if kept.all() else batch.filter(pa.array(kept))

    def _read_again(self, request: ScanRequest) -> Iterator[FileBatch]:
        """Read all files; their partitions, which are kept, are not made once more."""
        import numpy as np
        import pyarrow as pa

        from lakelens.model.scan.scan_to_arrow import iterate_batches

        kept = self._columns.get(PARTITION) if request.partitions else None
        if kept is None:
            yield from iterate_batches(self.scan, request)
            return
        done = 0
        for batch in iterate_batches(self.scan, replace(request, partitions=False)):
            known, codes = np.unique(kept.slice(done, batch.rows).to_numpy(), return_inverse=True)
            found = [self._partitions[number] for number in known.tolist()]
            yield replace(batch, partitions=(found, pa.array(codes, pa.int64())))
            done += batch.rows

    def encode(self, files: Sequence[DataFile]) -> pa.Array:
        """See `RowTable.encode`."""
        return self.scan.encode(files)

    def _make(self, number: int) -> DataFile:
        single = self._singles.get(number)
        return self.reader.view(FileRow(self, number)) if single is None else self.reader.see(single)

    def _read(
        self,
        names: Sequence[str],
        settle: Callable[[FileBatch], FileBatch] | None = None,
        request: ScanRequest = _NOTHING,
    ) -> list[FileBatch]:
        """Read one pass for some columns and a request. What an interrupt leaves behind, the next try goes on from."""
        from lakelens.model.scan.scan_to_arrow import read_batches

        plain = (name for name in names if not name.startswith("#"))
        request = replace(
            request,
            columns=tuple(dict.fromkeys((*plain, *(request.columns or ())))),
            identity=IDENTITY in names,
            partitions=request.partitions or PARTITION in names,
        )
        return read_batches(self.scan, request, self.begun, settle)

    def _keep(self, names: Sequence[str], batches: Sequence[FileBatch], needed: Collection[str] = ()) -> None:
        import pyarrow as pa

        from lakelens.model.scan.files_to_arrow import type_column

        for name in names:
            if name == IDENTITY:
                self._columns[name] = _join([batch.identity for batch in batches], pa.binary())
            elif name == PARTITION:
                self._columns[name] = self._number_partitions(batches)
            else:
                pieces, kind = [batch.plain[name] for batch in batches], type_column(name, self.columns)
                self._columns[name] = _code(pieces, kind) if name in _CODED else _join(pieces, kind)
        spare = iter([name for name in self._columns if name not in names and name not in needed])
        while sum(column.nbytes for column in self._columns.values()) > KEPT_BYTES:
            oldest = next(spare, None)
            if oldest is None:
                break
            del self._columns[oldest]

    def _number_partitions(self, batches: Sequence[FileBatch]) -> pa.Array:
        """For each file the number of its partition; equal ones are one object."""
        import pyarrow as pa

        known: dict[Partition, int] = {}
        pieces = []
        for batch in batches:
            found, codes = batch.partitions or ([], pa.nulls(0, pa.int64()))
            numbers = [known.setdefault(partition, len(known)) for partition in found]
            pieces.append(pa.array(numbers, pa.int32()).take(codes))
        self._partitions[:] = known  # in place: a table that was seen by another reader has the same
        return _join(pieces, pa.int32())


def _need(name: str, columns: FileColumns) -> tuple[str, ...]:
    """The columns that one is worked out from."""
    if name == "partition":
        return (PARTITION,)
    if name != OWN_SIZE:
        return (name,)
    has_vectors = any(further == _VECTOR_SIZE for further, _ in columns.further)
    return ("size_bytes", _VECTOR_SIZE) if has_vectors else ("size_bytes",)


def _measure_own(table: FileTable) -> pa.Array:
    """Measure the bytes that are a file's own: of a vector its blob's."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = _need(OWN_SIZE, table.columns)
    whole = table.column(names[0])
    if len(names) == 1:
        return whole
    part = table.column(names[1])
    part = pc.if_else(pc.not_equal(part, 0), part, pa.scalar(None, pa.int64()))
    return pc.coalesce(part, whole)


def _join(pieces: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Arrays of one type end to end, as one."""
    import pyarrow as pa

    if not pieces:
        return pa.nulls(0, kind)
    return pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)


def _code(pieces: Sequence[Any], kind: pa.DataType) -> pa.Array:
    """Texts as one array of numbers and the different texts."""
    import pyarrow as pa

    coded = [piece.dictionary_encode() for piece in pieces] or [pa.nulls(0, kind).dictionary_encode()]
    return pa.chunked_array(coded).unify_dictionaries().combine_chunks()
