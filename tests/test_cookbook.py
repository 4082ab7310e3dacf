"""Each cell of the cookbook runs on any table: on every sample of the three formats, where its own sample was."""

from __future__ import annotations

import re
from pathlib import Path

import nbformat
import pytest

import lakelens as ll

COOKBOOK = Path(__file__).parent.parent / "notebooks" / "08-cookbook.ipynb"
SAMPLE = re.compile(r'll\.sample\("[^"]+"\)')
CELLS = [
    cell.source
    for cell in nbformat.read(COOKBOOK, as_version=4).cells
    if cell.cell_type == "code" and "jupyter" not in cell.metadata and SAMPLE.search(cell.source)
]
NAMES = [sample.name for sample in ll.sample()]


@pytest.mark.exhaustive(keep=8)
@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("number", range(len(CELLS)))
def test_a_cell_answers_for_any_table(number: int, name: str) -> None:
    source, replaced = SAMPLE.subn(f"ll.sample({name!r})", CELLS[number])
    assert replaced == 1, "one place to put one's own table"
    *statements, answer = source.splitlines()
    known = {"ll": ll}
    exec("\n".join(statements), known)  # noqa: S102
    found = eval(answer, known)  # noqa: S307
    assert found is not None
    render = getattr(found, "_repr_html_", None)
    assert repr(found) and (render is None or render())


def test_cells_are_short_and_assert_nothing() -> None:
    assert len(CELLS) >= 25
    for source in CELLS:
        assert len(source.splitlines()) <= 8 and "assert" not in source
