"""A data file of a table as it is stored, for those who run the server and allow it."""

from __future__ import annotations

import posixpath
from collections.abc import Callable
from dataclasses import dataclass

from lakelens.errors import Missing
from lakelens.explorer.explorer import Explorer, find_snapshot
from lakelens.explorer.inside import Inside
from lakelens.explorer.place import NO_SNAPSHOT, Place
from lakelens.opening import read_stored

#: The name of the page, among those of a table; `?path=` is the file, as the metadata says it.
PAGE = "download"


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
