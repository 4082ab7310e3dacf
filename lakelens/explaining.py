"""`explain_bytes`: any piece of a table's metadata with a name for every byte."""

from __future__ import annotations

from typing import Any

from lakelens.codecs.explain import explain
from lakelens.model.explanation import Explanation


def explain_bytes(data: bytes, kind: str, **context: Any) -> Explanation:
    """Explain bytes: a tree of spans (`start`, `end`, `label`, `value`, `note`, `children`); each byte is in one leaf.

    `kind` is one of `lakelens.codecs.explain.KINDS`: "binary_row" (context: `fields`, as for `decode_binary_row`), "avro",
    "puffin", "deletion_vector", "iceberg_value" (context: `type`), "parquet", "orc", "file_index", "json" and others. Raises
    `Corrupt` with the byte when the bytes are not what they must be, `ValueError` for another kind.

    >>> row = bytes.fromhex("00000001000000000000000001000000000000 00".replace(" ", ""))
    >>> span = explain_bytes(row, "binary_row", fields=[("id", "INT NOT NULL")])
    >>> span.value["id"], sum(len(leaf) for leaf in span.leaves()) == len(row)
    (1, True)
    """
    data = bytes(data)
    span = explain(data, kind, **context)
    span.check()
    return Explanation(data, span)
