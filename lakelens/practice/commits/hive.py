"""How an INSERT writes a Hive table: files below `_temporary`, renamed one by one into the table's folder."""

from __future__ import annotations

import re

from lakelens.practice.commits.lake import Commit, CommitFailed, Format, Lake, load_lake

STEPS = ("first file", "second file", "first rename", "second rename", "clean up")
_JOB = "_temporary/0"


def start_lake() -> Lake:
    """The table as it is after its first INSERT."""
    files = load_lake("hive")
    return Lake({path: files[path] for path in (*list_files(0), "_SUCCESS")})


def list_files(number: int) -> list[str]:
    """List the files of one of the three INSERTs, counted from 0, in the order in which they were written."""
    groups: dict[str, list[str]] = {}
    for path in load_lake("hive"):
        if match := re.fullmatch(r"part-\d+-(.+)\.snappy\.parquet", path):
            groups.setdefault(match[1], []).append(path)
    return sorted(list(groups.values())[number])


def insert(lake: Lake, number: int, is_atomic: bool) -> Commit:
    """Insert two rows as Spark does, with the committer of Hadoop: nothing of it is atomic but each rename.

    The folder `_temporary/0` has the same name for all who write: a commit moves whatever tasks are there, and removes it.
    """
    mine, stored = list_files(number), load_lake("hive")
    for task, path in enumerate(mine):
        yield STEPS[task]
        attempt = f"{_JOB}/_temporary/attempt_{number}_{task}/{path}"
        lake.write(attempt, stored[path])
        yield STEPS[task]
        lake.move(attempt, f"{_JOB}/task_{number}_{task}/{path}")
    try:
        yield STEPS[2]
        tasks = sorted(path for path in lake.files if path.startswith(f"{_JOB}/task_"))
        if not tasks:
            raise CommitFailed(f"{_JOB} does not exist")
        for place, path in enumerate(reversed(tasks)):  # the order of a listing is the file system's
            if place:
                yield STEPS[3]
            lake.move(path, path.rpartition("/")[2])
    except CommitFailed:
        yield STEPS[4]
        _clean_up(lake)
        raise
    yield STEPS[4]
    _clean_up(lake)
    lake.write("_SUCCESS", b"")


def _clean_up(lake: Lake) -> None:
    """Remove the folder of unfinished files, whoever wrote them."""
    lake.remove(*[path for path in lake.files if path.startswith("_temporary/")])


FORMAT = Format("hive", STEPS, "", start_lake, insert)
