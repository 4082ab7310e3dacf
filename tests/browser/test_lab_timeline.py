"""The timeline in a real JupyterLab: drawn, moved in with the keys, chosen from; and saved, told again without a kernel."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.browser.lab import Lab

MAKE = """
import lakelens as ll

table = ll.sample("iceberg")
widget = table.timeline()
widget
"""
ASK = (
    "'answer', widget.diff.before.id == table.snapshots[0].id, widget.diff.after.id == table.snapshots[-1].id"
)
ASK_ONE = "'answer', widget.snapshot.id == table.snapshots[1].id"


@pytest.fixture
def shown(lab: Lab, browser: Any) -> Any:
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    page.set_default_timeout(60_000)
    yield page
    page.close()


def test_it_draws_moves_and_what_is_chosen_comes_back(lab: Lab, shown: Any) -> None:
    cells = [nbformat.v4.new_code_cell(source) for source in (MAKE, ASK_ONE, ASK)]
    lab.write("timeline.ipynb", cells, trusted=True)
    panel = lab.open(shown, "timeline.ipynb")
    lab.run_cell(shown, 0)
    timeline = panel.locator(".ll-tl [role=listbox]")
    options = timeline.locator("[role=option]")
    options.nth(4).wait_for()
    assert options.count() == 5
    still = panel.locator(".ll-still")
    still.wait_for(state="hidden")
    assert still.count() == 1, "kept for those who open the notebook without its kernel"
    options.nth(2).click()
    # a key that the timeline takes is not the notebook's: an arrow would leave the cell
    shown.keyboard.press("ArrowLeft")
    panel.locator(".ll-tl .ll-detail b", has_text="Snapshot").wait_for()
    assert "snapshot" in shown.evaluate("document.activeElement.getAttribute('aria-label')")
    lab.run_until(shown, 1, "('answer', True)")
    options.nth(0).click()
    shown.keyboard.press("Shift+End")
    panel.locator(".ll-tl .ll-detail b", has_text="Diff").wait_for()
    assert timeline.locator("[aria-selected=true]").count() == 5
    lab.run_until(shown, 2, "('answer', True, True)")


@pytest.mark.parametrize("trusted", [False, True])
def test_saved_and_opened_without_a_kernel_it_tells_its_story(lab: Lab, shown: Any, trusted: bool) -> None:
    """Run by nbclient, as the notebooks are; without the state of widgets nothing is left of the kernel."""
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(MAKE)])
    NotebookClient(notebook, timeout=120, store_widget_state=False).execute()
    (cell,) = notebook.cells
    name = f"told-{trusted}.ipynb"
    lab.write(name, [cell], trusted=trusted)
    panel = lab.open(shown, name)
    picture = panel.locator(".jp-OutputArea-output img[src^='data:image/svg+xml;base64,']")
    picture.wait_for()
    assert picture.count() == 1
    assert picture.evaluate("image => image.complete && image.naturalWidth > 300")
    assert "5 snapshots of lakes.v3_merge_on_read" in picture.get_attribute("alt")
    assert "5 snapshots of lakes.v3_merge_on_read" in panel.locator(".jp-OutputArea-output").last.inner_text()
