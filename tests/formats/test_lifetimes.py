"""`ll.lifetimes()` against what engines have removed: the recorded maintenance runs below tests/lakes/maintenance.

Each row says when a file of its kind goes. Of every record it is asked which files the engine removed, and of the table as
it was before which files the states name that stayed and those that went.
"""

from __future__ import annotations

import re
from functools import cache
from typing import Any

import pytest

import lakelens as ll
from lakelens.model.check.references import Keeper, Referring
from lakelens.opening import open_table
from tests.formats.paimon.maintenance.test_recorded import CASES, RECORDS, cut
from tests.support import LAKES
from tests.support.delta_runs import load_runs as load_delta_runs
from tests.support.maintenance import Run, list_groups, load_runs

ICEBERG, PAIMON, HIVE, DELTA = "iceberg", "paimon", "hive", "delta"
#: Each row of files, by how paths below the table look; the first that fits.
KINDS = {
    ICEBERG: {
        "version-hint.text": r"version-hint\.text$",
        "….metadata.json": r"\.metadata\.json$",
        "snap-….avro": r"metadata/snap-",
        "…-m0.avro": r"-m\d+\.avro$",
        "….puffin": r"\.puffin$",
        "….stats": r"\.stats$",
        "….parquet": r"\.(parquet|avro|orc)$",
    },
    PAIMON: {
        "LATEST, EARLIEST": r"(LATEST|EARLIEST)$",
        "snapshot-N": r"snapshot/snapshot-\d+$",
        "schema-N": r"schema/schema-\d+$",
        "changelog-N": r"changelog/changelog-\d+$",
        "tag-NAME": r"tag/tag-",
        "consumer-ID": r"consumer/consumer-",
        "stat-…": r"statistics/stats?-",
        "index-manifest-…": r"manifest/index-manifest-",
        "manifest-list-…": r"manifest/manifest-list-",
        "manifest-…": r"manifest/manifest-",
        "index-…": r"index/index-",
        "changelog-….parquet": r"bucket-\d+/changelog-",
        "data-….parquet": r"bucket-\d+/data-",
    },
    DELTA: {
        "_last_checkpoint": r"^_delta_log/_last_checkpoint$",
        "_last_vacuum_info": r"^_delta_log/_last_vacuum_info$",
        "N.json": r"^_delta_log/\d{20}\.json$",
        "N.crc": r"^_delta_log/\d{20}\.crc$",
        "N.checkpoint….parquet": r"^_delta_log/\d{20}\.checkpoint\.",
        "_sidecars/….parquet": r"^_delta_log/_sidecars/",
        "N.M.compacted.json": r"^_delta_log/\d{20}\.\d{20}\.compacted\.json$",
        "_staged_commits/….json": r"^_delta_log/_staged_commits/",
        "deletion_vector_….bin": r"deletion_vector_[^/]*\.bin$",
        "_change_data/….parquet": r"^_change_data/",
        "part-….parquet": r"part-[^/]*\.parquet$",
    },
}
EXPIRY, ORPHANS, ROLLBACK = "expire_snapshots", "remove_orphan_files", "rollback"
#: Which procedures have removed files of a row. A compaction of Paimon expires snapshots by itself where its options say so.
REMOVED_BY = {
    (ICEBERG, "snap-….avro"): {EXPIRY},
    (ICEBERG, "…-m0.avro"): {EXPIRY},
    (ICEBERG, "….parquet"): {EXPIRY},
    (ICEBERG, "….puffin"): {EXPIRY},
    (ICEBERG, "….metadata.json"): {EXPIRY, "rewrite_data_files", "rewrite_manifests"},
    (PAIMON, "snapshot-N"): {EXPIRY, ROLLBACK, "compact"},
    (PAIMON, "manifest-list-…"): {EXPIRY, ROLLBACK, "compact", "delete_tag", "expire_tags"},
    (PAIMON, "manifest-…"): {EXPIRY, ROLLBACK, "compact"},
    (PAIMON, "index-manifest-…"): {EXPIRY, ROLLBACK},
    (PAIMON, "index-…"): {EXPIRY, ROLLBACK},
    (PAIMON, "data-….parquet"): {EXPIRY, ROLLBACK, "compact", "delete_tag"},
    (PAIMON, "changelog-….parquet"): {EXPIRY, ROLLBACK, "compact"},
    (PAIMON, "changelog-N"): {"compact"},
    (PAIMON, "stat-…"): {EXPIRY, ROLLBACK},
    (PAIMON, "tag-NAME"): {"delete_tag", "expire_tags", ROLLBACK},
    (DELTA, "N.json"): {"checkpoint", "restore", "vacuum"},
    (DELTA, "N.checkpoint….parquet"): {"checkpoint", "vacuum"},
    (DELTA, "_sidecars/….parquet"): {"checkpoint", "vacuum"},
    (DELTA, "part-….parquet"): {"vacuum"},
    (DELTA, "deletion_vector_….bin"): {"vacuum"},
    (DELTA, "_change_data/….parquet"): {"vacuum"},
}
#: Rows that go with the table, and that no procedure removes.
STAYS = {
    *((ICEBERG, "version-hint.text"), (PAIMON, "LATEST, EARLIEST"), (PAIMON, "schema-N")),
    *((DELTA, "_last_checkpoint"), (DELTA, "_last_vacuum_info")),
}
#: Rows whose end no record shows.
UNSEEN = {
    (ICEBERG, "a row in the catalog"): "is no file",
    (ICEBERG, "….stats"): "no recorded expiry takes a snapshot that has statistics of its own",
    (PAIMON, "consumer-ID"): "no recorded procedure lets a consumer expire",
    (
        HIVE,
        "part-…, 000000_0",
    ): "Hive has no procedures to record: what statements do to its files is in notebook 01",
    (HIVE, "k=v/"): "the same",
    (HIVE, "_SUCCESS"): "the same",
    (HIVE, "_temporary/"): "the same",
    (HIVE, "a row in the metastore"): "is no file",
    (
        DELTA,
        "N.crc",
    ): "the tables whose log is old have none: it would contradict the times that were moved back",
    (DELTA, "N.M.compacted.json"): "delta-spark writes none by itself",
    (DELTA, "_staged_commits/….json"): "no table of a catalog is recorded",
}
#: Expiry of main that removed what another branch names: Paimon 2.0 does not look at branches.
NAMED_BY_A_BRANCH = {"paimon-java/2.0.0-fast-forward"}
#: Rollback that removed data files of the snapshot that it went back to: Paimon 0.9 removes what later commits added, and a
#: file whose level changes is deleted and added by the commit that raises it.
RAISED_LATER = {
    "spark/paimon/changelog-lookup",
    "spark/paimon/pk-deletion-vectors",
    "spark/paimon/pk-first-row",
    "maintenance/paimon/pk-levels",
}
LIFETIMES = {(line.format, line.file): line for line in ll.lifetimes()}


def find_kind(format: str, path: str) -> str:
    """The row of a file by its path below the table; empty for one that belongs to no table."""
    return next((kind for kind, pattern in KINDS[format].items() if re.search(pattern, path)), "")


def shorten(paths: Any, table: Any) -> set[str]:
    """Paths below a table's directory, as records have them: those of Paimon with their identifiers cut."""
    short = {path[len(table.location) :].lstrip("/") for path in paths if path}
    return {cut(path) for path in short} if table.format == PAIMON else short


def list_names(table: Any, keeper: Keeper) -> set[str]:
    """The files that a state names: itself, its lists, manifests and live files, what is beside them."""
    snapshot, names = keeper.snapshot, {keeper.path}
    if snapshot is None:
        return shorten(names, table)
    for listed in snapshot.manifest_lists:
        if keeper.roles is not None and listed.role not in keeper.roles:
            continue
        names.add(listed.path)
        for manifest in listed.manifests:
            names.add(manifest.path)
            if listed.role == "changelog":
                names |= {entry.file.path for entry in manifest.entries}
    if keeper.roles is None or "base" in keeper.roles:
        names |= {path for (path,) in snapshot.files.pick("path")}
    names |= {reference.path for reference in Referring.of(table).list_named(keeper)}
    names |= {statistics.path for statistics in snapshot.statistics}
    return shorten(names, table)


def divide(table: Any, stays: Any) -> tuple[set[str], set[str]]:
    """The files that the states name which stay, and those that only the others name."""
    kept: set[str] = set()
    gone: set[str] = set()
    for keeper in Referring.of(table).list_keepers():
        (kept if stays(keeper) else gone).update(list_names(table, keeper))
    return kept, gone - kept


def divide_iceberg(run: Run) -> tuple[set[str], set[str]]:
    """The same of a recorded run of Iceberg."""
    table = open_table(str(run.table_path))
    left = set(run.record["snapshots"])
    kept, gone = divide(table, lambda keeper: keeper.id in left)
    for path in shorten([table.metadata_path], table):
        kept, gone = kept | {path}, gone - {path}
    return kept, gone


def divide_paimon(lake: str, done: dict[str, Any]) -> tuple[set[str], set[str]]:
    """The same of a recorded run of Paimon, which has no say in other branches."""
    left = {"snapshot": done["snapshots"], "tag": done["tags"], "changelog": done["changelogs"]}

    def stays(keeper: Keeper) -> bool:
        name = keeper.name.removeprefix(f"{keeper.kind} ")
        return bool(keeper.branch) or keeper.kind == "branch" or name in left[keeper.kind]

    return divide(open_table(LAKES / lake / "table"), stays)


@cache
def list_removals() -> tuple[tuple[str, str, str, str], ...]:
    """Every file that a record has removed: format, procedure, row, path. Planted files are of no table."""
    found = []
    for group in list_groups():
        for run in load_runs(group):
            for path in set(run.record["deleted"]) - run.record["planted"].keys():
                found.append((ICEBERG, run.record["procedure"], find_kind(ICEBERG, path), path))
    for engine, case in CASES:
        planted = {cut(path) for path in case.planted}
        for path in set(RECORDS[engine][case.name]["deleted"]) - planted:
            found.append((PAIMON, case.procedure, find_kind(PAIMON, path), path))
    for delta in load_delta_runs():
        for path in set(delta.record["deleted"]) - delta.record["planted"].keys():
            found.append((DELTA, delta.record["procedure"], find_kind(DELTA, path), path))
    return tuple(found)


def test_every_row_is_proved_or_named() -> None:
    parts = (REMOVED_BY.keys(), STAYS, UNSEEN.keys())
    assert sum(map(len, parts)) == len(set().union(*parts)) == len(LIFETIMES) == 37
    assert set().union(*parts) == LIFETIMES.keys()
    assert all(LIFETIMES[row].goes.startswith("with the table") for row in STAYS)


def test_each_kind_is_removed_by_the_procedures_that_its_row_knows() -> None:
    seen: dict[tuple[str, str], set[str]] = {}
    for format, procedure, kind, path in list_removals():
        if procedure != ORPHANS:
            assert kind, path
            seen.setdefault((format, kind), set()).add(procedure)
    assert seen == REMOVED_BY
    assert not seen.keys() & (STAYS | UNSEEN.keys())


def test_the_words_of_each_row_are_what_was_seen() -> None:
    for row, procedures in REMOVED_BY.items():
        goes = LIFETIMES[row].goes
        if row[1] == "tag-NAME":
            assert "DELETE TAG" in goes and "rollback" in goes and "after its time" in goes
        elif row[1] == "….metadata.json":
            assert "later commits" in goes and "delete-after-commit" in goes
        elif row[0] == DELTA:
            assert ("VACUUM" in goes) == (procedures == {"vacuum"})
            assert procedures == {"vacuum"} or "checkpoint" in goes
        elif row[1] == "changelog-N":
            assert goes == "when the changelog expires"
        else:
            assert EXPIRY in procedures and re.search(
                r"expire|no kept|last snapshot|with its snapshot", goes
            ), goes


EXPIRIES = [run for run in load_runs(EXPIRY) if "error" not in run.record]


@pytest.mark.parametrize("run", EXPIRIES, ids=lambda run: run.name)
def test_what_iceberg_removed_is_what_no_kept_snapshot_has(run: Run) -> None:
    """All of it, and nothing else: lists, manifests, files and statistics of snapshots that expired."""
    kept, gone = divide_iceberg(run)
    removed = {path for path in run.record["deleted"] if not path.endswith(".metadata.json")}
    assert removed == gone and not removed & kept


def test_no_statistics_expired() -> None:
    """Why no record shows the end of a Puffin file of statistics."""
    found = 0
    for run in load_runs(EXPIRY):
        table = open_table(str(run.table_path))
        for snapshot in table._known:
            found += len(snapshot.statistics)
            assert not snapshot.statistics or snapshot.id in run.record["snapshots"]
    assert found


def test_metadata_files_go_only_where_the_table_says_so() -> None:
    switches = set()
    for group in list_groups():
        for run in load_runs(group):
            removed = {path for path in run.record["deleted"] if path.endswith(".metadata.json")}
            if removed - run.record["planted"].keys():
                table = open_table(str(run.table_path))
                switches.add(table.properties.get("write.metadata.delete-after-commit.enabled"))
                assert not shorten([table.metadata_path], table) & removed
    assert switches == {"true"}


RUNS = [
    pytest.param(engine, case, id=f"{engine}-{case.name}")
    for engine, case in CASES
    if RECORDS[engine][case.name]["deleted"] and not RECORDS[engine][case.name]["error"] and not case.planted
]


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize(("engine", "case"), RUNS)
def test_what_paimon_removed_is_what_no_kept_state_has(engine: str, case: Any) -> None:
    """Expiry removes all of it. The others remove nothing that a snapshot, a tag or a changelog that is left names."""
    done = RECORDS[engine][case.name]
    if (
        case.procedure == "compact"
    ):  # it commits first, and expires after that: what it removed is all of older states
        assert len(done["snapshots"]) < len(open_table(LAKES / case.lake / "table").snapshots) + 1
        return
    kept, gone = divide_paimon(case.lake, done)
    removed = set(done["deleted"])
    if case.lake in NAMED_BY_A_BRANCH and case.procedure == EXPIRY:
        assert {find_kind(PAIMON, path) for path in removed & kept} <= {"manifest-list-…"}
        return
    if (engine, case.procedure) == ("0.9", ROLLBACK) and case.lake in RAISED_LATER:
        assert {find_kind(PAIMON, path) for path in removed & kept} <= {"data-….parquet"}
        return
    assert not removed & kept
    if case.procedure == EXPIRY:
        assert removed == gone


@pytest.mark.parametrize(("engine", "case"), [
    pytest.param(engine, case, id=f"{engine}-{case.name}") for engine, case in CASES if case.procedure == "compact"
])  # fmt: skip
def test_a_compaction_removes_no_file(engine: str, case: Any) -> None:
    """What it replaced stays until the snapshots before it expire: the one record that removed files expired some too."""
    done = RECORDS[engine][case.name]
    files = [path for path in done["deleted"] if find_kind(PAIMON, path) == "data-….parquet"]
    assert not files or any(find_kind(PAIMON, path) == "snapshot-N" for path in done["deleted"])
    assert LIFETIMES[PAIMON, "data-….parquet"].goes.startswith(
        "after COMPACT or OVERWRITE, with the last snapshot"
    )


def test_orphans_are_what_nothing_names() -> None:
    """Removed as orphans are planted files, and others only where no state names them."""
    others = 0
    for run in load_runs(ORPHANS):
        rest = set(run.record["deleted"]) - run.record["planted"].keys()
        assert not rest
    for engine, case in CASES:
        if case.procedure == ORPHANS:
            done = RECORDS[engine][case.name]
            rest = set(done["deleted"]) - {cut(path) for path in case.planted}
            if rest:
                kept, gone = divide_paimon(case.lake, done)
                assert not rest & (kept | gone)
                others += len(rest)
    assert others


def test_a_file_of_no_kind_has_no_row() -> None:
    assert not find_kind(ICEBERG, "stray.txt") and not find_kind(PAIMON, "notes")
    assert {file for format, file in LIFETIMES if format != HIVE} - {
        file for kinds in KINDS.values() for file in kinds
    } == {"a row in the catalog"}
