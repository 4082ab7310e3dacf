"""Small tables that real engines wrote, shipped with the package: something to open when you have no table yet.

>>> import lakelens as ll
>>> [sample.name for sample in ll.sample()][:2]
['delta', 'delta-basic']
>>> ll.sample("hive").format
'hive'
"""

from __future__ import annotations

import atexit
import io
import json
import os
import shutil
import sys
import tempfile
from functools import cache
from pathlib import Path
from types import ModuleType
from typing import TYPE_CHECKING, overload

from lakelens.errors import LakeError, Missing, list_nearest
from lakelens.installed import read_packaged
from lakelens.model.warehouse.sample import Sample, Samples

if TYPE_CHECKING:
    from lakelens.model.table import Table

__all__ = ["Sample", "Samples", "sample"]


@overload
def sample(name: None = None) -> Samples: ...
@overload
def sample(name: str) -> Table: ...
def sample(name: str | None = None) -> Samples | Table:
    """List the tables that ship with the package, or open a copy of one.

    Every call makes a new copy in a temporary directory, which is removed when this process ends: change it as you like.

    Parameters
    ----------
    name
        The name of a sample; None lists them all.

    Returns
    -------
    Table or Samples
        The opened copy, or the list.

    Raises
    ------
    Missing
        There is no such sample; the hint has the nearest names.

    Examples
    --------
    >>> sample("icebreg")
    Traceback (most recent call last):
    lakelens.errors.Missing: no sample 'icebreg'; try: did you mean iceberg? ll.sample() lists all of them
    """
    known = read_samples()
    if name is None:
        return known
    try:
        chosen = known[str(name)]
    except KeyError:
        near = list_nearest(str(name), known.keys())
        near += " " if near.endswith("?") else "; "
        raise Missing(f"no sample {name!r}", hint=f"{near}ll.sample() lists all of them") from None
    return chosen.open()


@cache
def read_samples() -> Samples:
    """Read the index of the packaged tables."""
    lines = json.loads(read_packaged(__name__, "samples.json"))
    return Samples([Sample(**line, opener=open_copy, unpacker=unpack_table) for line in lines])


def open_copy(name: str) -> Table:
    """Unpack a packaged table into a temporary directory and open it there."""
    from lakelens.opening import open_table

    return open_table(unpack_table(name))


def unpack_table(name: str, target: Path | None = None) -> Path:
    """Unpack a packaged table into a directory, by default a temporary one that is removed when this process ends.

    Returns the table's own directory, named like the sample. Raises `LakeError` if it exists already.
    """
    import zipfile

    if target is None:
        target = Path(tempfile.mkdtemp(prefix="lakelens-sample-"))
        atexit.register(_remove_directory, target, os.getpid())
    table = Path(target) / name
    try:
        table.mkdir(parents=True)
    except FileExistsError:
        raise LakeError(
            "there is something here already", path=str(table), hint="another directory"
        ) from None
    with zipfile.ZipFile(io.BytesIO(read_packaged(__name__, "tables", f"{name}.zip"))) as archive:
        archive.extractall(table)
    return table


def _remove_directory(place: Path, maker: int) -> None:
    # a forked process must not remove its parent's directory when it ends
    if os.getpid() == maker:
        shutil.rmtree(place, ignore_errors=True)


class _List(ModuleType):
    """This module as the terminal's verb: `ll.samples()` lists what `ll.sample()` does."""

    def __call__(self, name: str | None = None) -> Samples | Table:
        """Say what `sample` gives."""
        return sample(name) if name is not None else sample()


sys.modules[__name__].__class__ = _List
