"""Tables that SQL cannot make with Spark 3.5: by the engine's own classes.

Generated and identity columns by its builder, compacted commits by its replay, vectors in the log by its descriptors.
"""

from __future__ import annotations

import json
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


def create_parts(spark: Any, path: Path, *count: int) -> None:
    """Create a table whose partition columns are generated from one time: the first of year, month, day and hour."""
    columns = spark._jvm.io.delta.tables.DeltaTable
    builder = columns.createOrReplace(spark._jsparkSession).location(str(path))
    builder = builder.addColumn("id", "BIGINT").addColumn("at", "TIMESTAMP")
    parts = {"y": "YEAR(at)", "m": "MONTH(at)", "d": "DAY(at)", "h": "HOUR(at)"}
    chosen = list(parts.items())[: count[0]]
    names = spark.sparkContext._gateway.new_array(spark._jvm.java.lang.String, len(chosen))
    for number, (name, expression) in enumerate(chosen):
        column = (
            columns.columnBuilder(spark._jsparkSession, name).dataType("INT").generatedAlwaysAs(expression)
        )
        builder = builder.addColumn(column.build())
        names[number] = name
    builder.partitionedBy(names).execute()


def compact_commits(spark: Any, path: Path, first: int, last: int) -> None:
    """Write a file of compacted commits.

    delta-spark 3.3 reads such files and has no command that writes them: its own class reconciles the actions of the
    commits here, as its tests do it.
    """
    log = path / "_delta_log"
    delta, none = (
        spark._jvm.org.apache.spark.sql.delta,
        getattr(getattr(spark._jvm, "scala.None$"), "MODULE$"),
    )
    read = getattr(getattr(delta.actions, "Action$"), "MODULE$").fromJson
    replay = delta.actions.InMemoryLogReplay(0, none)
    for version in range(first, last + 1):
        lines = (log / f"{version:020}.json").read_text("utf-8").splitlines()
        actions = spark._jvm.java.util.ArrayList()
        for line in lines:
            if not line.startswith('{"commitInfo"'):
                actions.add(read(line))
        converted = spark._jvm.scala.collection.JavaConverters.asScalaIteratorConverter(actions.iterator())
        replay.append(version, converted.asScala())
    found = replay.checkpoint()
    lines = []
    while found.hasNext():
        lines.append(found.next().json())
    (log / f"{first:020}.{last:020}.compacted.json").write_text("\n".join(sorted(lines)) + "\n", "utf-8")


def move_vectors_inline(spark: Any, path: Path) -> None:
    """Write the deletion vectors of a table into the actions that name them, and delete their files.

    delta-spark 3.3 reads such vectors and always writes files: the descriptors here are made by its own class of the
    bytes that it wrote, and what it reads of the table afterwards is its own answer.
    """
    log = path / "_delta_log"
    inline = getattr(
        getattr(spark._jvm.org.apache.spark.sql.delta.actions, "DeletionVectorDescriptor$"), "MODULE$"
    ).inlineInLog
    (stored,) = path.glob("deletion_vector_*.bin")
    data = stored.read_bytes()
    for commit in sorted(log.glob("*.json")):
        lines = []
        for line in commit.read_text("utf-8").splitlines():
            action = json.loads(line)
            vector = next(iter(action.values())).get("deletionVector")
            if vector:
                start = vector["offset"] + 4
                held = inline(bytearray(data[start : start + vector["sizeInBytes"]]), vector["cardinality"])
                said = {
                    "storageType": held.storageType(),
                    "pathOrInlineDv": held.pathOrInlineDv(),
                    "sizeInBytes": held.sizeInBytes(),
                    "cardinality": held.cardinality(),
                }
                next(iter(action.values()))["deletionVector"] = said
                line = json.dumps(action, separators=(",", ":"))
            lines.append(line)
        commit.write_text("\n".join(lines) + "\n", "utf-8")
    stored.unlink()
    # checksums of versions and of files are of what was there before
    for checksum in {*log.glob("*.crc"), *log.glob(".*.crc"), *path.glob(".deletion_vector_*.crc")}:
        checksum.unlink()
