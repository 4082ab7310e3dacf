"""Shell completion: the scripts are printed, and bash completes verbs, samples, snapshots and refs by its own."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import string
import subprocess
import sys
from pathlib import Path

import pytest
import rich_click as click

import lakelens as ll
from lakelens.cli.commands import VERBS
from lakelens.cli.completing import complete_ref, complete_where
from lakelens.samples import unpack_table
from tests.support.documents import invoke


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_of_each_shell(shell: str) -> None:
    script = invoke("completion", shell).stdout
    assert "_LAKELENS_COMPLETE" in script
    if shutil.which(shell):
        subprocess.run([shell, "-n"], input=script, text=True, check=True)


def complete_in_bash(words: list[str], place: Path) -> list[str]:
    """What bash offers for the last of some words."""
    if shutil.which("bash") is None:
        pytest.skip("there is no bash here")
    program = place / "lakelens"
    program.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -m lakelens.cli "$@"\n')
    program.chmod(0o755)
    line = " ".join(shlex.quote(word) for word in words)
    script = (
        'eval "$(lakelens completion bash)"\n'
        f"COMP_WORDS=({line}); COMP_CWORD={len(words) - 1}\n"
        "_lakelens_completion lakelens\n"
        'printf "%s\\n" "${COMPREPLY[@]}"\n'
    )
    environment = {**os.environ, "PATH": f"{place}{os.pathsep}{os.environ['PATH']}"}
    told = subprocess.run(["bash", "-c", script], capture_output=True, text=True, env=environment, check=True)
    return [line for line in told.stdout.splitlines() if line]


def test_bash_completes_verbs(tmp_path: Path) -> None:
    assert complete_in_bash(["lakelens", "sn"], tmp_path) == ["snapshots"]
    every = complete_in_bash(["lakelens", ""], tmp_path)
    assert sorted(every) == sorted(str(verb.name) for verb in VERBS)


def test_bash_completes_samples_refs_and_snapshots(tmp_path: Path) -> None:
    assert "sample:iceberg" in complete_in_bash(["lakelens", "show", "sample:ice"], tmp_path)
    table = ll.sample("iceberg-branches")
    found = complete_in_bash(["lakelens", "show", table.location, "-s", ""], tmp_path)
    assert {"main", "audit", str(table.snapshots[0].id)} <= set(found)
    assert complete_in_bash(["lakelens", "diff", table.location, "ma"], tmp_path) == ["main"]
    assert complete_in_bash(["lakelens", "show", "/nowhere", "-s", ""], tmp_path) == []


def test_bash_completes_procedures_and_columns(tmp_path: Path) -> None:
    table = ll.sample("iceberg")
    assert complete_in_bash(["lakelens", "dry-run", table.location, "exp"], tmp_path) == ["expire_snapshots"]
    found = complete_in_bash(["lakelens", "files", table.location, "--columns", "path,rec"], tmp_path)
    assert found == ["path,recorded_path", "path,record_count"]


def test_nothing_that_a_shell_would_run_is_completed(tmp_path: Path) -> None:
    table = unpack_table("iceberg-branches", tmp_path)
    newest = max(Path(table).glob("metadata/*.metadata.json"))
    document = json.loads(newest.read_text())
    main = document["refs"]["main"]
    document["refs"] |= dict.fromkeys(("$(touch${IFS}x)", "a;b", "-rf", "~root", "`id`", "v1.0"), main)
    for snapshot in document["snapshots"]:
        snapshot["summary"]["operation"] = "append\nevil$(id)\x1b[31m"
    newest.write_text(json.dumps(document))
    context = click.Context(VERBS[0])
    context.params["path"] = str(table)
    found = complete_ref(context, click.Option(["--snapshot"]), "")
    assert {"main", "v1.0", "audit"} <= {item.value for item in found}
    assert not [item.value for item in found if not set(item.value + (item.help or "")) <= set(_PLAIN)]
    assert not [item.value for item in found if item.value.startswith("-")]


@pytest.mark.parametrize(
    ("begun", "words"),
    [
        ('"na', ["name"]),
        ('"id = 10', ["id = 100"]),
        ("'p = ", ["p = 0", "p = 1"]),
        ("\"name = 'me", ["name = 'merged'"]),
        ('"id = 18 a', ["id = 18 and"]),
        ('"ID = 18 AND NA', []),  # a shell does not take other letters for these
        ("'name = ", []),  # its values have the quotes that the shell would take for the end
    ],
)
def test_bash_completes_conditions_in_quotes(begun: str, words: list[str], tmp_path: Path) -> None:
    place = unpack_table("iceberg", tmp_path)
    asked = {"COMP_WORDS": f"lakelens explain {place} {begun}", "COMP_CWORD": "3"}
    environment = {**os.environ, **asked, "_LAKELENS_COMPLETE": "bash_complete"}
    call = [sys.executable, "-m", "lakelens.cli"]
    told = subprocess.run(call, capture_output=True, text=True, env=environment, check=True)
    assert told.stdout.split() == " ".join(f"plain,{word}" for word in words).split()


def test_no_value_that_a_shell_would_run_is_completed(monkeypatch: pytest.MonkeyPatch) -> None:
    values = ["'$(id)'", "'`id`'", "'a\"b'", "'a!b'", "'a\\b'", "'fine'"]
    monkeypatch.setattr(
        "lakelens.analysis.explain.completing.list_values", lambda table, columns: {"name": values}
    )
    monkeypatch.setenv("COMP_WORDS", 'lakelens explain sample:iceberg "name = ')
    context = click.Context(VERBS[0])
    context.params["path"] = "sample:iceberg"
    completed = complete_where(context, click.Argument(["where"]), "name = ")
    assert [item.value for item in completed] == ["name = 'fine'"]


_PLAIN = string.ascii_letters + string.digits + "._-"
