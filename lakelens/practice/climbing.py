"""Write your own reader: it grows by a step, and each step tries it on a table that an engine wrote.

The tables are those that are packaged, unpacked again for each step, so that every one of them was moved. The right rows
are those that the engine gave when it wrote them, in `ladder.json`.
"""

from __future__ import annotations

import json
import runpy
import shutil
import tempfile
import traceback
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any

from lakelens.errors import UnknownName, list_nearest, visible_line
from lakelens.installed import read_text
from lakelens.model.facts.json_values import make_plain
from lakelens.opening import open_table
from lakelens.practice.answers import is_same, quote
from lakelens.practice.ladder import Climb, Ladder, Step, Steps
from lakelens.samples import unpack_table

_GIVES = {
    "files": "the paths of the live data files",
    "keys": "a dict from the name of each live data file to its smallest and its largest key",
    "rows": "the rows, a dict from column to value each",
    "changes": "the rows of the changelog, a dict from column to value each",
}


def ladder(format: str) -> Ladder:
    """The steps from nothing to your own reader of a format, each with a table that an engine wrote to try it on.

    Parameters
    ----------
    format
        "iceberg", "paimon" or "hive".

    Returns
    -------
    Ladder
        Its card lists the steps; `run(mine)` tries a reader.

    Raises
    ------
    UnknownName
        There is no ladder of that format.

    Examples
    --------
    >>> [step.title for step in ladder("iceberg").steps][:3]
    ['one commit', 'a chain of manifests', 'columns by field id']
    """
    known = _load_steps()
    if str(format).lower() not in known:
        raise UnknownName(f"no ladder of {format!r}", hint=list_nearest(str(format), known))
    return Ladder(str(format).lower(), known[str(format).lower()], _climb, ladder)


def _climb(steps: Ladder, mine: Any) -> Climb:
    """Try a reader on one table after the other, up to the first that it reads otherwise than the engine."""
    total = len(steps.steps)
    functions = _find_functions(mine)
    if isinstance(functions, str):
        return Climb(steps.format, 0, total, steps.steps[0], functions)
    for step in steps.steps:
        with tempfile.TemporaryDirectory(prefix="lakelens-ladder-") as directory:
            place = _prepare(step, Path(directory))
            wrong = _try_step(step, functions.get(step.asks), place)
        if wrong is not None:
            return Climb(steps.format, step.number - 1, total, step, *map(visible_line, wrong))
    return Climb(steps.format, total, total)


@cache
def _load_steps() -> Mapping[str, Steps]:
    import tomllib

    listed = tomllib.loads(read_text("lakelens.practice", "ladder.toml"))
    return {
        name: Steps(Step(number, **step) for number, step in enumerate(steps, 1))
        for name, steps in listed.items()
    }


def _find_functions(mine: Any) -> Mapping[str, Any] | str:
    """Find the functions of a reader by their names; words where its file cannot be run."""
    if isinstance(mine, str | Path):
        try:
            return runpy.run_path(str(mine))
        except OSError as error:
            return f"{Path(mine).name} cannot be read: {error.strerror or error}"
        except Exception as error:
            return f"{Path(mine).name} cannot be run: {_name_error(error)}"
    if isinstance(mine, Mapping):
        return mine
    if not isinstance(mine, type) and callable(mine) and hasattr(mine, "__name__"):
        return {mine.__name__: mine}
    return {name: getattr(mine, name) for name in _GIVES if hasattr(mine, name)}


def _prepare(step: Step, directory: Path) -> Path:
    """Unpack the table of a step, and do to it what the step says."""
    place = unpack_table(step.sample, directory)
    for pattern in step.remove:
        for path in place.glob(pattern):
            shutil.rmtree(path) if path.is_dir() else path.unlink()
    for name, text in step.write.items():
        (place / name).write_text(text)
    for pattern, targets in step.copy.items():
        for path, target in ((path, place / target) for path in place.glob(pattern) for target in targets):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
    return place


def _try_step(step: Step, function: Callable[..., Any] | None, place: Path) -> tuple[str, str] | None:
    """Ask a reader what a step asks; the first difference and the file that it is about, None where there is none."""
    if not callable(function):
        said = f"there is no function `{step.asks}` yet: {step.asks}(table) gives {_GIVES[step.asks]}"
        return said, ""
    try:
        given = function(str(place), **step.arguments)
        if (
            step.asks != "keys"
            and isinstance(given, Iterable)
            and not isinstance(given, str | bytes | Mapping)
        ):
            given = list(given)
    except Exception as error:
        return f"`{step.call}` raised {_name_error(error)}", ""
    if step.asks == "keys":
        return _compare_keys(place, given)
    if not isinstance(given, list):
        return f"`{step.call}` gave {quote(given)}, and is to give {_GIVES[step.asks]}", ""
    if step.asks == "files":
        return _compare_files(place, given)
    return _compare_rows(place, given, _find_rows(step, place))


def _name_error(error: Exception) -> str:
    """Name an error with the line of the reader's own code at which it was raised."""
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
    own = [frame.lineno for frame in frames if frame.filename == frames[0].filename]
    number = error.lineno if isinstance(error, SyntaxError) else own[-1] if own else None
    text = f"{type(error).__name__}: {error}" if str(error) else type(error).__name__
    return text if number is None else f"{text} (line {number})"


def _find_rows(step: Step, place: Path) -> list[Mapping[str, Any]]:
    """Find the right rows: those of the engine, or what the files say where no engine was asked."""
    known: Mapping[str, list[Mapping[str, Any]]] = json.loads(read_text("lakelens.practice", "ladder.json"))
    if (step.answer or step.sample) in known:
        return known[step.answer or step.sample]
    table = open_table(place)
    if step.asks == "rows":
        snapshot = table.snapshot(step.arguments["branch"])
        return [row for stored in snapshot.files for row in stored.preview().to_pylist()]
    names, kinds = [column.name for column in table.schema.fields], ("+I", "-U", "+U", "-D")
    return [
        {"rowkind": kinds[row["_VALUE_KIND"]], **{name: row[name] for name in names}}
        for snapshot in table.snapshots
        for listed in snapshot.manifest_lists
        for manifest in (listed.manifests if listed.role == "changelog" else ())
        for entry in manifest.entries
        for row in entry.file.preview().to_pylist()
    ]


def _compare_files(place: Path, given: Sequence[Any]) -> tuple[str, str] | None:
    names = [_name_file(place, path) for path in given]
    right = sorted(_name_file(place, stored.path) for stored in _list_live(place))
    for name in right:
        if name not in names:
            return f"`{name}` is live, and missing in what `files` gave", name
    for name in names:
        if name not in right or names.count(name) > 1:
            wrong = "is given twice" if name in right else "is no live data file"
            return f"`{name}` {wrong}", name
    return None


def _compare_keys(place: Path, given: Any) -> tuple[str, str] | None:
    if not isinstance(given, Mapping):
        return f"`keys(table)` gave {quote(given)}, and is to give {_GIVES['keys']}", ""
    held = {Path(str(name)).name: ends for name, ends in given.items()}
    live = {Path(stored.path).name: stored for stored in _list_live(place)}
    for name, stored in live.items():
        right = [list(stored.min_key.values), list(stored.max_key.values)]
        if name not in held:
            return f"the keys of `{name}` are missing", _name_file(place, stored.path)
        if not is_same(right, held[name]):
            return f"of `{name}` you gave {quote(held[name])}", _name_file(place, stored.path)
    extra = sorted(held.keys() - live.keys())
    return (f"`{extra[0]}` is no live data file", extra[0]) if extra else None


def _compare_rows(
    place: Path, given: Sequence[Any], right: Sequence[Mapping[str, Any]]
) -> tuple[str, str] | None:
    """Find the first row of the engine, whose answer is JSON, that is missing, else the first one given that is too many."""
    left = list(given)
    for row in right:
        match = next((at for at, other in enumerate(left) if is_same(row, make_plain(other))), None)
        if match is None:
            return f"the row {_quote_row(row)} is missing", _find_holder(place, row)
        left.pop(match)
    if left:
        row = left[0] if isinstance(left[0], Mapping) else {}
        said = f"the row {_quote_row(left[0])} is too many" if row else f"{quote(left[0])} is no row"
        return said, _find_holder(place, row)
    return None


def _find_holder(place: Path, row: Mapping[str, Any]) -> str:
    """Find the file under a table that has the most values of a row in one of its own, whatever its columns are called."""
    from lakelens.codecs.parquet.footer import read_rows

    wanted = [str(value) for name, value in row.items() if name != "rowkind" and value is not None]
    best, holder = 0, ""
    for path in sorted(place.rglob("*.parquet")):
        with path.open("rb") as file:
            lines = read_rows(file, 1_000).to_pylist()
        for line in lines:
            held = [str(value) for value in line.values()]
            count = sum(value in held for value in wanted)
            if count > best:
                best, holder = count, path.relative_to(place).as_posix()
    return holder


def _list_live(place: Path) -> Sequence[Any]:
    current = open_table(place).current
    return () if current is None else list(current.files.where(content="data"))


def _name_file(place: Path, path: Any) -> str:
    """Name a file as it is called below its table; as it was given where it is elsewhere."""
    try:
        return Path(str(path)).resolve().relative_to(place.resolve()).as_posix()
    except ValueError:
        return Path(str(path)).as_posix()


def _quote_row(row: Any) -> str:
    shown = json.dumps(row, ensure_ascii=False, default=str)
    return shown if len(shown) <= 160 else f"{shown[:157]}…"
