"""The verb `space`: where the bytes are, who keeps them, what would free them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import detail_option, output_options, table_options
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.analysis.space.space import Space
    from lakelens.model.table import Table


@click.command(
    epilog="lakelens space sample:iceberg  ·  lakelens space sample:paimon --before 2026-11-21T13:58:40 --json"
)
@table_options
@click.option(
    "--before",
    metavar="TIME",
    help="divide history here, and say what expiring before it frees: 2024-03-01, UTC",
)
@detail_option
@output_options
def space(table: Table, before: str | None, detail: int, output: Output) -> None:
    """Put every byte under a table's directory in one row: live data by column, old snapshots by who keeps them, orphans."""
    found = table.space(before=before)
    if output.as_json:
        output.write_json(_describe(table, found))
    else:
        output.show_view(found, detail)


def _describe(table: Table, found: Space) -> dict[str, Any]:
    from lakelens.cli.facts import pick
    from lakelens.model.facts.facts import FINDING, TABLE, list_facts

    expiring = found.expiring.facts
    freed = None if found.before is None else list_facts(expiring, found.find_freed(found.before))
    return {
        "table": list_facts(TABLE, table),
        **pick(found, "size_bytes", "files", "live_bytes", "outside_bytes", "outside_files"),
        "orphans_are_certain": found.is_certain,
        "slices": [{"group": one.group, **list_facts(found.slices.facts, one)} for one in found.slices],
        "expire": freed,
        "expiring": [list_facts(expiring, one) for one in found.expiring],
        "by_ref": [list_facts(found.by_ref.facts, one) for one in found.by_ref],
        "by_snapshot": [list_facts(found.by_snapshot.facts, one) for one in found.by_snapshot],
        "findings": [list_facts(FINDING, one) for one in found.findings],
    }
