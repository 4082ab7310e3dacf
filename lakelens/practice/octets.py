"""A few bytes by name, for those who write a BinaryRow by hand: `be4(3)`, `le8(1)`, `pad8(b"text")`, and what a dump prints.

>>> be4(3).hex(" "), le4(-20).hex(" "), le8(1).hex(" ")
('00 00 00 03', 'ec ff ff ff', '01 00 00 00 00 00 00 00')
"""

from __future__ import annotations

import json

_WORD = 8


def be4(number: int) -> bytes:
    """A signed number as 4 bytes, the most significant first: the arity of a row.

    >>> be4(2).hex()
    '00000002'
    """
    return number.to_bytes(4, "big", signed=True)


def le4(number: int) -> bytes:
    """A signed number as 4 bytes, the least significant first.

    >>> le4(300).hex()
    '2c010000'
    """
    return number.to_bytes(4, "little", signed=True)


def le8(number: int) -> bytes:
    """A signed number as 8 bytes, the least significant first: a slot.

    >>> le8(-2).hex()
    'feffffffffffffff'
    """
    return number.to_bytes(8, "little", signed=True)


def pad8(data: bytes) -> bytes:
    """Bytes with zeros after them, up to a multiple of 8: a slot of a small number, an item of the variable part.

    >>> pad8(b"Rotterdam").hex(), pad8(b"")
    ('526f7474657264616d00000000000000', b'')
    """
    return data.ljust(-(-len(data) // _WORD) * _WORD, b"\0")


def dump_bytes(data: bytes) -> str:
    r"""Bytes as an Avro tool prints them in JSON: each byte is the character of that number.

    >>> print(dump_bytes(bytes.fromhex("0100000061")))
    "\u0001\u0000\u0000\u0000a"
    """
    return json.dumps(data.decode("latin-1"))
