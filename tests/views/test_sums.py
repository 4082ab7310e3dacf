"""Sums close in view: what a head counts is what the rows below it come to, deletion vectors among them."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakelens as ll
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import Page
from lakelens.explorer.place import Place
from lakelens.model.comparison import count_by_content
from lakelens.model.snapshot import Snapshot
from lakelens.opening import open_table
from lakelens.views.card import wording
from lakelens.views.card.model import Card, Grid
from lakelens.views.listing import make_source
from lakelens.views.present import present
from tests.support import LAKES

V3 = sorted(path for path in LAKES.glob("spark/iceberg/v3-*/table"))


def find_head(card: Card) -> tuple[str, str]:
    """The bytes of a card of files, and what is said of them."""
    return next((fact.value.text, fact.small) for fact in card.facts if fact.label == "bytes")


def list_states(path: Path) -> list[Snapshot]:
    """The snapshots of a lake that hold files."""
    return [snapshot for snapshot in open_table(path).snapshots if len(snapshot.files)]


@pytest.mark.parametrize("path", V3, ids=lambda path: path.parent.name)
def test_the_rows_of_a_list_come_to_its_head(path: Path) -> None:
    for snapshot in list_states(path):
        files = snapshot.files
        own = [size for (size,) in files.pick("own_size_bytes")]
        assert files.size_bytes == sum(own)
        assert list(make_source(files).list_keys("bytes")) == own  # what is sorted by is what is shown
        card = present(files)
        grid = next(part for part in card.body if isinstance(part, Grid))
        place = [column.name for column in grid.columns].index("bytes")
        assert [row[place].text for row in grid.rows] == [
            wording.size(size) for size in own[: len(grid.rows)]
        ]
        head, words = find_head(card)
        assert head == wording.size(sum(own))
        puffins = {file.path: file.size_bytes or 0 for file in files if file.content == "deletion_vector"}
        assert (wording.size(sum(puffins.values())) in words) is bool(puffins)
        assert ("vectors counted by their blobs" in words) is bool(puffins)


def test_some_lake_has_a_puffin_file_of_several_vectors() -> None:
    """Else the sums above would close by themselves."""
    states = (snapshot.files for path in V3 for snapshot in list_states(path))
    vectors = ([file.path for file in files if file.content == "deletion_vector"] for files in states)
    assert any(len(paths) > len(set(paths)) for paths in vectors)


@pytest.mark.parametrize("path", V3, ids=lambda path: path.parent.name)
def test_a_diff_a_plan_and_a_map_count_vectors_as_files_does(path: Path) -> None:
    table = open_table(path)
    for before, after in zip(table.snapshots, table.snapshots[1:], strict=False):
        diff = table.diff(before.id, after.id)
        counted = count_by_content(diff.added)
        assert sum(counts.bytes or 0 for counts in counted.values()) == diff.added.size_bytes
    if table.current is None or not len(table.current.files):
        return
    plan = table.dry_run("rewrite_data_files", rewrite_all=True)
    own = {(file.path, file.own_size_bytes) for file in table.current.files}
    named = {path for path, _ in own}
    sizes = {(row["path"], row["size_bytes"]) for row in plan.to_arrow().to_pylist() if row["path"] in named}
    assert sizes <= own


def test_a_map_says_what_it_measures_of_a_puffin_file() -> None:
    table = ll.open(LAKES / "spark/iceberg/v3-deletion-vectors/table")
    assert "47 B of blobs" in str(table.map())


def test_the_explorer_says_how_vectors_are_counted() -> None:
    table = ll.open(LAKES / "spark/iceberg/v3-merge-on-read/table")
    assert table.current is not None
    page = Explorer(table.location).answer(Place((), str(table.current.id), "files"))
    assert isinstance(page, Page)
    heads = [part.sentence for part in page.parts if isinstance(part, Card)]
    assert any("vectors counted by their blobs, their Puffin files are" in sentence for sentence in heads)
