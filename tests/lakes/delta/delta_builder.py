"""Tables that SQL cannot make with Spark 3.5: generated and identity columns, by the engine's own builder."""

from __future__ import annotations

from pathlib import Path
from typing import Any


def create_generated(spark: Any, path: Path) -> None:
    """Create a table with an identity column, and a partition column that is generated from a time."""
    columns = spark._jvm.io.delta.tables.DeltaTable
    long_type = spark._jvm.org.apache.spark.sql.types.DataTypes.LongType
    builder = columns.createOrReplace(spark._jsparkSession).location(str(path))
    builder = builder.addColumn(
        columns.columnBuilder(spark._jsparkSession, "id")
        .dataType(long_type)
        .generatedAlwaysAsIdentity(1, 2)
        .build()
    )
    builder = builder.addColumn("at", "TIMESTAMP")
    day = (
        columns.columnBuilder(spark._jsparkSession, "day")
        .dataType("DATE")
        .generatedAlwaysAs("CAST(at AS DATE)")
    )
    builder = builder.addColumn(day.build())
    names = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, 1)
    names[0] = "day"
    builder.partitionedBy(names).execute()
