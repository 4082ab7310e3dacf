"""Sentences of answers that a newcomer reads first say what happens, to whom, and by what."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, cast

import pytest

import lakelens as ll
from lakelens.model.measures.rules import say_emptied
from lakelens.views.answers import health as card


def test_an_explanation_says_what_skips_most_files() -> None:
    said = ll.sample("iceberg").explain("id = 1").to_text(1)
    assert "most files are skipped by the " in said


def test_clustering_says_what_a_look_up_opens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(card, "_ENOUGH", 1)
    few = [SimpleNamespace(mean=1.0, files=100), SimpleNamespace(mean=90.0, files=100)]
    assert card._fold_clustering(cast(Any, few)).answer == (
        "a look-up by 1 of 2 columns with bounds opens a tenth of the files or less"
    )
    assert card._fold_clustering(cast(Any, few[1:])).answer == (
        "a look-up by any of 1 column with bounds opens more than a tenth of the files"
    )


def test_emptied_manifests_go_with_a_commit() -> None:
    manifest = SimpleNamespace(deleted_files_count=2)
    assert say_emptied(cast(Any, [manifest])) == (
        "2 entries of files that are gone; the next commit leaves it out, unless it is a fast append"
    )
