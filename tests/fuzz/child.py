"""The process that walks cases, one after the other, and is replaced when it hangs or dies.

`python -m tests.fuzz.child PLACE SECONDS`: a directory of its own, and the CPU that a step may take. A line of JSON in is a
recipe; lines out are `S step` before each step and `R result` after the case. The table is a copy in that directory. While
a case is walked nothing may be opened for writing outside of the scratch directory, nothing removed or renamed, no program
started and nobody connected to: an audit hook sees to that. Memory is limited, and so is the CPU of each step.
"""

from __future__ import annotations

import json
import os
import random
import resource
import shutil
import signal
import sys
import tempfile
import time
import traceback
import warnings
from pathlib import Path
from typing import Any

from lakelens.installed import write_command

# of a case as many as of four steps
STEPS_A_CASE = 4
_MANY_TIMES = 4  # as long for a table with ten thousand of anything
MOST_MEMORY = (4 << 30) + (os.cpu_count() or 1) * (128 << 20)
_CHANGES = (
    *("os.remove", "os.rename", "os.rmdir", "os.mkdir", "os.link", "os.symlink", "os.truncate", "os.chmod"),
    *("os.chown", "os.utime", "shutil.rmtree", "shutil.move", "shutil.copyfile"),
)
_LEAVES = (
    "socket.connect",
    "socket.getaddrinfo",
    "subprocess.Popen",
    "os.system",
    "os.exec",
    "os.posix_spawn",
)
_WRITES = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_APPEND


def _is_known(event: str, args: tuple[Any, ...]) -> bool:
    """Matplotlib looks for fonts once; a query of a page runs in a Python of its own, which reads nothing here."""
    if event != "subprocess.Popen":
        return False
    command = args[1] if isinstance(args[1], list | tuple) else [args[1]]
    return "fc-list" in str(args[0]) or list(command) == write_command(
        "lakelens.model.scan.engines:answer_parent"
    )


class Guard:
    """Sees every file that is opened, by `sys.addaudithook`, while it is on."""

    def __init__(self, *allowed: Path) -> None:
        self.allowed = tuple(str(path) for path in allowed)
        self.is_on = False
        self.connects = False
        self.writes: Path | None = None
        self.seen: list[str] = []
        sys.addaudithook(self._audit)

    def _audit(self, event: str, args: tuple[Any, ...]) -> None:
        if not self.is_on:
            return
        if event == "open":
            path, mode, flags = args
            writes = bool(flags & _WRITES) if mode is None else any(letter in mode for letter in "wax+")
            if writes and not self._is_allowed(path):
                self.seen.append(f"open {mode or flags} {path!r}")
        elif event in _LEAVES and not _is_known(event, args):
            if self.connects and _is_near(event, args):
                return
            self.seen.append(f"{event} {args!r}"[:200])
        elif event in _CHANGES:
            names = [one for one in args if isinstance(one, str | bytes | os.PathLike)]
            if not all(map(self._is_allowed, names)):
                self.seen.append(f"{event} {args!r}"[:200])

    def _is_allowed(self, path: Any) -> bool:
        name = path if isinstance(path, int) else os.path.abspath(os.fsdecode(path))  # noqa: PTH100
        return (
            isinstance(name, int)
            or name.startswith(self.allowed)
            or (self.writes is not None and name.startswith(str(self.writes)))
            or name == os.devnull
            or "__pycache__" in name
        )


def _is_near(event: str, args: tuple[Any, ...]) -> bool:
    """Whether somebody of this machine is spoken to."""
    host = args[1][0] if event == "socket.connect" and isinstance(args[1], tuple) else args[0]
    return event in ("socket.connect", "socket.getaddrinfo") and host in ("127.0.0.1", "localhost")


class Bench:
    """The copy of a table, put right again before each case."""

    def __init__(self, place: Path) -> None:
        self.place = place
        self.scratch = place / "scratch"
        self.scratch.mkdir(parents=True)
        self.now: dict[Path, set[str]] = {}
        self.touched: list[Path] = []

    def lay_out(self, recipe: Any) -> Path:
        """A copy of a recipe's table, changed as it says. Raises `Impossible`."""
        from tests.fuzz.courses import list_courses
        from tests.fuzz.mutate import Impossible, find_file, replace_place
        from tests.fuzz.names import NAMES
        from tests.fuzz.recipes import read_lake
        from tests.fuzz.structure import change_files

        files = read_lake(recipe.lake)
        # beside each other: a sample is called delta, and what is below delta/ are other tables
        root = self.place / "lakes" / recipe.lake.replace("/", "--")
        touched = self.now.pop(root, None)
        if touched is None or touched & {"*"}:
            shutil.rmtree(root, ignore_errors=True)
            touched = set(files)
        self._write(root, {name: files[name] for name in touched})
        shutil.rmtree(self.place / "renamed", ignore_errors=True)
        changed, places, final = dict(files), [], root
        self.touched = []
        for edit in recipe.edits:
            if edit["how"] == "place":
                name = find_file(list(changed), edit)
                places.append((name, edit))
                self.touched.append(root / name)
            elif edit.get("part") == "table":
                final = self.place / "renamed" / NAMES[edit["to"]].replace("{}", root.name)
            else:
                for name, data in change_files(changed, edit).items():
                    if data is None:
                        del changed[name]
                    else:
                        changed[name] = data
                        self.touched.append(root / name)
        is_new = set(changed) != set(files)
        differing = {name for name, data in changed.items() if data is not files.get(name)}
        self.now[root] = {"*"}  # until it is all there
        try:
            if set(files) - set(changed):
                shutil.rmtree(root)
                differing = set(changed)
            self._write(root, {name: changed[name] for name in differing})
        except (OSError, ValueError) as error:
            raise Impossible(f"{type(error).__name__}: {error}") from error
        is_written = bool(recipe.course) and list_courses()[recipe.course].writes
        self.now[root] = differing | ({"*"} if places or is_written or is_new or final != root else set())
        for name, edit in places:
            replace_place(root / name, edit)
        if final != root:
            final.parent.mkdir()
            root.rename(final)
            self.touched = [final / path.relative_to(root) for path in self.touched]
        return final

    @staticmethod
    def _write(root: Path, files: dict[str, bytes]) -> None:
        root.mkdir(parents=True, exist_ok=True)
        for name, data in files.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_bytes(data)


def walk_case(recipe: Any, bench: Bench, guard: Guard, say: Any, step_seconds: float) -> dict[str, Any]:
    """Lay a case out and walk it."""
    import lakelens as ll
    from tests.fuzz.commands import walk_outside
    from tests.fuzz.courses import list_courses
    from tests.fuzz.mutate import Impossible
    from tests.fuzz.walk import Failure, Walk

    try:
        root = bench.lay_out(recipe)
    except Impossible as error:
        return {"impossible": str(error)}
    before = _list_tree(root)
    started, slowest = time.process_time(), ["", 0.0]
    began = [0.0]

    def begin(step: str) -> None:
        say(f"S {step}")
        began[0] = time.process_time()
        signal.setitimer(signal.ITIMER_PROF, step_seconds)
        guard.is_on = True

    def end(step: str) -> None:
        signal.setitimer(signal.ITIMER_PROF, 0)
        guard.is_on = False
        taken = time.process_time() - began[0]
        if taken > slowest[1]:
            slowest[:] = [step, taken]
        if guard.seen:
            walk.failures.append(
                Failure(step, f"writes or leaves: {guard.seen[0][:60]}", "\n".join(guard.seen))
            )
            guard.seen.clear()

    walk = Walk(random.Random(recipe.seed), recipe.share, bench.scratch, recipe.steps, begin, end)
    plant(walk)
    if recipe.course:
        course = list_courses()[recipe.course]
        guard.connects, guard.writes = course.connects, root if course.writes else None
        try:
            course.run(walk, root, recipe.settings)
        finally:
            guard.connects, guard.writes = False, None
    else:
        walk.run(lambda: ll.open(root))
        walk_outside(walk, root, bench.touched)
    seconds = time.process_time() - started
    if seconds > STEPS_A_CASE * max(step_seconds, 10) * (
        _MANY_TIMES if any(edit["how"] == "many" for edit in recipe.edits) else 1
    ):
        walk.failures.append(
            Failure(slowest[0], f"slow walk, most in {slowest[0].rpartition('.')[2]}", f"{seconds:.0f} s")
        )
    if not (recipe.course and course.writes) and _list_tree(root) != before:
        walk.failures.append(Failure("", "the table's directory changed", ""))
    shutil.rmtree(bench.scratch, ignore_errors=True)
    bench.scratch.mkdir(parents=True)
    return {
        "steps": walk.steps,
        "seconds": seconds,
        "slowest": slowest,
        "failures": [vars(failure) for failure in walk.failures],
        "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss >> 10,
    }


def plant(walk: Any) -> None:
    """Faults that tests of this harness ask for by a step's name: it must find each of them."""
    table = walk.scratch.parent / "lakes"
    planted = {
        "planted.raise": lambda: {}["missing"],
        "planted.spin": _spin,
        "planted.sleep": lambda: time.sleep(3600),
        "planted.die": lambda: os.kill(os.getpid(), signal.SIGKILL),
        "planted.write": lambda: (table / "x").write_bytes(b""),
        "planted.remove": lambda: next(path for path in table.rglob("*") if path.is_file()).unlink(),
        "planted.run": lambda: os.system("true"),
        "planted.memory": lambda: bytearray(MOST_MEMORY),
        "planted.to_text()": lambda: "\x1b[31m",
    }
    for step in walk.only:
        if step in planted:
            walk.step(step, planted[step])


def _spin() -> None:
    while True:
        pass


def _list_tree(root: Path) -> list[tuple[Any, ...]]:
    """Names, sizes and times below a directory; links are not followed."""
    found = []
    for folder, folders, files in os.walk(root):
        for name in (*folders, *files):
            status = os.lstat(os.path.join(folder, name))  # noqa: PTH118
            found.append((folder, name, status.st_mode, status.st_size, status.st_mtime_ns))
    return sorted(found)


def main() -> None:
    """Walk what comes until there is no more."""
    out = os.fdopen(os.dup(1), "w", buffering=1)
    sys.stdout = sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123
    place, step_seconds = Path(sys.argv[1]), float(sys.argv[2])
    os.environ.update(
        MPLBACKEND="agg", LAKELENS_STRICT_VIEWS="1", MPLCONFIGDIR=str(place.parent / "matplotlib")
    )
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    from tests.fuzz.recipes import Recipe
    from tests.fuzz.walk import StepTooLong

    def interrupt(number: int, frame: Any) -> None:
        raise StepTooLong(f"more than {step_seconds:.0f} s of CPU")

    def say(text: str) -> None:
        out.write(text.encode("utf-8", "backslashreplace").decode().replace("\n", " ") + "\n")

    signal.signal(signal.SIGPROF, interrupt)
    tempfile.tempdir = str(place / "temporary")
    (place / "temporary").mkdir()
    bench = Bench(place)
    guard = Guard(place / "scratch", place / "temporary", place.parent / "matplotlib")
    for line in sys.stdin:
        try:
            result = walk_case(Recipe(**json.loads(line)), bench, guard, say, step_seconds)
        except BaseException:
            out.write(f"D {json.dumps(traceback.format_exc())}\n")  # outside of a step: the harness's own
            raise
        out.write(f"R {json.dumps(result)}\n")


if __name__ == "__main__":
    main()
