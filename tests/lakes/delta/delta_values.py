"""How the answers of both engines are written."""

from __future__ import annotations

from datetime import date, datetime
from decimal import Decimal
from typing import Any


def to_json(value: Any) -> Any:
    """Write a value as `tests/lakes/README.md` says."""
    if isinstance(value, dict):
        return {str(key): to_json(held) for key, held in value.items()}
    if isinstance(value, list | tuple):
        return [to_json(held) for held in value]
    if type(value).__name__ == "VariantVal":
        return to_json(value.toPython())
    if isinstance(value, bytes | bytearray):
        return bytes(value).hex()
    if isinstance(value, Decimal):
        return format(value, "f")
    if isinstance(value, datetime | date):
        return value.isoformat()
    if isinstance(value, float) and (value != value or value in (float("inf"), float("-inf"))):
        return {"nan": "NaN", "inf": "Infinity", "-inf": "-Infinity"}[str(value)]
    return value
