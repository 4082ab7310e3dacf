"""From a path to the place that shows it: what *Open with lakelens* asks, at `open?path=`."""

from __future__ import annotations

import re
import shutil
from html import unescape
from pathlib import Path
from urllib.parse import urljoin

import pytest

import lakelens as ll
from lakelens.errors import Missing
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.locating import locate
from lakelens.explorer.page import Page, Redirect
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page
from tests.support.iceberg_builder import Builder

TABLES = {"orders": "iceberg-statistics", "clicks": "paimon-deletion-vectors", "logs": "hive"}


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Explorer:
    """A table of each format below a database."""
    root = tmp_path_factory.mktemp("warehouse")
    for name, sample in TABLES.items():
        shutil.copytree(ll.sample(sample).location, root / "shop.db" / name)
    (root / "notes").mkdir()
    return Explorer(root)


@pytest.mark.parametrize("name", TABLES)
def test_a_directory_of_a_table_leads_to_its_overview(warehouse: Explorer, name: str) -> None:
    folder = Path(warehouse.root, "shop.db", name)
    inner = [path.relative_to(warehouse.root).as_posix() for path in folder.rglob("*") if path.is_dir()]
    assert inner
    for path in (f"shop.db/{name}", f"shop.db/{name}/", *inner):
        assert locate(warehouse, path) == Place(("shop.db", name))


@pytest.mark.parametrize("name", TABLES)
def test_every_file_of_a_table_leads_to_a_page_of_it(warehouse: Explorer, name: str) -> None:
    table = warehouse.find(("shop.db", name)).open()
    kinds = set()
    for stored in table.list_files():
        place = locate(warehouse, f"shop.db/{name}/{stored.relative_path}")
        assert place.table == ("shop.db", name) and place.get("path") == stored.path
        kinds.add(place.page)
        asked = Place(page="open", asked=(("path", f"shop.db/{name}/{stored.relative_path}"),))
        assert warehouse.answer(asked) == Redirect(place)
        shown = warehouse.answer(place)
        assert not isinstance(shown, Redirect) and shown.status == 200, (stored.role, place.url)
    assert kinds <= {"file", "manifest", "manifest_list", "metadata", "statistics", "index", "bytes"}
    assert len(kinds) > 1


def test_other_directories_lead_to_the_tables_below_them(warehouse: Explorer) -> None:
    assert locate(warehouse, "") == Place()
    assert locate(warehouse, "shop.db") == Place(asked=(("below", "shop.db"),))
    assert locate(warehouse, "notes/none.txt") == Place(asked=(("below", "notes/none.txt"),))


@pytest.mark.parametrize(
    "path", ["../etc", "shop.db/../../etc/passwd", "shop.db/orders/./x", "a\0b", "x/" * 3000]
)
def test_what_leads_out_of_the_root_is_refused(warehouse: Explorer, path: str) -> None:
    with pytest.raises(Missing):
        locate(warehouse, path)
    answer = warehouse.answer(Place(page="open", asked=(("path", path),)))
    assert not isinstance(answer, Redirect) and answer.status == 404


@pytest.mark.parametrize("location", ["wh/db.db/t", "file:wh/db.db/t", "t"])
@pytest.mark.parametrize("name", ["data/b=x/f1.parquet", "b=x/f1.parquet"])
def test_links_of_a_table_whose_own_location_is_relative(tmp_path: Path, location: str, name: str) -> None:
    """What is recorded below a relative location is named in addresses as everything else: below the table's directory."""
    builder = Builder(tmp_path / "db.db" / "t", location=location)
    builder.snapshot([builder.manifest([builder.data_file(name)])])
    builder.write_metadata()
    explorer = Explorer(tmp_path)
    shown = []
    for page in ("files", "manifests", "metadata"):
        here = Place(("db.db", "t"), str(builder.snapshots[-1]["snapshot-id"]), page)
        made = explorer.answer(here)
        assert isinstance(made, Page) and made.status == 200
        for address in re.findall(r'href="([^"]*path=[^"]*)"', render_page(made)):
            place = Place.parse(*urljoin(f"/{here.url}", unescape(address)).split("?"))
            answer = explorer.answer(place)
            assert isinstance(answer, Page) and answer.status == 200, place
            shown.append((place.page, place.get("path")))
    assert ("file", name) in shown and "manifest" in dict(shown)
