"""What partition values of a Delta table say of the columns that they are generated from.

A partition column may be generated: `day DATE GENERATED ALWAYS AS (CAST(at AS DATE))`. Spark derives predicates on it from
predicates on `at` (`OptimizablePartitionExpression`); here a partition value stands for the range of values that it can have
been made from, which is the same proof, and can be shown. In which zone a writer made days of timestamps is recorded
nowhere: such a range is as much wider on both sides as zones can differ.

See "Generated Columns" of the Delta protocol.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from lakelens.model.arrow import arrow_type, to_array
from lakelens.model.scan.generation import SPANS, find_range, parse_generation
from lakelens.model.scan.placement import Placement

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.formats.delta.context import LogContext
    from lakelens.formats.delta.log_table import DeltaTable
    from lakelens.model.schema import DataType, PartitionField
    from lakelens.model.stats import Term

_INDEXED = 32  # columns with statistics where no property says another number
_LIMIT, _CHOSEN = "delta.dataSkippingNumIndexedCols", "delta.dataSkippingStatsColumns"


class DeltaPlacement(Placement):
    """Where Delta puts rows: by partition columns as they are, and by those that are generated from others."""

    def __init__(self, table: DeltaTable) -> None:
        super().__init__(table.specs)
        self._context: LogContext = table._context
        schema = self._context.columns.schema
        described = schema.raw.get("fields", ()) if isinstance(schema.raw, Mapping) else ()
        names = {field.name.lower(): field.name for field in schema.fields}
        #: by source column: the partition column, and what it is cut to
        self._generated: dict[str, list[tuple[str, str]]] = {}
        for one in described:
            metadata = one.get("metadata") if isinstance(one, Mapping) else None
            text = metadata.get("delta.generationExpression") if isinstance(metadata, Mapping) else None
            parsed = parse_generation(text) if isinstance(text, str) else None
            if parsed is not None and parsed[0].lower() in names:
                self._generated.setdefault(names[parsed[0].lower()], []).append((one["name"], parsed[1]))

    def list_fields(self, spec_id: int | None, term: Term) -> Sequence[tuple[str, PartitionField, int]]:
        """See `Placement.list_fields`: those that are generated from a column say something of it too."""
        found = list(super().list_fields(spec_id, term))
        spec = self.specs.get(spec_id)
        for name, unit in self._generated.get(term.column, ()):
            for place, field in enumerate(spec.fields if spec is not None else ()):
                if field.source_name == name:
                    found.append((field.name, replace(field, transform=unit), place))
        return found

    def find_sources(
        self, field: PartitionField, kind: DataType, values: pa.Array
    ) -> tuple[pa.Array, pa.Array] | None:
        """See `Placement.find_sources`."""
        if field.transform not in SPANS:
            return super().find_sources(field, kind, values) if field.transform == "identity" else None
        if kind.logical not in ("timestamp", "timestamptz", "date"):
            return None
        coded = values.dictionary_encode()
        ranges = [find_range(value, field.transform, kind.logical) for value in coded.dictionary.to_pylist()]
        lower, upper = (to_array([ends[side] for ends in ranges], arrow_type(kind)) for side in (0, 1))
        return lower.take(coded.indices), upper.take(coded.indices)

    def transform(self, field: PartitionField, kind: DataType, value: Any) -> Any:
        """See `Placement.transform`: the beginning of a text; an empty one is NULL in partition values."""
        name, _, width = field.transform.partition(" ")
        if name != "prefix" or not isinstance(value, str):
            return None
        return value[: int(width)] or None

    def explain_absence(self, term: Term, file_format: str | None) -> str | None:
        """Explain the property by which writers gather statistics of some columns alone."""
        properties = self._context.configuration
        leaves = [leaf.name for leaf in self._context.columns.leaves]
        chosen = properties.get(_CHOSEN)
        if chosen is not None:
            names = [name.strip().strip("`") for name in chosen.split(",")]
            is_chosen = any(term.column == name or term.column.startswith(f"{name}.") for name in names)
            return None if is_chosen else f"not among the columns of {_CHOSEN}"
        limit = properties.get(_LIMIT, str(_INDEXED))
        place = leaves.index(term.column) + 1 if term.column in leaves else 0
        if limit.isdecimal() and place > int(limit):
            return f"column {place} of {len(leaves)}: only the first {limit} have statistics ({_LIMIT})"
        return None


def open_placement(table: DeltaTable) -> DeltaPlacement:
    """Open what partitions of a table say of the rows in them."""
    return DeltaPlacement(table)
