"""Each clause that is cited is a section of its specification: `clauses.json` has the sections by their headings."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

import lakelens
import lakelens as ll
from lakelens.evidence import nouns
from lakelens.evidence.gathering import gather

SECTIONS = json.loads((Path(__file__).parent / "clauses.json").read_text())
FORMATS = sorted(Path(lakelens.__file__).parent.glob("formats/*/places.toml"))


def is_known(clause: str) -> bool:
    """Whether a clause names sections of a specification: its title, then one or more of them."""
    title, _, named = clause.partition(", ")
    return bool(named) and all(
        section in SECTIONS.get(title, ()) for section in named.replace(", and ", ", ").split(", ")
    )


@pytest.mark.parametrize("path", FORMATS, ids=lambda path: path.parent.name)
def test_clauses_of_a_format_are_sections(path: Path) -> None:
    """Of each noun that stands in a document or a record; files themselves need no clause."""
    for noun, said in tomllib.loads(path.read_text()).items():
        if noun == "measures" or path.parent.name == "hive":
            continue
        assert is_known(said["clause"]), (noun, said["clause"])


@pytest.mark.parametrize("name", ["iceberg", "paimon", "delta"])
def test_clauses_that_are_cited_are_sections(name: str) -> None:
    table = ll.sample(name)
    claims = [*nouns.claim_table(table), *nouns.claim_files(table), *nouns.claim_manifests(table)]
    cited = gather(table, claims, parts=100).cited
    clauses = {place.clause for claim in cited for place in claim.citations}
    assert len(clauses) >= 3
    assert all(map(is_known, clauses)), clauses


def test_another_clause_is_no_section() -> None:
    assert not is_known("Iceberg table specification, Manifest Entries of Tomorrow")
    assert not is_known("Iceberg table specification")
    assert not is_known("Some specification, Manifests")
