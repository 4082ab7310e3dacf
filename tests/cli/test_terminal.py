"""Verbs on a terminal of their own (a pty): colours, widths, the pager; and on a pipe: plain lines."""

from __future__ import annotations

import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.cells import cell_len

import lakelens as ll
from tests.support.documents import invoke

_STYLE = re.compile(r"\x1b\[[0-9;]*m")
_DRAWN = set("│├└─●○╯┼┊╭╰")


def run_on_terminal(*arguments: str, columns: int = 80, rows: int = 500, **environment: str) -> str:
    """What a verb writes to a terminal of this size."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))
    inherited = {
        name: held for name, held in os.environ.items() if name not in ("NO_COLOR", "FORCE_COLOR", "COLUMNS")
    }
    verb = subprocess.Popen(
        [sys.executable, "-m", "lakelens.cli", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**inherited, "TERM": "xterm-256color", "PAGER": "cat", **environment},
        start_new_session=True,
    )
    os.close(theirs)
    pieces = []
    while True:
        try:
            piece = os.read(ours, 65_536)
        except OSError:
            break
        if not piece:
            break
        pieces.append(piece)
    os.close(ours)
    assert verb.wait() == 0
    return b"".join(pieces).decode().replace("\r\n", "\n")


VERBS = [
    ["show", "sample:iceberg"],
    ["show", "sample:paimon", "-d", "2"],
    ["snapshots", "sample:iceberg"],
    ["manifests", "sample:paimon"],
    ["files", "sample:iceberg"],
    ["files", "sample:iceberg", "-c", "all", "-n", "2"],
    ["history", "sample:iceberg-branches"],
    ["diff", "sample:paimon", "2", "5", "-d", "2"],
    ["schema", "sample:iceberg-evolution"],
    ["refs", "sample:iceberg-branches"],
    ["tree", "sample:paimon"],
    ["findings", "sample:hive"],
    ["explain", "sample:iceberg", "id > 15 AND p = 1"],
    ["check", "sample:paimon"],
    ["space", "sample:iceberg-branches"],
    ["row", "sample:paimon", "id = 1"],
    ["biography", "sample:paimon", "data-8dd6ede1-4393-49a6-89f0-8833ed4b270d-0.parquet"],
    ["dry-run", "sample:iceberg", "expire_snapshots", "-o", "older_than=2100-01-01"],
    ["sql", "sample:iceberg", "SELECT content, count(*) AS files FROM files GROUP BY content"],
    ["samples"],
]


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("columns", [80, 200])
@pytest.mark.parametrize("arguments", VERBS, ids=" ".join)
def test_colours_within_the_width(arguments: list[str], columns: int) -> None:
    told = run_on_terminal(*arguments, columns=columns)
    assert _STYLE.search(told)
    lines = _STYLE.sub("", told).splitlines()
    assert 0 < max(cell_len(line.rstrip()) for line in lines) <= columns


def test_no_color_is_obeyed() -> None:
    told = run_on_terminal("history", "sample:iceberg-branches", NO_COLOR="1")
    assert not re.search(r"\x1b\[[0-9;]*3[0-9]", told)
    assert "●" in told


@pytest.mark.parametrize("arguments", VERBS, ids=" ".join)
def test_a_pipe_gets_plain_lines(arguments: list[str]) -> None:
    told = invoke(*arguments).stdout
    assert "\x1b" not in told
    assert not set(told) & _DRAWN


def test_a_pipe_gets_whole_paths_and_exact_numbers() -> None:
    table = ll.sample("iceberg")
    lines = invoke("files", table.location).stdout.splitlines()[1:]
    for line, file in zip(lines, table.files, strict=True):
        assert {file.path, str(file.size_bytes), str(file.record_count)} <= set(line.split())


def test_long_output_is_paged_and_short_is_not(tmp_path: Path) -> None:
    note = tmp_path / "paged"
    pager = f"sh -c 'echo $LESS > {note}; cat'"
    long = run_on_terminal("tree", "sample:iceberg", rows=10, PAGER=pager)
    assert note.read_text() == "FRX\n"
    assert "30 objects" in long
    note.unlink()
    run_on_terminal("tree", "sample:iceberg", "--no-pager", rows=10, PAGER=pager)
    run_on_terminal("refs", "sample:iceberg", rows=10, PAGER=pager)
    assert not note.exists()


def test_who_leaves_the_pager_ends_the_verb() -> None:
    assert run_on_terminal("tree", "sample:iceberg", rows=10, PAGER="head -1").startswith("\x1b")


def test_a_pager_that_is_not_there_is_done_without() -> None:
    assert "30 objects" in run_on_terminal("tree", "sample:iceberg", rows=10, PAGER="/nowhere/pager")
