"""Paimon's manifest lists and manifests, in Avro, ORC or Parquet.

    manifest list   one record for each manifest: name, size, counts of added and deleted files, partition statistics
    manifest        one record for each file: _KIND (0 ADD, 1 DELETE), _PARTITION, _BUCKET, _TOTAL_BUCKETS, _FILE

Fields are found by name: writers of different versions wrote 7 to 13 and 13 to 21 of them. See "Manifest" of the Paimon
table specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt, Missing
from lakelens.formats.paimon.manifests.containers import decode_container, decode_container_header
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.stats import SimpleStats, decode_stats
from lakelens.model.datafile import Content
from lakelens.model.explainable import Source
from lakelens.model.manifest import Entry, FieldSummary, Manifest, ManifestList

if TYPE_CHECKING:
    from lakelens.formats.paimon.context import TableContext
    from lakelens.model.explanation import Explanation

KINDS = {0: "ADD", 1: "DELETE"}


class PaimonManifest(Manifest):
    """A manifest; every field of its line in the list is an attribute without the leading underscore."""

    def __init__(self, raw: Mapping[str, Any], content: Content, context: TableContext) -> None:
        self._context = context
        self.raw = raw
        self.content = content
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
        self.path = context.layout.manifest(self.file_name)
        self.recorded_path = self.file_name
        self.size_bytes = self.file_size
        self.added_files_count = self.num_added_files
        self.deleted_files_count = self.num_deleted_files

    @cached_property
    def partition_stats(self) -> SimpleStats:
        """Statistics over the partition columns. Raises `LakeError` on damage."""
        label = "_PARTITION_STATS"
        return decode_stats(
            self.raw.get(label),
            self._context.schema.partition_columns,
            self.path,
            label,
            Source("lakelens.formats.paimon.explain.objects.explain_list_row", self),
            Source("lakelens.formats.paimon.explain.objects.explain_list_stats", self, label),
        )

    @cached_property
    def partition_summary(self) -> tuple[FieldSummary, ...]:  # type: ignore[override]
        """Smallest and largest value and nulls for each partition column; empty, with a finding, on damage."""
        stats = self._context.attempt(lambda: self.partition_stats, self.path, None)
        if stats is None:
            return ()
        return tuple(
            FieldSummary(name, low, high, None if nulls is None else nulls > 0, null_count=nulls)
            for name, low, high, nulls in zip(
                stats.names, stats.min_values, stats.max_values, stats.null_counts, strict=True
            )
        )

    @cached_property
    def entries(self) -> Sequence[Entry]:
        """Every entry in file order. Raises `LakeError` when the file is missing or damaged."""
        data = read_metadata(self._context, self.path, self.file_size, "manifest list")
        records = decode_container(data, self.path)
        entries = tuple(self._make_entry(record, position) for position, record in enumerate(records))
        self._check_counts(entries)
        return entries

    @cached_property
    def header(self) -> Mapping[str, Any]:
        """The container's own words: `format`, `schema`, `codec`, `metadata`."""
        return decode_container_header(self._context.store.read(self.path), self.path)

    def bytes_view(self) -> Explanation:
        """The manifest file; rows inside of Avro records are explained too. Raises `Missing`."""
        from lakelens.formats.paimon.explain.objects import explain_manifest

        return explain_manifest(self, self._context)

    @cached_property
    def _entry_source(self) -> Source:
        return Source("lakelens.formats.paimon.explain.objects.explain_entry", self, self._context)

    def _make_entry(self, record: Mapping[str, Any], position: int) -> Entry:
        file = record.get("_FILE")
        if not isinstance(file, Mapping) or not isinstance(file.get("_FILE_NAME"), str):
            raise Corrupt(
                f"record {position} is no manifest entry",
                path=self.path,
                expected="_FILE._FILE_NAME",
                seen=list(record),
            )
        kind = KINDS.get(record.get("_KIND"))  # type: ignore[arg-type]
        if kind is None:
            seen = record.get("_KIND")
            raise Corrupt(
                f"record {position} of unknown kind",
                path=self.path,
                expected="_KIND 0 (ADD) or 1 (DELETE)",
                seen=seen,
            )
        found = PaimonDataFile(record, self.content, self.path, self._context)  # type: ignore[arg-type]
        return Entry(kind, None, found.max_sequence_number, found, raw=record, _source=self._entry_source)

    def _check_counts(self, entries: Sequence[Entry]) -> None:
        added = sum(entry.status == "ADD" for entry in entries)
        self.check_counts(added, len(entries) - added)

    def check_counts(self, added: int, deleted: int) -> None:
        """Make it a finding when the list counts other numbers of ADD or DELETE entries than the manifest holds."""
        counts = (("ADD", self.num_added_files, added), ("DELETE", self.num_deleted_files, deleted))
        for status, recorded, counted in counts:
            if recorded is not None and counted != recorded:
                message = (
                    f"the manifest list counts {recorded} {status} entries, the manifest holds {counted}"
                )
                self._context.findings.add("warning", "manifest-counts", self.path, message)


class PaimonManifestList(ManifestList):
    """A manifest list of one role: "base" (everything before the commit), "delta" (its changes) or "changelog"."""

    def __init__(self, name: str, role: str, size_bytes: int | None, context: TableContext) -> None:
        self._context = context
        self.path: str = context.layout.manifest(name)
        self.recorded_path = name
        self.role = role
        self.size_bytes = size_bytes

    @cached_property
    def manifests(self) -> tuple[PaimonManifest, ...]:
        """The manifests it names, in order. Raises `LakeError` when the file is missing or damaged."""
        data = read_metadata(self._context, self.path, self.size_bytes, "snapshot")
        content: Content = "changelog" if self.role == "changelog" else "data"
        return tuple(
            self._make_manifest(record, content, position)
            for position, record in enumerate(decode_container(data, self.path))
        )

    @cached_property
    def header(self) -> Mapping[str, Any]:
        """The container's own words: `format`, `schema`, `codec`, `metadata`."""
        return decode_container_header(self._context.store.read(self.path), self.path)

    def bytes_view(self) -> Explanation:
        """The file of the list; rows inside of Avro records are explained too. Raises `Missing`."""
        from lakelens.formats.paimon.explain.objects import explain_manifest_list

        return explain_manifest_list(self, self._context)

    def _make_manifest(self, record: Mapping[str, Any], content: Content, position: int) -> PaimonManifest:
        if not isinstance(record.get("_FILE_NAME"), str):
            raise Corrupt(
                f"record {position} is no line of a manifest list",
                path=self.path,
                expected="_FILE_NAME",
                seen=list(record),
            )
        return self._context.share_manifest(record, content)


def read_metadata(context: TableContext, path: str, recorded_size: int | None, recorder: str) -> bytes:
    """The bytes of a metadata file; a finding when their number is not the recorded one."""
    try:
        data = context.store.read(path)
    except Missing as error:
        hint = "expiry removes metadata that a tag, a branch or a copied snapshot may still name"
        raise Missing("no such file: it has expired, or was not copied", path=path, hint=hint) from error
    if recorded_size is not None and recorded_size != len(data):
        message = f"the {recorder} says {recorded_size} bytes, the file has {len(data)}"
        context.findings.add("warning", "manifest-length", path, message)
    return data
