"""Paimon tables as they are met in practice: moved, damaged, half copied, with hints and numbers that are wrong."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from lakelens.errors import LakeError, Missing, NotATable
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.manifest import PaimonManifest, merge_entries
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.formats.paimon.table import PaimonTable
from lakelens.opening import open_in_store, open_table
from tests.support.paimon_lakes import get_lake, list_lakes


@pytest.fixture
def copy_lake(tmp_path: Path) -> Callable[[str], Path]:
    """Copies an engine-written table to where it may be changed."""

    def copy(name: str) -> Path:
        target = tmp_path / "copied"
        shutil.copytree(get_lake(name).table_path, target)
        return target

    return copy


def open_paimon(path: Path, **options: Any) -> PaimonTable:
    table = open_table(path, **options)
    assert isinstance(table, PaimonTable)
    return table


def walk(table: PaimonTable) -> None:
    """Everything that a reader of a table asks for."""
    for ref in table.refs.branches:
        branch = table.branch(ref.name)
        for snapshot in [*branch.snapshots, *branch.tags.values(), *branch.changelogs]:
            assert isinstance(snapshot, PaimonSnapshot)
            _ = snapshot.manifests, snapshot.index_files, snapshot.statistics, snapshot.refs, snapshot.summary
            snapshot.files.to_arrow()
            snapshot.changelog_files.to_arrow()
            _ = [m.partition_summary for m in snapshot.manifests]
    _ = table.metadata, table.consumers, table.schemas, table.relocation
    list(table.list_files())


def edit_json(path: Path, **changes: Any) -> None:
    document = json.loads(path.read_text())
    path.write_text(json.dumps(document | changes))


def codes(table: PaimonTable) -> set[str]:
    return {finding.code for finding in table.findings}


# -- seen in the wild


def test_a_tag_and_no_snapshot_folder() -> None:
    lake = get_lake("2.0.0-tag-without-snapshots")
    table = lake.open()
    assert table.current is None and len(table.snapshots) == 0 and len(table.refs.tags) > 0
    for tag in table.refs.tags:
        snapshot = table.snapshot(tag.name)
        assert snapshot.files.record_count == snapshot.record_count
        assert tag.name in snapshot.refs


def test_a_tag_and_nothing_else(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-tags")
    for folder in ("snapshot", "schema"):
        shutil.rmtree(path / folder)
    table = open_paimon(path)
    assert "tag/" in table.evidence.reasons[0]
    walk(table)
    assert "schema-missing" in codes(table)
    snapshot = table.snapshot("plain")
    assert sum(file.record_count or 0 for file in snapshot.files) == snapshot.record_count


def test_a_schema_and_nothing_else() -> None:
    table = get_lake("2.0.0-schema-only").open()
    assert table.current is None and len(table.files) == 0 and table.files.to_arrow().num_rows == 0
    assert len(table.schema) > 0
    assert "no snapshot" in table.evidence.version_choice
    walk(table)
    assert not table.findings


def test_a_snapshot_whose_manifest_list_has_expired(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-tags")
    tag = json.loads((path / "tag/tag-plain").read_text())
    (path / "manifest" / tag["baseManifestList"]).unlink()
    table = open_paimon(path)
    snapshot = table.snapshot("plain")
    with pytest.raises(Missing, match="expired") as raised:
        _ = snapshot.manifest_lists[0].manifests
    assert raised.value.path == snapshot.manifest_lists[0].path
    assert len(snapshot.files) > 0  # what the delta list still tells
    (finding,) = [f for f in table.findings if f.code == "missing"]
    assert finding.path == snapshot.manifest_lists[0].path and snapshot.id in finding.snapshots


def test_an_empty_list_is_no_damage() -> None:
    first = get_lake("2.0.0-tags").open().refs  # any table: the first snapshot's base list is empty
    assert first is not None
    table = get_lake("2.0.0-overwrite").open()
    base = table.snapshots[0].manifest_lists[0]
    assert base.role == "base" and base.manifests == () and not table.findings


def test_one_manifest_listed_many_times() -> None:
    table = get_lake("2.0.0-tags").open()
    assert table.current is not None
    manifest = table.current.manifests[0]
    assert isinstance(manifest, PaimonManifest)
    merged = merge_entries([*manifest.entries, *manifest.entries])
    assert len(merged.live) == len(manifest.entries) == len(merged.repeated)
    lists = [m.manifests for s in table.tags.values() for m in s.manifest_lists]
    shared = [m for found in lists for m in found if m.file_name == manifest.file_name]
    assert len(shared) > 1 and all(m is manifest for m in shared)  # read once, however often it is named


def test_manifest_length_that_is_wrong(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-tags")
    number = int((path / "snapshot/LATEST").read_text())
    edit_json(path / f"snapshot/snapshot-{number}", deltaManifestListSize=1, totalRecordCount=77)
    table = open_paimon(path)
    walk(table)
    assert {"manifest-length", "record-count"} <= codes(table)
    assert table.current is not None and table.current.files.record_count == 3


@pytest.mark.parametrize(
    ("latest", "earliest"), [("garbage", "\x00\xff"), ("", ""), ("1", "999"), ("99", "1"), ("-3", "0")]
)
def test_hints_that_hold_garbage(copy_lake: Callable[[str], Path], latest: str, earliest: str) -> None:
    path = copy_lake("2.0.0-overwrite")
    newest = int((path / "snapshot/LATEST").read_text())
    (path / "snapshot/LATEST").write_text(latest)
    (path / "snapshot/EARLIEST").write_text(earliest)
    table = open_paimon(path)
    assert table.current is not None and table.current.id == newest
    assert "stale-hint" in codes(table)
    assert "highest number" in (table.evidence.version_choice or "")


def test_hints_that_are_absent(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-overwrite")
    newest = int((path / "snapshot/LATEST").read_text())
    (path / "snapshot/LATEST").unlink()
    (path / "snapshot/EARLIEST").unlink()
    table = open_paimon(path)
    assert table.current is not None and table.current.id == newest and not table.findings


def test_latest_is_trusted_before_a_gap_as_the_engine_does(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-overwrite")
    newest = int((path / "snapshot/LATEST").read_text())
    shutil.copy(path / f"snapshot/snapshot-{newest}", path / f"snapshot/snapshot-{newest + 5}")
    table = open_paimon(path)
    assert table.current is not None and table.current.id == newest
    assert {"stale-hint", "snapshot-gap"} <= codes(table)
    assert table.snapshot(newest + 5).id == newest + 5


def test_ids_rounded_by_a_json_tool(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-overwrite")
    newest = path / "snapshot" / f"snapshot-{(path / 'snapshot/LATEST').read_text()}"
    document = json.loads(newest.read_text())
    document["commitIdentifier"] = 9223372036854775807.0
    document["id"] = str(document["id"])
    newest.write_text(json.dumps(document))
    table = open_paimon(path)
    assert table.current is not None
    assert table.current.commit_identifier == 9223372036854775807
    assert "snapshot-document" in codes(table)
    edit_json(newest, commitIdentifier=9007199254740993)
    exact = open_paimon(path).current
    assert exact is not None and exact.commit_identifier == 9007199254740993
    assert exact.raw["commitIdentifier"] == 9007199254740993


def test_statistics_files_gone(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-statistics")
    shutil.rmtree(path / "statistics")
    table = open_paimon(path)
    assert table.current is not None
    (found,) = table.current.statistics
    assert found.columns == {} and "missing" in codes(table)


def test_branch_folders_without_manifests_of_their_own() -> None:
    lake = get_lake("2.0.0-branches")
    for name, said in lake.answers["branches_data"].items():
        table = lake.open(branch=name)
        assert [s.id for s in table.snapshots] == sorted(row["snapshot_id"] for row in said["snapshots"])
        current = lake.open().snapshot(name) if table.current else None
        assert (current and current.id) == (table.current and table.current.id)
        assert {f.path for f in table.files} == {f.path for f in (current.files if current else ())}
        inside = open_paimon(
            lake.table_path / "branch" / f"branch-{name}"
        )  # the folder itself opens as the branch
        assert inside.branch_name == name and len(inside.files) == len(table.files)
        walk(table)
        assert not [f for f in table.findings if f.severity == "error"]
    with pytest.raises(Missing, match="no branch 'nowhere'"):
        lake.open(branch="nowhere")


def test_orphan_commits_are_found_and_left_out() -> None:
    table = get_lake("2.0.0-fast-forward").open()
    assert 1 not in [s.id for s in table.snapshots] and table.snapshot(1).id == 1
    assert "stale-hint" in codes(table)


def test_partitions_of_null_empty_and_blank_share_a_directory() -> None:
    table = get_lake("2.0.0-partition-texts").open()
    files = [f for f in table.files if isinstance(f, PaimonDataFile)]
    shared = [f for f in files if "/p=__DEFAULT_PARTITION__/" in f.path]
    assert {f.partition["p"] for f in shared} == {None, "", " ", "__DEFAULT_PARTITION__"}
    assert {f.partition.texts["p"] for f in shared} == {"__DEFAULT_PARTITION__"}
    assert all(Path(f.path).is_file() for f in files)


def test_percent_and_slash_in_partition_values() -> None:
    table = get_lake("2.0.0-partition-texts").open()
    by_value = {f.partition["p"]: f.path for f in table.files}
    assert any("%2F" in path for value, path in by_value.items() if value and "/" in value)
    assert any("%25" in path for value, path in by_value.items() if value and "%" in value)


def test_date_partitions_whose_directory_is_a_day_number() -> None:
    legacy = get_lake("2.0.0-partition-types").open().files[0]
    words = get_lake("2.0.0-partition-types-sql-names").open().files[0]
    assert str(legacy.partition["dt"]).count("-") == 2  # a date, whatever the directory says
    assert "/dt=19782/" in legacy.path or "/dt=-25202/" in legacy.path or "/dt=2932896/" in legacy.path
    assert f"/dt={words.partition['dt']}/" in words.path


def test_a_directory_in_the_other_form_is_found(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-partition-types")
    newest = max((path / "schema").iterdir(), key=lambda p: p.name)
    document = json.loads(newest.read_text())
    edit_json(newest, options=document["options"] | {"partition.legacy-name": "false"})
    table = open_paimon(path)  # the option was changed after the files had been written
    assert len(table.files) > 0 and all(Path(f.path).is_file() for f in table.files)


def test_hours_before_1970() -> None:
    table = get_lake("2.0.0-partition-types").open()
    early = [
        f for f in table.files if f.partition["ts3"] is not None and f.partition["ts3"] < datetime(1970, 1, 1)
    ]
    assert early and all("/ts3=1969-12-31T23%3A59%3A59.999/" in f.path for f in early)


def test_a_missing_schema_leaves_the_rest(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-schema-evolution")
    (path / "schema/schema-0").unlink()
    table = open_paimon(path)
    walk(table)
    assert "schema-missing" in codes(table)
    whole = get_lake("2.0.0-schema-evolution").open()
    assert {f.file_name for f in table.files} == {f.file_name for f in whole.files}  # type: ignore[attr-defined]
    bare = [f for f in table.files if f.schema_id == 0]
    assert bare and all(len(f.bounds) == 0 for f in bare)


def test_iceberg_metadata_beside_is_named(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-overwrite")
    (path / "metadata").mkdir()
    (path / "metadata/v1.metadata.json").write_text("{}")
    table = open_paimon(path, format="paimon")
    assert table.evidence.others == ("iceberg",)
    assert "Iceberg metadata" in {file.role for file in table.list_files()}


def test_an_unrelated_directory_is_no_table(tmp_path: Path) -> None:
    (tmp_path / "schema").mkdir()
    (tmp_path / "schema/schema-0").write_text('{"hello": 1}')
    (tmp_path / "tag").mkdir()
    with pytest.raises(NotATable, match="schema-N"):
        open_table(tmp_path, format="paimon")


# -- schema evolution


def test_promoted_dropped_and_added_columns() -> None:
    lake = get_lake("2.0.0-schema-evolution")
    table = lake.open()
    dropped = {name for f in table.files for name in f.bounds if "#" in name}
    assert dropped and dropped <= {name for name, _ in table.files.columns.dropped}
    arrow = table.files.to_arrow()
    assert {field.name for field in arrow.schema.field("lower_bounds").type} >= {
        *table.schema.names,
        *dropped,
    }
    for file in table.files:
        for name, bounds in file.bounds.items():
            if "#" not in name:
                assert bounds.type == table.schema.field(name).type
            written = {c.id for c in file.schema.columns}  # type: ignore[attr-defined]
            if bounds.field_id not in written:
                assert bounds.nulls == bounds.values == file.record_count


# -- moved and copied


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("lake", list_lakes("2.0.0-*"), ids=lambda lake: lake.name)
def test_a_copied_directory_opens_the_same(lake: Any, tmp_path: Path) -> None:
    target = tmp_path / "other-place" / lake.name
    shutil.copytree(lake.table_path, target)
    here, there = lake.open(), open_paimon(target)
    walk(there)
    assert [s.id for s in there.snapshots] == [s.id for s in here.snapshots]
    assert [f.identity for f in there.files] == [f.identity for f in here.files]
    columns = [name for name in here.files.to_arrow().column_names if name not in ("path", "manifest")]
    rows = [
        str(table.files.to_arrow(columns=columns).to_pylist()) for table in (here, there)
    ]  # NaN is not NaN
    assert rows[0] == rows[1]
    inside = [f for f in there.files if getattr(f, "external_path", None) is None]
    assert all(f.path.startswith(str(target)) and Path(f.path).is_file() for f in inside)


def test_external_paths_that_moved_along(tmp_path: Path) -> None:
    lake = get_lake("2.0.0-external-paths")
    shutil.copytree(lake.path, tmp_path / "moved")
    table = open_paimon(tmp_path / "moved/table")
    files = [f for f in table.files if isinstance(f, PaimonDataFile) and f.external_path]
    assert files and all(Path(f.path).is_file() and str(tmp_path) in f.path for f in files)
    assert table.relocation.is_moved


def test_a_table_in_memory_opens_the_same() -> None:
    from lakelens.io.memory import MemoryStore

    lake = get_lake("2.0.0-pk-fixed-bucket")
    objects = {
        f"/lake/t/{path.relative_to(lake.table_path)}": path.read_bytes()
        for path in lake.table_path.rglob("*")
        if path.is_file()
    }
    table = open_in_store(MemoryStore(objects), "/lake/t")
    assert [f.identity for f in table.files] == [f.identity for f in lake.open().files]


# -- damage


def _metadata_files(lake: Any) -> list[str]:
    folders = ("schema", "snapshot", "manifest", "tag", "branch", "statistics", "changelog", "consumer")
    return [
        str(path.relative_to(lake.table_path))
        for folder in folders
        for path in sorted((lake.table_path / folder).rglob("*"))
        if path.is_file()
    ]


DAMAGES: dict[str, Callable[[bytes], bytes]] = {
    "empty": lambda data: b"",
    "half": lambda data: data[: len(data) // 2],
    "one byte short": lambda data: data[:-1],
    "garbage": lambda data: bytes((i * 7 + 13) % 256 for i in range(300)),
    "text": lambda data: b"this is not it",
    "list": lambda data: b"[1, 2, 3]",
    "object": lambda data: b"{}",
    "wrong types": lambda data: (
        b'{"id": [], "fields": 3, "schemaId": {}, "options": [1], "nextSnapshot": null}'
    ),
    "flipped": lambda data: bytes(b ^ 0x55 if i % 37 == 20 else b for i, b in enumerate(data)),
}


@pytest.mark.exhaustive(keep=8)
@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize(
    "name",
    [
        "2.0.0-branches",
        "2.0.0-tags",
        "2.0.0-statistics",
        "2.0.0-consumers",
        "2.0.0-pk-deletion-vectors",
        "2.0.0-manifest-orc",
        "2.0.0-manifest-parquet",
        "2.0.0-changelog-long-lived",
    ],
)
def test_a_damaged_file_is_one_error_or_finding(
    name: str, damage: str, copy_lake: Callable[[str], Path]
) -> None:
    path = copy_lake(name)
    for relative in _metadata_files(get_lake(name)):
        whole = (path / relative).read_bytes()
        (path / relative).write_bytes(DAMAGES[damage](whole))
        try:
            table = open_paimon(path, format="paimon")
            walk(table)
        except LakeError as error:
            assert str(error)
        else:
            harmless = damage == "one byte short" and relative.endswith(("LATEST", "EARLIEST"))
            told = [f for t in _views(table) for f in t.findings if Path(f.path).name]
            is_hint = "/branch/" in f"/{relative}" and relative.endswith(("LATEST", "EARLIEST"))
            assert told or harmless or is_hint or _is_same(path, relative, whole), relative
        (path / relative).write_bytes(whole)


def _views(table: PaimonTable) -> list[PaimonTable]:
    return [table.branch(ref.name) for ref in table.refs.branches]


def _is_same(path: Path, relative: str, whole: bytes) -> bool:
    return (path / relative).read_bytes() == whole


def test_a_damaged_manifest_raises_and_names_itself(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-tags")
    table = open_paimon(path)
    assert table.current is not None
    manifest = table.current.manifests[-1]
    Path(manifest.path).write_bytes(Path(manifest.path).read_bytes()[:100])
    with pytest.raises(LakeError) as raised:
        _ = manifest.entries
    assert raised.value.path == manifest.path
    assert len(table.current.files) == 2  # the other manifests' files
    assert [f.path for f in table.findings if f.severity == "error"] == [manifest.path]


def test_a_damaged_current_snapshot_falls_back_and_says_so(copy_lake: Callable[[str], Path]) -> None:
    path = copy_lake("2.0.0-overwrite")
    newest = int((path / "snapshot/LATEST").read_text())
    (path / f"snapshot/snapshot-{newest}").write_bytes(b"{")
    table = open_paimon(path)
    assert table.current is not None and table.current.id == newest - 1
    (finding,) = table.findings
    assert finding.severity == "error" and finding.path.endswith(f"snapshot-{newest}")
