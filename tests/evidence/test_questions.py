"""Rows, copies, conflicts and plans: what their answers claim is supported by the files of one place or of both."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.answers.question import load_questions
from lakelens.errors import LakeError
from lakelens.evidence.gathering import describe_evidence, gather_answer
from tests.evidence.checker import check_all

SAMPLES = list(ll.sample().keys())


def ask(table: Any, name: str, **options: Any) -> list[dict[str, Any]]:
    """An answer's claims with all of their places, supported by the files."""
    evidence = gather_answer(table, load_questions()[name], table.ask(name, **options))
    described = json.loads(json.dumps(describe_evidence(evidence)))
    assert not check_all(Path(table.location), described)
    return [*described["claims"], *described["quoted"]]


def list_values(claims: list[dict[str, Any]], says: str) -> dict[str, Any]:
    """What claims of a kind say, by what they are about."""
    return {claim["about"]: claim["value"] for claim in claims if claim.get("says") == says}


@pytest.mark.exhaustive(keep=8)
@pytest.mark.parametrize("name", SAMPLES)
def test_values_of_rows_stand_in_their_files(name: str) -> None:
    table = ll.sample(name)
    column = next((field.name for field in table.schema if field.type.logical in ("int32", "int64")), None)
    if column is None:
        return
    claims = ask(table, "row", where=f"{column} <= 3")
    values = [claim for claim in claims if "value of a column" in claim.get("says", claim.get("what"))]
    versions = table.row(f"{column} <= 3").versions
    read = [version for version in versions if version.file.endswith((".parquet", ".avro"))]
    if name not in ("delta-column-mapping", "iceberg-v4", "paimon-blob"):
        assert len({claim["about"].rpartition(", ")[0] for claim in values}) == len(read)


@pytest.mark.exhaustive(keep=8)
@pytest.mark.parametrize("name", SAMPLES)
def test_what_a_procedure_would_delete_is_there(name: str) -> None:
    table = ll.sample(name)
    for procedure in table.procedures.values():
        required = [option.name for option in procedure.options if option.is_required]
        if required:
            continue
        try:
            plan = table.dry_run(procedure.name)
        except LakeError:
            continue
        described = describe_evidence(gather_answer(table, load_questions()["dry_run"], plan))
        assert not check_all(Path(table.location), json.loads(json.dumps(described))), procedure.name
        sizes = {claim["says"]: claim["value"] for claim in described["claims"]}
        if plan.deletes:
            assert sizes["files that would be deleted, number"] == len(plan.deletes)
            total = sum(file.size_bytes for file in plan.deletes)
            assert sizes["files that would be deleted, size_bytes"] == total


def test_a_file_that_is_gone_supports_no_plan(tmp_path: Path) -> None:
    """Each file that would be deleted is cited by its length: once one is gone, its claim and both totals fail."""
    folder = ll.sample()["iceberg"].unpack(tmp_path)
    table = ll.open(folder)
    plan = table.dry_run("expire_snapshots")
    evidence = gather_answer(table, load_questions()["dry_run"], plan)
    described = json.loads(json.dumps(describe_evidence(evidence)))
    assert not check_all(folder, described)
    sizes = list_values(described["claims"], "would be deleted, size_bytes")
    assert len(sizes) == len(plan.deletes) > 5
    Path(plan.deletes[0].path).unlink()
    assert len(check_all(folder, described)) == 3


@pytest.mark.parametrize("name", ["iceberg", "paimon", "delta", "hive"])
def test_a_copy_is_the_same_file_by_file(name: str, tmp_path: Path) -> None:
    table = ll.sample(name)
    claims = ask(table, "compare", other=ll.sample()[name].unpack(tmp_path))
    said = list_values(claims, "length in a and in b")
    assert len(said) == len(table.files)
    assert set(said.values()) == {"the same"}


@pytest.mark.parametrize("name", ["iceberg", "paimon-deletion-vectors", "delta-checkpoints"])
def test_what_a_copy_lacks_is_cited_in_both_places(name: str, tmp_path: Path) -> None:
    """A file that is gone, one that is longer, and one of other bytes: absence, lengths and digests say so."""
    table, folder = ll.sample(name), ll.sample()[name].unpack(tmp_path)
    gone, longer, other = (Path(file.path) for file in ll.open(folder).files[:3])
    gone.unlink()
    longer.write_bytes(longer.read_bytes() + b"x")
    data = bytearray(other.read_bytes())
    data[len(data) // 2] ^= 255
    other.write_bytes(bytes(data))
    claims = ask(table, "compare", other=folder, data=True)
    lost, long, changed = (str(path.relative_to(folder)) for path in (gone, longer, other))
    assert list_values(claims, "missing in b: no file is there") == {lost: True}
    assert list_values(claims, "length in a and in b") == {long: "different"}
    assert list_values(claims, "digest in a and in b") == {changed: "different"}
    assert list_values(claims, "size_bytes in b")[long] == list_values(claims, "size_bytes in a")[long] + 1


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("iceberg", {"base": "~3", "operation": "delete", "where": "p = 1"}),
        ("paimon", {"base": 2, "operation": "compaction"}),
    ],
)
def test_files_that_collide_are_cited_in_their_manifests(name: str, options: dict[str, Any]) -> None:
    table = ll.sample(name)
    conflict = table.conflict(**options)
    claims = ask(table, "conflict", **options)
    assert conflict.collisions
    sized = {
        claim["about"]: claim["value"]
        for claim in claims
        if claim.get("says", "").startswith("size_bytes of the file that collides")
    }
    assert sized == {file.path.rpartition("/")[2]: file.size_bytes for file in conflict.collisions}
    held = [claim for claim in claims if claim.get("says", "").startswith("a file that collides: ")]
    assert {claim["value"] for claim in held} == ({"not ruled out"} if "where" in options else set())
    moments = list_values(claims, "committed_at of the commit in between")
    assert set(moments) == {commit.snapshot_id for commit in conflict.between}
