"""One table by two formats: Iceberg tables that PyIceberg made of the data files of Delta and Paimon tables."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyiceberg.catalog.sql import SqlCatalog

import lakelens as ll
from tests.support import LAKES


class Mirror:
    """An Iceberg table in a directory of its own, of data files that are elsewhere."""

    def __init__(self, folder: Path, files: Sequence[Any]) -> None:
        catalog = SqlCatalog(
            "mirror", uri=f"sqlite:///{folder}/catalog.db", warehouse=f"file://{folder}/mirror"
        )
        catalog.create_namespace("db")
        self._table = catalog.create_table("db.t", schema=pq.read_schema(files[0].path))
        self.add(files)
        self.place = self._table.location().removeprefix("file://")

    def add(self, files: Sequence[Any]) -> None:
        """Add files."""
        self._table.add_files([file.path for file in files])


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A Delta table of three appends."""
    return Path(shutil.copytree(LAKES / "delta" / "rs" / "appends" / "table", tmp_path / "source"))


def test_a_mirror_shows_the_state_whose_files_it_has(source: Path, tmp_path: Path) -> None:
    table = ll.open(str(source))
    older, newest = table.snapshots[-2], table.snapshots[-1]
    mirror = Mirror(tmp_path, list(older.files))
    compared = ll.compare(str(source), mirror.place)
    assert (compared.verdict, compared.at, compared.behind, compared.ahead) == ("behind", older.id, 1, 0)
    assert {row.state for row in compared.rows} == {"SAME", "BEHIND"}
    turned = ll.compare(mirror.place, str(source))
    assert (turned.verdict, turned.at, turned.behind, turned.ahead) == ("behind", older.id, 0, 1)
    known = {file.path for file in older.files}
    mirror.add([file for file in newest.files if file.path not in known])
    for pair in ((str(source), mirror.place), (mirror.place, str(source))):
        compared = ll.compare(*pair)
        assert compared.same, compared.headline


def test_a_mirror_without_a_file_is_different_and_names_it(source: Path, tmp_path: Path) -> None:
    """The last file came with the last commit, the first one with the first: every state has it."""
    files = list(ll.open(str(source)).files)
    first = {file.path for file in ll.open(str(source)).snapshots[0].files}
    mirror = Mirror(tmp_path, [file for file in files if file.path not in first])
    compared = ll.compare(str(source), mirror.place)
    assert compared.verdict == "different" and compared.at is None
    (difference,) = compared.differences
    assert (difference.state, difference.side) == ("ONLY", "a")
    assert first == {f"{source}/{difference.relative_path}"}


def test_a_mirror_leaves_out_what_is_merged_when_it_is_read(tmp_path: Path) -> None:
    """Paimon's own export to Iceberg has the files of the highest level alone; here PyIceberg made such a table."""
    place = Path(
        shutil.copytree(LAKES / "maintenance" / "paimon" / "pk-levels" / "table", tmp_path / "source")
    )
    files = [file for file in ll.open(str(place)).files if file.content == "data"]
    highest = max(file.level for file in files)
    kept = [file for file in files if file.level == highest]
    assert 0 < len(kept) < len(files)
    mirror = Mirror(tmp_path, kept)
    compared = ll.compare(str(place), mirror.place)
    assert compared.at == ll.open(str(place)).current.id and compared.behind == 0
    assert {difference.relative_path for difference in compared.differences} == {
        file.path.rpartition("/")[2] for file in files if file.level != highest
    }
    assert "level" in compared.notes[0] and "b" in compared.notes[0]
