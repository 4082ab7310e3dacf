"""Snapshots, refs, manifests and entries as Arrow tables: one row each, columns named as the attributes are.

Times are UTC with microseconds; an integer that does not fit 64 bits, and text that is no Unicode, is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.model.arrow import to_array
from lakelens.model.scan.files_to_arrow import build_table, list_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns
    from lakelens.model.manifest import FieldSummary, Manifest
    from lakelens.model.scan.plan import FileScan
    from lakelens.model.snapshot import Ref, Snapshot

_SNAPSHOT_COLUMNS = {
    "id": "int64",
    "parent_id": "int64",
    "sequence_number": "int64",
    "committed_at": "time",
    "operation": "string",
    "schema_id": "int64",
    "record_count": "int64",
    "refs": "strings",
    "summary": "map",
    "path": "string",
}
_REF_COLUMNS = {
    "name": "string",
    "type": "string",
    "snapshot_id": "int64",
    "max_ref_age_ms": "int64",
    "max_snapshot_age_ms": "int64",
    "min_snapshots_to_keep": "int64",
    "created_at": "time",
    "path": "string",
}
_MANIFEST_COLUMNS = {
    "path": "string",
    "recorded_path": "string",
    "size_bytes": "int64",
    "content": "string",
    "role": "string",
    "spec_id": "int64",
    "schema_id": "int64",
    "sequence_number": "int64",
    "added_snapshot_id": "int64",
    "added_files_count": "int64",
    "existing_files_count": "int64",
    "deleted_files_count": "int64",
    "partition_summary": "summaries",
}
_SUMMARY_FIELDS = (
    ("name", "string"),
    ("lower", "string"),
    ("upper", "string"),
    ("contains_null", "bool"),
    ("contains_nan", "bool"),
    ("null_count", "int64"),
)

SNAPSHOT_COLUMNS = tuple(_SNAPSHOT_COLUMNS)
REF_COLUMNS = tuple(_REF_COLUMNS)
MANIFEST_COLUMNS = tuple(_MANIFEST_COLUMNS)


def list_entry_columns(columns: FileColumns) -> list[str]:
    """The columns of a table of entries: the status, then those of a table of files."""
    return ["status", *list_columns(columns, stats=True)]


def build_snapshots(snapshots: Iterable[Snapshot]) -> pa.Table:
    """One row per snapshot, in the order given; no manifest is read. See `Snapshots.to_arrow`."""
    pick: dict[str, Callable[[Any], Any]] = {
        "refs": lambda snapshot: list(snapshot.refs),
        "summary": lambda snapshot: [(str(key), str(value)) for key, value in snapshot.summary.items()],
    }
    return _build(list(snapshots), _SNAPSHOT_COLUMNS, pick)


def build_refs(refs: Iterable[Ref]) -> pa.Table:
    """One row per branch or tag, in the order given. See `Refs.to_arrow`."""
    return _build(list(refs), _REF_COLUMNS, {})


def build_manifests(snapshot: Snapshot | None) -> pa.Table:
    """One row per manifest of a snapshot, in order: what the manifest lists say of it. No manifest is read.

    `role` is the list's ("all" in Iceberg, "base", "delta" or "changelog" in Paimon). `partition_summary` has the bounds
    of each partition field as text; `schema_id` is null for Iceberg, whose lists do not tell it.
    """
    manifests = () if snapshot is None else snapshot.manifests
    roles = {} if snapshot is None else _find_roles(snapshot)
    pick: dict[str, Callable[[Any], Any]] = {
        # where specs are told, as in Iceberg, the schema's id stands in the manifest alone
        "schema_id": lambda manifest: manifest.schema_id if manifest.spec_id is None else None,
        "role": lambda manifest: roles.get(manifest.recorded_path),
        "partition_summary": lambda manifest: [_word_summary(one) for one in manifest.partition_summary],
    }
    return _build(manifests, _MANIFEST_COLUMNS, pick)


def build_entries(
    snapshot: Snapshot | None, columns: FileColumns, wanted: Sequence[str] | None = None
) -> pa.Table:
    """One row per entry of a snapshot's manifests, deleted ones included; `wanted` columns (None: all).

    The columns are `status` and those of `FileSet.to_arrow`; `snapshot_id` is the entry's. Entries are read by column
    where the format can: then a manifest that cannot be read is a finding; else it raises its `LakeError`.
    Raises KeyError for an unknown column.
    """
    scan = None if snapshot is None else snapshot.scan_entries()
    if scan is not None:
        return _read_entries(scan, wanted)
    return _collect_entries(() if snapshot is None else snapshot.manifests, columns, wanted)


def _read_entries(scan: FileScan, wanted: Sequence[str] | None) -> pa.Table:
    import pyarrow as pa

    from lakelens.model.scan.scan_to_arrow import assemble_batch, iterate_batches, lay_out, make_request

    request = make_request(scan, columns=wanted, entries=True)
    batches = list(iterate_batches(scan, request))
    seen = {leaf for batch in batches for leaves in batch.stats.values() for leaf in leaves}
    layout = lay_out(scan.columns, request, seen)
    return pa.Table.from_batches([assemble_batch(batch, layout) for batch in batches], layout.schema)


def _collect_entries(
    manifests: Sequence[Manifest], columns: FileColumns, wanted: Sequence[str] | None
) -> pa.Table:
    import pyarrow as pa

    names = list_entry_columns(columns)
    chosen = names if wanted is None else list(wanted)
    unknown = [name for name in chosen if name not in names]
    if unknown:
        raise KeyError(f"no column {unknown[0]!r}; there are {', '.join(names)}")
    entries = [entry for manifest in manifests for entry in manifest.entries]
    table = build_table(
        [entry.file for entry in entries], columns, wanted=[name for name in chosen if name != "status"]
    )
    arrays = {name: table[name] for name in table.column_names}
    arrays["status"] = pa.array([entry.status for entry in entries], pa.string())
    if "snapshot_id" in arrays:
        arrays["snapshot_id"] = to_array([entry.snapshot_id for entry in entries], pa.int64())
    return pa.table({name: arrays[name] for name in chosen})


def _build(things: Sequence[Any], columns: dict[str, str], pick: dict[str, Callable[[Any], Any]]) -> pa.Table:
    import pyarrow as pa

    arrays = {}
    for name, kind in columns.items():
        read = pick.get(name)
        values = [read(one) if read is not None else getattr(one, name, None) for one in things]
        arrays[name] = to_array(values, _type_column(kind))
    return pa.table(arrays)


def _type_column(kind: str) -> pa.DataType:
    import pyarrow as pa

    kinds = {
        "int64": pa.int64(),
        "string": pa.string(),
        "bool": pa.bool_(),
        "time": pa.timestamp("us", "UTC"),
        "strings": pa.list_(pa.string()),
        "map": pa.map_(pa.string(), pa.string()),
    }
    if kind == "summaries":
        return pa.list_(pa.struct([pa.field(name, kinds[of_field]) for name, of_field in _SUMMARY_FIELDS]))
    return kinds[kind]


def _find_roles(snapshot: Snapshot) -> dict[str, str]:
    roles: dict[str, str] = {}
    for found in snapshot.manifest_lists:
        # a damaged list is a finding of `snapshot.manifests`
        with suppress(LakeError):
            roles |= {manifest.recorded_path: found.role for manifest in found.manifests}
    return roles


def _word_summary(summary: FieldSummary) -> dict[str, Any]:
    held = {name: getattr(summary, name) for name, _ in _SUMMARY_FIELDS}
    return held | {"lower": _word(summary.lower), "upper": _word(summary.upper)}


def _word(value: Any) -> str | None:
    """A partition value as text: ISO for dates and times, hex for bytes."""
    if value is None:
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)
