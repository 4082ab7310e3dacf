"""Small tables that real engines wrote, shipped with the package: something to open before you have a table at hand.

>>> import lakelens as ll
>>> [sample.name for sample in ll.sample()][:2]
['hive', 'hive-bucketed']
>>> ll.sample("hive").format
'hive'
"""

from __future__ import annotations

import atexit
import json
import os
import shutil
import tempfile
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, overload

from lakelens.errors import LakeError, Missing
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

    Every call makes a copy of its own in a temporary directory, which lasts as long as this process: do with it what you
    like. Raises `Missing` for a name that there is not, with the nearest names.

    >>> sample("icebreg")
    Traceback (most recent call last):
    lakelens.errors.Missing: no sample 'icebreg'; try: one of iceberg, ...; ll.sample() lists all of them
    """
    known = read_samples()
    if name is None:
        return known
    try:
        chosen = known[str(name)]
    except KeyError:
        near = ", ".join(_find_near(str(name), [one.name for one in known]))
        raise Missing(f"no sample {name!r}", hint=f"one of {near}; ll.sample() lists all of them") from None
    return chosen.open()


@cache
def read_samples() -> Samples:
    """The index of the packaged tables."""
    lines = json.loads((files(__name__) / "samples.json").read_text("utf-8"))
    return Samples([Sample(**line, opener=open_copy, unpacker=unpack_table) for line in lines])


def open_copy(name: str) -> Table:
    """Unpack a packaged table into a temporary directory and open it there."""
    from lakelens.opening import open_table

    return open_table(unpack_table(name))


def unpack_table(name: str, target: Path | None = None) -> Path:
    """Unpack a packaged table into a directory, by default a temporary one that lasts as long as this process.

    Gives the table's own directory, which has the sample's name. Raises `LakeError` where that exists already.
    """
    import zipfile

    place = _make_temporary_directory() if target is None else Path(target)
    table = place / name
    try:
        table.mkdir(parents=True)
    except FileExistsError:
        raise LakeError(
            "there is something here already", path=str(table), hint="another directory"
        ) from None
    with (
        (files(__name__) / "tables" / f"{name}.zip").open("rb") as packed,
        zipfile.ZipFile(packed) as archive,
    ):
        archive.extractall(table)
    return table


def _make_temporary_directory() -> Path:
    place = Path(tempfile.mkdtemp(prefix="lakelens-sample-"))
    atexit.register(_remove_directory, place, os.getpid())
    return place


def _remove_directory(place: Path, maker: int) -> None:
    # a forked process that ends must not take the directory away from the one that made it
    if os.getpid() == maker:
        shutil.rmtree(place, ignore_errors=True)


def _find_near(name: str, known: list[str]) -> list[str]:
    """The names nearest to a misspelled one; all where none is near."""
    from difflib import get_close_matches

    lowered = name.lower()
    near = get_close_matches(lowered, known, n=5, cutoff=0.5)
    near += [one for one in known if lowered and lowered in one and one not in near]
    return near or known
