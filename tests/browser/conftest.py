"""A JupyterLab for a whole session of tests; without a browser every test here says why it is skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.lab import Lab


@pytest.fixture(scope="session")
def lab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab."""
    running = Lab(tmp_path_factory.mktemp("lab"))
    yield running
    running.close()
