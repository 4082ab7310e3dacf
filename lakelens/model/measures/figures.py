"""The files of one state by column, as far as its health shows in them: read in one pass, never one object a file.

content, size, rows, bucket, level, spec, sequence    one number a file (-1: not recorded)
partition, manifest                                   the number of its partition, and of its manifest
lower, upper, nulls, values                           of the data files alone, by leaf column
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.model.scan.plan import FileBatch, ScanRequest

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.fileset import Columns, FileSet
    from lakelens.model.stats import Partition

    Numbers = NDArray[np.int64]

    Mask = NDArray[np.bool_]


_PLAIN = ("content", "file_format", "record_count", "size_bytes", "spec_id", "bucket", "level", "manifest")
_LISTED = ("content", "size_bytes", "bucket")
_STATS = ("lower_bounds", "upper_bounds", "null_counts", "value_counts")
CONTENTS = ("data", "position_deletes", "equality_deletes", "deletion_vector", "changelog")
#: Of more bounds than this those of the columns that come first are looked at; the others are named.
MOST_BOUNDS = 8_000_000


class FileFigures:
    """The files of a set by column. `further` are columns that a format asks for, `first` leaf columns that matter most.

    `beside` are leaf columns that delete files have bounds of.

    Without `has_records` rows and bounds are not asked for.
    """

    def __init__(
        self,
        files: FileSet,
        further: Sequence[str] = (),
        first: Sequence[str] = (),
        beside: Sequence[str] = (),
        has_records: bool = True,
    ) -> None:
        import pyarrow as pa

        #: the leaf columns that were looked at, with their types, in the order of the schema
        self.leaves: Columns = ()
        self.left_out: tuple[str, ...] = ()
        names: tuple[str, ...] = _LISTED
        stats_names: tuple[str, ...] = ()
        if has_records:
            self.leaves, self.left_out = _choose_leaves(files, first)
            known = {name for name, _ in files.columns.further} | {"path", "sequence_number"}
            names = (*_PLAIN, *(name for name in further if name in known))
            floats = any(kind.logical.startswith("float") for _, kind in self.leaves)
            leaves = frozenset((*(leaf for leaf, _ in self.leaves), *beside))
            stats_names = (*_STATS, *(("nan_counts",) if floats else ())) if leaves else ()
            request = ScanRequest(bool(leaves), (*names, *stats_names), partitions=True, leaves=leaves)
            batches = files.read_batches(request)
        else:
            # what a listing knows of files: nothing is opened for it
            listed = list(files)
            plain = {
                "content": pa.array([file.content for file in listed], pa.string()),
                "size_bytes": pa.array([file.size_bytes for file in listed], pa.int64()),
                "bucket": pa.array([file.bucket for file in listed], pa.int32()),
            }
            partitions = [file.partition for file in listed], pa.array(range(len(listed)), pa.int64())
            batches = [FileBatch(len(listed), plain, partitions=partitions)]
        self._plain = {name: _join([batch.plain.get(name) for batch in batches], batches) for name in names}
        self.partition, self.partitions = _number_partitions(batches)
        content = _encode(self._plain["content"], CONTENTS)
        #: the places of the data files among all
        self.data = _find(content == 0)
        self.content = content
        self._stats = {
            (name, leaf): _join([batch.stats.get(name, {}).get(leaf) for batch in batches], batches)
            for name in stats_names
            for leaf in {leaf for batch in batches for leaf in batch.stats.get(name, {})}
        }
        #: bounds that delete files have of columns of their own
        self.beside = {key: array for key, array in self._stats.items() if key[1] in beside}
        if len(self.data) < len(content):
            self._stats = {
                key: array.take(self.data) for key, array in self._stats.items() if array is not None
            }

    def __len__(self) -> int:
        return len(self.content)

    def column(self, name: str) -> pa.Array | None:
        """A column of all files; None where there is none."""
        return self._plain.get(name)

    def numbers(self, name: str) -> Numbers:
        """A column of whole numbers; -1 where there is none."""
        import numpy as np
        import pyarrow.compute as pc

        array = self.column(name)
        if array is None:
            return np.full(len(self), -1, np.int64)
        found: Numbers = pc.fill_null(array, -1).to_numpy(zero_copy_only=False).astype(np.int64)
        return found

    def stat(self, name: str, leaf: str) -> pa.Array | None:
        """Bounds or counts of a leaf column, of the data files alone; None where no file has any."""
        return self._stats.get((name, leaf))

    @cached_property
    def rows(self) -> Numbers:
        """The rows of each file; 0 where they are not recorded."""
        return _at_least_zero(self.numbers("record_count"))

    @cached_property
    def sizes(self) -> Numbers:
        """The bytes of each file; of a vector its own, not those of the Puffin file that holds others too."""
        import numpy as np

        own = self.numbers("content_size_in_bytes")
        sizes = self.numbers("size_bytes")
        return _at_least_zero(np.where((self.content == 3) & (own >= 0), own, sizes))

    @cached_property
    def manifest(self) -> Numbers:
        """The number of each file's manifest; -1 for a file without one."""
        import pyarrow.compute as pc

        array = self.column("manifest")
        if array is None or array.null_count == len(array):
            return self.numbers("no manifest")
        codes: Numbers = pc.fill_null(array.dictionary_encode().indices, -1).to_numpy(zero_copy_only=False)
        return codes.astype("int64")

    @cached_property
    def manifests_by_partition(self) -> Numbers:
        """For each partition how many manifests name its files."""
        import numpy as np

        pairs = np.unique(self.partition * (int(self.manifest.max(initial=0)) + 2) + self.manifest + 1)
        known = pairs[pairs % (int(self.manifest.max(initial=0)) + 2) > 0]
        return sum_groups(known // (int(self.manifest.max(initial=0)) + 2), len(self.partitions))

    def find(self, content: str) -> Numbers:
        """Find the places of the files of one content."""
        return _find(self.content == CONTENTS.index(content))

    def sum_by_partition(self, places: Numbers, weights: Numbers | None = None) -> Numbers:
        """For each partition how many of some files it has, or the sum of their weights."""
        return sum_groups(self.partition[places], len(self.partitions), weights)

    @cached_property
    def partition_names(self) -> list[str]:
        """The partitions as the directory names them; one, without a name, where files are not divided."""
        return [str(partition) for partition in self.partitions]


def _choose_leaves(files: FileSet, first: Sequence[str]) -> tuple[Columns, tuple[str, ...]]:
    """Choose the leaf columns whose bounds are looked at, in the order of the schema, and the names of the others."""
    stats = files.columns.stats
    leaves = [leaf for leaf, _ in stats]
    ordered = [*(leaf for leaf in first if leaf in leaves), *(leaf for leaf in leaves if leaf not in first)]
    chosen = set(ordered[: MOST_BOUNDS // max(len(files), 1)])
    return (
        tuple((leaf, kind) for leaf, kind in stats if leaf in chosen),
        tuple(leaf for leaf in leaves if leaf not in chosen),
    )


def sum_groups(groups: Numbers, count: int, weights: Numbers | None = None) -> Numbers:
    """For each group how many members it has, or the sum of their weights.

    >>> import numpy as np
    >>> sum_groups(np.array([0, 2, 2]), 3, np.array([5, 1, 1])).tolist()
    [5, 0, 2]
    """
    import numpy as np

    if weights is None:
        return np.bincount(groups, minlength=count)
    totals = np.zeros(count, np.int64)
    order = np.argsort(groups, kind="stable")
    if len(order):
        ordered = groups[order]
        starts = np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])
        totals[ordered[starts]] = np.add.reduceat(weights[order], starts)
    return totals


def _find(mask: Mask) -> Numbers:
    import numpy as np

    return np.flatnonzero(mask)


def _at_least_zero(numbers: Numbers) -> Numbers:
    import numpy as np

    return np.maximum(numbers, 0)


def _encode(array: pa.Array | None, known: Sequence[str]) -> Numbers:
    """Words as their numbers; a word that is not known is a data file's."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    if array is None:
        return np.zeros(0, np.int64)
    codes = pc.fill_null(pc.index_in(array, value_set=pa.array(known)), 0)
    found: Numbers = codes.to_numpy(zero_copy_only=False).astype(np.int64)
    return found


def _join(arrays: Sequence[pa.Array | None], batches: Sequence[FileBatch]) -> pa.Array | None:
    """Arrays of batches end to end; null for a batch that has none."""
    import pyarrow as pa

    kind = next((array.type for array in arrays if array is not None), None)
    if kind is None:
        return None
    pairs = zip(arrays, batches, strict=True)
    pieces = [pa.nulls(batch.rows, kind) if one is None else one for one, batch in pairs]
    return pieces[0] if len(pieces) == 1 else pa.concat_arrays(pieces)


def _number_partitions(batches: Sequence[FileBatch]) -> tuple[Numbers, list[Partition]]:
    """For each file the number of its partition, and the partitions."""
    import numpy as np

    known: dict[Any, int] = {}
    pieces = [np.zeros(0, np.int64)]
    for batch in batches:
        found, codes = batch.partitions or ((), None)
        numbers = np.fromiter((known.setdefault(one, len(known)) for one in found), np.int64, len(found))
        pieces.append(numbers[codes.to_numpy(zero_copy_only=False)] if codes is not None else numbers[:0])
    return np.concatenate(pieces), list(known)


# Which deletes reach which data files, by numbers: counts and rows, file by file.


@dataclass(frozen=True, slots=True)
class Reach:
    """For each data file how many deletes reach it, and how many of its rows are known to be deleted.

    `by_partition` has for each partition the files and vectors with deletes that are in it. `known` are the deleted rows
    whose file the metadata names; `rows` all that deletes hold, those of position delete files for a whole partition too.
    `equality` are rows of equality deletes: how many rows they delete nobody knows without reading.
    """

    deletes: Numbers
    known: Numbers
    by_partition: Numbers
    rows_by_partition: Numbers
    files: int
    rows: int
    equality_files: int = 0
    equality_rows: int = 0

    @classmethod
    def add_up(cls, figures: FileFigures, deletes: Numbers, known: Numbers, vectors: int) -> Reach:
        """Add up by partition how many vectors reach each data file, and how many of its rows they delete."""
        of_data, number = figures.partition[figures.data], len(figures.partitions)
        by_partition = sum_groups(of_data, number, deletes), sum_groups(of_data, number, known)
        return cls(deletes, known, *by_partition, vectors, int(known.sum()))
