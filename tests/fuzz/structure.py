"""Cases about the structure of a table, a subject a module: two documents that disagree, columns, rows, names, counts.

A subject lists its edits for a table, in order, and changes the files of one. How to add one: a module with these two, and a
line in `SUBJECTS`.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from itertools import chain

from tests.fuzz.choose import list_files
from tests.fuzz.column_edits import list_column_edits
from tests.fuzz.counts import change_counts, list_counts
from tests.fuzz.mutate import Impossible, change, find_file
from tests.fuzz.names import change_names, list_names
from tests.fuzz.pairs import change_pair, list_copies, list_pairs
from tests.fuzz.recipes import Edit, Recipe, read_lake
from tests.fuzz.row_edits import list_row_edits

Changed = Mapping[str, bytes | None]
#: Of the verbs of a table: those of ten thousand of anything take their time.
_SHARE_OF_MANY = 0.03


@dataclass(frozen=True)
class Subject:
    """What is changed: `listed` are all edits for a table, `changed` the files after one, None where `mutate` knows."""

    listed: Callable[[str], Iterator[Edit]]
    changed: Callable[[dict[str, bytes], Edit], Changed] | None = None


def _list_columns(lake: str) -> Iterator[Edit]:
    return _list_by_file(lake, ("parquet", "orc"), list_column_edits)


def _list_rows(lake: str) -> Iterator[Edit]:
    kinds = ("avro", "parquet", "orc") if "paimon" in lake else ("parquet",) if "delta" in lake else ()
    return _list_by_file(lake, kinds, list_row_edits)


def _list_by_file(
    lake: str, kinds: tuple[str, ...], listed: Callable[[bytes], Iterator[Edit]]
) -> Iterator[Edit]:
    for pattern, place, kind in list_files(lake):
        if kind in kinds:
            base = {"file": pattern, "place": place}
            data = read_lake(lake)[find_file(list(read_lake(lake)), base)]
            yield from ({**base, **edit} for edit in listed(data))


def _list_disagreements(lake: str) -> Iterator[Edit]:
    return chain(list_pairs(lake), list_copies(lake))


SUBJECTS: dict[str, Subject] = {
    "pair": Subject(_list_disagreements, change_pair),
    "column": Subject(_list_columns),
    "row": Subject(_list_rows),
    "name": Subject(list_names, change_names),
    "many": Subject(list_counts, change_counts),
}


@cache
def list_structural(lake: str, subject: str, seed: int) -> tuple[Recipe, ...]:
    """Every case of a subject for a table, in an order of chance."""
    edits = list(SUBJECTS[subject].listed(lake))
    random.Random(f"{seed} {lake} {subject}").shuffle(edits)
    share = {"share": _SHARE_OF_MANY} if subject == "many" else {}
    return tuple(Recipe(lake, [edit], seed=seed + number, **share) for number, edit in enumerate(edits))


def change_files(files: dict[str, bytes], edit: Edit) -> Changed:
    """The files that an edit changes, makes or, with None, takes away. Raises `Impossible`."""
    subject = SUBJECTS.get(edit["how"])
    if subject is None or subject.changed is None:
        name = find_file(list(files), edit)
        return {name: change(files[name], edit)}
    try:
        return subject.changed(files, edit)
    except Impossible:
        raise
    except Exception as error:
        raise Impossible(f"{type(error).__name__}: {error}") from error
