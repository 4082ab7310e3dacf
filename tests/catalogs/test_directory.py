"""Warehouse directories: a name is a path in them."""

from __future__ import annotations

from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import LakeError, Missing


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Tables as Paimon and Hive keep them, and as Iceberg's Hadoop catalog does."""
    root = tmp_path_factory.mktemp("warehouse")
    for name, place in (("paimon-tags", "shop.db"), ("iceberg-basic", "eu/shop"), ("iceberg-basic", ".")):
        (root / place).mkdir(parents=True, exist_ok=True)
        ll.sample()[name].unpack(root / place)
    return root


def test_names_are_paths(warehouse: Path) -> None:
    for catalog in (
        str(warehouse),
        warehouse,
        f"file://{warehouse}",
        {"metastore": "filesystem", "warehouse": str(warehouse)},
        {"type": "hadoop", "warehouse": f"file://{warehouse}", "name": "wh"},
    ):
        table = ll.open("shop.paimon-tags", catalog=catalog)
        assert (table.format, table.name, table.catalog) == ("paimon", "shop.paimon-tags", None)
    for name in ("eu.shop.iceberg-basic", "default.iceberg-basic"):
        table = ll.open(name, catalog=warehouse)
        assert (table.format, table.name) == ("iceberg", name)
    alone = ll.open(warehouse / "eu" / "shop" / "iceberg-basic")
    assert [one.id for one in alone.snapshots] == [one.id for one in table.snapshots]


def test_find_walks_the_directory(warehouse: Path) -> None:
    assert sorted(one.format for one in ll.find(catalog=str(warehouse))) == ["iceberg", "iceberg", "paimon"]
    assert [one.format for one in ll.find("shop", catalog=warehouse)] == ["paimon"]
    with pytest.raises(Missing, match="did you mean"):
        ll.find("shopp", catalog=warehouse)


def test_names_that_are_no_paths(warehouse: Path) -> None:
    with pytest.raises(Missing) as raised:
        ll.open("shop.paimon-tagss", catalog=warehouse)
    assert raised.value.hint == "did you mean shop.paimon-tags?"
    for climbing in ("`..`.x", "shop.`../../etc`", "shop.`a\0b`", "`/etc`.passwd"):
        with pytest.raises(LakeError):
            ll.open(climbing, catalog=warehouse)
    with pytest.raises(Missing, match="no such warehouse"):
        ll.open("a.b", catalog=str(warehouse / "nowhere"))
