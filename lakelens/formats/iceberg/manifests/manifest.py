"""Manifest lists, manifests, and the entries in them with inheritance applied.

Follows "Manifests", "Manifest Lists", "Sequence Number Inheritance" and "Row Lineage" of the Iceberg table specification.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from lakelens.caching import cached_property
from lakelens.codecs.avro.records import AvroRecords
from lakelens.errors import Corrupt, LakeError
from lakelens.formats.iceberg.context import TableContext, TableObject
from lakelens.formats.iceberg.encryption import refuse_encrypted
from lakelens.formats.iceberg.manifests.containers import (
    Header,
    ParquetHeader,
    ParquetRecords,
    StoredRecords,
    decode_head,
    iterate_records,
    open_records,
)
from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
from lakelens.formats.iceberg.manifests.header import (
    describe_header,
    learn_from_header,
    read_number,
    read_text,
)
from lakelens.formats.iceberg.manifests.records import EntryReader
from lakelens.formats.iceberg.metadata.partitions import PartitionColumn
from lakelens.io.ahead import fetch_along
from lakelens.lazy import dataclass
from lakelens.model.bytes_view import Source
from lakelens.model.collections import Document
from lakelens.model.comparison import FileCounts, sum_known
from lakelens.model.manifest import Entry, FieldSummaries, FieldSummary, Manifest, ManifestAnswers

STATUS = {0: "EXISTING", 1: "ADDED", 2: "DELETED"}
_CONTENT = {0: "data", 1: "deletes"}


@dataclass(frozen=True, slots=True)
class OpenEntries:
    """The entries of a manifest one by one: what turns a record into one, and the records."""

    reader: EntryReader
    records: AvroRecords | ParquetRecords


def _read_schema_id(manifest: IcebergManifest) -> int | None:
    """Read the schema id in the manifest's header; None when it says none or cannot be read."""
    try:
        header = manifest.stored_header
    except LakeError:
        return None
    schema = manifest.header["metadata"].get("schema")
    return schema.get("schema-id") if isinstance(schema, dict) else read_number(header, "schema-id")


def _summarise(manifest: IcebergManifest) -> FieldSummaries:
    """Decode what the list says of each partition field. Damaged bounds are left out and kept as findings."""
    if not manifest.partitions:
        # nothing is recorded, and the id of the spec may be in the manifest alone
        return FieldSummaries()
    columns = manifest._context.specs.columns(manifest.partition_spec_id) or []
    return FieldSummaries(
        manifest._summarise_field(stored, index, columns[index] if index < len(columns) else None)
        for index, stored in enumerate(manifest.partitions)
    )


class IcebergManifest(TableObject, Manifest):
    """One manifest. Every field of its line in the manifest list is an attribute under its specified name."""

    late = MappingProxyType(
        {
            "path": lambda manifest: manifest._context.access.locator.locate(manifest.manifest_path),
            "spec_id": lambda manifest: manifest.partition_spec_id,
            "schema_id": _read_schema_id,
            "partition_summary": _summarise,
            "header": lambda manifest: Document(describe_header(manifest.stored_header), "header"),
        }
    )

    def __init__(self, context: TableContext, line: Mapping[str, Any], snapshot_id: int | None) -> None:
        self._context = context
        self.raw = line
        self.manifest_path: str = line["manifest_path"]
        self.recorded_path = self.manifest_path
        self.manifest_length: int | None = line.get("manifest_length")
        self.size_bytes = self.manifest_length
        self.content = _CONTENT.get(line.get("content") or 0, "data")
        self.sequence_number: int = line.get("sequence_number") or 0
        self.min_sequence_number: int = line.get("min_sequence_number") or 0
        self.added_snapshot_id = line.get("added_snapshot_id", snapshot_id)
        self.added_files_count = line.get("added_files_count")
        self.existing_files_count = line.get("existing_files_count")
        self.deleted_files_count = line.get("deleted_files_count")
        self.added_rows_count: int | None = line.get("added_rows_count")
        self.existing_rows_count: int | None = line.get("existing_rows_count")
        self.deleted_rows_count: int | None = line.get("deleted_rows_count")
        self.key_metadata: bytes | None = line.get("key_metadata")
        self.first_row_id: int | None = line.get("first_row_id")
        self.partitions: list[dict[str, Any]] | None = line.get("partitions")
        # entries without a first row id count on from those before them
        self.folded = ("first_row_id",) if self.first_row_id is not None and self.content == "data" else ()

    @cached_property
    def partition_spec_id(self) -> int:
        """The spec that its files are partitioned by; read from the manifest where no list records it."""
        recorded = self.raw.get("partition_spec_id")
        if isinstance(recorded, int):
            return recorded
        try:
            own = read_number(self._file.header, "partition-spec-id")
        except LakeError:
            own = None
        return own if own is not None else (self._context.typed.default_spec_id or 0)

    def _summarise_field(
        self, stored: Mapping[str, Any], index: int, column: PartitionColumn | None
    ) -> FieldSummary:
        def decode(data: bytes | None) -> Any:
            if data is None or column is None:
                return data
            return self._context.access.attempt(lambda: column.decode_bound(data), self.path, None)

        name = column.shown if column is not None else f"#{index}"
        lower, upper = decode(stored.get("lower_bound")), decode(stored.get("upper_bound"))
        return FieldSummary(name, lower, upper, stored.get("contains_null"), stored.get("contains_nan"))

    @property
    def stored_header(self) -> Header:
        """The header as it is stored. Raises `LakeError`."""
        return self._file.header

    def open(self) -> bytes:
        """Open the bytes of the file, which are not kept, after its header was checked. Raises `LakeError`."""
        self._check_content()
        return self._take_data()

    def _decode(self, position: int) -> Entry:
        opened = self._context.opened.get(self.path, self._open_entries)
        record = opened.records[position]
        entry, fields = opened.reader.convert(record, position)
        self._context.columns.add_unknown(fields)
        return self._build_entry(opened.reader, record, entry, fields, None, position)

    def _count(self) -> int:
        return len(self._context.opened.get(self.path, self._open_entries).records)

    def _iterate_opened(self) -> Iterator[dict[str, Any]]:
        yield from self._context.opened.get(self.path, self._open_entries).records

    def _open_entries(self) -> OpenEntries:
        self._check_content()
        file = self._file
        records = open_records(self._take_data(), file.path, file.header)
        return OpenEntries(EntryReader(file.header.record, file.path), records)

    def _take_data(self) -> bytes:
        """Take the bytes of the file, which are not kept: whoever asks again reads it again."""
        return self._file.take() or self._context.access.read_recorded(self.manifest_path)[1]

    @cached_property
    def _entry_source(self) -> Source | None:
        return self._context.source(self)

    @cached_property
    def _file(self) -> StoredRecords:
        path, data = self._context.access.read_recorded(self.manifest_path)
        self._check_length(path, len(data))
        refuse_encrypted(data, path, has_own_key=self.key_metadata is not None)
        header = decode_head(data, path)
        learn_from_header(self._context, header, self.raw.get("partition_spec_id"), path)
        if isinstance(header, ParquetHeader):
            self._note_fields(header, path)
        return StoredRecords(path, header, data)

    def _iterate_records(self) -> Iterator[dict[str, Any]]:
        yield from iterate_records(self._take_data(), self._file.path, self._file.header)

    def _iterate(self, records: Iterator[Mapping[str, Any]]) -> Iterator[Entry]:
        self._check_content()
        reader = EntryReader(self._file.header.record, self._file.path)
        next_row_id = self.first_row_id if self.folded else None
        for index, record in enumerate(records):
            entry, fields = reader.convert(record, index)
            self._context.columns.add_unknown(fields)
            status = entry.get("status")
            row_id = None
            if next_row_id is not None:
                row_id = fields.get("first_row_id")
                if row_id is None and status != 2:
                    row_id = next_row_id
                    next_row_id += fields.get("record_count") or 0
            yield self._build_entry(reader, record, entry, fields, row_id, index)

    def _build_entry(
        self,
        reader: EntryReader,
        record: Mapping[str, Any],
        entry: Mapping[str, Any],
        fields: dict[str, Any],
        row_id: int | None,
        index: int,
    ) -> Entry:
        status = entry.get("status")
        if status not in STATUS:
            place = f"[{index}].status"
            raise Corrupt("an entry of an unknown status", path=reader.path, json_path=place, seen=status)
        snapshot_id = entry.get("snapshot_id")
        snapshot_id = self.added_snapshot_id if snapshot_id is None else snapshot_id
        sequence = self._inherit(entry.get("sequence_number"), status)
        file_sequence = self._inherit(entry.get("file_sequence_number"), status)
        file = IcebergDataFile(
            self._context,
            fields,
            lambda: self._context.specs.build(reader.partition_values(fields), self.partition_spec_id),
            spec_id=self.partition_spec_id,
            manifest=self.path,
            snapshot_id=snapshot_id if status != 2 else None,
            sequence_number=sequence,
            file_sequence_number=file_sequence,
            first_row_id=row_id,
            position=index,
        )
        return Entry(
            STATUS[status], snapshot_id, sequence, file, file_sequence, record, _source=self._entry_source
        )

    def _inherit(self, stored: int | None, status: int) -> int | None:
        """A missing sequence number is the manifest's for an added file, and 0 in manifests of version 1."""
        if stored is not None or (status != 1 and self.sequence_number != 0):
            return stored
        return self.sequence_number

    def _check_length(self, path: str, length: int) -> None:
        if self.manifest_length is not None and self.manifest_length != length:
            message = f"the manifest list says {self.manifest_length} bytes, the file has {length}"
            self._context.findings.add("warning", "manifest-length", path, message)

    def _note_fields(self, header: ParquetHeader, path: str) -> None:
        """Keep fields that cannot be read as findings, and name those that the specification does not have once."""
        findings = self._context.findings
        for problem in header.problems:
            findings.add("error", "manifest-field", path, f"the field {problem}")
        if header.unknown:
            names = ", ".join(header.unknown)
            message = f"manifests have fields that are not known, and not read: {names}"
            findings.add("note", "unknown-field", self._context.document.path, message)

    def _check_content(self) -> None:
        own = read_text(self._file.header, "content")
        if own is not None and own != self.content:
            message = f"the manifest list says that it holds {self.content}, its own header says {own}"
            self._context.findings.add("warning", "manifest-content", self._file.path, message)


IcebergManifest.answers = ManifestAnswers(
    entries=lambda manifest: manifest._iterate(manifest._iterate_records()),
    stream=lambda manifest: manifest._iterate(manifest._iterate_opened()),
    entry=IcebergManifest._decode,
    count=IcebergManifest._count,
    columns=lambda manifest: manifest._context.describe_columns(),
)


def fetch_manifests(context: TableContext, manifests: Iterable[IcebergManifest]) -> Iterator[IcebergManifest]:
    """Fetch each manifest once, in order; where each request waits for a network those that come next are read together."""
    return fetch_along(context.access.store, dict.fromkeys(manifests), place_manifest)


def place_manifest(manifest: IcebergManifest) -> tuple[str, int | None] | None:
    """Place where a manifest is, and its recorded size; None where it was read."""
    return None if manifest.is_read else (manifest.path, manifest.manifest_length)


def count_line(manifest: IcebergManifest) -> FileCounts:
    """Count the live files of a manifest and their rows as its line in the list counts them."""
    files = sum_known(manifest.added_files_count, manifest.existing_files_count)
    return FileCounts(files, sum_known(manifest.added_rows_count, manifest.existing_rows_count), None)
