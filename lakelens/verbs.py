"""Verbs: the one bridge from a table to the analyses made of it, as `display` is the one to its views."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from lakelens.model.diff import Diff
    from lakelens.model.table import Table
    from lakelens.model.tree import StorageTree


class Analysable:
    """The verbs that work on a table of any format."""

    def diff(self: Table, before: Any, after: Any) -> Diff:  # type: ignore[misc]
        """What changed from one snapshot to another.

        `before` and `after` are snapshots, or anything that `Table.snapshot` takes; `before` may be None, for a diff from
        nothing. Files are told apart by path, and
        deletion vectors in Puffin files by their offset too.
        """
        from lakelens.analysis.diff import diff_snapshots

        return diff_snapshots(None if before is None else self.snapshot(before), self.snapshot(after))

    def tree(self: Table, references: bool = True) -> StorageTree:  # type: ignore[misc]
        """Every object in the table's directory with its size, its role and who refers to it.

        Who refers to what is found by walking every snapshot; `references=False` only lists.
        """
        from lakelens.analysis.tree import build_tree

        return build_tree(self, references=references)
