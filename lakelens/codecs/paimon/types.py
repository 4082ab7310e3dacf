"""The types of Apache Paimon, and their spellings: SQL strings, and the JSON of schema files around them.

JSON, see "Schema" of the Paimon table specification::

    atomic   "NAME[(args)][ NOT NULL]"                         a JSON string
    ARRAY    {"type": "ARRAY[ NOT NULL]", "element": T}        MULTISET alike
    MAP      {"type": "MAP[ NOT NULL]", "key": T, "value": T}
    ROW      {"type": "ROW[ NOT NULL]", "fields": [{"id", "name", "type", "description"?, "defaultValue"?}, ...]}
    VECTOR   {"type": "VECTOR[ NOT NULL]", "element": T, "length": n}

SQL, after the engine's own parser, with all synonyms that it accepts::

    type   = root [NOT NULL | NULL] { (ARRAY | MULTISET) [NOT NULL | NULL] }
    root   = NAME [ "(" args ")" ] [ (WITH [LOCAL] | WITHOUT) TIME ZONE ]
           | (ARRAY | MULTISET) "<" type ">"  |  MAP "<" type "," type ">"  |  VECTOR "<" type "," n ">"
           | ROW "<" [ field { "," field } ] ">"          also ROW "(" ... ")"
    field  = name type [ [COMMENT] 'text' ] [ DEFAULT word ]

Refused: nesting deeper than 64, and arguments outside of the engine's bounds.
"""

from __future__ import annotations

import json as json_module
import re
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any, NoReturn

from lakelens.errors import Corrupt, Unsupported
from lakelens.lazy import dataclass

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


def make_nullable(type_: PaimonType, nullable: bool) -> PaimonType:
    """Make the same type with another nullability.

    >>> print(make_nullable(PaimonType("INT"), False))
    INT NOT NULL
    """
    return replace(type_, nullable=nullable)


_TOKEN = re.compile(
    r"\s*(?:(?P<quoted>`(?:[^`]|``)*`)|(?P<text>'(?:[^']|'')*')|(?P<mark>[<>(),])|(?P<word>[^\s<>(),'`]+))"
)
_SYNONYMS = {"INTEGER": "INT", "NUMERIC": "DECIMAL", "DEC": "DECIMAL"}
_PLAIN = {"BOOLEAN", "TINYINT", "SMALLINT", "INT", "BIGINT", "FLOAT", "DOUBLE", "DATE", "VARIANT", "BLOB"}
_SIZED = {"CHAR", "VARCHAR", "BINARY", "VARBINARY"}
_LONGEST = {"STRING": "VARCHAR", "BYTES": "VARBINARY"}
_DEFAULT_CRS = "OGC:CRS84"
_DEFAULT_ALGORITHM = "SPHERICAL"


def parse_type(json: TypeLike) -> PaimonType:
    """Parse the type that a schema's JSON value, or a SQL type string, spells.

    Raises `Corrupt` with the character (`offset`) or the place in the JSON (`json_path`) that is wrong, and
    `Unsupported` for an unknown type name.

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
        return _parse_sql(json)
    return _parse_json(json, "$", 0)


def parse_field(json: Mapping[str, Any], position: int = 0, json_path: str = "$") -> PaimonField:
    """Parse one entry of a schema's `fields`; `position` serves as the id when there is none.

    >>> parse_field({"id": 3, "name": "city", "type": "STRING"}).id
    3
    """
    return _parse_field(json, position, json_path, 0)


# -- JSON


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
        _refuse("not a type", json_path, "a string or an object", json)
    words = str(json.get("type", "")).upper().split()
    if not words or words[1:] not in ([], ["NULL"], ["NOT", "NULL"]):
        _refuse("not a type name", f"{json_path}.type", "NAME or NAME NOT NULL", json.get("type"))
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
            length = json.get("length")
            element = part("element")
            if not isinstance(length, int) or isinstance(length, bool) or not 1 <= length <= MAX_LENGTH:
                _refuse("bad VECTOR length", f"{json_path}.length", "a positive int", length)
            return PaimonType("VECTOR", nullable, element=element, length=length)
        case "ROW":
            fields = json.get("fields")
            if not isinstance(fields, list):
                _refuse("ROW without fields", json_path, "a list", fields)
            return PaimonType(
                "ROW",
                nullable,
                fields=tuple(
                    _parse_field(field, position, f"{json_path}.fields[{position}]", depth + 1)
                    for position, field in enumerate(fields)
                ),
            )
        case _:
            return _parse_atomic(str(json["type"]), f"{json_path}.type")


def _parse_atomic(text: str, json_path: str) -> PaimonType:
    try:
        return _parse_sql(text)
    except Corrupt as error:
        error.json_path = json_path
        raise


def _refuse(message: str, json_path: str, expected: str, seen: object) -> NoReturn:
    raise Corrupt(message, json_path=json_path, expected=expected, seen=repr(seen))


def _parse_field(json: Any, position: int, json_path: str, depth: int) -> PaimonField:
    if not isinstance(json, Mapping) or "name" not in json or "type" not in json:
        _refuse("not a field", json_path, "an object with name and type", json)
    field_id, name = json.get("id", position), json["name"]
    if not isinstance(field_id, int) or not isinstance(name, str):
        _refuse("bad field", json_path, "int id and string name", (field_id, name))
    description, default = json.get("description"), json.get("defaultValue")
    return PaimonField(
        field_id,
        name,
        _parse_json(json["type"], f"{json_path}.type", depth),
        None if description is None else str(description),
        None if default is None else str(default),
    )


# -- SQL


@lru_cache(maxsize=4096)
def _parse_sql(text: str) -> PaimonType:
    """Parse the type that one SQL type string spells; `Corrupt` names the character that is wrong."""
    parser = _SqlParser(text)
    type_ = parser.parse_type(0)
    parser.expect_end()
    return type_


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str
    offset: int


def _split_tokens(text: str) -> list[_Token]:
    tokens, end = [], len(text.rstrip())
    position = 0
    while position < end:
        match = _TOKEN.match(text, position)
        if match is None:
            raise Corrupt("unreadable type", offset=position, seen=text)
        kind = match.lastgroup or "word"
        tokens.append(_Token(kind, match.group(kind), match.start(kind)))
        position = match.end()
    return tokens


class _SqlParser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _split_tokens(text)
        self.index = 0

    # -- tokens

    def peek(self) -> _Token:
        return self.tokens[self.index] if self.index < len(self.tokens) else _Token("end", "", len(self.text))

    def take(self) -> _Token:
        token = self.peek()
        self.index += 1
        return token

    def fail(self, expected: str, token: _Token | None = None) -> NoReturn:
        token = token or self.peek()
        seen = f"{token.text or 'the end'} in {self.text!r}"
        raise Corrupt("unreadable type", offset=token.offset, expected=expected, seen=seen)

    def expect_mark(self, *marks: str) -> str:
        token = self.take()
        if token.kind != "mark" or token.text not in marks:
            self.fail(" or ".join(marks), token)
        return token.text

    def accept_mark(self, mark: str) -> bool:
        if self.peek().kind == "mark" and self.peek().text == mark:
            self.index += 1
            return True
        return False

    def accept_words(self, *words: str) -> bool:
        ahead = self.tokens[self.index : self.index + len(words)]
        if len(ahead) < len(words) or any(
            t.kind != "word" or t.text.upper() != w for t, w in zip(ahead, words, strict=True)
        ):
            return False
        self.index += len(words)
        return True

    def expect_end(self) -> None:
        if self.peek().kind != "end":
            self.fail("the end")

    def expect_number(self, low: int, high: int, meaning: str) -> int:
        token = self.take()
        if (
            token.kind != "word"
            or not re.fullmatch(r"[0-9]{1,10}", token.text)
            or not low <= int(token.text) <= high
        ):
            self.fail(f"{meaning} between {low} and {high}", token)
        return int(token.text)

    # -- types

    def parse_type(self, depth: int) -> PaimonType:
        if depth > MAX_DEPTH:
            self.fail(f"at most {MAX_DEPTH} levels of nesting")
        type_ = self.parse_nullability(self.parse_root(depth))
        wraps = 0
        while self.peek().kind == "word" and self.peek().text.upper() in ("ARRAY", "MULTISET"):
            wraps += 1
            if depth + wraps > MAX_DEPTH:
                self.fail(f"at most {MAX_DEPTH} levels of nesting")
            type_ = self.parse_nullability(PaimonType(self.take().text.upper(), element=type_))
        return type_

    def parse_nullability(self, type_: PaimonType) -> PaimonType:
        if self.accept_words("NOT", "NULL"):
            return replace(type_, nullable=False)
        self.accept_words("NULL")
        return type_

    def parse_root(self, depth: int) -> PaimonType:
        token = self.take()
        if token.kind != "word":
            self.fail("a type name", token)
        name = token.text.upper()
        name = _SYNONYMS.get(name, name)
        if name in _PLAIN:
            if name == "DOUBLE":
                self.accept_words("PRECISION")
            return PaimonType(name)
        if name in _SIZED:
            return PaimonType(name, length=self.parse_argument(1, MAX_LENGTH, 1, "a length"))
        if name in _LONGEST:
            return PaimonType(_LONGEST[name], length=MAX_LENGTH)
        match name:
            case "DECIMAL":
                return self.parse_decimal()
            case "TIME" | "TIMESTAMP" | "TIMESTAMP_LTZ":
                return self.parse_temporal(name)
            case "GEOMETRY" | "GEOGRAPHY":
                return self.parse_spatial(name)
            case "ARRAY" | "MULTISET" | "MAP" | "VECTOR" | "ROW":
                return self.parse_nested(name, depth)
        hint = "a newer lakelens, if this is a type of a newer Paimon"
        raise Unsupported(
            f"unknown Paimon type {token.text} at character {token.offset} of {self.text!r}", hint=hint
        )

    def parse_argument(self, low: int, high: int, default: int, meaning: str) -> int:
        if not self.accept_mark("("):
            return default
        number = self.expect_number(low, high, meaning)
        self.expect_mark(")")
        return number

    def parse_decimal(self) -> PaimonType:
        precision, scale = 10, 0
        if self.accept_mark("("):
            precision = self.expect_number(1, 38, "a precision")
            if self.accept_mark(","):
                scale = self.expect_number(0, precision, "a scale")
            self.expect_mark(")")
        return PaimonType("DECIMAL", precision=precision, scale=scale)

    def parse_temporal(self, name: str) -> PaimonType:
        precision = self.parse_argument(0, 9, 0 if name == "TIME" else 6, "a precision")
        if name == "TIMESTAMP" and self.accept_words("WITH", "LOCAL", "TIME", "ZONE"):
            name = "TIMESTAMP_LTZ"
        elif name in ("TIME", "TIMESTAMP"):
            self.accept_words("WITHOUT", "TIME", "ZONE")
        return PaimonType(name, precision=precision)

    def parse_spatial(self, name: str) -> PaimonType:
        arguments: list[str] = []
        if self.accept_mark("("):
            while True:
                token = self.take()
                if token.kind not in ("word", "text"):
                    self.fail("a coordinate reference system", token)
                arguments.append(token.text[1:-1].replace("''", "'") if token.kind == "text" else token.text)
                if self.expect_mark(",", ")") == ")":
                    break
        if len(arguments) > (1 if name == "GEOMETRY" else 2):
            self.fail(f"fewer arguments of {name}")
        crs, algorithm = [*arguments, *[_DEFAULT_CRS, _DEFAULT_ALGORITHM][len(arguments) :]][:2]
        return PaimonType(name, crs=crs, algorithm=algorithm if name == "GEOGRAPHY" else None)

    def parse_nested(self, name: str, depth: int) -> PaimonType:
        if name == "ROW":
            return PaimonType("ROW", fields=self.parse_fields(depth + 1))
        self.expect_mark("<")
        element = self.parse_type(depth + 1)
        if name == "MAP":
            self.expect_mark(",")
            type_ = PaimonType("MAP", key=element, value=self.parse_type(depth + 1))
        elif name == "VECTOR":
            self.expect_mark(",")
            type_ = PaimonType(
                "VECTOR", element=element, length=self.expect_number(1, MAX_LENGTH, "a length")
            )
        else:
            type_ = PaimonType(name, element=element)
        self.expect_mark(">")
        return type_

    def parse_fields(self, depth: int) -> tuple[PaimonField, ...]:
        close = {"<": ">", "(": ")"}[self.expect_mark("<", "(")]
        fields: list[PaimonField] = []
        if self.accept_mark(close):
            return ()
        while True:
            fields.append(self.parse_field(len(fields), depth))
            if self.expect_mark(",", close) == close:
                return tuple(fields)

    def parse_field(self, position: int, depth: int) -> PaimonField:
        token = self.take()
        if token.kind not in ("word", "quoted"):
            self.fail("a field name", token)
        name = token.text[1:-1].replace("``", "`") if token.kind == "quoted" else token.text
        type_ = self.parse_type(depth)
        description = default = None
        commented = self.accept_words("COMMENT")
        if commented or self.peek().kind == "text":
            text = self.take()
            if text.kind != "text":
                self.fail("a comment in single quotes", text)
            description = text.text[1:-1].replace("''", "'")
        if self.accept_words("DEFAULT"):
            default = self.take().text
        return PaimonField(position, name, type_, description, default)
