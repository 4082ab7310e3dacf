"""Plans of maintenance: options, refusals, what is said when something cannot be known, and that nothing is written."""

from __future__ import annotations

import json
import shutil
from datetime import UTC, date, datetime, timedelta, timezone
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Unsupported
from tests.support import LAKES

ICEBERG = LAKES / "spark" / "iceberg"


def open_lake(name: str) -> Any:
    return ll.open(str(ICEBERG / name / "table"))


def test_times_are_text_or_objects_and_utc_without_a_zone() -> None:
    table = open_lake("v2-basic")
    middle = table.snapshots[1].committed_at
    forms = (
        middle,
        middle.isoformat(),
        middle.replace(tzinfo=None),
        middle.astimezone(timezone(timedelta(hours=9))),
    )
    plans = [table.dry_run("expire_snapshots", older_than=form) for form in forms]
    assert {tuple(fate.id for fate in plan.snapshots_lost) for plan in plans} == {(table.snapshots[0].id,)}
    assert {plan.call for plan in plans} == {plans[0].call}
    assert table.dry_run("expire_snapshots", older_than=date(2000, 1, 1)).call.endswith(
        "2000-01-01 00:00:00 UTC')"
    )


def test_an_unknown_procedure_names_the_nearest_and_the_others() -> None:
    with pytest.raises(LakeError, match="no procedure expire") as caught:
        open_lake("v2-basic").dry_run("expire_snapshot")
    assert "did you mean expire_snapshots" in str(caught.value)
    assert "cherrypick_snapshot" in str(caught.value)


def test_an_unknown_option_names_the_nearest() -> None:
    with pytest.raises(LakeError, match="expire_snapshots has no option retain_lats") as caught:
        open_lake("v2-basic").dry_run("expire_snapshots", retain_lats=5)
    assert "did you mean retain_last?" in str(caught.value)


@pytest.mark.parametrize(
    ("procedure", "options"),
    [
        ("expire_snapshots", {"older_than": "yesterday"}),
        ("expire_snapshots", {"retain_last": "many"}),
        ("expire_snapshots", {"retain_last": True}),
        ("expire_snapshots", {"snapshot_ids": ["a"]}),
        ("rewrite_data_files", {"rewrite_all": "perhaps"}),
        ("rewrite_data_files", {"target_file_size_bytes": -1}),
        ("rewrite_data_files", {"target_file_size_bytes": 100, "min_file_size_bytes": 100}),
        ("rewrite_data_files", {"strategy": "zigzag"}),
        ("rewrite_data_files", {"branch": "nowhere"}),
        ("rewrite_manifests", {"spec_id": 9}),
        ("remove_orphan_files", {"prefix_mismatch_mode": "guess"}),
        ("remove_orphan_files", {"location": "/elsewhere"}),
        ("rollback_to_snapshot", {}),
        ("set_current_snapshot", {}),
        ("set_current_snapshot", {"snapshot_id": 1, "ref": "main"}),
    ],
)
def test_a_wrong_value_is_refused_in_words(procedure: str, options: dict[str, Any]) -> None:
    with pytest.raises(LakeError) as caught:
        open_lake("v2-basic").dry_run(procedure, **options)
    named = next(iter(options), "snapshot_id")
    assert named in str(caught.value) or "branch" in str(caught.value)


def test_a_predicate_that_names_no_column_is_refused() -> None:
    with pytest.raises(LakeError, match="no column 'nothing'"):
        open_lake("v2-basic").dry_run("rewrite_data_files", where="nothing = 1")


def test_a_format_without_procedures_says_so() -> None:
    table = ll.sample("hive")
    assert dict(table.procedures) == {}
    with pytest.raises(Unsupported, match="a Hive table has no maintenance procedures"):
        table.dry_run("expire_snapshots")


def test_nothing_is_written(tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(ICEBERG / "v2-merge-on-read" / "table", place)
    before = {path: path.stat().st_mtime_ns for path in place.rglob("*")}
    table = ll.open(str(place))
    first = table.snapshots[0].id
    for name in table.procedures:
        needed = {"snapshot_id": first, "timestamp": "2100-01-01", "branch": "b", "to": "main"}
        wanted = {one.name: needed[one.name] for one in table.procedures[name].options if one.is_required}
        if name == "set_current_snapshot":
            wanted = {"ref": "main"}
        plan = table.dry_run(name, **wanted)
        assert "nothing was written" in repr(plan)
        assert "nothing was written" in str(plan)
        assert plan.to_arrow().column_names[:2] == ["action", "role"]
    assert {path: path.stat().st_mtime_ns for path in place.rglob("*")} == before


def change_metadata(folder: Path, name: str, change: Any) -> Any:
    """A copy of a table whose current metadata document was changed."""
    place = folder / "table"
    shutil.copytree(ICEBERG / name / "table", place)
    path = Path(ll.open(str(place)).metadata_path)
    document = json.loads(path.read_text("utf-8"))
    change(document)
    path.write_text(json.dumps(document), "utf-8")
    return ll.open(str(place))


@pytest.mark.parametrize("procedure", ["expire_snapshots", "remove_orphan_files"])
def test_without_garbage_collection_the_engine_refuses(procedure: str, tmp_path: Path) -> None:
    table = change_metadata(
        tmp_path, "v2-basic", lambda found: found["properties"].update({"gc.enabled": "false"})
    )
    plan = table.dry_run(procedure)
    assert plan.refusal is not None
    assert "gc.enabled" in plan.refusal
    assert not len(plan.deletes)
    assert [found.code for found in plan.findings] == ["engine-refuses"]


def test_settings_of_a_branch_go_before_the_arguments(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["refs"]["audit"] |= {
            "min-snapshots-to-keep": 2,
            "max-snapshot-age-ms": 1,
            "max-ref-age-ms": None,
        }
        document["refs"]["audit"].pop("max-ref-age-ms")

    table = change_metadata(tmp_path, "v2-branches-and-tags", change)
    plan = table.dry_run("expire_snapshots", older_than="2100-01-01", retain_last=1)
    on_audit = [fate for fate in plan.kept if fate.by == "branch audit"]
    assert on_audit
    assert all("newest 2 of the branch, as the branch itself sets" in fate.why for fate in on_audit)


def test_refs_that_are_too_old_go(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        for name, ref in document["refs"].items():
            if name != "main":
                ref["max-ref-age-ms"] = 1

    table = change_metadata(tmp_path, "v2-branches-and-tags", change)
    plan = table.dry_run("expire_snapshots", older_than="2100-01-01")
    assert [fate.by for fate in plan.kept] == ["branch main"]
    assert any("The tag first goes" in note for note in plan.notes)


def test_the_tables_own_properties_are_the_defaults(tmp_path: Path) -> None:
    keep = {"history.expire.min-snapshots-to-keep": "2", "history.expire.max-snapshot-age-ms": "0"}
    table = change_metadata(tmp_path, "v2-basic", lambda found: found["properties"].update(keep))
    assert len(table.dry_run("expire_snapshots").kept) == 2


def test_documents_that_leave_the_log_are_deleted_where_the_table_says_so(tmp_path: Path) -> None:
    switch = {
        "write.metadata.delete-after-commit.enabled": "true",
        "write.metadata.previous-versions-max": "1",
    }
    table = change_metadata(tmp_path, "v2-basic", lambda found: found["properties"].update(switch))
    plan = table.dry_run("rollback_to_snapshot", snapshot_id=table.snapshots[0].id)
    logged = {entry.path for entry in table.metadata_log}
    assert {one.path for one in plan.deletes} == logged
    assert plan.freed_bytes == sum(Path(path).stat().st_size for path in logged)


def test_an_unread_manifest_deletes_nothing(tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(ICEBERG / "v2-merge-on-read" / "table", place)
    victim = Path(ll.open(str(place)).current.manifests[0].path)
    victim.write_bytes(b"no manifest")
    plan = ll.open(str(place)).dry_run("expire_snapshots", older_than="2100-01-01")
    assert not len(plan.deletes)
    assert not plan.is_certain
    assert [(found.code, found.path) for found in plan.findings] == [("plan-unread", str(victim))]


def test_recorded_schemes_that_differ_are_refused(tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        place = document["location"].removeprefix("file:")
        document["location"] = f"file://{place}"
        for snapshot in document["snapshots"][:1]:
            snapshot["manifest-list"] = "hdfs://host" + snapshot["manifest-list"].removeprefix("file:")

    table = change_metadata(tmp_path, "v2-basic", change)
    plan = table.dry_run("remove_orphan_files")
    assert plan.refusal is not None
    assert "hdfs://host" in plan.refusal
    assert table.dry_run("remove_orphan_files", prefix_mismatch_mode="ignore").refusal is None


def test_orphans_younger_than_a_day_are_not_removed() -> None:
    table = open_lake("v2-basic")
    soon = datetime.now(UTC) - timedelta(hours=23)
    refusal = table.dry_run("remove_orphan_files", older_than=soon).refusal
    assert refusal is not None
    assert "24 hours" in refusal
    assert table.dry_run("remove_orphan_files", older_than=soon - timedelta(hours=2)).refusal is None


def test_files_by_what_happens_to_them() -> None:
    plan = open_lake("v2-merge-on-read").dry_run("rewrite_data_files", rewrite_all=True)
    rows = plan.to_arrow().to_pylist()
    rewritten = [row["size_bytes"] for row in rows if row["action"] == "rewritten"]
    assert sum(rewritten) == plan.reads.size_bytes
    assert {row["role"] for row in rows if row["action"] == "replaced"} == {"position delete"}
    assert sum(group.files for group in plan.groups) == len(plan.reads)
    assert all(output.is_estimated for output in plan.writes)


@pytest.mark.parametrize(
    ("lake", "options"),
    [
        ("v2-basic", {"rewrite_all": True}),
        ("v2-partition-identity", {"min_input_files": 2}),
        ("v2-partition-evolution", {"rewrite_all": True, "remove_dangling_deletes": True}),
        ("v2-metrics-modes", {"rewrite_all": True, "max_file_group_input_files": 1}),
        ("v2-types-avro", {"rewrite_all": True, "max_files_to_rewrite": 2}),
        ("v3-copy-on-write", {"rewrite_all": True}),
        ("v2-basic", {"rewrite_all": True, "where": "id > 2"}),
        ("v2-merge-on-read", {"rewrite_all": True}),
        ("v2-emptied", {"rewrite_all": True}),
    ],
)
def test_a_rewriting_of_many_files_is_that_of_few(
    lake: str, options: dict[str, Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A table that is read by column, however small it is, has the plan that it has file by file."""

    def describe() -> tuple[Any, ...]:
        plan = open_lake(lake).dry_run("rewrite_data_files", **options)
        lists = (plan.to_arrow(), plan.writes.to_arrow(), plan.groups.to_arrow(), plan.kept.to_arrow())
        reads = [file.path for file in plan.reads]
        return repr(plan), plan.call, [rows.to_pylist() for rows in lists], reads, plan.assumptions

    few = describe()
    monkeypatch.setattr("lakelens.model.scan.scan_to_arrow.is_worthwhile", lambda tasks: True)
    assert describe() == few


def test_names_of_tables_are_quoted(tmp_path: Path) -> None:
    place = tmp_path / "it's `odd`"
    shutil.copytree(ICEBERG / "v2-basic" / "table", place)
    path = Path(ll.open(str(place)).metadata_path)
    document = json.loads(path.read_text("utf-8"))
    document["location"] = str(place)
    path.write_text(json.dumps(document), "utf-8")
    call = ll.open(str(place)).dry_run("rewrite_manifests").call
    assert "it\\'s ``odd``" in call


@pytest.mark.parametrize("procedure", ["rewrite_data_files", "rewrite_position_delete_files"])
def test_what_cannot_be_read_cannot_be_rewritten(procedure: str, tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(ICEBERG / "v2-merge-on-read" / "table", place)
    victim = Path(ll.open(str(place)).current.manifests[0].path)
    victim.write_bytes(victim.read_bytes()[:-200])
    plan = ll.open(str(place)).dry_run(procedure, rewrite_all=True)
    assert plan.refusal is not None
    assert str(victim) in plan.refusal
    assert not len(plan.replaced)


def test_a_lost_manifest_list_is_said(tmp_path: Path) -> None:
    place = tmp_path / "table"
    shutil.copytree(ICEBERG / "v2-merge-on-read" / "table", place)
    victim = Path(ll.open(str(place)).current.path)
    victim.unlink()
    for procedure in ("rewrite_manifests", "rewrite_data_files"):
        refusal = ll.open(str(place)).dry_run(procedure).refusal
        assert refusal is not None
        assert str(victim) in refusal


@pytest.mark.parametrize(
    "name", ["<script>alert(1)</script>", "\x1b[31mred", "a\u202eb", "x" * 5_000, "'; DROP"]
)
def test_names_from_a_lake_stay_text(name: str, tmp_path: Path) -> None:
    def change(document: dict[str, Any]) -> None:
        document["refs"][name] = document["refs"].pop("audit")
        document["location"] = document["location"].rpartition("/")[0] + "/" + name.replace("/", "")

    table = change_metadata(tmp_path, "v2-branches-and-tags", change)
    plans = [
        table.dry_run("expire_snapshots", older_than="2100-01-01"),
        table.dry_run("fast_forward", branch=name, to="main"),
        table.dry_run("fast_forward", branch="main", to=name),
        table.dry_run("set_current_snapshot", ref=name),
        table.dry_run("rewrite_data_files", branch=name, rewrite_all=True),
    ]
    assert plans[0].refusal is None
    for plan in plans:
        card, text = plan._repr_html_(), str(plan)
        assert "<script" not in card
        assert "\x1b" not in text
        assert "\u202e" not in text + card
        assert len(card) < 64_000
        assert "\x1b" not in plan.call
        assert not any(line.startswith("DROP") for line in plan.call.splitlines())
