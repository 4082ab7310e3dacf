"""How an engine divides data files into the tasks of a scan: the rules of a format, and the ways of packing.

pack_lookback   into the first of the last few open tasks with room; beyond them the heaviest is closed
pack_ordered    into the last task while the weights fit
pack_filled     into the last task while the sizes fit, each followed by the cost of opening a file
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING

from lakelens.display import Named
from lakelens.lazy import dataclass
from lakelens.model.driver import open_part

if TYPE_CHECKING:
    from lakelens.model.datafile import DataFile
    from lakelens.model.table import Table


@dataclass(frozen=True, slots=True)
class SplitFigure(Named):
    """One number that decides, the property that sets it, and whether the table or the engine's default does."""

    name: str
    value: int
    property: str
    is_default: bool = True


@dataclass(frozen=True, slots=True)
class Split(Named):
    """A part of a data file: `length` bytes from `start`."""

    file: DataFile
    start: int
    length: int


@dataclass(frozen=True, slots=True)
class SplitUnit:
    """Parts of files that one task reads together, and what they weigh in packing."""

    splits: tuple[Split, ...]
    weight: int


@dataclass(frozen=True, slots=True)
class SplitTarget:
    """How large a task may be, and what was assumed to know it."""

    size: int
    assumptions: tuple[str, ...] = ()


class SplitRules(ABC):
    """The rules of one table for one engine, which `engine` names. `figures` are the numbers that decide."""

    engine: str
    #: Columns of a set of files that decide, beside those that every file has; they are read together.
    columns: tuple[str, ...] = ()

    def __init__(self, figures: Sequence[SplitFigure]) -> None:
        self.figures = tuple(figures)

    def figure(self, name: str) -> int:
        """The value of a figure."""
        return next(figure.value for figure in self.figures if figure.name == name)

    @abstractmethod
    def find_target(
        self, files: Sequence[DataFile], size: int | None = None, parallelism: int | None = None
    ) -> SplitTarget:
        """How large the tasks of these files may be.

        Parameters
        ----------
        files
            The files that are read.
        size
            The size that a reader asks for instead of the table's.
        parallelism
            How many tasks the engine runs at once, by its own count; None where that is not known.
        """

    @abstractmethod
    def pack(
        self, files: Sequence[DataFile], target: SplitTarget, parallelism: int | None = None
    ) -> Iterator[Sequence[SplitUnit]]:
        """The units of each task, files in the order in which they are planned."""


def open_split_rules(table: Table) -> SplitRules | None:
    """Open the rules by which an engine divides a table's files into the tasks of a scan; None where that is not known."""
    return open_part(table, "splits", lambda table: None)


def pack_lookback(units: Iterable[SplitUnit], target: int, lookback: int) -> Iterator[Sequence[SplitUnit]]:
    """Pack each unit into the first open task with room; of more than `lookback` open tasks the heaviest is closed.

    >>> small, large = SplitUnit((), 2), SplitUnit((), 5)
    >>> [[unit.weight for unit in task] for task in pack_lookback([small, large, small, small], 6, 2)]
    [[2, 2, 2], [5]]
    """
    tasks: list[list[SplitUnit]] = []
    weights: list[int] = []
    for unit in units:
        own = unit.weight
        for place, weight in enumerate(weights):
            if weight + own <= target:
                tasks[place].append(unit)
                weights[place] = weight + own
                break
        else:
            tasks.append([unit])
            weights.append(own)
        if len(tasks) > lookback:
            heaviest = weights.index(max(weights))
            del weights[heaviest]
            yield tasks.pop(heaviest)
    yield from tasks


def pack_ordered(units: Iterable[SplitUnit], target: int) -> Iterator[Sequence[SplitUnit]]:
    """Pack the units in their order, a task ending where the next would be too much.

    >>> [len(task) for task in pack_ordered([SplitUnit((), 2)] * 5, 5)]
    [2, 2, 1]
    """
    return _pack_in_order(units, target, lambda unit: unit.weight, lambda unit: unit.weight)


def pack_filled(units: Iterable[SplitUnit], target: int, cost: int) -> Iterator[Sequence[SplitUnit]]:
    """Pack the same, but `cost` counts for the units that are in a task, and not for the one that is added.

    >>> [len(task) for task in pack_filled([SplitUnit((), 2)] * 5, 5, 1)]
    [2, 2, 1]
    """
    return _pack_in_order(units, target, lambda unit: unit.weight, lambda unit: unit.weight + cost)


def _pack_in_order(
    units: Iterable[SplitUnit],
    target: int,
    needs: Callable[[SplitUnit], int],
    takes: Callable[[SplitUnit], int],
) -> Iterator[Sequence[SplitUnit]]:
    task: list[SplitUnit] = []
    weight = 0
    for unit in units:
        if task and weight + needs(unit) > target:
            yield task
            task, weight = [], 0
        task.append(unit)
        weight += takes(unit)
    if task:
        yield task


def read_figure(
    name: str, key: str, default: int, properties: Mapping[str, str], parse: object = int
) -> SplitFigure:
    """Read a figure by a table's property; one that is no positive number counts as the default.

    >>> read_figure("target size", "read.split.target-size", 128, {"read.split.target-size": "64"})
    SplitFigure(name='target size', value=64, property='read.split.target-size', is_default=False)
    """
    text = properties.get(key)
    if text is None or not callable(parse):
        return SplitFigure(name, default, key)
    try:
        value = parse(text.strip())
    except (ValueError, AttributeError):
        return SplitFigure(name, default, key)
    return SplitFigure(name, value, key, False) if value > 0 else SplitFigure(name, default, key)


def whole(file: DataFile) -> Split:
    """All of a file."""
    return Split(file, 0, file.size_bytes or 0)
