"""Lists in pages: in words, sorted, filtered, kept; what cannot be done is said."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from lakelens.explorer.listing import link_rows, make_listing
from lakelens.explorer.page import Page
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from lakelens.model.snapshot import Ref, Refs
from lakelens.options import display
from lakelens.views.card.model import Target
from lakelens.views.listing import FileSource, PairSource, make_source
from tests.explorer.reading import Reader, find_grid, list_listings, read_column, read_text

HERE = Place(("t",), "7", "refs")
SAMPLES = ("iceberg-evolution", "iceberg-v4", "paimon-deletion-vectors", "paimon-compaction", "hive")


def make_refs(count: int) -> Refs:
    """Tags of made-up snapshots."""
    return Refs(Ref(f"t{number:04}", "tag", number * 37 % 1_000) for number in range(count))


def test_the_second_page_says_where_it_is() -> None:
    """As the design words it."""
    listing = make_listing(make_source(make_refs(128)), HERE.ask(**{"from": 50}))
    words = " · ".join((listing.words, *(link.text for link in listing.pager)))
    assert words == "50 to 99 of 128 refs · first 50 · next 28"
    assert [link.place and link.place.url for link in listing.pager] == ["t/@7/refs", "t/@7/refs?from=100"]


def test_pages_are_the_whole_list_each_once() -> None:
    """Walked by the links alone."""
    source = make_source(make_refs(301))
    column = source.draw([0]).names[0]
    place, names = HERE.ask(sort=column), []
    while True:
        listing = make_listing(source, place)
        (grid,) = listing.card.body
        names += [row[0].text for row in grid.rows]  # type: ignore[union-attr]
        following = [link for link in listing.pager if link.text.startswith("next")]
        if not following:
            break
        assert following[0].place is not None
        place = following[0].place
    assert names == [f"t{number:04}" for number in range(301)]


@pytest.mark.parametrize("name", SAMPLES)
def test_files_are_sorted_by_every_column_that_is_shown(name: str) -> None:
    """As Python sorts the values of the model; those without a value are last."""
    reader = Reader.of_sample(name)
    page, _ = reader.get("files")
    shown = [column.name for column in find_grid(page, "file").columns if column.name and column.target]
    read = {"file": lambda file: file.path.rpartition("/")[2], "rows": lambda file: file.record_count,
            "bytes": lambda file: file.own_size_bytes, "sequence": lambda file: file.sequence_number,
            "partition": lambda file: str(file.partition), "content": lambda file: file.content,
            "bucket": lambda file: file.bucket, "level": lambda file: file.level}  # fmt: skip
    for column in shown:
        for sign in ("", "-"):
            page, _ = reader.get("files", sort=sign + column)
            values: list[Any] = [read[column](file) for file in reader.table.files]
            known = sorted((value for value in values if value not in (None, "")), reverse=bool(sign))
            keys = [cell.key if cell.key is not None else cell.text for cell in read_column(page, column)]
            expected = known if column != "content" else [value.replace("_", " ") for value in known]
            assert keys[: len(known)] == expected, (column, sign)
            (heading,) = [one for one in find_grid(page, "file").columns if one.name == column]
            assert heading.order == ("descending" if sign else "ascending")


@pytest.mark.parametrize("name", SAMPLES)
def test_files_are_filtered_by_sql(name: str) -> None:
    """As `FileSet.where` does."""
    reader = Reader.of_sample(name)
    sizes = sorted(file.size_bytes or 0 for file in reader.table.files)
    condition = f"size_bytes > {sizes[len(sizes) // 2]}"
    page, _ = reader.get("files", q=condition)
    kept = {file.path.rpartition("/")[2] for file in reader.table.files.where(condition)}
    assert (
        {cell.text for cell in read_column(page, "file")} == kept
        if kept
        else not list_listings(page)[-1].card.body
    )


def test_what_is_asked_wrongly_is_said_and_the_list_is_shown() -> None:
    """No page of an error for it."""
    reader = Reader.of_sample("iceberg")
    count = len(reader.table.files)
    for asked, said in (
        ({"sort": "colour"}, "there is no column 'colour' to sort by"),
        ({"sort": "-bucket"}, "there is no column 'bucket' to sort by"),
        ({"from": "many"}, "from=many is no number"),
        ({"from": "-1"}, "from=-1 is no number"),
        ({"from": "99999"}, "there is no row 99,999: this is the last page"),
        ({"q": "size_bytes >"}, "the filter is not understood"),
        ({"q": "colour = 1"}, "there is no column colour"),
        ({"q": "1=1; DROP TABLE files"}, "the filter is not understood"),
    ):
        page, markup = reader.get("files", **asked)
        assert said in read_text(markup), asked
        assert len(read_column(page, "file")) == count, asked


class Counted(PairSource):
    """Counts how often it is asked to sort and to filter."""

    sorted = filtered = 0

    def list_keys(self, name: str) -> Sequence[Any]:
        type(self).sorted += 1
        return super().list_keys(name)

    def filter(self, text: str) -> Sequence[int]:
        type(self).filtered += 1
        return super().filter(text)


def test_what_was_sorted_and_filtered_is_kept() -> None:
    """For the same object, however often it is asked; another object is another list."""
    subject, pairs = object(), [(f"k{number}", number) for number in range(200)]
    place = HERE.ask(q="k", sort="-value")
    for start in (0, 50, 100, 150):
        listing = make_listing(Counted(subject, pairs), place.ask(**{"from": start or None}))
        assert listing.words == f"{start} to {start + 49} of 200 keys"
    assert (Counted.sorted, Counted.filtered) == (1, 1)
    make_listing(Counted(object(), pairs), place)
    assert (Counted.sorted, Counted.filtered) == (2, 2)


def test_many_threads_get_the_same_pages() -> None:
    """Nobody's page depends on another's, nor do the options of the display."""
    reader = Reader.of_sample("paimon-compaction")
    source = FileSource(reader.table.files)
    before = display.max_rows
    asked = [HERE.ask(sort=sort, **{"from": 0}) for sort in ("", "rows", "-bytes", "file", "-sequence")] * 12
    alone = [make_listing(source, place, size=2).card for place in asked]
    with ThreadPoolExecutor(8) as pool:
        together = list(pool.map(lambda place: make_listing(source, place, size=2).card, asked))
    assert together == alone
    assert display.max_rows == before


def test_sizes_of_a_view_are_the_own_ones_of_a_thread() -> None:
    """While one thread draws a long list, another one draws a short one."""
    with display.using(max_rows=7), ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: display.max_rows).result() == 20
        assert display.max_rows == 7
        display.max_rows = 8
        assert display.max_rows == 8
    assert display.max_rows == 20


def test_a_page_of_long_texts_is_bounded() -> None:
    """Fifty names of thousands of characters that each take six bytes of markup."""
    pairs = [("<&\"'>" * 2_000, "\u202e<b>" * 2_000) for _ in range(60)]
    listing = make_listing(PairSource(object(), pairs), HERE)
    (grid,) = listing.card.body
    assert max(len(cell.text) for row in grid.rows for cell in row) < 1_200  # type: ignore[union-attr]


def test_a_page_of_long_links_is_bounded() -> None:
    """Paths that each take nine characters of an address for one of theirs: those that are too long lead nowhere."""

    def draw(length: int) -> tuple[int, int]:
        pairs = [("\u3042" * length, number) for number in range(60)]
        target = Target("page", "file", (("path", "\u3042" * length),))
        listing = make_listing(PairSource(object(), pairs), HERE, adorn=link_rows("key", lambda at: target))
        markup = render_page(Page(HERE, "long", [listing]))
        return markup.count("page=") + markup.count("path="), len(markup.encode())

    assert draw(20)[0] == 50
    for length in (150, 1_000, 8_000):
        assert draw(length)[1] < 300_000
