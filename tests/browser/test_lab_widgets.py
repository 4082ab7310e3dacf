"""The widgets in a real JupyterLab: alive with their keys to themselves; saved, and told again without a kernel."""

from __future__ import annotations

import json
from typing import Any

import nbformat
import pytest
from nbconvert import HTMLExporter

from tests.browser.lab import Lab

MAKE = """
import lakelens as ll

table = ll.sample("iceberg")
widget = table.timeline()
widget
"""
MAKE_DIFF = "table.diff(table.snapshots[0], table.snapshots[-1]).widget()"
MAKE_BYTES = (
    "ll.sample('paimon').current.manifests[-1].entries[0].file.value_stats.min_values.bytes_view().widget()"
)
ASK = (
    "'answer', widget.diff.before.id == table.snapshots[0].id, widget.diff.after.id == table.snapshots[-1].id"
)
ASK_ONE = "'answer', widget.snapshot.id == table.snapshots[1].id"
STORIES = ("5 snapshots of lakes.v3_merge_on_read", "5 files added, 0 removed", "INT, 4 bytes")


@pytest.fixture
def shown(lab: Lab, browser: Any) -> Any:
    page = browser.new_page(viewport={"width": 900, "height": 1400})
    yield page
    page.close()


@pytest.mark.exhaustive
def test_they_draw_move_and_are_told_again_without_a_kernel(lab: Lab, shown: Any) -> None:
    sources = (MAKE, MAKE_DIFF, MAKE_BYTES, ASK_ONE, ASK)
    lab.write("widgets.ipynb", [nbformat.v4.new_code_cell(source) for source in sources], trusted=True)
    panel = lab.open(shown, "widgets.ipynb")
    for index in range(3):
        lab.run_cell(shown, index)
    timeline = panel.locator(".ll-tl [role=listbox]")
    options = timeline.locator("[role=option]")
    options.nth(4).wait_for()
    assert options.count() == 5
    panel.locator(".ll-root [role=treegrid]").nth(1).wait_for()
    for number in range(3):
        panel.locator(".ll-still").nth(number).wait_for(state="hidden")
    assert panel.locator(".ll-still").count() == 3, "kept for those who open the notebook without its kernel"
    options.nth(2).click()
    # a key is not the notebook's: an arrow would leave the cell, b add one, d d delete it, x cut it
    for key in ("b", "a", "d", "d", "x", "ArrowLeft"):
        shown.keyboard.press(key)
    assert "snapshot" in shown.evaluate("document.activeElement.getAttribute('aria-label')")
    lab.run_until(shown, 3, "('answer', True)")
    for grid in panel.locator(".ll-root [role=treegrid]").all():
        grid.locator("tr[tabindex='0'], td[tabindex='0']").first.focus()
        for key in ("b", "d", "d"):
            shown.keyboard.press(key)
    assert panel.locator(".jp-Cell").count() == len(sources)
    options.nth(0).click()
    shown.keyboard.press("Shift+End")
    panel.locator(".ll-tl [role=status] b", has_text="Diff").wait_for()
    assert timeline.locator("[aria-selected=true]").count() == 5
    lab.run_until(shown, 4, "('answer', True, True)")
    options.nth(0).focus()
    shown.keyboard.press("Control+s")  # this one is the notebook's
    shown.wait_for_function("!window.jupyterapp.shell.currentWidget.context.model.dirty")
    saved = (lab.root / "widgets.ipynb").read_text()
    _tell_again(lab, shown, saved)
    told = HTMLExporter().from_notebook_node(nbformat.reads(saved, 4))[0]
    assert told.count("ll-still") > 2
    assert "Widget of" not in told


@pytest.mark.exhaustive
def test_a_restarted_kernel_is_told_and_no_fact_is_of_another_snapshot(lab: Lab, shown: Any) -> None:
    lab.write("restarted.ipynb", [nbformat.v4.new_code_cell(MAKE)], trusted=True)
    panel = lab.open(shown, "restarted.ipynb")
    lab.run_cell(shown, 0)
    options = panel.locator(".ll-tl [role=option]")
    options.nth(4).wait_for()
    shown.evaluate("() => window.jupyterapp.shell.currentWidget.sessionContext.session.kernel.restart()")
    assert panel.locator(".ll-detail").is_visible(), "still about what is chosen"
    options.nth(0).click()
    panel.get_by_text("un the cell again").wait_for()
    panel.locator(".ll-detail").wait_for(state="hidden")
    label = options.nth(0).get_attribute("aria-label")
    assert panel.locator(".ll-said").first.inner_text() == label


def _tell_again(lab: Lab, page: Any, saved: str) -> None:
    """A saved notebook, opened where its kernel is gone: as it is (trusted), and as another wrote it."""
    lab.root.joinpath("again.ipynb").write_text(saved)
    other = json.loads(saved)
    other["cells"][0]["source"] = "# of another"
    lab.root.joinpath("other.ipynb").write_text(json.dumps(other))
    for name, is_trusted in (("again.ipynb", True), ("other.ipynb", False)):
        panel = lab.open(page, name)
        picture = panel.locator(".jp-OutputArea-output img[src^='data:image/svg+xml;base64,']")
        picture.wait_for()
        assert picture.evaluate("image => image.complete && image.naturalWidth > 300")
        assert STORIES[0] in picture.get_attribute("alt")
        for story in STORIES:
            panel.locator(".jp-OutputArea-output", has_text=story).last.wait_for()
        error = panel.get_by_text("Error displaying widget")
        if is_trusted:
            error.nth(2).wait_for(state="attached")
        else:
            assert error.count() == 0
        assert error.locator("visible=true").count() == 0
        assert panel.get_by_text("Loading widget").locator("visible=true").count() == 0
