"""Which deletion vectors reach a data file.

The index manifest of a snapshot names, for each `DELETION_VECTORS` file, the data files whose rows it deletes and where
their vectors lie. A data file has at most one vector in a snapshot. See "Deletion vectors" of the Paimon documentation.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from lakelens.formats.paimon.index import DELETION_VECTORS, PaimonIndexFile


@dataclass(frozen=True, slots=True)
class DeleteMatch:
    """One vector that reaches a data file: the index `file`, where in it, how many rows it deletes, the rule in words.

    `offset` is the byte of the vector's length word, `length` as recorded, `cardinality` None in files older than 1.0.
    """

    file: PaimonIndexFile
    rule: str
    offset: int | None = None
    length: int | None = None
    cardinality: int | None = None


def match_deletes(files: Iterable[PaimonIndexFile]) -> dict[str, tuple[DeleteMatch, ...]]:
    """The vectors of a snapshot's index files, by the name of the data file that they reach."""
    matches: dict[str, tuple[DeleteMatch, ...]] = {}
    for file in files:
        for found in file.ranges if file.index_type == DELETION_VECTORS else ():
            name, offset = found["data_file"], found["offset"]
            match = DeleteMatch(
                file, f"deletion vector at byte {offset}", offset, found["length"], found["cardinality"]
            )
            matches[name] = (*matches.get(name, ()), match)
    return matches
