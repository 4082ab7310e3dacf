"""Whether a place is an Iceberg table, and which metadata file of it is the current one."""

from __future__ import annotations

import posixpath
from collections.abc import Iterator

from lakelens.errors import AccessDenied, LakeError, Unsupported
from lakelens.formats.base import Candidate
from lakelens.formats.iceberg.discovery.versions import (
    HINT_NAME,
    MetadataFolder,
    VersionChoice,
    parse_metadata_name,
)
from lakelens.formats.iceberg.metadata.document import check_not_a_view, decode_outline
from lakelens.io.ahead import fetch
from lakelens.io.store import ObjectInfo, Store, list_names
from lakelens.io.waves import NEAR, is_far
from lakelens.lazy import dataclass
from lakelens.model.storage import OWN_DIRECTORIES, Evidence

# Metadata of a table whose directory may not be listed while its files may be read, as many buckets are set up.
#
# What a listing would say is asked for by name: the version hint, and the documents of the number in it and of those after
# it, as engines read a table without a catalog. A store that may not be listed says "denied" of what is not there, too.

_ENDINGS = (
    *(".metadata.json", ".gz.metadata.json", ".metadata.json.gz"),
    *(".zst.metadata.json", ".metadata.json.zst"),
)
_MOST_VERSIONS = 1_000  # after the one that the hint names
_HINT_BYTES = 4_096
_MOST_GUESSED, _MOST_OF_LIST = 8, 1 << 20


def find_unlisted(store: Store, folder: str, refused: LakeError) -> MetadataFolder:
    """Find the metadata documents that the hint of a metadata directory leads to; none without a hint."""
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
    """Follow the names that documents can have; those of a number come as long as the one before is there."""
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
    """Measure what is at a path, by reading it: a store that may not be listed may not say more of it either."""
    try:
        return ObjectInfo(path, len(store.read(path)))
    except LakeError:
        return None


_VIEW_WORDS = (b'"view-uuid"', b'"view-version"', b'"current-version-id"')


@dataclass(frozen=True, slots=True)
class TableLayout:
    """Where a table is: its directory, its metadata files, and the one file that was opened, if it was one."""

    root: str
    folder: MetadataFolder
    opened_file: str | None = None


def find_layout(store: Store, path: str, info: ObjectInfo | None = None) -> TableLayout | None:
    """Find the layout of what is at a path: a table's directory, its metadata directory, or one metadata file.

    What may not be listed behind a network is found by its names (see `unlisted`).
    """
    try:
        info = store.info(path) if info is None else info
        if not info.is_dir:
            if parse_metadata_name(posixpath.basename(path)) is None:
                return None
            folder = posixpath.dirname(path)
            try:
                beside = MetadataFolder(store, folder, list_names(store, folder))
            except AccessDenied as refused:  # what is beside it may not be listed: it is there alone
                beside = MetadataFolder(store, folder, {info.name: info}, refused=refused)
            return TableLayout(_find_root(folder), beside, path)
        children = list_names(store, path)
    except AccessDenied as refused:
        if store.scheme in NEAR:
            raise
        found = _open_folder(store, f"{path.rstrip('/')}/metadata", refused)
        return TableLayout(path, found) if found.has_tables else None
    if "metadata" in children and children["metadata"].is_dir:
        found = _open_folder(store, f"{path.rstrip('/')}/metadata")
        if found.has_tables:
            return TableLayout(path, found)
    here = MetadataFolder(store, path, children)
    numbered = any(name.number is not None for name in here.names)
    return TableLayout(_find_root(path), here) if numbered else None


def _open_folder(store: Store, folder: str, refused: AccessDenied | None = None) -> MetadataFolder:
    """Open the documents of a metadata directory; `refused` is why the table's own directory could not be listed."""
    try:
        children = list_names(store, folder)
    except AccessDenied as error:
        if store.scheme in NEAR:
            raise
        return find_unlisted(store, folder, error)
    if refused is not None and not children:  # some stores say of what may not be listed that it is empty
        return find_unlisted(store, folder, refused)
    return MetadataFolder(store, folder, children)


def detect_table(place: Candidate) -> Evidence | None:
    """Detect why this place is an Iceberg table; None when it is not. Raises `ViewFound` for an Iceberg view."""
    layout = find_layout(place.store, place.path, place.info)
    if layout is None:
        return None
    choice = choose_version(layout)
    guesses = _guess_lists(layout.folder) if is_far(place.store) else ()
    fetch(place.store, documents=[choice.path, *guesses], meanwhile="lakelens.formats.iceberg.opening")
    _refuse_view(place.store, layout, choice)
    beside = [own for name, own in OWN_DIRECTORIES.items() if own.decides and name in place.children]
    others = tuple(own.format for own in beside)
    if {"schema", "snapshot"} <= place.children.keys():
        others += ("paimon",)
    document = choice.path
    if document.startswith(layout.root):
        document = document[len(layout.root) :].lstrip("/")
    reasons = [f"{document} is table metadata of Iceberg"]
    reasons += [own.warning for own in beside]
    if "paimon" in others:
        reasons.append("Paimon's own metadata is beside it: Paimon wrote this for readers of Iceberg")
    files = tuple(path for path in (choice.path, choice.hint_path) if path)
    confidence = 0.9 if "paimon" in others else 1.0
    return Evidence("iceberg", tuple(reasons), files, confidence, choice.how, choice.candidates, others)


def choose_version(layout: TableLayout, version: int | str | None = None) -> VersionChoice:
    """Choose the metadata file to open. Raises `Missing` for an asked-for version that is not there."""
    if version is not None:
        return layout.folder.pick(version)
    if layout.opened_file is None:
        return layout.folder.choose()
    return layout.folder.take(layout.opened_file, "this metadata file was opened by its own path")


def _guess_lists(folder: MetadataFolder) -> list[str]:
    """Guess the manifest list that the current document names: the newest one, or those of the same second."""
    lists = [
        info for name, info in folder.children.items() if name.startswith("snap-") and name.endswith(".avro")
    ]
    newest = max((info.modified for info in lists if info.modified), default=None)
    likely = [info for info in lists if info.modified == newest and info.size <= _MOST_OF_LIST]
    return [info.path for info in likely] if len(likely) <= _MOST_GUESSED else []


def _find_root(folder: str) -> str:
    return posixpath.dirname(folder) if posixpath.basename(folder) == "metadata" else folder


def _refuse_view(store: Store, layout: TableLayout, choice: VersionChoice) -> None:
    """A view's document says so in its first keys; a compressed one is read whole."""
    path = choice.path
    try:
        head = store.read_range(path, 0, 65_536)
        if head[:1] in (b"{", b" ", b"\n", b"\xef") and not any(word in head for word in _VIEW_WORDS):
            return
        outline = decode_outline(store.read(path), path)
    except LakeError:
        return  # damage is reported when the table is opened
    try:
        check_not_a_view(outline, path)
    except Unsupported as error:
        from lakelens.formats.iceberg.views import find_view

        raise find_view(store, layout, choice, error) from None
