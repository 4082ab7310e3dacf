"""Notebooks that run in a browser, with the kernel of the folder: each cell, and nobody else is asked."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import pytest

from tests.site.test_reading import Reader
from tests.tab.hosts import serve_folder
from tests.tab.parts import ROOT
from website.lab import CHAPTERS
from website.lab.__main__ import make_lab

_WAITING = (
    "[...document.querySelectorAll('.jp-InputPrompt')].some(prompt => prompt.textContent.includes('*'))"
)
# of each cell with code: whether it ran, and what it says where it fails
_CELLS = """[...document.querySelectorAll('.jp-CodeCell')].map(cell => [
  /\\d/.test(cell.querySelector('.jp-InputPrompt').textContent),
  [...cell.querySelectorAll('.jp-OutputArea-output[data-mime-type$=".stderr"]')].map(output => output.textContent).join(''),
])"""
# the cells that ask for Arrow, or for what such a cell would have made
_FAILING = {"00-start": 2, "09-why-was-this-file-read": 4}


def run_cells(page: Any) -> list[str]:
    """Run all cells, and go on behind each that fails; gives what these say."""
    begin = 0
    while True:
        cell = page.locator(".jp-CodeCell").nth(begin)
        cell.evaluate("cell => cell.scrollIntoView()")  # not one that waits: cells are drawn anew meanwhile
        cell.locator(".jp-InputPrompt").click()
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator(".lm-Menu-itemLabel", has_text="Run Selected Cell and All Below").first.click()
        page.wait_for_function(f"(begin => {_CELLS}[begin][0])({begin})")
        page.wait_for_function(f"!{_WAITING}")
        cells = page.evaluate(_CELLS)
        failed = [number for number, (_, said) in enumerate(cells) if said and number >= begin]
        if not failed:
            return [said for _, said in cells if said]
        begin = failed[0] + 1


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", CHAPTERS)
def test_cells_run_in_the_browser_and_nobody_else_is_asked(browser: Any, tmp_path: Path, name: str) -> None:
    """What fails asks for Arrow, and says so."""
    make_lab(tmp_path / "site" / "lab", ROOT / "build" / "tab")
    with serve_folder(tmp_path) as root:
        reader = Reader(browser, f"{root}site/", viewport={"width": 1200, "height": 900})
        page = reader.page
        page.goto(f"{reader.address}lab/notebooks/index.html?path={name}.ipynb")
        page.wait_for_selector(".jp-CodeCell")
        said = run_cells(page)
        assert len(said) == _FAILING.get(name, 0)
        assert all("pyarrow" in words or "NameError" in words for words in said)
        assert reader.list_origins() == {urlsplit(root).netloc}
        reader.context.close()
