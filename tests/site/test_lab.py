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

_PROMPTS = "[...document.querySelectorAll('.jp-CodeCell .jp-InputPrompt')].map(prompt => prompt.textContent)"
_FAULTS = """[...document.querySelectorAll('.jp-OutputArea-output')].map(output => output.textContent)
  .filter(text => /Error|Traceback/.test(text))"""


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
        page.get_by_role("menuitem", name="Run", exact=True).click()
        page.locator(".lm-Menu-itemLabel", has_text="Run All Cells").first.click()
        page.wait_for_selector(".jp-OutputArea-output .ll-root")
        page.wait_for_function(f"!{_PROMPTS}.some(said => said.includes('*'))")
        assert [said for said in page.evaluate(_FAULTS) if "pyarrow" not in said] == []
        assert reader.list_origins() == {urlsplit(root).netloc}
        reader.context.close()
