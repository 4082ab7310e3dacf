"""The explorer as a person walks it, from a warehouse to a byte: by clicks, by keys alone, and with scripts switched off."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import pytest

import lakelens as ll
from tests.browser.looks import find_faults, open_folds
from tests.serving.running import Running, serving

SAMPLES = ("paimon-deletion-vectors", "iceberg-merge-on-read", "iceberg-v4", "hive")
KEYED = "paimon-deletion-vectors"
MOST_BYTES = 300_000
PAGES = (
    *("", "timeline", "snapshots", "files", "schema", "refs", "manifests", "deletes", "metadata", "bytes"),
    *("explain", "explain?where=id+%3E+2", "check", "check?run=yes", "health", "space", "findings", "help"),
    *("diff", "row?where=id+%3D+2", "dry_run", "files?content=data"),
    "sql?query=SELECT+content,+count(*)+AS+files+FROM+files+GROUP+BY+content",
)


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A warehouse of samples, in a database."""
    root = tmp_path_factory.mktemp("warehouse")
    for name in SAMPLES:
        ll.sample()[name].unpack(root / "shop.db")
    return root


@pytest.fixture(scope="module")
def served(warehouse: Path) -> Iterator[Running]:
    with serving(warehouse) as running:
        yield running


def enter(served: Running, browser: Any, **options: Any) -> Any:
    """A page of a browser of its own that has followed the first address; what it complains of is an error."""
    page = browser.new_context(viewport={"width": 1200, "height": 900}, **options).new_page()
    page.complaints = []
    page.on(
        "console", lambda message: page.complaints.append(message.text) if message.type == "error" else None
    )
    page.on("pageerror", lambda error: page.complaints.append(str(error)))
    page.goto(served.address)
    assert "token" not in page.url
    return page


@pytest.mark.exhaustive(keep=2)
@pytest.mark.parametrize("scripts", [True, False], ids=["scripts", "no scripts"])
def test_from_a_warehouse_to_a_byte_by_clicks(
    served: Running, warehouse: Path, browser: Any, scripts: bool
) -> None:
    page = enter(served, browser, java_script_enabled=scripts)
    table = ll.open(warehouse / "shop.db" / KEYED)
    assert table.current is not None
    entry = table.current.manifests[0].entries[0]
    page.get_by_role("link", name=KEYED).click()
    assert unquote(page.url) == f"{served.pages}shop.db/{KEYED}/@{table.current.id}/"
    page.get_by_role("navigation", name="Pages of this table").get_by_role("link", name="Manifests").click()
    page.locator("main table a[href*='manifest?']").first.click()
    page.locator("main table tbody a[href*='entry=']").first.click()
    assert "entry=0" in page.url
    assert entry.file.path.rpartition("/")[2] in page.locator("main").inner_text()
    page.get_by_role("link", name="_MIN_KEY", exact=True).click()
    assert "field=_MIN_KEY" in page.url
    shown = page.locator("main").inner_text()
    assert "BinaryRow" in shown
    # every part of the way is a crumb, and a state is its address: reloaded it is the same, and back leads back
    assert [crumb.inner_text() for crumb in page.locator(".lx-crumbs li").all()][:3] == [
        "warehouse",
        "shop.db",
        KEYED,
    ]
    page.reload()
    assert page.locator("main").inner_text() == shown
    page.go_back()
    assert "entry=0" in page.url
    # a form works without a script too
    page.get_by_role("navigation", name="Pages of this table").get_by_role("link", name="Explain").click()
    page.locator("input[name=where]").fill("id > 2")
    page.get_by_role("button", name="explain", exact=True).click()
    explained = table.explain("id > 2")
    files = len(explained.kept) + len(explained.skipped)
    assert f"Reads {len(explained.kept)} of {files} files" in page.locator("main").inner_text().replace(
        "\n", " "
    )
    assert page.complaints == []
    page.context.close()


def test_from_a_warehouse_to_a_byte_by_keys(served: Running, browser: Any) -> None:
    page = enter(served, browser)
    keys = page.keyboard

    def press(*names: str) -> None:
        for name in names:
            keys.press(name)
        page.wait_for_load_state()

    page.keyboard.press("/")
    keys.type("deletion-vectors")
    press("Enter")
    page.wait_for_url("**q=deletion-vectors**")
    press("j", "Enter")
    page.wait_for_url(f"**/{KEYED}/@*/")
    press("g", "m")
    page.wait_for_url("**/manifests")
    press("j", "Enter")
    page.wait_for_url("**/manifest_list?**")
    press("j", "Enter")
    page.wait_for_url("**/manifest?**")
    press("j", "Enter")
    page.wait_for_url("**entry=0**")
    for _ in range(80):
        keys.press("Tab")
        if page.evaluate("document.activeElement.textContent") == "_MIN_KEY":
            break
    press("Enter")
    page.wait_for_url("**field=_MIN_KEY**")
    press("m")
    page.wait_for_url("**field=_MAX_KEY**")
    press("u")
    page.wait_for_url("**/manifest?**entry=0**")
    press("?")
    assert page.get_by_role("dialog", name="Keys").is_visible()
    assert page.complaints == []
    page.context.close()


@pytest.mark.exhaustive(keep=12)
@pytest.mark.parametrize("name", [KEYED, "iceberg-merge-on-read", "hive"])
@pytest.mark.parametrize("scheme,width", [("light", 700), ("dark", 1900), ("light", 1900), ("dark", 700)])
def test_every_page_fits_and_has_no_serious_fault(
    served: Running, browser: Any, name: str, scheme: str, width: int
) -> None:
    page = enter(served, browser, color_scheme=scheme)
    page.set_viewport_size({"width": width, "height": 900})
    page.goto(f"{served.pages}shop.db/{name}/")
    base = page.url
    for one in PAGES:
        answer = page.goto(base + one)
        assert answer is not None
        assert answer.status == 200, (one, page.locator("main").inner_text())
        assert len(page.content().encode()) <= MOST_BYTES, one
        open_folds(page, "main")
        assert find_faults(page, "body") == [], one
        assert page.evaluate("document.documentElement.scrollWidth") <= width, one
    assert page.complaints == []
    page.context.close()
