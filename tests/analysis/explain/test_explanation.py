"""What an explanation says of a table: its sums, levels and reasons. `test_rows` proves that it is right."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Missing
from lakelens.model.scan.placement import Merging, open_placement
from tests.support import LAKES

ICEBERG = LAKES / "spark" / "iceberg"
PAIMON = LAKES / "paimon-java"


def test_the_sums_close() -> None:
    table = ll.sample("iceberg")
    found = table.explain("id > 15 AND p = 1")
    sums = dict(found.sums)
    data = table.files.where(content="data")
    assert sums["snapshot"] == (len(data), data.record_count, data.size_bytes)
    assert tuple(map(sum, zip(sums["skipped"], sums["kept"], strict=True))) == sums["snapshot"]
    assert len(found.kept) + len(found.skipped) == len(data)
    assert not len(found.kept & found.skipped)
    first, second = found.levels
    assert (first.name, first.looked_at, first.skipped) == ("manifest list", 3, 1)
    assert (second.looked_at, second.left, second.size_bytes) == (4, 1, found.size_bytes)


def test_items_are_manifests_then_files() -> None:
    found = ll.sample("iceberg").explain("id > 15 AND p = 1", row_groups=True)
    items = found.to_pandas()
    assert items["level"].tolist() == ["manifest"] * 3 + ["file"] * 4 + ["row_group"]
    skipped = items[items["decision"] == "skipped"]
    assert set(zip(skipped["reason"], skipped["column"], strict=True)) == {
        ("partition", "p"),
        ("bounds", "id"),
    }
    kept = items[(items["level"] == "file") & (items["decision"] == "kept")].iloc[0]
    assert (kept["reason"], kept["lower"], kept["upper"]) == ("overlaps", "1", "19")


def test_a_table_without_a_snapshot_reads_nothing() -> None:
    found = ll.open(ICEBERG / "v2-no-snapshot" / "table").explain("TRUE")
    assert (len(found.kept), found.levels, found.to_arrow().num_rows) == (0, (), 0)
    assert "no snapshot" in str(found)


def test_an_older_snapshot_has_its_own_names() -> None:
    table = ll.sample("iceberg-evolution")
    then = table.snapshots[0]
    renamed = [name for name in then.schema.names if name not in table.schema.names]
    assert renamed, "the sample renames a column"
    found = table.explain(f"{renamed[0]} IS NULL", snapshot=then.id)
    assert found.file_count == len(then.files)
    with pytest.raises(Missing, match=renamed[0]):
        table.explain(f"{renamed[0]} IS NULL")


def test_why_there_are_no_statistics() -> None:
    table = ll.open(ICEBERG / "v2-metrics-modes" / "table")
    found = table.explain("none_ = 'x'")
    assert {(share.reason, share.detail) for share in found.answers} == {
        ("no_statistics", "write.metadata.metrics.column.none_ = none")
    }


def test_values_of_merged_rows_skip_whole_buckets_only() -> None:
    table = ll.sample("paimon")
    merging = open_placement(table).merging
    assert merging is not None
    assert merging.keys == ("id",)
    by_value = table.explain("n > 15")
    reasons = {share.reason for share in by_value.answers}
    assert "merged" in reasons or len(by_value.kept) in (0, len(table.files))
    assert not len(table.explain("n > 1000").kept), "no file of the bucket has such a row"


def test_buckets_are_found_by_the_hash_of_the_key() -> None:
    table = ll.open(PAIMON / "2.0.0-pk-fixed-bucket" / "table")
    key = open_placement(table).bucket_columns
    assert key
    low = table.files.to_arrow(columns=["lower_bounds", "bucket"]).to_pylist()[0]
    value = low["lower_bounds"][key[0]]
    found = table.explain(f"{key[0]} = {value!r}")
    assert low["bucket"] in {file.bucket for file in found.kept}
    buckets = {file.bucket for file in table.files}
    assert {file.bucket for file in found.skipped} == buckets - {low["bucket"]}


@pytest.mark.parametrize(
    "predicate", ["nope = 1", "id = 'x'", "id = 1; DROP TABLE t", "lower(id) = 'a'", "id ="]
)
def test_what_is_not_understood_is_refused_at_once(predicate: str) -> None:
    with pytest.raises(LakeError):
        ll.sample("iceberg").explain(predicate)


def test_a_damaged_manifest_hides_nothing_else(tmp_path: Path) -> None:
    whole = ll.sample("iceberg")
    place = Path(shutil.copytree(whole.location, tmp_path / "table"))
    before = whole.explain("p = 0")
    broken = Path(whole.current.manifests[0].path).name
    (place / "metadata" / broken).write_bytes(b"not a manifest")
    table = ll.open(place)
    found = table.explain("p = 0")
    assert 0 < len(found.kept) < len(before.kept)
    assert {one.severity for one in table.findings} >= {"error"}
    assert broken in str(table.findings)


def test_a_file_that_cannot_be_opened_is_a_finding() -> None:
    whole = ll.sample("iceberg-planning")
    lost = whole.explain("order_id = 77").kept[0].path
    Path(lost).unlink()
    table = ll.open(whole.location)
    found = table.explain("order_id = 77", row_groups=True)
    assert found.levels[-1].looked_at > len(found.kept), "the others were opened"
    assert [one.path for one in table.findings if one.severity == "error"] == [lost]


def test_a_thousand_values_are_one_search() -> None:
    table = ll.sample("iceberg-planning")
    many = ", ".join(str(number) for number in range(10_000, 11_000))
    assert not len(table.explain(f"order_id IN ({many})").kept)
    found = table.explain(f"order_id IN ({many}, 77)")
    assert {file.path for file in found.kept} == {file.path for file in table.explain("order_id = 77").kept}
    assert max(map(len, found.to_arrow()["term"].to_pylist())) <= 401


def test_an_index_of_one_file_proves_nothing_of_merged_rows() -> None:
    table = ll.sample("paimon-file-index")
    asked = "name = 'zzz' OR n = 7"
    assert {share.reason for share in table.explain(asked).groups} == {"bounds", "file_index"}
    open_placement(table).merging = Merging(("id",))
    merged = table.explain(asked)
    assert len(merged.kept) == len(table.files), "a newer version of a row may be in the other file"
    assert {share.reason for share in merged.answers} == {"merged"}
