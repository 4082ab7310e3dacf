"""PyIceberg's catalogs: REST with vended credentials, and SQL; what they point to is what is opened."""

from __future__ import annotations

import json
import pickle
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

import lakelens as ll
from lakelens.cli.commands import commands
from lakelens.errors import LakeError, Missing, Unsupported
from tests.catalogs.conftest import KEY, SECRET, TOKEN, Lake, vend
from tests.support.far import Weather, serve
from tests.support.faults import gather


def describe(table: Any) -> tuple[Any, ...]:
    """What two ways to the same table agree about."""
    return (
        [(one.id, one.summary) for one in table.snapshots],
        sorted(file.path for file in table.files),
        [(name, str(field.type)) for name, field in table.schema.walk()],
        table.metadata_path,
        table.name,
        [str(finding) for finding in table.findings],
    )


def test_rest_and_sql_open_the_same_table(lake: Lake) -> None:
    by_sql = ll.open("shop.orders", catalog=lake.sql)
    by_rest = ll.open("shop.orders", catalog=lake.properties)
    assert describe(by_sql) == describe(by_rest)
    assert len(by_rest.snapshots) == 3 and by_rest.location == "s3://lake/wh/shop/orders"
    assert not by_rest.findings
    by_path = ll.open(by_rest.location, storage_options=vend(lake.bucket))
    assert describe(by_path)[:4] == describe(by_rest)[:4]


def test_which_catalog_said_so_is_shown(lake: Lake) -> None:
    table = ll.open("shop.orders", catalog=lake.properties)
    assert dict(table.catalog["catalog"]) == {
        "name": "prod",
        "kind": "REST catalog",
        "uri": lake.uri,
        "table": "shop.orders",
    }
    assert f"REST catalog prod at {lake.uri} knows it as shop.orders" in table.evidence.reasons
    assert f"REST catalog prod at {lake.uri}" in str(table)
    for shown in (str(table), repr(table), str(table.evidence), table._repr_html_(), str(table.catalog)):
        assert not any(secret in shown for secret in (TOKEN, KEY, SECRET))


def test_the_pointer_wins_over_a_newer_file(lake: Lake) -> None:
    from sqlalchemy import text

    pointed, newest = lake.versions[2], lake.versions[3]

    def point(location: str) -> None:
        with lake.sql.engine.begin() as connection:
            sql = "UPDATE iceberg_tables SET metadata_location = :to WHERE table_name = 'orders'"
            connection.execute(text(sql), {"to": location})
        lake.rest.tables["shop", "orders"] = location

    point(pointed)
    try:
        tables = [ll.open("shop.orders", catalog=one) for one in (lake.sql, lake.properties)]
    finally:
        point(newest)
    assert describe(tables[0]) == describe(tables[1])
    for table in tables:
        assert table.metadata_path == pointed and len(table.snapshots) == 2
        (finding,) = table.findings
        assert (finding.severity, finding.code, finding.path) == ("warning", "catalog-pointer", newest)
        assert "1 WARNING" in str(table)
    copied = pickle.loads(pickle.dumps(tables[1]))
    assert len(copied.snapshots) == 2, "the catalog is not asked again"


def test_a_pointer_to_nothing_is_an_error_beside_what_is_there(lake: Lake) -> None:
    gone = lake.versions[3].replace("/00003-", "/00009-")
    lake.rest.documents[gone] = lake.rest.read(lake.versions[3])
    lake.rest.tables["shop", "orders"] = gone
    try:
        table = ll.open("shop.orders", catalog=lake.properties)
    finally:
        lake.rest.tables["shop", "orders"] = lake.versions[3]
    (finding,) = table.findings
    assert (finding.severity, finding.code) == ("error", "catalog-pointer")
    assert gone in finding.message and finding.path == lake.versions[3]


def test_a_pointer_to_a_place_where_nothing_is_names_both(lake: Lake) -> None:
    gone = "s3://lake/gone/orders/metadata/00001-a.metadata.json"
    lake.rest.tables["shop", "gone"] = gone
    lake.rest.documents[gone] = lake.rest.read(lake.versions[3])
    try:
        with pytest.raises(Missing) as raised:
            ll.open("shop.gone", catalog=lake.properties)
    finally:
        del lake.rest.tables["shop", "gone"]
    assert "REST catalog prod says that shop.gone is there" in str(raised.value)
    assert gone in str(raised.value) and SECRET not in str(raised.value)


def test_a_view(lake: Lake) -> None:
    version = {
        "version-id": 1,
        "timestamp-ms": 1_700_000_000_000,
        "schema-id": 0,
        "summary": {"engine-name": "spark"},
        "default-namespace": ["shop"],
        "representations": [{"type": "sql", "sql": "SELECT 1 AS one", "dialect": "spark"}],
    }
    document = {
        "view-uuid": "fa6506c3-7681-40c8-86dc-e36561f83385",
        "format-version": 1,
        "location": "s3://lake/wh/shop/seen",
        "current-version-id": 1,
        "versions": [version],
        "version-log": [{"timestamp-ms": 1_700_000_000_000, "version-id": 1}],
        "schemas": [
            {
                "type": "struct",
                "schema-id": 0,
                "fields": [{"id": 1, "name": "one", "required": False, "type": "int"}],
            }
        ],
        "properties": {},
    }
    key = "wh/shop/seen/metadata/00000-3f2a4b5c-0000-4000-8000-000000000000.metadata.json"
    lake.bucket.client.put_object(Bucket="lake", Key=key, Body=json.dumps(document).encode())
    lake.rest.views["shop", "seen"] = f"s3://lake/{key}"
    try:
        view = ll.open("shop.seen", catalog=lake.properties)
        found = ll.find("shop", catalog=lake.properties)
        assert [one.name for one in found.views] == ["shop.seen"] and [one.name for one in found] == [
            "shop.orders"
        ]
        assert (
            dict(found.views[0].open().current.sql) == dict(view.current.sql) == {"spark": "SELECT 1 AS one"}
        )
        assert "shop.seen" in str(found)
    finally:
        del lake.rest.views["shop", "seen"]


def test_a_catalog_that_does_not_answer(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    silent = threading.Event()

    def wait(environ: dict[str, Any], start_response: Any) -> list[bytes]:
        silent.wait(20)
        start_response("200 OK", [("Content-Length", "0")])
        return []

    monkeypatch.setattr(ll.options, "timeout", 0.2)
    with serve(wait) as uri:
        with pytest.raises(LakeError, match="cannot be reached"):
            ll.open("shop.orders", catalog={**lake.properties, "uri": uri})
        silent.set()


def test_a_catalog_that_is_busy_is_asked_again(lake: Lake) -> None:
    weather = Weather(lake.rest)

    def refuse(environ: dict[str, Any], start_response: Any) -> list[bytes] | None:
        if len(weather.requests) % 3 == 0:
            return None
        start_response("503 Slow Down", [("Content-Length", "0")])
        return []

    weather.faults = [refuse]
    with serve(weather) as uri:
        assert ll.open("shop.orders", catalog={**lake.properties, "uri": uri}).name == "shop.orders"
    assert len(weather.requests) == 6, "the configuration, and the table, each at the third time"


def test_names_are_asked_for_together(lake: Lake) -> None:
    names = [("shop", f"t{number}") for number in range(40)]
    lake.rest.tables |= dict.fromkeys(names, lake.versions[3])
    weather = Weather(lake.rest)
    weather.delay = 0.02
    weather.faults.append(gather(weather, 9, when="/tables/"))
    try:
        with serve(weather) as uri:
            assert len(ll.find("shop", catalog={**lake.properties, "uri": uri})) == 41
    finally:
        for name in names:
            del lake.rest.tables[name]
    assert weather.together > 8


def test_without_pyiceberg(monkeypatch: pytest.MonkeyPatch) -> None:
    for module in ("pyiceberg", "pyiceberg.catalog", "pyiceberg.utils.config"):
        monkeypatch.setitem(sys.modules, module, None)
    for catalog in ("prod", "https://catalog.example", {"type": "sql", "uri": "sqlite:////a.db"}):
        with pytest.raises(Unsupported, match=r"pip install 'lakelens\[catalogs\]'"):
            ll.open("a.b", catalog=catalog)


def test_on_the_command_line(lake: Lake, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("URI", lake.uri), ("TOKEN", TOKEN)):
        monkeypatch.setenv(f"PYICEBERG_CATALOG__PROD__{name}", value)
    runner = CliRunner()

    def run(*words: str) -> tuple[int, str]:
        result = runner.invoke(commands, [*words, "--catalog", "prod"])
        return result.exit_code, result.output

    assert run("find")[0] == 0 and "eu.shop.items" in run("find", "eu")[1]
    status, shown = run("snapshots", "shop.orders", "--json")
    assert status == 0 and len(json.loads(shown)["snapshots"]) == 3
    status, shown = run("show", "shop.order")
    assert status == 2 and "did you mean shop.orders?" in shown and TOKEN not in shown


def test_names(lake: Lake) -> None:
    items = "eu.shop.items"
    for name in (items, f"prod.{items}", "`eu`.shop.`items`"):
        assert ll.open(name, catalog=lake.properties).name == items
    for wrong, near in (
        ("shop.order", "did you mean shop.orders?"),
        ("shp.orders", "did you mean shop?"),
        ("orders", "a namespace before it: eu, shop"),
    ):
        for catalog in (lake.properties, lake.sql):
            with pytest.raises(Missing) as raised:
                ll.open(wrong, catalog=catalog)
            assert raised.value.hint == near and "prod" in str(raised.value)
    for odd in ("shop..orders", 5):
        with pytest.raises(Unsupported):
            ll.open(odd, catalog=lake.sql)


def test_configured_names(lake: Lake, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / ".pyiceberg.yaml").write_text(f"catalog:\n  prod:\n    uri: {lake.uri}\n    token: {TOKEN}\n")
    assert ll.open("shop.orders", catalog="prod").name == "shop.orders"
    monkeypatch.setenv("PYICEBERG_CATALOG__OTHER__URI", str(lake.sql.properties["uri"]))
    with pytest.raises(Missing, match="did you mean prod"):
        ll.open("shop.orders", catalog="prd")
    assert not ll.find(catalog="other"), "the database keeps tables of the catalog `prod` alone"
    by_address = ll.open("shop.orders", catalog=lake.sql.properties["uri"], storage_options=vend(lake.bucket))
    assert by_address.catalog["catalog"]["name"] == "prod"


def test_find_lists_tables(lake: Lake) -> None:
    found = ll.find(lake.properties)
    assert sorted(one.name for one in found) == ["eu.shop.items", "shop.orders"]
    assert found["shop.orders"].open().name == "shop.orders"
    assert [one.name for one in ll.find("eu.shop", catalog=lake.sql)] == ["eu.shop.items"]
    assert pickle.loads(pickle.dumps(found))["eu.shop.items"].open().name == "eu.shop.items"
    assert "shop.orders" in str(found) and SECRET not in str(found)
    lake.bucket.weather.requests.clear()
    lake.rest.requests.clear()
    ll.find(lake.sql)
    assert lake.bucket.weather.requests == [], "no table is opened to list it"


def test_what_fails_of_one_table_is_a_problem(lake: Lake) -> None:
    bad = ("shop", "bad\x1b[31m")
    lake.rest.tables[bad] = "https://evil.example/t/metadata/v1.metadata.json"
    lake.rest.documents[lake.rest.tables[bad]] = lake.rest.read(lake.versions[0])
    try:
        found = ll.find(lake.properties)
    finally:
        del lake.rest.tables[bad]
    assert len(found) == 2 and len(found.problems) == 1
    assert "\x1b" not in str(found) + str(found.problems[0]) + repr(found)


@pytest.mark.parametrize(
    "location",
    [
        "s3://lake/wh/../../other/metadata/v1.metadata.json",
        "simplecache::s3://lake/wh/t/metadata/v1.metadata.json",
        "https://evil.example/t/metadata/v1.metadata.json",
        "ssh://me:hunter2@evil.example/t/metadata/v1.metadata.json",
        "s3://lake/\0/metadata/v1.metadata.json",
        "",
    ],
)
def test_locations_that_are_not_followed(lake: Lake, location: str) -> None:
    lake.rest.tables["shop", "planted"] = location
    lake.rest.documents[location] = lake.rest.read(lake.versions[0])
    try:
        with pytest.raises(LakeError) as raised:
            ll.open("shop.planted", catalog=lake.properties)
    finally:
        del lake.rest.tables["shop", "planted"]
    assert "prod" in str(raised.value) and "hunter2" not in str(raised.value)


def test_failures_are_one_error_without_secrets(lake: Lake, tmp_path: Path) -> None:
    properties = {**lake.properties, "uri": lake.uri.replace("http://", "http://me:hunter2@")}
    shown = []
    for status in (401, 403, 500):
        lake.rest.failing = status
        try:
            with pytest.raises(LakeError) as raised:
                ll.open("shop.orders", catalog=properties)
        finally:
            lake.rest.failing = None
        shown.append(str(raised.value))
        assert raised.value.__cause__ is None and raised.value.__suppress_context__
        assert "REST catalog prod at" in shown[-1]
    with pytest.raises(LakeError, match="cannot be reached") as raised:
        ll.open("shop.orders", catalog={**lake.properties, "uri": "http://127.0.0.1:9"})
    for text in (*shown, str(raised.value), repr(raised.value)):
        assert TOKEN not in text and "hunter2" not in text
    with pytest.raises(Missing, match="no such database"):
        ll.open("shop.orders", catalog=f"sqlite:///{tmp_path}/none.db")
    assert not (tmp_path / "none.db").exists(), "nothing is written, no database is made"
    with pytest.raises(Missing):
        ll.open("a.b", catalog="nowhere")
    for wrong in ({}, 5, {"type": "no-such-type"}, {"metastore": "other"}):
        with pytest.raises(LakeError):
            ll.open("a.b", catalog=wrong)


def test_a_table_that_may_be_read_and_not_listed(lake: Lake) -> None:
    def refuse(environ: dict[str, Any], start_response: Any) -> list[bytes] | None:
        if "list-type" not in environ["QUERY_STRING"]:
            return None
        start_response("403 Forbidden", [("Content-Type", "application/xml")])
        return [b"<Error><Code>AccessDenied</Code><Message>no</Message></Error>"]

    lake.bucket.weather.faults = [refuse]
    try:
        table = ll.open("shop.orders", catalog=lake.properties)
        assert len(table.snapshots) == 3 and len(table.files) == 3
    finally:
        lake.bucket.weather.clear()
