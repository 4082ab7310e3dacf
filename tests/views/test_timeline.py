"""The still picture of a history, and the same in words: valid, escaped, bounded, over every engine-written table."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import html5lib
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import lakelens as ll
from lakelens.analysis.timeline.timeline import Flag, Lane, Mark, RowCount, Timeline
from lakelens.model.facts.traits import Figures
from lakelens.model.table import Table
from lakelens.options import display
from lakelens.views.present import present
from lakelens.views.timeline.json import find_path, write_view
from lakelens.views.timeline.layout import LEFT, WIDTH, lay_out
from lakelens.views.timeline.picture import describe_cuts, draw_timeline, render_picture
from lakelens.views.timeline.terminal import draw_history
from lakelens.views.timeline.wording import describe_history
from tests.support import LAKES, growth
from tests.support.view_lakes import PATHS, name_lake, open_lake
from tests.views.test_hostile import HOSTILE
from tests.views.test_lakes import list_unexplained

_SVG = "{http://www.w3.org/2000/svg}"
_ALLOWED = {f"{_SVG}{tag}" for tag in ("svg", "style", "rect", "path", "circle", "text")}


@pytest.fixture(autouse=True)
def _strict() -> Iterator[None]:
    with display.using(strict_views=True):
        yield


def open_table(name: str) -> Table:
    return ll.open(LAKES / name / "table")


def make_timeline(
    times: list[int], *, rows: list[int] | None = None, lanes: int = 1, name: str = "t"
) -> Timeline:
    """A history that nobody wrote: one append for each time."""
    table: Any = type("Fake", (), {"name": name, "format": "iceberg"})()
    fake: Any = None
    marks = [
        Mark(
            str(n),
            fake,
            "append",
            "append",
            n % lanes,
            time,
            str(n - 1) if n else None,
            Figures(added_rows=(rows or [1])[n % len(rows or [1])], rows=n),
            rows=RowCount((rows or [1])[n % len(rows or [1])]),
        )
        for n, time in enumerate(sorted(times))
    ]
    return Timeline(table, tuple(marks), tuple(Lane(f"lane {n}") for n in range(lanes)))


def read_picture(markup: str) -> tuple[ElementTree.Element, str]:
    """The picture of a card as XML, and its alternative text."""
    document = html5lib.parse(markup, namespaceHTMLElements=False)
    (image,) = document.iter("img")
    source = image.get("src")
    assert source.startswith("data:image/svg+xml;base64,")
    return ElementTree.fromstring(base64.b64decode(source.split(",")[1])), image.get("alt")


def read_texts(picture: ElementTree.Element) -> list[str]:
    return [node.text or "" for node in picture.iter(f"{_SVG}text")]


@pytest.mark.parametrize("path", PATHS, ids=name_lake)
def test_every_table_tells_its_history(path: Path) -> None:
    table = open_lake(path)
    if table is None:
        pytest.skip("a view, not a table")
    history = table.history
    markup, text = history._repr_html_(), history.to_text()
    assert len(markup.encode()) < 65_536
    html5lib.HTMLParser(strict=True).parseFragment(markup)
    if not history.marks:
        assert "<img" not in markup
        return
    picture, alternative = read_picture(markup)
    assert {node.tag for node in picture.iter()} <= _ALLOWED
    story = describe_history(history)
    assert alternative == story
    assert story in text
    for lane in history.lanes:
        if any(history.lanes[mark.lane] is lane for mark in history.marks):
            assert any(words.startswith(lane.name[:10]) for words in read_texts(picture))
    full = [n for n in picture.iter() if n.get("class") in ("ll-full", "ll-open")]
    kinds = {(mark.operation, mark.kind) for mark in history.marks}
    assert len(full) == len(history.marks) + len(kinds), "each mark, and the legend"


def test_the_story_in_words() -> None:
    story = describe_history(open_table("spark/iceberg/v2-rollback").history)
    assert story == (
        "4 snapshots of lakes.v2_rollback at 2026-11-21 14:04:27 UTC on branch main: 4 append. Rows on main grew from "
        "1 to 2. A rollback at 2026-11-21 14:04:27 UTC to 9139810181345852535 undid 2 snapshots."
    )
    story = describe_history(open_table("spark/paimon/expired").history)
    assert (
        "1 APPEND, 1 COMPACT. Stored rows on main shrank from 5 to 1, of which 1 live. 4 snapshots expired."
        in story
    )
    story = describe_history(open_table("spark/iceberg/v2-branches-and-tags").history)
    assert "on branches main and audit" in story
    assert "Tags v1/with slash and first. Branch empty-handed without a snapshot to itself." in story


def test_a_history_that_ends_in_known_live_rows_grows_by_what_is_stored() -> None:
    """The count of the newest state is proved by its index, that of the first one is not: stored is beside stored."""
    said = describe_history(ll.sample("paimon-deletion-vectors").history)
    assert "Stored rows on main grew from 4 to 8, of which 4 live." in said


def list_bars(name: str) -> dict[str, int]:
    """How many bars of each kind are in the picture of a table."""
    picture = ElementTree.fromstring(render_picture(open_table(name).history))
    found = [node.get("class") for node in picture.iter(f"{_SVG}path")]
    return {kind: found.count(kind) for kind in ("ll-add", "ll-del", "ll-most") if kind in found}


def test_deleted_rows_go_down() -> None:
    history = open_table("spark/iceberg/v3-deletion-vectors").history
    assert [mark.kind for mark in history.marks] == ["append", "append", "delete", "delete"]
    assert list_bars("spark/iceberg/v3-deletion-vectors") == {"ll-add": 2, "ll-del": 2}
    texts = read_texts(ElementTree.fromstring(render_picture(history)))
    assert {"\u22124,500", "\u22121,002"} <= set(texts), "the numbers stand beside the bars"
    (label,) = [item["label"] for item in write_view(lay_out(history))["items"][-1:]]
    assert "rows +0 \u22120, 1,002 rows deleted" in label
    assert "Live rows on main grew from 9,000 to 84,498." in describe_history(history)
    lines = ["".join(text for text, _ in line) for line in draw_history(history)]
    assert any("1,002 rows deleted, 84,498 live rows after" in line for line in lines)


def test_deletes_that_are_not_counted_are_outlined() -> None:
    assert list_bars("spark/iceberg/v2-equality-deletes") == {"ll-add": 2, "ll-most": 2}
    history = open_table("spark/iceberg/v2-equality-deletes").history
    assert "an outlined bar" in describe_cuts(lay_out(history))
    assert "rows of 2 values deleted" in write_view(lay_out(history))["items"][2]["label"]
    assert "2 values" in read_texts(ElementTree.fromstring(render_picture(history)))
    assert list_bars("spark/iceberg/v2-merge-on-read")["ll-most"] == 4
    assert "of which 17 to 23 live" in describe_history(open_table("spark/iceberg/v2-merge-on-read").history)


def test_vectors_of_paimon_are_an_event_too() -> None:
    history = open_table("spark/paimon/append-deletion-vectors").history
    assert [mark.kind for mark in history.marks] == ["append", "delete", "delete"], (
        "the engine calls them COMPACT"
    )
    assert "COMPACT that deletes 2" in read_texts(ElementTree.fromstring(render_picture(history)))
    assert list_bars("spark/paimon/append-deletion-vectors") == {"ll-add": 1, "ll-del": 2}
    kinds = {
        mark.operation: mark.kind for mark in open_table("spark/paimon/pk-deletion-vectors").history.marks
    }
    assert kinds == {"APPEND": "append", "COMPACT": "compact"}, (
        "there it marks rows that newer ones have replaced"
    )


def test_labels_of_one_second_have_milliseconds() -> None:
    for spacing in ("time", "even"):
        shapes = draw_timeline(lay_out(make_timeline(list(range(0, 5_500, 100))), spacing=spacing))  # type: ignore[arg-type]
        labels = [text for _, _, text in shapes if re.match(r"\d\d:\d\d", text)]
        assert len(labels) >= 4 and len(labels) == len(set(labels)), labels
        assert any("." in label for label in labels)


def test_a_table_without_snapshots_draws_nothing() -> None:
    view = write_view(lay_out(open_table("spark/hive/parquet").history))
    assert (view["shapes"], view["items"], view["height"]) == ([], [], 0)


@pytest.mark.parametrize(
    "name", ["iceberg/v2-rollback", "iceberg/v2-cherry-pick", "paimon/expired", "hive/parquet"]
)
def test_every_label_has_a_meaning(name: str) -> None:
    assert list(list_unexplained(present(open_table(f"spark/{name}").history, 2))) == []


def test_hive_says_that_it_keeps_no_snapshots() -> None:
    table = open_table("spark/hive/parquet")
    text = table.history.to_text()
    assert "a Hive table keeps no snapshots" in text
    # whenever this checkout was made: files of a clone are as old as the clone
    days = {f"{file.modified:%Y-%m-%d}" for file in table.list_files() if file.modified}
    assert any(f"3 files at {day}" in text for day in days) or "3 files from" in text
    assert "Written" in text


def test_nothing_from_a_lake_becomes_markup(tmp_path: Path) -> None:
    words = [word for word in HOSTILE if not any("\ud800" <= letter <= "\udfff" for letter in word)]
    root = growth.grow_iceberg(tmp_path / "table", snapshots=len(words), lake="v2-basic")
    path = sorted((root / "metadata").glob("*.metadata.json"))[-1]
    document = json.loads(path.read_text())
    for snapshot, word in zip(document["snapshots"][-len(words) :], words, strict=True):
        snapshot["summary"] |= {"operation": word, "wap.id": word, "source-snapshot-id": word}
        document["refs"][f"{word}"] = {"snapshot-id": snapshot["snapshot-id"], "type": "tag"}
        document["refs"][f"b {word}"] = {"snapshot-id": snapshot["snapshot-id"], "type": "branch"}
    path.write_text(json.dumps(document))
    history = ll.open(root).history
    picture, alternative = read_picture(history._repr_html_())
    assert {node.tag for node in picture.iter()} <= _ALLOWED
    assert all(
        not name.startswith("on") and "href" not in name for node in picture.iter() for name in node.attrib
    )
    for text in (*read_texts(picture), alternative, history.to_text()):
        assert all(letter == "\n" or letter.isprintable() for letter in text), repr(text)


@given(
    st.lists(st.integers(0, 250_000_000_000_000), min_size=1, max_size=200),
    st.lists(st.one_of(st.integers(0, 10), st.integers(0, 2**63)), min_size=1, max_size=5),
    st.integers(1, 4),
    st.sampled_from(["time", "even"]),
)
@settings(max_examples=40, deadline=None)
def test_whatever_the_times_all_has_its_place(
    times: list[int], rows: list[int], lanes: int, spacing: Any
) -> None:
    timeline = make_timeline(times, rows=rows, lanes=lanes)
    layout = lay_out(timeline, spacing=spacing)
    xs = [spot.x for spot in layout.spots]
    assert all(b - a >= 12 - 1e-6 for a, b in pairwise(xs)), "marks keep 12 pixels"
    assert all(LEFT <= x <= WIDTH for x in xs)
    assert all(spot.left <= spot.x <= spot.right for spot in layout.spots)
    assert all(a.right <= b.left + 1e-6 for a, b in pairwise(layout.spots))
    assert all(layout.find_spot(mark.key) is not None for mark in timeline.marks)
    picture = ElementTree.fromstring(render_picture(timeline))
    numbers = re.findall(r"-?\d+(?:\.\d+)?", " ".join(n.get("d", "") for n in picture.iter(f"{_SVG}path")))
    assert all(abs(float(number)) <= 2_000 for number in numbers)


def test_few_marks_are_true_to_time_and_a_long_pause_is_cut() -> None:
    layout = lay_out(make_timeline([0, 1_000_000, 4_000_000]))
    a, b, c = (spot.x for spot in layout.spots)
    assert (c - b) / (b - a) == pytest.approx(3, rel=0.01)
    assert not any(spot.is_cut for spot in layout.spots)
    times = [n * 1_000 for n in range(10)] + [10**9 + n * 1_000 for n in range(10)]
    layout = lay_out(make_timeline(times))
    assert [index for index, spot in enumerate(layout.spots) if spot.is_cut] == [10]
    assert "// a pause is shortened" in describe_cuts(layout)


def test_one_huge_commit_flattens_nothing() -> None:
    layout = lay_out(make_timeline(list(range(20)), rows=[10] * 19 + [10_000_000]))
    assert layout.scales[0].up == 40
    assert "a cut bar goes beyond the scale" in describe_cuts(layout)


def test_names_without_room_are_counted() -> None:
    base = make_timeline([0, 1000])
    flags = tuple(Flag(f"a tag of some length {n}", "tag", "0") for n in range(9))
    layout = lay_out(Timeline(base.table, base.marks, base.lanes, flags))
    assert sum(banner.row is None for banner in layout.banners) == 6
    assert "6 names without room are a tag" in describe_cuts(layout)


def test_a_path_in_a_circle_ends() -> None:
    base = make_timeline([0, 1, 2])
    turned = tuple(
        Mark(m.key, m.snapshot, "append", "append", 0, m.time, str((int(m.key) + 1) % 2 + 1), m.amounts)
        for m in base.marks
    )
    assert find_path(Timeline(base.table, turned, base.lanes), "0", "2") is None


@pytest.mark.exhaustive
def test_10000_snapshots_stay_within_the_budget(tmp_path: Path) -> None:
    history = ll.open(growth.grow_iceberg(tmp_path / "table", snapshots=10_000)).history
    for detail in (1, 2, 3):
        with display.using(max_rows=20):
            from lakelens.views.render.html import render_card

            assert len(render_card(history, detail).encode()) <= 65_536
    assert len(render_picture(history)) < 40_000


def test_the_picture_has_the_ground_of_the_page() -> None:
    timeline = ll.sample("iceberg").history
    assert "100%" not in render_picture(timeline)
    # where nothing says that the page is dark, dark strokes need a light ground; what is sanitised away leaves none
    assert 'style="max-width:100%;background:light-dark(#fff,transparent)"' in timeline._repr_html_()
