"""The two self-tests of ten questions: one about BinaryRows, one about all of the course."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

from lakelens.codecs.paimon.row_slots import count_null_bytes
from lakelens.practice import binary_row, bounds, choices, counts, vectors, versions
from lakelens.practice.answers import is_kind, is_same, quote, read_fields
from lakelens.practice.exercise import Exhibit, Question, Step, Worked, Wrong

NAME = "self-test"
TITLES = {f"{NAME}-1": "ten questions on BinaryRows", f"{NAME}-2": "ten questions on the whole course"}
_ARITY = 57


def ask_header() -> Question:
    """How long a header is."""
    right = count_null_bytes(_ARITY)
    why = f"8 bits of kind and {_ARITY} null bits are {_ARITY + 8} bits, filled up to a multiple of 64"
    return Question(
        "the header",
        f"How many bytes is the header of a BinaryRow of {_ARITY} fields?",
        "a whole number",
        "the rule of the format",
        (Exhibit("A row without its types", ("arity",), ((_ARITY.to_bytes(4, "big").hex(" "),),)),),
        ("One byte of row kind, then one bit for each field.", "It is filled up to a multiple of 8 bytes."),
        partial(_find_wrong, right, why),
        lambda: Worked(right, (Step("header", str(right), why),)),
    )


def _find_wrong(right: int, why: str, answer: Any) -> Wrong | None:
    given = read_fields(answer, ["bytes"])
    if isinstance(given, Wrong) or given[0] is None or not is_kind(right, given[0]):
        return Wrong("", f"expected a whole number, not {quote(answer)}")
    return None if is_same(right, given[0]) else Wrong("header", f"you said {quote(given[0])}, but {why}")


def list_questions() -> Mapping[str, tuple[Callable[[], Question], ...]]:
    """The makers of the questions of each self-test."""
    rows = binary_row.SPARE
    fields = ((0, 1), (1, 1), (2, 0), (3, 3), (4, 1), (4, 2), (4, 6), (5, 1), (5, 0))
    first = [partial(binary_row.ask_row, rows[row], field) for row, field in fields]
    second = [partial(bounds.ask_bounds, source, "lower") for source in bounds.SPARE]
    second += [partial(vectors.ask_vector, source) for source in vectors.SPARE]
    return {
        f"{NAME}-1": (*first, ask_header),
        f"{NAME}-2": (
            *second,
            partial(counts.ask_counts, "a manifest list", "iceberg", -1),
            partial(choices.ask_manifests, "manifests to skip", "iceberg-planning", "ts < '2024-03-03'"),
            partial(choices.ask_files, "files to open", "iceberg", "id = 9"),
            partial(versions.ask_snapshot, "a hint to a snapshot that is not there", "paimon", "9"),
            partial(binary_row.ask_row, rows[4], 5),
        ),
    }
