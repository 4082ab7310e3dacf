"""Five tasks of people who have a table, each in at most two steps from its first page, or two calls."""

from __future__ import annotations

import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.serving.running import Running, serving
from tests.support.documents import invoke
from tests.support.growth import grow_iceberg


@pytest.fixture(scope="module")
def warehouse(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A sample with deletes, and a table whose queries read twenty manifests for one value."""
    root = tmp_path_factory.mktemp("tasks")
    unpack = invoke("samples", "iceberg", str(root))
    assert unpack.exit_code == 0
    grow_iceberg(root / "grown", files=200, manifests=20)
    return root


@pytest.fixture(scope="module")
def running(warehouse: Path) -> Iterator[Running]:
    with serving(warehouse) as started:
        yield started


def ask_for_row(page: Any) -> None:
    field = page.locator("input[name=where]").first
    field.fill("id = 8")
    field.press("Enter")


def take_report(page: Any) -> None:
    with page.expect_download() as taken:
        page.get_by_role("button", name="make the zip").click()
    with zipfile.ZipFile(taken.value.path()) as report:
        assert report.namelist()[0] == "README.md"


def follow(text: str) -> Callable[[Any], None]:
    return lambda page: page.locator(".lx-nav a", has_text=text).click()


_TASKS: dict[str, tuple[str, Sequence[Callable[[Any], None]], str]] = {
    "which commit wrote a row, and which ended it": ("iceberg", [ask_for_row], "1 row, 2 versions"),
    "why is it slow to plan": ("grown", [follow("Health")], "reads 21 of 21 manifests"),
    "what would expiry free": (
        "iceberg",
        [follow("Dry run"), lambda page: page.locator("a[href*=expire_snapshots]").first.click()],
        "What expiring would free",
    ),
    "is the copy whole": (
        "iceberg",
        [follow("Check"), lambda page: page.get_by_role("button", name="Check the metadata").click()],
        "none differs",
    ),
    "a report of a fault, without data": (
        "iceberg",
        [lambda page: page.get_by_role("link", name="report a fault").click(), take_report],
        "Report a fault",
    ),
}


@pytest.mark.parametrize("task", _TASKS)
def test_a_task_by_clicks(task: str, page: Any, running: Running) -> None:
    table, steps, answer = _TASKS[task]
    assert len(steps) <= 2
    page.goto(running.address)
    page.locator("tbody").get_by_role("link", name=table, exact=True).click()
    page.wait_for_url("**/@*/")
    for step in steps:
        step(page)
    page.locator("main").get_by_text(answer).first.wait_for()


@pytest.mark.parametrize(
    ("calls", "answer"),
    [
        ([["row", "iceberg", "id = 8"]], "1 row, 2 versions"),
        ([["health", "grown"]], "reads 21 of 21 manifests"),
        (
            [["space", "iceberg"], ["dry-run", "iceberg", "expire_snapshots", "-o", "older_than=2100-01-01"]],
            "would free",
        ),
        ([["check", "iceberg"]], "none differs"),
        ([["bug", "iceberg", "report.zip"]], "README.md"),
    ],
    ids=list(_TASKS),
)
def test_a_task_in_a_terminal(
    calls: list[list[str]], answer: str, warehouse: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(warehouse)
    assert len(calls) <= 2
    said = [invoke(*call) for call in calls]
    assert answer in said[-1].stdout and [one.exit_code for one in said] == [0] * len(calls)
