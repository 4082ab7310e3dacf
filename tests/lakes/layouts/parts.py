"""Statements that arrange a part of a table: of tables of `cases.py` and `drawn.py`, which are packed already.

Of Iceberg by `where`, and by the size of files; of Paimon by `partitions` and `where`; of Delta by partitions. The layout
that a deed has (`parts.json`) is the statement itself, in which `{table}` and `{full}` stand for the table.
"""

from __future__ import annotations

from dataclasses import replace

from tests.lakes.layouts.cases import TABLES as CASES
from tests.lakes.layouts.cases import Layout, Table
from tests.lakes.layouts.drawn import OPTIMIZED

_ALL = "'rewrite-all', 'true', 'target-file-size-bytes', '32768'"


def state(name: str, statement: str) -> Layout:
    """Name a statement."""
    return Layout(name, {"statement": statement}, (statement,))


def rewrite(order: str, where: str, sized: int = 0) -> Layout:
    """Arrange the files of an Iceberg table that a predicate chooses; with a size those alone that are far from it."""
    options = f"'target-file-size-bytes', '{sized}', 'min-input-files', '2'" if sized else _ALL
    only = f', where => "{where}"' if where else ""
    statement = (
        f"CALL iceberg.system.rewrite_data_files(table => '{{table}}', strategy => 'sort', "
        f"sort_order => '{order}', options => map({options}){only})"
    )
    return state(f"{order} of {where or 'all'}{f' that are not of {sized}' if sized else ''}", statement)


def compact(strategy: str, columns: str, part: str) -> Layout:
    """Arrange some partitions of a Paimon table."""
    statement = (
        f"CALL paimon.sys.compact(table => '{{table}}', order_strategy => '{strategy}', "
        f"order_by => '{columns}', {part}, options => 'target-file-size=32kb')"
    )
    return state(f"{strategy} {columns} of {part}", statement)


def optimize(table: str, where: str, *places: int) -> Layout:
    """Arrange some partitions of a Delta table by columns that the number drew."""
    names = [column.split()[0] for column in OPTIMIZED[table].columns.split(", ")]
    columns = ", ".join(names[place] for place in places)
    return state(f"{columns} of {where}", f"OPTIMIZE {{full}} WHERE {where} ZORDER BY ({columns})")


PARTS: dict[str, tuple[Layout, ...]] = {
    "events": (
        rewrite("user_id ASC NULLS LAST", "ts >= '2026-01-03 00:00:00'"),
        rewrite("zorder(user_id, amount)", "id < 10000"),
        rewrite("amount ASC NULLS LAST", "user_id < 5"),
        rewrite("region ASC NULLS LAST, user_id ASC NULLS LAST", "ts < '2026-01-02 00:00:00' OR id > 15000"),
    ),
    "sales": (
        rewrite("user_id ASC NULLS LAST", "ts >= '2026-01-03 00:00:00'"),
        rewrite("zorder(user_id, amount)", "ts < '2026-01-03 00:00:00'"),
        rewrite("amount ASC NULLS LAST", "id BETWEEN 6000 AND 9000 AND region = 'isles'"),
        rewrite("user_id ASC NULLS LAST", "", 20_000),
        rewrite("region ASC NULLS LAST", "ts < '2026-01-04 00:00:00'", 20_000),
        rewrite("user_id ASC NULLS LAST", "", 26_000),
        rewrite("amount ASC NULLS LAST", "ts >= '2026-01-04 00:00:00'", 26_000),
    ),
    "visits": (
        compact("order", "user_id", "partitions => \"dt='1'\""),
        compact("zorder", "user_id,amount", "where => \"dt > '1'\""),
        compact("hilbert", "user_id,id", "partitions => \"dt='0';dt='3'\""),
        compact("order", "amount", "where => \"dt IN ('1', '2') OR dt = '3'\""),
    ),
    "optimized_1": (
        optimize("optimized_1", "team = 'team-01'", 1, 2),
        optimize("optimized_1", "team >= 'team-02'", 1),
    ),
    "optimized_3": (
        optimize("optimized_3", "team IN ('team-00', 'team-03')", 2),
        optimize("optimized_3", "team < 'team-03' OR team = 'team-05'", 3, 1),
    ),
}
TABLES: dict[str, Table] = {
    name: replace({**CASES, **OPTIMIZED}[name], layouts=layouts) for name, layouts in PARTS.items()
}
