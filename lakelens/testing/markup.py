"""What a card may be made of: nothing that acts, loads or sends; and text without a character that acts on a terminal."""

from __future__ import annotations

import re
from base64 import b64decode
from collections.abc import Sequence
from html.parser import HTMLParser

# what a card may be made of: whatever acts, loads or sends is not among it
_NAMES = """
    a abbr b br button caption circle code col colgroup dd defs details div dl dt em figcaption figure g h1 h2 h3 h4 h5 h6 i
    kbd li line ol p path pattern polygon polyline pre rect s samp section small span strong style sub summary sup svg
    table tbody td text tfoot th thead title tr tspan u ul use var wbr
"""
_TAGS = frozenset(_NAMES.split())
_PICTURE = "data:image/svg+xml;base64,"
_LINK = re.compile(r"^(#|https?://)", re.IGNORECASE)
_CONTROL = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")


def list_faults(markup: str) -> list[str]:
    """What stands in a card that acts, loads or sends.

    >>> list_faults("<p>fine</p><img src=x onerror=f()><a href='javascript:f()'>")
    ['<img>', "<img src='x'>", "<img onerror='f()'>", "<a href='javascript:f()'>"]
    """
    parser = _Markup()
    parser.feed(markup)
    parser.close()
    return parser.faults


def find_control(text: str) -> str | None:
    """The first character that acts on a terminal; tabs and ends of lines do not.

    >>> find_control("a\\tb\\n"), find_control("a\\x1b[31m")
    (None, '\\x1b')
    """
    found = _CONTROL.search(text)
    return None if found is None else found.group()


class _Markup(HTMLParser):
    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.faults: list[str] = []

    def handle_starttag(self, tag: str, attrs: Sequence[tuple[str, str | None]]) -> None:
        source = dict(attrs).get("src") or ""
        is_picture = tag == "img" and source.startswith(_PICTURE)
        if is_picture:
            drawn = b64decode(source.removeprefix(_PICTURE)).decode("utf-8", "replace")
            self.faults += list_faults(drawn)
        elif tag not in _TAGS:
            self.faults.append(f"<{tag}>")
        for name, value in attrs:
            is_link = name in ("href", "xlink:href", "src", "action") and not (is_picture and name == "src")
            if name.startswith("on") or (is_link and not _LINK.match(value or "")):
                self.faults.append(f"<{tag} {name}={value!r}>")
