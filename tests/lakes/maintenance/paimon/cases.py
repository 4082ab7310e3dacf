"""What is run for the record: small tables of its own, and procedures on these and on the tables of `tests/lakes`."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

Make = Callable[[Any, str], None]
TABLES: dict[str, Make] = {}
FAR = "2100-01-01 00:00:00"


@dataclass(frozen=True)
class Case:
    """One run: a procedure with its options on a copy of a lake, to which `planted` files are added first."""

    lake: str
    procedure: str
    options: dict[str, Any] = field(default_factory=dict)
    planted: dict[str, str] = field(default_factory=dict)

    @property
    def name(self) -> str:
        words = ",".join(f"{key}={value}" for key, value in self.options.items())
        return f"{self.lake} {self.procedure}({words}){' planted' if self.planted else ''}"


def table(name: str, *columns: str, partitions: str = "", **options: str) -> Callable[[Make], Make]:
    """A table of its own: created with options (`_` for `-`, `__` for `.`), then filled by the function."""

    def register(fill: Make) -> Make:
        def make(spark: Any, t: str) -> None:
            pairs = ((k.replace("__", ".").replace("_", "-"), v) for k, v in options.items())
            written = ", ".join(f"'{key}'='{value}'" for key, value in pairs)
            parted = f" PARTITIONED BY ({partitions})" if partitions else ""
            spark.sql(f"CREATE TABLE {t} ({', '.join(columns)}){parted} TBLPROPERTIES ({written})")
            fill(spark, t)

        TABLES[name] = make
        return make

    return register


def insert(spark: Any, t: str, first: int, last: int, step: int = 1, text: str = "x") -> None:
    """One commit of one file: rows `first` to `last`."""
    values = f"CAST(id AS INT), concat('{text}', id)"
    spark.sql(f"INSERT INTO {t} SELECT {values} FROM range({first}, {last}, {step}, 1)")


@table(
    "pk-levels",
    "id INT NOT NULL",
    "name STRING",
    primary_key="id",
    bucket="1",
    target_file_size="1 kb",
    write_only="true",
    num_sorted_run__compaction_trigger="3",
)
def pk_levels(spark: Any, t: str) -> None:
    """Ranges of keys that do not overlap, compacted, then a backlog at level 0: some files only rise, some are merged."""
    insert(spark, t, 0, 2)
    insert(spark, t, 100, 1600)
    spark.sql(f"CALL paimon.sys.compact(table => '{t.split('.', 1)[1]}')")
    insert(spark, t, 200, 260, text="again")
    insert(spark, t, 2000, 2300)
    insert(spark, t, 5000, 5002)


@table(
    "append-bins",
    "id INT",
    "name STRING",
    write_only="true",
    compaction__max__file_num="3",
    target_file_size="4 kb",
)
def append_bins(spark: Any, t: str) -> None:
    """Files of several sizes for several bins, one of them large enough to be left alone."""
    for first, last in (
        (0, 1),
        (10, 40),
        (100, 2000),
        (50, 75),
        (2100, 2300),
        (2400, 2490),
        (3000, 3002),
        (4000, 4140),
    ):
        insert(spark, t, first, last)


@table(
    "append-in-buckets",
    "id INT",
    "name STRING",
    bucket="1",
    bucket_key="id",
    write_only="true",
    target_file_size="3 kb",
)
def append_in_buckets(spark: Any, t: str) -> None:
    """Large files first, then small ones."""
    for first, last in ((0, 1500), (2000, 2001), (3000, 3005), (4000, 4200), (5000, 5002), (6000, 6003)):
        insert(spark, t, first, last)


@table("days", "id INT", "name STRING", "dt STRING", "h INT", partitions="dt, h", write_only="true")
def days(spark: Any, t: str) -> None:
    """Partitions of days and hours, one of which is no time."""
    spark.sql(
        f"INSERT INTO {t} VALUES (1, 'a', '20240101', 3), (2, 'b', '20240101', 23), (3, 'c', '20240102', 7)"
    )
    spark.sql(
        f"INSERT INTO {t} VALUES (4, 'd', '20240102', 7), (5, 'e', 'never', 1), (6, 'f', '20990101', 0)"
    )


@table("tags-and-expiry", "id INT NOT NULL", "name STRING", primary_key="id", bucket="1", write_only="true")
def tags_and_expiry(spark: Any, t: str) -> None:
    """Tags of snapshots that have expired, two of one snapshot."""
    name = t.split(".", 1)[1]
    for number in range(1, 4):
        insert(spark, t, number, number + 3, text=f"v{number}-")
        spark.sql(f"CALL paimon.sys.create_tag(table => '{name}', tag => 'at{number}', snapshot => {number})")
        if number == 2:
            spark.sql(f"CALL paimon.sys.create_tag(table => '{name}', tag => 'twin', snapshot => 2)")
        spark.sql(f"CALL paimon.sys.compact(table => '{name}')")
    insert(spark, t, 40, 42)
    spark.sql(f"CALL paimon.sys.expire_snapshots(table => '{name}', retain_max => 2)")


OWN = "maintenance/paimon/"
# existing tables, by what a procedure may meet in them
_ALL = (
    *(
        "append",
        "append-buckets",
        "append-compacted",
        "append-deletion-vectors",
        "append-row-changes",
        "branches",
    ),
    *("changelog-full-compaction", "changelog-input", "changelog-kept", "changelog-lookup", "expired"),
    *(
        "file-index-embedded",
        "file-index-in-file",
        "level-formats",
        "manifest-merge",
        "manifest-parquet",
        "overwrite",
    ),
    *(
        "pk-aggregation",
        "pk-avro",
        "pk-compacted",
        "pk-deletion-vectors",
        "pk-dynamic-bucket",
        "pk-first-row",
    ),
    *(
        "pk-fixed-bucket",
        "pk-orc",
        "pk-partial-update",
        "pk-partitioned",
        "pk-row-changes",
        "pk-schema-evolution",
    ),
    *("rollback", "schema-evolution", "statistics", "tags", "types-orc"),
)
_SOME = (
    "append-deletion-vectors",
    "branches",
    "changelog-input",
    "changelog-lookup",
    "overwrite",
    "pk-deletion-vectors",
)
_LEFT_BEHIND = {
    "manifest/manifest-0f0f0f0f-0000-0000-0000-000000000000-0": "left",
    "manifest/.manifest-list-1.tmp": "left",
    "index/index-0f0f0f0f-0000-0000-0000-000000000000-0": "left",
    "statistics/stat-0f0f0f0f-0000-0000-0000-000000000000-0": "left",
    "snapshot/.snapshot-9.tmp": "left",
    "snapshot/notes": "left",
    "changelog/notes": "left",
    "bucket-0/data-0f0f0f0f-0000-0000-0000-000000000000-0.parquet": "left",
    "bucket-0/unheard-of": "left",
    "bucket-99/data-0f0f0f0f-0000-0000-0000-000000000000-1.parquet": "left",
    "elsewhere/data-0f0f0f0f-0000-0000-0000-000000000000-2.parquet": "left",
    "notes.txt": "left",
}


def list_cases() -> list[Case]:
    """Every run."""
    lakes = [f"spark/paimon/{name}" for name in _ALL]
    own = [f"{OWN}{name}" for name in TABLES]
    some = [f"spark/paimon/{name}" for name in _SOME]
    cases = [Case(lake, "compact", {"full": True}) for lake in (*lakes, *own)]
    picked = ("changelog-input", "changelog-lookup", "pk-deletion-vectors", "pk-first-row", "append-buckets")
    cases += [
        Case(lake, "compact", {"full": False})
        for lake in (own[0], own[2], *(f"spark/paimon/{name}" for name in picked))
    ]
    cases += [Case(lake, "expire_snapshots", {"retain_max": 1}) for lake in (*lakes, *own)]
    cases += [
        Case(
            lake, "expire_snapshots", {"retain_max": 4, "retain_min": 2, "older_than": FAR, "max_deletes": 3}
        )
        for lake in (*some, *own)
    ]
    cases += [
        Case(own[0], "expire_snapshots", {"older_than": FAR}, {"consumer/consumer-a": '{"nextSnapshot" : 3}'})
    ]
    cases += [Case(lake, "rollback", {"version": "1"}) for lake in lakes]
    cases += [
        Case(lake, "rollback", {"version": version})
        for lake, version in ((own[0], "2"), (own[4], "6"), (own[4], "at2"))
    ]
    # not those of two partition columns: 0.9 may wait for itself for ever
    cases += [Case(lake, "remove_orphan_files", {"older_than": FAR}) for lake in (*some, *own[:3], own[4])]
    cases += [
        Case(lake, "remove_orphan_files", {"older_than": FAR}, _LEFT_BEHIND)
        for lake in (own[0], "spark/paimon/statistics", "spark/paimon/changelog-kept", "spark/paimon/tags")
    ]
    beside = dict.fromkeys(("p=e/bucket-0/notes", "p=e/notes", "p=e/x/y", "x/notes", "notes"), "left")
    cases += [Case("spark/paimon/overwrite", "remove_orphan_files", {"older_than": FAR}, beside)]
    cases += [
        Case(own[4], "delete_tag", {"tag": tag})
        for tag in ("at1", "at2", "at3", "twin", "at2,twin", "at1,at3,at2,twin")
    ]
    cases += [Case("spark/paimon/tags", "delete_tag", {"tag": tag}) for tag in ("first", "kept for a day")]
    cases += [Case("spark/paimon/tags", "expire_tags")]
    days = {"timestamp_formatter": "yyyyMMdd", "timestamp_pattern": "$dt"}
    cases += [
        Case(own[3], "expire_partitions", {"expiration_time": "1 d", **days}),
        Case(
            own[3],
            "expire_partitions",
            {"expiration_time": "1 d", "timestamp_formatter": "yyyyMMdd H", "timestamp_pattern": "$dt $h"},
        ),
        Case(own[3], "expire_partitions", {"expiration_time": "36500 d", **days}),
        Case(own[3], "expire_partitions", {"expiration_time": "1 s", "expire_strategy": "update-time"}),
        Case("spark/paimon/pk-partitioned", "expire_partitions", {"expiration_time": "1 d"}),
        Case(
            "spark/paimon/overwrite",
            "expire_partitions",
            {"expiration_time": "1 s", "expire_strategy": "update-time"},
        ),
    ]
    return cases


# not those whose files are outside of the table, or whose rows wait for a bucket
_JAVA = (
    *("append-buckets", "append-compaction", "append-deletion-vectors", "append-types", "branches"),
    *(
        "changelog-full-compaction",
        "changelog-input",
        "changelog-long-lived",
        "changelog-lookup",
        "consumers",
    ),
    *(
        "data-format-per-level",
        "data-orc",
        "data-row",
        "expiry",
        "fast-forward",
        "file-index-in-file",
        "manifest-many",
    ),
    *(
        "manifest-merged",
        "overwrite",
        "partition-types",
        "pk-aggregation",
        "pk-cross-partition",
        "pk-deletion-vectors",
    ),
    *(
        "pk-deletion-vectors-bitmap64",
        "pk-dynamic-bucket",
        "pk-fixed-bucket",
        "pk-level-upgrade",
        "pk-rescale-bucket",
    ),
    *(
        "pk-schema-evolution",
        "rollback",
        "row-tracking",
        "statistics",
        "tag-without-snapshots",
        "tags",
        "truncate",
        "wide",
    ),
)
_LEFT = {path: text for path, text in _LEFT_BEHIND.items() if "bucket" not in path}


def list_java_cases() -> list[Case]:
    """Every run of Paimon's Java core 2.0."""
    lakes = [f"paimon-java/2.0.0-{name}" for name in _JAVA]
    ranges = {"retain_max": 4, "retain_min": 2, "older_than": FAR, "max_deletes": 3}
    cases = [Case(lake, "compact", {"full": True}) for lake in lakes if "row-tracking" not in lake]
    cases += [
        Case(lake, "compact", {"full": False})
        for lake in lakes
        if "/2.0.0-pk-" in lake or "changelog" in lake
    ]
    cases += [Case(lake, "expire_snapshots", {"retain_max": 1}) for lake in lakes]
    cases += [Case(lake, "expire_snapshots", ranges) for lake in lakes[::2]]
    cases += [Case(lake, "rollback", {"version": "1"}) for lake in lakes]
    cases += [Case(lake, "remove_orphan_files", {"older_than": FAR}, _LEFT) for lake in lakes[::2]]
    tags = {
        "tags": ("2024-01-01", "kept two days", "plain"),
        "tag-without-snapshots": ("only",),
        "branches": ("base",),
    }
    cases += [
        Case(f"paimon-java/2.0.0-{name}", "delete_tag", {"tag": tag})
        for name, held in tags.items()
        for tag in held
    ]
    cases += [Case(lake, "expire_tags", {"older_than": FAR}) for lake in lakes if "tag" in lake]
    return cases
