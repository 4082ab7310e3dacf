"""The verb `skeleton`: a redacted copy of a table's metadata, to attach to a bug report."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import rich_click as click

from lakelens.cli.asked import output_options, table_options
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.model.table import Table


@click.command(
    epilog="lakelens skeleton sample:iceberg report  ·  lakelens skeleton sample:iceberg named --keep names"
)
@table_options
@click.argument("target", type=click.Path(path_type=Path))
@click.option(
    "--keep",
    metavar="WHAT",
    multiple=True,
    help="names, values, properties, or a column that stays with its values; may be given more than once",
)
@output_options
def skeleton(table: Table, target: Path, keep: tuple[str, ...], output: Output) -> None:
    """Write a copy of a table's metadata elsewhere in which every name and value is replaced, but nothing else."""
    made = table.skeleton(target, keep=keep)
    if output.as_json:
        left_out = [one.message for one in made.findings]
        output.write_answer(table, path=str(made), size_bytes=made.size_bytes, left_out=left_out)
        return
    output.write_line(str(made))
    for finding in made.findings:
        output.write_line(f"  {finding.message}")
