"""The types of Apache Paimon, as a schema file or a SQL type string spells them.

What is written, see "Schema" of the Paimon table specification::

    atomic   "NAME[(args)][ NOT NULL]"                         a JSON string
    ARRAY    {"type": "ARRAY[ NOT NULL]", "element": T}        MULTISET alike
    MAP      {"type": "MAP[ NOT NULL]", "key": T, "value": T}
    ROW      {"type": "ROW[ NOT NULL]", "fields": [{"id", "name", "type", "description"?, "defaultValue"?}, ...]}
    VECTOR   {"type": "VECTOR[ NOT NULL]", "element": T, "length": n}

The SQL spellings `ARRAY<T>`, `MAP<K, V>`, `ROW<a T, ...>`, `MULTISET<T>`, `VECTOR<T, n>` and `T ARRAY` are read too,
with all synonyms the engine accepts. Refused: nesting deeper than 64, and arguments out of the engine's bounds.
"""

from __future__ import annotations

import json as json_module
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from lakelens.errors import Corrupt

MAX_LENGTH = 2147483647
MAX_DEPTH = 64


@dataclass(frozen=True, slots=True)
class PaimonField:
    """One field of a ROW or of a table: its id survives renames; `default` is the text of the default value."""

    id: int
    name: str
    type: PaimonType
    description: str | None = None
    default: str | None = None

    def __str__(self) -> str:
        name = "`" + self.name.replace("`", "``") + "`"
        comment = "" if self.description is None else " COMMENT '" + self.description.replace("'", "''") + "'"
        default = "" if self.default is None else f" DEFAULT {self.default}"
        return f"{name} {self.type}{comment}{default}"


@dataclass(frozen=True, slots=True)
class PaimonType:
    """A type; `name` is its root without synonyms: STRING is VARCHAR(2147483647), BYTES is VARBINARY(2147483647).

    >>> str(PaimonType("DECIMAL", precision=10, scale=2, nullable=False))
    'DECIMAL(10, 2) NOT NULL'
    """

    name: str
    nullable: bool = True
    length: int | None = None
    precision: int | None = None
    scale: int | None = None
    element: PaimonType | None = None
    key: PaimonType | None = None
    value: PaimonType | None = None
    fields: tuple[PaimonField, ...] = ()
    crs: str | None = None
    algorithm: str | None = None

    def __str__(self) -> str:
        return self._spell() + ("" if self.nullable else " NOT NULL")

    def _spell(self) -> str:
        match self.name:
            case "VARCHAR" if self.length == MAX_LENGTH:
                return "STRING"
            case "VARBINARY" if self.length == MAX_LENGTH:
                return "BYTES"
            case "CHAR" | "VARCHAR" | "BINARY" | "VARBINARY":
                return f"{self.name}({self.length})"
            case "DECIMAL":
                return f"DECIMAL({self.precision}, {self.scale})"
            case "TIME" | "TIMESTAMP":
                return f"{self.name}({self.precision})"
            case "TIMESTAMP_LTZ":
                return f"TIMESTAMP({self.precision}) WITH LOCAL TIME ZONE"
            case "GEOMETRY":
                return f"GEOMETRY({self.crs})"
            case "GEOGRAPHY":
                return f"GEOGRAPHY({self.crs}, {self.algorithm})"
            case "ARRAY" | "MULTISET":
                return f"{self.name}<{self.element}>"
            case "MAP":
                return f"MAP<{self.key}, {self.value}>"
            case "ROW":
                return f"ROW<{', '.join(str(field) for field in self.fields)}>"
            case "VECTOR":
                return f"VECTOR<{self.element}, {self.length}>"
            case _:
                return self.name


TypeLike = str | PaimonType | Mapping[str, Any]


def parse_type(json: TypeLike) -> PaimonType:
    """Give the type that a schema's JSON value, or a SQL type string, spells.

    Raises `Corrupt` with the character (`offset`) or the place in the JSON (`json_path`) that is wrong, and
    `Unsupported` for a type name that is not known.

    >>> print(parse_type("MAP<STRING, DEC(10,2) NOT NULL>"))
    MAP<STRING, DECIMAL(10, 2) NOT NULL>
    >>> print(parse_type({"type": "ARRAY NOT NULL", "element": "INTEGER"}))
    ARRAY<INT> NOT NULL
    """
    if isinstance(json, PaimonType):
        return json
    if isinstance(json, str):
        if json.lstrip().startswith(("{", '"')):
            return _parse_json(_load_json(json), "$", 0)
        return _parse_text(json)
    return _parse_json(json, "$", 0)


def parse_field(json: Mapping[str, Any], position: int = 0, json_path: str = "$") -> PaimonField:
    """Give one entry of a schema's `fields`; `position` serves as the id when there is none.

    >>> parse_field({"id": 3, "name": "city", "type": "STRING"}).id
    3
    """
    return _parse_field(json, position, json_path, 0)


@lru_cache(maxsize=4096)
def _parse_text(text: str) -> PaimonType:
    from lakelens.codecs.paimon.types_sql import parse_sql_type

    return parse_sql_type(text)


def _load_json(text: str) -> Any:
    try:
        return json_module.loads(text)
    except RecursionError:
        raise Corrupt("type nested too deeply", expected=f"at most {MAX_DEPTH} levels") from None
    except ValueError as error:
        offset = getattr(error, "pos", None)
        raise Corrupt("type is not valid JSON", offset=offset, seen=text) from error


def _parse_json(json: Any, json_path: str, depth: int) -> PaimonType:
    if depth > MAX_DEPTH:
        raise Corrupt("type nested too deeply", json_path=json_path, expected=f"at most {MAX_DEPTH} levels")
    if isinstance(json, str):
        return _parse_atomic(json, json_path)
    if not isinstance(json, Mapping):
        raise Corrupt("not a type", json_path=json_path, expected="a string or an object", seen=repr(json))
    words = str(json.get("type", "")).upper().split()
    if not words or words[1:] not in ([], ["NULL"], ["NOT", "NULL"]):
        expected = "NAME or NAME NOT NULL"
        raise Corrupt(
            "not a type name", json_path=f"{json_path}.type", expected=expected, seen=repr(json.get("type"))
        )
    nullable = words[1:] != ["NOT", "NULL"]

    def part(key: str) -> PaimonType:
        if key not in json:
            raise Corrupt(f"{words[0]} without {key}", json_path=json_path, expected=f"key {key}")
        return _parse_json(json[key], f"{json_path}.{key}", depth + 1)

    match words[0]:
        case "ARRAY" | "MULTISET":
            return PaimonType(words[0], nullable, element=part("element"))
        case "MAP":
            return PaimonType("MAP", nullable, key=part("key"), value=part("value"))
        case "VECTOR":
            return PaimonType(
                "VECTOR", nullable, element=part("element"), length=_parse_length(json, json_path)
            )
        case "ROW":
            return PaimonType("ROW", nullable, fields=_parse_fields(json, json_path, depth + 1))
        case _:
            return _parse_atomic(str(json["type"]), f"{json_path}.type")


def _parse_atomic(text: str, json_path: str) -> PaimonType:
    try:
        return _parse_text(text)
    except Corrupt as error:
        raise Corrupt(
            error.message, offset=error.offset, json_path=json_path, expected=error.expected, seen=error.seen
        ) from error


def _parse_length(json: Mapping[str, Any], json_path: str) -> int:
    length = json.get("length")
    if not isinstance(length, int) or isinstance(length, bool) or not 1 <= length <= MAX_LENGTH:
        raise Corrupt(
            "bad VECTOR length", json_path=f"{json_path}.length", expected="a positive int", seen=repr(length)
        )
    return length


def _parse_fields(json: Mapping[str, Any], json_path: str, depth: int) -> tuple[PaimonField, ...]:
    fields = json.get("fields")
    if not isinstance(fields, list):
        raise Corrupt("ROW without fields", json_path=json_path, expected="a list", seen=repr(fields))
    return tuple(
        _parse_field(field, position, f"{json_path}.fields[{position}]", depth)
        for position, field in enumerate(fields)
    )


def _parse_field(json: Any, position: int, json_path: str, depth: int) -> PaimonField:
    if not isinstance(json, Mapping) or "name" not in json or "type" not in json:
        raise Corrupt(
            "not a field", json_path=json_path, expected="an object with name and type", seen=repr(json)
        )
    field_id, name = json.get("id", position), json["name"]
    if not isinstance(field_id, int) or not isinstance(name, str):
        raise Corrupt(
            "bad field",
            json_path=json_path,
            expected="int id and string name",
            seen=f"{field_id!r}, {name!r}",
        )
    description, default = json.get("description"), json.get("defaultValue")
    return PaimonField(
        field_id,
        name,
        _parse_json(json["type"], f"{json_path}.type", depth),
        None if description is None else str(description),
        None if default is None else str(default),
    )


def make_nullable(type_: PaimonType, nullable: bool) -> PaimonType:
    """Give the same type with another nullability.

    >>> print(make_nullable(parse_type("INT"), False))
    INT NOT NULL
    """
    return replace(type_, nullable=nullable)
