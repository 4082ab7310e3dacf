"""The CALL statement of a procedure, to be copied. What comes from a table is quoted.

    CALL <catalog>.system.expire_snapshots(
      table => 'shop.orders',
      retain_last => 5)

No file names the catalog: `<catalog>` stands for it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import datetime
from typing import Any

CATALOG = "<catalog>"
_PLAIN = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def quote_text(text: str) -> str:
    r"""A text as a literal of Spark SQL.

    >>> print(quote_text("it's"), quote_text("a\\b"))
    'it\'s' 'a\\b'
    """
    escaped = text.replace("\\", "\\\\").replace("'", "\\'")
    return "'" + "".join(one if one.isprintable() else f"\\u{ord(one):04x}" for one in escaped) + "'"


def quote_name(name: str) -> str:
    """The name of a table as procedures take it: parts that are no plain words stand in backticks.

    >>> quote_name("shop.orders"), quote_name("shop.2024 orders")
    ("'shop.orders'", "'shop.`2024 orders`'")
    """
    parts = name.split(".")
    quoted = (part if _PLAIN.fullmatch(part) else "`" + part.replace("`", "``") + "`" for part in parts)
    return quote_text(".".join(quoted))


def format_value(value: Any) -> str:
    """A value as SQL: texts quoted, times as TIMESTAMP of UTC, lists as ARRAY, mappings as map of texts.

    >>> format_value(datetime(2024, 3, 1)), format_value((5, 6)), format_value({"rewrite-all": True})
    ("TIMESTAMP '2024-03-01 00:00:00 UTC'", 'ARRAY(5, 6)', "map('rewrite-all', 'true')")
    """
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, datetime):
        text = value.strftime("%Y-%m-%d %H:%M:%S")
        fraction = f".{value.microsecond:06d}".rstrip("0") if value.microsecond else ""
        return f"TIMESTAMP '{text}{fraction} UTC'"
    if isinstance(value, Mapping):
        texts = (
            quote_text(str(word).lower() if isinstance(word, bool) else str(word))
            for item in value.items()
            for word in item
        )
        return f"map({', '.join(texts)})"
    if isinstance(value, tuple | list):
        return f"ARRAY({', '.join(map(format_value, value))})"
    return quote_text(value) if isinstance(value, str) else str(value)


def write_call(table: str, procedure: str, arguments: Mapping[str, Any]) -> str:
    """The statement that calls a procedure on a table.

    >>> print(write_call("shop.orders", "expire_snapshots", {"retain_last": 5}))
    CALL <catalog>.system.expire_snapshots(
      table => 'shop.orders',
      retain_last => 5)
    """
    lines = [f"table => {quote_name(table)}"]
    lines += [f"{name} => {format_value(value)}" for name, value in arguments.items()]
    return f"CALL {CATALOG}.system.{procedure}(\n  " + ",\n  ".join(lines) + ")"
