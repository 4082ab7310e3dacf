"""Which files of all states may hold rows of a predicate: by partitions, buckets, keys and bounds, as `explain` judges them.

A file is judged once, whatever number of states has it, and skipped only on proof. Manifests are judged by what their lists
say first, and those that are left are read once.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.file_facts import FileFacts
from lakelens.analysis.explain.files import judge_files, list_leaves
from lakelens.analysis.explain.manifests import judge_manifests
from lakelens.model.fileset import FileColumns, FileSet
from lakelens.model.predicate import list_terms
from lakelens.model.scan.placement import open_placement
from lakelens.model.scan.plan import FileBatch, ScanRequest

if TYPE_CHECKING:
    from lakelens.analysis.life.past import Past
    from lakelens.model.datafile import DataFile
    from lakelens.model.predicate import Condition
    from lakelens.model.scan.plan import FileScan

_LIVE = ("ADDED", "EXISTING", "ADD")


class Candidates:
    """The paths of the files that are left, of how many `total` that were looked at."""

    def __init__(self, paths: list[str], total: int, manifests: int) -> None:
        self.paths = paths
        self.total = total
        self.manifests = manifests


def choose_files(past: Past, condition: Condition) -> Candidates:
    """The data files of all states in which a row may fit."""
    table, survey = past.table, past.survey
    manifests = [one for one in survey.manifests if one.content == "data"]
    if not manifests:
        files = _gather(past)
        facts = FileFacts(files, open_placement(table), None)
        kept = judge_files(condition, facts).kept
        paths = facts.column("path")
        chosen = [] if paths is None else paths.filter(_to_arrow(kept)).to_pylist()
        return Candidates(list(dict.fromkeys(chosen)), len(facts), 0)
    kept = judge_manifests(condition, manifests, open_placement(table)).kept
    left = [one for one, is_left in zip(manifests, kept.tolist(), strict=True) if is_left]
    scan = table.scan_manifests(left) if left else None
    pool: Any = _gather(past) if scan is None and left else None if scan is None else _Pool(scan)
    if pool is None:
        return Candidates([], 0, 0)
    leaves = [name for term in list_terms(condition) for name in list_leaves(term)]
    facts = FileFacts(pool, open_placement(table), leaves)
    chosen_files = judge_files(condition, facts).kept
    column = facts.column("path")
    found = [] if column is None else column.filter(_to_arrow(chosen_files)).to_pylist()
    return Candidates(list(dict.fromkeys(found)), len(facts), len(left))


def _to_arrow(mask: Any) -> Any:
    import pyarrow as pa

    return pa.array(mask)


def _gather(past: Past) -> FileSet:
    """The files of all states, of a format that has no plan to read them by column."""
    files: dict[Any, DataFile] = {}
    for state in past.states:
        files |= {file.identity: file for file in state.snapshot.files if file.content == "data"}
    columns = past.states[-1].snapshot.files.columns if past.states else FileColumns()
    return FileSet(lambda: files.values(), lambda: columns)


class _Pool:
    """The files that entries add, each once: as much of a set of files as is judged."""

    def __init__(self, scan: FileScan) -> None:
        self._scan = scan
        self._seen: set[str] = set()

    @property
    def columns(self) -> FileColumns:
        """See `FileSet.columns`."""
        return self._scan.columns

    def iterate_batches(self, request: ScanRequest) -> Iterator[FileBatch]:
        """See `FileSet.iterate_batches`."""
        import numpy as np
        import pyarrow as pa
        import pyarrow.compute as pc

        from lakelens.model.scan.scan_to_arrow import iterate_batches

        columns = (*(request.columns or ()), "status")
        for batch in iterate_batches(self._scan, replace(request, columns=columns, entries=True)):
            status, paths = batch.plain["status"], batch.plain["path"].to_pylist()
            live = pc.is_in(status, value_set=pa.array(_LIVE)).to_numpy(zero_copy_only=False)
            for row in np.flatnonzero(live).tolist():
                if paths[row] in self._seen:
                    live[row] = False
                self._seen.add(paths[row])
            yield batch.filter(pa.array(live))
