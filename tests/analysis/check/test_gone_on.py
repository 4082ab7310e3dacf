"""A table that is opened before another writer commits, expires and deletes: no answer calls it damaged."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner

import lakelens as ll
from lakelens.cli.commands import commands
from lakelens.model.table import Table
from tests.support.advancing import WRITERS
from tests.support.unpacked import unpack_samples


def open_then_advance(name: str, place: Path) -> Table:
    root = place / name
    shutil.copytree(unpack_samples() / name, root)
    table = ll.open(root)
    assert table.find_newer() is None
    WRITERS[name](root)
    return table


@pytest.mark.parametrize("name", WRITERS)
def test_a_check_says_that_the_table_has_gone_on(name: str, tmp_path: Path) -> None:
    table = open_then_advance(name, tmp_path)
    check = table.check()
    assert check.newer is not None
    assert "the table has gone on: " in check.newer
    assert "may have expired since" in check.newer
    assert check.verdict == "gone on"
    assert not check.ok  # the newest state was not checked
    assert check.findings[0].code == "gone-on"
    assert {one.severity for one in check.findings} == {"note"}
    text = check.to_text(3)
    assert "damaged" not in repr(check)
    assert "amaged" not in text.splitlines()[0]
    assert "check the newest state" in text
    assert "cannot be read in full" not in text.split("├─")[0]
    assert ll.open(table.location).check().newer is None
    assert ll.open(table.location).check().ok


def ask_space(table: Table) -> object:
    return table.space()


def ask_health(table: Table) -> object:
    return table.health()


def ask_rows(table: Table) -> object:
    return table.row("id = 1")


def ask_plan(table: Table) -> object:
    return table.dry_run("expire_snapshots", older_than="2030-01-01")


@pytest.mark.parametrize("ask", [ask_space, ask_health, ask_rows, ask_plan])
@pytest.mark.parametrize("name", WRITERS)
def test_answers_say_so_too(name: str, ask: Callable[[Table], object], tmp_path: Path) -> None:
    text = str(ask(open_then_advance(name, tmp_path)))
    assert "The table has gone on: " in text


def test_an_explanation_says_so(tmp_path: Path) -> None:
    assert "The table has gone on: " in str(open_then_advance("iceberg", tmp_path).explain("id = 1"))


def test_a_listing_that_changed_is_one_of_the_past(tmp_path: Path) -> None:
    root = tmp_path / "hive"
    shutil.copytree(unpack_samples() / "hive", root)
    table = ll.open(root)
    file = Path(table.files[0].path)
    file.rename(file.with_name("000000_0_copy_7"))
    check = table.check()
    assert check.verdict == "gone on", check.to_text(1)
    assert ll.open(root).check().ok


def test_what_is_missing_of_the_newest_state_is_damage(tmp_path: Path) -> None:
    root = tmp_path / "iceberg"
    shutil.copytree(unpack_samples() / "iceberg", root)
    table = ll.open(root)
    Path(table.files[0].path).unlink()
    check = table.check()
    assert check.newer is None
    assert check.verdict == "damaged"


def test_the_terminal_does_not_say_damaged(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    table = open_then_advance("iceberg", tmp_path)
    monkeypatch.setattr("lakelens.opening.open_table", lambda *args, **options: table)
    for verb, *more in (("check",), ("files",), ("row", "id = 1")):
        result = CliRunner().invoke(commands, [verb, table.location, *more])
        assert result.exit_code == 1
        assert "the table has gone on" in result.stderr
        assert "damaged" not in result.stderr
