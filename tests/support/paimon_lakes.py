"""The Paimon tables that engines wrote, with their answers, and our values in the answers' words."""

from __future__ import annotations

from datetime import date, datetime, time
from decimal import Decimal
from typing import Any

from lakelens.codecs.paimon.types import PaimonField, PaimonType
from lakelens.codecs.variant import Variant
from lakelens.formats.paimon.metadata.partitions import format_value
from lakelens.formats.paimon.table import PaimonTable
from lakelens.opening import open_table
from tests.support import LAKES
from tests.support.engine_lake import EngineLake


class Lake(EngineLake):
    """One table that Paimon wrote."""

    @property
    def engine(self) -> tuple[int, ...]:
        """The engine's version, from a word like "paimon 2.0.0, spark 3.5.9"."""
        version = self.answers["engine"].split(",")[0].split()[1]
        return tuple(int(part) for part in version.split("."))

    def open(self, **options: Any) -> PaimonTable:
        table = open_table(self.table_path, **options)
        assert isinstance(table, PaimonTable)
        return table

    def views(self) -> list[tuple[PaimonTable, dict[str, Any]]]:
        """The main branch and every other one, each with what the engine said of it."""
        table = self.open()
        branches = self.answers.get("branches_data", {})
        return [(table, self.answers), *((table.branch(name), said) for name, said in branches.items())]


def list_lakes(pattern: str = "*") -> list[Lake]:
    """Every Paimon table of the repository."""
    found = [
        *LAKES.glob(f"paimon-java/{pattern}/answers.json"),
        *LAKES.glob(f"spark/paimon/{pattern}/answers.json"),
    ]
    return [Lake(f"{path.parent.parent.name}-{path.parent.name}", path.parent) for path in sorted(found)]


def get_lake(name: str) -> Lake:
    """One table by its folder's name."""
    (found,) = list_lakes(name)
    return found


def word_json(value: Any, kind: PaimonType) -> Any:
    """A decoded value as the README of the tables words it in JSON."""
    if value is None:
        return None
    if kind.name in ("FLOAT", "DOUBLE"):
        special = {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}
        return special.get(str(value), value)
    if kind.name == "DATE":
        return str(value)
    if kind.name == "TIME":
        return f"{value:%H:%M:%S}.{value.microsecond // 1000:03d}" if isinstance(value, time) else value
    if kind.name in ("TIMESTAMP", "TIMESTAMP_LTZ"):
        return _word_timestamp(value, kind)
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, Variant):
        return {"value": value.value_bytes.hex(), "metadata": value.metadata.hex()}
    return value


def _word_timestamp(value: Any, kind: PaimonType) -> str:
    assert isinstance(value, datetime), f"{value!r} is no datetime"
    nanos = value.microsecond * 1000 + int(getattr(value, "nanosecond", 0))
    fraction = f"{nanos:09d}"[: kind.precision or 0]
    text = f"{value.year:04d}-{value:%m-%dT%H:%M:%S}" + (f".{fraction}" if fraction else "")
    return text + ("Z" if kind.name == "TIMESTAMP_LTZ" else "")


def word_row(row: Any, columns: tuple[PaimonField, ...]) -> list[Any]:
    """A decoded row as a list of JSON values."""
    return [word_json(value, column.type) for value, column in zip(row, columns, strict=True)]


def word_millis(moment: datetime | None) -> str | None:
    """A naive time as the engine prints a TIMESTAMP(3)."""
    return None if moment is None else f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}"


def parse_time(text: str | None) -> datetime | None:
    """A time printed by an engine that ran in UTC, without its zone."""
    return None if text is None else datetime.fromisoformat(text).replace(tzinfo=None)


def word_cast(value: Any, kind: PaimonType) -> str:
    """A value as the engine casts it to a string."""
    text = format_value(value, kind, legacy=False)
    return "null" if text is None else text


def word_internal(value: Any, kind: PaimonType) -> str:
    """A value as the engine prints its internal form."""
    text = format_value(value, kind, legacy=True)
    return "null" if text is None else text


__all__ = ["Lake", "date", "get_lake", "list_lakes"]
