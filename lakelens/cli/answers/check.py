"""The verb `check`: whether a table is sound."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import detail_option, output_options, table_options
from lakelens.cli.completing import complete_ref
from lakelens.cli.exits import DAMAGED, end_with
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.analysis.check.check import Check
    from lakelens.analysis.check.defects import TriedRule
    from lakelens.model.table import Table

_STRAY = ("path", "role", "size_bytes", "modified", "reason", "snapshots")


@click.command(epilog="lakelens check sample:iceberg  ·  lakelens check sample:paimon --data --json")
@table_options
@click.option("--data", is_flag=True, help="read the rows too: bounds, counts, keys and their order")
@click.option(
    "-s",
    "--snapshot",
    "refs",
    metavar="REF",
    multiple=True,
    shell_complete=complete_ref,
    help="only the snapshot of this id, branch, tag or time; may be given more than once",
)
@detail_option
@output_options
def check(table: Table, data: bool, refs: tuple[str, ...], detail: int, output: Output) -> None:
    """Compare every recorded figure with what it is about, and look for every file. A difference ends with status 1."""
    found = table.check(data=data, snapshots=refs or "all")
    if output.as_json:
        output.write_json(_describe(table, found))
    else:
        output.show_view(found, detail)
    if found.has_differences:
        end_with(_format_end(table, found), DAMAGED)


def _describe(table: Table, found: Check) -> dict[str, Any]:
    from lakelens.cli.facts import pick
    from lakelens.model.facts.facts import FINDING, TABLE, list_facts

    return {
        "table": list_facts(TABLE, table),
        **pick(found, "ok", "verdict", "compared", "differ"),
        "counted": [list_facts(found.counted.facts, line) for line in found.counted],
        "not_looked_at": [list_facts(found.not_looked_at.facts, gap) for gap in found.not_looked_at],
        **{
            name: [pick(one, *_STRAY) for one in getattr(found, name)]
            for name in ("missing", "orphans", "young")
        },
        "writers": [str(writer) for writer in found.defects.writers],
        "defects": [_describe_rule(tried) for tried in found.defects.tried if tried.shows or tried.concerns],
        "orphans_are_certain": found.strays.is_certain,
        "whole": _describe_whole(found),
        "findings": [list_facts(FINDING, one) for one in found.findings],
    }


def _describe_rule(tried: TriedRule) -> dict[str, Any]:
    from lakelens.cli.facts import pick

    return {
        **pick(tried.rule, "code", "title", "writers", "thread", "severity"),
        **pick(tried, "concerns", "shows", "here"),
    }


def _describe_whole(found: Check) -> dict[str, Any]:
    whole = found.whole
    newest = None if whole.snapshot is None else whole.snapshot.id
    return {"snapshot_id": newest, "states": whole.count, "of": whole.total, "calls": found.first_aid.calls}


def _format_end(table: Table, found: Check) -> str:
    if found.newer is not None:
        return f"{table.location}: {found.newer}; try: lakelens check '{table.location}'"
    first = next((one for one in found.findings if one.severity == "error"), None)
    first = first or next(one for one in found.findings if one.severity == "warning")
    more = len(found.findings) - 1
    others = f" and {more:,} more" if more else ""
    advice = f"lakelens check '{table.location}' --json"
    return f"{first.path}: {found.verdict}: {first.message}{others}; try: {advice}"
