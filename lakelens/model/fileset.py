"""Sets of files: the live files of a snapshot, what a diff added, what a filter leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import chain
from typing import TYPE_CHECKING, Any

from lakelens.display import Displayable, plot_files
from lakelens.model.datafile import DataFile
from lakelens.model.schema import DataType

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa
    from matplotlib.figure import Figure

    from lakelens.model.scan.plan import FileScan

Columns = tuple[tuple[str, DataType], ...]


@dataclass(frozen=True)
class FileColumns:
    """Which columns a table's files have when they are shown as Arrow.

    `stats` are the leaf columns of today's schema by full name, `dropped` those of older schemas as `name#id` (shown only
    where a file still has bounds for them), `partition` the fields of every partitioning, `further` the format's own.
    """

    stats: Columns = ()
    dropped: Columns = ()
    partition: Columns = ()
    further: Columns = ()


class FileSet(Displayable):
    """Files, each once by `DataFile.identity`, in a stable order. Read when first looked at."""

    def __init__(
        self,
        load: Callable[[], Iterable[DataFile]],
        columns: Callable[[], FileColumns],
        scan: Callable[[], FileScan | None] | None = None,
    ) -> None:
        self._load = load
        self._load_columns = columns
        self._plan_scan = scan

    @cached_property
    def _files(self) -> dict[Hashable, DataFile]:
        return {found.identity: found for found in self._load()}

    @cached_property
    def columns(self) -> FileColumns:
        """The columns that `to_arrow` gives beyond the common ones."""
        return self._load_columns()

    @cached_property
    def _scan(self) -> FileScan | None:
        """How the files are read by column, where there are enough for this to be faster."""
        scan = None if self._plan_scan is None else self._plan_scan()
        if scan is None:
            return None
        from lakelens.model.scan.scan_to_arrow import is_worthwhile

        return scan if is_worthwhile(scan) else None

    @property
    def is_loaded(self) -> bool:
        """Whether the files were looked at before, so that looking again reads nothing."""
        return "_files" in self.__dict__

    def __len__(self) -> int:
        return len(self._files)

    def __iter__(self) -> Iterator[DataFile]:
        return iter(self._files.values())

    def __getitem__(self, key: int | str) -> DataFile:
        """A file by position, or by path (where it is now, or as recorded).

        Raises
        ------
        IndexError, KeyError
            There is no such file.
        """
        if isinstance(key, int):
            return list(self._files.values())[key]
        for found in self:
            if key in (found.path, found.recorded_path):
                return found
        raise KeyError(key)

    def __contains__(self, item: object) -> bool:
        if isinstance(item, DataFile):
            return item.identity in self._files
        return any(item in (found.path, found.recorded_path) for found in self)

    def __repr__(self) -> str:
        return f"<FileSet {len(self)} files, {self.record_count} rows, {self.size_bytes} bytes>"

    @property
    def record_count(self) -> int:
        """Rows of the data files; delete files and unknown counts are not added."""
        return sum(f.record_count or 0 for f in self if f.content == "data")

    @property
    def size_bytes(self) -> int:
        """Bytes of all files; a vector counts its own bytes, not its Puffin file's."""
        return sum(f.own_size_bytes or 0 for f in self)

    def __and__(self, other: FileSet) -> FileSet:
        return self._derive(lambda: [f for f in self if f.identity in other._files])

    def __or__(self, other: FileSet) -> FileSet:
        return self._derive(lambda: [*self, *(f for f in other if f.identity not in self._files)])

    def __sub__(self, other: FileSet) -> FileSet:
        return self._derive(lambda: [f for f in self if f.identity not in other._files])

    def where(self, predicate: Callable[[DataFile], bool] | None = None, **equal: Any) -> FileSet:
        """The files for which `predicate` holds and whose attributes equal the given values.

        Parameters
        ----------
        predicate
            A function of a file; None chooses by attributes alone.
        equal
            Values of attributes of `DataFile`; `partition` may be text (`day=2024-01-01`).

        Returns
        -------
        FileSet
            The chosen files in the same order; they are chosen when they are first looked at.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").files.where(lambda file: file.record_count > 1, content="data")
        <FileSet 2 files, 20 rows, 1913 bytes>
        """

        def matches(found: DataFile) -> bool:
            for name, wanted in equal.items():
                value = getattr(found, name)
                if value != wanted and not (name == "partition" and str(value) == wanted):
                    return False
            return predicate is None or predicate(found)

        return self._derive(lambda: [f for f in self if matches(f)])

    def to_arrow(self, stats: bool = True, columns: Iterable[str] | None = None) -> pa.Table:
        """One row per file: the columns that all formats have, bounds and counts, then the format's own.

        Parameters
        ----------
        stats
            Whether to decode bounds and counts: structs of the leaf columns, `lower_bounds` to `column_sizes`.
        columns
            The names of the wanted columns, in the wanted order; None for all.

        Returns
        -------
        pyarrow.Table
            Of dropped columns (`name#id`) the bounds and counts have those that some file has anything for.

        Raises
        ------
        KeyError
            There is no such column.
        LakeError
            The files cannot be read at all.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").files.to_arrow(columns=["path", "record_count"]).shape
        (7, 2)
        """
        wanted = None if columns is None else list(columns)
        if self._scan is not None:
            from lakelens.model.scan.scan_to_arrow import read_table

            if (table := read_table(self._scan, stats, wanted)) is not None:
                return table
        from lakelens.model.scan.files_to_arrow import build_table

        return build_table(list(self), self.columns, stats=stats, wanted=wanted)

    def to_pandas(self, stats: bool = True, columns: Iterable[str] | None = None) -> pd.DataFrame:
        """`to_arrow` as a pandas DataFrame.

        Parameters
        ----------
        stats, columns
            As for `to_arrow`.
        """
        frame: pd.DataFrame = self.to_arrow(stats, columns).to_pandas()
        return frame

    def to_polars(self, stats: bool = True, columns: Iterable[str] | None = None) -> Any:
        """`to_arrow` as a polars DataFrame; needs polars.

        Parameters
        ----------
        stats, columns
            As for `to_arrow`.
        """
        import polars

        return polars.from_arrow(self.to_arrow(stats, columns))

    def batches(
        self, size: int = 4096, stats: bool = True, columns: Iterable[str] | None = None
    ) -> Iterator[pa.RecordBatch]:
        """`to_arrow` in record batches, one at a time; nothing is kept.

        Parameters
        ----------
        size
            The most files in one batch.
        stats, columns
            As for `to_arrow`.

        Yields
        ------
        pyarrow.RecordBatch
            All batches have one schema: bounds and counts have every known dropped column.

        Raises
        ------
        KeyError
            There is no such column.
        """
        wanted = None if columns is None else list(columns)
        if self._scan is not None:
            from lakelens.model.scan.scan_to_arrow import stream_batches

            return stream_batches(self._scan, size, stats, wanted)
        from lakelens.model.scan.files_to_arrow import iterate_tables

        source: Iterable[DataFile] = self if self.is_loaded else self._load()
        return iterate_tables(source, self.columns, size=size, stats=stats, wanted=wanted)

    def to_reader(
        self, size: int = 4096, stats: bool = True, columns: Iterable[str] | None = None
    ) -> pa.RecordBatchReader:
        """`batches` as a reader that knows its schema before the first of them; few files come in one `to_arrow`.

        Parameters
        ----------
        size, stats, columns
            As for `batches`.

        Returns
        -------
        pyarrow.RecordBatchReader
            The batches, read while they are taken.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").files.to_reader(columns=["path", "level"]).read_all().num_rows
        7
        """
        import pyarrow as pa

        wanted = None if columns is None else list(columns)
        if self._scan is not None:
            batches = self.batches(size, stats, wanted)
            first = next(batches, None)
            if first is not None:
                return pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
        return self.to_arrow(stats, wanted).to_reader(max_chunksize=size)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        # a consumer that takes batch after batch never holds all of a large table
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Figure:
        """Plot these files: how many have which size, and bytes, files and rows by partition, bucket and level.

        Of more than 50 partitions or buckets the largest are shown and the others become one bar.

        Parameters
        ----------
        figsize
            Width and height in inches.

        Returns
        -------
        matplotlib.figure.Figure
            The figure; sizes are bytes in binary units.

        Raises
        ------
        Unsupported
            Matplotlib is not installed.

        Examples
        --------
        >>> import lakelens as ll
        >>> [axes.get_xlabel() for axes in ll.sample("paimon").files.plot().axes]
        ['file size (binary units)', 'bytes (binary units)']
        """
        return plot_files(self, figsize)

    def _derive(self, load: Callable[[], Iterable[DataFile]]) -> FileSet:
        return FileSet(load, lambda: self.columns)
