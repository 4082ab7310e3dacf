"""The documents of a skeleton before they are written: what a format makes of its table, and what can be cut from it."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from typing import TYPE_CHECKING, Protocol, cast

from lakelens import display
from lakelens.errors import Unsupported

if TYPE_CHECKING:
    from lakelens.analysis.skeleton.skeleton import Skeleton
    from lakelens.model.skeleton.redaction import Redaction
    from lakelens.model.table import Table


class Bones(Protocol):
    """A redacted table as plain documents. Nothing in it names a place: that is filled in when it is written."""

    def encode(self, location: str) -> Iterator[tuple[str, bytes]]:
        """Each file of the skeleton: its path below the table's directory, and its bytes, if the table is at `location`."""
        ...

    def list_parts(self, kind: str) -> list[str]:
        """What of a kind could be left out: a key for each part."""
        ...

    def leave_out(self, kind: str, keys: Collection[str]) -> Bones:
        """The same without some parts; what only they referred to is left out too."""
        ...

    @property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of parts, those first of which much hangs."""
        ...


class Redactable:
    """A table of which a skeleton can be made."""

    format: str

    def redact(self, redaction: Redaction) -> Bones:
        """This table's documents with every name and value replaced; see `skeleton`."""
        raise Unsupported(f"no skeleton can be made of a {self.format} table: its format does not say how")

    def skeleton(
        self, target: str | os.PathLike[str], *, keep: Collection[str] = (), seed: int | str | None = None
    ) -> Skeleton:
        """Write a redacted copy of the metadata elsewhere, to attach to a bug report. Nothing is written into the table.

        Every name and value is replaced: columns, partition fields, branches and tags, properties that no format specifies,
        users and hosts, comments, files and directories; bounds, partition values, keys and defaults keep their order, so
        that the engines and `explain` skip the same files. Ids, counts, sizes, times of commits and the structure stay. Data
        files, delete files with values and statistics are not copied. See the page *Skeletons* of the documentation.

        Parameters
        ----------
        target
            A directory of this machine that is empty or not there yet, and not in the table.
        keep
            What stays by choice: "names", "values", "properties", or names of columns, which stay with their values.
        seed
            Makes the same skeleton each time; by default it is random.

        Returns
        -------
        Skeleton
            The path, a `str`; its `findings` say what was left out, its `translate_predicate(where)` takes a predicate over.

        Raises
        ------
        LakeError
            The directory cannot be written to, or `keep` names no column.
        Unsupported
            The format does not say how its documents are redacted.

        Examples
        --------
        >>> import tempfile
        >>> import lakelens as ll
        >>> path = ll.sample("iceberg").skeleton(tempfile.mkdtemp(), seed=1)
        >>> copy = ll.open(path)
        >>> copy.schema.names, len(copy.snapshots), len(copy.files)
        (('c1', 'c2', 'c3'), 5, 7)
        >>> len(copy.explain(path.translate_predicate("id > 15 AND p = 1")).kept)
        1
        """
        return display.write_skeleton(cast("Table", self), target, keep, seed)
