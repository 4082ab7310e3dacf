"""The verb `explain`: why a predicate reads some files of a table and skips the others."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import detail_option, output_options, snapshot_option, table_options
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.analysis.explain.explanation import Explanation
    from lakelens.model.table import Table

_SHARE = ("part", "column", "reason", "level", "files", "record_count", "size_bytes", "detail")


@click.command(
    epilog="""lakelens explain sample:iceberg "id > 15 AND p = 1"  ·  lakelens explain sample:paimon "id = 3" --json"""
)
@table_options
@click.argument("predicate", metavar="PREDICATE")
@snapshot_option
@click.option("--row-groups", is_flag=True, help="ask the files themselves about each of their row groups")
@detail_option
@output_options
def explain(
    table: Table, predicate: str, ref: str | None, row_groups: bool, detail: int, output: Output
) -> None:
    """Show which files a predicate in SQL reads, what skips the others, and why these are left."""
    found = table.explain(predicate, snapshot=ref, row_groups=row_groups)
    if output.as_json:
        output.write_answer(table, **_describe(found))
    else:
        output.show_view(found, detail)


def _describe(found: Explanation) -> dict[str, Any]:
    from lakelens.cli.facts import pick

    names = ("skipped", "kept", "snapshot")
    sums = dict(found.sums)
    return {
        "predicate": found.predicate,
        "snapshot_id": None if found.snapshot is None else found.snapshot.id,
        "totals": {
            name: dict(zip(("files", "record_count", "size_bytes"), sums[name], strict=True))
            for name in names
        },
        "levels": [
            {
                **pick(level, "name", "looked_at", "skipped", "left", "size_bytes"),
                "reasons": dict(level.reasons),
            }
            for level in found.levels
        ],
        "skipped": [pick(share, *_SHARE) for share in found.groups],
        "kept": [pick(share, *_SHARE) for share in found.answers],
        "items": found.to_arrow().to_pylist(),
    }
