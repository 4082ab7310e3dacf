"""Partitions of one table: from the BinaryRow in a manifest to values, to text, and to the directory that holds it."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, date, datetime, time
from decimal import Context, Decimal
from typing import Any

from lakelens.codecs.numbers import round_single, write_single
from lakelens.codecs.paimon.binary_row import decode_binary_row
from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.errors import LakeError
from lakelens.formats.access import TableAccess
from lakelens.formats.paimon.metadata.layout import (
    DEFAULT_PARTITION,
    TableLayout,
    escape_path,
    join_partition,
)
from lakelens.io.store import list_names
from lakelens.model.bytes_view import Source
from lakelens.model.stats import Partition

# The text of a partition value in a directory's name.
#
# With `partition.legacy-name` (the default) Paimon prints its internal value: a DATE is a day number, a TIME milliseconds,
# a TIMESTAMP Java's ISO form (`2024-01-01T00:00`). Without it the value is cast to text as SQL does. Texts that are null,
# empty or blank all become the default partition name.

_EPOCH = date(1970, 1, 1)
_EXACT = Context(prec=100)
_NO_BLANKS = "\u00a0\u2007\u202f"  # blank to Python, not to Java


def format_value(value: Any, kind: PaimonType, *, legacy: bool) -> str | None:
    """Format the text of a value, not yet escaped; None for null.

    >>> day = date(2024, 1, 1)
    >>> format_value(day, PaimonType("DATE"), legacy=True), format_value(day, PaimonType("DATE"), legacy=False)
    ('19723', '2024-01-01')
    """
    if value is None:
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return format_float(value, single=kind.name == "FLOAT")
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return value.decode("utf-8", "replace")
    if kind.name == "DATE":
        if not legacy:
            return str(value)
        days = (value - _EPOCH).days if isinstance(value, date) else value.count_in("D")
        return str(days)
    if kind.name == "TIME":
        precision = kind.precision or 0
        if not isinstance(value, time):  # outside one day
            return str(value.count_in("ms"))
        millis = ((value.hour * 60 + value.minute) * 60 + value.second) * 1000 + value.microsecond // 1000
        if legacy:
            return str(millis)
        return f"{value:%H:%M:%S}" + _format_fraction(f"{millis % 1000:03d}", precision)
    if kind.name in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return _format_timestamp(value, kind.precision or 0, legacy)
    return str(value)


def is_blank(text: str | None) -> bool:
    """Check whether the text is null, empty or blank to Java.

    >>> is_blank(None), is_blank(" \\t"), is_blank("\\u00a0"), is_blank("a")
    (True, True, False, False)
    """
    return text is None or (not text.strip() and not any(char in text for char in _NO_BLANKS))


def format_float(value: float, *, single: bool) -> str:
    """Format a floating-point number as Java prints it.

    >>> format_float(1.5, single=False), format_float(1e10, single=False), format_float(float("nan"), single=False)
    ('1.5', '1.0E10', 'NaN')
    """
    if value != value or value in (float("inf"), float("-inf")):
        return "NaN" if value != value else "Infinity" if value > 0 else "-Infinity"
    digits = repr(value)
    if single:
        digits = write_single(value)
    number = Decimal(_two_digits(value, digits, single))
    if number == 0:
        return "-0.0" if digits.startswith("-") else "0.0"
    number = _EXACT.normalize(number)
    sign, figures, _ = number.as_tuple()
    exponent = number.adjusted()
    text = "".join(map(str, figures))
    if -3 <= exponent < 7:
        plain = format(number, "f")
        return plain if "." in plain else plain + ".0"
    return f"{'-' if sign else ''}{text[0]}.{text[1:] or '0'}E{exponent}"


def _two_digits(value: float, digits: str, single: bool) -> str:
    """Java prints at least two digits, and of all such texts the nearest one: 4.9E-324 where Python says 5e-324."""
    longer = f"{value:.1e}"
    if len(_EXACT.normalize(Decimal(digits)).as_tuple().digits) > 1:
        return digits
    if not single:
        return longer if float(longer) == value else digits
    return longer if round_single(float(longer)) == round_single(value) else digits


def _format_timestamp(value: Any, precision: int, legacy: bool) -> str:
    if not isinstance(value, datetime):  # outside Python's years
        return str(value)
    plain = value.astimezone(UTC) if value.tzinfo else value
    nanos = plain.microsecond * 1000 + int(getattr(plain, "nanosecond", 0))
    day = f"{plain.year:04d}-{plain.month:02d}-{plain.day:02d}"
    clock = f"{plain.hour:02d}:{plain.minute:02d}"
    if not legacy:
        return f"{day} {clock}:{plain.second:02d}" + _format_fraction(f"{nanos:09d}", precision)
    if not plain.second and not nanos:
        return f"{day}T{clock}"
    figures = f"{nanos:09d}"
    if nanos % 1_000_000 == 0:
        figures = figures[:3] if nanos else ""
    elif nanos % 1000 == 0:
        figures = figures[:6]
    return f"{day}T{clock}:{plain.second:02d}" + (f".{figures}" if figures else "")


def _format_fraction(figures: str, precision: int) -> str:
    """Format the digits after the second: at least `precision` of them, more when they are not zero."""
    while len(figures) > precision and figures.endswith("0"):
        figures = figures[:-1]
    return f".{figures}" if figures else ""


_TWO_FORMED = {"DATE", "TIME", "TIMESTAMP", "TIMESTAMP_LTZ"}


class PaimonPartition(Partition):
    """A partition that knows the row it was decoded from; `columns` are the fields of that row."""

    __slots__ = ("_source", "columns", "stored")

    def __init__(
        self,
        values: Mapping[str, Any],
        texts: Mapping[str, str],
        stored: bytes,
        columns: Sequence[PaimonField],
        source: Source | None = None,
    ) -> None:
        super().__init__(values, texts)
        self.stored = stored
        self.columns = columns
        self._source = source


class Partitions:
    """Decodes the partitions of a table, each once. Types of partition columns never change, so today's serve all files.

    `source` makes what a partition finds its bytes by, from the path of a manifest that holds it.
    """

    def __init__(
        self,
        columns: Sequence[PaimonField],
        options: Mapping[str, str],
        access: TableAccess,
        layout: TableLayout,
        source: Callable[[str], Source],
    ) -> None:
        self.columns = tuple(columns)
        self._access = access
        self._source = source
        self._legacy = options.get("partition.legacy-name", "true").strip().lower() != "false"
        self._default = options.get("partition.default-name", DEFAULT_PARTITION)
        below = options.get("data-file.path-directory", "").strip("/")
        #: The directory that holds the partitions, or the buckets of an unpartitioned table.
        self.base = f"{layout.root}/{below}" if below else layout.root
        self._decoded: dict[bytes, Partition] = {}
        self._folders: dict[bytes, str] = {}
        self._listings: dict[str, frozenset[str]] = {}

    def decode(self, data: bytes, path: str) -> Partition:
        """Decode the partition of a serialized row in the manifest at `path`; without values, and a finding, on damage."""
        found = self._decoded.get(data)
        if found is None:
            found = self._decoded[data] = self._decode(data, path)
        return found

    def folder(self, data: bytes, path: str) -> str:
        """The directory of a partition, without a trailing slash.

        Where a type has two written forms and the one that the options ask for is not there, the one that is there is
        taken; each directory is listed at most once for that.
        """
        found = self._folders.get(data)
        if found is None:
            found = self._folders[data] = self._find_folder(self.decode(data, path))
        return found

    def write(self, value: Any, column: PaimonField) -> str:
        """Write a value of a partition column as the options have it written in paths."""
        return self._format(value, column, self._legacy)

    def _decode(self, data: bytes, path: str) -> Partition:
        source = self._source(path) if data else None
        if not self.columns and len(data) <= 12:
            return PaimonPartition({}, {}, data, (), source)
        try:
            row = decode_binary_row(data, self.columns)
        except LakeError as error:
            error.path = error.path or path
            self._access.findings.add_error(error, path)
            return PaimonPartition({}, {}, data, self.columns, source)
        columns = zip(self.columns, row, strict=True)
        texts = {c.name: self.write(value, c) for c, value in columns}
        return PaimonPartition(row.to_dict(), texts, data, self.columns, source)

    def _format(self, value: Any, column: PaimonField, legacy: bool) -> str:
        text = format_value(value, column.type, legacy=legacy)
        return escape_path(self._default if text is None or is_blank(text) else text)

    def _find_folder(self, partition: Partition) -> str:
        if not any(c.type.name in _TWO_FORMED for c in self.columns):
            return "/".join(part for part in (self.base, join_partition(partition.texts.items())) if part)
        folder = self.base
        for column in self.columns:
            if column.name not in partition:
                break
            wanted, other = (
                join_partition([(column.name, self._format(partition[column.name], column, legacy))])
                for legacy in (self._legacy, not self._legacy)
            )
            if wanted != other:
                names = self._list(folder)
                wanted = other if wanted not in names and other in names else wanted
            folder = f"{folder}/{wanted}"
        return folder

    def _list(self, folder: str) -> frozenset[str]:
        if folder not in self._listings:
            none = frozenset[str]()
            names = self._access.attempt(
                lambda: frozenset(list_names(self._access.store, folder)), folder, none
            )
            self._listings[folder] = names
        return self._listings[folder]
