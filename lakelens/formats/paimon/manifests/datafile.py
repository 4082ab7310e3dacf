"""One data or changelog file of a Paimon table, as its manifest entry describes it.

Every field of the entry's `_FILE` record is an attribute under its specified name without the leading underscore; fields
that the writer's version did not know are None. See "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.codecs.paimon.types import PaimonField
from lakelens.formats.contents import read_footer, read_rows
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
from lakelens.formats.paimon.metadata.schema import PaimonSchema, require_schema
from lakelens.formats.paimon.metadata.types import Promotion, describe_field, keep
from lakelens.formats.paimon.metadata.wire import parse_millis
from lakelens.model.bytes_view import Source
from lakelens.model.collections import Preview
from lakelens.model.datafile import DataFile, Footer, column
from lakelens.model.schema import DataType
from lakelens.model.stats import Bounds, ColumnBounds, Encoded, Partition

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.index_proofs import IndexProofs
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest
    from lakelens.model.bytes_view import BytesView
    from lakelens.model.deletes import DeleteMatch, DeleteMatches, LiveRows
    from lakelens.model.scan.file_table import FileRow
    from lakelens.model.scan.row_groups import RowGroups
    from lakelens.model.stats import Term

SOURCES = {0: "APPEND", 1: "COMPACT"}
MERGED = "rows of a primary-key table are merged by key when they are read"
_CUT = {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}


class PaimonDataFile(TableObject, DataFile):
    """A data file. `creation_time` is the writer's wall clock, without a zone, as Paimon stores it.

    `source_manifest` is the manifest it was found in, `position` its entry's place there, from 0.
    """

    row_count: int | None = column(of="record_count")
    file_size: int | None = column(of="size_bytes")
    max_sequence_number: int | None = column(of="sequence_number")
    min_sequence_number: int | None = column()
    delete_row_count: int | None = column()
    first_row_id: int | None = column()
    _write_cols: Sequence[str] | None = column(of="write_cols")
    _find_deletes: Callable[[str], tuple[DeleteMatch, ...]] | None = None
    _index_proofs: IndexProofs | None = None

    def __init__(
        self, raw: Mapping[str, Any], manifest: PaimonManifest, context: TableContext, position: int
    ) -> None:
        file = raw["_FILE"]
        self.context = context
        self.raw = self._record = raw
        self.content = manifest.content
        self.manifest = manifest.path
        self.source_manifest = manifest
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

    @classmethod
    def of_row(
        cls,
        context: TableContext,
        row: FileRow,
        manifest: PaimonManifest,
        find_deletes: Callable[[str], tuple[DeleteMatch, ...]] | None,
    ) -> PaimonDataFile:
        """The file of a row, as a snapshot sees it; `manifest` holds its entry."""
        made = cls.__new__(cls)
        made.context, made._row, made.source_manifest = context, row, manifest
        made._find_deletes = find_deletes
        return made

    def _read_entry(self, row: FileRow) -> DataFile:
        return self.source_manifest.read_entry(row.entry).file

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

    @property
    def identity(self) -> tuple[Hashable, ...]:
        """What the engine identifies a file by: partition, bucket, level, name, extra files, embedded index, external."""
        return (
            self.partition_bytes,
            self.bucket,
            self.level,
            self.file_name,
            self.extra_files,
            self.embedded_file_index,
            self.external_path,
        )

    @property
    def copy_identity(self) -> Hashable:
        """The identity without the external path: a copy of the table may keep its files elsewhere."""
        partition, bucket, level, name, extra, index, _ = self.identity
        return (partition, bucket, level, name, extra, index)

    @cached_property
    def partition(self) -> Partition:  # type: ignore[override]
        """The partition, decoded from its BinaryRow; without values, and with a finding, when it does not decode."""
        if self._row is not None:
            self.read_record()
        return self.context.partitions.decode(self.partition_bytes, self.source_manifest.path)

    @cached_property
    def path(self) -> str:  # type: ignore[override]
        """Where the file is now: by partition and bucket, or where its external path leads."""
        manifest = self.source_manifest.path
        if self._row is not None:
            self.read_record()
        return self.context.locate_data(
            self.partition_bytes, self.bucket or 0, self.file_name, self.external_path, manifest
        )

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

    @cached_property
    def bounds(self) -> Bounds:
        """Value statistics by today's names and types; empty, with a finding, when they do not decode.

        A column added after the file was written counts as null in every row; one dropped since is `name#id`.
        """
        if self.context.schemas.find(self.schema_id or 0) is None:
            return Bounds({})  # the finding is there already
        return self.context.access.attempt(self._build_bounds, self.source_manifest.path, Bounds({}))

    @property
    def deletes(self) -> DeleteMatches:
        """The deletion vector that reaches this file in its snapshot, as a tuple of none or one.

        Empty for a file that was taken from a manifest instead of a snapshot's `files`.
        """
        from lakelens.model.deletes import DeleteMatches

        return DeleteMatches(() if self._find_deletes is None else self._find_deletes(self.file_name))

    @property
    def live_rows(self) -> LiveRows:
        """How many rows no vector deletes. Unknown in a primary-key table, where rows of several files are merged by key.

        `reason` says so, and how many rows of the file are deletes themselves (`delete_row_count`).
        """
        context, counted = self.context, super().live_rows
        is_merged = context.schema.primary_keys and not (context.skips_level_0 and self.level)
        if self.content != "data" or not is_merged:
            return counted
        return replace(counted, count=None, reason=self.merge_reason, at_least=0)

    @property
    def merge_reason(self) -> str:
        """Why the rows of the file cannot be counted alone, and how many are deletes, as the manifest records it."""
        if not self.delete_row_count:
            return MERGED
        noun = "row of it is a delete" if self.delete_row_count == 1 else "rows of it are deletes"
        return f"{MERGED}; {self.delete_row_count:,} {noun} (_VALUE_KIND -U or -D)"

    def _note_beyond(self, match: DeleteMatch, last: int) -> None:
        message = f"it deletes row {last} of {self.file_name}, which has {self.row_count} rows"
        self.context.findings.add("warning", "delete-past-the-end", match.file.path, message)

    def with_deletes(self, find_deletes: Callable[[str], tuple[DeleteMatch, ...]]) -> PaimonDataFile:
        """The same file as a snapshot sees it, whose deletion vectors `find_deletes` finds by the file's name."""
        seen = copy(self)
        seen._find_deletes = find_deletes
        return seen

    @property
    def footer(self) -> Footer:
        """The facts in the file's own footer (Parquet, ORC or Avro). Raises `LakeError` when it cannot be read."""
        return read_footer(self.context.store, self.path, self.file_format, self.size_bytes)

    @cached_property
    def row_groups(self) -> RowGroups | None:
        """The row groups or stripes of a Parquet or ORC file, found by the names of its schema; None for others."""
        from lakelens.formats.paimon.manifests.row_groups import open_row_groups

        return open_row_groups(self.context, self)

    def preview(self, n: int = 10) -> Preview:
        """The first `n` rows as stored, with `_KEY_…`, `_SEQUENCE_NUMBER` and `_VALUE_KIND` where there are keys."""
        rows = read_rows(self.context.store, self.path, self.file_format, n, self.size_bytes)
        return Preview(rows, self._find_deleted)

    def file_index_view(self) -> BytesView:
        """The index over the file's columns: embedded in the manifest entry, or a file beside it.

        Raises
        ------
        LakeError
            When the file has no index, or the index cannot be read.
        """
        return self.context.explain(self, "index")

    def list_encoded(self) -> Sequence[Encoded]:
        from lakelens.formats.paimon.manifests.encoded import iterate_encoded

        return tuple(iterate_encoded(self))

    def find_index_proof(self, term: Term) -> str | None:
        from lakelens.formats.paimon.manifests.index_proofs import IndexProofs

        if self._index_proofs is None:
            self._index_proofs = IndexProofs(self)
        return self._index_proofs.find(term)

    def further(self, name: str) -> Any:
        """The value of one of Paimon's own columns; keys as dicts under today's names, None where they do not decode."""
        if name in ("min_key", "max_key"):
            return self.context.access.attempt(lambda: self._find_key(name), self.source_manifest.path, None)
        return getattr(self, name)

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

    def _find_key(self, name: str) -> dict[str, Any] | None:
        """A key as values of today's columns; None where there is none or its schema is lost."""
        if self.context.schemas.find(self.schema_id or 0) is None:
            return None
        row = self.min_key if name == "min_key" else self.max_key
        if row is None:
            return None
        promotions = self.context.promotions(self.schema)
        today = {column.id: column.name for column in self.context.schema.columns}
        values = zip(self.schema.key_columns, row, strict=True)
        return {
            today[column.id]: _promote(value, promotions.get(column.id))
            for column, value in values
            if column.id in today
        }

    def _build_bounds(self) -> Bounds:
        stats, fields = self.value_stats, self.context.schema.fields
        positions = {column.id: position for position, column in enumerate(stats.columns)}
        written = {column.id for column in self.schema.columns}
        promotions = self.context.promotions(self.schema)
        source, rows = self.context.source(self), self.row_count
        built: dict[str, ColumnBounds | None] = {}
        for field in fields:
            if field.id in positions:
                built[field.name] = self._make_bounds(
                    positions[field.id], field.name, field.type, promotions.get(field.id), source
                )
            elif field.id not in written and self.write_cols is None:
                built[field.name] = ColumnBounds(
                    field.name, field.type, field.id, nulls=rows, values=rows, truncated=False, _source=source
                )
        kept = {field.id for field in fields}
        for position, stored in enumerate(stats.columns):
            if stored.id not in kept and not stored.name.startswith("_"):
                name, kind = f"{stored.name}#{stored.id}", describe_field(stored).type
                built[name] = self._make_bounds(position, name, kind, keep, source)
        return Bounds({name: bounds for name, bounds in built.items() if bounds is not None})

    def _make_bounds(
        self, position: int, name: str, kind: DataType, promote: Promotion | None, source: Source
    ) -> ColumnBounds | None:
        stats = self.value_stats
        low, high, nulls = stats.min_values[position], stats.max_values[position], stats.null_counts[position]
        if low is None and high is None and nulls is None:
            return None
        column = stats.columns[position]
        return ColumnBounds(
            name,
            kind,
            column.id,
            lower=_promote(low, promote),
            upper=_promote(high, promote),
            nulls=nulls,
            values=self.row_count,
            truncated=None if column.type.name in _CUT else False,
            _source=source,
        )


def _promote(value: Any, promote: Promotion | None) -> Any:
    return None if promote is None or value is None else promote(value)


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
    return None if value is None else tuple(value)
