"""Where a skeleton may be written, and how: only below a directory that is empty or not there, never inside a table."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

from lakelens.errors import LakeError
from lakelens.progress import track


def find_target(target: str | os.PathLike[str], location: str) -> Path:
    """The directory that a skeleton is written to, with every link resolved.

    Raises `LakeError` for one that holds anything, that is no directory, or that is in the table (or the table in it).
    """
    text = os.fspath(target)
    if "://" in text or "\0" in text or not text:
        raise LakeError(
            "a skeleton is written to a directory of this machine", path=text, hint="a local path"
        )
    found = Path(text).expanduser().resolve()
    table = Path(location).resolve()
    if found == table or table in found.parents or found in table.parents:
        message = f"is inside the table or around it ({table}): nothing is written there"
        raise LakeError(message, path=str(found), hint="a directory elsewhere")
    if found.exists() and not found.is_dir():
        raise LakeError("is not a directory", path=str(found), hint="a directory that is not there yet")
    if found.is_dir() and any(found.iterdir()):
        raise LakeError("is not empty", path=str(found), hint="a directory that is not there yet")
    return found


def write_files(target: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write files below a directory, each of which must not be there yet; gives their bytes."""
    total = 0
    try:
        target.mkdir(parents=True, exist_ok=True)
        for relative, data in track(files, "files of the skeleton"):
            parts = PurePosixPath(relative).parts
            if not parts or ".." in parts or relative.startswith("/"):
                raise LakeError(f"a path that is not below the skeleton: {relative}", path=str(target))
            path = target.joinpath(*parts)
            path.parent.mkdir(parents=True, exist_ok=True)
            with path.open("xb") as file:
                file.write(data)
            total += len(data)
    except OSError as error:
        raise LakeError(f"cannot be written: {error.strerror or error}", path=str(target)) from error
    return total
