"""What the tests of a tab share."""

from __future__ import annotations

import pytest

from lakelens.tab.parts import Gathered
from tests.tab.parts import gather_for_tests


@pytest.fixture(scope="session")
def parts() -> Gathered:
    """What a tab is made of; where it cannot be fetched every test fails with what is missing, after one try."""
    return gather_for_tests()
