"""Many small JSON documents parsed at once, with the types that are wanted as Arrow's schema."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lakelens.model.scan.columnar import NotColumnar

if TYPE_CHECKING:
    import pyarrow as pa


def parse_lines(text: pa.Array, schema: pa.Schema) -> pa.StructArray:
    """Parse texts into a struct of what they say of the fields of a schema. Raises `NotColumnar` for what is no object.

    >>> import pyarrow as pa
    >>> parse_lines(pa.array(['{"a": 1, "b": 2}', None]), pa.schema([("a", pa.int64())])).to_pylist()
    [{'a': 1}, {'a': None}]
    """
    import pyarrow as pa
    import pyarrow.compute as pc
    from pyarrow import json

    if not pc.all(pc.and_(pc.starts_with(text, "{"), pc.ends_with(text, "}"))).as_py():
        raise NotColumnar("texts that are no object of JSON")
    lines = join_lines(text)
    try:
        table = json.read_json(
            pa.BufferReader(lines),
            # one block, so that nothing has to be joined: the pieces of many files are what threads share
            read_options=json.ReadOptions(use_threads=False, block_size=lines.size + 1),
            parse_options=json.ParseOptions(explicit_schema=schema, unexpected_field_behavior="ignore"),
        )
    except (pa.ArrowException, ValueError) as error:
        raise NotColumnar(str(error)) from None
    if table.num_rows != len(text):
        raise NotColumnar(f"{table.num_rows} lines of {len(text)} texts")
    columns = [table[name].combine_chunks() for name in schema.names]
    return pa.StructArray.from_arrays(columns, names=schema.names)


def join_lines(text: pa.Array) -> pa.Buffer:
    """Join texts as lines, one for each: {} where there is none."""
    import pyarrow as pa
    import pyarrow.compute as pc

    if text.null_count:
        text = pc.fill_null(text, "{}")
    joined = pc.binary_join_element_wise(text.cast(pa.binary()), b"", b"\n")
    _, offsets, data = joined.buffers()
    ends = pa.Array.from_buffers(pa.int32(), len(joined) + 1, [None, offsets], offset=joined.offset)
    return data.slice(ends[0].as_py(), ends[len(joined)].as_py() - ends[0].as_py())


def make_struct_type(leaves: Sequence[tuple[tuple[str, ...], pa.DataType]]) -> pa.DataType:
    """Make a struct type of leaves by their paths."""
    import pyarrow as pa

    tree: dict[str, Any] = {}
    for path, kind in leaves:
        at = tree
        for name in path[:-1]:
            at = at.setdefault(name, {})
            if not isinstance(at, dict):
                raise NotColumnar(f"{name} is a column, and a struct")
        at[path[-1]] = kind

    def build(held: dict[str, Any]) -> pa.DataType:
        return pa.struct(
            [(name, build(kind) if isinstance(kind, dict) else kind) for name, kind in held.items()]
        )

    return build(tree)
