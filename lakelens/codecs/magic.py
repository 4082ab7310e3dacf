"""What a file is, by its first and last bytes: never by its name, never by an option of the table.

PAR1 … PAR1   Parquet      PARE at either end   Parquet, footer encrypted    ORC … "ORC" + length   ORC
Obj 01        Avro         PFA1 … PFA1          Puffin                       AGS1                   Iceberg AES-GCM
1F 8B         gzip         28 B5 2F FD          zstd                         { or [                 JSON
crc 00        checksums    … ITBP or BGIX, 00 05 4E 4E D0 1A 35 AE, 01 size 5E 43 F2 D0              Paimon's indexes
PBLR          references   … SWOR Row, … MOSA Mosaic, … LANC Lance, VTXF Vortex, … IDEO video         known data files
"""

from __future__ import annotations

import codecs
from typing import Literal

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
