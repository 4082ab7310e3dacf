"""The card of a trace: one sentence, the objects as a tree, and nothing of it obeyed or without bounds."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.analysis.diff.documents import JsonChange, SchemaChange
from lakelens.analysis.trace import ListingChange, Stamp, TableState, TableTrace, Trace, TracedFile
from lakelens.options import display
from lakelens.views.card.model import Grid
from lakelens.views.cards.trace import format_changes
from lakelens.views.present import present
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text
from tests.support.fakes import FakeTable
from tests.support.stages import Stages
from tests.views.test_hostile import HOSTILE, check_markup, cycle

NOW = datetime(2026, 1, 1, tzinfo=UTC)


def make_file(
    path: str, size: int = 10, state: str = "created", reason: str = "why", was: int | None = None
) -> TracedFile:
    return TracedFile(f"/t/{path}", path, size, "data", (), NOW, state, reason, was)  # type: ignore[arg-type]


def finish(*files: TracedFile, statement: str | None = None) -> Trace:
    trace = Trace("/t", statement)
    trace.finish(files)
    return trace


def make_trace(created: int = 0, removed: int = 0, rewritten: int = 0, statement: str | None = None) -> Trace:
    counts = (("created", created), ("removed", removed), ("rewritten", rewritten))
    files = [make_file(f"{state}/{n}", 1_000, state) for state, count in counts for n in range(count)]
    return finish(*files, statement=statement)


@pytest.mark.parametrize(
    ("counts", "words"),
    [
        ((0, 0, 0), "touched no file"),
        ((5, 0, 1), "wrote 5 files, 5,000 B, and rewrote 1"),
        ((1, 0, 0), "wrote 1 file, 1,000 B"),
        ((0, 2, 0), "removed 2 files, 2,000 B"),
        ((0, 0, 2), "rewrote 2 files"),
        ((1, 2, 3), "wrote 1 file, 1,000 B, rewrote 3, and removed 2 files, 2,000 B"),
    ],
)
def test_the_sentence(counts: tuple[int, int, int], words: str) -> None:
    trace = make_trace(counts[0], counts[1], counts[2], "insert INTO t VALUES (1)")
    assert format_changes(trace) == words
    assert str(trace).splitlines()[0] == f"Trace: INSERT {words}"


def test_checksums_are_counted_beside_the_files() -> None:
    files = [make_file("a.parquet", 1_000), replace(make_file(".a.parquet.crc", 16), role="checksum")]
    trace = finish(*files)
    assert format_changes(trace) == "wrote 1 file, 1,000 B (and 1 checksum file)"
    assert "created: 1" in str(trace)
    assert ".a.parquet.crc" in str(trace)
    assert format_changes(finish(files[1])) == "wrote 1 checksum file, 16 B"


@pytest.mark.parametrize("statement", [None, "", "(SELECT 1)", "\u202eINSERT", "x" * 30])
def test_a_block_without_a_verb_is_a_block(statement: str | None) -> None:
    assert str(make_trace(1, statement=statement)).startswith("Trace: the block wrote 1 file")


def test_the_tree_keeps_directories_together() -> None:
    files = (
        make_file("a/b/one"),
        make_file("a/b/two", 20, "rewritten", was=7),
        make_file("c", state="removed"),
    )
    trace = finish(files[2], files[0], files[1])
    (grid,) = (body for body in present(trace).body if isinstance(body, Grid))
    assert [(row[0].text, row[1].text) for row in grid.rows] == [
        ("", "a/"),
        ("", "  b/"),
        ("CREATED", "    one"),
        ("REWRITTEN", "    two"),
        ("REMOVED", "c"),
    ]
    assert grid.rows[3][4].text == "why (was 7 B)"
    assert trace.created["one"].size_bytes == 10 and trace.created["a/b/one"] is trace.created[0]
    with pytest.raises(KeyError):
        trace.created["two"]


def test_text_and_html_tell_the_same(tmp_path: Path) -> None:
    stages = Stages("spark/paimon/changelog-input", tmp_path / "t")
    stages.go(1)
    with ll.watch(tmp_path / "t") as change:
        stages.go(3)
    text, markup = render_text(change, 2), render_card(change, 2)
    plain = re.sub(r"\s+", "", re.sub(r"<[^>]*>", "", markup))
    for file in change.files:
        assert file.path.rsplit("/", 1)[-1] in text
        assert re.sub(r"\s+", "", file.reason) in plain
    for word in ("Snapshots", "Diff", "2 committed: APPEND, APPEND"):
        assert word in text and word.replace(" ", "") in plain
    assert len(render_card(change).encode()) < 64 << 10
    check_markup(markup)
    for part in (change.tables[0], change.snapshots[0], change.created):
        assert render_text(part).count("\n") > 3
        check_markup(render_card(part))


def test_a_large_trace_is_bounded() -> None:
    trace = make_trace(20_000, 20_000)
    for detail in (1, 2, 3):
        assert len(render_card(trace, detail).encode()) <= display.max_bytes
        assert len(render_text(trace, detail)) <= display.max_bytes + 100
    assert "more objects" in render_text(trace)
    assert "change.files" in render_text(trace)


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("shift", range(len(HOSTILE)))
def test_hostile_names_are_shown_not_obeyed(shift: int) -> None:
    word = cycle()
    for _ in range(shift):
        word()
    table = FakeTable(word)
    stamps = {f"{word()}/{n}": Stamp(10, NOW) for n in range(4)}
    state = TableState(table, {}, {(1,): (word(), table.snapshots[0])})
    found = TableTrace(None, state, ListingChange({}, stamps), word())
    found.gone = (word(), word())
    found.schema = (SchemaChange("retyped", 1, word(), word(), word()),)
    found.document = (JsonChange(word(), "changed", word(), word()),)
    found.metastore = (JsonChange(word(), "added", None, {word(): word()}),)
    several, one = Trace(word(), word(), ValueError(word())), Trace(word())
    several.finish(found.files, (found, found), 3, (word(), word()))
    one.finish(found.files, (found,), 3, (word(),))
    with display.using(strict_views=True):
        for thing in (
            several, one, Trace(word()), found, found.snapshots[0], found.files,
        ):  # fmt: skip
            for detail in (0, 1, 2):
                markup = render_card(thing, detail)
                check_markup(markup)
                assert len(markup.encode()) <= display.max_bytes
                text = render_text(thing, detail)
                assert all(character == "\n" or character.isprintable() for character in text)
