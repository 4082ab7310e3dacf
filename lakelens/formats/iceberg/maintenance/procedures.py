"""The maintenance procedures of Iceberg for Spark that can be tried, with their options."""

from __future__ import annotations

from collections.abc import Mapping

from lakelens.formats.iceberg.maintenance.data_files import plan_data_files
from lakelens.formats.iceberg.maintenance.expiry import plan_expiry, plan_orphans
from lakelens.formats.iceberg.maintenance.manifests import plan_manifests
from lakelens.formats.iceberg.maintenance.packing import OPTIONS
from lakelens.formats.iceberg.maintenance.position_deletes import plan_position_deletes
from lakelens.formats.iceberg.maintenance.refs import (
    plan_current,
    plan_fast_forward,
    plan_pick,
    plan_rollback,
    plan_rollback_to_time,
)
from lakelens.model.maintenance import Option, Procedure

_ID = Option("snapshot_id", "integer", "the snapshot's id", is_required=True)
_DELETES_AT_A_TIME = Option(
    "max_concurrent_deletes", "integer", "how many files are deleted at a time", "1", least=1
)
_STREAM = Option("stream_results", "boolean", "fetch the files to delete part by part", "false")


_PROCEDURES = (
    Procedure.of(
        "expire_snapshots",
        "Expire snapshots",
        "Forget old snapshots, and delete the files that only they need.",
        plan_expiry,
        Option(
            "older_than", "time", "snapshots before this time expire", "5 days ago, or what the table sets"
        ),
        Option(
            "retain_last",
            "integer",
            "how many snapshots each branch keeps at least",
            "1, or what the table sets",
        ),
        _DELETES_AT_A_TIME,
        _STREAM,
        Option("snapshot_ids", "integers", "snapshots to expire whatever their age"),
        Option(
            "clean_expired_metadata",
            "boolean",
            "forget schemas and specs that are not used any more",
            "false",
        ),
    ),
    Procedure.of(
        "remove_orphan_files",
        "Remove orphan files",
        "Delete files below the table's location that nothing refers to.",
        plan_orphans,
        Option("older_than", "time", "only files last written before this time", "3 days ago"),
        Option("location", "text", "only files below this directory", "the table's location"),
        Option("dry_run", "boolean", "only list them", "false"),
        _DELETES_AT_A_TIME,
        Option(
            "prefix_mismatch_mode",
            "text",
            "what another scheme or authority means: error, ignore, delete",
            "error",
        ),
        Option("prefix_listing", "boolean", "list by prefix instead of by directory", "false"),
        _STREAM,
        parameters=(
            "older_than",
            "location",
            "dry_run",
            "max_concurrent_deletes",
            "file_list_view",
            "equal_schemes",
            "equal_authorities",
            "prefix_mismatch_mode",
            "prefix_listing",
            "stream_results",
        ),
    ),
    Procedure.of(
        "rewrite_data_files",
        "Rewrite data files",
        "Write small files, large ones, and those with many deletes again.",
        plan_data_files,
        Option("strategy", "text", "binpack or sort", "binpack"),
        Option("sort_order", "text", "how sort sorts", "the table's order"),
        Option("where", "predicate", "only files that may hold rows for which this holds"),
        Option("branch", "text", "the branch whose files are rewritten", "main"),
        *OPTIONS,
        Option(
            "delete_file_threshold",
            "integer",
            "files with this many deletes are rewritten",
            "no limit",
            least=0,
        ),
        Option("delete_ratio_threshold", "number", "files with this share of rows deleted are", "0.3"),
        Option("max_files_to_rewrite", "integer", "the most files", "no limit", least=1),
        Option(
            "use_starting_sequence_number",
            "boolean",
            "new files count as old as the state they are of",
            "true",
        ),
        Option("remove_dangling_deletes", "boolean", "then drop deletes that match nothing", "false"),
        Option("output_spec_id", "integer", "the spec that new files follow", "today's"),
        parameters=("strategy", "sort_order", "options", "where", "branch"),
    ),
    Procedure.of(
        "rewrite_position_delete_files",
        "Rewrite position deletes",
        "Write small position delete files together.",
        plan_position_deletes,
        *OPTIONS,
        parameters=("options", "where"),
    ),
    Procedure.of(
        "rewrite_manifests",
        "Rewrite manifests",
        "Write manifests together, in the order of partitions.",
        plan_manifests,
        Option("use_caching", "boolean", "keep the entries in memory meanwhile", "false"),
        Option("spec_id", "integer", "the partition spec whose manifests are rewritten", "today's"),
        Option("sort_by", "texts", "the partition fields to sort by", "all"),
    ),
    Procedure.of(
        "rollback_to_snapshot",
        "Roll back",
        "Go back to an ancestor of the current snapshot.",
        plan_rollback,
        _ID,
    ),
    Procedure.of(
        "rollback_to_timestamp",
        "Roll back",
        "Go back to what was current before a time.",
        plan_rollback_to_time,
        Option("timestamp", "time", "the newest ancestor before this time is taken", is_required=True),
    ),
    Procedure.of(
        "set_current_snapshot",
        "Set the current snapshot",
        "Go to any snapshot.",
        plan_current,
        Option("snapshot_id", "integer", "the snapshot's id"),
        Option("ref", "text", "or the branch or tag that points to it"),
    ),
    Procedure.of(
        "fast_forward",
        "Fast-forward",
        "Move a branch on to where another is.",
        plan_fast_forward,
        Option("branch", "text", "the branch that moves", is_required=True),
        Option("to", "text", "the branch or tag to move to", is_required=True),
    ),
    Procedure.of(
        "cherrypick_snapshot",
        "Cherry-pick",
        "Apply a snapshot's changes to the current state.",
        plan_pick,
        _ID,
        also=("cherrypick",),
    ),
)


PROCEDURES: Mapping[str, Procedure] = {procedure.name: procedure for procedure in _PROCEDURES}
