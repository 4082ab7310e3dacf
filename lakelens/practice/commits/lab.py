"""A lab for one table and two writers, A and B: step one, step the other, kill one, and select."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Mapping
from functools import cache
from pathlib import Path

from lakelens.errors import LakeError, UnknownName, list_nearest
from lakelens.model.table import Table
from lakelens.opening import open_table
from lakelens.practice.commits import delta, hive, iceberg, paimon
from lakelens.practice.commits.lake import Commit, CommitFailed, Format
from lakelens.practice.commits.seen import ROWS, LabMoment, Moments

FORMATS: Mapping[str, Format] = {
    format.name: format for format in (hive.FORMAT, iceberg.FORMAT, paimon.FORMAT, delta.FORMAT)
}


class Writer:
    """One INSERT that is under way: `step` says what comes next, `outcome` how it ended."""

    def __init__(self, name: str, commit: Commit) -> None:
        self.name = name
        self._commit = commit
        self.outcome = "running"
        self.step = next(commit)

    def advance(self) -> None:
        """Make the next change of a file."""
        try:
            self.step = next(self._commit)
        except StopIteration:
            self.outcome = "done"
        except CommitFailed as error:
            self.outcome = f"failed: {error}"

    def kill(self) -> None:
        """Make no more changes, as a process that is killed."""
        if self.outcome == "running":
            self.outcome = "killed"


class CrashLab:
    """A table of one row, real files in a scratch folder, and two INSERTs, A (rows 2, 3) and B (rows 4, 5), under way.

    Parameters
    ----------
    format
        "hive", "iceberg", "paimon" or "delta".
    atomic
        Whether the last step is atomic: Iceberg's pointer is compared and swapped, Paimon's snapshot renamed where its
        name is free, Delta's log entry put where there is none. Without it each is written whatever is there. Hive has
        no such step.

    Raises
    ------
    UnknownName
        There is no such format here.

    Examples
    --------
    >>> lab = CrashLab("hive")
    >>> for _ in range(3):
    ...     moment = lab.step("A")
    >>> moment.step, moment.rows
    ('first rename', (1, 3))
    """

    def __init__(self, format: str, *, atomic: bool = True) -> None:
        if format not in FORMATS:
            raise UnknownName(f"no crash lab of {format!r}", hint=list_nearest(str(format), FORMATS))
        self.format = format
        self.atomic = atomic
        self._lake = FORMATS[format].start_lake()
        insert = FORMATS[format].insert
        self._writers = {
            name: Writer(name, insert(self._lake, number, atomic)) for number, name in enumerate(ROWS, 1)
        }
        self._moments: list[LabMoment] = []
        self._folder: Path | None = None

    @property
    def moments(self) -> Moments:
        """What happened so far."""
        return Moments(self._moments)

    @property
    def files(self) -> dict[str, bytes]:
        """The files of the table as they are now, by path."""
        return dict(self._lake.files)

    @property
    def pointer(self) -> str:
        """What the catalog of an Iceberg table points to; empty for the other formats."""
        return self._lake.pointer

    def next_step(self, writer: str) -> str:
        """Name the step that a writer makes next; its outcome where it ended."""
        found = self._find(writer)
        return found.step if found.outcome == "running" else found.outcome

    def step(self, writer: str) -> LabMoment:
        """Let a writer make its next step, with all of its changes.

        Raises
        ------
        LakeError
            There is no such writer, or it ended.
        """
        found = self._find_running(writer)
        step, start = found.step, len(self._lake.log)
        while found.outcome == "running" and found.step == step:
            found.advance()
        return self._keep(found, step, start)

    def change(self, writer: str) -> LabMoment:
        """Let a writer make the next change of a file, which may be a part of a step."""
        found = self._find_running(writer)
        step, start = found.step, len(self._lake.log)
        found.advance()
        return self._keep(found, step, start)

    def kill(self, writer: str) -> LabMoment:
        """Kill a writer where it is: its files stay as they are."""
        found = self._find_running(writer)
        found.kill()
        return self._keep(found, "", len(self._lake.log))

    def finish(self, writer: str) -> LabMoment:
        """Let a writer make all steps that are left."""
        moment = self.step(writer)
        while self._find(writer).outcome == "running":
            moment = self.step(writer)
        return moment

    def select(self) -> tuple[int, ...]:
        """The ids that a SELECT gives now: lakelens reads the files."""
        return read_rows(self.format, frozenset(self._lake.files.items()), self._lake.pointer)

    def list_orphans(self) -> tuple[str, ...]:
        """The files that an INSERT left and that nothing names now."""
        return list_orphans(self.format, frozenset(self._lake.files.items()), self._lake.pointer)

    def open(self) -> Table:
        """The table as it is now, with all that lakelens has for tables; the files are in a scratch folder."""
        self.close()
        self._folder = Path(tempfile.mkdtemp(prefix="lakelens-"))
        return open_files(self._folder, self._lake.files, self._lake.pointer)

    def close(self) -> None:
        """Remove the scratch folder of the last `open`."""
        if self._folder is not None:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = None

    def _find(self, writer: str) -> Writer:
        if writer not in self._writers:
            raise LakeError(f"no writer {writer!r}", expected="A or B")
        return self._writers[writer]

    def _find_running(self, writer: str) -> Writer:
        found = self._find(writer)
        if found.outcome != "running":
            raise LakeError(f"writer {writer} has ended: {found.outcome}", hint="make a new CrashLab")
        return found

    def _keep(self, writer: Writer, step: str, start: int) -> LabMoment:
        changes = tuple(self._lake.log[start:])
        moment = LabMoment(writer.name, step or "killed", changes, self.select(), writer.outcome)
        self._moments.append(moment)
        return moment

    def __repr__(self) -> str:
        states = ", ".join(f"{name} {self.next_step(name)}" for name in ROWS)
        return f"<CrashLab {name_variant(self.format, self.atomic)}: {states}>"


def name_variant(format: str, atomic: bool) -> str:
    """Name a format, and whether its last step is atomic."""
    device = FORMATS[format].atomic
    return f"{format}, {'' if atomic else 'no '}{device}" if device else format


def open_files(folder: Path, files: Mapping[str, bytes], pointer: str) -> Table:
    """Write the files of a state into an empty folder, and open it; Iceberg's table by its catalog's pointer."""
    for path, data in files.items():
        target = folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_bytes(data)
    return open_table(folder / pointer)


@cache
def read_rows(format: str, files: frozenset[tuple[str, bytes]], pointer: str) -> tuple[int, ...]:
    """The ids in the live files of a state."""
    with tempfile.TemporaryDirectory(prefix="lakelens-crash-") as folder:
        current = open_files(Path(folder), dict(files), pointer).current
        stored = () if current is None else current.files.where(content="data")
        return tuple(sorted(row["id"] for file in stored for row in file.preview().to_pylist()))


@cache
def list_orphans(format: str, files: frozenset[tuple[str, bytes]], pointer: str) -> tuple[str, ...]:
    """The files of a state that `check` finds nothing to name; all of them are young."""
    with tempfile.TemporaryDirectory(prefix="lakelens-crash-") as folder:
        check = open_files(Path(folder), dict(files), pointer).check()
        return tuple(sorted(stray.relative_path for stray in (*check.orphans, *check.young)))
