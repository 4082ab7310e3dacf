"""How Paimon's `sys.compact` arranges rows with `order_strategy`: the order, the z-order or Hilbert's curve of some columns.

Spark orders each partition by itself, in ranges that it joins again to about 64 MiB; a range is written into files of
`target-file-size`, a new one being begun where that is reached, which is looked at after each 1,000 rows. Follows
`CompactProcedure` and `TableSorter` of Paimon's Spark connector 0.9, and its `RollingFileWriter`. A table with a primary key
keeps its files in the order of the key: it has no other.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Unsupported
from lakelens.formats.paimon.maintenance.compact import PROCEDURE, parse_options
from lakelens.formats.paimon.maintenance.deletion import write_call
from lakelens.formats.paimon.splits import parse_size
from lakelens.model.measures.laying import LayoutRules, Pile

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.paimon.table import PaimonTable

_TARGET = "target-file-size"
_DEFAULT = 256 << 20
_ROW_GROUP = 128 << 20
_RANGE = 64 << 20
_LOOKS = 1_000


def open_layout(table: PaimonTable) -> LayoutRules:
    """Open what Spark's procedure can do with a table. Raises `Unsupported` for one whose rows are placed by a key."""
    if table.primary_keys:
        raise Unsupported(
            "a table with a primary key keeps its files in the order of the key", path=table.location
        )
    if str(table.properties.get("bucket", "-1")) != "-1":
        raise Unsupported(
            "Paimon orders tables without fixed buckets alone", path=table.location, hint="bucket = -1"
        )
    given, block = table.properties.get(_TARGET), str(table.properties.get("parquet.block.size", ""))
    row_group = int(block) if block.isdigit() else _ROW_GROUP
    return LayoutRules(
        target=_DEFAULT if given is None else parse_size(str(given)),
        strategies=("sort", "zorder", "hilbert"),
        divide=divide_ranges,
        roll=lambda pile, start, end, target: pile.find_rolls(start, end, target, row_group, _LOOKS),
        tick="ms",
        write_calls=lambda resolved: _write_calls(table, resolved),
        read_call=read_call,
        row_group=row_group,
        fields=tuple(field for spec in table.specs for field in spec.fields),
        assumptions=(
            "Spark's sys.compact(order_strategy => …), each partition by itself",
            "Spark joins its ranges to about 64 MiB, by the bytes that it shuffles, which are not known here",
        ),
    )


def divide_ranges(pile: Pile, target: int) -> NDArray[np.int64]:
    """Say where the ranges begin that Spark makes of a partition, whatever the size of a file is.

    >>> import numpy as np
    >>> divide_ranges(Pile(np.full(50, 100.0), np.full(50, 4.0 * (1 << 20)), np.ones(50, bool)), 1_500).tolist()
    [0, 17, 34]
    """
    return pile.cut_evenly(max(1, round(float(pile.sizes.sum()) / _RANGE)))


def read_call(statement: Any) -> dict[str, Any]:
    """Read what layout a CALL of `sys.compact` makes: the options of a `Layout`.

    Raises `LakeError` for another procedure, or one without an order.
    """
    given = PROCEDURE.name_values(statement.values, statement.options)
    option = {"order": "sort_by", "zorder": "zorder_by", "hilbert": "hilbert_by"}.get(
        str(given.get("order_strategy")).lower()
    )
    if statement.procedure != "compact" or option is None or not given.get("order_by"):
        raise LakeError(
            "the CALL arranges no rows", expected="sys.compact(order_strategy => 'order', order_by => '…')"
        )
    size = parse_options(str(given.get("options") or "")).get(_TARGET)
    return {option: given["order_by"], "target_file_size": None if size is None else parse_size(size)}


def _write_calls(table: PaimonTable, resolved: Any) -> tuple[str, ...]:
    layout = resolved.layout
    columns = ",".join(key.column for key in resolved.keys)
    strategy = {"sort": "order"}.get(layout.strategy, layout.strategy)
    call = write_call("compact", {"table": table.name, "order_strategy": strategy, "order_by": columns})
    if not layout.target_file_size:
        return (call,)
    size = f"'{_TARGET}' = '{layout.target_file_size} b'"
    return (f"ALTER TABLE {table.name} SET TBLPROPERTIES ({size})", call)
