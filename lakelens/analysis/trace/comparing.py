"""What a statement did to storage: two listings compared, every object with its reason, told apart by commit."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from lakelens.analysis.diff.diff import Diff
from lakelens.analysis.diff.documents import JsonChange, diff_json
from lakelens.analysis.diff.fields import SchemaChange, diff_schemas
from lakelens.analysis.trace.object_reasons import word_created, word_removed
from lakelens.analysis.trace.trace import (
    CommitTrace,
    Kind,
    Stamp,
    State,
    TableState,
    TableTrace,
    TracedFile,
    TracedFiles,
)
from lakelens.analysis.tree import build_tree, find_references, list_every_snapshot
from lakelens.errors import LakeError
from lakelens.model.manifest import Manifest
from lakelens.model.snapshot import Snapshot
from lakelens.model.storage import StoredFile
from lakelens.model.table import Table

_NOUNS = {
    "data": "data file",
    "position_deletes": "position delete file",
    "equality_deletes": "equality delete file",
    "deletion_vector": "file of deletion vectors",
    "changelog": "changelog file",
}
_ENTRY = ("(ADD)", "(DELETE)", "(ADDED)", "(EXISTING)", "(DELETED)")
Claims = Mapping[str, tuple[str, str]]


@dataclass(frozen=True, slots=True)
class ListingChange:
    """Paths by what happened to them, in path order, and the stamps on both sides."""

    before: Mapping[str, Stamp]
    after: Mapping[str, Stamp]

    @property
    def states(self) -> dict[str, State]:
        """What happened to each path; those that stayed as they were are left out."""
        found: dict[str, State] = {path: "removed" for path in self.before if path not in self.after}
        for path, stamp in self.after.items():
            if path not in self.before:
                found[path] = "created"
            elif not stamp.is_same(self.before[path]):
                found[path] = "rewritten"
        return dict(sorted(found.items(), key=lambda item: item[0].split("/")))

    def restrict(self, root: str) -> ListingChange:
        """The same below a directory."""
        start = root.rstrip("/") + "/"
        return ListingChange(
            {path: stamp for path, stamp in self.before.items() if path.startswith(start)},
            {path: stamp for path, stamp in self.after.items() if path.startswith(start)},
        )

    def split(self, roots: Collection[str]) -> dict[str, ListingChange]:
        """The same by root, each path under the nearest root above it; those below none stand under ""."""
        before: dict[str, dict[str, Stamp]] = {root: {} for root in (*roots, "")}
        after: dict[str, dict[str, Stamp]] = {root: {} for root in (*roots, "")}
        for whole, parts in ((self.before, before), (self.after, after)):
            for path, stamp in whole.items():
                parts[_find_nearest(path, parts)][path] = stamp
        return {root: ListingChange(before[root], after[root]) for root in before}


def _find_nearest(path: str, roots: Collection[str]) -> str:
    while path not in roots:
        path = path.rpartition("/")[0]
    return path


def read_state(table: Table, facts: Mapping[str, object], *, references: bool = True) -> TableState:
    """All of a table that is needed when its files are gone; with `references` every snapshot is walked."""
    files = {file.path: file for file in build_tree(table, references=references, limit=1_000_000)}
    commits: dict[tuple[object, ...], tuple[str, Snapshot]] = {}
    for snapshot, name in list_every_snapshot(table):
        commits.setdefault((snapshot.path, snapshot.id, snapshot.committed_at), (name, snapshot))
    _ = table.current, table.schema, table.metadata
    return TableState(table, files, commits, facts)


def trace_table(
    before: TableState | None, after: TableState | None, change: ListingChange, root: str
) -> TableTrace:
    """What happened to one table, of which at least one state is there; `change` holds its own paths only."""
    shown = after or before
    assert shown is not None
    states = change.states
    commits = _find_commits(before, after)
    claims: dict[str, tuple[str, str]] = {}
    for name, snapshot in commits:
        for path, reason in walk_commit(snapshot, name, states):
            claims.setdefault(path, (name, reason))
    touched = _describe_files(before, after, change, claims, root)
    by_state = {
        state: [f for f in touched if f.state == state] for state in ("created", "removed", "rewritten")
    }
    own = _group_by_commit(by_state["created"], claims)
    return TableTrace(
        shown.table.name,
        shown.table.format,
        shown.table.location,
        _name_kind(before, after),
        before.table if before else None,
        after.table if after else None,
        TracedFiles(root, by_state["created"]),
        TracedFiles(root, by_state["removed"]),
        TracedFiles(root, by_state["rewritten"]),
        tuple(
            CommitTrace(name, snapshot, TracedFiles(root, own.get(name, ()))) for name, snapshot in commits
        ),
        _name_gone(before, after),
        _find_diff(before, after),
        _find_schema(before, after),
        _find_document(before, after),
        diff_facts(before.facts if before else {}, after.facts if after else {}),
        bool((before and before.facts) or (after and after.facts)),
    )


def _name_kind(before: TableState | None, after: TableState | None) -> Kind:
    if before is None:
        return "created"
    if after is None:
        return "dropped"
    replaced = before.table.format != after.table.format or before.table.uuid != after.table.uuid
    return "replaced" if replaced else "changed"


def _find_commits(before: TableState | None, after: TableState | None) -> list[tuple[str, Snapshot]]:
    """The snapshots that only the later state has, in commit order."""
    known = before.commits if before else {}
    return [commit for key, commit in after.commits.items() if key not in known] if after else []


def _name_gone(before: TableState | None, after: TableState | None) -> tuple[str, ...]:
    if before is None or after is None:
        return ()
    return tuple(name for key, (name, _) in before.commits.items() if key not in after.commits)


def _find_diff(before: TableState | None, after: TableState | None) -> Diff | None:
    """The diff of the current snapshots; None where the format has none, or the table is gone."""
    if after is None or after.table.current is None or after.table.current.id is None:
        return None
    old = before.table.current if before and before.table.format == after.table.format else None
    return after.table.diff(old, after.table.current)


def _find_schema(before: TableState | None, after: TableState | None) -> tuple[SchemaChange, ...]:
    if before is None or after is None:
        return ()
    try:
        return tuple(diff_schemas(before.table.schema, after.table.schema))
    except LakeError:
        return ()


def _find_document(before: TableState | None, after: TableState | None) -> tuple[JsonChange, ...]:
    """What changed in the tables' own documents. A listed table has none: what its metastore says is compared apart."""
    if before is None or after is None:
        return ()
    if before.table.traits.files_are_listed or after.table.traits.files_are_listed:
        return ()
    return tuple(diff_json(before.table.metadata, after.table.metadata))


def diff_facts(before: Mapping[str, object], after: Mapping[str, object]) -> tuple[JsonChange, ...]:
    """What a catalog says before and after; partitions are told apart by their names.

    >>> [str(c) for c in diff_facts({"partitions": []}, {"partitions": [{"name": "d=1", "record_count": 2}]})]
    ['$.partitions["d=1"]: absent → {"name": "d=1", "record_count": 2}']
    """
    return tuple(diff_json(_key_partitions(before), _key_partitions(after)))


def _key_partitions(facts: Mapping[str, object]) -> dict[str, object]:
    listed = facts.get("partitions")
    if not isinstance(listed, list):
        return dict(facts)
    return {**facts, "partitions": {str(one.get("name")): one for one in listed if isinstance(one, dict)}}


def _group_by_commit(created: Iterable[TracedFile], claims: Claims) -> dict[str, list[TracedFile]]:
    """The created objects that each commit claims, by the commit's name; a checksum goes with what it is of."""
    found: dict[str, list[TracedFile]] = {}
    for file in created:
        claim = claims.get(_find_checked(file.path))
        if claim is not None:
            found.setdefault(claim[0], []).append(file)
    return found


def _find_checked(path: str) -> str:
    """The path that a checksum file stands beside; another path as it is."""
    folder, name = posixpath.split(path)
    return posixpath.join(folder, name[1:-4]) if name.startswith(".") and name.endswith(".crc") else path


def _describe_files(
    before: TableState | None, after: TableState | None, change: ListingChange, claims: Claims, root: str
) -> list[TracedFile]:
    old, new = before.files if before else {}, after.files if after else {}
    states = change.states
    still = (
        _find_named(after.table, [path for path, state in states.items() if state == "removed"])
        if after
        else {}
    )
    gone = _name_gone(before, after)
    found = []
    for path, state in states.items():
        stamp = (change.before if state == "removed" else change.after)[path]
        file = (old if state == "removed" else new).get(path) or StoredFile(path, "", 0, "unknown")
        if state == "removed":
            reason = word_removed(file, dropped=after is None, still=still.get(path, ()), gone=gone)
        else:
            reason = word_created(file, claims.get(path, ("", ""))[1])
        previous = change.before[path].size_bytes if state == "rewritten" else None
        found.append(make_traced(file, stamp, state, reason, root, previous))
    return found


def _find_named(table: Table, removed: list[str]) -> dict[str, list[str]]:
    """Which removed objects the table still names, and in what; entries of files that are not live are history."""
    if not removed:
        return {}
    references = find_references(table)
    live = {file.path for file in _attempt(lambda: list(table.files), ())}
    found = {}
    for path in removed:
        names = [name for name in references.get(path, ()) if path in live or not name.endswith(_ENTRY)]
        if names:
            found[path] = names
    return found


def make_traced(
    file: StoredFile, stamp: Stamp, state: State, reason: str, root: str, previous: int | None = None
) -> TracedFile:
    """A stored object with what happened to it; its place is told below `root`."""
    below = file.path.removeprefix(root.rstrip("/") + "/")
    return TracedFile(
        file.path,
        below,
        stamp.size_bytes,
        file.role,
        file.referenced_by,
        stamp.modified,
        state,
        reason,
        previous,
    )


def walk_commit(snapshot: Snapshot, name: str, wanted: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """The objects among `wanted` that a snapshot brought, each with its reason. Manifests among others are not read."""
    document = _attempt(snapshot.find_document, None)
    if document is not None:
        yield document[0], f"table metadata, committed with {name}"
    lists = {found.path for found in snapshot.manifest_lists}
    if snapshot.path is not None and snapshot.path not in lists:
        yield snapshot.path, f"{name} itself: it names the manifest lists"
    names = {posixpath.basename(path): path for path in wanted}
    index_manifest = getattr(snapshot, "index_manifest", None)
    if isinstance(index_manifest, str) and posixpath.basename(index_manifest) in names:
        yield names[posixpath.basename(index_manifest)], f"index manifest of {name}"
    for index in _attempt(lambda: snapshot.index_files, ()):
        yield index.path, f"index file ({index.index_type}) of {name}"
    for statistics in _attempt(lambda: snapshot.statistics, ()):
        yield statistics.path, f"statistics of {name}"
    for manifest_list in snapshot.manifest_lists:
        role = "" if manifest_list.role == "all" else f" ({manifest_list.role})"
        if manifest_list.path is not None:
            yield manifest_list.path, f"manifest list of {name}{role}"
        for manifest in _attempt(lambda held=manifest_list: held.manifests, ()):
            if manifest.path in wanted:
                yield manifest.path, f"manifest of {name}{role}"
                yield from _walk_manifest(manifest, name)


def _walk_manifest(manifest: Manifest, name: str) -> Iterator[tuple[str, str]]:
    for entry in _attempt(lambda: manifest.entries, ()):
        if not entry.status.startswith("ADD"):
            continue
        path, noun = entry.file.path, _NOUNS.get(entry.file.content, "file")
        yield path, f"{noun} added by {name}"
        for extra in getattr(entry.file, "extra_files", None) or ():
            beside = posixpath.join(posixpath.dirname(path), extra)
            yield beside, f"beside {noun} {posixpath.basename(path)}, added by {name}"


def _attempt(read: Any, default: Any) -> Any:
    """What reading gives; the default where it is damaged: that is told where the table itself is looked at."""
    try:
        return read()
    except LakeError:
        return default
