"""What is said of live and deleted rows without any manifest, against the rows that engines read, of every kept table."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import lakelens as ll
from lakelens.formats.iceberg.figures import read_figures
from lakelens.model.deletes import LiveRows
from lakelens.model.facts.traits import Amount
from lakelens.model.snapshot import Snapshot
from tests.support import LAKES, iceberg_lakes, paimon_lakes


def list_iceberg() -> Iterator[tuple[str, Snapshot, int]]:
    """Each snapshot of each table, with the number of rows that the engine reads of it."""
    for lake in iceberg_lakes.find_lakes():
        if "metadata_location" not in lake.answers:
            continue
        table = lake.open(version=lake.answers["metadata_location"])
        for key, rows in lake.answers.get("row_count_at", {}).items():
            if isinstance(rows, int):
                yield lake.name, table.snapshot(int(key)), rows


def list_paimon() -> Iterator[tuple[str, Any, int]]:
    for lake in paimon_lakes.list_lakes():
        for table, said in lake.views():
            counts = {int(key): rows for key, rows in said.get("row_count_at", {}).items()}
            if table.current is not None and isinstance(said.get("rows"), list):
                counts[table.current.id] = len(said["rows"])
            for number, rows in counts.items():
                if isinstance(rows, int):
                    yield lake.name, table.snapshot(number), rows


def compare(known: LiveRows, rows: int) -> str:
    """How well the rows of an engine are known."""
    if known.count is not None:
        assert known.count == rows, known.reason
        assert known.recorded is not None
        if known.deleted is None and known.count < known.recorded:
            assert "files share rows" in known.reason
            return "shared"
        assert known.count + (known.deleted or 0) + known.waiting == known.recorded
        return "deleted" if known.deleted else "nothing deleted"
    assert known.at_least is not None and known.at_most is not None
    assert known.at_least <= rows <= known.at_most, known.reason
    return "bounded"


def test_live_rows_of_iceberg_are_those_that_the_engine_reads() -> None:
    kinds = Counter(compare(snapshot.known_live_rows, rows) for _, snapshot, rows in list_iceberg())
    assert kinds == {"nothing deleted": 216, "deleted": 16, "bounded": 66}, "vectors are counted exactly"


def test_rows_that_a_commit_of_iceberg_deleted_are_those_that_the_engine_no_longer_reads() -> None:
    """Where files are neither added nor removed, the engine's counts before and after tell how many rows were deleted."""
    found: Counter[str] = Counter()
    counts = {(name, snapshot.id): rows for name, snapshot, rows in list_iceberg()}
    for name, snapshot, rows in list_iceberg():
        deleted, before = snapshot.newly_deleted, counts.get((name, snapshot.parent_id))
        if before is None or deleted is None:
            continue
        figures = snapshot.figures
        gone = before + (figures.added_rows or 0) - (figures.removed_rows or 0) - rows
        if figures.removed_files:
            continue  # some of the rows of these were deleted before
        assert deleted.least <= gone and (deleted.most is None or gone <= deleted.most), (name, snapshot)
        found["none" if not gone else "exact" if deleted.exact is not None else "bounded"] += 1
    assert found["exact"] >= 8 and found["bounded"] >= 30 and found["none"] >= 60


def test_live_rows_of_paimon_are_those_that_the_engine_reads() -> None:
    kinds = Counter(compare(snapshot.known_live_rows, rows) for _, snapshot, rows in list_paimon())
    assert kinds == {"nothing deleted": 144, "deleted": 9, "shared": 5, "bounded": 115}


def test_rows_that_vectors_of_paimon_delete_are_those_of_the_vectors() -> None:
    found = 0
    for lake in paimon_lakes.list_lakes():
        if "deletion-vectors" not in lake.name:
            continue
        table = lake.open()
        before: dict[str, set[int]] = {}
        for snapshot in table.snapshots:
            after = {name: set(match.positions) for name, match in snapshot.deletion_vectors.items()}
            rows = sum(len(positions - before.get(name, set())) for name, positions in after.items())
            assert snapshot.newly_deleted == Amount(rows, rows), (lake.name, snapshot)
            found += rows > 0
            before = after
    assert found >= 10


def test_no_manifest_is_read_for_it() -> None:
    for place in ("spark/iceberg/v3-merge-on-read", "spark/paimon/append-deletion-vectors"):
        table = ll.open(LAKES / place / "table")
        assert table.current is not None and table.current.known_live_rows.count is not None
        assert table.current.newly_deleted is not None
        assert not any(
            "manifest-" in path.rsplit("/", 1)[-1] for path in table.reads.paths if "index" not in path
        )
        assert not any("snap-" in path or "-m0" in path for path in table.reads.paths)


def test_rows_that_were_counted_are_told_exactly() -> None:
    current = ll.open(LAKES / "spark/iceberg/v2-merge-on-read" / "table").current
    assert current is not None and current.known_live_rows.count is None
    assert current.live_record_count == current.known_live_rows.count == 17


def test_a_summary_that_counts_nothing_proves_nothing() -> None:
    assert read_figures({"operation": "append"}).deleted is None
    assert read_figures({}).deleted is None
    replaced = {"operation": "replace", "added-position-deletes": "5"}
    assert read_figures(replaced).deleted == Amount(0, 0), "rows stay as they are"
    by_file = {"operation": "delete", "total-records": "9", "added-position-deletes": "5"}
    assert read_figures(by_file | {"added-delete-files": "1"}).deleted == Amount(0, 5)
    by_vector = by_file | {"added-delete-files": "1", "added-dvs": "1", "removed-position-deletes": "2"}
    assert read_figures(by_vector).deleted == Amount(3, 3)
    assert read_figures(by_vector | {"added-equality-deletes": "1"}).deleted == Amount(3, None)
