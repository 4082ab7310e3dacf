"""One number of live rows wherever a table shows one, and no figure of a summary that its manifests contradict."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from tests.support import LAKES


@pytest.mark.parametrize(
    ("name", "rows"), [("2.0.0-pk-deletion-vectors", 4), ("2.0.0-pk-deletion-vectors-bitmap64", None)]
)
def test_card_find_map_and_count_say_the_same_of_vectors_and_level_0(name: str, rows: int | None) -> None:
    place = LAKES / "paimon-java" / name / "table"
    counted = ll.open(place).current.live_rows.count  # type: ignore[union-attr]
    assert counted is not None and (rows is None or counted == rows)
    table = ll.open(place)
    assert table.current is not None and table.current.known_live_rows.count == counted
    card = str(ll.open(place)).splitlines()
    assert any(line.split()[:3] == ["live", "rows:", str(counted)] for line in card), card[:8]
    [found] = ll.find(place)
    assert found.outline.rows is not None and found.outline.rows.count == counted
    assert ll.open(place).map().total.startswith(f"{counted} = ")


def test_an_older_state_is_counted_exactly_once_its_files_were_read() -> None:
    table = ll.open(LAKES / "paimon-java" / "2.0.0-pk-deletion-vectors" / "table")
    older = table.snapshot(6)
    assert older.known_live_rows.count is None
    older.files.to_arrow()
    assert older.known_live_rows.count == older.live_rows.count == 4


@pytest.fixture
def liar(tmp_path: Path) -> Path:
    """An Iceberg table whose summary counts a tenth of what its manifests do."""
    place = tmp_path / "table"
    shutil.copytree(LAKES / "spark" / "iceberg" / "v2-basic" / "table", place)
    newest = max(place.glob("metadata/*.metadata.json"))
    document = json.loads(newest.read_text())
    for snapshot in document["snapshots"]:
        snapshot["summary"] |= {"total-records": "1", "total-data-files": "1"}
    newest.write_text(json.dumps(document))
    return place


def test_a_summary_that_lies_is_not_repeated(liar: Path) -> None:
    table: Any = ll.open(liar)
    files, rows = len(table.files), table.files.record_count
    assert files > 1 and rows > 1
    for shown in (str(ll.open(liar)), str(table), str(table.current)):
        facts = [line.strip() for line in shown.splitlines()[:9]]
        assert f"rows: {rows}  (the summary DIFFERS: 1)" in facts
        assert f"files: {files} data  (the summary DIFFERS: 1)" in facts
    [found] = ll.find(liar)
    assert (found.outline.files, found.outline.rows.count) == (files, rows)  # type: ignore[union-attr]
    assert table.map().total.startswith(f"{rows} = ")
    assert table.current.live_rows.count == rows
