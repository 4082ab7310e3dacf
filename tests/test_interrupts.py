"""An interrupt in IPython: the frames of whoever called us, a line for ours, and nothing changed where there are none."""

from __future__ import annotations

import subprocess
import sys
from textwrap import dedent

_SHELL = """
from IPython.core.interactiveshell import InteractiveShell
shell = InteractiveShell.instance()
shell.colors = "nocolor"
{before}
shell.run_cell('''
import lakelens as ll

def mine():
    return ll.sample("iceberg").files.where(lambda file: stop())[0]

def stop():
    raise KeyboardInterrupt
''')
shell.run_cell({cell!r})
shell.run_cell({after!r})
"""


def run_cell(cell: str, *, before: str = "", after: str = "") -> str:
    """What a cell prints in a shell of its own."""
    code = dedent(_SHELL).format(cell=cell, before=before, after=after)
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300
    )
    return done.stdout


def test_an_interrupt_of_ours_is_a_line_below_the_callers_own_frames() -> None:
    said = run_cell("mine()")
    assert "return ll.sample" in said, "the caller's own line"
    assert "lakelens/model" not in said
    assert "in lakelens.model.scan" in said and "full traceback: %tb" in said
    assert len(said.splitlines()) < 20


def test_tb_shows_every_frame() -> None:
    said = run_cell("mine()", after="%tb")
    assert "lakelens/model/scan/choosing.py" in said


def test_an_interrupt_without_a_frame_of_ours_is_shown_as_before() -> None:
    said = run_cell("stop()")
    assert "raise KeyboardInterrupt" in said and "%tb" not in said


def test_whoever_handles_interrupts_keeps_the_handler() -> None:
    before = "shell.set_custom_exc((KeyboardInterrupt,), lambda *given, tb_offset=None: print('theirs'))"
    assert run_cell("mine()", before=before).strip() == "theirs"
