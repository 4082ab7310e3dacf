"""The content of a data or delete file: its footer, its first rows as stored, a deletion vector.

A file is recognised by its magic, not by the `file_format` that the manifest records; a size or a format that differs is
a finding.
"""

from __future__ import annotations

from itertools import islice
from typing import TYPE_CHECKING

from lakelens.codecs.iceberg.puffin import PuffinFooter, decode_footer, footer_size
from lakelens.errors import Corrupt, Unsupported
from lakelens.formats import contents
from lakelens.formats.iceberg.context import TableContext
from lakelens.io.ahead import fetch, fetch_files
from lakelens.model.datafile import Footer

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.bitmaps import BitMap64
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile

_TAIL = 4096  # bytes that hold most Puffin footers


def read_footer(context: TableContext, file: IcebergDataFile) -> Footer:
    """Read the footer of the file. Raises `LakeError`."""
    store, (path, kind) = context.access.store, find_content(context, file)
    is_puffin = kind == "puffin"
    facts = read_puffin_footer(context, path) if is_puffin else contents.read_facts(store, path, kind)
    return contents.make_footer(store, path, facts)


def read_puffin_footer(context: TableContext, recorded: str) -> PuffinFooter:
    """Read the footer of a Puffin file: its end only, in one or two requests. Raises `LakeError`."""
    store = context.access.store
    place = context.access.locator.locate(recorded)
    fetch(store, infos=[place], ranges=[(place, -_TAIL, _TAIL)])
    path, size = context.access.find_recorded(recorded)
    tail = store.read_range(path, -_TAIL, _TAIL)
    wanted = footer_size(tail, size, path=path)
    if wanted > len(tail):
        tail = store.read_range(path, size - wanted, wanted)
    return decode_footer(tail, size, path=path)


def read_preview(context: TableContext, file: IcebergDataFile, count: int) -> pa.Table:
    """Read the first rows, or the first positions of a deletion vector. Raises `LakeError`."""
    path, kind = find_content(context, file)
    if kind != "puffin":
        return contents.read_rows_as(context.access.store, path, kind, count)
    import pyarrow as pa

    positions = islice(read_vector(context, file, path), count)
    return pa.table({"pos": pa.array(list(positions), pa.int64())})


def find_content(context: TableContext, file: IcebergDataFile) -> tuple[str, str]:
    """Find where a data or delete file is now, and what it is by its magic. Raises `LakeError`."""
    place = context.access.locator.locate(file.recorded_path)
    fetch_files(context.access.store, [(place, file.file_size_in_bytes)])
    path, size = context.access.find_recorded(file.recorded_path)
    if file.file_size_in_bytes is not None and file.file_size_in_bytes != size:
        message = f"the manifest says {file.file_size_in_bytes} bytes, the file has {size}"
        context.findings.add("warning", "file-size", path, message)
    sniffed = contents.read_kind(context.access.store, path)
    kind = "puffin" if sniffed == "puffin" else contents.choose_kind(sniffed, file.file_format)
    if kind != "puffin" and kind not in contents.FORMATS:
        contents.refuse_known(kind, path)
        raise Unsupported(f"a file of format {file.file_format}", path=path)
    if sniffed == kind != file.file_format:
        message = f"the manifest says {file.file_format}, the file is {kind}"
        context.findings.add("warning", "file-format", path, message)
    return path, kind


def read_vector(context: TableContext, file: IcebergDataFile, path: str) -> BitMap64:
    """Read the deletion vector of an entry, in its Puffin file. Raises `LakeError`."""
    from lakelens.codecs.bitmaps.deletion_vector import decode_iceberg_dv

    offset, length = file.content_offset, file.content_size_in_bytes
    if offset is None or length is None:
        raise Unsupported("a Puffin file without the place of a deletion vector", path=path)
    data = context.access.store.read_range(path, offset, length)
    if len(data) < length:
        message = "a deletion vector that extends past the end of its file"
        seen = f"{len(data)} bytes"
        raise Corrupt(message, path=path, offset=offset, expected=f"{length} bytes", seen=seen)
    return decode_iceberg_dv(data, base=offset, path=path)
