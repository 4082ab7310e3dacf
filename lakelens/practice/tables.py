"""The packaged tables that exercises are about: each is unpacked once, and left as it is."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

from lakelens.model.snapshot import Snapshot
from lakelens.model.table import Table
from lakelens.opening import open_table
from lakelens.samples import sample, unpack_table


@cache
def open_sample(name: str) -> Table:
    """Open a sample, once."""
    return sample(name)


@cache
def open_changed(name: str, change: Callable[[Path], Any]) -> Table:
    """Open a copy of a sample after something was done to its files."""
    place = unpack_table(name)
    change(place)
    return open_table(place)


@cache
def open_version(name: str, version: int) -> Table:
    """Open a sample as of one of its metadata files, by number."""
    return open_table(open_sample(name).location, version=version)


def find_current(table: Table) -> Snapshot:
    """Find the current state of a sample, which every one has."""
    assert table.current is not None
    return table.current
