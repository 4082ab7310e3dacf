"""Which files a predicate needs: by partition, by bucket, and by the bounds and counts that manifests record."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from typing import TYPE_CHECKING, Any, Protocol

from lakelens.analysis.explain.judgement import Judgement, Proof
from lakelens.analysis.explain.levels import keeps_null, transform_values
from lakelens.caching import cached_property
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.files_to_arrow import STATS
from lakelens.model.scan.plan import ScanRequest
from lakelens.model.scan.ranges import Ranges
from lakelens.model.stats import Condition, Group, Term

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from lakelens.model.fileset import FileColumns
    from lakelens.model.scan.placement import Placement
    from lakelens.model.scan.plan import FileBatch
    from lakelens.model.schema import PartitionField

    Mask = NDArray[np.bool_]


# What manifests say of some files, by column: what a predicate is judged by, and nothing else is read.

_PLAIN = (
    *("content", "path", "manifest", "partition", "partition_values", "record_count", "size_bytes"),
    *("spec_id", "bucket", "level", "file_format", "first_row_id", "write_cols", "total_buckets"),
    *("extra_files", "embedded_file_index", "min_key", "max_key"),
)
COUNTS = ("null_counts", "value_counts", "nan_counts")


class Pool(Protocol):
    """As much of a set of files as is judged: a `FileSet`, or what else has its columns."""

    @property
    def columns(self) -> FileColumns:
        """See `FileSet.columns`."""

    def read_with(self, request: ScanRequest) -> list[FileBatch]:
        """See `FileSet.read_with`."""


class FileFacts:
    """What manifests say of some files, by column: the data files of a set, `places` being their numbers in it."""

    def __init__(self, files: Pool, placement: Placement, leaves: Sequence[str] | None) -> None:
        from lakelens.arrays import np, pc
        from lakelens.model.scan.files_to_arrow import list_columns as list_known

        self.placement = placement
        self.has_bounds = leaves is not None
        wanted = list_columns(list_known(files.columns, stats=True), self.has_bounds)
        request = ScanRequest(self.has_bounds, tuple(wanted), ahead=True, leaves=frozenset(leaves or ()))
        batches = files.read_with(request)
        self._plain = {
            name: _join([batch.plain.get(name) for batch in batches], batches)
            for name in wanted
            if name not in STATS
        }
        self._stats: dict[tuple[str, str], Any] = {
            (name, leaf): _join([batch.stats.get(name, {}).get(leaf) for batch in batches], batches)
            for name in wanted
            if name in STATS
            for leaf in {leaf for batch in batches for leaf in batch.stats.get(name, {})}
        }
        content = self._plain["content"]
        is_data = (
            pc.equal(content, "data").to_numpy(zero_copy_only=False) if content is not None else np.zeros(0)
        )
        self.places = np.flatnonzero(is_data)
        if len(self.places) < len(is_data):
            kept = self.places
            self._plain = {name: None if one is None else one.take(kept) for name, one in self._plain.items()}
            self._stats = {name: one.take(kept) for name, one in self._stats.items()}

    @cached_property
    def _independent(self) -> Mask | None:
        """The files that are judged by themselves; None where all are, because no rows are merged."""
        from lakelens.arrays import np

        merging = self.placement.merging
        if merging is None:
            return None
        if merging.by_rows:
            written = self.column("write_cols")
            shared = np.zeros(len(self), np.bool_)
            # files that hold columns of the same rows begin at the same row
            first = (
                self.numpy("first_row_id") if self.column("first_row_id") is not None else -np.ones(len(self))
            )
            for places in _group(first):
                if len(places) and first[places[0]] >= 0:
                    shared[places] = len(places) > 1
            if written is not None:
                shared |= written.is_valid().to_numpy(zero_copy_only=False)
            return ~shared
        alone = np.zeros(len(self), np.bool_)
        levels = self.numpy("level")
        for places in self.group_buckets():
            found = levels[places]
            # files of one level above 0 hold no key twice
            alone[places] = len(places) == 1 or (found[0] > 0 and bool((found == found[0]).all()))
        return alone

    def find_limit(self, term: Term) -> Mask | None:
        """Where files prove something of a term's column: everywhere (None) of a key, else where no rows are merged."""
        merging = self.placement.merging
        return None if merging is not None and term.column in merging.keys else self._independent

    def group_buckets(self) -> Iterator[NDArray[np.int64]]:
        """Group the numbers of the files of each bucket of each partition."""
        from lakelens.arrays import np

        partition = self.column("partition")
        assert partition is not None
        codes = partition.dictionary_encode().indices.to_numpy(zero_copy_only=False).astype(np.int64)
        return _group(codes * (1 << 32) + self.numpy("bucket"))

    def __len__(self) -> int:
        return len(self.places)

    def column(self, name: str) -> pa.Array | None:
        """A column as one array; None where there is none."""
        return self._plain.get(name)

    def stat(self, name: str, leaf: str) -> pa.Array | None:
        """The bounds or counts of a leaf column."""
        return self._stats.get((name, leaf))

    def has_stats(self, leaf: str) -> bool:
        """Check whether bounds or counts of nulls of a leaf column are known of any file."""
        return any((name, leaf) in self._stats for name in ("lower_bounds", "null_counts"))

    def partition(self, name: str) -> pa.Array | None:
        """The partition values of a field."""
        column = self.column("partition_values")
        place = -1 if column is None else column.type.get_field_index(name)
        return None if column is None or place < 0 else column.field(place)

    def numpy(self, name: str) -> NDArray[Any]:
        """A column of numbers; what is not known is -1."""
        from lakelens.arrays import np, pc

        column = self.column(name)
        if column is None:
            return np.zeros(0, np.int64)
        found: NDArray[Any] = pc.fill_null(column, -1).to_numpy(zero_copy_only=False)
        return found


def _group(codes: NDArray[Any]) -> Iterator[NDArray[np.int64]]:
    """Group the places of equal codes."""
    from lakelens.arrays import np

    order = np.argsort(codes, kind="stable")
    yield from np.split(order, np.flatnonzero(np.diff(codes[order])) + 1)


def _join(arrays: Sequence[pa.Array | None], batches: Sequence[FileBatch]) -> pa.Array | None:
    """Arrays of batches end to end: null for a batch that has none, since records and columns know different ones."""
    from lakelens.arrays import pa

    kind = next((array.type for array in arrays if array is not None), None)
    if kind is None:
        return None
    if len(arrays) == 1:
        return arrays[0]
    pairs = zip(arrays, batches, strict=True)
    return pa.concat_arrays([pa.nulls(batch.rows, kind) if one is None else one for one, batch in pairs])


def list_columns(known: Sequence[str], has_bounds: bool) -> list[str]:
    """List the columns of files that a predicate is judged by, of those that there are."""
    bounds = ("lower_bounds", "upper_bounds", *COUNTS) if has_bounds else ()
    return [name for name in (*_PLAIN, *bounds) if name in known]


_MOST_BUCKETS = 1_000


def judge_files(condition: Condition, facts: FileFacts) -> Judgement:
    """Judge which files can be skipped, and why."""
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
    """Add what the partition values of files say of a term's column, spec by spec."""
    from lakelens.arrays import np

    specs = facts.numpy("spec_id") if facts.column("spec_id") is not None else np.full(len(facts), -1)
    for spec_id in np.unique(specs).tolist():
        of_spec = specs == spec_id
        for name, field, _ in facts.placement.list_fields(None if spec_id < 0 else spec_id, term):
            values = facts.placement.find_values(name, facts.partition)
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
    from lakelens.arrays import pa, pc

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
    """Add what the partition values of wanted values prove: a file has another one."""
    from lakelens.arrays import pa, pc

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
    from lakelens.analysis.explain.judgement import name_columns
    from lakelens.arrays import np

    columns = facts.placement.bucket_columns
    if not columns or facts.column("bucket") is None or facts.column("total_buckets") is None:
        return
    wanted = _list_key_values(condition, columns)
    if wanted is None:
        return
    # the part that speaks of the first of the columns
    names = [name_columns(part).split(", ") for part in judgement.parts]
    part = next((number for number, spoken in enumerate(names) if columns[0] in spoken), 0)
    buckets, totals = facts.numpy("bucket"), facts.numpy("total_buckets")
    for total in np.unique(totals[totals > 0]).tolist():
        found = [facts.placement.find_bucket(values, total) for values in wanted]
        if None not in found:
            others = (totals == total) & ~np.isin(buckets, np.asarray(found)) & (buckets >= 0)
            judgement.skip(others, "bucket", part)


def _list_key_values(condition: Condition, columns: Sequence[str]) -> list[dict[str, Any]] | None:
    """List the combinations of values of some columns that a predicate allows; None where it allows others, or too many."""
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


# --- bounds ------------------------------------------------------------------------------------------------------------


def _add_bounds(judgement: Judgement, term: Term, facts: FileFacts, reason: str) -> None:
    """Add what the bounds and counts of a column in each file prove."""
    from lakelens.arrays import pa

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
    """Check whether bounds of this type have the order of a term's literals, as far as Arrow knows."""
    from lakelens.arrays import pa

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
    from lakelens.arrays import pa, pc

    rows = facts.column("record_count")
    if rows is None:
        return nulls, values
    absent = pc.max_element_wise(pc.subtract(rows, values), pa.scalar(0, pa.int64()), skip_nulls=False)
    is_less = pc.fill_null(pc.greater(absent, 0), False)
    return pc.if_else(is_less, pc.add(nulls, absent), nulls), pc.if_else(is_less, rows, values)


def _add_keys(judgement: Judgement, term: Term, facts: FileFacts) -> None:
    """What the smallest and the largest key prove of the first key column; they are recorded even without statistics."""
    from lakelens.arrays import pa, pc

    ends = facts.column("min_key"), facts.column("max_key")
    if ends[0] is None or ends[1] is None or not ends[0].type.num_fields:
        return
    if ends[0].type.field(0).name != term.column:
        return
    lower, upper = (pc.struct_field(end, 0) for end in ends)
    zero = pa.array([0] * len(facts), pa.int64())  # a key is never null
    known = pc.if_else(lower.is_valid(), zero, pa.scalar(None, pa.int64()))
    column = facts.column("record_count")
    assert column is not None
    judgement.add_ranges(term, Ranges(lower, upper, known, column, known), "key")


def _skip_groups(judgement: Judgement, facts: FileFacts) -> None:
    """Skip the buckets of which no file holds a row that fits: then no merged row does."""
    from lakelens.arrays import np

    failing = judgement.find_failing()
    fails = (failing >= 0) | judgement.skipped
    for places in facts.group_buckets():
        if fails[places].all():
            here = np.zeros(len(facts), np.bool_)
            here[places] = judgement.kept[places]
            for number in np.unique(failing[here]).tolist():
                judgement.skip(here & (failing == number), "bounds", number)
