"""Budgets: the style 4 KB, a table's card 15 KB, any default view 64 KB, nothing over 256 KB, whatever the table.

Over every object of every engine-written table, and over tables grown to 100,000 files, 1,000 columns, 10,000 snapshots,
5,000 refs. That the card of a huge table reads no manifest is asserted by what was read, never by a clock.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.tree import StorageTree
from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.model.snapshot import Snapshot
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.render.html import render_card, render_page
from lakelens.views.render.text import render_text
from tests.support import LAKES, growth
from tests.support.view_lakes import name_lake, open_lake

STYLE, TABLE, VIEW, STOP, PAGE = 4_096, 15_360, 65_536, 262_144, 1_000_000
EVERY = sorted(path for path in LAKES.glob("*/**/table") if path.is_dir())
FILES, COLUMNS, SNAPSHOTS, REFS = 100_000, 1_000, 10_000, 5_000


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with display.using(strict_views=True):
        yield


@pytest.fixture(scope="session", params=["iceberg", "paimon"])
def huge(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 100,000 files."""
    target = tmp_path_factory.mktemp(f"{request.param}-files") / "table"
    grow = {"iceberg": growth.grow_iceberg, "paimon": growth.grow_paimon}[request.param]
    lake = {"iceberg": "v2-basic", "paimon": "partition-text"}[request.param]
    return grow(target, files=FILES, lake=lake)


@pytest.fixture(scope="session")
def wide(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An Iceberg table of 1,000 columns, each with bounds and counts in each file."""
    return growth.grow_iceberg(
        tmp_path_factory.mktemp("wide") / "table", files=20, manifests=2, columns=COLUMNS
    )


@pytest.fixture(scope="session", params=["iceberg", "paimon"])
def long(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A table of 10,000 snapshots."""
    target = tmp_path_factory.mktemp(f"{request.param}-snapshots") / "table"
    grow = {"iceberg": growth.grow_iceberg, "paimon": growth.grow_paimon}[request.param]
    return grow(target, snapshots=SNAPSHOTS)


def list_everything(table: Table) -> Iterator[Any]:
    """Every object of a table, but of files and entries the first of each manifest and snapshot."""
    yield from (
        table,
        table.schema,
        *table.schemas,
        *table.specs,
        table.evidence,
        table.relocation,
        table.reads,
    )
    yield from (table.snapshots, table.outline_history(), table.refs, *table.refs, table.tree(), table.files)
    current = [] if table.current is None else [table.current]
    met: set[str] = set()
    for snapshot in {id(one): one for one in (*table.snapshots, *current)}.values():
        yield from _list_snapshot(snapshot, met)
    yield from (table.findings, *table.findings)


def _list_snapshot(snapshot: Snapshot, met: set[str]) -> Iterator[Any]:
    yield from (snapshot, snapshot.changes, *snapshot.manifest_lists)
    yield from (*snapshot.index_files, *snapshot.statistics)
    for manifest in snapshot.manifests:
        if manifest.path not in met:
            met.add(manifest.path)
            yield manifest
            yield from islice(manifest.entries, 1)
    yield from _list_files(islice(snapshot.files, 1))


def _list_files(files: Iterable[DataFile]) -> Iterator[Any]:
    for file in files:
        yield from (file, file.bounds, *islice(file.bounds.values(), 1), *file.deletes[:1])


def measure(thing: object, detail: int) -> int:
    """Bytes of the card, after its style was measured."""
    markup = render_card(thing, detail)
    style = re.search(r"<style>(.*?)</style>", markup, re.DOTALL)
    assert style is not None
    assert len(style[1].encode()) <= STYLE
    return len(markup.encode())


def check(thing: object, *details: int) -> None:
    for detail in details or (1, 2, 3):
        assert measure(thing, detail) <= (TABLE if isinstance(thing, Table) and detail == 1 else VIEW), (
            thing,
            detail,
        )
    assert len(render_text(thing, 3).encode()) <= STOP, thing


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("path", EVERY, ids=name_lake)
def test_every_object_of_every_lake(path: Path) -> None:
    table = open_lake(path)
    if table is None:
        return  # the one that is a view
    for thing in list_everything(table):
        assert measure(thing, 1) <= (TABLE if isinstance(thing, Table) else VIEW), thing
    check(table)


@pytest.mark.parametrize("path", EVERY[::12], ids=name_lake)
def test_every_page(path: Path) -> None:
    table = open_lake(path)
    if table is not None:
        assert len(render_page(table).encode()) <= PAGE


def test_a_card_of_100_000_files_reads_no_manifest(huge: Path) -> None:
    table = ll.open(huge)
    markup = render_card(table)
    assert len(markup.encode()) <= TABLE
    snapshot = table.current
    assert snapshot is not None
    paths = table.reads.paths
    manifests = {manifest.path for manifest in snapshot.manifests}
    assert len(manifests) > 10
    assert manifests.isdisjoint(paths)
    # the documents, the hints, the lists: as many as of a small table
    assert len(paths) <= 12
    count = sum((one.added_files_count or 0) + (one.existing_files_count or 0) for one in snapshot.manifests)
    assert count > FILES
    assert f"{count:,} data" in markup
    # the reads are told: what is opened now is seen
    opened = max(snapshot.manifests, key=lambda one: one.added_files_count or 0)
    assert len(opened.entries) > 1_000
    assert opened.path in table.reads.paths


@pytest.mark.exhaustive(keep=2)
def test_views_of_100_000_files(huge: Path) -> None:
    table = ll.open(huge)
    snapshot = table.current
    assert snapshot is not None
    manifest = max(snapshot.manifests, key=lambda one: one.added_files_count or 0)
    files = snapshot.files
    for thing in (table, snapshot.manifest_lists[0], manifest, manifest.entries, snapshot.manifests):
        check(thing)
    for longest in (snapshot, files):
        assert measure(longest, 1) <= VIEW
        assert measure(longest, 2) <= VIEW
    diff = table.diff(None, snapshot)
    assert len(diff.added) >= FILES
    check(diff)
    hints: dict[str, Any] = {".to_pandas()": files, ".entries": manifest, "diff.added.to_pandas()": diff}
    for hint, many in hints.items():
        told = render_card(many, 2)
        assert re.search(r"… [\d,]+ more (files|entries)", told), many
        assert hint in told
    page = render_page(table)
    assert len(page.encode()) <= PAGE


def test_views_of_1_000_columns(wide: Path) -> None:
    table = ll.open(wide)
    for thing in list_everything(table):
        check(thing)
    assert f"{COLUMNS + len(table.schema) - COLUMNS:,} columns" in render_card(table)
    assert "table.schema.fields" in render_card(table)
    assert len(render_page(table).encode()) <= PAGE


@pytest.mark.exhaustive
def test_a_card_of_10_000_snapshots_reads_few_of_them(long: Path) -> None:
    table = ll.open(long)
    markup = render_card(table)
    assert len(markup.encode()) <= TABLE
    assert len(table.reads.paths) <= 20
    history = table.outline_history()
    assert history.count > SNAPSHOTS
    assert f"{history.count:,} snapshots since" in markup
    assert len(table.reads.paths) <= 20
    check(table)
    assert history.first is not None
    known = table.snapshots
    assert (len(known), known[0].id) == (history.count, history.first.id)
    assert [one.id for one in history.newest] == [one.id for one in known[-5:]]
    for thing in (known, table.snapshot_log, table.metadata):
        check(thing)
    assert "table.snapshots" in render_card(known)


def test_an_outline_goes_past_damage(tmp_path: Path) -> None:
    root = growth.grow_paimon(tmp_path / "table", snapshots=200)
    whole = ll.open(root).snapshots
    for number in (whole[0].id, whole[-2].id, whole[100].id):
        (root / "snapshot" / f"snapshot-{number}").write_text("{")
    table = ll.open(root)
    history = table.outline_history(3)
    assert history.first is not None
    assert history.first.id == whole[1].id
    assert [one.id for one in history.newest] == [whole[-4].id, whole[-3].id, whole[-1].id]
    # the damaged one in the middle was not met yet
    assert history.count == len(whole) - 2
    assert len([finding for finding in table.findings if finding.severity == "error"]) == 2
    assert len(table.snapshots) == len(whole) - 3
    assert table.outline_history(3).count == len(whole) - 3


def test_views_of_5_000_refs(tmp_path: Path) -> None:
    root = growth.grow_iceberg(tmp_path / "table")
    path = sorted((root / "metadata").glob("*.metadata.json"))[-1]
    document = json.loads(path.read_text())
    main = document["refs"]["main"]
    document["refs"] |= {f"tag-{number:05}": {**main, "type": "tag"} for number in range(REFS)}
    path.write_text(json.dumps(document))
    table = ll.open(root)
    assert len(table.refs) == REFS + 1
    for thing in (table, table.refs, table.current, table.snapshots):
        check(thing)
    assert re.search(r"… [\d,]+ more refs", render_card(table.refs))


def test_views_of_1_000_schemas(tmp_path: Path) -> None:
    root = growth.grow_iceberg(tmp_path / "table")
    path = sorted((root / "metadata").glob("*.metadata.json"))[-1]
    document = json.loads(path.read_text())
    last = document["schemas"][-1]
    first = document["last-column-id"] + 1
    for number in range(1, 1_000):
        added = {"id": first + number, "name": f"c{number}", "required": False, "type": "long"}
        last = {**last, "schema-id": number, "fields": [*last["fields"][:8], added]}
        document["schemas"].append(last)
    document["current-schema-id"] = 999
    document["last-column-id"] = first + 1_000
    path.write_text(json.dumps(document))
    table = ll.open(root)
    assert len(table.schemas) == 1_000
    for thing in (table, table.schema, table.schemas[500], table.schemas, table.metadata):
        check(thing)


def test_views_of_a_tree_of_100_000_objects() -> None:
    files = tuple(
        StoredFile(
            f"/lake/table/p={number % 977}/part-{number:06}.parquet",
            f"p={number % 977}/part-{number:06}.parquet",
            1_000 + number,
            "data",
            () if number % 3 else (f"manifest-{number % 50}.avro (ADDED)",),
        )
        for number in range(FILES)
    )
    tree = StorageTree("/lake/table", files)
    check(tree)
    assert "more objects" in render_card(tree)
    assert "table.tree().files" in render_card(tree)


def test_findings_of_a_thoroughly_damaged_table_stay_short() -> None:
    table = ll.sample("paimon")
    for number in range(5_000):
        table.findings.add_error(LakeError("x" * 3_000, path=f"/lake/{number}"), f"/lake/{number}")
    check(table)
    check(table.findings)
