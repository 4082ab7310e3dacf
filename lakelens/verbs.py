"""Verbs: the one bridge from a table to the analyses made of it, as `display` is the one to its views."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakelens.model.diff import Diff
    from lakelens.model.table import Table
    from lakelens.model.tree import StorageTree
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
        from lakelens.analysis.diff import diff_snapshots, pick_snapshot

        return diff_snapshots(
            None if before is None else pick_snapshot(self, before), pick_snapshot(self, after)
        )

    def tree(self: Table, references: bool = True) -> StorageTree:  # type: ignore[misc]
        """Every object in the table's directory with its size, its role and who refers to it.

        Who refers to what is found by walking every snapshot; `references=False` only lists.
        """
        from lakelens.analysis.tree import build_tree

        return build_tree(self, references=references)

    def watch(self: Table, *, spark: Any = None, storage_options: Mapping[str, Any] | None = None) -> Watch:  # type: ignore[misc]
        """Watch what a block of code does to this table's storage: see `lakelens.watch`.

        With `spark` a table that was opened by its name is found again through the catalog.
        """
        from lakelens.watching import watch

        return watch(self, spark=spark, storage_options=storage_options)
