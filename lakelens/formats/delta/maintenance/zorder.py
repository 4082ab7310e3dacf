"""How `OPTIMIZE … ZORDER BY` arranges rows: each partition by itself, all of its files, in ranges that are equal in rows.

A value becomes the number of its range among 1,000 of the column, null being the first, and the bits of the columns take
turns. Rows of one place are spread by a random number, so that a file may begin anywhere, and inside of a file rows are in
no order. Follows `OptimizeTableStrategy`, `MultiDimClustering` and `InterleaveBits` of delta-spark 3.3.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Unsupported
from lakelens.formats.delta.maintenance.commits import has_feature, write_name
from lakelens.model.measures.laying import WHOLE_FILE, LayoutRules

if TYPE_CHECKING:
    from lakelens.formats.delta.log_table import DeltaTable


def open_layout(table: DeltaTable) -> LayoutRules:
    """Open what OPTIMIZE can do with a table. Raises `Unsupported` for a clustered one, which follows a curve of its own."""
    if has_feature(table, "clustering"):
        raise Unsupported("how OPTIMIZE arranges a clustered table is not foretold", path=table.location)
    return LayoutRules(
        target=1 << 30,
        strategies=("sort", "zorder"),
        divide=lambda pile, target: pile.cut_evenly(max(1, int(pile.sizes.sum()) // target)),
        write_calls=lambda resolved: write_calls(table, resolved),
        read_call=read_call,
        row_group=WHOLE_FILE,
        fields=table.partitioning.fields,
        most_sorted=1,
        ranges=1_000,
        assumptions=(
            "OPTIMIZE … ZORDER BY, each partition by itself",
            "Spark finds the ends of its ranges by a sample of its own: each moves by some per cent of a file",
            "rows inside of a file are in no order: each of its row groups reaches as far as the file",
        ),
    )


def read_call(statement: Any) -> dict[str, Any]:
    """Read what layout a statement makes. Raises `LakeError` for one that arranges no rows."""
    if not (columns := statement.options.get("zorder_by")):
        raise LakeError("the statement arranges no table", expected="OPTIMIZE table ZORDER BY (…)")
    return {"zorder_by" if len(columns) > 1 else "sort_by": columns}


def write_calls(table: DeltaTable, resolved: Any) -> tuple[str, ...]:
    """Write the statements that arrange a table so."""
    columns, size = (f"`{key.column}`" for key in resolved.keys), resolved.layout.target_file_size
    call = f"OPTIMIZE {write_name(table)} ZORDER BY ({', '.join(columns)})"
    return (f"SET spark.databricks.delta.optimize.maxFileSize = {size}", call) if size else (call,)
