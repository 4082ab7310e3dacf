"""How Iceberg's `rewrite_data_files` arranges rows with the strategy `sort`, a curve through several columns included.

Of each partition that stays as it is, up to 100 GiB are ordered together; where the partitioning changes, all rows are, by
their new partition first. Spark divides the order into ranges, as many as files are expected of the bytes, and never within
equal keys; a range becomes a file, or several where it is larger than a file may get. Follows `SizeBasedFileRewritePlanner`
and `SparkShufflingFileRewriteRunner` of Iceberg 1.12, and `RangePartitioner` of Spark 3.5, whose own sample moves each end
by some per cent.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, Unsupported
from lakelens.formats.iceberg.maintenance.commits import CATALOG, read_number, write_call
from lakelens.formats.iceberg.maintenance.packing import Limits
from lakelens.model.measures.laying import LayoutRules, Pile, find_range_ends

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from lakelens.formats.iceberg.table import IcebergTable
    from lakelens.model.schema import PartitionField

_TARGET = "write.target-file-size-bytes"
_DEFAULT = 512 << 20
_GROUP_BYTES = 100 << 30
_ROW_GROUP = 128 << 20
_LOOKS = 1_000
_ARGUMENTS = ("table", "strategy", "sort_order", "options", "where", "branch")


def open_layout(table: IcebergTable) -> LayoutRules:
    """Open what Spark's procedure can do with a table."""
    row_group = read_number(table, "write.parquet.row-group-size-bytes", _ROW_GROUP)
    return LayoutRules(
        target=read_number(table, _TARGET, _DEFAULT),
        strategies=("sort", "zorder"),
        transforms=("identity", "year", "month", "day", "hour", "bucket", "truncate"),
        divide=divide_ranges,
        roll=lambda pile, start, end, target: pile.find_rolls(
            start, end, Limits.read({}, target).write_most, row_group, _LOOKS
        ),
        tick="s",  # `SparkZOrderUDF` casts times to numbers, which are whole seconds
        write_calls=lambda resolved: _write_calls(table, resolved),
        read_call=read_call,
        row_group=row_group,
        group_bytes=_GROUP_BYTES,
        counts_nans=True,  # by `FieldMetrics` of Iceberg's Java writers, whoever wrote the files of today
        fields=_list_fields(table),
        assumptions=(
            "Spark's rewrite_data_files(strategy => 'sort'), each partition by itself, in groups of up to 100 GiB",
            "Spark finds the ends of its ranges by a sample of its own: each moves by some per cent of a file",
        ),
    )


def divide_ranges(pile: Pile, target: int) -> NDArray[np.int64]:
    """Say where Spark's ranges begin in ordered rows: they are of equal size, and none ends within equal keys.

    >>> import numpy as np
    >>> pile = Pile(np.ones(8), np.full(8, 100.0), np.array([1, 1, 0, 0, 0, 0, 1, 1], bool))
    >>> divide_ranges(pile, 200).tolist()
    [0, 6, 7]
    """
    import numpy as np

    limits = Limits.read({}, target)
    total = float(pile.sizes.sum())
    outputs = limits.expect_outputs(int(total))
    runs = np.flatnonzero(pile.is_first)
    # how many rows there are up to the end of each run of equal keys
    counted = np.cumsum(pile.rows)
    ends = counted[np.append(runs[1:], len(pile.rows)) - 1]
    starts = [0, *(int(runs[end + 1]) for end in find_range_ends(ends, outputs))]
    return np.array(starts, np.int64)


def read_call(statement: Any) -> dict[str, Any]:
    """Read what layout a CALL of `rewrite_data_files` makes: the options of a `Layout`.

    Raises `LakeError` for another procedure or strategy, and `Unsupported` for another branch or partition spec.
    """
    given = {**dict(zip(_ARGUMENTS, statement.values, strict=False)), **statement.options}
    order = str(given.get("sort_order") or "").strip()
    if statement.procedure != "rewrite_data_files" or given.get("strategy") != "sort" or not order:
        raise LakeError(
            "the CALL arranges no rows", expected="rewrite_data_files(strategy => 'sort', sort_order => '…')"
        )
    options = given.get("options") or {}
    options = options if isinstance(options, dict) else {}
    if given.get("branch") not in (None, "main") or "output-spec-id" in options:
        raise Unsupported("of the main branch alone, in today's partitions, a layout is foretold")
    order = re.sub(r"\s+(asc|nulls\s+last)\b", "", order, flags=re.I)  # as it is anyway
    curve = re.fullmatch(r"zorder\((.*)\)", order, re.I | re.S)
    size = options.get("target-file-size-bytes")
    return {"zorder_by" if curve else "sort_by": curve[1] if curve else order, "target_file_size": size}


def _write_calls(table: IcebergTable, resolved: Any) -> tuple[str, ...]:
    """Write the statements that arrange a table so, and keep what is written later in the same order."""
    layout, name = resolved.layout, table.name
    order = ", ".join(
        f"{_quote(key.column)} {'DESC' if key.is_descending else 'ASC'} NULLS LAST" for key in resolved.keys
    )
    if layout.strategy == "zorder":
        order = f"zorder({', '.join(_quote(key.column) for key in resolved.keys)})"
    options = "map('rewrite-all', 'true'"
    if layout.target_file_size:
        options += f", 'target-file-size-bytes', '{layout.target_file_size}'"
    full = f"{CATALOG}.{name}"
    calls = []
    if resolved.spec is not None:
        current = _list_fields(table)
        written = [_write_field(field) for field in resolved.spec.fields]
        gone = [field for field in current if _write_field(field) not in written]
        held = [_write_field(field) for field in current]
        calls += [f"ALTER TABLE {full} DROP PARTITION FIELD {_write_field(field)}" for field in gone]
        calls += [f"ALTER TABLE {full} ADD PARTITION FIELD {text}" for text in written if text not in held]
    call = write_call(name, "rewrite_data_files", {"strategy": "sort", "sort_order": order})
    calls.append(f"{call[:-1]},\n  options => {options}))")
    if layout.strategy == "sort":
        calls.append(f"ALTER TABLE {full} WRITE ORDERED BY {order}")
    return tuple(calls)


def _list_fields(table: IcebergTable) -> tuple[PartitionField, ...]:
    spec = table._context.specs.specs.get(table._context.typed.default_spec_id or 0)
    return tuple(field for field in (spec.fields if spec is not None else ()) if field.transform != "void")


def _quote(name: str) -> str:
    plain = name.replace("_", "").replace(".", "")
    return name if plain.isalnum() and plain.isascii() else "`" + name.replace("`", "``") + "`"


def _write_field(field: Any) -> str:
    """Write a partition field as Spark SQL has it."""
    word, _, width = field.transform.partition("[")
    column = _quote(field.source_name)
    if word == "identity":
        return column
    return f"{word}({width[:-1]}, {column})" if width else f"{word}s({column})"
