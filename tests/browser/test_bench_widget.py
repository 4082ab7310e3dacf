"""The bench in a real browser, with Python behind it: keys, the mouse, what is wrong at once, light and dark."""

from __future__ import annotations

from typing import Any

import pytest

import lakelens as ll
from tests.browser.host import host_widget, settle
from tests.browser.looks import find_faults, find_overflow
from tests.browser.test_hostile_browser import FOREIGN, Alarm
from tests.widgets.test_bench import make_bench

AT = "document.activeElement.dataset.at"


def press(page: Any, *keys: str) -> None:
    for key in keys:
        page.keyboard.press(key)
    settle(page)


def test_keys_change_a_byte_and_take_it_back(page: Any) -> None:
    bench = make_bench()
    errors = host_widget(page, bench)
    status = page.locator("#widget [role=status]")
    assert status.inner_text().startswith("value: {p: 'a', id: 1")
    page.locator("button", has_text="before").focus()
    press(page, "Tab")
    assert page.evaluate(AT) == "0" and page.locator("#widget [tabindex='0']").count() == 1
    press(page, "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown", "ArrowDown")
    assert page.evaluate(AT) == "20"
    press(page, "0")
    assert page.locator("[data-at='20']").inner_text() == "0_" and bench.changed == ()
    press(page, "f")
    assert bench.explanation.value["id"] == 15 and "id: 15" in status.inner_text()
    assert page.evaluate(AT) == "21", "on to the next byte"
    changed = page.locator("[data-at='20']")
    assert changed.get_attribute("aria-selected") == "true" and changed.get_attribute("title") == "was 01"
    press(page, "ArrowLeft", "Backspace")
    assert bench.changed == () and page.evaluate(AT) == "20"
    press(page, "7", "Escape")
    assert changed.inner_text() == "01", "half a byte is no change"
    press(page, "Home", "0", "1")
    assert "ERROR" in status.inner_text() and "arity" in status.inner_text()
    assert page.locator("tr.ll-bad").count() >= 1
    press(page, "z")
    assert status.inner_text().startswith("value:")
    press(page, "End", "f", "f", "r")
    assert bench.changed == ()
    press(page, "?")
    assert page.locator(".ll-keys").is_visible()
    press(page, "Tab")
    assert page.evaluate("document.activeElement.innerText") == "after", "one tab stop"
    page.locator("[data-at='44']").click()
    press(page, "8", "0")
    assert "not UTF-8" in status.inner_text()
    page.locator(".ll-link", has_text="reset").click()
    settle(page)
    assert bench.changed == () and errors == []


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_looks_right_whole_and_broken(page: Any, scheme: str) -> None:
    bench = make_bench()
    errors = host_widget(page, bench, scheme)
    for key in ("", "0"):
        if key:
            page.locator("[data-at='45']").click()
            press(page, "8", "0")
        assert find_overflow(page, "#widget") == []
        assert find_faults(page, "#widget") == []
    assert errors == []


def test_names_of_a_lake_are_text(page: Any) -> None:
    data = bytes.fromhex("000000010000000000000000") + b"<img x>\x87"
    name = "<img src=x onerror=alert(1)>"
    alarm = Alarm(page)
    errors = host_widget(page, ll.explain_bytes(data, "binary_row", fields=[(name, "STRING")]).edit())
    page.wait_for_timeout(100)
    assert alarm.heard == errors == [] and page.locator("#widget").evaluate(FOREIGN) == []
    assert name in page.locator("#widget").inner_text()
