"""The verb `health`: whether a table is well, and what would help."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import detail_option, output_options, snapshot_option, table_options
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.analysis.health.health import Health
    from lakelens.model.table import Table


@click.command(epilog="lakelens health sample:iceberg  ·  lakelens health sample:paimon --json")
@table_options
@snapshot_option
@detail_option
@output_options
def health(table: Table, ref: str | None, detail: int, output: Output) -> None:
    """Measure a table against its own limits, and list the calls that would help. A table to act on is no damage."""
    found = table.health(snapshot=ref)
    if output.as_json:
        output.write_answer(table, **_describe(found))
    else:
        output.show_view(found, detail)


def _describe(found: Health) -> dict[str, Any]:
    parts = found.parts
    return {
        "snapshot_id": None if found.snapshot is None else found.snapshot.id,
        "verdict": found.verdict,
        "verdicts": {name: found.verdicts[name] for name in ("act", "watch", "good")},
        "measures": found.measures.to_arrow().to_pylist(),
        "calls": found.calls.to_arrow().to_pylist(),
        "partitions": parts.partitions.to_arrow().to_pylist(),
        "buckets": [] if parts.buckets is None else parts.buckets.to_arrow().to_pylist(),
        "columns": parts.columns.to_arrow().to_pylist(),
        "documents": parts.documents.to_arrow().to_pylist(),
        "who_can_read": found.who_can_read.to_arrow().to_pylist(),
        "gaps": list(found.gaps),
    }
