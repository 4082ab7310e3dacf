"""Reading manifests by column with one fallback, shared by all formats that have manifests.

    load      manifests, decoded in bulk: runs of consecutive `Part`s that can be built as one
    build     a run as a `FileBatch`, by Arrow's kernels; `NotColumnar` where a column cannot show what is stored
    records   one manifest, entry by entry, from an entry on to its end: slower, and it names what is damaged

A run that `build` refuses is built part by part; where a part alone is refused, its manifest goes by `records` from there
to its end. `NotColumnar` alone does that: whatever else is raised is a mistake of ours, and is seen.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any, TypeVar

from lakelens.lazy import dataclass
from lakelens.model.scan.plan import ORDER_BITS, FileBatch, FileScan, ScanRequest, ScanTask
from lakelens.threads import start_pool

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.errors import LakeError

Run = TypeVar("Run")


class NotColumnar(Exception):
    """These entries cannot be read by column: the record path reads them, or says what is wrong with them."""


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive entries of one manifest, `start` being the number of the first: `rows` rows of a table from `first` on.

    Without a table no entry from `start` on can be decoded by column. `manifest` is the format's own.
    """

    task: ScanTask
    table: pa.Table | None
    start: int = 0
    rows: int = 0
    first: int = 0
    manifest: Any = None


def join_parts(parts: Sequence[Part]) -> pa.Table:
    """Join the entries of some parts of one schema, end to end; nothing is copied."""
    import pyarrow as pa

    tables: list[pa.Table] = []
    begin = 0
    for number, part in enumerate(parts):
        ends = number + 1 == len(parts) or (
            parts[number + 1].table is not part.table or parts[number + 1].first != part.first + part.rows
        )
        if ends:  # parts that follow each other in one table are one slice of it
            assert part.table is not None
            tables.append(part.table.slice(parts[begin].first, part.first + part.rows - parts[begin].first))
            begin = number + 1
    return tables[0] if len(tables) == 1 else pa.concat_tables(tables)


def number_parts(parts: Sequence[Part]) -> Any:
    """For each entry the number of its part: a numpy array."""
    import numpy as np

    return np.repeat(np.arange(len(parts)), [part.rows for part in parts])


def number_entries(parts: Sequence[Part]) -> Any:
    """The place of each entry among all, as `FileBatch.order` has it: a numpy array."""
    import numpy as np

    firsts = ((part.task.position << ORDER_BITS) + part.start for part in parts)
    return np.concatenate(
        [first + np.arange(part.rows, dtype=np.int64) for first, part in zip(firsts, parts, strict=True)]
    )


def read_ahead(loaded: Iterator[Run]) -> Iterator[Run]:
    """Read the same, one run ahead: a thread decodes the next while this one is worked on."""
    with start_pool(1, "decode") as pool:
        following = pool.submit(next, loaded, None)
        while (parts := following.result()) is not None:
            following = pool.submit(next, loaded, None)
            yield parts
            del parts


class ColumnarScan(FileScan):
    """A scan that reads by column where manifests are large enough, else entry by entry; `fast` decides for all.

    `snapshots` are named in findings.
    """

    fast: bool | None = None
    snapshots: tuple[int, ...] = ()

    @abstractmethod
    def load(self, tasks: Sequence[ScanTask]) -> Iterator[list[Part]]:
        """Runs of parts, in the order of the tasks. A manifest that cannot be opened is refused and has no part."""

    @abstractmethod
    def build(
        self, parts: Sequence[Part], request: ScanRequest, removals: pa.Table | None
    ) -> FileBatch | None:
        """The batch of a run; None where none of its entries is wanted. Raises `NotColumnar`."""

    @abstractmethod
    def records(
        self, task: ScanTask, start: int, request: ScanRequest, removals: pa.Table | None
    ) -> Iterator[FileBatch]:
        """The entries of a manifest from a number on, decoded one by one."""

    def refuse(self, task: ScanTask, error: LakeError) -> None:
        """A manifest that cannot be read, or not to its end, is a finding."""
        self.is_whole = False
        self.refused[task.path] = error.without_frames()
        self.findings.add_error(error, task.path, self.snapshots)

    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """See `FileScan.read`."""
        self.fetch(tasks)
        if not self.is_fast(tasks):
            for task in tasks:
                yield from self.records(task, 0, request, removals)
            return
        given_up: set[int] = set()
        loaded = self.load(tasks)
        for parts in read_ahead(loaded) if request.ahead else loaded:
            yield from self._read_run(parts, request, removals, given_up)
            del parts  # or it would be there beside the next one

    def _read_run(
        self, parts: Sequence[Part], request: ScanRequest, removals: pa.Table | None, given_up: set[int]
    ) -> Iterator[FileBatch]:
        parts = [part for part in parts if part.task.position not in given_up]
        if not parts:
            return
        batch, is_refused = None, parts[0].table is None
        if not is_refused:
            try:
                batch = self.build(parts, request, removals)
            except NotColumnar:
                is_refused = True
        if batch is not None:
            yield batch
        elif is_refused and len(parts) > 1:
            for part in parts:
                yield from self._read_run([part], request, removals, given_up)
        elif is_refused:
            given_up.add(parts[0].task.position)
            yield from self.records(parts[0].task, parts[0].start, request, removals)

    def is_fast(self, tasks: Sequence[ScanTask]) -> bool:
        """Check whether some tasks are read by column."""
        if self.fast is not None:
            return self.fast
        from lakelens.model.scan.scan_to_arrow import is_warm, is_worthwhile

        return is_warm() or is_worthwhile(tasks)
