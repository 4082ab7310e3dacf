"""What is installed beside this module: files of packages, what other packages name in their entry points, what is missing.

The standard library's ways to both (`importlib.resources`, `importlib.metadata`) load e-mail, CSV and archives: a tenth of a
first card. They are asked only where there may be something to find.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from functools import cache, lru_cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from lakelens.errors import NotInstalled

if TYPE_CHECKING:
    from importlib.machinery import ModuleSpec
    from importlib.metadata import EntryPoint
    from types import FrameType


def read_packaged(package: str, *names: str) -> bytes:
    """Read a file that is beside the modules of a package, in a directory or in an archive.

    Raises `ModuleNotFoundError` for a package that is not there, `OSError` for a file.

    >>> read_packaged("lakelens.samples", "samples.json")[:1]
    b'['
    """
    spec = import_module(package).__spec__
    if spec is None or not spec.has_location or spec.origin is None:
        raise ModuleNotFoundError(f"{package} is not a package with files")
    content: bytes = spec.loader.get_data(str(Path(spec.origin).parent.joinpath(*names)))  # type: ignore[union-attr]
    return content


def read_text(package: str, *names: str) -> str:
    """Read a text that is beside the modules of a package; its lines end as in the repository."""
    return read_packaged(package, *names).decode().replace("\r\n", "\n")


#: The packages that the core does without, and the extra that brings each.
EXTRAS = dict.fromkeys(("fastavro", "mmh3", "numpy", "pandas", "pyarrow", "pyroaring"), "tables")


class _Wanted:
    """Finds nothing: an import of ours for a package that the core does without fails with the command that installs it.

    A module imports such a package where it needs it, in one line as any other; other people's imports fail as they do.
    """

    @classmethod
    def find_spec(cls, name: str, path: Any = None, target: Any = None) -> ModuleSpec | None:
        """Find where another finder has a package. Raises `NotInstalled` where none has and lakelens imports it."""
        if name not in EXTRAS:
            return None
        for finder in sys.meta_path:
            found = None if finder is cls else finder.find_spec(name, path, target)
            if found is not None:
                return found
        frame: FrameType | None = sys._getframe(1)
        while frame is not None and (asked := frame.f_globals.get("__name__", "")).startswith(_MACHINERY):
            frame = None if asked == "importlib.util" else frame.f_back  # which only asks whether it is there
        if frame is not None and asked.partition(".")[0] == "lakelens":
            message, hint = (
                f"this needs {name}, which is not installed",
                f"pip install 'lakelens[{EXTRAS[name]}]'",
            )
            raise NotInstalled(message, hint=hint)
        return None


_MACHINERY = ("importlib", "_frozen_importlib")
sys.meta_path.insert(0, _Wanted)


@cache
def has_arrays() -> bool:
    """Whether numpy and pyarrow are there, which read by column what the core reads record by record."""
    from importlib.util import find_spec

    return find_spec("numpy") is not None and find_spec("pyarrow") is not None


def write_command(place: str) -> list[str]:
    """Write the command that calls a function, `module:name`, in a process of its own, with the packages that this one has.

    Nothing is imported from the directory in which it is started: that may be a lake, whose files are an attacker's.

    >>> write_command("lakelens.answers.worker:main")[1:3]
    ['-P', '-c']
    """
    module, _, name = place.partition(":")
    places = [where for where in sys.path if Path(where).is_absolute()]
    code = f"import sys; sys.path[:] = {places!r}; from {module} import {name}; {name}()"
    return [sys.executable, "-P", "-c", code]


def list_packages(package: str) -> list[str]:
    """List the packages inside of one, which may be in an archive.

    >>> list_packages("lakelens.formats.iceberg")[:3]
    ['check', 'defects', 'deletes']
    """
    found: set[str] = set()
    for place in import_module(package).__path__:
        try:
            with os.scandir(place) as entries:
                found |= {one.name for one in entries if Path(one.path, "__init__.py").is_file()}
        except OSError:
            from pkgutil import iter_modules

            found |= {module.name for module in iter_modules([place]) if module.ispkg}
    return sorted(found)


def list_entry_points(group: str) -> Sequence[EntryPoint]:
    """List what other packages offer to a group, by name.

    >>> list_entry_points("lakelens.nothing")
    ()
    """
    if not _may_offer(tuple(sys.path), group):
        return ()
    from importlib.metadata import entry_points

    return tuple(sorted(entry_points(group=group), key=lambda point: point.name))


def _may_offer(places: Sequence[str], group: str) -> bool:
    finders = (type(finder) if not isinstance(finder, type) else finder for finder in sys.meta_path)
    others = {finder.__module__ for finder in finders if hasattr(finder, "find_distributions")}
    if others - {"_frozen_importlib_external"}:
        return True  # who finds packages in another way may find any
    for place in places:
        try:
            modified = os.stat(place or ".").st_mtime_ns
        except OSError:
            continue
        offered = _list_offers(place or ".", modified)
        if offered is None or group in offered:
            return True
    return False


_PACKAGES = (".dist-info", ".egg-info", ".egg")


@lru_cache(maxsize=64)
def _list_offers(place: str, modified: int) -> frozenset[str] | None:
    """List the groups of lakelens that packages of a directory name; None where one has to look closer."""
    found: set[str] = set()
    try:
        with os.scandir(place) as entries:
            names = [entry.name for entry in entries if entry.name.endswith(_PACKAGES)]
    except OSError:
        return None  # an archive
    for name in names:
        if name.startswith("lakelens-"):
            continue  # what lakelens itself names is known without its metadata
        if name.endswith(".egg"):
            return None
        # hundreds may be installed, and a `Path` of each takes as long as the reading
        with suppress(OSError), open(f"{place}/{name}/entry_points.txt", "rb", 0) as file:  # noqa: PTH123
            text = file.read()
            if b"lakelens." in text:
                found |= {line.strip(" []\r") for line in text.decode(errors="replace").split("\n")}
    return frozenset(found)
