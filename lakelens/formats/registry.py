"""The formats that are installed, and which of them a directory is of."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points

from lakelens.errors import LakeError, NotATable, Unsupported, list_nearest
from lakelens.formats.base import Candidate, Format
from lakelens.io.store import ObjectInfo, Store
from lakelens.model.storage import Evidence

GROUP = "lakelens.formats"
#: Those of this package are known without its metadata: from a zip file, or a directory on the path, they open too.
BUILT_IN = ("hive", "iceberg", "paimon")


@cache
def load_formats() -> dict[str, Format]:
    """Every format by name: those of this package, and those that an entry point of another one names.

    >>> sorted(load_formats())[:3]
    ['hive', 'iceberg', 'paimon']
    """
    found: dict[str, Format] = {name: import_module(f"lakelens.formats.{name}").FORMAT for name in BUILT_IN}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        if point.name not in found:
            found[point.name] = point.load()
    return dict(sorted(found.items()))


def get_format(name: str) -> Format:
    """The format of a name. Raises `Unsupported` with the nearest name, else those that are installed."""
    formats = load_formats()
    if name.lower() not in formats:
        raise Unsupported(f"no format {name!r} is installed", hint=list_nearest(name, formats))
    return formats[name.lower()]


def detect_format(store: Store, path: str, format: str | None = None) -> tuple[Format, Evidence]:
    """The format of what is at a path, and why. Raises `Missing`, or `NotATable` with all that was looked for."""
    return detect_at(describe_candidate(store, path, forced=format is not None), format)


def detect_at(place: Candidate, format: str | None = None) -> tuple[Format, Evidence]:
    """The format of a place that is described already, and why. Raises `NotATable` with all that was looked for."""
    candidates = [get_format(format)] if format else list(load_formats().values())
    found: list[tuple[Evidence, Format]] = []
    refused: list[LakeError] = []
    for candidate in candidates:
        try:
            evidence = candidate.detect(place)
        except Unsupported as error:
            refused.append(error)
        else:
            if evidence is not None:
                found.append((evidence, candidate))
    found.sort(key=lambda pair: -pair[0].confidence)
    if found and not (refused and found[0][0].confidence < 0.5 and format is None):
        evidence, chosen = found[0]
        return chosen, evidence
    if refused:
        raise refused[0]
    looked_for = "; ".join(f"{c.name}: {c.looked_for}" for c in candidates)
    raise NotATable(
        "not a table that lakelens knows", path=place.path, expected=looked_for, seen=_format_content(place)
    )


def describe_candidate(store: Store, path: str, *, forced: bool = False) -> Candidate:
    """What is at a path. Raises `Missing` when nothing is there."""
    info = store.info(path)
    children: dict[str, ObjectInfo] = {}
    if info.is_dir:
        children = {child.name: child for child in store.list(path)}
    return Candidate(store, path, info, children, forced)


def _format_content(place: Candidate) -> str:
    if not place.info.is_dir:
        return f"it is a file of {place.info.size} bytes"
    if not place.children:
        return "the directory is empty"
    names = sorted(place.children)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"the directory holds {', '.join(names[:5])}{more}"
