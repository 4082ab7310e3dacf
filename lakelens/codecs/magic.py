"""What a file is, by its first and last bytes: never by its name, never by an option of the table.

PAR1 … PAR1   Parquet       PARE at either end   Parquet with an encrypted footer     ORC … "ORC" + length   ORC
Obj 01        Avro          PFA1 … PFA1          Puffin                               AGS1                   Iceberg AES-GCM
1F 8B         gzip          28 B5 2F FD          zstd                                 { or [                 JSON
"""

from __future__ import annotations

import codecs
from typing import Literal

Kind = Literal[
    "parquet",
    "parquet-encrypted",
    "orc",
    "avro",
    "puffin",
    "json",
    "gzip",
    "zstd",
    "ags1-encrypted",
    "text",
    "empty",
    "unknown",
]

_HEADS: tuple[tuple[bytes, Kind], ...] = (
    (b"PAR1", "parquet"),
    (b"PARE", "parquet-encrypted"),
    (b"Obj\x01", "avro"),
    (b"PFA1", "puffin"),
    (b"AGS1", "ags1-encrypted"),
    (b"ORC", "orc"),
    (b"\x1f\x8b", "gzip"),
    (b"\x28\xb5\x2f\xfd", "zstd"),
)
_BLANKS = b" \t\r\n"
_TEXT_CONTROLS = frozenset(b"\t\n\r\f\x01\x02\x03\x1b")  # Hive separates fields by 01, 02 and 03


def sniff(head: bytes, tail: bytes = b"") -> Kind:
    """What a file is, from its first bytes (16 or more are enough, more tell text better) and its last ones if at hand.

    The tail decides where the head cannot: an ORC file may begin anyhow, and a Parquet file whose footer is encrypted
    says so at its end. Text is UTF-8 without control characters. Never raises.

    >>> sniff(b"Obj\\x01..."), sniff(b"  {"), sniff(b""), sniff(b"1\\x01a\\n"), sniff(b"\\xff\\x00")
    ('avro', 'json', 'empty', 'text', 'unknown')
    """
    if not head and not tail:
        return "empty"
    if tail[-4:] == b"PARE":
        return "parquet-encrypted"
    for magic, kind in _HEADS:
        if head.startswith(magic):
            return kind
    if tail[-4:-1] == b"ORC":
        return "orc"
    if head.removeprefix(codecs.BOM_UTF8).lstrip(_BLANKS)[:1] in (b"{", b"["):
        return "json"
    return "text" if _is_text(head) else "unknown"


def _is_text(head: bytes) -> bool:
    if any((byte < 0x20 and byte not in _TEXT_CONTROLS) or byte == 0x7F for byte in head):
        return False
    try:
        codecs.getincrementaldecoder("utf-8")().decode(
            head
        )  # a character cut at the end of the head is no error
    except UnicodeDecodeError:
        return False
    return True
