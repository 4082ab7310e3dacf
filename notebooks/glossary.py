"""docs/glossary.md: the terms of the course, and every field that lakelens has a sentence for.

    python -m notebooks.glossary            writes the page
    python -m notebooks.glossary --check    says whether it is what would be written

The terms are in `glossary.toml` beside this file; the sentences of fields are those that the cards show.
"""

from __future__ import annotations

import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGE = HERE.parent / "docs" / "glossary.md"
FORMATS = {"hive": "Hive", "iceberg": "Iceberg", "paimon": "Paimon", "parquet": "Parquet"}
# the files of the cards' glossary, each with its heading; common.toml has the words of the cards, which are of no file
_FIELDS = {
    "hive": "Hive",
    "iceberg": "Iceberg",
    "paimon": "Paimon",
    "footer": "Parquet, ORC and Avro",
}
_INTRODUCTION = """# Glossary

The terms of the course, one sentence or two each; below them the [fields of the files](#fields), as the cards explain them.
Where Hive, Iceberg and Paimon mean different things by a word, each says its own.

Made by `python -m notebooks.glossary`: change `notebooks/glossary.toml` for a term, `lakelens/views/card/glossary` for a field.
"""


def read_terms() -> dict[str, dict[str, Any]]:
    """The terms as they are written down, by name."""
    return tomllib.loads((HERE / "glossary.toml").read_text("utf-8"))


def read_fields(name: str) -> dict[str, Mapping[str, str]]:
    """The sections of one file of the cards' glossary."""
    source = files("lakelens.views.card.glossary").joinpath(f"{name}.toml")
    return tomllib.loads(source.read_text("utf-8"))


def write_page() -> str:
    """The whole page."""
    return "\n".join([_INTRODUCTION, *_write_terms(read_terms()), *_write_fields()]) + "\n"


def sort_name(name: str) -> tuple[str, str]:
    """By letters alone: capitals, underscores, hyphens and spaces do not count.

    >>> sorted(["ZigZag", "row group", "_KEY", "row-id"], key=sort_name)
    ['_KEY', 'row group', 'row-id', 'ZigZag']
    """
    return "".join(letter for letter in name.casefold() if letter.isalnum()), name


def _write_terms(terms: Mapping[str, Mapping[str, Any]]) -> Iterator[str]:
    aliases = {alias: name for name, term in terms.items() for alias in term.get("also", ()) if alias not in terms}
    for name in sorted([*terms, *aliases], key=sort_name):
        if name in aliases:
            yield f"**{name}**: see [{aliases[name]}](#{_make_anchor(aliases[name])}).\n"
            continue
        term = terms[name]
        yield f"### {name}\n"
        yield f"{term['text']}\n"
        said = [f"* {title}: {term[format]}" for format, title in FORMATS.items() if format in term]
        if said:
            yield "\n".join(said) + "\n"
        if term.get("also"):
            yield f"*Also called:* {'; '.join(term['also'])}.\n"


def _make_anchor(name: str) -> str:
    """The address of a heading, as code hosts make it."""
    return "".join(letter for letter in name.lower().replace(" ", "-") if letter.isalnum() or letter in "-_")


def _write_fields() -> Iterator[str]:
    yield "## Fields\n"
    yield "Each name as the file spells it, and the structures that it is a field of.\n"
    for name, title in _FIELDS.items():
        yield f"### Fields of {title}\n"
        yield "| field | of | meaning |\n| --- | --- | --- |"
        for field, meaning, sections in _list_fields(read_fields(name)):
            yield f"| `{field}` | {', '.join(sections)} | {meaning.replace('|', chr(92) + '|')} |"
        yield ""


def _list_fields(sections: Mapping[str, Mapping[str, str]]) -> list[tuple[str, str, list[str]]]:
    """Every field with a meaning and the structures where it means that, in the order of names."""
    found: dict[tuple[str, str], list[str]] = defaultdict(list)
    for section, fields in sections.items():
        for field, meaning in fields.items():
            found[field, meaning].append(section.replace("_", " "))
    names = sorted(found, key=lambda one: (sort_name(one[0]), one[1]))
    return [(field, meaning, found[field, meaning]) for field, meaning in names]


def main(arguments: list[str]) -> int:
    """Write the page, or say whether it is up to date."""
    page = write_page()
    if "--check" in arguments:
        is_new = PAGE.is_file() and PAGE.read_text("utf-8") == page
        print("docs/glossary.md is up to date" if is_new else "stale: run python -m notebooks.glossary")
        return 0 if is_new else 1
    PAGE.write_text(page, "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
