"""The smallest skeleton that still shows a fault: delta debugging over a table's parts.

Kind by kind (snapshots first, of which most hangs), parts are left out half by half, then quarter by quarter, until no
single one can go (ddmin: Zeller and Hildebrandt, 2002). Each try is written to a directory of its own and asked; what it
leaves is removed again.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING

from lakelens.analysis.skeleton.skeleton import Skeleton
from lakelens.analysis.skeleton.writing import find_target, make_beside, write_files
from lakelens.errors import LakeError
from lakelens.model.driver import require_part
from lakelens.model.skeleton.redaction import Redaction
from lakelens.progress import Progress
from lakelens.whole import NotWritten

if TYPE_CHECKING:
    from lakelens.model.skeleton.bones import Bones
    from lakelens.model.table import Table

Fails = Callable[[str], object]
MOST_TRIES = 1_000


def minimize_table(
    table: Table,
    fails: Fails,
    target: str | os.PathLike[str],
    *,
    keep: Collection[str] = (),
    seed: int | str | None = 0,
    tries: int = MOST_TRIES,
) -> Skeleton:
    """Write the smallest skeleton of a table for which `fails(path)` is still true.

    `fails` is called with the path of one skeleton after another, each a whole table of its own. It should be true of the
    fault and of nothing else. A `LakeError` in it means that lakelens cannot open what is left, which does not count;
    anything else that it raises is raised, so catch what the engine raises and look at it. The same `seed` makes the same
    skeleton, so that the names and values that `fails` is about stay what they are from try to try.

    Parameters
    ----------
    table
        The table that has the fault.
    fails
        Whether a skeleton still shows it.
    target
        A directory of this machine that is empty or not there yet, and not in the table. Tries are written beside it.
    keep, seed
        As of `Table.skeleton`.
    tries
        How many skeletons are written at most; the smallest that was found until then is the result.

    Raises
    ------
    LakeError
        The skeleton of the whole table does not fail: what is at fault is not in its metadata, or was replaced; or nothing
        can be written there.
    Unsupported
        The format does not say how its documents are redacted.

    Examples
    --------
    >>> import tempfile
    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> path = ll.minimize(table, lambda path: len(ll.open(path).files), f"{tempfile.mkdtemp()}/smallest")
    >>> len(table.files), len(ll.open(path).files), path.size_bytes < 20_000
    (7, 1, True)
    """
    place = find_target(target, table.location)
    redaction = Redaction(keep, seed)
    bones: Bones = require_part(table, "skeleton")(table, redaction)
    with make_beside(place) as folder, Progress("skeletons") as progress:
        bench = _Bench(Path(folder), fails, tries, progress)
        if not bench.try_out(bones):
            message = "the skeleton of the whole table does not fail: the fault is not in its metadata, or was redacted"
            raise LakeError(message, path=table.location, hint="keep=('values',) or keep=('names', 'values')")
        smallest = _reduce(bones, bench)
        size = write_files(place, smallest.encode(str(place)))
    if not fails(str(place)):
        raise LakeError("the smallest skeleton fails in one directory and not in another", path=str(place))
    return Skeleton(str(place), redaction, table.schema, size)


class _Bench:
    """Where skeletons are tried out, each in a fresh directory."""

    def __init__(self, folder: Path, fails: Fails, tries: int, progress: Progress) -> None:
        self._folder, self._fails, self._progress = folder, fails, progress
        self._left = tries
        self._count = 0

    @property
    def is_spent(self) -> bool:
        """Whether no try is left."""
        return self._left <= 0

    def try_out(self, bones: Bones) -> bool:
        """Whether a skeleton fails."""
        self._left -= 1
        self._count += 1
        place = self._folder / f"{self._count}"
        try:
            size = write_files(place, bones.encode(str(place)))
            self._progress.advance(1, size)
            return bool(self._fails(str(place)))
        except NotWritten:
            raise
        except LakeError:  # lakelens itself cannot open what is left
            return False
        finally:
            shutil.rmtree(place, ignore_errors=True)


def _reduce(bones: Bones, bench: _Bench) -> Bones:
    """Kind by kind, and again as long as that finds anything."""
    found = True
    while found and not bench.is_spent:
        found = False
        for kind in bones.kinds:
            smaller = _reduce_kind(bones, kind, bench)
            found = found or smaller is not bones
            bones = smaller
    return bones


def _reduce_kind(bones: Bones, kind: str, bench: _Bench) -> Bones:
    """As few parts of a kind as it takes."""
    gone: list[str] = []
    left = bones.list_parts(kind)
    made, pieces = bones, 1
    while left and not bench.is_spent:
        size = max(1, -(-len(left) // pieces))
        kept: list[str] = []
        for begin in range(0, len(left), size):
            piece = left[begin : begin + size]
            smaller = None if bench.is_spent else _try_without(bones, kind, [*gone, *piece], bench)
            if smaller is None:
                kept += piece
            else:
                made, gone = smaller, [*gone, *piece]
        left = kept
        if size == 1:
            break
        pieces = max(2, pieces * 2 if len(kept) > 1 else len(kept))
    return made


def _try_without(bones: Bones, kind: str, keys: Iterable[str], bench: _Bench) -> Bones | None:
    smaller = bones.leave_out(kind, list(keys))
    return smaller if bench.try_out(smaller) else None
