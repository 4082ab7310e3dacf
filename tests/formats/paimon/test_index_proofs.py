"""File indexes of engine-written tables, asked about values that their files hold and about values that they do not."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.index_proofs import IndexProofs
from lakelens.model.stats import Term
from lakelens.opening import open_table
from tests.support import LAKES

TABLES = sorted(path / "table" for path in LAKES.glob("*/**/*file-index*") if (path / "table").is_dir())
TESTS: dict[str, Any] = {
    "=": lambda value, literal: value == literal,
    "!=": lambda value, literal: value != literal,
    "<": lambda value, literal: value < literal,
    "<=": lambda value, literal: value <= literal,
    ">": lambda value, literal: value > literal,
    ">=": lambda value, literal: value >= literal,
    "in": lambda value, literal: value == literal,
    "not in": lambda value, literal: value != literal,
}
#: The indexes of the tables that Paimon's Java core wrote: index by column.
JAVA = {"id": "bloom-filter", "name": "bloom-filter", "n": "bsi", "m": "range-bitmap", "t": "bitmap"}
KINDS = ("bitmap", "bsi", "range-bitmap")


def open_files(path: Any) -> list[PaimonDataFile]:
    table = open_table(str(path))
    files = [file for file in table.current.files if isinstance(file, PaimonDataFile)]
    assert files and all(IndexProofs(file).has_index for file in files)
    return files


def read_columns(file: PaimonDataFile) -> dict[str, list[Any]]:
    return file.preview(10_000).to_pydict()  # type: ignore[no-any-return]


def find_literals(values: list[Any]) -> list[Any]:
    """Those that are there, and others between, below and above them."""
    present = sorted({value for value in values if value is not None})
    if present and isinstance(present[0], str):
        others = ["", "~"] + [value + "x" for value in present]
    else:
        others = [-(10**6), 10**6, 0, -1] + [value + 1 for value in present]
    return [*present, *(value for value in others if value not in present)]


@pytest.mark.parametrize("path", TABLES, ids=lambda path: "-".join(path.parts[-3:-1]))
def test_what_is_proved_holds_of_the_rows(path: Any) -> None:
    proved = asked = 0
    for file in open_files(path):
        rows = read_columns(file)
        for field in file.context.schema.fields:
            values = rows[field.name]
            present = [value for value in values if value is not None]
            for literal in find_literals(values):
                for test, fits in TESTS.items():
                    found = file.find_index_proof(Term("", field.name, field.type, test, (literal,)))
                    is_none = not any(fits(value, literal) for value in present)
                    assert found is None or is_none, (field.name, test, literal, found)
                    if JAVA.get(field.name) in KINDS and "java" in str(path):
                        assert (found == JAVA[field.name]) == is_none, (field.name, test, literal)
                    asked, proved = asked + is_none, proved + (found is not None)
            for test, is_none in (("is null", len(present) == len(values)), ("is not null", not present)):
                found = file.find_index_proof(Term("", field.name, field.type, test))
                exact = JAVA.get(field.name) in KINDS and "java" in str(path)
                assert (found is not None) == is_none if exact else found is None
        assert not list(file.context.findings)
    assert proved > asked / 5


def test_bloom_filters_promise_a_rate() -> None:
    """One in ten of absent values may pass (`fpp` is 0.1)."""
    (path,) = (path for path in TABLES if path.parts[-3:-1] == ("paimon", "file-index-in-file"))
    for file in open_files(path):
        name = file.context.schema.field("name")
        absent = [f"absent {i}" for i in range(500)]
        found = [file.find_index_proof(Term("", "name", name.type, "=", (value,))) for value in absent]
        assert found.count("bloom-filter") > 400 and set(found) <= {None, "bloom-filter"}


def test_many_literals_are_excluded_together() -> None:
    (path,) = (path for path in TABLES if path.parts[-3:-1] == ("paimon-java", "2.0.0-file-index-embedded"))
    file = open_files(path)[0]
    present = [value for value in read_columns(file)["n"] if value is not None]
    number = file.context.schema.field("n").type
    absent = tuple(value for value in range(-50, 50) if value not in present)
    assert file.find_index_proof(Term("", "n", number, "in", absent)) == "bsi"
    assert file.find_index_proof(Term("", "n", number, "in", (*absent, present[0]))) is None
    assert file.find_index_proof(Term("", "n", number, "not in", tuple(present))) == "bsi"


def test_the_sample_has_proofs() -> None:
    table = ll.sample("paimon-file-index")
    kinds = set()
    for file in table.current.files:
        rows = read_columns(file)
        for field in table.schema.fields:
            for literal in find_literals(rows[field.name])[:50]:
                found = file.find_index_proof(Term("", field.name, field.type, "=", (literal,)))
                assert found is None or literal not in rows[field.name]
                kinds.add(found)
    assert len(kinds) > 1


def copy_with(path: Path, target: Path, change: Any) -> list[PaimonDataFile]:
    """A copy of a table whose index files are changed."""
    for source in path.rglob("*"):
        if source.is_file():
            place = target / source.relative_to(path)
            place.parent.mkdir(parents=True, exist_ok=True)
            data = source.read_bytes()
            place.write_bytes(change(data) if source.name.endswith(".index") else data)
    return open_files(target)


@pytest.mark.parametrize("place", [0, 9, 20, 60, 130, 170, 260, 300, 420, 500])
def test_damage_is_a_finding_and_no_false_proof_of_a_checked_fact(tmp_path: Path, place: int) -> None:
    """A flipped byte is an answer or a finding, never an exception; cut and missing files are findings."""
    (path,) = (path for path in TABLES if path.parts[-2] == "2.0.0-file-index-in-file")
    for file in copy_with(path, tmp_path, lambda data: data[:place] + b"\xff" + data[place + 1 :]):
        for field in file.context.schema.fields:
            literal = "a" if field.type.logical == "string" else 1
            file.find_index_proof(Term("", field.name, field.type, "=", (literal,)))


def test_cut_and_missing_indexes_are_findings(tmp_path: Path) -> None:
    (path,) = (path for path in TABLES if path.parts[-2] == "2.0.0-file-index-in-file")
    file = copy_with(path, tmp_path, lambda data: data[: len(data) // 3])[0]
    kinds = {field.name: field.type for field in file.context.schema.fields}
    assert file.find_index_proof(Term("", "m", kinds["m"], "=", (10**9,))) is None
    assert [one.path for one in file.context.findings] == [IndexProofs(file).path]
    Path(IndexProofs(file).path).unlink()
    file = open_files(tmp_path)[0]
    assert file.find_index_proof(Term("", "m", kinds["m"], "=", (10**9,))) is None
    assert [one.code for one in file.context.findings] == ["missing"]


def test_an_index_of_other_rows_proves_nothing(tmp_path: Path) -> None:
    """The index of the file of one row beside the file of three: an absent value could be in the others."""
    (path,) = (path for path in TABLES if path.parts[-2] == "2.0.0-file-index-in-file")
    by_rows = {file.row_count: Path(IndexProofs(file).path).read_bytes() for file in open_files(path)}
    files = copy_with(path, tmp_path, lambda data: by_rows[1])
    file = next(file for file in files if file.row_count == 3)
    field = file.context.schema.field("n")
    assert file.find_index_proof(Term("", "n", field.type, "=", (10**6,))) is None
    assert [one.code for one in file.context.findings] == ["corrupt"]


def test_no_index_no_proof() -> None:
    table = open_table(str(LAKES / "spark/paimon/append/table"))
    file = next(iter(table.current.files))
    field = table.schema.fields[0]
    assert file.find_index_proof(Term("", field.name, field.type, "=", (10**6,))) is None
    with pytest.raises(LakeError):
        file.file_index_view()
