"""What people ask of a table, after what it is made of: the verbs of `Table` that answer with an object of their own."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal, cast

from lakelens import display
from lakelens.answers.question import ask, list_added, load

if TYPE_CHECKING:
    import os
    from collections.abc import Collection, Mapping

    from lakelens.analysis.check.check import Check
    from lakelens.analysis.compare import Comparison
    from lakelens.analysis.conflict.conflict import Conflict
    from lakelens.analysis.diff.diff import Diff
    from lakelens.analysis.dry_run import Plan
    from lakelens.analysis.explain.explanation import Explanation
    from lakelens.analysis.health.health import Health
    from lakelens.analysis.life.biography import Biography
    from lakelens.analysis.life.rows import RowLife
    from lakelens.analysis.map import Map
    from lakelens.analysis.skeleton import Skeleton
    from lakelens.analysis.space.space import Space
    from lakelens.analysis.trace import Trace
    from lakelens.model.collections import QueryResult
    from lakelens.model.datafile import DataFile
    from lakelens.model.maintenance import Procedure
    from lakelens.model.table import Table


class Answers:
    """Gives a table its answers. Each is worked out when it is looked at, and nothing is written."""

    __slots__ = ()

    def ask(self, question: str, *, evidence: bool = False, **options: Any) -> Any:
        """Ask a question by its name: one of those below, or one that another package added.

        A question that was added is a method too: `table.ask("ages", most=3)` is `table.ages(most=3)`.

        Parameters
        ----------
        question
            The name of the question: "check", "health", "explain", "space", "row", "biography", "dry_run", or another.
        evidence
            Whether to give the answer with its evidence: an object of both, whose card has the evidence as a fold.
        options
            What it asks for, by name; what is left out has its default.

        Raises
        ------
        LakeError
            There is no such question, or it has no such option.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").ask("check").ok
        True
        >>> ll.sample("iceberg").ask("check", evidence=True).evidence.unsaid
        0
        """
        if evidence:
            return load("lakelens.evidence.gathering:ask_cited")(self, question, **options)
        return ask(self, question, **options)

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("_") and name in list_added():
            return partial(ask, self, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}", name=name, obj=self)

    def __dir__(self) -> list[str]:
        return sorted({*super().__dir__(), *list_added()})

    def check(self, *, data: bool = False, snapshots: Any = "all") -> Check:
        """Check whether the table is sound: every figure that its metadata records, compared with what it is about.

        Totals of snapshots, counts and partition ranges of manifests, sequence numbers, row ids, refs and hints; every file
        that is referred to is looked for in one listing; the footers of data files are read (of more than a thousand a
        sample). Each manifest is read once, however many snapshots name it. Nothing is written.

        Parameters
        ----------
        data
            Whether to read the rows too, for bounds, counts of values and nulls, keys and their order.
        snapshots
            "all" (tags, branches and kept changelogs too), "current", or anything that `Table.snapshot` takes, or several.

        Raises
        ------
        Missing
            There is no such snapshot.

        Examples
        --------
        >>> import lakelens as ll
        >>> check = ll.sample("iceberg").check()
        >>> check.ok, len(check.findings)
        (True, 0)
        """
        return cast("Check", ask(self, "check", data=data, snapshots=snapshots))

    def health(self, *, snapshot: Any = None) -> Health:
        """Check whether the table is well: its figures against its own limits, and the calls that would help.

        Sizes of files against the size that writers aim at, skew of partitions and buckets, deletes and whom they reach,
        how many files a look-up of one value must open (from bounds alone), manifests, what makes the metadata large,
        levels and sorted runs (Paimon), columns without statistics. Each limit says whose it is: a property's, an
        engine's default, or lakelens's own. Ages are measured from the table's newest commit. No data file is opened but
        one for its footer; nothing is written.

        Parameters
        ----------
        snapshot
            An id, a branch, a tag or a time; by default the current snapshot.

        Returns
        -------
        Health
            `measures`, `calls` (the most worth first), `parts` by partition, bucket, column and document, `who_can_read`.

        Raises
        ------
        Missing
            There is no such snapshot.

        Examples
        --------
        >>> import lakelens as ll
        >>> health = ll.sample("iceberg").health()
        >>> health.measures["metadata.json files"].compared_with
        'write.metadata.previous-versions-max, and the one in use'
        >>> [column.name for column in health.parts.columns][:2]
        ['name', 'id']
        """
        return cast("Health", ask(self, "health", snapshot=snapshot))

    def explain(self, where: str, *, snapshot: Any = None, row_groups: bool = False) -> Explanation:
        """Explain why a predicate reads these files, and no others.

        Level by level: which manifests and files can hold a row that fits, by partition, bucket, key, bounds and counts, and
        file indexes; a file is skipped only on proof. No row is read.

        Parameters
        ----------
        where
            A predicate in SQL: comparisons of columns with literals, AND, OR, NOT, IN, BETWEEN, LIKE, IS NULL; nested
            columns as `st.x`. Times without a zone are UTC.
        snapshot
            An id, a branch, a tag or a time; by default the current snapshot.
        row_groups
            Whether to open the files that are read, and ask their footers, dictionaries and bloom filters about each row
            group (of an ORC file: stripe).

        Returns
        -------
        Explanation
            `kept` and `skipped` files, `levels`, and `to_arrow()` with what decided for each manifest and file.

        Raises
        ------
        LakeError
            A part of the predicate is not understood, or a literal does not fit its column; the place is named.
        Missing
            There is no such column (the hint lists the nearest), or no such snapshot.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").explain("id > 15 AND p = 1")
        <Explanation of lakes.v3_merge_on_read: reads 1 of 5 files, 956 bytes>
        """
        asked = {"where": where, "snapshot": snapshot, "row_groups": row_groups}
        return cast("Explanation", ask(self, "explain", **asked))

    def space(self, *, before: Any = None) -> Space:
        """Say where the bytes under the table's directory are, who keeps them, and what would free them.

        Every file of one listing is in one row: live data (by column, from the footers of its files), deletes, manifests,
        old snapshots by who keeps them last, metadata, orphans. The rows add up to the listing. Nothing is written.

        Parameters
        ----------
        before
            The time that divides history in two: a `datetime`, a date or ISO text; UTC without a zone. By default the
            beginning of the month, day or hour of the newest commit.

        Returns
        -------
        Space
            `slices`, `by_ref`, `by_snapshot`, `expire(before)`.

        Raises
        ------
        LakeError
            `before` is no time.

        Examples
        --------
        >>> import lakelens as ll
        >>> space = ll.sample("paimon").space()
        >>> space.slices.size_bytes == space.size_bytes
        True
        """
        return cast("Space", ask(self, "space", before=before))

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """The maintenance procedures that `dry_run` knows for this format, by name; none where files are all there is.

        >>> import lakelens as ll
        >>> "expire_snapshots" in ll.sample("iceberg").procedures, len(ll.sample("hive").procedures)
        (True, 0)
        """
        procedures: Mapping[str, Procedure] = cast("Table", self).driver.part("maintenance", {})
        return procedures

    def dry_run(self, procedure: str, **options: Any) -> Plan:
        """Say what a maintenance procedure would do, before anyone runs it. Nothing is written.

        Worked out by the rules of the engine's own code, from metadata and one listing: which files go in, which come
        out, which are deleted, and which states can never be read again. Sizes of files that do not exist yet are
        estimates and marked so.

        Parameters
        ----------
        procedure
            One of `Table.procedures`. Iceberg: `expire_snapshots`, `remove_orphan_files`, `rewrite_data_files`,
            `rewrite_position_delete_files`, `rewrite_manifests`, `rollback_to_snapshot`, `rollback_to_timestamp`,
            `set_current_snapshot`, `fast_forward`, `cherrypick_snapshot`. Paimon: `compact`, `expire_snapshots`,
            `expire_partitions`, `delete_tag`, `expire_tags`, `remove_orphan_files`, `rollback`. Or the statement as it
            stands in a runbook: a CALL of Spark SQL, or what the format has in its place.
        options
            The procedure's own options, under the names of the engine (`-` as `_`); `options` may be a map of some, as in a
            CALL. Times are ISO text, datetimes or dates; without a zone they are UTC.

        Returns
        -------
        Plan
            `reads`, `writes`, `deletes`, `replaced`, `snapshots_lost`, `kept`, `assumptions`, and the `call` to copy.

        Raises
        ------
        Unsupported
            The format has no procedures.
        LakeError
            There is no such procedure or option, or a value does not fit; the nearest names are in it.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").dry_run("expire_snapshots", older_than="2100-01-01", retain_last=2)
        <Plan of expire_snapshots on lakes.v3_merge_on_read: frees 30.4 KiB, 3 of 5 snapshots go, nothing was written>
        >>> call = "CALL lake.system.rewrite_manifests(table => 'lakes.v3_merge_on_read')"
        >>> ll.sample("iceberg").dry_run(call).headline
        'rewrites 6 files into about 2'
        """
        return cast("Plan", ask(self, "dry_run", procedure=procedure, options=options))

    def map(self, change: Diff | Trace | None = None, *, snapshot: Any = None) -> Map:
        """Draw how the files of this table hang together: pointer, metadata, lists, manifests, data, deletes, indexes.

        What is new since the state before is marked by colour and by word. Of a big table manifests are counted as their
        list counts them: only those are read that one of the two states names alone.

        Parameters
        ----------
        change
            A `Diff`, or the trace of `lakelens.watch` or `%%laketrace`: what it added is new. By default what the commit
            of the snapshot did.
        snapshot
            An id, a branch, a tag or a time; by default the current snapshot, or the newer one of the `Diff`.

        Returns
        -------
        Map
            Text, a card, a page; `tiers` with every box, `total`, and `save(path)` for the drawing as SVG.

        Raises
        ------
        Missing
            There is no such snapshot.
        LakeError
            `change` is neither a diff nor a trace of this table.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("iceberg").map()
        <Map of lakes.v3_merge_on_read: 8 new files>
        """
        return cast("Map", display.call("analysis.map:map_table", self, change, snapshot))

    def biography(self, file: str | DataFile) -> Biography:
        """Say what happened to a file: who added it, carried it, deleted from it, removed it, and who still keeps it.

        Every state that is left is looked at: of all branches, of tags, and changelogs. Each manifest is read once. Delete
        files and vectors that reach the file are read to count the rows that each took.

        Parameters
        ----------
        file
            The path of a data file, a delete file or a changelog file, its place below the table, its name, or a `DataFile`.

        Returns
        -------
        Biography
            `events` (`at`, `what`, `snapshot_id`, `why`), `kept_by` (the states that need the file), `freed_by`.

        Raises
        ------
        Missing
            No state that is left has such a file; the hint has the nearest names.
        LakeError
            Several files are called so.

        Examples
        --------
        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> life = table.biography(table.snapshots[0].files[0])
        >>> [event.what for event in life.events][0], len(life.kept_by) > 0
        ('added', True)
        """
        return cast("Biography", ask(self, "biography", file=file))

    def row(self, where: str, *, most_files: int = 500) -> RowLife:
        """Every version of the rows that a predicate is about: values, file, position, since when, and what ended it.

        Files are chosen over all states by partitions, buckets, keys and bounds, as `explain` does; each is opened once,
        whatever number of states has it. Deletes are applied as the format says, and rows of one key are merged as Paimon's
        merge engine does. A row is the same in two versions by its primary key, its identifier fields or its row id, else by
        what the predicate names: `identity` says which.

        Parameters
        ----------
        where
            A predicate in SQL, as `explain` takes it, over today's columns; `id = 42` or `id IN (1, 2)`.
        most_files
            How many data files are opened at most.

        Returns
        -------
        RowLife
            `versions` (`values`, `file`, `position`, `since`, `until`, `ended_by`), `lives`, `at(snapshot)`, `to_arrow()`.

        Raises
        ------
        LakeError
            The predicate is not understood, more files may hold such rows than are opened, or too many rows fit.
        Missing
            There is no such column.
        Unsupported
            Rows cannot be followed: those put together from several files, or chosen by a pattern.

        Examples
        --------
        >>> import lakelens as ll
        >>> life = ll.sample("paimon").row("id = 2")
        >>> life
        <RowLife of paimon, id = 2: 2 versions, there now>
        >>> life.identity.words
        'by primary key (id)'
        """
        return cast("RowLife", ask(self, "row", where=where, most_files=most_files))

    def compare(self, other: Any, data: bool = False) -> Comparison:
        """Compare this table with another place, as `lakelens.compare` does: a copy, a backup, a mirror.

        Parameters
        ----------
        other
            A table, or whatever `lakelens.open` takes.
        data
            Whether the bytes of data files are compared too.

        Returns
        -------
        Comparison
            `same`, `verdict`, `rows`, `differences`, `missing`, `at`, `behind`, `ahead`.

        Raises
        ------
        LakeError
            The other place cannot be opened, or is a view.

        Examples
        --------
        >>> import lakelens as ll
        >>> ll.sample("paimon").compare(ll.sample("paimon")).verdict
        'same'
        """
        return cast("Comparison", ask(self, "compare", other=other, data=data))

    def conflict(
        self,
        error: Any = None,
        *,
        base: Any = None,
        theirs: Any = None,
        operation: str | None = None,
        where: str | None = None,
        isolation: str | None = None,
        mode: str | None = None,
    ) -> Conflict:
        """Explain why a commit failed, or whether it would: which commits came between, and which of their files collide.

        By an exception alone, the check that failed is what its text says, and the files that it names are looked for in the
        table's history. With `base` and `operation` every check that the library makes of such a commit is asked of the
        commits in between. Bounds and partitions decide whether a file may match; no row is read, nothing is written. The
        rules are those of the libraries, see `lakelens.formats.iceberg.conflict`, `lakelens.formats.paimon.conflict` (0.9 or
        1.4, by how the newest snapshot was written) and the module `races` of Delta (delta-spark 3.3); Hive has none.

        Parameters
        ----------
        error
            An exception, its text, or `(mine, theirs)`: the two snapshots.
        base, theirs
            The snapshot that the writer started from, and the last one that is checked against (default: the current one).
        operation
            "append", "overwrite" (by a filter), "overwrite partitions", "delete", "update", "merge" or "compaction"; of
            Paimon also "drop partition" and "truncate", of Delta "alter" (metadata) and "upgrade" (the protocol).
        where
            The filter of the operation in SQL; None for the whole table.
        isolation, mode
            "serializable" or "snapshot"; "copy-on-write" or "merge-on-read": by default what the table's properties say. Of
            Paimon "strict" (`commit.strict-mode.last-safe-snapshot`); "copy-on-write" or "deletion-vectors". Of Delta
            "Serializable", "WriteSerializable" or "SnapshotIsolation"; the mode is the id of the application whose
            transactions the writer records (a streaming query's, `txnAppId`).

        Returns
        -------
        Conflict
            `outcome`, `between`, `rulings`, `collisions` (the files; sizes in bytes), `ways` (what would have passed, a
            narrower filter among it), `retry`, `left` (files that nothing refers to, of a listing, with their writers).

        Raises
        ------
        LakeError
            The text is no conflict that is known, or the base is no ancestor.
        Unsupported
            The table's format has no such rules.

        Examples
        --------
        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> table.conflict(base=table.snapshots[0].id, operation="append").outcome
        'passes'
        """
        asked = {"operation": operation, "where": where, "isolation": isolation, "mode": mode}
        return cast("Conflict", ask(self, "conflict", error=error, base=base, theirs=theirs, **asked))

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
            A directory of this machine that is empty or not there yet, and not in the table. Its path is in the
            skeleton, by which engines open it: for others name one that says nothing of you, such as `/tmp/report`.
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
        return cast("Skeleton", display.call("analysis.skeleton:write_skeleton", self, target, keep, seed))

    def sql(
        self,
        query: str,
        *,
        snapshot: Any = None,
        engine: Literal["duckdb", "datafusion"] | None = None,
        seconds: float | None = None,
        most_rows: int | None = None,
    ) -> QueryResult:
        """Query the metadata in SQL, over the views `snapshots`, `refs`, `manifests`, `entries` and `files`.

        The columns of `files` are those of `FileSet.to_arrow`; `entries` has `status` before them. Bounds and partition
        values are structs: `lower_bounds['id']`. Only what the query names is read: one about `snapshots` reads no
        manifest. The query itself can read and write no file.

        Parameters
        ----------
        query
            A SELECT in the engine's dialect.
        snapshot
            The snapshot whose `manifests`, `entries` and `files` are meant: an id, a branch, a tag, a time; by default
            the current one.
        engine
            By default DuckDB where it is installed, else DataFusion, which the extra `fast` brings.
        seconds
            How long the query may take. A bounded query runs in a process of its own, within 1 GiB of memory beside its
            views.
        most_rows
            How many rows of the result are wanted: one that has more is cut, and says so.

        Raises
        ------
        LakeError
            The query cannot be run; the hint lists the views and their columns. Or its time or its memory is over.
        Missing
            There is no such snapshot.
        Unsupported
            The engine is not installed, or none is.

        Examples
        --------
        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> table.sql("select content, count(*) as files from files group by content order by content").to_pylist()
        [{'content': 'data', 'files': 5}, {'content': 'deletion_vector', 'files': 2}]
        >>> table.sql("select min(lower_bounds['id']) as low, max(upper_bounds['id']) as high from files")[0]
        (0, 100)
        """
        bounds = {"seconds": seconds, "most_rows": most_rows}
        found = display.call("querying:query_table", self, query, snapshot=snapshot, engine=engine, **bounds)
        return cast("QueryResult", found)
