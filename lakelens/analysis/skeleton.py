"""The skeleton of a table: written elsewhere, with what translates predicates into it."""

from __future__ import annotations

import json
import os
import shutil
import tempfile
from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import TYPE_CHECKING

from lakelens.analysis.explain.conditions import parse_condition
from lakelens.errors import LakeError, Unsupported
from lakelens.model.driver import require_part
from lakelens.model.finding import Finding
from lakelens.model.schema import Schema
from lakelens.model.skeleton.ordinals import NUMBERS, TEXTS, quote, to_ordinal, write_literal
from lakelens.model.skeleton.redaction import RedactedColumn, Redaction
from lakelens.model.stats import Condition, Constant, Group, Term
from lakelens.progress import Progress, track
from lakelens.whole import NotWritten, writing

if TYPE_CHECKING:
    from lakelens.model.skeleton.redaction import Bones
    from lakelens.model.table import Table


# A predicate over a table as the same predicate over its skeleton.


def translate_predicate(where: str, schema: Schema, columns: Mapping[str, RedactedColumn]) -> str:
    """The predicate with the columns and values of the skeleton. Raises what `explain` raises, and `Unsupported`."""
    return _write(parse_condition(where, schema), columns)


def _write(condition: Condition, columns: Mapping[str, RedactedColumn]) -> str:
    if isinstance(condition, Constant):
        return "TRUE" if condition.value else "FALSE"
    if isinstance(condition, Group):
        word = f" {condition.kind.upper()} "
        return word.join(f"({_write(part, columns)})" for part in condition.parts)
    return _write_term(condition, columns[condition.column])


def _write_term(term: Term, column: RedactedColumn) -> str:
    name = ".".join(f'"{part}"' for part in column.name.split("."))
    if term.test in ("is null", "is not null"):
        return f"{name} {term.test.upper()}"
    if "nan" in term.test:
        return f"{'NOT ' if 'not' in term.test else ''}isnan({name})"
    if "starts" in term.test:
        return _write_prefix(term, column, name)
    values = [_write_value(value, term, column) for value in term.values]
    if term.test in ("in", "not in"):
        return f"{name} {term.test.upper()} ({', '.join(values)})"
    return f"{name} {term.test} {values[0]}"


def _write_value(value: object, term: Term, column: RedactedColumn) -> str:
    logical = term.type.logical
    if isinstance(value, bool):
        return str(value).upper()
    if logical not in NUMBERS | TEXTS:
        raise Unsupported(f"{term.text}: values of {logical} columns are not translated")
    if isinstance(value, float) and value in (float("inf"), float("-inf")):
        return f"CAST('{'-' if value < 0 else ''}Infinity' AS DOUBLE)"
    if column.scale is None:
        if logical in ("float32", "float64"):
            return repr(value)
        return write_literal(to_ordinal(value, term.type), term.type)
    return write_literal(column.scale.map(to_ordinal(value, term.type)), term.type)  # type: ignore[arg-type]


def _write_prefix(term: Term, column: RedactedColumn, name: str) -> str:
    """Write what begins with a text, as all between two texts: beginnings are not kept, order is."""
    (prefix,) = term.values
    if column.scale is None:
        word = "NOT " if "not" in term.test else ""
        return f"{word}starts_with({name}, {quote(prefix)})"
    if "not" in term.test:
        raise Unsupported(f"{term.text}: what does not begin with a text is not translated")
    low = f"{name} >= {_write_value(prefix, term, column)}"
    after = prefix[:-1] + chr(ord(prefix[-1]) + 1) if prefix and ord(prefix[-1]) < 0xD7FF else None
    return low if after is None else f"{low} AND {name} < {_write_value(after, term, column)}"


# Where a skeleton may be written, and how: only below a directory that is empty or not there, never inside a table.


def find_target(target: str | os.PathLike[str], location: str) -> Path:
    """Find the directory that a skeleton is written to, with every link resolved.

    Raises `LakeError` for one that holds anything, that is no directory, or that is in the table (or the table in it).
    """
    text = os.fspath(target)
    if "://" in text or "\0" in text or not text:
        raise LakeError(
            "a skeleton is written to a directory of this machine", path=text, hint="a local path"
        )
    found = Path(text).expanduser().resolve()
    table = Path(location).resolve()
    if found == table or table in found.parents or found in table.parents:
        message = f"is inside the table or around it ({table}): nothing is written there"
        raise LakeError(message, path=str(found), hint="a directory elsewhere")
    if found.exists() and not found.is_dir():
        raise LakeError("is not a directory", path=str(found), hint="a directory that is not there yet")
    if found.is_dir() and any(found.iterdir()):
        raise LakeError("is not empty", path=str(found), hint="a directory that is not there yet")
    return found


def make_beside(target: Path) -> tempfile.TemporaryDirectory[str]:
    """Make a directory on the same file system as a target, for what is tried out. Raises `NotWritten`."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent)


def write_files(target: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write files below a directory, each of which must not be there yet; gives their bytes.

    Raises `NotWritten` where that cannot be done; whatever is raised, what was written until then is removed again.
    """
    total, is_new = 0, not target.exists()
    made: list[Path] = []
    try:
        with writing(target):
            target.mkdir(parents=True, exist_ok=True)
            for relative, data in track(files, "files of the skeleton"):
                parts = PurePosixPath(relative).parts
                if not parts or ".." in parts or relative.startswith("/"):
                    raise LakeError(f"a path that is not below the skeleton: {relative}", path=str(target))
                path = target.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:
                    made.append(path)
                    file.write(data)
                total += len(data)
    except BaseException:
        _remove(made, target, with_target=is_new)
        raise
    return total


def _remove(made: Iterable[Path], target: Path, *, with_target: bool) -> None:
    """Remove files, and the directories below a target that are empty without them."""
    folders = {target} if with_target else set()
    for path in made:
        folders.update(folder for folder in path.parents if target in folder.parents)
        with suppress(OSError):
            path.unlink()
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        with suppress(OSError):
            folder.rmdir()


class Skeleton(str):
    """The path of a skeleton, as text; `findings` says what is not in it, `translate_predicate` takes a predicate over.

    The original names and values are in this object alone. They are not in the skeleton.
    """

    findings: tuple[Finding, ...]
    size_bytes: int
    _redaction: Redaction
    _schema: Schema

    def __new__(cls, path: str, redaction: Redaction, schema: Schema, size_bytes: int) -> Skeleton:
        made = super().__new__(cls, path)
        made.size_bytes = size_bytes
        made.findings = tuple(Finding("note", "skeleton", path, text) for text in redaction.notes)
        made._redaction, made._schema = redaction, schema
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """Say what is pickled is the path alone: the original names and values stay in this process."""
        return str, (str(self),)

    def translate_predicate(self, where: str, schema: Schema | None = None) -> str:
        """Translate a predicate over the table as one over the skeleton, which skips and keeps the same files.

        Parameters
        ----------
        where
            A predicate as `Table.explain` takes it.
        schema
            The schema whose columns are meant; by default the table's current one.

        Raises
        ------
        LakeError
            The predicate is not understood.
        Unsupported
            It compares what has no order in the skeleton.
        """
        return translate_predicate(where, schema or self._schema, self._redaction.columns)

    def save_key(self, path: str | os.PathLike[str]) -> None:
        """Write which column is which, as JSON, for your own use: anywhere but in the skeleton.

        Parameters
        ----------
        path
            The file to write; it must not be there yet.
        """
        place = Path(path).expanduser().resolve()
        if Path(str(self)) in place.parents:
            raise LakeError("the key to a skeleton is not written into it", path=str(place))
        columns = {name: column.name for name, column in self._redaction.columns.items()}
        write_files(place.parent, [(place.name, json.dumps({"columns": columns}, indent=2).encode())])


def write_skeleton(
    table: Table, target: str | os.PathLike[str], keep: Collection[str] = (), seed: int | str | None = None
) -> Skeleton:
    """Write the skeleton of a table to a directory; `seed` makes it the same each time. See `Table.skeleton`."""
    place = find_target(target, table.location)
    redaction = Redaction(keep, seed)
    bones: Bones = require_part(table, "skeleton")(table, redaction)
    size = write_files(place, bones.encode(str(place)))
    return Skeleton(str(place), redaction, table.schema, size)


# The smallest skeleton that still shows a fault: delta debugging over a table's parts.
#
# Kind by kind (snapshots first, of which most hangs), parts are left out half by half, then quarter by quarter, until no
# single one can go (ddmin: Zeller and Hildebrandt, 2002). Each try is written to a directory of its own and asked; what it
# leaves is removed again.

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
        """Check whether a skeleton fails."""
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
            if not bench.is_spent and bench.try_out(smaller := bones.leave_out(kind, [*gone, *piece])):
                made, gone = smaller, [*gone, *piece]
            else:
                kept += piece
        left = kept
        if size == 1:
            break
        pieces = max(2, pieces * 2 if len(kept) > 1 else len(kept))
    return made
