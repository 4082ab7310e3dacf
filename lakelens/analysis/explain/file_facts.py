"""What manifests say of some files, by column: what a predicate is judged by, and nothing else is read."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.caching import cached_property
from lakelens.model.predicate import Term
from lakelens.model.scan.files_to_arrow import STATS
from lakelens.model.scan.plan import ScanRequest

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.fileset import FileSet
    from lakelens.model.scan.placement import Placement
    from lakelens.model.scan.plan import FileBatch

    Mask = NDArray[np.bool_]

_PLAIN = (
    *("content", "path", "manifest", "partition", "partition_values", "record_count", "size_bytes"),
    *("spec_id", "bucket", "level", "file_format", "first_row_id", "write_cols", "total_buckets"),
    *("extra_files", "embedded_file_index", "min_key", "max_key"),
)
COUNTS = ("null_counts", "value_counts", "nan_counts")


class FileFacts:
    """What manifests say of some files, by column: the data files of a set, `places` being their numbers in it."""

    def __init__(self, files: FileSet, placement: Placement, leaves: Sequence[str] | None) -> None:
        import numpy as np
        import pyarrow.compute as pc

        from lakelens.model.scan.files_to_arrow import list_columns as list_known

        self.placement = placement
        self.has_bounds = leaves is not None
        wanted = list_columns(list_known(files.columns, stats=True), self.has_bounds)
        request = ScanRequest(self.has_bounds, tuple(wanted), ahead=True, leaves=frozenset(leaves or ()))
        batches = list(files.iterate_batches(request))
        self._plain = {
            name: _join([batch.plain.get(name) for batch in batches], batches)
            for name in wanted
            if name not in STATS
        }
        self._stats: dict[tuple[str, str], Any] = {
            (name, leaf): _join([batch.stats.get(name, {}).get(leaf) for batch in batches], batches)
            for name in wanted
            if name in STATS
            for leaf in {leaf for batch in batches for leaf in batch.stats.get(name, {})}
        }
        content = self._plain["content"]
        is_data = (
            pc.equal(content, "data").to_numpy(zero_copy_only=False) if content is not None else np.zeros(0)
        )
        self.places = np.flatnonzero(is_data)
        if len(self.places) < len(is_data):
            kept = self.places
            self._plain = {name: None if one is None else one.take(kept) for name, one in self._plain.items()}
            self._stats = {name: one.take(kept) for name, one in self._stats.items()}

    @cached_property
    def _independent(self) -> Mask | None:
        """The files that are judged by themselves; None where all are, because no rows are merged."""
        import numpy as np

        merging = self.placement.merging
        if merging is None:
            return None
        if merging.by_rows:
            written = self.column("write_cols")
            shared = np.zeros(len(self), np.bool_)
            for places in self._group_rows():
                shared[places] = len(places) > 1
            if written is not None:
                shared |= written.is_valid().to_numpy(zero_copy_only=False)
            return ~shared
        alone = np.zeros(len(self), np.bool_)
        levels = self.numpy("level")
        for places in self.group_buckets():
            found = levels[places]
            # files of one level above 0 hold no key twice
            alone[places] = len(places) == 1 or (found[0] > 0 and bool((found == found[0]).all()))
        return alone

    def find_limit(self, term: Term) -> Mask | None:
        """Where files prove something of a term's column: everywhere (None) of a key, else where no rows are merged."""
        merging = self.placement.merging
        return None if merging is not None and term.column in merging.keys else self._independent

    def group_buckets(self) -> Iterator[NDArray[np.int64]]:
        """The numbers of the files of each bucket of each partition."""
        import numpy as np

        partition = self.column("partition")
        assert partition is not None
        codes = partition.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
        return _group(codes * (1 << 32) + self.numpy("bucket"))

    def _group_rows(self) -> Iterator[NDArray[np.int64]]:
        """The files that hold columns of the same rows."""
        import numpy as np

        first = self.numpy("first_row_id") if self.column("first_row_id") is not None else -np.ones(len(self))
        return (places for places in _group(first) if len(places) and first[places[0]] >= 0)

    def __len__(self) -> int:
        return len(self.places)

    def column(self, name: str) -> pa.Array | None:
        """A column as one array; None where there is none."""
        return self._plain.get(name)

    def stat(self, name: str, leaf: str) -> pa.Array | None:
        """The bounds or counts of a leaf column."""
        return self._stats.get((name, leaf))

    def has_stats(self, leaf: str) -> bool:
        """Whether bounds or counts of nulls of a leaf column are known of any file."""
        return any((name, leaf) in self._stats for name in ("lower_bounds", "null_counts"))

    def partition(self, name: str) -> pa.Array | None:
        """The partition values of a field."""
        column = self.column("partition_values")
        place = -1 if column is None else column.type.get_field_index(name)
        return None if column is None or place < 0 else column.field(place)

    def numpy(self, name: str) -> NDArray[Any]:
        """A column of numbers; what is not known is -1."""
        import numpy as np
        import pyarrow.compute as pc

        column = self.column(name)
        if column is None:
            return np.zeros(0, np.int64)
        found: NDArray[Any] = pc.fill_null(column, -1).to_numpy(zero_copy_only=False)
        return found


def _group(codes: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
    """The places of equal codes."""
    import numpy as np

    order = np.argsort(codes, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _join(arrays: Sequence[pa.Array | None], batches: Sequence[FileBatch]) -> pa.Array | None:
    """Arrays of batches end to end: null for a batch that has none, since records and columns know different ones."""
    import pyarrow as pa

    kind = next((array.type for array in arrays if array is not None), None)
    if kind is None:
        return None
    if len(arrays) == 1:
        return arrays[0]
    pairs = zip(arrays, batches, strict=True)
    return pa.concat_arrays([pa.nulls(batch.rows, kind) if one is None else one for one, batch in pairs])


def list_columns(known: Sequence[str], has_bounds: bool) -> list[str]:
    """The columns of files that a predicate is judged by, of those that there are."""
    bounds = ("lower_bounds", "upper_bounds", *COUNTS) if has_bounds else ()
    return [name for name in (*_PLAIN, *bounds) if name in known]
