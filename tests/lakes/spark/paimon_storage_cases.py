"""Paimon tables that show how it stores and keeps: merging, changelogs, deletion vectors, indexes, refs, expiry."""

from __future__ import annotations

from typing import Any

from paimon_cases import case, properties, run


def call(spark: Any, procedure: str, table: str, arguments: str = "") -> None:
    name = table.split(".", 1)[1]
    spark.sql(f"CALL paimon.sys.{procedure}(table => '{name}'{', ' + arguments if arguments else ''})")


def primary_key(name: str, *options: str) -> None:
    """A primary-key table that is written, changed, deleted from and compacted, under some options."""

    def make(spark: Any, t: str) -> str:
        run(
            spark,
            t,
            f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING, n INT) {properties('primary-key=id', 'bucket=1', *options)}",
            "INSERT INTO {t} VALUES (1, 'a', 1), (2, 'b', 2), (3, 'c', NULL)",
            "INSERT INTO {t} VALUES (2, 'changed', 20), (4, 'd', 4)",
            "DELETE FROM {t} WHERE id = 1",
        )
        call(spark, "compact", t)
        return run(spark, t, "INSERT INTO {t} VALUES (3, NULL, 30)")

    case(name)(make)


primary_key("pk-compacted")
primary_key("pk-deletion-vectors", "deletion-vectors.enabled=true")
primary_key("changelog-input", "changelog-producer=input")
primary_key("changelog-lookup", "changelog-producer=lookup")
primary_key("changelog-full-compaction", "changelog-producer=full-compaction")
primary_key("pk-orc", "file.format=orc", "manifest.format=orc")
primary_key("pk-avro", "file.format=avro")
primary_key("manifest-parquet", "manifest.format=parquet")
primary_key("manifest-uncompressed", "manifest.compression=null")
primary_key("stats-none", "metadata.stats-mode=none")
primary_key("stats-counts", "metadata.stats-mode=counts")
primary_key("stats-truncate", "metadata.stats-mode=truncate(2)", "fields.n.stats-mode=none")
primary_key("level-formats", "file.format.per.level=0:avro,5:orc", "num-levels=6")


def merge_engine(name: str, *options: str) -> None:
    def make(spark: Any, t: str) -> str:
        run(
            spark,
            t,
            "CREATE TABLE {t} (id INT NOT NULL, total INT, last STRING) "
            + properties("primary-key=id", "bucket=1", *options),
            "INSERT INTO {t} VALUES (1, 1, 'a'), (2, 2, 'b')",
            "INSERT INTO {t} VALUES (1, 10, NULL)",
        )
        call(spark, "compact", t)
        return t

    case(name)(make)


merge_engine("pk-aggregation", "merge-engine=aggregation", "fields.total.aggregate-function=sum")
merge_engine("pk-partial-update", "merge-engine=partial-update")
merge_engine("pk-first-row", "merge-engine=first-row", "changelog-producer=lookup")


@case("append-deletion-vectors")
def append_deletion_vectors(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, p STRING) PARTITIONED BY (p) {properties('deletion-vectors.enabled=true')}",
        "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), if(id < 10, 'a', 'b') FROM range(20)",
        "DELETE FROM {t} WHERE id IN (1, 2, 15)",
        "DELETE FROM {t} WHERE id = 3",
    )


@case("append-compacted")
def append_compacted(spark: Any, t: str) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, name STRING) {properties('compaction.min.file-num=2')}",
        *(f"INSERT INTO {{t}} VALUES ({number}, 'n{number}')" for number in range(4)),
    )
    call(spark, "compact", t)
    return run(spark, t, "INSERT INTO {t} VALUES (9, 'later')")


@case("tags")
def tags(spark: Any, t: str) -> str:
    run(
        spark,
        t,
        "CREATE TABLE {t} (id INT)",
        *(f"INSERT INTO {{t}} VALUES ({number})" for number in range(3)),
    )
    call(spark, "create_tag", t, "tag => 'first', snapshot => 1")
    call(spark, "create_tag", t, "tag => 'kept for a day', snapshot => 2, time_retained => '1 d'")
    call(spark, "create_tag", t, "tag => 'gone', snapshot => 3")
    call(spark, "delete_tag", t, "tag => 'gone'")
    call(spark, "expire_snapshots", t, "retain_max => 1")
    return t


@case("branches")
def branches(spark: Any, t: str) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING) {properties('primary-key=id', 'bucket=1')}",
    )
    run(spark, t, "INSERT INTO {t} VALUES (1, 'a')")
    call(spark, "create_tag", t, "tag => 'base', snapshot => 1")
    call(spark, "create_branch", t, "branch => 'audit', tag => 'base'")
    call(spark, "create_branch", t, "branch => 'blank'")
    base, _, last = t.rpartition(".")
    run(spark, f"{base}.`{last}$branch_audit`", "INSERT INTO {t} VALUES (2, 'only on audit')")
    return run(spark, t, "INSERT INTO {t} VALUES (3, 'only on main')")


@case("expired")
def expired(spark: Any, t: str) -> str:
    run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT NOT NULL, name STRING) {properties('primary-key=id', 'bucket=1')}",
        *(f"INSERT INTO {{t}} VALUES (1, 'n{number}')" for number in range(5)),
    )
    call(spark, "expire_snapshots", t, "retain_max => 2")
    return t


@case("changelog-kept")
def changelog_kept(spark: Any, t: str) -> str:
    """Changelogs that outlive their snapshots."""
    options = ("changelog-producer=input", "snapshot.num-retained.min=1", "snapshot.num-retained.max=2")
    kept = ("changelog.num-retained.min=5", "changelog.num-retained.max=10")
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT NOT NULL, name STRING) "
        + properties("primary-key=id", "bucket=1", *options, *kept),
        *(f"INSERT INTO {{t}} VALUES (1, 'n{number}')" for number in range(5)),
    )


@case("rollback")
def rollback(spark: Any, t: str) -> str:
    run(
        spark,
        t,
        "CREATE TABLE {t} (id INT)",
        *(f"INSERT INTO {{t}} VALUES ({number})" for number in range(4)),
    )
    call(spark, "rollback", t, "version => '2'")
    return run(spark, t, "INSERT INTO {t} VALUES (9)")


@case("statistics")
def statistics(spark: Any, t: str) -> str:
    return run(
        spark,
        t,
        "CREATE TABLE {t} (id INT, name STRING, d DATE)",
        "INSERT INTO {t} VALUES (1, 'a', DATE'2024-01-01'), (2, NULL, DATE'1969-12-31'), (2, 'ccc', NULL)",
        "ANALYZE TABLE {t} COMPUTE STATISTICS FOR ALL COLUMNS",
        "INSERT INTO {t} VALUES (4, 'after', NULL)",
    )


def file_index(name: str, *options: str) -> None:
    def make(spark: Any, t: str) -> str:
        bloom = ("file-index.bloom-filter.columns=id,name", "file-index.bloom-filter.id.items=20")
        return run(
            spark,
            t,
            f"CREATE TABLE {{t}} (id INT, name STRING) {properties(*bloom, *options)}",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), concat('n', id) FROM range(20)",
            "INSERT INTO {t} SELECT /*+ COALESCE(1) */ CAST(id AS INT), NULL FROM range(100, 110)",
        )

    case(name)(make)


file_index(
    "file-index-embedded", "file-index.bloom-filter.name.items=20", "file-index.in-manifest-threshold=4kb"
)
file_index(
    "file-index-in-file", "file-index.bloom-filter.name.items=200", "file-index.in-manifest-threshold=1b"
)


@case("manifest-merge")
def manifest_merge(spark: Any, t: str) -> str:
    """Enough commits for small manifests to be merged into the base."""
    return run(
        spark,
        t,
        f"CREATE TABLE {{t}} (id INT, p INT) PARTITIONED BY (p) {properties('manifest.merge-min-count=3')}",
        *(f"INSERT INTO {{t}} VALUES ({number}, {number % 2})" for number in range(5)),
        "INSERT OVERWRITE {t} PARTITION (p = 1) VALUES (50)",
    )
