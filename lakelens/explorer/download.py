"""What a reader takes away: a data file as it is stored, and all rows of a list, as CSV, JSON or Parquet.

A data file is for those who run the server and allow it. A list is what its `to_arrow()` gives, filtered and sorted as the
page has it. CSV is for spreadsheets and JSON has no more types than JSON: there nested values, bytes and times are text, as
`lakelens.model.facts.json_values` writes them.
"""

from __future__ import annotations

import io
import json
import posixpath
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.answers.question import load
from lakelens.errors import Missing
from lakelens.explorer.explorer import Explorer, find_snapshot
from lakelens.explorer.inside import Inside
from lakelens.explorer.listing import AS, ZIP
from lakelens.explorer.page import EXPORTS, Listing, Page, Part, Redirect, Section, Split
from lakelens.explorer.place import NO_SNAPSHOT, Place
from lakelens.model.arrow import drop_empty_structs, read_rows
from lakelens.model.facts.json_values import make_plain, write_array
from lakelens.opening import read_stored
from lakelens.views.listing import make_distinct

if TYPE_CHECKING:
    import pyarrow as pa

#: The name of the page, among those of a table; `?path=` is the file, as the metadata says it.
PAGE = "download"
_WELL = 200
_ROWS = 5_000  # rows that are made text at once
_ROW_GROUP = 100_000
#: What a spreadsheet takes for the beginning of a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "＝", "＋", "－", "＠")
_TO_QUOTE = re.compile(r'[",\r\n]|^\s|\s$|^$')


@dataclass(frozen=True, slots=True)
class Download:
    """A stored file: its name, its size, and what reads a part of it."""

    name: str
    size: int
    read: Callable[[int, int], bytes]


def find_download(explorer: Explorer, place: Place) -> Download:
    """Find the file that a place asks for, one of the files of the snapshot. Raises `Missing` for any other path.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> path = table.files[0].path
    >>> found = find_download(Explorer(table.location), Place((), "-", "download", (("path", path),)))
    >>> found.size == table.files[0].size_bytes, found.read(0, 4)
    (True, b'PAR1')
    """
    table = explorer.open(place.table or ())
    snapshot = find_snapshot(table, place.snapshot or NO_SNAPSHOT)
    if snapshot is None and place.snapshot not in ("", NO_SNAPSHOT):
        raise Missing(f"no snapshot {place.snapshot}", hint="the table may have expired it since")
    wanted = Inside(explorer.catalog.root, table).expand(place.get("path"))
    try:
        file = (table.files if snapshot is None else snapshot.files)[wanted]
    except KeyError:
        hint = "a data file or delete file of this snapshot, as its manifest names it"
        raise Missing("no such file in this snapshot", path=wanted, hint=hint) from None
    size, read = read_stored(table, file.path)
    return Download(posixpath.basename(file.path), size, read)


@dataclass(frozen=True, slots=True)
class Export:
    """A list as a file: its name, its media type, and its content in pieces."""

    name: str
    media_type: str
    chunks: Iterator[bytes]


def find_export(explorer: Explorer, place: Place) -> Export | Page | Redirect:
    """Find what a place asks for with `as`: the first list of its page as CSV, JSON or Parquet.

    It is the page itself where that says what is wrong. Raises `Missing` for a form that there is not, and for a page
    without a list, `LakeError` where the list cannot be read whole.

    >>> import lakelens as ll
    >>> here = Place((), "-", "files", (("as", "csv"),))
    >>> export = find_export(Explorer(ll.sample("hive").location), here)
    >>> assert isinstance(export, Export)
    >>> export.name, b"".join(export.chunks).split(b",")[:2]
    ('hive-files.csv', [b'content', b'path'])
    """
    wanted = place.get(AS)
    if place.page == "report" and wanted == ZIP:
        return _make_report(explorer, place)
    if wanted not in EXPORTS:
        raise Missing(f"no list is given as {wanted!r}", hint=", ".join(EXPORTS))
    page = explorer.follow(place.ask(**{AS: None}))
    if isinstance(page, Redirect):
        return Redirect(page.place.ask(**{AS: wanted}))
    if page.status != _WELL:
        return page
    whole = next((listing.whole for listing in _list_lists(page.parts) if listing.whole is not None), None)
    if whole is None:
        raise Missing(f"the page {place.page or 'overview'} has no list of rows", path=place.url)
    table, names = whole(), list[str]()
    for name in table.column_names:  # a query may have two of one name
        names.append(make_distinct(name, names))
    media_type, write = _WRITERS[wanted]
    return Export(
        f"{_name_list(page, explorer.root)}.{wanted}", media_type, write(table.rename_columns(names))
    )


def _make_report(explorer: Explorer, place: Place) -> Export:
    """Make the report of a table, whole: it has no data file, and is small."""
    make, pack = (load(f"lakelens.answers.bug:{name}") for name in ("make_report", "pack_report"))
    packed: bytes = pack(make(explorer.open(place.table or ()), place.get("call")))
    return Export("lakelens-report.zip", "application/zip", iter((packed,)))


def _list_lists(parts: Sequence[Part]) -> Iterator[Listing]:
    for part in parts:
        if isinstance(part, Listing):
            yield part
        elif isinstance(part, Split):
            yield from _list_lists((*part.main, *part.side))
        elif isinstance(part, Section):
            yield from _list_lists(part.parts)


def _name_list(page: Page, root: str) -> str:
    """Name a list by its table, its page and the snapshot that it is pinned to: no name in a lake leaves the folder."""
    place = page.place
    table = place.table[-1] if place.table else root.rstrip("/").rpartition("/")[2]
    names = (table, place.page or "tables", place.snapshot.strip("-"))
    return re.sub(r"[^\w.=]+", "-", "-".join(filter(None, names))).strip("-.")[:120] or "list"


def write_csv(table: pa.Table) -> Iterator[bytes]:
    """Write rows as CSV (RFC 4180), with the names of the columns before them.

    Text that a spreadsheet would take for a formula has an apostrophe before it; NULL is nothing, empty text is "".

    >>> import pyarrow as pa
    >>> b"".join(write_csv(pa.table({"id": [-1, None], "name": ["=1+1", ""]})))
    b'id,name\\r\\n-1,\\'=1+1\\r\\n,""\\r\\n'
    """
    yield (",".join(_write_text(name) for name in table.column_names) + "\r\n").encode()
    for rows in read_rows(table, _ROWS):
        yield "".join(",".join(map(_write_value, row)) + "\r\n" for row in rows).encode(errors="replace")


def _write_value(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, str):
        return _write_text(value)
    plain = make_plain(value)
    if isinstance(plain, str):
        return plain
    text = json.dumps(plain, ensure_ascii=False)
    return text if isinstance(plain, bool | int | float) else _quote(text)


def _write_text(text: str) -> str:
    return _quote(f"'{text}" if text.startswith(_FORMULA) else text)


def _quote(text: str) -> str:
    return '"' + text.replace('"', '""') + '"' if _TO_QUOTE.search(text) else text


def write_json(table: pa.Table) -> Iterator[bytes]:
    """Write rows as a JSON array with an object a line.

    >>> import pyarrow as pa
    >>> b"".join(write_json(pa.table({"id": [1], "key": [b"\\x00"]})))
    b'[\\n{"id": 1, "key": "00"}\\n]\\n'
    """
    names = table.column_names
    pieces = write_array(
        dict(zip(names, row, strict=True)) for rows in read_rows(table, _ROWS) for row in rows
    )
    while text := "".join(islice(pieces, _ROWS)):
        yield text.encode()
    yield b"\n"


def write_parquet(table: pa.Table) -> Iterator[bytes]:
    """Write rows as one Parquet file; a struct without fields, which Parquet does not have, is left out.

    >>> import pyarrow as pa
    >>> b"".join(write_parquet(pa.table({"id": [1]})))[:4]
    b'PAR1'
    """
    import pyarrow.parquet as pq

    held = drop_empty_structs(table)
    sink = io.BytesIO()
    with pq.ParquetWriter(sink, held.schema, compression="zstd") as writer:
        for start in range(0, max(len(held), 1), _ROW_GROUP):
            writer.write_table(held.slice(start, _ROW_GROUP))
            yield sink.getvalue()
            sink.seek(0)
            sink.truncate()
    yield sink.getvalue()


_WRITERS: dict[str, tuple[str, Callable[[Any], Iterator[bytes]]]] = {
    "csv": ("text/csv; charset=utf-8", write_csv),
    "json": ("application/json", write_json),
    "parquet": ("application/vnd.apache.parquet", write_parquet),
}
