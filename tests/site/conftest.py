"""A site with one chapter of the course, which is made in seconds; the whole one is made by the exhaustive tests."""

from __future__ import annotations

import pytest

from tests.site.built import Built
from website.__main__ import make_site


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Built:
    """The site, with the outputs of the first chapter alone."""
    folder = tmp_path_factory.mktemp("built") / "site"
    make_site(folder, only="00-start")
    return Built(folder)
