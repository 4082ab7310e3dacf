"""A Parquet file in memory, of which rows are read as Arrow, or in plain Python where Arrow is not: none that would become
too much is decoded."""

from __future__ import annotations

import io
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.parquet.footer import decode_footer
from lakelens.codecs.parquet.records import check_claims, count_batch_rows
from lakelens.codecs.parquet.rows import iterate_rows
from lakelens.codecs.parquet.schema_tree import decode_tree
from lakelens.errors import Corrupt, LakeError
from lakelens.installed import has_arrays

if TYPE_CHECKING:
    import pyarrow as pa
    import pyarrow.parquet as pq

_FEW_ROWS = 200


class OpenedParquet:
    """The bytes of a Parquet file, opened: `structs` are its top-level columns that are structs, `what` it is for errors."""

    what = "file"

    def __init__(self, data: bytes, path: str) -> None:
        """Raises `LakeError` for what is no Parquet file, and for one that claims more than it can be."""
        self.path, self.size_bytes = path, len(data)
        footer = decode_footer(io.BytesIO(data), path)
        check_claims(data, footer, path)
        self.row_count = footer.num_rows
        self._batch_rows = count_batch_rows(footer)
        self._data, self._footer = data, footer
        self.columns = decode_tree(footer).children
        self.names = [column.name for column in self.columns]
        self.structs = [column.name for column in self.columns if column.kind == "struct"]
        #: Whether its rows are read in plain Python: few are read sooner than Arrow is loaded.
        self.is_plain = self.row_count <= _FEW_ROWS or not has_arrays()

    @cached_property
    def _file(self) -> pq.ParquetFile:
        import pyarrow as pa
        import pyarrow.parquet as pq

        return pq.ParquetFile(pa.BufferReader(self._data), coerce_int96_timestamp_unit="us")

    @property
    def schema(self) -> pa.Schema:
        """Its schema as Arrow has it. Raises `LakeError` for one that Arrow does not read."""
        with self.refuse():
            return self._file.schema_arrow

    def iterate(
        self, columns: Sequence[str], groups: Sequence[int] | None = None
    ) -> Iterator[tuple[int, pa.RecordBatch]]:
        """Iterate some columns in batches, each with the number of its first row. Raises `LakeError` for damage.

        A column with a point is a field of one. `groups` are row groups (None: all), whose rows are counted from 0.
        """
        start = 0
        with self.refuse():
            for batch in self._file.iter_batches(self._batch_rows, row_groups=groups, columns=list(columns)):
                yield start, batch
                start += batch.num_rows

    def read_row(self, column: str, number: int) -> pa.Scalar:
        """Read a column of one row; the row group that holds it is kept. Raises `LakeError`."""
        with self.refuse():
            group, first = 0, 0
            while number - first >= (rows := self._file.metadata.row_group(group).num_rows):
                group, first = group + 1, first + rows
            if self._kept is None or self._kept[0] != (column, group):
                self._kept = (column, group), self._file.read_row_group(group, [column])[column]
            return self._kept[1][number - first]

    def iterate_plain(self, columns: Sequence[str]) -> Iterator[tuple[int, list[dict[str, Any]]]]:
        """Iterate the rows of some columns as Python values, some thousand at a time, each with the number of the first."""
        start = 0
        for rows in iterate_rows(self._data, self._footer, columns):
            yield start, rows
            start += len(rows)

    def read_plain_row(self, column: str, number: int) -> Any:
        """Read a column of one row as a Python value; the row group that holds it is kept. Raises `LakeError`."""
        group, first = 0, 0
        while number - first >= (rows := self._footer.row_groups[group].num_rows):
            group, first = group + 1, first + rows
        if self._kept_rows is None or self._kept_rows[0] != (column, group):
            batches = iterate_rows(self._data, self._footer, [column], groups=[group])
            self._kept_rows = (column, group), [row[column] for batch in batches for row in batch]
        return self._kept_rows[1][number - first]

    _kept_rows: tuple[tuple[str, int], list[Any]] | None = None
    _kept: tuple[tuple[str, int], pa.ChunkedArray] | None = None

    @contextmanager
    def refuse(self) -> Iterator[None]:
        """Raise whatever goes wrong over the contents of the file as `Corrupt`."""
        try:
            yield
        except (LakeError, GeneratorExit):
            raise
        except Exception as error:
            seen = f"{type(error).__name__}: {error}"
            raise Corrupt(f"the {self.what} does not decode", path=self.path, offset=0, seen=seen) from error
