"""A case as data: which table, what is changed in it, which steps are walked. Kept as JSON, applied to a fresh copy.

::

    {"lake": "iceberg-types",                                the sample, or the path below tests/lakes
     "edits": [{"file": "metadata/*.metadata.json",          a pattern below the table
                "place": -1,                                 which of the files that match, in the order of names
                "how": "json",                               a function of `mutate`
                "at": ["snapshots", 0, "timestamp-ms"], "do": "set", "value": "int63"}],
     "seed": 7, "share": 0.14,                               which of the optional steps are walked
     "steps": ["table.history.to_text(1)"],                  or these alone
     "course": "remote", "settings": {"mode": "short"},      another course than the walk of all verbs (see `courses`)
     "cause": "OverflowError in …"}                          why it is kept
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from tests.support import LAKES

CORPUS = Path(__file__).parent / "corpus"
#: Bytes. What is kept is to be read by a person.
MOST_BYTES = 5_000
Edit = dict[str, Any]
_OF_COURSES = ("course", "settings")


@dataclass
class Recipe:
    """A case: see the head of this module."""

    lake: str
    edits: list[Edit] = field(default_factory=list)
    seed: int = 0
    share: float = 0.14
    steps: list[str] = field(default_factory=list)
    cause: str = ""
    course: str = ""
    settings: dict[str, Any] = field(default_factory=dict)

    def to_json(self) -> str:
        """The case as text, the same for the same case."""
        held = {key: value for key, value in asdict(self).items() if self.course or key not in _OF_COURSES}
        return json.dumps(held, indent=1)

    @classmethod
    def from_json(cls, text: str) -> Recipe:
        """The case that a text describes."""
        return cls(**json.loads(text))

    @property
    def name(self) -> str:
        """A short name by content, for a file of the corpus."""
        said = [self.lake, self.edits, *([self.course, self.settings] if self.course else ())]
        return hashlib.sha256(json.dumps(said).encode()).hexdigest()[:12]

    @property
    def kind(self) -> str:
        """What is done here: the name of the course, or else how a table is changed."""
        return self.course or (self.edits[0]["how"] if self.edits else "whole")


def list_corpus() -> list[Path]:
    """The cases that are kept."""
    return sorted(CORPUS.glob("*.json"))


@cache
def list_lakes() -> tuple[str, ...]:
    """Every table and view that there is to damage: the samples, and those of tests/lakes by their path."""
    from lakelens.samples import sample

    stored = [
        *LAKES.glob("spark/*/*/table"),
        *LAKES.glob("paimon-java/2*/table"),
        *LAKES.glob("paimon-java/1*/table"),
        *LAKES.glob("delta/*/*/table"),
    ]
    names = [str(path.parent.relative_to(LAKES)) for path in sorted(stored) if path.is_dir()]
    names += [str(path.parent.relative_to(LAKES)) for path in sorted(LAKES.glob("views/*/*/metadata"))]
    return (*(one.name for one in sample()), *names)


@cache
def read_lake(name: str) -> dict[str, bytes]:
    """The files of a table as engines left them, by path below the table."""
    if "/" in name:
        return dict(_walk(LAKES / name / ("" if name.startswith("views/") else "table")))
    import zipfile
    from importlib.resources import files

    with (
        files("lakelens.samples").joinpath("tables", f"{name}.zip").open("rb") as packed,
        zipfile.ZipFile(packed) as archive,
    ):
        return {one: archive.read(one) for one in sorted(archive.namelist()) if not one.endswith("/")}


def _walk(root: Path) -> Iterator[tuple[str, bytes]]:
    for path in sorted(root.rglob("*")):
        if path.is_file():
            yield str(path.relative_to(root)), path.read_bytes()
