"""Searching annotated bytes: by the name of a field, by its value as text, or by bytes written in hex.

A tree of spans may be endless and is made while it is walked: a search goes on from hit to hit and pauses in between, so
that who asked can stop it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TypeAlias

from lakelens.codecs.span.span import Octets, Span
from lakelens.errors import LakeError
from lakelens.model.bytes_view import is_field
from lakelens.views.hexdump.lines import format_value

Place: TypeAlias = tuple[str, int, int]  # the call that leads to the bytes, first byte, byte after the last
Trail: TypeAlias = tuple[Place, ...]  # from the whole down to one span

_HEX = re.compile(r"0x(?:[0-9a-f]{2})+|[0-9a-f]{2}(?: [0-9a-f]{2})+", re.IGNORECASE)
_MOST_UNPACKED = 1 << 20  # compressed bytes that a search decompresses
_MOST_BYTES = 1 << 24  # of one field that a search looks through
_DEEPEST = 100


def parse_hex(words: str) -> bytes | None:
    """The bytes that are meant by `0x5041` or `50 41`; None for words.

    >>> parse_hex("0x5041"), parse_hex("50 41"), parse_hex("cafe")
    (b'PA', b'PA', None)
    """
    return bytes.fromhex(words.removeprefix("0x").removeprefix("0X")) if _HEX.fullmatch(words) else None


def parse_offset(text: str, origin: int = 0) -> int:
    """The byte that a reader names: from the first byte, or with a sign from `origin`, as the "at" column counts.

    >>> parse_offset("28"), parse_offset("0x1c"), parse_offset("+24", 4), parse_offset("−4", 4)
    (28, 28, 28, 0)

    Raises `ValueError` for what is no number.
    """
    cleaned = text.strip().replace("−", "-").replace(",", "").replace("_", "")
    if len(cleaned) > 20:
        raise ValueError(f"{text[:20]}… is no offset")
    return int(cleaned, 0) + (origin if cleaned[:1] in ("+", "-") else 0)


def search(root: Span, data: Octets, words: str) -> Iterator[Trail | None]:
    """Trails of fields and structures in the order of bytes; None as often as one was looked at that is no hit.

    Decompressed content is searched too, at its place.
    """
    octets = parse_hex(words)
    start: Trail = (("", root.start, root.end),)
    if is_field(root):
        yield start if _matches(root, data, words.lower(), octets) else None
        if root.is_packed:
            yield from _search_packed(root, start, words.lower(), octets)
    else:
        yield from _walk(root, data, start, words.lower(), octets)


def _walk(span: Span, data: Octets, trail: Trail, words: str, octets: bytes | None) -> Iterator[Trail | None]:
    for child in span.iter_children():
        below = (*trail, (trail[-1][0], child.start, child.end))
        is_last = is_field(child)
        if is_last or octets is None:
            yield below if _matches(child, data, words, octets) else None
        if child.is_packed:
            yield from _search_packed(child, below, words, octets)
        elif not is_last and len(trail) < _DEEPEST:
            yield from _walk(child, data, below, words, octets)


def _search_packed(packed: Span, trail: Trail, words: str, octets: bytes | None) -> Iterator[Trail | None]:
    if len(packed) > _MOST_UNPACKED or len(trail) >= _DEEPEST:
        return
    try:
        data, inner = packed.unpack()
    except LakeError:  # the dump says so at its place
        return
    place = (f"{trail[-1][0]}.unpacked({packed.start})", inner.start, inner.end)
    if inner.is_leaf:
        yield (*trail, place) if _matches(inner, data, words, octets) else None
    else:
        yield from _walk(inner, data, (*trail, place), words, octets)


def _matches(span: Span, data: Octets, words: str, octets: bytes | None) -> bool:
    if octets is not None:  # they may go on in the next field
        end = min(len(data), span.end + len(octets) - 1, span.start + _MOST_BYTES)
        return octets in bytes(data[span.start : end])
    if words in span.label.lower():
        return True
    if not is_field(span):
        return False
    parts = () if span.is_leaf else span.iter_children()
    return any(words in _write_value(one).lower() for one in (span, *parts))


def _write_value(span: Span) -> str:
    """The value as it is shown; a text whole, although the dump cuts it."""
    try:
        value = None if span.role == "null" else span.value
    except LakeError:
        value = None
    return value[:_MOST_BYTES] if isinstance(value, str) else format_value(span)
