"""Where recorded locations of an Iceberg table are now.

A table that is where its metadata says keeps every location as recorded. A table that was moved or copied has its
locations taken below the directory that was opened: those below `location`, below the roots that follow from the places of
manifest lists and earlier metadata files, or those recognised by a folder's name (see `lakelens.io.relocation`).
"""

from __future__ import annotations

import posixpath

from lakelens.formats.iceberg.metadata.document import Document
from lakelens.io.relocation import Locator, split_location

FOLDERS = ("metadata", "data")
_PATH_PROPERTIES = (
    ("write.metadata.path", "metadata"),
    ("write.data.path", "data"),
    ("write.object-storage.path", "data"),
    ("write.folder-storage.path", "data"),
)


def make_locator(
    root: str, location: str | None, scheme: str = "file", *, stands_still: bool = False
) -> Locator:
    """Make the locator of a table by its `location`: one that is there was not moved.

    >>> make_locator("/now/t", "file:/was/t").locate("file:/was/t/data/f.parquet")
    '/now/t/data/f.parquet'
    >>> make_locator("/wh/t", "file:///wh/t").locate("/mnt/t/data/f.parquet")
    '/mnt/t/data/f.parquet'
    """
    place = Locator(root, scheme=scheme).place
    stands_still = stands_still or split_location(location or "")[1].strip("/") == place.strip("/")
    roots = [location] if location else []
    return Locator(root, roots, folders=FOLDERS, scheme=scheme, stands_still=stands_still)


def build_locator(root: str, folder: str, document: Document, scheme: str) -> Locator:
    """Build the locator of a table, with every place where the document shows that the table has been.

    `folder` is the directory that the metadata document was read from: a document that records other metadata in that
    very directory was not moved, wherever its `location` points.
    """
    typed = document.typed
    logged = (log.metadata_file.rpartition("/")[0] for log in typed.metadata_log)
    parents = list(dict.fromkeys([*logged, *document.snapshots.list_folders]))
    places = {split_location(parent)[1].strip("/") for parent in parents}
    stands_still = split_location(folder)[1].strip("/") in places
    locator = make_locator(root, typed.location, scheme, stands_still=stands_still)
    properties = typed.properties or {}
    named = [(properties.get(name), expected) for name, expected in _PATH_PROPERTIES]
    apart = [(place.rstrip("/"), expected) for place, expected in named if isinstance(place, str)]
    elsewhere = {split_location(place)[1] for place, _ in apart}
    for recorded, expected in (*((parent, "metadata") for parent in parents), *apart):
        if posixpath.basename(recorded) == expected:
            is_home = split_location(recorded)[1] not in elsewhere
            locator.add_root(posixpath.dirname(recorded), is_home=is_home)
    return locator
