"""Build the wheel and the sdist, and try both in fresh environments.

    python -m tests.release.dist [DIRECTORY]

Both are built twice, with the time of the last commit, and have to be the same bytes; so has the wheel that the sdist
gives. Then each is installed with the pins of `requirements.lock`, the wheel without any extra and the sdist with
`notebook`, and `tests/release/installed.py` runs there, away from the checkout.
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements.lock"
CHECK = Path(__file__).with_name("installed.py")
# what a person's shell may have set, and what would let the checkout be imported in place of what is installed
LEAKS = ("PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV", "CONDA_PREFIX")


def main(arguments: list[str]) -> int:
    """Leave both in the directory; 0 when every check passed."""
    target = Path(arguments[0] if arguments else ROOT / "dist").resolve()
    with tempfile.TemporaryDirectory(prefix="lakelens-dist-") as folder:
        work = Path(folder)
        built = build_twice(ROOT, work)
        compare_with_sdist(built, work)
        wheel, sdist = (next(path for path in built if path.suffix == suffix) for suffix in (".whl", ".gz"))
        try_installed(wheel, "", work / "of-wheel")
        try_installed(sdist, "notebook", work / "of-sdist")
        target.mkdir(parents=True, exist_ok=True)
        for path in built:
            shutil.copy(path, target / path.name)
            print(f"lakelens: {target / path.name} ({path.stat().st_size:,} bytes, sha256 {hash_file(path)})")
    return 0


def build_twice(source: Path, work: Path) -> list[Path]:
    """The sdist and the wheel of a source tree, which a second build gives again byte by byte."""
    first, second = (build(source, work / name) for name in ("first", "second"))
    for one, other in zip(first, second, strict=True):
        if hash_file(one) != hash_file(other):
            raise SystemExit(f"lakelens: two builds of {one.name} differ")
    return first


def compare_with_sdist(built: list[Path], work: Path) -> None:
    """The wheel that the sdist gives is the one that the checkout gives."""
    sdist, wheel = sorted(built, key=lambda path: path.suffix)
    with tarfile.open(sdist) as archive:
        # Python before 3.11.4 has no filters; the archive is our own
        filters: dict[str, Any] = {"filter": "data"} if hasattr(tarfile, "data_filter") else {}
        archive.extractall(work / "unpacked", **filters)
    (source,) = (work / "unpacked").iterdir()
    again = [path for path in build(source, work / "again") if path.suffix == ".whl"]
    if [hash_file(path) for path in again] != [hash_file(wheel)]:
        raise SystemExit(f"lakelens: {sdist.name} does not give {wheel.name}")


def build(source: Path, target: Path) -> list[Path]:
    """Build both with the pinned hatchling of this environment."""
    command = [sys.executable, "-m", "hatchling", "build", "-t", "sdist", "-t", "wheel", "-d", str(target)]
    run(command, cwd=source, environment={"SOURCE_DATE_EPOCH": read_commit_time()}, is_quiet=True)
    return sorted(path for path in target.iterdir() if path.suffix in (".whl", ".gz"))


def read_commit_time() -> str:
    """Seconds of the last commit, which every checkout of it has; of a plain copy, those of zip's first day."""
    found = subprocess.run(
        ["git", "log", "-1", "--format=%ct"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return found.stdout.strip() or "315532800"


def try_installed(distribution: Path, extra: str, work: Path) -> None:
    """Install a distribution into an environment of its own and run the check in an empty directory."""
    print(f"lakelens: trying {distribution.name}{f' with {extra}' if extra else ''}", flush=True)
    work.mkdir()
    python = work / "env" / "bin" / "python"
    run([*find_uv(), "venv", "--quiet", "--python", sys.executable, str(work / "env")])
    wanted = f"lakelens[{extra}] @ {distribution.as_uri()}" if extra else str(distribution)
    pins = ["--constraints", str(LOCK), "--build-constraints", str(LOCK)]
    run([*find_uv(), "pip", "install", "--quiet", "--python", str(python), *pins, wanted])
    with away() as empty:
        run([str(python), "-I", str(CHECK), *([extra] if extra else [])], cwd=empty)


def find_uv() -> list[str]:
    """The pinned uv of this environment, else the one on the path."""
    beside = Path(sys.executable).with_name("uv")
    return [str(beside if beside.exists() else shutil.which("uv") or "uv")]


@contextmanager
def away() -> Iterator[Path]:
    """An empty directory, so that nothing of the checkout is found by chance."""
    with tempfile.TemporaryDirectory(prefix="lakelens-away-") as folder:
        yield Path(folder)


def run(
    command: list[str],
    cwd: Path | None = None,
    environment: Mapping[str, str] | None = None,
    *,
    is_quiet: bool = False,
) -> None:
    """Run a command with none of this process's Python settings. Raises SystemExit with its words where it fails."""
    kept = {name: value for name, value in os.environ.items() if name not in LEAKS}
    words = subprocess.PIPE if is_quiet else None
    ended = subprocess.run(
        command,
        cwd=cwd,
        env={**kept, **(environment or {})},
        check=False,
        stdout=words,
        stderr=words,
        text=True,
    )
    if ended.returncode:
        print(ended.stdout or "", ended.stderr or "", file=sys.stderr)
        raise SystemExit(f"lakelens: {' '.join(command[:4])} … ended with {ended.returncode}")


def hash_file(path: Path) -> str:
    """The SHA-256 of a file."""
    return hashlib.sha256(path.read_bytes()).hexdigest()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
