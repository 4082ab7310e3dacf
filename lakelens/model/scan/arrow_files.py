"""The ways of a set of files into Arrow: one table, batches, a reader, and the libraries that take those."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import chain
from typing import TYPE_CHECKING, Any, cast

from lakelens.display import call
from lakelens.model.arrow import to_pandas, to_polars

if TYPE_CHECKING:
    import pandas as pd
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileColumns, HeldFiles
    from lakelens.model.scan.file_rows import FileRows
    from lakelens.model.scan.file_table import FileTable
    from lakelens.model.scan.plan import FileBatch, FileScan, ScanRequest
    from lakelens.views.render.plot import Plot


class ArrowFiles:
    """What `FileSet` gives to others."""

    if TYPE_CHECKING:
        _load: Callable[[], Iterable[DataFile]]
        _choose: Callable[[], HeldFiles] | None

        @property
        def _held(self) -> HeldFiles: ...
        @property
        def columns(self) -> FileColumns: ...
        @property
        def rows(self) -> FileRows | None: ...
        @property
        def is_loaded(self) -> bool: ...
        @property
        def _table(self) -> FileTable: ...
        @property
        def _scan(self) -> FileScan | None: ...
        def __iter__(self) -> Iterator[DataFile]: ...
        def iterate_batches(self, request: ScanRequest) -> Iterator[FileBatch]: ...

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
        if not self.is_loaded and self._scan is not None and (stats or wanted is None):
            from lakelens.model.scan.scan_to_arrow import read_table

            table = read_table(self._scan, stats, wanted, self._table.begun)
            if table is not None and table.num_rows:  # whether none is right is found out below
                return table
        return self._held.to_arrow(stats, wanted)

    def read_batches(self, request: ScanRequest) -> list[FileBatch]:
        """Read the files by column, each once: in one pass also where nobody has looked at them yet."""
        if not self.is_loaded and self._scan is not None:
            from lakelens.model.scan.scan_to_arrow import has_repeats, read_batches

            batches = read_batches(self._scan, request.with_identity(), self._table.begun)
            if not has_repeats([batch.identity for batch in batches]) and self._scan.conclude():
                return batches
        return list(self.iterate_batches(request))

    def to_pandas(self, stats: bool = True, columns: Iterable[str] | None = None) -> pd.DataFrame:
        """`to_arrow` as a pandas DataFrame.

        Parameters
        ----------
        stats, columns
            As for `to_arrow`.
        """
        return to_pandas(self.to_arrow(stats, columns))

    def to_polars(self, stats: bool = True, columns: Iterable[str] | None = None) -> Any:
        """`to_arrow` as a polars DataFrame; needs polars.

        Parameters
        ----------
        stats, columns
            As for `to_arrow`.
        """
        return to_polars(self.to_arrow(stats, columns))

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
        if self._choose is not None or self.is_loaded:
            return self._held.stream(size, stats, wanted)
        from lakelens.model.scan.files_to_arrow import iterate_tables

        return iterate_tables(self._load(), self.columns, size=size, stats=stats, wanted=wanted)

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
        if self._scan is not None or (self._choose is not None and self.rows is not None):
            batches = self.batches(size, stats, wanted)
            first = next(batches, None)
            if first is not None:
                return pa.RecordBatchReader.from_batches(first.schema, chain([first], batches))
        return self.to_arrow(stats, wanted).to_reader(max_chunksize=size)

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        # a consumer that takes batch after batch never holds all of a large table
        return self.to_reader().__arrow_c_stream__(requested_schema)

    def pick(self, *names: str) -> Iterator[tuple[Any, ...]]:
        """Pick the values of some columns of `to_arrow`, file by file, without making the files.

        Parameters
        ----------
        names
            Columns without bounds and counts; `own_size_bytes` too. A partition is text.

        Examples
        --------
        >>> import lakelens as ll
        >>> [rows for content, rows in ll.sample("iceberg").files.pick("content", "record_count") if content == "data"]
        [1, 1, 1, 10, 10]
        """
        return self._held.pick(names)

    def plot(self, *, figsize: tuple[float, float] | None = None) -> Plot:
        """Plot these files: how many have which size, and bytes, files and rows by partition, bucket and level.

        Of more than 50 partitions or buckets the largest are shown and the others become one bar.

        Parameters
        ----------
        figsize
            Width and height in inches.

        Returns
        -------
        Plot
            It shows itself, light or dark; `figure` is matplotlib's, `save(path)` writes it. Sizes are in binary units.

        Raises
        ------
        Unsupported
            Matplotlib is not installed.

        Examples
        --------
        >>> import lakelens as ll
        >>> [axes.get_xlabel() for axes in ll.sample("paimon").files.plot().figure.axes]
        ['file size (binary units)', 'bytes (binary units)']
        """
        return cast("Plot", call("views.render.plots:plot_files", self, figsize))


def pick(files: ArrowFiles | Iterable[DataFile], *names: str) -> Iterator[tuple[Any, ...]]:
    """`FileSet.pick` of a set, and the same of files that are none."""
    if isinstance(files, ArrowFiles):
        yield from files.pick(*names)
        return
    from lakelens.model.scan.files_to_arrow import COMMON

    common = {*COMMON, "own_size_bytes"}
    for file in files:
        values = [getattr(file, name) if name in common else file.further(name) for name in names]
        yield tuple(
            str(value) if name == "partition" else value for name, value in zip(names, values, strict=True)
        )
