"""The command line on engine-written tables."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import html5lib
import pytest
from click.testing import CliRunner
from rich.console import Console

from lakelens.cli.commands import commands
from lakelens.cli.demo import show_inserts
from tests.support.unpacked import unpack_samples

SAMPLES = unpack_samples()


def run(*arguments: str) -> str:
    result = CliRunner().invoke(commands, list(arguments), catch_exceptions=False)
    assert result.exit_code == 0
    return result.output


@pytest.mark.parametrize("name", ["hive", "iceberg", "paimon"])
def test_show_tree_and_html_of_each_format(name, tmp_path):
    table = str(SAMPLES / name)
    assert name in run("show", table).lower()
    assert "referred to by" in run("tree", table)
    page = tmp_path / "page.html"
    run("html", table, str(page))
    parsed = html5lib.HTMLParser(strict=True).parse(page.read_text("utf-8"))
    assert parsed is not None


def test_find_lists_the_samples():
    output = run("find", str(SAMPLES))
    assert all(folder.name in output for folder in sorted(SAMPLES.iterdir())[:20])  # as many as are shown


@pytest.mark.parametrize("path", ["/nowhere/at/all", str(Path(__file__).parent)])
def test_a_users_mistake_is_one_line_and_status_2(path):
    command = [sys.executable, "-m", "lakelens.cli", "show", path]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith("lakelens: ")
    assert path in result.stderr


@pytest.mark.spark
def test_the_demo_tells_what_one_insert_into_each_wrote(spark, tmp_path):
    output = io.StringIO()
    pages = show_inserts(spark, tmp_path, Console(file=output, width=200))
    text = output.getvalue()
    assert [page.name for page in pages] == ["hive.html", "iceberg.html", "paimon.html", "delta.html"]
    for page in pages:
        html5lib.HTMLParser(strict=True).parse(page.read_text("utf-8"))
    for told in (
        "parquet-mr",  # the Hive data file's footer
        "ParquetHiveSerDe",  # the metastore
        "$.current-snapshot-id",  # Iceberg's document, before and after
        "ADDED",
        "snapshot hint",
        "hash index",
        "role: base",
        "role: delta",
        "version 1 itself: what it adds and removes",
        '"operation":"WRITE"',  # an action of Delta's commit
        f"lakelens serve {tmp_path}/warehouse",  # how to go on
    ):
        assert told in text, told
    assert "view failed" not in text
