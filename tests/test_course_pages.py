"""Pages of the course that scripts write: the glossary, and one page for each format to print."""

from __future__ import annotations

import doctest
import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

from notebooks import glossary, pages

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


@pytest.mark.parametrize("key", pages.FORMATS)
def test_a_page_to_print_is_what_the_notebook_shows_today(key: str) -> None:
    path = pages.PAGES / f"{key}.html"
    assert path.read_text("utf-8") == pages.write_page(key), "stale: python -m notebooks.pages"


@pytest.mark.parametrize("key", pages.FORMATS)
def test_a_page_to_print_needs_nothing_else(key: str) -> None:
    """No script, nothing fetched, no place or identifier of the machine that ran the notebook; light, one sheet of A4."""
    page = (pages.PAGES / f"{key}.html").read_text("utf-8")
    assert not re.search(r"<script|\son\w+=|src=|href=|url\(|@import|dark", page)
    assert not re.search(r"lakelens-|/tmp/|[0-9a-f]{8}-[0-9a-f]{4}-", page)
    assert "@page { size: A4" in page and "<svg " in page and page.count("<table") >= 2
    assert "INSERT INTO example_table VALUES" in page and "<th>meaning</th>" in page
    assert len(page) < 30_000


@pytest.mark.parametrize(
    ("key", "created", "untouched"), [("hive", 2, 0), ("iceberg", 4, 1), ("paimon", 9, 1), ("delta", 3, 2)]
)
def test_the_pages_show_the_same_insert_and_what_it_made_of_each_file(
    key: str, created: int, untouched: int
) -> None:
    page = (pages.PAGES / f"{key}.html").read_text("utf-8")
    assert "<code>INSERT INTO example_table VALUES (1, &#x27;a&#x27;)</code>" in page
    assert page.count('<div class="ask">') == 1 and all(
        f"<p>{html.escape(question)}</p>" in page for question in pages.FORMATS[key][3]
    )
    files = page[page.index("<h2>The files</h2>") :].split("</table>")[0]
    assert (files.count(">CREATED<"), files.count("<td>untouched</td>")) == (created, untouched)


def make_notebook(folder: Path, *outputs: dict[str, Any], **more: Any) -> None:
    """A notebook of one printed cell for each output, which all are of an INSERT."""
    cells = [
        {"cell_type": "code", "source": ["x = 1\n", 'spark.sql("INSERT INTO a.b.t VALUES (1)")'],
         "metadata": {"tags": ["page"], "page": more}, "outputs": [output]}
        for output in outputs
    ]  # fmt: skip
    (folder / "01-hive.ipynb").write_text(json.dumps({"cells": cells}), "utf-8")


def test_what_is_printed_of_an_output(tmp_path: Path) -> None:
    table = (
        "<table class='ll-t ll-f'><tr><td>a fact</td></tr></table>"
        "<details><summary>s</summary><table><tr><td>folded</td></tr></table></details>"
        "<table><thead><tr><th>object</th><th>role</th><th class='ll-n'>bytes</th></tr></thead><tbody>"
        "<tr><td><code>d/</code></td><td></td><td></td></tr>"
        "<tr><td><code>\u00a0\u00a0e/</code></td><td></td><td></td></tr>"
        "<tr><td><code>\u00a0\u00a0\u00a0\u00a0<b>&lt;x&gt;</b></code></td><td>data</td><td>5 B</td></tr>"
        "<tr><td><code>.x.crc</code></td><td>checksum</td><td>8 B</td></tr></tbody></table>"
    )
    fields = {
        "text/plain": [
            "{'Location': 'WAREHOUSE/a/b-0ee83324-2d53-4a54-ac22-e31476426fdc',\n",
            " 'none': None}",
        ]
    }
    make_notebook(
        tmp_path, {"data": fields}, {"data": {"text/html": table}}, of="hive.catalog", heading="<H>"
    )
    page = pages.write_page("hive", tmp_path)
    assert "fact" not in page and "folded" not in page and "crc" not in page and "left out" in page
    assert "<td><code>d/e/&lt;x&gt;</code></td><td>data</td><td class=n>5 B</td>" in page
    assert "<code>…/b-0ee83324…</code></td><td>Where the metastore says the files are.</td>" in page
    assert page.index("d/e/") < page.index("0ee83324") and page.count("<h2>&lt;H&gt;</h2>") == 2
    assert "INSERT INTO t VALUES (1)" in page and "<code>null</code>" in page


def test_a_cell_that_shows_nothing_is_named(tmp_path: Path) -> None:
    make_notebook(tmp_path, {"data": {"text/html": "<p>words</p>"}})
    with pytest.raises(ValueError, match="nothing to print in the output of: x = 1"):
        pages.write_page("hive", tmp_path)
    make_notebook(tmp_path)
    with pytest.raises(ValueError, match="no cell of 01-hive has the tag 'page'"):
        pages.write_page("hive", tmp_path)
    assert doctest.testmod(pages).failed == 0
