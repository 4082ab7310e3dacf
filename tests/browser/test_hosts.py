"""Cards, the figure and every widget in a real Notebook 7 and a real marimo: alive, light and dark, picks in Python."""

from __future__ import annotations

import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.lab import Lab, find_port
from tests.browser.looks import find_faults

MAKE = (
    "import lakelens as ll\n\ntable = ll.sample('iceberg')\ntable",
    "timeline = table.timeline()\ntimeline",
    "diff = table.diff(table.snapshots[0], table.snapshots[-1]).widget()\ndiff",
    "row = ll.sample('paimon').current.manifests[-1].entries[0].file.value_stats.min_values.bytes_view().widget()\nrow",
    "files = table.files.widget()\nfiles",
    "table.plot()",
)
PICKS = (
    "'picks ' + str([getattr({timeline}.snapshot, 'id', 0) == table.snapshots[1].id, {diff}.file is not None,"
    " {row}.span is not None, [found.path for found in {files}.chosen] == [table.files[2].path]])"
)
NAMES = ("timeline", "diff", "row", "files")
ALL_ARRIVED = "picks [True, True, True, True]"
# the first cell of a table of a card: its line, and that its words are neither those of the page nor invisible
STYLED = """card => {
  const cell = getComputedStyle(card.querySelector('.ll-t:not(.ll-f) tbody td'));
  const muted = getComputedStyle(card.querySelector('.ll-m'));
  return cell.borderTopStyle + ' ' + (muted.color !== cell.color);
}"""
LIGHTNESS = """card => {
  const [red, green, blue] = getComputedStyle(card).color.match(/[\\d.]+/g).map(Number);
  return (red + green + blue) / 3;
}"""
MARIMO = """# /// script
# [tool.marimo.display]
# theme = "system"
# ///
import marimo

app = marimo.App()
{cells}
"""


class Marimo:
    """A running marimo that shows one notebook; every page that opens it has a kernel of its own."""

    def __init__(self, folder: Path, cells: list[tuple[str, str, str]]) -> None:
        notebook = folder / "host.py"
        made = [
            f"\n\n@app.cell\ndef _({takes}):\n    " + source.replace("\n", "\n    ") + f"\n    return {gives}"
            for takes, source, gives in cells
        ]
        notebook.write_text(MARIMO.format(cells="".join(made)))
        self.url = f"http://127.0.0.1:{find_port()}/"
        port = self.url.rstrip("/").rsplit(":", 1)[1]
        options = ["--headless", "--no-token", "--host", "127.0.0.1", "--port", port]
        self._log = (folder / "marimo.log").open("w")
        self._process = subprocess.Popen(
            [sys.executable, "-m", "marimo", "-q", "run", str(notebook), *options],
            cwd=folder,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        for _ in range(240):
            try:
                urllib.request.urlopen(f"{self.url}health", timeout=5).close()
                return
            except OSError:
                if self._process.poll() is not None:
                    break
                time.sleep(0.25)
        raise RuntimeError(f"marimo did not start:\n{(folder / 'marimo.log').read_text()[-3000:]}")

    def close(self) -> None:
        """Stop it and its kernels."""
        self._process.terminate()
        self._process.wait(20)
        self._log.close()


@pytest.fixture(scope="module")
def marimo(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Marimo]:
    """A marimo with the cells of `MAKE`, and what was picked in them."""
    if find_spec("marimo") is None:
        pytest.skip("marimo is not installed (pip install marimo)")
    start = "import marimo as mo\nimport lakelens as ll\ntable = ll.sample('iceberg')\ntable"
    cells = [("", start, "ll, mo, table")]
    for name, source in zip(NAMES, MAKE[1:5], strict=True):
        made = source.removesuffix(f"\n{name}").removeprefix(f"{name} = ")
        cells.append(("ll, mo, table", f"{name} = mo.ui.anywidget({made})\n{name}", f"({name},)"))
    cells.append(("table", MAKE[5], ""))
    cells.append(
        (", ".join((*NAMES, "table")), PICKS.format(**{name: f"{name}.widget" for name in NAMES}), "")
    )
    running = Marimo(tmp_path_factory.mktemp("marimo"), cells)
    yield running
    running.close()


def check_looks(page: Any, root: str, scheme: str) -> None:
    """The card has its style and can be read on its ground; axe finds nothing, its contrast included."""
    card = page.locator(f"{root} .ll-root").first
    assert card.evaluate(STYLED) == "solid true"
    assert (card.evaluate(LIGHTNESS) < 128) == (scheme == "light")
    assert find_faults(page, ".ll-root") == []


def pick(page: Any) -> None:
    """Something in each widget, with the mouse and with keys that a notebook has a meaning for."""
    options = page.locator(".ll-tl [role=option]")
    options.nth(2).click()
    for key in ("b", "d", "d", "ArrowLeft"):
        page.keyboard.press(key)
    page.locator(".ll-fd [data-key^=added]").first.click()
    page.locator("[role=treegrid] tr[aria-selected]").last.click()
    for key in ("a", "x"):
        page.keyboard.press(key)
    page.locator(".ll-ls tbody tr").nth(1).click()
    for key in ("b", "d", "d", "ArrowDown", "Enter"):
        page.keyboard.press(key)
    page.locator(".ll-ls .ll-detail .ll-root").wait_for()


@pytest.mark.exhaustive
def test_notebook_7(lab: Lab, browser: Any) -> None:
    if find_spec("notebook") is None:
        pytest.skip("Notebook 7 is not installed (pip install notebook)")
    cells = [
        nbformat.v4.new_code_cell(source)
        for source in (*MAKE, PICKS.format(**{name: name for name in NAMES}))
    ]
    lab.write("alone.ipynb", cells, trusted=True)
    page = browser.new_page(viewport={"width": 1000, "height": 1400})
    try:
        panel = lab.open_alone(page, "alone.ipynb")
        for index in range(len(MAKE)):
            lab.run_cell(page, index)
        figure = panel.locator(".jp-Cell").nth(5).locator(".jp-OutputArea-output").locator("img, svg").first
        figure.wait_for()  # a cell that is still running takes the focus when it ends
        pick(page)
        assert panel.locator(".jp-Cell").count() == len(cells), "no key was the notebook's"
        lab.run_until(page, len(MAKE), ALL_ARRIVED)
        assert figure.evaluate("figure => figure.getBoundingClientRect().width") > 300
        for scheme in ("light", "dark"):
            lab.change_theme(page, scheme)
            check_looks(page, ".jp-OutputArea-output", scheme)
    finally:
        page.close()


@pytest.mark.exhaustive
def test_marimo(marimo: Marimo, browser: Any) -> None:
    context = browser.new_context(viewport={"width": 1000, "height": 1400}, color_scheme="light")
    page = context.new_page()
    try:
        page.goto(marimo.url)
        page.locator(".ll-ls tbody tr").first.wait_for()
        figure = page.locator("img[src^='data:image'], .output svg").last
        figure.wait_for()  # a cell that is still running takes what was picked with it when it ends
        page.get_by_text("picks [").first.wait_for()
        pick(page)
        page.get_by_text(ALL_ARRIVED).wait_for()
        assert figure.evaluate("figure => figure.getBoundingClientRect().width") > 300
        for scheme in ("light", "dark"):
            page.emulate_media(color_scheme=scheme)
            page.locator(f"body[data-theme={scheme}]").wait_for(state="attached")
            check_looks(page, "body", scheme)
    finally:
        context.close()
