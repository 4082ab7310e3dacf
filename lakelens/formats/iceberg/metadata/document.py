"""The table metadata document: opened without making objects of what grows with the table, and kept with every key.

What cannot be read is refused with its JSON path, wherever in the document it is::

    Corrupt: v1.metadata.json: … (at $.snapshots[0].snapshot-id; expected int; seen str)

Numbers that a JSON tool has turned into text or floats (`"7"`, `1.2e18`) are read, and said to be so in `notes`.
"""

from __future__ import annotations

import codecs
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import msgspec
from msgspec import Raw

from lakelens.caching import cached_property
from lakelens.codecs.compression import allow_growth, decompress
from lakelens.codecs.kinds import sniff
from lakelens.errors import Corrupt, LakeError, Unsupported
from lakelens.formats.access import LruCache, TableAccess
from lakelens.formats.iceberg.metadata.wire import (
    ABSENT,
    INTEGER_KEYS,
    LONG_KEYS,
    LongList,
    WireMetadata,
    WireStatistics,
    describe_error,
    describe_number,
    describe_repairs,
    repair_numbers,
)
from lakelens.lazy import dataclass
from lakelens.model.finding import Severity

if TYPE_CHECKING:
    from lakelens.formats.iceberg.metadata.wire import WireSnapshot


# What must be known of all snapshots at once, though none of them is an object yet: ids, parents, times, their order.

_LIST = re.compile(r"snap-(-?\d+)-.+\.avro", re.IGNORECASE)


class SnapshotIndex:
    """An index of the snapshots of a document. A position counts in commit order; a snapshot is stored elsewhere.

    `list_folders` are the folders of the manifest lists, as recorded; `rounded` are ids that a JSON tool rounded without a
    trace, each with the id in the name of its manifest list.
    """

    def __init__(self, snapshots: Iterable[WireSnapshot]) -> None:
        self._ids: list[int] = []
        self._parents: list[int | None] = []
        self._moments: list[int] = []
        self.list_folders: dict[str, None] = {}
        self.rounded: list[tuple[int, int]] = []
        numbers: list[int] = []
        for wire in snapshots:
            self._ids.append(wire.snapshot_id)
            self._parents.append(wire.parent_snapshot_id if wire.parent_snapshot_id != -1 else None)
            self._moments.append(wire.timestamp_ms)
            numbers.append(wire.sequence_number or 0)
            self._learn_from_list(wire)
        self._order: Sequence[int] = range(len(numbers))
        if any(later < sooner for sooner, later in pairwise(numbers)):
            self._order = sorted(self._order, key=numbers.__getitem__)  # a stable sort

    def _learn_from_list(self, wire: WireSnapshot) -> None:
        recorded = wire.manifest_list
        if not recorded:
            return
        self.list_folders[recorded.rpartition("/")[0]] = None
        named = parse_snapshot_id(recorded)
        if named is not None and named != wire.snapshot_id and _round(named) == _round(wire.snapshot_id):
            self.rounded.append((wire.snapshot_id, named))

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, snapshot_id: object) -> bool:
        return snapshot_id in self._positions

    def locate(self, position: int) -> int:
        """Locate where in the document the snapshot of a position is stored."""
        return self._order[position]

    def find(self, snapshot_id: int) -> int | None:
        """Find the position of an id; None when there is no such snapshot. The last of several."""
        return self._positions.get(snapshot_id)

    def list_stored(self, snapshot_id: int) -> Iterator[int]:
        """List where in the document the snapshots of an id are stored: one, unless the document is wrong."""
        return (index for index, known in enumerate(self._ids) if known == snapshot_id)

    def find_parent(self, snapshot_id: int) -> int | None:
        """Find the id of a snapshot's parent; None when it has none, or there is no such snapshot."""
        position = self.find(snapshot_id)
        return None if position is None else self._parents[self._order[position]]

    def iter_moments(self) -> Iterator[tuple[int, int]]:
        """Ids with the time of their commit in milliseconds, in commit order."""
        return ((self._ids[index], self._moments[index]) for index in self._order)

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {self._ids[index]: position for position, index in enumerate(self._order)}


def parse_snapshot_id(path: str) -> int | None:
    """Parse the snapshot id in the name of a manifest list; None when it is named otherwise.

    >>> parse_snapshot_id("/t/metadata/snap-7-1-2f2b.avro")
    7
    """
    matched = _LIST.fullmatch(path.rsplit("/", 1)[-1])
    return int(matched[1]) if matched else None


def _round(number: int) -> float | None:
    """Say what is left of a number in a JSON tool that knows floats alone; None where it holds no number so large."""
    try:
        return float(number)
    except OverflowError:
        return None


NEWEST_VERSION = 4  # a draft
_CHUNK = 1 << 20
_RATIO = 200  # these documents compress ten to forty times


class _Head(WireMetadata, rename="kebab", dict=True):
    """A document that may be a view's: these keys show it."""

    view_uuid: Raw = ABSENT
    current_version_id: Raw = ABSENT


@dataclass(frozen=True)
class Document:
    """A metadata document: its place, its text, its typed form, an index of its snapshots, and what is odd about it.

    `text` is decompressed; `notes` are a severity, a code and a sentence each.
    """

    path: str
    text: bytes
    typed: WireMetadata
    snapshots: SnapshotIndex
    notes: tuple[tuple[Severity, str, str], ...] = ()

    @cached_property
    def raw(self) -> dict[str, Any]:
        """All of the document as objects, every key kept: takes several times the memory of its text."""
        raw: dict[str, Any] = decode_json(self.text, self.path)
        return raw

    @cached_property
    def outline(self) -> Mapping[str, Any]:
        """The document without the lists that grow with the table; every other key kept."""
        return decode_outline(self.text, self.path)

    def decode_snapshot(self, index: int) -> dict[str, Any]:
        """Decode the object of one snapshot, every key kept. `index` is where the document stores it."""
        raw: dict[str, Any] = _decode_text(self.typed.snapshots.stored(index), self.path)
        return raw

    def list_statistics(self, key: str, snapshot_id: int) -> Iterator[tuple[WireStatistics, dict[str, Any]]]:
        """The statistics files of a snapshot, typed and raw. `key` is the list's, "statistics" or "partition-statistics"."""
        listed = self.typed.statistics if key == "statistics" else self.typed.partition_statistics
        for index in self._statistics_places[key].get(snapshot_id, ()):
            yield listed[index], _decode_text(listed.stored(index), self.path)

    @cached_property
    def _statistics_places(self) -> dict[str, dict[int, list[int]]]:
        places: dict[str, dict[int, list[int]]] = {"statistics": {}, "partition-statistics": {}}
        lists = (self.typed.statistics, self.typed.partition_statistics)
        for found, listed in zip(places.values(), lists, strict=True):
            for index, wire in enumerate(listed):
                found.setdefault(wire.snapshot_id, []).append(index)
        return places


def decode_json(data: bytes, path: str | None = None) -> Any:
    """Decode the JSON value of a document, decompressed where needed. Raises `Corrupt` with the byte where it goes wrong.

    >>> decode_json(b'{"a": 9223372036854775807}')
    {'a': 9223372036854775807}
    """
    return _decode_text(_unpack(data, path), path)


def _decode_text(text: bytes, path: str | None) -> Any:
    with _describing_errors(text, path):
        return msgspec.json.decode(text)


def peek_log(data: bytes, path: str) -> tuple[Any, list[str]]:
    """Peek when a document was updated last, as it says, and the earlier files that it logs. Raises `Corrupt`."""
    text = _unpack(data, path)
    with _describing_errors(text, path):
        try:
            stored = msgspec.json.decode(text, type=dict[str, Raw])
        except msgspec.ValidationError:
            return None, []  # no object, so no document
        keys = ("last-updated-ms", "metadata-log")
        moment, log = (msgspec.json.decode(stored.get(key, b"null")) for key in keys)
    lines = log if isinstance(log, list) else []
    files = [line.get("metadata-file") for line in lines if isinstance(line, dict)]
    return moment, [file for file in files if isinstance(file, str)]


def decode_document(data: bytes, path: str) -> Document:
    """Decode the metadata document of these bytes. Raises `Corrupt` (byte or JSON path), `Unsupported` for a later version.

    All of it is looked at, but no more than one item of a list that grows with the table is an object at a time.
    """
    text = _unpack(data, path)
    with _describing_errors(text, path):
        typed, repaired = _decode_head(text, path)
        _check_head(typed, path)
        snapshots = SnapshotIndex(typed.snapshots.check(repaired))
        others: tuple[LongList[Any], ...] = (
            *(typed.snapshot_log, typed.metadata_log),
            *(typed.statistics, typed.partition_statistics),
        )
        for listed in others:
            for _ in listed.check(repaired):
                pass
    check_utf8(text, path)
    notes: list[tuple[Severity, str, str]] = [("warning", *repair) for repair in describe_repairs(repaired)]
    if typed.format_version == NEWEST_VERSION:
        message = "format version 4 is a draft: it is read as Iceberg 1.12 writes it"
        notes.append(("note", "experimental-version", message))
    return Document(path, text, typed, snapshots, tuple(notes))


def _decode_head(text: bytes, path: str) -> tuple[WireMetadata, list[str]]:
    """Decode the document with its long lists left as text, and the places of repaired integers among the rest."""
    try:
        typed = msgspec.json.decode(text, type=_Head)
    except msgspec.ValidationError:
        pass
    else:
        if typed.view_uuid is ABSENT and typed.current_version_id is ABSENT:
            return typed, []
    outline = decode_outline(text, path)
    check_not_a_view(outline, path)
    values, repaired = repair_numbers(outline, INTEGER_KEYS)
    stored = msgspec.json.decode(text, type=dict[str, Raw])
    values |= {key: stored[key] for key in LONG_KEYS if key in stored}
    return msgspec.convert(values, WireMetadata), repaired


def decode_outline(data: bytes, path: str) -> dict[str, Any]:
    """Decode a document without the lists that grow with the table, decompressed where needed. Raises `Corrupt`."""
    text = _unpack(data, path)
    with _describing_errors(text, path):
        msgspec.json.decode(text, type=Raw)
        try:
            stored = msgspec.json.decode(text, type=dict[str, Raw])
        except msgspec.ValidationError as error:
            check_utf8(text, path)
            seen = str(error).removeprefix("Expected `object`, got ").strip("`")
            message = "not a metadata document"
            raise Corrupt(message, path=path, json_path="$", expected="an object", seen=seen) from error
        return {key: msgspec.json.decode(value) for key, value in stored.items() if key not in LONG_KEYS}


def _check_head(typed: WireMetadata, path: str) -> None:
    if typed.format_version > NEWEST_VERSION or typed.format_version < 1:
        message = f"Iceberg format version {typed.format_version} is not known"
        raise Unsupported(message, path=path, hint="versions 1 to 4")
    if not typed.schemas and typed.schema is None:
        missing = "$.schemas" if typed.format_version > 1 else "$.schema"
        raise Corrupt("a metadata document without a schema", path=path, json_path=missing)


def decompress_document(data: bytes, path: str | None = None) -> bytes:
    """Decompress the bytes of a document; gzip and Zstandard are recognised by their first bytes. Raises `Corrupt`.

    >>> import gzip
    >>> decompress_document(gzip.compress(b"{}")), decompress_document(b"{}")
    (b'{}', b'{}')
    """
    kind = sniff(data[:16])
    if kind not in ("gzip", "zstd"):
        return data
    return decompress(kind, data, allow_growth(len(data), _RATIO, "max_document"), path=path)


def _unpack(data: bytes, path: str | None) -> bytes:
    text = decompress_document(data, path)
    text = text[3:] if text.startswith(codecs.BOM_UTF8) else text
    if not text[:_CHUNK].strip() and not text.strip():
        raise Corrupt("empty file, not a metadata document", path=path, offset=0, expected="a JSON object")
    return text


@contextmanager
def _describing_errors(text: bytes, path: str | None) -> Iterator[None]:
    """Raises `Corrupt` for a text that is not JSON, and for a value that does not belong in a document."""
    try:
        yield
    except msgspec.ValidationError as error:
        if str(error).startswith("Number out of range"):
            raise describe_number(text, path) from error
        raise describe_error(error, path) from error
    except (msgspec.DecodeError, UnicodeDecodeError, RecursionError) as error:
        raise _describe_broken(error, text, path) from error


def _describe_broken(error: Exception, text: bytes, path: str | None) -> Corrupt:
    if isinstance(error, RecursionError):
        return Corrupt("not a metadata document: nested too deeply", path=path, json_path="$")
    if isinstance(error, UnicodeDecodeError):
        check_utf8(text, path)
        return Corrupt("not JSON: the text is not UTF-8", path=path, offset=error.start)
    matched = re.search(r"\(byte (\d+)\)", str(error))
    offset = int(matched[1]) if matched else len(text)
    return Corrupt("not JSON", path=path, offset=offset, seen=str(error))


def is_unfinished(data: bytes, error: Corrupt) -> bool:
    """Check whether a document that was refused is empty or ends too early: it may still be being written.

    >>> is_unfinished(b'{"format-version": 2', Corrupt("not JSON"))
    True
    """
    if not data.rstrip().endswith(b"}") and data[:1] in b"{ \n":
        return True
    return any(word in str(error.seen) for word in ("was truncated", "end too early"))


def check_utf8(text: bytes, path: str | None = None) -> None:
    """Raises `Corrupt` with the first byte that is not UTF-8; takes hardly any memory.

    >>> check_utf8("é".encode() * 9)
    """
    start = len(text) if text.isascii() else 0
    while start < len(text):
        part = text[start : start + _CHUNK]
        try:
            start += codecs.utf_8_decode(part, "strict", start + len(part) >= len(text))[1]
        except UnicodeDecodeError as error:
            raise Corrupt("not JSON: the text is not UTF-8", path=path, offset=start + error.start) from error


def is_view(raw: Any) -> bool:
    """Check whether a JSON document is the metadata of an Iceberg view."""
    return isinstance(raw, dict) and (
        "view-uuid" in raw or ("current-version-id" in raw and "versions" in raw and "schemas" in raw)
    )


def check_not_a_view(raw: dict[str, Any], path: str) -> None:
    """Raises `Unsupported` for the metadata of a view, naming it and the SQL dialects it is written in."""
    if not is_view(raw):
        return
    location = raw.get("location")
    name = location.rstrip("/").rsplit("/", 1)[-1] if isinstance(location, str) else "without a location"
    versions = raw.get("versions")
    dialects = sorted(
        {
            str(shape.get("dialect"))
            for version in (versions if isinstance(versions, list) else [])
            if isinstance(version, dict) and isinstance(version.get("representations"), list)
            for shape in version["representations"]
            if isinstance(shape, dict)
        }
    )
    raise Unsupported(
        f"an Iceberg view, not a table: {name}, with SQL for {', '.join(dialects) or 'no dialect'}",
        path=path,
        hint="open the tables that it selects from",
    )


# documents that are kept after they were read: those of the two sides of a diff
_MOST_KEPT = 2


# how many documents are tried for a snapshot whose time no document has
_MOST_TRIED = 3


class CommittedDocuments:
    """The documents that the snapshots of one table were committed with; the last ones that were read are kept."""

    def __init__(self, access: TableAccess, opened: Document) -> None:
        self._access, self._opened = access, opened
        self._kept = LruCache[str, dict[str, Any]](_MOST_KEPT)

    def find(self, snapshot_id: int, moment: int | None) -> tuple[str, dict[str, Any]] | None:
        """Find the first document that has a snapshot, with its path; None where it is gone or cannot be identified."""
        if moment is None:
            return None
        for path in self._list_candidates(moment):
            if path == self._opened.path:
                if snapshot_id in self._opened.snapshots:
                    return path, self._opened.raw
                continue
            try:
                document = self._kept.get(path, lambda path=path: self._read(path))  # type: ignore[misc]
            except LakeError:
                continue  # it was cleaned up, or is damaged: the snapshots' own objects are left
            snapshots = document.get("snapshots")
            found = snapshots if isinstance(snapshots, list) else []
            if any(isinstance(one, dict) and one.get("snapshot-id") == snapshot_id for one in found):
                return path, document
        return None

    def list_unread(self, moment: int | None) -> Iterator[str]:
        """List the first document that `find` reads; nothing where the opened one is it."""
        first = None if moment is None else next(self._list_candidates(moment), None)
        if first is not None and first != self._opened.path:
            yield first

    def _list_candidates(self, moment: int) -> Iterator[str]:
        """Documents of that very time; else the next later ones, where the log still has what was before that time.

        The opened document is the last of the log.
        """
        locate, typed = self._access.locator.locate, self._opened.typed
        log = [(line.timestamp_ms, locate(line.metadata_file)) for line in typed.metadata_log]
        log.append((typed.last_updated_ms or moment, self._opened.path))
        yield from (path for at, path in log if at == moment)
        if any(at < moment for at, _ in log):
            later = [path for at, path in sorted(log, key=lambda line: line[0]) if at > moment]
            yield from later[:_MOST_TRIED]

    def _read(self, path: str) -> dict[str, Any]:
        read = decode_json(self._access.store.read(path), path)
        return read if isinstance(read, dict) else {}
