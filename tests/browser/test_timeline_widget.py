"""The timeline in a real browser, with Python behind it."""

from __future__ import annotations

import json
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.model.table import Table
from tests.browser.host import host_widget, push, settle
from tests.browser.looks import find_faults, find_overflow
from tests.support import LAKES, growth
from tests.views.test_hostile import HOSTILE

# a minute of them altogether: `make test-all`
pytestmark = pytest.mark.exhaustive

FOCUSED = "document.activeElement.getAttribute('aria-label')"


@pytest.fixture(scope="module")
def long(tmp_path_factory: pytest.TempPathFactory) -> Table:
    """A table of 10,000 snapshots."""
    return ll.open(growth.grow_iceberg(tmp_path_factory.mktemp("long") / "table", snapshots=10_000))


def open_table(name: str = "spark/iceberg/v2-rollback") -> Table:
    return ll.open(LAKES / name / "table")


def reach(page: Any) -> None:
    """Into the timeline with the tabulator, once it is drawn: a key that comes before that is nobody's."""
    settle(page)
    page.locator("button", has_text="before").focus()
    page.keyboard.press("Tab")


def count_selected(page: Any) -> int:
    found: int = page.locator("[role=option][aria-selected=true]").count()
    return found


def test_it_draws_every_snapshot_with_its_lane(page: Any) -> None:
    errors = host_widget(page, open_table().timeline())
    assert page.locator("[role=option]").count() == 4
    names = page.locator("#widget .ll-stage svg text.ll-name").all_text_contents()
    assert names == ["main", "rolled back"]
    assert page.locator("#widget .ll-stage svg circle.ll-full").count() == 4
    assert page.locator("#widget .ll-stage svg path.ll-back").count() == 1
    assert page.locator("#widget .ll-stage svg path.ll-add").count() == 4
    assert page.locator(".ll-legend").inner_text().strip().startswith("append 4")
    options = page.locator("[role=option]")
    boxes = [options.nth(n).bounding_box() for n in range(4)]
    marks = page.locator("#widget .ll-stage svg circle.ll-full")
    for n, box in enumerate(boxes):
        mark = marks.nth(n).bounding_box()
        assert box["x"] <= mark["x"] + mark["width"] / 2 <= box["x"] + box["width"]
    assert errors == []


def test_arrows_move_one_tab_stop(page: Any) -> None:
    table = open_table()
    widget = table.timeline()
    errors = host_widget(page, widget)
    reach(page)
    assert str(table.snapshots[3].id) in page.evaluate(FOCUSED), "the newest"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText").startswith("Facts"), "its card, which may scroll"
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.innerText") == "after"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("Shift+Tab")
    assert widget.snapshot is table.snapshots[3], "it opens with the newest chosen"
    assert count_selected(page) == 1
    page.keyboard.press("Escape")
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert widget.snapshot is table.snapshots[3], "the first key chooses what is reached"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    settle(page)
    assert widget.snapshot is table.snapshots[1]
    assert str(table.snapshots[1].id) in page.evaluate(FOCUSED)
    assert "rolled back" in page.locator("[role=status]").inner_text()
    assert f"snapshot {table.snapshots[1].id}" in page.locator("[role=status]").inner_text()
    assert page.locator(".ll-detail > p code").inner_text() == f"table.snapshot({table.snapshots[1].id})"
    height = page.locator("#widget").bounding_box()["height"]
    for key, index in (("Home", 0), ("End", 3), ("PageUp", 0), ("PageDown", 3)):
        page.keyboard.press(key)
        settle(page)
        assert widget.snapshot is table.snapshots[index]
        assert page.locator("#widget").bounding_box()["height"] == height, "nothing below it jumps"
    page.keyboard.press("i")
    settle(page)
    assert f"Snapshot {table.snapshots[3].id}" in page.locator(".ll-detail").inner_text()
    page.locator(".ll-link", has_text="I: five facts").click()
    settle(page)
    assert page.locator("#widget").bounding_box()["height"] == height
    assert page.locator("[role=option][tabindex='0']").count() == 1
    page.keyboard.press("Escape")
    settle(page)
    assert widget.snapshot is None
    assert count_selected(page) == 0
    assert errors == []


def test_shift_and_arrows_choose_a_range_and_its_diff(page: Any) -> None:
    table = open_table()
    widget = table.timeline()
    errors = host_widget(page, widget)
    reach(page)
    page.keyboard.press("End")
    for _ in range(3):
        page.keyboard.press("Shift+ArrowLeft")
    settle(page)
    assert widget.range == [str(table.snapshots[0].id), str(table.snapshots[3].id)]
    assert widget.diff is not None
    assert count_selected(page) == 4
    assert "1 snapshot on main" in page.locator("[role=status]").inner_text()
    assert page.locator("[role=status] b").inner_text() == "Diff"
    page.keyboard.press("i")
    settle(page)
    assert page.locator(".ll-detail :is(h4, h5)", has_text="Diff").count() == 1
    page.keyboard.press("i")
    settle(page)
    assert page.locator("circle.ll-dim").count() == 2
    page.keyboard.press("Shift+ArrowRight")
    settle(page)
    assert widget.range == [str(table.snapshots[1].id), str(table.snapshots[3].id)], (
        "the end stays where it began"
    )
    page.keyboard.press("ArrowRight")
    settle(page)
    assert (widget.range, widget.snapshot) == ([], table.snapshots[2])
    assert page.locator("circle.ll-dim").count() == 0
    assert errors == []


def test_keys_that_follow_quickly_ask_python_once(page: Any) -> None:
    widget = open_table().timeline()
    host_widget(page, widget)
    page.evaluate(
        "() => { const stage = document.querySelector('[role=listbox]'); for (let n = 0; n < 30; n++)"
        " stage.dispatchEvent(new KeyboardEvent('keydown', { key: n % 2 ? 'ArrowLeft' : 'ArrowRight' })) }"
    )
    settle(page)
    assert page.evaluate("host.saves") == 1


def test_the_pointer_chooses_extends_and_drags(page: Any) -> None:
    table = open_table()
    widget = table.timeline()
    host_widget(page, widget)
    options = page.locator("[role=option]")
    options.nth(1).click()
    settle(page)
    assert widget.snapshot is table.snapshots[1]
    options.nth(3).click(modifiers=["Shift"])
    settle(page)
    assert widget.range == [str(table.snapshots[1].id), str(table.snapshots[3].id)]
    start, end = options.nth(2).bounding_box(), options.nth(0).bounding_box()
    page.mouse.move(start["x"] + 5, start["y"] + 30)
    page.mouse.down()
    page.mouse.move(end["x"] + 5, end["y"] + 30, steps=8)
    page.mouse.up()
    settle(page)
    assert widget.range == [str(table.snapshots[0].id), str(table.snapshots[2].id)]
    assert widget.diff is not None


def test_what_python_chooses_is_shown(page: Any) -> None:
    table = open_table()
    widget = table.timeline()
    host_widget(page, widget)
    widget.range = [str(table.snapshots[1].id), str(table.snapshots[2].id)]
    push(page)
    assert count_selected(page) == 2
    widget.selected = str(table.snapshots[3].id)
    push(page)
    assert count_selected(page) == 1
    assert page.locator("[role=option][tabindex='0']").get_attribute("aria-selected") == "true"


def test_folds_open_with_enter_and_close_with_escape(page: Any, long: Table) -> None:
    widget = long.timeline()
    errors = host_widget(page, widget)
    reach(page)
    page.keyboard.press("Home")
    page.keyboard.press("ArrowRight")
    settle(page)
    assert "snapshots: " in page.evaluate(FOCUSED)
    assert len(widget.range) == 2, "a fold is a range"
    before = page.locator("[role=option]").count()
    fold = widget.view["items"][1]
    page.keyboard.press("Enter")
    settle(page)
    assert (widget.view["items"][0]["first"], widget.view["items"][-1]["last"]) == (
        fold["first"],
        fold["last"],
    )
    assert page.locator(".ll-link", has_text="back").count() == 1
    assert page.evaluate("document.activeElement.getAttribute('role')") == "option"
    page.keyboard.press("End")
    settle(page)
    assert widget.snapshot is not None
    assert str(widget.snapshot.id) == fold["last"]
    page.keyboard.press("Escape")
    settle(page)
    assert page.locator("[role=option]").count() == before
    assert page.locator(".ll-link", has_text="back").count() == 0
    assert page.evaluate(FOCUSED) == fold["label"], "where it was opened"
    page.keyboard.press("Shift+Home")
    page.locator("[role=option]").nth(3).click()
    settle(page)
    page.locator("[role=option]").nth(3).click()
    settle(page)
    assert widget.view["back"], "a second click opens"
    page.locator(".ll-link", has_text="back").click()
    settle(page)
    assert not widget.view["back"]
    assert errors == []


def test_10000_snapshots_are_few_nodes(page: Any, long: Table) -> None:
    errors = host_widget(page, long.timeline())
    assert page.locator("#widget *").count() < 1000
    assert errors == []


def test_the_key_s_spaces_evenly(page: Any) -> None:
    widget = open_table().timeline()
    host_widget(page, widget)
    before = [item["x"] for item in widget.view["items"]]
    reach(page)
    page.keyboard.press("s")
    settle(page)
    assert widget.spacing == "even"
    xs = [item["x"] for item in widget.view["items"]]
    assert xs != before
    assert len({round(b - a) for a, b in pairwise(xs)}) == 1
    page.locator(".ll-link", has_text="S:").click()
    settle(page)
    assert [item["x"] for item in widget.view["items"]] == before


def test_listeners_end_with_the_view(page: Any) -> None:
    widget = open_table().timeline()
    host_widget(page, widget)
    page.evaluate("window.stage = document.querySelector('[role=listbox]')")
    assert page.evaluate("Object.values(host.handlers).flat().length") == 2
    page.evaluate("host.dispose()")
    assert page.evaluate("Object.values(host.handlers).flat().length") == 0
    assert page.locator("#widget > *").count() == 0
    page.evaluate("stage.dispatchEvent(new KeyboardEvent('keydown', { key: 'Home' }))")
    assert page.evaluate("host.state.selected") == widget.selected != str(widget.view["items"][0]["first"])


def test_no_text_becomes_markup(page: Any, tmp_path: Path) -> None:
    words = [word for word in HOSTILE if "<" in word or "&" in word or '"' in word]
    root = growth.grow_iceberg(tmp_path / "table", snapshots=len(words), lake="v2-basic")
    path = sorted((root / "metadata").glob("*.metadata.json"))[-1]
    document = json.loads(path.read_text())
    for snapshot, word in zip(document["snapshots"][-len(words) :], words, strict=True):
        snapshot["summary"]["operation"] = word
        document["refs"][word] = {"snapshot-id": snapshot["snapshot-id"], "type": "tag"}
    path.write_text(json.dumps(document))
    errors = host_widget(page, ll.open(root).timeline())
    reach(page)
    page.keyboard.press("End")
    for _ in words:
        page.keyboard.press("ArrowLeft")
        settle(page)
    page.keyboard.press("Shift+End")
    settle(page)
    for tag in ("script", "img", "iframe", "[onerror]", "svg svg"):
        assert page.locator(f"#widget {tag}").count() == 0
    assert words
    assert errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize(
    "name", ["spark/iceberg/v2-rollback", "paimon-java/2.0.0-branches", "spark/hive/parquet"]
)
def test_it_fits_and_has_no_serious_fault(page: Any, scheme: str, name: str) -> None:
    widget = open_table(name).timeline()
    host_widget(page, widget, scheme)
    if widget.view["items"]:
        reach(page)
        page.keyboard.press("Home")
        page.keyboard.press("Shift+ArrowRight")
        settle(page)
        outline = page.evaluate("getComputedStyle(document.activeElement).outlineWidth")
        assert outline == "2px", "focus is seen"
    assert find_overflow(page, "#widget") == []
    assert find_faults(page, "#widget") == []


def test_a_table_without_snapshots_has_no_empty_picture(page: Any) -> None:
    errors = host_widget(page, open_table("spark/hive/parquet").timeline())
    assert page.locator("svg").first.is_hidden()
    assert page.locator("[role=listbox]").is_hidden(), "nothing to choose from"
    assert errors == []
