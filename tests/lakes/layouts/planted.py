"""Sixteen tables, each with a workload of which one layout is the best: planted here, and proven by what Spark did.

`asked` is how often each predicate is asked, `planted` the layouts that read least of those that Spark made; it is empty
where the table is best left. Other predicates are there to be foretold alone.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from tests.lakes.layouts.cases import Layout, Table, compact, order

_SIZE = 12_288
_PAIMON: Mapping[str, str] = {"bucket": "-1", "file.format": "parquet"}
_BOX = "lon BETWEEN {} AND {} AND lat BETWEEN {} AND {}"


@dataclass(frozen=True)
class Planted(Table):
    """A table with what is asked of it how often, and the layouts that are planted as the best."""

    asked: Mapping[str, int] = field(default_factory=dict)
    planted: tuple[str, ...] = ()


def sort(columns: str, partition: str = "", dropped: str = "", size: int = _SIZE) -> Layout:
    return order(sort=columns, partition=partition, dropped=dropped, target=size)


def curve(columns: str) -> Layout:
    return order(zorder=columns, target=_SIZE)


def paimon(strategy: str, columns: str) -> Layout:
    return compact(strategy, columns, _SIZE)


def draw(seed: int, most: int) -> str:
    """Draw a number below `most` that follows from the id alone."""
    return f"pmod(hash(id, {seed}), {most})"


def plant(
    catalog: str,
    columns: Mapping[str, str],
    layouts: tuple[Layout, ...],
    asked: Mapping[str, int],
    others: tuple[str, ...],
    planted: tuple[str, ...] = (),
    **given: Any,
) -> Planted:
    """Plant a table: its columns by name and type, each with what makes its value."""
    given = {"partitioned": "", "batches": 10, "rows": 16_000, **given}
    if catalog == "paimon":
        given = {"properties": _PAIMON, **given}
    names = ", ".join(columns)
    values = ", ".join(f"CAST({made} AS {name.split()[1]})" for name, made in columns.items())
    return Planted(
        catalog=catalog,
        columns=names,
        values=values,
        layouts=layouts,
        predicates=(*asked, *others),
        asked=asked,
        planted=planted,
        **given,
    )


_AT = "timestamp_seconds(1767225600 + id * 60)"
_PLACE = {"lon DOUBLE": f"{draw(2, 36000)} / 100.0 - 180", "lat DOUBLE": f"{draw(3, 18000)} / 100.0 - 90"}
_SERVICE = f"concat('service-', lpad({draw(7, 24)}, 2, '0'))"
_LEVEL = f"element_at(array('DEBUG', 'INFO', 'WARN', 'ERROR'), 1 + {draw(8, 4)})"

TABLES = {
    "orders": plant(
        "iceberg",
        {
            "order_id LONG": "id",
            "customer INT": draw(5, 3000),
            "placed DATE": "date_add(DATE '2026-01-01', CAST(id / 100 AS INT))",
            "total DECIMAL(10,2)": f"{draw(6, 90000)} / 100",
        },
        (
            sort("customer"),
            sort("placed"),
            sort("total"),
            sort("placed", "bucket(8, customer)"),
        ),
        {"customer = 1177": 60, "customer BETWEEN 100 AND 160": 30},
        (
            "customer < 40",
            "customer IN (7, 2900)",
            "placed = DATE '2026-02-03'",
            "placed >= DATE '2026-03-01'",
            "total > 880",
            "total < 20 AND customer > 2500",
            "order_id = 4321",
            "order_id < 900",
        ),
        ("sort customer",),
    ),
    "sensors": plant(
        "iceberg",
        {
            "device STRING": f"concat('dev-', lpad({draw(4, 400)}, 4, '0'))",
            "at TIMESTAMP": _AT,
            "heat DOUBLE": f"{draw(9, 4000)} / 40.0",
        },
        (sort("device"), sort("heat"), sort("at"), curve("device, heat")),
        {"device = 'dev-0123'": 80, "device >= 'dev-0390'": 10},
        (
            "device IN ('dev-0001', 'dev-0399')",
            "device < 'dev-0020'",
            "heat > 98",
            "heat < 5 AND device = 'dev-0200'",
            "at < '2026-01-01 12:00:00'",
            "at >= '2026-01-06 00:00:00' AND heat > 90",
            "heat BETWEEN 50 AND 52",
            "device LIKE 'dev-01%'",
        ),
        ("sort device",),
    ),
    "logs": plant(
        "iceberg",
        {
            "service STRING": _SERVICE,
            "level STRING": _LEVEL,
            "at TIMESTAMP": _AT,
            "took INT": draw(10, 60000),
        },
        (
            sort("service"),
            sort("service, level"),
            sort("level"),
            sort("took", "level"),
            sort("service", "level"),
            curve("service, level"),
        ),
        {"service = 'service-07' AND level = 'ERROR'": 60, "service = 'service-11' AND level = 'WARN'": 40},
        (
            "service = 'service-03'",
            "level = 'ERROR'",
            "service > 'service-21'",
            "took > 59000",
            "took < 600 AND level = 'DEBUG'",
            "at < '2026-01-02 00:00:00'",
            "service IN ('service-00', 'service-23')",
            "level = 'INFO' AND took > 50000",
        ),
        ("level sort service",),
    ),
    "trips": plant(
        "iceberg",
        {"trip LONG": "id", **_PLACE},
        (sort("lon"), sort("lat"), curve("lon, lat"), sort("lon, lat"), curve("lat, lon")),
        {
            _BOX.format(10, 30, 40, 55): 40,
            _BOX.format(-120, -90, 20, 40): 40,
            "lon BETWEEN 100 AND 140": 20,
            "lat BETWEEN -20 AND 0": 20,
        },
        (
            "lon < -170",
            "lat > 85",
            _BOX.format(0, 2, -90, 90),
            "lon > 150 AND lat < -60",
            "trip = 77",
            "trip < 900",
        ),
        ("zorder lon, lat", "zorder lat, lon"),
    ),
    "ledger": plant(
        "iceberg",
        {
            "account LONG": draw(12, 5000),
            "booked DATE": "date_add(DATE '2026-01-01', CAST(id / 100 AS INT))",
            "amount DOUBLE": f"{draw(13, 50000)} / 100.0",
        },
        (
            sort("account"),
            sort("amount"),
            sort("booked"),
            sort("account", "bucket(4, account)", "months(booked)"),
        ),
        {
            "booked >= DATE '2026-02-01' AND booked < DATE '2026-03-01' AND account < 700": 60,
            "account BETWEEN 2000 AND 2400 AND booked < DATE '2026-02-01'": 60,
        },
        (
            "account = 3111",
            "account > 4900",
            "booked = DATE '2026-01-15'",
            "booked > DATE '2026-03-10'",
            "amount > 495",
            "amount < 3 AND account < 500",
            "amount BETWEEN 100 AND 110",
            "account IN (5, 4995)",
        ),
        ("sort account",),
        partitioned="months(booked)",
    ),
    "visits_mixed": plant(
        "iceberg",
        {
            "visitor INT": draw(14, 900),
            "at TIMESTAMP": f"timestamp_seconds(1767225600 + {draw(15, 864000)})",
            "page STRING": f"concat('/p/', {draw(16, 50)})",
        },
        (
            sort("at"),
            sort("visitor"),
            sort("page"),
            sort("visitor", "days(at)"),
            sort("at", "days(at)"),
            curve("at, visitor"),
        ),
        {
            "at >= '2026-01-04 00:00:00' AND at < '2026-01-05 00:00:00'": 60,
            "at >= '2026-01-07 00:00:00' AND at < '2026-01-07 06:00:00'": 60,
        },
        (
            "visitor = 77",
            "visitor < 30",
            "at < '2026-01-01 06:00:00'",
            "at >= '2026-01-09 00:00:00' AND visitor > 800",
            "page = '/p/7'",
            "page = '/p/7' AND visitor < 100",
            "at >= '2026-01-02 00:00:00' AND at < '2026-01-05 00:00:00'",
            "visitor IN (1, 899)",
        ),
        ("days(at) sort at", "zorder at, visitor"),
    ),
    "tickets": plant(
        "iceberg",
        {
            "ticket LONG": "id",
            "team STRING": f"element_at(array('api', 'data', 'ops', 'web', 'mobile', 'desk'), 1 + {draw(17, 6)})",
            "opened DATE": "date_add(DATE '2026-01-01', CAST(id / 40 AS INT))",
            "points INT": draw(18, 100),
        },
        (
            sort("team"),
            sort("team, points"),
            sort("points"),
            sort("points", "team"),
            sort("points", "bucket(4, team)"),
            sort("opened", "team"),
            curve("team, points"),
        ),
        {"team = 'ops' AND points > 90": 50, "team = 'api' AND points < 8": 50, "team = 'web'": 10},
        (
            "points = 50",
            "points > 97",
            "team IN ('desk', 'data')",
            "opened > DATE '2026-07-01'",
            "team = 'mobile' AND opened < DATE '2026-02-01'",
            "ticket = 999",
            "ticket < 500",
        ),
        ("team sort points",),
    ),
    "scans": plant(
        "iceberg",
        {
            "scan LONG": "id",
            "item INT": draw(19, 20000),
            "shelf INT": draw(20, 300),
            "weight DOUBLE": f"{draw(21, 9000)} / 9.0",
        },
        (
            sort("item", size=49_152),
            sort("shelf", size=49_152),
            sort("shelf, item", size=49_152),
            sort("weight", size=49_152),
            order(zorder="item, shelf", target=49_152),
        ),
        {"shelf = 17": 100, "shelf = 200 AND item < 9000": 60},
        (
            "item = 12345",
            "item < 300",
            "item BETWEEN 5000 AND 7000",
            "shelf IN (1, 299)",
            "weight > 990",
            "weight < 20 AND item > 15000",
            "scan = 4000",
            "scan < 1000",
        ),
        ("sort shelf", "sort shelf, item"),
        properties={
            "format-version": "2",
            "write.parquet.row-group-size-bytes": "16384",
            "write.parquet.row-group-check-min-record-count": "10",
        },
    ),
    "metrics": plant(
        "iceberg",
        {
            "at TIMESTAMP": _AT,
            "host INT": draw(22, 200),
            "load DOUBLE": f"{draw(23, 1000)} / 10.0",
        },
        (sort("at", size=65_536), sort("host", size=65_536), order(zorder="at, host", target=65_536)),
        {
            "at >= '2026-01-03 00:00:00' AND at < '2026-01-03 04:00:00'": 100,
            "at >= '2026-01-05 10:00:00' AND at < '2026-01-05 11:00:00'": 100,
        },
        (
            "host = 7",
            "host < 10",
            "load > 99",
            "load < 2 AND host = 9",
            "at < '2026-01-01 05:00:00'",
            "at > '2026-01-06 00:00:00' AND host > 150",
            "host IN (3, 190)",
            "load BETWEEN 10 AND 11",
        ),
    ),
    "shops": plant(
        "iceberg",
        {
            "region STRING": "element_at(array('north', 'south', 'east', 'west'), 1 + CAST(id / 4000 AS INT))",
            "shop INT": draw(24, 500),
            "sold DOUBLE": f"{draw(25, 20000)} / 20.0",
        },
        (sort("shop"), sort("sold")),
        {"region = 'north'": 80, "region = 'west'": 40},
        (
            "shop = 250",
            "shop < 20",
            "sold > 990",
            "region = 'east' AND shop = 3",
            "sold < 10 AND region = 'south'",
            "shop IN (1, 499)",
            "region IN ('east', 'north')",
            "sold BETWEEN 500 AND 520",
        ),
        partitioned="region",
    ),
    "archive": plant(
        "iceberg",
        {
            "item LONG": draw(26, 100000),
            "kept DATE": "date_add(DATE '2020-01-01', CAST(id / 8 AS INT))",
            "weight INT": draw(27, 900),
        },
        (sort("item"), sort("weight")),
        {"item = 4711": 1},
        (
            "item < 2000",
            "item BETWEEN 50000 AND 60000",
            "weight = 5",
            "weight > 890",
            "kept < DATE '2020-03-01'",
            "kept > DATE '2022-06-01' AND item < 9000",
            "item IN (3, 99000)",
            "weight < 50 AND item > 90000",
            "kept = DATE '2021-05-05'",
        ),
    ),
    "parcels": plant(
        "paimon",
        {
            "parcel LONG": "id",
            "sender INT": draw(28, 4000),
            "grams INT": draw(29, 30000),
        },
        (paimon("order", "sender"), paimon("order", "grams"), paimon("zorder", "sender,grams")),
        {"sender = 2020": 50, "sender < 150": 50},
        (
            "sender BETWEEN 1000 AND 1200",
            "sender IN (9, 3900)",
            "grams > 29500",
            "grams < 1000 AND sender > 3000",
            "parcel = 5000",
            "parcel < 1500",
            "grams BETWEEN 10000 AND 11000",
            "sender > 3950 AND grams > 15000",
        ),
        ("order sender",),
    ),
    "beacons": plant(
        "paimon",
        {"beacon LONG": "id", **_PLACE},
        (
            paimon("order", "lon"),
            paimon("order", "lat"),
            paimon("zorder", "lon,lat"),
            paimon("hilbert", "lon,lat"),
            paimon("zorder", "lat,lon"),
            paimon("hilbert", "lat,lon"),
        ),
        {
            _BOX.format(-60, -40, 0, 20): 40,
            _BOX.format(90, 120, -50, -20): 40,
            "lon < -150": 20,
            "lat BETWEEN 60 AND 80": 20,
        },
        (
            "lat > 85",
            "lon BETWEEN 0 AND 10",
            _BOX.format(0, 5, -90, 90),
            "lon > 150 AND lat < -60",
            "beacon = 77",
            "beacon < 1500",
        ),
        ("zorder lon,lat", "zorder lat,lon"),
    ),
    "traces": plant(
        "paimon",
        {
            "service STRING": _SERVICE,
            "level STRING": _LEVEL,
            "took INT": draw(31, 50000),
            "dt STRING": "CAST(id / 5000 AS INT)",
        },
        (
            paimon("order", "service"),
            paimon("order", "took"),
            paimon("order", "level"),
            paimon("zorder", "service,took"),
        ),
        {"service = 'service-05'": 60, "service = 'service-19' AND dt = '1'": 60},
        (
            "level = 'ERROR'",
            "took > 49000",
            "took < 2000 AND dt = '2'",
            "dt = '0'",
            "service > 'service-20' AND took < 9000",
            "service IN ('service-01', 'service-22')",
            "level = 'WARN' AND service = 'service-09'",
            "took BETWEEN 20000 AND 21000",
        ),
        ("order service",),
        partitioned="dt",
        rows=20_000,
    ),
    "pings": plant(
        "paimon",
        {"at TIMESTAMP": _AT, "host INT": draw(32, 300), "millis INT": draw(33, 5000)},
        (compact("order", "at", 65_536), compact("order", "host", 65_536)),
        {
            "at >= '2026-01-03 00:00:00' AND at < '2026-01-03 08:00:00'": 100,
            "at < '2026-01-01 10:00:00'": 60,
        },
        (
            "host = 7",
            "host < 10",
            "millis > 4950",
            "millis < 100 AND host = 9",
            "at > '2026-01-10 00:00:00' AND host > 150",
            "host IN (3, 290)",
            "millis BETWEEN 1000 AND 1100",
            "at >= '2026-01-02 00:00:00' AND at < '2026-01-04 00:00:00'",
        ),
    ),
    "stores": plant(
        "paimon",
        {
            "region STRING": "element_at(array('north', 'south', 'east', 'west'), 1 + CAST(id / 4000 AS INT))",
            "shop INT": draw(34, 500),
            "sold INT": draw(35, 20000),
        },
        (paimon("order", "shop"), paimon("order", "sold")),
        {"region = 'south'": 15, "region = 'east'": 5},
        (
            "shop = 250",
            "shop < 20",
            "sold > 19800",
            "region = 'east' AND shop = 3",
            "sold < 200 AND region = 'south'",
            "shop IN (1, 499)",
            "region IN ('east', 'north')",
            "sold BETWEEN 5000 AND 5400",
        ),
        partitioned="region",
    ),
}
