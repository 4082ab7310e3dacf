"""What a format says of its tables and snapshots in words of all formats: nothing outside asks for a format by name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from urllib.parse import unquote

from lakelens.display import Named
from lakelens.model.facts.amounts import Amount


@dataclass(frozen=True, slots=True)
class Traits:
    """What is true of a table because of its format.

    `title` is the format's name in a sentence ("Iceberg"), `kind` says what the table is ("Apache Iceberg table, format
    version 2"), `buckets` how rows are divided into buckets (empty where they are not), `variant` what follows the title in
    a list of tables ("v2", "primary key"). Without `has_snapshots` the one state is a listing taken now; where
    `files_are_listed` only the directory says which files there are, and a metastore the rest. `numbers_branches`: each
    branch numbers its commits without a gap, so that the parent of 7 is 6. `has_versions`: older metadata documents can be
    opened. `has_levels` and `has_sequence_numbers` are true of its files. `lists_referrers`: listing its objects names all
    that refers to them, entries too. `unquote` decodes what the directory form of a partition escapes.
    """

    title: str
    kind: str
    buckets: str = ""
    variant: str = ""
    has_snapshots: bool = True
    files_are_listed: bool = False
    numbers_branches: bool = False
    has_versions: bool = False
    has_levels: bool = False
    has_sequence_numbers: bool = True
    lists_referrers: bool = False
    unquote: Callable[[str], str] = unquote


@dataclass(frozen=True, slots=True)
class Figures(Named):
    """What one snapshot records of its changes and totals; None where it records nothing.

    `rows` are those of the live files, deleted ones included. `deleted` are the rows that the commit deleted in files that
    stay: by position, by vector or by value; `added_equality_deletes` are the values that it deletes rows by.
    """

    added_files: int | None = None
    removed_files: int | None = None
    added_rows: int | None = None
    removed_rows: int | None = None
    net_rows: int | None = None
    added_bytes: int | None = None
    removed_bytes: int | None = None
    rows: int | None = None
    files: int | None = None
    delete_files: int | None = None
    size_bytes: int | None = None
    partitions: int | None = None
    position_deletes: int | None = None
    equality_deletes: int | None = None
    deleted: Amount | None = None
    added_equality_deletes: int | None = None

    @property
    def net_bytes(self) -> int | None:
        """Bytes added less bytes removed."""
        if self.added_bytes is None and self.removed_bytes is None:
            return None
        return (self.added_bytes or 0) - (self.removed_bytes or 0)

    def explain_emptiness(self, listed: int | None, lists: str) -> str | None:
        """Why a state of which no file is found should have some: by these figures, or by the files that `lists` count.

        None where nothing says that there are any.

        >>> Figures(rows=1200, files=3).explain_emptiness(None, "manifest list")
        'no file can be read, although it has 3 data files and 1,200 rows as it records'
        """
        nouns = (("data file", self.files), ("row", self.rows), ("delete file", self.delete_files))
        parts = [f"{count:,} {noun}{'s' * (count != 1)}" for noun, count in nouns if count and count > 0]
        if parts:
            return f"no file can be read, although it has {' and '.join(parts)} as it records"
        if listed and listed > 0:
            return f"no file can be read, although its {lists} counts {listed:,}"
        return None


def parse_figure(facts: Mapping[str, object], key: str) -> int | None:
    """A figure of a snapshot's document; None when it is missing, no number, or beyond the 64 bits of a count.

    >>> parse_figure({"total-records": "3"}, "total-records"), parse_figure({}, "total-records")
    (3, None)
    >>> parse_figure({"total-records": "9" * 400}, "total-records")
    """
    try:
        figure = int(facts[key])  # type: ignore[call-overload]
    except (KeyError, ValueError, TypeError, OverflowError):
        return None
    return figure if -(2**63) <= figure < 2**63 else None
