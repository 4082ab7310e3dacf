"""Texts of exceptions that people quoted in public threads: each leads to its check, its files and its filter."""

from __future__ import annotations

import tomllib
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll

THREADS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    Path(__file__).with_name("threads.toml").read_text("utf-8")
)


@pytest.mark.parametrize(
    ("sample", "quoted"),
    [(sample, quoted) for sample, threads in THREADS.items() for quoted in threads],
    ids=lambda value: value["thread"] if isinstance(value, dict) else value,
)
def test_a_text_that_people_quoted_is_understood(sample: str, quoted: dict[str, Any]) -> None:
    conflict = ll.sample(sample).conflict(quoted["text"])
    failure = conflict.failure
    assert failure is not None
    assert failure.check == quoted["check"]
    assert failure.filter == quoted["filter"]
    assert list(failure.files) == quoted["files"]
    assert failure.can_retry is quoted["retry"]
    # none of these files is in the sample's history
    assert conflict.outcome == ("passes" if quoted["retry"] else "unknown")
