"""Which deletes reach a data file, and by which rule.

Follows "Scan Planning" of the Iceberg table specification. With s the data sequence number of the file:

* a deletion vector reaches the file it references, when s <= its own; then no position delete file does;
* a position delete file reaches the files of its partition (or the one it references), when s <= its own;
* an equality delete file reaches the files of its partition (of all, when its spec has no fields), when s < its own.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.formats.iceberg.columns import DELETE_FILE_PATH

if TYPE_CHECKING:
    from lakelens.formats.iceberg.datafile import IcebergDataFile


@dataclass(frozen=True, slots=True)
class DeleteMatch:
    """One delete file or vector that reaches a data file, and the rule in words."""

    file: IcebergDataFile
    rule: str


def match_deletes(data: IcebergDataFile, files: Iterable[IcebergDataFile]) -> tuple[DeleteMatch, ...]:
    """The deletes among `files` that reach a data file."""
    if data.content != "data":
        return ()
    matches = [match for file in files if (match := _match(data, file)) is not None]
    if any(match.file.content == "deletion_vector" for match in matches):
        matches = [match for match in matches if match.file.content != "position_deletes"]
    return tuple(matches)


def _match(data: IcebergDataFile, delete: IcebergDataFile) -> DeleteMatch | None:
    if delete.content == "data":
        return None
    born, deleted = data.sequence_number or 0, delete.sequence_number or 0
    if delete.content == "equality_deletes":
        everywhere = len(delete.partition) == 0
        if born < deleted and (everywhere or _same_partition(data, delete)):
            where = "every partition" if everywhere else "its partition"
            return DeleteMatch(
                delete, f"equality delete for {where}: data sequence {born} < delete sequence {deleted}"
            )
        return None
    if born > deleted or not _same_partition(data, delete):
        return None
    order = f"data sequence {born} <= delete sequence {deleted}"
    if delete.target is not None:
        if delete.target != data.file_path:
            return None
        kind = "deletion vector" if delete.content == "deletion_vector" else "position deletes"
        return DeleteMatch(delete, f"{kind} for this file: {order}")
    if delete.content == "deletion_vector" or not _may_name(delete, data.file_path):
        return None
    return DeleteMatch(delete, f"position deletes of its partition: {order}")


def _same_partition(data: IcebergDataFile, delete: IcebergDataFile) -> bool:
    if data.spec_id != delete.spec_id:
        return False
    mine, theirs = dict(data.partition), dict(delete.partition)
    return mine.keys() == theirs.keys() and all(_same(mine[name], theirs[name]) for name in mine)


def _same(left: Any, right: Any) -> bool:
    """Equal, where NaN equals NaN."""
    return bool(left == right or (left != left and right != right))


def _may_name(delete: IcebergDataFile, path: str) -> bool:
    """Whether the bounds of the delete's `file_path` column let it name a path."""
    lower = (delete.lower_bounds or {}).get(DELETE_FILE_PATH)
    upper = (delete.upper_bounds or {}).get(DELETE_FILE_PATH)
    wanted = path.encode()
    return (lower is None or lower <= wanted) and (upper is None or wanted <= upper)
