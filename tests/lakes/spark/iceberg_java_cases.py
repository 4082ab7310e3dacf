"""Iceberg tables with what Spark SQL cannot write: made through Iceberg's Java classes in the session's own JVM."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from iceberg_cases import CASES, case, jtable, properties, run


@case("uuid-and-fixed", 2, 3)
def uuid_and_fixed(spark: Any, t: str, version: int) -> str:
    iceberg = spark._jvm.org.apache.iceberg
    kinds = iceberg.types.Types
    field = kinds.NestedField
    fields = spark._jvm.java.util.ArrayList()
    fields.add(field.required(1, "id", kinds.IntegerType.get()))
    fields.add(field.optional(2, "u", kinds.UUIDType.get()))
    fields.add(field.optional(3, "fx", kinds.FixedType.ofLength(4)))
    table_schema = iceberg.Schema(fields)
    spec = iceberg.PartitionSpec.builderFor(table_schema).bucket("u", 4).bucket("fx", 4).build()
    options = spark._jvm.java.util.HashMap()
    options.put("format-version", str(version))
    catalog = spark._jsparkSession.sessionState().catalogManager().catalog("iceberg").icebergCatalog()
    name = iceberg.catalog.TableIdentifier.parse(t.split(".", 1)[1])
    catalog.createTable(name, table_schema, spec, options)
    return run(
        spark,
        t,
        "INSERT INTO {t} VALUES (1, '00112233-4455-6677-8899-aabbccddeeff', X'00010203'), "
        "(2, 'ffffffff-ffff-ffff-ffff-ffffffffffff', X'FFFFFFFF'), (3, NULL, NULL)",
    )


@case("equality-deletes", 2, 3)
def equality_deletes(spark: Any, t: str, version: int) -> str:
    """Deletes by value: one within a partition by one column, one by two columns with a null, then rows that come after."""
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, name STRING, p INT) PARTITIONED BY (p) {properties(version)}",
        "INSERT INTO {t} VALUES (1, 'a', 0), (2, 'b', 0), (3, NULL, 1), (1, 'a', 1)",
    )
    delete_equal(spark, t, "p=0", [{"id": 1}])
    delete_equal(spark, t, "p=1", [{"id": 3, "name": None}, {"id": 4, "name": "d"}])
    return run(spark, t, "INSERT INTO {t} VALUES (1, 'again', 0)")


@case("equality-deletes-global", 2)
def equality_deletes_global(spark: Any, t: str, version: int) -> str:
    """An unpartitioned delete reaches every partition."""
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, p INT) {properties(version)}",
        "ALTER TABLE {t} ADD PARTITION FIELD p",
        "INSERT INTO {t} VALUES (1, 0), (2, 0), (1, 1)",
    )
    delete_equal(spark, t, None, [{"id": 1}])
    return t


@case("default-values", 3)
def default_values(spark: Any, t: str, version: int) -> str:
    run(spark, t, f"CREATE TABLE {{t}} (id INT) {properties(version)}", "INSERT INTO {t} VALUES (1)")
    kinds = spark._jvm.org.apache.iceberg.types.Types
    literal = spark._jvm.org.apache.iceberg.expressions.Literal
    update = jtable(spark, t).updateSchema()
    update.addColumn("n", kinds.IntegerType.get(), "a number", literal.of(5))
    update.addColumn("s", kinds.StringType.get(), "a text", literal.of("unset"))
    update.commit()
    return run(spark, t, "INSERT INTO {t} VALUES (2, 20, 'set')")


def delete_equal(spark: Any, t: str, partition: str | None, rows: list[dict[str, Any]]) -> None:
    """Commit one equality delete file for `rows`; `partition` as a path (`p=0`), None for spec 0 without partition."""
    jvm, table = spark._jvm, jtable(spark, t)
    iceberg = jvm.org.apache.iceberg
    spec = table.spec() if partition else table.specs().get(0)
    schema = table.schema().select(list(rows[0]))
    ids = [schema.findField(name).fieldId() for name in rows[0]]
    array = spark.sparkContext._gateway.new_array(jvm.int, len(ids))
    for position, field_id in enumerate(ids):
        array[position] = field_id
    builder = iceberg.data.GenericFileWriterFactory.Builder(table).deleteFileFormat(
        iceberg.FileFormat.PARQUET
    )
    factory = builder.equalityFieldIds(array).equalityDeleteRowSchema(schema).build()
    files = iceberg.io.OutputFileFactory.builderFor(table, 0, 0).format(iceberg.FileFormat.PARQUET).build()
    key = iceberg.data.GenericRecord.create(spec.partitionType()) if partition else None
    if key is not None:
        key.setField("p", int(partition.split("=")[1]))
    output = files.newOutputFile(spec, key) if key is not None else files.newOutputFile()
    writer = factory.newEqualityDeleteWriter(output, spec, key)
    for row in rows:
        record = iceberg.data.GenericRecord.create(schema)
        for name, value in row.items():
            record.setField(name, value)
        writer.write(record)
    writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


def view(spark: Any, name: str) -> tuple[Path, dict[str, Any]]:
    """An Iceberg view: a metadata file that is no table's."""
    spark.sql("CREATE TABLE IF NOT EXISTS iceberg.lakes.behind_the_view (id INT)")
    spark.sql(f"CREATE VIEW iceberg.lakes.{name} AS SELECT id FROM iceberg.lakes.behind_the_view")
    facts = {row[0]: row[1] for row in spark.sql(f"DESCRIBE EXTENDED iceberg.lakes.{name}").collect()}
    properties = {row[0]: row[1] for row in spark.sql(f"SHOW TBLPROPERTIES iceberg.lakes.{name}").collect()}
    location = properties["location"]
    return Path(location), {
        "table": f"iceberg.lakes.{name}",
        "view": True,
        "describe": facts,
        "location": location,
    }


CASES["view"] = view
