"""Planted damage: a check finds each kind, names the file and the place, and everything else is still answered."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.model.table import Table
from tests.analysis.check.damage import KINDS, Kind
from tests.support import LAKES
from tests.support.damage import Hive, Iceberg, Lake, Paimon

LEAST = 40


def open_lake(kind: Kind, root: Path) -> Lake:
    made: type[Lake] = Iceberg if "/iceberg/" in kind.lake else Hive if "/hive/" in kind.lake else Paimon
    return made(root)


def test_there_are_many_kinds() -> None:
    assert len(KINDS) >= LEAST


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", sorted(KINDS))
def test_planted_damage_is_found(name: str, tmp_path: Path) -> None:
    kind = KINDS[name]
    root = tmp_path / "table"
    shutil.copytree(LAKES / kind.lake / "table", root)
    kind.damage(open_lake(kind, root))
    table = ll.open(root)
    check = table.check(data=kind.data)
    found = [one for one in check.findings if one.code == kind.code and kind.path in one.path]
    assert found, [(one.severity, one.code, one.path, one.message) for one in check.findings]
    assert any(kind.says in one.message for one in found), [one.message for one in found]
    assert any(one.severity == kind.severity for one in found)
    assert check.ok == (kind.severity != "error") or any(one.severity == "error" for one in check.findings)
    assert check.verdict != "sound"
    assert check.has_differences or kind.severity == "warning"
    check_that_the_rest_answers(table, check)


def check_that_the_rest_answers(table: Table, check: Any) -> None:
    """Every view of the check and of the table is drawn, and files of other snapshots are read."""
    assert "ERROR" in str(check) or "WARNING" in str(check)
    assert "<table" in check._repr_html_()
    assert check.to_text(3)
    assert table._repr_html_()
    assert str(table)
    affected = {number for found in check.findings for number in found.snapshots}
    for snapshot in table.snapshots:
        if snapshot.id not in affected:
            assert len(snapshot.files) >= 0
            for file in snapshot.files[:1]:
                assert file.preview(1) is not None
    for snapshot in table.snapshots:
        try:
            snapshot.files.to_arrow()
        except LakeError as error:
            assert error.path
