"""How an INSERT writes a Delta table: data files, then an entry of the log under a temporary name, renamed; a checksum."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from typing import Any

from lakelens.practice.commits.lake import Commit, Format, Lake, load_lake

STEPS = ("first file", "second file", "log entry, not yet named", "rename", "checksum")


def start_lake() -> Lake:
    """The table as it is after its first INSERT."""
    files = load_lake("delta")
    kept = (*list_files(0), *(_name_entry(version) + end for version in (0, 1) for end in (".json", ".crc")))
    return Lake({path: files[path] for path in kept})


def _name_entry(version: int) -> str:
    return f"_delta_log/{version:020}"


@cache
def list_files(number: int) -> tuple[str, ...]:
    """List the data files of one of the three INSERTs, counted from 0; version 0 made the table."""
    actions = map(json.loads, _read_lines(load_lake("delta"), number + 1))
    return tuple(action["add"]["path"] for action in actions if "add" in action)


def insert(lake: Lake, number: int, is_atomic: bool) -> Commit:
    """Insert two rows as Spark does. The entry is put under the next version, where there is none.

    Where another commit came first the entry is put under the version after it: two INSERTs are no conflict. Without a
    rename that fails where the name is taken, the writer takes the version that was free when it looked.
    """
    stored = load_lake("delta")
    for step, path in zip(STEPS, list_files(number), strict=False):
        yield step
        lake.write(path, stored[path])
    entry = stored[f"{_name_entry(number + 1)}.json"]
    step = STEPS[2]
    while True:
        yield step
        version = 1 + max(
            int(path[-25:-5]) for path in lake.files if path.endswith(".json") and "/." not in path
        )
        temporary = f"_delta_log/.{version:020}.json.{number}.tmp"
        lake.write(temporary, entry)
        yield STEPS[3]
        target = f"{_name_entry(version)}.json"
        if not is_atomic or target not in lake.files:
            break
        lake.remove(temporary)
        step = STEPS[3]
    lake.move(temporary, target)
    yield STEPS[4]
    temporary = f"_delta_log/.{version:020}.crc.{number}.tmp"
    lake.write(
        temporary, _write_checksum(lake, json.loads(stored[f"{_name_entry(number + 1)}.crc"]), version)
    )
    yield STEPS[4]
    lake.move(temporary, f"{_name_entry(version)}.crc")


def _write_checksum(lake: Lake, mine: dict[str, Any], version: int) -> bytes:
    """Write the checksum of a version: how many files are live, their bytes, and which they are, the newest first."""
    lines = [line for entry in range(version + 1) for line in _read_lines(lake.files, entry)]
    added = [action["add"] for action in map(json.loads, lines) if "add" in action]
    live = [{**add, "dataChange": False} for add in reversed(added)]
    size = sum(add["size"] for add in live)
    return json.dumps({**mine, "tableSizeBytes": size, "numFiles": len(live), "allFiles": live}).encode()


def _read_lines(files: Mapping[str, bytes], version: int) -> list[str]:
    return files[f"{_name_entry(version)}.json"].decode().splitlines()


FORMAT = Format("delta", STEPS, "put-if-absent", start_lake, insert)
