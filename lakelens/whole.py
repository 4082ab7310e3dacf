"""What a user asks to be written, pages and pictures: each is whole, or is not there, and an earlier one stays as it was."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from lakelens.errors import LakeError


class NotWritten(LakeError):
    """Something cannot be written: the disk is full, or nothing may be written there."""


@contextmanager
def writing(path: str | os.PathLike[str]) -> Iterator[None]:
    """Turns what the operating system says about writing into `NotWritten`."""
    try:
        yield
    except OSError as error:
        raise NotWritten(f"cannot be written: {error.strerror or error}", path=os.fspath(path)) from error


def write_whole(path: str | os.PathLike[str], data: bytes) -> None:
    """Write a file; one that is there is replaced once the new one is whole. Raises `NotWritten`.

    >>> import tempfile
    >>> place = Path(tempfile.mkdtemp(), "page.html")
    >>> write_whole(place, b"<p>")
    >>> place.read_bytes(), len(list(place.parent.iterdir()))
    (b'<p>', 1)
    """
    with writing(path):
        place = Path(path).resolve()
        if place.exists() and not place.is_file():  # a pipe or a device is written to, not replaced
            place.write_bytes(data)
            return
        unfinished = place.with_name(f".{place.name[:100]}-{secrets.token_hex(8)}.new")
        try:
            with unfinished.open("xb") as file:
                file.write(data)
            if place.exists():
                unfinished.chmod(place.stat().st_mode & 0o777)
            unfinished.replace(place)
        except BaseException:
            unfinished.unlink(missing_ok=True)
            raise
