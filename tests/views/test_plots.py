"""Plots: axes with units, every file counted, many categories folded, names of the lake as words only."""

from __future__ import annotations

import io
from typing import Any

import pytest

import lakelens as ll
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.stats import Partition
from tests.support.fakes import FakeFile


def make_files(names: list[str]) -> FileSet:
    made: list[Any] = []
    for number, name in enumerate(names):
        found = FakeFile(lambda: "x")
        found.recorded_path = str(number)
        found.partition = Partition({"p": name}, {"p": name})
        made.append(found)
    return FileSet(lambda: made, FileColumns)


def read_texts(figure: Any) -> list[str]:
    return [
        text.get_text() for axes in figure.axes for text in (*axes.get_yticklabels(), *axes.texts, axes.title)
    ]


def test_every_file_is_in_the_histogram() -> None:
    files = ll.sample("iceberg").files
    sizes = files.plot().axes[0]
    assert sum(bar.get_height() for bar in sizes.patches) == len(files)
    assert sizes.get_ylabel() == "files"


def test_buckets_show_levels() -> None:
    bucket = ll.sample("paimon").files.plot().axes[-1]
    assert {text.get_text() for text in bucket.get_legend().get_texts()} == {"level 0", "level 5"}


def test_growth_reads_no_manifest() -> None:
    table = ll.sample("iceberg")
    before = table.reads.files
    figure = table.plot()
    assert table.reads.files == before
    assert [axes.get_ylabel() for axes in figure.axes] == ["rows", "files", "bytes (binary units)"]


def test_a_hive_table_shows_its_files() -> None:
    assert ll.sample("hive").plot().axes[0].get_ylabel() == "files"


def test_more_than_fifty_partitions_are_folded() -> None:
    figure = make_files([f"{i:04}" for i in range(300)]).plot()
    names = [label.get_text() for label in figure.axes[1].get_yticklabels()]
    assert len(names) == 50
    assert names[-1] == "251 other partitions"


@pytest.mark.parametrize("name", ["$\\frac{1}{0}$", "\x1b[31m", "a\u202eb", "x" * 10_000, "<b>"])
def test_names_are_words(name: str) -> None:
    figure = make_files([name, "other"]).plot()
    figure.savefig(io.BytesIO(), dpi=40)  # mathematical text that cannot be read would raise here
    for text in read_texts(figure):
        assert len(text) < 80
        assert all(character.isprintable() for character in text)


def test_an_empty_set_has_a_plot() -> None:
    figure = make_files([]).plot()
    figure.savefig(io.BytesIO(), dpi=40)
    assert figure.axes[0].get_title(loc="left") == "0 files by size"
