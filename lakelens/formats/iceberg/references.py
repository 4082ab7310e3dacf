"""What refers to the objects of an Iceberg table, and what an object is for that nothing refers to.

A file is reachable from the current metadata document: the earlier documents of its log, the hint of a table without
a catalog, statistics, and of every snapshot the manifest list, its manifests and the files of their live entries.
These are the files that `remove_orphan_files` of the Spark procedures spares too. See "Delete orphan files" of
Iceberg's documentation on maintenance, and "Table Metadata Fields" of the specification.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from lakelens.formats.iceberg.discovery.versions import HINT_NAME, guess_role, parse_metadata_name
from lakelens.formats.iceberg.metadata.document import parse_snapshot_id
from lakelens.formats.iceberg.shared_lines import SharedLines
from lakelens.model.check.references import Keeper, Purpose, Reference, Referring

if TYPE_CHECKING:
    from lakelens.formats.iceberg.table import IcebergTable

_NO_ENTRY = "no live entry of any manifest names it"
_LOOSE = {
    "manifest": "no manifest list names it",
    "statistics": "the metadata names no such statistics file",
    "partition statistics": "the metadata names no such statistics file",
}


class IcebergReferring(Referring):
    """What refers to the objects of an Iceberg table."""

    records_column_sizes = True
    table: IcebergTable

    def __init__(self, table: IcebergTable) -> None:
        super().__init__(table)
        self.access = table._context.access

    def list_keepers(self) -> Iterator[Keeper]:
        """List the snapshots of the metadata document; a ref to another one keeps what nobody can know."""
        shared, known = SharedLines(self.table._readers.manifests), set[int]()
        for snapshot in shared.fetch_along(self.table._known):
            known.add(snapshot.id)
            for listed in snapshot.manifest_lists:
                shared.read(listed)
            yield Keeper(f"snapshot {snapshot.id}", snapshot, snapshot.path)
        for ref in self.table.refs:
            if ref.snapshot_id is not None and ref.snapshot_id not in known:
                yield Keeper(
                    f"{ref.type} {ref.name}", None, self.table.metadata_path, kind=ref.type, ref=ref.name
                )

    def list_documents(self) -> Iterator[Reference]:
        """List the metadata document and its log, the hint, and statistics."""
        typed, locate = self.table._context.typed, self.table._context.access.locator.locate
        yield Reference(self.table.metadata_path, "table metadata", is_needed=True)
        for line in typed.metadata_log:
            recorded = line.metadata_file
            yield Reference(locate(recorded), "table metadata", None, recorded)
        for role, wires in (
            ("statistics", typed.statistics),
            ("partition statistics", typed.partition_statistics),
        ):
            for wire in wires:
                recorded = wire.statistics_path
                size, snapshot = wire.file_size_in_bytes, wire.snapshot_id
                yield Reference(locate(recorded), role, size, recorded, snapshot_id=snapshot)

    def list_doubts(self) -> Iterator[tuple[str, str]]:
        """Metadata documents that may be the current one: which of two with the newest number is, only a catalog knows."""
        current = parse_metadata_name(self.table.metadata_path.rpartition("/")[2])
        if self.table.catalog is not None or current is None or current.number is None:
            return
        logged = {entry.path for entry in self.table.metadata_log}
        for path in self.table.evidence.candidates:
            other = parse_metadata_name(path.rpartition("/")[2])
            is_rival = (
                other is not None and other.naming == current.naming == "catalog" and path not in logged
            )
            if is_rival and other is not None and (other.number or 0) >= current.number:
                yield path, "it may be the current metadata document: without the catalog nobody knows"

    def find_purpose(self, relative_path: str) -> Purpose:
        """See `Referring.find_purpose`. Hidden are names with `_` or `.` in front, but for partition columns called so."""
        role = guess_role(relative_path)
        if relative_path == f"metadata/{HINT_NAME}":
            return Purpose(role, "known")
        columns = {field.name for spec in self.table._context.specs.specs.values() for field in spec.fields}
        if any(_is_hidden(part, columns) for part in relative_path.split("/")):
            return Purpose(role, "hidden")
        name = relative_path.rpartition("/")[2]
        return Purpose(role, "loose", self._describe_loose(role, name))

    def _describe_loose(self, role: str, name: str) -> str:
        if role == "table metadata":
            parsed = parse_metadata_name(name)
            if parsed is not None and parsed.naming == "leftover":
                return "a commit that did not finish left it"
            return "it is neither the current metadata document nor in its log"
        if role == "manifest list":
            number = parse_snapshot_id(name)
            return f"the metadata has no snapshot {number}: it has expired, or was never committed"
        if role == "version hint":
            return "readers look for the hint under another name"
        return _LOOSE.get(role, _NO_ENTRY)


def _is_hidden(part: str, columns: set[str]) -> bool:
    """Check whether engines' listings skip a component of a path: partition columns may begin with `_`."""
    if part.startswith("_") and "=" in part:
        return part.partition("=")[0] not in columns
    return part.startswith(("_", "."))
