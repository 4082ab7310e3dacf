"""Which deletion vectors reach a data file, and which reach none.

The index manifest of a snapshot names, for each `DELETION_VECTORS` file, the data files whose rows it deletes and where
their vectors are. A data file has at most one vector in a snapshot. See "Deletion vectors" of the Paimon documentation.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from functools import partial

from lakelens.formats.paimon.deletes.positions import VectorReader
from lakelens.formats.paimon.manifests.index import DELETION_VECTORS, PaimonIndexFile
from lakelens.model.deletes import DanglingDelete, DeleteMatch

Matches = Mapping[str, tuple[DeleteMatch, ...]]


def match_deletes(files: Iterable[PaimonIndexFile], reader: VectorReader) -> Matches:
    """The vectors of a snapshot's index files, by the name of the data file that they reach."""
    matches: dict[str, list[DeleteMatch]] = {}
    for file in files:
        for found in file.ranges if file.index_type == DELETION_VECTORS else ():
            name, offset = str(found["data_file"]), found["offset"]
            match = DeleteMatch(
                file,
                f"deletion vector at byte {offset}: the index manifest names this file",
                "deletion_vector",
                name,
                partial(reader.read_vector, file, found),
                cardinality=found["cardinality"],
                offset=offset,
                length=found["length"],
            )
            matches.setdefault(name, []).append(match)
    return {name: tuple(found) for name, found in matches.items()}


def find_dangling(matches: Matches, live: Collection[str]) -> tuple[DanglingDelete, ...]:
    """The vectors for data files that are not among the names of the live ones, an entry for each index file."""
    gone: dict[str, list[DeleteMatch]] = {}
    total: dict[str, int] = {}
    for name, found in matches.items():
        for match in found:
            total[match.file.path] = total.get(match.file.path, 0) + 1
            if name not in live:
                gone.setdefault(match.file.path, []).append(match)
    return tuple(
        DanglingDelete(
            lost[0].file,
            f"{len(lost)} of its {total[path]} vectors are for data files that are not live",
            sum(match.cardinality or 0 for match in lost),
            tuple(match.data_file for match in lost),
            is_partial=len(lost) < total[path],
        )
        for path, lost in gone.items()
    )
