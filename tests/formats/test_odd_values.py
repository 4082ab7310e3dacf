"""Values and names that documents and disks may hold, however odd: the table opens, shows itself and lists its files."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lakelens as ll
from lakelens.cli.commands import commands
from lakelens.options import display


def edit(folder: Path, pattern: str, **changes: Any) -> None:
    for path in folder.glob(pattern):
        path.write_text(json.dumps(json.loads(path.read_text()) | changes))


def show(table: ll.Table) -> str:
    with display.using(strict_views=True):
        return table.to_text(3) + table._repr_html_() + table.refs.to_text(2) + table.schemas.to_text(2)


@pytest.mark.parametrize("value", ["\ud800", "1e999", 2**63 - 1, -(2**63), None, [], {"a": "\udfff"}])
@pytest.mark.parametrize(
    "key", ["deltaRecordCount", "timeMillis", "schemaId", "totalRecordCount", "properties"]
)
def test_a_snapshot_of_paimon(key: str, value: Any) -> None:
    location = Path(ll.sample("paimon").location)
    edit(location, "snapshot/snapshot-*", **{key: value})
    table = ll.open(location)
    assert show(table) and all("view failed" not in found.message for found in table.findings)


@pytest.mark.parametrize("value", [2**63 - 1, -(2**63), "\ud800", None])
@pytest.mark.parametrize("key", ["timeMillis", "highestFieldId", "comment", "options"])
def test_a_schema_of_paimon(key: str, value: Any) -> None:
    location = Path(ll.sample("paimon").location)
    edit(location, "schema/schema-*", **{key: value})
    try:
        assert show(ll.open(location))
    except ll.errors.LakeError as error:
        assert error.path and "schema" in error.path


@pytest.mark.parametrize("retained", ["1e999", "1e999999", "-1", "\ud800", 10**30, "NaN", "Infinity"])
def test_a_tag_of_paimon(retained: Any) -> None:
    location = Path(ll.sample("paimon-tags").location)
    edit(location, "tag/tag-*", tagTimeRetained=retained, tagCreateTime=[2024, 1, 1, 1, 1])
    table = ll.open(location)
    assert "view failed" not in show(table) and len(table.refs) > 1


def test_names_that_are_not_utf8() -> None:
    location = ll.sample("hive").location
    some = next(Path(location).rglob("*.parquet"))
    folder = os.fsencode(location) + b"/dt=\xff\xfe/n=1"
    os.makedirs(folder)  # noqa: PTH103
    shutil.copy(some, folder + b"/part-\xff.parquet")
    table = ll.open(location)
    count = len(table.files)
    assert show(table) and table.files.to_arrow().num_rows == len(table.files.to_pandas()) == count
    assert sum(batch.num_rows for batch in table.files.batches()) == count
    for options in ([], ["--json"]):
        result = CliRunner().invoke(commands, ["files", location, *options])
        assert result.exit_code == 0, result.output
    assert "name-not-utf8" in {found.code for found in table.findings}
    assert any("\\xff" in path for path in table.files.to_arrow()["path"].to_pylist())


@pytest.mark.parametrize("name", ["hive", "iceberg", "paimon"])
def test_links_in_circles_are_not_followed(name: str) -> None:
    home = ll.sample(name)
    place, count = Path(home.location), len(home.files)
    (place / "x").mkdir()
    for link in "abc":
        (place / "x" / link).symlink_to(".")
        (place / link).symlink_to(place)
    (place / "up").symlink_to("..")
    table = ll.open(place)
    assert len(table.files) == count and len(list(table.list_files())) < 200
