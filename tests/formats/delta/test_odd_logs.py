"""Odd, damaged and hostile logs, each a file: what is read of them, beside what deltalake and DuckDB read.

What each is about stands in `tests/lakes/delta/odd`; see `make_odd.py` there. Whatever a log holds, an answer about it
is given, or refused with a `LakeError`.
"""

from __future__ import annotations

import json
from base64 import b64decode
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import lakelens as ll
from lakelens.analysis.life.past import Past
from lakelens.analysis.life.tracing import gather_files
from lakelens.errors import LakeError
from tests.support import LAKES

LOGS = {path.stem: path for path in sorted((LAKES / "delta/odd").glob("*.json"))}
#: What engines refuse to read at all, and why; here what is damaged is a finding, and what is around it is read.
REFUSED = {
    "a damaged line, or a value that is none of its type, costs the whole log": {
        *("bom", "configuration-list", "huge-numbers", "no-partition-values", "not-objects", "not-utf8"),
        *("partition-nonsense", "statistics", "surrogates", "vector-odd"),
    },
    "a checkpoint has the types of the protocol, or is none": {
        f"checkpoint-{name}"
        for name in (
            "add-text",
            "dv-odd",
            "no-path",
            "parsed-odd",
            "parsed-types",
            "parts-ints",
            "parts-struct",
            "path-binary",
            "sidecar-escape",
            "sidecar-odd",
            "size-text",
            "stats-struct",
            "tags-text",
        )
    },
    "a decimal as partition value has to have all digits of its scale": {"partition-types"},
    "the schema is read before anything else": {
        "case",
        "mapping-without-names",
        "schema-none",
        "schema-odd",
        "types-unknown",
    },
    "what comes before a gap is not looked at": {"compacted", "gap"},
    "a hint is believed whatever is there": {"lying-hint", "only-a-hint"},
    "a log without protocol or metadata is none": {"no-head", "no-metadata", "no-protocol"},
    "rows may mean something else": {"feature-unknown", "reader-99"},
    "the catalog has to say which commits there are": {"catalog-managed"},
    "no file is there": {"empty-log", "missing-sidecar"},
}
#: What they list otherwise, and why.
DIFFERENT = {
    "paths are compared as they are written, and not by what they name": {
        "absolute",
        "dots",
        "encoded-otherwise",
    },
    "of a commit that adds and removes a file the first line counts, and not the last": {"same-commit"},
    "of a line the first action counts alone": {"two-kinds-of-file-a-line"},
}


def write_log(name: str, root: Path) -> dict[str, Any]:
    """Write a log below a directory, and give what is known of it."""
    case: dict[str, Any] = json.loads(LOGS[name].read_text("utf-8"))
    for place, held in case["files"].items():
        path = root / place
        path.parent.mkdir(parents=True, exist_ok=True)
        if isinstance(held, list):
            path.write_bytes("".join(json.dumps(line) + "\n" for line in held).encode())
        elif "base64" in held:
            path.write_bytes(b64decode(held["base64"]))
        else:
            path.write_bytes(held["text"].encode() if "text" in held else held["latin1"].encode("latin1"))
    return case


def read_log(root: Path) -> dict[str, Any]:
    """Read each version, and the partition values, bounds and vectors of its files."""
    try:
        table = ll.open(root)
    except LakeError as error:
        return {"error": str(error).replace(str(root), "…")}
    versions = {}
    for snapshot in table.snapshots:
        versions[str(snapshot.id)] = [file.recorded_path for file in snapshot.files]
        for file in snapshot.files:
            _ = file.partition, file.bounds, file.deletes
    codes = sorted({f"{finding.severity} {finding.code}" for finding in table.findings})
    return {"versions": versions, "findings": codes}


@pytest.mark.parametrize("name", LOGS)
def test_what_is_there_is_read(name: str, tmp_path: Path) -> None:
    """The files of each version, and what is said of the damage: nothing is empty in silence."""
    case = write_log(name, tmp_path)
    assert read_log(tmp_path) == case["expect"]


@pytest.mark.parametrize("name", LOGS)
def test_engines_list_the_same_files(name: str, tmp_path: Path) -> None:
    """Of the newest version; each difference has its cause, and is one."""
    case = write_log(name, tmp_path)
    versions = case["expect"].get("versions", {"0": []})
    ours = sorted(unquote(path) for path in versions[max(versions, key=int)])
    for engine, said in case["engines"].items():
        if any(name in names for names in REFUSED.values()):
            assert "error" in said, engine
        elif any(name in names for names in DIFFERENT.values()):
            assert said != ours, engine
        elif name != "percent" or engine != "duckdb":  # it takes %ZZ for some byte
            assert [unquote(path) for path in said] == [unquote(path) for path in ours], engine


@pytest.mark.parametrize("name", LOGS)
def test_files_of_all_versions_are_gathered(name: str, tmp_path: Path) -> None:
    """Each file that is live in a version is among those that `row` looks at, which reads each commit once."""
    write_log(name, tmp_path)
    try:
        table = ll.open(tmp_path)
    except LakeError:
        assert "error" in read_log(tmp_path)
        return
    gathered = {file.identity for file in gather_files(Past(table))}
    for snapshot in ll.open(tmp_path).snapshots:
        assert {file.identity for file in snapshot.files} <= gathered, snapshot


def list_answers(table: ll.Table) -> Iterator[Callable[[], Any]]:
    """List what can be asked of a table, and shown."""
    column = table.schema.fields[0].name if table.schema.fields else "id"
    yield table._repr_html_
    yield lambda: table.files.to_arrow()
    yield lambda: str(table.explain(f"{column} IS NOT NULL"))
    yield lambda: str(table.check(data=True))
    for ask in (table.health, table.space, table.timeline, table.map):
        yield lambda ask=ask: str(ask())  # type: ignore[misc]
    yield lambda: str(table.dry_run("vacuum"))
    yield lambda: [snapshot.changes._repr_html_() for snapshot in table.snapshots]
    yield lambda: [snapshot.bytes_view()._repr_html_() for snapshot in table.snapshots]
    yield lambda: [file.deleted_positions for file in table.files]
    yield lambda: [str(table.biography(file)) for file in table.files]
    yield lambda: str(table.row(f"{column} IS NULL"))


@pytest.mark.parametrize("name", LOGS)
def test_answers_are_given_or_refused_in_words(name: str, tmp_path: Path) -> None:
    """Nothing but a `LakeError` comes out, and few of them."""
    root = tmp_path / name
    write_log(name, root)
    try:
        table = ll.open(root)
    except LakeError:
        return
    refused = []
    for ask in list_answers(table):
        try:
            ask()
        except LakeError as error:
            refused.append(error)
    assert len(refused) <= 2, refused  # no predicate is about a table without columns
    table.skeleton(tmp_path / "skeleton")


def test_every_cause_is_of_a_log() -> None:
    """No cause names a log that there is not."""
    named = [name for names in (*REFUSED.values(), *DIFFERENT.values()) for name in names]
    assert sorted(named) == sorted({*named} & {*LOGS})
