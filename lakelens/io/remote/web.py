"""A public bucket or web folder as a store, for somebody who can ask for nothing but addresses: a page of a browser.

What is below the address that was opened has the paths of a directory; each is one address, whose parts are quoted. No other
address is ever made, whatever metadata records. What was listed and read is kept while the store lives: it shows one moment.
"""

from __future__ import annotations

import posixpath
from collections import OrderedDict
from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import NoReturn, TypeAlias
from urllib.parse import SplitResult, unquote, urlsplit

from lakelens import options
from lakelens.errors import AccessDenied, LakeError, Missing, Unavailable
from lakelens.io.remote.buckets import UNKNOWN, LinksPlace, ListedName, Place, list_places, quote_path
from lakelens.io.remote.failures import Failed
from lakelens.io.remote.requests import LARGEST_PAGE, ListingLimit, parse_content_range, parse_size
from lakelens.io.store import ObjectInfo

_MOST_KEPT, _LARGEST_KEPT = 96 << 20, 16 << 20  # bytes of files that are kept, all of them and one
_MOST_WHOLE = 64 << 20  # bytes of a file that is taken whole, where a server knows no ranges
_MOST_MEASURED = 2_000  # files of one page of links that are asked for their sizes
_LONGEST = 4_096  # characters of an address
_DENIED = (401, 403)
_HINT = "version-hint.text"


#: Asks for an address: the verb (`GET`, `HEAD`), the address, and what stands in the header `Range`, or "". Gives the
#: status, 0 where there was no answer that may be read, the headers, whose names are in lower case, and the bytes.
AskWeb: TypeAlias = Callable[[str, str, str], tuple[int, Mapping[str, str], bytes]]
# inside of a store `list` is its verb
_Infos: TypeAlias = list[ObjectInfo]
_Names: TypeAlias = list[ListedName]


class WebStore:
    """What is below a place, by paths below `root`.

    Its requests are counted by who answers them. It is no far store in the sense of `waves`: one request waits for the
    other, so that nothing is gained by asking for more than is needed.
    """

    scheme = "memory"

    def __init__(self, ask: AskWeb, place: Place, root: str, host: str) -> None:
        self._ask, self._place, self._root, self._host = ask, place, root.rstrip("/"), host
        self._folders: dict[str, _Infos] = {}
        self._kept: OrderedDict[tuple[str, int, int], bytes] = OrderedDict()
        self._room = _MOST_KEPT
        self._has_ranges: bool | None = None
        self._is_whole = False  # all there is was listed at once

    def look(self) -> None:
        """List what is directly below the place, and all of it where that is one page. Raises `LakeError`."""
        listed, more = self._list_page("", "", is_flat=not isinstance(self._place, LinksPlace))
        if isinstance(self._place, LinksPlace):
            self._folders[""] = self._measure(listed)
        elif not more:
            self._is_whole = True
            self._fill(listed)
        if not listed:
            raise Missing(
                "nothing is below this address", path=self._place.list_at(""), hint="the address of a folder"
            )

    def info(self, path: str) -> ObjectInfo:
        name = self._name(path)
        if not name:
            return ObjectInfo(path, 0, is_dir=True)
        folder, _, last = name.rpartition("/")
        found = next((child for child in self._find_folder(folder) if child.name == last), None)
        if found is None:
            raise Missing("no such object", path=path)
        return found

    def list(self, path: str) -> _Infos:
        return list(self._find_folder(self._name(path)))

    def read(self, path: str) -> bytes:
        size = self.info(path).size
        if size > options.budgets.max_document:
            raise LakeError(f"is too large to be read whole: {size:,} bytes", path=path)
        return self._read(path, 0, size, size)

    def read_range(self, path: str, start: int, length: int) -> bytes:
        info = self.info(path)
        if info.is_dir:
            raise LakeError("is a directory, a file was expected", path=path)
        begin = max(0, info.size + start) if start < 0 else start
        return self._read(path, begin, max(0, min(length, info.size - begin)), info.size)

    def _name(self, path: str) -> str:
        """Name what a path means below the place. Raises `Missing` for a path that is not below the root."""
        if path.rstrip("/") == self._root:
            return ""
        if not path.startswith(f"{self._root}/"):
            raise Missing("is not below the address that was opened", path=path)
        return path[len(self._root) + 1 :].rstrip("/")

    def _path(self, name: str) -> str:
        return f"{self._root}/{name.rstrip('/')}"

    def _find_folder(self, folder: str) -> _Infos:
        if folder not in self._folders:
            if self._is_whole:
                raise Missing("no such directory", path=self._path(folder))
            if folder:  # what its own listing does not name is not asked for
                above, _, last = folder.rpartition("/")
                if not any(child.is_dir and child.name == last for child in self._find_folder(above)):
                    raise Missing("no such directory", path=self._path(folder))
            self._folders[folder] = self._list_folder(f"{folder}/" if folder else "")
        return self._folders[folder]

    def _list_folder(self, folder: str) -> _Infos:
        found: _Names = []
        limit, token = ListingLimit(), ""
        while True:
            page, token = self._list_page(folder, token)
            found += page
            if not token:
                break
            try:
                limit.turn(len(page), token)
            except Failed as failed:
                raise LakeError(f"the listing has no end: {failed.said}", path=self._path(folder)) from None
        return self._measure([child for child in found if child.name != folder])

    def _list_page(self, folder: str, token: str, *, is_flat: bool = False) -> tuple[_Names, str]:
        address = self._place.list_at(folder, token, is_flat=is_flat)
        status, _, content = self._ask("GET", address, "")
        if status != 200:
            self._refuse(status, self._path(folder), "list this")
        if len(content) > LARGEST_PAGE:
            raise LakeError("a page of the listing is larger than 64 MiB", path=self._path(folder))
        return self._place.read_listing(content, folder, address)

    def _measure(self, listed: _Names) -> _Infos:
        """Describe what was listed; files of which the listing says no size are asked for it."""
        unknown = sum(child.size == UNKNOWN for child in listed)
        if unknown > _MOST_MEASURED:
            raise LakeError(
                f"{unknown:,} files without their sizes in one page of links, at most {_MOST_MEASURED:,} are asked for them",
                path=self._path(posixpath.dirname(listed[0].name)),
                hint="a server whose pages have sizes, as nginx's do",
            )
        found = []
        for child in listed:
            path, is_dir = self._path(child.name), child.name.endswith("/")
            size = self._find_size(child.name, path) if child.size == UNKNOWN else child.size
            found.append(ObjectInfo(path, size, child.modified, is_dir))
        return sorted(found, key=lambda info: info.path)

    def _find_size(self, name: str, path: str) -> int:
        status, headers, _ = self._ask("HEAD", self._place.object_at(name), "")
        if status != 200:
            self._refuse(status, path, "look at this")
        length = headers.get("content-length")
        with suppress(Failed):
            if length is not None:
                return parse_size(length)
        raise LakeError(
            "the server does not say how long this is", path=path, expected="a header Content-Length"
        )

    def _fill(self, listed: _Names) -> None:
        """Make the directories of names that were listed all at once."""
        names: dict[str, ListedName] = {}
        for child in listed:
            names.setdefault(child.name, child)
            above = child.name.rstrip("/")
            while "/" in above:
                above = above.rpartition("/")[0]
                names.setdefault(f"{above}/", ListedName(f"{above}/"))
        below: dict[str, _Names] = {"": []}
        for name, child in names.items():
            plain = name.rstrip("/")
            below.setdefault(plain.rpartition("/")[0], []).append(child)
            if name.endswith("/"):
                below.setdefault(plain, [])
        self._folders = {folder: self._measure(children) for folder, children in below.items()}

    def _read(self, path: str, begin: int, length: int, size: int) -> bytes:
        if length <= 0:
            return b""
        for kept, first, end in ((path, 0, size), (path, begin, begin + length)):
            held = self._kept.get((kept, first, end))
            if held is not None:
                self._kept.move_to_end((kept, first, end))
                return held[begin - first : begin - first + length]
        if self._has_ranges is False and size > _MOST_WHOLE:
            self._refuse_whole(path, size)
        address = self._place.object_at(self._name(path))
        status, headers, content = self._ask("GET", address, f"bytes={begin}-{begin + length - 1}")
        if status == 200:
            self._has_ranges = False
            if len(content) != size:
                self._refuse_other(path, len(content), size)
            self._keep((path, 0, size), content)
            return content[begin : begin + length]
        if status != 206:
            self._refuse(status, path, "read this")
        self._has_ranges = True
        # many servers do not let pages read this header
        place = parse_content_range(headers.get("content-range"))
        if place is not None and (place[0] != begin or place[2] not in (None, size)):
            self._refuse_other(path, place[2] or 0, size)
        if len(content) != length:
            self._refuse_other(path, len(content), length)
        self._keep((path, begin, begin + length), content)
        return content

    def _keep(self, key: tuple[str, int, int], content: bytes) -> None:
        if len(content) > _LARGEST_KEPT:
            return
        self._kept[key] = content
        self._room -= len(content)
        while self._room < 0:
            _, dropped = self._kept.popitem(last=False)
            self._room += len(dropped)

    def _refuse(self, status: int, path: str, verb: str) -> NoReturn:
        if status == 404:
            raise Missing("no such object", path=path, seen="status 404")
        if status in _DENIED:
            raise AccessDenied(f"{self._host} refused to {verb}", path=path, seen=f"status {status}")
        if status:
            raise LakeError(f"{self._host} did not {verb}", path=path, seen=f"status {status}")
        raise make_unavailable(self._host, path)

    def _refuse_whole(self, path: str, size: int) -> NoReturn:
        raise LakeError(
            f"{self._host} refuses ranges, and a file of {size:,} bytes is not fetched whole",
            path=path,
            expected="status 206 for a part of a file",
            seen="status 200 and all of it",
            hint="a server that knows ranges, as nginx, Apache and buckets do",
        )

    def _refuse_other(self, path: str, seen: int, expected: int) -> NoReturn:
        raise LakeError(
            "was replaced or cut since it was listed",
            path=path,
            expected=f"{expected:,} bytes",
            seen=f"{seen:,}",
        )


class DocumentStore(WebStore):
    """A place that cannot be listed, of which one metadata document is known: what it names is asked for by name."""

    def __init__(self, ask: AskWeb, base: str, document: str, root: str, host: str) -> None:
        super().__init__(ask, LinksPlace(base), root, host)
        self._document = document
        self._sizes: dict[str, ObjectInfo | None] = {}

    def look(self) -> None:
        """Look whether the document is there. Raises `LakeError`."""
        path = self._path(self._document)
        self._sizes[self._document] = ObjectInfo(path, self._find_size(self._document, path))

    def info(self, path: str) -> ObjectInfo:
        name = self._name(path)
        if not name or (self._document.startswith(f"{name}/")):
            return ObjectInfo(path, 0, is_dir=True)
        if name.endswith(_HINT):  # the version that was opened is the one that is wanted
            raise Missing("no such object", path=path)
        if name not in self._sizes:
            self._sizes[name] = None
            with suppress(Missing, AccessDenied):
                self._sizes[name] = ObjectInfo(path, self._find_size(name, path))
        found = self._sizes[name]
        if found is None:
            raise Missing("no such object", path=path)
        return found

    def list(self, path: str) -> _Infos:
        name = self._name(path)
        inside = self._document.removeprefix(f"{name}/" if name else "")
        if inside == self._document and name:
            raise AccessDenied(
                "cannot be listed: only the address of the metadata file was opened", path=path
            )
        child = self._path(f"{name}/{inside.partition('/')[0]}".lstrip("/"))
        return [self.info(child)]


def open_web(ask: AskWeb, url: str, root: str) -> WebStore:
    """Open a public bucket, a web folder or the address of an Iceberg `*.metadata.json`, whose paths are then below `root`.

    Parameters
    ----------
    ask
        What asks for an address.
    url
        The address, without user and parameters.
    root
        The path that stands for it.

    Raises
    ------
    LakeError
        The address is none; nothing answers, or not to pages of other sites; or nothing there can be listed.
    """
    parts = _split(url)
    host = parts.netloc
    path = unquote(parts.path).strip("/")
    if path.endswith(".json"):
        folder, _, document = path.rpartition("/")
        home, _, inner = folder.rpartition("/")
        if inner == "metadata":
            folder, document = home, f"metadata/{document}"
        store: WebStore = DocumentStore(
            ask, f"{parts.scheme}://{host}/{quote_path(folder)}", document, root, host
        )
        store.look()
        return store
    seen: dict[str, None] = {}
    failures: list[LakeError] = []
    for place in list_places(url):
        store = WebStore(ask, place, root, host)
        try:
            store.look()
        except LakeError as error:
            failures.append(error)
            seen.setdefault(f"{place.words}: {error.seen or error.message}")
        else:
            return store
    if failures and all(isinstance(error, Unavailable) for error in failures):
        raise make_unavailable(host, url)
    missing = next((error for error in failures if isinstance(error, Missing) and error.hint), None)
    if missing is not None:
        raise missing
    raise AccessDenied(
        "nothing here can be listed",
        path=url,
        expected="a bucket or a web folder that anybody may list",
        seen="; ".join(seen) or "an address without a bucket",
        hint="the address of an Iceberg table's *.metadata.json, which opens without a listing",
    )


def make_unavailable(host: str, path: str) -> Unavailable:
    """Make the error of a host that gives no answer which a page may read; a browser does not say which of both it is."""
    return Unavailable(
        f"{host} gives this page no answer: it cannot be reached, it leads to another address, or it does not let pages of "
        "other sites read it (CORS)",
        path=path,
        expected="a header Access-Control-Allow-Origin",
        hint="a CORS rule that allows GET and HEAD from any origin, or lakelens serve, which needs none",
    )


def _split(url: str) -> SplitResult:
    """Split an address. Raises `LakeError` for what is none that anybody may ask."""
    try:
        parts = urlsplit(url)
        is_plain = parts.scheme in ("http", "https") and bool(parts.hostname) and len(url) <= _LONGEST
    except ValueError:
        is_plain = False
    if not is_plain:
        raise LakeError("no address of the web", path=url[:200], expected="https://HOST/…")
    if "@" in parts.netloc or parts.query or parts.fragment:
        raise LakeError(
            "an address with a user, parameters or a fragment is not opened: what is public needs none",
            path=f"{parts.scheme}://{parts.netloc.rpartition('@')[2]}{parts.path}",
        )
    return parts
