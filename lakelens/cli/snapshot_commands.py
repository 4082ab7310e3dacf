"""The verbs that tell of a table's states: snapshots, manifests, history, diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import (
    Choice,
    answering,
    detail_option,
    find_snapshot,
    note_problem,
    output_options,
    snapshot_option,
    table_options,
)
from lakelens.cli.completing import complete_ref
from lakelens.cli.output import Output

if TYPE_CHECKING:
    from lakelens.model.manifest import Manifest, ManifestList
    from lakelens.model.table import Table
    from lakelens.views.card.model import Cell, Column

limit_option = click.option(
    "-n", "--limit", type=click.IntRange(1), metavar="N", help="only the newest so many"
)


@click.command(epilog="lakelens snapshots sample:paimon  ·  lakelens snapshots sample:iceberg --json")
@table_options
@limit_option
@output_options
def snapshots(choice: Choice, limit: int | None, output: Output) -> None:
    """List the snapshots with what each changed, the newest first."""
    table = choice.open()
    known = table.snapshots
    newest = known if limit is None else known[max(len(known) - limit, 0) :]
    with answering(table, output):
        if output.as_json:
            from lakelens.cli import table_facts as facts

            told = (facts.describe_snapshot(snapshot) for snapshot in reversed(newest))
            output.tell_json(
                {
                    "table": facts.describe_table(table),
                    "snapshots": told,
                    "findings": facts.describe_findings(table),
                }
            )
        elif not known:
            output.tell_line(_word_none(table))
        else:
            from lakelens.views.cards.snapshot_grid import grid_snapshots

            output.tell_grid(lambda: grid_snapshots(newest, how="--limit, or --json for all of them"))


def _word_none(table: Table) -> str:
    if not table.traits.has_snapshots:
        return f"a {table.traits.title} table keeps no snapshots: lakelens history tells when its files were written"
    return "no snapshot: nothing was committed yet"


@click.command(epilog="lakelens manifests sample:iceberg  ·  lakelens manifests sample:paimon -s 2 --json")
@table_options
@snapshot_option
@output_options
def manifests(choice: Choice, ref: str | None, output: Output) -> None:
    """List the manifests of a snapshot, as its manifest lists describe them."""
    table = choice.open()
    snapshot = find_snapshot(table, ref)
    with answering(table, output):
        lists = [] if snapshot is None else list(note_problem(output, lambda: snapshot.manifest_lists, ()))
        held = [(one, list(note_problem(output, lambda: one.manifests, ()))) for one in lists]  # noqa: B023
        if output.as_json:
            from lakelens.cli import table_facts as facts

            output.tell_json(
                {
                    "table": facts.describe_table(table),
                    "snapshot_id": None if snapshot is None else snapshot.id,
                    "manifest_lists": (facts.describe_list(one, manifests) for one, manifests in held),
                    "findings": facts.describe_findings(table),
                }
            )
        elif any(manifests for _, manifests in held):
            output.tell_rows(*_list_manifests(held, output))
        else:
            output.tell_line("no manifest")


def _list_manifests(
    held: list[tuple[ManifestList, list[Manifest]]], output: Output
) -> tuple[tuple[Column, ...], Iterator[tuple[Cell, ...]]]:
    """The manifests with their lists' roles, where there are several lists."""
    from lakelens.options import display
    from lakelens.views.card.model import Cell, Column
    from lakelens.views.card.wording import clean
    from lakelens.views.cards.manifest import grid_manifests

    every = [manifest for _, manifests in held for manifest in manifests]
    with display.using(max_rows=10_000, max_text=100_000 if output.is_plain else display.max_text):
        grid = grid_manifests(every)
    columns, rows = grid.columns, list(grid.rows)
    if output.is_plain:  # whole paths and exact sizes
        rows = [
            (Cell(clean(manifest.path, 100_000)), *row[1:-1], Cell(str(manifest.size_bytes)))
            for row, manifest in zip(rows, every, strict=False)
        ]
    if len(held) > 1:
        roles = [one.role for one, manifests in held for _ in manifests]
        columns = (Column("list", is_short=True), *columns)
        rows = [(Cell(role), *row) for role, row in zip(roles, rows, strict=False)]
    return columns, iter(rows)


@click.command(epilog="lakelens history sample:iceberg-branches")
@table_options
@limit_option
@output_options
def history(choice: Choice, limit: int | None, output: Output) -> None:
    """Draw how a table came here: snapshots on their branches, tags, rollbacks, and what expired."""
    table = choice.open()
    with answering(table, output):
        told = table.history
        if output.as_json:
            from lakelens.cli import table_facts as facts
            from lakelens.cli.change_facts import describe_history

            output.tell_json(
                {
                    "table": facts.describe_table(table),
                    **describe_history(told),
                    "findings": facts.describe_findings(table),
                }
            )
        elif not told.marks:
            output.tell_view(told, 1)
        else:
            from lakelens.views.timeline.terminal import draw_history

            for line in draw_history(told, limit, is_plain=output.is_plain):
                output.tell_styled(line)


@click.command(
    epilog="lakelens diff sample:iceberg 4470762349893383681 main  ·  lakelens diff sample:paimon 2 5 -d 2"
)
@table_options
@click.argument("before", shell_complete=complete_ref)
@click.argument("after", shell_complete=complete_ref)
@detail_option
@output_options
def diff(choice: Choice, before: str, after: str, detail: int, output: Output) -> None:
    """Show what changed from one snapshot to another, each named by its id, a branch, a tag or a time.

    `nothing` for BEFORE compares with an empty table.
    """
    table = choice.open()
    old = None if before == "nothing" else find_snapshot(table, before)
    new = find_snapshot(table, after)
    changes = table.diff(old, new)
    with answering(table, output):
        if output.as_json:
            from lakelens.cli import table_facts as facts
            from lakelens.cli.change_facts import describe_diff

            told: dict[str, Any] = {"table": facts.describe_table(table), **describe_diff(changes)}
            output.tell_json({**told, "findings": facts.describe_findings(table)})
        else:
            output.tell_view(changes, detail)
