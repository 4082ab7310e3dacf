"""A guess and a review in a real JupyterLab: all cells run first, then the reader guesses, and the cell below knows."""

from __future__ import annotations

from typing import Any

import nbformat
import pytest

from tests.browser.lab import Lab

CELLS = (
    "import lakelens as ll",
    'll.guess("THEME", "files of one row")',
    'll.guess("THEME", "files of one row").look(4).show()\n"evidence"',
    'll.review("11-health-check")',
    'll.guess("THEME")',
)


@pytest.mark.exhaustive
@pytest.mark.parametrize("theme", ["light", "dark"])
def test_a_guess_that_follows_a_run_of_all_cells_is_shown_by_the_look(
    lab: Lab, browser: Any, theme: str
) -> None:
    page = browser.new_page(viewport={"width": 1000, "height": 1100})
    lab.write(
        "guess.ipynb",
        [nbformat.v4.new_code_cell(source.replace("THEME", theme)) for source in CELLS],
        trusted=True,
    )
    panel = lab.open(page, "guess.ipynb", theme)
    lab.run_cell(page, 0)
    page.evaluate("window.jupyterapp.commands.execute('notebook:run-all-cells')")
    form, look = panel.locator(".ll-gs").nth(0), panel.locator(".ll-gs").nth(1)
    panel.locator(".ll-rv").wait_for()
    panel.locator(".ll-root", has_text="Calibration").wait_for()
    for number in range(panel.locator(".ll-still").count()):
        panel.locator(".ll-still").nth(number).wait_for(state="hidden")
    assert "none" in look.inner_text()
    field = form.locator("input[type=text]")
    field.click()
    page.keyboard.type("bdd")  # keys that add and delete a cell elsewhere
    field.fill("4")
    form.locator("label", has_text="rather sure").click()
    page.keyboard.press("Enter")
    look.locator(".ll-a", has_text="right").wait_for()
    form.locator("text=this guess stays").wait_for()
    assert panel.locator(".jp-Cell").count() == len(CELLS)
    lab.run_until(page, 4, "1 of 1 right")
    page.close()
