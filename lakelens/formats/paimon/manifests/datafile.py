"""One data or changelog file of a Paimon table, as its manifest entry describes it.

Every field of the entry's `_FILE` record is an attribute under its specified name without the leading underscore; fields
that the writer's version did not know are None. See "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.paimon.types import PaimonField
from lakelens.formats.paimon.context import TableContext, TableObject
from lakelens.formats.paimon.manifests.stats import (
    KEY_STATS,
    VALUE_STATS,
    SimpleStats,
    StoredRow,
    check_row,
    decode_row,
    decode_stats,
)
from lakelens.formats.paimon.metadata.layout import file_format
from lakelens.formats.paimon.metadata.partitions import PaimonPartition
from lakelens.formats.paimon.metadata.schemas import PaimonSchema, require_schema
from lakelens.formats.paimon.metadata.wire import parse_millis
from lakelens.model.datafile import DataFile, column

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest
    from lakelens.model.bytes_view import BytesView

SOURCES = {0: "APPEND", 1: "COMPACT"}
MERGED = "rows of a primary-key table are merged by key when they are read"


class PaimonDataFile(TableObject, DataFile):
    """A data file. `creation_time` is the writer's wall clock, without a zone, as Paimon stores it.

    `source_manifest` is the manifest it was found in, `position` its entry's place there, from 0.
    """

    identified_by = (
        *("partition_bytes", "bucket", "level", "file_name", "extra_files", "embedded_file_index"),
        "external_path",
    )
    # a copy of the table may keep its files elsewhere
    copied_by = identified_by[:-1]
    late = MappingProxyType(
        {
            # where the file is now: by partition and bucket, or where its external path leads
            "path": lambda file: file.context.locate_data(
                file.partition_bytes,
                file.bucket or 0,
                file.file_name,
                file.external_path,
                file.source_manifest.path,
            ),
            "partition": lambda file: file.context.partitions.decode(
                file.partition_bytes, file.source_manifest.path
            ),
        }
    )
    answers = "lakelens.formats.paimon.manifests.file_answers:ANSWERS"

    row_count: int | None = column(of="record_count")
    file_size: int | None = column(of="size_bytes")
    max_sequence_number: int | None = column(of="sequence_number")
    min_sequence_number: int | None = column()
    delete_row_count: int | None = column()
    first_row_id: int | None = column()
    _write_cols: Sequence[str] | None = column(of="write_cols")

    def __init__(
        self, raw: Mapping[str, Any], manifest: PaimonManifest, context: TableContext, position: int
    ) -> None:
        file = raw["_FILE"]
        self.context = context
        self.raw = self._record = raw
        self.content = manifest.content
        self.manifest = manifest.path
        self._home = manifest
        self.position = position
        self.partition_bytes = raw.get("_PARTITION") or b""
        self.bucket = raw.get("_BUCKET")
        self.total_buckets: int | None = raw.get("_TOTAL_BUCKETS")
        self.file_name = file["_FILE_NAME"]
        self.file_size = file.get("_FILE_SIZE")
        self.row_count = file.get("_ROW_COUNT")
        self.min_sequence_number = file.get("_MIN_SEQUENCE_NUMBER")
        self.max_sequence_number = file.get("_MAX_SEQUENCE_NUMBER")
        self.schema_id = file.get("_SCHEMA_ID")
        self.level = file.get("_LEVEL")
        self.extra_files: tuple[str, ...] = tuple(file.get("_EXTRA_FILES") or ())
        self.creation_time = to_wall_clock(file.get("_CREATION_TIME"))
        self.delete_row_count = file.get("_DELETE_ROW_COUNT")
        self.embedded_file_index: bytes | None = file.get("_EMBEDDED_FILE_INDEX")
        self.file_source: str | None = SOURCES.get(file.get("_FILE_SOURCE"))
        self.value_stats_cols = _to_tuple(file.get("_VALUE_STATS_COLS"))
        self.external_path: str | None = file.get("_EXTERNAL_PATH")
        self.first_row_id = file.get("_FIRST_ROW_ID")
        self._write_cols = file.get("_WRITE_COLS")
        self.write_cols_sequences = _to_tuple(file.get("_WRITE_COLS_SEQUENCES"))
        self.file_format = file_format(self.file_name)
        self.record_count = self.row_count
        self.size_bytes = self.file_size
        self.sequence_number = self.max_sequence_number
        self.recorded_path = self.external_path or self.file_name

    @property
    def source_manifest(self) -> PaimonManifest:
        """The manifest that names the file."""
        manifest: PaimonManifest = self._home
        return manifest

    @cached_property
    def write_cols(self) -> tuple[str, ...] | None:
        """The columns that the file holds, where it does not hold all of its schema."""
        return _to_tuple(self._write_cols)

    @cached_property
    def file_name(self) -> str:
        """The name, which is what the path of every file ends with."""
        return self.path.rpartition("/")[2]

    @cached_property
    def partition_bytes(self) -> bytes:
        """The partition as the entry stores it, a BinaryRow."""
        return self.partition.stored if isinstance(self.partition, PaimonPartition) else b""

    @cached_property
    def schema(self) -> PaimonSchema:
        """The schema that the file was written with. Raises `Corrupt` when it cannot be read."""
        number = self.schema_id or 0
        return require_schema(self.context.schemas.find(number), number, self.source_manifest.path)

    @cached_property
    def min_key(self) -> StoredRow | None:
        """The first key of the file (trimmed primary key); None for append tables. Raises `LakeError` on damage."""
        return self._decode_key("_MIN_KEY")

    @cached_property
    def max_key(self) -> StoredRow | None:
        """The last key of the file; None for append tables. Raises `LakeError` on damage."""
        return self._decode_key("_MAX_KEY")

    @cached_property
    def key_stats(self) -> SimpleStats:
        """Statistics over the trimmed primary key. Raises `LakeError` on damage."""
        return self._decode_stats(KEY_STATS, self.schema.key_columns)

    @cached_property
    def value_stats(self) -> SimpleStats:
        """Statistics over the columns, by the names of the file's own schema. Raises `LakeError` on damage."""
        columns = self.schema.find_stats_columns(self._record["_FILE"], self.manifest)
        return self._decode_stats(VALUE_STATS, columns)

    @property
    def merge_reason(self) -> str:
        """Why the rows of the file cannot be counted alone, and how many are deletes, as the manifest records it."""
        if not self.delete_row_count:
            return MERGED
        noun = "row of it is a delete" if self.delete_row_count == 1 else "rows of it are deletes"
        return f"{MERGED}; {self.delete_row_count:,} {noun} (_VALUE_KIND -U or -D)"

    def file_index_view(self) -> BytesView:
        """The index over the file's columns: embedded in the manifest entry, or a file beside it.

        Raises
        ------
        LakeError
            When the file has no index, or the index cannot be read.
        """
        return self.context.explain(self, "index")

    def _decode_stats(self, label: str, columns: Sequence[PaimonField]) -> SimpleStats:
        raw = self._record["_FILE"].get(label.removeprefix("_FILE."))
        return decode_stats(raw, columns, self.source_manifest.path, label, self.context.source(self))

    def _decode_key(self, name: str) -> StoredRow | None:
        data = check_row(self._record["_FILE"].get(name), f"_FILE.{name}", self.source_manifest.path)
        columns = self.schema.key_columns if data and data[:4] != b"\x00\x00\x00\x00" else ()
        if not data or not columns:
            return None
        source = self.context.source(self)
        return decode_row(data, columns, self.source_manifest.path, f"_FILE.{name}", source)


def to_wall_clock(value: Any) -> datetime | None:
    """A creation time, which the container gives as milliseconds or as a timestamp with or without UTC, without a zone.

    >>> to_wall_clock(1704067200123)
    datetime.datetime(2024, 1, 1, 0, 0, 0, 123000)
    """
    if isinstance(value, datetime):
        moment = value.astimezone(UTC) if value.tzinfo else value
        return datetime.combine(moment.date(), moment.time())
    try:
        found = None if value is None else parse_millis(int(value))
    except (OverflowError, ValueError, TypeError):
        return None
    return None if found is None else found.replace(tzinfo=None)


def _to_tuple(value: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return tuple(value) if isinstance(value, list | tuple) else None
