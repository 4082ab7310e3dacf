"""Fixtures that several rooms share."""

from __future__ import annotations

import os
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from typing import Any
from zlib import crc32

import pytest
from hypothesis import settings

from tests.browser.browsers import NoBrowser, launch_browser

# no test is judged by a clock; the same examples at every run, new ones when asked for: what they find becomes a test
NEW_EXAMPLES = os.environ.get("LAKELENS_NEW_EXAMPLES", "") not in ("", "0")
settings.register_profile("lakelens", deadline=None, derandomize=not NEW_EXAMPLES)
settings.load_profile("lakelens")
# a view that fails raises here instead of saying so in place; read when lakelens.options is imported
os.environ.setdefault("LAKELENS_STRICT_VIEWS", "1")

# what is marked `exhaustive`: run with the rest where nothing is said, left out ("no"), or run alone ("only")
EXHAUSTIVE = os.environ.get("LAKELENS_EXHAUSTIVE", "yes")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves out what is exhaustive, or everything else; of `exhaustive(keep=4)` one case of four is in the short run."""
    if EXHAUSTIVE not in ("no", "only"):
        return
    families: dict[str, list[pytest.Item]] = defaultdict(list)
    for item in items:
        families[item.nodeid.partition("[")[0]].append(item)
    short = {item for family in families.values() for item in _choose_short(family)}
    chosen = [item for item in items if (item in short) == (EXHAUSTIVE == "no")]
    config.hook.pytest_deselected(items=[item for item in items if (item in short) != (EXHAUSTIVE == "no")])
    items[:] = chosen


def _choose_short(family: list[pytest.Item]) -> list[pytest.Item]:
    """The cases of one test that are in the short run: the same at every run, and whatever other cases there are."""
    marks = [item.get_closest_marker("exhaustive") for item in family]
    if any(mark is None for mark in marks):
        return [item for item, mark in zip(family, marks, strict=True) if mark is None]
    keep = marks[0].kwargs.get("keep") if marks[0] is not None else None
    ordered = sorted(family, key=lambda item: crc32(item.nodeid.encode()))
    return ordered[: -(-len(ordered) // keep)] if keep else []


@pytest.fixture(scope="session", autouse=True)
def scratch(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What is made in the machine's temporary directory goes with the run: a worker ends without cleaning up."""
    before, tempfile.tempdir = tempfile.tempdir, str(tmp_path_factory.mktemp("scratch"))
    # a reader's own answers are no test's business
    os.environ["LAKELENS_STATE"] = str(tmp_path_factory.mktemp("state"))
    yield
    tempfile.tempdir = before


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
def running_bucket() -> Iterator[Any]:
    """A bucket behind a network, one for each process of the tests: see `tests.support.far`."""
    from tests.support.far import run_bucket

    with run_bucket() as bucket:
        yield bucket


@pytest.fixture
def bucket(running_bucket: Any) -> Iterator[Any]:
    """The bucket `lake`, in good weather."""
    running_bucket.weather.clear()
    yield running_bucket
    running_bucket.weather.clear()


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A local Spark session with the catalogs spark_catalog (Hive), iceberg and paimon, shared by the whole run."""
    from lakelens.spark import session

    started = session(tmp_path_factory.mktemp("warehouse"), progress=print)
    yield started
    started.stop()
