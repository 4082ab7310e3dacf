"""The files of a diff in a real browser, with Python behind them, and once in a real JupyterLab."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from tests.browser.host import host_widget, push, settle
from tests.browser.lab import Lab
from tests.browser.looks import find_faults, find_overflow
from tests.views.test_hostile import HOSTILE
from tests.widgets.test_filediff import MERGED, RESCALED, make_diff, make_large

# a minute of them altogether: `make test-all`
pytestmark = pytest.mark.exhaustive

FOCUSED = "document.activeElement.innerText"
RENDERED = "[...document.querySelectorAll('#widget tbody tr')].filter(tr => !tr.hidden).length"

MAKE = """
import lakelens as ll

table = ll.sample("iceberg")
diff = table.diff(table.snapshots[0], table.snapshots[-1])
widget = diff.widget()
widget
"""


def reach(page: Any) -> None:
    """Into the files with the tabulator: the filter comes first."""
    page.locator("button", has_text="before").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("Tab")


def test_removed_is_left_and_added_is_right(page: Any) -> None:
    diff = make_diff("spark/iceberg/v2-copy-on-write")
    errors = host_widget(page, diff.widget())
    both = page.locator("tbody tr", has=page.locator("[data-key^=removed]")).first
    left, right = (both.locator(f"[data-key^={side}]").bounding_box() for side in ("removed", "added"))
    bar = page.locator("tbody tr[aria-expanded] i.ll-r").first.bounding_box()
    assert left["x"] + left["width"] <= bar["x"] < right["x"]
    assert page.locator("[data-key^=added]").count() == len(diff.added)
    assert page.locator("[data-key^=removed]").count() == len(diff.removed)
    came = page.locator("tbody i.ll-a").first.bounding_box()
    assert abs(bar["x"] + bar["width"] - came["x"]) < 1, "both bars start at one line"
    assert errors == []


def test_arrows_move_one_tab_stop(page: Any) -> None:
    diff = make_diff()
    widget = diff.widget()
    errors = host_widget(page, widget)
    reach(page)
    assert page.locator("tbody [tabindex='0']").count() == 1
    page.keyboard.press("Tab")
    assert page.evaluate(FOCUSED) == "after"
    page.keyboard.press("Shift+Tab")
    assert page.evaluate(FOCUSED).startswith("p=a")
    page.keyboard.press("ArrowLeft")
    assert page.locator("tbody tr[aria-expanded=false]").count() == 1
    assert page.evaluate(RENDERED) == 5
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(FOCUSED).startswith("bucket 0")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    settle(page)
    assert widget.file is diff.removed[0]
    assert page.locator("tbody [aria-selected=true]").get_attribute("data-key") == "removed/0"
    assert "diff.removed[0]" in page.locator("[role=status]").inner_text()
    assert "Data file" in page.locator(".ll-detail").inner_text()
    page.keyboard.press("Escape")
    settle(page)
    assert widget.file is None
    assert page.locator("tbody [aria-selected=true]").count() == 0
    page.keyboard.press("Escape")
    assert page.evaluate(FOCUSED).startswith("level 0"), "back to the group"
    page.keyboard.press("End")
    page.keyboard.press(" ")
    settle(page)
    assert widget.file in diff.added
    page.keyboard.press("Home")
    assert page.evaluate(FOCUSED).startswith("p=a")
    assert errors == []


def test_right_and_left_cross_from_side_to_side(page: Any) -> None:
    host_widget(page, make_diff("spark/iceberg/v2-copy-on-write").widget())
    reach(page)
    page.keyboard.press("ArrowDown")
    key = "document.activeElement.dataset.key"
    assert page.evaluate(key).startswith("removed/")
    page.keyboard.press("ArrowRight")
    assert page.evaluate(key) == "added/0"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate(key).startswith("removed/")


def test_a_filter_is_asked_when_the_reader_pauses(page: Any) -> None:
    widget = make_diff().widget()
    errors = host_widget(page, widget)
    reach(page)
    page.keyboard.press("/")
    page.keyboard.type("bucket=2 level=5")
    settle(page)
    assert widget.filter == "bucket=2 level=5"
    assert page.evaluate("host.saves") < len("bucket=2 level=5")
    assert page.locator("[data-key]").count() == 1
    assert page.locator("thead .ll-all").inner_text() == "1 of 6 files"
    assert page.evaluate("document.activeElement.value") == "bucket=2 level=5", "typing goes on"
    page.keyboard.press("ArrowDown")
    assert page.evaluate(FOCUSED).startswith("p=a")
    page.keyboard.press("/")
    page.keyboard.type("nothing like it")
    settle(page)
    assert page.evaluate(RENDERED) == 0
    page.keyboard.press("Escape")
    settle(page)
    assert widget.filter == ""
    assert page.locator("[data-key]").count() == 6
    assert errors == []


def test_keys_and_links_sort_and_show_what_was_kept(page: Any) -> None:
    widget = make_diff(MERGED).widget()
    errors = host_widget(page, widget)
    reach(page)
    page.keyboard.press("s")
    settle(page)
    assert widget.order == "rows"
    assert page.locator(".ll-link.ll-on").inner_text() == "rows"
    assert page.evaluate("document.activeElement.getAttribute('role')") == "row", "the focus stays"
    page.locator(".ll-link", has_text="name").click()
    settle(page)
    assert widget.order == "name"
    assert page.locator("tbody td.ll-kept").count() == 0
    reach(page)
    page.keyboard.press("k")
    settle(page)
    assert widget.kept
    assert page.locator("tbody td.ll-kept").count() == 2
    page.locator("[data-key^=kept]").first.click()
    settle(page)
    assert widget.file is not None
    assert widget.selected.startswith("kept/")
    page.locator(".ll-link", has_text="kept").click()
    settle(page)
    assert not widget.kept
    assert errors == []


def test_what_was_closed_stays_closed(page: Any) -> None:
    widget = make_diff().widget()
    host_widget(page, widget)
    page.locator("tr[aria-expanded]", has_text="bucket 2").click()
    shown = page.evaluate(RENDERED)
    reach(page)
    page.keyboard.press("s")
    settle(page)
    assert page.locator("tr[aria-expanded]", has_text="bucket 2").get_attribute("aria-expanded") == "false"
    assert page.evaluate(RENDERED) == shown


def test_100000_files_are_asked_for_in_pages(page: Any) -> None:
    widget = make_large().widget()
    errors = host_widget(page, widget)
    assert page.locator("#widget *").count() < 300
    page.locator("tr[aria-expanded]", has_text="bucket 1").click()
    settle(page)
    assert page.locator("[data-key]").count() == 100, "the one level of it is opened as well"
    more = page.locator("tr.ll-more", has_text="more files")
    assert more.inner_text() == "… 33,233 more files"
    page.locator("[data-key]").last.focus()
    page.evaluate("host.asked = []")
    more.click()
    settle(page)
    assert page.locator("[data-key]").count() == 200
    assert "data" not in page.evaluate("document.activeElement.tagName")
    assert page.evaluate("document.activeElement.dataset.key") is not None, "on the first of the new files"
    assert more.inner_text() == "… 33,133 more files"
    assert len(page.evaluate("host.asked")) == 1
    page.locator("input").fill("f-077777")
    settle(page)
    assert page.locator("[data-key]").count() == 1
    assert page.locator("[data-key]").get_attribute("data-key") == "added/77777"
    assert errors == []


def test_an_answer_to_an_older_question_is_not_taken(page: Any) -> None:
    host_widget(page, make_large(2_000).widget())
    page.evaluate("host.model.send = content => { host.held = content; }")
    page.locator("tr[aria-expanded]", has_text="bucket 1").click()
    answer = """by => host.fire('msg:custom', { type: 'rows', id: host.held.id, version: host.held.version + by,
        rows: [{ id: '', kind: 'end', depth: 2, text: 'answered' }], message: '' })"""
    page.evaluate(answer, -1)
    assert page.locator("tbody td", has_text="answered").count() == 0
    page.evaluate(answer, 0)
    page.evaluate(answer, 0)
    assert page.locator("tbody td", has_text="answered").count() == 1


def test_a_long_fold_scrolls_under_its_titles(page: Any) -> None:
    host_widget(page, make_large(2_000).widget())
    page.locator("tr[aria-expanded]", has_text="bucket 1").click()
    settle(page)
    reach(page)
    page.keyboard.press("End")
    box, head = page.locator(".ll-box").bounding_box(), page.locator("[role=treegrid] thead").bounding_box()
    assert head["y"] == pytest.approx(box["y"], abs=1), "the titles stay"
    for key in ("PageUp", "PageUp", "Home"):
        page.keyboard.press(key)
        row = page.evaluate(
            "(({ top, bottom }) => [top, bottom])(document.activeElement.getBoundingClientRect())"
        )
        assert row[0] >= head["y"] + head["height"] - 1, "what has the focus is not covered"
        assert row[1] <= box["y"] + box["height"] + 1


def test_what_python_chooses_is_shown(page: Any) -> None:
    diff = make_diff()
    widget = diff.widget()
    host_widget(page, widget)
    widget.select(diff.added[2])
    widget.filter = "p=a"
    push(page)
    assert page.locator("tbody [aria-selected=true]").get_attribute("data-key") == "added/2"
    assert "diff.added[2]" in page.locator("[role=status]").inner_text()
    assert page.locator("input").input_value() == "p=a"


def test_listeners_end_with_the_view(page: Any) -> None:
    widget = make_diff().widget()
    host_widget(page, widget)
    page.evaluate("window.body = document.querySelector('#widget tbody')")
    assert page.evaluate("Object.values(host.handlers).flat().length") == 4
    page.evaluate("host.dispose()")
    assert page.evaluate("Object.values(host.handlers).flat().length") == 0
    assert page.locator("#widget > *").count() == 0
    page.evaluate(
        "body.querySelector('td[data-key]').dispatchEvent(new MouseEvent('click', { bubbles: true }))"
    )
    assert page.evaluate("host.state.selected") == ""


def test_no_text_becomes_markup(page: Any) -> None:
    words = [word for word in HOSTILE if "<" in word or "&" in word or '"' in word]
    diff = make_large(len(words))
    for file, word in zip(diff.added, words, strict=True):
        file.__dict__ |= {"path": f"/lake/{word.replace('/', '|')}"}
    widget = diff.widget()
    errors = host_widget(page, widget)
    for index in range(len(words)):
        page.locator(f"[data-key='added/{index}']").click()
        settle(page)
        assert widget.selected == f"added/{index}"
    for tag in ("script", "img", "iframe", "svg", "[onerror]", "[onload]", "[onmouseover]"):
        assert page.locator(f"#widget {tag}").count() == 0
    assert "<img src=x onerror=alert(1)>" in page.locator("[role=treegrid] tbody").inner_text()
    assert errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", [RESCALED, MERGED])
def test_it_fits_and_has_no_serious_fault(page: Any, scheme: str, name: str) -> None:
    widget = make_diff(name).widget()
    widget.kept = True
    host_widget(page, widget, scheme)
    page.locator("[data-key]").first.click()
    settle(page)
    page.keyboard.press("ArrowDown")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineWidth") == "2px", "focus is seen"
    assert find_overflow(page, "#widget") == []
    assert find_faults(page, "#widget") == []


def test_in_jupyterlab_a_choice_comes_back_as_a_file(lab: Lab, browser: Any) -> None:
    ask = "'answer', widget.file is diff.added[int(widget.selected[6:])], widget.filter"
    cells = [nbformat.v4.new_code_cell(source) for source in (MAKE, ask)]
    lab.write("files.ipynb", cells, trusted=True)
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    try:
        panel = lab.open(page, "files.ipynb")
        lab.run_cell(page, 0)
        files = panel.locator(".ll-fd")
        files.locator("[data-key]").first.wait_for()
        files.locator("input").click()
        # letters are typed, none of them is a command of the notebook
        page.keyboard.type("added parquet")
        files.locator("thead .ll-all", has_text=" of ").wait_for()
        page.keyboard.press("ArrowDown")
        page.keyboard.press("End")
        page.keyboard.press("Enter")
        files.locator(".ll-detail :is(h4, h5)", has_text="Data file").wait_for()
        assert files.locator("[aria-selected=true]").count() == 1
        lab.run_until(page, 1, "('answer', True, 'added parquet')")
    finally:
        page.close()
