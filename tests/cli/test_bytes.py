"""`lakelens bytes` on files that engines wrote."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

import lakelens as ll
from lakelens.cli.commands import commands
from lakelens.codecs.kinds import KINDS
from lakelens.errors import LakeError, Missing
from tests.support import LAKES

MANIFEST = min((LAKES / "spark/paimon/pk-types/table/manifest").glob("manifest-[0-9a-f]*-0"))
INDEX = min((LAKES / "paimon-java/2.0.0-pk-deletion-vectors/table/index").glob("index-*"))
PUFFIN = min((LAKES / "spark/iceberg/v3-merge-on-read/table/data").rglob("*.puffin"))


def invoke(*arguments: str) -> Result:
    return CliRunner().invoke(commands, ["bytes", *arguments])


def read(*arguments: str) -> str:
    result = invoke(*arguments)
    assert result.exit_code == 0, result.output
    return result.stdout


def walk(span: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield span
    for child in span["children"]:
        yield from walk(child)


def test_a_manifest_is_explained() -> None:
    text = read(str(MANIFEST))
    assert text.startswith(f"Manifest: {MANIFEST.stat().st_size:,} bytes")
    assert "4f 62 6a 01" in text
    assert "avro.schema" in text
    assert "_FILE_NAME" in text


def test_a_file_without_a_magic_is_told_by_its_table() -> None:
    text = read(str(INDEX))
    assert "CRC-32" in text
    assert "data-" in text, "only the index manifest knows the data file"


def test_the_structure_around_a_byte() -> None:
    size = PUFFIN.stat().st_size
    text = read(str(PUFFIN), "--at", str(size - 12))
    assert text.splitlines()[0].startswith("footer")
    assert read(str(PUFFIN), "--at", hex(size - 12)) == text
    assert read(str(PUFFIN), "--at", "0") == read(str(PUFFIN))


def test_detail_0_is_one_line_and_3_the_most() -> None:
    texts = [read(str(PUFFIN), "-d", str(detail)) for detail in range(4)]
    assert texts[0].count("\n") == 1
    assert len(texts[1]) <= len(texts[2]) <= len(texts[3])


def test_json_tells_every_byte() -> None:
    told = json.loads(read(str(PUFFIN), "--json", "-d", "3"))
    spans = list(walk(told["root"]))
    leaves = [span for span in spans if not span["children"] and span["end"] > span["start"]]
    position = 0
    for leaf in leaves:
        assert leaf["start"] == position
        position = leaf["end"]
    assert position == PUFFIN.stat().st_size
    assert told["file"] == str(PUFFIN)
    assert {"label": "magic", "value": b"PFA1".hex()}.items() <= leaves[0].items()


@pytest.mark.parametrize("depth", [0, 1, 2])
def test_json_is_as_deep_as_asked(depth: int) -> None:
    def measure(span: dict[str, Any]) -> int:
        return max((1 + measure(child) for child in span["children"]), default=0)

    assert measure(json.loads(read(str(PUFFIN), "--json", "-d", str(depth)))["root"]) == depth


def test_the_kind_can_be_given() -> None:
    result = invoke(str(MANIFEST), "--kind", "roaring64")
    assert result.stdout.startswith("roaring64: ")
    assert result.exit_code == 1, "a manifest is no bitmap"


@pytest.mark.parametrize(
    "arguments",
    [
        ["/nowhere/at/all"],
        [str(LAKES)],
        [str(PUFFIN), "--at", "1000000"],
        [str(PUFFIN), "--at=-1"],
        [str(PUFFIN), "--kind", "poetry"],
        [str(PUFFIN), "--kind", "iceberg_value"],
    ],
)
def test_a_users_mistake_is_one_line_and_status_2(arguments: list[str]) -> None:
    command = [sys.executable, "-m", "lakelens.cli", "bytes", *arguments]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert result.returncode == 2
    assert result.stdout == ""
    assert len(result.stderr.splitlines()) == 1
    assert result.stderr.startswith(f"lakelens: {arguments[0]}")


def test_an_offset_that_is_no_number_is_refused() -> None:
    assert invoke(str(PUFFIN), "--at", "end").exit_code == 2


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_survives_a_file_that_is_something_else(kind: str) -> None:
    for path in (PUFFIN, MANIFEST):
        try:
            explanation = ll.explain_file(path, kind)
        except ValueError as error:
            assert KINDS[kind].needs, error
            continue
        assert sum(len(leaf) for leaf in explanation.leaves()) == path.stat().st_size
        assert str(explanation)
        assert explanation._repr_html_().startswith('<div class="ll-root"')


def test_files_of_a_damaged_table_are_still_explained(tmp_path: Path) -> None:
    root = tmp_path / "table"
    (root / "manifest").mkdir(parents=True)
    (root / "snapshot").mkdir()
    (root / "schema").mkdir()
    (root / "schema" / "schema-0").write_text("{")
    (root / "snapshot" / "snapshot-1").write_text("[]")
    copied = root / "manifest" / MANIFEST.name
    copied.write_bytes(MANIFEST.read_bytes()[:-40])
    result = invoke(str(copied))
    assert "ERROR" in result.stdout
    assert result.exit_code == 1
    assert result.stderr.startswith(f"lakelens: {copied}: damaged: ERROR at ")
    assert len(result.stderr.splitlines()) == 1
    with pytest.raises(LakeError):
        ll.explain_file(copied).check()


def test_a_file_that_is_gone_is_missing() -> None:
    with pytest.raises(Missing):
        ll.explain_file("/nowhere/m0.avro")
