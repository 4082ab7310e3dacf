"""The folder of a tab: static files that any web server sends, below any path.

`index.html` is the page Open; its policy lets the browser ask no other origin. `wide.html` is the same page with a wider
policy, for lakes at an address and for packages of Pyodide's index; `embed.html` is what `<lakelens-view>` frames. Names of
parts are the same in every version: the service worker keeps one together.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import tempfile
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lakelens
from lakelens.errors import LakeError
from lakelens.explorer.assets import read_assets
from lakelens.installed import read_packaged, read_text
from lakelens.samples import read_samples
from lakelens.tab.inside import FIRST
from lakelens.tab.parts import PYODIDE, Gathered, find_node, make_archive, make_once, run
from lakelens.views.card.markup import template_environment
from lakelens.views.card.wording import name, plural
from lakelens.whole import write_whole, writing

if TYPE_CHECKING:
    from jinja2 import Environment

#: The file by which a folder is known as one of a tab, which may be made again.
MARK = "tab.json"
_POLICY = (
    "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; worker-src 'self' blob:; style-src 'self'; "
    "style-src-attr 'unsafe-inline'; img-src 'self' data:; connect-src {connect}; form-action 'none'; base-uri 'none'; "
    "frame-src 'self'"
)
# a bucket on this machine has no certificate
_ANY = "'self' https: http://127.0.0.1:* http://localhost:*"
_PAGES = {"index.html": "'self'", "wide.html": _ANY, "embed.html": _ANY}
_STATIC = (
    "tab.css",
    "tab.mjs",
    "source.mjs",
    "python.mjs",
    "worker.mjs",
    "folder.mjs",
    "view.mjs",
    "lakelens-view.js",
)
# rooms of lakelens that a browser has no use for
_LEFT_OUT = (
    "cli",
    "jupyter",
    "serving",
    "spark",
    "testing",
    "catalogs",
    "practice",
    "magics.py",
    "watching.py",
    "widgets",
)


@dataclass(frozen=True, slots=True)
class Fetched:
    """What is fetched before a first page: the name of its file, what it is, its bytes unpacked, and those that are sent."""

    name: str
    words: str
    unpacked: int
    sent: int


@dataclass(frozen=True, slots=True)
class Built:
    """A folder that was made: where it is, its version, its parts, and the bytes of all its files."""

    path: Path
    version: str
    parts: Sequence[Fetched]
    size: int


def build(folder: Path, parts: Gathered) -> Built:
    """Make the folder, or make it again. Raises `LakeError` where something else is there already.

    Parameters
    ----------
    folder
        The folder to make.
    parts
        What was fetched for it.
    """
    with writing(folder):
        if (
            folder.exists()
            and not (folder / MARK).is_file()
            and (not folder.is_dir() or any(folder.iterdir()))
        ):
            raise LakeError("there is something here already", path=str(folder), hint="another directory")
        folder.mkdir(parents=True, exist_ok=True)
    files, described = make_files(parts)
    for path, content in files.items():
        with writing(folder / path):
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
        write_whole(folder / path, content)
    version = json.loads(files[MARK])["version"]
    return Built(folder, version, described, sum(map(len, files.values())))


def make_files(parts: Gathered) -> tuple[dict[str, bytes], Sequence[Fetched]]:
    """Make all files of the folder, by name, and describe what of them is fetched before a first page."""
    wasm = (parts.runtime / "pyodide.asm.wasm").read_bytes()
    library, packages = (
        compile_archive(parts.runtime, drop(archive, PYODIDE[left_out]), parts.runtime.parent)
        for archive, left_out in (
            (parts.runtime / "python_stdlib.zip", "dropped"),
            (parts.packages, "dropped_of_packages"),
        )
    )
    code = compile_archive(parts.runtime, archive_code())
    licences = read_licences(parts.packages.read_bytes())
    loader = {name: (parts.runtime / name).read_bytes() for name in ("pyodide.mjs", "pyodide.asm.mjs")}
    bundled = {
        "pyodide.asm.wasm": ("Python 3.14 for browsers", wasm),
        "python_stdlib.zip": ("its standard library", library),
        "packages.zip": (plural(len(licences), "package"), packages),
        "lakelens.zip": (f"lakelens {lakelens.__version__} with samples", code),
    }
    # compressed here: not every server does so, and by this name none takes it for something that it has to unpack
    files = {f"{name}.packed": gzip.compress(content, 9, mtime=0) for name, (_, content) in bundled.items()}
    described = [
        Fetched(f"{name}.packed", words, len(content), len(files[f"{name}.packed"]))
        for name, (words, content) in bundled.items()
    ]
    described[1:1] = [
        Fetched(name, "its loader", len(content), len(content)) for name, content in loader.items()
    ]
    files |= loader
    files |= {name: read_packaged("lakelens.tab", "static", name) for name in _STATIC}
    files |= read_assets()
    files["pyodide-lock.json"] = lock = pick_offered((parts.runtime / "pyodide-lock.json").read_text())
    version = hashlib.sha256(
        b"".join(hashlib.sha256(files[name]).digest() for name in sorted(files))
    ).hexdigest()[:10]
    fetched = [{"name": part.name, "size": part.sent} for part in described]
    fetched.append({"name": "pyodide-lock.json", "size": len(lock)})
    files |= make_pages({"version": version, "parts": fetched}, described, licences)
    shell = ["./", *_PAGES, "licences.html", "example.html", *_STATIC, *read_assets()]
    kept = [*shell, "pyodide-lock.json", *(part.name for part in described)]
    script = read_text("lakelens.tab", "static", "sw.js")
    known = {"VERSION": version, "SHELL": shell, "KEPT": kept}
    constants = "".join(f"const {word} = {json.dumps(value)};\n" for word, value in known.items())
    files["sw.js"] = f'"use strict";\n{constants}{script}'.encode()
    files[MARK] = json.dumps(
        {"version": version, "lakelens": lakelens.__version__, "files": sorted(files)}
    ).encode()
    return files, described


def make_pages(
    known: dict[str, Any], parts: Sequence[Fetched], licences: Mapping[str, str]
) -> dict[str, bytes]:
    """Make the pages: Open, the same with a wider policy and in a frame, licences, an example; `known` is for the script."""
    totals = {"unpacked": sum(part.unpacked for part in parts), "sent": sum(part.sent for part in parts)}
    by_name = {sample.name: sample for sample in read_samples()}
    samples = [by_name[name] for name in dict.fromkeys((*_SHOWN, *by_name))]
    common: dict[str, Any] = {
        "megabytes": lambda number: f"{number / 1e6:.3g}", "parts": _join_loader(parts), "totals": totals,
        "samples": samples, "shown": len(_SHOWN), "lakelens_version": lakelens.__version__,
    }  # fmt: skip
    pages = {}
    for page, connect in _PAGES.items():
        is_wide, is_embed = page != "index.html", page == "embed.html"
        said = json.dumps({**known, "isWide": is_wide, "isEmbed": is_embed})
        markup = (
            _environment()
            .get_template("open.html")
            .render(
                **common,
                policy=_POLICY.format(connect=connect),
                known=said,
                is_wide=is_wide,
                is_embed=is_embed,
            )
        )
        pages[page] = markup.encode()
    policy = _POLICY.format(connect="'none'")
    for page, given in (("licences.html", {"licences": licences}), ("example.html", {})):
        made = _environment().get_template(page).render(policy=policy, **given)
        pages[page] = made.encode()
    return pages


_SHOWN = ("paimon-deletion-vectors", "iceberg", "iceberg-planning", "paimon-changelog", "delta", "hive-orc")


def _join_loader(parts: Sequence[Fetched]) -> list[Fetched]:
    """Join parts of one name in words: a reader sees one loader."""
    joined: dict[str, Fetched] = {}
    for part in parts:
        known = joined.get(part.words, Fetched(part.name, part.words, 0, 0))
        joined[part.words] = Fetched(
            part.name, part.words, known.unpacked + part.unpacked, known.sent + part.sent
        )
    return list(joined.values())


def archive_code() -> bytes:
    """Put what of lakelens a page asks for into an archive."""
    root = Path(lakelens.__file__).parent
    found = []
    for path in sorted(root.rglob("*")):
        relative = path.relative_to(root)
        is_code = path.is_file() and "__pycache__" not in relative.parts
        if (
            is_code
            and relative.parts[0] not in _LEFT_OUT
            and (relative.parts[0] != "tab" or path.name in (FIRST, "__init__.py", "inside.py"))
        ):
            content = path.read_bytes()
            found.append(
                (f"lakelens/{relative.as_posix()}", unpress(content) if path.suffix == ".zip" else content)
            )
    return make_archive(found)


def unpress(archive: bytes) -> bytes:
    """Make an archive of the same files in which nothing is compressed: all of them together are much smaller later."""
    return make_archive(_read_archive(archive), zipfile.ZIP_STORED)


def compile_archive(runtime: Path, content: bytes, kept: Path | None = None) -> bytes:
    """Compile what of an archive a first page asks for, in Node, with the Python that will run it: see `compile.mjs`.

    `kept` is a folder in which the same one is found the next time. Raises `NotFetched` where Node is not there.
    """

    def make(folder: Path) -> None:
        paths = [folder / name for name in ("compile.mjs", "archive.zip", FIRST)]
        for path, held in zip(paths, (script, content, first), strict=True):
            path.write_bytes(held)
        run([str(find_node()), str(paths[0]), str(runtime), *map(str, paths[1:])], "compiled modules")

    script = read_packaged("lakelens.tab", "static", "compile.mjs")
    first = read_packaged("lakelens.tab", FIRST).replace(b"!", b"")
    with tempfile.TemporaryDirectory() as unkept:
        known = hashlib.sha256(b"".join((runtime.name.encode(), script, first, content))).hexdigest()[:12]
        target = (kept or Path(unkept)) / f"compiled-{known}"
        make_once(target, make)
        return (target / "archive.zip").read_bytes()


def drop(archive: Path, names: Sequence[str]) -> bytes:
    """Make an archive of the files of another one, but for what `pyodide.toml` says that no page asks for."""

    def is_wanted(path: str) -> bool:
        folder, _, file = path.rpartition("/")
        only = PYODIDE["only"].get(f"{folder}/")
        is_asked = only is None or file.removesuffix(".py") in only
        return is_asked and not path.startswith(tuple(names)) and ".dist-info/" not in path

    return make_archive(pair for pair in _read_archive(archive.read_bytes()) if is_wanted(pair[0]))


def pick_offered(lock: str) -> bytes:
    """Pick from Pyodide's list of packages those that a reader may fetch from its index, and what these depend on."""
    known = json.loads(lock)
    wanted, packages = list(PYODIDE["offered"]), {}
    while wanted:
        package = wanted.pop()
        packages[package] = known["packages"][package]
        wanted += [name for name in packages[package]["depends"] if name not in packages]
    return json.dumps({**known, "packages": packages}).encode()


def read_licences(packages: bytes) -> dict[str, str]:
    """Read the licences of the bundled packages, by name and version."""
    texts: dict[str, list[str]] = {}
    for path, content in _read_archive(packages):
        folder, _, rest = path.partition("/")
        if folder.endswith(".dist-info"):
            package = " ".join(folder.removesuffix(".dist-info").split("-")[:2])
            held = texts.setdefault(package, [])
            if name(rest).upper().startswith(("LICEN", "COPYING", "NOTICE")):
                held.append(content.decode(errors="replace"))
            elif rest == "METADATA" and not held:
                held += [
                    line
                    for line in content.decode(errors="replace").splitlines()
                    if line.startswith("License")
                ][:2]
    return {package: "\n\n".join(held) for package, held in texts.items()}


def _read_archive(content: bytes) -> Iterator[tuple[str, bytes]]:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        for entry in archive.infolist():
            if not entry.is_dir():
                yield entry.filename, archive.read(entry)


@cache
def _environment() -> Environment:
    from jinja2 import PackageLoader

    return template_environment().overlay(loader=PackageLoader("lakelens.tab"))
