"""The objects of the engine-written tables, a few of each kind, for the tests of the views."""

from __future__ import annotations

import os
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

from lakelens.errors import Unsupported
from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.opening import open_table
from tests.support import LAKES

_EVERY = sorted(path for path in LAKES.glob("*/**/table") if path.is_dir())
# a sample for each run, since a view of everything takes minutes; LAKELENS_EVERY_LAKE=1 takes them all
PATHS = _EVERY if os.environ.get("LAKELENS_EVERY_LAKE", "") not in ("", "0") else _EVERY[::8]


def name_lake(path: Path) -> str:
    """The table's place among the lakes."""
    return str(path.parent.relative_to(LAKES))


def open_lake(path: Path) -> Table | None:
    """The table; None for the one that is a view."""
    try:
        return open_table(path)
    except Unsupported:
        return None


def list_objects(table: Table) -> Iterator[Any]:
    """One or two objects of every kind that a table is made of, the newest first."""
    yield from (table, table.schema, table.partitioning, table.evidence, table.relocation, table.tree())
    yield table.check()
    if table.format == "iceberg":
        yield table.dry_run("expire_snapshots", older_than="2100-01-01")
    yield table.health()
    yield from (table.snapshots, table.refs, table.findings, *table.refs[:1], *table.findings[:1])
    states: list[Snapshot] = list(table.snapshots[-1:])
    if table.current is not None and table.current.id is None:
        states.append(table.current)
    for state in states:
        yield from _list_snapshot(state)


def _list_snapshot(snapshot: Snapshot) -> Iterator[Any]:
    yield from (snapshot, snapshot.files, snapshot.changes, *snapshot.manifest_lists)
    yield from (*snapshot.index_files[:1], *snapshot.statistics[:1])
    for found in islice(snapshot.files, 1):
        yield from (found, found.bounds, *islice(found.bounds.values(), 1))
    for manifest in snapshot.manifests[-1:]:
        yield manifest
        yield from manifest.entries[:1]
