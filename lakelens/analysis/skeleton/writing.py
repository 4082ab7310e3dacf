"""Where a skeleton may be written, and how: only below a directory that is empty or not there, never inside a table."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path, PurePosixPath

from lakelens.errors import LakeError
from lakelens.progress import track
from lakelens.whole import writing


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


def make_beside(target: Path) -> tempfile.TemporaryDirectory[str]:
    """A directory on the same file system as a target, for what is tried out. Raises `NotWritten`."""
    with writing(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        return tempfile.TemporaryDirectory(prefix=f".{target.name}-", dir=target.parent)


def write_files(target: Path, files: Iterable[tuple[str, bytes]]) -> int:
    """Write files below a directory, each of which must not be there yet; gives their bytes.

    Raises `NotWritten` where that cannot be done; whatever is raised, what was written until then is removed again.
    """
    total, is_new = 0, not target.exists()
    made: list[Path] = []
    try:
        with writing(target):
            target.mkdir(parents=True, exist_ok=True)
            for relative, data in track(files, "files of the skeleton"):
                parts = PurePosixPath(relative).parts
                if not parts or ".." in parts or relative.startswith("/"):
                    raise LakeError(f"a path that is not below the skeleton: {relative}", path=str(target))
                path = target.joinpath(*parts)
                path.parent.mkdir(parents=True, exist_ok=True)
                with path.open("xb") as file:
                    made.append(path)
                    file.write(data)
                total += len(data)
    except BaseException:
        _remove(made, target, with_target=is_new)
        raise
    return total


def _remove(made: Iterable[Path], target: Path, *, with_target: bool) -> None:
    """Remove files, and the directories below a target that are empty without them."""
    folders = {target} if with_target else set()
    for path in made:
        folders.update(folder for folder in path.parents if target in folder.parents)
        with suppress(OSError):
            path.unlink()
    for folder in sorted(folders, key=lambda folder: -len(folder.parts)):
        with suppress(OSError):
            folder.rmdir()
