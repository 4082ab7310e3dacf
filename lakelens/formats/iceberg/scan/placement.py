"""What Iceberg's partition values say of the source column: the values that a transform can have made them from.

Follows "Scan Planning" and "Partition Transforms" of the Iceberg table specification. A predicate is not projected onto
partition values, as engines do it, but a partition value onto the range of values that it stands for: the same proof, and it
can be shown. Releases before 0.13 counted years, months, days and hours of times before 1970 towards zero; as in the Java
library a count that is not positive therefore stands for the one before it too.
"""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from lakelens.codecs.iceberg.transforms import Transform
from lakelens.codecs.iceberg.types import IcebergType, parse_type_text
from lakelens.codecs.moments import count_days
from lakelens.codecs.numbers import parse_whole
from lakelens.errors import LakeError
from lakelens.formats.iceberg.context import TableContext
from lakelens.installed import has_arrays
from lakelens.model.arrow import arrow_type
from lakelens.model.scan.placement import Placement, cast_known

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.schema import DataType, PartitionField
    from lakelens.model.stats import Term

_UNITS = {"year": "Y", "month": "M", "day": "D", "hour": "h"}
_TICKS = {"ms": "ms", "us": "us", "ns": "ns"}
_INFERRED = 100
_METRICS = "write.metadata.metrics."


class IcebergPlacement(Placement):
    """Where Iceberg puts rows; every spec that manifests were written with counts."""

    def __init__(self, context: TableContext) -> None:
        super().__init__()
        self._context = context

    def list_fields(self, spec_id: int | None, term: Term) -> Sequence[tuple[str, PartitionField, int]]:
        """See `Placement.list_fields`: a column is known by its id, whatever it is called by now."""
        book = self._context.specs
        spec, columns = book.specs.get(spec_id or 0), book.columns(spec_id)
        if spec is None or columns is None:
            return []
        return [
            (column.shown, field, place)
            for place, (field, column) in enumerate(zip(spec.fields, columns, strict=True))
            if field.source_id is not None and field.source_id == term.field_id
        ]

    def find_sources(
        self, field: PartitionField, kind: DataType, values: pa.Array
    ) -> tuple[pa.Array, pa.Array] | None:
        """See `Placement.find_sources`."""
        transform = Transform.parse(field.transform)
        if transform.name == "identity":
            return super().find_sources(field, kind, values)
        if transform.name == "truncate" and transform.width is not None:
            return _find_truncated(cast_known(values, arrow_type(kind)), transform.width)
        if transform.name in _UNITS:
            return _find_moments(values, transform.name, arrow_type(kind))
        return None

    def transform(self, field: PartitionField, kind: DataType, value: Any) -> Any:
        """See `Placement.transform`."""
        transform, source = Transform.parse(field.transform), _read_type(str(kind))
        if source is None or transform.name in _UNITS:  # their ranges say as much, and forgive old releases
            return None
        try:
            return transform.apply(value, source)
        except (TypeError, ValueError, ArithmeticError, AttributeError):
            return None

    @cached_property
    def _places(self) -> dict[str, int]:
        """The leaf columns in the order of the schema, from 1."""
        return {name: place for place, (name, _) in enumerate(self._context.schemas.current.leaves(), 1)}

    def explain_absence(self, term: Term, file_format: str | None) -> str | None:
        """Explain the property by which Iceberg's writers leave out a column's metrics; see "Write properties"."""
        if file_format == "avro":
            return "Avro files have no metrics"
        properties = self._context.properties
        name = f"{_METRICS}column.{term.column}"
        if name in properties:
            return _describe_mode(name, properties[name])
        default = properties.get(f"{_METRICS}default")
        if default is not None and str(default).lower() in ("none", "counts"):
            return _describe_mode(f"{_METRICS}default", default)
        limit = properties.get(f"{_METRICS}max-inferred-column-defaults", _INFERRED)
        place = self._places.get(term.column, 0)
        most = parse_whole(str(limit))
        if default is None and most is not None and place > most:
            rule = f"only the first {limit} have metrics ({_METRICS}max-inferred-column-defaults)"
            return f"column {place} of {len(self._places)}: {rule}"
        return None


def _describe_mode(name: str, mode: Any) -> str | None:
    return f"{name} = {mode}" if str(mode).lower() in ("none", "counts") else None


@cache
def _read_type(text: str) -> IcebergType | None:
    try:
        return parse_type_text(text)
    except LakeError:
        return None


def _find_truncated(values: pa.Array | None, width: int) -> tuple[pa.Array, pa.Array] | None:
    """Numbers up to the next multiple of the width; text and bytes that begin so, where the value is as long as that."""
    from lakelens.arrays import pa, pc

    if values is None:
        return None
    kind = values.type
    if pa.types.is_integer(kind):
        most = (1 << (kind.bit_width - 1)) - 1
        near = pc.greater(values, pa.scalar(most - (width - 1) if width <= most else -1, kind))
        safe = pc.if_else(near, pa.scalar(0, kind), values)
        return values, pc.if_else(
            near, pa.scalar(most, kind), pc.add(safe, pa.scalar(min(width - 1, most), kind))
        )
    if pa.types.is_decimal(kind):
        # wider than the sum can be; above all that the type holds there is nothing
        wide = pa.decimal256(60, kind.scale)
        step = pa.scalar(Decimal(f"{width - 1}E{-kind.scale}"), wide)
        sums = pc.add(values.cast(wide), step)
        most = pa.scalar(Decimal((0, (9,) * kind.precision, -kind.scale)), sums.type)
        return values, pc.min_element_wise(sums, most, skip_nulls=False).cast(kind)
    if pa.types.is_string(kind):
        # no text holds the byte FF: it is above all that begins so
        begins = pc.binary_join_element_wise(values.cast(pa.binary()), b"\xff", b"")
        is_cut = pc.greater_equal(pc.utf8_length(values), width)
        return values, pc.if_else(is_cut, begins, values.cast(pa.binary()))
    if pa.types.is_binary(kind):
        ends = [_find_end(one, width) for one in values.to_pylist()]
        return values, pa.array(ends, pa.binary())
    return None


def _find_end(value: bytes | None, width: int) -> bytes | None:
    """Find the least bytes above all that begin with a value; the value itself where it is shorter than it could be."""
    if value is None or len(value) < width:
        return value
    kept = value.rstrip(b"\xff")
    return kept[:-1] + bytes([kept[-1] + 1]) if kept else None


def _find_moments(values: pa.Array, name: str, kind: pa.DataType) -> tuple[pa.Array, pa.Array] | None:
    """Find the first and the last moment of years, months, days or hours since 1970."""
    from lakelens.arrays import np, pa, pc

    if not (pa.types.is_date32(kind) or pa.types.is_timestamp(kind)):
        return None
    if not (pa.types.is_integer(values.type) or pa.types.is_date32(values.type)):
        return None
    ticks = "D" if pa.types.is_date32(kind) else _TICKS[kind.unit]
    counts = pc.fill_null(values.view(pa.int32()) if pa.types.is_date32(values.type) else values, 0)
    unit, numbers = _UNITS[name], counts.to_numpy(zero_copy_only=False).astype(np.int64)
    exact = name == "day" and ticks == "D"
    first = np.where((numbers <= 0) & (not exact), numbers - 1, numbers)
    limit = _LIMITS[unit, ticks == "ns"]  # beyond are more ticks than 64 bits hold
    is_known = values.is_valid().to_numpy(zero_copy_only=False) & (abs(numbers) < limit)
    first, following = np.where(is_known, first, 0), np.where(is_known, numbers + 1, 0)
    lower, upper = _count_ticks(first, unit, ticks), _count_ticks(following, unit, ticks) - 1
    stored = pa.int32() if ticks == "D" else pa.int64()
    width = np.int32 if ticks == "D" else np.int64
    ends = (pa.array(one.astype(width), stored, mask=~is_known).view(kind) for one in (lower, upper))
    return next(ends), next(ends)


#: The years, months, days and hours of 2^62 microseconds, and of 2^62 nanoseconds.
_LIMITS = {
    ("Y", False): 146_138,
    ("M", False): 1_753_662,
    ("D", False): 53_375_995,
    ("h", False): 1_281_023_894,
    ("Y", True): 146,
    ("M", True): 1_753,
    ("D", True): 53_375,
    ("h", True): 1_281_023,
}
_PER_SECOND = {"ms": 10**3, "us": 10**6, "ns": 10**9}


def _count_ticks(numbers: Any, unit: str, ticks: str) -> Any:
    """Count the ticks from 1970 to the first moment of each year, month, day or hour, by its number since then."""
    if has_arrays():
        return numbers.astype(f"datetime64[{unit}]").astype(f"datetime64[{ticks}]").astype("int64")

    def count(number: int) -> int:
        if unit in "YM":
            number = count_days(*divmod(number if unit == "M" else 12 * number, 12))
        seconds = number * (3600 if unit == "h" else 86_400)
        return seconds // 86_400 if ticks == "D" else seconds * _PER_SECOND[ticks]

    return numbers.astype(count)


def open_placement(table: IcebergTable) -> IcebergPlacement:
    """Open what partitions and buckets of a table say of the rows in them."""
    return IcebergPlacement(table._context)
