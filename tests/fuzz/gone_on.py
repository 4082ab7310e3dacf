"""A course: another writer commits, expires and deletes beside tables that are open.

Where the table was sound before and is after, no verdict about the opened state may be that it is damaged.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from lakelens.errors import LakeError
from tests.fuzz.courses import Course, Settings
from tests.fuzz.walk import Failure, Walk
from tests.support.advancing import WRITERS

QUESTIONS = ("check", "space", "health", "files", "row", "explain", "to_text")


def run(walk: Walk, root: Path, settings: Settings) -> None:
    """Open a table for each question, go on with it, and ask."""
    import lakelens as ll
    from lakelens.model.view import View

    tables = [(name, walk.step(f"{name} table", lambda: ll.open(root))) for name in settings["order"]]
    first = tables[0][1]
    if first is None or isinstance(first, View) or first.format not in WRITERS:
        return  # a commit to a view takes nothing away
    was_sound = _is_sound(root)
    for name, table in tables:
        if table is not None and settings["looks"]:
            walk.step(f"{name} card", table.to_text)
    try:
        WRITERS[first.format](root)
    except (
        Exception
    ):  # whatever a writer of the harness says of what the case has damaged: no fault of lakelens
        return
    is_sound = was_sound and _is_sound(root)
    for name, table in tables:
        if table is None:
            continue
        answer = walk.step(f"{name} of the past", lambda table=table, name=name: _ask(table, name))
        verdict = getattr(answer, "verdict", "")
        if is_sound and name == "check" and verdict == "damaged":
            walk.failures.append(
                Failure("check of the past", "a sound table is called damaged", repr(answer))
            )
        if answer is not None and hasattr(answer, "to_text"):
            walk.step(f"{name} of the past, shown", answer.to_text)


def _ask(table: Any, name: str) -> Any:
    ask = getattr(table, name)
    if name in ("row", "explain"):
        fields = table.schema.fields
        return ask(f"`{fields[0].name}` IS NOT NULL") if len(fields) else None
    answer = ask() if callable(ask) else ask
    return len(answer) if name == "files" else answer


def _is_sound(root: Path) -> bool:
    import lakelens as ll

    try:
        return bool(ll.open(root).check().ok)
    except LakeError:
        return False


def choose(rng: random.Random) -> Settings:
    """An order of the questions, and whether the tables were looked at before."""
    return {"order": rng.sample(QUESTIONS, len(QUESTIONS)), "looks": rng.random() < 0.5}


def take(lake: str) -> bool:
    """Hive has no commits."""
    return "hive" not in lake


COURSE = Course("gone-on", run, choose, writes=True, wants_sound=True, takes=take)
