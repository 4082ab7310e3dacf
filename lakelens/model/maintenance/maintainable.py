"""The part of a table that says which maintenance procedures its format has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, cast

from lakelens import display

if TYPE_CHECKING:
    from lakelens.analysis.dry_run.plan import Plan
    from lakelens.model.maintenance.procedure import Procedure
    from lakelens.model.table import Table


class Maintainable:
    """A table whose maintenance can be tried without doing it."""

    @property
    def procedures(self) -> Mapping[str, Procedure]:
        """The maintenance procedures that `dry_run` knows for this format, by name; none where files are all there is.

        >>> import lakelens as ll
        >>> "expire_snapshots" in ll.sample("iceberg").procedures, len(ll.sample("hive").procedures)
        (True, 0)
        """
        return {}

    def dry_run(self, procedure: str, **options: Any) -> Plan:
        """What a maintenance procedure would do, before anyone runs it. Nothing is written.

        Worked out by the rules of the engine's own code, from metadata and one listing: which files go in, which come
        out, which are deleted, and which states can never be read again. Sizes of files that do not exist yet are
        estimates and marked so.

        Parameters
        ----------
        procedure
            One of `Table.procedures`. Iceberg: `expire_snapshots`, `remove_orphan_files`, `rewrite_data_files`,
            `rewrite_position_delete_files`, `rewrite_manifests`, `rollback_to_snapshot`, `rollback_to_timestamp`,
            `set_current_snapshot`, `fast_forward`, `cherrypick_snapshot`. Paimon: `compact`, `expire_snapshots`,
            `expire_partitions`, `delete_tag`, `expire_tags`, `remove_orphan_files`, `rollback`.
        options
            The procedure's own options, under the names of the engine (`-` as `_`). Times are ISO text, datetimes or dates;
            without a zone they are UTC.

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
        """
        return display.dry_run_procedure(cast("Table", self), procedure, options)
