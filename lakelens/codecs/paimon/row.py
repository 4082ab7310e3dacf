"""Paimon's BinaryRow: partitions, keys, and minimum and maximum values as manifests keep them.

The serialized form, see "BinaryRow" in the Paimon table specification::

    0        4              4 + head                 4 + head + 8 * arity
    | arity  | kind | nulls | slot 0 | slot 1 | ...  | variable part ...
    | int32  | byte | bits, |        8 bytes each    | items padded to 8 bytes
    | big-endian      head = (arity + 71) // 64 * 8 bytes      (all after the arity is little-endian)

No types are stored: the reader must bring those of the schema the row was written with. Slots are decoded by
`row_slots`, which says what is refused.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import Any

from lakelens.codecs.paimon.row_slots import SlotDecoder, count_null_bytes
from lakelens.codecs.paimon.types import PaimonField, PaimonType, TypeLike, parse_type
from lakelens.errors import Corrupt, visible_line

FieldLike = PaimonField | tuple[str, TypeLike]
KINDS = ("+I", "-U", "+U", "-D")


class BinaryRow:
    """A decoded row: a sequence of values that also answers to the names of its fields.

    `kind` is `+I`, `-U`, `+U` or `-D`; `data` are the bytes it was decoded from, arity included. Two rows are equal
    when names, values and kind are.
    """

    __slots__ = ("data", "kind", "names", "values")

    def __init__(
        self, names: tuple[str, ...], values: tuple[Any, ...], kind: str = "+I", data: bytes = b""
    ) -> None:
        self.names = names
        self.values = values
        self.kind = kind
        self.data = data

    def __getitem__(self, key: str | int) -> Any:
        if isinstance(key, int):
            return self.values[key]
        try:
            return self.values[self.names.index(key)]
        except ValueError:
            raise KeyError(f"{key!r}: the row has {', '.join(self.names) or 'no fields'}") from None

    def __len__(self) -> int:
        return len(self.values)

    def __iter__(self) -> Iterator[Any]:
        return iter(self.values)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, BinaryRow):
            return NotImplemented
        return (self.names, self.values, self.kind) == (other.names, other.values, other.kind)

    def __hash__(self) -> int:
        return hash((self.names, self.data))

    def __repr__(self) -> str:
        pairs = zip(self.names, self.values, strict=True)
        body = visible_line(", ".join(f"{name}: {value!r}" for name, value in pairs))
        return f"{{{body}}}" if self.kind == "+I" else f"{self.kind}{{{body}}}"

    def to_dict(self) -> dict[str, Any]:
        """Give name to value, in field order.

        >>> BinaryRow(("id", "name"), (1, "a")).to_dict()
        {'id': 1, 'name': 'a'}
        """
        return dict(zip(self.names, self.values, strict=True))

    def list_slots(self) -> list[bytes]:
        """The 8 bytes of each field in the fixed part; none where there are no bytes.

        >>> data = bytes.fromhex("0000000100000000000000000700000000000000")
        >>> [slot.hex(" ") for slot in decode_binary_row(data, [("id", "INT")]).list_slots()]
        ['07 00 00 00 00 00 00 00']
        """
        first = 4 + count_null_bytes(len(self.names))
        ends = range(first + 8, len(self.data) + 1, 8)
        return [self.data[end - 8 : end] for end in ends[: len(self.names)]]


def decode_binary_row(data: bytes, fields: Sequence[FieldLike]) -> BinaryRow:
    """Decode one serialized row, its 4-byte arity first, as Paimon keeps it in manifests.

    Follows "BinaryRow" of the Paimon specification.

    Parameters
    ----------
    data
        The bytes of the row.
    fields
        (name, type) pairs, types as Paimon spells them, or `PaimonField`s.

    Returns
    -------
    BinaryRow
        Timestamps without zone are naive `datetime`s, with local zone UTC-aware; digits below the microsecond give a
        `pandas.Timestamp` and years outside 1 to 9999 a `numpy.datetime64`. A MAP is a dict (a list of pairs when keys
        repeat or are not hashable), a ROW a dict, a VARIANT a `Variant`.

    Raises
    ------
    Corrupt
        The bytes are no such row; the error names the byte.

    Examples
    --------
    >>> data = bytes.fromhex("00000002000000000000000001000000000000006100000000000081")
    >>> row = decode_binary_row(data, [("id", "INT NOT NULL"), ("name", "STRING")])
    >>> row, row["name"], row.kind
    ({id: 1, name: 'a'}, 'a', '+I')
    """
    names, types = split_fields(fields)
    data = bytes(data)
    check_arity(data, len(types))
    values = SlotDecoder(data).decode_row(types, 4, len(data))
    if data[4] >= len(KINDS):
        raise Corrupt("unknown row kind", offset=4, expected="0 to 3 (+I, -U, +U, -D)", seen=data[4])
    return BinaryRow(names, tuple(values), KINDS[data[4]], data)


def check_arity(data: bytes, arity: int) -> None:
    """Raise `Corrupt` unless the row says it has this many fields.

    >>> check_arity(bytes.fromhex("00000001"), 1)
    """
    if len(data) < 4:
        raise Corrupt("row without arity", offset=0, expected="4 bytes", seen=f"{len(data)} bytes")
    seen = int.from_bytes(data[:4], "big", signed=True)
    if seen != arity:
        hint = "the fields of the schema that the row was written with"
        raise Corrupt(
            "row of another arity", offset=0, expected=f"{arity} fields", seen=f"{seen} fields", hint=hint
        )


def split_fields(fields: Sequence[FieldLike]) -> tuple[tuple[str, ...], tuple[PaimonType, ...]]:
    """Give the names and the parsed types of fields.

    >>> split_fields([("id", "INT")])
    (('id',), (PaimonType(name='INT', nullable=True, ...),))
    """
    try:
        return _split_cached(tuple(fields))
    except TypeError:  # types given as JSON objects cannot be hashed
        return _split(fields)


def _split(fields: Sequence[FieldLike]) -> tuple[tuple[str, ...], tuple[PaimonType, ...]]:
    pairs = [(f.name, f.type) if isinstance(f, PaimonField) else (f[0], parse_type(f[1])) for f in fields]
    return tuple(name for name, _ in pairs), tuple(type_ for _, type_ in pairs)


_split_cached = lru_cache(maxsize=512)(_split)
