"""What lies in a data or delete file: its footer, and its first rows as stored.

The file is found where it lies now, and at the recorded place when it is not there. It is told by its magic, not by the
`file_format` that the manifest records; a size or a format that differs is a finding.
"""

from __future__ import annotations

from itertools import islice
from typing import IO, TYPE_CHECKING, Any, cast

from lakelens.codecs.magic import sniff
from lakelens.errors import Corrupt, Unsupported
from lakelens.formats.iceberg.context import TableContext
from lakelens.formats.iceberg.header import describe_header
from lakelens.formats.iceberg.puffins import find_present, read_puffin_footer
from lakelens.io.handle import StoreFile

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.datafile import IcebergDataFile


def read_footer(context: TableContext, file: IcebergDataFile) -> Any:
    """The facts that the file itself tells. Raises `LakeError`."""
    path, handle, kind = _open(context, file)
    if kind == "orc":
        from lakelens.codecs import orc

        return orc.decode_footer(handle, path)
    if kind == "avro":
        from lakelens.codecs.avro import decode_header

        return describe_header(decode_header(handle.read(), path))
    if kind == "puffin":
        return read_puffin_footer(context, file.recorded_path)
    from lakelens.codecs import parquet

    return parquet.decode_footer(handle, path)


def read_preview(context: TableContext, file: IcebergDataFile, count: int) -> pa.Table:
    """The first rows, or the first positions of a deletion vector. Raises `LakeError`."""
    path, handle, kind = _open(context, file)
    if kind == "orc":
        from lakelens.codecs import orc

        return orc.read_rows(handle, count, path)
    if kind == "avro":
        return _preview_avro(handle, count, path)
    if kind == "puffin":
        return _preview_vector(context, file, count, path)
    from lakelens.codecs import parquet

    return parquet.read_rows(handle, count, path)


def _open(context: TableContext, file: IcebergDataFile) -> tuple[str, IO[bytes], str]:
    path, size = find_present(context, file.recorded_path)
    if file.file_size_in_bytes is not None and file.file_size_in_bytes != size:
        message = f"the manifest says {file.file_size_in_bytes} bytes, the file has {size}"
        context.findings.add("warning", "file-size", path, message)
    store = context.access.store
    kind: str = sniff(store.read_range(path, 0, 16), store.read_range(path, -16, 16))
    if kind == "ags1-encrypted":
        raise Unsupported("encrypted (AGS1): it cannot be read without its key", path=path)
    if kind not in ("parquet", "orc", "avro", "puffin"):
        kind = file.file_format if kind != "parquet-encrypted" else "parquet"  # its reader words the damage
        if kind not in ("parquet", "orc", "avro", "puffin"):
            raise Unsupported(f"a file of format {file.file_format}", path=path)
    elif kind != file.file_format:
        message = f"the manifest says {file.file_format}, the file is {kind}"
        context.findings.add("warning", "file-format", path, message)
    return path, cast("IO[bytes]", StoreFile(store, path)), kind


def _preview_avro(handle: IO[bytes], count: int, path: str) -> pa.Table:
    import pyarrow as pa

    from lakelens.codecs.avro import decode_header, iter_records

    data = handle.read()
    names = [field["name"] for field in decode_header(data, path).record["fields"]]
    rows = list(islice(iter_records(data, path), count))
    try:
        return pa.table({name: pa.array([row[name] for row in rows]) for name in names})
    except (pa.ArrowInvalid, pa.ArrowTypeError, OverflowError) as error:
        raise Corrupt("rows that have no common type", path=path, seen=str(error)) from error


def _preview_vector(context: TableContext, file: IcebergDataFile, count: int, path: str) -> pa.Table:
    import pyarrow as pa

    from lakelens.codecs.deletion_vector import decode_iceberg_dv

    offset, length = file.content_offset, file.content_size_in_bytes
    if offset is None or length is None:
        raise Unsupported("a Puffin file without the place of a deletion vector", path=path)
    data = context.access.store.read_range(path, offset, length)
    if len(data) < length:
        message = "a deletion vector that reaches behind the end of its file"
        raise Corrupt(
            message, path=path, offset=offset, expected=f"{length} bytes", seen=f"{len(data)} bytes"
        )
    positions = islice(decode_iceberg_dv(data, base=offset, path=path), count)
    return pa.table({"pos": pa.array(list(positions), pa.int64())})
