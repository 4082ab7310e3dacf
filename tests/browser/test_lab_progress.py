"""A long reading in a real JupyterLab: it says how far it is, an interrupt ends it with one line, the next try goes on.

An error there fits on a screen, in light and dark.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.browser.lab import THEMES, Lab
from tests.browser.looks import find_faults
from tests.support.growth import TYPED_ICEBERG, grow_iceberg

FILES = 400_000
OPEN = "import lakelens as ll\ntable = ll.open({path!r})\n'opened'"
READ = "'rows', table.files.to_arrow().num_rows"
WRONG = "table.snapshot('mian')"
HELD = "try:\n    table.snapshot('mian')\nexcept ll.errors.LakeError as error:\n    held = error\nheld"
ASK = "'kept', sum(map(len, table.files._table.begun.values())) > 0"


@pytest.fixture
def shown(browser: Any) -> Any:
    page = browser.new_page(viewport={"width": 900, "height": 1000})
    yield page
    page.close()


@pytest.mark.exhaustive
def test_a_long_reading_says_how_far_it_is_and_can_be_stopped(lab: Lab, shown: Any, tmp_path: Path) -> None:
    path = grow_iceberg(tmp_path / "t", files=FILES, manifests=0, typed=25, lake=TYPED_ICEBERG)
    cells = [
        nbformat.v4.new_code_cell(source)
        for source in (OPEN.format(path=str(path)), READ, ASK, READ, WRONG, "%tb", HELD)
    ]
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
    check_errors(lab, shown, panel)


def check_errors(lab: Lab, shown: Any, panel: Any) -> None:
    """A raised error is a card of text without a frame, `%tb` has the frames, and one that is a value is a card."""
    outputs = panel.locator(".jp-OutputArea-output")
    lab.run_cell(shown, 4)
    raised = outputs.filter(has_text="did you mean main?").first
    raised.wait_for()
    assert raised.inner_text().startswith("Missing: no snapshot 'mian'\n  where  ")
    assert raised.inner_text().rstrip().endswith("full traceback: %tb")
    assert "Traceback" not in panel.inner_text()
    lab.run_cell(shown, 5)
    outputs.filter(has_text="Traceback (most recent call last)").wait_for()
    lab.run_cell(shown, 6)
    card = outputs.filter(has_text="1 frame of yours")
    card.wait_for()
    assert "did you mean main?" in card.inner_text() and card.locator("details").count() == 1
    for theme in ("light", "dark"):
        shown.evaluate(
            "theme => window.jupyterapp.commands.execute('apputils:change-theme', { theme })", THEMES[theme]
        )
        shown.locator(f"body[data-jp-theme-light={str(theme == 'light').lower()}]").wait_for(state="attached")
        for one in (raised, card):
            one.evaluate("one => one.setAttribute('data-looked-at', '')")
        assert find_faults(shown, "[data-looked-at]") == [], theme
