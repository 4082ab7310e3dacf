"""The content of a data file of any format: its footer and its first rows as stored.

A file is recognised by its magic, never by its name or by what a manifest records. What is recorded counts only where the
magic says nothing: the reader of that format then reports the damage.
"""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from itertools import islice
from typing import IO, TYPE_CHECKING, Any, TypeVar, cast

from lakelens.codecs.compression import decompress
from lakelens.codecs.kinds import sniff
from lakelens.codecs.span.reader import in_file
from lakelens.errors import Corrupt, LakeError, Missing, Unsupported
from lakelens.formats.access import TableAccess
from lakelens.io.ahead import fetch_files, fetch_files_along
from lakelens.io.store import Store, StoreFile
from lakelens.model.bytes_view import Source
from lakelens.model.datafile import Footer
from lakelens.model.driver import later
from lakelens.model.stats import FileDivision, divide
from lakelens.model.storage import KNOWN_FORMATS
from lakelens.options import budgets

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.bytes_view import BytesView


#: The formats that describe themselves, and whose rows are read here.
FORMATS = ("parquet", "orc", "avro")
ENCRYPTED = "ags1-encrypted"
_EXPLAIN_FOOTER = later("lakelens.formats.stored:explain_footer")
_PIECE = 8 << 20  # bytes that are read at a time for a digest


def read_footer(store: Store, path: str, file_format: str, size: int | None = None) -> Footer:
    """The footer of a Parquet, ORC or Avro file; `file_format` is what its name or metadata says it is, `size` how long.

    Raises `Missing`, `Corrupt` for a file that is empty, cut off or damaged, `Unsupported` for one without a footer.

    >>> from lakelens.io.memory import MemoryStore
    >>> read_footer(MemoryStore({"/t/a.csv": b"1,a"}), "/t/a.csv", "csv")
    Traceback (most recent call last):
    lakelens.errors.Unsupported: /t/a.csv: a csv file has no footer; try: preview() shows its first lines
    """
    if size:
        fetch_files(store, [(path, size)])
    kind = choose_kind(read_kind(store, path), file_format)
    if kind not in FORMATS:
        refuse_known(kind, path)
        hint = "preview() shows its first lines" if kind in ("text", "csv", "json") else None
        raise Unsupported(f"a {kind or 'nameless'} file has no footer", path=path, hint=hint)
    return make_footer(store, path, read_facts(store, path, kind))


def make_footer(store: Store, path: str, facts: Any) -> Footer:
    """Make the footer of decoded facts, which finds its bytes in the file."""

    return Footer(facts, path, Source(lambda footer: _EXPLAIN_FOOTER(footer, store)))


def read_rows(store: Store, path: str, file_format: str, n: int, size: int | None = None) -> pa.Table:
    """Read the first `n` rows of a Parquet, ORC or Avro file as stored. Raises as `read_footer` does."""
    if size:
        fetch_files(store, [(path, size)])
    return read_rows_as(store, path, choose_kind(read_kind(store, path), file_format), n)


def read_kind(store: Store, path: str) -> str:
    """Read what a file is by its first and last bytes, as `lakelens.codecs.kinds.sniff` names it. Raises `Missing`."""
    fetch_files(store, [(path, None)])
    try:
        return sniff(store.read_range(path, 0, 256), store.read_range(path, -16, 16))
    except Missing as error:
        hint = "it has expired, or was not copied"
        raise Missing("the data file is not there", path=path, hint=hint) from error


def choose_kind(sniffed: str, file_format: str) -> str:
    """Choose the format whose reader is asked: by the magic, else by what is recorded.

    >>> choose_kind("orc", "parquet"), choose_kind("unknown", "parquet"), choose_kind("parquet-encrypted", "orc")
    ('orc', 'parquet', 'parquet')
    >>> choose_kind("lance", "parquet"), choose_kind("ags1-encrypted", "avro")
    ('lance', 'ags1-encrypted')
    """
    kind = sniffed.removesuffix("-encrypted") if sniffed == "parquet-encrypted" else sniffed
    return kind if kind in FORMATS or kind in KNOWN_FORMATS or kind == ENCRYPTED else file_format


def refuse_known(kind: str, path: str) -> None:
    """Raises `Unsupported`, saying what it is, for a file whose format is known and whose rows are not decoded.

    >>> refuse_known("lance", "/t/a.lance")
    Traceback (most recent call last):
    lakelens.errors.Unsupported: /t/a.lance: a file of the Lance format: known, its rows are not decoded; try: ...
    """
    if kind == ENCRYPTED:
        raise Unsupported(
            "encrypted (AES-GCM stream, AGS1): it cannot be read without its key",
            path=path,
            hint="bytes_view() shows what is in the clear",
        )
    if kind in KNOWN_FORMATS:
        raise Unsupported(
            f"a file of {KNOWN_FORMATS[kind]}: known, its rows are not decoded",
            path=path,
            hint="bytes_view() names its parts; an engine that has the format reads it",
        )


def open_file(store: Store, path: str) -> IO[bytes]:
    """Open a file of the store, as the libraries that read footers want it."""
    return cast("IO[bytes]", StoreFile(store, path))


def read_facts(store: Store, path: str, kind: str) -> Any:
    """Read the facts of a file of one of `FORMATS`: `ParquetFooter`, `OrcFooter` or `AvroFacts`. Raises `LakeError`."""
    if kind == "avro":
        from lakelens.codecs.avro.container import decode_facts

        return decode_facts(store.read(path), path)
    return load_codec(kind).decode_footer(open_file(store, path), path)


def read_rows_as(store: Store, path: str, kind: str, n: int) -> pa.Table:
    """The first `n` rows of a file that is known to be of a format. Raises `Unsupported` for what is not in `FORMATS`."""
    if kind not in FORMATS:
        refuse_known(kind, path)
        raise Unsupported(f"rows of a {kind or 'nameless'} file are not read", path=path)
    if kind == "avro":
        return _read_avro_rows(store.read(path), path, n)
    if kind == "orc":
        from lakelens.codecs.orc.sizes import check_rows
        from lakelens.formats.stored import StoredOctets

        check_rows(StoredOctets(store, path, store.info(path).size), n, path)
    rows: pa.Table = load_codec(kind).read_rows(open_file(store, path), n, path)
    return rows


def load_codec(kind: str) -> Any:
    """Load the module that reads Parquet or ORC files; both have the same functions."""
    if kind == "parquet":
        from lakelens.codecs.parquet import footer as parquet

        return parquet
    from lakelens.codecs.orc import footer as orc

    return orc


def _read_avro_rows(data: bytes, path: str, n: int) -> pa.Table:
    import pyarrow as pa

    from lakelens.codecs.avro.records import decode_header, iter_records

    names = [field["name"] for field in decode_header(data, path).record["fields"]]
    rows = list(islice(iter_records(data, path, is_whole=False), n))
    try:
        return pa.table({name: pa.array([row.get(name) for row in rows]) for name in names})
    except (pa.ArrowException, OverflowError, TypeError, ValueError) as error:
        raise Corrupt("rows that have no common type", path=path, seen=str(error)) from error


# What the data files of a table say of themselves, for whoever looks at all of them: footers, rows column by column.

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
        self.store = access.store

    def read_footer(self, path: str, file_format: str) -> Footer:
        """See `Storage.read_footer`."""
        return read_footer(self.store, self._access.find_place(path), file_format)

    def follow(
        self, files: Iterable[T], place: Callable[[T], tuple[str, int | None]], *, whole: bool = False
    ) -> Iterator[T]:
        """See `Storage.follow`."""
        return fetch_files_along(self.store, files, place, whole=whole)

    def explain_file(self, path: str) -> BytesView:
        """See `Storage.explain_file`."""
        from lakelens.formats.stored import Caption, explain_file

        if not self._holds(path):
            raise Missing("no file of this directory", path=self._access.locator.root)
        return explain_file(self.store, path, caption=Caption(place=path.rpartition("/")[2]))

    def read_document(self, path: str) -> Any:
        """See `Storage.read_document`; `budgets.max_document` is the most that is read, and unpacked."""
        if not self._holds(path):
            raise Missing("no file of this directory", path=self._access.locator.root)
        store = self.store
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

    def read_digest(self, path: str) -> bytes:
        """See `Storage.read_digest`."""
        if not self._holds(path):
            raise Missing("no file of this directory", path=self._access.locator.root)
        digest, start = blake2b(digest_size=16), 0
        while piece := self.store.read_range(path, start, _PIECE):
            digest.update(piece)
            start += len(piece)
        return digest.digest()

    def _holds(self, path: str) -> bool:
        """Check whether a path is below the table's directory as it is written, and no step of it is a link."""
        root = self._access.locator.root.rstrip("/") + "/"
        steps = path.removeprefix(root).split("/")
        if not path.startswith(root) or any(step in ("", ".", "..") or "\0" in step for step in steps):
            return False
        try:
            if self.store.scheme == "file":
                home = os.path.realpath(root)
                if os.path.realpath(path) != os.path.join(home, *steps):  # noqa: PTH118
                    return False
            return not self.store.info(path).is_dir
        except (OSError, ValueError, LakeError):  # a name that no file can have
            return False

    def read_columns(
        self, path: str, file_format: str, columns: Sequence[str] | None = None
    ) -> Iterator[pa.Table]:
        """See `Storage.read_columns`; of an Avro file all columns, whatever was asked for."""
        import pyarrow as pa

        store, path = self.store, self._access.find_place(path)
        kind = choose_kind(read_kind(store, path), file_format)
        if kind not in ("parquet", "orc"):
            rows: Any = read_rows_as(store, path, kind, 2**62)
            yield rows
            return
        codec = load_codec(kind)
        file = open_file(store, path)
        names = codec.read_schema(file, path).names if columns is None else list(columns)
        for batch in codec.iter_columns(open_file(store, path), names, path):
            yield pa.Table.from_batches([batch])

    def divide(self, path: str, file_format: str, size: int) -> FileDivision | None:
        """See `Storage.divide`: Parquet by its column chunks, ORC by the streams of its stripes, nothing else."""
        store, path = self.store, self._access.find_place(path)
        kind = choose_kind(read_kind(store, path), file_format)
        if kind == "parquet":
            from lakelens.codecs.parquet import sizes as parquet

            footer = read_facts(store, path, kind)
            columns, parts, rest = parquet.measure_parts(footer)
            return divide(size, columns, parts, path, rest)
        if kind == "orc":
            from lakelens.codecs.orc import sizes as orc
            from lakelens.formats.row_groups.opening import open_tail

            with in_file(path):
                columns, parts, rest = orc.measure_parts(open_tail(store, path))
            return divide(size, columns, parts, path, rest)
        return None
