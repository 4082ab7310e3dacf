"""What a check looks at: the states of a table, the manifests that they name, and every entry of those, read once.

    states      the snapshots (and what tags, branches and changelogs keep), in commit order
    manifests   each manifest once, however many states name it; `lines` are the different lines of lists that name it
    holders     for each manifest which states name it
    entries     one row an entry, by column: the manifest's number, the entry's place in it, and what was asked for

What cannot be read is in `table.findings`; `damaged` are the manifests of which entries are missing, so that nothing that
depends on all of them is compared.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from lakelens.bitmaps import BitMap
from lakelens.caching import cached_property
from lakelens.errors import LakeError
from lakelens.model.arrow import text_array
from lakelens.model.check.checking import Checking
from lakelens.model.check.ledger import Ledger
from lakelens.model.check.references import Referring
from lakelens.model.scan.files_to_arrow import batch_entries, type_column
from lakelens.model.scan.plan import FileBatch, ScanRequest
from lakelens.progress import track

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.manifest import Manifest, ManifestList
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table

#: Columns that are read of every entry, for any format.
COMMON = ("status", "content", "path", "file_format", "record_count", "size_bytes", "snapshot_id", "manifest")
#: What those need who look for files, where the format has it: see `read_again`.
_LOOKING = ("recorded_path", "extra_files", "vector_id")
LIVE = ("ADDED", "EXISTING", "ADD")


@dataclass(slots=True)
class State:
    """One state of the table: a snapshot under its name; `roles` are the manifest lists that are there to be read.

    `is_kept` is false of what a reader of the newest snapshots does not need (a changelog that outlived its snapshot).
    `manifests` are numbers of the survey's, each with the role of its list; `unread` are lists that could not be read.
    """

    name: str
    snapshot: Snapshot
    roles: tuple[str, ...] | None = None
    manifests: list[tuple[int, str, Manifest]] = field(default_factory=list)
    unread: list[str] = field(default_factory=list)

    @property
    def ids(self) -> tuple[int, ...]:
        """The snapshot's id, as findings have it."""
        return () if self.snapshot.id is None else (self.snapshot.id,)


class Survey:
    """The states of a table that are checked, and what was read of their manifests."""

    def __init__(self, table: Table, states: Iterable[State], ledger: Ledger) -> None:
        self.table = table
        self.ledger = ledger
        self.states = list(states)
        self.manifests: list[Manifest] = []
        self.lines: list[list[Manifest]] = []
        self.lists: dict[str, ManifestList] = {}
        self._numbers: dict[str, int] = {}
        self._holders: list[list[int]] = []
        # what the list of a role named last: that of the next state of a log begins with the same manifests
        last: dict[str, tuple[Sequence[Manifest], list[tuple[int, str, Manifest]]]] = {}
        for place, state in enumerate(track(self.states, "snapshots", len(self.states))):
            for listed in state.snapshot.manifest_lists:
                if state.roles is not None and listed.role not in state.roles:
                    continue
                if listed.path is not None:
                    self.lists.setdefault(listed.path, listed)
                manifests, error = listed.walk()
                if error is not None:
                    state.unread.append(listed.path or "")
                    self.table.findings.add_error(error, listed.path or "", state.ids)
                known, held = last.get(listed.role, ((), []))
                if manifests[: len(known)] != known:
                    known, held = (), []
                new = manifests[len(known) :]
                held = held + [(self._add_manifest(manifest), listed.role, manifest) for manifest in new]
                last[listed.role] = manifests, held
                state.manifests += held
                for number, _, _ in held:
                    self._holders[number].append(place)

    def _add_manifest(self, manifest: Manifest) -> int:
        number = self._numbers.get(manifest.path)
        if number is None:
            number = self._numbers[manifest.path] = len(self.manifests)
            self.manifests.append(manifest)
            self.lines.append([])
            self._holders.append([])
        if not any(known is manifest for known in self.lines[number]):
            self.lines[number].append(manifest)
        return number

    def run(self, *steps: Callable[[], None]) -> None:
        """Take the steps of a check one by one: what cannot be read for one of them is a finding, and the others go on."""
        for step in steps:
            try:
                step()
            except LakeError as error:
                self.ledger.findings.add_error(error, error.path or self.table.location)
                self.ledger.leave("some of the figures", f"they cannot be compared: {error.reason}")

    @cached_property
    def holders(self) -> list[BitMap]:
        """For each manifest the places of the states that name it."""
        return [BitMap(places) for places in self._holders]

    def list_snapshots(self, manifests: Iterable[int]) -> tuple[int, ...]:
        """List the ids of the snapshots that name any of some manifests."""
        held = BitMap.union(BitMap(), *(self.holders[number] for number in manifests))
        found = (self.states[place].snapshot.id for place in held)
        return tuple(sorted({number for number in found if number is not None}))

    @cached_property
    def entries(self) -> pa.Table:
        """Every entry of every manifest, in the order of `manifests`."""
        import pyarrow as pa

        names = list(self.columns)
        tables = [self._number(batch, names) for batch in self.read_batches(self.columns)]
        if not tables:
            return pa.table({"number": pa.array([], pa.int32()), "entry": pa.array([], pa.int64())})
        joined = pa.concat_tables(tables, promote_options="default")
        tables.clear()
        pieces, schema = dict(zip(joined.column_names, joined.columns, strict=True)), joined.schema
        del joined  # or all pieces would be there until the last column is joined
        whole: dict[str, pa.Array] = {}
        for name in schema.names:
            column = pieces.pop(name)
            # a table that was not moved has its paths once
            is_known = (
                name == "recorded_path"
                and "path" in whole
                and column.equals(pa.chunked_array([whole["path"]]))
            )
            whole[name] = whole["path"] if is_known else column.combine_chunks()
        return pa.table(whole, schema=schema)

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns that are read of entries."""
        further = {name for name, _ in self._columns.further}
        known = {*COMMON, *_NEUTRAL, *further}
        asked = (*_LOOKING, *Checking.of(self.table).columns)
        wanted = [*COMMON, *(name for name in asked if name in known)]
        if self._columns.partition:
            wanted += ["partition", "partition_values"]
        return tuple(dict.fromkeys(wanted))

    @cached_property
    def _columns(self) -> Any:
        scan = self._scan
        if scan is not None:
            return scan.columns
        from lakelens.model.fileset import FileColumns

        known = FileColumns()
        if self.manifests:
            known = self.manifests[0].answers.columns(self.manifests[0])
        return FileColumns(further=tuple(pair for pair in known.further if pair[0] in _LOOKING))

    @cached_property
    def _scan(self) -> Any:
        return self.table.scan_manifests(self.manifests) if self.manifests else None

    def read_again(self, manifests: Sequence[str], names: Sequence[str]) -> pa.Table | None:
        """Some columns of every entry of some manifests, if those are the ones that were read for this; else None."""
        if self._scan is None or not {*names} <= {*self.columns}:
            return None
        paths = [manifest.path for manifest in self.manifests]
        if paths != [*manifests]:
            return None
        of_entries = text_array(paths).take(self.entries["number"])
        held = self.entries.append_column("manifest", of_entries)
        # where no entry was read there are no columns of entries
        return held.select(list(names)) if {*names} <= {*held.column_names} else None

    @property
    def refused(self) -> Mapping[str, LakeError]:
        """The manifests that could not be read to their ends, by path."""
        return {} if self._scan is None else self._scan.refused

    def read_batches(self, columns: Sequence[str]) -> Iterator[FileBatch]:
        """Every entry of every manifest in the order of `manifests`, by column: those of its columns that were asked for."""
        if not self.manifests:
            return
        known = {
            *COMMON,
            *_NEUTRAL,
            *(name for name, _ in self._columns.further),
            "partition_values",
            "partition",
        }
        wanted = tuple(name for name in columns if name in known)
        request = ScanRequest(stats=False, columns=wanted, entries=True)
        if self._scan is not None:
            from lakelens.model.scan.scan_to_arrow import iterate_batches

            yield from iterate_batches(self._scan, request)
            return
        for manifest in self.manifests:  # a format that has no plan to read by column
            numbered: list[tuple[int, Any]] = []
            try:
                numbered += enumerate(manifest.iterate_entries())
            except LakeError as error:  # at its end: what is before the damage was read
                self.table.findings.add_error(error, manifest.path)
            if numbered:
                yield batch_entries(numbered, self._columns, request)

    @cached_property
    def _counted(self) -> list[int]:
        return [0] * len(self.manifests)

    def _number(self, batch: FileBatch, names: Sequence[str]) -> pa.Table:
        """The entries of a batch with the numbers of their manifests and their places there."""
        import numpy as np
        import pyarrow as pa

        encoded = batch.plain["manifest"].dictionary_encode()
        numbers = np.array([self._numbers[path] for path in encoded.dictionary.to_pylist()], np.int32)
        indices = encoded.indices.to_numpy()
        places = np.zeros(batch.rows, np.int64)
        for code, number in enumerate(numbers.tolist()):
            rows = np.flatnonzero(indices == code) if len(numbers) > 1 else np.arange(batch.rows)
            places[rows] = self._counted[number] + np.arange(len(rows))
            self._counted[number] += len(rows)
        columns = {"number": pa.array(numbers[indices]), "entry": pa.array(places)}
        for name in names:
            if name != "manifest":
                found = batch.plain.get(name)  # a format leaves out what none of its files has
                columns[name] = (
                    pa.nulls(batch.rows, type_column(name, self._columns)) if found is None else found
                )
        return pa.table(columns)

    @cached_property
    def live(self) -> Any:
        """For each entry whether it says that its file is there: a numpy array."""
        import pyarrow as pa
        import pyarrow.compute as pc

        if not self.entries.num_rows:
            import numpy as np

            return np.zeros(0, np.bool_)
        return pc.is_in(self.entries["status"], value_set=pa.array(LIVE)).to_numpy()

    @cached_property
    def needed(self) -> Any:
        """For each entry whether the file must be there, for some state that names its manifest: a numpy array.

        An entry that deletes a file may take away what another manifest adds: then the file is needed only by states
        that do not name the one that deletes it. Of a log the newest entry of each file counts.
        """
        import numpy as np
        import pyarrow.compute as pc

        if self.table.traits.keeps_log:
            newest = np.zeros(len(self.live), np.bool_)
            for state in self.states:
                newest[self._list_newest(state)] = True
            return newest & self.live
        removes = self._removes
        if not removes.any():
            return self.live
        paths = self.entries["path"]
        gone = paths.filter(removes).unique()
        place = pc.index_in(paths, value_set=gone).fill_null(-1).to_numpy()
        rows = np.flatnonzero(place >= 0)
        codes, numbers = place[rows], self.numpy("number")[rows]
        signs = np.where(self.live[rows], 1, -1)
        kept = np.zeros(len(gone), np.bool_)
        for state in self.states:
            chosen = _list_rows(numbers, state)
            kept |= np.bincount(codes[chosen], signs[chosen], len(gone)) > 0
        needed = self.live.copy()
        needed[rows] &= kept[codes]
        return needed

    @cached_property
    def _files(self) -> Any:
        """For each entry of a log the number of its file, which a path and a deletion vector are: a numpy array."""
        import pyarrow as pa
        import pyarrow.compute as pc

        paths, names = self.entries["path"], self.entries.column_names
        vectors = self.entries["vector_id"] if "vector_id" in names else pa.scalar(None, pa.string())
        files = pc.binary_join_element_wise(paths, pc.fill_null(vectors, ""), "\n")
        return files.combine_chunks().dictionary_encode().indices.to_numpy()

    def _list_newest(self, state: State) -> Any:
        """List the newest entry of each file in a state of a log, by number."""
        import numpy as np

        rows = _list_rows(self.numpy("number"), state)[::-1]
        _, places = np.unique(self._files[rows], return_index=True)
        return rows[places]

    @cached_property
    def _removes(self) -> Any:
        """For each entry whether it takes away what others add (Iceberg's DELETED entries only say what is gone)."""
        import pyarrow.compute as pc

        return pc.equal(self.entries["status"], "DELETE").to_numpy()

    def list_users(self, path: str) -> tuple[int, ...]:
        """List the ids of the snapshots that need the file of a path."""
        import numpy as np
        import pyarrow.compute as pc

        net: dict[int, int] = {}
        rows = pc.indices_nonzero(pc.equal(self.entries["path"], path)).to_numpy()
        if self.table.traits.keeps_log:
            for place, state in enumerate(self.states):
                newest = self._list_newest(state)
                net[place] = int(self.live[newest[np.isin(newest, rows)]].sum())
        else:
            for row in rows.tolist():
                sign = 1 if self.live[row] else -1 if self._removes[row] else 0
                for place in self.holders[self.entries["number"][row].as_py()]:
                    net[place] = net.get(place, 0) + sign
        found = (self.states[place].snapshot.id for place, count in net.items() if count > 0)
        return tuple(sorted({number for number in found if number is not None}))

    @cached_property
    def seen(self) -> list[int]:
        """How many entries of each manifest were read."""
        _ = self.entries
        return self._counted

    @cached_property
    def damaged(self) -> frozenset[int]:
        """The numbers of the manifests that could not be read, or not to their end; one may be read in another place."""
        _ = self.entries
        errors = {finding.path for finding in self.table.findings if finding.severity == "error"}
        elsewhere = dict(self.table.relocation.elsewhere)
        places = ((elsewhere.get(path, path), number) for path, number in self._numbers.items())
        return frozenset(number for place, number in places if place in errors)

    def count_unread(self) -> int:
        """Count the entries of damaged manifests that were not read, as far as their lists count them."""
        return sum(
            max((self.manifests[number].count_entries() or 0) - self.seen[number], 0)
            for number in self.damaged
        )

    def is_whole(self, state: State) -> bool:
        """Check whether every manifest of a state was read."""
        return not state.unread and self.damaged.isdisjoint(number for number, *_ in state.manifests)

    def describe_entry(self, row: int) -> str:
        """Describe an entry's place in its manifest, for a finding: `entry 4`."""
        return f"entry {self.entries['entry'][row].as_py()}"

    def manifest_of(self, row: int) -> Manifest:
        """The manifest of an entry."""
        number: int = self.entries["number"][row].as_py()
        return self.manifests[number]

    def snapshots_of(self, row: int) -> tuple[int, ...]:
        """The snapshots that name the manifest of an entry."""
        return self.list_snapshots([self.entries["number"][row].as_py()])

    def numpy(self, name: str, fill: int = 0) -> Any:
        """A column of numbers; `fill` where there is none."""
        column = self.entries[name].combine_chunks()
        return column.fill_null(fill).to_numpy(zero_copy_only=False)


def _list_rows(numbers: Any, state: State) -> Any:
    """List the entries of a state in the order of its lists, by the numbers of their manifests, which ascend."""
    import numpy as np

    manifests = np.array([number for number, *_ in state.manifests], np.int64)
    starts, ends = (np.searchsorted(numbers, manifests, side) for side in ("left", "right"))
    spans = [np.arange(start, end) for start, end in zip(starts, ends, strict=True)]
    return np.concatenate(spans) if spans else manifests


#: Neutral columns that some formats have checked.
_NEUTRAL = ("sequence_number", "spec_id", "schema_id", "bucket", "level", "recorded_path")


def choose_states(table: Table, chosen: Any) -> list[State]:
    """Choose the states that were asked for: "all", "current", a snapshot, a ref or an id, or several of these."""
    if isinstance(chosen, str) and chosen == "all":
        return list(_list_kept(table))
    if isinstance(chosen, str) and chosen == "current":
        return [] if table.current is None else [_make_state(table.current)]
    asked = chosen if isinstance(chosen, list | tuple) else [chosen]
    return [_make_state(table.snapshot(one)) for one in asked]


def _list_kept(table: Table) -> Iterator[State]:
    """List every state that keeps files, each once: a tag or a branch may keep a copy of a snapshot."""
    seen: set[tuple[Any, ...]] = set()
    for keeper in Referring.of(table).list_keepers():
        snapshot = keeper.snapshot
        if snapshot is None or keeper.roles == ():
            continue
        lists = (
            one.path for one in snapshot.manifest_lists if keeper.roles is None or one.role in keeper.roles
        )
        identity = (snapshot.id, *lists)
        if identity not in seen:
            seen.add(identity)
            yield State(keeper.name, snapshot, keeper.roles)
    if not seen and table.current is not None:
        yield _make_state(table.current)


def _make_state(snapshot: Snapshot) -> State:
    return State("the listing" if snapshot.id is None else f"snapshot {snapshot.id}", snapshot)
