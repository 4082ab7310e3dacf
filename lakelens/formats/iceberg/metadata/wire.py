"""The parts of a table metadata document, typed for what lakelens needs.

Follows "Table Metadata and Snapshots" and appendix C of the Iceberg table specification, versions 1 to 3. What is
missing and has a default there gets it.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypeVar

import msgspec
from msgspec import Raw

from lakelens.caching import cached_property
from lakelens.formats.iceberg.metadata.long_list import ABSENT, LongList

T = TypeVar("T")
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class WireSnapshot(msgspec.Struct, rename="kebab"):
    """One snapshot as the document has it."""

    snapshot_id: int
    timestamp_ms: int
    parent_snapshot_id: int | None = None
    sequence_number: int | None = None
    manifest_list: str | None = None
    manifests: list[str] | None = None
    summary: dict[str, Any] | None = None
    schema_id: int | None = None
    first_row_id: int | None = None
    added_rows: int | None = None
    key_id: str | None = None


class WireRef(msgspec.Struct, rename="kebab"):
    """One branch or tag."""

    snapshot_id: int
    type: str = "branch"
    min_snapshots_to_keep: int | None = None
    max_snapshot_age_ms: int | None = None
    max_ref_age_ms: int | None = None


class WireSnapshotLog(msgspec.Struct, rename="kebab"):
    """When a snapshot became the current one."""

    timestamp_ms: int
    snapshot_id: int


class WireMetadataLog(msgspec.Struct, rename="kebab"):
    """An earlier metadata file."""

    timestamp_ms: int
    metadata_file: str


class _Transformed(msgspec.Struct, rename="kebab"):
    """A field that is a transform of one column, or of several."""

    transform: str
    source_id: int | None = None
    source_ids: list[int] | None = None

    @property
    def sources(self) -> list[int]:
        """The ids of the columns, however many."""
        return [self.source_id] if self.source_id is not None else list(self.source_ids or [])


class WirePartitionField(_Transformed, rename="kebab", kw_only=True):
    """One field of a partition spec."""

    name: str
    field_id: int | None = None


class WireSpec(msgspec.Struct, rename="kebab"):
    """A partition spec."""

    spec_id: int
    fields: list[WirePartitionField] = []


class WireSortField(_Transformed, rename="kebab"):
    """One field of a sort order."""

    direction: str = "asc"
    null_order: str = "nulls-first"


class WireSortOrder(msgspec.Struct, rename="kebab"):
    """A sort order; order 0 is unsorted."""

    order_id: int
    fields: list[WireSortField] = []


class WireStatistics(msgspec.Struct, rename="kebab"):
    """A statistics file (Puffin), or a partition statistics file (no footer size, no blobs)."""

    snapshot_id: int
    statistics_path: str
    file_size_in_bytes: int | None = None
    file_footer_size_in_bytes: int | None = None
    blob_metadata: list[dict[str, Any]] = []


def _keep_list(key: str, kind: type[T]) -> cached_property[LongList[T]]:
    """A list that grows with the table, made from the text of its key when it is first asked for."""
    name = f"{key.replace('-', '_')}_text"
    return cached_property(lambda made: LongList(getattr(made, name), kind, f"$.{key}", INTEGER_KEYS))


class WireMetadata(msgspec.Struct, rename="kebab", dict=True):
    """The document. `schema` and `partition_spec` are version 1's; the schemas stay JSON and are parsed by `schemas`.

    Lists that grow with the table are kept as their text, and an item is decoded when it is asked for.
    """

    format_version: int = 1
    table_uuid: str | None = None
    location: str | None = None
    last_sequence_number: int = 0
    last_updated_ms: int | None = None
    last_column_id: int | None = None
    schema: dict[str, Any] | None = None
    schemas: list[dict[str, Any]] | None = None
    current_schema_id: int | None = None
    partition_spec: list[WirePartitionField] | None = None
    partition_specs: list[WireSpec] | None = None
    default_spec_id: int | None = None
    last_partition_id: int | None = None
    sort_orders: list[WireSortOrder] | None = None
    default_sort_order_id: int | None = None
    properties: dict[str, Any] | None = None
    current_snapshot_id: int | None = None
    refs: dict[str, WireRef] | None = None
    snapshots_text: Raw = msgspec.field(name="snapshots", default=ABSENT)
    snapshot_log_text: Raw = msgspec.field(name="snapshot-log", default=ABSENT)
    metadata_log_text: Raw = msgspec.field(name="metadata-log", default=ABSENT)
    statistics_text: Raw = msgspec.field(name="statistics", default=ABSENT)
    partition_statistics_text: Raw = msgspec.field(name="partition-statistics", default=ABSENT)
    next_row_id: int | None = None
    encryption_keys: list[dict[str, Any]] | None = None

    snapshots = _keep_list("snapshots", WireSnapshot)
    snapshot_log = _keep_list("snapshot-log", WireSnapshotLog)
    metadata_log = _keep_list("metadata-log", WireMetadataLog)
    statistics = _keep_list("statistics", WireStatistics)
    partition_statistics = _keep_list("partition-statistics", WireStatistics)


LONG_KEYS = ("snapshots", "snapshot-log", "metadata-log", "statistics", "partition-statistics")


INTEGER_KEYS = frozenset(
    field.encode_name
    for struct in (
        *(WireMetadata, WireSnapshot, WireRef, WireSnapshotLog, WireMetadataLog, WirePartitionField),
        *(WireSpec, WireSortField, WireSortOrder, WireStatistics),
    )
    for field in msgspec.structs.fields(struct)
    if field.type in (int, int | None)
)


def to_text(value: Any) -> str:
    """A value of a property or a summary; most are texts, some writers leave numbers."""
    return value if isinstance(value, str) else "" if value is None else str(value)


def to_time(milliseconds: int | None) -> datetime | None:
    """Milliseconds since the epoch as a UTC time; None for none, or for one that no calendar holds.

    >>> to_time(1)
    datetime.datetime(1970, 1, 1, 0, 0, 0, 1000, tzinfo=datetime.timezone.utc)
    """
    if milliseconds is None:
        return None
    try:
        return _EPOCH + timedelta(milliseconds=milliseconds)
    except OverflowError:
        return None
