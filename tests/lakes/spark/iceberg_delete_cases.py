"""Iceberg tables whose rows are deleted in every way there is: by value, by position, by deletion vector."""

from __future__ import annotations

from typing import Any

from iceberg_cases import AVRO, MERGE_ON_READ, ORC, case, jtable, properties, run

VALUES = """
  (1, CAST('NaN' AS FLOAT), 1.5D, 'a', 1.25, DATE'2024-01-01', TIMESTAMP'2024-01-01 10:11:12.123456', X'00FF',
   named_struct('x', 1, 'y', 'p')),
  (2, CAST(0.1 AS FLOAT), 0.0D, 'b', 2.50, DATE'2024-01-02', NULL, X'', named_struct('x', 2, 'y', 'q')),
  (3, CAST(-0.0 AS FLOAT), -0.0D, NULL, NULL, NULL, TIMESTAMP'1969-12-31 23:59:59', NULL, NULL),
  (4, CAST('Infinity' AS FLOAT), CAST('NaN' AS DOUBLE), 'a', -0.01, DATE'2024-01-01', NULL, X'00FF',
   named_struct('x', NULL, 'y', 'r')),
  (5, NULL, NULL, NULL, 2.50, DATE'1969-12-31', TIMESTAMP'2024-01-01 10:11:12.123456', X'01',
   named_struct('x', 1, 'y', 's'))
"""
COLUMNS = """
  id INT, f FLOAT, d DOUBLE, s STRING, dec DECIMAL(9,2), da DATE, ts TIMESTAMP, bin BINARY, st STRUCT<x: INT, y: STRING>
"""


@case("equality-deletes-typed", 2, 3)
def equality_typed(spark: Any, t: str, version: int) -> str:
    """One snapshot for each rule of equality: NaN, the two zeros, null, several columns.

    Nested columns are deleted by in the Avro and ORC cases: of Parquet files the engine then reads all rows or none.
    """
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} ({COLUMNS}) {properties(version)}",
        *[f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {VALUES}"] * 2,
    )
    for keys in (
        "CAST('NaN' AS FLOAT) AS f",
        "0.0D AS d",
        "CAST('a' AS STRING) AS s, DATE'2024-01-01' AS da",
        "X'' AS bin",
        "CAST(NULL AS TIMESTAMP) AS ts, CAST(2.5 AS DECIMAL(9,2)) AS dec",
    ):
        delete_keys(spark, t, keys)
    run(spark, t, f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {VALUES}")
    delete_keys(spark, t, "-0.0D AS d")
    delete_keys(spark, t, "CAST(4 AS INT) AS id, CAST('Infinity' AS FLOAT) AS f")
    return t


@case("equality-deletes-evolved", 2)
def equality_evolved(spark: Any, t: str, version: int) -> str:
    """Columns that were widened, renamed, added since the rows were written; files of an older partition spec."""
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, f FLOAT, dec DECIMAL(5,2), old STRING, p INT) {properties(version)}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, CAST(0.1 AS FLOAT), 1.10, 'a', 0), "
        "(2, CAST(0.5 AS FLOAT), 2.20, 'b', 1), (3, CAST(1.5 AS FLOAT), 3.30, NULL, 0), (4, NULL, NULL, 'd', 1)",
    )
    delete_keys(spark, t, "CAST(4 AS INT) AS id")
    run(
        spark,
        t,
        "ALTER TABLE {t} ALTER COLUMN id TYPE BIGINT",
        "ALTER TABLE {t} ALTER COLUMN f TYPE DOUBLE",
        "ALTER TABLE {t} ALTER COLUMN dec TYPE DECIMAL(18,2)",
        "ALTER TABLE {t} RENAME COLUMN old TO new",
        "ALTER TABLE {t} ADD COLUMN late INT",
        "ALTER TABLE {t} ADD PARTITION FIELD p",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (4L, 0.1D, 4.40, 'e', 0, 7), "
        "(9000000000L, 0.5D, 2.20, 'b', 1, NULL)",
    )
    for keys in (
        "0.1D AS f",  # not what the float 0.1 is once it is widened
        "0.5D AS f, CAST('b' AS STRING) AS new",
        "CAST(NULL AS INT) AS late, CAST(3 AS BIGINT) AS id",
        "CAST(1.10 AS DECIMAL(18,2)) AS dec",
    ):
        delete_keys(spark, t, keys, everywhere=True)
    run(spark, t, "INSERT INTO {t} VALUES (9000000000, 0.5, 2.20, 'b', 1, NULL)")
    delete_keys(spark, t, "CAST(9000000000 AS BIGINT) AS id", partition={"p": 1})
    delete_keys(spark, t, "CAST(7 AS INT) AS late", partition={"p": 1})
    return t


@case("equality-deletes-dropped", 2)
def equality_dropped(spark: Any, t: str, version: int) -> str:
    """A column that is gone still counts where deletes compare it."""
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, gone STRING) {properties(version)}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1, 'a'), (2, 'b'), (3, NULL)",
    )
    delete_keys(spark, t, "CAST('b' AS STRING) AS gone")
    # the specification has deletes go by a dropped column; the engine then refuses to read the table's new snapshots
    return run(spark, t, "ALTER TABLE {t} DROP COLUMN gone", "ALTER TABLE {t} ADD COLUMN gone STRING")


@case("equality-deletes-defaults", 3)
def equality_defaults(spark: Any, t: str, version: int) -> str:
    """A delete by a column that older files do not have compares its initial default."""
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT) {properties(version)}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (1), (2)",
    )
    kinds = spark._jvm.org.apache.iceberg.types.Types
    literal = spark._jvm.org.apache.iceberg.expressions.Literal
    update = jtable(spark, t).updateSchema()
    update.addColumn("n", kinds.IntegerType.get(), "a number", literal.of(5))
    update.addColumn("s", kinds.StringType.get(), "a text", literal.of("unset"))
    update.commit()
    run(
        spark,
        t,
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ * FROM VALUES (3, 5, 'set'), (4, 6, 'unset'), (2, 7, NULL)",
    )
    delete_keys(spark, t, "CAST('unset' AS STRING) AS s, CAST(2 AS INT) AS id")
    delete_keys(spark, t, "CAST(5 AS INT) AS n")
    return t


def _equality_in(name: str, form: str, property_: str) -> None:
    @case(f"equality-deletes-{name}", 2)
    def make(spark: Any, t: str, version: int) -> str:
        run(
            spark,
            t,
            f"CREATE TABLE {{t}} ({COLUMNS}) {properties(version, property_)}",
            f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ * FROM VALUES {VALUES}",
        )
        delete_keys(spark, t, "CAST('NaN' AS FLOAT) AS f, DATE'2024-01-01' AS da", form=form)
        delete_keys(
            spark,
            t,
            "TIMESTAMP'2024-01-01 10:11:12.123456' AS ts, CAST(NULL AS STRING) AS s, CAST(2.50 AS DECIMAL(9,2)) AS dec",
            form=form,
        )
        delete_keys(spark, t, "CAST(2 AS INT) AS `st.x`, X'' AS bin", form=form)
        return t


_equality_in("avro", "AVRO", AVRO)
_equality_in("orc", "ORC", ORC)


def _positions_in(name: str, property_: str) -> None:
    @case(f"position-deletes-{name}", 2)
    def make(spark: Any, t: str, version: int) -> str:
        return run(
            spark,
            t,
            "CREATE TABLE {t} (id INT, p INT) PARTITIONED BY (p) "
            + properties(version, f"{property_}, {MERGE_ON_READ}, 'write.delete.granularity'='partition'"),
            *["INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), CAST(id % 2 AS INT) FROM range(20)"]
            * 2,
            "DELETE FROM {t} WHERE id IN (2, 3, 4, 19)",
            "DELETE FROM {t} WHERE id = 6",
        )


_positions_in("avro", AVRO)
_positions_in("orc", ORC)


@case("position-deletes-untidy", 2)
def positions_untidy(spark: Any, t: str, version: int) -> str:
    """What no good writer writes: positions unsorted, twice, past the end, for files that are gone or never were."""
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT) {properties(version)}",
        *[
            f"INSERT INTO {{t}} SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range({start}, {start + 10})"
            for start in (0, 10, 20)
        ],
    )
    found = spark.sql(f"SELECT DISTINCT _file, id DIV 10 FROM {t}").collect()
    paths = [path for path, _ in sorted(found, key=lambda row: row[1])]
    first, second, third = paths
    delete_positions(spark, t, [(second, 7), (first, 3), (first, 1), (second, 7), (first, 3), (second, 0)])
    delete_positions(spark, t, [(first, 1), (first, 99), (third, 5), (first.replace("00000-", "99999-"), 2)])
    delete_positions(spark, t, [(third, 4)])
    return run(spark, t, "DELETE FROM {t} WHERE id >= 20")


@case("deletion-vectors", 3)
def deletion_vectors(spark: Any, t: str, version: int) -> str:
    """Vectors with containers of each kind: an array, a bitmap, a run."""
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT) {properties(version, MERGE_ON_READ)}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range(9000)",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT) FROM range(9000, 90000)",
        "DELETE FROM {t} WHERE id < 9000 AND id % 2 = 0",
        "DELETE FROM {t} WHERE id BETWEEN 13000 AND 13999 OR id IN (80000, 89999)",
    )


def delete_keys(
    spark: Any,
    t: str,
    keys: str,
    *,
    partition: dict[str, int] | None = None,
    everywhere: bool = False,
    form: str = "PARQUET",
) -> None:
    """Commit one equality delete file for the rows of `SELECT keys`, named as the columns (`st.x` for a nested one).

    The engine makes the values itself: the keys are written to a table of their own and read back as Iceberg's records.
    `everywhere` writes the file for spec 0, without partition.
    """
    jvm, table = spark._jvm, jtable(spark, t)
    iceberg = jvm.org.apache.iceberg
    spec = table.specs().get(0) if everywhere else table.spec()
    names = spark.sql(f"SELECT {keys}").columns
    schema = table.schema().select(names)
    wanted = [schema.columns().get(i).name() for i in range(schema.columns().size())]
    ordered = sorted(names, key=lambda name: wanted.index(name.split(".")[0]))
    columns = ", ".join(_word_key(name) for name in ordered)  # records are read by place, not by name
    spark.sql("DROP TABLE IF EXISTS iceberg.lakes.keys_to_delete PURGE")
    spark.sql(f"CREATE TABLE iceberg.lakes.keys_to_delete AS SELECT {columns} FROM (SELECT {keys})")
    ids = [schema.findField(name).fieldId() for name in names]
    array = spark.sparkContext._gateway.new_array(jvm.int, len(ids))
    for position, field_id in enumerate(ids):
        array[position] = field_id
    file_format = getattr(iceberg.FileFormat, form)
    builder = iceberg.data.GenericFileWriterFactory.Builder(table).deleteFileFormat(file_format)
    factory = builder.equalityFieldIds(array).equalityDeleteRowSchema(schema).build()
    files = iceberg.io.OutputFileFactory.builderFor(table, 0, 0).format(file_format).build()
    key = None
    if partition is not None:
        key = iceberg.data.GenericRecord.create(spec.partitionType())
        for name, value in partition.items():
            key.setField(name, value)
    output = files.newOutputFile(spec, key) if key is not None else files.newOutputFile()
    writer = factory.newEqualityDeleteWriter(output, spec, key)
    records = (
        iceberg.data.IcebergGenerics.read(jtable(spark, "iceberg.lakes.keys_to_delete")).build().iterator()
    )
    while records.hasNext():
        writer.write(records.next())
    writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit()


def _word_key(name: str) -> str:
    """A nested key becomes a struct of one field, which is what the schema of the delete file holds."""
    if "." not in name:
        return f"`{name}`"
    outer, inner = name.split(".")
    return f"named_struct('{inner}', `{name}`) AS `{outer}`"


def delete_positions(spark: Any, t: str, positions: list[tuple[str, int]]) -> None:
    """Commit one position delete file that holds exactly these, in this order."""
    table = jtable(spark, t)
    iceberg = spark._jvm.org.apache.iceberg
    parquet = iceberg.FileFormat.PARQUET
    factory = iceberg.data.GenericFileWriterFactory.Builder(table).deleteFileFormat(parquet).build()
    files = iceberg.io.OutputFileFactory.builderFor(table, 0, 0).format(parquet).build()
    writer = factory.newPositionDeleteWriter(files.newOutputFile(), table.spec(), None)
    for path, position in positions:
        writer.write(iceberg.deletes.PositionDelete.create().set(path, position))
    writer.close()
    table.newRowDelta().addDeletes(writer.toDeleteFile()).commit()
