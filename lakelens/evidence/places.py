"""Where facts stand: each format says it of its nouns in one file, from which the place of a fact of a thing is made."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

from lakelens.answers.parts import find
from lakelens.errors import LakeError
from lakelens.evidence.claims import ANY, TYPED, Address, Cut, Kind, Match, Step
from lakelens.formats.registry import read_resource


@cache
def load_nouns(place: str) -> Mapping[str, Any]:
    """Load what a format says of its nouns, as `package:file.toml`; nothing of a format that says nothing."""
    return tomllib.loads(read_resource(place)) if place else {}


class Places:
    """Where the facts of one table's nouns stand.

    >>> import lakelens as ll
    >>> table = ll.sample("iceberg")
    >>> place = Places(table).find("snapshot", "sequence_number", thing=table.current)
    >>> place.steps[-1], place.clause
    ('sequence-number', 'Iceberg table specification, Snapshots')
    """

    def __init__(self, table: Any) -> None:
        self.table = table
        self.nouns = load_nouns(getattr(table.driver, "places", ""))

    def knows(self, noun: str) -> bool:
        """Whether the format says where facts of a noun stand."""
        return noun in self.nouns

    def list_facts(self, noun: str) -> tuple[str, ...]:
        """List the facts of a noun that have places, in the order in which they are said."""
        return tuple(self.nouns.get(noun, {}).get("facts", ()))

    def find(self, noun: str, fact: str, **things: Any) -> Address | None:
        """Find the place of a fact about things: of several where it may stand the likeliest; None where none is known.

        A value of a column is read as its `kind` is stored, where that is among the things, else cited as it is stored.
        """
        said = self.nouns.get(noun)
        if said is None or fact not in said["facts"]:
            return None
        held = {"table": self.table, **things}
        try:
            files = [path for name in _list(said["file"]) for path in _list(find(held, name)) if path]
            base = [_make_step(step, held) for step in said.get("base", ())]
            made = [self._make(said, written, files, base, held) for written in _list(said["facts"][fact])]
        except (AttributeError, KeyError, LakeError):
            return None
        return replace(made[0], others=tuple(made[1:])) if files else None

    def list_measured(self, name: str) -> tuple[str, tuple[Address, ...]]:
        """List the files whose lengths a measure of the format's own is made of, and how; none where it does not say."""
        said = self.nouns.get("measures", {}).get(name)
        if said is None:
            return "", ()
        paths = _list(find({"table": self.table}, said["file"]))
        chosen = [path for path in paths if fnmatchcase(path, said.get("like", "*"))]
        return said["how"], tuple(Address((path,), (), "length") for path in chosen)

    def _make(
        self,
        said: Mapping[str, Any],
        written: Any,
        files: list[str],
        base: list[Step],
        held: Mapping[str, Any],
    ) -> Address:
        given = written if isinstance(written, Mapping) else {"path": written}
        path = given.get("path", "")
        steps = [
            _make_step(step, held)
            for step in (path if isinstance(path, list) else filter(None, path.split(".")))
        ]
        kind: Kind = given.get("kind", said.get("kind", "document"))
        how = given.get("how", "")
        if how in TYPED:
            how = TYPED[how][held["kind"]] if "kind" in held else ""
        names = {int(code) if code.isdigit() else code: word for code, word in given.get("names", {}).items()}
        return Address(tuple(files), (*base, *steps), kind, said.get("clause", ""), how, names)


def _make_step(step: Any, held: Mapping[str, Any]) -> Step:
    """Make a step: a name, `{…}` for what is found in the things, or what an item is found by."""
    if isinstance(step, Mapping) and "cut" in step:
        cut: Cut = find(held, step["cut"])
        return cut
    if isinstance(step, Mapping):
        return Match(step["by"], find(held, step["of"]) if "of" in step else ANY)
    if isinstance(step, str) and step.startswith("{"):
        step = find(held, step[1:-1])
        if not isinstance(step, str | int):
            raise KeyError(step)
    made: Step = step
    return made


def _list(said: Any) -> list[Any]:
    return list(said) if isinstance(said, list | tuple) else [said]


def list_log(held: Mapping[str, Any]) -> list[str]:
    """List the files that lead to the current state, the newest first: where what holds for it was said last."""
    lists = held["table"].current.manifest_lists
    return [
        manifest.path for listed in reversed(list(lists)) for manifest in reversed(list(listed.manifests))
    ]


def list_stored(held: Mapping[str, Any]) -> list[str]:
    """List every file below the table."""
    return [file.path for file in held["table"].list_files()]
