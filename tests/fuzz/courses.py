"""What else is done with a damaged table than a walk of its verbs: each a course, in a module of its own.

A course takes a table that was laid out, and changed as the recipe says, and does its own steps with it: it serves it over
HTTP with wrong answers, asks for all its pages, or writes beside a reader. A module has a `COURSE` and a line in `MODULES`::

    def run(walk: Walk, root: Path, settings: Settings) -> None:
        table = walk.step("served", lambda: ll.open(serve(root, settings["mode"])))
        walk.step("served.check()", table.check)

    def choose(rng: random.Random) -> Settings:
        return {"mode": rng.choice(MODES)}

    COURSE = Course("remote", run, choose, connects=True)

`walk.step` is what is judged: nothing but a `LakeError`, no file written, nobody connected to, in time. What a course finds
itself it adds to `walk.failures`. `walk.run(opens)` walks every verb of what `opens` gives; `walk.rng` is its chance and
`walk.scratch` its directory. Settings are JSON, and kept with the case in the corpus: the course is the same when it is
replayed. `python -m tests.fuzz --course NAME` explores one course alone.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tests.fuzz.walk import Walk

Settings = dict[str, Any]
#: The modules that have a course, in order of name.
MODULES: tuple[str, ...] = (
    "tests.fuzz.copies",
    "tests.fuzz.gone_on",
    "tests.fuzz.paged",
    "tests.fuzz.rare",
    "tests.fuzz.remote",
    "tests.fuzz.twice",
)


def take_any(lake: str) -> bool:
    """A course for every table."""
    return True


@dataclass(frozen=True)
class Course:
    """One way through a table: `connects` to 127.0.0.1, `writes` into the copy of the table, `takes` these tables.

    `wants_sound` has most to say of a table that is sound: half of its cases change nothing before.
    """

    name: str
    run: Callable[[Walk, Path, Settings], None]
    choose: Callable[[random.Random], Settings]
    connects: bool = False
    writes: bool = False
    wants_sound: bool = False
    takes: Callable[[str], bool] = take_any


@cache
def list_courses() -> dict[str, Course]:
    """Every course by its name."""
    courses: list[Course] = [import_module(name).COURSE for name in MODULES]
    return {course.name: course for course in courses}
