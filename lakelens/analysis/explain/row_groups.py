"""Which row groups of the files that are read hold a row that fits: by footer, by dictionary, by bloom filter."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from lakelens.analysis.explain.judgement import Judgement, Level, Proof, count_reasons
from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.model.datafile import DataFile
from lakelens.model.predicate import Condition
from lakelens.model.scan.placement import Merging
from lakelens.model.scan.row_groups import RowGroups
from lakelens.progress import track

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.model.storage import Storage


@dataclass(frozen=True, slots=True)
class FileGroups(Named):
    """The row groups of one file that is read, and what is proved of each; neither for a format that has none."""

    file: DataFile
    groups: RowGroups | None
    judgement: Judgement | None


def judge_groups(
    condition: Condition,
    files: Iterable[DataFile],
    merging: Merging | None,
    note: Callable[[LakeError, DataFile], None],
    storage: Storage | None = None,
) -> list[FileGroups]:
    """What the files themselves prove of their row groups. Reads their footers, and dictionaries and filters where asked.

    `note` hears of a file that cannot be opened. Where rows are merged with those of other files, key columns alone decide.
    """
    found, every = [], list(files)
    ahead = iter(every)
    if storage is not None:
        ahead = storage.follow(every, lambda file: (file.path, file.size_bytes))
    for file in track(ahead, "footers", len(every)):
        try:
            groups = file.row_groups
            judgement = None if groups is None else _judge_file(condition, groups, merging)
        except LakeError as error:  # a file that cannot be opened is read as far as metadata knows
            note(error, file)
            groups = judgement = None
        found.append(FileGroups(file, groups, judgement))
    return found


def _judge_file(condition: Condition, groups: RowGroups, merging: Merging | None) -> Judgement:
    judgement = Judgement(condition, len(groups))
    allowed = {term.column: _find_limit(term.column, merging, len(groups)) for term in judgement.terms}
    for term in judgement.terms:
        ranges = groups.ranges(term.column)
        if ranges is not None:
            judgement.add_ranges(term, ranges, "bounds", allowed[term.column])
    judgement.settle("bounds")
    for term in judgement.terms:
        if not judgement.kept.any():
            break
        for reason, mask in groups.exclude(term, judgement.kept.tolist()):
            none = _as_mask(mask)
            judgement.add(term, reason, Proof(none, None, none), allowed[term.column])
            judgement.settle(reason)
    return judgement


def _as_mask(mask: Iterable[bool]) -> NDArray[np.bool_]:
    import numpy as np

    return np.fromiter(mask, np.bool_)


def _find_limit(column: str, merging: Merging | None, count: int) -> NDArray[np.bool_] | None:
    """Where a column may decide: nowhere, if it is no key of rows that are merged."""
    import numpy as np

    return None if merging is None or column in merging.keys else np.zeros(count, np.bool_)


def count_groups(files: Iterable[FileGroups]) -> Level:
    """How many row groups were looked at and what skipped them; a file without any is read whole, as one."""
    reasons: Counter[str] = Counter()
    looked_at = skipped = size = 0
    for found in files:
        if found.groups is None or found.judgement is None:
            looked_at, size = looked_at + 1, size + (found.file.size_bytes or 0)
            continue
        looked_at += len(found.groups)
        skipped += int(found.judgement.skipped.sum())
        reasons.update(dict(count_reasons(found.judgement.reason)))
        kept = found.judgement.kept.tolist()
        size += sum(one for one, is_kept in zip(found.groups.size_bytes, kept, strict=True) if is_kept)
    return Level("files", looked_at, skipped, tuple(reasons.most_common()), size)
