"""A bucket with tables that PyIceberg has written, and catalogs that know them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.catalog.sql import SqlCatalog

from tests.support.far import KEY, REGION, SECRET, Bucket, run_bucket, serve
from tests.support.rest_catalog import TOKEN, RestServer

COLUMNS = pa.schema([("id", pa.int64()), ("city", pa.string())])


@dataclass
class Lake:
    """Tables, and who knows them: `sql` of PyIceberg, `rest` at `uri`; `versions` of `shop.orders`, oldest first."""

    bucket: Bucket
    sql: SqlCatalog
    rest: RestServer
    uri: str
    versions: list[str]

    @property
    def properties(self) -> dict[str, Any]:
        """Of the REST catalog."""
        return {"name": "prod", "type": "rest", "uri": self.uri, "token": TOKEN}


def vend(bucket: Bucket) -> dict[str, str]:
    """Credentials and place of a bucket as a catalog gives them."""
    return {
        "s3.endpoint": bucket.endpoint,
        "s3.access-key-id": KEY,
        "s3.secret-access-key": SECRET,
        "s3.region": REGION,
    }


@pytest.fixture(scope="module")
def lake(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Lake]:
    """Two tables in a bucket, in nested namespaces."""
    folder = tmp_path_factory.mktemp("catalog")
    with run_bucket() as bucket:
        place = {"uri": f"sqlite:///{folder}/catalog.db", "warehouse": "s3://lake/wh"}
        sql = SqlCatalog("prod", **place, **vend(bucket))
        for namespace in (("shop",), ("eu",), ("eu", "shop")):
            sql.create_namespace(namespace)
        orders = sql.create_table("shop.orders", COLUMNS)
        versions = [orders.metadata_location]
        for number in range(3):
            orders.append(pa.table({"id": [number], "city": ["Oslo"]}, schema=COLUMNS))
            versions.append(orders.metadata_location)
        items = sql.create_table(("eu", "shop", "items"), COLUMNS)

        def read(location: str) -> bytes:
            key = location.removeprefix("s3://lake/")
            return bytes(bucket.client.get_object(Bucket="lake", Key=key)["Body"].read())

        server = RestServer(read, vend(bucket))
        server.tables |= {
            ("shop", "orders"): orders.metadata_location,
            ("eu", "shop", "items"): items.metadata_location,
        }
        with serve(server) as uri:
            yield Lake(bucket, sql, server, uri, versions)
        sql.close()


@pytest.fixture(autouse=True)
def no_configuration(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Whatever is configured on this machine, the tests do not see it."""
    monkeypatch.setenv("PYICEBERG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
