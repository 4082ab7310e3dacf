"""A column of meanings on request: in text and HTML, on cards, raw documents and records; nothing without the request."""

from __future__ import annotations

import re
from collections.abc import Iterator
from html import unescape
from pathlib import Path
from typing import Any

import html5lib
import pytest

import lakelens as ll
from lakelens.options import DisplayOptions, display
from lakelens.views.card.glossary import find_meaning
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text


def walk(name: str) -> Iterator[Any]:
    table = ll.sample(name)
    yield from (table, table.schema, table.files, table.files[0], table.properties)
    if len(table.snapshots):
        manifest = table.current.manifests[0]
        yield from (table.current, table.current.raw, table.current.summary, manifest, manifest.raw)
        yield from (
            table.current.manifest_lists,
            manifest.entries,
            manifest.entries[0],
            manifest.entries[0].raw,
        )


@pytest.mark.parametrize("name", ["hive", "iceberg", "paimon"])
def test_meanings_are_a_column_of_text_and_html(name: str) -> None:
    for thing in walk(name):
        render_text(thing, 2)  # what is read once is known from then on
        plain, page = render_text(thing, 2), render_card(thing, 2)
        with display.using(meanings=True):
            text, markup = render_text(thing, 2), render_card(thing, 2)
        assert len(text) >= len(plain) and len(markup.encode()) <= display.max_bytes
        assert (render_text(thing, 2), render_card(thing, 2)) == (plain, page), "without it all is as before"
        html5lib.HTMLParser(strict=False).parse(markup)
        hovered = set(re.findall(r'<abbr title="([^"]*)"', page))
        # a view that has reached its size leaves folds out, which says so
        if "left out" not in markup:
            assert all(unescape(one) in unescape(re.sub(r"<[^>]*>", "", markup)) for one in hovered)
        assert set(re.findall(r'<abbr title="([^"]*)"', markup)) >= hovered or "left out" in markup, (
            "hover stays"
        )
        if hovered:
            assert "meaning" in text and any(unescape(one) in text for one in hovered)


def test_every_key_of_a_document_has_its_meaning_beside_it() -> None:
    metadata = ll.sample("iceberg").metadata
    with display.using(meanings=True):
        lines = str(metadata).splitlines()
    for key in ("format-version", "location", "last-sequence-number", "snapshot-log"):
        [line] = [one for one in lines if one.split()[:1] == [key]]
        assert line.endswith(find_meaning(key, ("iceberg.table_metadata",)))


def test_names_of_a_lake_have_no_meaning() -> None:
    files = ll.sample("iceberg").files
    assert "meaning" not in render_text(files[0].preview(2), 1)
    with display.using(meanings=True):
        assert "meaning" not in render_text(files[0].preview(2), 1)


def test_show_and_pages_take_it_once(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    snapshot = ll.sample("paimon").current
    assert snapshot is not None
    snapshot.raw.show(1, meanings=True)
    with_meanings = capsys.readouterr().out
    snapshot.raw.show(1)
    without = capsys.readouterr().out
    assert "name" in with_meanings.split("\n")[1] and with_meanings.split("\n")[1].rstrip().endswith(
        "meaning"
    )
    assert "meaning" not in without and without != with_meanings
    for meanings in (None, True):
        snapshot.to_html(tmp_path / f"{meanings}.html", meanings=meanings)
    assert (tmp_path / "True.html").stat().st_size > (tmp_path / "None.html").stat().st_size
    ll.sample("hive").to_html(tmp_path / "table.html", meanings=True)
    assert ">meaning<" in (tmp_path / "table.html").read_text()


def test_the_option_is_checked_and_off() -> None:
    assert DisplayOptions().meanings is False
    with pytest.raises(ValueError, match="True or False"):
        DisplayOptions().meanings = 1  # type: ignore[assignment]
