"""What a caller may give by mistake: one line that says what was seen, and no error of Python's own."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import LakeError

#: No id, no name, no option: of more digits than Python writes, of other scripts, halves of characters, nothing at all.
ABSURD: tuple[Any, ...] = (
    *(10**5000, -(10**5000), "9" * 5000, "-" + "9" * 5000, "--5", "²", "٣", "\ud800", "\0", "x" * 100_000),
    *(b"x", float("nan"), float("inf"), [], [None], {}, object(), "99999 d", 2**63),
)
LONGEST = 3_000


def say(error: LakeError) -> str:
    return f"{error}{error.to_text()}{error.reason}"


@pytest.mark.parametrize("name", ("hive", "iceberg", "paimon"))
def test_no_such_snapshot(name: str) -> None:
    table = ll.sample(name)
    for ref in ABSURD:
        with pytest.raises(LakeError) as caught:
            table.snapshot(ref)
        assert len(say(caught.value)) < LONGEST


@pytest.mark.parametrize("name", ("hive", "iceberg", "paimon"))
def test_no_such_procedure(name: str) -> None:
    table = ll.sample(name)
    for procedure in (None, *ABSURD):
        with pytest.raises(LakeError) as caught:
            table.dry_run(procedure)
        assert len(say(caught.value)) < LONGEST


@pytest.mark.parametrize("name", ("iceberg", "paimon"))
def test_options_that_fit_nothing(name: str) -> None:
    """Each option of each procedure takes a value, or refuses it by its name."""
    table = ll.sample(name)
    refused = 0
    for procedure in table.procedures.values():
        for option in procedure.options:
            for value in ABSURD:
                try:
                    option.read(value)
                except LakeError as error:
                    refused += 1
                    assert option.name in str(error) and len(say(error)) < LONGEST
            for value in (10**5000, 2**63, object()):
                with suppress(LakeError):  # some take a number of any size
                    table.dry_run(procedure.name, **{option.name: value}).to_text(1)
    assert refused > 50


@pytest.mark.parametrize("name", ("hive", "iceberg", "paimon"))
def test_no_such_file(name: str) -> None:
    table = ll.sample(name)
    for file in ABSURD:
        with pytest.raises((LakeError, TypeError)) as caught:
            table.biography(file)
        assert isinstance(caught.value, LakeError) == isinstance(file, str)
        assert len(str(caught.value)) < LONGEST


def test_a_query_and_a_branch_are_named_by_text() -> None:
    table = ll.sample("paimon")
    with pytest.raises(TypeError, match="SQL as text, not int"):
        table.sql(5)  # type: ignore[arg-type]
    with pytest.raises(TypeError, match="not by list"):
        table.branch([])  # type: ignore[arg-type]
