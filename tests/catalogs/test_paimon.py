"""Paimon's JDBC catalog, a database that its client has made, and its REST catalog, asked by that client."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import pytest

import lakelens as ll
from lakelens.errors import Missing, Unsupported
from tests.support.far import serve

# what `JdbcCatalog` of Paimon and of pypaimon 2.1 make in a database
_TABLES = """
CREATE TABLE paimon_tables (catalog_key VARCHAR(255) NOT NULL, database_name VARCHAR(255) NOT NULL,
  table_name VARCHAR(255) NOT NULL, PRIMARY KEY (catalog_key, database_name, table_name));
CREATE TABLE paimon_database_properties (catalog_key VARCHAR(255) NOT NULL, database_name VARCHAR(255) NOT NULL,
  property_key VARCHAR(255), property_value VARCHAR(1000), PRIMARY KEY (catalog_key, database_name, property_key));
INSERT INTO paimon_tables VALUES ('jdbc', 'shop', 'paimon-tags'), ('other', 'shop', 'unseen'), ('jdbc', 'eu', 'gone');
INSERT INTO paimon_database_properties VALUES ('jdbc', 'shop', 'exists', 'true'), ('jdbc', 'shop', 'location', ?);
"""


@pytest.fixture
def properties(tmp_path: Path) -> dict[str, Any]:
    """A warehouse with a database whose directory has another name."""
    place = tmp_path / "elsewhere"
    place.mkdir()
    ll.sample()["paimon-tags"].unpack(place)
    with sqlite3.connect(tmp_path / "catalog.db") as database:
        database.executescript(_TABLES.replace("?", f"'file://{place}'"))
    uri = f"jdbc:sqlite:{tmp_path}/catalog.db"
    return {"metastore": "jdbc", "name": "lake", "uri": uri, "warehouse": f"file://{tmp_path}/wh"}


def test_a_jdbc_catalog(properties: dict[str, Any], tmp_path: Path) -> None:
    table = ll.open("shop.paimon-tags", catalog=properties)
    assert (table.format, table.name) == ("paimon", "shop.paimon-tags")
    assert table.location == str(tmp_path / "elsewhere" / "paimon-tags")
    assert table.catalog["catalog"]["kind"] == "Paimon JDBC catalog"
    assert "Paimon JDBC catalog lake" in str(table)
    found = ll.find(catalog=properties)
    assert [one.name for one in found] == ["eu.gone", "shop.paimon-tags"]
    assert found[0].outline.error is not None and found[1].outline.error is None
    for name, near in (
        ("shop.paimon-tagss", "did you mean shop.paimon-tags?"),
        ("shp.x", "did you mean shop?"),
    ):
        with pytest.raises(Missing) as raised:
            ll.open(name, catalog=properties)
        assert raised.value.hint == near
    with pytest.raises(Missing, match="Paimon JDBC catalog lake says that eu"):
        ll.open("eu.gone", catalog=properties)
    with pytest.raises(Unsupported, match="one of sqlite"):
        ll.open("a.b", catalog={**properties, "uri": "jdbc:oracle:thin"})


def test_a_rest_catalog_needs_its_client(properties: dict[str, Any]) -> None:
    pypaimon_is_there = True
    try:
        import pypaimon  # noqa: F401
    except ImportError:
        pypaimon_is_there = False
    if pypaimon_is_there:
        pytest.skip("pypaimon is installed: the next test asks it")
    with pytest.raises(Unsupported, match="pip install pypaimon"):
        ll.open("a.b", catalog={"metastore": "rest", "uri": "http://127.0.0.1:9", "warehouse": "w"})


def test_a_rest_catalog(tmp_path: Path) -> None:
    pytest.importorskip("pypaimon", reason="pypaimon is not installed")
    table = ll.sample()["paimon-tags"].unpack(tmp_path)
    answers = {
        "/v1/config": {"defaults": {"prefix": "p"}, "overrides": {}},
        "/v1/p/databases": {"databases": ["shop"], "nextPageToken": None},
        "/v1/p/databases/shop/tables": {"tables": ["orders"], "nextPageToken": None},
        "/v1/p/databases/shop/tables/orders": {
            "id": "1",
            "name": "orders",
            "path": f"file://{table}",
            "isExternal": False,
            "schemaId": 0,
            "schema": {"fields": [], "partitionKeys": [], "primaryKeys": [], "options": {}},
        },
    }

    def application(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        answer = answers.get(environ["PATH_INFO"])
        status = "404 Not Found" if answer is None else "200 OK"
        body = json.dumps(answer or {"message": "none", "code": 404, "resourceType": "TABLE"}).encode()
        start_response(status, [("Content-Type", "application/json"), ("Content-Length", str(len(body)))])
        return [body]

    with serve(application) as uri:
        properties = {
            "metastore": "rest",
            "uri": uri,
            "warehouse": "w",
            "token.provider": "bear",
            "token": "s3cr3t-t",
        }
        opened = ll.open("shop.orders", catalog=properties)
        assert opened.format == "paimon" and "s3cr3t-t" not in str(opened)
        assert [one.name for one in ll.find(properties)] == ["shop.orders"]
        with pytest.raises(Missing, match=r"did you mean shop\.orders"):
            ll.open("shop.order", catalog=properties)
