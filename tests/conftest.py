"""Fixtures that several rooms share."""

from __future__ import annotations

import os
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import settings

# no test is judged by a clock; the same examples at every run, new ones when asked for: what they find becomes a test
NEW_EXAMPLES = os.environ.get("LAKELENS_NEW_EXAMPLES", "") not in ("", "0")
settings.register_profile("lakelens", deadline=None, derandomize=not NEW_EXAMPLES)
settings.load_profile("lakelens")
# a view that fails raises here instead of saying so in place; read when lakelens.options is imported
os.environ.setdefault("LAKELENS_STRICT_VIEWS", "1")


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local Spark session with the catalogs spark_catalog (Hive), iceberg and paimon, shared by the whole run."""
    from lakelens.spark import session

    started = session(tmp_path_factory.mktemp("warehouse"), progress=print)
    yield started
    started.stop()
