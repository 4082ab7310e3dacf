"""Types of a Hive-style table, spelled as Hive and Spark spell them: `bigint`, `array<string>`, `struct<a:int,b:date>`.

They come from four places: the metastore's text, the JSON that Spark keeps in Parquet footers
(`org.apache.spark.sql.parquet.row.metadata`), the Arrow schema of a file, and the Avro schema of one. Hive
knows no field ids: a field's `id` here is its place in the schema (from 1, parents first), which identifies it nowhere else.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import count
from typing import TYPE_CHECKING, Any

from lakelens.errors import Corrupt
from lakelens.model.schema import DataType, Field

if TYPE_CHECKING:
    import pyarrow as pa

# name in DDL -> logical type, precision
_SCALARS: dict[str, tuple[str, int]] = {
    "boolean": ("boolean", 0),
    "tinyint": ("int8", 0),
    "smallint": ("int16", 0),
    "int": ("int32", 0),
    "bigint": ("int64", 0),
    "float": ("float32", 0),
    "double": ("float64", 0),
    "string": ("string", 0),
    "binary": ("binary", 0),
    "date": ("date", 0),
    "timestamp": ("timestamptz", 6),
    "timestamp_ltz": ("timestamptz", 6),
    "timestamp_ntz": ("timestamp", 6),
    "variant": ("variant", 0),
    "void": ("unknown", 0),
}
# other spellings of the same types
_SYNONYMS = {
    "byte": "tinyint",
    "short": "smallint",
    "integer": "int",
    "long": "bigint",
    "real": "float",
    "null": "void",
    "timestamp with local time zone": "timestamp_ltz",
}
_TOKEN = re.compile(r"\s*(`(?:[^`]|``)*`|[^<>(),:`\s]+(?:[ ][^<>(),:`\s]+)*|[<>(),:])")


def parse_type(text: str) -> DataType:
    """Parse the type of a metastore's text. Text that is no type gives a type of logical `unknown`, spelled as found.

    >>> parse_type("map<string,struct<a:decimal(5,2)>>").children[1].type.children[0].type.precision
    5
    >>> parse_type("interval year").logical
    'unknown'
    """
    tokens = _TOKEN.findall(text)
    try:
        parsed, rest = _parse_tokens(tokens, 0)
    except (IndexError, ValueError):
        return DataType(text, "unknown")
    return parsed if rest == len(tokens) else DataType(text, "unknown")


def _parse_tokens(tokens: list[str], at: int) -> tuple[DataType, int]:
    name = tokens[at].lower()
    if tokens[at + 1 : at + 2] == ["<"]:
        return _parse_nested(name, tokens, at + 2)
    if tokens[at + 1 : at + 2] == ["("]:
        close = tokens.index(")", at)
        arguments = [int(token) for token in tokens[at + 2 : close] if token != ","]
        return make_scalar(name, *arguments), close + 1
    return make_scalar(name), at + 1


def _parse_nested(name: str, tokens: list[str], at: int) -> tuple[DataType, int]:
    children: list[tuple[str, DataType]] = []
    while tokens[at] != ">":
        label = f"{len(children)}"
        if name == "struct":
            label, at = tokens[at].strip("`").replace("``", "`"), at + 2
        child, at = _parse_tokens(tokens, at)
        children.append((label, child))
        if tokens[at] == ",":
            at += 1
    if name == "struct":
        return make_struct(Field(0, label, kind) for label, kind in children), at + 1
    kinds = [kind for _, kind in children]
    if name == "array" and len(kinds) == 1:
        return make_list(kinds[0]), at + 1
    if name == "map" and len(kinds) == 2:
        return make_map(kinds[0], kinds[1]), at + 1
    raise ValueError(name)


def make_scalar(name: str, *arguments: int) -> DataType:
    """Make a type without children, by its name in DDL.

    >>> make_scalar("decimal", 10, 2), make_scalar("long"), make_scalar("varchar", 5).logical
    ('decimal(10,2)', 'bigint', 'string')
    """
    name = _SYNONYMS.get(name, name)
    if name == "decimal":
        precision, scale = (*arguments, 10, 0)[:2] if len(arguments) != 1 else (arguments[0], 0)
        text = f"decimal({precision},{scale})"
        if not 1 <= precision <= _MOST_DIGITS or abs(scale) > _MOST_DIGITS:
            return DataType(text, "unknown")
        return DataType(text, "decimal", precision=precision, scale=scale)
    if name in ("char", "varchar") and arguments:
        return DataType(f"{name}({arguments[0]})", "string", length=arguments[0])
    logical, precision = _SCALARS.get(name, ("unknown", 0))
    return DataType(name, logical, precision=precision)


def make_struct(fields: Iterable[Field]) -> DataType:
    """Make a struct of fields."""
    children = tuple(fields)
    text = ",".join(f"{child.name}:{child.type}" for child in children)
    return DataType(f"struct<{text}>", "struct", children=children)


def make_list(element: DataType, nullable: bool = True) -> DataType:
    """Make an array of one element type."""
    return DataType(f"array<{element}>", "list", children=(Field(0, "element", element, nullable),))


def make_map(key: DataType, value: DataType, nullable: bool = True) -> DataType:
    """Make a map from key to value."""
    children = (Field(0, "key", key, False), Field(0, "value", value, nullable))
    return DataType(f"map<{key},{value}>", "map", children=children)


def parse_json_type(document: Any, path: str = "$") -> DataType:
    """Parse the type of Spark's own schema JSON. Raises `Corrupt`, naming the place in the document.

    >>> parse_json_type({"type": "array", "elementType": "long", "containsNull": True})
    'array<bigint>'
    """
    if isinstance(document, str):
        return parse_type(document)
    kind = document.get("type") if isinstance(document, Mapping) else None
    if kind == "struct" and isinstance(document.get("fields"), list):
        return make_struct(parse_json_fields(document, path))
    if kind == "array":
        element = parse_json_type(document.get("elementType"), f"{path}.elementType")
        return make_list(element, bool(document.get("containsNull", True)))
    if kind == "map":
        key = parse_json_type(document.get("keyType"), f"{path}.keyType")
        value = parse_json_type(document.get("valueType"), f"{path}.valueType")
        return make_map(key, value, bool(document.get("valueContainsNull", True)))
    if kind == "udt":
        return parse_json_type(document.get("sqlType"), f"{path}.sqlType")
    raise Corrupt("not a Spark type", json_path=path, expected="a type's name or a struct", seen=document)


def parse_json_fields(document: Any, path: str = "$") -> list[Field]:
    """Parse the fields of a struct in Spark's schema JSON, not yet numbered; CHAR and VARCHAR keep their length."""
    if not isinstance(document, Mapping) or not isinstance(document.get("fields"), list):
        raise Corrupt("not a Spark schema", json_path=path, expected="a struct with fields", seen=document)
    found = []
    for index, column in enumerate(document["fields"]):
        place = f"{path}.fields[{index}]"
        if not isinstance(column, Mapping) or not isinstance(column.get("name"), str):
            raise Corrupt("a field without a name", json_path=place, expected="an object", seen=column)
        metadata = column.get("metadata") or {}
        declared = metadata.get("__CHAR_VARCHAR_TYPE_STRING")
        kind = (
            parse_type(declared)
            if isinstance(declared, str)
            else parse_json_type(column.get("type"), f"{place}.type")
        )
        found.append(
            Field(0, column["name"], kind, bool(column.get("nullable", True)), metadata.get("comment"))
        )
    return found


_MOST_DIGITS = 76  # of Arrow's widest decimal
_AVRO_LOGICAL = {
    "date": "date",
    "timestamp-millis": "timestamp",
    "timestamp-micros": "timestamp",
    "local-timestamp-millis": "timestamp_ntz",
    "local-timestamp-micros": "timestamp_ntz",
}
_AVRO_PLAIN = {"bytes": "binary", "fixed": "binary", "enum": "string", "long": "bigint"}


def parse_avro_fields(record: Mapping[str, Any]) -> list[Field]:
    """Parse the columns of an Avro record, not yet numbered.

    >>> parse_avro_fields({"fields": [{"name": "a", "type": ["null", "long"]}]})
    [<Field 0 a: bigint>]
    """
    found = []
    for column in record.get("fields", ()):
        kind, nullable = _parse_avro_type(column["type"])
        found.append(Field(0, column["name"], kind, nullable, column.get("doc")))
    return found


def _parse_avro_type(schema: Any) -> tuple[DataType, bool]:
    if isinstance(schema, list):
        others = [branch for branch in schema if branch != "null"]
        if len(others) == 1:
            return _parse_avro_type(others[0])[0], len(others) < len(schema)
        return DataType(f"uniontype<{','.join(_parse_avro_type(b)[0] for b in others)}>", "unknown"), True
    if isinstance(schema, str):
        return parse_type(_AVRO_PLAIN.get(schema, schema)), schema == "null"
    return _parse_complex(schema), False


def _parse_complex(schema: Mapping[str, Any]) -> DataType:
    kind, logical = schema["type"], schema.get("logicalType")
    precision, scale = schema.get("precision", 38), schema.get("scale", 0)
    is_whole = isinstance(precision, int) and isinstance(scale, int)
    if logical == "decimal" and is_whole and 0 <= scale <= precision and 0 < precision <= _MOST_DIGITS:
        return make_scalar("decimal", precision, scale)  # to Avro any other one is no decimal
    if logical in _AVRO_LOGICAL:
        return make_scalar(_AVRO_LOGICAL[logical])
    if kind == "record":
        return make_struct(parse_avro_fields(schema))
    if kind == "array":
        return make_list(*_parse_avro_type(schema["items"]))
    if kind == "map":
        value, nullable = _parse_avro_type(schema["values"])
        return make_map(make_scalar("string"), value, nullable)
    return _parse_avro_type(kind)[0]


_ARROW_NAMES = {name: name for name in ("float", "double", "string", "binary")} | {
    "bool": "boolean",
    "int8": "tinyint",
    "int16": "smallint",
    "int32": "int",
    "int64": "bigint",
    "uint8": "smallint",
    "uint16": "int",
    "uint32": "bigint",
    "halffloat": "float",
    "large_string": "string",
    "string_view": "string",
    "large_binary": "binary",
    "binary_view": "binary",
    "date32[day]": "date",
    "date64[ms]": "date",
    "null": "void",
}
_ARROW_DIGITS = {"s": 0, "ms": 3, "us": 6, "ns": 9}


def from_arrow(kind: pa.DataType) -> DataType:
    """The Hive type that holds an Arrow type's values; a type that Hive does not have keeps Arrow's name.

    >>> import pyarrow as pa
    >>> from_arrow(pa.list_(pa.int64())), from_arrow(pa.timestamp("us", "UTC")), from_arrow(pa.time32("ms"))
    ('array<bigint>', 'timestamp', 'time32[ms]')
    """
    import pyarrow as pa

    types = pa.types
    if types.is_struct(kind):
        return make_struct(Field(0, f.name, from_arrow(f.type), f.nullable) for f in kind)
    if types.is_map(kind):
        return make_map(from_arrow(kind.key_type), from_arrow(kind.item_type), bool(kind.item_field.nullable))
    if types.is_list(kind) or types.is_large_list(kind) or types.is_fixed_size_list(kind):
        return make_list(from_arrow(kind.value_type), bool(kind.value_field.nullable))
    if types.is_dictionary(kind):
        return from_arrow(kind.value_type)
    if types.is_decimal(kind):
        return make_scalar("decimal", kind.precision, kind.scale)
    if types.is_uint64(kind):
        return make_scalar("decimal", 20, 0)
    if types.is_timestamp(kind):
        name = "timestamp" if kind.tz else "timestamp_ntz"
        return DataType(name, "timestamptz" if kind.tz else "timestamp", precision=_ARROW_DIGITS[kind.unit])
    if types.is_fixed_size_binary(kind):
        return DataType("binary", "binary")
    name = str(kind)
    if types.is_time(kind):
        return DataType(name, "time", precision=_ARROW_DIGITS[kind.unit])
    return make_scalar(_ARROW_NAMES[name]) if name in _ARROW_NAMES else DataType(name, "unknown")


def number_fields(fields: Iterable[Field]) -> tuple[Field, ...]:
    """The fields with places as ids, from 1, parents before their children.

    >>> kind = parse_type("struct<a:int,b:int>")
    >>> [(f.id, [c.id for c in f.type.children]) for f in number_fields([Field(0, "s", kind), Field(0, "x", kind)])]
    [(1, [2, 3]), (4, [5, 6])]
    """
    places = count(1)

    def number(column: Field) -> Field:
        place = next(places)
        kind = column.type
        if kind.children:
            children = tuple(number(child) for child in kind.children)
            kind = DataType(
                str(kind),
                kind.logical,
                children=children,
                precision=kind.precision,
                scale=kind.scale,
                length=kind.length,
            )
        return Field(place, column.name, kind, column.nullable, column.doc)

    return tuple(number(column) for column in fields)


_WIDTH = {"int8": 0, "int16": 1, "int32": 2, "int64": 3, "float32": 4, "float64": 5}


def widen(first: DataType, second: DataType) -> DataType | None:
    """Widen the type that holds the values of both, None when there is none that loses nothing.

    >>> widen(parse_type("int"), parse_type("bigint")), widen(parse_type("int"), parse_type("string"))
    ('bigint', None)
    """
    if first == second:
        return first
    if first.logical == "unknown" and not first.children:
        return second
    if second.logical == "unknown" and not second.children:
        return first
    if first.logical == second.logical == "struct":
        return make_struct(merge_fields(first.children, second.children)[0])
    if first.logical in _WIDTH and second.logical in _WIDTH:
        narrow, wide = sorted((first, second), key=lambda kind: _WIDTH[kind.logical])
        exact = wide.logical == "float64" or _WIDTH[wide.logical] <= 3
        return wide if exact and not (wide.logical == "float64" and narrow.logical == "int64") else None
    if first.logical == second.logical == "decimal":
        scale = max(first.scale, second.scale)
        digits = max(first.precision - first.scale, second.precision - second.scale) + scale
        return make_scalar("decimal", digits, scale) if digits <= 38 else None
    if first.logical == second.logical == "string":
        return make_scalar("string")
    return None


def merge_fields(
    known: Iterable[Field], more: Iterable[Field]
) -> tuple[list[Field], list[tuple[Field, Field]]]:
    """The union of two rows of fields by name (case is ignored, as Hive does), and the pairs whose types do not agree.

    A field that only one of them has is nullable; for a pair that does not agree the first is kept.
    """
    merged = {column.name.casefold(): column for column in known}
    others = {column.name.casefold(): column for column in more}
    disagreeing = []
    for key, column in others.items():
        here = merged.get(key)
        if here is None:
            merged[key] = Field(0, column.name, column.type, True, column.doc)
            continue
        kind = widen(here.type, column.type)
        if kind is None:
            disagreeing.append((here, column))
        nullable = here.nullable or column.nullable
        merged[key] = Field(0, here.name, kind or here.type, nullable, here.doc or column.doc)
    for key in merged.keys() - others.keys():
        column = merged[key]
        merged[key] = Field(0, column.name, column.type, True, column.doc)
    return list(merged.values()), disagreeing
