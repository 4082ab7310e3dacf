"""Watching: what a block did to storage equals a plain comparison of directories, and every object has its reason."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.analysis.trace import Trace
from lakelens.errors import Unsupported
from lakelens.io.memory import MemoryStore
from lakelens.opening import open_in_store
from lakelens.views.card.wording import plural
from lakelens.views.cards.trace import format_sentence
from tests.support import LAKES
from tests.support.stages import Stages, check_plainly, list_plainly
from tests.support.view_lakes import PATHS, name_lake

MANY = "spark/paimon/changelog-input"
ICEBERG = "spark/iceberg/v2-merge-on-read"
HIVE = "spark/hive/partitioned"


def tell(change: Trace) -> dict[str, str]:
    """The reason of each object by its path below the root."""
    return {file.relative_path: file.reason for file in change.files}


@pytest.mark.parametrize("path", PATHS, ids=name_lake)
def test_every_lake_is_told_as_it_comes_and_goes(tmp_path: Path, path: Path) -> None:
    with ll.watch(tmp_path / "t") as change:
        shutil.copytree(path, tmp_path / "t")
    before = list_plainly(tmp_path / "t")
    check_plainly({}, before, change)
    assert all(file.reason and file.reason != file.role for file in change.files)
    if path.parent.name != "view":  # no table: only its files are told
        (table,) = change.tables
        assert table.after is not None
        live = {f.path for f in table.after.files if f.path.startswith(str(tmp_path))}
        assert {f.path for f in change.created if "referred to by nothing" in f.reason}.isdisjoint(live)
    with ll.watch(tmp_path / "t") as change:
        shutil.rmtree(tmp_path / "t")
    check_plainly(before, {}, change)


def test_a_commit_of_paimon_is_told_object_by_object(tmp_path: Path) -> None:
    stages = Stages(MANY, tmp_path / "t")
    stages.go(2)
    before = list_plainly(tmp_path)
    with ll.watch(tmp_path / "t") as change:
        stages.go(3)
    check_plainly(before, list_plainly(tmp_path), change)
    (commit,) = change.snapshots
    assert commit.name == "snapshot 3"
    told = tell(change)
    assert told["snapshot/LATEST"] == "hint: latest snapshot"
    assert [f.relative_path for f in change.rewritten] == ["snapshot/LATEST"]
    assert told["snapshot/snapshot-3"].startswith("snapshot 3 itself")
    by_reason = sorted(reason for path, reason in told.items() if "snapshot/" not in path)
    assert by_reason == [
        "changelog file added by snapshot 3",
        "data file added by snapshot 3",
        "manifest list of snapshot 3 (base)",
        "manifest list of snapshot 3 (changelog)",
        "manifest list of snapshot 3 (delta)",
        "manifest of snapshot 3 (changelog)",
        "manifest of snapshot 3 (delta)",
    ]
    assert set(commit.created.paths) == set(change.created.paths)
    assert change.diff is not None and change.diff.before is not None
    assert (change.diff.before.id, change.diff.after.id) == (2, 3)
    assert {f.path for f in change.diff.added} == {f.path for f in change.created if f.role == "data"}


def test_a_commit_of_iceberg_is_told_object_by_object(tmp_path: Path) -> None:
    stages = Stages(ICEBERG, tmp_path / "t")
    stages.go(1)
    before = list_plainly(tmp_path)
    with ll.watch(tmp_path / "t") as change:
        stages.go(2)
    check_plainly(before, list_plainly(tmp_path), change)
    (commit,) = change.snapshots
    name = f"snapshot {commit.snapshot.id}"
    assert sorted(tell(change).values()) == [
        f"manifest list of {name}",
        f"manifest of {name}",
        *[f"position delete file added by {name}"] * 2,
        f"table metadata, committed with {name}",
    ]
    assert set(commit.created.paths) == set(change.created.paths)
    assert change.diff is not None
    assert {f.path for f in change.diff.added} == {f.path for f in change.created if "delete" in f.role}
    assert any(place.path == "$.current-snapshot-id" for place in change.tables[0].document)


def test_versions_of_delta_are_told_one_by_one_and_a_checkpoint_hides_none(tmp_path: Path) -> None:
    """Version 3 has a checkpoint, which does not say what version 3 added; older versions are there as before."""
    lake = LAKES / "delta/spark/vectors-prefixed/table"
    later = re.compile(r"_delta_log/0{19}[34]\.")
    (added,) = ll.open(lake).snapshot(3).changes.added
    vectors = {vector.path for vector in ll.open(lake).snapshot(4).index_files}
    late = {
        path.relative_to(lake).as_posix()
        for path in lake.rglob("*")
        if later.match(path.relative_to(lake).as_posix())
        or path.name == "_last_checkpoint"
        or str(path) in {added.path, *vectors}
    }
    shutil.copytree(lake, tmp_path / "t")
    for path in late:
        (tmp_path / "t" / path).rename(tmp_path / path.replace("/", "-"))
    (tmp_path / "t/_delta_log/.x.json.crc").write_bytes(b"crc")
    before = list_plainly(tmp_path / "t")
    with ll.watch(tmp_path / "t") as change:
        for path in late:
            (tmp_path / path.replace("/", "-")).rename(tmp_path / "t" / path)
        (tmp_path / "t/_delta_log/.y.json.crc").write_bytes(b"crc")
    check_plainly(before, list_plainly(tmp_path / "t"), change)
    assert [commit.name for commit in change.snapshots] == ["version 3", "version 4"]
    assert change.tables[0].gone == ()
    told = tell(change)
    log = {
        path.removeprefix("_delta_log/0000000000000000000"): told.pop(path)
        for path in late
        if "_log/" in path
    }
    assert log == {
        "3.json": "version 3 itself: what it adds and removes",
        "3.crc": "version checksum, found by its name",
        "3.checkpoint.parquet": "manifest of version 3 (checkpoint)",
        "4.json": "version 4 itself: what it adds and removes",
        "4.crc": "version checksum, found by its name",
        "_delta_log/_last_checkpoint": "checkpoint hint, found by its name",
    }
    assert told.pop("_delta_log/.y.json.crc") == "checksum of y.json"
    assert sorted(told.values()) == [
        "data file added by version 3",
        "index file (DELETION_VECTORS) of version 4",
    ]


@pytest.mark.parametrize("name", [MANY, ICEBERG])
def test_statements_at_once_are_told_apart_by_snapshot(tmp_path: Path, name: str) -> None:
    stages = Stages(name, tmp_path / "t")
    stages.go(1)
    alone = []
    for count in (2, 3, 4):
        with ll.watch(tmp_path / "t") as change:
            stages.go(count)
        alone.append(set(change.snapshots[0].created.paths))
    stages.go(1)
    with ll.watch(tmp_path / "t") as change:
        stages.go(4)
    assert [set(commit.created.paths) for commit in change.snapshots] == alone
    owned = [path for commit in change.snapshots for path in commit.created.paths]
    assert sorted(owned) == sorted(change.created.paths)


@pytest.mark.parametrize("name", [MANY, ICEBERG, HIVE])
def test_a_table_is_created_and_dropped(tmp_path: Path, name: str) -> None:
    place = tmp_path / "deep" / "t"
    with ll.watch(place) as change:
        shutil.copytree(LAKES / name / "table", place)
    check_plainly({}, list_plainly(place), change)
    assert [told.kind for told in change.tables] == ["created"]
    assert all(file.reason for file in change.files)
    assert (change.diff is None) == (name == HIVE)
    before = list_plainly(place)
    with ll.watch(place) as change:
        shutil.rmtree(place)
    check_plainly(before, {}, change)
    assert [told.kind for told in change.tables] == ["dropped"]
    assert change.diff is None and change.tables[0].after is None
    assert all(file.reason.endswith("the table was dropped") for file in change.removed)
    assert change.tables[0].before is not None
    files = change.tables[0].before.files
    assert {f.path for f in files} <= set(change.removed.paths), "the past is still told"


def test_a_rollback_tells_what_is_gone(tmp_path: Path) -> None:
    stages = Stages(MANY, tmp_path / "t")
    stages.go(3)
    with ll.watch(tmp_path / "t") as change:
        stages.go(2)
    (told,) = change.tables
    assert told.gone == ("snapshot 3",)
    assert change.snapshots == () and len(change.removed) == 8
    assert change.diff is not None and change.diff.before is not None
    assert (change.diff.before.id, change.diff.after.id) == (3, 2)
    assert {f.path for f in change.diff.removed} == {f.path for f in change.removed if f.role == "data"}
    reasons = set(tell(change).values())
    assert "manifest list (delta) of snapshot 3, which is gone" in reasons
    assert "data file: only snapshots that are gone needed it" in reasons


def test_a_file_that_is_still_needed_is_missed(tmp_path: Path) -> None:
    Stages(MANY, tmp_path / "t").go(2)
    (victim,) = list(ll.open(tmp_path / "t").snapshots[0].files)
    with ll.watch(tmp_path / "t") as change:
        Path(victim.path).unlink()
    (file,) = change.removed
    assert file.reason.startswith("data file: still named by manifest-")


def test_an_aborted_write_leaves_orphans(tmp_path: Path) -> None:
    stages = Stages(ICEBERG, tmp_path / "t")
    stages.go(1)
    with pytest.raises(RuntimeError, match="killed"), ll.watch(tmp_path / "t") as change:
        source = next((tmp_path / "t/data").rglob("*.parquet"))
        shutil.copy(source, source.with_name("00009-9-left-behind-00001.parquet"))
        raise RuntimeError("killed")
    assert isinstance(change.error, RuntimeError)
    (file,) = change.created
    assert file.reason == "data file, referred to by nothing"
    assert change.snapshots == () and "it raised RuntimeError: killed" in str(change)


def test_a_hint_rewritten_within_a_tick_is_seen(tmp_path: Path) -> None:
    Stages(MANY, tmp_path / "t").go(2)
    hint = tmp_path / "t/snapshot/LATEST"
    then = hint.stat().st_mtime_ns
    with ll.watch(tmp_path / "t") as change:
        hint.write_text("1")
        os.utime(hint, ns=(then, then))
    assert [f.relative_path for f in change.rewritten] == ["snapshot/LATEST"]
    assert change.rewritten[0].previous_size_bytes == 1


def test_a_warehouse_is_told_table_by_table(tmp_path: Path) -> None:
    first, second = Stages(MANY, tmp_path / "wh/a.db/one"), Stages(ICEBERG, tmp_path / "wh/a.db/two")
    first.go(2)
    second.go(2)
    shutil.copytree(LAKES / HIVE / "table", tmp_path / "wh/a.db/three")
    (tmp_path / "wh/metastore").mkdir()
    (tmp_path / "wh/derby.log").touch()
    before = {p: f for p, f in list_plainly(tmp_path / "wh").items() if "derby" not in p}
    with ll.watch(tmp_path / "wh") as change:
        first.go(3)
        shutil.rmtree(tmp_path / "wh/a.db/three")
        shutil.copytree(LAKES / HIVE / "table", tmp_path / "wh/a.db/four")
        (tmp_path / "wh/a.db/.note.txt.crc").write_text("x")
        (tmp_path / "wh/metastore/log").write_text("scratch")
    after = {
        p: f for p, f in list_plainly(tmp_path / "wh").items() if "/metastore/" not in p and "derby" not in p
    }
    check_plainly(before, after, change)
    assert {told.name: told.kind for told in change.tables} == {
        "a.one": "changed",
        "a.three": "dropped",
        "a.four": "created",
    }
    assert change["one"].diff is change.diff
    assert tell(change)["a.db/.note.txt.crc"] == "checksum of note.txt"
    with pytest.raises(KeyError):
        change["two"]


def test_a_table_may_use_the_names_of_scratch(tmp_path: Path) -> None:
    stages = Stages(ICEBERG, tmp_path / "t")
    stages.go(1)
    (tmp_path / "t/tmp").mkdir()
    with ll.watch(tmp_path / "t") as change:
        (tmp_path / "t/tmp/x.parquet").write_bytes(b"PAR1")
    assert [f.relative_path for f in change.created] == ["tmp/x.parquet"]
    with ll.watch(tmp_path / "t", ignore=["data"]) as change:
        shutil.rmtree(tmp_path / "t/data")
    assert change.is_empty


def test_a_warehouse_that_becomes_a_table_is_told_once(tmp_path: Path) -> None:
    """Each object is told once, also where the places of the tables before and after lie within each other."""
    first = Stages(MANY, tmp_path / "wh/data/in")
    first.go(2)
    before = list_plainly(tmp_path / "wh")
    with ll.watch(tmp_path / "wh") as change:
        first.go(3)
        Stages(ICEBERG, tmp_path / "wh").go(1)
        first.go(3)
    check_plainly(before, list_plainly(tmp_path / "wh"), change)
    assert len(change.files) == len({file.path for file in change.files})


def test_an_error_of_the_block_goes_before_one_of_the_watch(tmp_path: Path) -> None:
    watching = ll.watch(tmp_path / "t")

    def fail(references: bool) -> None:
        raise OSError("the store is gone")

    with pytest.raises(ValueError, match="mine") as caught, watching as change:
        watching._capture = fail  # type: ignore[method-assign,assignment]
        raise ValueError("mine")
    assert any("the store is gone" in note for note in caught.value.__notes__)
    assert change.error is caught.value and not change.is_finished


def test_before_stays_before(tmp_path: Path) -> None:
    """The frozen past answers from what it kept, also when the directory holds another table by then."""
    stages = Stages(MANY, tmp_path / "t")
    stages.go(3)
    with ll.watch(tmp_path / "t") as change:
        shutil.rmtree(tmp_path / "t")
        Stages(ICEBERG, tmp_path / "t").go(1)
    (told,) = change.tables
    assert told.kind == "replaced" and told.before is not None and told.after is not None
    assert (told.before.format, told.after.format) == ("paimon", "iceberg")
    shutil.rmtree(tmp_path / "t")
    assert len(told.before.files) > 0 and len(told.after.files) > 0
    assert change.diff is not None and len(change.diff.added) == len(told.after.files)


def test_nothing_done_is_nothing_told(tmp_path: Path) -> None:
    Stages(MANY, tmp_path / "t").go(2)
    with ll.open(tmp_path / "t").watch() as change:
        assert not change.is_finished and len(change.files) == 0
        assert "is still running" in str(change)
    assert change.is_finished and change.is_empty and change.tables == ()
    assert change.untouched_files == len(list_plainly(tmp_path))
    with ll.watch(tmp_path / "nothing") as change:
        pass
    assert change.is_empty


def test_a_target_at_which_nothing_is_says_so(tmp_path: Path) -> None:
    Stages(MANY, tmp_path / "orders").go(2)
    with ll.watch(tmp_path / "ordres") as change:
        (tmp_path / "elsewhere").mkdir()
    assert change.is_missing
    words = f"nothing is at {tmp_path / 'ordres'}, before or after; did you mean {tmp_path / 'orders'}?"
    assert str(change).splitlines()[0] == f"Trace: {words}"
    assert format_sentence(change) == words
    assert "touched no file" not in str(change)
    # what is there and stays as it was is no such thing, nor is what came in between
    with ll.watch(tmp_path / "orders") as change:
        pass
    assert not change.is_missing
    assert "touched no file" in str(change)
    with ll.watch(tmp_path / "new") as change:
        Stages(MANY, tmp_path / "new").go(2)
    assert not change.is_missing


def test_a_delete_says_how_many_rows_it_took(tmp_path: Path) -> None:
    stages = Stages("spark/iceberg/v3-merge-on-read", tmp_path / "t")
    for number in range(1, len(stages.table.snapshots) + 1):
        with ll.watch(tmp_path / "t") as change:
            stages.go(number)
        diff = change.diff
        if diff is None or diff.before is None or diff.after.operation != "delete":
            continue
        before, after = diff.before.known_live_rows.count, diff.after.known_live_rows.count
        assert before is not None and after is not None
        assert format_sentence(change).endswith(f": {plural(before - after, 'row')} deleted")
        break
    else:
        pytest.fail("no commit of the lake deletes")


def test_without_references_what_is_created_is_told_all_the_same(tmp_path: Path) -> None:
    stages = Stages(ICEBERG, tmp_path / "t")
    stages.go(2)
    before = list_plainly(tmp_path)
    with ll.watch(tmp_path / "t", references=False) as change:
        stages.go(3)
    check_plainly(before, list_plainly(tmp_path), change)
    assert len(change.snapshots[0].created) == len(change.created)


def test_a_metadata_file_stands_for_its_table(tmp_path: Path) -> None:
    stages = Stages(ICEBERG, tmp_path / "t")
    stages.go(1)
    with ll.watch(next((tmp_path / "t/metadata").glob("00001-*.json"))) as change:
        stages.go(2)
    assert len(change.snapshots) == 1


def test_a_damaged_table_is_watched(tmp_path: Path) -> None:
    stages = Stages(ICEBERG, tmp_path / "t")
    stages.go(1)
    for path in (tmp_path / "t/metadata").glob("*.avro"):
        path.write_bytes(b"Obj\x01 cut")
    before = list_plainly(tmp_path)
    with ll.watch(tmp_path / "t") as change:
        stages.go(2)
        (tmp_path / "t/metadata" / "00009-x.metadata.json").write_text("{")
    check_plainly(before, list_plainly(tmp_path), change)


def test_what_cannot_be_watched_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="cannot watch a int"):
        ll.watch(3)  # type: ignore[arg-type]
    import fsspec

    memory = fsspec.filesystem("memory")
    memory.put(str(LAKES / MANY / "table"), "/watched/t", recursive=True)
    held = {
        "/nowhere" + path.removeprefix("/watched/t"): memory.cat_file(path)
        for path in memory.find("/watched/t")
    }
    with open_in_store(MemoryStore(held), "/nowhere").watch() as change:
        pass  # a table is watched where it was opened
    assert not change.created
    with pytest.raises(Unsupported, match="URL"):
        open_in_store(MemoryStore(held), "/nowhere").watch(storage_options={})
    for number, watch in enumerate((ll.open("memory://watched/t").watch(), ll.watch("memory://watched/t"))):
        with watch as change:
            memory.pipe(f"/watched/t/bucket-0/data-x-{number}.parquet", b"PAR1")
        assert [f.reason for f in change.created] == ["data file, referred to by nothing"]
