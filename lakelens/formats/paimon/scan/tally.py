"""Whether a fold by column says what folding entry by entry would: nothing added twice, no unknown file deleted.

Taking away every ADD before the last DELETE of a file is exact where ADDs and DELETEs of it take turns. What is noted here
while the manifests are read, a few numbers for each file taken away, shows afterwards whether they did.
"""

from __future__ import annotations

import threading
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakelens.formats.paimon.scan.entries import join_chunks

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.scan.columnar import Part
    from lakelens.model.scan.plan import ScanTask


class FoldTally:
    """What reading the manifests of a scan showed so far; notes of the same part again replace the earlier ones.

    `is_whole` is false once a manifest could not be read,
    `is_misled` true once one has DELETE entries that its list does not count.
    """

    def __init__(self) -> None:
        self.is_whole = True
        self.is_misled = False
        self._lock = threading.Lock()
        self._sizes: dict[int, int] = {}
        self._parts: dict[tuple[int, int], tuple[int, int]] = {}
        self._taken: dict[tuple[int, int], tuple[Any, Any]] = {}
        self._removals: pa.Table | None = None
        self._deletes: tuple[Any, Any] | None = None

    def note_manifest(self, task: ScanTask, entries: int, deleted: int) -> None:
        """A manifest that could be read, and what it holds."""
        self._sizes[task.position] = entries
        self.is_misled = self.is_misled or bool(deleted and not task.removes)

    def note_removals(self, removals: pa.Table, deletes: pa.Table) -> None:
        """What DELETE entries take away, and every such entry: `identity`, `order`."""
        import pyarrow.compute as pc

        places = pc.index_in(join_chunks(deletes["identity"]), value_set=join_chunks(removals["identity"]))
        self._removals = removals
        self._deletes = places.to_numpy(zero_copy_only=False), join_chunks(deletes["order"]).to_numpy()

    def note_live(self, parts: Sequence[Part], records: int) -> None:
        """Consecutive entries of manifests, and how many rows their live files have together."""
        with self._lock:
            for number, part in enumerate(parts):
                self._parts[part.task.position, part.start] = part.rows, 0 if number else records

    def note_taken(
        self, part: Part, removals: pa.Table, identity: pa.Array, order: pa.Array, live: pa.Array
    ) -> None:
        """Which files from this part on were taken away: all that are not `live`."""
        import pyarrow.compute as pc

        if self._removals is None or self._removals is not removals:
            return
        gone = pc.indices_nonzero(pc.invert(live))
        places = pc.index_in(identity.take(gone), value_set=join_chunks(removals["identity"]))
        with self._lock:
            self._taken[part.task.position, part.start] = (
                places.to_numpy(zero_copy_only=False),
                order.take(gone).to_numpy(),
            )

    def forget(self, task: ScanTask, start: int) -> None:
        """Nothing noted of a manifest from an entry on counts: it is read again, in another way."""
        with self._lock:
            notes: dict[tuple[int, int], Any]
            for notes in (self._parts, self._taken):
                for key in [key for key in notes if key[0] == task.position and key[1] >= start]:
                    del notes[key]

    def is_complete(self, tasks: Sequence[ScanTask]) -> bool:
        """Whether every entry of every manifest was seen."""
        seen: dict[int, int] = defaultdict(int)
        for (position, _), (rows, _) in self._parts.items():
            seen[position] += rows
        return self.is_whole and all(
            seen[task.position] == self._sizes.get(task.position, -1) for task in tasks
        )

    def count_records(self) -> int:
        """The rows of the live files."""
        return sum(records for _, records in self._parts.values())

    def is_clean(self) -> bool:
        """Whether ADD and DELETE entries of each file that was taken away take turns, ADD first.

        Where a manifest could not be read only ADDs after ADDs count: it may have held the others.
        """
        import numpy as np

        if self._deletes is None:
            return True
        noted = [*self._taken.values(), self._deletes]
        files, orders = (np.concatenate(columns) for columns in zip(*noted, strict=True))
        adds = np.arange(len(files)) < len(files) - len(self._deletes[0])
        sorting = np.lexsort((orders, files))
        files, adds = files[sorting], adds[sorting]
        first = np.ones(len(files), np.bool_)
        first[1:] = files[1:] != files[:-1]
        after_add = ~first
        after_add[1:] &= adds[:-1]
        if (adds & after_add).any():
            return False
        return not self.is_whole or not (~adds & ~after_add).any()
