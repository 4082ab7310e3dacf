"""Every question asked of the packaged samples is answered in a tab as it is here, without the packages that no tab has.

`tests/test_light.py` compares those answers with what a process answers that has all packages.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from lakelens.samples import read_samples
from lakelens.tab.parts import Gathered
from tests.tab.hosts import make_page, run_in_node, serve_folder, walk_in_page
from tests.tab.parts import ROOT

#: One or two of each format: `make test` walks these, `make tab-test` the others too.
FEW = ("delta", "hive", "iceberg-merge-on-read", "iceberg-types", "paimon-deletion-vectors")
OTHERS = tuple(sorted(set(read_samples().keys()) - set(FEW)))
WHICH = [pytest.param(FEW, id="few"), pytest.param(OTHERS, id="others", marks=pytest.mark.exhaustive)]


def walk_here(directory: str, names: Sequence[str]) -> str:
    """Walk samples in another process on this machine, as in a tab."""
    command = [sys.executable, "-m", "tests.tab.walk", "--bare", directory, *names]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def list_differences(seen: str, expected: str) -> list[str]:
    """List which questions were answered otherwise, with the lines that differ."""
    answers, wanted = json.loads(seen), json.loads(expected)
    assert answers.keys() == wanted.keys()
    found = []
    for name, questions in wanted.items():
        for question in sorted(questions.keys() | answers[name].keys()):
            here, there = str(questions.get(question)), str(answers[name].get(question))
            if here != there:
                lines = [
                    line
                    for line in zip(here.splitlines(), there.splitlines(), strict=False)
                    if line[0] != line[1]
                ]
                found.append(
                    f"{name}, {question}: here and in the tab {lines[:2] or (len(here), len(there))}"
                )
    return found


@pytest.mark.parametrize("names", WHICH)
def test_a_tab_in_node_answers_as_python_does(parts: Gathered, names: Sequence[str], tmp_path: Path) -> None:
    there = run_in_node(parts, "tests.tab.walk", str(tmp_path / "lakes"), *names)
    assert there.returncode == 0, there.stderr[-4000:]
    assert list_differences(there.stdout, walk_here(str(tmp_path / "lakes"), names)) == []


@pytest.mark.parametrize("names", WHICH)
def test_a_tab_in_chromium_answers_as_python_does(
    parts: Gathered, names: Sequence[str], tmp_path: Path, browser: Any
) -> None:
    make_page(parts, tmp_path / "page")
    context = browser.new_context()
    requests: list[str] = []
    refused: list[str] = []
    context.on("request", lambda request: requests.append(request.url))
    page = context.new_page()
    page.on("console", lambda message: refused.append(message.text) if message.type == "error" else None)
    with serve_folder(tmp_path / "page") as address:
        there = walk_in_page(page, address, str(tmp_path / "lakes"), names)
        asked = {request.removeprefix(address) for request in requests}
    context.close()
    # what the worker asks for is in this log too; a request to another origin would have its whole address
    assert asked == {
        "", "page.mjs", "worker.mjs", "runtime/pyodide.mjs", "runtime/pyodide.asm.mjs", "runtime/pyodide.asm.wasm",
        "runtime/pyodide-lock.json", "runtime/python_stdlib.zip", "packages.zip", "code.zip",
    }  # fmt: skip
    assert refused == []
    assert list_differences(there, walk_here(str(tmp_path / "lakes"), names)) == []
