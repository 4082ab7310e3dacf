"""`python -m website.lab FOLDER PARTS`: make the folder; what is fetched for it is kept in PARTS."""

from __future__ import annotations

import hashlib
import io
import json
import shutil
import subprocess
import sys
import tempfile
import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import nbformat

import lakelens
from lakelens.errors import LakeError
from lakelens.tab.parts import Gathered, gather, make_archive
from website.lab import CHAPTERS
from website.repository import ROOT

_KERNEL = "@jupyterlite/pyodide-kernel-extension"
# what the kernel asks for by name once it is started: all of it is in one archive, and each name leads there;
# jedi, which it can do without, is not
_ASKED = ("micropip", "piplite", "ipykernel", "comm", "pyodide-kernel", "jedi", "ipython")
_ALL = "lakelens-course"


def make_lab(folder: Path, parts: Path) -> None:
    """Make the folder, or make it again. Raises `LakeError` where something is not available."""
    gathered = gather(parts, (ROOT / "website" / "lab" / "packages.lock").read_text("utf-8"))
    extension = Path(sys.prefix, "share", "jupyter", "labextensions", *_KERNEL.split("/"))
    shutil.rmtree(folder, ignore_errors=True)
    with tempfile.TemporaryDirectory() as scratch:
        contents = Path(scratch, "contents")
        contents.mkdir()
        for name in CHAPTERS:
            (contents / f"{name}.ipynb").write_text(_clear(name), "utf-8")
        config = {
            "LiteBuildConfig": {
                "apps": ["notebooks", "lab"],
                "contents": [str(contents)],
                "federated_extensions": [str(extension)],
                "ignore_sys_prefix": ["federated_extensions"],
                "no_sourcemaps": True,
                "output_dir": str(folder.resolve()),
            }
        }
        Path(scratch, "jupyter_lite_config.json").write_text(json.dumps(config))
        command = [sys.executable, "-m", "jupyterlite_core", "build", "--no-libarchive"]
        done = subprocess.run(command, cwd=scratch, capture_output=True, text=True, check=False)
    if done.returncode:
        raise LakeError(f"JupyterLite was not made: {(done.stderr or done.stdout)[-2000:]}")
    _add_runtime(folder, gathered, extension / "static" / "pypi")
    _lead_to_runtime(folder / "jupyter-lite.json")


def _clear(name: str) -> str:
    """Give a notebook without its outputs, for the kernel that the browser has."""
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    for cell in notebook.cells:
        if cell.cell_type == "code":
            cell.outputs, cell.execution_count = [], None
    notebook.metadata["kernelspec"] = {"name": "python", "display_name": "Python", "language": "python"}
    written: str = nbformat.writes(notebook)
    return written


def _add_runtime(folder: Path, gathered: Gathered, wheels: Path) -> None:
    """Add Python and one archive of all packages, under each name that the kernel asks for."""
    target = folder / "pyodide"
    shutil.copytree(gathered.runtime, target)
    files = [*_read_zip(gathered.packages), *_list_code()]
    for wheel in sorted(wheels.glob("*.whl")):
        if wheel.name.startswith(("piplite", "pyodide_kernel", "ipykernel")):
            files += _read_zip(wheel)
    known = json.loads((target / "pyodide-lock.json").read_text())
    packages = {_ALL: _write_package(target, _ALL, files, [])}
    packages |= {name: _write_package(target, name, [], [_ALL]) for name in _ASKED}
    (target / "pyodide-lock.json").write_text(json.dumps({"info": known["info"], "packages": packages}))


def _write_package(folder: Path, name: str, files: list[tuple[str, bytes]], depends: list[str]) -> Any:
    """Write a package as Pyodide takes it, and what its list says of it."""
    file = f"{name.replace('-', '_')}-{lakelens.__version__}-py3-none-any.whl"
    content = make_archive(files)
    (folder / file).write_bytes(content)
    return {
        "name": name, "version": lakelens.__version__, "file_name": file, "install_dir": "site", "package_type": "package",
        "sha256": hashlib.sha256(content).hexdigest(), "imports": [], "depends": depends, "unvendored_tests": False,
    }  # fmt: skip


def _read_zip(path: Path) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(path.read_bytes())) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                yield entry.filename, archive.read(entry)


def _list_code() -> Iterator[tuple[str, bytes]]:
    """List the files of lakelens that a notebook may ask for."""
    root = Path(lakelens.__file__).parent
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        if (
            path.is_file()
            and "__pycache__" not in relative.parts
            and relative.parts[0] not in ("cli", "spark", "tab")
        ):
            yield f"lakelens/{relative.as_posix()}", path.read_bytes()


def _lead_to_runtime(settings: Path) -> None:
    """Have the kernel take Python and packages from here, and ask no index for others."""
    said = json.loads(settings.read_text())
    plugin = (
        said["jupyter-config-data"].setdefault("litePluginSettings", {}).setdefault(f"{_KERNEL}:kernel", {})
    )
    plugin |= {
        "pyodideUrl": "./pyodide/pyodide.mjs",
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"lockFileURL": "./pyodide/pyodide-lock.json", "packages": list(_ASKED)},
    }
    settings.write_text(json.dumps(said, indent=1))


if __name__ == "__main__":
    make_lab(Path(sys.argv[1]), Path(sys.argv[2]))
