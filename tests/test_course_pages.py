"""Pages of the course that scripts write: the glossary, and one page for each format to print."""

from __future__ import annotations

import doctest
import re

import pytest

from notebooks import glossary

TERMS = glossary.read_terms()


def test_the_glossary_is_what_its_script_writes() -> None:
    assert glossary.PAGE.read_text("utf-8") == glossary.write_page(), "stale: python -m notebooks.glossary"
    assert doctest.testmod(glossary).failed == 0


@pytest.mark.parametrize("name", TERMS)
def test_a_term_is_explained_in_a_sentence_or_two(name: str) -> None:
    term = dict(TERMS[name])
    also = term.pop("also", [])
    assert term.keys() <= {"text", *glossary.FORMATS}
    for text in term.values():
        assert text == text.strip() and text.endswith(".") and len(text) >= 10
        assert 1 <= len(re.findall(r"[.!?](?= [A-Z`]|$)", text)) <= 2, text
    assert len(also) == len(set(also)) and name not in also and all(also)


def test_no_name_is_in_the_glossary_twice() -> None:
    names = [glossary.sort_name(name)[0] for name in TERMS]
    assert len(names) == len(set(names)) and names
    aliases = [alias for term in TERMS.values() for alias in term.get("also", ())]
    assert len(aliases) == len(set(aliases)) and not set(aliases) & TERMS.keys()
    headings = re.findall(
        r"^(?:### |\*\*)(.+?)(?:\*\*.*)?$", glossary.write_page().split("## Fields")[0], re.M
    )
    assert headings == sorted(headings, key=glossary.sort_name)


def test_every_field_of_the_cards_has_its_line() -> None:
    page = glossary.write_page()
    for name in ("hive", "iceberg", "paimon", "footer"):
        for section, fields in glossary.read_fields(name).items():
            for field, meaning in fields.items():
                assert meaning and f"| `{field}` |" in page and meaning.replace("|", "\\|") in page, section


@pytest.mark.parametrize(
    "term",
    ["snapshot", "manifest", "manifest list", "commit", "catalog", "metastore", "partition spec", "bucket", "LSM tree",
     "level", "sorted run", "compaction", "copy-on-write", "merge-on-read", "deletion vector", "position delete",
     "equality delete", "sequence number", "bounds", "BinaryRow", "footer", "row group", "encoding",
     "definition level", "Avro", "Parquet", "Puffin"],
)  # fmt: skip
def test_the_glossary_has_the_terms_of_the_course(term: str) -> None:
    assert term in TERMS
