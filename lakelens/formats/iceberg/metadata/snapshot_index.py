"""What must be known of all snapshots at once, though none of them is an object yet: ids, parents, times, their order."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

from lakelens.caching import cached_property

if TYPE_CHECKING:
    from lakelens.formats.iceberg.metadata.wire import WireSnapshot

_LIST = re.compile(r"snap-(-?\d+)-.+\.avro", re.IGNORECASE)


class SnapshotIndex:
    """An index of the snapshots of a document. A position counts in commit order; a snapshot is stored elsewhere.

    `list_folders` are the folders of the manifest lists, as recorded; `rounded` are ids that a JSON tool rounded without a
    trace, each with the id in the name of its manifest list.
    """

    def __init__(self, snapshots: Iterable[WireSnapshot]) -> None:
        self._ids: list[int] = []
        self._parents: list[int | None] = []
        self._moments: list[int] = []
        self.list_folders: dict[str, None] = {}
        self.rounded: list[tuple[int, int]] = []
        numbers: list[int] = []
        for wire in snapshots:
            self._ids.append(wire.snapshot_id)
            self._parents.append(wire.parent_snapshot_id if wire.parent_snapshot_id != -1 else None)
            self._moments.append(wire.timestamp_ms)
            numbers.append(wire.sequence_number or 0)
            self._learn_from_list(wire)
        self._order: Sequence[int] = range(len(numbers))
        if any(later < sooner for sooner, later in pairwise(numbers)):
            self._order = sorted(self._order, key=numbers.__getitem__)  # a stable sort

    def _learn_from_list(self, wire: WireSnapshot) -> None:
        recorded = wire.manifest_list
        if not recorded:
            return
        self.list_folders[recorded.rpartition("/")[0]] = None
        named = parse_snapshot_id(recorded)
        if named is not None and named != wire.snapshot_id and _round(named) == _round(wire.snapshot_id):
            self.rounded.append((wire.snapshot_id, named))

    def __len__(self) -> int:
        return len(self._ids)

    def __contains__(self, snapshot_id: object) -> bool:
        return snapshot_id in self._positions

    def locate(self, position: int) -> int:
        """Where in the document the snapshot of a position is stored."""
        return self._order[position]

    def find(self, snapshot_id: int) -> int | None:
        """The position of an id; None when there is no such snapshot. The last of several."""
        return self._positions.get(snapshot_id)

    def list_stored(self, snapshot_id: int) -> Iterator[int]:
        """Where in the document the snapshots of an id are stored: one, unless the document is wrong."""
        return (index for index, known in enumerate(self._ids) if known == snapshot_id)

    def find_parent(self, snapshot_id: int) -> int | None:
        """The id of a snapshot's parent; None when it has none, or there is no such snapshot."""
        position = self.find(snapshot_id)
        return None if position is None else self._parents[self._order[position]]

    def iter_moments(self) -> Iterator[tuple[int, int]]:
        """Ids with the time of their commit in milliseconds, in commit order."""
        return ((self._ids[index], self._moments[index]) for index in self._order)

    @cached_property
    def _positions(self) -> dict[int, int]:
        return {self._ids[index]: position for position, index in enumerate(self._order)}


def parse_snapshot_id(path: str) -> int | None:
    """The snapshot id in the name of a manifest list; None when it is named otherwise.

    >>> parse_snapshot_id("/t/metadata/snap-7-1-2f2b.avro")
    7
    """
    matched = _LIST.fullmatch(path.rsplit("/", 1)[-1])
    return int(matched[1]) if matched else None


def _round(number: int) -> float | None:
    """What is left of a number in a JSON tool that knows floats alone; None where it holds no number so large."""
    try:
        return float(number)
    except OverflowError:
        return None
