"""What is asked by a form: SQL over the metadata, within bounds, and procedures, with what each time would free."""

from __future__ import annotations

import html
import json
import re
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.explorer.offers import _QUERIES
from lakelens.explorer.page import Form, Page, Section
from lakelens.querying import VIEWS, query_table
from lakelens.samples import unpack_table
from lakelens.views.card.model import Card
from tests.explorer.reading import Reader, find_grid, list_listings, list_parts, read_text

SAMPLES = ("iceberg", "paimon", "hive", "delta")


def list_forms(page: Page) -> list[Form]:
    return [part for part in page.parts if isinstance(part, Form)]


@pytest.mark.parametrize("name", SAMPLES)
def test_sql_is_offered_with_its_views_and_answers(name: str) -> None:
    reader = Reader.of_sample(name)
    page, markup = reader.get("sql")
    assert [field.name for field in list_forms(page)[0].fields] == ["query"]
    shown = read_text(markup)
    assert all(view in shown for view in VIEWS) and "record_count" in shown
    query = "SELECT content, count(*) AS files FROM files GROUP BY content ORDER BY content"
    page, markup = reader.get("sql", query=query)
    (form,) = list_forms(page)
    assert form.fields[0].value == query and "<textarea" in markup
    expected = reader.table.sql(query).to_pylist()
    grid = find_grid(page, "files")
    assert [int(row[1].text) for row in grid.rows] == [row["files"] for row in expected]
    (listing,) = (listing for listing in list_listings(page) if listing.whole is not None)
    assert listing.whole is not None and listing.whole().to_pylist() == expected


def test_the_queries_to_begin_with_run() -> None:
    for name in ("iceberg", "paimon", "delta"):
        table = ll.sample(name)
        for words, query in _QUERIES:
            for engine in ("duckdb", "datafusion"):
                assert len(table.sql(query, engine=engine)), (name, words)  # type: ignore[arg-type]


def test_a_query_is_about_the_snapshot_of_the_page() -> None:
    reader = Reader.of_sample("iceberg")
    first = reader.table.snapshots[0]
    page = reader.explorer.answer(
        reader.place("sql", query="SELECT count(*) AS files FROM files").__class__(
            (), str(first.id), "sql", (("query", "SELECT count(*) AS files FROM files"),)
        )
    )
    assert isinstance(page, Page)
    assert find_grid(page, "files").rows[0][0].text == str(len(first.files))


def test_a_query_that_cannot_be_run_stays_in_its_box() -> None:
    reader = Reader.of_sample("iceberg")
    for query, words in (
        ("SELECT nothing FROM files", "nothing"),
        ("SELEC 1", "did you mean SELECT"),
        ("SELECT * FROM read_csv('/etc/passwd')", "cannot be run"),
        ("COPY (SELECT 1) TO 'x.csv'", "cannot be run"),
        ("ATTACH 'x.db'", "cannot be run"),
        ("SELECT getenv('HOME')", "cannot be run"),
    ):
        page, markup = reader.get("sql", query=query)
        assert list_forms(page)[0].fields[0].value == query
        assert words in read_text(markup), query
        assert "Views" in read_text(markup)


@pytest.mark.parametrize("engine", ["duckdb", "datafusion"])
def test_a_query_ends_with_its_time_and_its_rows(engine: Any) -> None:
    table = ll.sample("iceberg")
    many = "SELECT a.path FROM files a, files b, files c, files d"
    found = query_table(table, many, engine=engine, most_rows=50)
    assert len(found) == 50 and found.is_cut
    whole = query_table(table, "SELECT path FROM files", engine=engine, most_rows=len(table.files))
    assert len(whole) == len(table.files) and not whole.is_cut
    endless = f"SELECT sum(length(a.path)) FROM {', '.join(f'entries {letter}' for letter in 'abcdefghijkl')}"
    with pytest.raises(LakeError, match="takes longer than 1 seconds"):
        query_table(table, endless, engine=engine, seconds=1)


def test_memory_of_a_query_is_bounded() -> None:
    table = ll.sample("iceberg")
    with pytest.raises(LakeError, match=r"[Mm]emory|longer than"):
        query_table(table, "SELECT list(x) FROM range(400000000) t(x)", engine="duckdb", seconds=30)


@pytest.mark.parametrize("name", SAMPLES)
def test_every_procedure_has_a_form_and_its_plan(name: str) -> None:
    reader = Reader.of_sample(name)
    page, markup = reader.get("dry_run")
    procedures = reader.table.procedures
    if not procedures:
        assert "no maintenance procedures" in read_text(markup)
        return
    grid = find_grid(page, "procedure")
    assert [row[0].text for row in grid.rows] == list(procedures)
    for procedure in procedures.values():
        page, _ = reader.get("dry_run", procedure=procedure.name)
        (form,) = list_forms(page)
        fields = {field.name for field in (*form.fields, *form.more)}
        assert fields == {f"o.{option.name}" for option in procedure.options}
        if any(option.is_required for option in procedure.options):
            continue
        page, markup = reader.get("dry_run", procedure=procedure.name, run="yes")
        try:
            words = reader.table.dry_run(procedure.name).procedure.title
        except LakeError as error:  # one of two options is needed
            words = error.reason
        assert words in read_text(markup), procedure.name


def test_the_times_of_the_slider_free_what_the_space_says() -> None:
    for name in ("iceberg", "paimon", "iceberg-branches"):
        reader = Reader.of_sample(name)
        page, markup = reader.get("dry_run", procedure="expire_snapshots")
        (form,) = list_forms(page)
        space = reader.table.space()
        tables = [part for part in list_parts(page.parts) if isinstance(part, Card)]
        assert tables
        if not form.slides:
            continue
        grid = find_grid(page, "snapshots go")
        assert [row[0].text for row in grid.rows] == [text for text, _ in form.slides]
        assert form.fields[0].label == "older_than" and "data-slides" in markup
        for row, (text, words) in zip(grid.rows, form.slides, strict=True):
            freed = space.find_freed(text)
            assert (row[1].key, row[2].key, row[4].key) == (freed.snapshots, freed.size_bytes, freed.files)
            assert f"{freed.snapshots} snapshot" in words


def test_what_dropping_a_branch_frees_is_said() -> None:
    reader = Reader.of_sample("iceberg-branches")
    page, markup = reader.get("dry_run", procedure="expire_snapshots")
    kept = {
        held.name: held.size_bytes for held in reader.table.space().by_ref if held.kind in ("branch", "tag")
    }
    sections = [part for part in page.parts if isinstance(part, Section) and "dropping" in part.heading]
    if not sections:
        shown = read_text(markup)
        assert "dropping" not in shown
        return
    rows = find_grid(page, "dropped").rows
    assert {row[0].text: row[1].key for row in rows} == {name: size for name, size in kept.items() if size}


def test_a_plan_lists_its_files_in_pages_and_refuses_in_words() -> None:
    reader = Reader.of_sample("iceberg")
    asked = {"procedure": "expire_snapshots", "o.older_than": "2100-01-01", "run": "yes"}
    page, markup = reader.get("dry_run", **asked)
    plan = reader.table.dry_run("expire_snapshots", older_than="2100-01-01")
    assert "every file that it deletes" in read_text(markup)
    page, _ = reader.get("dry_run", **asked, part="deletes")
    (listing,) = list_listings(page)
    assert listing.whole is not None and listing.whole()["path"].to_pylist() == [
        file.path for file in plan.deletes
    ]
    page, markup = reader.get("dry_run", **{**asked, "o.older_than": "tomorrow"})
    assert "the value does not fit" in read_text(markup) and list_forms(page)[0].fields[0].value == "tomorrow"
    _, markup = reader.get("dry_run", procedure="nonsense", run="yes")
    assert "there is no procedure nonsense" in read_text(markup)


def test_names_of_a_lake_do_not_leave_the_slider() -> None:
    """What stands in the attribute is escaped like everything else."""
    _, markup = Reader.of_sample("iceberg").get("dry_run", procedure="expire_snapshots")
    found = re.search(r'data-slides="([^"]*)"', markup)
    assert found is not None and "<" not in found[1]


@pytest.mark.parametrize("page", ["explain", "row"])
def test_a_condition_can_be_made_of_what_the_page_lists(page: str) -> None:
    """Columns, each with a condition on its least and its greatest value, by links alone; and the same for a script."""
    reader = Reader.of_sample("iceberg")
    shown, markup = reader.get(page)
    rows = find_grid(shown, "greatest").rows
    assert [row[0].text for row in rows] == ["id", "name", "p"]
    assert [(row[2].text, row[3].text) for row in rows][:2] == [("0", "100"), ("'changed'", "'new'")]
    target = rows[1][3].target
    assert target is not None
    asked, _ = reader.get(page, where="name >= 'new'")
    assert asked.status == 200 and list_forms(asked)[0].fields[0].value == "name >= 'new'"
    words = json.loads(html.unescape(re.findall(r'data-words="([^"]*)"', markup)[0]))
    assert [word[0] for word in words] == ["id", "name", "p"] and words[2][2] == ["0", "1"]


def test_the_values_of_a_lake_do_not_leave_the_field() -> None:
    """On the overview the row is asked for as well: there no manifest is read for its values."""
    reader = Reader.of_sample("iceberg")
    _, markup = reader.get("")
    (held,) = re.findall(r'data-words="([^"]*)"', markup)
    assert "<" not in held and [word[2] for word in json.loads(html.unescape(held))] == [[], [], []]


def test_a_column_with_quotes_in_its_name_is_asked_about(tmp_path: Path) -> None:
    """Names of a lake are quoted in a condition; one that cannot be typed is left out."""
    place = unpack_table("iceberg", tmp_path)
    newest = max(place.glob("metadata/*.metadata.json"))
    text = (
        newest.read_text()
        .replace('"name" : "p"', '"name" : "\\"\'p\\""')
        .replace('"name":"p"', '"name":"\\"\'p\\""')
    )
    newest.write_text(text)
    reader = Reader(place)
    assert reader.table.schema.names[2] == '"\'p"'
    page, _ = reader.get("explain")
    rows = find_grid(page, "greatest").rows
    assert rows[2][0].text == '"""\'p"""' and rows[2][2].text == "0"
    target = rows[2][2].target
    assert target is not None
    asked, _ = reader.get("explain", **dict(target.asked))
    assert "Reads" in str(asked.parts)
