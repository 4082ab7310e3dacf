"""What was measured, kept as JSON with the facts of the machine: no name of it, and no path on it."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable
from dataclasses import dataclass, field, fields
from importlib import metadata
from pathlib import Path
from typing import Any

from tests.benchmarks.measure import PEERS, Measurement

NAME = "results.json"
_OURS = ("pyarrow", "datafusion", "fastavro", "polars", "pyspark")
_THEIRS = ("pyiceberg", "pypaimon", "duckdb")


@dataclass
class Results:
    """Everything that a run measured, or several runs of some parts each."""

    machine: dict[str, Any] = field(default_factory=dict)
    measurements: list[Measurement] = field(default_factory=list)
    cold_start: dict[str, list[float]] = field(default_factory=dict)
    cold_cpu: dict[str, list[float]] = field(default_factory=dict)
    modules: dict[str, int] = field(default_factory=dict)
    minutes: dict[str, float] = field(default_factory=dict)

    def select(self, case: str, runner: str | None = None, **facts: Any) -> list[Measurement]:
        """The measurements of a case, by runner and by what the table was grown to, in order."""
        return [
            one
            for one in self.measurements
            if one.case == case
            and runner in (None, one.runner)
            and all(one.table.get(key) == value for key, value in facts.items())
        ]

    def select_curve(self, case: str, runner: str | None = None, **facts: Any) -> list[Measurement]:
        """The measurements of a curve; a point that a main table has already was measured there."""
        points = self.select(case, runner, **facts)
        sizes = {(one.table["files"], one.table["columns"]) for one in points}
        runners = {one.runner for one in points}
        for main in _MAIN_TABLES.get(case, ()):
            for one in self.select(main, runner, **facts):
                is_new = (one.table["files"], one.table["columns"]) not in sizes
                if is_new and one.runner in runners and _lies_on_curve(case, one, points):
                    points.append(one)
        return points

    def find(self, case: str, runner: str, **facts: Any) -> Measurement | None:
        """The one measurement of a runner in a case, if it was made."""
        return next(iter(self.select(case, runner, **facts)), None)

    def replace_case(self, case: str, measurements: Iterable[Measurement]) -> None:
        """Put what was measured now in the place of what was measured before."""
        self.measurements = [one for one in self.measurements if one.case != case] + list(measurements)

    def save(self, folder: Path) -> None:
        """Write the results into a directory."""
        folder.mkdir(parents=True, exist_ok=True)
        document = {
            "machine": self.machine,
            "minutes": self.minutes,
            "cold_start": self.cold_start,
            "cold_cpu": self.cold_cpu,
            "modules": self.modules,
            "measurements": [one.to_json() for one in self.measurements],
        }
        (folder / NAME).write_text(json.dumps(round_numbers(document), indent=1) + "\n")


_MAIN_TABLES = {"entries": ("iceberg", "paimon"), "columns": ("wide",)}


def _lies_on_curve(case: str, one: Measurement, points: list[Measurement]) -> bool:
    same = "columns" if case == "entries" else "files"
    return any(one.table[same] == point.table[same] for point in points)


def load_results(folder: Path) -> Results:
    """The results that a directory keeps; none are no error."""
    path = folder / NAME
    if not path.exists():
        return Results()
    document = json.loads(path.read_text())
    known = {one.name for one in fields(Measurement)}
    measurements = [
        Measurement(**{key: value for key, value in one.items() if key in known})
        for one in document["measurements"]
    ]
    given = {key: value for key, value in document.items() if key != "measurements"}
    return Results(measurements=measurements, **given)


def round_numbers(value: Any) -> Any:
    """Plain data with floats of four digits behind the point."""
    if isinstance(value, float):
        return round(value, 4)
    if isinstance(value, dict):
        return {key: round_numbers(one) for key, one in value.items()}
    return [round_numbers(one) for one in value] if isinstance(value, list) else value


def describe_machine() -> dict[str, Any]:
    """Cores, memory and versions."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")
    return {
        "cores": len(os.sched_getaffinity(0)),
        "memory_gib": round(memory / 2**30),
        "system": f"{platform.system()} {platform.machine()}",
        "python": platform.python_version(),
        "packages": {
            **{name: metadata.version(name) for name in _OURS},
            **_ask_versions(PEERS, _THEIRS),
        },
    }


def _ask_versions(python: Path, names: Iterable[str]) -> dict[str, str]:
    if not python.exists():
        return {}
    script = "import json, sys; from importlib.metadata import version as v; "
    script += "print(json.dumps({name: v(name) for name in sys.argv[1:]}))"
    done = subprocess.run([str(python), "-c", script, *names], capture_output=True, text=True)
    if done.returncode:
        print(done.stderr, file=sys.stderr)
        return {}
    versions: dict[str, str] = json.loads(done.stdout)
    return versions
