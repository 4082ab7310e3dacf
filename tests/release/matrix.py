"""The unit tests under every Python of this machine from 3.11 on, and which ones were left out.

    python -m tests.release.matrix [PYTEST ARGUMENT ...]

Each Python has an environment of its own in `.venv-matrix`, made of the pins of `requirements.lock`; none is downloaded.
Without arguments every test that needs neither Spark nor a browser runs, one Python after the other. `make matrix` goes on
with PySpark 4.1 and with the hosts of notebooks.
"""

from __future__ import annotations

import hashlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from tests.release.dist import LOCK, ROOT, find_uv

HOME = ROOT / ".venv-matrix"
NOT_HERE = ("not spark", "--ignore=tests/browser")


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one Python: `is_good` is None where it was left out."""

    version: str
    is_good: bool | None
    words: str

    def __str__(self) -> str:
        mark = {True: "passed", False: "FAILED", None: "left out"}[self.is_good]
        return f"Python {self.version:6} {mark:9} {self.words}"


def main(arguments: list[str]) -> int:
    """Run every Python; 1 if one of them failed."""
    outcomes = [try_python(version, arguments) for version in list_versions()]
    print("lakelens: the matrix")
    for outcome in outcomes:
        print(f"  {outcome}")
    return int(any(outcome.is_good is False for outcome in outcomes))


def list_versions() -> list[str]:
    """The versions that pyproject.toml names.

    >>> list_versions()[0]
    '3.11'
    """
    text = (ROOT / "pyproject.toml").read_text("utf-8")
    return re.findall(r'"Programming Language :: Python :: (3\.\d+)"', text)


def try_python(version: str, arguments: list[str]) -> Outcome:
    """Make the environment of a Python where it is not there yet, and run the tests in it."""
    interpreter = find_python(version)
    if interpreter is None:
        return Outcome(version, None, "no such Python on this machine")
    print(f"lakelens: tests under Python {version} ({interpreter})", flush=True)
    python = choose_interpreter(version)
    if said := make_environment(interpreter, python):
        return Outcome(version, False, f"its packages cannot be installed: {said}")
    marker, ignored = NOT_HERE
    chosen = arguments or [ignored, "tests", "lakelens"]
    command = [str(python), "-m", "pytest", "-p", "no:cacheprovider", "-m", marker, *chosen]
    with subprocess.Popen(command, cwd=ROOT, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        last = ""
        for line in process.stdout:
            print(line, end="", flush=True)
            last = line.strip() or last
    return Outcome(version, process.returncode == 0, last)


def choose_interpreter(version: str) -> Path:
    """Where the environment of a Python has its interpreter."""
    return HOME / version / "bin" / "python"


def find_python(version: str) -> str | None:
    """The path of an interpreter of the machine: one that uv finds, else one that pyenv keeps."""
    command = [*find_uv(), "python", "find", "--no-project", "--no-python-downloads", "--system", version]
    environment = {name: value for name, value in os.environ.items() if name != "VIRTUAL_ENV"}
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, cwd=ROOT)
    if found.stdout.strip():
        return found.stdout.strip()
    kept = Path(os.environ.get("PYENV_ROOT") or Path.home() / ".pyenv") / "versions"
    return next(
        (str(one) for one in sorted(kept.glob(f"{version}.*/bin/python{version}"), reverse=True)), None
    )


def make_environment(interpreter: str, python: Path) -> str:
    """What went wrong, if anything; an environment of the same pins is taken as it is."""
    stamp = python.parent.parent / ".pins"
    pins = hashlib.sha256(LOCK.read_bytes() + (ROOT / "pyproject.toml").read_bytes()).hexdigest()
    if stamp.exists() and stamp.read_text() == pins:
        return ""
    install = [*find_uv(), "pip", "install", "--quiet", "--python", str(python)]
    for command in (
        [*find_uv(), "venv", "--quiet", "--clear", "--python", interpreter, str(python.parent.parent)],
        [*install, "--require-hashes", "-r", str(LOCK)],
        [*install, "--no-deps", "--no-build-isolation", "-e", str(ROOT)],
    ):
        ended = subprocess.run(command, capture_output=True, text=True, check=False)
        if ended.returncode:
            return " ".join(ended.stderr.split())[-300:]
    stamp.write_text(pins)
    return ""


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
