"""A fixed part of the exploration: the same cases at every run. `make fuzz` goes on from here."""

from __future__ import annotations

import pytest

from tests.fuzz.__main__ import send_on_courses
from tests.fuzz.choose import list_systematic, make_random
from tests.fuzz.courses import list_courses
from tests.fuzz.known import KNOWN
from tests.fuzz.parent import PATIENT_SECONDS, WAITS_PATIENTLY, Walker, summarise
from tests.fuzz.recipes import Recipe

SEED = 18
LAKES = {
    "hive": ("hive", "hive-bucketed", "hive-orc", "hive-text"),
    "iceberg": ("iceberg", "iceberg-evolution", "iceberg-statistics", "iceberg-equality-deletes"),
    "paimon": ("paimon", "paimon-branches", "paimon-deletion-vectors", "paimon-file-index"),
}
SYSTEMATIC, RANDOM = 6, 3


def list_fixed(name: str) -> list[Recipe]:
    """The cases of a format."""
    return [
        recipe
        for lake in LAKES[name]
        for recipe in (
            *list_systematic(lake, SEED)[:SYSTEMATIC],
            *(make_random(lake, SEED + n) for n in range(RANDOM)),
        )
    ]


@pytest.mark.exhaustive(keep=3)
@pytest.mark.parametrize("name", LAKES)
def test_no_surprise(name: str) -> None:
    """No case fails, and each is a case."""
    with Walker(PATIENT_SECONDS, WAITS_PATIENTLY) as walker:
        figures = summarise(walker.walk_all(list_fixed(name)))
        replaced = walker.started - 1
    causes = {
        cause: (recipe.to_json(), failure)
        for cause, (recipe, failure) in figures["causes"].items()
        if not any(known.search(cause) for known in KNOWN)
    }
    assert not causes
    assert replaced == 0 and figures["impossible"] < figures["cases"] / 10
    assert figures["steps"] > 200 * figures["cases"], figures


@pytest.mark.exhaustive
@pytest.mark.parametrize("name", LAKES)
def test_no_surprise_on_a_course(name: str) -> None:
    """Each course is walked, with cases of its own."""
    taken = [
        recipe
        for course in list_courses()
        for lake in LAKES[name][:2]
        for recipe in send_on_courses((make_random(lake, SEED + n) for n in range(1, 3)), course)
    ]
    with Walker(PATIENT_SECONDS, WAITS_PATIENTLY) as walker:
        figures = summarise(walker.walk_all(taken))
    assert not figures["causes"]
    for_no_table = {
        course.name for course in list_courses().values() if not any(map(course.takes, LAKES[name][:2]))
    }
    assert {recipe.course for recipe in taken} | for_no_table == set(list_courses())
    assert figures["impossible"] < figures["cases"] and figures["steps"]


def test_the_cases_are_the_same_at_every_run() -> None:
    """Nothing of the clock, of the order of a set or of the process is in them."""
    import subprocess
    import sys

    code = (
        "from tests.fuzz.test_fixed import *; import hashlib\n"
        "text = ''.join(recipe.to_json() for name in LAKES for recipe in list_fixed(name))\n"
        "print(hashlib.sha256(text.encode()).hexdigest())"
    )
    said = {
        subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout for _ in range(2)
    }
    assert len(said) == 1


def test_examples_of_hypothesis_are_the_same_at_every_run() -> None:
    """The profile of tests/conftest.py holds for every test."""
    from hypothesis import settings

    from tests.conftest import NEW_EXAMPLES

    assert settings().derandomize is not NEW_EXAMPLES
    assert settings(max_examples=7).derandomize is not NEW_EXAMPLES
