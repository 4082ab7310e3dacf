"""A long reading in a real JupyterLab: it says how far it is, an interrupt ends it with one line, the next try goes on."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.lab import Lab
from tests.support.growth import TYPED_ICEBERG, grow_iceberg

FILES = 400_000
OPEN = "import lakelens as ll\ntable = ll.open({path!r})\n'opened'"
READ = "'rows', table.files.to_arrow().num_rows"
ASK = "'kept', sum(map(len, table.files._table.begun.values())) > 0"


@pytest.fixture
def shown(browser: Any) -> Any:
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    page.set_default_timeout(120_000)
    yield page
    page.close()


def test_a_long_reading_says_how_far_it_is_and_can_be_stopped(lab: Lab, shown: Any, tmp_path: Path) -> None:
    path = grow_iceberg(tmp_path / "t", files=FILES, manifests=0, typed=25, lake=TYPED_ICEBERG)
    cells = [nbformat.v4.new_code_cell(source) for source in (OPEN.format(path=str(path)), READ, ASK, READ)]
    lab.write("progress.ipynb", cells, trusted=True)
    panel = lab.open(shown, "progress.ipynb")
    outputs = panel.locator(".jp-OutputArea-output")
    lab.run_cell(shown, 0)
    outputs.filter(has_text="opened").wait_for()
    lab.run_cell(shown, 1)
    progress = outputs.filter(has_text="interrupt to stop").last
    progress.wait_for()
    assert "manifests" in progress.inner_text() and "MB" in progress.inner_text()
    shown.evaluate("() => window.jupyterapp.commands.execute('notebook:interrupt-kernel')")
    stopped = outputs.filter(has_text="Interrupted: stopped after")
    stopped.wait_for()
    assert "Traceback" not in panel.inner_text()
    lab.run_cell(shown, 2)
    outputs.filter(has_text="('kept', True)").wait_for()
    lab.run_cell(shown, 3)
    outputs.filter(has_text="('rows', 4000").wait_for()
