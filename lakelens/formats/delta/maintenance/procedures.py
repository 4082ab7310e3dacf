"""The maintenance commands of Delta that can be tried, with their options."""

from __future__ import annotations

from collections.abc import Mapping

from lakelens.formats.delta.maintenance.commits import AT, plan_checkpoint
from lakelens.formats.delta.maintenance.optimize import plan_optimize, plan_reorg
from lakelens.formats.delta.maintenance.restore import plan_restore
from lakelens.formats.delta.maintenance.vacuum import plan_vacuum
from lakelens.model.maintenance import Option, Procedure

_WHERE = Option("where", "predicate", "only partitions for which this holds")
_MOST = Option("max_file_size", "bytes", "how large a new file should be", "1 GiB", least=1)


_PROCEDURES = (
    Procedure.of(
        "vacuum",
        "Vacuum",
        "Delete files that the newest version does not need, and that were not removed lately.",
        plan_vacuum,
        Option(
            "retain_hours",
            "number",
            "what was removed in the last hours stays",
            "delta.deletedFileRetentionDuration, a week",
            least=0,
        ),
        Option("type", "text", "FULL lists the table, LITE reads what commits have removed", "FULL"),
        Option("older_than", "time", "in place of hours: what was written or removed before this time"),
        AT,
        form="VACUUM <table> [<type=LITE|FULL>] [RETAIN <retain_hours> HOURS] [DRY RUN]",
    ),
    Procedure.of(
        "optimize",
        "Optimize",
        "Write small files together, and those with many deleted rows again.",
        plan_optimize,
        _WHERE,
        Option(
            "zorder_by", "texts", "write all files again, with rows near in these columns near each other"
        ),
        Option(
            "full",
            "boolean",
            "of a clustered table: cluster what other columns have clustered too",
            "false",
        ),
        Option("min_file_size", "bytes", "smaller files are rewritten", "1 GiB", least=0),
        _MOST,
        Option(
            "max_deleted_rows_ratio",
            "number",
            "files of which a larger share is deleted are",
            "0.05",
            least=0,
        ),
        AT,
        form="OPTIMIZE <table> [<full=FULL>] [WHERE <where>] [ZORDER BY <zorder_by,>]",
    ),
    Procedure.of(
        "reorg",
        "Purge",
        "Write files again without the rows that vectors delete and without dropped columns.",
        plan_reorg,
        _WHERE,
        _MOST,
        AT,
        also=("purge",),
        form="REORG TABLE <table> [WHERE <where>] APPLY (PURGE)",
    ),
    Procedure.of(
        "restore",
        "Restore",
        "Go back to the files of an older version.",
        plan_restore,
        Option("version", "integer", "the version", least=0),
        Option("timestamp", "time", "or the newest version that is not later than this time"),
        AT,
        form="RESTORE [TABLE] <table> [TO] [VERSION AS OF <version>] [TIMESTAMP AS OF <timestamp>]",
    ),
    Procedure.of(
        "checkpoint",
        "Checkpoint",
        "Write a checkpoint of the newest version, and delete what of the log has expired.",
        plan_checkpoint,
        AT,
        also=("create_checkpoint", "cleanup_metadata", "expire_logs"),
    ),
)

PROCEDURES: Mapping[str, Procedure] = {procedure.name: procedure for procedure in _PROCEDURES}
