"""The questions of lakelens itself, each declared once; `docs/how-lakelens-is-built.md` says how one is added."""

from __future__ import annotations

from lakelens.answers.layouts import ADVISE, WHAT_IF
from lakelens.answers.question import Datum, Listed, Option, Page, Question

_STRAY = ("path", "role", "size_bytes", "modified", "reason", "snapshots")
_PLANNING = Datum(
    "planning",
    names=("query", "read", "total", "size_bytes", "after", Datum("call", "call.statement", kind="string")),
)
_SHARE = ("part", "column", "reason", "level", "files", "record_count", "size_bytes", "detail")
_TALLY = ("role", "files", "size_bytes")
_FILE = ("content", "path", "recorded_path", "file_format", "record_count", "size_bytes")
_VERSION = (
    "row number file position since since_id by until ended_by branch row_id changed unknown is_first_known"
)
_SNAPSHOT = Option(
    name="snapshot",
    kind="snapshot",
    flags=("-s", "--snapshot"),
    metavar="REF",
    help="the snapshot of this id, branch, tag or time, instead of the current one",
    complete="lakelens.cli.completing:complete_ref",
)

_CHECK = Question(
    name="check",
    ask="lakelens.analysis.check.check:check_table",
    claims="lakelens.evidence.answers:claim_check",
    unseen=("rows, unless data is asked for",),
    summary="Compare every recorded figure with what it is about, and look for every file. A difference ends with status 1.",
    about="whether every recorded figure and file is as recorded; `--data` reads the rows too; "
    "a difference ends with status 1",
    epilog="lakelens check sample:iceberg  ·  lakelens check sample:paimon --data --json",
    options=(
        Option(
            name="data",
            kind="flag",
            default=False,
            flags=("--data",),
            help="read the rows too: bounds, counts, keys and their order",
        ),
        Option(
            name="snapshots",
            kind="texts",
            flags=("-s", "--snapshot"),
            metavar="REF",
            default="all",
            help="only the snapshot of this id, branch, tag or time; may be given more than once",
            complete="lakelens.cli.completing:complete_ref",
        ),
    ),
    parts=(
        *("ok", "verdict", "compared", "differ", "counted", "not_looked_at"),
        *(Datum(name, names=_STRAY) for name in ("missing", "orphans", "young")),
        Datum("writers", "lakelens.answers.parts:list_writers"),
        Datum("defects", "lakelens.answers.parts:list_defects"),
        Datum("orphans_are_certain", "strays.is_certain"),
        Datum(
            "whole",
            ".",
            (
                Datum("snapshot_id", "whole.snapshot.id"),
                Datum("states", "whole.count"),
                Datum("of", "whole.total"),
                Datum("calls", "first_aid.calls"),
            ),
        ),
        "findings",
    ),
    figures=(
        Datum("verdict", kind="string"),
        *("compared", "differ"),
        Datum("errors", "severities.error"),
        Datum("warnings", "severities.warning"),
        Datum("missing", "missing.__len__()"),
        Datum("orphans", "orphans.__len__()"),
    ),
    damage="lakelens.answers.parts:format_difference",
    page=Page(
        lists=(
            Listed("findings", "findings"),
            Listed("compared", "figures that were compared", of="counted"),
            Listed("missing", "missing files"),
            Listed("orphans", "files that nobody refers to"),
            Listed("young", "young files that nobody refers to"),
        ),
        back="The whole check",
        offer="lakelens.explorer.offers:offer_check",
        after="lakelens.explorer.offers:offer_rows",
        beside="lakelens.explorer.answers:peek_check",
    ),
)

_HEALTH = Question(
    name="health",
    ask="lakelens.analysis.health.health:measure_health",
    claims="lakelens.evidence.answers:claim_health",
    unseen=("rows", "footers of data files but one"),
    summary="Measure a table against its own limits, and list the calls that would help. A table to act on is no damage.",
    about="whether the table is well: file sizes, deletes, clustering, levels and metadata against its own limits, "
    "and the calls that would help",
    epilog="lakelens health sample:iceberg  ·  lakelens health sample:paimon --json",
    options=(_SNAPSHOT,),
    parts=(
        Datum("snapshot_id", "snapshot.id"),
        "verdict",
        Datum("verdicts", names=("act", "watch", "good")),
        *("measures", "calls"),
        _PLANNING,
        Datum("partitions", "parts.partitions.to_arrow().to_pylist()"),
        Datum("buckets", "lakelens.answers.parts:list_buckets"),
        Datum("columns", "parts.columns.to_arrow().to_pylist()"),
        Datum("documents", "parts.documents.to_arrow().to_pylist()"),
        *("who_can_read", "gaps"),
    ),
    figures=(
        *(Datum(name, f"verdicts.{name}") for name in ("act", "watch", "good")),
        *(Datum("first", "calls.0.why", kind="string"), Datum("call", "calls.0.statement", kind="string")),
    ),
    rows=(Datum("measures"),),
    page=Page(beside="lakelens.explorer.answers:peek_health"),
)

_EXPLAIN = Question(
    name="explain",
    ask="lakelens.analysis.explain.explanation:explain_predicate",
    claims="lakelens.evidence.answers:claim_explanation",
    unseen=("rows", "row groups, unless row_groups is asked for"),
    summary="Show which files a predicate in SQL reads, what skips the others, and why these are left.",
    about="which files a predicate in SQL reads, what skips the others, and why these are left",
    epilog="""lakelens explain sample:iceberg "id > 15 AND p = 1"  ·  lakelens explain sample:paimon "id = 3" --json""",
    options=(
        Option(
            name="where",
            kind="condition",
            complete="lakelens.cli.completing:complete_where",
            metavar="PREDICATE",
            is_required=True,
            label="condition",
            example="lakelens.explorer.answers:write_not_null",
        ),
        _SNAPSHOT,
        Option(
            name="row_groups",
            kind="flag",
            default=False,
            flags=("--row-groups",),
            help="ask the files themselves about each of their row groups",
            label="row groups too (opens the files that are left)",
        ),
    ),
    parts=(
        "predicate",
        Datum("snapshot_id", "snapshot.id"),
        Datum("totals", "lakelens.answers.parts:list_totals"),
        Datum(
            "levels",
            names=(
                *("name", "looked_at", "skipped", "left", "size_bytes"),
                Datum("reasons", "lakelens.answers.parts:count_reasons"),
            ),
        ),
        _PLANNING,
        Datum("skipped", "groups", _SHARE),
        Datum("kept", "answers", _SHARE),
        Datum("items", "list_items()"),
    ),
    page=Page(
        lists=(
            Listed("kept", "lakelens.answers.parts:count_kept"),
            Listed("skipped", "lakelens.answers.parts:count_skipped"),
        ),
        words="Which files a condition reads, level by level, and what rules the others out. No row is read.",
        form="above",
        button="explain",
        back="The whole answer",
        group="bytes",
        beside="a condition",
        guide="lakelens.explorer.offers:guide_condition",
    ),
)

_SPACE = Question(
    name="space",
    ask="lakelens.analysis.space.space:measure_space",
    claims="lakelens.evidence.answers:claim_space",
    unseen=("rows",),
    summary="Put every byte under a table's directory in one row: live data by column, "
    "old snapshots by who keeps them, orphans.",
    about="every byte under the directory in one row: live data by column, old snapshots by who keeps them, orphans; "
    "`--before TIME` says what expiring frees",
    epilog="lakelens space sample:iceberg  ·  lakelens space sample:paimon --before 2026-11-21T13:58:40 --json",
    options=(
        Option(
            name="before",
            flags=("--before",),
            metavar="TIME",
            help="divide history here, and say what expiring before it frees: 2024-03-01, UTC",
            label="divide history at",
            example="a day or a time, in UTC",
        ),
    ),
    parts=(
        *("size_bytes", "files", "live_bytes", "outside_bytes", "outside_files"),
        Datum("orphans_are_certain", "is_certain"),
        Datum("slices", names=("group", "*")),
        Datum("expire", "lakelens.answers.parts:find_expiry"),
        *("expiring", "by_ref", "by_snapshot", "findings"),
    ),
    figures=(
        Datum("total_bytes", "size_bytes"),
        "live_bytes",
        Datum("reclaimable_bytes", "lakelens.answers.parts:sum_reclaimable"),
    ),
    rows=(Datum("slices"),),
    page=Page(
        lists=(
            Listed("slices", "every row of the division"),
            Listed("by_ref", "what each ref keeps"),
            Listed("by_snapshot", "what each state keeps"),
        ),
        form="below",
        back="The whole space",
        beside="lakelens.explorer.answers:peek_space",
        needs_snapshots=True,
    ),
)

_DRY_RUN = Question(
    name="dry_run",
    ask="lakelens.analysis.dry_run:plan_procedure",
    claims="lakelens.evidence.answers:claim_plan",
    unseen=("rows",),
    summary="Show what a maintenance procedure would do, before anyone runs it. Nothing is written.\n\n"
    "PROCEDURE may be the whole statement as it stands in a runbook. Without it the procedures of the table's format are "
    "listed, with their options.",
    about="what a maintenance procedure would do, before anyone runs it: `-o NAME=VALUE` for each option, or the whole "
    "statement in quotes; without a procedure those that there are",
    epilog="lakelens dry-run sample:iceberg expire_snapshots -o older_than=2030-01-01 -o retain_last=2"
    """  ·  lakelens dry-run sample:iceberg "CALL lake.system.rewrite_manifests('lakes.v3_merge_on_read')" """,
    options=(
        Option(
            name="procedure",
            metavar="[PROCEDURE]",
            complete="lakelens.cli.completing:complete_procedure",
            address="procedure",
        ),
        Option(
            name="options",
            address="o",
            kind="pairs",
            flags=("-o", "--option"),
            metavar="NAME=VALUE",
            help="an option of the procedure, as the engine calls it; may be given more than once",
        ),
    ),
    parts=(
        Datum("procedure", "procedure.name"),
        *("call", "changes", "refusal", "becomes", "freed_bytes", "is_certain"),
        Datum("deleted", names=_TALLY),
        Datum("replaced", "replaced_counts", _TALLY),
        *("writes", "snapshots_lost", "kept", "groups"),
        Datum("files", "lakelens.answers.parts:list_planned"),
        Datum("assumptions", names=("text", "is_known")),
        "notes",
        Datum("problems", "findings"),
    ),
    page=Page(
        lists=(
            Listed("deletes", "every file that it deletes", is_below=True),
            Listed("replaced", "every file that it replaces", is_below=True),
        ),
        words="What a maintenance procedure would do, before anyone runs it. Nothing is written.",
        form="above",
        back="The whole plan",
        beside="maintenance",
        forms="lakelens.explorer.offers:offer_procedures",
    ),
    menu="lakelens.answers.parts:list_procedures",
)

_BIOGRAPHY = Question(
    name="biography",
    ask="lakelens.analysis.life.biography:write_biography",
    claims="lakelens.evidence.answers:claim_biography",
    unseen=("rows of data files",),
    summary="Show what happened to a file: who added it, deleted from it, removed it, and who still keeps it.",
    about="what happened to a file: who added it, deleted from it, removed it, who still keeps it",
    epilog="lakelens biography sample:paimon data-8dd6ede1-4393-49a6-89f0-8833ed4b270d-0.parquet"
    "  ·  lakelens files sample:iceberg -c path",
    options=(
        Option(
            name="file",
            kind="file",
            is_required=True,
            label="file",
            address="path",
            example="the path or the name of a file",
        ),
    ),
    parts=(
        Datum("file", names=_FILE),
        *("is_live", "freed_by", "tags", "heads", "doubts", "events", "kept_by"),
    ),
    page=Page(
        lists=(Listed("events", "all that happened to it"), Listed("kept_by", "the states that keep it")),
        words="What happened to a file: who added it, carried it, deleted from it, removed it, and who still keeps it.",
        back="The whole biography",
        group="",
    ),
)

_ROW = Question(
    name="row",
    ask="lakelens.analysis.life.tracing:trace_rows",
    claims="lakelens.evidence.answers:claim_lives",
    unseen=("what ended a version, but for its commit",),
    summary="Show every version of the rows that a predicate in SQL is about: values, place, since when, what ended it.",
    about="every version of the rows that a predicate in SQL is about: values, place, since when, what ended it",
    epilog="""lakelens row sample:paimon "id = 1"  ·  lakelens row sample:iceberg "id = 0 AND p = 0" --json""",
    options=(
        Option(
            name="where",
            kind="condition",
            complete="lakelens.cli.completing:complete_where",
            metavar="PREDICATE",
            is_required=True,
            label="row",
            example="lakelens.explorer.answers:write_example",
        ),
        Option(
            name="most_files",
            kind="number",
            flags=("--most-files",),
            default=500,
            help="how many data files are opened at most",
        ),
    ),
    parts=(
        Datum("predicate", "where"),
        Datum("identity", names=("kind", "columns", "words")),
        "merge",
        Datum("rows", "lives.__len__()"),
        "there",
        Datum(
            "versions",
            names=(
                *_VERSION.split(),
                "values",
                Datum("moves", names=("file", "position", "snapshot_id", "at", "how", "branch")),
                Datum("ends", names=("kind", "how", "snapshot_id", "at", "branch")),
            ),
        ),
        Datum(
            "looked_at",
            "looked",
            ("files", "candidates", "of", "rows", "delete_files", "requests", "bytes"),
        ),
        "doubts",
    ),
    page=Page(
        lists=(Listed("versions", "lakelens.answers.parts:count_versions", is_below=True),),
        words="Every version of a row: where it was, since when, and what ended it, over all states.",
        form="above",
        button="who wrote it, who deleted it",
        small="reads the files that may hold it",
        back="The lives of these rows",
        group="bytes",
        beside="lakelens.explorer.answers:ask_about",
        guide="lakelens.explorer.offers:guide_condition",
    ),
)

_SQL = Question(
    name="sql",
    ask="lakelens.querying:query_table",
    summary="Query the metadata in SQL, over the views snapshots, refs, manifests, entries and files.",
    about="SQL over the views `snapshots`, `refs`, `manifests`, `entries` and `files`; it can read and write nothing else",
    epilog="""lakelens sql sample:iceberg "SELECT content, count(*) FROM files GROUP BY content\"""",
    options=(
        Option(
            name="query",
            kind="query",
            metavar="QUERY",
            is_required=True,
            label="SQL",
            example="SELECT content, count(*) FROM files GROUP BY content",
        ),
        _SNAPSHOT,
        Option(
            name="engine",
            flags=("--engine",),
            metavar="ENGINE",
            help="duckdb or datafusion; by default DuckDB where it is installed",
        ),
        Option(
            name="seconds",
            kind="number",
            flags=("--seconds",),
            help="end a query that takes longer; it runs in a process of its own then",
        ),
        Option(
            name="most_rows",
            kind="number",
            flags=("--most-rows",),
            help="show the first rows of a result that has more",
        ),
    ),
    parts=("engine", "views", "is_cut", Datum("rows", "to_pylist()")),
    page=Page(
        lists=(Listed("rows", "every row of the result", of=".", is_below=True),),
        words="SQL over what the metadata says: snapshots, refs, manifests, entries and files. "
        "It reads no row of the table, no other file, and writes nothing.",
        form="above",
        button="run",
        small="at most 10 seconds, 10,000 rows",
        back="The result",
        group="bytes",
        beside="over metadata",
        title="SQL",
        guide="lakelens.explorer.offers:guide_query",
        sets=(("seconds", 10), ("most_rows", 10_000)),
    ),
)

_COMPARE = Question(
    name="compare",
    ask="lakelens.answers.comparing:compare_with",
    claims="lakelens.evidence.answers:claim_comparison",
    others=("a", "b"),
    unseen=("rows", "data files, unless data is asked for"),
    summary="Show whether two places hold one table: what is the same, missing, different. A difference ends with status 1.",
    about="whether two places hold one table: a copy, a backup, a mirror; a difference ends with status 1",
    epilog="lakelens compare sample:iceberg sample:iceberg --data  ·  lakelens compare sample:paimon sample:paimon --json",
    options=(
        Option(name="other", kind="place", metavar="OTHER", is_required=True),
        Option(
            name="data",
            kind="flag",
            default=False,
            flags=("--data",),
            help="compare the bytes of data files too",
        ),
    ),
    parts=(
        "same",
        "verdict",
        "at",
        "behind",
        "ahead",
        "reads_data",
        "files",
        "other_bytes",
        "rows",
        "differences",
        "notes",
    ),
    damage="lakelens.answers.comparing:format_unlikeness",
)

_CONFLICT = Question(
    name="conflict",
    ask="lakelens.analysis.conflict.conflict:explain_conflict",
    claims="lakelens.evidence.answers:claim_conflict",
    unseen=("rows", "which check stops the commit: the library's code says it, no file of the table"),
    summary="Show why a commit failed, or whether it would: the commits in between, and the files that collide.",
    about="why a commit failed, by the text of its exception, or whether it would, by `--base` and `--operation`: "
    "the commits in between, the files that collide with which check, what would have passed",
    epilog="lakelens conflict sample:iceberg --base ~2 --operation merge --where 'p = 1'",
    options=(
        Option(name="error", metavar="[ERROR]", label="exception", example="the text of an exception"),
        Option(
            name="base",
            flags=("--base",),
            metavar="REF",
            help="the snapshot that the writer started from: an id, a branch, a tag or a time",
            label="started from",
            example="an id, a branch, a tag or a time",
            complete="lakelens.cli.completing:complete_ref",
        ),
        Option(
            name="theirs",
            flags=("--theirs",),
            metavar="REF",
            help="the last snapshot that is checked against, instead of the current one",
            complete="lakelens.cli.completing:complete_ref",
        ),
        Option(
            name="operation",
            flags=("--operation",),
            metavar="NAME",
            help="append, overwrite, overwrite partitions, delete, update, merge, compaction; Paimon: drop partition, "
            "truncate; Delta: alter, upgrade",
            label="operation",
            example="merge",
        ),
        Option(
            name="where",
            flags=("--where",),
            metavar="PREDICATE",
            help="the filter of the operation, in SQL; of partitions that are overwritten, their condition",
            complete="lakelens.cli.completing:complete_where",
            label="filter",
            example="lakelens.explorer.answers:write_not_null",
        ),
        Option(
            name="isolation",
            flags=("--isolation",),
            metavar="LEVEL",
            help="serializable or snapshot; Paimon: strict; Delta: Serializable or WriteSerializable",
        ),
        Option(
            name="mode",
            flags=("--mode",),
            metavar="MODE",
            help="copy-on-write or merge-on-read; Paimon: deletion-vectors; Delta: the id of the writer's application",
        ),
    ),
    parts=(
        *("outcome", "headline", "operation", "where", "isolation", "mode", "retry"),
        Datum("base", "base.id"),
        *("between", "rulings", "collisions", "ways", "left", "notes"),
    ),
    page=Page(
        lists=(Listed("collisions", "files that collide"), Listed("between", "commits in between")),
        words="Why a commit failed, or whether it would: by the text of an exception, or by the state that the writer "
        "started from and its operation. No row is read.",
        form="above",
        back="The whole answer",
        beside="of two writers",
        needs_snapshots=True,
    ),
)

#: By name, in the order in which the pages of a table have them.
QUESTIONS = {
    question.name: question
    for question in (
        *(
            _CHECK,
            _HEALTH,
            _EXPLAIN,
            _SPACE,
            _DRY_RUN,
            _ROW,
            _BIOGRAPHY,
            _SQL,
            _COMPARE,
            _CONFLICT,
            WHAT_IF,
            ADVISE,
        ),
    )
}
