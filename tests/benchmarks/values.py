"""Bounds, counts and sizes of made-up files, many files at a time: real in kind, and different from file to file.

Every value comes from the file's number and the column's place alone, so that a table grows the same way twice. Values vary
as much as makes 100,000 files of 25 columns take about the 17 MB of manifests that an engine wrote for as many.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Longs = NDArray[np.int64]
Octets = NDArray[np.uint8]

FIRST_DAY = 17_532  # 2018-01-01
FILES_OF_A_DAY = 500
FILES_OF_A_COMMIT = 256
_TEXT_LENGTH = 16  # both formats cut longer texts here


@dataclass(frozen=True, slots=True)
class Kind:
    """A type of column: its name in Iceberg's and in Paimon's schema, and which form its bounds have.

    `form` is "number" (an integer of `width` bytes), "real" (a float of `width` bytes), "decimal" or "text".
    """

    name: str
    iceberg: str
    paimon: str
    form: str
    width: int
    bounds: Callable[[Longs, int], tuple[NDArray[np.generic], NDArray[np.generic]]]


def iterate_numbers(files: int, step: int = 65_536) -> Iterator[Longs]:
    """The numbers of `files` files, some at a time."""
    for first in range(0, files, step):
        yield np.arange(first, min(first + step, files), dtype=np.int64)


def mix(numbers: Longs, salt: int, below: int) -> Longs:
    """Numbers that look random, from 0 to `below`: splitmix64 of a number and a salt."""
    with np.errstate(over="ignore"):
        state = numbers.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15)
        state += np.uint64((salt + 1) * 0xD1B54A32D192ED03 & 0xFFFFFFFFFFFFFFFF)
        state = (state ^ (state >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        state = (state ^ (state >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        state ^= state >> np.uint64(31)
    return (state % np.uint64(below)).astype(np.int64)


def count_rows(numbers: Longs) -> Longs:
    """Rows of each file: 100,000 to 1,000,000, so that a varint of them takes three bytes."""
    return 100_000 + 1_000 * mix(numbers, 1_000_001, 900)


def measure_files(numbers: Longs) -> Longs:
    """Bytes of each file: 30 to 120 MB, a varint of four bytes."""
    return 30_000_000 + mix(numbers, 1_000_002, 90_000_000)


def measure_columns(numbers: Longs, column: int) -> Longs:
    """Bytes that a column takes in each file: 2 to 90 MB, a varint of four bytes; in most columns alike within a commit."""
    varying = numbers if column % 4 == 1 else numbers // FILES_OF_A_COMMIT
    return (1 + column * 7 % 40) * 2_097_152 + mix(varying, column, 8_000)


def count_nulls(numbers: Longs, column: int) -> Longs:
    """Nulls of a column in each file: 0 to 49, none at all in four columns of five."""
    return mix(numbers, column + 2_000_000, 50) if column % 5 == 2 else np.zeros_like(numbers)


def tell_days(numbers: Longs) -> Longs:
    """The day of each file, in days since 1970."""
    return FIRST_DAY + numbers // FILES_OF_A_DAY


def write_days(days: Longs) -> Octets:
    """Days as ten letters each: 2018-01-01."""
    texts = np.datetime_as_string(days.astype("datetime64[D]")).astype("S10")
    return np.frombuffer(texts.tobytes(), np.uint8).reshape(-1, 10)


def write_digits(numbers: Longs, width: int) -> Octets:
    """Numbers as decimal digits, with leading zeros."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.int64)
    return (numbers[:, None] // powers % 10 + 48).astype(np.uint8)


def write_uuids(numbers: Longs, salt: int) -> Octets:
    """A UUID for each file, the same for all files of one commit."""
    commits = numbers // FILES_OF_A_COMMIT
    nibbles = np.stack([mix(commits, salt * 100 + place, 16) for place in range(36)], axis=1)
    letters = np.frombuffer(b"0123456789abcdef", np.uint8)[nibbles]
    letters[:, [8, 13, 18, 23]] = ord("-")
    return letters


def write_text(parts: Sequence[bytes | Octets], rows: int) -> Octets:
    """Constant and varying parts side by side, one row per file."""
    return np.concatenate(
        [
            np.broadcast_to(np.frombuffer(part, np.uint8), (rows, len(part)))
            if isinstance(part, bytes)
            else part
            for part in parts
        ],
        axis=1,
    )


def tell_hours(numbers: Longs) -> Longs:
    """The hour of the day of each file."""
    return numbers * 24 // FILES_OF_A_DAY % 24


def _bound_longs(numbers: Longs, column: int) -> tuple[Longs, Longs]:
    lower = numbers * 1_000_000 + column
    return lower, lower + count_rows(numbers) - 1


def _bound_ints(numbers: Longs, column: int) -> tuple[Longs, Longs]:
    return mix(numbers // 64, column, 8), 100 + mix(numbers, column + 500, 100)


def _bound_texts(numbers: Longs, column: int) -> tuple[Octets, Octets]:
    rows = len(numbers)
    low = write_text([b"customer-0", write_digits(mix(numbers // 16, column, 1_000), 6)], rows)
    high = write_text([b"customer-9", write_digits(990_000 + mix(numbers, column + 500, 1_000), 6)], rows)
    return low, high


def _bound_reals(numbers: Longs, column: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return mix(numbers // 16, column, 400) / 4.0, 4_096 + mix(numbers, column + 500, 8_000) / 4.0


def _bound_decimals(numbers: Longs, column: int) -> tuple[Longs, Longs]:
    return 1_000 + mix(numbers // 16, column, 100), 9_000_000 + mix(numbers, column + 500, 10_000)


def _bound_days(numbers: Longs, column: int) -> tuple[Longs, Longs]:
    days = tell_days(numbers)
    return days, days + mix(numbers // 16, column, 2)


def _bound_times(numbers: Longs, column: int) -> tuple[Longs, Longs]:
    start = tell_days(numbers) * 86_400_000_000 + mix(numbers // 16, column, 3_600) * 1_000_000
    return start, start + 3_600_000_000 + mix(numbers, column + 500, 250) * 4_000


def _bound_truths(numbers: Longs, column: int) -> tuple[Longs, Longs]:
    return (mix(numbers // 16, column, 3) == 0).astype(np.int64), np.ones_like(numbers)


def _bound_codes(numbers: Longs, column: int) -> tuple[Octets, Octets]:
    rows = len(numbers)
    low = write_text([b"A", (65 + mix(numbers // 16, column, 6)[:, None]).astype(np.uint8)], rows)
    high = write_text([b"Z", (65 + mix(numbers, column + 500, 24)[:, None]).astype(np.uint8)], rows)
    return low, high


#: The types that new columns take in turn. The first is the one whose lower bounds are summed up as a proof of work.
KINDS = (
    Kind("long", "long", "BIGINT", "number", 8, _bound_longs),
    Kind("string", "string", "STRING", "text", _TEXT_LENGTH, _bound_texts),
    Kind("int", "int", "INT", "number", 4, _bound_ints),
    Kind("double", "double", "DOUBLE", "real", 8, _bound_reals),
    Kind("decimal", "decimal(12, 2)", "DECIMAL(12, 2)", "decimal", 8, _bound_decimals),
    Kind("date", "date", "DATE", "number", 4, _bound_days),
    Kind("timestamp", "timestamp", "TIMESTAMP(6)", "time", 8, _bound_times),
    Kind("boolean", "boolean", "BOOLEAN", "number", 1, _bound_truths),
    Kind("code", "string", "STRING", "text", 2, _bound_codes),
    Kind("float", "float", "FLOAT", "real", 4, _bound_reals),
)
#: What a table is partitioned by: a day as text, and the hour where there is a second column.
DAY_TEXT = Kind(
    "day", "string", "STRING", "text", 10, lambda n, _: (write_days(tell_days(n)), write_days(tell_days(n)))
)

HOUR = Kind("hour", "int", "INT", "number", 4, lambda n, _: (tell_hours(n), tell_hours(n)))
