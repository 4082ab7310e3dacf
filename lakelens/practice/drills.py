"""Rows without end: questions drawn from a seed, one after the other; five right in a row are mastery: `ll.drill`."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Decimal
from functools import partial
from random import Random, SystemRandom
from typing import Any

from lakelens.codecs.iceberg.types import parse_type_text
from lakelens.codecs.iceberg.value import decode_value
from lakelens.errors import LakeError, UnknownName, list_nearest
from lakelens.explaining import decode_binary_row, explain_bytes
from lakelens.formats.iceberg.metadata.schemas import describe_type
from lakelens.model.bytes_view import Source
from lakelens.model.stats import ColumnBounds
from lakelens.practice import draws
from lakelens.practice.answers import format_answer, is_same, quote, read_fields
from lakelens.practice.binary_row import ask_fields
from lakelens.practice.bounds import ask_columns
from lakelens.practice.exercise import Drill, Exercise, Exhibit, Question, Step, Worked, Wrong
from lakelens.practice.reasons import explain_kind
from lakelens.practice.vectors import ask_positions

_MOST_SEEDS = 10_000  # to choose from, where none is named
_PARTITION_HINTS = (
    "year, month, day and hour count from the beginning of 1970, and before it they are negative.",
    "truncate[W] of a number is the multiple of W that is not above it; of a decimal, W counts in its last digit.",
    "truncate[W] of a text is its first W characters, not bytes. identity leaves the value as it is, and null stays null.",
    "The directory is the field's name, `=`, and the value as people write it, encoded as in the query of a URL.",
)


def drill(subject: str, seed: int | None = None) -> Drill:
    """Questions without end on rows drawn from a seed: five right in a row are mastery.

    Parameters
    ----------
    subject
        "binary-row" (rows of Paimon), "bounds" (of Iceberg's manifests), "deletion-vector" (of both) or "partition" (what
        Iceberg's transforms make of a value).
    seed
        A whole number: the same one asks the same questions. None chooses one, which the card shows.

    Returns
    -------
    Drill
        Its card shows the question; `check(answer)` goes on to the next one when the answer is right.

    Raises
    ------
    UnknownName
        There are no drills on such a subject.
    LakeError
        The seed is no whole number.

    Examples
    --------
    >>> drill("partition", seed=1).exercise.title
    'truncate[100] of a column of long'
    """
    if subject not in _SUBJECTS:
        raise UnknownName(f"no drills on {subject!r}", hint=list_nearest(str(subject), _SUBJECTS))
    if seed is None:
        seed = SystemRandom().randrange(_MOST_SEEDS)
    if isinstance(seed, bool) or not isinstance(seed, int):
        raise LakeError(f"{seed!r} is no seed", expected="a whole number, or None to have one chosen")
    return Drill(subject, seed, draw_exercise)


def draw_exercise(subject: str, number: int, seed: int) -> Exercise:
    """Draw the question of a number; each is drawn by itself, whatever came before it."""
    question = _SUBJECTS[subject](draws.open_draw(subject, seed, number), f"seed {seed}")
    return Exercise(subject, number, question, partial(draw_exercise, seed=seed))


def _ask_row(draw: Random, origin: str) -> Question:
    fields, values = draws.draw_row(draw)
    row = decode_binary_row(draws.write_row(fields, values), fields)
    return ask_fields(f"a row of {len(fields)} fields", row, f"{origin}, as Paimon writes it")


def _ask_bounds(draw: Random, origin: str) -> Question:
    kind, *values = draws.draw_bounds(draw)
    lower, upper = (draws.write_bound(kind, value) for value in values)
    type_ = parse_type_text(kind)
    column = ColumnBounds(
        "c",
        describe_type(type_),
        lower=decode_value(lower, type_),
        upper=decode_value(upper, type_),
        lower_raw=lower,
        upper_raw=upper,
        _source=Source(lambda _: explain_bytes(lower, "iceberg_value", type=type_)),
    )
    return ask_columns(f"bounds of a column of {kind}", [column], f"{origin}, as Iceberg writes them")


def _ask_vector(draw: Random, origin: str) -> Question:
    positions, is_wide = draws.draw_positions(draw), draw.random() < 0.5
    view = explain_bytes(draws.write_vector(positions, is_wide=is_wide), "deletion_vector")
    engine = "Iceberg" if is_wide else "Paimon"
    return ask_positions(f"a vector of {engine}", list(positions), view, f"{origin}, as {engine} writes it")


def _ask_partition(draw: Random, origin: str) -> Question:
    drawn = draws.draw_partition(draw)
    lines = ((drawn.type, drawn.transform, draws.name_field(drawn.transform), format_answer(drawn.value)),)
    return Question(
        f"{drawn.transform} of a column of {drawn.type}",
        f"The table is partitioned by {drawn.transform}(c). What does the manifest store for a row with this value, and in "
        "which directory is its file?",
        "the stored value and the directory, as a list, or a dict by name: stored, directory. The value of year, month, "
        "day and hour is a whole number",
        f"{origin}, as Iceberg's own transforms give it",
        (
            Exhibit(
                "The column c and its partition field", ("type", "transform", "field", "value of c"), lines
            ),
        ),
        _PARTITION_HINTS,
        partial(_find_wrong_partition, drawn),
        partial(_work_out_partition, drawn),
    )


def _find_wrong_partition(drawn: draws.DrawnPartition, answer: Any) -> Wrong | None:
    given = read_fields(answer, ["stored", "directory"])
    if isinstance(given, Wrong):
        return given
    stored, directory = given
    if not is_same(drawn.stored, stored):
        return Wrong("stored", _explain_stored(drawn, stored))
    if isinstance(directory, str) and directory.strip().strip("/") == drawn.directory:
        return None
    return Wrong("directory", f"you said {quote(directory)}, but {_explain_directory(drawn, directory)}")


def _explain_stored(drawn: draws.DrawnPartition, given: Any) -> str:
    if drawn.stored is None:
        return f"you said {quote(given)}, but the value of c is null"
    if given is None:
        return "you said None, but c has a value"
    if (wrong := explain_kind(drawn.stored, given)) is not None:
        return wrong
    said = f"you said {quote(given)}, but"
    name = drawn.transform.partition("[")[0]
    if name == "truncate" and isinstance(drawn.value, str):
        return f"{said} the width counts characters from the first one on"
    if name == "truncate" and isinstance(drawn.value, int | Decimal) and drawn.value < 0:
        return f"{said} truncate goes down, and a negative number away from zero"
    if name == "truncate":
        return f"{said} the width is that of {drawn.transform}, and of a decimal it counts in the last digit"
    if name == "identity":
        return f"{said} identity changes nothing"
    return f"{said} {name}s are counted from the first one of 1970, which is 0"


def _explain_directory(drawn: draws.DrawnPartition, given: Any) -> str:
    if not isinstance(given, str):
        return "a directory is a text"
    field = draws.name_field(drawn.transform)
    if not given.startswith(f"{field}="):
        return f"it begins with the name of the field, {field}, and ="
    if drawn.stored is None:
        return "null has a word in a directory's name"
    if isinstance(drawn.stored, str):
        return "what is no letter, digit, or one of . - * _ is encoded: a blank as +, all else as % and the hexadecimal byte"
    return "the value is written for people: a month as a year and a month, with - between the parts"


def _work_out_partition(drawn: draws.DrawnPartition) -> Worked:
    steps = (
        Step("stored", format_answer(drawn.stored), f"{drawn.transform} of {format_answer(drawn.value)}"),
        Step(
            "directory",
            drawn.directory,
            "the field's name, and the value as people write it, encoded as in a URL",
        ),
    )
    return Worked({"stored": drawn.stored, "directory": drawn.directory}, steps)


_SUBJECTS: dict[str, Callable[[Random, str], Question]] = {
    "binary-row": _ask_row,
    "bounds": _ask_bounds,
    "deletion-vector": _ask_vector,
    "partition": _ask_partition,
}
