"""What delta-spark's own maintenance did, as recorded below tests/lakes/maintenance/delta, and the tables it was done to."""

from __future__ import annotations

import json
import os
import shutil
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

from lakelens.opening import open_table
from tests.support import LAKES
from tests.support.unpacked import unpack_archive

RECORDS = LAKES / "maintenance" / "delta"
_DAY, _HOUR = 86_400, 3_600


@dataclass(frozen=True)
class Run:
    """One call of a procedure: the table it was made on, its options, and what it did."""

    number: int
    record: dict[str, Any]

    @property
    def name(self) -> str:
        """The test's name."""
        return f"{self.record['procedure']}-{self.record['table']}-{self.number}"

    @property
    def at(self) -> float:
        """When the engine was called, in seconds."""
        seconds: float = self.record["at"] / 1000
        return seconds

    @property
    def options(self) -> dict[str, Any]:
        """The options of `dry_run`."""
        return {**self.record["options"], "at": datetime.fromtimestamp(self.at, UTC)}

    def open(self, tables: Path, folder: Path) -> Any:
        """The table as it was before the call: as it is in the archive, or a copy with planted files and older ones."""
        place = tables / self.record["table"]
        if not self.record["planted"] and self.record["aged"] is None:
            return open_table(str(place))
        copy = folder / self.record["table"]
        shutil.copytree(place, copy)
        age_and_plant(copy, self.record["planted"], self.record["aged"], self.at)
        return open_table(str(copy))


def age_and_plant(place: Path, planted: dict[str, float], aged: float | None, at: float) -> None:
    """Make files as old as they were, and write those that nobody refers to."""
    if aged is not None:
        for path in place.rglob("*"):
            if "_delta_log" not in path.parts:
                os.utime(path, (at - _DAY * aged,) * 2)
    for name, days in planted.items():
        path = place / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"stray")
        os.utime(path, (at - _DAY * days if days else at + _HOUR,) * 2)


@cache
def load_runs() -> tuple[Run, ...]:
    """The recorded runs."""
    document = json.loads((RECORDS / "runs.json").read_text("utf-8"))
    return tuple(Run(number, record) for number, record in enumerate(document["runs"]))


def unpack_tables(folder: Path) -> Path:
    """Unpack the tables, each file as old as it was."""
    return unpack_archive(RECORDS / "tables.tar.xz", folder)


def read_strays() -> dict[str, float]:
    """The planted files of the runs, each with its age in days."""
    found: dict[str, float] = next(run.record["planted"] for run in load_runs() if run.record["planted"])
    return found


STRAYS = read_strays()
