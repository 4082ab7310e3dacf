"""What the names on the cards mean: one sentence for each, from the data files beside this module.

A file is a format or a kind of file, a section is a structure of its specification, an entry is a name as specified:

    [data_file]                         in iceberg.toml
    record_count = "Number of rows …"   the section is "iceberg.data_file"

The package of a format may have a file `glossary.toml` of its own, beside its driver: its sections are "package.data_file"
and so on, of a format of lakelens "delta.data_file".
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from functools import cache
from importlib.util import find_spec

from lakelens.installed import read_text

# the last section of every search: words that mean the same on every card
_ANYWHERE = "common.anywhere"
# the rooms of the formats that lakelens brings
_OURS = "lakelens.formats"
_HEAD = re.compile(r"^\[([^]\n]+)\][ \t]*(?:#.*)?$", re.MULTILINE)


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
    return _parse(file, name)


@cache
def _parse(file: str, name: str) -> Mapping[str, str]:
    # one section at a time: a card needs a tenth of them
    text = _split(file).get(name, "")
    try:
        return dict(map(_read_line, filter(None, text.splitlines())))
    except ValueError:
        import tomllib

        return tomllib.loads(text)


def _read_line(line: str) -> tuple[str, str]:
    """Read a line as nearly all are, which JSON reads as TOML does. Raises `ValueError` for any other."""
    name, meaning = line.split(" = ", 1)
    if not meaning.startswith('"'):
        raise ValueError(line)
    is_bare = name.replace("-", "").replace("_", "").isalnum()
    return name if is_bare else json.loads(name), json.loads(meaning)


@cache
def _split(name: str) -> Mapping[str, str]:
    """Split a file into the texts of its sections, by name."""
    text = ""
    ours = f"{_OURS}.{name}"
    for package, file in ((__name__, f"{name}.toml"), (ours, "glossary.toml"), (name, "glossary.toml")):
        try:
            if name.isidentifier() and find_spec(package) is not None:
                text = read_text(package, file)
                break
        except (ImportError, OSError):
            continue
    heads = list(_HEAD.finditer(text))
    ends = [*(head.start() for head in heads[1:]), len(text)]
    return {head[1]: text[head.end() : end] for head, end in zip(heads, ends, strict=False)}
