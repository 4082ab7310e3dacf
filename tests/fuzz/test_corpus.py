"""Every case that was found and fixed, walked again."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.fuzz.known import KNOWN
from tests.fuzz.parent import PATIENT_SECONDS, WAITS_PATIENTLY, Walker
from tests.fuzz.recipes import MOST_BYTES, Recipe, list_corpus


@pytest.fixture(scope="module")
def walker() -> Iterator[Walker]:
    with Walker(PATIENT_SECONDS, WAITS_PATIENTLY) as made:
        yield made


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("path", list_corpus(), ids=lambda path: path.stem)
def test_found_cases_stay_fixed(path: Path, walker: Walker) -> None:
    recipe = Recipe.from_json(path.read_text())
    assert path.stat().st_size <= MOST_BYTES
    assert recipe.cause, "says why it is kept"
    result = walker.walk(recipe)
    assert not result.impossible, f"{result.impossible}: the table was made again, so make the case again"
    assert result.steps
    failures = [
        failure for failure in result.failures if not any(one.search(failure["cause"]) for one in KNOWN)
    ]
    assert not failures
