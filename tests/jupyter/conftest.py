"""A JupyterLab below a base URL, as on a hub, with a small warehouse in its directory; a browser that looks at it."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from typing import Any

import pytest

import lakelens as ll
from tests.browser.lab import Lab

TABLES = {"orders": "iceberg", "clicks": "paimon-file-index", "a b+é%41#1?": "hive"}


@pytest.fixture(scope="session")
def hub(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lab]:
    """A running JupyterLab at /user/ada/."""
    running = Lab(tmp_path_factory.mktemp("hub"), "/user/ada/")
    for name, sample in TABLES.items():
        shutil.copytree(ll.sample(sample).location, running.root / "wh" / "shop.db" / name)
    yield running
    running.close()
