"""The conformance kit on tables of both engines."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakelens as ll
from lakelens.testing import CHECKS, find_subjects

LAKES = Path(__file__).resolve().parents[2] / "lakes/delta"
CHOSEN = (
    *("rs/checkpointed", "rs/cleaned", "rs/partitioned", "rs/struct-stats", "rs/types"),
    *(
        "spark/vectors",
        "spark/mapped-name",
        "spark/v2-checkpoints",
        "spark/v2-checkpoint-json",
        "spark/multi-part",
    ),
    *("spark/change-feed", "spark/vectors-prefixed"),
)


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("check", CHECKS, ids=str)
@pytest.mark.parametrize("name", CHOSEN)
def test_conforms(check: object, name: str) -> None:
    """Each check of the kit holds for the table."""
    for subject in find_subjects("delta", LAKES / name / "table"):
        check(subject)  # type: ignore[operator]


def test_the_newest_version_of_a_sound_table_is_whole() -> None:
    table = ll.open(LAKES / "spark/vectors/table")
    whole = table.check().whole
    assert whole.is_current
    assert whole.snapshot is not None and table.current is not None and whole.snapshot.id == table.current.id
