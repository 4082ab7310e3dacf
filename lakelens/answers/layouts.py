"""The questions about how the rows of a table are arranged: what another layout would read, and which one pays."""

from __future__ import annotations

from lakelens.answers.question import Datum, Listed, Option, Page, Question

_WHERES = Option(
    name="where",
    kind="texts",
    flags=("-w", "--where"),
    metavar="PREDICATE",
    help="a predicate in SQL; may be given more than once",
    complete="lakelens.cli.completing:complete_where",
    label="condition",
    example="lakelens.explorer.answers:write_not_null",
)
_PREDICATES = Option(
    name="predicates",
    flags=("--predicates",),
    metavar="LOG",
    help="a Spark event log, or a directory of logs: what queries pushed down into the table, with how often",
)
_SAMPLE = Option(
    name="sample",
    kind="number",
    flags=("--sample",),
    metavar="ROWS",
    help="read at most that many rows of at most 64 files; without it bounds alone say how values spread",
    label="rows to read",
    example="none, for bounds alone",
)
_ROW_GROUPS = Option(
    name="row_groups",
    kind="flag",
    default=False,
    flags=("--row-groups",),
    help="count row groups and requests too: today by the footers of the files that are read",
    label="row groups",
)
_TARGET = Option(
    name="target_file_size",
    flags=("--target-file-size",),
    metavar="SIZE",
    help="the bytes of a file, as 128MiB, instead of the table's own",
    label="bytes of a file",
    example="128 MiB",
)
#: A log may be anywhere: a page and an agent, which are enclosed in a root, read none.
_UNREAD = (("predicates", None),)
WHAT_IF = Question(
    name="what_if",
    ask="lakelens.analysis.layout.what_if:foretell_layout",
    summary="Foretell what predicates would read if the rows of the table were arranged otherwise, and what that costs. "
    "Nothing is written.",
    about="what predicates (`-w`, each, or `--predicates` of an event log) would read if the rows were arranged so, and "
    "what rewriting costs: `sort by a, b`, `z-order by a, b`, `partition by day(c)`, or the statement of a runbook, of a "
    "part of the table too",
    epilog="""lakelens what-if sample:iceberg "sort by id" -w "id = 3" --sample 1000"""
    """  ·  lakelens what-if sample:iceberg "partition by bucket(2, id)" -w "id > 15" --json""",
    options=(
        Option(
            name="layout",
            metavar="LAYOUT",
            is_required=True,
            label="layout",
            example="sort by a, b inside of each day(c), in files of 128 MiB",
        ),
        _WHERES,
        _PREDICATES,
        _SAMPLE,
        _ROW_GROUPS,
    ),
    parts=(
        Datum("layout", "layout.__str__()"),
        Datum("snapshot_id", "snapshot.id"),
        *("headline", "refusal", "source", "sampled_rows", "sampled_files", "wide"),
        *("files", "size_bytes", "rewritten_files", "rewritten_bytes", "made_files", "then_files"),
        *("asked", "today_bytes", "then_bytes", "most_bytes", "losers"),
        Datum("predicates", names=("*",)),
        *("calls", "assumptions"),
    ),
    page=Page(
        lists=(Listed("predicates", "every predicate, today and then"),),
        words="What a condition would read if the rows were sorted, on a curve, or in other partitions.",
        form="above",
        button="foretell",
        small="without rows to read, from bounds alone",
        back="The whole answer",
        sets=_UNREAD,
        beside="another layout",
    ),
)

ADVISE = Question(
    name="advise",
    ask="lakelens.analysis.layout.advice:advise_layout",
    summary="Advise a layout for predicates, or to leave the table: sorts, curves and partitions of the columns that they "
    "name are ranked by bytes saved for each byte rewritten. Nothing is written.",
    about="which layout pays for predicates (`-w`, each, or `--predicates` of an event log): sorts, curves and partitions "
    "of the columns that they name, by bytes saved for each byte rewritten; or to leave the table as it is",
    epilog="""lakelens advise sample:iceberg -w "id = 3" --sample 1000"""
    """  ·  lakelens advise sample:iceberg -w "id > 15" -w "p = 1" --sample 1000 --json""",
    options=(_WHERES, _PREDICATES, _TARGET, _SAMPLE, _ROW_GROUPS),
    parts=(
        *("verdict", "reason", "headline"),
        Datum("snapshot_id", "snapshot.id"),
        *("source", "sampled_rows", "sampled_files", "files", "size_bytes", "asked", "predicates"),
        *("weighed_by", "today_bytes", "then_bytes", "saved_bytes", "today_row_groups", "today_requests"),
        *("tried", "not_foretold"),
        Datum("layouts", names=("*",)),
        *("calls", "assumptions"),
    ),
    page=Page(
        lists=(Listed("layouts", "every layout that was tried"),),
        words="Which layout pays for a condition, or whether the table is best left as it is.",
        form="above",
        button="advise",
        small="without rows to read, from bounds alone",
        back="The whole advice",
        sets=_UNREAD,
        beside="which layout pays",
    ),
)
