"""Documents and records written again by a table: of each path, which pen writes what stands there.

    "snapshots[].manifest-list": name_list       a key of each object of a list, written by a function
    "schemas[]": "schema"                        each item as the table of that name says
    "type": keep_word,  "type{}": "schema"       a text, or the same key where it is an object
    "*": keep                                    every key of an object that has no path of its own

Of a key without a path neither name nor value stays, so what no table names is not in a skeleton. A null stays null where no
pen asks for it; what is no list or no object where one is due becomes an empty one, and an object in a hundred others null.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass
from typing import Any

Pen = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Spot:
    """Where an object stands: under a key or at a place of a list, in the object `above`."""

    holder: Any
    key: str | int
    above: Spot | None
    depth: int


@dataclass(frozen=True, slots=True)
class Within:
    """A pen that looks at the object around a value, too; it alone is asked about a null."""

    write: Callable[[Any, Spot], Any]


Table = Mapping[str, "Pen | Within | str"]
#: what a pen gives for a key or an item that is not in the skeleton
LEFT_OUT: Any = object()
_MOST_DEPTH = 100
_NUMBER = re.compile(r"[+-]?\d{1,20}(\.\d{1,20})?([eE][+-]?\d{1,3})?")


def keep(value: Any) -> Any:
    """Keep a value as it is."""
    return value


def keep_number(value: Any) -> Any:
    """Keep a number as it is, also one that some JSON tool turned into text; anything else becomes null.

    >>> keep_number(7), keep_number("7"), keep_number("secret")
    (7, '7', None)
    """
    if value is None or isinstance(value, bool | int | float):
        return value
    return value if isinstance(value, str) and _NUMBER.fullmatch(value) else None


def of_text(write: Callable[[str], Any]) -> Pen:
    """Make a pen of one for texts: what is no text stays."""
    return lambda value: write(value) if isinstance(value, str) else value


def one_of(words: Collection[str], other: str) -> Pen:
    """Make a pen that keeps these words; anything else becomes another word."""
    return lambda value: value if isinstance(value, str) and value in words else other


class Walk:
    """Writes values again, as tables from paths to pens say.

    Where a file has other names for what a table is about, `names` has for the table's name what each key stands for.

    >>> tables = {"document": {"id": keep_number, "parts[].name": str.upper, "parts[].parts[]": "document"}}
    >>> Walk(tables).write({"id": 1, "secret": 2, "parts": [{"name": "a", "parts": [{"id": "x"}]}]}, "document")
    {'id': 1, 'parts': [{'name': 'A', 'parts': [{'id': None}]}]}
    """

    def __init__(
        self, tables: Mapping[str, Table], names: Mapping[str, Mapping[str, str]] | None = None
    ) -> None:
        self._tables = {name: _branch(table) for name, table in tables.items()}
        self._names = names or {}

    def write(self, value: Any, table: str) -> Any:
        """Write an object as one of the tables says."""
        return self._write(value, table, "", None)

    def write_each(self, values: Any, table: str) -> list[Any]:
        """Write the objects of a list; an empty one for what is no list."""
        return self._write(values, [table], "", None) or []

    def _write(self, value: Any, node: Any, key: str | int, spot: Spot | None) -> Any:
        if isinstance(node, Within):
            assert spot is not None
            return node.write(value, spot)
        if value is None:
            return None
        names = None
        if isinstance(node, str):
            node, names = self._tables[node], self._names.get(node)
        if isinstance(node, list):
            items = value if isinstance(value, list) else ()
            made = [self._write(item, node[0], place, spot) for place, item in enumerate(items)]
            return [item for item in made if item is not LEFT_OUT]
        if not isinstance(node, dict):
            return node(value)
        if not isinstance(value, dict):
            return {}
        depth = 0 if spot is None else spot.depth + 1
        if depth > _MOST_DEPTH:
            return None
        here, rest, written = Spot(value, key, spot, depth), node.get("*"), {}
        for name, inner in value.items():
            known = name if names is None else names.get(name)
            if known is None:
                continue
            pen = node.get(known, rest)
            if isinstance(inner, dict):
                pen = node.get(f"{known}{{}}", pen)
            if pen is keep:
                written[name] = inner
            elif pen is not None:
                new = self._write(inner, pen, name, here)
                if new is not LEFT_OUT:
                    written[name] = new
        return written


def _branch(table: Table) -> dict[str, Any]:
    """Branch paths into what stands under each key: a pen, a table's name, a list of one of them, or more branches."""
    root: dict[str, Any] = {}
    for path, pen in table.items():
        here = root
        *steps, last = path.split(".")
        for step in steps:
            key = step.removesuffix("[]")
            found = here.setdefault(key, {} if key == step else [{}])
            here = found if key == step else found[0]
        key = last.removesuffix("[]")
        here[key] = pen if key == last else [pen]
    return root


#: stands for the table's location until a skeleton is written: no text of a skeleton has it otherwise
MARK = "\ue000lakelens\ue001"
_MARK = MARK.encode()


def fill_location(value: Any, location: str) -> Any:
    """Put the location in place of its mark, in every text of a record and in bytes that are one."""
    if isinstance(value, str):
        return value.replace(MARK, location)
    if isinstance(value, bytes):
        return value.replace(_MARK, location.encode())
    if isinstance(value, dict):
        return {key: fill_location(inner, location) for key, inner in value.items()}
    return [fill_location(inner, location) for inner in value] if isinstance(value, list) else value


def encode_json(document: Any, location: str) -> bytes:
    """Encode a document as JSON, with the location in place of its mark."""
    text = json.dumps(document, ensure_ascii=False, indent=2)
    return text.replace(MARK, json.dumps(location, ensure_ascii=False)[1:-1]).encode()
