"""What refers to the objects of a Paimon table, and what an object is for that nothing refers to.

Every snapshot of every branch, every tag and every kept changelog keeps the files of its lists, its index files and
its statistics. An entry that deletes a file spares it too: Paimon's own `remove_orphan_files` reads names alone. Only
folders that Paimon fills are searched: `manifest`, `index`, `statistics`, buckets, `snapshot` and `changelog`. See
"Remove Orphan Files" of the Paimon documentation on managing snapshots, and `OrphanFilesClean` of its sources.

A tag's document still names the changelog list of its snapshot, which expires with the snapshot; a changelog's
document names the lists of data, which have expired. Neither is missed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING

from lakelens.codecs.paimon.blob import decode_blob_references
from lakelens.errors import LakeError
from lakelens.formats.paimon.metadata.layout import MAIN
from lakelens.formats.paimon.reading import fetch_history
from lakelens.formats.paimon.roles import name_index, name_role
from lakelens.io.store import ObjectInfo
from lakelens.model.check.references import Keeper, Purpose, Reference, Referring

if TYPE_CHECKING:
    from lakelens.formats.paimon.snapshot import PaimonSnapshot
    from lakelens.formats.paimon.table import PaimonTable

_DATA = ("base", "delta")
# the last word of the role of an object that readers find by its name
_KNOWN = ("schema", "snapshot", "tag", "hint", "consumer", "marker")
_LOOSE = {
    "manifest list": "no snapshot, tag or changelog names it",
    "index manifest": "no snapshot or tag names it",
    "statistics": "no snapshot or tag names it",
    "index": "no index manifest names it",
    "manifest": "no manifest list names it",
    "temporary": "a write that did not finish left it",
}


class PaimonReferring(Referring):
    """What refers to the objects of a Paimon table."""

    removed_are_kept = True
    naming_suffix = ".blobref"
    records_locations = False  # paths follow from names
    table: PaimonTable

    def __init__(self, table: PaimonTable) -> None:
        super().__init__(table)
        self.access = table.context.access

    def list_keepers(self) -> Iterator[Keeper]:
        """List the snapshots, tags and kept changelogs of every branch."""
        for ref in self.table.refs.branches:
            try:
                branch = self.table.branch(ref.name)
            except LakeError:
                yield Keeper(f"branch {ref.name}", None, ref.path, None, "branch", ref.name)
                continue
            yield from _list_kept(branch, "" if ref.name == MAIN else ref.name)

    def list_consumers(self) -> Iterator[tuple[str, int]]:
        """See `Referring.list_consumers`: expiry spares the next snapshot of every consumer and those after it."""
        return iter(self.table.consumers.items())

    def list_named(self, keeper: Keeper) -> Iterator[Reference]:
        """List the index manifest with its index files, and statistics."""
        snapshot = keeper.snapshot
        if snapshot is None or keeper.roles == ("changelog",):
            return
        found: PaimonSnapshot = snapshot  # type: ignore[assignment]
        layout, is_needed = found.context.layout, keeper.roles is None or bool(keeper.roles)
        if found.document.statistics:
            name = found.document.statistics
            yield Reference(layout.shared("statistics", name), "statistics", None, name)
        if found.index_manifest:
            name = found.index_manifest
            yield Reference(layout.shared("manifest", name), "index manifest", None, name, is_needed)
            for index in found.read_index_files():
                role = name_index(index.index_type)
                yield Reference(index.path, role, index.size_bytes, index.recorded_path, is_needed)

    def read_names(self, path: str) -> Iterator[Reference]:
        """Read the packs of managed blobs that a data file's rows are in."""
        folder = path.rpartition("/")[0]
        for name in decode_blob_references(self.table.context.store.read(path), path):
            yield Reference(f"{folder}/{name}", "managed blobs", None, name)

    def list_objects(self, refuse: Callable[[LakeError], None]) -> Iterator[ObjectInfo]:
        """List the objects below the table's directory, and below the external directories that its options name."""
        roots = [self.table.location]
        external = self.table.context.options.get("data-file.external-paths", "")
        for recorded in filter(None, map(str.strip, external.split(","))):
            root = self.table.context.locate_external(f"{recorded.rstrip('/')}/x", "x").removesuffix("/x")
            if not any(root == known or root.startswith(known + "/") for known in roots):
                roots.append(root)
        for root in roots:
            yield from self.access.list_objects(root, refuse)

    def find_purpose(self, relative_path: str) -> Purpose:
        """See `Referring.find_purpose`."""
        prefix = self.table.context.options.get("changelog-file.prefix", "changelog-")
        role = name_role(relative_path, prefix)
        plain = role.removeprefix("branch ")
        if plain == "checksum":
            return Purpose(role, "hidden")
        if plain.endswith(_KNOWN):
            return Purpose(role, "known")
        if plain == "unknown":
            parts = relative_path.split("/")
            folder = parts[-2] if len(parts) > 1 else ""
            if folder in ("snapshot", "changelog"):
                return Purpose(role, "loose", f"it is no {folder} by its name")
            return Purpose(role, "foreign")
        if plain == "Iceberg metadata":
            return Purpose(role, "foreign")
        return Purpose(role, "loose", _LOOSE.get(plain, "no manifest names it"))


def _list_kept(branch: PaimonTable, name: str) -> Iterator[Keeper]:
    """List what one branch keeps. Snapshots that the engine does not see keep files and need none."""
    fetch_history(branch)
    layout, pointer, home = branch.context.layout, branch.context.pointer, f"{name}: " if name else ""
    own = None if not home else _DATA  # a branch may begin with a copy of a tag's snapshot
    for number in (*pointer.stray, *pointer.ids):
        roles = () if number in pointer.stray else own
        path = layout.document("snapshot", number)
        found = branch.find_numbered(number)
        yield Keeper(f"{home}snapshot {number}", found, path, roles, ref=branch.branch_name, branch=name)
    for tag in branch.context.tag_names:
        path = layout.document("tag", tag)
        yield Keeper(f"{home}tag {tag}", branch.tags.get(tag), path, _DATA, "tag", tag, name)
    changelogs = {snapshot.id: snapshot for snapshot in branch.changelogs}
    for number in branch.context.changelog_numbers:
        path = layout.document("changelog", number)
        found = changelogs.get(number)
        noun = f"{home}changelog {number}"
        yield Keeper(noun, found, path, ("changelog",), "changelog", branch.branch_name, name)
