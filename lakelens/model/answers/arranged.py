"""What is asked about how the rows of a table are arranged: what another layout would read, and which one pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lakelens.answers.question import ask

if TYPE_CHECKING:
    from lakelens.analysis.layout.advice import Advice
    from lakelens.analysis.layout.wanted import WantedLayout as Layout
    from lakelens.analysis.layout.what_if import WhatIf


class Arranged:
    """What is asked about layouts, for every format alike."""

    __slots__ = ()

    def what_if(
        self,
        layout: Layout | str,
        where: Any = None,
        *,
        predicates: Any = None,
        sample: int | None = None,
        row_groups: bool = False,
    ) -> WhatIf:
        """Foretell what predicates would read if the rows were arranged otherwise, and what that costs. Nothing is written.

        Today is `explain`'s own answer, then the same rules over files as Spark's procedure would make them of the rows that
        are known. A figure that would be a guess is None, and its `known_by` says why.

        Parameters
        ----------
        layout
            A `lakelens.Layout`, its own words, `"sort by id inside of each day(ts), in files of 128 MiB"`, or the statement
            of a runbook: Iceberg's `CALL … rewrite_data_files(strategy => 'sort', …)`, Paimon's `CALL sys.compact(…)`,
            Delta's `OPTIMIZE … ZORDER BY (…)`. Of one for a part of the table the files are laid out again that `dry_run`
            chooses for it; the others are read as today.
        where
            A predicate in SQL, several, a mapping from each to how often it is asked, or `lakelens.predicates(…)`.
        predicates
            The path of a Spark event log, or of a directory of logs: what they say that this table was asked is asked as
            well. A log of an object store is read with what is found in the environment.
        sample
            How many rows are read at most, of at most 64 files; None reads no data file, and takes values from bounds.
        row_groups
            Whether row groups and requests are counted too: today by the footers of every file that is read.

        Returns
        -------
        WhatIf
            `predicates` (files and bytes, today and then), `then_files`, `then_bytes`, `losers`, `calls`, `assumptions`,
            `refusal`.

        Raises
        ------
        LakeError
            A predicate or a layout is not understood, names no column, or is none that the engine can make.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").what_if(ll.Layout(sort_by="id"), ["id = 3"], sample=1_000)
        <WhatIf of lakes.v3_merge_on_read, sort by id: 2,893 B instead of 1,913 B to read; 1 of 1 predicate reads more>
        """
        asked = {"where": where, "predicates": predicates, "sample": sample, "row_groups": row_groups}
        return cast("WhatIf", ask(self, "what_if", layout=layout, **asked))

    def advise(
        self,
        where: Any = None,
        *,
        predicates: Any = None,
        target_file_size: int | str | None = None,
        sample: int | None = None,
        row_groups: bool = False,
    ) -> Advice:
        """Advise a layout for predicates, or to leave the table as it is. Nothing is written.

        Sorts, curves and partitions of the columns that the predicates name are foretold, as by `what_if`, and ranked by the
        bytes that they save for each byte that is rewritten, which is the whole table. A layout that saves fewer bytes than
        are rewritten, or not a tenth of what is read, does not pay.

        Parameters
        ----------
        where
            A predicate in SQL, several, a mapping from each to how often it is asked, or `lakelens.predicates(…)`.
        predicates
            The path of a Spark event log, or of a directory of logs: what they say that this table was asked is asked as
            well. A log of an object store is read with what is found in the environment.
        target_file_size
            The bytes that a file is to have: a number, or text such as `"128 MiB"`; None for the table's own.
        sample
            How many rows are read at most, of at most 64 files; None reads no data file, and takes values from bounds.
        row_groups
            Whether row groups and requests are counted too: today by the footers of every file that is read. Then bytes
            are those of files less the row groups that are ruled out, where that is known of all layouts (`weighed_by`).

        Returns
        -------
        Advice
            `verdict`, `best` (a `lakelens.Layout`, None to leave it), `layouts` (each with `saved_bytes`, `rewritten_bytes`,
            `saved_per_byte`), `calls`, `reason`.

        Raises
        ------
        LakeError
            A predicate is not understood or names no column, or the table has no files.
        Unsupported
            How the format's engine arranges a table is not known.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").advise({"id = 3": 100}, sample=1_000)
        <Advice for lakes.v3_merge_on_read: leave it; no layout reads less than today>
        """
        asked = {"where": where, "predicates": predicates, "target_file_size": target_file_size}
        return cast("Advice", ask(self, "advise", **asked, sample=sample, row_groups=row_groups))
