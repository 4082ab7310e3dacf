"""Kinds of bytes: one table from the name of a kind to the codec that explains it.

Every codec's explaining function has one shape: `explain_x(data, start, end, **context) -> Span` for the kind `x`. It
explains `data[start:end]`, positions are absolute in `data`, and damage is a leaf of the tree, never raised. A new kind is
one row of `_TABLE`, and, if files of it begin or end with a magic, one row in `magic`. The package of a table format brings
kinds of its own: `register_kinds`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

from lakelens.codecs.magic import MAGICS, sniff
from lakelens.codecs.span.span import Octets, Span


@dataclass(frozen=True, slots=True)
class Kind:
    """One kind of bytes. `module` of this package has its `explain_NAME`, and is loaded when it is first used.

    A kind of another package has the whole name of its `module`, and in `magics` where its files have a magic (from the end
    where negative) and which.

    `noun` is what a view calls a whole file; `needs` the context without which nothing can be explained. Files of a
    self-describing kind say no more when the table is known that they belong to: of others the table knows the columns of
    the rows, the data file of a deletion vector, or what a file without magic is. Of data files that are not `is_decoded`
    the parts are named, and the rows stay unread.
    """

    name: str
    module: str
    noun: str = ""
    needs: tuple[str, ...] = ()
    is_self_describing: bool = False
    is_decoded: bool = True
    magics: tuple[tuple[int, bytes], ...] = ()

    @property
    def has_magic(self) -> bool:
        """Whether files of it are recognised by their first or last bytes."""
        return bool(self.magics) or any(_OTHERS.get(kind, kind) == self.name for _, _, kind in MAGICS)

    def load(self) -> Callable[..., Span]:
        """The function that explains bytes of this kind."""
        module = self.module if self.name in _BROUGHT else f"lakelens.codecs.{self.module}"
        explainer: Callable[..., Span] = getattr(import_module(module), f"explain_{self.name}")
        return explainer

    def fits(self, data: Octets) -> bool:
        """Whether bytes have a magic of this kind."""
        places = ((at if at >= 0 else max(0, len(data) + at), magic) for at, magic in self.magics)
        return any(bytes(data[at : at + len(magic)]) == magic for at, magic in places)


_TABLE = (
    Kind("aes_gcm_stream", "text.aes_gcm_spans", "Encrypted file", is_self_describing=True),
    Kind("avro", "avro.spans", "Avro file"),
    Kind("avro_record", "avro.spans", needs=("schema",)),
    Kind("binary_row", "paimon.row_spans"),
    Kind("binary_array", "paimon.row_spans", needs=("element",)),
    Kind("binary_map", "paimon.row_spans", needs=("key", "value")),
    Kind("blob", "paimon.blob_spans"),
    Kind("blob_references", "paimon.blob_references", "Blob references", is_self_describing=True),
    Kind("crc", "text.crc_spans", "Checksum file", is_self_describing=True),
    Kind("deletion_vector", "bitmaps.deletion_vector_spans"),
    Kind("file_index", "paimon.index.file_index_spans"),
    Kind("global_index", "paimon.index.global_index_spans"),
    Kind("gzip", "text.gzip_spans", "gzip file", is_self_describing=True),
    Kind("hash_index", "bitmaps.deletion_vector_spans"),
    Kind("iceberg_value", "iceberg.value_spans", needs=("type",)),
    Kind("index_meta", "paimon.index.global_index_meta_spans"),
    Kind("json", "text.json_spans", "JSON document", is_self_describing=True),
    Kind("json_lines", "text.text_spans", "JSON lines", is_self_describing=True),
    Kind("lance", "paimon.known_file_spans", "Lance file", is_self_describing=True, is_decoded=False),
    Kind("mosaic", "paimon.known_file_spans", "Mosaic file", is_self_describing=True, is_decoded=False),
    Kind("orc", "orc.spans", "ORC file", is_self_describing=True),
    Kind("paimon_dv_index", "bitmaps.deletion_vector_spans"),
    Kind("parquet", "parquet.spans", "Parquet file", is_self_describing=True),
    Kind("puffin", "iceberg.puffin_spans", "Puffin file"),
    Kind("roaring32", "bitmaps.roaring_spans"),
    Kind("roaring64", "bitmaps.roaring_spans"),
    Kind("row", "paimon.known_file_spans", "Row file", is_self_describing=True, is_decoded=False),
    Kind("source_meta", "paimon.index.global_index_meta_spans"),
    Kind("text", "text.text_spans", "Text file", is_self_describing=True),
    Kind("theta_sketch", "iceberg.theta_sketch_spans"),
    Kind("unknown", "text.text_spans", "File"),
    Kind("variant", "variant.spans"),
    Kind("video", "paimon.known_file_spans", "Video file", is_self_describing=True, is_decoded=False),
    Kind("vortex", "paimon.known_file_spans", "Vortex file", is_self_describing=True, is_decoded=False),
)
KINDS = {kind.name: kind for kind in _TABLE}
_BROUGHT: dict[str, Kind] = {}

# what `sniff` recognises and no codec has by that name
_OTHERS = {"parquet-encrypted": "parquet", "ags1-encrypted": "aes_gcm_stream", "empty": "text"}


def register_kinds(kinds: Iterable[Kind]) -> None:
    """Add the kinds of another package. Raises `ValueError` for the name of a kind that there is already."""
    for kind in kinds:
        if kind.name in KINDS and KINDS[kind.name] != kind:
            raise ValueError(f"there is a kind of bytes that is called {kind.name} already")
        KINDS[kind.name] = _BROUGHT[kind.name] = kind


def find_kind(name: str) -> Kind:
    """The kind of a name. Raises `ValueError` when there is none.

    >>> find_kind("orc").noun
    'ORC file'
    """
    if name not in KINDS:
        raise ValueError(f"{name!r} is no kind of bytes: one of {', '.join(KINDS)}")
    return KINDS[name]


def explain(data: Octets, kind: str, start: int = 0, end: int | None = None, /, **context: Any) -> Span:
    """The tree of spans of `data[start:end]`, explained as `kind`.

    Parameters
    ----------
    data : bytes or Octets
        The bytes, of which no more is read than is explained.
    kind : str
        One of `KINDS`.
    start, end : int, optional
        The bytes to explain; all of them by default.
    **context
        What the kind needs, see `Kind.needs`, or can use: `fields` for "binary_row", `nested` for "avro".

    Returns
    -------
    Span
        The tree; damage is in leaves of role `damage`, which `Span.check` raises.

    Raises
    ------
    ValueError
        For a kind that is not one.
    """
    return find_kind(kind).load()(data, start, len(data) if end is None else end, **context)


def choose_kind(data: Octets, name: str = "") -> str:
    """The kind of a whole file, from its first and last bytes; the name decides only where bytes cannot.

    >>> choose_kind(b"Obj\\x01..."), choose_kind(b"crc\\x00...", ".part-0.parquet.crc"), choose_kind(b"1")
    ('avro', 'crc', 'text')
    >>> choose_kind(b'{"a": 1}\\n'), choose_kind(b'{"a": 1}\\n{"a": 2}\\n')
    ('json', 'json_lines')
    """
    brought = next((kind.name for kind in _BROUGHT.values() if kind.fits(data)), None)
    if brought is not None:
        return brought
    kind = sniff(bytes(data[:4096]), bytes(data[max(0, len(data) - 16) :]))
    if kind == "json" and _is_json_lines(data):
        return "json_lines"
    if kind == "unknown" and name.endswith(".blob"):
        return "blob"
    kind_name = _OTHERS.get(kind, kind)
    return kind_name if kind_name in KINDS else "unknown"


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
