"""Delete files that a rewrite drops from the table's state beside those that it rewrites.

    old        delete files of a sequence number below that of every data file that is left: they can match nothing
    vectors    those of data files that are rewritten
    dangling   with `remove_dangling_deletes`, in a commit of its own: those that reach no data file that is left

Follows `MergingSnapshotProducer.apply`, `ManifestFilterManager` and `RemoveDanglingDeleteFilesAction` of Iceberg 1.12.
"""

from __future__ import annotations

from collections.abc import Collection, Hashable, Iterable, Mapping
from typing import TYPE_CHECKING

from lakelens.formats.iceberg.deletes.matching import partition_key, reaches_everywhere
from lakelens.model.maintenance.proposal import Piece

if TYPE_CHECKING:
    from lakelens.formats.iceberg.manifests.datafile import IcebergDataFile
    from lakelens.formats.iceberg.snapshot import IcebergSnapshot
    from lakelens.formats.iceberg.table import IcebergTable

_ROLES = {
    "data": "data",
    "position_deletes": "position delete",
    "equality_deletes": "equality delete",
    "deletion_vector": "deletion vectors",
}


def make_piece(file: IcebergDataFile, why: str = "") -> Piece:
    """A file of a snapshot as part of a proposal."""
    return Piece(file.path, _ROLES[file.content], file.own_size_bytes, why)


def find_oldest(table: IcebergTable, snapshot: IcebergSnapshot, gone: Mapping[str, Collection[str]]) -> int:
    """The lowest sequence number of the data files that a commit leaves in their manifests, as manifests count it.

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
    """The delete files that reach no data file: `reached` are those that reach one that is not rewritten.

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
