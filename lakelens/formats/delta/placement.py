"""What partition values of a Delta table say of the columns that they are generated from, and which columns have statistics.

A partition column may be generated: `day DATE GENERATED ALWAYS AS (CAST(at AS DATE))`. Spark derives predicates on it from
predicates on `at` (`OptimizablePartitionExpression`); here a partition value stands for the range of values that it can have
been made from, which is the same proof, and can be shown. See "Generated Columns" of the Delta protocol.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from lakelens.model.scan.generation import GeneratedPlacement

if TYPE_CHECKING:
    from lakelens.formats.delta.context import LogContext
    from lakelens.formats.delta.log_table import DeltaTable
    from lakelens.model.stats import Term

_INDEXED = 32  # columns with statistics where no property says another number
_LIMIT, _CHOSEN = "delta.dataSkippingNumIndexedCols", "delta.dataSkippingStatsColumns"


class DeltaPlacement(GeneratedPlacement):
    """Where Delta puts rows: by partition columns as they are, and by those that are generated from others."""

    def __init__(self, table: DeltaTable) -> None:
        self._context: LogContext = table._context
        schema, expressions = self._context.columns.schema, dict[str, str]()
        for field in schema.raw.get("fields", ()) if isinstance(schema.raw, Mapping) else ():
            metadata = field.get("metadata") if isinstance(field, Mapping) else None
            text = metadata.get("delta.generationExpression") if isinstance(metadata, Mapping) else None
            if isinstance(text, str):
                expressions[field["name"]] = text
        super().__init__(table.specs, [field.name for field in schema.fields], expressions)

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
