"""What the names on the cards mean: one sentence for each, from the data files beside this module.

A file is a format or a kind of file, a section is a structure of its specification, an entry is a name as specified:

    [data_file]                         in iceberg.toml
    record_count = "Number of rows …"   the section is "iceberg.data_file"

The package of another format may have a file `glossary.toml` of its own: its sections are "package.data_file" and so on.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cache
from importlib.resources import files

# the last section of every search: words that mean the same on every card
_ANYWHERE = "common.anywhere"


def find_meaning(name: str, about: Sequence[str] = ()) -> str:
    """Find what a name means, by the first of the sections that has it; empty when none has.

    >>> find_meaning("record_count", ("iceberg.data_file",))[:14]
    'Number of rows'
    >>> find_meaning("no such name")
    ''
    """
    for section in (*about, _ANYWHERE):
        known = load_section(section)
        if name in known:
            return known[name]
    return ""


def load_section(section: str) -> Mapping[str, str]:
    """Load the names of one section with their meanings; empty for a section that is not there."""
    file, _, name = section.partition(".")
    return _load_file(file).get(name, {})


@cache
def _load_file(name: str) -> Mapping[str, Mapping[str, str]]:
    import tomllib

    try:
        own = files(__name__).joinpath(f"{name}.toml")
        source = own if own.is_file() else files(name).joinpath("glossary.toml")
    except (ModuleNotFoundError, TypeError):  # not a package
        return {}
    return tomllib.loads(source.read_text("utf-8")) if source.is_file() else {}
