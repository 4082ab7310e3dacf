"""Choosing files by partition and path: which manifests of a scan can hold any, and which of their files are meant.

A manifest is left out only on proof: its line in the manifest list bounds the values of its partitions, and none of the
wanted ones is between. What the list does not say, what cannot be decoded, fields of other partitionings and unknown
transforms prove nothing. Bounds of text may be cut short by their writer; an upper one then still begins what it
bounds.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from uuid import UUID

from lakelens.errors import LakeError, Unsupported, list_nearest
from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.manifest import FieldSummary, Manifest
from lakelens.model.scan.plan import FileBatch, ScanTask

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.fileset import FileColumns
    from lakelens.model.schema import PartitionSpec

_KNOWN_TRANSFORM = re.compile(r"identity|years?|months?|days?|hours?|void|(bucket|truncate)\[\d+\]")
_PARTITION_COLUMN = "partition_values"
_PATH_COLUMNS = ("path", "recorded_path")


@dataclass(frozen=True, slots=True)
class PartitionFilter:
    """What is wanted of one partition field: one of `values` (an Arrow array), or the values from `low` to `high`.

    Both ends belong to the range; None leaves one open. `nulls` says whether files without a value are wanted.
    """

    name: str
    kind: pa.DataType
    values: pa.Array | None = None
    low: pa.Scalar | None = None
    high: pa.Scalar | None = None
    nulls: bool = False

    def choose(self, array: pa.Array) -> pa.Array:
        """For each value of an array whether it is wanted."""
        import pyarrow as pa
        import pyarrow.compute as pc

        array = getattr(array, "storage", array)
        if self.values is not None:
            chosen = pc.is_in(array, value_set=self.values, skip_nulls=True)
        else:
            chosen = pc.is_valid(array)
            if self.low is not None:
                chosen = pc.and_(chosen, pc.greater_equal(array, self.low))
            if self.high is not None:
                chosen = pc.and_(chosen, pc.less_equal(array, self.high))
        if self.nulls:
            chosen = pc.or_(chosen, pc.is_null(array))
        return pc.fill_null(chosen, pa.scalar(False))

    def may_match(self, summary: FieldSummary) -> bool:
        """Check whether some value that a manifest's line sums up can be wanted: False only where none can."""
        import pyarrow as pa

        if self.nulls and summary.contains_null is not False:
            return True
        if summary.lower is None or summary.upper is None:
            return True
        if pa.types.is_floating(self.kind) and summary.contains_nan is not False:
            return True  # NaN is outside of bounds
        try:
            bounds = to_array([summary.lower, summary.upper], self.kind)
            lower, upper = getattr(bounds, "storage", bounds)
            if not (lower.is_valid and upper.is_valid):
                return True
            return self._overlaps(lower, upper)
        except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError):
            return True

    def _overlaps(self, lower: Any, upper: Any) -> bool:
        import pyarrow.compute as pc

        if self.values is not None:
            reached = self.values.filter(pc.greater_equal(self.values, lower))
            return any(not _is_above(value, upper) for value in reached)
        if self.low is not None and _is_above(self.low, upper):
            return False
        return self.high is None or not pc.less(self.high, lower).as_py()


@dataclass(frozen=True, slots=True)
class Selection:
    """The files that are meant: those whose partition fits every filter and whose path fits `path`. Can be pickled."""

    partition: tuple[PartitionFilter, ...] = ()
    path: str | None = None

    def __bool__(self) -> bool:
        return bool(self.partition) or self.path is not None

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns that choose files."""
        partition = (_PARTITION_COLUMN,) if self.partition else ()
        return partition + (_PATH_COLUMNS if self.path is not None else ())

    def choose(self, read: Callable[[str], pa.Array]) -> pa.Array | None:
        """For each file whether it is meant, `read` giving the columns by name; None where every one is."""
        import pyarrow.compute as pc

        chosen = None
        if self.partition:
            values = read(_PARTITION_COLUMN)
            for wanted in self.partition:
                fits = wanted.choose(values.field(values.type.get_field_index(wanted.name)))
                chosen = fits if chosen is None else pc.and_(chosen, fits)
        if self.path is not None:
            fits = pc.or_(*(match_paths(read(name), self.path) for name in _PATH_COLUMNS))
            chosen = fits if chosen is None else pc.and_(chosen, fits)
        return chosen

    def filter_batch(self, batch: FileBatch) -> FileBatch:
        """Filter the files of a batch that are meant. The batch needs `columns`."""
        chosen = self.choose(batch.plain.__getitem__)
        return batch if chosen is None else batch.filter(chosen)

    def prune_tasks(
        self,
        tasks: Iterable[ScanTask],
        manifests: Mapping[str, Manifest],
        specs: Mapping[int | None, PartitionSpec],
    ) -> list[ScanTask]:
        """Keep the tasks whose manifests can hold files that are meant; `manifests` by the path of their task."""
        if not self.partition:
            return list(tasks)
        kept = []
        for task in tasks:
            manifest = manifests.get(task.path)
            summaries = {} if manifest is None else read_summaries(manifest, specs)
            known = (wanted for wanted in self.partition if wanted.name in summaries)
            if all(wanted.may_match(summaries[wanted.name]) for wanted in known):
                kept.append(task)
        return kept


def select_files(
    columns: FileColumns, partition: Mapping[str, Any] | None = None, path: str | None = None
) -> Selection:
    """Give the selection of files by what a user asks for.

    `partition` gives for a field of `partition_values` the value wanted (None: files without one), a list of values, or
    a pair `(low, high)` as a tuple, both ends included, None for an open one. Text is taken for dates, times and numbers
    too. `path` is a whole path, a pattern with `*` (any characters, slashes too) or `?`, or a prefix that ends in `/`.

    Raises `Unsupported` for a field that the partitionings do not have, and for a value of another type.
    """
    kinds = dict(columns.partition)
    filters = []
    for name, wanted in (partition or {}).items():
        if name not in kinds:
            hint = list_nearest(name, kinds) if kinds else "it is not partitioned"
            raise Unsupported(f"no partition field {name!r}", hint=hint)
        filters.append(_make_filter(name, arrow_type(kinds[name]), wanted))
    return Selection(tuple(filters), path)


def read_summaries(manifest: Manifest, specs: Mapping[int | None, PartitionSpec]) -> dict[str, FieldSummary]:
    """Read what a manifest's line says of each partition field, of those alone whose transform is known."""
    try:
        summaries = manifest.partition_summary
        spec = specs.get(manifest.spec_id) if summaries else None
    except LakeError:
        return {}
    if spec is None or len(spec.fields) != len(summaries):
        return {}
    return {
        summary.name: summary
        for summary, field in zip(summaries, spec.fields, strict=True)
        if _KNOWN_TRANSFORM.fullmatch(field.transform) and field.transform != "void"
    }


def match_paths(array: Any, pattern: str) -> Any:
    """For each path whether it fits: wholly, by `*` and `?`, or by a beginning that ends in `/`.

    >>> import pyarrow as pa
    >>> match_paths(pa.array(["/t/a=1/x.orc", "/t/b"]), "/t/a=1/*.orc").to_pylist()
    [True, False]
    """
    import pyarrow.compute as pc

    if "*" in pattern or "?" in pattern:
        inner = "".join({"*": ".*", "?": "."}.get(sign) or re.escape(sign) for sign in pattern)
        fits = pc.match_substring_regex(array, rf"\A(?s:{inner})\z")
    elif pattern.endswith("/"):
        fits = pc.starts_with(array, pattern)
    else:
        fits = pc.equal(array, pattern)
    return pc.fill_null(fits, False)


def _make_filter(name: str, kind: pa.DataType, wanted: Any) -> PartitionFilter:
    import pyarrow as pa

    if isinstance(wanted, tuple):
        if len(wanted) != 2:
            raise Unsupported(
                f"the range of {name!r} is not a pair (low, high)", hint="a list for several values"
            )
        low, high = (None if end is None else _make_scalar(name, kind, end) for end in wanted)
        return PartitionFilter(name, kind, None, low, high)
    values: Sequence[Any] = list(wanted) if isinstance(wanted, list | set | frozenset) else [wanted]
    scalars = [_make_scalar(name, kind, value) for value in values if value is not None]
    nulls = len(scalars) < len(values)
    return PartitionFilter(name, kind, pa.array(scalars, getattr(kind, "storage_type", kind)), nulls=nulls)


def _make_scalar(name: str, kind: pa.DataType, value: Any) -> pa.Scalar:
    """Make a value as one of the field's type."""
    import pyarrow as pa
    import pyarrow.types as types

    try:
        if isinstance(kind, pa.UuidType):
            return pa.scalar(UUID(value).bytes if isinstance(value, str) else value.bytes, kind.storage_type)
        if isinstance(value, str) and types.is_binary(kind):
            raise TypeError("text for bytes")
        if isinstance(value, str) and not types.is_string(kind):
            return pa.scalar(value).cast(kind)
        return pa.scalar(value, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise Unsupported(f"{value!r} is no value of the partition field {name!r}, a {kind}") from error


def _is_above(value: Any, bound: Any) -> bool:
    """Check whether a value is above an upper bound: one that is cut short does not bound what it begins."""
    import pyarrow.compute as pc

    if not pc.greater(value, bound).as_py():
        return False
    plain, cut = value.as_py(), bound.as_py()
    return not (isinstance(plain, str | bytes) and plain.startswith(cut))
