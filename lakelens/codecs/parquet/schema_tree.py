"""The schema of a Parquet file as a tree of what its columns mean: leaves, structs, lists and maps.

    optional group a (LIST) { repeated group list { optional T element } }     a list of T: three levels
    optional group a (LIST) { repeated T array }                               a list of T: two levels, old writers
    repeated T a                                                               a list of T: one level
    optional group a (MAP) { repeated group m { required K key; optional V value } }

Follows "Lists", "Maps" and their rules for backward compatibility in the Apache Parquet format. A group whose annotation
does not fit what is in it is a struct.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal

from lakelens.codecs.parquet.footer import ParquetFooter
from lakelens.codecs.parquet.structure import OPTIONAL, REPEATED, SchemaLeaf, StructReader, logical_type
from lakelens.codecs.parquet.thrift_schema import FILE
from lakelens.lazy import dataclass

Kind = Literal["leaf", "struct", "list", "map"]


@dataclass(frozen=True, slots=True)
class Node:
    """A column, or a part of one: `definition` is its level where it is there, `inner` that of an element of a list or map.

    `leaves` are the places of its columns among those of the file, `leaf` is the one of a leaf.
    """

    name: str
    kind: Kind
    is_optional: bool
    field_id: int | None
    definition: int
    inner: int
    children: tuple[Node, ...]
    leaves: tuple[int, ...]
    leaf: SchemaLeaf | None = None


@dataclass(frozen=True, slots=True)
class _Element:
    """An element of the schema with those below it; `number` counts the leaves."""

    reader: StructReader
    children: tuple[_Element, ...]
    number: int

    @property
    def name(self) -> str:
        stored = self.reader.get("name")
        return stored.decode(errors="replace") if isinstance(stored, bytes) else ""

    @property
    def is_repeated(self) -> bool:
        return bool(self.reader.get("repetition_type") == REPEATED)

    @property
    def is_optional(self) -> bool:
        return bool(self.reader.get("repetition_type") == OPTIONAL)


def decode_tree(footer: ParquetFooter) -> Node:
    """Decode the schema of a file: a struct of its top-level columns. Raises `Corrupt`.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> pq.write_table(pa.table({"a": [[1]], "b": [{"c": "x"}]}), sink)
    >>> [(node.name, node.kind, node.children[0].kind) for node in decode_tree(decode_footer(sink)).children]
    [('a', 'list', 'leaf'), ('b', 'struct', 'leaf')]
    """
    # the footer's leaves were decoded of the same tree, whose shape and depth were checked with them
    elements = StructReader(footer.structure, FILE, None).structs("schema")
    root, _, _ = _nest(elements, 0, 0)
    children = tuple(_resolve(child, 0, footer.leaves) for child in root.children)
    return Node(root.name, "struct", False, None, 0, 0, children, _join(children))


def _nest(elements: Sequence[StructReader], at: int, number: int) -> tuple[_Element, int, int]:
    reader, children, first = elements[at], list[_Element](), number
    at += 1
    for _ in range(reader.optional("num_children") or 0):
        child, at, number = _nest(elements, at, number)
        children.append(child)
    return _Element(reader, tuple(children), first), at, number + (not children)


def _join(children: Sequence[Node]) -> tuple[int, ...]:
    return tuple(number for child in children for number in child.leaves)


def _resolve(element: _Element, above: int, leaves: Sequence[SchemaLeaf]) -> Node:
    """Resolve an element in a struct, or in a list, whose own level is `above`."""
    if element.is_repeated:
        inner = _describe(element, above + 1, leaves)
        return _make_list(element, above, (inner,), "list")
    return _describe(element, above + element.is_optional, leaves)


def _describe(element: _Element, level: int, leaves: Sequence[SchemaLeaf]) -> Node:
    """Describe an element that is there at a level, whatever its own repetition says of where it is."""
    field_id = element.reader.optional("field_id")
    if not element.children:
        number, is_optional = element.number, element.is_optional
        leaf = leaves[number]
        return Node(element.name, "leaf", is_optional, field_id, level, level, (), (number,), leaf)
    annotation, [first, *more] = logical_type(element.reader), element.children
    if not more and first.is_repeated:
        if annotation == "List":
            return _make_list(element, level, (_find_item(element, first, level + 1, leaves),), "list")
        if annotation == "Map" and len(first.children) == 2:
            pair = tuple(_resolve(child, level + 1, leaves) for child in first.children)
            return _make_list(element, level, pair, "map")
    children = tuple(_resolve(child, level, leaves) for child in element.children)
    joined = _join(children)
    return Node(element.name, "struct", element.is_optional, field_id, level, level, children, joined)


def _make_list(element: _Element, level: int, children: tuple[Node, ...], kind: Kind) -> Node:
    field_id, joined = element.reader.optional("field_id"), _join(children)
    return Node(element.name, kind, element.is_optional, field_id, level, level + 1, children, joined)


def _find_item(outer: _Element, repeated: _Element, level: int, leaves: Sequence[SchemaLeaf]) -> Node:
    """Find the element of a list: below the repeated group, or in old files that itself."""
    is_itself = len(repeated.children) != 1 or repeated.name in ("array", f"{outer.name}_tuple")
    is_itself = is_itself or logical_type(repeated.reader) in ("List", "Map")
    if is_itself or repeated.children[0].is_repeated:
        return _describe(repeated, level, leaves)
    return _resolve(repeated.children[0], level, leaves)


# The schema in the words of Avro, as the same records would have it there.

_PLAIN = {"INT32": "int", "INT64": "long", "BYTE_ARRAY": "bytes", "INT96": "long"}
_UNITS = {"milliseconds": "millis", "microseconds": "micros", "nanoseconds": "nanos"}
_DECIMAL_BYTES = 16


def describe_tree(root: Node) -> dict[str, Any]:
    """Describe the schema of the records as parsed Avro JSON, every field with its id where the file has one.

    >>> import io, pyarrow as pa, pyarrow.parquet as pq
    >>> from lakelens.codecs.parquet.footer import decode_footer
    >>> sink = io.BytesIO()
    >>> schema = pa.schema([pa.field("a", pa.int64(), False, {"PARQUET:field_id": "7"})])
    >>> pq.write_table(pa.table({"a": [1]}, schema), sink)
    >>> describe_tree(decode_tree(decode_footer(sink)))["fields"]
    [{'name': 'a', 'type': 'long', 'field-id': 7}]
    """
    return {"type": "record", "name": "record", "fields": list(map(_describe_field, root.children))}


def _describe_field(node: Node) -> dict[str, Any]:
    kind = _describe_type(node)
    described: dict[str, Any] = {"name": node.name, "type": ["null", kind] if node.is_optional else kind}
    return described if node.field_id is None else described | {"field-id": node.field_id}


def _describe_type(node: Node) -> Any:
    if node.leaf is not None:
        return _describe_leaf(node.leaf)
    if node.kind == "struct":
        return {"type": "record", "fields": list(map(_describe_field, node.children))}
    fields = list(map(_describe_field, node.children))
    if node.kind == "map":
        pair = [field | {"name": name} for field, name in zip(fields, ("key", "value"), strict=True)]
        return {"type": "array", "logicalType": "map", "items": {"type": "record", "fields": pair}}
    described = {"type": "array", "items": fields[0]["type"]}
    return described | ({"element-id": fields[0]["field-id"]} if "field-id" in fields[0] else {})


def _describe_leaf(leaf: SchemaLeaf) -> Any:
    logical, kind = leaf.logical_type or "", leaf.physical_type
    parts = split_type(logical)
    if logical.startswith("Decimal"):
        scales = {"precision": int(parts["precision"]), "scale": int(parts["scale"])}
        return {"type": "fixed", "size": _DECIMAL_BYTES, "logicalType": "decimal", **scales}
    if logical == "Date":
        return {"type": "int", "logicalType": "date"}
    if logical.startswith("Time("):
        return {"type": "long", "logicalType": f"time-{_UNITS.get(parts['timeUnit'], 'micros')}"}
    if logical.startswith("Timestamp(") or kind == "INT96":
        unit, is_utc = _UNITS.get(parts.get("timeUnit", ""), "nanos"), parts.get("isAdjustedToUTC") == "true"
        return {"type": "long", "logicalType": f"timestamp-{unit}", "adjust-to-utc": is_utc}
    if logical.startswith("Int("):
        width, sign = parts["bitWidth"], "" if parts["isSigned"] == "true" else "u"
        return {"int32": "int", "int64": "long"}.get(f"{sign}int{width}", f"{sign}int{width}")
    if logical in ("String", "JSON"):
        return "string"
    if logical == "Null":
        return "null"
    if logical == "Float16":
        return "halffloat"
    return (
        {"type": "fixed", "size": leaf.width}
        if kind == "FIXED_LEN_BYTE_ARRAY"
        else _PLAIN.get(kind, kind.lower())
    )


def split_type(logical: str) -> Mapping[str, str]:
    """Split what is in the brackets of a logical type.

    >>> split_type("Decimal(precision=9, scale=2)")
    {'precision': '9', 'scale': '2'}
    """
    inside = logical.partition("(")[2].rstrip(")")
    return dict(part.partition("=")[::2] for part in inside.split(", ") if part)


# The types of the schema as Arrow prints them.

_ARROW = {"BOOLEAN": "bool", "BYTE_ARRAY": "binary", "INT96": "timestamp[ns]"}
_ARROW_UNITS = {"milliseconds": "ms", "microseconds": "us", "nanoseconds": "ns"}
_WORDS = {"Date": "date32[day]", "String": "string", "JSON": "string", "Null": "null", "Float16": "halffloat"}


def name_type(node: Node) -> str:
    """Name the type of a column as Arrow prints it.

    >>> leaf = SchemaLeaf("a", "INT64", "Timestamp(isAdjustedToUTC=true, timeUnit=microseconds)", None, 1, 0)
    >>> name_type(Node("a", "leaf", True, None, 1, 1, (), (0,), leaf))
    'timestamp[us, tz=UTC]'
    """
    if node.leaf is not None:
        return _name_leaf(node.leaf)
    if node.kind == "map":
        entries = f" ('{node.name}')" if node.name != "entries" else ""
        return f"map<{', '.join(map(name_type, node.children))}{entries}>"
    fields = (
        f"{child.name}: {name_type(child)}{'' if child.is_optional else ' not null'}"
        for child in node.children
    )
    return f"{node.kind}<{', '.join(fields)}>"


def _name_leaf(leaf: SchemaLeaf) -> str:
    logical, kind = leaf.logical_type or "", leaf.physical_type
    name, parts = logical.partition("(")[0], split_type(logical)
    if name == "Decimal":
        bits = 128 if int(parts["precision"]) <= 38 else 256
        return f"decimal{bits}({parts['precision']}, {parts['scale']})"
    unit = _ARROW_UNITS.get(parts.get("timeUnit", ""), "us")
    if name == "Time":
        return f"time{32 if unit == 'ms' else 64}[{unit}]"
    if name == "Timestamp":
        return f"timestamp[{unit}{', tz=UTC' if parts['isAdjustedToUTC'] == 'true' else ''}]"
    if name == "Int":
        return f"{'' if parts['isSigned'] == 'true' else 'u'}int{parts['bitWidth']}"
    fixed = f"fixed_size_binary[{leaf.width}]"
    return _WORDS.get(name) or (fixed if kind == "FIXED_LEN_BYTE_ARRAY" else _ARROW.get(kind, kind.lower()))
