"""What a table's health says: advice that works, whose limits, what is left out; in every form it has."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.analysis.health.health import Health
from lakelens.model.measures.measure import GROUPS
from lakelens.views.describe import describe
from tests.support.documents import invoke, read_document
from tests.support.iceberg_builder import FIRST_ID, Builder, avro_field

MIB = 1 << 20
_SAMPLES = [one.name for one in ll.sample()]
_DAY = 86_400_000


def build(root: Path, sizes: list[int], **metadata: Any) -> Builder:
    """A table of one snapshot, with files of some sizes."""
    table = Builder(root)
    files = [table.data_file(file_size_in_bytes=size) for size in sizes]
    table.snapshot([table.manifest(files)])
    table.write_metadata(**metadata)
    return table


def measure(root: Path) -> Health:
    return ll.open(root).health()


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", _SAMPLES)
def test_every_sample_has_a_health_that_shows_itself(name: str) -> None:
    health = ll.sample(name).health()
    assert "view failed" not in health._repr_html_() + str(health)
    assert health.to_arrow().num_rows == len(health.measures) == sum(health.verdicts.values())
    for one in health.measures:
        assert (one.verdict == "good") == one.bound.keeps(one.value)
        assert (one.verdict == "act") == bool(one.call)
        assert one.verdict == "good" or one.advice, one
        assert (one.source == "lakelens") == (not one.compared_with) or one.source == "default", one
    assert [GROUPS.index(one.group) for one in health.measures] == sorted(
        GROUPS.index(one.group) for one in health.measures
    )
    assert {call.statement for call in health.calls} == {
        call.statement for one in health.measures if one.verdict == "act" for call in one.statements
    }
    assert health.format_verdicts() in repr(health)
    assert str(health).lower().startswith(health.format_verdicts())


def test_small_files_that_a_rewrite_joins_are_to_act_on(tmp_path: Path) -> None:
    build(tmp_path, [100 * MIB] * 8)
    health = measure(tmp_path)
    found = health.measures["small files in a partition, worst"]
    assert (found.value, found.verdict) == (8, "act")
    # 800 MiB are two files: a remainder of 288 MiB cannot be spread over one of 512
    assert found.advice == "about 6 files fewer: 8 small ones into about 2"
    assert found.call == "CALL <catalog>.system.rewrite_data_files(table => 'here.t')"
    assert health.measures["file size, median"].verdict == "act"
    assert health.calls[0].procedure == "rewrite_data_files"
    assert health.verdict == "act"


def test_no_rewrite_is_advised_that_cannot_reach_the_size(tmp_path: Path) -> None:
    build(tmp_path, [1_000] * 3)
    health = measure(tmp_path)
    found = health.measures["file size, median"]
    assert (found.verdict, found.call) == ("good", "")
    assert found.advice == "no rewrite reaches it: the table holds 3,000 B in all"
    assert health.measures["small files in a partition, worst"].verdict == "good"
    assert not len(health.calls)


def test_files_of_the_right_size_are_good_by_the_tables_own_target(tmp_path: Path) -> None:
    build(tmp_path, [900_000] * 9, properties={"write.target-file-size-bytes": "1000000"})
    health = measure(tmp_path)
    found = health.measures["file size, median"]
    assert (found.verdict, found.limit, found.source) == ("good", 750_000, "property")
    assert found.compared_with == "75 % of write.target-file-size-bytes"
    build(tmp_path / "odd", [900_000] * 9, properties={"write.target-file-size-bytes": "many"})
    assert measure(tmp_path / "odd").measures["file size, median"].source == "default"


def test_days_that_hold_little_are_months(tmp_path: Path) -> None:
    spec = {
        "spec-id": 0,
        "fields": [{"name": "ts_day", "transform": "day", "source-id": 1, "field-id": 1000}],
    }
    table = Builder(tmp_path, specs=[spec])
    days = range(19_723, 19_723 + 60)  # from 2024-01-01
    files = [
        table.data_file(partition={"ts_day": day}, file_size_in_bytes=10 * MIB)
        for day in days
        for _ in range(2)
    ]
    partition = [avro_field("ts_day", 1000, {"type": "int", "logicalType": "date"})]
    table.snapshot([table.manifest(files, partition=partition, header=None)])
    table.write_metadata()
    health = measure(tmp_path)
    found = health.measures["file size, median"]
    assert [call.name for call in health.calls] == ["ALTER TABLE", "rewrite_data_files"]
    assert found.verdict == "act"
    assert found.advice == (
        "no rewrite reaches it: the partitions hold 20.0 MiB in the median; by month they would hold about 600 MiB"
    )
    assert found.call == "ALTER TABLE <catalog>.here.t REPLACE PARTITION FIELD ts_day WITH months(id)"


def _add_snapshots(table: Builder, days: list[int]) -> None:
    """Snapshots of these days since 2023-11-14, one after the other."""
    for day in days:
        table.snapshot([table.manifest([table.data_file()])], timestamp_ms=1_700_000_000_000 + day * _DAY)


def test_old_snapshots_are_expired_unless_refs_keep_them(tmp_path: Path) -> None:
    table = Builder(tmp_path)
    _add_snapshots(table, [0, 1, 20, 30, 31])
    table.write_metadata()
    found = measure(tmp_path).measures["age of the oldest snapshot"]
    assert (found.value, found.verdict) == (31 * 86_400, "act")
    assert found.advice == "expire_snapshots ends 3 of 5"
    assert found.call == (
        "CALL <catalog>.system.expire_snapshots(table => 'here.t', "
        "older_than => TIMESTAMP '2023-12-10 22:13:20.000 UTC')"
    )
    tags = {f"v{n}": {"snapshot-id": FIRST_ID + n, "type": "tag"} for n in range(3)}
    table.write_metadata(refs={"main": {"snapshot-id": FIRST_ID + 4, "type": "branch"}, **tags})
    found = measure(tmp_path).measures["age of the oldest snapshot"]
    assert (found.verdict, found.call) == ("watch", "")
    assert found.advice == "kept by tag v0, tag v1, tag v2"
    table.write_metadata(properties={"gc.enabled": "false"})
    found = measure(tmp_path).measures["age of the oldest snapshot"]
    assert (found.verdict, found.advice) == ("watch", "gc.enabled is false: nothing may be expired")


def test_metadata_files_that_no_log_names_are_orphans(tmp_path: Path) -> None:
    table = build(tmp_path, [1], properties={"write.metadata.previous-versions-max": "2"})
    for number in range(2, 7):
        table.write_metadata(
            f"v{number}.metadata.json", properties={"write.metadata.previous-versions-max": "2"}
        )
    health = measure(tmp_path)
    found = health.measures["metadata.json files"]
    assert (found.value, found.limit, found.verdict) == (6, 3, "act")
    assert found.advice.startswith("5 files in no log: remove_orphan_files")
    assert [call.name for call in found.statements] == ["remove_orphan_files", "ALTER TABLE"]


def test_calls_come_in_the_order_of_their_worth(tmp_path: Path) -> None:
    table = Builder(tmp_path)
    _add_snapshots(table, [0, 50])
    files = [table.data_file(file_size_in_bytes=200 * MIB) for _ in range(6)]
    table.snapshot([table.manifest(files)], timestamp_ms=1_700_000_000_000 + 50 * _DAY)
    table.write_metadata()
    health = measure(tmp_path)
    excess = {
        one.name: one.bound.measure_excess(one.value) for one in health.measures if one.verdict == "act"
    }
    assert excess["age of the oldest snapshot"] == 10
    assert [call.name for call in health.calls] == ["expire_snapshots", "rewrite_data_files"]
    assert health.first is not None and health.first.name == "age of the oldest snapshot"
    assert "first expire_snapshots: expires 1 of 3 snapshots" in repr(health)


def test_what_cannot_be_read_is_said_and_the_rest_is_measured(tmp_path: Path) -> None:
    table = Builder(tmp_path)
    lines = [table.manifest([table.data_file(file_size_in_bytes=5)]) for _ in range(2)]
    table.snapshot(lines)
    table.write_metadata()
    (tmp_path / "metadata" / Path(lines[0]["manifest_path"]).name).write_bytes(b"Obj\x01 no longer")
    health = measure(tmp_path)
    assert len(health.figures.data) == 1
    assert health.gaps == ("1 object cannot be read: the figures are of what can",)
    assert "the figures are of what can" in str(health)
    assert health.measures["manifests"].value == 2
    next((tmp_path / "metadata").glob("snap-*")).unlink()
    health = measure(tmp_path)
    assert not len(health.figures.data)
    assert health.measures["age of the oldest snapshot"].verdict == "good"


def test_names_of_a_lake_are_quoted_in_calls(tmp_path: Path) -> None:
    root = tmp_path / "a'b;--\u202e"
    build(root, [MIB] * 9, location="file:/was/here/it's;DROP")
    call = measure(root).calls[0].statement
    assert "table => 'here.it\\'s;DROP'" in call


def test_numbers_that_no_engine_writes_stop_nothing(tmp_path: Path) -> None:
    table = Builder(tmp_path)
    huge = {"file_size_in_bytes": 2**62, "record_count": 2**63 - 1}
    files = [
        table.data_file(**huge),
        table.data_file(file_size_in_bytes=-7, record_count=-(2**40)),
        table.data_file(),
    ]
    lines = [table.manifest(files * 3, line={"manifest_length": -1, "deleted_files_count": 2**31 - 1})]
    table.snapshot(lines, timestamp_ms=-(2**62))
    table.snapshot(lines, timestamp_ms=2**62)
    keys = (
        "write.target-file-size-bytes",
        "commit.manifest.target-size-bytes",
        "history.expire.max-snapshot-age-ms",
    )
    for value in ("9" * 60, "1", "-5", "\u202e", "1e3"):
        table.write_metadata(properties=dict.fromkeys((*keys, "write.metadata.previous-versions-max"), value))
        health = measure(tmp_path)
        assert "view failed" not in health._repr_html_() + str(health)
        assert not any("\u202e" in one for one in (str(health), health._repr_html_()))
        assert health.to_arrow().num_rows > 5
        read_document("health", str(tmp_path))


def test_a_table_before_its_first_commit_is_measured(tmp_path: Path) -> None:
    Builder(tmp_path).write_metadata()
    health = measure(tmp_path)
    assert health.snapshot is None
    assert [one.name for one in health.measures] == ["metadata.json files", "metadata.json, size"]
    assert "view failed" not in health._repr_html_()
    assert len(health.plot().figure.axes) == 1


def test_an_older_snapshot_has_a_health_of_its_own() -> None:
    table = ll.sample("iceberg")
    first = table.health(snapshot=table.snapshots[0].id)
    assert first.measures["manifests"].value == len(table.snapshots[0].manifests)
    assert len(first.figures.data) < len(table.health().figures.data)


def test_a_hive_table_opens_no_file_but_one() -> None:
    table = ll.sample("hive")
    health = table.health()
    assert {one.group for one in health.measures} == {"files"}
    assert not any(one.verdict == "act" for one in health.measures)
    assert any("no snapshots" in gap for gap in health.gaps)
    assert table.reads.files <= 1


def test_plots_show_what_there_is() -> None:
    titles = [axes.get_title(loc="left") for axes in ll.sample("iceberg").health().plot().figure.axes]
    assert titles[0] == "5 data files by size"
    assert len(titles) == 4


def test_who_can_read_names_features() -> None:
    features = [need.feature for need in ll.sample("iceberg").health().who_can_read]
    assert features[:2] == ["format version 3", "deletion vectors"]
    assert "codec zstd" in features


def test_the_verb_ends_with_zero_and_its_document_is_valid(tmp_path: Path) -> None:
    build(tmp_path, [100 * MIB] * 8)
    ended = invoke("health", str(tmp_path))
    assert ended.exit_code == 0
    assert ended.stdout.startswith("2 to act on")
    document = read_document("health", str(tmp_path))
    assert document["verdict"] == "act"
    assert document["calls"][0]["procedure"] == "rewrite_data_files"
    assert sum(part["size_bytes"] for part in document["partitions"]) == 800 * MIB
    assert json.dumps(document["measures"])


@pytest.mark.parametrize("name", ["iceberg", "paimon", "hive"])
def test_a_table_that_is_smaller_than_one_file_should_be_is_not_watched_for_it(name: str) -> None:
    health = ll.sample(name).health()
    median = health.measures["file size, median"]
    assert (median.verdict, median.statements) == ("good", ())
    assert median.advice.startswith("no rewrite reaches it") and "too small for" in median.compared_with
    folds = {fold.label: fold for fold in describe(health).folds}
    beyond = {measure.group for measure in health.measures if measure.verdict != "good"}
    for label, group in (("Clustering", "columns"), ("Deletes", "deletes"), ("Metadata", "metadata")):
        assert label not in folds or folds[label].opened == (group in beyond), label
