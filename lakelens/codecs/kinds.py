"""Kinds of bytes: one table from the name of a kind to the codec that explains it.

Every codec's explaining function has one shape: `explain_x(data, start, end, **context) -> Span` for the kind `x`. It
explains `data[start:end]`, positions are absolute in `data`, and damage is a leaf of the tree, never raised. A new kind is
one row of `_TABLE`, and, if files of it begin or end with a magic, one row in `magic`. The package of a table format brings
kinds of its own: `register_kinds`.
"""

from __future__ import annotations

import codecs
import json
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Any, Literal

from lakelens.codecs.span.span import Octets, Span
from lakelens.lazy import dataclass

# What a file is, by its first and last bytes: never by its name, never by an option of the table.
#
# PAR1 … PAR1   Parquet      PARE at either end   Parquet, footer encrypted    ORC … "ORC" + length   ORC
# Obj 01        Avro         PFA1 … PFA1          Puffin                       AGS1                   Iceberg AES-GCM
# 1F 8B         gzip         28 B5 2F FD          zstd                         { or [                 JSON
# crc 00        checksums    … ITBP or BGIX, 00 05 4E 4E D0 1A 35 AE, 01 size 5E 43 F2 D0              Paimon's indexes
# PBLR          references   … SWOR Row, … MOSA Mosaic, … LANC Lance, VTXF Vortex, … IDEO video         known data files

Sniffed = Literal[
    "parquet",
    "parquet-encrypted",
    "orc",
    "avro",
    "puffin",
    "json",
    "gzip",
    "zstd",
    "ags1-encrypted",
    "crc",
    "file_index",
    "global_index",
    "paimon_dv_index",
    "blob_references",
    "row",
    "mosaic",
    "lance",
    "vortex",
    "video",
    "text",
    "empty",
    "unknown",
]

#: Where a magic is (from the end when negative), the magic, and what has it; the first that fits decides.
MAGICS: tuple[tuple[int, bytes, Sniffed], ...] = (
    (0, b"crc\x00", "crc"),
    (0, bytes.fromhex("00054e4ed01a35ae"), "file_index"),
    (5, bytes.fromhex("5e43f2d0"), "paimon_dv_index"),
    (5, bytes.fromhex("d1d33964"), "paimon_dv_index"),
    (-4, b"ITBP", "global_index"),
    (-4, b"BGIX", "global_index"),
    (-4, b"PARE", "parquet-encrypted"),
    (0, b"PAR1", "parquet"),
    (0, b"PARE", "parquet-encrypted"),
    (0, b"Obj\x01", "avro"),
    (0, b"PFA1", "puffin"),
    (0, b"AGS1", "ags1-encrypted"),
    (0, b"ORC", "orc"),
    (0, b"PBLR\x01", "blob_references"),
    (0, b"VTXF", "vortex"),
    # with bytes of the footer that are zero: text may end with these letters
    (-7, b"\0\0\0SWOR", "row"),
    (-6, b"\0\0MOSA", "mosaic"),
    (-5, b"\0LANC", "lance"),
    (-6, b"\0IDEO\x01", "video"),
    (-6, b"\0IDEO\x02", "video"),
    (0, b"\x1f\x8b", "gzip"),
    (0, b"\x28\xb5\x2f\xfd", "zstd"),
    (-4, b"ORC", "orc"),
)
_BLANKS = b" \t\r\n"
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x01\x02\x03\x1b")  # Hive separates fields by 01, 02 and 03


def sniff(head: bytes, tail: bytes = b"") -> Sniffed:
    """What a file is, from its first bytes (16 or more are enough, more recognise text better) and its last ones if at hand.

    The tail decides where the head cannot: an ORC file may begin with anything, and a Parquet file whose footer is
    encrypted says so at its end. Text is UTF-8 without control characters. Never raises.

    >>> sniff(b"Obj\\x01..."), sniff(b"  {"), sniff(b""), sniff(b"1\\x01a\\n"), sniff(b"\\xff\\x00")
    ('avro', 'json', 'empty', 'text', 'unknown')
    """
    if not head and not tail:
        return "empty"
    for at, magic, kind in MAGICS:
        data, place = (head, at) if at >= 0 else (tail, len(tail) + at)
        if place >= 0 and data.startswith(magic, place) and (at != 5 or head[0] == 1):  # 01 is a version
            return kind
    if head.removeprefix(codecs.BOM_UTF8).lstrip(_BLANKS)[:1] in (b"{", b"["):
        return "json"
    return "text" if _is_text(head) else "unknown"


def _is_text(head: bytes) -> bool:
    if any((byte < 0x20 and byte not in _TEXT_CONTROLS) or byte == 0x7F for byte in head):
        return False
    try:
        # incremental: a character that is cut at the end of the head is no error
        codecs.getincrementaldecoder("utf-8")().decode(head)
    except UnicodeDecodeError:
        return False
    return True


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
        """Load the function that explains bytes of this kind."""
        module = self.module if self.name in _BROUGHT else f"lakelens.codecs.{self.module}"
        explainer: Callable[..., Span] = getattr(import_module(module), f"explain_{self.name}")
        return explainer

    def fits(self, data: Octets) -> bool:
        """Check whether bytes have a magic of this kind."""
        places = ((at if at >= 0 else max(0, len(data) + at), magic) for at, magic in self.magics)
        return any(bytes(data[at : at + len(magic)]) == magic for at, magic in places)


_TABLE = (
    Kind("aes_gcm_stream", "text.envelopes", "Encrypted file", is_self_describing=True),
    Kind("avro", "avro.spans", "Avro file"),
    Kind("avro_record", "avro.spans", needs=("schema",)),
    Kind("bare_vector", "bitmaps.deletion_vector"),
    Kind("binary_row", "paimon.row_spans"),
    Kind("binary_array", "paimon.row_spans", needs=("element",)),
    Kind("binary_map", "paimon.row_spans", needs=("key", "value")),
    Kind("blob", "paimon.blob"),
    Kind("blob_references", "paimon.blob", "Blob references", is_self_describing=True),
    Kind("crc", "text.envelopes", "Checksum file", is_self_describing=True),
    Kind("deletion_vector", "bitmaps.deletion_vector"),
    Kind("file_index", "paimon.index.file_index_spans"),
    Kind("global_index", "paimon.index.global_index_spans"),
    Kind("gzip", "text.envelopes", "gzip file", is_self_describing=True),
    Kind("hash_index", "bitmaps.deletion_vector"),
    Kind("iceberg_value", "iceberg.value", needs=("type",)),
    Kind("index_meta", "paimon.index.global_index_meta_spans"),
    Kind("json", "text.json_spans", "JSON document", is_self_describing=True),
    Kind("json_lines", "text.text_spans", "JSON lines", is_self_describing=True),
    Kind("lance", "paimon.known_file_spans", "Lance file", is_self_describing=True, is_decoded=False),
    Kind("mosaic", "paimon.known_file_spans", "Mosaic file", is_self_describing=True, is_decoded=False),
    Kind("orc", "orc.spans", "ORC file", is_self_describing=True),
    Kind("paimon_dv_index", "bitmaps.deletion_vector"),
    Kind("parquet", "parquet.spans", "Parquet file", is_self_describing=True),
    Kind("puffin", "iceberg.puffin_spans", "Puffin file"),
    Kind("roaring32", "bitmaps.roaring_spans"),
    Kind("roaring64", "bitmaps.roaring_spans"),
    Kind("row", "paimon.known_file_spans", "Row file", is_self_describing=True, is_decoded=False),
    Kind("source_meta", "paimon.index.global_index_meta_spans"),
    Kind("text", "text.text_spans", "Text file", is_self_describing=True),
    Kind("theta_sketch", "iceberg.puffin_spans"),
    Kind("unknown", "text.text_spans", "File"),
    Kind("variant", "variant"),
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
    """Find the kind of a name. Raises `ValueError` when there is none.

    >>> find_kind("orc").noun
    'ORC file'
    """
    if name not in KINDS:
        raise ValueError(f"{name!r} is no kind of bytes: one of {', '.join(KINDS)}")
    return KINDS[name]


def explain(data: Octets, kind: str, start: int = 0, end: int | None = None, /, **context: Any) -> Span:
    """Give the tree of spans of `data[start:end]`, explained as `kind`.

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
    """Choose the kind of a whole file, from its first and last bytes; the name decides only where bytes cannot.

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
    """Check whether the first line is a document of its own and more follows it: rows as JSON, as engines write them."""
    head = bytes(data[: 1 << 20])
    line, _, rest = head.partition(b"\n")
    if not rest.strip():
        return False
    try:
        return isinstance(json.loads(line), dict | list)
    except (ValueError, RecursionError):
        return False
