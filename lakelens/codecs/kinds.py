"""From the name of a kind of bytes to the codec that explains them.

Every codec's explaining function has one shape: `explain_x(data, start, end, **context) -> Span`. It explains
`data[start:end]`, positions are absolute in `data`, and damage is told by a leaf, never raised.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from importlib import import_module
from typing import Any

from lakelens.codecs.magic import sniff
from lakelens.codecs.span.span import Octets, Span

# kind: (module of this package, function); loaded when first used
_EXPLAINERS: dict[str, tuple[str, str]] = {
    "avro": ("avro.spans", "explain_avro"),
    "avro_record": ("avro.spans", "explain_avro_record"),
    "binary_row": ("paimon.row_spans", "explain_binary_row"),
    "binary_array": ("paimon.row_spans", "explain_binary_array"),
    "binary_map": ("paimon.row_spans", "explain_binary_map"),
    "blob": ("paimon.blob_spans", "explain_blob"),
    "crc": ("text.crc_spans", "explain_crc"),
    "deletion_vector": ("bitmaps.deletion_vector_spans", "explain_deletion_vector"),
    "file_index": ("paimon.index.file_index_spans", "explain_file_index"),
    "global_index": ("paimon.index.global_index_spans", "explain_global_index"),
    "gzip": ("text.gzip_spans", "explain_gzip"),
    "hash_index": ("bitmaps.deletion_vector_spans", "explain_hash_index"),
    "iceberg_value": ("iceberg.value_spans", "explain_iceberg_value"),
    "index_meta": ("paimon.index.global_index_meta_spans", "explain_index_meta"),
    "json": ("text.json_spans", "explain_json"),
    "json_lines": ("text.text_spans", "explain_json_lines"),
    "orc": ("orc.spans", "explain_orc"),
    "paimon_dv_index": ("bitmaps.deletion_vector_spans", "explain_paimon_dv_index"),
    "parquet": ("parquet.spans", "explain_parquet"),
    "puffin": ("iceberg.puffin_spans", "explain_puffin"),
    "roaring32": ("bitmaps.roaring_spans", "explain_roaring32"),
    "roaring64": ("bitmaps.roaring_spans", "explain_roaring64"),
    "source_meta": ("paimon.index.global_index_meta_spans", "explain_source_meta"),
    "text": ("text.text_spans", "explain_text"),
    "theta_sketch": ("iceberg.theta_sketch_spans", "explain_theta_sketch"),
    "unknown": ("text.text_spans", "explain_unknown"),
    "variant": ("variant.spans", "explain_variant"),
}
KINDS = tuple(_EXPLAINERS)

# what Paimon's index files begin or end with
_FILE_INDEX = bytes.fromhex("00054e4ed01a35ae")
_VECTORS = (bytes.fromhex("5e43f2d0"), bytes.fromhex("d1d33964"))
_GLOBAL_INDEXES = (b"ITBP", b"BGIX")


def explain(data: Octets, kind: str, start: int = 0, end: int | None = None, /, **context: Any) -> Span:
    """The tree of spans of `data[start:end]`, explained as `kind`. Raises `ValueError` for a kind that is not one.

    What `context` must give depends on the kind: `fields` for "binary_row", `type` for "iceberg_value", `nested` (optional)
    for "avro". Damage is told by leaves of role `damage`; `Span.check` raises it.
    """
    if kind not in _EXPLAINERS:
        raise ValueError(f"{kind!r} is no kind of bytes: one of {', '.join(KINDS)}")
    module, function = _EXPLAINERS[kind]
    explainer: Callable[..., Span] = getattr(import_module(f"lakelens.codecs.{module}"), function)
    return explainer(data, start, len(data) if end is None else end, **context)


def choose_kind(data: Octets, name: str = "") -> str:
    """The kind of a whole file, from its first and last bytes; the name decides only where bytes cannot.

    >>> choose_kind(b"Obj\\x01..."), choose_kind(b"crc\\x00...", ".part-0.parquet.crc"), choose_kind(b"1")
    ('avro', 'crc', 'text')
    >>> choose_kind(b'{"a": 1}\\n'), choose_kind(b'{"a": 1}\\n{"a": 2}\\n')
    ('json', 'json_lines')
    """
    head, tail = bytes(data[:4096]), bytes(data[max(0, len(data) - 16) :])
    if head[:4] == b"crc\x00" and name.endswith(".crc"):
        return "crc"
    if (index := _choose_index(head, tail)) is not None:
        return index
    kind = sniff(head, tail)
    if kind == "json" and _is_json_lines(data):
        return "json_lines"
    if kind in ("avro", "gzip", "json", "orc", "parquet", "puffin", "text"):
        return kind
    if kind == "empty":
        return "text"
    if kind == "unknown" and name.endswith(".blob"):
        return "blob"
    return "parquet" if kind == "parquet-encrypted" else "unknown"


def _choose_index(head: bytes, tail: bytes) -> str | None:
    """Paimon's index files that say what they are: a file index, a deletion-vector index, a global index."""
    if head.startswith(_FILE_INDEX):
        return "file_index"
    if head[:1] == b"\x01" and head[5:9] in _VECTORS:
        return "paimon_dv_index"
    return "global_index" if tail.endswith(_GLOBAL_INDEXES) else None


def _is_json_lines(data: Octets) -> bool:
    """Whether the first line is a document of its own and more follows it: rows as JSON, as engines write them."""
    head = bytes(data[: 1 << 20])
    line, _, rest = head.partition(b"\n")
    if not rest.strip():
        return False
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
