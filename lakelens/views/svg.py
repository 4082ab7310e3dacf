"""SVG as text: elements, and documents for an image that any page may hold.

A document has no ground and follows the `color-scheme` of the page that shows it; nothing in it can run, nothing is fetched.
What comes from a lake is made harmless here, in one place: in attributes, and as the text of an element.
"""

from __future__ import annotations

from collections.abc import Mapping
from html import escape

from lakelens.errors import visible

#: The inks of a drawing, of text and of what is muted, for a light and a dark ground.
INKS = "color-scheme:light dark;--f:light-dark(#1b1b1b,#e6e6e6);--m:light-dark(#5f5f5f,#a5a5a5)"
#: The font of a drawing that has no widths of letters to keep to.
FONT = "font:12px system-ui,'Liberation Sans',Helvetica,Arial,sans-serif"


def write_element(tag: str, attributes: Mapping[str, object], *inside: str, text: str = "") -> str:
    """Write an element with its text, or with what is written already inside of it.

    >>> write_element("text", {"x": 1.5, "class": "a"}, text="<b>"), write_element("path", {"d": "M0 0h9"})
    ('<text x="1.5" class="a">&lt;b&gt;</text>', '<path d="M0 0h9"/>')
    """
    written = "".join(f' {name}="{escape(visible(str(held)))}"' for name, held in attributes.items())
    # a document in XML has no place for most control characters: they are shown instead
    content = f"{escape(visible(text))}{''.join(inside)}"
    return f"<{tag}{written}>{content}</{tag}>" if content else f"<{tag}{written}/>"


def write_document(
    size: tuple[int, int],
    style: str,
    *marks: str,
    box: tuple[int, int, int, int] | None = None,
    words: str = "",
) -> str:
    """Write a document so wide and high, of which `box` is drawn, all of it by default; `words` say what it shows.

    >>> write_document((9, 9), "path{fill:none}", write_element("path", {"d": "M0 0h9"}))[-54:]
    '<style>path{fill:none}</style><path d="M0 0h9"/></svg>'
    """
    width, height = size
    attributes: dict[str, object] = {"xmlns": "http://www.w3.org/2000/svg", "width": width, "height": height}
    attributes["viewBox"] = " ".join(map(str, box or (0, 0, width, height)))
    if words:
        attributes |= {"role": "img", "aria-label": words}
    # the sheet is ours, and has signs that would be escaped
    return write_element("svg", attributes, f"<style>{style}</style>", *marks)
