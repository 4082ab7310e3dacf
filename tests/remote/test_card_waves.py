"""The waves of a card are those that the documents count, for every sample."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from lakelens.opening import open_in_store
from tests.support.far_memory import ROOT, FlatStore, count_card, read_samples

PAGE = Path(__file__).parents[2] / "docs/object-stores.md"
TITLES = {"iceberg": "Iceberg", "paimon": "Paimon", "delta": "Delta Lake", "hive": "Hive"}


def read_page(title: str) -> list[int]:
    """The waves that the page counts for a format, line by line."""
    return [
        int(number) for number in re.findall(rf"^\| {title}[^|]*\| (\d+) \|", PAGE.read_text("utf-8"), re.M)
    ]


@pytest.mark.parametrize("format", TITLES)
def test_a_card_waits_as_often_as_the_page_says(format: str) -> None:
    """Every count of the page is that of some sample, and none waits more often; some wait less."""
    counted = {count_card(open_in_store(FlatStore(objects), ROOT)) for _, objects in read_samples(format)}
    told = read_page(TITLES[format])
    assert told and set(told) <= counted and max(told) == max(counted)
