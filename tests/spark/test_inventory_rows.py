"""What executors make of one table for an inventory, without Spark; and the log that says what counts."""

from __future__ import annotations

import json
import shutil
from collections import defaultdict
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.answers.survey import check_names
from lakelens.spark.warehouse.batches import gather_rows, read_portion, split_partition
from lakelens.spark.warehouse.columns import DATA_SETS, DESCRIBED, READ, data_schema
from lakelens.spark.warehouse.facts import ANSWERABLE, Known, describe_place, hash_path
from lakelens.spark.warehouse.store import Commit, LocalFolder, SessionStore, parse_commit
from lakelens.spark.warehouse.tables import TablePlace
from tests.support import LAKES
from tests.support.growth import grow_iceberg, grow_paimon

TABLES = sorted(
    [*LAKES.glob("spark/*/*/table"), *LAKES.glob("paimon-java/*/table")],
    key=lambda path: (path.parent.name, str(path)),
)

Rows = dict[str, list[dict[str, Any]]]


def look(place: Path | str, known: Known | None = None) -> Rows:
    """The rows that an executor makes of a table, and of the manifests that it planned to read."""
    rows: Rows = defaultdict(list)
    for batch in gather_rows(describe_place(TablePlace(str(place)), known or Known()), DESCRIBED):
        _unfold(batch, rows)
    for portion in rows["portions"]:
        for batch in read_portion(portion["plan"]):
            _unfold(batch, rows)
    return rows


def _unfold(batch: Any, rows: Rows) -> None:
    for name in batch.schema.names:
        rows[name] += [row for row in batch.column(name).to_pylist() if row is not None]


def know(rows: Rows) -> Known:
    """What an inventory knows after a look."""
    unread = any(row["error"] for row in rows["manifests"])
    (table,) = rows["tables"]
    return Known(
        table["signature"],
        table["is_incomplete"] or unread,
        frozenset(row["key"] for row in rows["snapshots"] if not row["partial"]),
        frozenset(hash_path(row["manifest"]) for row in rows["manifests"] if row["error"] is None),
    )


def list_live(rows: Rows) -> list[tuple[Any, ...]]:
    """The live files by the rows, as `Inventory.files` finds them."""
    places = {row["manifest"]: row["position"] for row in rows["members"]}
    entries = [row for row in rows["entries"] if row["manifest"] in places and row["status"] != "DELETED"]
    last = {
        row["file_key"]: row
        for row in sorted(entries, key=lambda row: (places[row["manifest"]], row["position"]))
    }
    live = [row for row in last.values() if row["status"] != "DELETE"]
    return sorted(
        (row["path"], row["content"], row["partition"], row["size_bytes"], row["own_size_bytes"])
        for row in [*live, *rows["listings"]]
    )


def count(rows: Rows, name: str) -> int:
    """The sum of a count."""
    return sum(row[name] or 0 for row in rows["counts"])


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("table", TABLES[::4], ids=lambda path: f"{path.parent.name}")
def test_a_table_has_the_files_that_opening_it_shows_and_a_second_look_reads_nothing(table: Path) -> None:
    rows = look(table)
    if rows["tables"][0]["error"] is not None:
        with pytest.raises(ll.errors.LakeError):
            ll.open(table)
        return
    opened = ll.open(table)
    assert list_live(rows) == sorted(
        (f.path, f.content, str(f.partition), f.size_bytes, f.own_size_bytes) for f in opened.files
    )
    assert len(rows["snapshots"]) == len(opened.snapshots)
    assert len({row["manifest"] for row in rows["manifests"]}) == len(rows["manifests"])
    again = look(table, know(rows))
    assert [dict(row)["status"] for row in again.pop("counts")] == ["unchanged"]
    assert not any(again.values())


def test_entries_are_those_of_every_manifest_of_every_snapshot() -> None:
    table = ll.open(LAKES / "spark" / "iceberg" / "v2-merge-on-read" / "table")
    rows = look(table.location)
    manifests = {manifest.path: manifest for snapshot in table.snapshots for manifest in snapshot.manifests}
    expected = sorted(
        (path, n, entry.status, entry.snapshot_id, entry.file.path)
        for path, manifest in manifests.items()
        for n, entry in enumerate(manifest.entries)
    )
    names = ("manifest", "position", "status", "snapshot_id", "path")
    assert sorted(tuple(row[name] for name in names) for row in rows["entries"]) == expected


def test_entries_of_paimon_belong_to_the_commit_whose_delta_names_their_manifest() -> None:
    table = ll.open(LAKES / "spark" / "paimon" / "pk-compacted" / "table")
    rows = look(table.location)
    for snapshot in table.snapshots:
        delta = next(one for one in snapshot.manifest_lists if one.role == "delta")
        expected = sorted((e.status, e.file.path) for m in delta.manifests for e in m.entries)
        found = [r for r in rows["entries"] if r["snapshot_id"] == snapshot.id and r["content"] == "data"]
        assert sorted((row["status"], row["path"]) for row in found) == expected


@pytest.mark.parametrize(
    ("grow", "told"), [(grow_iceberg, {"lake": "v2-basic"}), (grow_paimon, {})], ids=["iceberg", "paimon"]
)
def test_a_commit_in_between_reads_its_own_manifests_alone(tmp_path: Path, grow: Any, told: Any) -> None:
    place = grow(tmp_path / "t", files=90, manifests=5, **told)
    first = look(place)
    shutil.rmtree(place)
    grow(place, files=90, manifests=5, snapshots=2, appended=4, **told)
    second = look(place, know(first))
    assert [row["manifest"].rsplit("/", 1)[-1].split("-m0")[0] for row in second["manifests"]] == [
        "appended" if grow is grow_iceberg else "manifest-appended"
    ]
    assert len(second["entries"]) == 4 == count(second, "entries")
    assert len(second["snapshots"]) == 2
    joined: Rows = defaultdict(list, {**second, "entries": first["entries"] + second["entries"]})
    assert len(list_live(joined)) == len(ll.open(place).files)


def test_a_rollback_of_paimon_gives_old_numbers_to_new_snapshots(tmp_path: Path) -> None:
    place = shutil.copytree(LAKES / "spark" / "paimon" / "append" / "table", tmp_path / "t")
    first = look(place)
    newest = max((place / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name.split("-")[1]))
    document = json.loads(newest.read_text())
    earlier = json.loads((newest.parent / f"snapshot-{document['id'] - 1}").read_text())
    lists = ("baseManifestList", "deltaManifestList")
    newest.write_text(json.dumps({**document, **{name: earlier[name] for name in lists}}))
    second = look(place, know(first))
    assert [row["snapshot_id"] for row in second["snapshots"]] == [document["id"]]
    assert list_live(defaultdict(list, {**second, "entries": first["entries"]})) == sorted(
        (f.path, f.content, str(f.partition), f.size_bytes, f.own_size_bytes) for f in ll.open(place).files
    )


def test_a_manifest_that_cannot_be_read_is_tried_again_and_the_others_are_kept(tmp_path: Path) -> None:
    place = shutil.copytree(LAKES / "spark" / "iceberg" / "v2-basic" / "table", tmp_path / "t")
    victim = Path(ll.open(place).current.manifests[0].path)
    whole = victim.read_bytes()
    victim.write_bytes(whole[: len(whole) // 2])
    first = look(place)
    assert [Path(row["manifest"]).name for row in first["manifests"] if row["error"]] == [victim.name]
    assert count(first, "unread") == 1
    assert any(row["severity"] == "error" and row["of_state"] for row in first["findings"])
    second = look(place, know(first))
    assert [Path(row["manifest"]).name for row in second["manifests"]] == [victim.name]
    victim.write_bytes(whole)
    third = look(place, know(first))
    assert [(Path(row["manifest"]).name, row["error"]) for row in third["manifests"]] == [(victim.name, None)]
    kept = [row for row in first["entries"] if not row["partial"]]
    joined: Rows = defaultdict(list, {**third, "entries": kept + third["entries"]})
    assert len(list_live(joined)) == len(ll.open(place).files)


def test_a_broken_table_is_a_row_with_its_error(tmp_path: Path) -> None:
    place = shutil.copytree(LAKES / "spark" / "iceberg" / "v2-basic" / "table", tmp_path / "t")
    for document in (place / "metadata").glob("*.metadata.json"):
        document.write_text("{ not json")
    rows = look(place)
    (table,) = rows["tables"]
    assert (table["error_code"], table["location"], count(rows, "broken")) == ("corrupt", str(place), 1)
    (finding,) = rows["findings"]
    assert finding["severity"] == "error"
    again = look(place, Known(table["signature"]))
    assert not again["tables"] and count(again, "broken") == 1


def test_what_is_gone_is_told_from_what_is_broken(tmp_path: Path) -> None:
    remembered = dict(
        describe_place(TablePlace(str(tmp_path / "was"), "iceberg", remembered=True), Known("x"))
    )
    assert remembered["tables"]["is_gone"] and remembered["counts"]["status"] == "gone"
    asked = dict(describe_place(TablePlace(str(tmp_path / "was"), "iceberg"), Known()))
    assert not asked["tables"]["is_gone"] and asked["counts"]["broken"] == 1


def test_what_a_walk_could_not_read_is_told_as_it_was_met(tmp_path: Path) -> None:
    (told,) = (
        row
        for name, row in describe_place(TablePlace("/x", error="why", error_code="accessdenied"), Known())
        if name == "tables"
    )
    assert (told["error"], told["error_code"], told["location"]) == ("why", "accessdenied", "/x")


def test_what_no_column_can_hold_is_replaced() -> None:
    row = {"location": "/t", "manifest": "half \ud800 a character", "position": 2**70}
    (batch,) = gather_rows([("members", row)], DESCRIBED)
    assert batch.column("members").to_pylist() == [
        {"location": "/t", "manifest": "half ? a character", "position": None}
    ]


def test_properties_of_hostile_size_and_kind_do_not_stop_a_look(tmp_path: Path) -> None:
    place = shutil.copytree(LAKES / "spark" / "iceberg" / "v2-basic" / "table", tmp_path / "t")
    newest = max((place / "metadata").glob("*.metadata.json"))
    document = json.loads(newest.read_text())
    document["properties"] = {"odd": "\ufffe\u0000", "long": "x" * 100_000}
    document["snapshots"][0]["summary"]["total-records"] = str(10**40)
    newest.write_text(json.dumps(document))
    rows = look(place)
    assert len(rows["tables"][0]["properties"]) == 2
    assert rows["snapshots"][0]["record_count"] is None
    assert rows["entries"]


def test_answers_are_rows_that_say_what_the_table_itself_says(tmp_path: Path) -> None:
    for name in ("iceberg-branches", "paimon", "hive"):
        opened = ll.sample(name)
        place = TablePlace(opened.location, answers=("check", "health", "space"))
        rows: Rows = defaultdict(list)
        for batch in gather_rows(describe_place(place, Known()), DESCRIBED):
            _unfold(batch, rows)
        (told,) = rows["answers"]
        check, health, space = opened.check(), opened.health(), opened.space()
        assert told["error"] is None
        assert (told["verdict"], told["compared"], told["differ"]) == (
            check.verdict,
            check.compared,
            check.differ,
        )
        assert [told[name] for name in ("act", "watch", "good")] == [
            health.verdicts["act"],
            health.verdicts["watch"],
            health.verdicts["good"],
        ]
        assert told["call"] == (health.calls[0].statement if len(health.calls) else None)
        assert [(row["name"], row["value"], row["verdict"]) for row in rows["measures"]] == [
            (one.name, one.value, one.verdict) for one in health.measures
        ]
        assert sum(row["size_bytes"] for row in rows["slices"]) == told["total_bytes"] == space.size_bytes
        stored = [path for path in Path(opened.location).rglob("*") if path.is_file()]
        assert told["total_bytes"] == sum(path.stat().st_size for path in stored)
        _check_asked_again(place, rows)


def _check_asked_again(place: TablePlace, rows: Rows) -> None:
    """The same answers are not worked out twice; without them asked for, the table is unchanged too."""
    for asked in (place.answers, ("check",), ()):
        known = know(rows)
        again = list(describe_place(TablePlace(place.url, answers=asked), known))
        assert [(name, row["status"]) for name, row in again] == [("counts", "unchanged")], asked
    (table,) = rows["tables"]
    bare = Known(table["signature"].split("; answered")[0], False, know(rows).snapshots, know(rows).manifests)
    fresh = [name for name, _ in describe_place(place, bare)]
    assert {"answers", "measures", "slices", "tables"} <= set(fresh)
    assert "portions" not in fresh, "known manifests are not read again"


def test_an_answer_that_fails_leaves_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    opened = ll.sample("iceberg")

    def fail(*_: Any, **__: Any) -> None:
        raise ValueError("not to be worked out")

    monkeypatch.setattr("lakelens.analysis.health.health.measure_health", fail)
    rows = list(describe_place(TablePlace(opened.location, answers=("check", "health", "space")), Known()))
    (told,) = (row for name, row in rows if name == "answers")
    assert told["error"] == "health: ValueError: not to be worked out"
    assert (told["verdict"], "act" in told, told["total_bytes"] > 0) == ("sound", False, True)
    assert not any(name == "measures" for name, _ in rows)
    with pytest.raises(ll.errors.LakeError, match="cannot be asked 'wealth'") as refused:
        check_names(["wealth"], ANSWERABLE)
    assert "health" in str(refused.value)


def test_partitions_are_split_as_they_are_escaped() -> None:
    assert split_partition("a=x%2Fy/b=1") == [("a", "x/y"), ("b", "1")]
    assert split_partition("") == split_partition(None) == []


@pytest.mark.parametrize("name", DATA_SETS)
def test_every_data_set_has_columns_and_a_place_in_the_work(name: str) -> None:
    assert "location" in data_schema(name).names
    assert name in DESCRIBED or name in READ


def test_a_record_is_made_once_and_seen_whole(tmp_path: Path) -> None:
    folder = LocalFolder(tmp_path)
    assert folder.create("_commits/1.json", "first")
    assert not folder.create("_commits/1.json", "second")
    assert folder.read_texts("_commits") == {"1.json": "first"}
    assert folder.list_names("_commits") == ["1.json"]  # no draft is left


def test_half_a_record_says_nothing() -> None:
    text = Commit(3, "batch", "run", "now", "b", {"entries": 2}).to_json()
    assert parse_commit(text) == Commit(3, "batch", "run", "now", "b", {"entries": 2})
    assert parse_commit(text[: len(text) // 2]) is None
    assert parse_commit('{"number": 1, "unknown": 2}') is None


def test_who_began_last_commits_and_who_began_before_is_told() -> None:
    store = SessionStore(None)  # type: ignore[arg-type]
    earlier = store.begin_run("earlier")
    later = store.begin_run("later")
    with pytest.raises(ll.errors.LakeError, match="another run has taken over"):
        store.commit(earlier, Commit(store.next_number(earlier), "batch", "earlier", "now", "b"))
    store.commit(later, Commit(store.next_number(later), "batch", "later", "now", "c"))
    assert [(commit.number, commit.run) for commit in store.read_log()] == [
        (1, "earlier"),
        (2, "later"),
        (3, "later"),
    ]
