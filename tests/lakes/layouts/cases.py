"""The tables of `record.py`, how each is arranged again, and the predicates that are asked before and after."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_COLUMNS = "id BIGINT, ts TIMESTAMP, user_id INT, region STRING, amount DOUBLE, note STRING"
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
    extra: str = ""

    def select(self, batch: int) -> str:
        """Write the rows of a batch; every value follows from the id alone."""
        size = self.rows // self.batches
        span = f"range({batch * size}, {(batch + 1) * size}, 1, 1)"
        return (
            "SELECT id, timestamp_seconds(1767225600 + id * 21 + pmod(hash(id, 3), 600)), "
            "CAST(pow(pmod(hash(id, 5), 10000) / 10000.0, 2) * 50000 AS INT), "
            "element_at(array('north','south','east','west','centre','isles','coast','hills'), "
            "1 + CAST(log2(1 + pmod(hash(id, 7), 255)) AS INT)), "
            f"round(pmod(hash(id, 11), 1000000) / 100.0, 2), substr(md5(CAST(id AS STRING)), 1, 16){self.extra} FROM {span}"
        )


def _order(*, sort: str = "", zorder: str = "", partition: str = "", dropped: str = "") -> Layout:
    """Arrange an Iceberg table by a sort or a curve, and by a partition field that is added, or replaces another."""
    columns = [name.strip() for name in (sort or zorder).split(",")]
    asked: dict[str, Any] = {("sort_by" if sort else "zorder_by"): columns, "target_file_size": _TARGET}
    statements = []
    if partition:
        asked["partition_by"] = [partition]
        verb = f"REPLACE PARTITION FIELD {dropped} WITH" if dropped else "ADD PARTITION FIELD"
        statements.append(f"ALTER TABLE {{full}} {verb} {partition}")
    order = (
        ", ".join(f"{name} ASC NULLS LAST" for name in columns) if sort else f"zorder({', '.join(columns)})"
    )
    statements.append(
        f"CALL iceberg.system.rewrite_data_files(table => '{{table}}', strategy => 'sort', sort_order => '{order}', "
        f"options => map('rewrite-all', 'true', 'target-file-size-bytes', '{_TARGET}'))"
    )
    name = " ".join(filter(None, (partition, "sort" if sort else "zorder", sort or zorder)))
    return Layout(name, asked, tuple(statements))


def _compact(strategy: str, columns: str) -> Layout:
    """Arrange a Paimon table."""
    option = {"order": "sort_by", "zorder": "zorder_by", "hilbert": "hilbert_by"}[strategy]
    asked = {option: columns.split(","), "target_file_size": _TARGET}
    statements = (
        f"ALTER TABLE {{full}} SET TBLPROPERTIES ('target-file-size' = '{_TARGET} b')",
        f"CALL paimon.sys.compact(table => '{{table}}', order_strategy => '{strategy}', order_by => '{columns}')",
    )
    return Layout(f"{strategy} {columns}", asked, statements)


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
            _order(sort="user_id"),
            _order(sort="user_id, ts"),
            _order(sort="region, amount"),
            _order(sort="amount"),
            _order(zorder="user_id, ts"),
            _order(zorder="user_id, amount"),
            _order(partition="region", sort="user_id"),
            _order(partition="bucket(8, user_id)", sort="user_id"),
            _order(partition="days(ts)", sort="user_id"),
            _order(sort="ts"),
            _order(sort="region"),
            _order(sort="region, user_id"),
            _order(zorder="region, user_id"),
            _order(partition="days(ts)", sort="id"),
            _order(partition="bucket(8, user_id)", sort="ts"),
        ),
        _ASKED,
    ),
    "sales": Table(
        "iceberg",
        20,
        "days(ts)",
        (
            _order(sort="user_id"),
            _order(sort="amount"),
            _order(zorder="user_id, amount"),
            _order(partition="region", dropped="days(ts)", sort="user_id"),
            _order(sort="ts"),
            _order(partition="region", dropped="days(ts)", sort="region"),
            _order(partition="bucket(8, user_id)", dropped="days(ts)", sort="user_id"),
        ),
        _ASKED,
    ),
    "clicks": Table(
        "paimon",
        20,
        "",
        (
            _compact("order", "user_id"),
            _compact("order", "region,user_id"),
            _compact("zorder", "user_id,amount"),
            _compact("hilbert", "user_id,amount"),
            _compact("order", "region"),
            _compact("order", "ts"),
        ),
        _ASKED,
        properties={"bucket": "-1", "file.format": "parquet"},
    ),
    "visits": Table(
        "paimon",
        20,
        "dt",
        (
            _compact("order", "user_id"),
            _compact("zorder", "user_id,amount"),
            _compact("hilbert", "user_id,id"),
            _compact("order", "amount"),
            _compact("order", "ts"),
        ),
        tuple(where.replace("ts < '2026-01-02 00:00:00'", "dt = '2'") for where in _ASKED),
        columns=f"{_COLUMNS}, dt STRING",
        properties={"bucket": "-1", "file.format": "parquet"},
        extra=", CAST(CAST(id / 5000 AS INT) AS STRING)",
    ),
}
