"""The rows that lakelens says are deleted, against the positions and the rows that Paimon itself reads."""

from __future__ import annotations

from collections import Counter

import pytest

from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from tests.support.paimon_lakes import Lake, list_lakes, word_json

# every third case of each is in `make test`
pytestmark = pytest.mark.exhaustive(keep=3)

LAKES = list_lakes()
DELETING = [lake for lake in LAKES if "deletion-vectors" in lake.name]

each_lake = pytest.mark.parametrize("lake", LAKES, ids=lambda lake: lake.name)
each_deleting = pytest.mark.parametrize("lake", DELETING, ids=lambda lake: lake.name)


def data_files(snapshot: PaimonSnapshot) -> list[PaimonDataFile]:
    return [file for file in snapshot.files if isinstance(file, PaimonDataFile)]


def test_both_versions_of_the_bitmap_are_there() -> None:
    magics = {
        match.file.raw["_FILE_NAME"] and table.context.store.read(match.file.path)[5:9].hex()
        for lake in DELETING
        for table in [lake.open()]
        for snapshot in table.snapshots
        for match in snapshot.deletion_vectors.values()
    }
    assert magics == {"5e43f2d0", "d1d33964"}


@each_lake
def test_positions_of_every_vector_are_those_that_the_engine_reads(lake: Lake) -> None:
    for table, said in lake.views():
        for number, rows in said.get("index_entries_by_snapshot", {}).items():
            snapshot = table.snapshot(int(number))
            theirs = {
                v["dataFileName"]: v["positions"] for row in rows or [] for v in row["deletionVectors"] or []
            }
            assert {n: list(m.positions) for n, m in snapshot.deletion_vectors.items()} == theirs
            assert {
                f.file_name: list(f.deleted_positions) for f in data_files(snapshot) if f.deletes
            } == theirs
            assert snapshot.dangling_deletes == ()


@each_deleting
def test_rows_that_are_left_are_the_rows_that_the_engine_reads(lake: Lake) -> None:
    """Files read as they are stored, without the positions of their vectors; what no batch reader sees left out."""
    table = lake.open()
    current = table.current
    assert current is not None
    columns = table.context.schema.columns
    keyed = bool(table.context.schema.primary_keys)
    ours: Counter[str] = Counter()
    for file in data_files(current):
        if keyed and not file.level:
            continue
        rows = file.preview(1_000_000).select([column.name for column in columns]).to_pylist()
        deleted = file.deleted_positions
        ours.update(
            str({c.name: word_json(row[c.name], c.type) for c in columns})
            for position, row in enumerate(rows)
            if position not in deleted
        )
        assert keyed or file.live_record_count == len(rows) - len(deleted)
    assert ours == Counter(str({c.name: row[c.name] for c in columns}) for row in lake.answers["rows"])


@each_lake
def test_live_rows_are_as_many_as_the_engine_reads_where_they_can_be_told(lake: Lake) -> None:
    """The count of `SELECT *`; None only for tables whose keys must be merged, with the reason in words."""
    for table, said in lake.views():
        current = table.current
        rows = said.get("rows")
        if current is None or not isinstance(rows, list):
            continue
        counted = current.count_live_rows()
        if counted.count is None:
            assert counted.reason.startswith("rows of a primary-key table are merged by key"), counted.reason
            assert table.context.schema.primary_keys
        else:
            assert counted.count == len(rows), counted.reason
        if counted.at_least is not None and counted.at_most is not None:
            assert counted.at_least <= len(rows) <= counted.at_most


@each_lake
def test_live_rows_of_older_snapshots(lake: Lake) -> None:
    table = lake.open()
    for number, count in lake.answers.get("row_count_at", {}).items():
        live = table.snapshot(int(number)).live_record_count
        assert live is None or live == count
