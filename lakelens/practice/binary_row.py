"""Exercises on BinaryRows: rows that engines wrote, from easy to hard."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from lakelens.codecs.paimon.binary_row import count_null_bytes
from lakelens.codecs.paimon.row_slot_spans import spell_type
from lakelens.codecs.paimon.types import PaimonType
from lakelens.explaining import decode_binary_row
from lakelens.formats.paimon.manifests.stats import StoredRow
from lakelens.practice.answers import Record, format_answer, is_same, read_fields
from lakelens.practice.exercise import Exhibit, Question, Step, Worked, Wrong, dump_bytes
from lakelens.practice.reasons import explain_field
from lakelens.practice.tables import open_sample

_HINTS = (
    "The first four bytes are the number of fields, big-endian; positions count from the byte after them.",
    "The header is the row kind in byte 0, then one bit for each field from bit 0 of byte 1 on: 1 is null. It is "
    "filled up to a multiple of 8 bytes.",
    "After the header each field has a slot of 8 bytes, little-endian: numbers from its first byte on.",
    "A text of at most 7 bytes is in its slot, whose last byte is 0x80 plus the length; else the slot is length, then "
    "offset, four bytes each.",
    "DECIMAL of more than 18 digits, TIMESTAMP of more than 3, lists, maps and rows are far: the slot has an offset.",
)
_JAVA = "bytes that Paimon's own Java writer (1.3.1 and 2.0.0) gives for these types"


class RowSource(NamedTuple):
    """Where a row is: an entry of a sample's snapshot, the smaller or larger values of its statistics."""

    title: str
    sample: str
    snapshot: int
    entry: int
    is_upper: bool = False


class Written(NamedTuple):
    """A row that no sample has, as Paimon's Java writer gives it."""

    title: str
    fields: tuple[tuple[str, str], ...]
    data: str


ROWS: tuple[RowSource | Written, ...] = (
    RowSource("numbers and a short text", "paimon", 1, 0),
    RowSource("a null", "paimon", 5, -1),
    RowSource("a negative number", "paimon-file-index", 1, 0),
    RowSource("a far text and a decimal", "paimon-deletion-vectors", 7, -1),
    RowSource("a float and a nested row that is null", "paimon-evolution", 1, 0),
    Written(
        "dates and times, and a null that keeps its room",
        (
            ("d", "DATE"),
            ("t", "TIME(3)"),
            ("ts3", "TIMESTAMP(3)"),
            ("ts6", "TIMESTAMP(6)"),
            ("none", "TIMESTAMP(6)"),
        ),
        "0000000500100000000000000b4d000000000000c9dc3700000000007bf451c28c01000040f50600300000000000000038000000"
        "7bf451c28c0100000000000000000000",
    ),
    Written(
        "decimals of 10 and of 20 digits",
        (("price", "DECIMAL(10, 2)"), ("total", "DECIMAL(20, 2)"), ("none", "DECIMAL(20, 2)")),
        "000000030004000000000000c7cfffffffffffff0900000020000000000000003000000000ab54a98ceb1f0ad2000000000000000000"
        "0000000000000000000000000000",
    ),
    Written(
        "a row inside of a row",
        (("place", "ROW<floor INT, code STRING>"), ("n", "BIGINT")),
        "00000002000000000000000018000000180000000900000000000000000000000000000005000000000000007800000000000081",
    ),
    Written(
        "a list with a null, and a map",
        (("list", "ARRAY<INT>"), ("map", "MAP<STRING, INT>")),
        "000000020000000000000000180000001800000024000000300000000300000002000000010000000000000003000000000000001000"
        "000001000000000000006b000000000000810100000000000000090000000000000000000000",
    ),
)
#: Rows for single questions of a quiz; no exercise shows them.
SPARE: tuple[RowSource | Written, ...] = (
    RowSource("a row of a manifest", "paimon-append", 2, -1),
    RowSource("a row of a manifest", "paimon-branches", 2, -1),
    RowSource("a row of a manifest", "paimon-evolution", 2, -1),
    RowSource("a row of a manifest", "paimon-deletion-vectors", 5, -1),
    Written(
        "a row of many types",
        tuple(
            (name.lower(), name)
            for name in ("BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE")
        ),
        "0000000700000000000000000100000000000000ff000000000000002c01000000000000feffffff0000000000000000000100000000"
        "c03f0000000000000000000002c0",
    ),
    Written(
        "texts and bytes",
        (("bytes", "BYTES"), ("near", "STRING"), ("far", "STRING")),
        "000000030000000000000000cafebabe00000084313233343536378708000000200000003132333435363738",
    ),
)


def read_row(source: RowSource | Written) -> tuple[StoredRow, str]:
    """Read a row as it was decoded, and the words for where it is from."""
    if isinstance(source, Written):
        return decode_binary_row(bytes.fromhex(source.data), source.fields), _JAVA
    snapshot = open_sample(source.sample).snapshot(source.snapshot)
    entries = [entry for manifest in snapshot.manifests for entry in manifest.entries]
    file: Any = entries[source.entry].file
    side = "max" if source.is_upper else "min"
    row: StoredRow = getattr(file.value_stats, f"{side}_values")
    origin = f"_VALUE_STATS._{side.upper()}_VALUES of a file of snapshot {source.snapshot} of the sample {source.sample}"
    return row, origin


def ask_row(source: RowSource | Written, only: int | None = None) -> Question:
    """Give an exercise on a row: all of its fields, or `only` one."""
    row, origin = read_row(source)
    return ask_fields(source.title, row, origin, only)


def ask_fields(title: str, row: StoredRow, origin: str, only: int | None = None) -> Question:
    """Ask for the values of a row that was decoded."""
    names = row.names if only is None else (row.names[only],)
    if only is None:
        text = f"What are the values of the {len(names)} fields of this row?"
        expects = f"the values in order, as a list, or a dict by name: {', '.join(names)}"
    else:
        text = f"What is the value of `{names[0]}` in this row?"
        expects = f"the value of `{names[0]}` alone"
    places = range(len(row.names)) if only is None else (only,)
    lines = tuple((str(i + 1), column.name, spell_type(column.type)) for i, column in enumerate(row.columns))
    return Question(
        title,
        text,
        f"{expects}; None for null",
        origin,
        (Exhibit("The types, which the bytes do not say", ("field", "name", "type"), lines), dump_row(row)),
        _HINTS,
        partial(find_wrong, row, places),
        partial(work_out, row, places),
    )


def dump_row(row: StoredRow) -> Exhibit:
    """The bytes of a row in hexadecimal, its parts on lines of their own."""
    head = 4 + count_null_bytes(len(row.names))
    fixed = head + 8 * len(row.names)
    parts = (
        ("arity", 0, 4, 4),
        ("header", 4, head, 4),
        ("slots", head, fixed, 4),
        ("variable part", fixed, len(row.data), 4),
    )
    return dump_bytes("The bytes; “at” counts from the byte after the arity", row.data, parts)


def find_wrong(row: StoredRow, places: Sequence[int], answer: Any) -> Wrong | None:
    """Find the first field of an answer that is wrong."""
    given = read_fields(answer, [row.names[i] for i in places])
    if isinstance(given, Wrong):
        return given
    for place, typed in zip(places, given, strict=True):
        type_ = row.columns[place].type
        value = _name_records(row.values[place], type_)
        if not is_same(value, typed):
            reason = explain_field(row.data[4:], len(row.names), place, type_, value, typed)
            return Wrong(f"field {place + 1}, `{row.names[place]}`", reason)
    return None


def _name_records(value: Any, type_: PaimonType) -> Any:
    """Mark the nested rows in a value: their fields have an order, which the keys of a map have not."""
    if value is None:
        return None
    if type_.name == "ROW":
        return Record({field.name: _name_records(value[field.name], field.type) for field in type_.fields})
    if type_.name == "ARRAY" and type_.element is not None:
        return [_name_records(element, type_.element) for element in value]
    return value


def work_out(row: StoredRow, places: Sequence[int]) -> Worked:
    """Each field with its slot and what that says."""
    slots = row.list_slots()
    steps = tuple(
        Step(
            row.names[i],
            "null" if row.values[i] is None else format_answer(row.values[i]),
            f"{spell_type(row.columns[i].type)}, slot {slots[i].hex(' ')}",
        )
        for i in places
    )
    answer = {row.names[i]: row.values[i] for i in places}
    return Worked(answer, steps, row.bytes_view())


def list_questions() -> tuple[Any, ...]:
    """List the makers of the exercises, from easy to hard."""
    return tuple(partial(ask_row, source) for source in ROWS)
