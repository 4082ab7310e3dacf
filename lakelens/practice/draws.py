"""Values drawn from a seed, and their bytes as engines write them: BinaryRows, bounds, deletion vectors, partitions.

Compared with the writers of Paimon and Iceberg themselves (`tests/practice/drawn.json`): a drawn row is one that an engine
would have written.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import groupby
from random import Random
from typing import Any, NamedTuple

from lakelens.codecs.bitmaps.deletion_vector import MAGIC_32, MAGIC_64
from lakelens.codecs.iceberg.transforms import Transform, partition_path
from lakelens.codecs.iceberg.types import parse_type_text
from lakelens.codecs.paimon.binary_row import split_fields
from lakelens.codecs.paimon.row_hash import encode_row
from lakelens.formats.iceberg.skeleton.column_book import encode_decimal

_NAMES = ("id", "n", "price", "name", "city", "day", "at", "flag", "total", "code")
_WORDS = (
    "a",
    "b7",
    "oslo",
    "Malmö",
    "lake",
    "Tromsø",
    "paimon",
    "iceberg",
    "snapshot",
    "manifest list",
    "東京",
    "",
    "x/y z",
)
_EPOCH = datetime(1970, 1, 1)
_BITS = {"TINYINT": 8, "SMALLINT": 16, "INT": 32, "BIGINT": 64, "int": 32, "long": 64}
ROW_TYPES = (
    *(
        "INT",
        "BIGINT",
        "STRING",
        "STRING",
        "TINYINT",
        "SMALLINT",
        "BOOLEAN",
        "FLOAT",
        "DOUBLE",
        "DATE",
        "BYTES",
    ),
    *("DECIMAL(9, 2)", "DECIMAL(18, 4)", "DECIMAL(24, 3)", "TIMESTAMP(3)", "TIMESTAMP(6)", "TIME(3)"),
)
BOUND_TYPES = (
    *("int", "long", "string", "boolean", "float", "double", "date", "timestamp", "binary"),
    *("decimal(9, 2)", "decimal(24, 3)"),
)
TRANSFORMS = (
    *(("date", text) for text in ("year", "month", "day")),
    *(("timestamp", text) for text in ("year", "month", "day", "hour")),
    *(
        ("int", "truncate[10]"),
        ("long", "truncate[100]"),
        ("string", "truncate[3]"),
        ("decimal(9, 2)", "truncate[50]"),
    ),
    *(("string", "identity"), ("int", "identity")),
)


class DrawnPartition(NamedTuple):
    """A value of a column, the transform of its partition field, and what comes of the two: a value and a directory."""

    type: str
    transform: str
    value: Any
    stored: Any
    directory: str


def open_draw(subject: str, seed: int, number: int) -> Random:
    """Open the source of what is drawn for one question: the same on every machine and in every Python."""
    return Random(f"{subject}/{seed}/{number}")


def draw_row(draw: Random) -> tuple[tuple[tuple[str, str], ...], tuple[Any, ...]]:
    """Draw the fields of a row, each a name and a type of Paimon, and their values; one in seven is null."""
    names = draw.sample(_NAMES, draw.randint(2, 4))
    fields = tuple((name, draw.choice(ROW_TYPES)) for name in names)
    return fields, tuple(None if draw.random() < 1 / 7 else draw_value(draw, kind) for _, kind in fields)


def write_row(fields: Sequence[tuple[str, str]], values: Sequence[Any]) -> bytes:
    """Write a BinaryRow as Paimon keeps it in manifests, its arity in front.

    >>> write_row([("id", "INT"), ("name", "STRING")], [1, "a"]).hex()
    '00000002000000000000000001000000000000006100000000000081'
    """
    return struct.pack(">i", len(fields)) + encode_row(split_fields(fields)[1], values)


def draw_value(draw: Random, kind: str) -> Any:
    """Draw a value of a type of Paimon or Iceberg: small and large numbers, texts that fit a slot and that do not."""
    name = kind.partition("(")[0]
    if name in _BITS:
        return draw.getrandbits(draw.randint(1, _BITS[name] - 1)) * draw.choice((1, 1, -1))
    if name.lower() == "boolean":
        return draw.random() < 0.5
    if name.lower() in ("float", "double"):  # an eighth has an end in binary
        return draw.randint(-800, 800) / 8
    if name.lower() == "date":
        return date(1970, 1, 1) + timedelta(days=draw.randint(-4_000, 24_000))
    if name.lower() == "timestamp":
        step = 1_000 if kind == "TIMESTAMP(3)" else draw.choice((1, 1_000, 1_000_000))
        micros = (
            draw.randint(-300_000_000, 2_000_000_000) * 1_000_000 + draw.randint(0, 999_999) // step * step
        )
        return _EPOCH + timedelta(microseconds=micros)
    if name == "TIME":
        return (_EPOCH + timedelta(milliseconds=draw.randint(0, 86_399_999))).time()
    if name.lower() == "decimal":
        precision, scale = map(int, kind[len("decimal(") : -1].split(","))
        digits = draw.randint(1, precision)
        return Decimal(draw.randint(1 - 10**digits, 10**digits - 1)).scaleb(-scale)
    if name.lower() in ("bytes", "binary"):
        return draw.randbytes(draw.choice((1, 2, 4, 7, 8, 11)))
    return draw.choice(_WORDS) + draw.choice(("", "", str(draw.randint(0, 99))))


def draw_bounds(draw: Random) -> tuple[str, Any, Any]:
    """Draw a type of Iceberg, a lower and an upper bound of it."""
    kind = draw.choice(BOUND_TYPES)
    lower, upper = sorted((draw_value(draw, kind), draw_value(draw, kind)))
    return kind, lower, upper


def write_bound(kind: str, value: Any) -> bytes:
    """Write a value as Iceberg's "Binary single-value serialization" says.

    >>> write_bound("decimal(9, 2)", Decimal("-1.28")).hex(), write_bound("date", date(1970, 1, 3)).hex()
    ('80', '02000000')
    """
    if isinstance(value, str):
        return value.encode()
    if isinstance(value, Decimal):
        return encode_decimal(int(value.scaleb(-int(str(value.as_tuple().exponent)))))
    if isinstance(value, datetime):
        return struct.pack("<q", (value - _EPOCH) // timedelta(microseconds=1))
    if isinstance(value, date):
        return struct.pack("<i", (value - _EPOCH.date()).days)
    layout = {"boolean": "<?", "int": "<i", "long": "<q", "float": "<f", "double": "<d"}.get(kind)
    return bytes(value) if layout is None else struct.pack(layout, value)


def draw_positions(draw: Random) -> tuple[int, ...]:
    """Draw the positions of a deletion vector: single rows, runs, and now and then rows beyond the first 65,536."""
    positions: set[int] = set()
    for _ in range(draw.randint(1, 3)):
        first = draw.getrandbits(draw.choice((3, 8, 12, 16, 18)))
        positions.update(range(first, first + draw.choice((1, 1, 1, 2, 3, 6, 20))))
    return tuple(sorted(positions))


def write_vector(positions: Sequence[int], *, is_wide: bool) -> bytes:
    """Write a deletion vector, with 64-bit positions as Iceberg does, else with 32-bit ones as Paimon does.

    >>> write_vector([3], is_wide=False).hex(" ", -4)
    '00000016 5e43f2d0 3a300000 01000000 00000000 10000000 0300c81d 3310'
    """
    bitmap = _write_roaring(positions)
    body = MAGIC_64 + struct.pack("<qi", 1, 0) + bitmap if is_wide else MAGIC_32 + bitmap
    return struct.pack(">i", len(body)) + body + struct.pack(">I", zlib.crc32(body))


def _write_roaring(positions: Sequence[int]) -> bytes:
    """Write a 32-bit Roaring bitmap of at most 4,096 numbers: runs where they take less room than the numbers."""
    keys, flags, heads, containers = 0, 0, b"", []
    for key, group in groupby(positions, lambda position: position >> 16):
        lows = [position & 0xFFFF for position in group]
        runs = list(_list_runs(lows))
        if 2 + 4 * len(runs) < 2 * len(lows):
            flags |= 1 << keys
            containers.append(
                struct.pack(f"<H{2 * len(runs)}H", len(runs), *(part for run in runs for part in run))
            )
        else:
            containers.append(struct.pack(f"<{len(lows)}H", *lows))
        heads += struct.pack("<HH", key, len(lows) - 1)
        keys += 1
    if flags:
        start = struct.pack("<HH", 0x303B, keys - 1) + flags.to_bytes((keys + 7) // 8, "little") + heads
        has_offsets = keys >= 4
    else:
        start, has_offsets = struct.pack("<II", 0x303A, keys) + heads, True
    place, offsets = len(start) + 4 * keys, b""
    for container in containers if has_offsets else ():
        offsets += struct.pack("<I", place)
        place += len(container)
    return start + offsets + b"".join(containers)


def _list_runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """List the first number of each run, and its length less one."""
    for _, pairs in groupby(enumerate(numbers), lambda pair: pair[1] - pair[0]):
        run = [number for _, number in pairs]
        yield run[0], len(run) - 1


def draw_partition(draw: Random) -> DrawnPartition:
    """Draw a column's type and value and a transform that fits it.

    The bucket transform is not among them: its hash is nothing to work out by hand.
    """
    kind, text = draw.choice(TRANSFORMS)
    value = None if draw.random() < 1 / 12 else draw_value(draw, kind)
    transform, type_ = Transform.parse(text), parse_type_text(kind)
    stored = transform.apply(value, type_)
    shown = transform.render(stored, type_)
    return DrawnPartition(kind, text, value, stored, partition_path([name_field(text)], [shown]))


def name_field(transform: str) -> str:
    """Name the partition field of a column `c`, as Iceberg does: `c_month`, `c_trunc`, `c`."""
    name = transform.partition("[")[0]
    return "c" if name == "identity" else f"c_{'trunc' if name == 'truncate' else name}"
