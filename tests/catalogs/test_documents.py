"""What the documentation of catalogs says."""

from __future__ import annotations

import doctest
from pathlib import Path

DOCUMENT = Path(__file__).parents[2] / "docs" / "catalogs.md"


def test_the_examples_run() -> None:
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    failed, tried = doctest.testfile(str(DOCUMENT), module_relative=False, optionflags=flags)
    assert (failed, tried) == (0, 9)
