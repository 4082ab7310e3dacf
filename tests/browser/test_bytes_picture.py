"""The static annotated hex in a browser: it fits, folds open, and it has no serious fault, with its style and without."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

import lakelens as ll
from lakelens.model.bytes_view import BytesView
from tests.browser.looks import find_faults, find_overflow, open_folds
from tests.support import LAKES
from tests.views.test_bytes import make_row

# a minute of them altogether: `make test-all`
pytestmark = pytest.mark.exhaustive

FILES = {
    "manifest": "spark/paimon/pk-types/table/manifest/manifest-[0-9a-f]*-0",
    "puffin": "spark/iceberg/v3-merge-on-read/table/data/**/*.puffin",
    "parquet": "spark/iceberg/v3-merge-on-read/table/data/**/*.parquet",
    "orc": "spark/paimon/types-orc/table/**/*.orc",
    "metadata": "spark/iceberg/v3-merge-on-read/table/metadata/*.metadata.json",
    "index": "paimon-java/2.0.0-pk-deletion-vectors/table/index/index-*",
}


def explain(pattern: str) -> BytesView:
    return ll.explain_file(min(LAKES.glob(pattern)))


EXPLAINERS: dict[str, Callable[[], BytesView]] = {
    "row": make_row,
    **{name: lambda pattern=pattern: explain(pattern) for name, pattern in FILES.items()},
}


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("name", EXPLAINERS)
def test_it_fits_and_has_no_serious_fault(page: Any, name: str, scheme: str) -> None:
    markup = EXPLAINERS[name]()._repr_html_()
    ground = "#fff" if scheme == "light" else "#111"
    page.set_content(
        f"<!DOCTYPE html><html lang=en style='color-scheme:{scheme};background:{ground}'><title>bytes</title>"
        f"<main><h1>bytes</h1>{markup}</main>"
    )
    assert find_overflow(page, ".ll-root") == [], "as first shown"
    open_folds(page, ".ll-root")
    assert find_overflow(page, ".ll-root") == [], "opened"
    assert find_faults(page, ".ll-root") == []


def test_columns_stand_in_line_at_every_depth(page: Any) -> None:
    page.set_content(f"<!DOCTYPE html>{explain(FILES['manifest'])._repr_html_()}")
    open_folds(page, ".ll-root")
    lefts = page.evaluate(
        "() => [...document.querySelectorAll('td.ll-x:not(.ll-m)')].map(td => Math.round(td.getBoundingClientRect().left))"
    )
    assert len(lefts) > 40
    assert max(lefts) - min(lefts) <= 4, sorted(set(lefts))


def test_without_style_all_is_still_said_in_order(page: Any) -> None:
    row = make_row()
    bare = re.sub(r'<style>.*?</style>| (class|style|title)="[^"]*"', "", row._repr_html_(), flags=re.DOTALL)
    page.set_content(f"<!DOCTYPE html>{bare}")
    told = " ".join(page.locator("body").inner_text().split())
    places = [
        told.index(word) for word in ("BinaryRow", "_MIN_KEY", "Header", "null bits", "INT, 4 bytes", "UTF-8")
    ]
    assert places == sorted(places)
