"""Metadata of a table whose directory may not be listed while its files may be read, as many buckets are set up.

What a listing would say is asked for by name: the version hint, and the documents of the number in it and of those after
it, as engines read a table without a catalog. A store that may not be listed says "denied" of what is not there, too.
"""

from __future__ import annotations

from collections.abc import Iterator

from lakelens.errors import LakeError
from lakelens.formats.iceberg.discovery.names import parse_metadata_name
from lakelens.formats.iceberg.discovery.versions import HINT_NAME, MetadataFolder
from lakelens.io.ahead import fetch
from lakelens.io.store import ObjectInfo, Store

_ENDINGS = (
    *(".metadata.json", ".gz.metadata.json", ".metadata.json.gz"),
    *(".zst.metadata.json", ".metadata.json.zst"),
)
_MOST_VERSIONS = 1_000  # after the one that the hint names
_HINT_BYTES = 4_096


def find_unlisted(store: Store, folder: str, refused: LakeError) -> MetadataFolder:
    """The metadata documents that the hint of a metadata directory leads to; none without a hint."""
    found: dict[str, ObjectInfo] = {}
    hint = _measure(store, f"{folder}/{HINT_NAME}")
    if hint is not None:
        found[HINT_NAME] = hint
        for name in _follow(store, folder):
            place = _measure(store, f"{folder}/{name}")
            if place is not None:
                found[name] = place
    return MetadataFolder(store, folder, found, refused=refused)


def _follow(store: Store, folder: str) -> Iterator[str]:
    """The names that documents can have; those of a number come as long as the one before is there."""
    try:
        data = store.read_range(f"{folder}/{HINT_NAME}", 0, _HINT_BYTES)
        text = data.decode("utf-8-sig").strip().strip("\0").rsplit("/", 1)[-1]
    except (LakeError, UnicodeDecodeError):
        return
    if not (text.isascii() and text.isdigit()):
        names = [text] if parse_metadata_name(text) else [f"{text}{ending}" for ending in _ENDINGS]
        names = [name for name in names if len(name) <= 255 and name.isprintable()]
        fetch(store, documents=[f"{folder}/{name}" for name in names])
        yield from names
        return
    first, ahead = int(text[:18]), 2
    number = first
    while number - first < _MOST_VERSIONS:
        versions = [[f"v{one}{ending}" for ending in _ENDINGS] for one in range(number, number + ahead)]
        fetch(store, documents=[f"{folder}/{name}" for names in versions for name in names])
        for names in versions:
            yield from names
        if not any(_measure(store, f"{folder}/{name}") for name in versions[-1]):
            return
        number, ahead = number + ahead, ahead * 2


def _measure(store: Store, path: str) -> ObjectInfo | None:
    """What is at a path, by reading it: a store that may not be listed may not say more of it either."""
    try:
        return ObjectInfo(path, len(store.read(path)))
    except LakeError:
        return None
