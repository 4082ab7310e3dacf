"""A browser and a JupyterLab for a whole session of tests; without a browser every test here says why it is skipped."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from tests.browser.browsers import NoBrowser, launch_browser
from tests.browser.lab import Lab


@pytest.fixture(scope="session")
def browser() -> Iterator[Any]:
    """Debian's Chromium, headless."""
    try:
        with launch_browser() as launched:
            yield launched
    except NoBrowser as reason:
        pytest.skip(str(reason))


@pytest.fixture
def page(browser: Any) -> Iterator[Any]:
    """A page of 900 by 1000 pixels of its own."""
    context = browser.new_context(viewport={"width": 900, "height": 1000})
    yield context.new_page()
    context.close()


@pytest.fixture(scope="session")
def lab(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab."""
    running = Lab(tmp_path_factory.mktemp("lab"))
    yield running
    running.close()
