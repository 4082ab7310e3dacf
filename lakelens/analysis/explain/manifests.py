"""Which manifests of a snapshot can hold files that a predicate needs: by what their list says of their partitions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.judgement import Judgement, Proof
from lakelens.errors import LakeError
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.predicate import Condition, Term
from lakelens.model.scan.ranges import Ranges

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.manifest import FieldSummary, Manifest
    from lakelens.model.scan.placement import Placement
    from lakelens.model.schema import PartitionField


def judge_manifests(condition: Condition, manifests: Sequence[Manifest], placement: Placement) -> Judgement:
    """Which manifests can be skipped, unread. What a list does not say, or says wrongly, proves nothing."""
    judgement = Judgement(condition, len(manifests))
    for term in judgement.terms:
        for spec_id, places in _group(manifests).items():
            for _, field, place in placement.list_fields(spec_id, term):
                summaries = {
                    n: one for n in places if (one := _find_summary(manifests[n], place)) is not None
                }
                if keeps_null(field.transform):
                    ranges = _find_ranges(term, field, summaries, len(manifests), placement)
                    judgement.add_ranges(term, ranges, "partition")
                _add_equal(judgement, term, field, summaries, placement)
    judgement.settle("partition")
    return judgement


def _group(manifests: Iterable[Manifest]) -> dict[int | None, list[int]]:
    groups: dict[int | None, list[int]] = {}
    for number, manifest in enumerate(manifests):
        groups.setdefault(manifest.spec_id, []).append(number)
    return groups


def _find_summary(manifest: Manifest, place: int) -> FieldSummary | None:
    try:
        summaries = manifest.partition_summary
    except LakeError:
        return None
    return summaries[place] if place < len(summaries) else None


def _find_ranges(
    term: Term, field: PartitionField, summaries: dict[int, FieldSummary], count: int, placement: Placement
) -> Ranges:
    """What the summaries of a partition field say of the source column of manifests."""
    import pyarrow as pa

    kind = arrow_type(term.type)
    stored = _type_values(field, [one for found in summaries.values() for one in (found.lower, found.upper)])
    found = None if stored is None else placement.find_sources(field, term.type, stored)
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


def _type_values(field: PartitionField, values: list[Any]) -> pa.Array | None:
    """Partition values as an array; None where they are of no type."""
    if field.result_type is None:
        return None
    return to_array(values, arrow_type(field.result_type))


def _add_equal(
    judgement: Judgement,
    term: Term,
    field: PartitionField,
    summaries: dict[int, FieldSummary],
    placement: Placement,
) -> None:
    """What the partition values of wanted values prove: they are outside of those in the manifest."""
    import numpy as np

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
