"""What the states of a table hold, against a listing of its directory: by column, so that a million entries fit.

    listing    path, size, time of every object below the table
    named      by path: what documents name: metadata, lists, manifests, index files, statistics
    entries    by number: the file (its place in the listing, or beyond it where it is not there), its manifest, a weight

The weight of an entry is 1 where it adds a file, 0 for an Iceberg entry that says which commit removed one, -1 for a
Paimon entry that takes one away. A state needs a file when the weights in the manifests that it names add up to more
than 0.
"""

from __future__ import annotations

import posixpath
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing
from lakelens.model.arrow import text_array
from lakelens.model.check.references import Keeper, Listed, Reference, Referring
from lakelens.model.manifest import Manifest
from lakelens.model.scan.plan import FileScan, ScanRequest
from lakelens.model.table import Table

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.check.survey import Survey

_EXTRA = "extra_files"
_PLAIN = ("path", "recorded_path", "manifest", "status", "content", "size_bytes")
_ADDS = ("ADDED", "EXISTING", "ADD")
_TAKES = ("DELETE",)
_CONTENTS = ("data", "position_deletes", "equality_deletes", "deletion_vector", "changelog", "beside")
#: Entries that are kept as they came before their paths are looked up in the listing.
_MOST_PENDING = 250_000


@dataclass
class Named:
    """A file that documents name, the states that need it, and those that only name it, by their numbers."""

    reference: Reference
    keepers: list[int] = field(default_factory=list)
    namers: list[int] = field(default_factory=list)


@dataclass
class Unread:
    """Something that could not be read, so that what it names is not known: where, why, and whose it is."""

    path: str
    reason: str
    keepers: list[int] = field(default_factory=list)


class Listing:
    """The objects below a table, by path; `refused` are the directories that could not be listed."""

    def __init__(self, table: Table) -> None:
        import numpy as np

        self.refused: list[LakeError] = []
        found: list[Listed] = list(Referring.of(table).list_objects(self.refused.append))
        self.paths: pa.Array = text_array([one.path for one in found])
        self.sizes: NDArray[np.int64] = np.fromiter((one.size for one in found), np.int64, len(found))
        self.modified = [one.modified for one in found]
        self.root = table.location.rstrip("/") + "/"

    def __len__(self) -> int:
        return len(self.modified)

    def find(self, paths: pa.Array) -> NDArray[np.int64]:
        """Find the places of paths; -1 for those that are not there."""
        import pyarrow.compute as pc

        found: NDArray[np.int64] = (
            pc.fill_null(pc.index_in(paths, value_set=self.paths), -1).to_numpy().astype("int64")
        )
        return found

    def is_hidden(self, path: str) -> bool:
        """Check whether a path is below a directory that could not be listed."""
        return bool(self.refused) and any(
            error.path is None or path.startswith(error.path.rstrip("/") + "/") for error in self.refused
        )


@dataclass
class FileEntries:
    """The entries of all manifests by column. A file that is not listed has a number beyond the listing: see `absent`."""

    files: NDArray[np.int64]
    manifests: NDArray[np.int32]
    weights: NDArray[np.int8]
    sizes: NDArray[np.int64]  # as recorded; -1 where nothing is
    contents: NDArray[np.int8]
    absent: pa.Array  # paths, each once
    recorded: pa.Array  # of the absent ones where they were recorded, null where that is not known


class Holdings:
    """Every state of a table with what it holds."""

    def __init__(self, table: Table) -> None:
        self.table = table
        self.keepers: list[Keeper] = []
        self.named: dict[str, Named] = {}
        self.manifests: list[Manifest] = []
        self.naming: list[NDArray[np.int32]] = []  # of each state the manifests whose files it needs
        self.mentioning: list[NDArray[np.int32]] = []  # of each state the manifests that it only names
        self.unread: dict[str, Unread] = {}
        self._places: dict[str, int] = {}
        try:
            for reference in Referring.of(self.table).list_documents():
                self.name(reference)
            for path, reason in Referring.of(self.table).list_doubts():
                self.unread.setdefault(path, Unread(path, reason))
        except LakeError as error:
            self.note(error, self.table.location)
        for number, keeper in enumerate(Referring.of(table).list_keepers()):
            self.keepers.append(keeper)
            self._take_state(number, keeper)

    def _take_state(self, number: int, keeper: Keeper) -> None:
        import numpy as np

        needed: list[int] = []
        mentioned: list[int] = []
        snapshot = keeper.snapshot
        if snapshot is None:
            self.note(LakeError(f"{keeper.name} cannot be read"), keeper.path or keeper.name, number)
        else:
            try:
                for reference in Referring.of(self.table).list_named(keeper):
                    self.name(reference, number)
            except LakeError as error:
                self.note(error, keeper.path or keeper.name, number)
            for listed in snapshot.manifest_lists:
                is_needed = keeper.roles is None or listed.role in keeper.roles
                places = needed if is_needed else mentioned
                places += self._take_list(number, keeper, listed, is_needed)
        self.naming.append(np.unique(np.array(needed, np.int32)))
        self.mentioning.append(np.unique(np.array(mentioned, np.int32)))

    def _take_list(self, number: int, keeper: Keeper, listed: Any, is_needed: bool) -> list[int]:
        """Take the manifests of a list, by number."""
        manifests, error = listed.walk()
        if isinstance(error, Missing) and not is_needed:
            return []
        if listed.path is not None:
            role = "manifest list" if listed.role == "all" else f"manifest list ({listed.role})"
            self.name(Reference(listed.path, role, None, listed.recorded_path, is_needed), number)
        if error is not None:
            self.note(error, listed.path or keeper.path or keeper.name, number)
        places = []
        for manifest in manifests:
            places.append(self._places.setdefault(manifest.path, len(self.manifests)))
            if places[-1] == len(self.manifests):
                self.manifests.append(manifest)
        return places

    def name(self, reference: Reference, keeper: int | None = None) -> None:
        """Keep that a document names a file, and the state that needs it or only names it."""
        named = self.named.setdefault(reference.path, Named(reference))
        if keeper is None:
            return
        if reference.is_needed:
            named.reference = reference
            named.keepers.append(keeper)
        else:
            named.namers.append(keeper)

    def note(self, error: LakeError, path: str, keeper: int | None = None) -> None:
        """Keep that something could not be read, and the state whose it is."""
        place = error.path or path
        unread = self.unread.setdefault(place, Unread(place, error.reason))
        if keeper is not None:
            unread.keepers.append(keeper)
        if isinstance(error, Missing):
            self.table.findings.look_again()

    def read_entries(self, listing: Listing, survey: Survey | None = None) -> FileEntries:
        """Read every entry of every manifest. Those manifests that cannot be read to their end are `unread`.

        What a survey has read of the same manifests is not read again.
        """
        gathered = _Rows(self.manifests, listing)
        scan = self.table.scan_manifests(self.manifests) if self.manifests else None
        if scan is not None:
            names = (*_PLAIN, _EXTRA) if _EXTRA in dict(scan.columns.further) else _PLAIN
            held = None if survey is None else survey.read_again([one.path for one in self.manifests], names)
            for paths, columns in _iterate_rows(scan if held is None else held, names):
                gathered.add(paths, columns)
            refusing = scan.refused if held is None or survey is None else survey.refused
            for path, error in refusing.items():
                place = self._places.get(path)
                keepers = [] if place is None else self.find_keepers(place)
                self.unread.setdefault(path, Unread(path, error.reason, keepers))
        return gathered.finish()

    def find_keepers(self, manifest: int) -> list[int]:
        """Find the states that need a manifest, by their numbers."""
        import numpy as np

        return [
            number
            for number, places in enumerate(self.naming)
            if (at := int(np.searchsorted(places, manifest))) < len(places) and places[at] == manifest
        ]


def read_holdings(
    table: Table, survey: Survey | None = None, listing: Listing | None = None
) -> tuple[Listing, Holdings, FileEntries]:
    """Read what there is, what every state holds, and every entry. What cannot be read is in `Holdings.unread`.

    What was listed or surveyed already is not read again.
    """
    listing = Listing(table) if listing is None else listing
    holdings = Holdings(table)
    entries = holdings.read_entries(listing, survey)
    for error in listing.refused:
        place = error.path or table.location
        holdings.unread.setdefault(place, Unread(place, error.reason))
    return listing, holdings, entries


def _iterate_rows(
    source: FileScan | pa.Table, names: Sequence[str]
) -> Iterator[tuple[pa.Array, dict[str, Any]]]:
    """Entries in batches: paths, and the other columns; then the files beside theirs."""
    import pyarrow as pa
    import pyarrow.compute as pc

    from lakelens.model.scan.scan_to_arrow import iterate_batches

    batches: Iterator[dict[str, Any]]
    if isinstance(source, pa.Table):
        batches = (dict(zip(names, batch.columns, strict=True)) for batch in source.to_batches())
    else:
        request = ScanRequest(stats=False, columns=tuple(names), entries=True)
        batches = (batch.plain for batch in iterate_batches(source, request))
    for plain in batches:
        columns = {name: plain.get(name) for name in _PLAIN}
        yield plain["path"], columns
        if _EXTRA in names:
            rows = pc.list_parent_indices(plain[_EXTRA])
            if len(rows):
                yield _list_beside(plain, rows)


def _list_beside(plain: dict[str, Any], rows: pa.Array) -> tuple[pa.Array, dict[str, Any]]:
    """List the files beside those of some entries: of the same manifest and status, of no recorded size."""
    import pyarrow as pa
    import pyarrow.compute as pc

    names = pc.list_flatten(plain[_EXTRA]).to_pylist()
    folders = map(posixpath.dirname, plain["path"].take(rows).to_pylist())
    paths = text_array(list(map(posixpath.join, folders, names)))
    taken = {name: plain[name].take(rows) for name in ("manifest", "status")}
    content = pa.array(["beside"] * len(rows), pa.string())
    return paths, {**taken, "content": content, "size_bytes": None, "recorded_path": None}


class _Rows:
    """Gathers entries: files as places of the listing, all else as small numbers."""

    def __init__(self, manifests: Sequence[Manifest], listing: Listing) -> None:

        self._listing = listing
        self._manifests = text_array([manifest.path for manifest in manifests])
        self._pending: list[pa.Array] = []
        self._recorded: list[pa.Array] = []
        self._parts: list[tuple[Any, ...]] = []
        self._files: list[Any] = []
        self._gone: list[
            tuple[pa.Array, pa.Array]
        ] = []  # paths that are not listed, and where they were recorded
        self._count = 0

    def add(self, paths: pa.Array, columns: dict[str, Any]) -> None:
        """Add some entries."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        if not len(paths):
            return
        status = columns["status"]
        adds = pc.fill_null(pc.is_in(status, value_set=pa.array(_ADDS)), False).to_numpy(zero_copy_only=False)
        takes = pc.fill_null(pc.is_in(status, value_set=pa.array(_TAKES)), False).to_numpy(
            zero_copy_only=False
        )
        sizes = columns["size_bytes"]
        manifests = pc.fill_null(pc.index_in(columns["manifest"], value_set=self._manifests), -1)
        contents = pc.fill_null(pc.index_in(columns["content"], value_set=pa.array(_CONTENTS)), 0)
        self._parts.append(
            (
                manifests.to_numpy().astype(np.int32),
                adds.astype(np.int8) - takes.astype(np.int8),
                np.full(len(paths), -1, np.int64)
                if sizes is None
                else pc.fill_null(sizes, -1).to_numpy().astype(np.int64),
                contents.to_numpy().astype(np.int8),
            )
        )
        self._pending.append(paths)
        recorded = columns["recorded_path"]
        self._recorded.append(pa.nulls(len(paths), pa.string()) if recorded is None else recorded)
        if sum(map(len, self._pending)) >= _MOST_PENDING:
            self._settle()

    def _settle(self) -> None:
        import numpy as np
        import pyarrow as pa

        if not self._pending:
            return
        paths = pa.chunked_array(self._pending, pa.string()).combine_chunks()
        recorded = pa.chunked_array(self._recorded, pa.string()).combine_chunks()
        places = self._listing.find(paths)
        gone = np.flatnonzero(places < 0)
        if len(gone):
            places[gone] = len(self._listing) + self._count + np.arange(len(gone))
            self._count += len(gone)
            lost = paths.take(gone)
            self._gone.append((lost, lost if recorded.equals(paths) else recorded.take(gone)))
        self._files.append(places)
        self._pending, self._recorded = [], []

    def _number_gone(self, files: NDArray[np.int64]) -> tuple[pa.Array, pa.Array]:
        """Give each path that is not listed one number, as it first comes: these paths, and where they were recorded."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        is_at_home = all(place is path for path, place in self._gone)
        columns = zip(*self._gone, strict=True) if self._gone else ([], [])
        paths, recorded = (pa.chunked_array(list(pieces), pa.string()) for pieces in columns)
        self._gone = []
        encoded = paths.combine_chunks().dictionary_encode()
        codes, distinct = encoded.indices.to_numpy(), encoded.dictionary
        rows = np.flatnonzero(files >= len(self._listing))
        files[rows] = len(self._listing) + codes[files[rows] - len(self._listing)]
        if is_at_home:  # a table that was not moved: its paths are there once
            return distinct, distinct
        known = np.flatnonzero(pc.is_valid(recorded).to_numpy())
        numbers, first = np.unique(codes[known], return_index=True)
        places = np.zeros(len(distinct), np.int64)
        is_unknown = np.ones(len(distinct), bool)
        places[numbers], is_unknown[numbers] = known[first], False
        return distinct, recorded.combine_chunks().take(pa.array(places, mask=is_unknown))

    def finish(self) -> FileEntries:
        """All entries."""
        import numpy as np

        self._settle()
        kinds = (np.int32, np.int8, np.int64, np.int8)
        columns = [
            np.concatenate([part[number] for part in self._parts]) if self._parts else np.zeros(0, kind)
            for number, kind in enumerate(kinds)
        ]
        files = np.concatenate(self._files) if self._files else np.zeros(0, np.int64)
        manifests, weights, sizes, contents = columns
        return FileEntries(files, manifests, weights, sizes, contents, *self._number_gone(files))


def name_content(number: int) -> str:
    """Name what an entry's file holds, by the number that stands for it: a role of `StoredFile`.

    >>> name_content(0), name_content(3)
    ('data', 'deletion vectors')
    """
    roles = ("data", "position delete", "equality delete", "deletion vectors", "changelog data", "sidecar")
    return roles[number]
