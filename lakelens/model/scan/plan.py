"""Reading files and entries by column, manifest by manifest: what `FileSet.to_arrow` and Spark's executors share.

A `FileScan` is a plan: which manifests hold the rows, what columns there are. It is made from manifest lists alone, it can
be pickled, and the same `read` runs in this process, in a thread, or on an executor::

    scan.tasks          one for each manifest: its place in the order, its size, whether it removes files of others
    scan.read(tasks)    FileBatch after FileBatch, in the order of the tasks: arrays by column, stats by leaf column
    scan.removals(…)    Paimon: the identities that DELETE entries take away, with the place of the last such entry

The rows equal those of the record path (`build_table` over `DataFile` objects) exactly.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import field, replace
from typing import TYPE_CHECKING, Any, ClassVar

from lakelens.caching import cached_property
from lakelens.lazy import dataclass

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.errors import LakeError
    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileColumns
    from lakelens.model.finding import Findings
    from lakelens.model.stats import Partition

#: Bits of an `order` that count the entries of one manifest; those above hold the position of its task.
ORDER_BITS = 32


@dataclass(frozen=True, slots=True)
class ScanTask:
    """One manifest to read: `position` in the order of the scan, `path` where it is now, `size_bytes` of the file.

    `entries` is how many entries its list counts (None: unknown), `removes` whether some of them may remove files that
    other manifests add, `line` what the format needs to read it: plain data that can be pickled.
    """

    position: int
    path: str
    size_bytes: int
    entries: int | None = None
    removes: bool = False
    line: Any = None


@dataclass(frozen=True, slots=True)
class ScanRequest:
    """What is wanted of a scan: `columns` by name, in order (None: all), with bounds and counts or without.

    `entries` asks for every entry of the manifests, deleted ones included, with its `status`; `snapshot_id` is then the
    entry's, and nothing is merged. `identity` asks for `FileBatch.identity` and `order`, `partitions` for its `partitions`.
    Of bounds and counts those of some `leaves` may be asked for (None: all). With `keeps_all` the caller keeps all batches
    in the end: those of a whole manifest may be built at once. With `ahead`, entries may be decoded while those before them
    are built: faster, with one more piece of them in memory. With `sparing` nothing of a large manifest is kept that is not
    being built, even where that means to decode it twice.
    """

    stats: bool = True
    columns: tuple[str, ...] | None = None
    entries: bool = False
    identity: bool = False
    keeps_all: bool = False
    ahead: bool = False
    sparing: bool = False
    partitions: bool = False
    leaves: frozenset[str] | None = None

    def with_identity(self) -> ScanRequest:
        """The same request, of which `identity` and `order` are asked for."""
        return replace(self, identity=True)

    def wants(self, name: str) -> bool:
        """Check whether a column is asked for."""
        return self.columns is None or name in self.columns


@dataclass(frozen=True, slots=True)
class FileBatch:
    """Some files by column, in order. `plain` holds every wanted column but the stats, by name.

    `stats` holds the wanted ones of `lower_bounds`, `upper_bounds`, `null_counts`, `value_counts`, `nan_counts` and
    `column_sizes`: arrays by leaf column, of its Arrow type; a leaf for which no file of the batch has anything is left
    out of all six. `identity` (binary) distinguishes files as `DataFile.identity` does, `order` (int64) is the place of the
    entry: the task's position shifted by `ORDER_BITS`, plus the entry's number in its manifest. `partitions` are different
    ones, and which of them each file has (int64). `files` are the files themselves where they were decoded one by one.
    """

    rows: int
    plain: dict[str, pa.Array]
    stats: dict[str, dict[str, pa.Array]] = field(default_factory=dict)
    identity: pa.Array | None = None
    order: pa.Array | None = None
    partitions: tuple[Sequence[Partition], pa.Array] | None = None
    files: Sequence[DataFile] = ()

    def filter(self, mask: Any) -> FileBatch:
        """Filter the files for which a boolean array holds."""
        import pyarrow.compute as pc

        kept = {name: array.filter(mask) for name, array in self.plain.items()}
        stats = {
            name: {leaf: array.filter(mask) for leaf, array in leaves.items()}
            for name, leaves in self.stats.items()
        }
        known = {
            leaf
            for leaves in stats.values()
            for leaf, array in leaves.items()
            if array.null_count < len(array)
        }
        stats = {
            name: {leaf: array for leaf, array in leaves.items() if leaf in known}
            for name, leaves in stats.items()
        }
        return replace(
            self,
            rows=int(pc.sum(mask).as_py() or 0),
            plain=kept,
            stats=stats,
            identity=None if self.identity is None else self.identity.filter(mask),
            order=None if self.order is None else self.order.filter(mask),
            partitions=None
            if self.partitions is None
            else (self.partitions[0], self.partitions[1].filter(mask)),
            files=[found for found, kept in zip(self.files, mask.to_pylist(), strict=True) if kept]
            if self.files
            else (),
        )


class FileScan(ABC):
    """A plan to read the files of a state, or the entries of its manifests, by column. Reads manifest lists only.

    `columns` are those that files have in Arrow as far as it can be known before a manifest is read. `totals` are columns
    that whoever reads a whole set always reads, to compare them with what is recorded; `facts` those that are attributes of
    a `DataFile` and are read before many of them are looked at, `absent` those that no file of the format has. `is_whole`
    is false once a manifest could not be read.
    """

    columns: FileColumns
    tasks: tuple[ScanTask, ...]
    context: Any = None
    totals: ClassVar[tuple[str, ...]] = ("content", "record_count", "size_bytes")
    facts: ClassVar[tuple[str, ...]] = ()
    absent: ClassVar[tuple[str, ...]] = ()
    is_whole: bool = True

    @property
    def size_bytes(self) -> int:
        """Bytes of all manifests together."""
        return sum(task.size_bytes for task in self.tasks)

    @property
    def removes(self) -> bool:
        """Whether some manifest may remove files that others add, so that `removals` must be asked for first."""
        return any(task.removes for task in self.tasks)

    @property
    def findings(self) -> Findings:
        """What was found while reading in this process; after pickling it starts empty."""
        findings: Findings = self.context.findings
        return findings

    @cached_property
    def refused(self) -> dict[str, LakeError]:
        """The manifests that could not be read in this process, or not to their end, by path."""
        return {}

    @abstractmethod
    def read(
        self, tasks: Sequence[ScanTask], request: ScanRequest, removals: pa.Table | None = None
    ) -> Iterator[FileBatch]:
        """The files of some tasks in their order, in batches of bounded size; `removals` are left out.

        A manifest that cannot be decoded by column goes by the record path; one that cannot be read at all becomes a
        finding of the table, and what was read before the damage is kept.
        """

    def fetch(self, tasks: Sequence[ScanTask]) -> None:
        """Read the manifests of some tasks together, where each request waits for a network: they are going to be read."""
        if self.context is not None:
            self.context.access.store.fetch([("read", task.path) for task in tasks])

    def removals(self, tasks: Sequence[ScanTask] | None = None) -> pa.Table:
        """Say what DELETE entries take away: `identity` (binary, unique) and `order` (int64) of the last such entry.

        `tasks` are those to look at (None: every one that `removes`).
        """
        import pyarrow as pa

        schema = pa.schema([("identity", pa.binary()), ("order", pa.int64())])
        return schema.empty_table()

    def conclude(self) -> bool:
        """Keep as findings, after all tasks were read in this process, what is odd about the whole.

        False where only the record path can merge the entries: then the table is read again by that one.
        """
        return True

    def encode(self, files: Sequence[DataFile]) -> pa.Array:
        """Encode what distinguishes files that were decoded one by one, as `FileBatch.identity` has it."""
        raise NotImplementedError

    @abstractmethod
    def with_tasks(self, tasks: Sequence[ScanTask]) -> FileScan:
        """The same scan over other tasks (some of its own, usually)."""

    def note_reads(self, tasks: Sequence[ScanTask]) -> None:
        """Note that other processes read these manifests, as if they were read here."""
        if self.context is not None:
            for task in tasks:
                self.context.access.note_read(task.path)


def find_live(identity: pa.Array, order: pa.Array, removals: pa.Table | None) -> pa.Array | None:
    """For each file whether no later DELETE entry takes it away; None where every one is live.

    >>> import pyarrow as pa
    >>> removals = pa.table({"identity": [b"a", b"b"], "order": [5, 5]})
    >>> find_live(pa.array([b"a", b"b", b"c"]), pa.array([0, 9, 1]), removals).to_pylist()
    [False, True, True]
    """
    import pyarrow.compute as pc

    if removals is None or not removals.num_rows or not len(identity):
        return None
    found = pc.index_in(identity, value_set=removals["identity"].combine_chunks())
    last = removals["order"].combine_chunks().take(found)
    live = pc.fill_null(pc.greater(order, last), True)
    return None if pc.all(live).as_py() else live


def drop_removed(batch: FileBatch, removals: pa.Table | None) -> FileBatch:
    """Drop the files of a batch that no later DELETE entry takes away. The batch needs `identity` and `order`."""
    live = None if removals is None else find_live(batch.identity, batch.order, removals)
    return batch if live is None else batch.filter(live)
