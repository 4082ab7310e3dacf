"""Small tables that real engines wrote, shipped with the package: something to open before you have a table at hand.

>>> import lakelens as ll
>>> [sample.name for sample in ll.sample()][:2]
['hive', 'iceberg']
>>> ll.sample("hive").format
'hive'
"""

from __future__ import annotations

import atexit
import json
import shutil
import tempfile
from functools import cache
from importlib.resources import files
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import TYPE_CHECKING, overload

from lakelens.errors import Missing
from lakelens.model.catalog import Sample, Samples

if TYPE_CHECKING:
    from lakelens.model.table import Table

__all__ = ["Sample", "Samples", "sample"]


@overload
def sample(name: None = None) -> Samples: ...
@overload
def sample(name: str) -> Table: ...
def sample(name: str | None = None) -> Samples | Table:
    """List the tables that ship with the package, or open a copy of one.

    The copy lies in a temporary directory, which lasts as long as this process: do with it what you like.
    Raises `Missing` for a name that there is not.

    >>> sample("nothing")
    Traceback (most recent call last):
    lakelens.errors.Missing: no sample 'nothing'; try: one of hive, iceberg, ...
    """
    known = read_samples()
    if name is None:
        return known
    try:
        chosen = known[name]
    except KeyError:
        names = ", ".join(one.name for one in known)
        raise Missing(f"no sample {name!r}", hint=f"one of {names}") from None
    return chosen.open()


@cache
def read_samples() -> Samples:
    """The index of the packaged tables."""
    entries = json.loads((files(__name__) / "samples.json").read_text("utf-8"))
    return Samples([Sample(entry["name"], entry["format"], entry["story"], open_copy) for entry in entries])


def open_copy(name: str) -> Table:
    """Copy a packaged table to a temporary directory, which lasts as long as this process, and open it there."""
    from lakelens.opening import open_table

    place = Path(tempfile.mkdtemp(prefix="lakelens-sample-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    copy_tree(files(__name__) / "tables" / name, place / name)
    return open_table(place / name)


def copy_tree(source: Traversable, target: Path) -> None:
    """Copy a packaged directory, which may lie in an archive, to the disk."""
    target.mkdir(parents=True, exist_ok=True)
    for child in source.iterdir():
        if child.is_dir():
            copy_tree(child, target / child.name)
        else:
            (target / child.name).write_bytes(child.read_bytes())
