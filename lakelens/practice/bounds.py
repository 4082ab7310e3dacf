"""Exercises on the bounds of Iceberg's manifests: bytes to values, by the type of the column."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from lakelens.model.stats import ColumnBounds
from lakelens.practice.answers import convert, format_answer, is_same, quote, read_fields, unwrap
from lakelens.practice.exercise import Exhibit, Question, Step, Worked, Wrong
from lakelens.practice.reasons import (
    explain_date,
    explain_decimal,
    explain_float,
    explain_integer,
    explain_kind,
    explain_text,
)
from lakelens.practice.tables import open_sample

_HINTS = (
    "A bound is the single value alone: no length before it, and no padding after it.",
    "int, long, float, double, date and timestamps are little-endian; a decimal is big-endian, in as few bytes as it needs.",
    "A date is days, a timestamp microseconds since 1970-01-01 00:00.",
    "The bytes of a decimal are its unscaled number: the type says how many digits follow the point.",
)


class BoundsSource(NamedTuple):
    """Columns of a file of a sample: which of its files, counted from 0."""

    title: str
    sample: str
    file: int
    columns: tuple[str, ...]


SOURCES: tuple[BoundsSource, ...] = (
    BoundsSource("whole numbers", "iceberg-planning", 0, ("order_id", "customer_id")),
    BoundsSource("texts, one of them cut", "iceberg-planning", 1, ("status", "session")),
    BoundsSource("dates, times and a flag", "iceberg-types", 0, ("da", "ts", "b")),
    BoundsSource("decimals", "iceberg-types", 0, ("dec9", "dec18")),
    BoundsSource("decimals of one and of two bytes", "iceberg-planning", 0, ("amount",)),
    BoundsSource(
        "a long, a double and a decimal that was widened", "iceberg-evolution", 0, ("id", "f", "dec")
    ),
)
#: Columns for single questions of a quiz.
SPARE: tuple[BoundsSource, ...] = (
    BoundsSource("a bound", "iceberg-evolution", 1, ("id",)),
    BoundsSource("a bound", "iceberg-types", 0, ("st.y.a.b",)),
    BoundsSource("a bound", "iceberg-planning", 5, ("amount",)),
)


def ask_bounds(source: BoundsSource, only: str = "") -> Question:
    """Give an exercise on the bounds of some columns: lower and upper of each, or `only` one of the two."""
    bounds = open_sample(source.sample).files[source.file].bounds
    origin = f"data_file.lower_bounds and upper_bounds of file {source.file} of the sample {source.sample}"
    return ask_columns(source.title, [bounds[name] for name in source.columns], origin, only)


def ask_columns(title: str, columns: Sequence[ColumnBounds], origin: str, only: str = "") -> Question:
    """Ask for the bounds of columns whose bytes are known."""
    sides = (only,) if only else ("lower", "upper")
    names = [f"{column.name} {side}" for column in columns for side in sides]
    values = [getattr(column, side) for column in columns for side in sides]
    lines = tuple(
        (column.name, str(column.type), side, getattr(column, f"{side}_raw").hex(" "))
        for column in columns
        for side in sides
    )
    exhibit = Exhibit("What the manifest stores", ("column", "type", "bound", "bytes"), lines)
    many = f"What are the values of these {len(names)} bounds?"
    return Question(
        title,
        many if len(names) > 1 else f"What is the {sides[0]} bound of `{columns[0].name}`?",
        f"the values in order, as a list, or a dict by name: {', '.join(names)}",
        origin,
        (exhibit,),
        _HINTS,
        partial(_find_wrong, columns, sides, names, values),
        partial(_work_out, columns, sides, names),
    )


def _find_wrong(
    columns: Sequence[ColumnBounds],
    sides: Sequence[str],
    names: Sequence[str],
    values: Sequence[Any],
    answer: Any,
) -> Wrong | None:
    given = read_fields(answer, names)
    if isinstance(given, Wrong):
        return given
    parts = [(column, side) for column in columns for side in sides]
    for number, ((column, side), value, typed) in enumerate(zip(parts, values, given, strict=True), 1):
        if not is_same(value, typed):
            return Wrong(f"field {number}, `{names[number - 1]}`", _explain(column, side, value, typed))
    return None


def _explain(column: ColumnBounds, side: str, value: Any, given: Any) -> str:
    """Explain what the bytes of a bound say, by the type of the column."""
    content: bytes = getattr(column, f"{side}_raw")
    if unwrap(given) is None:
        return "you said None, but there is a bound: its bytes are stored"
    if (wrong := explain_kind(value, given)) is not None:
        return wrong
    said = _explain_content(column, content, value, convert(value, given))
    return f"you said {quote(given)}, but {said}"


def _explain_content(column: ColumnBounds, content: bytes, value: Any, given: Any) -> str:
    name = str(column.type)
    if name in ("int", "long"):
        return explain_integer(content, "little", given, name)
    if name in ("float", "double"):
        return explain_float(content, given)
    if name == "date":
        return explain_date(content)
    if name.startswith("timestamp"):
        return f"`{content.hex(' ')}` is microseconds since 1970-01-01 00:00, little-endian"
    if name.startswith("decimal"):
        scale = int(name.rstrip(")").rpartition(",")[2])
        return explain_decimal(content, "big", scale, value, given)
    if name == "boolean":
        return f"the byte is {content.hex()}: 00 is false, 01 is true"
    return explain_text(content, value, given)


def _work_out(columns: Sequence[ColumnBounds], sides: Sequence[str], names: Sequence[str]) -> Worked:
    values = [getattr(column, side) for column in columns for side in sides]
    stored = [getattr(column, f"{side}_raw").hex(" ") for column in columns for side in sides]
    types = [str(column.type) for column in columns for _ in sides]
    steps = tuple(
        Step(name, format_answer(value), f"{type_}: {raw}")
        for name, value, type_, raw in zip(names, values, types, stored, strict=True)
    )
    answer = dict(zip(names, values, strict=True))
    return Worked(answer, steps, columns[0].bytes_view())


def list_questions() -> tuple[Any, ...]:
    """List the makers of the exercises, from easy to hard."""
    return tuple(partial(ask_bounds, source) for source in SOURCES)
