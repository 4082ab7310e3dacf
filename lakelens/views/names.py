"""Which names of an object are for its reader, and what its data attributes hold: read from `names.toml` beside this module.

`dir()` and Tab show a class's names but those that are listed as `hidden`: what rooms of lakelens ask each other. What an
attribute holds is said in the documentation of its class; names of a specification have their sentence in the glossary.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from functools import cache, cached_property

from lakelens.installed import read_text
from lakelens.views.card.glossary import load_section

# by the ending of a class's name: the section of the glossary about what it is
_SECTIONS = {
    "DataFile": "data_file",
    "HiveFile": "data_file",
    "Snapshot": "snapshot",
    "Manifest": "manifest_list",
    "Schema": "schema",
}


@cache
def _load() -> Mapping[str, Mapping[str, str]]:
    import tomllib

    return tomllib.loads(read_text("lakelens.views", "names.toml"))


def _read(kind: type) -> Mapping[str, str]:
    """Read what is said of a class itself."""
    known, name = _load(), kind.__name__
    return {**known.get(name, {}), **known.get(f"{kind.__module__.rpartition('.')[2]}.{name}", {})}


@cache
def list_hidden(kind: type) -> frozenset[str]:
    """List the names of a class that are not for its reader."""
    return frozenset(name for one in kind.__mro__ for name in _read(one).get("hidden", "").split())


@cache
def describe_attributes(kind: type) -> Mapping[str, str]:
    """Describe what the data attributes of a class hold, by name; the most special class says it."""
    said: dict[str, str] = {}
    for one in kind.__mro__:
        said = {**_read(one), **said}
    for one in kind.__mro__:
        for name in (*_list_annotated(one), *_read(one).get("specified", "").split()):
            if name not in said:
                said[name] = _find_sentence(kind, name)
    left_out = {"hidden", "specified"} | list_hidden(kind)
    known = ((name, sentence) for name, sentence in said.items() if sentence and name not in left_out)
    return {name.removesuffix("_"): sentence for name, sentence in known}


def _find_sentence(kind: type, name: str) -> str:
    """Find the glossary's sentence about an attribute that is named as its specification names it."""
    home = kind.__module__.split(".")
    section = next((section for ending, section in _SECTIONS.items() if kind.__name__.endswith(ending)), None)
    if home[:2] != ["lakelens", "formats"] or section is None:
        return ""
    first, *rest = name.split("_")
    camel = first + "".join(part.title() for part in rest)
    spelled = (name, camel, f"_{name.upper()}", name.replace("_", "-"))
    known = load_section(f"{home[2]}.{section}")
    return next((known[name] for name in spelled if name in known), "")


def _list_annotated(kind: type) -> Iterator[str]:
    for name, held in vars(kind).items():
        if (
            hasattr(held, "__set_name__")
            and not callable(held)
            and not isinstance(held, property | cached_property)
        ):
            yield name  # a descriptor of the model: a stored record, a column
    for name, held in inspect.get_annotations(kind).items():
        is_shared = str(held).startswith("ClassVar")  # annotations are text
        if not name.startswith("_") and not is_shared:
            yield name


def document(kind: type, text: str) -> str:
    """The documentation of a class with what its attributes hold."""
    said = describe_attributes(kind)
    if not said or "Attributes\n" in text:
        return text
    lines = (f"{name}\n    {said[name]}" for name in sorted(said))
    return "\n".join((inspect.cleandoc(text), "", "Attributes", "----------", *lines))
