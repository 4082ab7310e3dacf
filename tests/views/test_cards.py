"""What the views say: the same in text and HTML, within their budgets, without reading what was not asked for."""

from __future__ import annotations

import itertools
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape

import pytest

import lakelens as ll
from lakelens.errors import Corrupt
from lakelens.model.snapshot import Snapshots
from lakelens.options import display
from lakelens.views.card import cells
from lakelens.views.card.model import Card, Cell, Column, Fact, Fold, Grid, Note, Pairs, Picture
from lakelens.views.cards.schema import trace_columns
from lakelens.views.present import present
from lakelens.views.render.html import draw, render_card, render_page
from lakelens.views.render.text import render_text, write_card
from tests.support.fakes import FakeFile, FakeManifest, FakeSnapshot, FakeTable, list_objects


def count_words() -> Callable[[], str]:
    numbers = itertools.count()
    return lambda: f"word{next(numbers)}"


OBJECTS = list_objects(FakeTable(lambda: "word"))


def read_markup(markup: str) -> str:
    """What a reader reads: no style, no tags, spaces made one."""
    bare = re.sub(r"<style>.*?</style>", "", markup, flags=re.S)
    return re.sub(r"\s+", "", unescape(re.sub(r"<[^>]+>", "", bare)))


def list_texts(card: Card) -> list[str]:
    texts = [card.noun, card.sentence, card.place, card.alert]
    texts += [text for fact in card.facts for text in (fact.label, fact.value.text, fact.small)]
    bodies = list(card.body)
    for fold in card.folds:
        texts += [fold.label, fold.answer, fold.alert]
        bodies += list(fold.body())
    for body in bodies:
        if isinstance(body, Grid):
            texts += (
                [c.name for c in body.columns]
                + [
                    c.text
                    for row in (*body.rows, *body.totals)
                    for cell in row
                    for c in (cell.parts or (cell,))
                ]
                + [body.more, body.how, *(name for _, name in body.groups)]
            )
        elif isinstance(body, Pairs):
            texts += [text for name, cell in body.items for text in (name, cell.text)]
        elif isinstance(body, Card):
            texts += list_texts(body)
        elif isinstance(body, Note):
            texts += [body.text, body.code]
        elif isinstance(body, Picture):
            continue  # the same stands beside it in words
        else:
            texts += body.text.split("\n")
    return texts


def test_answers_have_limits_strips_groups_and_lives() -> None:
    rows = [
        (Cell("small <b>"), cells.gauge(4, 400), cells.explain(cells.code("rewrite"), "by <default>")),
        (Cell("large"), cells.gauge(90, 5), cells.explain(Cell(""), "lakelens")),
    ]
    life = cells.join(Cell("status "), Cell("'paid'", "changed"), cells.BREAK, Cell("row 3", "small"))
    columns = (Column("time"), Column("", is_life=True), Column("what"))
    axis = Column("", axis=(("1 <file>", 70), ("10", 70)))
    card = Card(
        "Four",
        "sentence",
        body=(
            cells.grid(("measure", "", "help"), rows, groups=[(0, "First"), (1, "Second <i>"), (9, "none")]),
            cells.grid((Column("column"), axis), [(cells.code("ts"), cells.strip([1, 10, 100], 70))]),
            cells.grid(columns, [(Cell("1"), Cell("●"), life), (Cell("2"), Cell("○"), Cell("gone", "del"))]),
        ),
    )
    markup, told = draw(card, 1), "\n".join(write_card(card, 1))
    shown = read_markup(markup)
    for text in filter(None, list_texts(card)):
        plain = re.sub(r"\s+", "", text)
        assert plain in re.sub(r"\s+", "", told)
        assert plain in shown
    assert told.index("First") < told.index("small <b>") < told.index("Second <i>") < told.index("large")
    assert "none" not in told
    assert re.findall(r'margin-left:(\d+)px"></i>', markup.split("<code>ts")[1])[:3] == ["0", "69", "69"]
    assert "<u><code>&#39;paid&#39;</code></u><br><small>row 3</small>" in markup
    assert markup.count("linear-gradient") == 1, "from the first mark to the last"


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_text_and_html_tell_the_same_facts(thing: object) -> None:
    with display.using(strict_views=True):
        told = re.sub(r"[\s│├└─]+", "", render_text(thing, 3))
        shown = read_markup(render_card(thing, 3))
        texts = list_texts(present(thing, 3))
    assert len(texts) > 3
    for text in texts:
        plain = re.sub(r"\s+", "", text)
        assert plain in told
        assert plain in shown


@pytest.mark.parametrize("thing", OBJECTS, ids=lambda thing: type(thing).__name__)
def test_details_grow_and_repeat_exactly(thing: object) -> None:
    texts = [render_text(thing, detail) for detail in range(4)]
    assert texts == [render_text(thing, detail) for detail in range(4)]
    assert "\n" not in texts[0]
    assert [len(text) for text in texts] == sorted(len(text) for text in texts)
    assert render_card(thing) == render_card(thing)


def test_card_of_a_table_reads_no_manifest() -> None:
    files = [FakeFile(count_words())]
    table = FakeTable(count_words(), files=files)
    for _ in (str(table), table._repr_html_()):
        pass
    assert [snapshot.manifest.opened for snapshot in table.snapshots] == [0, 0, 0]  # type: ignore[attr-defined]
    str(table.current)
    assert [snapshot.manifest.opened for snapshot in table.snapshots] == [0, 0, 0]  # type: ignore[attr-defined]
    render_text(table.current, 2)
    assert table.snapshots[-1].manifest.opened > 0  # type: ignore[attr-defined]


def test_card_says_the_figures() -> None:
    told = str(FakeTable(count_words()))
    assert "rows: 1,564,185" in told
    assert "committed, UTC: 2026-11-21 11:51:26  (3 snapshots since 2026-11-21 11:49:26)" in told
    assert "Findings: 1 ERROR, 1 WARNING: 1 note; word" in told


def test_budget_of_a_table_card() -> None:
    big = FakeTable(count_words(), columns=1_000, snapshots=10_000)
    markup = big._repr_html_()
    assert len(markup.encode()) <= 15_360
    assert "… 995 more columns: <code>table.schema.fields</code>" in markup
    assert "… 9,995 older: <code>table.snapshots, table.snapshots.widget()</code>" in markup


def test_long_names_empty_the_longest_folds_of_a_table_card() -> None:
    long = FakeTable(lambda: "n" * 190, columns=30)
    markup = long._repr_html_()
    assert len(markup.encode()) <= 15_360
    assert "left out: this view has reached its size" in markup
    assert "3 snapshots" in markup


def test_huge_sets_stay_within_the_budget() -> None:
    word = count_words()
    files = [FakeFile(word) for _ in range(2_000)]
    current = FakeTable(word, files=files).snapshots[-1]
    with display.using(strict_views=True):
        for thing in (current, current.files, current.manifests[0], current.changes):
            assert len(render_card(thing, 3).encode()) <= display.max_bytes
        assert "… 1,980 more files: <code>.to_pandas(), .widget()</code>" in render_card(current.files)


def test_folds_are_emptied_where_the_budget_ends() -> None:
    table = FakeTable(count_words(), columns=15)
    whole = render_card(table)
    with display.using(max_bytes=7_000):
        cut = render_card(table)
    assert len(cut.encode()) <= 7_000 < len(whole.encode())
    assert "left out: this view has reached its size" in cut


class BrokenManifest(FakeManifest):
    @property
    def entries(self):  # type: ignore[no-untyped-def,override]
        raise Corrupt("not an Avro file", path="m0.avro", offset=0)


def test_damage_is_said_in_its_place() -> None:
    broken = BrokenManifest(lambda: "m", [])
    for told in (render_text(broken), render_card(broken)):
        assert "ERROR, cannot be read: m0.avro: not an Avro file (at byte 0)" in told
        assert "Header" in told


class BrokenSnapshot(FakeSnapshot):
    @property
    def manifest_lists(self):  # type: ignore[no-untyped-def,override]
        raise RuntimeError("a bug <of> ours")


def test_a_view_that_fails_says_so_and_raises_when_strict() -> None:
    schema = FakeTable(lambda: "t").schema
    broken = BrokenSnapshot(lambda: "t", 7, schema)
    with display.using(strict_views=False):
        assert render_text(broken) == "<Snapshot 7 t>\nview failed: RuntimeError: a bug <of> ours"
        assert "view failed: RuntimeError: a bug &lt;of&gt; ours" in render_card(broken)
        assert "view failed: RuntimeError" in render_page(broken)
    with display.using(strict_views=True):
        for render in (render_text, render_card, render_page):
            with pytest.raises(RuntimeError):
                render(broken)


def test_page_links_its_sections() -> None:
    markup = render_page(FakeTable(count_words()))
    targets = re.findall(r'href="#([^"]+)"', markup)
    assert len(targets) > 8
    assert [markup.count(f'id="{target}"') for target in targets] == [1] * len(targets)
    assert "<script" not in markup
    assert "http" not in re.sub(r"<!DOCTYPE html>", "", markup)
    assert markup.count("<style>") == 1


def test_milliseconds_where_seconds_do_not_tell_apart() -> None:
    table = FakeTable(lambda: "t")
    first, second = table.snapshots[0], table.snapshots[1]
    second.committed_at = first.committed_at.replace(microsecond=50_000)  # type: ignore[union-attr]
    assert "11:49:26.050" in render_text(Snapshots([first, second]))
    assert "11:49:26.0" not in render_text(Snapshots([first]))


def test_bars_repeat_numbers_and_stay_out_of_text() -> None:
    table = FakeTable(count_words())
    markup = render_card(table)
    # 4 rows went and 9 came in each: 18 and 40 pixels
    assert markup.count('<i class="ll-r" style="width:18px"></i><i class="ll-a" style="width:40px"></i>') == 3
    lines = [line for line in render_text(table, 2).splitlines() if "\u22124" in line]
    assert len(lines) == 3
    assert all(re.search("\u22124 +\\+9 ", line) for line in lines)
    assert len({line.index("+9") for line in lines}) == 1


def test_a_list_of_snapshots_is_headed_by_as_many_as_it_shows() -> None:
    def head(snapshots: int) -> str:
        return render_text(FakeTable(lambda: "t", snapshots=snapshots).snapshots).splitlines()[0]

    assert head(10) == "Snapshots: 10 snapshots: 10 t"
    assert head(300) == f"Snapshots: last {display.max_rows} of 300 snapshots: {display.max_rows} t"


def test_history_of_columns() -> None:
    from lakelens.model.schema import DataType, Field, Schema

    def make(number: int, *fields: tuple[int, str, str]) -> Schema:
        return Schema(number, tuple(Field(i, name, DataType(kind, "int32")) for i, name, kind in fields))

    versions = [
        make(0, (1, "id", "int"), (2, "note", "string"), (3, "gone", "int")),
        make(1, (1, "id", "long"), (2, "comment", "string"), (4, "new", "int")),
    ]
    history, dropped = trace_columns(versions[-1], versions)
    assert history == {1: "int until schema 1", 2: "was note until schema 1", 4: "added in schema 1"}
    assert dropped == [(3, "gone", "int", "dropped in schema 1")]


def test_showing_outside_a_notebook_prints(capsys: pytest.CaptureFixture[str]) -> None:
    schema = FakeTable(lambda: "t").schema
    schema.show(2)
    assert capsys.readouterr().out == render_text(schema, 2) + "\n"


def test_cards_have_headings_and_tables_have_names() -> None:
    inner = Card("Inner", "one", body=(cells.grid(("a",), [(cells.code("b"),)]),))
    card = Card(
        "Outer",
        "all of it",
        facts=(Fact("rows", Cell("3")),),
        body=(cells.grid(("c",), [(Cell("d"),)]),),
        folds=(Fold("Deep", "down", lambda: (cells.pairs([("e", Cell("f"))]), inner)),),
    )
    markup = draw(card, 1)
    assert re.findall(r"<(h\d) style=\"display:inline\">(\w+)</", markup) == [
        ("h4", "Outer"),
        ("h5", "Inner"),
    ]
    assert re.findall(r"<caption>(.*?)</caption>", markup) == ["Facts", "Outer", "Deep", "Inner"]
    assert markup.count("<table") == 4
    section = draw(replace(card, noun="", sentence=""), 1, style=False, name="Section")
    assert re.findall(r"<(h\d)", section) == ["h3"]
    assert re.findall(r"<caption>(.*?)</caption>", section) == ["Facts", "Section", "Deep", "Inner"]


def test_long_words_may_be_broken_where_a_reader_would() -> None:
    markup = draw(
        Card(
            "n",
            "in s3://bucket/warehouse/dt=2026-01-01/part-0.parquet",
            body=(
                cells.grid(("a",), [(cells.code("_last_updated_sequence_number"),), (cells.text("x" * 40),)]),
            ),
        ),
        1,
        style=False,
    )
    assert (
        "s3://<wbr>bucket/<wbr>warehouse/<wbr>dt=<wbr>2026-<wbr>01-<wbr>01/<wbr>part-0.<wbr>parquet" in markup
    )
    assert "<code>_last_<wbr>updated_<wbr>sequence_<wbr>number</code>" in markup
    assert f"{'x' * 16}<wbr>{'x' * 16}<wbr>{'x' * 8}<" in markup
    assert read_markup(markup).endswith(f"{'x' * 40}")


def test_bars_are_drawn_to_the_largest_file_of_the_set_not_of_those_shown() -> None:
    files = ll.sample("iceberg").files
    sizes = [file.own_size_bytes for file in files]
    smallest_first = files.take(sorted(range(len(files)), key=sizes.__getitem__))
    with display.using(max_rows=3):
        grid = next(body for body in present(smallest_first).body if isinstance(body, Grid))
    assert len(grid.rows) == 3 < len(files)
    drawn = [cell.bar.came for row in grid.rows for cell in row if cell.bar is not None]
    assert drawn == [round(40 * size / max(sizes)) for size in sorted(sizes)[:3]]
    assert max(drawn) < 40, "none of these is the largest"


@pytest.mark.parametrize("sample", ["iceberg", "paimon"])
def test_the_header_of_a_manifest_is_one_table_and_its_schema_a_line(sample: str) -> None:
    manifest = ll.sample(sample).current.manifests[0]
    for thing in (manifest, ll.sample(sample).current.manifest_lists[-1]):
        card = present(thing)
        header = next(fold for fold in card.folds if fold.label == "Header").body()
        (table,) = (body for body in header if isinstance(body, Pairs | Grid))
        named = [name for name, _ in table.items]
        assert len(named) == len(set(named)) > 1
        assert "avro.schema" not in named, "it is in a fold of its own"
        (inner,) = (body for body in header if isinstance(body, Card))
        (schema,) = inner.folds
        assert re.match(r"Avro record of \d+ fields: \w+, ", schema.answer)
        told = "\n".join(write_card(card, 2))
        assert schema.answer in told
        assert len(told.splitlines()) < 90, "the raw schema is not written out"
        assert '"type": "record"' in "\n".join(write_card(card, 3)), "until all of it is asked for"


def test_null_is_said_in_the_answer_of_a_query() -> None:
    rows = ll.sample("iceberg").sql("SELECT NULL AS nothing, 'NULL' AS word, 1 AS one, [NULL, 2] AS list")
    grid = next(body for body in present(rows).body if isinstance(body, Grid))
    nothing, word, one, several = grid.rows[0]
    assert (nothing.text, nothing.role) == ("NULL", "mute")
    assert word.text != nothing.text, "a text is in quotes"
    assert one.text == "1"
    assert "NULL" in several.text and "absent" not in several.text
    markup = render_card(rows)
    assert '<td class="ll-o ll-m" style="text-align:left">NULL</td>' in markup
    assert "absent" not in markup and "None" not in markup


def test_text_stays_left_where_the_sheet_is_taken_away_until_there_is_no_room() -> None:
    files = ll.sample("iceberg").files
    left = ' style="text-align:left"'
    whole = render_card(files)
    first = next(re.finditer(r"<tr><td[^>]*>", whole.split("</thead>")[1]))[0]
    assert first.endswith(f"{left}>")
    assert not re.search(rf'class="ll-n[^>]*{left}', whole), "numbers stand right"
    assert left not in render_card(files, style=False), "a page has the sheet"
    size = len(whole.encode())
    with display.using(max_bytes=size - 1):
        cut = render_card(files)
    assert size - 1 >= len(cut.encode()) and 0 < cut.count(left) < whole.count(left)
    assert cut.replace(left, "") == whole.replace(left, "")
    facts = cut[cut.index("<table") : cut.index("</table")]
    assert facts.count(left) == whole[whole.index("<table") : whole.index("</table")].count(left)
