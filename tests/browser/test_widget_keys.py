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


@pytest.mark.parametrize("name", STOPS)
def test_a_widget_that_nobody_answers_says_so_until_somebody_does(page: Any, name: str) -> None:
    """A page whose line to Python leads nowhere, as after a restart of a kernel in a host that says nothing of it."""
    errors = host_widget(page, make_widget(name))
    silence = page.get_by_text("Python has not answered yet")
    page.locator(f"#widget {STOPS[name]}").last.focus()
    page.evaluate(
        "() => { window.send = host.model.send; host.model.send = host.model.save_changes = () => {} }"
    )
    for key in {"timeline": ["ArrowLeft"], "diff": ["ArrowDown", "Enter"], "bytes": ["Enter"]}[name]:
        page.keyboard.press(key)
    silence.wait_for()
    assert "run the cell again" in silence.inner_text()
    assert page.locator("#widget .ll-detail").locator("visible=true").count() == 0, (
        "facts of what was chosen before"
    )
    if name == "timeline":
        label = page.evaluate("document.activeElement.getAttribute('aria-label')")
        assert page.locator("#widget .ll-said").inner_text() == label
    assert find_overflow(page, "#widget") == []
    assert find_faults(page, "#widget") == []
    page.evaluate("host.model.send = send; host.model.send({ type: 'hear' })")
    silence.wait_for(state="hidden")
    assert errors == []


def test_a_widget_whose_line_is_closed_says_so_at_once(page: Any) -> None:
    """As JupyterLab does after a restart of the kernel: what is sent raises."""
    host_widget(page, make_widget("timeline"))
    page.evaluate(
        "() => { host.model.save_changes = () => {}; host.model.send = () => { throw new Error('Cannot send') } }"
    )
    page.locator("#widget [role=option]").first.click()
    page.get_by_text("The kernel was restarted or is gone").wait_for()
    assert not page.locator("#widget .ll-detail").is_visible()
    label = page.locator("#widget [role=option]").first.get_attribute("aria-label")
    assert page.locator("#widget .ll-said").inner_text() == label
