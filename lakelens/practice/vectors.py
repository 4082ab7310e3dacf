"""Exercises on deletion vectors: which rows of a data file are deleted."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from lakelens.codecs.span.reader import format_count
from lakelens.model.bytes_view import BytesView
from lakelens.model.deletes import DeleteMatch
from lakelens.practice.answers import read_numbers
from lakelens.practice.exercise import Question, Step, Worked, Wrong, dump_bytes
from lakelens.practice.tables import open_sample

_HINTS = (
    "Four bytes length, big-endian; then the magic number: d1 d3 39 64 is a 64-bit bitmap, 5e 43 f2 d0 a 32-bit one. "
    "The last four bytes are a CRC-32.",
    "A 64-bit bitmap is a count of buckets (8 bytes), and before the bitmap of each bucket its upper half (4 bytes).",
    "A 32-bit bitmap begins with a cookie, little-endian. After 3a 30 00 00 a count of containers follows, 4 bytes. "
    "3b 30 means that some containers hold runs: the count less one is in the next two bytes, then a bit for each.",
    "Each container has a key and its number of values less one, 2 bytes each; with the cookie 3a 30 an offset of 4 bytes "
    "follows.",
    "An array container lists its values, 2 bytes each. A run container is a count of runs, then for each run its first "
    "value and its length less one. All are little-endian, and positions count from 0.",
)


class VectorSource(NamedTuple):
    """The deletion vector of one file of a snapshot: which of those that have one, counted from 0."""

    title: str
    sample: str
    snapshot: int
    vector: int


SOURCES: tuple[VectorSource, ...] = (
    VectorSource("one row", "iceberg", 1, 1),
    VectorSource("two rows", "iceberg", 4, 1),
    VectorSource("rows in a run", "iceberg", 4, 0),
    VectorSource("a vector of Paimon", "paimon-deletion-vectors", 3, 0),
)
#: Vectors for single questions of a quiz.
SPARE: tuple[VectorSource, ...] = (
    VectorSource("a deletion vector", "iceberg", 2, 0),
    VectorSource("a deletion vector", "iceberg", 1, 0),
)


def find_vector(source: VectorSource) -> DeleteMatch:
    """Find the deletion vector; snapshots count from 0."""
    snapshot = open_sample(source.sample).snapshots[source.snapshot]
    found = [
        match
        for file in snapshot.files.where(content="data")
        for match in file.deletes
        if match.kind == "deletion_vector"
    ]
    return sorted(found, key=lambda match: match.data_file)[source.vector]


def ask_vector(source: VectorSource) -> Question:
    """Give an exercise on a deletion vector."""
    match = find_vector(source)
    snapshot = open_sample(source.sample).snapshots[source.snapshot].id
    origin = f"a vector of snapshot {snapshot} of the sample {source.sample}"
    return ask_positions(source.title, sorted(match.positions), match.bytes_view(), origin)


def ask_positions(title: str, right: Sequence[int], view: BytesView, origin: str) -> Question:
    """Ask for the positions in a vector whose bytes are known."""
    return Question(
        title,
        "Which rows of the data file does this deletion vector delete?",
        "the positions of the rows, as a list or a set of whole numbers",
        origin,
        (dump_bytes("The bytes of the vector", bytes(view.data[view.start : view.end])),),
        _HINTS,
        partial(_find_wrong, right),
        partial(_work_out, right, view),
    )


def _find_wrong(right: Sequence[int], answer: Any) -> Wrong | None:
    given = read_numbers(answer, "the positions")
    if isinstance(given, Wrong):
        return given
    if given == right:
        return None
    if [position - 1 for position in given] == right:
        return Wrong(f"position {given[0]}", "positions count from 0: the first row of the file is row 0")
    if len(given) != len(set(given)):
        return Wrong("", "a position is given twice: a bitmap holds each once")
    if sorted((position % 256) * 256 + position // 256 for position in given) == right:
        return Wrong(
            f"position {given[0]}", "two bytes each, and the first of them is the less significant one"
        )
    if given == sorted({right[0], len(right) - 1}) and right == list(range(right[0], right[-1] + 1)):
        return Wrong("", "those are the two numbers of a run: its first value, and its length less one")
    if unheld := sorted({*given} - {*right}):
        return Wrong(f"position {unheld[0]}", "no container of the vector holds it")
    return Wrong(
        "", "those are deleted, and others too: a container's header says its number of values less one"
    )


def _work_out(right: Sequence[int], view: BytesView) -> Worked:
    step = Step("positions", ", ".join(map(str, right)), f"{format_count(len(right), 'position')}, from 0")
    return Worked(right, (step,), view)


def list_questions() -> tuple[Any, ...]:
    """List the makers of the exercises, from easy to hard."""
    return tuple(partial(ask_vector, source) for source in SOURCES)
