"""What the tests of a tab share."""

from __future__ import annotations

import pytest

from tests.tab.parts import Parts, gather


@pytest.fixture(scope="session")
def parts() -> Parts:
    """What a tab is made of; where it cannot be fetched every test fails with what is missing, after one try."""
    return gather()
