"""The courses of a copy beside its original, and of a writer beside a reader: they find what they are for."""

from __future__ import annotations

import random
import shutil
from pathlib import Path

import pytest

from lakelens.io.relocation import Locator
from lakelens.model.table import Table
from tests.fuzz import copies, gone_on
from tests.fuzz.courses import Settings
from tests.fuzz.walk import Walk
from tests.support.unpacked import unpack_samples

PLACES: list[Settings] = [{"place": place / 10, "walks": False} for place in range(0, 10, 3)]
ORDER: Settings = {"order": list(gone_on.QUESTIONS), "looks": True}


def walk_copy(settings: Settings, place: Path) -> tuple[Walk, list[str]]:
    steps: list[str] = []
    walk = Walk(random.Random(1), 1.0, place, before=steps.append)
    copies.run(walk, unpack_samples() / "iceberg", settings)
    return walk, steps


@pytest.mark.parametrize("settings", PLACES, ids=lambda settings: str(settings["place"]))
def test_a_copy_is_judged(settings: Settings, tmp_path: Path) -> None:
    walk, steps = walk_copy(settings, tmp_path)
    assert steps == ["copy", "copy.check()", "enclosed", "enclosed.check()"]
    assert not walk.failures


def test_a_copy_that_is_called_whole_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Locator, "was_at_home", lambda locator, recorded: False)
    walk, _ = walk_copy(PLACES[0], tmp_path)
    assert [failure.cause for failure in walk.failures] == ["a copy that lacks a file is called whole"]


def walk_past(name: str, place: Path) -> Walk:
    root = place / name
    shutil.copytree(unpack_samples() / name, root)
    walk = Walk(random.Random(1), 1.0, place)
    gone_on.run(walk, root, ORDER)
    return walk


@pytest.mark.parametrize("name", ["iceberg", "paimon"])
def test_a_writer_beside_a_reader_is_judged(name: str, tmp_path: Path) -> None:
    walk = walk_past(name, tmp_path)
    assert walk.steps > 2 * len(gone_on.QUESTIONS)
    assert not walk.failures


def test_a_false_word_about_the_past_is_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Table, "find_newer", lambda table: None)
    walk = walk_past("iceberg", tmp_path)
    assert [failure.cause for failure in walk.failures] == ["a sound table is called damaged"]
