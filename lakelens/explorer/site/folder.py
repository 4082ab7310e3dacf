"""A site's folder: made beside its place and moved there when it is whole; what is not ours is never written over."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from lakelens.errors import LakeError
from lakelens.explorer.assets import read_assets
from lakelens.explorer.site.walk import ASSETS, INDEX, MOST_BYTES, MOST_PAGES, Site, make_site
from lakelens.whole import writing

if TYPE_CHECKING:
    from lakelens.model.table import Table

#: What says that a folder is an earlier site, and which files are its own.
MARKER = "lakelens-site.json"


def write_site(
    table: Table,
    target: str | os.PathLike[str],
    *,
    most_pages: int = MOST_PAGES,
    most_bytes: int = MOST_BYTES,
) -> Site:
    """Write the pages of a table into a folder, in place of an earlier site there.

    Raises `LakeError` for a folder that holds anything else, for one inside of the table, and where it cannot be written:
    nothing of it is there then.

    >>> import lakelens as ll
    >>> with tempfile.TemporaryDirectory() as place:
    ...     site = write_site(ll.sample("iceberg"), Path(place, "site"), most_pages=1)
    ...     sorted(path.name for path in Path(place, "site").iterdir())
    ['assets', 'index.html', 'lakelens-site.json']
    """
    place = Path(target).resolve()
    _refuse_foreign(place)
    if "://" not in table.location and place.is_relative_to(Path(table.location).resolve()):
        raise LakeError("is inside of the table, in which nothing is written", path=str(place))
    site = make_site(table, most_pages=most_pages, most_bytes=most_bytes)
    with writing(place), _beside(place) as made:
        _write_all(site, made)
        _refuse_foreign(place)  # once more: it took a while
        _move(made, place)
    return replace(site, path=str(place))


def _write_all(site: Site, folder: Path) -> None:
    written = {name: text.encode() for name, text in site.pages.items()}
    written.update((f"{ASSETS}/{name}", held) for name, held in read_assets().items())
    marker = {"is": "the pages of a table, written by lakelens", "begin": INDEX, "files": sorted(written)}
    written[MARKER] = json.dumps(marker, indent=1).encode()
    folder.joinpath(ASSETS).mkdir()
    for name, held in written.items():
        folder.joinpath(name).write_bytes(held)


@contextmanager
def _beside(place: Path) -> Iterator[Path]:
    """An empty folder on the same file system, which is gone afterwards unless it was moved."""
    place.parent.mkdir(parents=True, exist_ok=True)
    work = Path(tempfile.mkdtemp(prefix=".lakelens-site-", dir=place.parent))
    try:
        made = work / "new"
        made.mkdir()
        yield made
    finally:
        shutil.rmtree(work, ignore_errors=True)


def _move(made: Path, place: Path) -> None:
    old = made.with_name("old")
    is_there = place.exists()
    if is_there:
        place.rename(old)
    try:
        made.rename(place)
    except OSError:
        if is_there:
            old.rename(place)
        raise


def _refuse_foreign(place: Path) -> None:
    """Raises `LakeError` for what is neither free, nor empty, nor an earlier site and nothing else."""
    if not os.path.lexists(place):
        return
    if not place.is_dir():
        raise LakeError("is a file, and a site is a folder", path=str(place))
    known = _read_marker(place)
    for folder, folders, names in os.walk(place):
        links = [name for name in folders if Path(folder, name).is_symlink()]
        for name in (*names, *links):
            inner = Path(folder, name).relative_to(place).as_posix()
            if inner not in known:
                raise LakeError(
                    f"holds {inner!r}, which is no file of an earlier site",
                    path=str(place),
                    hint="a new or empty folder, or one that a site was written into before",
                )


def _read_marker(place: Path) -> frozenset[str]:
    """Read the files of an earlier site; none where the folder is no site."""
    try:
        found = json.loads(place.joinpath(MARKER).read_text("utf-8"))
        names = found["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return frozenset()
    return frozenset((MARKER, *map(str, names))) if isinstance(names, list) else frozenset()
