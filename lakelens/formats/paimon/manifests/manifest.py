"""Paimon's manifest lists and manifests, in Avro, ORC or Parquet.

    manifest list   one record for each manifest: name, size, counts of added and deleted files, partition statistics
    manifest        one record for each file: _KIND (0 ADD, 1 DELETE), _PARTITION, _BUCKET, _TOTAL_BUCKETS, _FILE

Fields are found by name: by version a writer stored 7 to 13 and 13 to 21 of them. See "Manifest" of the Paimon
table specification.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import field
from itertools import count
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.errors import Corrupt, LakeError, Missing
from lakelens.formats.paimon.context import TableContext, TableObject
from lakelens.formats.paimon.manifests.containers import (
    decode_container,
    decode_container_header,
    open_container,
)
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.stats import SimpleStats, decode_stats
from lakelens.lazy import dataclass
from lakelens.model.collections import Document
from lakelens.model.datafile import Content
from lakelens.model.manifest import (
    Entry,
    FieldSummaries,
    FieldSummary,
    Manifest,
    ManifestAnswers,
    ManifestList,
    collect,
)

if TYPE_CHECKING:
    from lakelens.codecs.avro.records import AvroRecords

KINDS = {0: "ADD", 1: "DELETE"}
#: Which entries of manifests a reading keeps: files that are live in the end, all that were added, all that were removed.
LIVE, ADDED, REMOVED = "live", "added", "removed"


def _read_header(container: _Container) -> Document:
    """Read the facts of the container itself: `format`, `schema`, `codec`, `metadata`."""
    data = container.context.store.read(container.path)
    return Document(decode_container_header(data, container.path), "header")


def _summarise(manifest: PaimonManifest) -> FieldSummaries:
    """List smallest and largest value and nulls for each partition column; empty, with a finding, on damage."""
    stats = manifest.context.access.attempt(lambda: manifest.partition_stats, manifest.path, None)
    if stats is None:
        return FieldSummaries()
    return FieldSummaries(
        FieldSummary(name, low, high, None if nulls is None else nulls > 0, null_count=nulls)
        for name, low, high, nulls in zip(
            stats.names, stats.min_values, stats.max_values, stats.null_counts, strict=True
        )
    )


class _Container(TableObject):
    """A manifest list or a manifest as a file."""

    path: Any

    def _read_records(self, recorded_size: int | None, recorder: str) -> list[dict[str, Any]]:
        return decode_container(read_metadata(self.context, self.path, recorded_size, recorder), self.path)


# the lists in the record of a file: what they are of, and in Python
_LISTS: Mapping[str, tuple[str, type]] = {
    **dict.fromkeys(("_EXTRA_FILES", "_VALUE_STATS_COLS", "_WRITE_COLS"), ("names", str)),
    "_WRITE_COLS_SEQUENCES": ("numbers", int),
}


class PaimonManifest(_Container, Manifest):
    """A manifest; every field of its line in the list is an attribute without the leading underscore."""

    late = MappingProxyType({"header": _read_header, "partition_summary": _summarise})

    def __init__(self, raw: Mapping[str, Any], content: Content, context: TableContext) -> None:
        self.context = context
        self.raw = raw
        self.content: Content = content
        self.file_name: str = raw["_FILE_NAME"]
        self.file_size: int | None = raw.get("_FILE_SIZE")
        self.num_added_files: int | None = raw.get("_NUM_ADDED_FILES")
        self.num_deleted_files: int | None = raw.get("_NUM_DELETED_FILES")
        self.schema_id = raw.get("_SCHEMA_ID")
        self.min_bucket: int | None = raw.get("_MIN_BUCKET")
        self.max_bucket: int | None = raw.get("_MAX_BUCKET")
        self.min_level: int | None = raw.get("_MIN_LEVEL")
        self.max_level: int | None = raw.get("_MAX_LEVEL")
        self.min_row_id: int | None = raw.get("_MIN_ROW_ID")
        self.max_row_id: int | None = raw.get("_MAX_ROW_ID")
        self.path = context.layout.shared("manifest", self.file_name)
        self.recorded_path = self.file_name
        self.size_bytes = self.file_size
        self.added_files_count = self.num_added_files
        self.deleted_files_count = self.num_deleted_files

    @cached_property
    def partition_stats(self) -> SimpleStats:
        """Statistics over the partition columns. Raises `LakeError` on damage."""
        label, columns = "_PARTITION_STATS", self.context.schema.partition_columns
        return decode_stats(self.raw.get(label), columns, self.path, label, self.context.source(self))

    def _decode_all(self) -> Iterator[Entry]:
        """Yield every entry; of a damaged file those before the damage. A list that counts wrongly is a finding."""
        try:
            records = self._read_records(self.file_size, "manifest list")
        except Missing:
            raise
        except LakeError:
            yield from self._stream()
            raise
        added = 0
        for position, record in enumerate(records):
            entry = self._make_entry(record, position)
            added += entry.is_live
            yield entry
        self.check_counts(added, len(records) - added)

    def _stream(self) -> Iterator[Entry]:
        for position in count():
            try:
                yield self._decode(position)
            except IndexError:
                return

    def _decode(self, position: int) -> Entry:
        return self._make_entry(self.context.opened.get(self.path, self._open)[position], position)

    def _open(self) -> Sequence[Any] | AvroRecords:
        return open_container(
            read_metadata(self.context, self.path, self.file_size, "manifest list"), self.path
        )

    def _make_entry(self, record: Mapping[str, Any], position: int) -> Entry:
        file = record.get("_FILE")
        if not isinstance(file, Mapping) or not isinstance(file.get("_FILE_NAME"), str):
            message, expected = f"record {position} is no manifest entry", "_FILE._FILE_NAME"
            raise Corrupt(message, path=self.path, expected=expected, seen=list(record))
        for name, (items, kind) in _LISTS.items():
            values = file.get(name)
            is_list = isinstance(values, list | tuple | None)
            if not is_list or not all(isinstance(value, kind) for value in values or ()):
                message, expected = (
                    f"record {position} is no manifest entry",
                    f"a list of {items} in _FILE.{name}",
                )
                raise Corrupt(message, path=self.path, expected=expected, seen=values)
        number = record.get("_KIND")
        if number not in KINDS:
            message, expected = f"record {position} of unknown kind", "_KIND 0 (ADD) or 1 (DELETE)"
            raise Corrupt(message, path=self.path, expected=expected, seen=number)
        found = PaimonDataFile(record, self, self.context, position)
        sequence = found.max_sequence_number
        return Entry(KINDS[number], None, sequence, found, raw=record, _source=self.context.source())

    def check_counts(self, added: int, deleted: int) -> None:
        """Add a finding when the manifest holds another number of ADD or DELETE entries than its list counts."""
        counts = (("ADD", self.num_added_files, added), ("DELETE", self.num_deleted_files, deleted))
        for status, recorded, counted in counts:
            if recorded is not None and counted != recorded:
                message = (
                    f"the manifest list counts {recorded} {status} entries, the manifest holds {counted}"
                )
                self.context.findings.add("warning", "manifest-counts", self.path, message)


PaimonManifest.answers = ManifestAnswers(
    entries=PaimonManifest._decode_all,
    stream=PaimonManifest._stream,
    entry=PaimonManifest._decode,
    count=lambda manifest: len(manifest.context.opened.get(manifest.path, manifest._open)),
    columns=lambda manifest: manifest.context.describe_columns(),
)


class KnownManifests:
    """The lists and manifests of one table: who names the same one shares one object, so that each file is read once.

    A tag names the lists of the snapshot that it was made of.
    """

    def __init__(self, context: TableContext) -> None:
        self.context = context
        self._manifests: dict[tuple[str, Content], PaimonManifest] = {}
        self._lists: dict[tuple[str, str, int | None], PaimonManifestList] = {}

    def share_list(self, name: str, role: str, size_bytes: int | None) -> PaimonManifestList:
        """The manifest list that a snapshot, a changelog or a tag names."""
        key = (name, role, size_bytes)
        found = self._lists.get(key)
        if found is None:
            found = self._lists[key] = PaimonManifestList(name, role, size_bytes, self)
        return found

    def share(self, record: Mapping[str, Any], content: Content) -> PaimonManifest:
        """The manifest of a list's record."""
        key = (record["_FILE_NAME"], content)
        found = self._manifests.get(key)
        if found is None or found.raw != record:
            found = self._manifests[key] = PaimonManifest(record, content, self.context)
        return found


class PaimonManifestList(_Container, ManifestList):
    """A manifest list of one role: "base" (everything before the commit), "delta" (its changes) or "changelog"."""

    late = MappingProxyType(
        {"header": _read_header, "_read_manifests": lambda listed: collect(listed._iterate())}
    )

    def __init__(self, name: str, role: str, size_bytes: int | None, known: KnownManifests) -> None:
        self.context = known.context
        self._known = known
        self.path = self.context.layout.shared("manifest", name)
        self.recorded_path = name
        self.role = role
        self.size_bytes = size_bytes
        if size_bytes is not None:
            self.context.store.expect([(self.path, size_bytes)])

    def _iterate(self) -> Iterator[PaimonManifest]:
        """Yield the manifests it names, in order. Raises `LakeError` when the file is missing or damaged."""
        content: Content = "changelog" if self.role == "changelog" else "data"
        records = self._read_records(self.size_bytes, "snapshot")
        for position, record in enumerate(records):
            if not isinstance(record.get("_FILE_NAME"), str):
                message = f"record {position} is no line of a manifest list"
                raise Corrupt(message, path=self.path, expected="_FILE_NAME", seen=list(record))
        folder = self.context.layout.shared
        sizes = ((folder("manifest", record["_FILE_NAME"]), record.get("_FILE_SIZE")) for record in records)
        self.context.store.expect((path, size) for path, size in sizes if isinstance(size, int))
        yield from (self._known.share(record, content) for record in records)


def place_manifest(manifest: PaimonManifest) -> tuple[str, int | None] | None:
    """Place where a manifest is, and its recorded size; None where it was read."""
    return None if manifest.is_read else (manifest.path, manifest.file_size)


@dataclass(slots=True)
class MergedEntries:
    """`live` entries by identity, `repeated` ADDs of a live file, `dangling` DELETEs of unknown ones."""

    live: dict[Hashable, Entry] = field(default_factory=dict)
    repeated: list[Entry] = field(default_factory=list)
    dangling: list[Entry] = field(default_factory=list)


def merge_entries(entries: Iterable[Entry]) -> MergedEntries:
    """Merge the live set of a snapshot, folded exactly as the engine does.

    The entries of the base list, then of the delta list, each manifest in list order, each entry in file order: ADD inserts,
    DELETE removes. Seven fields identify a file (partition, bucket, level, name, extra files, embedded index, external
    path), so that a compaction that only raises a file's level deletes and adds it again. See "Snapshot" of the
    specification.
    """
    merged = MergedEntries()
    for entry in entries:
        identity = entry.file.identity
        if entry.is_live:
            if identity in merged.live:
                merged.repeated.append(entry)
            merged.live[identity] = entry
        elif merged.live.pop(identity, None) is None:
            merged.dangling.append(entry)
    return merged


def read_metadata(context: TableContext, path: str, recorded_size: int | None, recorder: str) -> bytes:
    """Read the bytes of a metadata file; a finding when it is not as long as recorded."""
    try:
        data = context.store.read(path)
    except Missing as error:
        hint = "expiry removes metadata that a tag, a branch or a copied snapshot may still name"
        raise Missing("no such file: it has expired, or was not copied", path=path, hint=hint) from error
    if recorded_size is not None and recorded_size != len(data):
        message = f"the {recorder} says {recorded_size} bytes, the file has {len(data)}"
        context.findings.add("warning", "manifest-length", path, message)
    return data
