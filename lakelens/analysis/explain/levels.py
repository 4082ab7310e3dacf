"""What is judged besides files: manifests before them, file indexes and row groups after them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.judgement import Judgement, Level, Proof, count_reasons
from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.datafile import DataFile
from lakelens.model.scan.placement import Merging
from lakelens.model.scan.ranges import Ranges
from lakelens.model.scan.row_groups import RowGroups
from lakelens.model.stats import Condition, Term
from lakelens.progress import track

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.analysis.explain.files import FileFacts
    from lakelens.model.fileset import FileSet
    from lakelens.model.manifest import FieldSummary, Manifest
    from lakelens.model.scan.placement import Placement
    from lakelens.model.schema import PartitionField
    from lakelens.model.storage import Storage


def judge_manifests(condition: Condition, manifests: Sequence[Manifest], placement: Placement) -> Judgement:
    """Judge which manifests can be skipped, unread. What a list does not say, or says wrongly, proves nothing."""
    judgement = Judgement(condition, len(manifests))
    for term in judgement.terms:
        groups: dict[int | None, list[int]] = {}
        for number, manifest in enumerate(manifests):
            groups.setdefault(manifest.spec_id, []).append(number)
        for spec_id, places in groups.items():
            for _, field, place in placement.list_fields(spec_id, term):
                summaries = {}
                for number in places:
                    with suppress(LakeError):
                        listed = manifests[number].partition_summary
                        if place < len(listed):
                            summaries[number] = listed[place]
                if keeps_null(field.transform):
                    ranges = _find_ranges(term, field, summaries, len(manifests), placement)
                    judgement.add_ranges(term, ranges, "partition")
                _add_equal(judgement, term, field, summaries, placement)
    judgement.settle("partition")
    return judgement


def _find_ranges(
    term: Term, field: PartitionField, summaries: dict[int, FieldSummary], count: int, placement: Placement
) -> Ranges:
    """Find what the summaries of a partition field say of the source column of manifests."""
    from lakelens.arrays import pa

    kind = arrow_type(term.type)
    found = None
    if field.result_type is not None:
        bounds = [bound for summary in summaries.values() for bound in (summary.lower, summary.upper)]
        found = placement.find_sources(field, term.type, to_array(bounds, arrow_type(field.result_type)))
    nulls, nans, values = [], [], []
    for summary in map(summaries.get, range(count)):
        nulls.append(None if summary is None else _count_nulls(summary, pa.types.is_floating(kind)))
        nans.append(0 if summary is not None and summary.contains_nan is False else None)
        values.append(None if summary is None else 1)
    counts = (pa.array(one, pa.int64()) for one in (nulls, values, nans))
    if found is None:
        unknown = pa.nulls(count, kind)
        return Ranges(unknown, unknown, *counts)
    rows = {number: row for row, number in enumerate(summaries)}
    lower = pa.array([None if n not in rows else rows[n] * 2 for n in range(count)], pa.int64())
    upper = pa.array([None if n not in rows else rows[n] * 2 + 1 for n in range(count)], pa.int64())
    return Ranges(found[0].take(lower), found[1].take(upper), *counts)


def keeps_null(transform: str) -> bool:
    """Whether a value is null exactly where its partition value is: not of `void`; of an unknown transform nobody knows."""
    return transform.startswith(("bucket", "truncate", "year", "month", "day", "hour", "identity"))


def _count_nulls(summary: FieldSummary, is_floating: bool) -> int | None:
    """0 without nulls, 1 (of 1) with nothing else: then there are no bounds."""
    if summary.contains_null is False or summary.null_count == 0:
        return 0
    is_empty = summary.lower is None and summary.upper is None and summary.contains_null is True
    return 1 if is_empty and not (is_floating and summary.contains_nan is not False) else None


def _add_equal(
    judgement: Judgement,
    term: Term,
    field: PartitionField,
    summaries: dict[int, FieldSummary],
    placement: Placement,
) -> None:
    """Add what the partition values of wanted values prove: they are outside of those in the manifest."""
    from lakelens.arrays import np

    wanted = transform_values(term, field, placement)
    if wanted is None:
        return
    none = np.zeros(judgement.count, np.bool_)
    for number, summary in summaries.items():
        if summary.lower is not None and summary.upper is not None:
            none[number] = all(_is_outside(one, summary) for one in wanted)
    judgement.add(term, "partition", Proof(none, None, none.copy()))


def _is_outside(value: Any, summary: FieldSummary) -> bool:
    less: Callable[[Any, Any], bool] = lambda one, other: bool(one < other)  # noqa: E731 - of any type that has an order
    try:
        return less(value, summary.lower) or less(summary.upper, value)
    except TypeError:
        return False


def transform_values(term: Term, field: PartitionField, placement: Placement) -> list[Any] | None:
    """The partition values of a term's literals; None where the term is no equality, or one of them is not known."""
    if term.test not in ("=", "in"):
        return None
    found = [placement.transform(field, term.type, value) for value in term.values]
    return None if None in found else found


# Which row groups of the files that are read hold a row that fits: by footer, by dictionary, by bloom filter.


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
    from lakelens.arrays import np

    judgement = Judgement(condition, len(groups))
    # where a column may decide: nowhere, if it is no key of rows that are merged
    allowed = {
        term.column: None
        if merging is None or term.column in merging.keys
        else np.zeros(len(groups), np.bool_)
        for term in judgement.terms
    }
    for term in judgement.terms:
        ranges = groups.ranges(term.column)
        if ranges is not None:
            judgement.add_ranges(term, ranges, "bounds", allowed[term.column])
    judgement.settle("bounds")
    for term in judgement.terms:
        if not judgement.kept.any():
            break
        for reason, mask in groups.exclude(term, judgement.kept.tolist()):
            none = np.fromiter(mask, np.bool_)
            judgement.add(term, reason, Proof(none, None, none), allowed[term.column])
            judgement.settle(reason)
    return judgement


def count_groups(files: Iterable[FileGroups]) -> Level:
    """Count how many row groups were looked at and what skipped them; a file without any is read whole, as one."""
    reasons: Counter[str] = Counter()
    looked_at = skipped = size = 0
    for file in files:
        if file.groups is None or file.judgement is None:
            looked_at, size = looked_at + 1, size + (file.file.size_bytes or 0)
            continue
        looked_at += len(file.groups)
        skipped += int(file.judgement.skipped.sum())
        reasons.update(dict(count_reasons(file.judgement.reason)))
        kept = file.judgement.kept.tolist()
        size += sum(one for one, is_kept in zip(file.groups.size_bytes, kept, strict=True) if is_kept)
    return Level("files", looked_at, skipped, tuple(reasons.most_common()), size)


# File indexes asked about the files that would be read: what is proved by them is in no manifest.


def try_indexes(judgement: Judgement, take: Callable[[NDArray[np.int64]], FileSet], facts: FileFacts) -> None:
    """Skip the files whose own indexes hold no row that fits; only those are opened that would be read."""
    from lakelens.arrays import np

    indexed = _find_indexed(facts)
    places = np.flatnonzero(judgement.kept & indexed)
    if not len(places):
        return
    chosen = list(take(places))
    for term in judgement.terms:
        none = np.zeros(judgement.count, np.bool_)
        for place, found in zip(places.tolist(), chosen, strict=True):
            none[place] = found.find_index_proof(term) is not None
        judgement.add(term, "file_index", Proof(none, None, none), facts.find_limit(term))
    judgement.settle("file_index")


def _find_indexed(facts: FileFacts) -> NDArray[np.bool_]:
    """Find which files have an index, beside them or in their entry."""
    from lakelens.arrays import np, pa, pc

    found = np.zeros(len(facts), np.bool_)
    extra, embedded = facts.column("extra_files"), facts.column("embedded_file_index")
    if extra is not None and pa.types.is_list(extra.type) and not pa.types.is_null(extra.type.value_type):
        has_index = pc.ends_with(pc.fill_null(extra.flatten(), ""), ".index")
        owners = pc.list_parent_indices(extra).filter(has_index)
        found[owners.to_numpy()] = True
    if embedded is not None:
        found |= embedded.is_valid().to_numpy(zero_copy_only=False)
    return found
