"""Which entries of many manifests are of which path: for each path the marks that its entries leave.

    marks   (manifest, status, content, beside) as far as they differ: a few for each manifest, whatever it holds
    paths   each once
    pairs   a number of a path and one of a mark, each pair once, in the order of the entries

Read by column where that pays (`FileScan`), else entry by entry.
"""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from itertools import repeat
from typing import TYPE_CHECKING, Any, NamedTuple

from lakelens.model.arrow import text_array
from lakelens.model.scan.plan import FileScan, ScanRequest

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.manifest import Entry, Manifest

_WANTED = ("path", "manifest", "status", "content")
_EXTRA = "extra_files"
#: Entries whose paths are kept as they came, before each path is kept once.
_MOST_PENDING = 250_000
#: Fewer are read one by one faster than the bulk reader is imported; opening a manifest takes as long as five entries.
MANY_ENTRIES = 5_000
MANIFEST_ENTRIES = 5
ENTRY_BYTES = 100
LIVE = ("ADDED", "EXISTING", "ADD")


class Mark(NamedTuple):
    """What an entry says of a path. `beside`: the path is of a file beside the entry's own (Paimon's extra files)."""

    manifest: str
    status: str
    content: str
    beside: bool = False

    @property
    def is_live(self) -> bool:
        """Whether the entry says that its file is there."""
        return self.status in LIVE and not self.beside

    def __str__(self) -> str:
        return f"{posixpath.basename(self.manifest)} ({self.status})"


class PathIndex:
    """The marks of each path; `find` gives them."""

    def __init__(self) -> None:
        self._formatted: dict[int, tuple[Sequence[Mark], tuple[str, ...]]] = {}

    def format(self, marks: Sequence[Mark]) -> tuple[str, ...]:
        """Marks as text, each once: one tuple for all files of the same marks."""
        if id(marks) not in self._formatted:  # which keeps them, so that nothing else gets their id
            self._formatted[id(marks)] = marks, tuple(dict.fromkeys(map(str, marks)))
        return self._formatted[id(marks)][1]

    def find(self, paths: Sequence[str]) -> Iterator[tuple[Mark, ...]]:
        """For each path its marks, in the order of the entries; none for a path that no entry has."""
        raise NotImplementedError


def index_paths(
    plan: Callable[[], FileScan | None],
    manifests: Collection[Manifest],
    read: Callable[[Any], Iterable[Entry]],
) -> PathIndex:
    """The index of some manifests: by the scan that `plan` makes of them where that is faster, else of what `read` gives."""
    work = sum(map(_count_entries, manifests)) + MANIFEST_ENTRIES * len(manifests)
    scan = plan() if work >= MANY_ENTRIES else None
    return _EntryIndex(manifests, read) if scan is None else _ColumnIndex(scan)


def _count_entries(manifest: Manifest) -> int:
    """Count the entries of a manifest, as its list counts them or by its size."""
    counts = (manifest.added_files_count, manifest.existing_files_count, manifest.deleted_files_count)
    known = [count for count in counts if isinstance(count, int)]
    return sum(known) if known else (manifest.size_bytes or 0) // ENTRY_BYTES


class _EntryIndex(PathIndex):
    """Of entries that were decoded one by one."""

    def __init__(self, manifests: Iterable[Manifest], read: Callable[[Any], Iterable[Entry]]) -> None:
        super().__init__()
        self._marks: dict[str, dict[Mark, None]] = {}
        for manifest in manifests:
            for entry in read(manifest):
                path, mark = entry.file.path, Mark(manifest.path, entry.status, entry.file.content)
                self._marks.setdefault(path, {})[mark] = None
                for extra in getattr(entry.file, _EXTRA, None) or ():
                    place = posixpath.join(posixpath.dirname(path), extra)
                    self._marks.setdefault(place, {})[mark._replace(beside=True)] = None

    def find(self, paths: Sequence[str]) -> Iterator[tuple[Mark, ...]]:
        """See `PathIndex.find`."""
        return (tuple(self._marks.get(path, ())) for path in paths)


class _ColumnIndex(PathIndex):
    """Of entries by column. Files with the same marks share one tuple of them."""

    def __init__(self, scan: FileScan) -> None:
        import numpy as np

        super().__init__()
        gathered = _Rows()
        for paths, manifests, statuses, contents, beside in _iterate_rows(scan):
            gathered.add(paths, (manifests, statuses, contents), beside)
        encoded, numbers = gathered.finish()
        self._marks = list(gathered.marks)
        self._paths: pa.Array = encoded.dictionary
        codes = encoded.indices.to_numpy().astype(np.int64)
        _, first = np.unique(codes * (len(self._marks) + 1) + numbers, return_index=True)
        first.sort()  # each pair once, in the order of the entries
        order = first[np.argsort(codes[first], kind="stable")]
        self._numbers: list[int] = numbers[order].tolist()
        self._ends: list[int] = np.searchsorted(codes[order], np.arange(len(self._paths)), "right").tolist()
        self._known: dict[tuple[int, ...], tuple[Mark, ...]] = {}

    def find(self, paths: Sequence[str]) -> Iterator[tuple[Mark, ...]]:
        """See `PathIndex.find`."""
        import pyarrow.compute as pc

        for code in pc.index_in(text_array(list(paths)), value_set=self._paths).to_pylist():
            if code is None:
                yield ()
                continue
            numbers = tuple(self._numbers[self._ends[code - 1] if code else 0 : self._ends[code]])
            if numbers not in self._known:
                self._known[numbers] = tuple(self._marks[number] for number in numbers)
            yield self._known[numbers]


class _Rows:
    """Gathers entries: paths as codes of one dictionary, marks as their numbers."""

    def __init__(self) -> None:
        self.marks: dict[Mark, int] = {}
        self._numbers: list[NDArray[np.int64]] = []
        self._pending: list[pa.Array] = []
        self._encoded: list[pa.Array] = []

    def add(self, paths: pa.Array, parts: Sequence[pa.Array], beside: bool) -> None:
        """Paths, and what their marks are made of."""
        import numpy as np
        import pyarrow.compute as pc

        if not len(paths):
            return
        encoded = [pc.dictionary_encode(part) for part in parts]
        sizes = [len(one.dictionary) for one in encoded]
        codes = np.ravel_multi_index([one.indices.to_numpy() for one in encoded], sizes)
        distinct, places = np.unique(codes, return_inverse=True)
        texts = [one.dictionary.to_pylist() for one in encoded]
        chosen = (one.tolist() for one in np.unravel_index(distinct, sizes))
        manifests, statuses, contents = (
            [text[place] for place in places_of] for text, places_of in zip(texts, chosen, strict=True)
        )
        marks = map(Mark, manifests, statuses, contents, repeat(beside))
        numbers = [self.marks.setdefault(mark, len(self.marks)) for mark in marks]
        self._numbers.append(np.array(numbers, np.int64)[places])
        self._pending.append(paths)
        if sum(map(len, self._pending)) >= _MOST_PENDING:
            self._encode()

    def finish(self) -> tuple[pa.DictionaryArray, NDArray[np.int64]]:
        """The paths and the marks of all entries."""
        import numpy as np
        import pyarrow as pa

        self._encode()
        joined = pa.chunked_array(self._encoded).unify_dictionaries().combine_chunks()
        return joined, np.concatenate(self._numbers) if self._numbers else np.zeros(0, np.int64)

    def _encode(self) -> None:
        import pyarrow as pa

        self._encoded.append(
            pa.chunked_array(self._pending, pa.string()).combine_chunks().dictionary_encode()
        )
        self._pending = []


def _iterate_rows(scan: FileScan) -> Iterator[tuple[pa.Array, pa.Array, pa.Array, pa.Array, bool]]:
    """Path, manifest, status and content of every entry, and of the files beside theirs."""
    import pyarrow.compute as pc

    from lakelens.model.scan.scan_to_arrow import iterate_batches

    has_extra = any(name == _EXTRA for name, _ in scan.columns.further)
    request = ScanRequest(stats=False, columns=(*_WANTED, _EXTRA) if has_extra else _WANTED, entries=True)
    for batch in iterate_batches(scan, request):
        paths, *parts = (batch.plain[name] for name in _WANTED)
        yield paths, *parts, False
        if has_extra:
            rows = pc.list_parent_indices(batch.plain[_EXTRA])
            if len(rows):
                names = pc.list_flatten(batch.plain[_EXTRA]).to_pylist()
                pairs = zip(paths.take(rows).to_pylist(), names, strict=True)
                beside = [posixpath.join(posixpath.dirname(path), name) for path, name in pairs]
                yield text_array(beside), *(part.take(rows) for part in parts), True
