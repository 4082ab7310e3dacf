"""How an engine would divide files into the tasks of a scan, by the rules of their format."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from lakelens.display import Displayable
from lakelens.errors import Unsupported
from lakelens.lazy import dataclass
from lakelens.model.collections import Items
from lakelens.model.datafile import DataFile
from lakelens.model.facts.facts import Fact
from lakelens.model.fileset import FileSet
from lakelens.model.scan.splits import (
    Split,
    SplitFigure,
    SplitRules,
    SplitTarget,
    SplitUnit,
    open_split_rules,
)
from lakelens.model.table import Table


@dataclass(frozen=True, slots=True, repr=False)
class ScanTaskGroup(Displayable):
    """What one task reads: the parts of files in order, parts that follow each other joined; `weight` filled the task."""

    splits: tuple[Split, ...]
    weight: int

    @property
    def size_bytes(self) -> int:
        """The bytes of the data files that it reads."""
        return sum(split.length for split in self.splits)

    @property
    def files(self) -> tuple[DataFile, ...]:
        """The data files that it reads, wholly or in part, each once."""
        return tuple({split.file.path: split.file for split in self.splits}.values())

    def __repr__(self) -> str:
        return f"<ScanTaskGroup {len(self.splits)} splits, {self.size_bytes} bytes>"


class Tasks(Items[ScanTaskGroup]):
    """The tasks of a scan: one for each partition of the engine's DataFrame.

    `engine` is the engine whose rules were followed, `figures` are the numbers that decided with the properties that set
    them, `target_size` is how large a task may be, and `assumptions` says what is not known of the reader and was assumed.
    """

    __slots__ = ("assumptions", "engine", "figures", "target_size")
    facts = (
        Fact("file_count", "int64", lambda task: len(task.files)),
        Fact("split_count", "int64", lambda task: len(task.splits)),
        Fact("size_bytes", "int64"),
        Fact("weight", "int64"),
        Fact("paths", "strings", lambda task: [file.path for file in task.files]),
        Fact("starts", "ids", lambda task: [split.start for split in task.splits]),
        Fact("lengths", "ids", lambda task: [split.length for split in task.splits]),
    )

    def __init__(
        self, tasks: Iterable[Any] = (), rules: SplitRules | None = None, target: SplitTarget | None = None
    ) -> None:
        super().__init__(tasks)
        self.engine: str = "" if rules is None else rules.engine
        self.figures: tuple[SplitFigure, ...] = () if rules is None else rules.figures
        self.target_size: int = 0 if target is None else target.size
        self.assumptions: tuple[str, ...] = () if target is None else target.assumptions

    def _like(self, held: Sequence[Any]) -> Self:
        some = type(self)(held)
        some.engine, some.figures = self.engine, self.figures
        some.target_size, some.assumptions = self.target_size, self.assumptions
        return some

    @property
    def size_bytes(self) -> int:
        """The bytes of the data files that they read."""
        return sum(task.size_bytes for task in self)

    def __repr__(self) -> str:
        return f"<Tasks {len(self)}: {self.size_bytes} bytes in tasks of up to {self.target_size}>"


def plan_tasks(
    files: FileSet | Iterable[DataFile], table: Table, size: int | None = None, parallelism: int | None = None
) -> Tasks:
    """Plan how an engine would put the data files of a scan into tasks.

    Parameters
    ----------
    files
        The files that are read; delete files among them count with the files that they reach.
    table
        Their table, whose properties and format decide.
    size
        The bytes of a task instead of the table's own.
    parallelism
        How many tasks the engine runs at once: Spark's default parallelism (for Iceberg `spark.sql.shuffle.partitions`, if
        that is more). None where that is not known: `Tasks.assumptions` says what is assumed then.

    Raises
    ------
    Unsupported
        The format has no rules for it.

    Examples
    --------
    >>> import lakelens as ll
    >>> table = ll.sample("iceberg-basic")
    >>> tasks = plan_tasks(table.current.files, table)
    >>> sum(len(task.splits) for task in tasks) == len(table.current.files)
    True
    """
    rules = open_split_rules(table)
    if rules is None:
        message = f"how an engine divides the files of a {table.format} table is not known"
        raise Unsupported(message, path=table.location)
    if size is not None and size <= 0:
        raise Unsupported(f"a task of {size} bytes", hint="a positive number of bytes")
    rows = files.rows if isinstance(files, FileSet) else None
    if rows is not None and rules.columns:
        rows.load(rules.columns)
    chosen = [file for file in files if file.content == "data"]
    target = rules.find_target(chosen, size, parallelism)
    return Tasks(map(make_task, rules.pack(chosen, target, parallelism)), rules, target)


def make_task(units: Sequence[SplitUnit]) -> ScanTaskGroup:
    """Make the task of some units, in which parts of a file that follow each other are one.

    >>> from types import SimpleNamespace
    >>> file = SimpleNamespace(path="/t/a")
    >>> halves = [SplitUnit((Split(file, start, 10),), 10) for start in (0, 10)]
    >>> make_task(halves)
    <ScanTaskGroup 1 splits, 20 bytes>
    """
    splits: list[Split] = []
    for split in (split for unit in units for split in unit.splits):
        last = splits[-1] if splits else None
        if last is not None and last.file is split.file and last.start + last.length == split.start:
            splits[-1] = Split(last.file, last.start, last.length + split.length)
        else:
            splits.append(split)
    return ScanTaskGroup(tuple(splits), sum(unit.weight for unit in units))
