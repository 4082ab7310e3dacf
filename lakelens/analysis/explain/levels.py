"""What is judged besides files: manifests before them, file indexes and row groups after them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.judgement import Judgement, Level, Proof, count_reasons
from lakelens.display import Named
from lakelens.errors import LakeError
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.datafile import DataFile
from lakelens.model.facts.traits import format_size
from lakelens.model.manifest import FieldSummaries, FieldSummary
from lakelens.model.measures.measure import Call, count
from lakelens.model.measures.rules import Rewriting
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
    from lakelens.model.manifest import Manifest
    from lakelens.model.scan.placement import Placement
    from lakelens.model.schema import PartitionField
    from lakelens.model.storage import Storage


def judge_manifests(
    condition: Condition, manifests: Sequence[Manifest | SortedManifest], placement: Placement
) -> Judgement:
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
    *,
    by_footers: bool = False,
) -> list[FileGroups]:
    """What the files themselves prove of their row groups. Reads their footers, and dictionaries and filters where asked.

    With `by_footers` nothing else is read.

    `note` hears of a file that cannot be opened. Where rows are merged with those of other files, key columns alone decide.
    """
    found, every = [], list(files)
    ahead = iter(every)
    if storage is not None:
        ahead = storage.follow(every, lambda file: (file.path, file.size_bytes))
    for file in track(ahead, "footers", len(every)):
        try:
            groups = file.row_groups
            judgement = None if groups is None else _judge_file(condition, groups, merging, by_footers)
        except LakeError as error:  # a file that cannot be opened is read as far as metadata knows
            note(error, file)
            groups = judgement = None
        found.append(FileGroups(file, groups, judgement))
    return found


def _judge_file(
    condition: Condition, groups: RowGroups, merging: Merging | None, by_footers: bool
) -> Judgement:
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
        if by_footers or not judgement.kept.any():
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


# How many manifests a query has to read before it reads a file, and how many after they were written again in order. Which
# manifests a query reads follows from the partition summaries of their list. What a rewrite makes of them is worked out: its
# entries in the order of their partitions, divided where the values change, and again where a manifest would become too
# large. It is an estimate where more than one comes of it, as engines sample where to divide.

#: A query that reads no more manifests than this is planned fast enough.
ENOUGH = 4
#: How much larger than what it aims at a manifest may become before a writer begins another.
_SLACK = 1.2


@dataclass(frozen=True, slots=True)
class SortedManifest:
    """A manifest that a rewrite would make: what its list would say of it."""

    spec_id: int | None
    partition_summary: FieldSummaries


@dataclass(frozen=True, slots=True)
class Planning:
    """What planning a query reads: `read` of `total` manifests, and about how many after `call`.

    >>> call = Call("CALL system.rewrite_manifests('t')", "", "rewrite_manifests")
    >>> print(Planning("day=2024-01-05", 20, 20, 19_900_000, 2, call))
    A query for day=2024-01-05 reads 20 of 20 manifests, 19.0 MiB, before it reads a file; after rewrite_manifests about 2
    """

    query: str
    read: int
    total: int
    size_bytes: int
    after: int
    call: Call

    def __str__(self) -> str:
        about = "1" if self.after == 1 else f"about {self.after:,}"
        manifests = f"{self.read:,} of {count(self.total, 'manifest')}, {format_size(self.size_bytes)}"
        return (
            f"A query for {self.query} reads {manifests}, before it reads a file; "
            f"after {self.call.name} {about}"
        )

    @property
    def helps(self) -> bool:
        """Whether the call is worth it: a query reads many manifests, and at most half as many after it."""
        return self.read > ENOUGH and self.after * 2 <= self.read


def weigh_planning(
    rewriting: Rewriting, query: str, read: Sequence[Manifest], total: int, after: int
) -> Planning | None:
    """Weigh the manifests that a query reads against `after` that a rewrite leaves to it; None where it does not help."""
    taken = {manifest.path for manifest in rewriting.manifests}
    rest = sum(manifest.path not in taken for manifest in read)
    size = sum(manifest.size_bytes or 0 for manifest in read)
    planning = Planning(query, len(read), total, size, rest + after, rewriting.call)
    return planning if planning.helps else None


def sort_manifests(
    rewriting: Rewriting, partitions: Mapping[tuple[Any, ...], int]
) -> list[SortedManifest] | None:
    """Say which manifests a rewrite makes of the entries of partitions, with the number of entries that each has.

    None where values have no order. Where not all entries are known, those that are get their share of the manifests.

    >>> from lakelens.model.schema import PartitionField, PartitionSpec
    >>> by_day = PartitionSpec(0, (PartitionField("day", 1, "day", "identity"),))
    >>> made = sort_manifests(Rewriting((), 8, 2, by_day, Call("", "")), {(3,): 2, (1,): 4, (2,): 2})
    >>> [manifest.partition_summary[0] for manifest in made]
    [<FieldSummary day: 1 to 1>, <FieldSummary day: 2 to 3>]
    """
    step = rewriting.entries / max(rewriting.outputs, 1)
    capacity = max(1, int(_SLACK * step))
    try:
        ordered = sorted(partitions, key=lambda values: [(value is not None, value) for value in values])
    except TypeError:
        return None
    made: list[list[tuple[Any, ...]]] = [[]]
    filled = reached = 0
    for values in ordered:
        left = partitions[values]
        reached += left
        while left:
            taken = min(left, capacity - filled)
            left, filled = left - taken, filled + taken
            if not made[-1] or made[-1][-1] != values:
                made[-1].append(values)
            if filled >= capacity:
                made.append([])
                filled = 0
        # engines divide where values change, after the one with which a manifest has its share
        if reached >= step:
            reached = int(reached % step)
            if made[-1]:
                made.append([])
                filled = 0
    names = [part.name for part in rewriting.spec.fields]
    return [
        SortedManifest(
            rewriting.spec.id,
            FieldSummaries(
                _summarize(name, values) for name, values in zip(names, zip(*held, strict=True), strict=True)
            ),
        )
        for held in made
        if held
    ]


def _summarize(name: str, values: Iterable[Any]) -> FieldSummary:
    held = list(values)
    known = [value for value in held if value is not None]
    has_null = len(known) < len(held)
    has_nan = any(value != value for value in known)
    if has_nan:
        known = [value for value in known if value == value]
    return FieldSummary(name, min(known, default=None), max(known, default=None), has_null, has_nan)


def plan_worst(
    rewriting: Rewriting, manifests: Sequence[Manifest], partitions: Mapping[tuple[Any, ...], int]
) -> Planning | None:
    """Plan the query for a value of the first partition field that reads most; None where a rewrite does not help."""
    made = sort_manifests(rewriting, partitions)
    if made is None:
        return None
    values = sorted({values[0] for values in partitions if values and values[0] == values[0]} - {None})
    if not values:
        return None
    name = rewriting.spec.fields[0].name
    try:
        places = [_find_places(manifest, rewriting.spec.id, values) for manifest in manifests]
        after = [_find_places(manifest, rewriting.spec.id, values) for manifest in made]
    except TypeError:
        return None
    sizes = [manifest.size_bytes or 0 for manifest in manifests]
    read = _sum_places(places, sizes, len(values))
    worst = max(range(len(values)), key=lambda place: read[place])
    hit = [manifest for manifest, (first, end) in zip(manifests, places, strict=True) if first <= worst < end]
    made_hit = sum(first <= worst < end for first, end in after)
    return weigh_planning(rewriting, f"{name}={values[worst]}", hit, len(manifests), made_hit)


def _find_places(
    manifest: Manifest | SortedManifest, spec_id: int | None, values: Sequence[Any]
) -> tuple[int, int]:
    """Which of some ordered values a manifest may hold; all of them where its list does not say."""
    listed = manifest.partition_summary
    if manifest.spec_id != spec_id or not len(listed):
        return 0, len(values)
    first = listed[0]
    if first.lower is None or first.upper is None:
        return (0, 0) if first.contains_null else (0, len(values))
    return bisect_left(values, first.lower), bisect_right(values, first.upper)


def _sum_places(places: Iterable[tuple[int, int]], weights: Iterable[int], length: int) -> list[int]:
    """Sum for each place the weights of the ranges that hold it."""
    steps = [0] * (length + 1)
    for (first, end), weight in zip(places, weights, strict=True):
        if first < end:
            steps[first] += weight
            steps[end] -= weight
    return list(accumulate(steps))[:length]
