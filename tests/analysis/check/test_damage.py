"""Planted damage: a check finds each kind, names the file and the place, and everything else is still answered."""

from __future__ import annotations

import shutil
from importlib import import_module
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.model.table import Table
from tests.analysis.check import damage as kinds
from tests.support import LAKES
from tests.support.damage import Hive, Iceberg, Lake, Paimon

NAMES = sorted(module.name for module in iter_modules(kinds.__path__))
LEAST = 40


def open_lake(kind: Any, root: Path) -> Lake:
    made: type[Lake] = Iceberg if "/iceberg/" in kind.LAKE else Hive if "/hive/" in kind.LAKE else Paimon
    return made(root)


def test_there_are_many_kinds() -> None:
    assert len(NAMES) >= LEAST


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", NAMES)
def test_planted_damage_is_found(name: str, tmp_path: Path) -> None:
    kind: Any = import_module(f"{kinds.__name__}.{name}")
    root = tmp_path / "table"
    shutil.copytree(LAKES / kind.LAKE / "table", root)
    kind.damage(open_lake(kind, root))
    table = ll.open(root)
    check = table.check(data=getattr(kind, "DATA", False))
    found = [one for one in check.findings if one.code == kind.CODE and kind.PATH in one.path]
    assert found, [(one.severity, one.code, one.path, one.message) for one in check.findings]
    assert any(kind.SAYS in one.message for one in found), [one.message for one in found]
    severity = getattr(kind, "SEVERITY", "error")
    assert any(one.severity == severity for one in found)
    assert check.ok == (severity != "error") or any(one.severity == "error" for one in check.findings)
    assert check.verdict != "sound"
    assert check.has_differences or severity == "warning"
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
