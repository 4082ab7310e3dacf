"""What each object below a Paimon table is for: by its folder and name, and by who refers to it."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.paimon.metadata.layout import MAIN
from lakelens.formats.paimon.reading import fetch_history
from lakelens.io.store import walk
from lakelens.model.storage import StoredFile

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable

# folder, how a name in it is made, role
_NAMES = (
    ("schema", r"schema-\d{1,19}$", "schema"),
    ("snapshot", r"snapshot-\d{1,19}$", "snapshot"),
    ("changelog", r"changelog-\d{1,19}$", "changelog snapshot"),
    ("schema|snapshot|changelog", r"(LATEST|EARLIEST)$", "{} hint"),
    ("manifest", "manifest-list-", "manifest list"),
    ("manifest", "index-manifest-", "index manifest"),
    ("manifest", "manifest-", "manifest"),
    ("tag", "tag-", "tag"),
    ("consumer", "consumer-", "consumer"),
    ("statistics", "stat-", "statistics"),
    ("index", "", "index"),
)
_SIDECARS = {
    ".index": "file index",
    ".blobref": "blob references",
    ".managed.blob": "managed blobs",
    ".blob": "blob data",
    ".video": "video data",
}
_BUCKET = re.compile(r"^bucket-(-?[0-9]+|postpone)$")


class References:
    """Who refers to the objects of a table: `roles` and `users` by path."""

    def __init__(self) -> None:
        self.roles: dict[str, str] = {}
        self.users: dict[str, dict[str, None]] = defaultdict(dict)

    def add(self, path: str, user: str, role: str | None = None) -> None:
        """Keep that `user` names the object, in which role."""
        self.users[path].setdefault(user)
        if role is not None:
            self.roles[path] = role


def list_stored_files(table: PaimonTable) -> Iterator[StoredFile]:
    """List every object below the table with its role, in path order."""
    references = collect_references(table)
    root, prefix = table.location, table.options.get("changelog-file.prefix", "changelog-")
    for found in walk(table.context.store, root):
        if found.is_dir:
            continue
        relative = found.path[len(root) :].lstrip("/")
        role = references.roles.get(found.path) or name_role(relative, prefix)
        users = tuple(references.users.get(found.path, ()))
        yield StoredFile(found.path, relative, found.size, role, users, found.modified)


def collect_references(table: PaimonTable) -> References:
    """Collect what the documents of every branch name: lists, index files, statistics, and the files of kept changelogs.

    Manifests and data files have their role by name; finding who refers to them takes walking the snapshots.
    """
    references = References()
    for ref in table.refs.branches:
        branch = table.branch(ref.name)
        fetch_history(branch)
        home = "" if branch.branch_name == MAIN else f"{branch.branch_name}: "
        for number in (*branch.context.pointer.stray, *branch.context.pointer.ids):
            found = branch.find_numbered(number)
            if found is not None:
                _follow(references, found, f"{home}snapshot {number}")
        for name, snapshot in branch.tags.items():
            _follow(references, snapshot, f"{home}tag {name}")
        for snapshot in branch.changelogs:
            user = f"{home}changelog {snapshot.id}"  # its other lists have expired
            for listed in snapshot.manifest_lists:
                if listed.role == "changelog":
                    references.add(listed.path, user, "manifest list (changelog)")
            for file in snapshot.changelog_files:
                references.add(file.path, user, "changelog data")
                references.add(file.manifest or "", user, "manifest")
    return references


def _follow(references: References, snapshot: PaimonSnapshot, user: str) -> None:
    layout, document = snapshot.context.layout, snapshot.document
    for found in snapshot.manifest_lists:
        references.add(found.path, user, f"manifest list ({found.role})")
    if snapshot.index_manifest:
        references.add(layout.shared("manifest", snapshot.index_manifest), user, "index manifest")
    for index in snapshot.index_files:
        references.add(index.path, user, name_index(index.index_type))
    if document.statistics:
        references.add(layout.shared("statistics", document.statistics), user, "statistics")


def name_index(kind: str) -> str:
    """Name the role of an index file by its type.

    >>> name_index("HASH"), name_index("DELETION_VECTORS"), name_index("btree")
    ('hash index', 'deletion vectors', 'btree index')
    """
    return {"HASH": "hash index", "DELETION_VECTORS": "deletion vectors"}.get(kind, f"{kind} index")


def name_role(relative: str, changelog_prefix: str = "changelog-") -> str:
    """Say what an object is for, by its place and name alone.

    >>> name_role("snapshot/LATEST"), name_role("branch/branch-b/schema/schema-0"), name_role("p=1/bucket-0/data-1-0.orc")
    ('snapshot hint', 'branch schema', 'data')
    >>> [name_role(f"bucket-0/data-1-0.{ending}") for ending in ("row", "orc.row", "vector.lance", "managed.blob")]
    ['data', 'row sidecar', 'vector data', 'managed blobs']
    """
    parts = relative.split("/")
    name = parts[-1]
    if name.endswith(".crc"):
        return "checksum"
    if name.startswith(".") and (name.endswith(".tmp") or ".tmp" in name):
        return "temporary"
    if parts[0] == "branch" and len(parts) > 2:
        return f"branch {name_role('/'.join(parts[2:]), changelog_prefix)}"
    for folders, pattern, role in _NAMES if len(parts) > 1 else ():
        if parts[0] in folders.split("|") and re.match(pattern, name):
            return role.format(parts[0])
    if parts[0] in ("metadata", "iceberg") and len(parts) > 1:
        return "Iceberg metadata"
    if len(parts) > 1 and _BUCKET.match(parts[-2]):
        return _name_by_suffix(name, changelog_prefix)
    return "marker" if name == "_SUCCESS" else "unknown"


def _name_by_suffix(name: str, changelog_prefix: str) -> str:
    for suffix, role in _SIDECARS.items():
        if name.endswith(suffix):
            return role
    if name.endswith(".row") and "." in name.removesuffix(".row"):
        return "row sidecar"  # beside a data file, whose name it has; without another ending it is a data file itself
    if ".vector." in name:
        return "vector data"
    if name.startswith("index-"):
        return "index"
    return "changelog data" if name.startswith(changelog_prefix) else "data"
