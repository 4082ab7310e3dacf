"""An Iceberg table that is worth planning a scan of: days and buckets, an older spec, missing metrics, bloom filters."""

from __future__ import annotations

from typing import Any

from iceberg_cases import MERGE_ON_READ, case, properties, run

_METRICS = "'write.metadata.metrics.column.note'='none', 'commit.manifest-merge.enabled'='false'"
_PARQUET = (
    "'write.parquet.row-group-size-bytes'='1024', 'write.parquet.row-group-check-min-record-count'='20', "
    "'write.parquet.row-group-check-max-record-count'='20', 'write.parquet.bloom-filter-enabled.column.session'='true', "
    "'write.parquet.bloom-filter-max-bytes'='512'"
)


def insert(first: int, days: int) -> str:
    """Two hundred orders a day, in the order of their numbers; a customer's session is a hash."""
    return f"""INSERT INTO {{t}}
        SELECT id, CAST(id * 7919 % 97 AS INT), TIMESTAMP'2024-03-01 00:00:00' + make_interval(0, 0, 0, 0, 0, 0, id * 432),
               element_at(array('open', 'paid', 'sent'), CAST(id % 3 AS INT) + 1), CAST(id % 500 AS DECIMAL(10, 2)) / 4,
               md5(CAST(id * 31 AS STRING)), concat('note ', id)
        FROM range({first * 200}, {(first + days) * 200}) ORDER BY id"""


@case("planning", 2)
def planning(spark: Any, t: str, version: int) -> str:
    return run(
        spark,
        t,
        f"""CREATE TABLE {{t}} (order_id BIGINT, customer_id INT, ts TIMESTAMP, status STRING, amount DECIMAL(10, 2),
            session STRING, note STRING) PARTITIONED BY (days(ts), bucket(4, customer_id))
            {properties(version, ", ".join((MERGE_ON_READ, _METRICS, _PARQUET)))}""",
        insert(0, 2),
        insert(2, 2),
        insert(4, 2),
        "ALTER TABLE {t} REPLACE PARTITION FIELD ts_day WITH months(ts)",
        insert(6, 2),
        "DELETE FROM {t} WHERE order_id IN (77, 1300)",
    )
