"""A course: a copy of a table beside its original loses a file; nothing may speak as if the copy had it.

Both are in memory: the original where the metadata records it, the copy elsewhere. A check has to name the file and may not
call the copy whole; enclosed in its directory it has to say the same, and reads nothing else.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

from lakelens.errors import LakeError
from tests.fuzz.courses import Course, Settings
from tests.fuzz.walk import Failure, Walk

_COPY = "/copies/beside/of/it"
_MOST_FILES = 20


def run(walk: Walk, root: Path, settings: Settings) -> None:
    """Take one file that the current state names from the copy, and ask."""
    from lakelens.io.memory import MemoryStore
    from lakelens.opening import open_in_store

    files = {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}
    try:
        whole = open_in_store(MemoryStore({f"{_COPY}/{name}": data for name, data in files.items()}), _COPY)
        home = whole.relocation.recorded_location
        named = _list_named(whole)
        is_sound = whole.check().ok
    except LakeError:
        return
    original = (home or "").removeprefix("file:").rstrip("/")
    named = [path for path in named if path.removeprefix(_COPY + "/") in files]
    if not original.startswith("/") or not named or not is_sound:
        return
    lost = named[int(settings["place"] * len(named))]
    held = {f"/{original.strip('/')}/{name}": data for name, data in files.items()}
    held |= {f"{_COPY}/{name}": data for name, data in files.items() if f"{_COPY}/{name}" != lost}
    for is_enclosed in (False, True):
        how = "enclosed" if is_enclosed else "copy"
        table = walk.step(how, lambda on=is_enclosed: open_in_store(MemoryStore(held), _COPY, enclosed=on))
        if table is None:
            continue
        check = walk.step(f"{how}.check()", table.check)
        if check is not None:
            _judge(walk, how, check, lost)
        if is_enclosed and any(not path.startswith(_COPY) for path in table.reads.paths):
            text = "\n".join(table.reads.paths)
            walk.failures.append(Failure(how, "an enclosed table reads elsewhere", text))
    if settings["walks"]:
        walk.run(lambda: open_in_store(MemoryStore(held), _COPY))


def _list_named(table: Any) -> list[str]:
    state = table.current
    if state is None:
        return []
    files = [file.path for file in state.files[:_MOST_FILES]]
    lists = [one.path for one in state.manifest_lists if one.path is not None]
    return sorted({*files, *lists, *(one.path for one in state.manifests[:_MOST_FILES])})


def _judge(walk: Walk, how: str, check: Any, lost: str) -> None:
    said = f"{lost}\n{check!r}\n{[(one.severity, one.code, one.path) for one in check.findings][:20]}"
    if check.ok or check.verdict == "sound":
        walk.failures.append(Failure(f"{how}.check()", "a copy that lacks a file is called whole", said))
    elif lost not in {one.path for one in check.missing}:
        walk.failures.append(Failure(f"{how}.check()", "a check does not name what a copy lacks", said))


def choose(rng: random.Random) -> Settings:
    """Which file is lost, as a share of those there are, and whether every verb is asked as well."""
    return {"place": rng.random(), "walks": rng.random() < 0.2}


def take(lake: str) -> bool:
    """Only Iceberg records absolute places."""
    return "iceberg" in lake


COURSE = Course("copies", run, choose, wants_sound=True, takes=take)
