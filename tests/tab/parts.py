"""What the tests of a tab run in: the runtime that a tab has, and its packages with those that tests need.

    python -m tests.tab.parts [DIRECTORY]

Fetches what is not there yet and prints where it is; all of it is kept in `build/tab`.
"""

from __future__ import annotations

import sys
from pathlib import Path

from lakelens.tab.parts import Gathered, gather, make_archive

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LOCK = HERE / "packages.lock"


def gather_for_tests(folder: Path = ROOT / "build" / "tab") -> Gathered:
    """Fetch what is not there yet. Raises `NotFetched`."""
    return gather(folder, LOCK.read_text())


def archive_code() -> bytes:
    """Put the package and what walks it into an archive, as they are in this checkout."""
    own = (
        path for path in (ROOT / "lakelens").rglob("*") if path.is_file() and "__pycache__" not in path.parts
    )
    tests = (
        ROOT / "tests" / name
        for name in (
            "__init__.py",
            "support/__init__.py",
            "support/light.py",
            "tab/__init__.py",
            "tab/walk.py",
        )
    )
    paths = sorted({*own, *tests})
    return make_archive((path.relative_to(ROOT).as_posix(), path.read_bytes()) for path in paths)


if __name__ == "__main__":
    print(*vars(gather_for_tests(*map(Path, sys.argv[1:]))).values(), sep="\n")
