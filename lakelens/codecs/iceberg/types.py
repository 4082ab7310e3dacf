"""Iceberg types: the JSON of a schema as a small tree of frozen dataclasses.

    "long"  "decimal(10, 2)"  "fixed[16]"  "geography(OGC:CRS84, spherical)"         a primitive type is a string
    {"type": "struct", "fields": [{"id": 1, "name": "a", "required": true, "type": …}]}
    {"type": "list", "element-id": 2, "element": …, "element-required": false}
    {"type": "map", "key-id": 3, "key": …, "value-id": 4, "value": …, "value-required": false}

Follows "Schemas and Data Types" and appendix C ("Schemas") of the Iceberg table specification, v1 to v3. Blanks inside
parameters are ignored and names of types are matched without regard to case, as the Java library does.

An unknown type name (of a later version of the format) is kept, so that the rest of the schema stays readable: its values
are shown raw. Refused with `Corrupt`: JSON that does not have the shape above.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from typing import Any, NoReturn

from lakelens.errors import Corrupt
from lakelens.lazy import dataclass

#: Primitive types without parameters.
PLAIN_TYPES = frozenset(
    {
        *("boolean", "int", "long", "float", "double", "string", "uuid", "binary"),
        *("date", "time", "timestamp", "timestamptz", "timestamp_ns", "timestamptz_ns"),
        *("unknown", "variant"),
    }
)
NESTED_TYPES = frozenset({"struct", "list", "map"})
GEO_TYPES = frozenset({"geometry", "geography"})

MAX_DECIMAL_PRECISION = 38
MAX_FIXED_LENGTH = 2**31 - 1
MAX_DEPTH = 100  # far above any real schema, far below Python's recursion limit

_PARAMETERS = re.compile(r"\s*(\w+)\s*(?:\[([^\]]*)\]|\((.*)\))?\s*", re.DOTALL)


@dataclass(frozen=True, slots=True)
class IcebergField:
    """One field of a struct, or the `element` of a list, or the `key` or `value` of a map.

    `initial_default` and `write_default` are JSON single values as the file has them (None when absent);
    `value_json.parse_json_value` decodes them.
    """

    id: int
    name: str
    required: bool
    type: IcebergType
    doc: str | None = None
    initial_default: Any = None
    write_default: Any = None

    def __str__(self) -> str:
        return f"{self.id}: {self.name}: {'required' if self.required else 'optional'} {self.type}"


@dataclass(frozen=True, slots=True)
class IcebergType:
    """An Iceberg type. `name` is the specification's word for it, or the text of an unknown type.

    `precision` and `scale` are set for decimals, `length` for fixed, `params` (CRS, edge algorithm) for geometry and
    geography. `fields` are the fields of a struct, the one `element` of a list, or the `key` and `value` of a map.

    >>> parse_type("decimal( 10,2 )")
    IcebergType(name='decimal', precision=10, scale=2, length=None, params=(), fields=())
    >>> str(parse_type({"type": "list", "element-id": 1, "element": "fixed[16]", "element-required": False}))
    'list<fixed[16]>'
    """

    name: str
    precision: int | None = None
    scale: int | None = None
    length: int | None = None
    params: tuple[str, ...] = ()
    fields: tuple[IcebergField, ...] = ()

    @property
    def is_nested(self) -> bool:
        """True for struct, list and map: types without bounds of their own."""
        return self.name in NESTED_TYPES

    @property
    def is_known(self) -> bool:
        """False for a type of a later version of the format; its values are shown raw."""
        return (
            self.name in PLAIN_TYPES
            or self.name in NESTED_TYPES
            or self.name in GEO_TYPES
            or self.precision is not None
            or self.length is not None
        )

    def __str__(self) -> str:
        if self.precision is not None:
            return f"decimal({self.precision}, {self.scale})"
        if self.length is not None:
            return f"fixed[{self.length}]"
        if self.name == "struct":
            return f"struct<{', '.join(map(str, self.fields))}>"
        if self.is_nested:
            return f"{self.name}<{', '.join(str(field.type) for field in self.fields)}>"
        return f"{self.name}({', '.join(self.params)})" if self.params else self.name


def parse_type(json: object, json_path: str = "$", *, path: str | None = None) -> IcebergType:
    """Parse the type that a JSON value describes.

    `json_path` is the place of the value in its document and `path` the file; both only name the place in errors.
    Follows appendix C of the specification. Raises `Corrupt` for JSON of another shape.

    >>> parse_type("timestamptz_ns").name
    'timestamptz_ns'
    >>> str(parse_type("interval day"))
    'interval day'
    """
    return _TypeParser(path).parse(json, json_path, 0)


def parse_struct(json: object, json_path: str = "$", *, path: str | None = None) -> IcebergType:
    """Parse the struct type of a schema document (`{"type": "struct", "fields": […]}`).

    Old files leave `"type"` out of a schema; that is accepted. Raises `Corrupt` for anything that is not a struct.

    >>> str(parse_struct({"fields": [{"id": 1, "name": "a", "required": True, "type": "int"}]}))
    'struct<1: a: required int>'
    """
    parser = _TypeParser(path)
    if not isinstance(json, Mapping) or json.get("type", "struct") != "struct":
        parser.fail("not an Iceberg schema", json_path, "a struct", _describe(json))
    return parser.struct(json, json_path, 0)


def leaf_fields(struct: IcebergType) -> Iterator[tuple[str, IcebergField]]:
    """Every primitive leaf of a schema in schema order, with its full name (`st.x`, `tags.element`, `m.key`).

    These are the names that the `readable_metrics` column of Iceberg's metadata tables uses.

    >>> list_of_int = {"type": "list", "element-id": 2, "element": "int", "element-required": True}
    >>> schema = parse_struct({"fields": [{"id": 1, "name": "tags", "required": False, "type": list_of_int}]})
    >>> [(name, field.id) for name, field in leaf_fields(schema)]
    [('tags.element', 2)]
    """
    for field in struct.fields:
        if not field.type.is_nested:
            yield field.name, field
        for name, leaf in leaf_fields(field.type) if field.type.is_nested else ():
            yield f"{field.name}.{name}", leaf


@lru_cache(maxsize=1024)
def parse_type_text(text: str) -> IcebergType:
    """Parse the primitive type that a string spells; the text of an unknown type is kept as its `name`.

    >>> parse_type_text("fixed[ 16 ]").length, parse_type_text("decimal(99, 2)").is_known
    (16, False)
    """
    match = _PARAMETERS.fullmatch(text)
    if match is None:
        return IcebergType(text)
    name, brackets, parentheses = match[1].lower(), match[2], match[3]
    if brackets is None and parentheses is None and (name in PLAIN_TYPES or name in GEO_TYPES):
        return IcebergType(name)
    if name == "fixed" and brackets is not None and (length := _parse_size(brackets)) <= MAX_FIXED_LENGTH:
        return IcebergType("fixed", length=length)
    if name == "decimal" and parentheses is not None:
        precision, scale = (_parse_size(part) for part in parentheses.partition(",")[::2])
        if 1 <= precision <= MAX_DECIMAL_PRECISION and scale <= MAX_DECIMAL_PRECISION:
            return IcebergType("decimal", precision=precision, scale=scale)
    if name in GEO_TYPES and parentheses is not None:
        params = tuple(part.strip() for part in parentheses.split(","))
        return IcebergType(name, params=params) if all(params) else IcebergType(text)
    return IcebergType(text)


def _parse_size(text: str) -> int:
    """Parse a number of at most ten digits; one that is larger than any limit for any other text."""
    text = text.strip()
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else MAX_FIXED_LENGTH + 1


class _TypeParser:
    """Walks the JSON of one schema and remembers the place for errors."""

    def __init__(self, path: str | None) -> None:
        self.path = path

    def fail(
        self, message: str, place: str, expected: str | None = None, seen: str | None = None
    ) -> NoReturn:
        raise Corrupt(message, path=self.path, json_path=place, expected=expected, seen=seen)

    def parse(self, json: object, place: str, depth: int) -> IcebergType:
        if depth > MAX_DEPTH:
            self.fail("types nested too deeply", place, f"at most {MAX_DEPTH} levels")
        if isinstance(json, str):
            return parse_type_text(json)
        if not isinstance(json, Mapping):
            self.fail("not an Iceberg type", place, "a string or an object", _describe(json))
        name = self.get(json, "type", str, place)
        if name == "struct":
            return self.struct(json, place, depth)
        if name == "list":
            return IcebergType("list", fields=(self.part(json, "element", place, depth),))
        if name == "map":
            key = self.part(json, "key", place, depth)
            return IcebergType("map", fields=(key, self.part(json, "value", place, depth)))
        return parse_type_text(name)

    def struct(self, json: Mapping[str, Any], place: str, depth: int) -> IcebergType:
        fields = self.get(json, "fields", list, place)
        parsed = [self.field(field, f"{place}.fields[{i}]", depth) for i, field in enumerate(fields)]
        return IcebergType("struct", fields=tuple(parsed))

    def field(self, json: object, place: str, depth: int) -> IcebergField:
        if not isinstance(json, Mapping):
            self.fail("not an Iceberg field", place, "an object", _describe(json))
        if "type" not in json:
            self.fail("a field has no type", f"{place}.type")
        doc = json.get("doc")
        return IcebergField(
            id=self.get(json, "id", int, place),
            name=self.get(json, "name", str, place),
            required=json.get("required") is True,
            type=self.parse(json["type"], f"{place}.type", depth + 1),
            doc=doc if isinstance(doc, str) else None,
            initial_default=json.get("initial-default"),
            write_default=json.get("write-default"),
        )

    def part(self, json: Mapping[str, Any], name: str, place: str, depth: int) -> IcebergField:
        """The element of a list or the key or value of a map."""
        if name not in json:
            self.fail(f"a {json['type']} has no {name}", f"{place}.{name}")
        return IcebergField(
            id=self.get(json, f"{name}-id", int, place),
            name=name,
            required=name == "key" or json.get(f"{name}-required") is True,  # map keys are never null
            type=self.parse(json[name], f"{place}.{name}", depth + 1),
        )

    def get(self, json: Mapping[str, Any], key: str, kind: type, place: str) -> Any:
        value = json.get(key)
        if not isinstance(value, kind) or isinstance(value, bool):
            message = f"{key!r} is missing" if key not in json else f"{key!r} has the wrong type"
            expected = {str: "a string", int: "an integer", list: "an array"}[kind]
            self.fail(message, f"{place}.{key}", expected, _describe(value) if key in json else None)
        return value


def _describe(json: object) -> str:
    """Describe a short value, or the kind of a long one."""
    if json is None or isinstance(json, bool | int | float | str):
        return repr(json)
    return "an array" if isinstance(json, list) else "an object"
