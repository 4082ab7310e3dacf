"""What data files say of themselves: footers and the first rows, whatever format they are in."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.io.handle import StoreFile
from lakelens.io.store import Store

if TYPE_CHECKING:
    import pyarrow as pa


def read_footer(store: Store, path: str, kind: str) -> Any:
    """The footer of a Parquet or ORC file, the header of an Avro file. Raises `LakeError` naming the file.

    What the file is, its first bytes tell; `kind` is only what its name says.
    """
    found = _sniff(store, path)
    if found == "parquet":
        from lakelens.codecs.parquet import decode_footer

        return decode_footer(StoreFile(store, path), path)  # type: ignore[arg-type]
    if found == "orc":
        from lakelens.codecs.orc import decode_footer as decode_orc_footer

        return decode_orc_footer(StoreFile(store, path), path)  # type: ignore[arg-type]
    if found == "avro":
        from lakelens.codecs.avro import decode_header

        return decode_header(store.read(path), path)
    raise Unsupported(f"no footer is read from a {kind or 'nameless'} file", path=path)


def read_preview(store: Store, path: str, kind: str, count: int) -> pa.Table:
    """The first rows of a Parquet, ORC or Avro file as stored. Raises `LakeError` naming the file."""
    found = _sniff(store, path)
    if found == "parquet":
        from lakelens.codecs.parquet import read_rows

        return read_rows(StoreFile(store, path), count, path)  # type: ignore[arg-type]
    if found == "orc":
        from lakelens.codecs.orc import read_rows as read_orc_rows

        return read_orc_rows(StoreFile(store, path), count, path)  # type: ignore[arg-type]
    if found == "avro":
        return _preview_avro(store.read(path), path, count)
    raise Unsupported(f"rows of a {kind or 'nameless'} file are not shown", path=path)


def _preview_avro(data: bytes, path: str, count: int) -> pa.Table:
    from itertools import islice

    import pyarrow as pa

    from lakelens.codecs.avro import decode_header, iter_records

    names = [field["name"] for field in decode_header(data, path).record["fields"]]
    records = list(islice(iter_records(data, path), count))
    try:
        return pa.table({name: pa.array([record.get(name) for record in records]) for name in names})
    except (pa.ArrowException, TypeError, ValueError) as error:
        raise LakeError(f"the rows do not fit a table: {error}", path=path) from error


def _sniff(store: Store, path: str) -> str:
    from lakelens.codecs.magic import sniff

    try:
        return sniff(store.read_range(path, 0, 64), store.read_range(path, -16, 16))
    except Missing as error:
        raise Missing(
            "the data file is not there", path=path, hint="it has expired, or was not copied"
        ) from error
