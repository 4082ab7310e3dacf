"""One data or changelog file of a Paimon table, as its manifest entry describes it.

Every field of the entry's `_FILE` record is an attribute under its specified name without the leading underscore; fields
that the writer's version did not know are None. See "Manifest" of the Paimon table specification.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from copy import copy
from datetime import UTC, datetime, timedelta
from functools import cached_property
from typing import TYPE_CHECKING, Any

from lakelens.codecs.paimon.types import PaimonField
from lakelens.errors import LakeError
from lakelens.formats.paimon.context import TableContext
from lakelens.formats.paimon.discovery.layout import file_format
from lakelens.formats.paimon.manifests.rows import KEY_STATS, VALUE_STATS, StoredRow, decode_row
from lakelens.formats.paimon.manifests.stats import SimpleStats, decode_stats
from lakelens.formats.paimon.metadata.schema import PaimonSchema, require_schema
from lakelens.model.datafile import Content, DataFile, Footer, raise_error
from lakelens.model.explainable import Source
from lakelens.model.schema import DataType
from lakelens.model.stats import Bounds, ColumnBounds, Partition

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.paimon.manifests.manifest import PaimonManifest
    from lakelens.model.deletes import DeleteMatch, LiveRows
    from lakelens.model.explanation import Explanation

SOURCES = {0: "APPEND", 1: "COMPACT"}
_CUT = {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}
_EPOCH = datetime(1970, 1, 1)
_NOT_WRITTEN = Source(
    "lakelens.formats.paimon.explain.objects.refuse",
    "no bytes of this column are stored: it was added after the file was written",
)


class PaimonDataFile(DataFile):
    """A data file. `creation_time` is the writer's wall clock, without a zone, as Paimon stores it."""

    def __init__(
        self, raw: Mapping[str, Any], content: Content, manifest: str, context: TableContext
    ) -> None:
        file = raw["_FILE"]
        self._context = context
        self.raw = raw
        self.content = content
        self.manifest = manifest
        self.partition_bytes: bytes = raw.get("_PARTITION") or b""
        self.bucket = raw.get("_BUCKET")
        self.total_buckets: int | None = raw.get("_TOTAL_BUCKETS")
        self.file_name: str = file["_FILE_NAME"]
        self.file_size: int | None = file.get("_FILE_SIZE")
        self.row_count: int | None = file.get("_ROW_COUNT")
        self.min_sequence_number: int | None = file.get("_MIN_SEQUENCE_NUMBER")
        self.max_sequence_number: int | None = file.get("_MAX_SEQUENCE_NUMBER")
        self.schema_id = file.get("_SCHEMA_ID")
        self.level = file.get("_LEVEL")
        self.extra_files: tuple[str, ...] = tuple(file.get("_EXTRA_FILES") or ())
        self.creation_time = to_wall_clock(file.get("_CREATION_TIME"))
        self.delete_row_count: int | None = file.get("_DELETE_ROW_COUNT")
        self.embedded_file_index: bytes | None = file.get("_EMBEDDED_FILE_INDEX")
        self.file_source: str | None = SOURCES.get(file.get("_FILE_SOURCE"))
        self.value_stats_cols = _to_tuple(file.get("_VALUE_STATS_COLS"))
        self.external_path: str | None = file.get("_EXTERNAL_PATH")
        self.first_row_id: int | None = file.get("_FIRST_ROW_ID")
        self.write_cols = _to_tuple(file.get("_WRITE_COLS"))
        self.write_cols_sequences = _to_tuple(file.get("_WRITE_COLS_SEQUENCES"))
        self.file_format = file_format(self.file_name)
        self.record_count = self.row_count
        self.size_bytes = self.file_size
        self.sequence_number = self.max_sequence_number
        self.recorded_path = self.external_path or self.file_name
        self._find_deletes: Callable[[str], tuple[DeleteMatch, ...]] | None = None

    @property
    def identity(self) -> tuple[Hashable, ...]:
        """What the engine tells files apart by: partition, bucket, level, name, extra files, embedded index, external."""
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
        return self._context.partitions.decode(self.partition_bytes, self.manifest or "")

    @cached_property
    def path(self) -> str:  # type: ignore[override]
        """Where the file lies now: by partition and bucket, or where its external path stands for."""
        return self._context.locate_data(
            self.partition_bytes, self.bucket or 0, self.file_name, self.external_path, self.manifest or ""
        )

    @cached_property
    def schema(self) -> PaimonSchema:
        """The schema that the file was written with. Raises `Corrupt` when it cannot be read."""
        number = self.schema_id or 0
        return require_schema(self._context.schemas.find(number), number, self.manifest or "")

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
        return self._decode_stats(VALUE_STATS, self._stats_columns())

    @cached_property
    def bounds(self) -> Bounds:
        """Value statistics by today's names and types; empty, with a finding, when they do not decode.

        A column added after the file was written counts as null in every row; one dropped since is `name#id`.
        """
        if self._context.schemas.find(self.schema_id or 0) is None:
            return Bounds({})  # the finding is there already
        return self._context.attempt(self._build_bounds, self.manifest or self.file_name, Bounds({}))

    @property
    def deletes(self) -> tuple[DeleteMatch, ...]:
        """The deletion vector that reaches this file in its snapshot, as a tuple of none or one.

        Empty for a file that was taken from a manifest instead of a snapshot's `files`.
        """
        return () if self._find_deletes is None else self._find_deletes(self.file_name)

    @property
    def live_rows(self) -> LiveRows:
        """How many rows no vector deletes. Unknown in a primary-key table, where rows of several files are merged by key.

        `reason` says so in words, and how many rows of the file are deletes themselves (`delete_row_count`).
        """
        from lakelens.formats.paimon.deletes.live_rows import count_file

        return count_file(self._context, self, raise_error)

    def _note_beyond(self, match: DeleteMatch, last: int) -> None:
        message = f"it deletes row {last} of {self.file_name}, which has {self.row_count} rows"
        self._context.findings.add("warning", "delete-past-the-end", match.file.path, message)

    def seen_with(self, find_deletes: Callable[[str], tuple[DeleteMatch, ...]]) -> PaimonDataFile:
        """The same file as a snapshot sees it, whose deletion vectors `find_deletes` knows by the file's name."""
        seen = copy(self)
        seen._find_deletes = find_deletes
        return seen

    @property
    def footer(self) -> Footer:
        """What the file says of itself (Parquet, ORC or Avro). Raises `LakeError` when it cannot be read."""
        from lakelens.formats.contents import read_footer

        return read_footer(self._context.store, self.path, self.file_format)

    def preview(self, n: int = 10) -> pa.Table:
        """The first `n` rows as stored, with `_KEY_…`, `_SEQUENCE_NUMBER` and `_VALUE_KIND` where there are keys."""
        from lakelens.formats.contents import read_rows

        return read_rows(self._context.store, self.path, self.file_format, n)

    def bytes_view(self) -> Explanation:
        """The stored file. Raises `Missing` when it is gone."""
        from lakelens.formats.paimon.explain.files import explain_data_file

        return explain_data_file(self, self._context.store)

    def file_index_view(self) -> Explanation:
        """The index over the file's columns: embedded in the manifest entry, or a file beside. `LakeError` for none."""
        from lakelens.formats.paimon.explain.files import explain_file_index

        return explain_file_index(self, self._context.store)

    def find_manifest(self) -> PaimonManifest | None:
        """The manifest that the file was found in."""
        return self._context.find_manifest((self.manifest or "").rpartition("/")[2], self.content)

    def further(self, name: str) -> Any:
        """The value of one of Paimon's own columns; keys as dicts under today's names, None where they do not decode."""
        if name in ("min_key", "max_key"):
            return self._context.attempt(lambda: self._word_key(name), self.manifest or self.file_name, None)
        return getattr(self, name)

    def _decode_stats(self, label: str, columns: Sequence[PaimonField]) -> SimpleStats:
        raw = self.raw["_FILE"].get(label.removeprefix("_FILE."))
        rows = Source("lakelens.formats.paimon.explain.objects.explain_file_row", self, self._context.store)
        source = Source("lakelens.formats.paimon.explain.objects.explain_stats", self, label)
        return decode_stats(raw, columns, self.manifest or "", label, rows, source)

    def _decode_key(self, name: str) -> StoredRow | None:
        data = self.raw["_FILE"].get(name)
        columns = self.schema.key_columns if data and data[:4] != b"\x00\x00\x00\x00" else ()
        if not columns:
            return None
        source = Source("lakelens.formats.paimon.explain.objects.explain_file_row", self, self._context.store)
        return decode_row(data, columns, self.manifest or "", f"_FILE.{name}", source)

    def _word_key(self, name: str) -> dict[str, Any] | None:
        if self._context.schemas.find(self.schema_id or 0) is None:
            return None
        row: StoredRow | None = getattr(self, name)
        if row is None:
            return None
        promotions = self._context.promotions(self.schema)
        today = {column.id: column.name for column in self._context.schema.columns}
        words: dict[str, Any] = {}
        for column, value in zip(self.schema.key_columns, row, strict=True):
            promote = promotions.get(column.id)
            if column.id in today:
                words[today[column.id]] = promote(value) if promote and value is not None else None
        return words

    def _stats_columns(self) -> list[PaimonField]:
        chosen = self.value_stats_cols if self.value_stats_cols is not None else self.write_cols
        if chosen is None:
            return list(self.schema.columns)
        found = ((name, self.schema.find_column(name)) for name in chosen)
        unknown = [name for name, column in found if column is None]
        if unknown:
            raise LakeError(
                f"statistics name column {unknown[0]!r}, which schema {self.schema_id} does not have",
                path=self.manifest,
            )
        return [column for name in chosen if (column := self.schema.find_column(name)) is not None]

    def _build_bounds(self) -> Bounds:
        stats, today = self.value_stats, self._context.schema
        positions = {column.id: position for position, column in enumerate(stats.columns)}
        written = {column.id for column in self.schema.columns}
        promotions = self._context.promotions(self.schema)
        source = Source("lakelens.formats.paimon.explain.objects.explain_bounds", self)
        built: dict[str, ColumnBounds] = {}
        for column, field in zip(today.columns, today.fields, strict=True):
            if column.id in positions:
                promote = promotions.get(column.id)
                bounds = self._column_bounds(
                    stats, positions[column.id], column.name, field.type, promote, source
                )
            elif column.id not in written and self.write_cols is None:
                rows = self.row_count
                bounds = ColumnBounds(
                    column.name,
                    field.type,
                    column.id,
                    nulls=rows,
                    values=rows,
                    truncated=False,
                    _source=_NOT_WRITTEN,
                )
            else:
                continue
            if bounds is not None:
                built[column.name] = bounds
        kept = {column.id for column in today.columns}
        for column in stats.columns:
            if column.id not in kept and not column.name.startswith("_"):
                name = f"{column.name}#{column.id}"
                kind = self._context.kind_of(column)
                bounds = self._column_bounds(
                    stats, positions[column.id], name, kind, lambda value: value, source
                )
                if bounds is not None:
                    built[name] = bounds
        return Bounds(built)

    def _column_bounds(
        self, stats: SimpleStats, position: int, name: str, kind: DataType, promote: Any, source: Source
    ) -> ColumnBounds | None:
        low, high, nulls = stats.min_values[position], stats.max_values[position], stats.null_counts[position]
        if low is None and high is None and nulls is None:
            return None
        column = stats.columns[position]
        return ColumnBounds(
            name,
            kind,
            column.id,
            lower=promote(low) if promote is not None and low is not None else None,
            upper=promote(high) if promote is not None and high is not None else None,
            nulls=nulls,
            values=self.row_count,
            truncated=None if column.type.name in _CUT else False,
            _source=source,
        )


def to_wall_clock(value: Any) -> datetime | None:
    """A creation time as the container gives it (milliseconds, or a timestamp with or without UTC) as a naive time.

    >>> to_wall_clock(1704067200123)
    datetime.datetime(2024, 1, 1, 0, 0, 0, 123000)
    """
    if value is None:
        return None
    if isinstance(value, datetime):
        return datetime(*_parts(value.astimezone(UTC) if value.tzinfo else value))
    try:
        return _EPOCH + timedelta(milliseconds=int(value))
    except (OverflowError, ValueError, TypeError):
        return None


def _parts(value: datetime) -> tuple[int, int, int, int, int, int, int]:
    return value.year, value.month, value.day, value.hour, value.minute, value.second, value.microsecond


def _to_tuple(value: Sequence[Any] | None) -> tuple[Any, ...] | None:
    return None if value is None else tuple(value)
