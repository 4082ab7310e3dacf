"""Every Iceberg table that an engine wrote, compared column by column with the engine's own metadata tables."""

from __future__ import annotations

import shutil
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from lakelens.errors import Unsupported
from lakelens.formats.iceberg.table import IcebergTable
from lakelens.opening import open_table
from tests.support.iceberg_lakes import (
    Lake,
    entry_rows,
    file_row,
    find_lakes,
    manifest_row,
    metrics_row,
    partition_rows,
    plain,
    reachable_manifests,
    same_decimals,
    sort_rows,
)

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

ALL = find_lakes()
TABLES = [lake for lake in ALL if not lake.is_view]

each_table = pytest.mark.parametrize("lake", TABLES, ids=lambda lake: lake.name)


@cache
def opened(lake: Lake) -> IcebergTable:
    return lake.open(version=lake.answers["metadata_location"])


def answer(lake: Lake, name: str) -> Any:
    rows = lake.answers[name]
    if isinstance(rows, dict) and "error" in rows:
        pytest.skip(f"the engine refused {name}: {rows['error'][:80]}")
    return rows


def without(rows: list[dict[str, Any]], *names: str) -> list[dict[str, Any]]:
    return [{key: value for key, value in row.items() if key not in names} for row in rows]


def test_there_are_tables_of_every_version() -> None:
    versions = {opened(lake).format_version for lake in TABLES}
    assert {1, 2, 3, 4} <= versions


@each_table
def test_snapshots(lake: Lake) -> None:
    ours = [
        {
            "committed_at": plain(s.committed_at),
            "snapshot_id": s.id,
            "parent_id": s.parent_id,
            "operation": s.operation,
            "manifest_list": s.raw.get("manifest-list"),
            "summary": {key: value for key, value in s.summary.items() if key != "operation"},
        }
        for s in opened(lake).snapshots
    ]
    assert ours == answer(lake, "snapshots")


@each_table
def test_history(lake: Lake) -> None:
    ours = [
        {
            "made_current_at": plain(entry.made_current_at),
            "snapshot_id": entry.snapshot_id,
            "parent_id": entry.parent_id,
            "is_current_ancestor": entry.is_current_ancestor,
        }
        for entry in opened(lake).snapshot_log
    ]
    assert ours == answer(lake, "history")


@each_table
def test_refs(lake: Lake) -> None:
    ours = [
        {
            "name": ref.name,
            "type": ref.type.upper(),
            "snapshot_id": ref.snapshot_id,
            "max_reference_age_in_ms": ref.max_ref_age_ms,
            "min_snapshots_to_keep": ref.min_snapshots_to_keep,
            "max_snapshot_age_in_ms": ref.max_snapshot_age_ms,
        }
        for ref in opened(lake).refs
    ]
    assert sort_rows(ours) == sort_rows(answer(lake, "refs"))


@each_table
def test_metadata_log(lake: Lake) -> None:
    table = opened(lake)
    log = [(entry.timestamp, entry.recorded_path) for entry in table.metadata_log]
    theirs = answer(lake, "metadata_log_entries")
    assert [(plain(at), file) for at, file in log] == [(row["timestamp"], row["file"]) for row in theirs[:-1]]
    assert Path(theirs[-1]["file"]).name == Path(table.metadata_path).name
    for row in theirs:
        made = [entry for entry in table.snapshot_log if plain(entry.made_current_at) <= row["timestamp"]]
        latest = table.find_by_id(made[-1].snapshot_id) if made else None
        assert row["latest_snapshot_id"] == (made[-1].snapshot_id if made else None)
        if latest is not None:
            assert row["latest_sequence_number"] == latest.sequence_number
            assert row["latest_schema_id"] == latest.schema_id


@each_table
def test_manifests(lake: Lake) -> None:
    table = opened(lake)
    ours = [manifest_row(table, m) for m in table.current.manifests] if table.current else []
    assert sort_rows(ours) == sort_rows(answer(lake, "manifests"))
    for snapshot_id, theirs in lake.answers["manifests_at"].items():
        at = [manifest_row(table, m) for m in table.snapshot(int(snapshot_id)).manifests]
        assert sort_rows(at) == sort_rows(theirs)


@each_table
def test_all_manifests(lake: Lake) -> None:
    table = opened(lake)
    ours = [
        manifest_row(table, m) | {"reference_snapshot_id": s.id, "key_metadata": plain(m.key_metadata)}
        for s in table.snapshots
        for m in s.manifests
    ]
    assert sort_rows(ours) == sort_rows(answer(lake, "all_manifests"))


@each_table
def test_entries(lake: Lake) -> None:
    table = opened(lake)
    ours = list(entry_rows(table, table.current.manifests)) if table.current else []
    assert sort_rows(ours) == sort_rows(without(answer(lake, "entries"), "readable_metrics"))


@each_table
def test_all_entries(lake: Lake) -> None:
    table = opened(lake)
    ours = entry_rows(table, reachable_manifests(table))
    assert sort_rows(ours) == sort_rows(without(answer(lake, "all_entries"), "readable_metrics"))


@each_table
def test_files(lake: Lake) -> None:
    table = opened(lake)
    theirs = answer(lake, "files")
    told = "uuid" not in lake.name  # the engine cannot render readable_metrics of uuid columns; see below
    ours = [file_row(table, file, metrics=told) for file in table.files]
    assert sort_rows(ours) == sort_rows(same_decimals(table, theirs) if told else theirs)


@each_table
def test_files_of_every_snapshot(lake: Lake) -> None:
    table = opened(lake)
    for snapshot_id, theirs in lake.answers["files_at"].items():
        if isinstance(theirs, dict):
            pytest.skip(f"the engine refused: {theirs['error'][:80]}")
        files = table.snapshot(int(snapshot_id)).files
        ours = without([file_row(table, file, metrics=False) for file in files], "partition")
        assert sort_rows(ours) == sort_rows(without(theirs, "partition"))


@each_table
@pytest.mark.parametrize(
    "name", ["data_files", "delete_files", "all_files", "all_data_files", "all_delete_files"]
)
def test_subsets_of_files(lake: Lake, name: str) -> None:
    table = opened(lake)
    current = table.current.manifests if table.current else ()
    manifests = reachable_manifests(table) if name.startswith("all_") else current
    files = [entry.file for manifest in manifests for entry in manifest.entries if entry.is_live]
    wanted = {"data": {"data"}, "delete": {"position_deletes", "equality_deletes", "deletion_vector"}}
    kinds = next((kinds for word, kinds in wanted.items() if word in name), None)
    ours = [
        {"file_path": file.file_path, "content_offset": file.content_offset}
        for file in files
        if kinds is None or file.content in kinds
    ]
    theirs = [{key: row[key] for key in ("file_path", "content_offset")} for row in answer(lake, name)]
    assert sort_rows(ours) == sort_rows(theirs)


@each_table
def test_partitions(lake: Lake) -> None:
    ours = partition_rows(opened(lake))
    theirs = answer(lake, "partitions")
    if not opened(lake).files and len(theirs) == 1 and theirs[0].get("file_count") == 0:
        theirs = []  # the engine gives an unpartitioned empty table one row of zeros
    assert sort_rows(ours) == sort_rows(theirs)


@each_table
def test_every_snapshot_adds_up(lake: Lake) -> None:
    table = opened(lake)
    for snapshot in table.snapshots:
        data = snapshot.files.where(content="data")
        assert data.record_count == snapshot.record_count
        assert len(data) == snapshot.figures.files
        if lake.name != "v2-imported":  # add_files of Iceberg 1.12 records a size of 0: a finding, see below
            assert snapshot.files.size_bytes == snapshot.figures.size_bytes


def test_a_total_that_the_engine_recorded_wrong_is_a_finding() -> None:
    (imported,) = [lake for lake in TABLES if lake.name == "v2-imported"]
    table = opened(imported)
    assert len(table.files) == 1
    assert [finding.code for finding in table.findings] == ["total-files-size"]


@each_table
def test_deletes_reach_the_rows_that_the_engine_no_longer_sees(lake: Lake) -> None:
    """Rows of the data files without those that `deletes` reaches, against the engine's count at every snapshot."""
    table = opened(lake)
    for snapshot_id, count in lake.answers["row_count_at"].items():
        files = list(table.snapshot(int(snapshot_id)).files)
        if not all(Path(file.path).exists() for file in files):
            continue  # expired or kept out of the table
        assert sum(file.live_record_count for file in files if file.content == "data") == count


def test_every_kind_of_delete_is_there() -> None:
    kinds = {
        file.content for lake in TABLES for snapshot in opened(lake).snapshots for file in snapshot.files
    }
    assert kinds == {"data", "position_deletes", "equality_deletes", "deletion_vector"}


@pytest.mark.parametrize("lake", [lake for lake in TABLES if "uuid" in lake.name], ids=lambda lake: lake.name)
def test_bounds_of_uuid_and_fixed_which_spark_cannot_show(lake: Lake) -> None:
    """Spark refuses to show these bounds, but not the rows."""
    table = opened(lake)
    for name in ("u", "fx"):
        seen = sorted(row[name] for row in lake.answers["rows"] if row[name] is not None)
        bounds = [file.bounds[name] for file in table.files]
        assert min(plain(b.lower) for b in bounds if b.lower is not None) == seen[0]
        assert max(plain(b.upper) for b in bounds if b.upper is not None) == seen[-1]


@pytest.mark.parametrize(
    "lake", [lake for lake in TABLES if "statistics" in lake.name], ids=lambda lake: lake.name
)
def test_statistics(lake: Lake) -> None:
    table = opened(lake)
    found = [statistics for snapshot in table.snapshots for statistics in snapshot.statistics]
    assert found and all(Path(statistics.path).exists() for statistics in found)
    indexes = [
        i for snapshot in table.snapshots for i in snapshot.index_files if i.index_type == "STATISTICS"
    ]
    assert indexes and all(len(index.blobs) == index.row_count for index in indexes)


def test_deletion_vectors_are_index_files_too() -> None:
    (lake,) = [lake for lake in TABLES if lake.name == "v3-merge-on-read"]
    table = opened(lake)
    assert table.current is not None
    vectors = [index for index in table.current.index_files if index.index_type == "DELETION_VECTORS"]
    assert sum(len(index.ranges) for index in vectors) == len(table.files.where(content="deletion_vector"))
    for index in vectors:
        places = {(blob.offset, blob.length) for blob in index.blobs}
        assert {(r["offset"], r["length"]) for r in index.ranges} <= places
        assert all(Path(r["data_path"]).exists() for r in index.ranges)


@each_table
def test_lengths_are_as_recorded_and_nothing_is_wrong(lake: Lake) -> None:
    table = lake.open(version=lake.answers["metadata_location"])
    for snapshot in table.snapshots:
        for manifest in snapshot.manifests:
            assert manifest.entries is not None
            assert Path(manifest.path).stat().st_size == manifest.manifest_length
        for file in snapshot.files:
            if Path(file.path).exists():
                assert Path(file.path).stat().st_size == file.file_size_in_bytes
    assert [finding for finding in table.findings if finding.severity == "error"] == []


@each_table
def test_the_directory_alone_tells_the_catalogs_version(lake: Lake) -> None:
    assert Path(lake.open().metadata_path).name == Path(lake.answers["metadata_location"]).name


@each_table
def test_opening_reads_no_manifest(lake: Lake) -> None:
    table = lake.open()
    _ = (
        table.schema,
        table.snapshots,
        table.refs,
        table.snapshot_log,
        table.current,
        table.specs,
        table.sort_orders,
    )
    assert [path for path in table.reads.paths if path.endswith(".avro")] == []


@each_table
def test_a_copy_opens_the_same(lake: Lake, tmp_path: Path) -> None:
    copy = shutil.copytree(lake.table_path, tmp_path / "elsewhere")
    table = opened(lake)
    moved_table = open_table(copy, version=Path(lake.answers["metadata_location"]).name)
    assert isinstance(moved_table, IcebergTable)
    for before, after in zip(table.snapshots, moved_table.snapshots, strict=True):
        mine = [(f.identity, plain(dict(f.partition)), metrics_row(table, f)) for f in before.files]
        theirs = [(f.identity, plain(dict(f.partition)), metrics_row(moved_table, f)) for f in after.files]
        assert mine == theirs
        for file in after.files:
            assert file.path.startswith(str(copy))
            assert file.referenced_data_path is None or file.referenced_data_path.startswith(str(copy))
        assert all(manifest.path.startswith(str(copy)) for manifest in after.manifests)
    if len(table.snapshots):
        assert moved_table.relocation.is_moved and not moved_table.relocation.unmapped


@each_table
def test_partition_texts_are_the_directories_that_the_engine_made(lake: Lake) -> None:
    for snapshot in opened(lake).snapshots:
        for file in snapshot.files:
            folder = file.recorded_path.rpartition("/")[0]
            if not file.recorded_path.endswith(".puffin") and str(file.partition):
                assert folder.endswith("/" + str(file.partition)), str(file.partition)


@each_table
def test_files_as_arrow(lake: Lake) -> None:
    table = opened(lake)
    arrow = table.files.to_arrow()
    assert arrow.num_rows == len(table.files)
    rows = {(row["recorded_path"], row["content_offset"]): row for row in arrow.to_pylist()}
    for file in table.files:
        row = rows[file.identity]
        for name, column in file.bounds.items():
            assert row["null_counts"][name] == column.nulls
            if column.type.logical not in (
                "geometry",
                "geography",
                "variant",
                "timestamp",
                "timestamptz",
                "uuid",
            ):
                assert plain(row["lower_bounds"][name]) == plain(column.lower)
        assert row["manifest"] == file.manifest and row["partition"] == str(file.partition)


@each_table
def test_footers_agree_with_the_manifest(lake: Lake) -> None:
    for file in opened(lake).files:
        if file.file_format in ("parquet", "orc") and Path(file.path).exists():
            assert file.footer.num_rows == file.record_count


@pytest.mark.parametrize("lake", [lake for lake in ALL if lake.is_view], ids=lambda lake: lake.name)
def test_a_view_is_named_as_such(lake: Lake) -> None:
    with pytest.raises(Unsupported, match=r"Iceberg view.*spark"):
        lake.open()


def test_there_is_a_view() -> None:
    assert any(lake.is_view for lake in ALL)
