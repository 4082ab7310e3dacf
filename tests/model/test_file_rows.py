"""Files as rows of columns are what they are one by one: every attribute, every operation on sets, for every lake."""

from __future__ import annotations

import gc
import weakref
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.formats.paimon import changes
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.scan import file_table, scan_to_arrow
from lakelens.model.scan.file_table import FileTable
from lakelens.model.scan.files_to_arrow import assemble_table
from lakelens.model.scan.plan import ScanRequest
from lakelens.model.table import Table
from tests.support import LAKES
from tests.support.growth import grow_iceberg, grow_paimon
from tests.support.view_lakes import PATHS, name_lake, open_lake

# Delta has no columns of files yet: records alone
each_lake = pytest.mark.parametrize(
    "path", [path for path in PATHS if "delta" not in path.parts], ids=name_lake
)
# with all facts of the files kept, and with none
each_size = pytest.mark.parametrize("most_kept", [300_000, -1], ids=["kept", "read again"])
# what a row of columns answers without its record
PLAIN = (
    *("content", "path", "recorded_path", "file_format", "bucket", "level", "record_count", "size_bytes"),
    *("spec_id", "schema_id", "sequence_number", "snapshot_id", "manifest", "own_size_bytes"),
)


def open_many(path: Path, monkeypatch: pytest.MonkeyPatch, most_kept: int) -> Table:
    """Opens a table whose files are read by column, however few they are."""
    monkeypatch.setattr(file_table, "_FEW", most_kept)
    monkeypatch.setattr(scan_to_arrow, "is_worthwhile", lambda scan: True)
    monkeypatch.setattr(changes, "_MANY", 0)
    monkeypatch.setattr(changes, "is_worthwhile", lambda scan: True)
    table = open_lake(path)
    assert table is not None
    return table


def open_few(path: Path, monkeypatch: pytest.MonkeyPatch) -> Table | None:
    """Opens a table whose files are decoded one by one."""
    monkeypatch.setattr(scan_to_arrow, "is_worthwhile", lambda scan: False)
    monkeypatch.setattr(scan_to_arrow, "is_warm", lambda: False)
    return open_lake(path)


def tell_bounds(file: DataFile) -> list[Any]:
    """Everything that is known of the columns of a file."""
    return [
        [(name, value) for name, value in vars_of(bounds) if name != "_source"]
        for bounds in file.bounds.values()
    ]


def vars_of(bounds: Any) -> list[tuple[str, Any]]:
    return [(field.name, getattr(bounds, field.name)) for field in fields(bounds)]


def assert_same_file(seen: DataFile, read: DataFile) -> None:
    for name in PLAIN:
        assert getattr(seen, name) == getattr(read, name), name
    # as text: NaN is equal to no other
    assert repr(dict(seen.partition)) == repr(dict(read.partition)) and str(seen.partition) == str(
        read.partition
    )
    assert repr(seen) == repr(read)
    assert seen.identity == read.identity and seen.copy_identity == read.copy_identity
    assert repr(dict(seen.raw)) == repr(dict(read.raw))
    assert list(map(repr, tell_bounds(seen))) == list(map(repr, tell_bounds(read)))
    assert [match.rule for match in seen.deletes] == [match.rule for match in read.deletes]


@pytest.mark.exhaustive(keep=3)
@each_size
@each_lake
def test_files_as_rows_are_those_that_were_decoded(
    path: Path, most_kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    few = open_few(path, monkeypatch)
    if few is None or few.traits.files_are_listed:
        pytest.skip("a view, or a table without manifests")
    expected = [list(snapshot.files) for snapshot in few.snapshots[-3:]]
    columns = [snapshot.files.columns for snapshot in few.snapshots[-3:]]
    many = open_many(path, monkeypatch, most_kept)
    for snapshot, files, known in zip(many.snapshots[-3:], expected, columns, strict=True):
        assert len(snapshot.files) == len(files)
        assert snapshot.files.rows is not None or not files
        for number, (seen, read) in enumerate(zip(snapshot.files, files, strict=True)):
            assert_same_file(seen, read)
            assert_same_file(snapshot.files[number], read)
            names = [name for name, _ in known.further]
            assert repr([*map(seen.further, names)]) == repr([*map(read.further, names)])
    assert {(one.code, one.message) for one in many.findings} == {
        (one.code, one.message) for one in few.findings
    }


@pytest.mark.exhaustive(keep=8)
@each_size
@each_lake
def test_sets_of_rows_are_those_of_files(path: Path, most_kept: int, monkeypatch: pytest.MonkeyPatch) -> None:
    few = open_few(path, monkeypatch)
    if few is None or not few.snapshots:
        pytest.skip("a view, or a table without snapshots")
    expected = list(map(repr, list_sets(few).items()))
    many = open_many(path, monkeypatch, most_kept)
    assert list(map(repr, list_sets(many).items())) == expected


def test_deletes_of_a_row_are_not_those_of_its_entry(monkeypatch: pytest.MonkeyPatch) -> None:
    """A row takes its record over from its manifest's entry, whose file no delete reaches, also after this was asked."""
    path = LAKES / "spark" / "iceberg" / "v2-planning" / "table"
    few = open_few(path, monkeypatch)
    assert few is not None
    expected = {file.path: list(file.deleted_positions) for file in few.files if file.content == "data"}
    assert any(expected.values())
    many = open_many(path, monkeypatch, 300_000)
    assert many.current is not None
    for manifest in many.current.manifests:
        assert not any(entry.file.deletes for entry in manifest.entries)
    assert many.files.rows is not None
    for file in many.files.where(content="data"):
        assert file.read_record()
        assert list(file.deleted_positions) == expected[file.path]


def list_sets(table: Table) -> dict[str, Any]:
    """What operations on the sets of files of the newest snapshots give."""
    before, after = table.snapshots[-2:][0].files, table.snapshots[-1].files
    first = next(iter(after), None)
    sets: dict[str, FileSet] = {
        "and": before & after,
        "or": before | after,
        "minus": after - before,
        "slice": after[1:3],
        "reversed": after[::-1],
        "sample": after.sample(2),
        "keyword": after.where(content="data"),
        "sql": after.where("record_count >= 1 AND content = 'data'"),
        "function": after.where(lambda file: (file.size_bytes or 0) % 2 == 0),
        "sorted": after.sort_by("size_bytes", descending=True),
        "union sorted": (before | after).sort_by("path"),
        "both": (after.where(content="data") & before)[:2],
    }
    told: dict[str, Any] = {
        name: (
            [file.path for file in files],
            len(files),
            files.record_count,
            files.size_bytes,
            files.to_arrow(stats=True).to_pylist(),
            [path for batch in files.batches(2, columns=["path"]) for path in batch["path"].to_pylist()],
            all(batch.num_rows <= 2 for batch in files.batches(2)),
            list(files.pick("path", "own_size_bytes")),
        )
        for name, files in sets.items()
    }
    if first is not None:
        told["found"] = (after[first.path].path, first.path in after, first in after, "nowhere" in after)
    for snapshot in table.snapshots[-3:]:
        diff = snapshot.changes
        told[f"diff {snapshot.id}"] = (
            [file.path for file in diff.added],
            [file.path for file in diff.removed],
            sorted(file.path for file in diff.kept),
            diff.summary,
            diff.sentence,
            diff.by_partition,
            str(diff),
        )
    return told


def test_looking_at_many_files_makes_none(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    made: list[int] = []
    monkeypatch.setattr(FileTable, "_make", count_calls(made, FileTable._make))
    for grow in (grow_iceberg, grow_paimon):
        table = ll.open(grow(tmp_path / grow.__name__, files=20_000))
        files = table.files
        assert len(files) > 20_000 and files.record_count > 0 and files.size_bytes > 0
        assert len(files.where(content="data")) == len(files) == len(files.where("record_count >= 0"))
        assert len(files & files) == len(files) and not len(files - files)
        assert not made
        assert files[15_000].bounds and len(made) == 1
        assert files[15_000] is files[15_000] and len(made) == 1
        made.clear()


@each_lake
@each_size
def test_what_is_asked_with_the_files_is_what_is_asked_of_them_later(
    path: Path, most_kept: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    request = ScanRequest(stats=True, columns=("path", "record_count", "lower_bounds", "null_counts"))
    files, later = (open_many(path, monkeypatch, most_kept).files for _ in range(2))
    together = files.read_with(request)
    assert files.is_loaded and len(files) == len(later.read())
    apart = list(later.iterate_batches(request))
    tables = [
        assemble_table(batches, chosen.columns, request)
        for batches, chosen in ((together, files), (apart, later))
    ]
    assert tables[0].schema == tables[1].schema
    # as texts: a NaN equals none
    assert str(tables[0].to_pylist()) == str(tables[1].to_pylist())
    assert tables[0]["path"].to_pylist() == [file.path for file in later]


def test_an_explanation_reads_each_manifest_once(tmp_path: Path) -> None:
    for grow in (grow_iceberg, grow_paimon):
        table, again = (ll.open(grow(tmp_path / f"{grow.__name__}{n}", files=20_000)) for n in range(2))
        _ = again.files.read()
        before = again.reads.requests
        assert len(again.explain("id IS NOT NULL").kept) == len(table.explain("id IS NOT NULL").kept) > 20_000
        assert table.reads.requests < again.reads.requests and again.reads.requests > before


def count_calls(made: list[int], make: Any) -> Any:
    def call(table: FileTable, number: int) -> DataFile:
        made.append(number)
        found: DataFile = make(table, number)
        return found

    return call


@pytest.mark.parametrize(
    ("predicate", "error", "said"),
    [
        (7, TypeError, "not int"),
        ("record_cuont > 5", LakeError, "record_count"),
        ("record_count >", LakeError, "not a condition"),
        ("1 = 1 ORDER BY path", LakeError, "not a condition"),
        ("path IN (SELECT path FROM files)", LakeError, "not a condition"),
        ("1 = 1; DROP TABLE files", LakeError, "not a condition"),
    ],
)
def test_what_is_no_condition_is_refused_at_once(predicate: Any, error: type[Exception], said: str) -> None:
    with pytest.raises(error) as raised:
        ll.sample("iceberg").files.where(predicate)
    assert said in str(raised.value)


def test_a_name_that_no_file_has_is_refused_with_the_nearest() -> None:
    with pytest.raises(TypeError, match="record_count"):
        ll.sample("iceberg").files.where(record_cuont=5)
    with pytest.raises(LakeError, match="size_bytes"):
        ll.sample("paimon").files.sort_by("size_byte")


def test_conditions_reach_bounds_and_further_columns() -> None:
    files = ll.sample("iceberg").files.where("content = 'data'")
    assert len(files.where("lower_bounds.id IS NOT NULL")) == len(files) > 0
    assert len(files.where("FILE_FORMAT = 'parquet' -- all of them")) == len(files)
    assert len(files.where(file_format="orc")) == 0 and len(files.where(bucket=None)) == len(files)


def test_a_table_that_nobody_holds_is_let_go_before_another_one_is_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It is a circle of objects, whose columns would be there until Python looks for it."""
    monkeypatch.setattr(file_table, "_MUCH_BYTES", 0)
    root = grow_iceberg(tmp_path / "grown", files=2_000)
    gc.disable()
    try:
        table = ll.open(root)
        assert table.files.rows is not None
        left = weakref.ref(table)
        del table
        assert left() is not None
        assert ll.open(root).files.rows is not None
        assert left() is None
    finally:
        gc.enable()
