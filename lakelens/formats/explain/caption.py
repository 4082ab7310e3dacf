"""The captions above the bytes of explanations."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Caption:
    """The texts above the bytes of an explanation; see `Explanation`."""

    what: str = ""
    summary: str = ""
    place: str = ""
    details: str = ""


def count_bytes(size: int) -> str:
    """A number of bytes with its noun.

    >>> count_bytes(1), count_bytes(12345)
    ('1 byte', '12,345 bytes')
    """
    return "1 byte" if size == 1 else f"{size:,} bytes"


def join_clauses(*parts: str | None) -> str:
    """Clauses separated by commas, empty ones left out.

    >>> join_clauses("entry 0 of m0", None, "", "bucket 0")
    'entry 0 of m0, bucket 0'
    """
    return ", ".join(part for part in parts if part)


def name_file(path: str | None) -> str:
    """The last component of a path.

    >>> name_file("/t/manifest/m-0")
    'm-0'
    """
    return (path or "").rpartition("/")[2]
