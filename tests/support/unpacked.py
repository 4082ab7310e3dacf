"""The packaged samples as directories, for tests that open them by path."""

from __future__ import annotations

import atexit
import shutil
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
