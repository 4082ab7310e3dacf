"""Index files and statistics, as index manifests and snapshots record them, compared with the files.

See "Table Index" of the Paimon documentation: deletion vectors of a bucket or of an append table, hashes of a
dynamic bucket, and statistics of ANALYZE.
"""

from __future__ import annotations

import posixpath
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Missing, Unsupported
from lakelens.formats.paimon.manifests.index import HashIndexFile, PaimonIndexFile, VectorIndexFile
from lakelens.formats.paimon.snapshot import PaimonSnapshot
from lakelens.model.check.ledger import Line
from lakelens.model.check.survey import State, Survey
from lakelens.progress import track

if TYPE_CHECKING:
    from lakelens.formats.paimon.table import PaimonTable

#: Index files that are decoded; of more a part is.
MOST_INDEXES = 1_000


def compare_indexes(table: PaimonTable, survey: Survey) -> None:
    """Compare index files with what index manifests record of them, each once; statistics with their snapshots."""
    line = survey.ledger.line("index files", "index manifests", "index files, live data files")
    seen: dict[str, tuple[PaimonIndexFile, list[int]]] = {}
    for state in survey.states:
        snapshot = state.snapshot
        if not isinstance(snapshot, PaimonSnapshot) or state.roles == ("changelog",):
            continue
        for index in snapshot.index_files:
            seen.setdefault(index.path, (index, []))[1].extend(state.ids)
        _compare_statistics(survey, state, snapshot)
    rows = _list_rows(survey)
    for path, (index, users) in track(list(seen.items())[:MOST_INDEXES], "index files", len(seen)):
        snapshots = tuple(sorted(set(users)))
        try:
            if isinstance(index, VectorIndexFile):
                _compare_vectors(line, index, rows, snapshots)
            elif isinstance(index, HashIndexFile):
                what = "hashes of the index file"
                line.compare(index.row_count, len(index.hashes), "index-rows", path, what, snapshots, "error")
        except (Missing, Unsupported):
            continue  # a missing file is found by the listing
        except LakeError as error:
            code = type(error).__name__.lower()
            line.differ("error", code, error.path or path, error.reason, snapshots)
    if len(seen) > MOST_INDEXES:
        what = f"{len(seen) - MOST_INDEXES:,} of {len(seen):,} index files"
        survey.ledger.leave(what, f"the first {MOST_INDEXES:,} were decoded")


def _list_rows(survey: Survey) -> Mapping[str, int]:
    """The rows of data files by name, as entries record them."""
    if not survey.entries.num_rows:
        return {}
    names = map(posixpath.basename, survey.entries["path"].to_pylist())
    return dict(zip(names, survey.numpy("record_count").tolist(), strict=True))


def _compare_vectors(
    line: Line, index: VectorIndexFile, rows: Mapping[str, int], snapshots: tuple[int, ...]
) -> None:
    what = "vectors that the index manifest names"
    line.compare(index.row_count, len(index.ranges), "index-rows", index.path, what, snapshots, "error")
    vectors = index.vectors
    for found in index.ranges:
        name = str(found["data_file"])
        vector = vectors[name]
        what = f"deleted rows of {name}"
        line.compare(
            found["cardinality"], len(vector), "vector-cardinality", index.path, what, snapshots, "error"
        )
        message = f"it deletes rows of {name}, which no entry names"
        if line.require(name in rows, "vector-target", index.path, message, snapshots, "warning"):
            last: Any = vector.max() if len(vector) else -1
            message = f"it deletes row {last} of {name}, which has {rows[name]:,} rows"
            line.require(last < rows[name], "vector-target", index.path, message, snapshots)


def _compare_statistics(survey: Survey, state: State, snapshot: PaimonSnapshot) -> None:
    """Statistics are of this snapshot or of an earlier one, and count no more rows than it has."""
    if snapshot.document.statistics is None:
        return
    line = survey.ledger.line("statistics files", "statistics", "snapshots")
    for found in snapshot.statistics:
        if not found.raw:
            continue
        message = f"it is of snapshot {found.snapshot_id}, and snapshot {snapshot.id} uses it"
        is_earlier = found.snapshot_id is None or found.snapshot_id <= snapshot.id
        line.require(is_earlier, "statistics-snapshot", found.path, message, state.ids, "warning")
        merged, total = found.raw.get("mergedRecordCount"), snapshot.total_record_count
        if isinstance(merged, int) and total is not None and found.snapshot_id == snapshot.id:
            message = f"mergedRecordCount is {merged:,}, snapshot {snapshot.id} has {total:,} rows unmerged"
            line.require(merged <= total, "statistics-rows", found.path, message, state.ids, "warning")
        known = {column.name for column in snapshot.schema.columns}
        unknown = [name for name in found.columns if name not in known]
        message = f"it has statistics of {', '.join(unknown[:3])}, which the schema does not have"
        line.require(not unknown, "unknown-column", found.path, message, state.ids, "warning")
