"""The manifests of a snapshot, and their entries, as Arrow tables: one row each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.model.facts.facts import MANIFEST, build_rows
from lakelens.model.scan.files_to_arrow import assemble_table, batch_entries, make_request

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns
    from lakelens.model.manifest import Entry, Manifest
    from lakelens.model.snapshot import Snapshot


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


def _find_roles(snapshot: Snapshot) -> dict[str, str]:
    roles: dict[str, str] = {}
    for found in snapshot.manifest_lists:
        # a damaged list is a finding of `snapshot.manifests`
        with suppress(LakeError):
            roles |= {manifest.recorded_path: found.role for manifest in found.manifests}
    return roles
