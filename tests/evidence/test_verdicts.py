"""Verdicts are claims: what rules a file out, what keeps a limit, what is as recorded; each decided again from the files."""

from __future__ import annotations

import copy
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.answers.question import load_questions
from lakelens.evidence.gathering import describe_evidence, gather_answer
from tests.evidence.checker import Files, check_all, check_claim, find_steps

SAMPLES = list(ll.sample().keys())
#: Where some files are ruled out by what is not cited: names of columns in files, buckets and times of partitions,
#: statistics of version 4, columns that files do not have.
GAPS = ("delta-column-mapping", "iceberg-planning", "iceberg-v4", "paimon-evolution")


def ask(table: Any, name: str, **options: Any) -> dict[str, Any]:
    """An answer's claims with all of their places, supported by the files."""
    evidence = gather_answer(table, load_questions()[name], table.ask(name, **options))
    described: dict[str, Any] = json.loads(json.dumps(describe_evidence(evidence)))
    assert not check_all(Path(table.location), described)
    return described


def list_verdicts(described: dict[str, Any]) -> list[dict[str, Any]]:
    return [claim for claim in described["claims"] if "rule" in claim]


def list_predicates(table: Any) -> list[str]:
    """Comparisons of each plain column with a value that stands in the middle of its bounds."""
    predicates = []
    for field in table.schema:
        bounds = [file.bounds.get(field.name) for file in table.files]
        values = sorted(bound.upper for bound in bounds if bound is not None and bound.upper is not None)
        if field.type.logical not in ("int32", "int64", "string", "date") or not values:
            continue
        value = values[len(values) // 2]
        quoted = f"'{value}'" if isinstance(value, str) else str(value)
        literal = quoted if not hasattr(value, "isoformat") else f"DATE '{value}'"
        name = field.name if field.name.isidentifier() else f"`{field.name}`"
        tests = ("=", "<", "<=", ">", ">=")
        predicates += [f"{name} {test} {literal}" for test in tests]
        predicates += [f"{name} IN ({literal}, {literal})", f"{name} IS NULL", f"{name} IS NOT NULL"]
        predicates += [f"{name} > {literal} OR {name} IS NULL"]
    return predicates


@pytest.mark.exhaustive(keep=6)
@pytest.mark.parametrize("name", SAMPLES)
def test_what_rules_a_file_out_is_a_comparison_that_was_asked(name: str) -> None:
    """Every file that is not read has a comparison of the predicate, and a value in the files that rules it out."""
    table = ll.sample(name)
    if table.current is None or not table.snapshots:
        return
    for predicate in list_predicates(table):
        found = table.explain(predicate)
        described = ask(table, "explain", where=predicate)
        decided: dict[str, set[tuple[str, str]]] = {}
        for claim in list_verdicts(described):
            words = re.sub(r"CAST\(('[^']*') AS DATE\)", r"DATE \1", claim["rule"]["words"])
            assert words in predicate
            if "not read" in claim["says"]:
                about = claim["about"].rpartition(" ")[0]
                decided.setdefault(about, set()).add((claim["rule"]["words"], claim["value"]))
        terms = [] if name in GAPS or " IN (DATE" in predicate else predicate.split(" OR ")
        for item in found.list_items():
            if item["level"] == "file" and item["reason"] in ("bounds", "partition", "nulls"):
                said = decided.get(item["path"].rpartition("/")[2], set())
                if item["decision"] == "skipped":
                    assert all((term, "ruled out") in said for term in terms), (predicate, item, said)


def test_every_measure_that_has_places_has_its_verdict() -> None:
    said: dict[str, set[str]] = {}
    for name in SAMPLES:
        table = ll.sample(name)
        verdicts = {measure.name: measure.verdict for measure in table.health().measures}
        for claim in list_verdicts(ask(table, "health")):
            assert claim["value"] == verdicts[claim["says"]]
            said.setdefault(claim["says"], set()).add(claim["value"])
    assert {"manifests", "age of the oldest snapshot", "deleted rows, worst file"} <= set(said)
    assert {"metadata.json, size", "commits since the last checkpoint", "checkpoint, size"} <= set(said)
    assert "act" in said["deleted rows, worst file"]


@pytest.mark.parametrize(
    ("name", "where"), [("iceberg", "id > 15 AND p = 1"), ("paimon", "id > 3"), ("delta", "id > 3")]
)
def test_a_doctored_rule_is_unsupported(name: str, where: str) -> None:
    table = ll.sample(name)
    files = Files(Path(table.location))
    doctored = 0
    for claim in (
        *list_verdicts(ask(table, "explain", where=where)),
        *list_verdicts(ask(table, "health")),
        *list_verdicts(ask(table, "check")),
    ):
        other = {"<": "≥", "≥": "<", "≤": ">", ">": "≤", "=": "≠", "≠": "="}[claim["rule"]["sense"]]
        limit = claim["rule"]["limit"]
        changes: list[tuple[str, Any]] = [("sense", other), ("limit", limit + 1 if limit != "c" else "zz")]
        changes += [("kept", "sound"), ("of", "nobody")]
        for key, value in changes:
            wrong = copy.deepcopy(claim)
            wrong["rule"][key] = value
            assert check_claim(files, wrong), (key, wrong)
            doctored += 1
        turned = {claim["rule"]["kept"], claim["rule"]["broken"]} - {claim["value"]}
        assert check_claim(files, {**claim, "value": turned.pop()})
        assert check_claim(files, {**claim, "figure": -7})
    assert doctored > 20


@pytest.mark.parametrize("name", ["iceberg", "paimon", "delta"])
def test_what_differs_is_said_with_both_figures(name: str, tmp_path: Path) -> None:
    folder = ll.sample()[name].unpack(tmp_path)
    victim = Path(ll.open(folder).files[0].path)
    size = victim.stat().st_size
    victim.write_bytes(victim.read_bytes() + b"more")
    table = ll.open(folder)
    differing = [claim for claim in list_verdicts(ask(table, "check")) if claim["value"] == "differs"]
    (claim,) = (claim for claim in differing if claim["says"] == "size_bytes of the file")
    assert (claim["figure"], claim["rule"]["limit"], claim["about"]) == (size + 4, size, victim.name)
    assert next(place["path"] for place in claim["evidence"]) == "length"


def test_rows_of_a_snapshot_are_those_of_its_files(tmp_path: Path) -> None:
    folder = ll.sample()["paimon"].unpack(tmp_path)
    newest = max((folder / "snapshot").glob("snapshot-*"), key=lambda path: int(path.name[9:]))
    document = json.loads(newest.read_text())
    newest.write_text(json.dumps({**document, "totalRecordCount": document["totalRecordCount"] + 2}))
    (claim,) = (
        claim
        for claim in list_verdicts(ask(ll.open(folder), "check"))
        if claim["says"] == "record_count of the snapshot"
    )
    assert (claim["value"], claim["rule"]["limit"] - claim["figure"], claim["how"]) == ("differs", 2, "sum")


def decode_row(data: bytes, number: int, kind: str) -> tuple[Any, tuple[int, int]]:
    """A field of a BinaryRow, and where its bytes are, as the specification has it; `kind` is int, long or text."""
    arity = struct.unpack(">i", data[:4])[0]
    row = data[4:]
    head = ((arity + 63 + 8) // 64) * 8
    assert not row[1 + number // 8] >> (number % 8) & 1
    start = head + 8 * number
    if kind != "text":
        width = {"int": 4, "long": 8}[kind]
        return int.from_bytes(row[start : start + width], "little", signed=True), (
            start + 4,
            start + 4 + width,
        )
    slot = row[start : start + 8]
    if slot[7] & 0x80:
        length = slot[7] & 0x7F
    else:
        length, start = struct.unpack("<ii", slot)
    return row[start : start + length].decode(), (start + 4, start + 4 + length)


@pytest.mark.parametrize(
    ("name", "where"),
    [("paimon", "id > 3 AND name = 'c'"), ("paimon-deletion-vectors", "p = 'a' AND id < 4")],
)
def test_bounds_in_binary_rows_are_where_they_are_cited(name: str, where: str) -> None:
    """By a decoder of its own, and the numbers of columns in the schema file: what is cited is the column's value."""
    table = ll.sample(name)
    root = Path(table.location)
    schema = json.loads(max((root / "schema").glob("schema-*")).read_text())
    columns = [field["name"] for field in schema["fields"]]
    types = {field["name"]: field["type"].partition(" ")[0] for field in schema["fields"]}
    kinds = {"INT": "int", "BIGINT": "long", "STRING": "text"}
    files, seen = Files(root), 0
    for claim in list_verdicts(ask(table, "explain", where=where)):
        (place, *_) = claim["evidence"]
        if not place["path"].endswith("]") or "[" not in place["path"][3:] or "_NULL" in place["path"]:
            continue
        *steps, taken = find_steps(place["path"])
        row: Any = files.records(place["file"])
        for step in steps:
            row = row[step]
        column = claim["about"].rpartition(" ")[2]
        listed = schema["partitionKeys"] if steps[-1] == "_PARTITION" else columns
        value, where_it_is = decode_row(row, listed.index(column), kinds[types[column]])
        assert (value, where_it_is) == (claim["figure"], (taken.start, taken.stop))
        assert place["at"][1] - place["at"][0] == taken.stop - taken.start
        seen += 1
    assert seen >= 4
