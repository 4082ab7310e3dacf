"""The files of a diff in groups: by partition, bucket and level, filtered and sorted; each group is split when asked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import zip_longest
from typing import Any, Literal, TypeAlias

from lakelens.model.comparison import sum_known
from lakelens.model.datafile import DataFile
from lakelens.model.fileset import FileSet
from lakelens.model.scan.arrow_files import pick

Side: TypeAlias = Literal["removed", "added", "kept"]
Order: TypeAlias = Literal["size", "rows", "name"]
Place: TypeAlias = tuple[str | int | None, ...]
# what is side by side: a removed file, an added one; or, alone in its line, one that was kept
Line: TypeAlias = tuple["Item | None", "Item | None", "Item | None"]


@dataclass(frozen=True, slots=True)
class Item:
    """One file of a diff: on which side, at which position of that file set, in which group, and where a filter looks.

    Its facts are those of its row in the columns of the set; the file itself is made when it is chosen.
    """

    side: Side
    index: int
    content: str
    path: str
    rows: int | None
    size: int | None
    place: Place
    name: str
    text: str


@dataclass(frozen=True, slots=True)
class Sums:
    """How many files, their bytes, and the rows of the data files; None where a file does not record it."""

    files: int = 0
    rows: int | None = 0
    bytes: int | None = 0

    @classmethod
    def of(cls, items: Sequence[Item]) -> Sums:
        """The sums over some files."""
        rows = [item.rows for item in items if item.content == "data"]
        return cls(len(items), sum_known(*rows), sum_known(*(item.size for item in items)))


def list_items(sides: Mapping[Side, FileSet | Iterable[DataFile]]) -> tuple[tuple[str, ...], list[Item]]:
    """The dimensions in which the files differ from "nothing said" (of partition, bucket, level), and every file."""
    names = ("content", "path", "record_count", "own_size_bytes", "partition", "bucket", "level")
    facts = [
        (side, index, *row) for side, files in sides.items() for index, row in enumerate(pick(files, *names))
    ]
    used = [place for place in range(3) if any(row[6 + place] not in (None, "") for row in facts)]
    dimensions = tuple(("partition", "bucket", "level")[place] for place in used)
    items = []
    for side, index, content, path, rows, size, *place in facts:
        name = (path or "").rstrip("/").rsplit("/", 1)[-1]
        partition, bucket, level = place
        words = content.replace("_", " ")
        text = f"{partition} bucket={bucket} level={level} {name} {words} {side}".lower()
        steps = tuple(place[position] for position in used)
        items.append(Item(side, index, content, path or "", rows, size, steps, name, text))
    return dimensions, items


def filter_items(items: Sequence[Item], wanted: str) -> Sequence[Item]:
    """The files that hold every word of `wanted` in their partition, name, content, `bucket=1`, `level=0` or side."""
    for word in wanted.lower().split():
        items = [item for item in items if word in item.text]
    return items


class Group:
    """Files of one place; `children` are the groups of the next dimension, `lines` the files of the last one."""

    def __init__(self, items: Sequence[Item], dimensions: tuple[str, ...], place: Place = ()) -> None:
        self.items, self.dimensions, self.place = items, dimensions, place
        self._sorted: dict[Order, list[Any]] = {}  # asked again for each page of a long fold

    @property
    def is_last(self) -> bool:
        """Whether its files are shown and no further groups."""
        return len(self.place) == len(self.dimensions)

    @cached_property
    def sums(self) -> dict[Side, Sums]:
        """Files, rows and bytes of each side."""
        sides: dict[Side, list[Item]] = {"removed": [], "added": [], "kept": []}
        for item in self.items:
            sides[item.side].append(item)
        return {side: Sums.of(items) for side, items in sides.items()}

    @cached_property
    def children(self) -> list[Group]:
        """The groups of the next dimension, in no order."""
        if self.is_last:
            return []
        depth = len(self.place)
        found: dict[Any, list[Item]] = {}
        for item in self.items:
            found.setdefault(item.place[depth], []).append(item)
        return [Group(items, self.dimensions, (*self.place, step)) for step, items in found.items()]

    def sort_children(self, order: Order) -> list[Group]:
        """The groups with the most bytes or rows added and removed first; or by their names."""
        if order not in self._sorted:
            self._sorted[order] = sorted(
                self.children, key=lambda group: (-_weigh(group, order), *_rank(group.place[-1]))
            )
        return self._sorted[order]

    def sort_lines(self, order: Order) -> list[Line]:
        """Its files, removed ones beside added ones, then those that were kept."""
        if order not in self._sorted:
            self._sorted[order] = self._list_lines(order)
        return self._sorted[order]

    def _list_lines(self, order: Order) -> list[Line]:
        sides: dict[Side, list[Item]] = {"removed": [], "added": [], "kept": []}
        for item in self.items:
            sides[item.side].append(item)
        for items in sides.values():
            items.sort(key=_ORDERS[order])
        lines: list[Line] = [
            (gone, came, None) for gone, came in zip_longest(sides["removed"], sides["added"])
        ]
        return lines + [(None, None, item) for item in sides["kept"]]


def _weigh(group: Group, order: Order) -> int:
    if order == "name":
        return 0
    changed = (group.sums["removed"], group.sums["added"])
    return sum((one.bytes if order == "size" else one.rows) or 0 for one in changed)


def _rank(step: str | int | None) -> tuple[bool, int, str]:
    """Numbers by their size, texts by theirs, what is not said first."""
    return (step is not None, step if isinstance(step, int) else 0, step if isinstance(step, str) else "")


_ORDERS: dict[Order, Callable[[Item], tuple[int, str]]] = {
    "size": lambda item: (-(item.size or 0), item.name),
    "rows": lambda item: (-(item.rows or 0), item.name),
    "name": lambda item: (0, item.name),
}
