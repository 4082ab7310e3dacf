"""Which files of a set a person means: by SQL over their columns, by a function, by values of attributes."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from lakelens.errors import LakeError, WrongArgument, find_nearest, list_nearest
from lakelens.model.scan.engines import parse_sql, run_query
from lakelens.model.scan.files_to_arrow import list_columns

if TYPE_CHECKING:
    import pyarrow as pa

    from lakelens.model.datafile import DataFile
    from lakelens.model.fileset import FileColumns, FileSet

Mask = Callable[["FileSet"], Sequence[bool]]
# what a SELECT with a WHERE alone has
_PLAIN = {"expressions", "where", "from", "from_", "kind"}
_WHERE = "what stands after WHERE, over the columns of to_arrow()"
_PREFIX = "SELECT 1 FROM files WHERE "
_ROW = "file_number"  # no column of files is called that


def choose_numbers(
    files: FileSet, predicate: str | Callable[[DataFile], bool] | None, equal: Mapping[str, Any]
) -> Callable[[], list[int]]:
    """A function that gives the numbers of the files for which all holds; see `FileSet.where`. Raises what that does."""
    masks: list[Mask] = []
    if isinstance(predicate, str):
        masks.append(_parse_condition(predicate, files.columns))
    elif callable(predicate):
        function = predicate
        masks.append(lambda of: [bool(function(found)) for found in of])
    elif predicate is not None:
        expected = "a condition in SQL or a function of a file"
        raise TypeError(f"where takes {expected}, not {type(predicate).__name__}")
    masks += [_compare(files, name, wanted) for name, wanted in equal.items()]

    def choose() -> list[int]:
        found = [mask(files) for mask in masks]
        return (
            [number for number, kept in enumerate(zip(*found, strict=True)) if all(kept)]
            if found
            else [*range(len(files))]
        )

    return choose


def sort_numbers(numbers: Sequence[int], keys: Sequence[Any], *, descending: bool) -> list[int]:
    """Sort numbers by the keys at them, least first; equal ones keep their order, those without a key are last.

    >>> sort_numbers([0, 1, 2], ["b", None, "a"], descending=False)
    [2, 0, 1]
    """
    known = [number for number in numbers if keys[number] is not None]
    known.sort(key=keys.__getitem__, reverse=descending)
    return known + [number for number in numbers if keys[number] is None]


def check_name(name: str, columns: FileColumns) -> None:
    """Raises `LakeError` with the nearest names where no column of `FileSet.to_arrow` is called that."""
    known = list_columns(columns, stats=True)
    if name not in known:
        raise LakeError(f"there is no column {name}", hint=list_nearest(name, known))


def _parse_condition(text: str, columns: FileColumns) -> Mask:
    def check(name: str) -> None:
        known = list_columns(columns, stats=True)
        held = {column.lower() for column, _ in columns.stats}  # what rows hold, not what is known of files
        if name not in known and name in held and not find_nearest(name, known):
            hint = f"table.explain({text!r}), which finds the files by the values of their rows"
            raise LakeError(f"{name} is a column of the rows, not of the list of files", hint=hint)
        check_name(name, columns)

    names = parse_condition(text, check)

    def judge(files: FileSet) -> Sequence[bool]:
        return judge_rows(text, files.to_arrow(columns=names or ["content"]))

    return judge


def parse_condition(text: str, check: Callable[[str], None]) -> list[str]:
    """Parse the columns that a condition in SQL names.

    Raises `LakeError` for what is none, and what `check` raises for a column that there is not, with its place in the text.
    """
    import sqlglot
    from sqlglot import exp

    try:
        (tree,) = parse_sql(lambda: sqlglot.parse(f"{_PREFIX}{text}", dialect="duckdb"))
    except (sqlglot.errors.SqlglotError, ValueError) as error:
        said = str(error).splitlines()[0] if str(error) else "it is no SQL"
        said = re.sub(r" for <class '[^']*'>.*", "", said)  # a word of the parser's own
        said = re.sub(
            r"\.? Line \d+, Col: \d+.*", "", said
        )  # counted from the beginning of a query that nobody wrote
        span = _find_wrong(text, error)
        raise LakeError(
            f"not a condition in SQL: {text!r} ({said})", hint=_WHERE, sql=text, span=span
        ) from None
    where = None if tree is None else tree.args.get("where")
    others = {key for key, value in (tree.args if tree is not None else {}).items() if value} - _PLAIN
    if not isinstance(tree, exp.Select) or where is None or others or where.find(exp.Query):
        raise LakeError(
            f"not a condition in SQL: {text!r}",
            hint=_WHERE,
        )
    names = list(dict.fromkeys(column.parts[0].name.lower() for column in where.find_all(exp.Column)))
    for name in names:
        try:
            check(name)
        except LakeError as error:
            found = re.search(rf"(?<!\w){re.escape(name)}(?!\w)", text, re.IGNORECASE)
            error.sql, error.span = text, None if found is None else found.span()
            raise

    return names


def judge_rows(text: str, table: pa.Table) -> list[bool]:
    """For each row of a table whether a condition in SQL holds. Raises `LakeError` where an engine cannot say."""
    import numpy as np
    import pyarrow as pa

    table = table.append_column(_ROW, pa.array(np.arange(table.num_rows)))
    query = f"SELECT {_ROW} FROM files WHERE (\n{text}\n)"  # a comment at its end ends with the line
    try:
        found = run_query(query, {"files": table})
    except Exception as error:  # engines raise errors of many classes
        raise LakeError(f"the condition {text!r} cannot be judged: {error}") from error
    kept = np.zeros(table.num_rows, np.bool_)
    kept[found.column(0).to_numpy()] = True
    judged: list[bool] = kept.tolist()
    return judged


def _find_wrong(text: str, error: Exception) -> tuple[int, int] | None:
    """Find the word at which a parser stopped: its first character and the one after it."""
    details: Any = (getattr(error, "errors", None) or [{}])[0]
    here, line, column = (details.get(name) for name in ("highlight", "line", "col"))
    if not here or not line or not column:
        return None
    before = f"{_PREFIX}{text}".split("\n")[: line - 1]
    end = sum(len(one) + 1 for one in before) + column - len(_PREFIX)
    begin = end - len(here)
    return (begin, end) if begin >= 0 and text[begin:end] == here else None


def _compare(files: FileSet, name: str, wanted: Any) -> Mask:
    """Check whether an attribute has a value. Raises TypeError for an attribute that no file has."""
    plain = [column for column in list_columns(files.columns, stats=False) if column != "partition_values"]
    if name in plain and (name != "partition" or isinstance(wanted, str)):
        return lambda of: [value == wanted for (value,) in of.pick(name)]
    first = next(iter(files), None)
    if name not in plain and (first is None or not hasattr(first, name)):
        raise WrongArgument(f"files have no attribute {name!r}", hint=list_nearest(name, plain))
    return lambda of: [bool(getattr(found, name) == wanted) for found in of]
