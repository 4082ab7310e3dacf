"""Tests of the core pass in a tab's Python, some of the cases of each; `needs.toml` lists those that need more."""

from __future__ import annotations

import tomllib
from collections.abc import Sequence

import pytest

from lakelens.tab.parts import Gathered
from tests.tab.hosts import run_in_node
from tests.tab.inside import NEEDS
from tests.tab.parts import ROOT

#: What `make test` runs: files that ask the packages with code of their own for WebAssembly, and one of plain Python.
FEW = ("tests/codecs/test_compression_bombs.py", "tests/codecs/text", "tests/model/test_skeleton_times.py")
WHICH = [
    pytest.param(FEW, id="few"),
    *(
        pytest.param((f"tests/{room}",), id=room, marks=pytest.mark.exhaustive)
        for room in ("codecs", "model")
    ),
]


@pytest.mark.exhaustive
@pytest.mark.parametrize("places", WHICH)
def test_the_tests_of_the_core_pass_in_a_tab(parts: Gathered, places: Sequence[str]) -> None:
    plugins = ("-p", "tests.tab.inside", "-p", "no:cacheprovider", "--override-ini=addopts=--strict-markers")
    # of many cases the short run's: the others were tried outside
    ran = run_in_node(
        parts, "pytest", *plugins, "-q", "--tb=short", *places, environment={"LAKELENS_EXHAUSTIVE": "no"}
    )
    assert ran.returncode == 0, ran.stdout[-8000:] + ran.stderr[-2000:]
    assert " passed" in ran.stdout


def test_the_list_of_needs_names_tests_that_are_there() -> None:
    listed = tomllib.loads(NEEDS.read_text())
    gone = []
    for name in (name for kind in listed.values() for name in kind):
        path, _, test = name.partition("[")[0].partition("::")
        text = (ROOT / path).read_text() if (ROOT / path).is_file() else ""
        if not text or (test and f"def {test.rpartition('::')[2]}(" not in text):
            gone.append(name)
    assert gone == []
