"""The course of pages walks every kind of page, and sees what fails on one."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.explorer import explorer
from tests.fuzz import paged
from tests.fuzz.walk import Walk


def walk_pages(scratch: Path, most: int) -> tuple[Walk, list[str]]:
    """A walk of the pages of a sound table, and the names of its steps."""
    steps: list[str] = []
    walk = Walk(random.Random(1), 1.0, scratch, [], steps.append, lambda step: None)
    paged.run(walk, Path(ll.sample("iceberg").location), {"most": most, "site": False})
    return walk, steps


def test_every_kind_of_page_is_asked_for(tmp_path: Path) -> None:
    walk, steps = walk_pages(tmp_path, 40)
    assert walk.failures == []
    assert {f"page({name})" for name in explorer._load_pages()} <= set(steps)
    assert any("path=" in step for step in steps), "what is linked is asked for too"


def test_what_fails_on_a_page_is_a_failure(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(visit: object) -> None:
        raise ValueError("a page that fails")

    explorer._load_pages()
    monkeypatch.setitem(explorer._MAKERS, "files", fail)
    walk, _ = walk_pages(tmp_path, 30)
    assert {failure.step.partition("?")[0] for failure in walk.failures} >= {"page(files)"}
