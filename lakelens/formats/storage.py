"""What the data files of a table say of themselves, for whoever looks at all of them: footers, rows column by column."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from lakelens.codecs.compression import decompress
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Corrupt, LakeError, Missing
from lakelens.formats import contents
from lakelens.formats.access import TableAccess
from lakelens.io.pieces import fetch_files_along
from lakelens.model.space.division import FileDivision, divide
from lakelens.options import budgets

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.bytes_view import BytesView
    from lakelens.model.datafile import Footer

T = TypeVar("T")
_GZIP = b"\x1f\x8b"
_SHORT = 4_096  # bytes of a text that is shown as it is


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
        return contents.read_footer(self._access.store, self._access.find_place(path), file_format)

    def follow(
        self, files: Iterable[T], place: Callable[[T], tuple[str, int | None]], *, whole: bool = False
    ) -> Iterator[T]:
        """See `Storage.follow`."""
        return fetch_files_along(self._access.store, files, place, whole=whole)

    def explain_file(self, path: str) -> BytesView:
        """See `Storage.explain_file`."""
        from lakelens.formats.explain.stored import Caption, explain_file

        if not self._holds(path):
            raise Missing("no file of this directory", path=self._access.locator.root)
        return explain_file(self._access.store, path, caption=Caption(place=path.rpartition("/")[2]))

    def read_document(self, path: str) -> Any:
        """See `Storage.read_document`; `budgets.max_document` is the most that is read, and unpacked."""
        if not self._holds(path):
            raise Missing("no file of this directory", path=self._access.locator.root)
        store = self._access.store
        size, most = store.info(path).size, budgets.max_document
        if size > most:
            message = f"is no document: {size:,} bytes, at most {most:,} are read (budgets.max_document)"
            raise LakeError(message, path=path)
        data = store.read(path)
        if data[:2] == _GZIP:
            data = decompress("gzip", data, most, path=path)
        try:
            return json.loads(data)
        except (ValueError, RecursionError) as error:
            if len(data) <= _SHORT and data.decode("utf-8", "replace").isprintable():
                return data.decode("utf-8", "replace")
            raise Corrupt(f"no JSON document: {error}", path=path) from None

    def _holds(self, path: str) -> bool:
        """Whether a path is below the table's directory as it is written, and no step of it is a link."""
        root = self._access.locator.root.rstrip("/") + "/"
        steps = path.removeprefix(root).split("/")
        if not path.startswith(root) or any(step in ("", ".", "..") or "\0" in step for step in steps):
            return False
        try:
            if self._access.store.scheme == "file":
                home = os.path.realpath(root)
                if os.path.realpath(path) != os.path.join(home, *steps):  # noqa: PTH118
                    return False
            return not self._access.store.info(path).is_dir
        except (OSError, ValueError, LakeError):  # a name that no file can have
            return False

    def read_columns(
        self, path: str, file_format: str, columns: Sequence[str] | None = None
    ) -> Iterator[pa.Table]:
        """See `Storage.read_columns`; of an Avro file all columns, whatever was asked for."""
        import pyarrow as pa

        store, path = self._access.store, self._access.find_place(path)
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
        store, path = self._access.store, self._access.find_place(path)
        kind = contents.choose_kind(contents.read_kind(store, path), file_format)
        if kind == "parquet":
            from lakelens.codecs.parquet import column_bytes as parquet

            footer = contents.read_facts(store, path, kind)
            columns, parts, rest = parquet.measure_parts(footer)
            return divide(size, columns, parts, path, rest)
        if kind == "orc":
            from lakelens.codecs.orc import column_bytes as orc
            from lakelens.formats.row_groups.orc import open_tail

            with in_file(path):
                columns, parts, rest = orc.measure_parts(open_tail(store, path))
            return divide(size, columns, parts, path, rest)
        return None
