"""What a diff says in words, of tables that engines wrote: rollbacks, cherry-picks, overwrites, rewrites, branches, tags."""

from __future__ import annotations

from typing import Any

import pytest

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.diff.diff_summary import format_rows, relate_snapshots
from lakelens.analysis.diff.documents import diff_partitioning
from lakelens.model.schema import PartitionField, PartitionSpec
from lakelens.model.table import Table
from tests.support.iceberg_lakes import find_lakes
from tests.support.paimon_lakes import get_lake

ICEBERG = {lake.name: lake for lake in find_lakes()}


def open_iceberg(name: str) -> Any:
    lake = ICEBERG[name]
    return lake.open(version=lake.answers["metadata_location"])


def count(diff: Diff) -> tuple[int, int]:
    return len(diff.added), len(diff.removed)


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_a_rewrite_of_manifests_changes_no_file(version: str) -> None:
    table = open_iceberg(f"{version}-rewrite-manifests")
    (rewrite,) = [one for one in table.snapshots if one.operation == "replace"]
    diff = rewrite.changes
    assert count(diff) == (0, 0) and not diff.by_partition
    assert diff.sentence == "replace, a rewrite of manifests: no files changed"
    (new,) = diff.manifests.new
    assert len(diff.manifests.dropped) == 4 and not diff.manifests.kept
    assert diff.manifests.taken == {new.path: {dropped.path: 1 for dropped in diff.manifests.dropped}}
    assert set(diff.manifests.rewrites[new.path]) == {dropped.path for dropped in diff.manifests.dropped}
    assert diff.kept_counts.files == 4


def test_a_rollback_and_what_followed_it() -> None:
    table = open_iceberg("v2-rollback")
    first, second, third, after = table.snapshots
    back = table.diff(third, first)
    assert back.sentence == (
        f"rollback to snapshot {first.id}, which undid 2 snapshots (append): 2 files removed; 2 fewer rows"
    )
    onward = table.diff(third, after)
    assert onward.action.endswith("which undid 2 snapshots (append), then 1 snapshot (append)")
    assert count(onward) == (1, 2)
    relation = relate_snapshots(third, after)
    assert (relation.common, [one.id for one in relation.undone]) == (first, [third.id, second.id])
    # nothing says that the table ever went from the third back to the second
    assert table.diff(third, second).action == f"back to snapshot {second.id}, 1 snapshot (append) earlier"
    assert after.changes.sentence == "append: 1 file added; 1 more row"


def test_a_cherry_pick_and_the_staged_commit_it_picked() -> None:
    table = open_iceberg("v2-cherry-pick")
    first, staged, other, picked = table.snapshots
    assert (
        picked.changes.sentence == f"cherry-pick of snapshot {staged.id} (append): 1 file added; 1 more row"
    )
    assert [f.path for f in picked.changes.added] == [f.path for f in staged.changes.added]
    diff = table.diff(staged, picked)
    assert count(diff) == (1, 0) and [f.path for f in diff.added] == [f.path for f in other.changes.added]
    assert diff.action.startswith(f"diverged at snapshot {first.id}: ")
    assert diff.action.endswith("on the other, cherry-picked from the first")


@pytest.mark.parametrize("version", ["v1", "v2", "v3"])
def test_two_branches_of_iceberg(version: str) -> None:
    table = open_iceberg(f"{version}-branches-and-tags")
    diff = table.diff("audit", "main")
    assert relate_snapshots(diff.before, diff.after).kind == "sideways"
    assert count(diff) == (2, 1) and diff.kept_counts.files == 1
    assert "1 snapshot (append) on one side, 2 snapshots (append) on the other" in diff.sentence
    assert table.diff("v1/with slash", "main").sentence == "append: 1 file added; 1 more row"
    assert table.diff("main", "first").sentence == "same snapshot: no files changed"


def test_branches_of_paimon_go_back_to_the_snapshot_they_were_made_from() -> None:
    table = get_lake("2.0.0-fast-forward").open()
    diff = table.diff(2, 4)
    assert diff.action.startswith("2 snapshots in ")
    table = get_lake("2.0.0-branches").open()
    diff = table.diff("main", "worked")
    relation = relate_snapshots(diff.before, diff.after)
    assert relation.kind == "sideways" and relation.common is not None
    assert relation.common.is_same(table.snapshot("base"))
    assert count(diff) == (2, 2) and len(diff.schema) == 1
    back = table.diff("main", "from_tag")
    assert back.action == "back to snapshot 2, 2 snapshots (APPEND) earlier" and count(back) == (0, 2)


def test_tags_of_expired_snapshots_are_compared_by_their_manifests() -> None:
    table = get_lake("2.0.0-tags").open()
    diff = table.diff(2, 3)
    assert count(diff) == (1, 0) and "snapshots 2 and 3, no longer connected by commits" in diff.sentence


def test_a_compaction_that_only_raises_levels() -> None:
    table = get_lake("2.0.0-pk-level-upgrade").open()
    raised = [one.changes for one in table.snapshots if " raised " in one.changes.sentence]
    assert [diff.sentence for diff in raised] == [
        diff.sentence for diff in raised if diff.sentence.startswith("COMPACT raised 1 file from level 0 to ")
    ]
    assert raised and all({f.path for f in d.added} == {f.path for f in d.removed} for d in raised)


def test_overwrites() -> None:
    table = get_lake("overwrite").open()
    told = [one.changes.sentence for one in table.snapshots]
    assert [words.split(":")[0] for words in told[1:5] if words.startswith("OVERWRITE")] == [
        words.split(":")[0] for words in told[1:5]
    ]
    for one in table.snapshots:
        if one.operation == "OVERWRITE" and one.changes.removed and table.partition_keys:
            partitions = len({c.partition for c in one.changes.by_partition})
            assert one.changes.action == f"OVERWRITE of {partitions} partition{'s' if partitions > 1 else ''}"
    overwritten = open_iceberg("v2-copy-on-write").snapshots[-1].changes
    assert overwritten.sentence.startswith("overwrite of 1 partition: 1 file added, 1 file removed")


def test_deletion_vectors_of_paimon_lie_in_index_files() -> None:
    table = get_lake("2.0.0-append-deletion-vectors").open()
    diff = table.diff(2, 3)
    assert diff.sentence == "OVERWRITE: 2 rows deleted by 1 deletion vector; no data file changed"
    later = table.diff(3, 5)
    assert later.sentence.endswith(": 2 rows deleted by 2 deletion vectors; no data file changed"), (
        "what came since"
    )
    assert format_rows(later) == "row count unchanged, 2 rows deleted by 2 deletion vectors"
    assert [f.index_type for f in diff.index_files.added] == ["DELETION_VECTORS"]
    assert not diff.index_files.removed and not diff.deletes.added
    again = table.diff(3, 2)
    assert [f.path for f in again.index_files.removed] == [f.path for f in diff.index_files.added]


def test_deletes_of_iceberg_are_files_of_their_own() -> None:
    table = open_iceberg("v3-deletion-vectors")
    diff = next(one.changes for one in table.snapshots if one.operation == "delete")
    (vector,) = diff.deletes.added
    assert vector.content == "deletion_vector" and not diff.deletes.removed
    (puffin,) = diff.index_files.added
    assert puffin.path == vector.path and puffin.ranges[0]["cardinality"] == vector.record_count
    assert sum(change.added_bytes for change in diff.by_partition) == vector.own_size_bytes
    assert vector.own_size_bytes == vector.content_size_in_bytes < vector.size_bytes


def test_rows_deleted_by_iceberg_are_counted_where_that_is_known() -> None:
    table = open_iceberg("v3-merge-on-read")
    first, last = table.snapshots[0], table.snapshots[-1]
    assert (
        table.snapshots[1].changes.sentence
        == "delete: 3 rows deleted by 2 deletion vectors; no data file changed"
    )
    whole = table.diff(first, last).sentence
    assert "6 rows deleted by 2 deletion vectors; 3 files added; 3 more rows" in whole, (
        "replaced ones count once"
    )
    assert first.live_record_count - last.live_record_count == 6 - 3
    assert "6 fewer rows marked deleted" in table.diff(last, first).sentence
    table = open_iceberg("v2-merge-on-read")
    words = table.diff(table.snapshots[0], table.snapshots[-1]).sentence
    assert "at most 6 rows deleted by 2 position delete files" in words
    table = open_iceberg("v2-equality-deletes")
    assert (
        "rows deleted by 1 equality delete file, how many is not recorded"
        in table.snapshots[1].changes.sentence
    )
    table = open_iceberg("v3-rewrite-data-files")
    assert table.snapshots[-1].operation == "replace"
    assert " rows deleted by" not in table.snapshots[-1].changes.sentence, "a rewrite deletes no row"


def test_whole_documents_where_both_are_still_there() -> None:
    table = open_iceberg("v2-basic")
    diff = table.diff(table.snapshots[0], table.snapshots[-1])
    before, after = diff.documents
    assert before and after and before != after and before.endswith(".metadata.json")
    changed = {change.path for change in diff.metadata}
    assert {"$.current-snapshot-id", "$.last-updated-ms", "$.refs.main.snapshot-id"} <= changed
    added = [c for c in diff.metadata if c.path.startswith("$.snapshots[")]
    assert [c.kind for c in added] == ["added"] * (len(table.snapshots) - 1)


def test_lost_documents_leave_the_snapshots_own_objects() -> None:
    table = open_iceberg("v2-short-log")
    diff = table.diff(table.snapshots[0], table.snapshots[-1])
    assert diff.documents == (None, None)
    assert {change.path for change in diff.metadata} >= {"$.snapshot-id", "$.manifest-list"}
    assert not [finding for finding in table.findings if finding.severity == "error"]


def test_schema_and_partitioning_in_sentences() -> None:
    table = open_iceberg("v2-partition-evolution")
    words = [str(change) for one in table.snapshots for change in one.changes.partitioning if one.parent_id]
    assert "shard added: bucket[4](id)" in words
    changed = [one.changes for one in table.snapshots if one.parent_id and one.changes.partitioning]
    assert all(diff.sentence.endswith("partitioning changed") for diff in changed) and changed
    rescaled = get_lake("2.0.0-pk-rescale-bucket").open().diff(2, 3)
    assert [change.name for change in rescaled.partitioning] == ["bucket"]
    evolved = open_iceberg("v2-schema-evolution")
    words = [str(change) for one in evolved.snapshots for change in one.changes.schema if one.parent_id]
    assert "st.bb renamed: was st.b" in words


def spec(number: int, *fields: tuple[int, str, str, str]) -> PartitionSpec:
    return PartitionSpec(
        number, tuple(PartitionField(name, 1, source, kind, key) for key, name, source, kind in fields)
    )


def test_partition_fields_by_id() -> None:
    old = spec(0, (1000, "day", "ts", "day"), (1001, "b", "id", "bucket[4]"), (1002, "c", "c", "identity"))
    new = spec(
        1, (1000, "day", "ts", "void"), (1001, "shard", "id", "bucket[4]"), (1003, "d", "d", "identity")
    )
    assert [str(change) for change in diff_partitioning(old, new)] == [
        "shard renamed: was b",
        "d added: d",
        "day dropped: day(ts)",
        "c dropped: c",
    ]
    assert not diff_partitioning(old, old) and not diff_partitioning(None, None)


def test_buckets_are_part_of_the_partitioning() -> None:
    (change,) = diff_partitioning(None, None, {"bucket": "2"}, {"bucket": "4"})
    assert str(change) == "bucket changed: 2 buckets became 4 buckets"
    assert not diff_partitioning(None, None, {"bucket": "2"}, {"bucket": "2", "x": "y"})


def test_an_expired_parent_is_said() -> None:
    table: Table = open_iceberg("v2-expired")
    first = table.snapshots[0]
    assert first.changes.before is None
    assert f"(its parent, snapshot {first.parent_id}, has expired)" in first.changes.sentence
