"""Deletes: vectors as their Puffin files have them, one of them for a file, and what an entry of each kind must have.

Follows "Deletion Vectors", "Delete Formats" and "Scan Planning" of the Iceberg table specification, and the Puffin
specification, "deletion-vector-v1".
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError
from lakelens.formats.iceberg.manifests.contents import read_puffin_footer
from lakelens.model.check.ledger import LedgerLine
from lakelens.model.check.survey import Survey
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.iceberg.context import TableContext
    from lakelens.formats.iceberg.table import IcebergTable

#: Vectors that are decoded; of more a part is.
MOST_VECTORS = 1_000
_VECTOR = "deletion-vector-v1"


def compare_vectors(table: IcebergTable, context: TableContext, survey: Survey) -> None:
    """Compare deletion vectors with their entries, and the entries of deletes with the rules of the version."""
    import numpy as np
    import pyarrow as pa
    import pyarrow.compute as pc

    entries = survey.entries
    if not entries.num_rows:
        return
    content = entries["content"]
    is_vector = pc.equal(content, "deletion_vector").to_numpy() & survey.live
    line = survey.ledger.line("deletes", "entries", "Puffin files, one another")
    _compare_entries(table, survey, line, is_vector)
    if is_vector.any():
        # a data file has at most one vector in a snapshot
        rows = np.flatnonzero(is_vector)
        targets = survey.entries["referenced_data_path"].take(pa.array(rows)).to_pylist()
        by_target: dict[str | None, list[int]] = {}
        for row, target in zip(rows.tolist(), targets, strict=True):
            by_target.setdefault(target, []).append(row)
        line.agree(len(by_target))
        for target, found in by_target.items():
            if target is not None and len(found) > 1:
                _compare_rivals(survey, line, target, found)
        _decode(context, survey, line, is_vector)


def _compare_entries(table: IcebergTable, survey: Survey, line: LedgerLine, is_vector: Any) -> None:
    """Compare what an entry of each kind of deletes must have, by the table's version."""
    import numpy as np
    import pyarrow.compute as pc

    entries, live, version = survey.entries, survey.live, table.format_version or 1
    is_equality = pc.equal(entries["content"], "equality_deletes").to_numpy() & live
    is_position = pc.equal(entries["content"], "position_deletes").to_numpy() & live
    has_ids = pc.fill_null(pc.greater(pc.list_value_length(entries["equality_ids"]), 0), False).to_numpy()
    names = ("referenced_data_file", "content_offset", "content_size_in_bytes")
    lacks = np.zeros(entries.num_rows, np.bool_)
    for name in names:
        lacks |= pc.is_null(entries[name]).to_numpy()
    deletes = is_equality | is_position | is_vector
    rules = (
        ("equality-ids", is_equality & ~has_ids, "is an equality delete without equality_ids"),
        ("vector-place", is_vector & lacks, f"is a deletion vector without one of {', '.join(names)}"),
        ("version-rule", is_vector & (version < 3), "is a deletion vector, which begin with version 3"),
        ("version-rule", deletes & (version < 2), "is a delete file, which begin with version 2"),
    )
    line.agree(len(rules) * int(deletes.sum()))
    for code, wrong, words in rules:
        for row in np.flatnonzero(wrong).tolist():
            _note(survey, line, row, code, words)


def _compare_rivals(survey: Survey, line: LedgerLine, target: str, rows: list[int]) -> None:
    """Vectors of one file: different snapshots may have different ones, one snapshot may not have two."""
    numbers = [survey.entries["number"][row].as_py() for row in rows]
    blobs = [
        (survey.entries["path"][row].as_py(), survey.entries["content_offset"][row].as_py()) for row in rows
    ]
    for place, row in enumerate(rows):
        for before in range(place):
            same = blobs[place] == blobs[before] and numbers[place] != numbers[before]
            shared = survey.holders[numbers[place]] & survey.holders[numbers[before]]
            if shared and not same:
                name = target.rpartition("/")[2]
                ids = sorted({i for s in shared for i in survey.states[s].ids})
                _note(survey, line, row, "two-vectors", f"is a second vector of {name}", ids)
                return


def _decode(context: TableContext, survey: Survey, line: LedgerLine, is_vector: Any) -> None:
    """Each blob is where the entry says, holds as many rows as it says, and the Puffin footer says the same of it."""
    import numpy as np
    import pyarrow as pa

    from lakelens.codecs.bitmaps.deletion_vector import decode_iceberg_dv

    rows = np.flatnonzero(is_vector)
    names = (
        "path",
        "recorded_path",
        "content_offset",
        "content_size_in_bytes",
        "record_count",
        "referenced_data_file",
    )
    chosen = survey.entries.select(names).take(pa.array(rows)).to_pylist()
    distinct = {
        (one["path"], one["content_offset"]): (row, one)
        for row, one in zip(rows.tolist(), chosen, strict=True)
    }
    if len(distinct) > MOST_VECTORS:
        what = f"{len(distinct) - MOST_VECTORS:,} of {len(distinct):,} deletion vectors"
        survey.ledger.leave(what, f"the first {MOST_VECTORS:,} were decoded")
    blobs: dict[str, dict[int, Any]] = {}
    for (path, _), (row, one) in track(list(distinct.items())[:MOST_VECTORS], "vectors", len(distinct)):
        if one["content_offset"] is None or one["content_size_in_bytes"] is None:
            continue
        try:
            if path not in blobs:
                footer = read_puffin_footer(context, one["recorded_path"])
                blobs[path] = {blob.offset: blob for blob in footer.blobs if blob.type == _VECTOR}
            offset, length = one["content_offset"], one["content_size_in_bytes"]
            place, size = context.access.find_recorded(one["recorded_path"])
            if offset < 0 or length < 0 or offset + length > size:
                message = (
                    f"a vector of {length:,} bytes at {offset:,}, past the end of a file of {size:,} bytes"
                )
                raise LakeError(message, path=place)
            data = context.access.store.read_range(place, offset, length)
            count = len(decode_iceberg_dv(data, base=offset, path=path))
        except LakeError as error:
            code = "vector-place" if type(error) is LakeError else type(error).__name__.lower()
            line.differ("error", code, error.path or path, error.reason, survey.snapshots_of(row))
            continue
        _compare_blob(survey, line, row, one, blobs[path].get(one["content_offset"]), count)


def _compare_blob(
    survey: Survey, line: LedgerLine, row: int, one: dict[str, Any], blob: Any, count: int
) -> None:
    path, snapshots = one["path"], survey.snapshots_of(row)
    where = f"the vector at {one['content_offset']:,}"
    line.compare(
        one["record_count"], count, "vector-cardinality", path, f"{where}: deleted rows", snapshots, "error"
    )
    message = f"{where} is not among the blobs of the file's footer"
    if not line.require(blob is not None, "vector-place", path, message, snapshots):
        return
    what = f"{where}: bytes by the entry and by the footer"
    line.compare(one["content_size_in_bytes"], blob.length, "vector-place", path, what, snapshots, "error")
    properties = blob.properties or {}
    cardinality = str(properties.get("cardinality", ""))
    if cardinality.isdecimal():
        what = f"{where}: cardinality of the footer"
        line.compare(int(cardinality), count, "vector-cardinality", path, what, snapshots, "warning")
    recorded = properties.get("referenced-data-file")
    what = f"{where}: the data file by the footer and by the entry"
    line.compare(recorded, one["referenced_data_file"], "vector-target", path, what, snapshots, "error")


def _note(
    survey: Survey, line: LedgerLine, row: int, code: str, words: str, snapshots: Iterable[int] | None = None
) -> None:
    name = survey.entries["path"][row].as_py().rpartition("/")[2]
    line.compared -= 1
    message = f"{survey.describe_entry(row)} ({name}) {words}"
    affected = survey.snapshots_of(row) if snapshots is None else tuple(snapshots)
    line.differ("error", code, survey.manifest_of(row).path, message, affected)
