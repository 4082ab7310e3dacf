"""Pages of links, which web servers make of their directories: the names in one, and what some of them say of a file."""

from __future__ import annotations

import re
from html import unescape
from urllib.parse import unquote, urljoin, urlsplit

_LINK = re.compile(r"""<a\s[^>]*?href\s*=\s*["']([^"']+)""", re.IGNORECASE)
_FORM = re.compile(r"<(form|input)\b", re.IGNORECASE)
# as nginx ends a line: a date, a time and the bytes, to the last one
_EXACT = re.compile(
    r"""<a\s[^>]*?href\s*=\s*["']([^"']+)["'][^>]*>[^<]*</a>[ \t]+\d{1,2}-\w{3}-\d{4} \d\d:\d\d[ \t]+(\d{1,16})[ \t]*\r?$""",
    re.IGNORECASE | re.MULTILINE,
)


def read_names(text: str, here: str) -> list[str]:
    """Read the names that a page has links to, directly below its address; those of directories end with a slash.

    >>> read_names('<a href="../">up</a> <a href="data/">d</a> <a href="a%20b">a b</a>', "http://h/t/")
    ['data/', 'a b']
    """
    links = (name_child(here, unescape(link)) for link in _LINK.findall(text))
    return list(dict.fromkeys(filter(None, links)))


def read_sizes(text: str, here: str) -> dict[str, int]:
    """Read the sizes of files, where a page has them to the byte.

    >>> read_sizes('<a href="v1">v1</a>   27-Nov-2026 09:00    1234', "http://h/t/")
    {'v1': 1234}
    """
    return {
        name: int(size) for link, size in _EXACT.findall(text) if (name := name_child(here, unescape(link)))
    }


def has_form(text: str) -> bool:
    """Check whether a page wants something of its reader, a login perhaps."""
    return _FORM.search(text) is not None


def name_child(here: str, link: str) -> str:
    """Give the name that a link leads to, where that is directly below a page; of a directory with a slash.

    >>> name_child("http://h/t/", "k=a%252Fb/"), name_child("http://h/t/", "/t/a"), name_child("http://h/t/", "?C=N")
    ('k=a%2Fb/', 'a', '')
    """
    parts = urlsplit(urljoin(here, link))
    if parts.query or parts.scheme not in ("http", "https"):
        return ""
    base = urlsplit(here)
    above, path = unquote(base.path).rstrip("/") + "/", parts.path
    if parts.netloc != base.netloc or not unquote(path).startswith(above):
        return ""
    folder, _, last = path.rstrip("/").rpartition("/")
    name = unquote(last)
    is_direct = unquote(folder).rstrip("/") + "/" == above
    if not is_direct or name in ("", ".", "..") or "/" in name:
        return ""
    return name + ("/" if path.endswith("/") else "")
