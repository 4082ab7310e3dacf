"""The verbs `map`, `skeleton`, `bug` and `lifetimes`: a table's files as a picture, as a copy, in a report; their kinds."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import detail_option, output_options, table_options
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.analysis.map import Map
    from lakelens.model.table import Table


@click.command("map", epilog="lakelens map sample:iceberg  ·  lakelens map sample:paimon --svg map.svg")
@table_options
@click.option(
    "-s",
    "--snapshot",
    metavar="SNAPSHOT",
    help="an id, a branch, a tag or a time; the current one by default",
)
@click.option(
    "--svg",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="FILE",
    help="write the drawing here, light and dark in one",
)
@detail_option
@output_options
def draw_map(table: Table, snapshot: str | None, svg: Path | None, detail: int, output: Output) -> None:
    """Draw how a table's files hang together, from the pointer to the data, and what the last commit made new."""
    found = table.map(snapshot=snapshot)
    if svg is not None:
        found.save(svg)
    if output.as_json:
        output.write_json(_describe(found))
    elif svg is not None:
        click.echo(f"{svg}: {found.news}")
    else:
        output.show_view(found, detail)


def _describe(found: Map) -> dict[str, Any]:
    from lakelens.cli.facts import pick
    from lakelens.model.facts.facts import TABLE, list_facts

    bucket = None
    if found.bucket is not None:
        levels = [
            {
                "level": level.name,
                "rows": level.rows,
                "runs": [pick(run, "name", "state", "rows") for run in level.runs],
            }
            for level in found.bucket.levels
        ]
        bucket = {"name": found.bucket.name, "levels": levels}
    return {
        "table": list_facts(TABLE, found.table),
        "snapshot": None if found.snapshot is None else found.snapshot.id,
        "tiers": [
            {
                "noun": tier.noun,
                "boxes": [
                    pick(box, "name", "state", "count", "path", "field", "lines") for box in tier.boxes
                ],
            }
            for tier in found.tiers
        ],
        "bucket": bucket,
        "tree": [pick(branch, "name", "state", "depth", "count", "words") for branch in found.tree],
        "new_files": dict(found.chart.counted_new),
        "live_rows": None if found.live_rows is None else found.live_rows.count,
        "total": found.total,
    }


@click.command(epilog="lakelens lifetimes  ·  lakelens lifetimes paimon --json")
@click.argument("format", required=False)
@detail_option
@output_options
def lifetimes(format: str | None, detail: int, output: Output) -> None:
    """List every kind of file of each format: who writes it, who names it, whether it may change, when it goes."""
    from lakelens.file_lives import list_lifetimes
    from lakelens.model.facts.facts import list_facts

    found = list_lifetimes(format)
    if output.as_json:
        output.write_json({"lifetimes": [list_facts(found.facts, line) for line in found]})
    else:
        output.show_view(found, detail)


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
        left_out = [finding.message for finding in made.findings]
        output.write_answer(table, path=str(made), size_bytes=made.size_bytes, left_out=left_out)
        return
    output.write_line(str(made))
    for finding in made.findings:
        output.write_line(f"  {finding.message}")


@click.command(
    epilog="""lakelens bug sample:iceberg report.zip --call 'explain "id > 5"'  ·  lakelens bug sample:paimon report.zip"""
)
@table_options
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path))
@click.option(
    "--call",
    metavar="CALL",
    default="",
    help="the question that fails, as 'explain \"id > 5\"' or 'check --data'",
)
@click.option("--keep", metavar="WHAT", multiple=True, help="as of skeleton: what stays as it is")
@output_options
def bug(table: Table, target: Path, call: str, keep: tuple[str, ...], output: Output) -> None:
    """Write a zip to attach to a report of a fault: a skeleton, checks, versions, the failing call; no name, no value."""
    from lakelens.answers.bug import write_report

    files = write_report(table, target, call, keep)
    if output.as_json:
        output.write_answer(
            table,
            path=str(target.resolve()),
            files=[{"name": name, "size_bytes": size} for name, size in files.items()],
        )
        return
    inside = [name for name in files if name.startswith("skeleton/")]
    named = [name for name in files if not name.startswith("skeleton/")]
    output.write_line(
        f"{target}: {', '.join(named)}" + (f", skeleton/ ({len(inside):,} files)" if inside else "")
    )
    output.write_line("  look through it before you pass it on: README.md says what it contains")
