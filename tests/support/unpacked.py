"""The packaged samples, and tables that are kept as archives, as directories, for tests that open them by path."""

from __future__ import annotations

import atexit
import shutil
import tarfile
import tempfile
from functools import cache
from pathlib import Path

from lakelens.samples import sample


@cache
def unpack_samples() -> Path:
    """A directory with every sample below it by name, made once in a process and removed when it ends."""
    place = Path(tempfile.mkdtemp(prefix="lakelens-test-samples-"))
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    for one in sample():
        one.unpack(place)
    return place


def unpack_archive(archive: Path, folder: Path) -> Path:
    """Unpack an archive of our own below a directory, each file as old as it was, and give the directory."""
    with tarfile.open(archive) as packed:
        # Python 3.11.3 and older have no filters
        packed.extraction_filter = getattr(tarfile, "data_filter", lambda member, path: member)
        packed.extractall(folder)
    return folder
