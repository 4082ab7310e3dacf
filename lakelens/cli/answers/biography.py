"""The verb `biography`: what happened to a file of a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import detail_option, output_options, table_options
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.analysis.life.biography import Biography
    from lakelens.model.table import Table

_FILE = ("content", "path", "recorded_path", "file_format", "record_count", "size_bytes")


@click.command(
    epilog="lakelens biography sample:paimon data-8dd6ede1-4393-49a6-89f0-8833ed4b270d-0.parquet"
    "  ·  lakelens files sample:iceberg -c path"
)
@table_options
@click.argument("file")
@detail_option
@output_options
def biography(table: Table, file: str, detail: int, output: Output) -> None:
    """Show what happened to a file: who added it, deleted from it, removed it, and who still keeps it."""
    life = table.biography(file)
    if output.as_json:
        output.write_answer(table, **_describe(life))
    else:
        output.show_view(life, detail)


def _describe(life: Biography) -> dict[str, Any]:
    from lakelens.cli.facts import pick
    from lakelens.model.facts.facts import list_facts

    return {
        "file": pick(life.file, *_FILE),
        **pick(life, "is_live", "freed_by", "tags", "heads", "doubts"),
        "events": [list_facts(life.events.facts, event) for event in life.events],
        "kept_by": [list_facts(life.kept_by.facts, holder) for holder in life.kept_by],
    }
