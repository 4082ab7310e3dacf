"""In Chromium nothing of a hostile lake runs: no dialog, no request, no handler, no element of its own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from lakelens.views.render.html import render_card, render_page
from tests.browser.lab import Lab
from tests.support.fakes import FakeTable, list_objects
from tests.views.test_hostile import cycle

# what our own markup is made of; anything else, or any handler, came from the lake
FOREIGN = """root => [...root.querySelectorAll('*')].filter(e =>
  (e.tagName === 'IMG' && !e.src.startsWith('data:image/svg+xml;base64,'))
  || ['SCRIPT', 'SVG', 'IFRAME', 'OBJECT', 'FORM', 'LINK', 'BASE'].includes(e.tagName.toUpperCase())
  || [...e.attributes].some(a => a.name.startsWith('on') || /^\\s*javascript:/i.test(a.value)))
  .map(e => e.outerHTML.slice(0, 120))"""


class Alarm:
    """Hears whatever a page does that static cards never do."""

    def __init__(self, page: Any) -> None:
        self.heard: list[str] = []
        page.on("dialog", self._hear_dialog)
        page.on("pageerror", lambda error: self.heard.append(f"error {error}"))
        page.on("popup", lambda _: self.heard.append("popup"))
        page.on("request", lambda request: self._hear_request(request.url))

    def _hear_dialog(self, dialog: Any) -> None:
        self.heard.append(f"dialog {dialog.message}")
        dialog.dismiss()

    def _hear_request(self, url: str) -> None:
        if url.rsplit("/", 1)[-1] in ("x", "undefined") or url.startswith("javascript:"):
            self.heard.append(f"request {url}")


def test_the_alarm_hears_what_runs(page: Any) -> None:
    alarm = Alarm(page)
    page.set_content("<main><img src=x onerror=alert(1)></main>")
    page.wait_for_timeout(500)
    assert "dialog 1" in alarm.heard
    assert len(page.locator("main").evaluate(FOREIGN)) == 1


def test_nothing_runs_on_a_page(page: Any, tmp_path: Path) -> None:
    path = tmp_path / "hostile.html"
    path.write_text(render_page(FakeTable(cycle())), encoding="utf-8")
    alarm = Alarm(page)
    page.goto(path.as_uri())
    page.mouse.move(450, 300)
    page.evaluate("document.querySelectorAll('details').forEach(d => { d.open = true })")
    assert alarm.heard == []
    assert page.locator("main").evaluate(FOREIGN) == []


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("trusted", [True, False], ids=["trusted", "untrusted"])
def test_nothing_runs_in_jupyterlab(lab: Lab, page: Any, trusted: bool) -> None:
    cells = [
        nbformat.v4.new_code_cell(
            "# hostile",
            outputs=[nbformat.v4.new_output("display_data", {"text/html": render_card(thing)})],
        )
        for thing in list_objects(FakeTable(cycle()))
    ]
    lab.write("hostile.ipynb", cells, trusted=trusted)
    alarm = Alarm(page)
    panel = lab.open(page, "hostile.ipynb")
    outputs = panel.locator(".jp-OutputArea-output")
    outputs.nth(len(cells) - 1).wait_for()
    outputs.first.hover()
    assert alarm.heard == []
    assert [found for output in outputs.all() for found in output.evaluate(FOREIGN)] == []
