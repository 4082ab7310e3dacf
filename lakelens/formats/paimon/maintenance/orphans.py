"""`remove_orphan_files`: files that no state names, older than a day.

    searched   `manifest`, `index`, `statistics`, and the buckets (0.9 takes all that is no bucket or partition beside them
               too, in tables with partitions); `snapshot` and `changelog` for what is none by its name
    used       what any snapshot, tag or kept changelog of any branch names, by name alone; entries that delete count
    age        `older_than`, a day unless it is given

0.9 takes a snapshot one of whose manifests is not there for one that is being deleted, and counts nothing of it as used.
2.0 counts what it can read. A document or manifest that is there and does not decode stops either. Follows
`OrphanFilesClean` of Paimon 0.9 and 2.0.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing
from lakelens.formats.paimon.maintenance.states import (
    AT,
    ENGINE,
    describe_engine,
    describe_fate,
    is_new_engine,
    list_others,
    name_table,
    read_now,
    require_paimon,
    write_call,
)
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.roles import name_role
from lakelens.model.check.references import Referring
from lakelens.model.maintenance.procedure import Option, Procedure
from lakelens.model.maintenance.proposal import Assumption, Piece, Proposal

if TYPE_CHECKING:
    from lakelens.formats.paimon.manifests.manifest import PaimonManifest, PaimonManifestList
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable
    from lakelens.model.table import Table

_SHARED = ("manifest", "index", "statistics")
_OWN = {"snapshot": "snapshot-", "changelog": "changelog-"}


class UsedNames:
    """The names that the states of all branches use, as the engine gathers them."""

    def __init__(self, is_new: bool) -> None:
        self._is_new = is_new
        self._read: dict[str, frozenset[str]] = {}
        self.names: set[str] = set()
        self.passed: list[str] = []

    def add_branch(self, branch: PaimonTable) -> None:
        """All states of a branch. Raises `LakeError` where the engine stops."""
        layout = branch.context.layout
        for number in (*branch.pointer.stray, *branch.pointer.ids):
            path = layout.document("snapshot", number)
            self._add(branch.find_numbered(number), f"snapshot {number}", path)
        for name in branch.tag_names:
            self._add(branch.tags.get(name), f"tag {name}", layout.document("tag", name))
        changelogs = {snapshot.id: snapshot for snapshot in branch.changelogs}
        for number in branch.changelog_numbers:
            path = layout.document("changelog", number)
            self._add(changelogs.get(number), f"changelog {number}", path, is_log=True)

    def _add(self, state: PaimonSnapshot | None, name: str, path: str, *, is_log: bool = False) -> None:
        if state is None:
            raise LakeError(f"{name} cannot be read: the engine stops", path=path)
        try:
            self.names |= self._list_log(state) if is_log else self._list_state(state)
        except Missing as error:
            self.passed.append(
                f"{name}: {error.path} is not there. The engine takes the {name.split()[0]} for one that is being deleted, "
                "and what only it names for unused."
            )
        except LakeError as error:
            raise LakeError(
                f"{name} cannot be read, the engine stops: {error.reason}", path=error.path
            ) from error

    def _list_state(self, state: PaimonSnapshot) -> set[str]:
        names: set[str] = set()
        manifests: list[PaimonManifest] = []
        for listed in state.manifest_lists:
            names.add(listed.recorded_path or "")
            manifests += self._read_list(listed)
        names |= self._read_manifests(manifests)
        if state.index_manifest:
            try:
                files = state.read_index_files()
            except Missing:
                files = ()
            names.add(state.index_manifest)
            names.update(file.path.rpartition("/")[2] for file in files)
        if state.document.statistics:
            names.add(state.document.statistics)
        return names

    def _list_log(self, state: PaimonSnapshot) -> set[str]:
        """What a kept changelog uses: its lists and manifests, and the files of one list: the changelog, else the delta."""
        lists = {listed.role: listed for listed in state.manifest_lists}
        names: set[str] = set()
        read: dict[str, list[PaimonManifest]] = {}
        for role, listed in lists.items():
            try:
                read[role] = list(listed.manifests)
            except Missing:
                if role != "changelog":
                    continue
                read[role] = []
            names.add(listed.recorded_path or "")
            names.update(manifest.file_name for manifest in read[role])
        return names | self._read_manifests(read.get("changelog" if "changelog" in lists else "delta", []))

    def _read_list(self, listed: PaimonManifestList) -> Iterable[PaimonManifest]:
        try:
            return listed.manifests
        except Missing:
            if not self._is_new:
                raise
            return ()

    def _read_manifests(self, manifests: Iterable[PaimonManifest]) -> set[str]:
        names: set[str] = set()
        for manifest in manifests:
            if manifest.path not in self._read:
                try:
                    self._read[manifest.path] = frozenset(_list_files(manifest))
                except Missing:
                    if not self._is_new:
                        raise
                    self._read[manifest.path] = frozenset()
            names.add(manifest.file_name)
            names |= self._read[manifest.path]
        return names


def _list_files(manifest: PaimonManifest) -> Iterator[str]:
    for entry in manifest.iterate_entries():
        if isinstance(entry.file, PaimonDataFile):
            yield entry.file.file_name
            yield from entry.file.extra_files


def plan_removal(table: Table, values: Mapping[str, Any]) -> Proposal:
    """What `remove_orphan_files` would do."""
    branch = require_paimon(table).branch("main")
    is_new = is_new_engine(branch, values)
    asked = values.get("older_than")
    before = asked or read_now(values) - timedelta(days=1)
    text = None if asked is None else f"{asked:%Y-%m-%d %H:%M:%S}"
    call = write_call("remove_orphan_files", {"table": name_table(branch), "older_than": text})
    changes = "No state changes."
    assumptions = [
        Assumption("No commit is running: its files are not named yet.", False),
        Assumption("A file's time of writing is the listing's.", False),
        describe_engine(is_new),
    ]
    used = UsedNames(is_new)
    try:
        for ref in branch.refs.branches:
            found = branch.branch(ref.name)
            if found.schema.id is None:
                raise LakeError(f"branch {ref.name} has no schema: the engine stops", path=ref.path)
            used.add_branch(found)
    except LakeError as error:
        where = [] if error.path is None else [f"It is about {error.path}."]
        return Proposal(changes, call, refusal=error.reason, notes=where, assumptions=assumptions)
    refused: list[LakeError] = []
    listed = list(Referring.of(branch).list_objects(refused.append))
    searcher = _Searcher(branch, before, is_new)
    pieces = list(searcher.search(listed, used.names))
    notes = [
        *used.passed,
        *(f"{error.path} could not be listed: nothing there is removed." for error in refused),
    ]
    if searcher.young:
        which = "1 file" if searcher.young == 1 else f"{searcher.young:,} files"
        notes.append(f"{which} that nothing names stay: not older than {before:%Y-%m-%d %H:%M:%S}.")
    if not is_new and len(branch.partition_keys) > 1:
        notes.append(
            "Paimon 0.9 may never end here: with several partition columns its threads wait for one another where there "
            "are as many partitions as cores."
        )
    why = "what it names is not removed"
    kept = [describe_fate(branch, branch.find_numbered(number), number, why) for number in branch.pointer.ids]
    return Proposal(
        changes,
        call,
        kept=(*kept, *list_others(branch, frozenset(), lambda name: why)),
        deletes=tuple(pieces),
        assumptions=assumptions,
        notes=notes,
        frees="orphans",
    )


class _Searcher:
    """Finds those files of a listing that the engine takes for orphans. `young` counts those that are not old enough."""

    def __init__(self, branch: PaimonTable, before: datetime, is_new: bool) -> None:
        self._root = branch.location.rstrip("/") + "/"
        self._depth = len(branch.partition_keys)
        self._base = branch.context.partitions.base.rstrip("/") + "/"
        self._before = before
        self._is_new = is_new
        self._changelogs = branch.options.get("changelog-file.prefix", "changelog-")
        self.young = 0

    def search(self, listed: Iterable[Any], used: set[str]) -> Iterator[Piece]:
        """Those that go, each with why."""
        for found in listed:
            relative = found.path.removeprefix(self._root)
            why = self._judge(relative, found.path, used)
            if why is None:
                continue
            if found.modified is None or found.modified >= self._before:
                self.young += 1
                continue
            yield Piece(found.path, name_role(relative, self._changelogs), found.size, why)

    def _judge(self, relative: str, path: str, used: set[str]) -> str | None:
        """Why an object is an orphan, but for its age; None where it is none."""
        parts = relative.split("/")
        name = parts[-1]
        home = parts[2:] if parts[0] == "branch" and len(parts) > 2 else parts
        if len(home) == 2 and home[0] in _OWN:
            is_own = name.startswith(_OWN[home[0]]) or name in ("EARLIEST", "LATEST")
            return None if is_own else f"it is no {home[0]} by its name"
        if len(parts) == 2 and parts[0] in _SHARED:
            return None if name in used else "no state names it"
        return self._judge_data(path, name, used)

    def _judge_data(self, path: str, name: str, used: set[str]) -> str | None:
        folders = path.removeprefix(self._base).split("/")[:-1] if path.startswith(self._base) else []
        for level, folder in enumerate(folders[: self._depth]):
            if "=" not in folder:
                # 0.9 takes what is beside partitions of a lower level for no part of the table
                return "it is no partition" if level and not self._is_new else None
        if len(folders) < self._depth:
            return "it is beside partitions" if folders and not self._is_new else None
        inside = folders[self._depth :]
        if inside and inside[0].startswith("bucket-"):
            is_pack = self._is_new and name.endswith(".managed.blob")  # named by other files alone
            return None if len(inside) > 1 or is_pack or name in used else "no state names it"
        return "it is beside buckets" if self._depth and not self._is_new else None


PROCEDURE = Procedure(
    "remove_orphan_files",
    "Remove orphan files",
    "files that no state names are deleted",
    (Option("older_than", "time", "files that are not older stay", "a day ago"), ENGINE, AT),
    plan_removal,
)
