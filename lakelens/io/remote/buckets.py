"""How public buckets and web folders list what is in them, as anybody may ask: addresses, and what their answers say.

Nothing is asked here. A `Place` makes the addresses of listings and of objects below the one that was opened, and reads the
documents that come back: S3's and what speaks as it does (`ListBucketResult`), Google's (JSON), Azure's
(`EnumerationResults`), and pages of links. Whatever a document says is data: a name that is none is passed over.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import Protocol
from urllib.parse import quote, unquote, urlencode, urlsplit
from xml.etree import ElementTree

from lakelens.errors import Corrupt
from lakelens.io.remote.failures import Failed
from lakelens.io.remote.links import read_names, read_sizes
from lakelens.io.remote.requests import LARGEST_PAGE, parse_size

#: Stands in the place of a size that a listing does not say.
UNKNOWN = -1
_PLAIN = "!$&'()*+,;=:@~"  # may stand in a part of an address as they are


@dataclass(frozen=True, slots=True)
class ListedName:
    """One name of a listing, below the place that was opened, and its bytes; a directory has none and ends with a slash."""

    name: str
    size: int = 0
    modified: datetime | None = None


class Place(Protocol):
    """Where a lake is, and how its storage is asked. `words` say what that is."""

    words: str

    def list_at(self, folder: str, token: str = "", *, is_flat: bool = False) -> str:
        """Give the address of the listing of a folder below the place, of all below it where that `is_flat`."""
        ...

    def object_at(self, name: str) -> str:
        """Give the address of an object."""
        ...

    def read_listing(self, content: bytes, folder: str, at: str) -> tuple[list[ListedName], str]:
        """Read a page of a listing, and the token of the next one, "" for the last. Raises `Corrupt` for what is none."""
        ...


def quote_path(path: str) -> str:
    """Quote a path, whose parts are names.

    >>> quote_path("k=a%2Fb/é?#")
    'k=a%252Fb/%C3%A9%3F%23'
    """
    return "/".join(quote(part, safe=_PLAIN) for part in path.split("/"))


class S3Place:
    """A bucket of S3 or of what speaks as it does. `base` is the bucket's address, `prefix` what stands before each name."""

    words = "an S3 listing"

    def __init__(self, base: str, prefix: str) -> None:
        self._base, self._prefix = base.rstrip("/"), prefix

    def list_at(self, folder: str, token: str = "", *, is_flat: bool = False) -> str:
        asked = {"list-type": "2", "encoding-type": "url", "prefix": self._prefix + folder}
        asked |= {} if is_flat else {"delimiter": "/"}
        asked |= {"continuation-token": token} if token else {}
        return f"{self._base}/?{urlencode(asked, quote_via=quote)}"

    def object_at(self, name: str) -> str:
        return f"{self._base}/{quote_path(self._prefix + name)}"

    def read_listing(self, content: bytes, folder: str, at: str) -> tuple[list[ListedName], str]:
        root = _read_xml(content, "ListBucketResult", at)
        is_encoded = _text(root, "EncodingType") == "url"
        found = []
        for node in root:
            kind = _tag(node)
            if kind not in ("Contents", "CommonPrefixes"):
                continue
            key = _text(node, "Key" if kind == "Contents" else "Prefix")
            key = unquote(key.replace("+", " ")) if is_encoded else key
            found.append((key, _text(node, "Size"), _text(node, "LastModified")))
        more = _text(root, "NextContinuationToken") if _text(root, "IsTruncated") == "true" else ""
        return list(_take(found, self._prefix)), more


class GooglePlace:
    """A bucket of Google's storage, asked through its JSON interface, for listings and for objects."""

    words = "a listing of Google's storage"

    def __init__(self, bucket: str, prefix: str, origin: str = "https://storage.googleapis.com") -> None:
        self._base, self._prefix = f"{origin}/storage/v1/b/{quote(bucket, safe='')}/o", prefix

    def list_at(self, folder: str, token: str = "", *, is_flat: bool = False) -> str:
        fields = "items(name,size,updated),prefixes,nextPageToken"
        asked = {"prefix": self._prefix + folder, "maxResults": "1000", "fields": fields}
        asked |= {} if is_flat else {"delimiter": "/"}
        asked |= {"pageToken": token} if token else {}
        return f"{self._base}?{urlencode(asked, quote_via=quote)}"

    def object_at(self, name: str) -> str:
        return f"{self._base}/{quote(self._prefix + name, safe='')}?alt=media"

    def read_listing(self, content: bytes, folder: str, at: str) -> tuple[list[ListedName], str]:
        try:
            held = json.loads(content)
        except (ValueError, RecursionError):
            held = None
        if not isinstance(held, dict) or not isinstance(held.get("items", []), list):
            raise Corrupt("no listing", path=at, expected="an object with items", seen=content[:40])
        items = [item for item in held.get("items", []) if isinstance(item, dict)]
        found = [
            (str(item.get("name", "")), str(item.get("size", "")), str(item.get("updated", "")))
            for item in items
        ]
        prefixes = held.get("prefixes", [])
        found += [(str(prefix), "", "") for prefix in (prefixes if isinstance(prefixes, list) else [])]
        return list(_take(found, self._prefix)), str(held.get("nextPageToken", ""))


class AzurePlace:
    """A container of Azure's storage. `base` is the container's address."""

    words = "an Azure listing"

    def __init__(self, base: str, prefix: str) -> None:
        self._base, self._prefix = base.rstrip("/"), prefix

    def list_at(self, folder: str, token: str = "", *, is_flat: bool = False) -> str:
        asked = {"restype": "container", "comp": "list", "prefix": self._prefix + folder}
        asked |= {} if is_flat else {"delimiter": "/"}
        asked |= {"marker": token} if token else {}
        return f"{self._base}?{urlencode(asked, quote_via=quote)}"

    def object_at(self, name: str) -> str:
        return f"{self._base}/{quote_path(self._prefix + name)}"

    def read_listing(self, content: bytes, folder: str, at: str) -> tuple[list[ListedName], str]:
        root = _read_xml(content, "EnumerationResults", at)
        blobs = next((node for node in root if _tag(node) == "Blobs"), ())
        found = []
        for node in blobs:
            if _tag(node) == "BlobPrefix":
                found.append((_text(node, "Name"), "", ""))
            elif _tag(node) == "Blob":
                facts = next((part for part in node if _tag(part) == "Properties"), node)
                found.append(
                    (_text(node, "Name"), _text(facts, "Content-Length"), _text(facts, "Last-Modified"))
                )
        return list(_take(found, self._prefix)), _text(root, "NextMarker")


class LinksPlace:
    """A folder of a web server, whose directories are pages of links. `base` is its address."""

    words = "a page of links"

    def __init__(self, base: str) -> None:
        self._base = base.rstrip("/")

    def list_at(self, folder: str, token: str = "", *, is_flat: bool = False) -> str:
        return f"{self._base}/{quote_path(folder)}"

    def object_at(self, name: str) -> str:
        return f"{self._base}/{quote_path(name)}"

    def read_listing(self, content: bytes, folder: str, at: str) -> tuple[list[ListedName], str]:
        text = content.decode(errors="replace")
        if "<" not in text[:4_096] or "<a " not in text.lower():
            raise Corrupt("no page of links", path=at, expected="HTML with links", seen=content[:40])
        sizes = read_sizes(text, at)
        names = read_names(text, at)
        return [
            ListedName(folder + name, 0 if name.endswith("/") else sizes.get(name, UNKNOWN)) for name in names
        ], ""


def list_places(url: str) -> Sequence[Place]:
    """List what an address may be of, the likeliest first; the host decides where its name says whose storage it is.

    >>> [place.words for place in list_places("https://b.s3.eu-west-1.amazonaws.com/wh/t")]
    ['an S3 listing']
    >>> list_places("https://storage.googleapis.com/b/wh")[0].object_at("t/a")
    'https://storage.googleapis.com/storage/v1/b/b/o/wh%2Ft%2Fa?alt=media'
    >>> [place.words for place in list_places("https://h.example/wh/t")]
    ['a page of links', 'an S3 listing', 'an S3 listing', 'an Azure listing']
    """
    parts = urlsplit(url)
    origin, host = f"{parts.scheme}://{parts.netloc}", (parts.hostname or "").lower()
    path = unquote(parts.path).strip("/")
    bucket, _, rest = path.partition("/")
    first, _, domain = host.partition(".")
    whole, below = (f"{name}/" if name else "" for name in (path, rest))
    if host == "storage.googleapis.com":
        return [GooglePlace(bucket, below)] if bucket else []
    if domain == "storage.googleapis.com":
        return [GooglePlace(first, whole)]
    if host.endswith(".blob.core.windows.net"):
        return [AzurePlace(f"{origin}/{quote_path(bucket)}", below)] if bucket else []
    by_path, by_host = S3Place(f"{origin}/{quote_path(bucket)}", below), S3Place(origin, whole)
    if host.endswith((".amazonaws.com", ".amazonaws.com.cn")):
        return [by_path] if first == "s3" or first.startswith("s3-") else [by_host]
    folder = LinksPlace(f"{origin}/{quote_path(path)}")
    azure = AzurePlace(f"{origin}/{quote_path(bucket)}", below)
    return [folder, by_path, by_host, azure] if bucket else [folder, by_host]


def _take(found: Sequence[tuple[str, str, str]], prefix: str) -> Iterator[ListedName]:
    """Take what a listing says, without names that no path has and markers of directories."""
    for key, size, modified in found:
        name = key.removeprefix(prefix)
        parts = name.removesuffix("/").split("/")
        if not key.startswith(prefix) or any(part in ("", ".", "..") or "\0" in part for part in parts):
            continue
        if name.endswith("/"):
            yield ListedName(name)
        else:
            with suppress(Failed):  # a size that no object has
                yield ListedName(name, parse_size(size), _parse_time(modified))


def _parse_time(text: str) -> datetime | None:
    with suppress(ValueError, OverflowError):
        return datetime.fromisoformat(text).astimezone(UTC)
    with suppress(ValueError, OverflowError, TypeError):
        return parsedate_to_datetime(text).astimezone(UTC)
    return None


def _read_xml(content: bytes, wanted: str, at: str) -> ElementTree.Element:
    """Read a listing in XML. Raises `Corrupt` for another document, and for one that declares entities."""
    if len(content) > LARGEST_PAGE or b"<!" in content:
        raise Corrupt(
            "no listing",
            path=at,
            expected=wanted,
            seen="a document with declarations, or of more than 64 MiB",
        )
    try:
        root = ElementTree.fromstring(content)
    except ElementTree.ParseError as error:
        raise Corrupt("no listing", path=at, expected=wanted, seen=error) from None
    if _tag(root) != wanted:
        raise Corrupt("no listing", path=at, expected=wanted, seen=_tag(root))
    return root


def _tag(node: ElementTree.Element) -> str:
    return node.tag.rpartition("}")[2]


def _text(node: ElementTree.Element, name: str) -> str:
    """Give the text of a child; "" where there is none."""
    return next((child.text or "" for child in node if _tag(child) == name), "")
