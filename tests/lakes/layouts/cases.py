"""The tables of `record.py`, how each is arranged again, and the predicates that are asked before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_COLUMNS = "id BIGINT, ts TIMESTAMP, user_id INT, region STRING, amount DOUBLE, note STRING"
_VALUES = (
    "id, timestamp_seconds(1767225600 + id * 21 + pmod(hash(id, 3), 600)), "
    "CAST(pow(pmod(hash(id, 5), 10000) / 10000.0, 2) * 50000 AS INT), "
    "element_at(array('north','south','east','west','centre','isles','coast','hills'), "
    "1 + CAST(log2(1 + pmod(hash(id, 7), 255)) AS INT)), "
    "round(pmod(hash(id, 11), 1000000) / 100.0, 2), substr(md5(CAST(id AS STRING)), 1, 16)"
)
_TARGET = 32_768


@dataclass(frozen=True)
class Layout:
    """One way: its name, the options of `ll.Layout`, and the statements by which Spark does it."""

    name: str
    asked: Mapping[str, Any]
    statements: tuple[str, ...]


@dataclass(frozen=True)
class Table:
    """A table before: where it is, how its rows arrive, what is asked of it, and in which ways it is laid out."""

    catalog: str
    batches: int
    partitioned: str
    layouts: tuple[Layout, ...]
    predicates: tuple[str, ...]
    columns: str = _COLUMNS
    properties: Mapping[str, str] = field(default_factory=lambda: {"format-version": "2"})
    rows: int = 20_000
    #: what makes the values of a row, of its id alone
    values: str = _VALUES

    def select(self, batch: int) -> str:
        """Write the rows of a batch; every value follows from the id alone."""
        size = self.rows // self.batches
        span = f"range({batch * size}, {(batch + 1) * size}, 1, 1)"
        return f"SELECT {self.values} FROM {span}"


def order(
    *, sort: str = "", zorder: str = "", partition: str = "", dropped: str = "", target: int = _TARGET
) -> Layout:
    """Arrange an Iceberg table by a sort or a curve, and by a partition field that is added, or replaces another."""
    columns = [name.strip() for name in (sort or zorder).split(",")]
    asked: dict[str, Any] = {("sort_by" if sort else "zorder_by"): columns, "target_file_size": target}
    statements = []
    if partition:
        asked["partition_by"] = [partition]
        verb = f"REPLACE PARTITION FIELD {dropped} WITH" if dropped else "ADD PARTITION FIELD"
        statements.append(f"ALTER TABLE {{full}} {verb} {partition}")
    keys = (
        ", ".join(f"{name} ASC NULLS LAST" for name in columns) if sort else f"zorder({', '.join(columns)})"
    )
    statements.append(
        f"CALL iceberg.system.rewrite_data_files(table => '{{table}}', strategy => 'sort', sort_order => '{keys}', "
        f"options => map('rewrite-all', 'true', 'target-file-size-bytes', '{target}'))"
    )
    name = " ".join(filter(None, (partition, "sort" if sort else "zorder", sort or zorder)))
    return Layout(name, asked, tuple(statements))


def compact(strategy: str, columns: str, target: int = _TARGET) -> Layout:
    """Arrange a Paimon table."""
    option = {"order": "sort_by", "zorder": "zorder_by", "hilbert": "hilbert_by"}[strategy]
    asked = {option: columns.split(","), "target_file_size": target}
    statements = (
        f"ALTER TABLE {{full}} SET TBLPROPERTIES ('target-file-size' = '{target} b')",
        f"CALL paimon.sys.compact(table => '{{table}}', order_strategy => '{strategy}', order_by => '{columns}')",
    )
    return Layout(f"{strategy} {columns}", asked, statements)


def optimize(columns: str, target: int = _TARGET) -> Layout:
    """Arrange a Delta table."""
    names = [name.strip() for name in columns.split(",")]
    statements = (
        f"SET spark.databricks.delta.optimize.maxFileSize = {target}",
        f"OPTIMIZE {{full}} ZORDER BY ({columns})",
    )
    asked = {"zorder_by" if len(names) > 1 else "sort_by": names, "target_file_size": target}
    return Layout(f"zorder {columns}", asked, statements)


_ASKED = (
    "user_id = 1250",
    "user_id < 500",
    "user_id BETWEEN 20000 AND 30000",
    "ts >= '2026-01-03 00:00:00' AND ts < '2026-01-03 06:00:00'",
    "region = 'isles'",
    "amount > 9500",
    "amount < 2000 AND user_id < 5000",
    "user_id IN (3, 40000) AND region = 'coast'",
    "ts < '2026-01-02 00:00:00' AND user_id > 25000",
    "id < 700",
)

TABLES = {
    "events": Table(
        "iceberg",
        20,
        "",
        (
            order(sort="user_id"),
            order(sort="user_id, ts"),
            order(sort="region, amount"),
            order(sort="amount"),
            order(zorder="user_id, ts"),
            order(zorder="user_id, amount"),
            order(partition="region", sort="user_id"),
            order(partition="bucket(8, user_id)", sort="user_id"),
            order(partition="days(ts)", sort="user_id"),
            order(sort="ts"),
            order(sort="region"),
            order(sort="region, user_id"),
            order(zorder="region, user_id"),
            order(partition="days(ts)", sort="id"),
            order(partition="bucket(8, user_id)", sort="ts"),
        ),
        _ASKED,
    ),
    "sales": Table(
        "iceberg",
        20,
        "days(ts)",
        (
            order(sort="user_id"),
            order(sort="amount"),
            order(zorder="user_id, amount"),
            order(partition="region", dropped="days(ts)", sort="user_id"),
            order(sort="ts"),
            order(partition="region", dropped="days(ts)", sort="region"),
            order(partition="bucket(8, user_id)", dropped="days(ts)", sort="user_id"),
        ),
        _ASKED,
    ),
    "clicks": Table(
        "paimon",
        20,
        "",
        (
            compact("order", "user_id"),
            compact("order", "region,user_id"),
            compact("zorder", "user_id,amount"),
            compact("hilbert", "user_id,amount"),
            compact("order", "region"),
            compact("order", "ts"),
        ),
        _ASKED,
        properties={"bucket": "-1", "file.format": "parquet"},
    ),
    "visits": Table(
        "paimon",
        20,
        "dt",
        (
            compact("order", "user_id"),
            compact("zorder", "user_id,amount"),
            compact("hilbert", "user_id,id"),
            compact("order", "amount"),
            compact("order", "ts"),
        ),
        tuple(where.replace("ts < '2026-01-02 00:00:00'", "dt = '2'") for where in _ASKED),
        columns=f"{_COLUMNS}, dt STRING",
        properties={"bucket": "-1", "file.format": "parquet"},
        values=f"{_VALUES}, CAST(CAST(id / 5000 AS INT) AS STRING)",
    ),
}
