"""Measuring a runner on a table: processes of its own, warm and cold, and what came of it as plain data."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from pathlib import Path
from typing import Any

from tests.benchmarks.runners import RUNNERS, Target

ROOT = Path(__file__).parents[2]
PEERS = ROOT / ".venv-benchmarks" / "bin" / "python"
LIMIT = 900  # seconds that one process may take


@dataclass(frozen=True)
class Measurement:
    """How long a runner took on a table: seconds of each warm and each cold run, memory in bytes, and what it found.

    `peak` is the most that a cold process held, `growth` that beyond what its imports take, `java_peak` what Spark's JVM
    held (then `peak` is that of Python alone). `unavailable` says why there is nothing, `checkout` that the code was another
    checkout's.
    """

    case: str
    runner: str
    table: dict[str, Any]
    warm: list[float] = field(default_factory=list)
    cold: list[float] = field(default_factory=list)
    peak: int | None = None
    growth: int | None = None
    java_peak: int | None = None
    found: dict[str, int | None] = field(default_factory=dict)
    cpus: int | None = None
    unavailable: str | None = None
    checkout: str | None = None

    @property
    def warm_seconds(self) -> float | None:
        """The median of the warm runs."""
        return statistics.median(self.warm) if self.warm else None

    @property
    def cold_seconds(self) -> float | None:
        """The median of the cold runs."""
        return statistics.median(self.cold) if self.cold else None

    def to_json(self) -> dict[str, Any]:
        """Plain data, without what is empty."""
        return {key: value for key, value in asdict(self).items() if value not in (None, [], {})}


@dataclass(frozen=True)
class Grown:
    """A table that was grown, with what it was grown to."""

    target: Target
    facts: dict[str, Any]


Ask = Callable[[dict[str, Any]], dict[str, Any]]


def ask_child(request: dict[str, Any], modules: Sequence[str] = ()) -> dict[str, Any]:
    """Run one process and give what it told; `elapsed` is the time from its start until it had its result.

    A process that fails or takes too long is told of as unavailable, with the last line it said.
    """
    python = str(PEERS) if RUNNERS[request["runner"]].peers else sys.executable
    if not Path(python).exists():
        return {"unavailable": "not installed (make benchmark-venv)"}
    environment = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONWARNINGS": "ignore"}
    command = [python, "-m", "tests.benchmarks.child", json.dumps(request)]
    return run_process(command, environment, json.dumps(list(modules)))


def run_process(command: Sequence[str], environment: dict[str, str], said: str = "") -> dict[str, Any]:
    """What a process says in its last line, as JSON; `elapsed` is the time until it had its result.

    One that fails or takes too long is unavailable, with the last line it said. It runs in the checkout's own directory.
    """
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # a cold process does not compile its libraries anew
    started = time.time()
    try:
        done = subprocess.run(
            command, cwd=ROOT, env=environment, input=said, capture_output=True, text=True, timeout=LIMIT
        )
    except subprocess.TimeoutExpired:
        return {"unavailable": f"took more than {LIMIT // 60} minutes"}
    if done.returncode:
        last = (done.stderr.strip().splitlines() or ["no message"])[-1]
        return {"unavailable": f"failed: {last[:200]}"}
    answer: dict[str, Any] = json.loads(done.stdout.strip().splitlines()[-1])
    if "finished" in answer:
        answer["elapsed"] = answer["finished"] - started
    return answer


def measure(
    case: str,
    runner: str,
    grown: Grown,
    *,
    warm: int = 0,
    cold: int = 0,
    cpus: int | None = None,
    ask: Callable[..., dict[str, Any]] = ask_child,
) -> Measurement:
    """Measure a runner on a table: `warm` runs in one process, `cold` processes of one run each."""
    target = grown.target
    request = {
        "runner": runner,
        "format": target.format,
        "path": str(target.path),
        "proof": target.proof,
        "cpus": cpus,
    }
    result = Measurement(case, runner, grown.facts, cpus=cpus)
    if warm:
        answer = ask({**request, "mode": "warm", "runs": warm})
        result = _take_in(result, answer, warm=answer.get("seconds", []))
    modules: list[str] = []
    for _ in range(cold if result.unavailable is None else 0):
        answer = ask({**request, "mode": "cold"})
        modules = answer.get("modules", [])
        result = _take_in(result, answer, cold=[*result.cold, *_present(answer.get("elapsed"))])
    if modules and result.peak is not None:
        held = ask({**request, "mode": "imports"}, modules).get("held")
        result = replace(result, growth=result.peak - held if held else None)
    return result


def _take_in(result: Measurement, answer: dict[str, Any], **changes: Any) -> Measurement:
    if "unavailable" in answer:
        return replace(result, unavailable=answer["unavailable"])
    if "cold" in changes:  # a process that ran once is what its memory is told of
        before = result.peak if result.cold else None
        changes["peak"] = max(before or 0, answer["peak"])
    elif result.peak is None:
        changes["peak"] = answer["peak"]
    found = {key: answer[key] for key in ("files", "records", "bytes", "bounds")}
    return replace(result, found=found, java_peak=answer["java_peak"], **changes)


def _present(value: float | None) -> list[float]:
    return [] if value is None else [value]


def list_disagreements(measurements: Sequence[Measurement]) -> list[str]:
    """Where runners of the same table found different files, rows, bytes or bounds; a sum nobody tells is no difference."""
    by_table: dict[str, list[Measurement]] = {}
    for one in measurements:
        if one.found:
            by_table.setdefault(json.dumps(one.table, sort_keys=True), []).append(one)
    told = []
    for group in by_table.values():
        for key in ("files", "records", "bytes", "bounds"):
            values = {one.runner: one.found[key] for one in group if one.found.get(key) is not None}
            if len(set(values.values())) > 1:
                told.append(f"{key} differ: {values}")
    return told
