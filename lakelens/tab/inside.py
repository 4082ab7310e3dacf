"""What answers in a browser: the pages of a folder that is mounted there, by address, as `lakelens serve` sends them.

Everything given and taken is text or bytes: `static/worker.mjs` passes it on.
"""

from __future__ import annotations

import io
import json
import posixpath
import re
import sys
import tempfile
import zipfile
from collections.abc import Callable
from contextlib import suppress
from importlib import import_module
from importlib.abc import MetaPathFinder
from pathlib import Path
from typing import Any, Self

import lakelens as ll
from lakelens.errors import LakeError, NotInstalled
from lakelens.explorer.failures import make_failure
from lakelens.explorer.page import Page, Redirect
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_fitting
from lakelens.explorer.site.single import FixedExplorer, TableExplorer
from lakelens.installed import EXTRAS, read_text
from lakelens.samples import unpack_table
from lakelens.views.card.model import Card
from lakelens.views.card.wording import size
from lakelens.warehouse import find_in_web

#: Where what is asked of an address stands for all pages of a folder; the page Open has the style sheet and the script.
_ASSETS = "."
_PACKAGE = re.compile(r"this needs (\w+),")
#: An archive of more is refused: all of it is unpacked into the memory of the tab.
MOST_UNPACKED = 200_000_000
_MOST_FILES = 50_000
_CHUNK = 1 << 20


#: What is compiled beforehand, a name a line; `!` stands before those that are not imported without code for WebAssembly.
FIRST = "first.txt"
_NATIVE = ("cramjam", "msgspec", "xxhash")


class Native(BaseException):
    """A module with code for WebAssembly was asked for where there is none; no `except ImportError` takes it for absent."""


class Guard(MetaPathFinder):
    """While it lasts no code for WebAssembly is imported, of which a picture of the memory could not be taken."""

    def find_spec(self, fullname: str, path: object = None, target: object = None) -> None:
        if fullname.partition(".")[0] in _NATIVE:
            raise Native(fullname)

    def __enter__(self) -> Self:
        sys.meta_path.insert(0, self)
        return self

    def __exit__(self, *_: object) -> None:
        sys.meta_path.remove(self)


def warm_up() -> None:
    """Import what first pages ask for, and make some, as far as it is plain Python: templates are compiled then too."""
    with Guard(), tempfile.TemporaryDirectory() as folder:
        for name in read_text("lakelens.tab", FIRST).split():
            if not name.startswith("!"):
                with suppress(Native, ImportError):  # or one that a later lakelens no longer has
                    import_module(name)
        with suppress(Native):
            explorer = TableExplorer(ll.open(unpack_table("hive", Path(folder)), format="hive"))
            for page in ("", "files", "schema"):
                found = explorer.follow(Place((), "-", page))
                if isinstance(found, Page):
                    render_fitting(found, link=lambda place: place.url, assets=_ASSETS)


class Tab:
    """The pages of one root; `prefix` stands before the address of each, in the fragment of the page.

    >>> import lakelens as ll
    >>> tab = Tab(ll.sample("hive").location, "sample/hive")
    >>> json.loads(tab.answer(""))["location"], json.loads(tab.answer("@-/files"))["status"]
    ('sample/hive/@-/', 200)
    """

    def __init__(self, root: str, prefix: str, explorer: FixedExplorer | None = None) -> None:
        self.explorer, self._prefix = explorer or FixedExplorer(root), prefix

    def answer(self, address: str) -> str:
        """Answer with a page, or with where the address leads, as JSON.

        A page has its `status`, its `markup` and, where a package is missing that no tab brings, its name: as `needs` where
        that is all that the page says, else as `lacks`.
        """
        path, _, query = address.partition("?")
        try:
            place = Place.parse(path, query)
        except LakeError as error:
            return self._render(make_failure(Place(), error))
        found = self.explorer.follow(place)
        if isinstance(found, Redirect):
            return json.dumps({"location": self._link(found.place)})
        return self._render(found)

    def _link(self, place: Place) -> str:
        return f"{self._prefix}/{place.url}"

    def _render(self, page: Page) -> str:
        markup, status = render_fitting(page, link=lambda place: "#" + self._link(place), assets=_ASSETS)
        place, table = page.place, None
        if place.table is not None and place.snapshot and page.navigation:
            table = "/".join(place.table) or self.explorer.root.rpartition("/")[2]
        refusals = (
            part for part in page.parts if isinstance(part, Card) and part.noun == NotInstalled.__name__
        )
        needs = next((said[1] for part in refusals if (said := _PACKAGE.search(part.sentence))), None)
        # of a page that is there: a note or a filter; the name is one that is known, whoever wrote the words
        lacks = next((said for said in _PACKAGE.findall(markup) if said in EXTRAS), None)
        known = {"needs": needs, "lacks": None if needs else lacks}
        return json.dumps({"status": status, "markup": markup, "table": table, **known})

    def write_report(self, address: str) -> bytes:
        """Write the report of the table of an address: one page without scripts. Raises `LakeError`."""
        return self._write(address, "report.html", lambda table, path: table.to_html(path))

    def write_skeleton(self, address: str) -> bytes:
        """Write the skeleton of the table of an address, as a zip. Raises `LakeError`."""
        return self._write(address, "skeleton", lambda table, path: table.skeleton(path))

    def _write(self, address: str, name: str, write: Callable[..., object]) -> bytes:
        place = Place.parse(*address.partition("?")[::2])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, name)
            write(self.explorer.open(place.table or ()), str(path))
            if path.is_file():
                return path.read_bytes()
            made = io.BytesIO()
            with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
                for file in sorted(path.rglob("*")):
                    if file.is_file():
                        archive.write(file, f"{name}/{file.relative_to(path).as_posix()}")
            return made.getvalue()


def open_address(ask: Callable[[str, str, str], Any], url: str, root: str, prefix: str) -> Tab:
    """Open a public bucket, a web folder, or a zip of one. Raises `LakeError`.

    `ask` is a function of the worker, which asks one host and no other: it gives the status, the headers in one text, and
    the bytes.
    """

    def ask_web(verb: str, address: str, wanted: str) -> tuple[int, dict[str, str], bytes]:
        answer = ask(verb, address, wanted)
        pairs = (line.partition(":") for line in answer.headers.splitlines())
        headers = {name.strip().lower(): held.strip() for name, _, held in pairs}
        return answer.status, headers, answer.content.to_bytes()

    if not url.lower().endswith(".zip"):
        return Tab(root, prefix, FixedExplorer(root, lambda root: find_in_web(ask_web, url, root)))
    size = ask_web("HEAD", url, "")[1].get("content-length", "")
    if size.isdecimal() and int(size) > MOST_UNPACKED:
        raise LakeError(f"a zip of {int(size):,} bytes; at most {MOST_UNPACKED:,} are fetched", path=url)
    status, _, content = ask_web("GET", url, "")
    if status != 200:
        seen = f"status {status}" if status else "no answer that this page may read (CORS)"
        raise LakeError("was not sent", path=url, expected="status 200", seen=seen)
    with tempfile.TemporaryDirectory() as folder:
        archive = Path(folder, posixpath.basename(url))
        archive.write_bytes(content)
        unpack(str(archive), root)
    children = list(Path(root).iterdir())
    is_single = len(children) == 1 and children[0].is_dir()  # a skeleton is a folder of that name
    return Tab(str(children[0]) if is_single else root, prefix)


def unpack(archive: str, root: str, most: int = MOST_UNPACKED) -> int:
    """Unpack a zip below a directory; gives the number of its files.

    Raises `LakeError` for one that unpacks to more than there is memory for, whatever it says, and for what is none.
    """
    written = count = 0
    try:
        with zipfile.ZipFile(archive) as held:
            entries = [entry for entry in held.infolist() if not entry.is_dir()]
            total = sum(entry.file_size for entry in entries)
            if total > most or len(entries) > _MOST_FILES:
                what = f"{len(entries):,} files of {size(total)}"
                raise LakeError(
                    f"this zip would unpack to {what}; a tab unpacks {_MOST_FILES:,} files of {size(most)}",
                    path=posixpath.basename(archive),
                    hint="unpack it and open the folder, which is read piece by piece",
                )
            for entry in entries:
                steps = [
                    step for step in entry.filename.replace("\\", "/").split("/") if step not in ("", ".")
                ]
                if ".." in steps:
                    raise LakeError(f"a name that leads out of the zip: {entry.filename!r}")
                target = Path(root, *steps)
                target.parent.mkdir(parents=True, exist_ok=True)
                with held.open(entry) as source, target.open("wb") as file:
                    while chunk := source.read(_CHUNK):
                        written += len(chunk)
                        if written > most:
                            raise LakeError("this zip holds more than it says", path=entry.filename)
                        file.write(chunk)
                count += 1
    except (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, ValueError, OSError) as error:
        raise LakeError(f"no zip that can be read: {error}", path=posixpath.basename(archive)) from error
    return count
