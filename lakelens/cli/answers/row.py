"""The verb `row`: every version of the rows that a predicate is about."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import detail_option, output_options, table_options
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.analysis.life.rows import RowLife, Version
    from lakelens.model.table import Table

_LOOKED = ("files", "candidates", "of", "rows", "delete_files", "requests", "bytes")
_END = ("kind", "how", "snapshot_id", "at", "branch")
_MOVE = ("file", "position", "snapshot_id", "at", "how", "branch")
_VERSION = (
    "row",
    "number",
    "file",
    "position",
    "since",
    "since_id",
    "by",
    "until",
    "ended_by",
    "branch",
    "row_id",
)


@click.command(
    epilog="""lakelens row sample:paimon "id = 1"  ·  lakelens row sample:iceberg "id = 0 AND p = 0" --json"""
)
@table_options
@click.argument("predicate", metavar="PREDICATE")
@click.option(
    "--most-files",
    type=click.IntRange(min=1),
    default=500,
    show_default=True,
    help="how many data files are opened at most",
)
@detail_option
@output_options
def row(table: Table, predicate: str, most_files: int, detail: int, output: Output) -> None:
    """Show every version of the rows that a predicate in SQL is about: values, place, since when, what ended it."""
    life = table.row(predicate, most_files=most_files)
    if output.as_json:
        output.write_answer(table, **_describe(life))
    else:
        output.show_view(life, detail)


def _describe(life: RowLife) -> dict[str, Any]:
    from lakelens.cli.facts import pick

    return {
        "predicate": life.where,
        "identity": pick(life.identity, "kind", "columns", "words"),
        "merge": life.merge,
        "rows": len(life.lives),
        "there": life.there,
        "versions": [_describe_version(version) for version in life.versions],
        "looked_at": pick(life.looked, *_LOOKED),
        "doubts": life.doubts,
    }


def _describe_version(version: Version) -> dict[str, Any]:
    from lakelens.cli.facts import pick

    return {
        **pick(version, *_VERSION, "changed", "unknown", "is_first_known"),
        "values": dict(version.values),
        "moves": [pick(move, *_MOVE) for move in version.moves],
        "ends": [pick(end, *_END) for end in version.ends],
    }
