"""Find at a glance: what each table of a warehouse is today, by its metadata alone, each failure kept in its row."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import lakelens as ll
from lakelens.errors import LakeError
from lakelens.model.storage import Evidence
from lakelens.model.warehouse.catalog import Catalog, FoundTable
from lakelens.options import display
from lakelens.views.card.model import Grid
from lakelens.views.cards import catalog as cards
from lakelens.views.present import present
from lakelens.views.render.html import render_card
from lakelens.views.render.text import render_text
from tests.support import LAKES

TABLES = {
    "shop.db/orders": "iceberg/v2-branches-and-tags",
    "shop.db/returns": "iceberg/v2-equality-deletes",
    "shop.db/items": "paimon/append",
    "shop.db/days": "hive/partitioned",
    "lab/empty": "iceberg/v2-no-snapshot",
    "lab/restored": "iceberg/v2-basic",
}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("find") / "warehouse"
    for name, source in TABLES.items():
        shutil.copytree(LAKES / "spark" / source / "table", root / name)
    for document in (root / "lab/restored/metadata").glob("*.metadata.json"):
        document.write_bytes(document.read_bytes()[:300])
    for number in range(12):
        (root / f"delta/t{number}/_delta_log").mkdir(parents=True)
    (root / "hudi/t/.hoodie").mkdir(parents=True)
    return root


def read_rows(catalog: Catalog) -> dict[str, list[str]]:
    card = present(catalog)
    grid = card.body[0]
    assert isinstance(grid, Grid)
    return {row[0].text: [cell.text for cell in row[1:]] for row in grid.rows}


def test_every_table_at_a_glance(warehouse: Path) -> None:
    catalog = ll.find(warehouse)
    assert not any(found.is_outlined for found in catalog), "nothing is opened before it is shown"
    rows = read_rows(catalog)
    orders = ll.open(warehouse / "shop.db/orders")
    assert orders.current is not None and orders.current.committed_at is not None
    assert rows["shop.db/orders"] == [
        "Iceberg v2",
        str(orders.current.live_record_count),
        str(len(orders.files)),
        f"{orders.files.size_bytes:,} B",
        f"{orders.current.committed_at:%Y-%m-%d %H:%M:%S}",
        str(len(orders.snapshots)),
        "none found",
    ]
    assert rows["shop.db/returns"][1].startswith("≤ "), "deletes by value: only reading tells"
    assert rows["shop.db/items"][:2] == ["Paimon append only", "3"]
    assert rows["shop.db/days"][0] == "Hive" and rows["shop.db/days"][1] == "not counted"
    assert rows["shop.db/days"][5] == "keeps none"
    assert rows["lab/empty"][1:3] == ["0", "0"] and rows["lab/empty"][4] == "none"
    assert rows["lab/restored"][1:5] == ["unknown"] * 4 and rows["lab/restored"][6] == "1 ERROR"
    times = [row[4] for row in rows.values()]
    known = [time for time in times if time[0] == "2"]
    assert known == sorted(known, reverse=True) and times[: len(known)] == known, "newest commit first"
    text = render_text(catalog)
    assert text.startswith("warehouse: 6 tables: 4 Iceberg, 1 Hive, 1 Paimon (1 ERROR)")
    assert "ERROR  lab/restored" in text and "not JSON" in text
    assert text.count(str(warehouse)) == 1, "the root is said once"


def test_problems_are_grouped_by_reason(warehouse: Path) -> None:
    catalog = ll.find(warehouse)
    assert len(catalog.problems) == 13
    (fold,) = (fold for fold in present(catalog).folds if fold.label == "Problems")
    assert fold.answer == "13 directories not listed: a Delta Lake table (12), a Hudi table (1)"
    (grid,) = fold.body()
    assert isinstance(grid, Grid)
    assert [(row[1].text, row[2].text[:18]) for row in grid.rows] == [
        ("12", "delta/t0, delta/t1"),
        ("1", "hudi/t"),
    ]
    assert grid.rows[0][2].text.endswith("… 4 more")


def test_no_manifest_and_no_data_file_is_read(warehouse: Path) -> None:
    for found, outline in zip(catalog := ll.find(warehouse), catalog.read_outlines(), strict=True):
        if outline.error is None:
            assert outline.reads is not None
            names = [path.rsplit("/", 1)[-1] for path in outline.reads.paths]
            assert not [name for name in names if name.endswith(".parquet")], found.path
            manifests = [name for name in names if name.startswith("manifest-") and "list" not in name]
            assert not manifests, found.path
            assert not [name for name in names if name.endswith("-m0.avro")], found.path


def test_rows_as_a_table(warehouse: Path) -> None:
    catalog = ll.find(warehouse)
    rows = {row["path"]: row for row in catalog.to_arrow().to_pylist()}
    orders, restored = rows[str(warehouse / "shop.db/orders")], rows[str(warehouse / "lab/restored")]
    assert (orders["live_rows"], orders["at_most_rows"], orders["errors"], orders["error"]) == (3, 3, 0, None)
    assert (restored["live_rows"], restored["errors"]) == (None, 1) and "not JSON" in restored["error"]
    assert rows[str(warehouse / "shop.db/returns")]["live_rows"] is None
    assert list(catalog.to_pandas()["path"]) == [found.path for found in catalog], "in path order"


def test_a_large_warehouse_is_not_opened_for_its_card(
    monkeypatch: pytest.MonkeyPatch, warehouse: Path
) -> None:
    monkeypatch.setattr(cards, "_MOST_OPENED", 3)
    with display.using(max_rows=2):
        catalog = ll.find(warehouse)
        assert list(read_rows(catalog)) == ["lab/empty", "lab/restored"]
        shown = render_card(catalog)
    assert sum(found.is_outlined for found in catalog) == 2
    assert "… 4 more tables: <code>.to_pandas()</code>" in shown and "In path order" in shown


def test_whatever_one_table_does_the_others_are_shown() -> None:
    def fail() -> None:
        raise ValueError("<b>bad\x1b[0m</b>")

    evidence = Evidence("iceberg", ("it looks like one",))
    sample = ll.find(ll.sample("iceberg-basic").location)[0]
    broken = FoundTable("/w/broken", "iceberg", evidence, fail)
    refused = FoundTable(
        "/w/refused", "iceberg", evidence, lambda: (_ for _ in ()).throw(LakeError("refused"))
    )
    catalog = Catalog("/w", [broken, refused, sample])
    with display.using(strict_views=False):
        rows, shown = read_rows(catalog), render_card(catalog)
    assert rows["broken"][-1] == rows["refused"][-1] == "1 ERROR" and rows[sample.path][1] == "4"
    assert "<b>bad" not in shown and "⟨U+001B⟩" in shown
    card = present(broken)
    assert card.alert == "1 ERROR" and "ValueError" in card.folds[1].answer


def test_nothing_found(tmp_path: Path) -> None:
    assert present(ll.find(tmp_path)).sentence == "no table found"
