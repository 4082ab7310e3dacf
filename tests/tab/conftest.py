"""What the tests of a tab share."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any
from urllib.parse import urlsplit

import pytest

from lakelens.tab.building import build
from lakelens.tab.parts import Gathered, gather
from tests.tab.hosts import serve_folder
from tests.tab.parts import ROOT, gather_for_tests
from tests.tab.visiting import Visitor


@pytest.fixture(scope="session")
def parts() -> Gathered:
    """What a tab is made of; where it cannot be fetched every test fails with what is missing, after one try."""
    return gather_for_tests()


@pytest.fixture(scope="session")
def tab_parts() -> Gathered:
    """What a tab is made of, which is not what its tests run in: these need more packages."""
    return gather(ROOT / "build" / "tab")


@pytest.fixture(scope="session")
def site(tab_parts: Gathered, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a folder that was made by `lakelens tab`, below a path of its own."""
    folder = tmp_path_factory.mktemp("site")
    build(folder / "docs" / "tab", tab_parts)
    with serve_folder(folder) as address:
        yield f"{address}docs/tab/"


@pytest.fixture
def visitor(browser: Any, site: str) -> Iterator[Visitor]:
    """A reader who asked nobody else, and whose browser complained of nothing."""
    visiting = Visitor(browser, site)
    yield visiting
    visiting.context.close()
    assert visiting.list_origins() == {urlsplit(site).netloc}
    assert visiting.faults == []
