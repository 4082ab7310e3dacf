"""A folder of more files than are handed to Python, which asks the page for what it wants, through the service worker."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

from lakelens.samples import unpack_table
from tests.tab.visiting import READY, Visitor

_FILES = 20_001


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of a small table and of one of many files."""
    root = tmp_path_factory.mktemp("large") / "warehouse"
    unpack_table("paimon", root)
    for number in range(_FILES):
        partition = root / "many" / f"day={number % 10}"
        partition.mkdir(parents=True, exist_ok=True)
        (partition / f"part-{number:05}.csv").write_text(f"{number},a\n")
    return root


def open_folder(visitor: Visitor, way: str, folder: Path) -> None:
    """Drop or choose a folder, and wait for its page."""
    visitor.open()
    (visitor.drop if way == "drop" else visitor.choose)(folder)
    visitor.page.wait_for_selector(READY)


@pytest.mark.exhaustive
@pytest.mark.parametrize("way", ["drop", "choose"])
def test_what_python_asks_of_a_large_folder_the_page_answers(
    visitor: Visitor, warehouse: Path, tmp_path: Path, way: str
) -> None:
    folder = Path(shutil.copytree(warehouse, tmp_path / "warehouse"))
    open_folder(visitor, way, folder)
    assert {"many", "paimon"} <= set(visitor.read().split())
    assert any(f"{visitor.site}asked/" in url for url in visitor.requests)
    visitor.go("#folder/warehouse/paimon/@-/bytes?path=snapshot/snapshot-1")
    assert "commitKind" in visitor.read()
    visitor.go("#folder/warehouse/many/@-/")
    assert f"{_FILES:,}" in visitor.read()
    assert f" of {_FILES + sum(path.is_file() for path in (folder / 'paimon').rglob('*')):,} files" in (
        visitor.page.inner_text(".lt-read")
    )
    for path, words in (("day=3/part-00003.csv", "33 2c 61"), ("day=4/part-00014.csv", "31 34 2c 61")):
        visitor.go(f"#folder/warehouse/many/@-/bytes?path={path}")
        assert words in visitor.read()
    # one that went since, of which Python knows the size
    (folder / "many" / "day=5" / "part-00005.csv").unlink()
    visitor.go("#folder/warehouse/many/@-/bytes?path=day=5/part-00005.csv")
    assert "Missing" in visitor.read()


@pytest.mark.exhaustive
def test_without_a_service_worker_all_files_are_handed_over(browser: Any, site: str, warehouse: Path) -> None:
    visiting = Visitor(browser, site, service_workers="block")
    open_folder(visiting, "drop", warehouse)
    visiting.go("#folder/warehouse/many/@-/bytes?path=day=3/part-00003.csv")
    assert "33 2c 61" in visiting.read()
    visiting.context.close()
