"""What the engine deletes with a state of the table: its own steps, taken without deleting.

    delta list       a file that a commit removed goes once the state before it has gone, unless a tag still has it
    changelog list   changelog files go with the snapshot that made them
    lists, manifests, index files, statistics     go unless a state that stays next to those that go names them

A file that a commit removes and adds again has only changed its level, and stays. The engine reads as much as it can: a
list that cannot be read counts as empty, a manifest that cannot be read cancels that list. Follows `FileDeletionBase`,
`SnapshotDeletion`, `ChangelogDeletion` and `TagDeletion` of Paimon.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, cast

from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.formats.paimon.manifests.datafile import PaimonDataFile
from lakelens.formats.paimon.manifests.manifest import PaimonManifest, PaimonManifestList, merge_entries
from lakelens.formats.paimon.metadata.layout import MAIN
from lakelens.formats.paimon.roles import name_index
from lakelens.model.check.references import Referring
from lakelens.model.maintenance import Assumption, Fate, Option, Piece
from lakelens.model.measures.rules import quote

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable


Skips = Callable[[str], bool]
_BESIDE = "beside a file that goes"


class EngineFailure(LakeError):
    """The engine would fail here, after what it has deleted by then."""


class Deletion:
    """Collects the files that the engine would delete: `pieces` by path; `doubts` by path, where it cannot read on."""

    def __init__(self, branch: PaimonTable) -> None:
        self.branch = branch
        self.layout = branch.context.layout
        self.pieces: dict[str, Piece] = {}
        self.doubts: dict[str, str] = {}
        self._merged: dict[str, frozenset[str]] = {}

    def add(self, path: str, role: str, size: int | None, why: str) -> None:
        """Add a file that is deleted."""
        self.pieces.setdefault(path, Piece(path, role, size, why))

    def drop_document(self, kind: str, key: int | str, why: str) -> None:
        """Drop the document of a state."""
        role = "changelog snapshot" if kind == "changelog" else kind
        self.add(self.layout.document(kind, key), role, None, why)

    # -- reading as the engine does -----------------------------------------------------------------------------------

    def read_list(self, listed: PaimonManifestList | None) -> Sequence[PaimonManifest]:
        """Read the manifests of a list; none where it cannot be read."""
        if listed is None:
            return ()
        try:
            return listed.manifests
        except LakeError as error:
            self._doubt(error, listed.path, "the engine takes it for empty")
            return ()

    def _doubt(self, error: LakeError, path: str, then: str) -> None:
        self.doubts.setdefault(error.path or path, f"{error.reason}: {then}")

    def _iterate(self, manifest: PaimonManifest) -> Iterator[tuple[bool, PaimonDataFile]]:
        for entry in manifest.iterate_entries():
            if isinstance(entry.file, PaimonDataFile):
                yield entry.is_live, entry.file

    def list_live(self, snapshot: PaimonSnapshot) -> frozenset[str]:
        """List the paths of the live files of a state. Raises `LakeError` where a manifest cannot be read."""
        key = snapshot.path or ""
        if key not in self._merged:
            self._merged[key] = frozenset(self._read_live(snapshot))
        return self._merged[key]

    def _read_live(self, snapshot: PaimonSnapshot) -> Iterator[str]:
        live = [path for (path,) in snapshot.files.pick("path")]
        if not snapshot.is_incomplete:
            return iter(live)
        manifests = [
            *self.read_list(find_list(snapshot, "base")),
            *self.read_list(find_list(snapshot, "delta")),
        ]
        merged = merge_entries(entry for manifest in manifests for entry in manifest.iterate_entries())
        return (entry.file.path for entry in merged.live.values())

    # -- data files -----------------------------------------------------------------------------------------------------

    def drop_removed(self, snapshot: PaimonSnapshot, skips: Skips, why: str) -> None:
        """Drop the files that a commit removed and that nothing skips."""
        removed: dict[str, PaimonDataFile] = {}
        listed = find_list(snapshot, "delta")
        for manifest in self.read_list(listed):
            try:
                for is_added, file in self._iterate(manifest):
                    if is_added:
                        removed.pop(file.path, None)
                    else:
                        removed[file.path] = file
            except LakeError as error:
                self._doubt(error, manifest.path, f"the engine leaves what snapshot {snapshot.id} removed")
                return
        for path, file in removed.items():
            if not skips(path):
                self.add(path, _name_role(file), file.size_bytes, why)
                self._drop_beside(path, file.extra_files)

    def drop_added(self, snapshot: PaimonSnapshot, role: str, why: str) -> None:
        """Drop the files that a list of a state adds; sidecars stay, as the engine has it."""
        for manifest in self.read_list(find_list(snapshot, role)):
            try:
                for is_added, file in self._iterate(manifest):
                    if is_added:
                        self.add(file.path, _name_role(file), file.size_bytes, why)
            except LakeError as error:
                self._doubt(error, manifest.path, "the engine leaves the files that it names")

    def drop_live(self, snapshot: PaimonSnapshot, skips: Skips, why: str) -> None:
        """Drop the live files of a state that nothing skips."""
        try:
            self.list_live(snapshot)
        except LakeError as error:
            self._doubt(error, snapshot.path or "", "the engine leaves its data files")
            return
        for path, size, names in snapshot.files.pick("path", "size_bytes", "extra_files"):
            if not skips(path):
                self.add(path, "data", size, why)
                self._drop_beside(path, names or ())

    def _drop_beside(self, path: str, names: Iterable[str]) -> None:
        folder = path.rpartition("/")[0]
        for name in names:
            self.add(f"{folder}/{name}", "sidecar", None, _BESIDE)

    # -- metadata -------------------------------------------------------------------------------------------------------

    def name_metadata(self, states: Iterable[PaimonSnapshot]) -> set[str]:
        """Give the names of the metadata that states hold. Raises `LakeError` where one of them cannot be read."""
        names: set[str] = set()
        for state in states:
            for role in ("base", "delta"):
                listed = find_list(state, role)
                if listed is not None:
                    names.add(listed.recorded_path or "")
                    names.update(manifest.file_name for manifest in listed.manifests)
            if state.index_manifest:
                names.add(state.index_manifest)
                names.update(file.path.rpartition("/")[2] for file in state.read_index_files())
            if state.document.statistics:
                names.add(state.document.statistics)
        return names

    def drop_metadata(
        self,
        snapshot: PaimonSnapshot,
        skipped: set[str],
        roles: Sequence[str],
        why: str,
        *,
        index: bool = True,
    ) -> None:
        """Drop the lists of some roles, their manifests, index files and statistics, but for `skipped`, which grows."""
        for role in roles:
            self._drop_list(find_list(snapshot, role), skipped, why)
        if index:
            self._drop_index(snapshot, skipped, why)
            name = snapshot.document.statistics
            if name and name not in skipped:
                self.add(self.layout.shared("statistics", name), "statistics", None, why)

    def _drop_list(self, listed: PaimonManifestList | None, skipped: set[str], why: str) -> None:
        if listed is None:
            return
        for manifest in self.read_list(listed):
            if manifest.file_name not in skipped:
                self.add(manifest.path, "manifest", manifest.file_size, why)
                skipped.add(manifest.file_name)
        if listed.recorded_path not in skipped:
            self.add(listed.path or "", f"manifest list ({listed.role})", listed.size_bytes, why)

    def _drop_index(self, snapshot: PaimonSnapshot, skipped: set[str], why: str) -> None:
        name = snapshot.index_manifest
        if not name:
            return
        path = self.layout.shared("manifest", name)
        if path in self.pieces:
            return
        try:
            files = snapshot.read_index_files()
        except Missing:
            return  # another snapshot's clean-up has taken it
        except LakeError as error:
            message = f"snapshot {snapshot.id}: its index manifest cannot be read: {error.reason}"
            raise EngineFailure(message, path=error.path or path) from error
        for file in files:
            if file.path.rpartition("/")[2] not in skipped:
                self.add(file.path, name_index(file.index_type), file.size_bytes, why)
        if name not in skipped:
            self.add(path, "index manifest", None, why)


def _name_role(file: PaimonDataFile) -> str:
    return "changelog data" if file.content == "changelog" else "data"


def list_beside(snapshot: PaimonSnapshot) -> dict[str, tuple[str, ...]]:
    """List the paths of the files beside live ones, by these; read by column."""
    return {
        path: tuple(f"{path.rpartition('/')[0]}/{name}" for name in names)
        for path, names in snapshot.files.pick("path", "extra_files")
        if names
    }


def find_list(snapshot: PaimonSnapshot, role: str) -> PaimonManifestList | None:
    """Find the manifest list of a role; None where the state has none."""
    return next((listed for listed in snapshot.manifest_lists if listed.role == role), None)


def skip_none(path: str) -> bool:
    """Nothing keeps a file."""
    return False


def find_before(tags: Sequence[PaimonSnapshot], number: int) -> PaimonSnapshot | None:
    """Find the last of the tags, which are in order of their snapshots, whose snapshot is before a number."""
    return next((tag for tag in reversed(tags) if tag.id < number), None)


def list_overlapped(tags: Sequence[PaimonSnapshot], begin: int, end: int) -> list[PaimonSnapshot]:
    """List the tags from the last one at or before `begin` to the last one before `end`."""
    right = sum(tag.id < end for tag in tags)
    left = max(sum(tag.id <= begin for tag in tags) - 1, 0)
    return list(tags[left:right])


def list_tagged(branch: PaimonTable) -> list[PaimonSnapshot]:
    """List the states of the tags in order of their snapshots, each snapshot once."""
    return sorted({tag.id: tag for tag in branch.tags.values()}.values(), key=lambda tag: tag.id)


# The states of a table by name, as a plan lists what is lost and what stays; and which engine's rules a plan follows.

OLD, NEW = "0.9", "2.0"
#: Keys that engines from 1.1 on write into each snapshot.
_NEW_KEYS = ("baseManifestListSize", "nextRowId")

ENGINE = Option("engine", "text", "whose rules to follow: 0.9 or 2.0", "as the newest snapshot was written")
AT = Option("at", "time", "when it would run", "now")


def is_new_engine(table: PaimonTable, values: Mapping[str, Any]) -> bool:
    """Check whether the plan follows the rules of Paimon 2.0, not of 0.9. Raises `LakeError` for another version."""
    asked = values.get("engine")
    if asked is None:
        raw = {} if table.current is None else table.current.raw
        return any(key in raw for key in _NEW_KEYS)
    if asked.split(".")[0] not in ("0", "1", "2"):
        raise LakeError(f"option engine: no rules of Paimon {asked} are known", hint=f"{OLD}, {NEW}")
    return bool(asked.split(".")[0] != "0")


def describe_engine(is_new: bool) -> Assumption:
    """Describe which engine's rules a plan follows."""
    version = NEW if is_new else OLD
    return Assumption(f"Paimon {version} runs it, or a release that has the same rules (option engine).")


def read_now(values: Mapping[str, Any]) -> datetime:
    """Read when the procedure would run."""
    return values.get("at") or datetime.now(UTC)


def to_millis(moment: datetime) -> int:
    """Milliseconds since 1970."""
    return round(moment.timestamp() * 1000)


def require_paimon(table: Any) -> PaimonTable:
    """The table as Paimon's. Raises `Unsupported` for another's."""
    if table.format != "paimon":
        raise Unsupported(f"this is a procedure of Paimon, not of {table.format}")
    return cast("PaimonTable", table)


def name_home(branch: PaimonTable) -> str:
    """Say what the names of a branch's states begin with."""
    return "" if branch.branch_name == MAIN else f"{branch.branch_name}: "


def name_snapshot(branch: PaimonTable, number: int) -> str:
    """Give a snapshot's name among `Referring.list_keepers`."""
    return f"{name_home(branch)}snapshot {number}"


def name_table(branch: PaimonTable) -> str:
    """Give the table as a call names it, with its branch.

    >>> import lakelens as ll
    >>> name_table(ll.sample("paimon"))
    'paimon'
    """
    name = branch.name or "<table>"
    return name if branch.branch_name == MAIN else f"{name}$branch_{branch.branch_name}"


def write_call(procedure: str, arguments: Mapping[str, Any]) -> str:
    r"""Write a call of a procedure as Spark SQL has it; arguments that are None are left out.

    >>> print(write_call("delete_tag", {"table": "db.t", "tag": "v'1"}))
    CALL sys.delete_tag(
      table => 'db.t',
      tag => 'v\'1')
    """
    given = {name: value for name, value in arguments.items() if value is not None}
    lines = [f"  {name} => {_write_value(value)}" for name, value in given.items()]
    return f"CALL sys.{procedure}(\n" + ",\n".join(lines) + ")"


def _write_value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int):
        return str(value)
    if isinstance(value, datetime):
        return f"TIMESTAMP '{value.astimezone(UTC):%Y-%m-%d %H:%M:%S.%f} UTC'".replace(".000000", "")
    return quote(str(value))


def describe_fate(branch: PaimonTable, snapshot: PaimonSnapshot | None, number: int, why: str) -> Fate:
    """Describe what becomes of a snapshot of a branch."""
    at = None if snapshot is None else snapshot.committed_at
    return Fate(name_snapshot(branch, number), why, f"branch {branch.branch_name}", number, at)


def list_others(
    branch: PaimonTable, lost: frozenset[str], explain: Callable[[str], str] | None = None
) -> Iterator[Fate]:
    """The states that stay beside the snapshots of a branch: its tags and changelogs, and all that other branches have."""
    home, own = name_home(branch), f"{name_home(branch)}snapshot "
    for keeper in Referring.of(branch).list_keepers():
        name = keeper.name
        number = keeper.snapshot.id if keeper.snapshot is not None else None
        if name in lost or (name.startswith(own) and number in branch.context.pointer.ids):
            continue
        kind = name.removeprefix(home)
        if not name.startswith(home) or (not home and ": " in name):
            why, by = "another branch has it", f"branch {name.partition(':')[0]}"
        elif kind.startswith("tag "):
            why, by = "a tag keeps it", kind
        elif kind.startswith("changelog "):
            why, by = "kept for its changelog", "changelogs"
        else:
            why, by = "the engine does not see it", f"branch {branch.branch_name}"
        at = None if keeper.snapshot is None else keeper.snapshot.committed_at
        yield Fate(name, explain(name) if explain else why, by, number, at)


# What a procedure takes from states that stay, because the engine does not look at them; and what it could not read.

_MOST = 5


def describe_damage(deletion: Deletion) -> list[str]:
    """Describe what could not be read, as sentences; of many the first few."""
    found = [f"Unread: {path}: {reason}." for path, reason in deletion.doubts.items()]
    more = len(found) - _MOST
    return found if more <= 0 else [*found[:_MOST], f"Unread: {more:,} more."]


def warn_of_others(branch: PaimonTable, deletion: Deletion) -> list[str]:
    """A sentence for each other branch that needs files that go: the engine looks at one branch alone."""
    if not deletion.pieces:
        return []
    warnings = []
    for ref in branch.refs.branches:
        if ref.name == branch.branch_name:
            continue
        try:
            other = branch.branch(ref.name)
            snapshots = (other.find_numbered(number) for number in other.context.pointer.ids)
            states = (*(snapshot for snapshot in snapshots if snapshot is not None), *other.tags.values())
            needed = {path for state in states for path in _list_needed(state)}
        except LakeError as error:
            warnings.append(f"What branch {ref.name} needs cannot be read: {error.reason}.")
            continue
        taken = len(needed & deletion.pieces.keys())
        if taken:
            which = "1 of the files that go is" if taken == 1 else f"{taken:,} of the files that go are"
            warnings.append(f"{which} needed by branch {ref.name}, which the engine does not look at.")
    return warnings


def find_broken(state: PaimonSnapshot, deletion: Deletion) -> int:
    """Find how many of the files that go a state that stays needs."""
    return len(deletion.pieces.keys() & set(_list_needed(state)))


def _list_needed(state: PaimonSnapshot) -> Iterator[str]:
    """List the paths of live files, their manifests and lists, and index files of a state."""
    for (path,) in state.files.pick("path"):
        yield path
    for role in ("base", "delta"):
        listed = find_list(state, role)
        if listed is not None:
            yield listed.path or ""
            yield from (manifest.path for manifest in listed.walk()[0])
    for file in state.index_files:
        yield file.path
