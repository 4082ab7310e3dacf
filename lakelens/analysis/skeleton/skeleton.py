"""The skeleton of a table: written elsewhere, with what translates predicates into it."""

from __future__ import annotations

import json
import os
from collections.abc import Collection
from pathlib import Path
from typing import TYPE_CHECKING

from lakelens.analysis.skeleton.translation import translate_predicate
from lakelens.analysis.skeleton.writing import find_target, write_files
from lakelens.errors import LakeError
from lakelens.model.driver import require_part
from lakelens.model.finding import Finding
from lakelens.model.skeleton.redaction import Redaction

if TYPE_CHECKING:
    from lakelens.model.schema import Schema
    from lakelens.model.skeleton.bones import Bones
    from lakelens.model.table import Table


class Skeleton(str):
    """The path of a skeleton, as text; `findings` says what is not in it, `translate_predicate` takes a predicate over.

    The original names and values are in this object alone. They are not in the skeleton.
    """

    findings: tuple[Finding, ...]
    size_bytes: int
    _redaction: Redaction
    _schema: Schema

    def __new__(cls, path: str, redaction: Redaction, schema: Schema, size_bytes: int) -> Skeleton:
        made = super().__new__(cls, path)
        made.size_bytes = size_bytes
        made.findings = tuple(Finding("note", "skeleton", path, text) for text in redaction.notes)
        made._redaction, made._schema = redaction, schema
        return made

    def __reduce__(self) -> tuple[type[str], tuple[str]]:
        """What is pickled is the path alone: the original names and values stay in this process."""
        return str, (str(self),)

    def translate_predicate(self, where: str, schema: Schema | None = None) -> str:
        """A predicate over the table as one over the skeleton, which skips and keeps the same files.

        Parameters
        ----------
        where
            A predicate as `Table.explain` takes it.
        schema
            The schema whose columns are meant; by default the table's current one.

        Raises
        ------
        LakeError
            The predicate is not understood.
        Unsupported
            It compares what has no order in the skeleton.
        """
        return translate_predicate(where, schema or self._schema, self._redaction.columns)

    def save_key(self, path: str | os.PathLike[str]) -> None:
        """Write which column is which, as JSON, for your own use: anywhere but in the skeleton.

        Parameters
        ----------
        path
            The file to write; it must not be there yet.
        """
        place = Path(path).expanduser().resolve()
        if Path(str(self)) in place.parents:
            raise LakeError("the key to a skeleton is not written into it", path=str(place))
        columns = {name: column.name for name, column in self._redaction.columns.items()}
        write_files(place.parent, [(place.name, json.dumps({"columns": columns}, indent=2).encode())])


def write_skeleton(
    table: Table, target: str | os.PathLike[str], keep: Collection[str] = (), seed: int | str | None = None
) -> Skeleton:
    """Write the skeleton of a table to a directory; `seed` makes it the same each time. See `Table.skeleton`."""
    place = find_target(target, table.location)
    redaction = Redaction(keep, seed)
    bones: Bones = require_part(table, "skeleton")(table, redaction)
    size = write_files(place, bones.encode(str(place)))
    return Skeleton(str(place), redaction, table.schema, size)
