"""Diffs across tables: copies that lie elsewhere, listings of Hive tables; and of tables with damage."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Missing
from lakelens.model.comparison import FileCounts, WholeComparison
from lakelens.opening import open_table
from tests.support import LAKES
from tests.support.growth import _write_avro, read_avro

ICEBERG = LAKES / "spark" / "iceberg"
PAIMON = LAKES / "spark" / "paimon"


def copy_table(source: Path, target: Path) -> Any:
    shutil.copytree(source / "table", target)
    return open_table(target)


@pytest.mark.parametrize(
    "source",
    [ICEBERG / "v2-copy-on-write", ICEBERG / "v3-deletion-vectors", PAIMON / "pk-partitioned"],
    ids=str,
)
def test_a_moved_copy_holds_the_same_files(source: Path, tmp_path: Path) -> None:
    ours, copied = open_table(source / "table"), copy_table(source, tmp_path / "elsewhere")
    diff = ours.diff(ours, copied)
    assert (len(diff.added), len(diff.removed)) == (0, 0) and len(diff.kept) == len(ours.files)
    assert diff.kept_counts == FileCounts(len(ours.files), ours.files.record_count, ours.files.size_bytes)
    assert diff.sentence == "two tables, compared by file path: no files changed"
    older = ours.diff(ours.snapshots[0], copied)
    assert len(older.added) - len(older.removed) == len(copied.files) - len(ours.snapshots[0].files)
    assert all(found.path.startswith(str(tmp_path)) for found in older.added)
    assert diff._repr_html_() and older._repr_html_()


def rewrite_paths(root: Path, old: str, new: str) -> None:
    """Record another location in every document, list and manifest, as a procedure that rewrites paths does."""
    for path in (root / "metadata").iterdir():
        if path.suffix == ".json":
            path.write_text(path.read_text().replace(old, new))
        elif path.suffix == ".avro":
            header, records = read_avro(path)
            text = json.loads(
                json.dumps(records, default=lambda data: {"bytes": data.hex()}).replace(old, new)
            )
            _write_avro(path, header, _restore(text))


def _restore(value: Any) -> Any:
    if isinstance(value, dict):
        if set(value) == {"bytes"}:
            return bytes.fromhex(value["bytes"])
        return {key: _restore(item) for key, item in value.items()}
    return [_restore(item) for item in value] if isinstance(value, list) else value


def test_a_copy_with_rewritten_paths_holds_the_same_files(tmp_path: Path) -> None:
    source = ICEBERG / "v2-manifest-merge"
    ours = open_table(source / "table")
    recorded = json.loads((source / "answers.json").read_text())["location"]
    shutil.copytree(source / "table", tmp_path / "copy")
    rewrite_paths(tmp_path / "copy", recorded, "s3://bucket/other/place")
    copied = open_table(tmp_path / "copy")
    assert copied.files[0].recorded_path.startswith("s3://bucket/other/place/")
    diff = ours.diff(ours, copied)
    assert (len(diff.added), len(diff.removed), len(diff.kept)) == (0, 0, len(ours.files))


def test_the_same_table_opened_twice_is_compared_by_its_manifests() -> None:
    one, other = (open_table(ICEBERG / "v2-basic" / "table") for _ in range(2))
    comparison = other.snapshots[-1].compare_files(one.snapshots[0])
    assert not isinstance(comparison, WholeComparison)
    assert len(comparison.added) == len(other.files) - len(one.snapshots[0].files)


def test_tables_of_two_formats_are_refused() -> None:
    iceberg, paimon = ll.sample("iceberg"), ll.sample("paimon")
    with pytest.raises(LakeError, match="two formats"):
        iceberg.diff(iceberg, paimon)
    empty = open_table(PAIMON / "schema-only" / "table")
    with pytest.raises(Missing, match="no snapshot yet"):
        empty.diff(None, empty)


def test_listings_of_a_hive_table(tmp_path: Path) -> None:
    before = copy_table(LAKES / "spark" / "hive" / "partitioned", tmp_path / "t")
    files = list(before.files)
    kept, gone, rewritten = files[0], files[1], files[2]
    shutil.copy(gone.path, Path(gone.path).parent / "part-00009-new.parquet")
    Path(gone.path).unlink()
    os.utime(rewritten.path, (1, 1))
    after = open_table(tmp_path / "t")
    diff = before.diff(before, after)
    assert {f.path for f in diff.removed} == {gone.path, rewritten.path}
    assert {f.path for f in diff.added} == {
        str(Path(gone.path).parent / "part-00009-new.parquet"),
        rewritten.path,
    }
    assert kept.path in {f.path for f in diff.kept}
    assert diff.kept_counts.files == len(files) - 2 and diff.kept_counts.rows is None
    assert "1 file of them rewritten under the same name" in diff.sentence
    copied = copy_table(LAKES / "spark" / "hive" / "partitioned", tmp_path / "copy")
    assert "no files changed" in copied.diff(copied, copied).sentence


@pytest.mark.parametrize("lost", ["new", "dropped", "kept"])
def test_a_damaged_manifest_of_iceberg_is_a_finding_and_leaves_the_rest(lost: str, tmp_path: Path) -> None:
    table = copy_table(ICEBERG / "v2-manifest-merge", tmp_path / "t")
    at = next(n for n, one in enumerate(table.snapshots) if one.operation == "delete")
    manifests = table.diff(table.snapshots[at - 1], table.snapshots[at]).manifests
    chosen = getattr(manifests, lost) or manifests.new
    Path(chosen[0].path).write_bytes(b"Obj\x01 no more")
    table = open_table(tmp_path / "t")
    diff = table.diff(table.snapshots[at - 1], table.snapshots[at])
    whole = WholeComparison(table.snapshots[at - 1].files, table.snapshots[at].files)
    assert [{f.identity for f in s} for s in (diff.added, diff.removed)] == [
        {f.identity for f in s} for s in (whole.added, whole.removed)
    ]
    assert diff._repr_html_() and diff.sentence and isinstance(diff.manifests.taken, dict)
    assert any(finding.path == chosen[0].path for finding in table.findings)


@pytest.mark.parametrize("name", ["overwrite", "manifest-merge", "pk-compacted"])
def test_a_damaged_manifest_of_paimon_falls_back_to_whole_sets(name: str, tmp_path: Path) -> None:
    table = copy_table(PAIMON / name, tmp_path / "t")
    (delta,) = [one for one in table.snapshots[-1].manifest_lists if one.role == "delta"]
    chosen = delta.manifests[0].path
    Path(chosen).write_bytes(Path(chosen).read_bytes()[:-40])
    table = open_table(tmp_path / "t")
    diff = table.diff(table.snapshots[-2], table.snapshots[-1])
    whole = WholeComparison(table.snapshots[-2].files, table.snapshots[-1].files)
    assert [{f.identity for f in s} for s in (diff.added, diff.removed)] == [
        {f.identity for f in s} for s in (whole.added, whole.removed)
    ]
    assert diff._repr_html_() and diff.sentence and diff.summary
    assert any(finding.path == chosen for finding in table.findings)


def test_a_file_that_is_added_twice_falls_back_to_whole_sets(tmp_path: Path) -> None:
    """A repeated ADD counts two: such entries do not add up, and the engine's fold is followed."""
    table = copy_table(PAIMON / "append", tmp_path / "t")
    (delta,) = [one for one in table.snapshots[-1].manifest_lists if one.role == "delta"]
    path = Path(delta.manifests[0].path)
    header, entries = read_avro(path)
    _write_avro(path, header, [*entries, *entries])
    table = open_table(tmp_path / "t")
    diff = table.snapshots[-1].changes
    assert len(diff.added) == len(entries)
    assert any(finding.code == "repeated-add" for finding in table.findings)


def test_a_lost_list_of_iceberg(tmp_path: Path) -> None:
    table = copy_table(ICEBERG / "v2-basic", tmp_path / "t")
    Path(table.snapshots[-1].manifest_lists[0].path).unlink()
    table = open_table(tmp_path / "t")
    diff = table.snapshots[-1].changes
    assert len(diff.added) == 0 and len(diff.removed) == len(table.snapshots[-2].files)
    assert any(finding.severity == "error" for finding in table.findings)
