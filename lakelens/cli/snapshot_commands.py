"""The verbs about a table's states: snapshots, manifests, history, diff."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import rich_click as click

from lakelens.cli.asked import (
    detail_option,
    find_snapshot,
    note_problem,
    output_options,
    snapshot_option,
    table_options,
)
from lakelens.cli.completing import complete_ref
from lakelens.cli.output import Output
from lakelens.errors import Missing

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Diff
    from lakelens.model.manifest import Manifest, ManifestList
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table
    from lakelens.views.card.model import Cell, Column

limit_option = click.option("-n", "--limit", type=click.IntRange(1), metavar="N", help="only the newest N")


@click.command(epilog="lakelens snapshots sample:paimon  ·  lakelens snapshots sample:iceberg --json")
@table_options
@limit_option
@output_options
def snapshots(table: Table, limit: int | None, output: Output) -> None:
    """List the snapshots with what each changed, the newest first."""
    known = table.snapshots
    newest = known if limit is None else known[max(len(known) - limit, 0) :]
    if output.as_json:
        from lakelens.cli.facts import describe_snapshot

        output.write_answer(table, snapshots=(describe_snapshot(snapshot) for snapshot in reversed(newest)))
    elif len(known):
        from lakelens.views.cards.snapshot import grid_snapshots

        output.write_grid(lambda: grid_snapshots(newest, how="--limit, or --json for all of them"))
    elif table.traits.has_snapshots:
        output.write_line("no snapshot: nothing has been committed yet")
    else:
        kept = f"a {table.traits.title} table keeps no snapshots"
        output.write_line(f"{kept}: lakelens history shows when its files were written")


@click.command(epilog="lakelens manifests sample:iceberg  ·  lakelens manifests sample:paimon -s 2 --json")
@table_options
@snapshot_option
@output_options
def manifests(table: Table, ref: str | None, output: Output) -> None:
    """List the manifests of a snapshot, as its manifest lists describe them."""
    snapshot = find_snapshot(table, ref)
    lists = [] if snapshot is None else list(note_problem(output, lambda: snapshot.manifest_lists, ()))
    named = []
    for manifest_list in lists:
        read = note_problem(output, lambda: manifest_list.manifests, ())  # noqa: B023 - called at once
        named.append((manifest_list, list(read)))
    if output.as_json:
        from lakelens.cli.facts import describe_list

        output.write_answer(
            table,
            snapshot_id=None if snapshot is None else snapshot.id,
            manifest_lists=(describe_list(one, manifests) for one, manifests in named),
        )
    elif any(manifests for _, manifests in named):
        output.write_rows(*_list_manifests(named, output))
    else:
        output.write_line("no manifest")


def _list_manifests(
    named: list[tuple[ManifestList, list[Manifest]]], output: Output
) -> tuple[tuple[Column, ...], Iterator[tuple[Cell, ...]]]:
    """Give the manifests with their lists' roles, where there are several lists."""
    from lakelens.options import display
    from lakelens.views.card.model import Cell, Column
    from lakelens.views.card.wording import clean
    from lakelens.views.cards.manifest import grid_manifests

    every = [manifest for _, manifests in named for manifest in manifests]
    with display.using(max_rows=10_000, max_text=100_000 if output.is_plain else display.max_text):
        grid = grid_manifests(every)
    columns, rows = grid.columns, list(grid.rows)
    if output.is_plain:  # whole paths and exact sizes
        rows = [
            (Cell(clean(manifest.path, 100_000)), *row[1:-1], Cell(str(manifest.size_bytes)))
            for row, manifest in zip(rows, every, strict=False)
        ]
    if len(named) > 1:
        roles = [one.role for one, manifests in named for _ in manifests]
        columns = (Column("list", is_short=True), *columns)
        rows = [(Cell(role), *row) for role, row in zip(roles, rows, strict=False)]
    return columns, iter(rows)


@click.command(epilog="lakelens history sample:iceberg-branches")
@table_options
@limit_option
@output_options
def history(table: Table, limit: int | None, output: Output) -> None:
    """Draw how a table came here: snapshots on their branches, tags, rollbacks, and what expired."""
    found = table.history
    if output.as_json:
        from lakelens.cli.facts import describe_history

        output.write_answer(table, **describe_history(found))
    elif not found.marks:
        output.show_view(found, 1)
    else:
        from lakelens.views.timeline.terminal import draw_history

        for line in draw_history(found, limit, is_plain=output.is_plain):
            output.write_styled(line)


@click.command(
    context_settings={"ignore_unknown_options": True},  # of which -2 is none
    epilog="lakelens diff sample:iceberg  ·  lakelens diff sample:iceberg main~2 main  ·  lakelens diff sample:paimon -3 -1",
)
@table_options
@click.argument("before", required=False, shell_complete=complete_ref)
@click.argument("after", required=False, shell_complete=complete_ref)
@detail_option
@output_options
def diff(table: Table, before: str | None, after: str | None, detail: int, output: Output) -> None:
    """Show what changed from one snapshot to another, without any by the last commit.

    BEFORE and AFTER are ids (or the first digits of one), branches, tags, times, main~1 or -1. AFTER is the current
    snapshot where it is left out, BEFORE its parent. `nothing` for BEFORE compares with an empty table.
    """
    for word in (before or "", after or ""):
        if word.startswith("-") and not word[1:].isdigit():
            raise click.NoSuchOption(word, ctx=click.get_current_context())
    changes = _diff(table, before, find_snapshot(table, after))
    if output.as_json:
        from lakelens.cli.facts import describe_diff

        output.write_answer(table, **describe_diff(changes))
    else:
        output.show_view(changes, detail)


def _diff(table: Table, before: str | None, after: Snapshot | None) -> Diff:
    if before is not None:
        return table.diff(None if before == "nothing" else before, after)
    try:
        return table.diff(after=after)
    except Missing as error:
        if after is None or not table.traits.has_snapshots:
            raise
        hint = f"lakelens diff '{table.location}' nothing {after.id}, which compares with an empty table"
        raise Missing(error.message, path=error.path, hint=hint) from None
