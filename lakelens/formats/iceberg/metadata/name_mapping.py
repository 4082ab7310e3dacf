"""The name mapping of a table: which field ids the names in files without ids stand for.

    schema.name-mapping.default   [{"field-id": 1, "names": ["id", "record_id"], "fields": […]}, …]

Follows "Name Mapping Serialization" of the Iceberg table specification.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

PROPERTY = "schema.name-mapping.default"
_MAX_DEPTH = 100


def read_name_mapping(properties: Mapping[str, str]) -> dict[tuple[str, ...], int] | None:
    """The field id of each name, with the names it is below; None where the table has no mapping, empty for a damaged one.

    >>> read_name_mapping({PROPERTY: '[{"field-id": 1, "names": ["a", "b"]}]'})
    {('a',): 1, ('b',): 1}
    """
    text = properties.get(PROPERTY)
    if text is None:
        return None
    try:
        mapping = json.loads(text)
    except (ValueError, RecursionError):
        mapping = None
    found: dict[tuple[str, ...], int] = {}
    for path, field_id in _walk(mapping, (), 0):
        found.setdefault(path, field_id)
    return found


def _walk(mapping: Any, prefix: tuple[str, ...], depth: int) -> Iterator[tuple[tuple[str, ...], int]]:
    for entry in mapping if isinstance(mapping, list) and depth < _MAX_DEPTH else ():
        names = entry.get("names") if isinstance(entry, dict) else None
        for name in names if isinstance(names, list) else ():
            path = (*prefix, str(name))
            if isinstance(entry.get("field-id"), int):
                yield path, entry["field-id"]
            yield from _walk(entry.get("fields"), path, depth + 1)
