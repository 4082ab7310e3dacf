"""The packaged tables that exercises are about: each is unpacked once, and left as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.samples import sample, unpack_table


@cache
def open_sample(name: str) -> Table:
    """A sample, opened once."""
    return sample(name)


@cache
def open_changed(name: str, change: Callable[[Path], Any]) -> Table:
    """A copy of a sample after something was done to its files, opened from them."""
    from lakelens.opening import open_table

    place = unpack_table(name)
    change(place)
    return open_table(place)


@cache
def open_version(name: str, version: int) -> Table:
    """A sample as of one of its metadata files, by number."""
    from lakelens.opening import open_table

    return open_table(open_sample(name).location, version=version)


def find_current(table: Table) -> Snapshot:
    """The current state of a sample, which every one has."""
    assert table.current is not None
    return table.current
