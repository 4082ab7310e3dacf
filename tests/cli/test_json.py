"""`--json` of every verb on every sample and on engine-written tables of each format: valid, and exact."""

from __future__ import annotations

import json
import os
from datetime import date, datetime, time
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from jsonschema import Draft202012Validator

import lakelens as ll
from lakelens.cli.commands import VERBS
from tests.support import LAKES
from tests.support.documents import SCHEMAS, invoke, make_validator, read_document

SAMPLES = [one.name for one in ll.sample()]
TABLE_VERBS = (
    "show",
    "snapshots",
    "manifests",
    "files",
    "history",
    "schema",
    "refs",
    "findings",
    "check",
    "space",
    "health",
    "tree",
    "map",
)
_STEP = 1 if os.environ.get("LAKELENS_EVERY_LAKE", "") not in ("", "0") else 5


def choose_lakes() -> list[Path]:
    """A good dozen of each format; LAKELENS_EVERY_LAKE=1 takes all of them."""
    found: list[Path] = []
    for place in ("spark/hive", "spark/iceberg", "spark/paimon", "paimon-java"):
        tables = sorted(path for path in (LAKES / place).glob("**/table") if path.is_dir())
        found += tables[:: max(1, min(_STEP, len(tables) // 13))]
    return [path for path in found if path.parent.name != "view"]


def check_every_verb(path: str, page: Path | None) -> None:
    """Each verb's document on one table."""
    told = {verb: read_document(verb, path) for verb in TABLE_VERBS}
    assert read_document("schema", path, "--all")["schemas"]
    table = told["show"]["table"]
    for verb in TABLE_VERBS:
        assert told[verb]["table"]["name"] == table["name"], verb
    answer = read_document("explain", path, "TRUE")
    assert answer["totals"]["kept"] == answer["totals"]["snapshot"]
    assert read_document("row", path, "FALSE")["versions"] == []
    assert read_document("compare", path, path)["same"]
    first = next((snapshot["id"] for snapshot in told["snapshots"]["snapshots"]), None)
    if table["format"] == "iceberg" and first is not None:
        tried = ("--base", str(first), "--theirs", str(first), "--operation", "append")
        assert read_document("conflict", path, *tried)["outcome"] == "passes"
    if path.endswith("/iceberg"):  # the sample
        asked = ("-w", "id = 3", "-w", "id > 15")
        assert 0 < read_document("what-if", path, "sort by id", *asked, "--sample", "9")["sampled_rows"] <= 9
        assert read_document("advise", path, *asked, "--sample", "9")["layouts"]
    (count,) = read_document("sql", path, "SELECT count(*) AS files FROM files")["rows"]
    assert count["files"] == len(told["files"]["files"])
    for file in told["files"]["files"][:1]:
        life = read_document("biography", path, file["path"])
        assert life["is_live"]
        assert life["file"]["path"] == file["path"]
    listed = read_document("dry-run", path)["procedures"]
    if listed and table["format"] == "iceberg":
        read_document("dry-run", path, "expire_snapshots", "-o", "older_than=2100-01-01")
    ids = [snapshot["id"] for snapshot in told["snapshots"]["snapshots"]]
    assert len(ids) == told["show"]["snapshot_count"]
    if ids:
        read_document("show", path, "-s", str(ids[-1]))
        read_document("diff", path, "nothing", str(ids[0]))
        diff = read_document("diff", path, str(ids[-1]), str(ids[0]))
        assert diff["summary"]["added_files"] == len(diff["added"])
    listed = [manifest for one in told["manifests"]["manifest_lists"] for manifest in one["manifests"]]
    for manifest in listed[:1]:
        read_document("bytes", manifest["path"])
    if page is not None:
        reported = read_document("bug", path, str(page.with_name("report.zip")))["files"]
        assert reported[0]["name"] == "README.md"
        assert read_document("html", path, str(page))["size_bytes"] == page.stat().st_size


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("name", SAMPLES)
def test_every_verb_on_every_sample(name: str, tmp_path: Path) -> None:
    check_every_verb(str(ll.sample()[name].unpack(tmp_path)), tmp_path / "page.html")


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("path", choose_lakes(), ids=lambda path: str(path.parent.relative_to(LAKES)))
def test_verbs_on_engine_written_tables(path: Path) -> None:
    check_every_verb(str(path), None)


def test_samples_find_and_watch(tmp_path: Path) -> None:
    assert [one["name"] for one in read_document("samples")["samples"]] == SAMPLES
    (copied,) = read_document("samples", "paimon", str(tmp_path))["samples"]
    table = Path(copied["path"])
    (found,) = read_document("find", str(tmp_path))["tables"]
    assert found["path"] == str(table)
    command = ["--", "touch", str(table / "bucket-0" / "data-left-behind-0.parquet")]
    watched = read_document("watch", "--json", str(table), *command)
    assert [(file["relative_path"], file["state"]) for file in watched["files"]] == [
        ("bucket-0/data-left-behind-0.parquet", "created")
    ]


def test_there_is_a_schema_for_every_verb_and_each_is_one() -> None:
    named = {verb.name for verb in VERBS if any("--json" in option.opts for option in verb.params)}
    kept = {path.stem for path in SCHEMAS.glob("*.json")} - {"common"}
    assert named == kept | (named & {"inventory"})
    for path in SCHEMAS.glob("*.json"):
        Draft202012Validator.check_schema(json.loads(path.read_text("utf-8")))


def test_a_schema_refuses_what_it_should() -> None:
    document = read_document("refs", "sample:iceberg-branches")
    document["refs"][0]["snapshot_id"] = str(document["refs"][0]["snapshot_id"])
    assert not make_validator("refs").is_valid(document)
    assert not make_validator("refs").is_valid({**read_document("refs", "sample:hive"), "more": 1})


@pytest.mark.parametrize("name", ["hive", "iceberg-types", "paimon", "iceberg-merge-on-read"])
def test_files_are_what_the_library_says(name: str) -> None:
    table = ll.sample(name)
    told = read_document("files", table.location)["files"]
    assert len(told) == len(table.files)
    for facts, file in zip(told, table.files, strict=True):
        assert facts["path"] == file.path
        assert facts["record_count"] == file.record_count
        assert facts["size_bytes"] == file.size_bytes
        for column, bounds in file.bounds.items():
            assert_same(facts["lower_bounds"][column], bounds.lower)
            assert facts["null_counts"][column] == bounds.nulls


def assert_same(told: Any, value: Any) -> None:
    """A value of the document against the value of the library, by text where JSON has no type."""
    if value is None or isinstance(value, bool | int):
        assert told == value
    elif isinstance(value, bytes):
        assert bytes.fromhex(told) == value
    elif isinstance(value, float):
        assert float(told) == value
    elif isinstance(value, Decimal):
        assert Decimal(told) == value
    elif isinstance(value, datetime):
        assert datetime.fromisoformat(told) == value
    elif isinstance(value, date | time):
        assert type(value).fromisoformat(told) == value
    else:
        assert told == str(value)


def test_64_bit_integers_are_numbers_with_all_digits() -> None:
    table = ll.sample("iceberg")
    text = invoke("snapshots", table.location, "--json").stdout
    for snapshot in table.snapshots:
        assert f'"id": {snapshot.id},' in text


def test_a_long_list_has_one_item_a_line() -> None:
    table = ll.sample("iceberg")
    lines = invoke("files", table.location, "--json", "--columns", "path,record_count").stdout.splitlines()
    told = [json.loads(line.rstrip(",")) for line in lines if line.startswith('{"path"')]
    assert [one["path"] for one in told] == [file.path for file in table.files]


def test_no_snapshot_yet() -> None:
    path = str(LAKES / "paimon-java/2.0.0-schema-only/table")
    for verb in TABLE_VERBS:
        read_document(verb, path)
        assert invoke(verb, path).exit_code == 0
