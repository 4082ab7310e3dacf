"""Verbs: the one bridge from a table to the analyses made of it, as `display` is the one to its views."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Diff
    from lakelens.analysis.timeline.timeline import Timeline
    from lakelens.analysis.tree import StorageTree
    from lakelens.model.table import Table
    from lakelens.queryresult import QueryResult
    from lakelens.watching import Watch


class Analysable:
    """The verbs that work on a table of any format."""

    def diff(self: Table, before: Any, after: Any) -> Diff:  # type: ignore[misc]
        """What changed from one snapshot to another. Files, manifests and documents are read when a part is looked at.

        `before` and `after` are snapshots, anything that `Table.snapshot` takes (an id, a branch, a tag, a time), or
        tables of this format, of which the current snapshot is meant; `before` may be None, for a diff from nothing. Files
        are told apart by path, and deletion vectors in Puffin files by their offset too; those of two tables by their path
        below the table. Raises `Missing` for a snapshot that is not there, `LakeError` for two formats.

        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> diff = table.diff(table.snapshots[0], table.current)
        >>> len(diff.added) - len(diff.removed) == len(table.files) - len(table.snapshots[0].files)
        True
        """
        from lakelens.analysis.diff.comparing import diff_snapshots, pick_snapshot

        return diff_snapshots(
            None if before is None else pick_snapshot(self, before), pick_snapshot(self, after)
        )

    def tree(self: Table, references: bool = True) -> StorageTree:  # type: ignore[misc]
        """Every object in the table's directory with its size, its role and who refers to it.

        Who refers to what is found by walking every snapshot; `references=False` only lists.
        """
        from lakelens.analysis.tree import build_tree

        return build_tree(self, references=references)

    @cached_property
    def history(self: Table) -> Timeline:  # type: ignore[misc]
        """How the table came here: every snapshot once, with branches, tags, rollbacks and what expired. A still picture.

        Reads the snapshots and no manifest. A Hive table has none: then it tells when its files were written.

        >>> import lakelens as ll
        >>> ll.sample("iceberg").history
        <Timeline of lakes.v3_merge_on_read: 5 snapshots>
        """
        from lakelens.analysis.timeline.marks import trace_history

        return trace_history(self)

    def timeline(self: Table, *, spacing: Literal["time", "even"] = "time") -> Any:  # type: ignore[misc]
        """The history as a widget: choose a snapshot for its card, two of them or a range for the diff.

        What is chosen comes back as `widget.snapshot` and `widget.diff`. `spacing` is true to time, or even. Needs anywidget
        (`pip install 'lakelens[notebook]'`); without a kernel the still picture of `history` is what a reader sees.
        """
        if spacing not in ("time", "even"):
            raise ValueError(f"spacing is 'time' or 'even', not {spacing!r}")
        widget = self.history.widget()
        widget.spacing = spacing
        return widget

    def sql(  # type: ignore[misc]
        self: Table,
        query: str,
        *,
        snapshot: Any = None,
        engine: Literal["duckdb", "datafusion"] | None = None,
    ) -> QueryResult:
        """Ask the metadata in SQL, over the views `snapshots`, `refs`, `manifests`, `entries` and `files`.

        `manifests`, `entries` and `files` are those of the current snapshot, or of `snapshot`: an id, a branch, a tag, a
        time. The columns of `files` are those of `FileSet.to_arrow`; `entries` has `status` before them. Only what the
        query names is read: one about `snapshots` reads no manifest. Bounds and partition values are structs:
        `lower_bounds['id']`. DuckDB runs the query where it is installed, else DataFusion; `engine` chooses. No file is
        read or written by the query itself. Raises `LakeError`, with the views and their columns, when it cannot be run,
        `Missing` for a snapshot that is not there, `Unsupported` for an engine that is not installed.

        >>> import lakelens as ll
        >>> table = ll.sample("iceberg")
        >>> table.sql("select content, count(*) as files from files group by content order by content").to_pylist()
        [{'content': 'data', 'files': 5}, {'content': 'deletion_vector', 'files': 2}]
        >>> table.sql("select min(lower_bounds['id']) as low, max(upper_bounds['id']) as high from files")[0]
        (0, 100)
        """
        from lakelens.querying import query_table

        return query_table(self, query, snapshot=snapshot, engine=engine)

    def watch(self: Table, *, spark: Any = None, storage_options: Mapping[str, Any] | None = None) -> Watch:  # type: ignore[misc]
        """Watch what a block of code does to this table's storage: see `lakelens.watch`.

        With `spark` a table that was opened by its name is found again through the catalog.
        """
        from lakelens.watching import watch

        return watch(self, spark=spark, storage_options=storage_options)
