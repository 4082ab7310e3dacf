"""The reader's own file: what was guessed, seen and answered, one JSON object a line, in the order in which it came.

It is in the directory that `LAKELENS_STATE` names, else in `XDG_STATE_HOME/lakelens`, else in `~/.local/state/lakelens`, and
made when the first line is written. Lines are only ever added; one that was cut is left out.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from lakelens.errors import LakeError
from lakelens.whole import NotWritten

_HINT = "set LAKELENS_STATE to a directory of your own that you may write to"


def find_journal() -> Path:
    """Find where the reader's file is, or would be.

    >>> import os
    >>> before = os.environ.get("LAKELENS_STATE")
    >>> os.environ["LAKELENS_STATE"] = "mine"
    >>> find_journal().as_posix()
    'mine/practice.jsonl'
    >>> _ = os.environ.pop("LAKELENS_STATE") if before is None else os.environ.update(LAKELENS_STATE=before)
    """
    try:
        if chosen := os.environ.get("LAKELENS_STATE"):
            return Path(chosen).expanduser() / "practice.jsonl"
        kept = os.environ.get("XDG_STATE_HOME")
        base = Path(kept).expanduser() if kept else Path.home() / ".local" / "state"
    except RuntimeError as error:
        raise LakeError("there is no home directory to keep your answers in", hint=_HINT) from error
    return base / "lakelens" / "practice.jsonl"


def read_notes() -> list[dict[str, Any]]:
    """Read all that was noted, the oldest first; nothing where nothing was ever written down.

    Raises `LakeError` where the file is there and cannot be read.
    """
    place = find_journal()
    try:
        lines = place.read_bytes().splitlines()
    except FileNotFoundError:
        return []
    except OSError as error:
        reason = f"what you wrote down cannot be read: {error.strerror or error}"
        raise LakeError(reason, path=str(place), hint=_HINT) from error
    notes = []
    for line in lines:
        try:
            note = json.loads(line)
        except ValueError:  # a line that was cut
            continue
        if isinstance(note, dict):
            notes.append(note)
    return notes


def add_note(note: Mapping[str, Any]) -> None:
    """Add a line to the reader's file. Raises `NotWritten`."""
    place = find_journal()
    try:
        place.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with place.open("ab+") as file:
            size = file.seek(0, os.SEEK_END)
            file.seek(max(0, size - 1))
            start = b"\n" if size and file.read(1) != b"\n" else b""  # after a line that was cut
            file.write(start + json.dumps(note, ensure_ascii=False).encode() + b"\n")
    except OSError as error:
        reason = f"your answer cannot be written down: {error.strerror or error}"
        raise NotWritten(reason, path=str(place), hint=_HINT) from error
