"""Keys in all widgets: none that is pressed inside reaches the page around it, and "?" lists them."""

from __future__ import annotations

from typing import Any

import pytest

import lakelens as ll
from tests.browser.host import host_widget, settle
from tests.browser.looks import find_faults, find_overflow
from tests.views.test_bytes import make_row

# a minute of them altogether: `make test-all`
pytestmark = pytest.mark.exhaustive

STOPS = {"timeline": "[role=option]", "diff": "tbody [tabindex='0']", "bytes": "tr[tabindex='0']"}


def make_widget(name: str) -> Any:
    table: Any = ll.sample("iceberg")
    if name == "timeline":
        return table.timeline()
    return (make_row() if name == "bytes" else table.diff(table.snapshots[0], table.current)).widget()


@pytest.mark.parametrize("name", STOPS)
def test_keys_stay_inside_and_are_listed(page: Any, name: str) -> None:
    errors = host_widget(page, make_widget(name))
    page.evaluate("window.leaked = []; document.addEventListener('keydown', e => leaked.push(e.key))")
    page.locator(f"#widget {STOPS[name]}").last.focus()
    for key in ("b", "d", "d", "Shift+Enter", "y", "0", "Delete", "F", "ArrowDown", "Escape"):
        page.keyboard.press(key)
    assert page.evaluate("leaked") == []
    assert page.locator("#widget > [data-lm-suppress-shortcuts=true]").count() == 1
    page.keyboard.press("Control+m")
    assert page.evaluate("leaked") == ["Control", "m"], "the page's own are left to it"
    settle(page)
    keys = page.locator("#widget .ll-keys")
    assert not keys.is_visible()
    page.keyboard.press("?")
    assert keys.is_visible()
    assert keys.locator("dt", has_text="Escape").count() == 1
    assert find_overflow(page, "#widget") == []
    assert find_faults(page, "#widget") == []
    page.keyboard.press("?")
    assert not keys.is_visible()
    page.locator("[data-act=keys]").click()
    assert keys.is_visible()
    assert errors == []
