"""The widget of an explanation in a real JupyterLab: its own kernel, its own messages."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from tests.browser.lab import Lab

MAKE = """
from lakelens.codecs.span.span import Span
from lakelens.model.bytes_view import BytesView

blocks = [
    Span(at, at + 100, f"block {at // 100}", None, "of fields",
         lambda at=at: [Span(n, n + 1, f"field {n}", n % 100, "uint8") for n in range(at, at + 100)])
    for at in range(0, 3000, 100)
]
widget = BytesView(bytes(3000), Span(0, 3000, "file", None, "blocks", blocks)).widget()
widget
"""


@pytest.mark.exhaustive
def test_a_fold_is_filled_and_a_click_comes_back_as_a_span(lab: Lab, browser: Any) -> None:
    ask = "'answer', widget.span.label, widget.span.value"
    cells = [nbformat.v4.new_code_cell(source) for source in (MAKE, ask)]
    lab.write("widget.ipynb", cells, trusted=True)
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    try:
        panel = lab.open(page, "widget.ipynb")
        lab.run_cell(page, 0)
        widget = panel.locator(".ll-root [role=treegrid]")
        widget.locator("tr", has_text="block 12").click()
        widget.locator("tr[role=row]", has_text="field 1207").click()
        assert widget.locator("tr[aria-selected=true]").count() == 1
        # a key that the widget takes is not the notebook's: an arrow would move to the next cell, Enter would edit it
        page.keyboard.press("ArrowDown")
        assert "field 1208" in page.evaluate("document.activeElement.innerText")
        page.keyboard.press("Enter")
        widget.locator("tr[aria-selected=true]", has_text="field 1208").wait_for()
        lab.run_until(page, 1, "('answer', 'field 1208', 8)")
    finally:
        page.close()
