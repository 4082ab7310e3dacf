"""The process that gives out cases, and replaces the one that walks them when it hangs or dies."""

from __future__ import annotations

import json
import os
import selectors
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import psutil

from tests.fuzz.recipes import Recipe

ROOT = Path(__file__).parents[2]
#: Seconds of CPU that a step may take; after twice as many one that no signal ends is killed. The tests of `make test` are
#: patient: a busy machine takes several times as long for the same.
STEP_SECONDS, PATIENT_SECONDS = 10.0, 60.0
#: Seconds of sleep, when a step uses no CPU at all.
WAITS_FOR, WAITS_PATIENTLY = 30.0, 180.0


@dataclass
class Result:
    """What a case came to."""

    recipe: Recipe
    steps: int = 0
    seconds: float = 0.0
    failures: list[dict[str, str]] = field(default_factory=list)
    impossible: str = ""
    slowest: tuple[str, float] = ("", 0.0)
    memory: int = 0


@dataclass
class Kind:
    """What was done of a kind of cases: how many, their steps, and seconds of CPU."""

    cases: int = 0
    steps: int = 0
    seconds: float = 0.0


class Walker:
    """A child and its directory; a context manager."""

    def __init__(self, step_seconds: float = STEP_SECONDS, waits_for: float = WAITS_FOR) -> None:
        self.step_seconds, self.waits_for = step_seconds, waits_for
        self.place = Path(tempfile.mkdtemp(prefix="lakelens-fuzz-", dir=_find_memory()))
        self.child: subprocess.Popen[str] | None = None
        self.started = 0

    def __enter__(self) -> Walker:
        return self

    def __exit__(self, *error: object) -> None:
        self._stop()
        shutil.rmtree(self.place, ignore_errors=True)

    def _start(self) -> subprocess.Popen[str]:
        if self.child is None:
            self.started += 1
            place = self.place / str(self.started)
            place.mkdir()
            command = [sys.executable, "-m", "tests.fuzz.child", str(place), str(self.step_seconds)]
            pipe = subprocess.PIPE
            env = {**os.environ, "PYTHONPATH": str(ROOT), "PYTHONHASHSEED": "0", "MALLOC_ARENA_MAX": "2"}
            self.child = subprocess.Popen(
                command, stdin=pipe, stdout=pipe, text=True, cwd=ROOT, env=env, bufsize=1
            )
        return self.child

    def _stop(self) -> None:
        if self.child is not None:
            self.child.kill()
            self.child.communicate()
            shutil.rmtree(self.place / str(self.started), ignore_errors=True)
            self.child = None

    def walk(self, recipe: Recipe) -> Result:
        """Walk one case."""
        child = self._start()
        assert child.stdin is not None and child.stdout is not None
        child.stdin.write(json.dumps(asdict(recipe)) + "\n")  # one line, and the pipe flushes with it
        watch = _Watch(child, 2 * self.step_seconds, self.waits_for)
        text = ""
        for line in watch.read():
            if line.startswith("D "):
                text = json.loads(line[2:])
            if line.startswith("R "):
                return Result(recipe, **json.loads(line[2:]))
        ended = f"killed: {watch.reason}" if watch.reason else f"died: {child.wait()}"
        self._stop()
        failure = {"step": watch.step, "cause": f"{ended}, in {watch.step.rpartition('.')[2]}", "text": text}
        return Result(recipe, failures=[failure])

    def walk_all(self, recipes: Iterable[Recipe]) -> Iterator[Result]:
        """Walk many."""
        return map(self.walk, recipes)


class _Watch:
    """Reads what a child says until it ends, or kills it."""

    def __init__(self, child: subprocess.Popen[str], hangs_after: float, waits_for: float) -> None:
        self.child, self.hangs_after, self.waits_for = child, hangs_after, waits_for
        self.step = ""
        self.reason = ""

    def read(self) -> Iterator[str]:
        assert self.child.stdout is not None
        process = psutil.Process(self.child.pid)
        descriptor, rest = self.child.stdout.fileno(), b""
        begun = last = _measure(process)
        idle = 0.0
        with selectors.DefaultSelector() as selector:
            selector.register(descriptor, selectors.EVENT_READ)
            while True:
                if not selector.select(1.0):
                    now = _measure(process)
                    # on a busy machine it waits for its turn: that is not idle
                    idle = idle + 1.0 if now - last < 0.01 and _is_asleep(process) else 0.0
                    last = now
                    if now - begun > self.hangs_after or idle > self.waits_for:
                        self.reason = "waits" if idle > self.waits_for else "hangs"
                        return
                    continue
                data = os.read(descriptor, 1 << 16)
                if not data:
                    return
                begun = last = _measure(process)
                idle = 0.0
                *lines, rest = (rest + data).split(b"\n")
                for line in lines:
                    text = line.decode("utf-8", "replace")
                    if text.startswith("S "):
                        self.step = text[2:]
                    else:
                        yield text


def _is_asleep(process: psutil.Process) -> bool:
    try:
        return bool(process.status() != psutil.STATUS_RUNNING)
    except psutil.Error:
        return False


def _measure(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)


def _find_memory() -> str | None:
    """A file system in memory, where there is one: tables are written and removed all the time."""
    return "/dev/shm" if os.access("/dev/shm", os.W_OK) else None


def summarise(results: Iterable[Result]) -> dict[str, Any]:
    """Figures of many cases: how many, what they took, and each cause with one of its cases."""
    figures: dict[str, Any] = {
        "cases": 0,
        "impossible": 0,
        "steps": 0,
        "seconds": 0.0,
        "failed": 0,
        "causes": {},
        "kinds": {},
    }
    for result in results:
        figures["cases"] += 1
        figures["impossible"] += bool(result.impossible)
        figures["steps"] += result.steps
        figures["seconds"] += result.seconds
        figures["failed"] += bool(result.failures)
        kind = figures["kinds"].setdefault(result.recipe.kind, Kind())
        kind.cases += 1
        kind.steps += result.steps
        kind.seconds += result.seconds
        for failure in result.failures:
            figures["causes"].setdefault(failure["cause"], (result.recipe, failure))
    return figures
