"""The figures of a table's health, against the engines' own answers and against what pandas makes of the files."""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from random import Random
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.formats.paimon.health.metadata import count_uncovered, join_ranges
from lakelens.formats.paimon.maintenance.picks import count_runs, read_triggers
from lakelens.model.measures.measure import DocumentParts
from tests.support import LAKES
from tests.support.iceberg_lakes import Lake, find_lakes
from tests.support.paimon_lakes import Lake as PaimonLake
from tests.support.paimon_lakes import list_lakes

_ICEBERG = [lake for lake in find_lakes() if not lake.is_view and lake.answers.get("snapshots")]
_PAIMON = [lake for lake in list_lakes() if isinstance(lake.answers.get("partitions"), list)]


@pytest.mark.parametrize("lake", _ICEBERG[::3], ids=lambda lake: lake.name)
def test_figures_of_iceberg_are_the_engines(lake: Lake) -> None:
    answers, health = lake.answers, lake.open().health()
    rows = health.parts.partitions.to_arrow().to_pylist()
    ours, theirs = Counter[str](), Counter[str]()
    for row in rows:
        ours.update({name: row[name] for name in ("files", "record_count", "size_bytes")})
        ours["delete_files"] += row.get("delete_files", 0)
        ours["deleted_rows"] += row.get("deleted_rows", 0)
    for row in answers["partitions"]:
        theirs["files"] += row["file_count"]
        theirs["record_count"] += row["record_count"]
        theirs["size_bytes"] += row["total_data_file_size_in_bytes"]
        theirs["delete_files"] += row["position_delete_file_count"] + row["equality_delete_file_count"]
        theirs["deleted_rows"] += row["position_delete_record_count"]
    assert ours == theirs
    if len(rows) == len(answers["partitions"]):
        assert sorted((row["files"], row["size_bytes"]) for row in rows) == sorted(
            (row["file_count"], row["total_data_file_size_in_bytes"]) for row in answers["partitions"]
        )
    assert health.measures["manifests"].value == len(answers["manifests"])
    emptied = [
        one
        for one in answers["manifests"]
        if not any(
            one[f"{what}_{kind}_files_count"] for what in ("added", "existing") for kind in ("data", "delete")
        )
    ]
    assert health.measures["manifests of which nothing is live"].value == len(emptied)
    moments = [datetime.fromisoformat(one["committed_at"]) for one in answers["snapshots"]]
    age = (max(moments) - min(moments)).total_seconds()
    assert health.measures["age of the oldest snapshot"].value == pytest.approx(age)
    names = [path.name for path in (lake.table_path / "metadata").iterdir() if "metadata.json" in path.name]
    assert health.measures["metadata.json files"].value == len([name for name in names if name[0] != "."])


@pytest.mark.parametrize("lake", _PAIMON[::3], ids=lambda lake: lake.name)
def test_figures_of_paimon_are_the_engines(lake: PaimonLake) -> None:
    table = lake.open()
    if table.context.skips_level_0 or table.bucket == -2:
        pytest.skip("the engine leaves out level 0, and files that wait for a bucket")
    rows = table.health().parts.partitions.to_arrow().to_pylist()
    assert sorted((one["files"], one["record_count"], one["size_bytes"]) for one in rows) == sorted(
        (one["file_count"], one["record_count"], one["file_size_in_bytes"])
        for one in lake.answers["partitions"]
    )


@pytest.mark.parametrize(
    "lake", [one for one in list_lakes() if "pk" in one.name][::2], ids=lambda lake: lake.name
)
def test_sorted_runs_are_those_of_a_compaction(lake: PaimonLake) -> None:
    table = lake.open()
    measures = table.health().measures
    runs = count_runs(table.files)
    if not runs:
        assert "sorted runs in a bucket, worst" not in measures
        return
    measure = measures["sorted runs in a bucket, worst"]
    triggers = read_triggers(table.options)
    assert measure.value == max(one.runs for one in runs)
    assert measure.limit == triggers.compaction
    assert measures["sorted runs until writers wait, worst"].limit == triggers.stop
    worst = [one for one in runs if one.runs == measure.value]
    assert measure.place in ["/".join(filter(None, (one.partition, f"bucket-{one.bucket}"))) for one in worst]
    if table.context.skips_level_0:
        assert measures["files on level 0"].value == sum(one.level_0 for one in runs)


_PATHS = sorted(path for path in LAKES.glob("*/**/table") if path.is_dir())[::9]


@pytest.mark.parametrize("path", _PATHS, ids=lambda path: str(path.parent.relative_to(LAKES)))
def test_sizes_and_skew_are_what_pandas_says(path: Any) -> None:
    try:
        table = ll.open(path)
    except LakeError:
        pytest.skip("a view")
    health = table.health()
    frame = table.files.to_pandas(stats=False)
    frame = frame[frame["content"] == "data"]
    if not len(frame):
        assert not len(health.figures.data)
        return
    assert health.measures["file size, median"].value == frame["size_bytes"].median()
    held = frame.groupby("partition")["size_bytes"].sum()
    rows = health.parts.partitions.to_arrow().to_pylist()
    small = frame[frame["size_bytes"] < health.rules.file_size.value].groupby("partition").size()
    sums: dict[str, Counter[str]] = {}
    for row in rows:  # two partitions may have one name: null, and the name that stands for it
        sums.setdefault(row["partition"], Counter()).update(
            {name: row[name] for name in ("size_bytes", "small_files")}
        )
    assert {name: sums[name]["size_bytes"] for name in held.index} == held.to_dict()
    assert {name: sums[name]["small_files"] for name in small.index} == small.to_dict()
    if len(sums) < len(rows):
        return
    if not table.traits.files_are_listed:
        manifests = frame.groupby("partition")["manifest"].nunique()
        found = {row["partition"]: row["manifests"] for row in rows}
        assert all(found[name] >= count for name, count in manifests.items())
    skew = health.measures.get("bytes a partition, worst ÷ median")
    if skew is not None:
        assert skew.value == pytest.approx(held.max() / held[held > 0].median())
        assert held[skew.place] == held.max()
    buckets = health.parts.buckets
    if buckets is not None and not frame["bucket"].isna().all():
        by_bucket = frame.groupby("bucket")["size_bytes"].sum()
        sizes = {row["bucket"]: row["size_bytes"] for row in buckets.to_arrow().to_pylist() if row["files"]}
        assert sizes == {str(int(name)): size for name, size in by_bucket.items() if name >= 0}


@pytest.mark.parametrize("lake", _ICEBERG[::3], ids=lambda lake: lake.name)
def test_the_parts_of_a_document_are_its_bytes(lake: Lake) -> None:
    health = lake.open().health()
    table = health.table
    assert table.metadata_path is not None
    name = table.metadata_path.rsplit("/", 1)[-1]
    parts = DocumentParts(part for part in health.parts.documents if part.document == name)
    assert parts.size_bytes == health.measures["metadata.json, size"].value
    assert {part.name for part in parts} == {*table.metadata, "keys, punctuation"}
    counts = {part.name: part.entries for part in parts}
    assert all(
        counts[key] == len(value) for key, value in table.metadata.items() if isinstance(value, list | dict)
    )
    if not name.endswith(("gz", "gz.metadata.json")) and ".gz." not in name:
        assert parts.size_bytes == (lake.table_path / "metadata" / name).stat().st_size


@pytest.mark.parametrize("seed", range(20))
def test_rows_without_an_index_are_counted_one_by_one(seed: int) -> None:
    chance = Random(seed)
    sides = [
        [(start, start + chance.randint(-1, 8)) for start in chance.sample(range(60), 7)] for _ in range(2)
    ]
    held, covered = ({id_ for start, end in side for id_ in range(start, end + 1)} for side in sides)
    assert count_uncovered(*map(join_ranges, sides)) == len(held - covered)


@pytest.mark.parametrize(
    ("name", "measure", "value"),
    [
        ("paimon-java/2.0.0-global-index", "rows without the btree index of name", 0),
        ("paimon-java/2.0.0-pk-btree-index", "files without the btree index of name", 0),
        ("paimon-java/2.0.0-pk-bitmap-index", "files without the bitmap index of name", 1),
        ("spark/paimon/file-index-embedded", "files without a file index", 0),
        ("spark/paimon/file-index-in-file", "files without a file index", 0),
    ],
)
def test_indexes_cover_what_they_name(name: str, measure: str, value: int) -> None:
    assert ll.open(LAKES / name / "table").health().measures[measure].value == value


_DELETES = [lake for lake in _ICEBERG if "delete" in lake.name or "merge-on-read" in lake.name]


@pytest.mark.parametrize("lake", _DELETES, ids=lambda lake: lake.name)
def test_deletes_reach_the_files_that_they_reach_one_by_one(lake: Lake) -> None:
    table = lake.open()
    health = table.health()
    assert health.reach is not None
    data = [file for file in table.files if file.content == "data"]
    for file, count, known in zip(
        data, health.reach.deletes.tolist(), health.reach.known.tolist(), strict=True
    ):
        assert count == len(file.deletes), file.path
        own = [one for one in file.deletes if one.kind != "equality_deletes" and one.file.target is not None]
        assert known == min(sum(one.file.record_count or 0 for one in own), file.record_count or 0)
