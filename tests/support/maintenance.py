"""What the engine's own maintenance did, as recorded below tests/lakes/maintenance, and the tables that it was done to."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from lakelens.opening import open_table
from tests.support import LAKES

RECORDS = LAKES / "maintenance"


@dataclass(frozen=True)
class Run:
    """One call of a procedure: the table it was made on, its options, and what it did."""

    number: int
    record: dict[str, Any]

    @property
    def name(self) -> str:
        """The test's name."""
        return f"{self.record['table']}-{self.number}"

    @property
    def table_path(self) -> Path:
        """The kept table."""
        return LAKES / "spark" / "iceberg" / self.record["table"] / "table"

    def open(self, folder: Path) -> Any:
        """The table as it was before the call: the kept one, or a copy with the planted files, as old as they were."""
        planted = self.record["planted"]
        if not planted:
            return open_table(str(self.table_path))
        place = folder / "table"
        shutil.copytree(self.table_path, place)
        now = time.time()
        for path in place.rglob("*"):
            os.utime(path, (now - 86_400 * 30,) * 2)
        for name, days in planted.items():
            path = place / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(b"stray")
            os.utime(path, (now - 86_400 * days,) * 2)
        answers = json.loads((self.table_path.parent / "answers.json").read_text("utf-8"))
        return open_table(str(place), version=answers["metadata_location"].rpartition("/")[2])

    def options(self, place: str) -> dict[str, Any]:
        """The options of `dry_run`; the table's directory for `{location}`."""
        return {
            name: value.replace("{location}", place) if isinstance(value, str) else value
            for name, value in self.record["options"].items()
        }


@cache
def load_runs(group: str) -> tuple[Run, ...]:
    """The recorded runs of a group of procedures of Iceberg."""
    document = json.loads((RECORDS / "iceberg" / f"{group}.json").read_text("utf-8"))
    return tuple(Run(number, record) for number, record in enumerate(document["runs"]))


def list_groups() -> Iterator[str]:
    """The groups that were recorded."""
    return (path.stem for path in sorted((RECORDS / "iceberg").glob("*.json")))
