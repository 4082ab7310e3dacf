"""Row positions of position delete files and deletion vectors, decoded.

Follows "Position Delete Files" of the Iceberg table specification (columns `file_path` and `pos`, by their reserved ids)
and "deletion-vector-v1" of the Puffin specification. A position delete file is read once for all data files that it
names; what breaks the rules of order and range is a finding, and is read all the same.
"""

from __future__ import annotations

from array import array
from collections.abc import Hashable, Iterable, Mapping
from itertools import pairwise
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from lakelens.codecs.compression import take_budget
from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.access import LruCache
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.deletes.equality import DataKeys, KeyColumn, KeySet, format_keys, read_keys
from lakelens.formats.iceberg.deletes.stored_columns import StoredColumns, view_numbers
from lakelens.formats.iceberg.manifests.contents import find_content, read_vector
from lakelens.formats.iceberg.metadata.columns import DELETE_FILE_PATH, DELETE_POS
from lakelens.installed import has_arrays
from lakelens.io.ahead import fetch_files_along

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.bitmaps import BitMap64, FrozenBitMap64
    from lakelens.formats.iceberg.deletes.plain_keys import PlainDataKeys
    from lakelens.formats.iceberg.deletes.stored_columns import StoredColumn
    from lakelens.formats.iceberg.deletes.stored_rows import StoredRows
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile

_KEPT_ROWS = (
    1 << 24
)  # how many deletes of decoded files and vectors are kept for the next look, of two bytes each
_GROUPED_ROWS = 1 << 20
_IN_RANGES = 8  # positions to a range, from which they are added by ranges
_DATA = 1 << 22  # what an open data file counts for: a few of them are kept


class DeleteReader:
    """Decodes the deletes of one table; the files decoded last are kept, for one file may delete from many."""

    def __init__(self, context: TableContext) -> None:
        self.context = context
        self._kept = LruCache[Hashable, tuple[int, Any]](_KEPT_ROWS, weigh=itemgetter(0))

    def fetch(self, files: Iterable[IcebergDataFile]) -> None:
        """Read the first of some delete files together, as many as are kept, where each request waits for a network."""

        def place(file: IcebergDataFile) -> tuple[str, int | None]:
            return file.path, file.file_size_in_bytes

        next(fetch_files_along(self.context.access.store, files, place, whole=True), None)

    def read_vector(self, delete: IcebergDataFile) -> FrozenBitMap64:
        """The positions in a deletion vector. Another number of them than recorded is a finding. Raises `LakeError`."""
        key = ("vector", delete.file_path, delete.content_offset, delete.content_size_in_bytes)
        found: FrozenBitMap64 = self._kept.get(key, lambda: self._decode_vector(delete))[1]
        return found

    def _decode_vector(self, delete: IcebergDataFile) -> tuple[int, FrozenBitMap64]:
        from lakelens.bitmaps import FrozenBitMap64

        path, kind = find_content(self.context, delete)
        if kind != "puffin":
            raise Unsupported("a deletion vector outside of a Puffin file", path=path)
        positions = read_vector(self.context, delete, path)
        if delete.record_count is not None and len(positions) != delete.record_count:
            at, recorded = delete.content_offset, delete.record_count
            message = f"the manifest says {recorded} rows, the vector at {at} has {len(positions)}"
            self.context.findings.add("warning", "deletion-vector-count", path, message)
        return 1024 + (delete.content_size_in_bytes or 0) // 2, FrozenBitMap64(positions)

    def read_positions(self, delete: IcebergDataFile, data: IcebergDataFile) -> FrozenBitMap64:
        """Read the positions that a position delete file has for a data file, wherever that is now. Raises `LakeError`."""
        from lakelens.bitmaps import BitMap64, FrozenBitMap64

        by_path = self.read_all_positions(delete)
        name, locate = _base(data.file_path), self.context.access.locator.locate
        named = [
            positions
            for path, positions in by_path.items()
            if path == data.file_path or (_base(path) == name and locate(path) == data.path)
        ]
        if len(named) == 1:
            return FrozenBitMap64(named[0])
        return FrozenBitMap64(BitMap64.union(*named)) if named else FrozenBitMap64()

    def read_all_positions(self, delete: IcebergDataFile) -> Mapping[str, BitMap64]:
        """Read every position of a position delete file, by the path that it names. Raises `LakeError`."""
        key = ("positions", delete.file_path)
        found: Mapping[str, BitMap64] = self._kept.get(key, lambda: self._decode_positions(delete))[1]
        return found

    def read_values(
        self, delete: IcebergDataFile, columns: tuple[KeyColumn, ...]
    ) -> tuple[tuple[Any, ...], ...]:
        """Read the rows of an equality delete file as Python values. Raises `LakeError`."""
        path, kind = find_content(self.context, delete)
        if not has_arrays():
            from lakelens.formats.iceberg.deletes.plain_keys import format_plain_keys, read_plain_keys

            return format_plain_keys(columns, read_plain_keys(self.context, columns, path, kind))
        return format_keys(columns, read_keys(self.context, columns, path, kind))

    def find_equal(
        self, delete: IcebergDataFile, columns: tuple[KeyColumn, ...], data: IcebergDataFile
    ) -> FrozenBitMap64:
        """Find the rows of a data file that an equality delete file hits; reads both. Raises `LakeError`."""
        from lakelens.bitmaps import FrozenBitMap64

        _, keys = self._kept.get(("keys", delete.file_path), lambda: self._decode_keys(delete, columns))
        key = ("rows", data.file_path, *(column.id for column in columns))
        _, rows = self._kept.get(key, lambda: (_DATA, self._open_rows(data, columns)))
        return FrozenBitMap64(rows.find(keys))

    def _open_rows(self, data: IcebergDataFile, columns: tuple[KeyColumn, ...]) -> DataKeys | PlainDataKeys:
        place = find_content(self.context, data)
        if has_arrays():
            return DataKeys(self.context, data, columns, *place)
        from lakelens.formats.iceberg.deletes.plain_keys import PlainDataKeys

        return PlainDataKeys(self.context, data, columns, *place)

    def _decode_keys(
        self, delete: IcebergDataFile, columns: tuple[KeyColumn, ...]
    ) -> tuple[int, KeySet | frozenset[tuple[Any, ...]]]:
        path, kind = find_content(self.context, delete)
        if not has_arrays():
            from lakelens.formats.iceberg.deletes.plain_keys import read_plain_keys

            keys = read_plain_keys(self.context, columns, path, kind)
            return len(keys), frozenset(keys)
        arrays = read_keys(self.context, columns, path, kind)
        return len(arrays[0]), KeySet(arrays)

    def _decode_positions(self, delete: IcebergDataFile) -> tuple[int, dict[str, BitMap64]]:
        path, kind = find_content(self.context, delete)
        grouping = _Grouping(path)
        if not has_arrays():
            _group_plain(self.context, path, kind, grouping)
            self._note(grouping, delete, path)
            return grouping.weigh(), grouping.by_path
        stored = StoredColumns(self.context, path, kind)
        for paths, positions in stored.batches(_find_columns(stored, path)):
            grouping.add(paths, positions)
        grouping.group()
        self._note(grouping, delete, path)
        return grouping.weigh(), grouping.by_path

    def _note(self, grouping: _Grouping, delete: IcebergDataFile, path: str) -> None:
        """Keep what the writer did wrong as findings."""
        findings = self.context.findings
        if grouping.is_unsorted:
            findings.add("note", "unsorted-deletes", path, "deletes are not sorted by file_path and pos")
        distinct = sum(len(positions) for positions in grouping.by_path.values())
        if distinct != grouping.rows:
            message = f"{grouping.rows - distinct} of {grouping.rows} deletes are repeated"
            findings.add("note", "repeated-deletes", path, message)
        if delete.record_count is not None and delete.record_count != grouping.rows:
            message = f"the manifest says {delete.record_count} deletes, the file has {grouping.rows}"
            findings.add("warning", "record-count", path, message)


class _Grouping:
    """Positions by path, as the batches of one delete file come in; many batches are grouped in one go."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rows = 0
        self.by_path: dict[str, BitMap64] = {}
        self.is_unsorted = False
        self._most = take_budget("max_deletes")
        self._numbers: dict[str, int] = {}  # a number for each path, in the order in which they were found
        self._pending: list[tuple[NDArray[np.int64], NDArray[np.int64]]] = []
        self._waiting = 0
        self._last: tuple[str, int] = ("", -1)

    def add(self, paths: pa.Array, positions: pa.Array) -> None:
        """Add a batch. Raises `Corrupt` for values that are not paths or positions."""
        import numpy as np
        import pyarrow as pa

        codes, names = self._encode(paths)
        try:
            rows = view_numbers(positions.cast(pa.int64()))
        except (pa.ArrowException, ValueError) as error:
            raise Corrupt("positions that are not numbers", path=self.path, seen=positions.type) from error
        if positions.null_count or (len(rows) and int(rows.min()) < 0):
            bad = "null" if positions.null_count else int(rows.min())
            raise Corrupt("not a position", path=self.path, expected="0 or more", seen=bad)
        self.count(len(rows))
        numbers = np.array([self._numbers.setdefault(name, len(self._numbers)) for name in names], np.int64)
        if len(rows):
            self._pending.append((numbers[codes], rows))
            self._waiting += len(rows)
        if self._waiting >= _GROUPED_ROWS:
            self.group()

    def count(self, rows: int) -> None:
        """Count some more. Raises `Unsupported` beyond the budget."""
        self.rows += rows
        if self.rows > self._most:
            message = f"{self.rows:,} position deletes or more in one file, at most {self._most:,} are read"
            raise Unsupported(message, path=self.path, hint=self._most.advice)

    def group(self) -> None:
        """Bring the rows of each path together; those that wait for it."""
        import numpy as np

        from lakelens.bitmaps import BitMap64

        if not self._pending:
            return
        paths, rows = (np.concatenate(parts) for parts in zip(*self._pending, strict=True))
        self._pending, self._waiting = [], 0
        names = list(self._numbers)
        self._check_order(paths, rows, names)
        if self.is_unsorted:
            order = np.argsort(paths, kind="stable")
            paths, rows = paths[order], rows[order]
        bounds = _find_bounds(paths)
        for start, end in pairwise(bounds):
            _add_rows(self.by_path.setdefault(names[int(paths[start])], BitMap64()), rows[start:end])

    def weigh(self) -> int:
        """Weigh how many rows take as much memory: those of a dense bitmap take a bit each, or less."""
        dense = sum(4096 * (int(found.max() >> 16) + 1) for found in self.by_path.values() if found)
        return min(self.rows, dense) + 100 * len(self.by_path)

    def _check_order(self, paths: NDArray[np.int64], rows: NDArray[np.int64], names: list[str]) -> None:
        """Check whether they still ascend by path and position: looked at until they do not."""
        import numpy as np

        if self.is_unsorted:
            return
        bounds = _find_bounds(paths)
        steps = np.diff(rows) < 0
        steps[np.array(bounds[1:-1], np.int64) - 1] = False  # another path begins again at 0
        seen = [self._last[0], *(names[int(paths[start])] for start in bounds[:-1])]
        begins_below = seen[0] == seen[1] and int(rows[0]) < self._last[1]
        self.is_unsorted = begins_below or bool(steps.any()) or any(a > b for a, b in pairwise(seen))
        self._last = (seen[-1], int(rows[-1]))

    def _encode(self, paths: pa.Array) -> tuple[Any, list[str]]:
        import pyarrow as pa

        try:
            array = (
                paths if pa.types.is_dictionary(paths.type) else paths.cast(pa.string()).dictionary_encode()
            )
            names = array.dictionary.cast(pa.string()).to_pylist()
        except (pa.ArrowException, UnicodeDecodeError) as error:
            raise Corrupt("paths that are not text", path=self.path, seen=error) from error
        if array.null_count or None in names:
            raise Corrupt("a position delete without a path", path=self.path)
        return view_numbers(array.indices.cast(pa.int64())), names


def _find_columns(stored: StoredColumns | StoredRows, path: str) -> list[StoredColumn]:
    """Find the columns of paths and positions, by id or else by name. Raises `Corrupt`."""
    columns = [stored.find(DELETE_FILE_PATH), stored.find(DELETE_POS)]
    if columns[0] is None or columns[1] is None:
        columns = [stored.named("file_path"), stored.named("pos")]
    if columns[0] is None or columns[1] is None:
        raise Corrupt("a position delete file without its columns", path=path, expected="file_path and pos")
    return [columns[0], columns[1]]


def _group_plain(context: TableContext, path: str, kind: str, grouping: _Grouping) -> None:
    """Group the positions of a file without arrays, row by row. Raises `LakeError`."""
    from lakelens.bitmaps import BitMap64, RangeSet
    from lakelens.formats.iceberg.deletes.stored_rows import StoredRows

    stored = StoredRows(context, path, kind)
    columns = _find_columns(stored, path)
    rows: dict[str, list[int]] = {}
    last: tuple[str, int] = ("", -1)
    for named, row in stored.iterate(columns):
        if not isinstance(named, str):
            wrong = "a position delete without a path" if named is None else "paths that are not text"
            raise Corrupt(wrong, path=path, seen=named)
        if not isinstance(row, int | None):
            raise Corrupt("positions that are not numbers", path=path, seen=type(row).__name__)
        if row is None or row < 0:
            seen = "null" if row is None else row
            raise Corrupt("not a position", path=path, expected="0 or more", seen=seen)
        grouping.count(1)
        grouping.is_unsorted |= (named, row) < last
        last = (named, row)
        rows.setdefault(named, []).append(row)
    for named, found in rows.items():
        positions = grouping.by_path.setdefault(named, BitMap64())
        ranges = list(RangeSet(found).pairs())
        breaks = sum(later - earlier != 1 for earlier, later in pairwise(found))
        if _IN_RANGES * breaks < len(found):  # as `_add_rows` adds them
            for start, end in ranges:
                positions.add_range(start, end + 1)
        else:
            positions.update(found)


def _add_rows(found: BitMap64, rows: NDArray[np.int64]) -> None:
    """Adds positions: those that follow each other as ranges, which costs nothing however many they are."""
    import numpy as np

    ends = np.nonzero(np.diff(rows) != 1)[0] + 1
    if _IN_RANGES * len(ends) < len(rows):
        for start, end in pairwise((0, *ends.tolist(), len(rows))):
            found.add_range(int(rows[start]), int(rows[end - 1]) + 1)
    else:
        numbers = array("Q")  # which pyroaring takes as it is; of numpy it takes one number at a time
        numbers.frombytes(rows.astype(np.uint64).tobytes())
        found.update(numbers)


def _find_bounds(paths: NDArray[np.int64]) -> list[int]:
    """Find where each stretch of one path begins, and the end."""
    import numpy as np

    return [0, *(np.nonzero(np.diff(paths))[0] + 1).tolist(), len(paths)]


def _base(path: str) -> str:
    return path.rpartition("/")[2]
