"""The formats that are installed, and which of them a directory is of."""

from __future__ import annotations

import posixpath
import re
from functools import cache
from importlib import import_module

from lakelens.codecs.kinds import register_kinds
from lakelens.errors import AccessDenied, LakeError, NotATable, Unsupported, list_nearest
from lakelens.formats.base import Candidate, Format
from lakelens.installed import list_entry_points, list_packages, read_text
from lakelens.io.ahead import fetch
from lakelens.io.cache import Rule
from lakelens.io.store import ObjectInfo, Store
from lakelens.io.waves import NEAR
from lakelens.model.storage import KNOWN_FORMATS, OWN_DIRECTORIES, Evidence

GROUP = "lakelens.formats"


@cache
def load_formats() -> dict[str, Format]:
    """Load every format by name: those of this package, and those that an entry point of another one names.

    Those of this package are the folders beside this module that have a `FORMAT`. Their entry points say the same, for
    others; they are not asked, because from a zip file, or a directory on the path, there is no metadata.

    >>> {"hive", "iceberg", "paimon"} <= set(load_formats())
    True
    """
    modules = (import_module(f"lakelens.formats.{name}") for name in list_packages("lakelens.formats"))
    found: dict[str, Format] = {one.FORMAT.name: one.FORMAT for one in modules if hasattr(one, "FORMAT")}
    for point in list_entry_points(GROUP):
        if point.name not in found:
            found[point.name] = point.load()
    for driver in found.values():
        register_kinds(getattr(driver, "kinds", ()))
        KNOWN_FORMATS.update(getattr(driver, "known_formats", {}))
        OWN_DIRECTORIES.update(getattr(driver, "own_directories", {}))
    return dict(sorted(found.items()))


def read_resource(place: str) -> str:
    """Read a file that a driver names as `package:file`."""
    package, _, name = place.partition(":")
    return read_text(package, name)


def get_format(name: str) -> Format:
    """Give the format of a name. Raises `Unsupported` with the nearest name, else those that are installed."""
    formats = load_formats()
    if name.lower() not in formats:
        raise Unsupported(f"no format {name!r} is installed", hint=list_nearest(name, formats))
    return formats[name.lower()]


def detect_format(store: Store, path: str, format: str | None = None) -> tuple[Format, Evidence]:
    """Detect the format of what is at a path, and why. Raises `Missing`, or `NotATable` with all that was looked for."""
    return detect_at(describe_candidate(store, path, forced=format is not None, format=format), format)


def detect_at(place: Candidate, format: str | None = None) -> tuple[Format, Evidence]:
    """Detect the format of a place that is described already, and why. Raises `NotATable` with all that was looked for."""
    candidates = [get_format(format)] if format else list(load_formats().values())
    found: list[tuple[Evidence, Format]] = []
    refused: list[LakeError] = []
    # those without files of their own are the last: they are never sure, and may look far to have an opinion
    for candidate in sorted(candidates, key=lambda format: not getattr(format, "looks_at", ())):
        if not getattr(candidate, "looks_at", ()) and any(
            evidence.confidence >= 0.5 for evidence, _ in found
        ):
            break
        try:
            evidence = candidate.detect(place)
        except Unsupported as error:
            refused.append(error)
        except AccessDenied:
            if place.refused is None:
                raise
        else:
            if evidence is not None:
                found.append((evidence, candidate))
    found.sort(key=lambda pair: (-pair[0].confidence, pair[1].name))
    if found and not (refused and found[0][0].confidence < 0.5 and format is None):
        evidence, chosen = found[0]
        return chosen, evidence
    if refused:
        raise refused[0]
    if place.refused is not None:
        hint = "listing may be denied where reading is allowed: name the table's metadata file itself, or its catalog"
        own = f"{place.refused.hint}; or " if place.refused.hint else ""
        raise AccessDenied(place.refused.message, path=place.path, hint=own + hint)
    looked_for = "; ".join(f"{c.name}: {c.looked_for}" for c in candidates)
    raise NotATable(
        "not a table that lakelens knows", path=place.path, expected=looked_for, seen=_format_content(place)
    )


def find_rule(format: Format | None = None) -> Rule:
    """What may be kept of a table of a format for another session; where that is not known yet, what is read of any.

    >>> rule = find_rule(get_format("paimon"))
    >>> [rule(f"/t/{path}") for path in ("manifest/manifest-1", "snapshot/snapshot-1", "snapshot/LATEST", "tag/tag-a")]
    [True, False, None, None]
    """
    if format is not None:
        return _make_rule(_list_patterns(format, "never_changes"), _list_patterns(format, "is_numbered"))
    known = [one for one in load_formats().values() if getattr(one, "looks_at", ())]
    early, numbered = (
        tuple(pattern for one in known for pattern in _list_patterns(one, name))
        for name in ("reads_early", "is_numbered")
    )
    return _make_rule(early, numbered)


def _list_patterns(format: Format, name: str) -> tuple[str, ...]:
    return tuple(getattr(format, name, ()))


def _make_rule(never: tuple[str, ...], numbered: tuple[str, ...]) -> Rule:
    def judge(path: str) -> bool | None:
        if _compile(never).fullmatch(path):
            return True
        return False if _compile(numbered).fullmatch(path) else None

    return judge


@cache
def _compile(patterns: tuple[str, ...]) -> re.Pattern[str]:
    # when the first path is judged: a local table has none that is kept
    return re.compile("|".join(f"(?:.*/)?{_translate(pattern)}" for pattern in patterns) or "(?!)", re.DOTALL)


def _translate(pattern: str) -> str:
    return "".join("[^/]*" if character == "*" else re.escape(character) for character in pattern)


def describe_candidate(
    store: Store,
    path: str,
    *,
    forced: bool = False,
    format: str | None = None,
    known: ObjectInfo | None = None,
    ahead: bool = True,
) -> Candidate:
    """Describe what is at a path. Raises `Missing` when nothing is there.

    With `format` nothing is asked for ahead that only other formats look at, and with `ahead` false nothing at all: most
    directories of a warehouse are no tables. `known` is what a listing has said of the path.
    """
    if ahead:
        _fetch_ahead(store, path, format)
    try:
        info = known or store.info(path)
        children = {child.name: child for child in store.list(path)} if info.is_dir else {}
    except AccessDenied as error:
        if store.scheme in NEAR:
            raise
        # many buckets may be read, and not listed
        return Candidate(store, path, ObjectInfo(path, 0, is_dir=True), {}, forced, error)
    return Candidate(store, path, info, children, forced)


def _fetch_ahead(store: Store, path: str, format: str | None) -> None:
    """Read what formats look at, all together; of what is named like a document, that and what is beside it."""
    formats = load_formats()
    chosen = [formats[format.lower()]] if format and format.lower() in formats else list(formats.values())
    name = posixpath.basename(path).lower()
    if any(ending in name for one in chosen for ending in getattr(one, "opens", ())):
        fetch(store, documents=[path], listings=[posixpath.dirname(path)], infos=[path])
        return
    looks_at = sorted({name for one in chosen for name in getattr(one, "looks_at", ())})
    below = [f"{path.rstrip('/')}/{name}" for name in looks_at]
    patterns = (pattern for one in chosen for pattern in _list_patterns(one, "reads_early"))
    early = {f"{path.rstrip('/')}/{posixpath.dirname(pattern)}" for pattern in patterns}
    fetch(
        store,
        listings=[path, *(name.rstrip("/") for name in below if name.endswith("/"))],
        documents=[name for name in below if not name.endswith("/")],
        infos=[path],
        few=[folder for folder in sorted(early) if f"{folder}/" not in below],
    )


def _format_content(place: Candidate) -> str:
    if not place.info.is_dir:
        return f"it is a file of {place.info.size} bytes"
    if not place.children:
        return "the directory is empty"
    names = sorted(place.children)
    more = f" and {len(names) - 5} more" if len(names) > 5 else ""
    return f"the directory holds {', '.join(names[:5])}{more}"
