"""A list in a real browser, with Python behind it: pages, titles that sort, a filter, picks, and keys."""

from __future__ import annotations

from typing import Any

import pytest

import lakelens as ll
from lakelens.model.collections import Items
from lakelens.model.fileset import FileSet
from tests.browser.host import host_widget, push, settle
from tests.browser.looks import find_faults, find_overflow
from tests.browser.test_hostile_browser import FOREIGN, Alarm
from tests.support.fakes import FakeTable
from tests.views.test_hostile import cycle
from tests.widgets.test_list import Things

# a minute of them altogether: `make test-all`
pytestmark = pytest.mark.exhaustive

FOCUSED = "document.activeElement.dataset.position ?? document.activeElement.dataset.key ?? document.activeElement.tagName"
ROWS = ".ll-box tbody tr"
POSITIONS = (
    "[...document.querySelectorAll('#widget .ll-box tbody tr')].map(row => Number(row.dataset.position))"
)


def list_things(count: int = 100) -> Items[Any]:
    return Things([(number * 37) % count for number in range(count)])


def press(page: Any, *keys: str) -> None:
    # a key may ask Python for another page: the next one is meant for what that page shows
    for key in keys:
        page.keyboard.press(key)
        settle(page)


def test_keys_lead_through_pages_titles_and_rows(page: Any) -> None:
    things = list_things()
    widget = things.widget()
    errors = host_widget(page, widget)
    page.locator("button", has_text="before").focus()
    press(page, "Tab", "Tab")
    assert page.evaluate(FOCUSED) == "0"
    assert page.locator("#widget [role=grid] [tabindex='0']").count() == 1
    press(page, "ArrowDown", "ArrowDown", "PageDown")
    assert page.evaluate(POSITIONS) == list(range(20, 40))
    assert page.evaluate(FOCUSED) == "20"
    press(page, "ArrowUp")
    assert (page.evaluate(FOCUSED), widget.start) == ("19", 0)
    press(page, "ArrowDown")
    assert (page.evaluate(FOCUSED), widget.start) == ("20", 20)
    press(page, "End")
    assert (page.evaluate(FOCUSED), widget.start) == ("99", 80)
    assert page.locator(".ll-pages").inner_text().startswith("first")
    assert "81 to 100 of 100 items" in page.locator(".ll-pages").inner_text()
    press(page, "ArrowDown")
    assert page.evaluate(FOCUSED) == "99", "there is nothing after the last"
    press(page, "Home", "ArrowUp")
    assert page.evaluate(FOCUSED) == "thing"
    press(page, "Enter")
    assert widget.order == "thing"
    assert page.locator("th").get_attribute("aria-sort") == "ascending"
    assert [things[position] for position in page.evaluate(POSITIONS)] == list(range(20))
    press(page, "Enter")
    assert widget.order == "-thing"
    assert page.evaluate(FOCUSED) == "thing", "the focus stays on the title"
    press(page, "Enter", "s", "r")
    assert widget.order == "-thing"
    press(page, "ArrowDown", "Enter")
    assert widget.selected == [page.evaluate(POSITIONS)[0]]
    assert "1 item chosen" in page.locator("[role=status]").inner_text()
    press(page, "ArrowDown", " ")
    assert len(widget.selected) == 2
    assert page.locator(f"{ROWS}[aria-selected=true]").count() == 2
    press(page, " ", "Escape")
    assert widget.selected == []
    assert page.locator("[role=status]").is_hidden()
    press(page, "?")
    assert page.locator(".ll-keys").is_visible()
    assert errors == []


def test_the_mouse_pages_sorts_and_chooses(page: Any) -> None:
    files: FileSet = ll.sample("iceberg").files
    widget = files.widget()
    widget.page_size = 4
    errors = host_widget(page, widget)
    page.locator("th", has_text="bytes").click()
    settle(page)
    assert widget.order == "-bytes", "of numbers the greatest come first"
    page.locator("th", has_text="file").click()
    settle(page)
    assert widget.order == "file"
    assert page.locator("th[aria-sort=ascending]").inner_text().startswith("file")
    page.locator("button", has_text="next").click()
    settle(page)
    assert widget.start == 4
    page.locator(ROWS).nth(1).click()
    page.locator(ROWS).nth(0).click(modifiers=["Control"])
    settle(page)
    assert widget.selected == [widget.positions[5], widget.positions[4]]
    assert page.locator(".ll-detail code").count() > 3, "the card of the last one"
    page.locator("select").select_option("50")
    settle(page)
    assert page.locator(ROWS).count() == len(files) - 4
    page.locator("button", has_text="first").click()
    settle(page)
    assert page.locator(ROWS).count() == len(files)
    widget.selected, widget.filter = [0], "record_count = 1"
    push(page)
    settle(page)
    assert page.locator(ROWS).count() == len(widget.positions) < len(files)
    assert page.locator(f"{ROWS}[aria-selected=true]").count() == (0 in widget.positions)
    assert errors == []


def test_a_filter_says_what_is_wrong_in_its_place(page: Any) -> None:
    widget = ll.sample("iceberg").files.widget()
    errors = host_widget(page, widget)
    page.locator(ROWS).first.focus()
    press(page, "/")
    page.keyboard.type("record_cont > 1")
    settle(page)
    assert "did you mean record_count" in page.locator("[role=alert]").inner_text()
    assert page.locator("[role=alert] u").inner_text() == "record_cont"
    assert page.locator(ROWS).count() == 7
    assert page.evaluate("document.activeElement.value") == "record_cont > 1", "typing goes on"
    page.keyboard.press("Escape")
    page.keyboard.type("record_count > 1")
    settle(page)
    assert page.locator("[role=alert]").is_hidden()
    assert page.locator(ROWS).count() == len(widget.positions) == 4
    page.keyboard.press("ArrowDown")
    assert page.evaluate(FOCUSED) == str(widget.positions[0])
    press(page, "/")
    page.keyboard.type("record_count < 0")
    settle(page)
    assert page.locator(ROWS).count() == 0
    assert page.locator("th").count() > 4, "the titles stay"
    assert errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_has_no_fault(page: Any, scheme: str) -> None:
    widget = ll.sample("iceberg").snapshots.widget()
    errors = host_widget(page, widget, scheme)
    page.locator("th", has_text="committed").click()
    page.locator(ROWS).first.click()
    page.keyboard.press("?")
    widget.filter = "append"
    push(page)
    settle(page)
    for width in (900, 700):
        page.set_viewport_size({"width": width, "height": 1000})
        assert page.evaluate("document.documentElement.scrollWidth") <= width
        wide = find_overflow(page, "#widget")  # where it is narrow the rows scroll, and nothing else does
        assert [words for words in wide if width > 700 or not words.startswith("DIV.ll-box")] == []
    assert find_faults(page, "#widget") == []
    assert errors == []


def test_nothing_of_a_lake_runs(page: Any) -> None:
    table = FakeTable(cycle())
    for thing in (table.files, table.snapshots, table.snapshots[-1].manifests[0].entries):
        fresh = page.context.new_page()
        alarm = Alarm(fresh)
        widget = thing.widget()
        host_widget(fresh, widget)
        fresh.locator(ROWS).first.click()
        settle(fresh)
        assert widget.selected
        assert fresh.locator("main").evaluate(FOREIGN) == []
        assert alarm.heard == []
        fresh.close()
