"""From what a cell names to the address of its page."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from lakelens.explorer.inside import Inside
from lakelens.explorer.listing import SIZE
from lakelens.explorer.place import Place
from lakelens.model.bytes_view import BytesView
from lakelens.views.card.model import Target
from lakelens.views.hexdump.html import PartLinks

#: What is named by a path, each with the page about it.
_STORED = ("file", "manifest_list", "manifest", "index", "statistics", "metadata", "bytes")

#: What is asked of a page as the path of a file.
_PATHS = frozenset(("path", "manifest"))


def make_linker(
    here: Place, link: Callable[[Place], str], inside: Inside | None = None
) -> Callable[[Target], str]:
    """Say what leads from a page to what its cells name: an address, or nothing where there is no page of it."""

    def lead(target: Target) -> str:
        place = find_place(target, here, inside)
        return "" if place is None else link(place)

    return lead


def name_plainly(place: Place, inside: Inside | None) -> Place:
    """The address with the paths of files below the table's directory: one for each page, and the same on every machine."""
    asked = dict(place.asked)
    if inside is None or not asked.keys() & _PATHS:
        return place
    shown = ((name, inside.shorten(held) if name in _PATHS else held) for name, held in place.asked)
    return replace(place, asked=tuple(shown))


def make_part_links(
    explanation: BytesView, here: Place, link: Callable[[Place], str], href: Callable[[Target], str]
) -> PartLinks | None:
    """Say what leads from a page of bytes to parts of them; None on another page."""
    if here.page != "bytes":
        return None
    base = here.get("unpacked") or None

    def part(unpacked: int | None, start: int, length: int) -> str:
        if unpacked is not None and base is not None:
            return ""  # compressed twice: no address leads there
        place = here.ask(unpacked=base if unpacked is None else unpacked, start=start, length=length or None)
        return link(place)

    return PartLinks(part, href, len(explanation.data) if explanation.base == 0 else 0)


def find_place(target: Target, here: Place, inside: Inside | None = None) -> Place | None:
    """Find the place of what is named on a page; None where there is none, and for what is not `inside`.

    >>> here = Place(("shop.db", "orders"), "81", "manifests")
    >>> find_place(Target("entry", "65", (("manifest", "m-0"),)), here).url
    'shop.db/orders/@81/manifest?path=m-0&from=50&entry=65'
    >>> find_place(Target("ref", "week-47"), here).url, find_place(Target("table", "web/clicks"), Place()).url
    ('shop.db/orders/@week-47/', 'web/clicks/')
    >>> find_place(Target("bytes", "data/../../secret"), here, Inside("/wh")) is None
    True
    """
    asked = dict(target.asked)
    if target.kind == "table":
        names = (inside or Inside("")).name_table(target.key)
        return None if names is None else Place(names, "", "", target.asked)
    if target.kind == "page":
        named = [asked[name] for name in ("path", "manifest") if asked.get(name)]
        if inside is not None and not all(map(inside.leads, named)):
            return None
        return here.with_page(target.key, **asked)
    if here.table is None:
        return None
    if target.kind in ("snapshot", "ref"):
        return replace(here, snapshot=target.key, page="", asked=target.asked) if target.key else None
    if target.kind == "schema":
        return here.with_page("schema", **{"id": target.key or None, **asked})
    if target.kind == "entry":
        return _find_entry(target, here, inside)
    if target.kind not in _STORED:
        return None
    path = target.key or asked.get("manifest", "")  # the bytes of an encoded value of an entry
    if inside is not None and not inside.leads(path):
        return None
    return here.with_page(target.kind, path=target.key or None, **asked)


def _find_entry(target: Target, here: Place, inside: Inside | None) -> Place | None:
    """Find the entry beside the page of its manifest that it is on."""
    asked = dict(target.asked)
    manifest = asked.pop("manifest", "")
    is_number = target.key.isascii() and target.key.isdigit() and len(target.key) < 20
    if not manifest or not is_number or (inside is not None and not inside.leads(manifest)):
        return None
    return find_entry(here, manifest, int(target.key)).ask(**asked)


def find_entry(here: Place, manifest: str, number: int) -> Place:
    """Find the address of an entry beside its manifest."""
    first = number // SIZE * SIZE
    return here.with_page("manifest", path=manifest, **{"from": first or None}, entry=number)
