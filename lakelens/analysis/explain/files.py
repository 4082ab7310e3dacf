"""Which files a predicate needs: by partition, by bucket, and by the bounds and counts that manifests record."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import TYPE_CHECKING, Any

from lakelens.analysis.explain.file_facts import COUNTS, FileFacts
from lakelens.analysis.explain.judgement import Judgement, Proof
from lakelens.analysis.explain.manifests import keeps_null, transform_values
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.predicate import Condition, Group, Term
from lakelens.model.scan.ranges import Ranges

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.scan.placement import Placement
    from lakelens.model.schema import PartitionField

    Mask = NDArray[np.bool_]

_MOST_BUCKETS = 1_000


def judge_files(condition: Condition, facts: FileFacts) -> Judgement:
    """Which files can be skipped, and why."""
    judgement = Judgement(condition, len(facts))
    if not len(facts):
        return judgement
    for term in judgement.terms:
        _add_partitions(judgement, term, facts)
    judgement.settle("partition")
    _skip_buckets(judgement, condition, facts)
    if facts.has_bounds:
        merging = facts.placement.merging
        keys = merging.keys if merging is not None else ()
        for term in judgement.terms:
            if term.column in keys:
                _add_keys(judgement, term, facts)
                _add_bounds(judgement, term, facts, "key")
        judgement.settle("key")
        for term in judgement.terms:
            if term.column not in keys:
                _add_bounds(judgement, term, facts, "bounds")
        judgement.settle("bounds")
        if merging is not None and not merging.is_combining and not merging.by_rows:
            _skip_groups(judgement, facts)
    return judgement


# --- partitions and buckets --------------------------------------------------------------------------------------------


def _add_partitions(judgement: Judgement, term: Term, facts: FileFacts) -> None:
    """What the partition values of files say of a term's column, spec by spec."""
    import numpy as np

    specs = facts.numpy("spec_id") if facts.column("spec_id") is not None else np.full(len(facts), -1)
    for spec_id in np.unique(specs).tolist():
        of_spec = specs == spec_id
        for name, field, _ in facts.placement.list_fields(None if spec_id < 0 else spec_id, term):
            values = facts.partition(name)
            if values is None:
                continue
            ranges = _range_partition(term, field, values, of_spec, facts.placement)
            if ranges is not None:
                judgement.add_ranges(term, ranges, "partition")
            is_equal = _add_equal(judgement, term, field, values, of_spec, facts.placement)
            if ranges is None and not is_equal:
                nothing = np.zeros(len(facts), np.bool_)
                judgement.add(term, "place", Proof(nothing))


def _range_partition(
    term: Term, field: PartitionField, values: pa.Array, of_spec: Mask, placement: Placement
) -> Ranges | None:
    """The values of the source column by partition value; null exactly where the partition value is."""
    import pyarrow as pa
    import pyarrow.compute as pc

    found = placement.find_sources(field, term.type, values)
    if not keeps_null(field.transform):
        return None
    mask = pa.array(of_spec)
    one, none = pa.scalar(1, pa.int64()), pa.scalar(None, pa.int64())
    nulls = pc.if_else(mask, values.is_null().cast(pa.int64()), none)
    is_nan = pc.is_nan(values) if pa.types.is_floating(values.type) else pa.array([False] * len(values))
    nans = pc.if_else(mask, pc.fill_null(is_nan, False).cast(pa.int64()), none)
    counts = nulls, pc.if_else(mask, one, none), nans
    if found is None:
        unknown = pa.nulls(len(values), arrow_type(term.type))
        return Ranges(unknown, unknown, *counts)
    lower, upper = (pc.if_else(mask, end, pa.scalar(None, end.type)) for end in found)
    return Ranges(lower, upper, *counts)


def _add_equal(
    judgement: Judgement,
    term: Term,
    field: PartitionField,
    values: pa.Array,
    of_spec: Mask,
    placement: Placement,
) -> bool:
    """What the partition values of wanted values prove: a file has another one."""
    import pyarrow as pa
    import pyarrow.compute as pc

    wanted = transform_values(term, field, placement)
    if wanted is None:
        return False
    chosen = to_array(wanted, values.type)
    if chosen.null_count:
        return False
    values, chosen = getattr(values, "storage", values), getattr(chosen, "storage", chosen)
    others = pc.invert(pc.is_in(values, value_set=chosen))
    none = of_spec & pc.and_(others, values.is_valid()).to_numpy(zero_copy_only=False)
    judgement.add(
        term, "partition", Proof(none, None, of_spec & (pa.compute.is_valid(values).to_numpy(False)))
    )
    return True


def _skip_buckets(judgement: Judgement, condition: Condition, facts: FileFacts) -> None:
    """Skip files of other buckets, where the predicate gives a value of every column that decides the bucket."""
    import numpy as np

    columns = facts.placement.bucket_columns
    if not columns or facts.column("bucket") is None or facts.column("total_buckets") is None:
        return
    wanted = _list_key_values(condition, columns)
    if wanted is None:
        return
    buckets, totals = facts.numpy("bucket"), facts.numpy("total_buckets")
    for total in np.unique(totals[totals > 0]).tolist():
        found = [facts.placement.find_bucket(values, total) for values in wanted]
        if None not in found:
            others = (totals == total) & ~np.isin(buckets, np.asarray(found)) & (buckets >= 0)
            judgement.skip(others, "bucket", _find_part(judgement, columns))


def _list_key_values(condition: Condition, columns: Sequence[str]) -> list[dict[str, Any]] | None:
    """The combinations of values of some columns that a predicate allows; None where it allows others, or too many."""
    parts = condition.parts if isinstance(condition, Group) and condition.kind == "and" else (condition,)
    found: dict[str, tuple[Any, ...]] = {}
    for part in parts:
        terms = part.parts if isinstance(part, Group) and part.kind == "or" else (part,)
        names = {term.column for term in terms if isinstance(term, Term) and term.test in ("=", "in")}
        if len(names) != 1 or not all(isinstance(one, Term) and one.test in ("=", "in") for one in terms):
            continue
        name = names.pop()
        values = tuple(value for term in terms if isinstance(term, Term) for value in term.values)
        found[name] = min(found.get(name, values), values, key=len)
    if not all(name in found for name in columns):
        return None
    count = 1
    for name in columns:
        count *= len(found[name])
    if count > _MOST_BUCKETS:
        return None
    return [dict(zip(columns, values, strict=True)) for values in product(*(found[name] for name in columns))]


def _find_part(judgement: Judgement, columns: Sequence[str]) -> int:
    """The number of the part that speaks of the first of some columns."""
    from lakelens.analysis.explain.judgement import name_columns

    names = [name_columns(part).split(", ") for part in judgement.parts]
    return next((number for number, found in enumerate(names) if columns[0] in found), 0)


# --- bounds ------------------------------------------------------------------------------------------------------------


def _add_bounds(judgement: Judgement, term: Term, facts: FileFacts, reason: str) -> None:
    """What the bounds and counts of a column in each file prove."""
    import pyarrow as pa

    leaf = next((name for name in list_leaves(term) if facts.has_stats(name)), None)
    if leaf is None:
        return
    lower, upper = (facts.stat(name, leaf) for name in ("lower_bounds", "upper_bounds"))
    if lower is None or upper is None or term.type.is_nested or not _is_comparable(lower.type, term):
        # whole lists, maps and structs have counts and no order; a column of an older snapshot may have another type by now
        lower = upper = pa.nulls(len(facts))
    unknown = pa.nulls(len(facts), pa.int64())
    nulls, values, nans = (facts.stat(name, leaf) for name in COUNTS)
    nulls, values = (unknown if one is None else one for one in (nulls, values))
    counts = *_add_absent(nulls, values, facts), unknown if nans is None else nans
    judgement.add_ranges(term, Ranges(lower, upper, *counts), reason, facts.find_limit(term))


def list_leaves(term: Term) -> tuple[str, ...]:
    """The names by which statistics of a term's column are known: those of a list or a struct in ORC by its id alone."""
    return (term.column, f"#{term.field_id}") if term.type.is_nested else (term.column,)


def _is_comparable(kind: pa.DataType, term: Term) -> bool:
    """Whether bounds of this type have the order of a term's literals, as far as Arrow knows."""
    import pyarrow as pa

    literal = arrow_type(term.type)
    if pa.types.is_decimal(kind) and pa.types.is_decimal(literal):
        return bool(kind.scale == literal.scale)
    families = (
        pa.types.is_integer,
        pa.types.is_floating,
        lambda one: one in (pa.string(), pa.binary()) or pa.types.is_fixed_size_binary(one),
    )
    return bool(kind == literal) or any(family(kind) and family(literal) for family in families)


def _add_absent(nulls: pa.Array, values: pa.Array, facts: FileFacts) -> tuple[pa.Array, pa.Array]:
    """Counts of nulls and values with the rows that were not counted: ORC does not count fields of a struct that is null."""
    import pyarrow as pa
    import pyarrow.compute as pc

    rows = facts.column("record_count")
    if rows is None:
        return nulls, values
    absent = pc.max_element_wise(pc.subtract(rows, values), pa.scalar(0, pa.int64()), skip_nulls=False)
    is_less = pc.fill_null(pc.greater(absent, 0), False)
    return pc.if_else(is_less, pc.add(nulls, absent), nulls), pc.if_else(is_less, rows, values)


def _add_keys(judgement: Judgement, term: Term, facts: FileFacts) -> None:
    """What the smallest and the largest key prove of the first key column; they are recorded even without statistics."""
    import pyarrow as pa
    import pyarrow.compute as pc

    ends = facts.column("min_key"), facts.column("max_key")
    if ends[0] is None or ends[1] is None or not ends[0].type.num_fields:
        return
    if ends[0].type.field(0).name != term.column:
        return
    lower, upper = (pc.struct_field(end, 0) for end in ends)
    zero = pa.array([0] * len(facts), pa.int64())  # a key is never null
    known = pc.if_else(lower.is_valid(), zero, pa.scalar(None, pa.int64()))
    judgement.add_ranges(term, Ranges(lower, upper, known, _find(facts, "record_count"), known), "key")


def _find(facts: FileFacts, name: str) -> pa.Array:
    column = facts.column(name)
    assert column is not None
    return column


def _skip_groups(judgement: Judgement, facts: FileFacts) -> None:
    """Skip the buckets of which no file holds a row that fits: then no merged row does."""
    import numpy as np

    failing = judgement.find_failing()
    fails = (failing >= 0) | judgement.skipped
    for places in facts.group_buckets():
        if fails[places].all():
            here = np.zeros(len(facts), np.bool_)
            here[places] = judgement.kept[places]
            for number in np.unique(failing[here]).tolist():
                judgement.skip(here & (failing == number), "bounds", number)
