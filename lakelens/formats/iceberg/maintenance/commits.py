"""What every commit writes beside its own files: a metadata document, and of a new snapshot a manifest list.

A commit may delete old metadata documents too: with `write.metadata.delete-after-commit.enabled` those that leave the log,
which keeps `write.metadata.previous-versions-max` (100) of them. Follows `TableMetadata.addPreviousFile` and
`CatalogUtil.deleteRemovedMetadataFiles` of Iceberg 1.12.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Hashable, Iterable, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from lakelens.formats.iceberg.deletes.matching import partition_key, reaches_everywhere
from lakelens.io.store import find_info
from lakelens.model.maintenance import Assumption, Output, Piece, Proposal

if TYPE_CHECKING:
    from lakelens.formats.iceberg.maintenance.packing import Rewritten
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable


_DELETES_OLD = "write.metadata.delete-after-commit.enabled"
_KEPT_VERSIONS = "write.metadata.previous-versions-max"
_DOCUMENT_MARGIN = 0.10
_LIST_MARGIN = 0.25


def read_switch(table: IcebergTable, name: str, default: bool = False) -> bool:
    """Read a property that is true or false, as the engine parses it."""
    text = table.properties.get(name)
    return default if text is None else str(text).lower() == "true"


def read_number(table: IcebergTable, name: str, default: int) -> int:
    """Read a property that is a whole number; the default where it is not set, or none."""
    text = table.properties.get(name)
    try:
        return default if text is None else int(str(text))
    except ValueError:
        return default


def assume(table: IcebergTable, *, commits: bool = True) -> list[Assumption]:
    """Say what must hold for any procedure."""
    assumed = []
    if commits:
        name = table.metadata_path.rpartition("/")[2]
        assumed.append(Assumption(f"No commit happens in between; this was planned on {name}."))
    assumed.append(
        Assumption("The catalog's name is not in the files: put it where <catalog> stands.", is_known=False)
    )
    if table.relocation.is_moved:
        recorded = table.relocation.recorded_location
        words = f"The table was copied here; the engine works where it is recorded, {recorded}."
        assumed.append(Assumption(words, is_known=False))
    return assumed


def refuse(table: IcebergTable, call: str, why: str, *, fails: bool = False) -> Proposal:
    """Propose nothing: the engine refuses to run a procedure, or fails at it."""
    changes = f"Nothing changes: the engine {'fails' if fails else 'refuses'}."
    return Proposal(changes, call, refusal=why, assumptions=assume(table))


def list_dropped_documents(table: IcebergTable, commits: int = 1) -> list[Piece]:
    """The metadata documents that some commits delete: those that leave the log, where the table has that switched on."""
    if not read_switch(table, _DELETES_OLD):
        return []
    most = max(1, read_number(table, _KEPT_VERSIONS, 100))
    log = [entry.path for entry in table.metadata_log]
    dropped: list[str] = []
    for number in range(commits):
        if len(log) >= most:
            cut = len(log) - most + 1
            dropped, log = [*dropped, *log[:cut]], log[cut:]
        log.append(table.metadata_path if number == 0 else "")
    why = f"it leaves the log, and {_DELETES_OLD} is true"
    return [Piece(path, "table metadata", None, why) for path in dropped if path]


def estimate_document(
    table: IcebergTable, *, lost: Collection[int] = (), commits: int = 1, snapshots: int = 0
) -> Output:
    """Estimate the metadata documents of some commits, the last without the lost snapshots and with new ones."""
    document = table._context.document
    text = max(len(document.text), 1)
    stored = document.typed.snapshots
    # a new one is about as long as the last one
    change = snapshots * (len(bytes(stored.stored(len(stored) - 1))) + 120 if len(stored) else 900)
    if lost:
        gone = set(lost)
        for place, wire in enumerate(stored):
            if wire.snapshot_id in gone:
                change -= len(bytes(stored.stored(place)))
        kept = sum(1 for line in document.typed.snapshot_log if line.snapshot_id not in gone)
        logged = len(document.typed.snapshot_log)
        if logged:
            change -= len(bytes(document.typed.snapshot_log_text)) * (logged - kept) // logged
    if len(table.metadata_log) < max(1, read_number(table, _KEPT_VERSIONS, 100)):
        change += len(table.metadata_path) + 90  # a line more in the log, which is not full
    info = find_info(table._context.access.store, table.metadata_path)
    stored_bytes = text if info is None else info.size
    size = max(int(stored_bytes * (text + change) / text), 1) * commits
    least, most = _spread(size, _DOCUMENT_MARGIN, 1500 * commits)
    names = "metadata.json" if commits == 1 else f"{commits} metadata.json"
    note = f"{names}; the newest has {stored_bytes:,} bytes now"
    return Output("table metadata", commits, size, True, least, most, commits, commits, note)


def estimate_list(snapshot: IcebergSnapshot | None, manifests: int, commits: int = 1) -> Output:
    """Estimate the manifest lists of some commits, each of about that many manifests, after the list that there is."""
    now = 0 if snapshot is None else sum(listed.size_bytes or 0 for listed in snapshot.manifest_lists)
    held = 0 if snapshot is None else len(snapshot.manifests)
    base = now or 4_000
    size = max(base + 60 * (manifests - held), 2_000) * commits
    least, most = _spread(size, _LIST_MARGIN, 600 * commits)
    return Output("manifest list", commits, size, True, least, most, commits, commits, "one a commit")


def _spread(size: int, margin: float, slack: int) -> tuple[int, int]:
    """The limits of an estimate that may be wrong by a part of it, or by some bytes where that is more."""
    off = max(int(size * margin), slack)
    return max(size - off, 0), size + off


def find_unread(table: IcebergTable, snapshot: IcebergSnapshot | None) -> str | None:
    """Why the engine fails to read a snapshot, as far as its list and its manifests were read; None where it does not."""
    if snapshot is None:
        return None
    for listed in snapshot.manifest_lists:
        error = listed.walk()[1]
        if error is not None:
            return f"the manifest list {listed.path} cannot be read: {error.reason}"
    held = {manifest.path for manifest in snapshot.manifests}
    found = (finding for finding in table.findings if finding.severity == "error" and finding.path in held)
    return next((f"the manifest {one.path} cannot be read: {one.message}" for one in found), None)


def find_statistics(table: IcebergTable, lost: Collection[int]) -> list[Piece]:
    """Find the statistics files of lost snapshots that no kept snapshot names."""
    typed, locate = table._context.typed, table._context.access.locator.locate
    gone = set(lost)
    found: dict[str, Piece] = {}
    kept: set[str] = set()
    for role, wires in (
        ("statistics", typed.statistics),
        ("partition statistics", typed.partition_statistics),
    ):
        for wire in wires:
            path = locate(wire.statistics_path)
            if wire.snapshot_id in gone:
                why = f"of snapshot {wire.snapshot_id}"
                found.setdefault(path, Piece(path, role, wire.file_size_in_bytes, why))
            else:
                kept.add(path)
    return [piece for path, piece in found.items() if path not in kept]


def list_ancestors(table: IcebergTable, snapshot_id: int | None) -> list[int]:
    """List a snapshot and those that it was made from, the nearest first, as far as they are there."""
    found: list[int] = []
    seen: set[int] = set()
    index = table._context.document.snapshots
    while snapshot_id is not None and snapshot_id in index and snapshot_id not in seen:
        seen.add(snapshot_id)
        found.append(snapshot_id)
        snapshot_id = index.find_parent(snapshot_id)
    return found


# The CALL statement of a procedure, to be copied. What comes from a table is quoted.
#
#     CALL <catalog>.system.expire_snapshots(
#       table => 'shop.orders',
#       retain_last => 5)
#
# No file names the catalog: `<catalog>` stands for it.

CATALOG = "<catalog>"
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def quote_text(text: str) -> str:
    r"""Quote a text as a literal of Spark SQL.

    >>> print(quote_text("it's"), quote_text("a\\b"))
    'it\'s' 'a\\b'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in escaped) + "'"


def quote_name(name: str) -> str:
    """Quote the name of a table as procedures take it: parts that are no plain words stand in backticks.

    >>> quote_name("shop.orders"), quote_name("shop.2024 orders")
    ("'shop.orders'", "'shop.`2024 orders`'")
    """
    parts = name.split(".")
    quoted = (part if _PLAIN.fullmatch(part) else "`" + part.replace("`", "``") + "`" for part in parts)
    return quote_text(".".join(quoted))


def format_value(value: Any) -> str:
    """Format a value as SQL: texts quoted, times as TIMESTAMP of UTC, lists as ARRAY, mappings as map of texts.

    >>> format_value(datetime(2024, 3, 1)), format_value((5, 6)), format_value({"rewrite-all": True})
    ("TIMESTAMP '2024-03-01 00:00:00 UTC'", 'ARRAY(5, 6)', "map('rewrite-all', 'true')")
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        text = value.strftime("%Y-%m-%d %H:%M:%S")
        fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
        return f"TIMESTAMP '{text}{fraction} UTC'"
    if isinstance(value, Mapping):
        texts = (
            quote_text(str(word).lower() if isinstance(word, bool) else str(word))
            for item in value.items()
            for word in item
        )
        return f"map({', '.join(texts)})"
    if isinstance(value, tuple | list):
        return f"ARRAY({', '.join(map(format_value, value))})"
    return quote_text(value) if isinstance(value, str) else str(value)


def write_call(table: str, procedure: str, arguments: Mapping[str, Any]) -> str:
    """Write the statement that calls a procedure on a table.

    >>> print(write_call("shop.orders", "expire_snapshots", {"retain_last": 5}))
    CALL <catalog>.system.expire_snapshots(
      table => 'shop.orders',
      retain_last => 5)
    """
    lines = [f"table => {quote_name(table)}"]
    lines += [f"{name} => {format_value(value)}" for name, value in arguments.items()]
    return f"CALL {CATALOG}.system.{procedure}(\n  " + ",\n  ".join(lines) + ")"


# Delete files that a rewrite drops from the table's state beside those that it rewrites.
#
#     old        delete files of a sequence number below that of every data file that is left: they can match nothing
#     vectors    those of data files that are rewritten
#     dangling   with `remove_dangling_deletes`, in a commit of its own: those that reach no data file that is left
#
# Follows `MergingSnapshotProducer.apply`, `ManifestFilterManager` and `RemoveDanglingDeleteFilesAction` of Iceberg 1.12.

_ROLES = {
    "data": "data",
    "position_deletes": "position delete",
    "equality_deletes": "equality delete",
    "deletion_vector": "deletion vectors",
}


def make_piece(file: Rewritten, why: str = "") -> Piece:
    """Make a file of a snapshot as part of a proposal."""
    return Piece(file.path, _ROLES[file.content], file.own_size_bytes, why)


def find_oldest(table: IcebergTable, snapshot: IcebergSnapshot, gone: Mapping[str, Collection[str]]) -> int:
    """Find the lowest sequence number of the data files that a commit leaves in their manifests, as manifests count it.

    `gone` are the files that the commit removes, by manifest. New files do not count.
    """
    oldest = table.last_sequence_number
    for manifest in snapshot.manifests:
        if manifest.content != "data":
            continue
        removed = gone.get(manifest.path)
        if not removed:
            oldest = min(oldest, manifest.min_sequence_number)
            continue
        left = (
            entry.sequence_number
            for entry in manifest.entries
            if entry.is_live and entry.file.recorded_path not in removed and entry.sequence_number is not None
        )
        oldest = min(oldest, min(left, default=oldest))
    return oldest


def find_dropped(
    deletes: Iterable[IcebergDataFile],
    oldest: int,
    rewritten: Collection[str] = (),
    manifests: Collection[str] | None = None,
) -> list[tuple[IcebergDataFile, str]]:
    """The delete files that a commit drops, and why: old ones (of some manifests, where these are given), and vectors."""
    found = []
    for file in deletes:
        if file.content == "deletion_vector" and file.target in rewritten:
            found.append((file, "the data file it is for is rewritten"))
        elif 0 < (file.sequence_number or 0) < oldest and (manifests is None or file.manifest in manifests):
            found.append((file, "older than every data file that is left"))
    return found


def find_dangling(
    deletes: Iterable[IcebergDataFile], reached: Collection[Hashable], new: Collection[tuple[Hashable, int]]
) -> list[tuple[IcebergDataFile, str]]:
    """Find the delete files that reach no data file: `reached` are those that reach one that is not rewritten.

    `new` are the partitions of new files with their sequence number; a delete for one file cannot be for any of them.
    """
    found = []
    for file in deletes:
        if file.identity in reached or any(_reaches(file, *one) for one in new):
            continue
        found.append((file, "it reaches no data file that is left"))
    return found


def _reaches(file: IcebergDataFile, partition: Hashable, number: int) -> bool:
    own = file.sequence_number or 0
    if file.content == "equality_deletes":
        return own > number and (reaches_everywhere(file) or partition_key(file) == partition)
    return file.target is None and own >= number and partition_key(file) == partition
