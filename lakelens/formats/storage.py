"""What the data files of a table say of themselves, for whoever looks at all of them: footers, rows column by column."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.codecs.span.reader import in_file
from lakelens.formats import contents
from lakelens.formats.access import TableAccess
from lakelens.model.space.division import FileDivision, divide

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import Footer


class TableStorage:
    """See `lakelens.model.storage.Storage`.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> table.storage.read_footer(table.files[0].path, "parquet").num_rows
    1
    """

    def __init__(self, access: TableAccess) -> None:
        self._access = access

    def read_footer(self, path: str, file_format: str) -> Footer:
        """See `Storage.read_footer`."""
        return contents.read_footer(self._access.store, path, file_format)

    def read_columns(
        self, path: str, file_format: str, columns: Sequence[str] | None = None
    ) -> Iterator[pa.Table]:
        """See `Storage.read_columns`; of an Avro file all columns, whatever was asked for."""
        import pyarrow as pa

        store = self._access.store
        kind = contents.choose_kind(contents.read_kind(store, path), file_format)
        if kind not in ("parquet", "orc"):
            rows: Any = contents.read_rows_as(store, path, kind, 2**62)
            yield rows
            return
        codec = contents.load_codec(kind)
        file = contents.open_file(store, path)
        names = codec.read_schema(file, path).names if columns is None else list(columns)
        for batch in codec.iter_columns(contents.open_file(store, path), names, path):
            yield pa.Table.from_batches([batch])

    def divide(self, path: str, file_format: str, size: int) -> FileDivision | None:
        """See `Storage.divide`: Parquet by its column chunks, ORC by the streams of its stripes, nothing else."""
        store = self._access.store
        kind = contents.choose_kind(contents.read_kind(store, path), file_format)
        if kind == "parquet":
            from lakelens.codecs.parquet import parts as parquet

            footer = contents.read_facts(store, path, kind)
            columns, parts, rest = parquet.measure_parts(footer)
            return divide(size, columns, parts, path, rest)
        if kind == "orc":
            from lakelens.codecs.orc import parts as orc
            from lakelens.formats.row_groups.orc import open_tail

            with in_file(path):
                columns, parts, rest = orc.measure_parts(open_tail(store, path))
            return divide(size, columns, parts, path, rest)
        return None
