"""Snapshots, refs, manifests and entries as Arrow tables: one row each, columns named as the attributes are.

Times are UTC with microseconds; an integer that does not fit 64 bits, and text that is no Unicode, is null.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import date, datetime, time
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.model.arrow import to_array
from lakelens.model.facts import (
    FIELD_SUMMARY,
    MANIFEST,
    REF,
    SNAPSHOT,
    Facts,
    arrow_kind,
    list_facts,
)
from lakelens.model.scan.files_to_arrow import assemble_table, batch_entries, list_columns, make_request

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns
    from lakelens.model.manifest import Entry, FieldSummary, Manifest
    from lakelens.model.snapshot import Ref, Snapshot


def list_entry_columns(columns: FileColumns) -> list[str]:
    """The columns of a table of entries: the status, then those of a table of files."""
    return ["status", *list_columns(columns, stats=True)]


def build_snapshots(snapshots: Iterable[Snapshot]) -> pa.Table:
    """One row per snapshot, in the order given; no manifest is read. See `Snapshots.to_arrow`."""
    return build_rows(snapshots, SNAPSHOT)


def build_refs(refs: Iterable[Ref]) -> pa.Table:
    """One row per branch or tag, in the order given. See `Refs.to_arrow`."""
    return build_rows(refs, REF)


def build_manifests(snapshot: Snapshot | None) -> pa.Table:
    """One row per manifest of a snapshot, in order, with the `role` of the list that names it. No manifest is read."""
    if snapshot is None:
        return list_manifests((), {})
    return list_manifests(snapshot.manifests, _find_roles(snapshot))


def list_manifests(manifests: Iterable[Manifest], roles: Mapping[str, str]) -> pa.Table:
    """One row per manifest, in order: what the manifest lists say about it. No manifest is read.

    `role` is the list's ("all" in Iceberg, "base", "delta" or "changelog" in Paimon). `partition_summary` has the bounds
    of each partition field as text; `schema_id` is null for Iceberg, whose lists do not record it.
    """
    return build_rows(manifests, MANIFEST, role=lambda manifest: roles.get(manifest.recorded_path))


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
        from lakelens.model.scan.scan_to_arrow import iterate_batches

        request = make_request(scan.columns, wanted=wanted, entries=True)
        return assemble_table(list(iterate_batches(scan, request)), scan.columns, request)
    manifests = () if snapshot is None else snapshot.manifests
    return list_entries((entry for manifest in manifests for entry in manifest.entries), columns, wanted)


def list_entries(
    entries: Iterable[Entry], columns: FileColumns, wanted: Sequence[str] | None = None
) -> pa.Table:
    """One row per entry that was read; `columns` are those of the files. Raises KeyError for an unknown column."""
    request = make_request(columns, wanted=wanted, entries=True)
    return assemble_table(
        [batch_entries([(0, entry) for entry in entries], columns, request)], columns, request
    )


def build_rows(things: Iterable[Any], facts: Facts, **reads: Callable[[Any], Any]) -> pa.Table:
    """One row per thing, one column per fact; a value that its column cannot hold is null.

    `reads` are functions for facts that a thing does not know about itself.
    """
    import pyarrow as pa

    listed, arrays = list(things), {}
    for fact in facts:
        read, form = reads.get(fact.name, fact.read), _FORMS.get(fact.kind)
        values = [read(thing) for thing in listed]
        if form is not None:
            values = [None if value is None else form(value) for value in values]
        arrays[fact.name] = to_array(values, arrow_kind(fact.kind))
    return pa.table(arrays)


def _find_roles(snapshot: Snapshot) -> dict[str, str]:
    roles: dict[str, str] = {}
    for found in snapshot.manifest_lists:
        # a damaged list is a finding of `snapshot.manifests`
        with suppress(LakeError):
            roles |= {manifest.recorded_path: found.role for manifest in found.manifests}
    return roles


def _format_value(value: Any) -> str | None:
    """A value as text: ISO for dates and times, hex for bytes."""
    if value is None:
        return None
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return value.hex() if isinstance(value, bytes) else str(value)


def _format_summary(summary: FieldSummary) -> dict[str, Any]:
    formatted = {"lower": _format_value(summary.lower), "upper": _format_value(summary.upper)}
    return list_facts(FIELD_SUMMARY, summary) | formatted


def _format_map(held: Mapping[Any, Any]) -> list[tuple[str, str]]:
    return [(str(key), str(value)) for key, value in held.items()]


# what values of a kind are made to before Arrow takes them
_FORMS: dict[str, Callable[[Any], Any]] = {
    "text": _format_value,
    "map": _format_map,
    "strings": list,
    "ids": list,
    "summaries": lambda summaries: [_format_summary(one) for one in summaries],
}
