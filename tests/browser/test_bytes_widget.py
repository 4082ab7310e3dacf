"""The widget of an explanation in a real browser, with Python behind it."""

from __future__ import annotations

from typing import Any

import pytest

import lakelens as ll
from lakelens.codecs.span.span import Span
from lakelens.model.bytes_view import BytesView
from tests.browser.host import host_widget, settle
from tests.browser.looks import find_faults, find_overflow
from tests.views.test_bytes import make_endless, make_row
from tests.views.test_hostile import HOSTILE
from tests.widgets.test_bytes import make_blocks

# a minute of them altogether: `make test-all`
pytestmark = pytest.mark.exhaustive


def list_marked(page: Any, name: str) -> list[str]:
    """The text of what carries a class."""
    found: list[str] = page.locator(f"#widget .{name}").all_inner_texts()
    return found


def test_a_field_shows_its_bytes_and_bytes_their_field(page: Any) -> None:
    errors = host_widget(page, make_row().widget())
    slot = page.locator("tr", has_text="STRING: 10 bytes")
    slot.locator("td").nth(5).hover()
    marked = list_marked(page, "ll-same")
    assert len(marked) == 3, "the slot, and both lines of the variable part"
    assert "68 65 6c 6c 6f 77 6f 72" in marked[1]
    page.locator("tr", has_text="bytes 8 to 9").locator("[data-p]").first.hover()
    assert list_marked(page, "ll-same") == marked
    assert list_marked(page, "ll-on") == ["68 65 6c 6c 6f 77 6f 72", "6c 64"]
    assert (
        page.locator(".ll-q").inner_text()
        == "name · text: UTF-8 · at +24 to +33, 10 bytes; bytes 28 to 37 of all"
    )
    assert errors == []


def test_a_click_selects_a_field_or_a_leaf(page: Any) -> None:
    widget = make_row().widget()
    host_widget(page, widget)
    page.locator("tr", has_text="INT, 4 bytes").locator("td").nth(2).click()
    settle(page)
    assert widget.selected == {"start": 12, "end": 20, "label": "id", "code": ""}
    assert list_marked(page, "ll-sel") == ["07 00 00 00", "00 00 00 00"]
    assert page.locator("tr[aria-selected=true]").count() == 1
    page.locator("tr", has_text="INT, 4 bytes").locator("[data-p]").nth(1).click()
    settle(page)
    assert widget.span is not None
    assert (widget.span.start, widget.span.end, widget.span.label) == (16, 20, "unused")
    assert list_marked(page, "ll-sel") == ["00 00 00 00"]


def test_what_python_selects_is_shown(page: Any) -> None:
    widget = make_row().widget()
    host_widget(page, widget)
    widget.select(30)
    page.evaluate("selected => host.model.set('selected', selected)", widget.selected)
    assert list_marked(page, "ll-sel") == ["68 65 6c 6c 6f 77 6f 72", "6c 64"]
    assert (
        page.locator(".ll-q").inner_text()
        == "selected: text · at +24 to +33, 10 bytes; bytes 28 to 37 of all"
    )
    page.evaluate("host.model.set('selected', null)")
    assert list_marked(page, "ll-sel") == []


def test_folds_are_filled_by_python_when_they_open(page: Any) -> None:
    errors = host_widget(page, make_blocks().widget())
    rows = page.locator("#widget tbody tr:visible")
    before = rows.count()
    fold = page.locator("tr[aria-expanded=false]", has_text="block 7")
    fold.click()
    page.locator("tr[role=row]", has_text="field 700").wait_for()
    opened = rows.count()
    assert opened > before
    fold = page.locator("tr[aria-expanded]", has_text="block 7")
    fold.click()
    assert rows.count() == before
    fold.click()
    assert rows.count() == opened, "asked once, kept"
    assert errors == []


def test_what_was_left_out_comes_in_its_place(page: Any) -> None:
    host_widget(page, BytesView(bytes(100), make_endless(100)).widget())
    page.locator("tr.ll-more").click()
    page.locator("tr[role=row]", has_text="f99").wait_for()
    fields = page.locator("#widget td:nth-child(3)").all_inner_texts()
    assert fields == [f"f{n}" for n in range(100)]


def test_one_tab_stop_arrows_enter_and_escape(page: Any) -> None:
    widget = make_blocks().widget()
    host_widget(page, widget)
    focused = "document.activeElement.innerText"
    page.locator("button", has_text="before").focus()
    page.keyboard.press("Tab")
    assert "block 0" in page.evaluate(focused)
    page.keyboard.press("Tab")
    assert page.evaluate(focused) == "after"
    page.keyboard.press("Shift+Tab")
    page.keyboard.press("ArrowDown")
    assert "block 1" in page.evaluate(focused)
    page.keyboard.press("End")
    assert "block 29" in page.evaluate(focused)
    page.keyboard.press("Home")
    page.keyboard.press("Enter")
    page.locator("tr", has_text="field 0").first.wait_for()
    assert page.locator("tr[aria-expanded=true]").count() >= 1
    while "uint8" not in page.evaluate(focused):
        before = page.evaluate(focused)
        page.keyboard.press("ArrowRight")
        if page.evaluate(focused) == before:
            page.keyboard.press("ArrowDown")
    page.keyboard.press("Enter")
    settle(page)
    assert widget.selected is not None
    assert widget.selected["label"].startswith("field")
    page.keyboard.press("Escape")
    settle(page)
    assert widget.selected is None
    page.keyboard.press("Escape")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "true"
    page.keyboard.press("ArrowLeft")
    assert page.evaluate("document.activeElement.getAttribute('aria-expanded')") == "false"


def test_leaves_of_a_line_are_reached_by_keyboard(page: Any) -> None:
    widget = make_row().widget()
    host_widget(page, widget)
    page.locator("button", has_text="before").focus()
    page.keyboard.press("Tab")
    while "INT, 4 bytes" not in page.evaluate("document.activeElement.innerText"):
        page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowRight")
    assert list_marked(page, "ll-on") == ["07 00 00 00"]
    page.keyboard.press("ArrowRight")
    page.keyboard.press("Enter")
    settle(page)
    assert widget.selected is not None
    assert widget.selected["label"] == "unused"
    page.keyboard.press("ArrowLeft")
    page.keyboard.press("ArrowLeft")
    assert list_marked(page, "ll-on") == []


def test_the_status_counts_as_the_rows_do(page: Any) -> None:
    """A row said +24 and the status "bytes 28 to 35": two origins without a word."""
    manifest: Any = ll.sample("paimon").current.manifests[-1]  # type: ignore[union-attr]
    widget = manifest.entries[0].file.value_stats.min_values.bytes_view().widget()
    host_widget(page, widget)
    line = next(row for row in widget.view["rows"] if row["kind"] == "line" and row["at"].startswith("+8"))
    assert line["start"] == line["origin"] + 8
    page.locator("tr", has=page.locator("td", has_text=line["at"])).first.click()
    first, last = line["start"], line["end"] - 1
    said = f"selected: {line['name']} · at +8 to +15, 8 bytes; bytes {first} to {last} of all"
    assert page.locator(".ll-q").inner_text() == said
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    assert page.locator(".ll-q").inner_text() == said.removeprefix("selected: "), "the row that was reached"


def test_search_offsets_copying(page: Any) -> None:
    widget = make_blocks().widget()
    errors = host_widget(page, widget)
    page.evaluate(
        "window.copied = []; Object.defineProperty(navigator, 'clipboard', { configurable: true,"
        " value: { writeText: async text => { copied.push(text) } } })"
    )
    focused = "document.activeElement.innerText"
    page.locator("button", has_text="before").focus()
    page.keyboard.press("Tab")
    page.keyboard.press("/")
    page.keyboard.type("field 12")
    page.keyboard.press("Enter")
    settle(page)
    assert "field 12" in page.locator(".ll-q").inner_text()
    assert page.evaluate("document.activeElement.tagName") == "INPUT", "Enter goes on"
    page.keyboard.press("Enter")
    settle(page)
    assert "field 120" in page.locator(".ll-q").inner_text()
    page.keyboard.press("Escape")
    assert "field 120" in page.evaluate(focused)
    assert page.locator("tr[tabindex='0']:visible").count() == 1
    page.keyboard.press("n")
    settle(page)
    assert "field 121" in page.evaluate(focused)
    page.keyboard.press("g")
    page.keyboard.type("0xb23")
    page.keyboard.press("Enter")
    settle(page)
    page.keyboard.press("ArrowDown")
    assert "field 2851" in page.evaluate(focused)
    page.keyboard.press("c")
    settle(page)
    assert page.evaluate("copied") == ["51"]
    assert page.locator(".ll-q").inner_text() == "copied: 51"
    page.evaluate("() => { navigator.clipboard.writeText = async () => { throw new Error('denied') } }")
    page.locator(".ll-link", has_text="copy").click()
    settle(page)
    assert "does not let this page copy" in page.locator(".ll-q").inner_text()
    page.locator(".ll-link", has_text="go to").click()
    page.keyboard.type("99999")
    page.keyboard.press("Enter")
    settle(page)
    assert "not among bytes 0 to 2,999" in page.locator(".ll-q").inner_text()
    assert find_overflow(page, "#widget") == []
    assert find_faults(page, "#widget") == []
    assert errors == []


def test_listeners_end_with_the_view(page: Any) -> None:
    host_widget(page, make_blocks().widget())
    page.evaluate("window.row = document.querySelector('#widget tr[tabindex]')")
    assert page.evaluate("Object.values(host.handlers).flat().length") == 4
    page.evaluate("host.dispose()")
    assert page.evaluate("Object.values(host.handlers).flat().length") == 0
    assert page.locator("#widget > *").count() == 0
    page.evaluate("row.click()")
    assert page.evaluate("host.state.selected") is None


def test_no_text_becomes_markup(page: Any) -> None:
    leaves = [Span(n, n + 1, word, word, word, number=n) for n, word in enumerate(HOSTILE)]
    inner = Span(0, len(HOSTILE), HOSTILE[1], None, HOSTILE[2], leaves)
    root = Span(0, len(HOSTILE), HOSTILE[0], None, HOSTILE[1], (inner,))
    explanation = BytesView(bytes(len(HOSTILE)), root, place=HOSTILE[0], details=HOSTILE[1])
    errors = host_widget(page, explanation.widget())
    page.locator("#widget tbody tr", has_text="&lt;b&gt;").last.hover()
    for tag in ("script", "img", "svg"):
        assert page.locator(f"#widget {tag}").count() == 0
    assert errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_fits_and_has_no_serious_fault(page: Any, scheme: str) -> None:
    host_widget(page, make_row().widget(), scheme)
    page.locator("tr", has_text="INT, 4 bytes").locator("td").nth(2).click()
    assert find_overflow(page, "#widget") == []
    assert find_faults(page, "#widget") == []


def test_it_is_as_wide_as_the_card_and_breaks_paths_before_it_scrolls(page: Any) -> None:
    path = "/warehouse/lakes/v3_merge_on_read/data/p=0/00000-319-0.parquet"
    spans = [Span(0, 40, "path", path, "string: 40 bytes"), Span(40, 44, "count", 1, "INT, 4 bytes")]
    for view in (make_row(), BytesView(bytes(44), Span(0, 44, "record", None, "of two fields", spans))):
        page.set_content(f"<!DOCTYPE html>{view._repr_html_()}")
        page.set_viewport_size({"width": 1900, "height": 1000})
        wide = page.locator(".ll-root").evaluate("card => card.clientWidth")
        assert 860 <= wide <= 1400
        fresh = page.context.new_page()
        host_widget(fresh, view.widget())
        for width in (1900, 960, 700):
            fresh.set_viewport_size({"width": width, "height": 1000})
            root = fresh.locator("#widget .ll-root")
            assert root.evaluate("root => root.clientWidth") == min(wide, width - 16)
            assert find_overflow(fresh, "#widget") == []
        fresh.close()
