"""Z85: bytes as printable text, five characters for four bytes (ZeroMQ RFC 32).

word of 4 bytes, big-endian  =  c0 * 85^4 + c1 * 85^3 + c2 * 85^2 + c3 * 85 + c4
"""

from __future__ import annotations

import struct

from lakelens.errors import Corrupt

_ALPHABET = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"
_DIGITS = {letter: digit for digit, letter in enumerate(_ALPHABET)}


def decode_z85(text: str, path: str | None = None) -> bytes:
    """Decode Z85: five characters for four bytes. Raises `Corrupt`.

    >>> decode_z85("HelloWorld").hex()
    '864fd26fb559f75b'
    """
    if len(text) % 5:
        raise Corrupt("Z85 has five characters for four bytes", path=path, seen=f"{len(text)} characters")
    words = []
    for place in range(0, len(text), 5):
        number = 0
        for letter in text[place : place + 5]:
            if letter not in _DIGITS:
                raise Corrupt("no character of Z85", path=path, expected=_ALPHABET[:20] + "…", seen=letter)
            number = number * 85 + _DIGITS[letter]
        if number >= 2**32:
            raise Corrupt("Z85 of more than 32 bits", path=path, seen=text[place : place + 5])
        words.append(number)
    return struct.pack(f">{len(words)}I", *words)


def encode_z85(data: bytes) -> str:
    """Encode bytes as Z85, filled up with zeros to a multiple of four.

    >>> encode_z85(bytes.fromhex("864fd26fb559f75b")), encode_z85(b"")
    ('HelloWorld', '')
    """
    made = []
    for place in range(0, len(data), 4):
        number = int.from_bytes(data[place : place + 4].ljust(4, b"\0"), "big")
        made += [_ALPHABET[number // 85**power % 85] for power in (4, 3, 2, 1, 0)]
    return "".join(made)
