"""The verbs about a table as it is: show, schema, refs, findings, tree, html."""

from __future__ import annotations

import posixpath
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import rich_click as click

from lakelens.cli.asked import (
    answering,
    detail_option,
    find_snapshot,
    note_problem,
    output_options,
    place_options,
    snapshot_option,
    table_options,
)
from lakelens.cli.completing import complete_ref
from lakelens.cli.output import Output
from lakelens.errors import Missing, Unsupported

if TYPE_CHECKING:
    from lakelens.analysis.diff.diff import Diff
    from lakelens.analysis.tree import StorageTree
    from lakelens.model.manifest import Manifest, ManifestList
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table
    from lakelens.model.view import View
    from lakelens.views.card.model import Cell, Column


@click.command(epilog="lakelens show sample:iceberg  ·  lakelens show sample:paimon -s 3 -d 2")
@place_options
@snapshot_option
@detail_option
@output_options
def show(table: Table | View, ref: str | None, detail: int, output: Output) -> None:
    """Show what a table, one of its snapshots, or a view is made of."""
    from lakelens.model.view import View

    if isinstance(table, View):
        _show_view(table, ref, detail, output)
        return
    snapshot = None if ref is None else find_snapshot(table, ref)
    if output.as_json:
        output.write_answer(table, **_describe_whole(table, snapshot, output))
    else:
        output.show_view(table if snapshot is None else snapshot, detail)


def _show_view(view: View, ref: str | None, detail: int, output: Output) -> None:
    if ref is not None:
        raise Unsupported("a view has no snapshots", path=view.location, hint="--version")
    if output.as_json:
        from lakelens.cli.facts import describe_view

        output.write_json(describe_view(view))
    else:
        output.show_view(view, detail)


def _describe_whole(table: Table, snapshot: Snapshot | None, output: Output) -> dict[str, Any]:
    from lakelens.cli import facts

    state = table.current if snapshot is None else snapshot
    schema = table.schema if snapshot is None else note_problem(output, lambda: snapshot.schema, table.schema)
    lists = () if state is None else note_problem(output, lambda: state.manifest_lists, ())
    return {
        "evidence": facts.describe_evidence(table),
        "relocation": facts.describe_relocation(table),
        "properties": table.properties,
        "schema": facts.describe_schema(schema),
        "partitioning": facts.describe_spec(table.partitioning),
        "refs": [facts.describe_ref(ref) for ref in table.refs],
        "snapshot_count": table.outline_history(1).count,
        "snapshot": None if state is None else facts.describe_snapshot(state),
        "manifest_lists": [facts.describe_list(manifest_list) for manifest_list in lists],
    }


@click.command(
    epilog="lakelens schema sample:iceberg-evolution  ·  lakelens schema sample:paimon --all --json"
)
@table_options
@snapshot_option
@click.option("--all", "every", is_flag=True, help="every schema that the table keeps, not only one")
@output_options
def schema(table: Table, ref: str | None, every: bool, output: Output) -> None:
    """Show the columns with their ids and types, and what happened to them."""
    chosen = table.schema if ref is None else table.snapshot(ref).schema
    shown = list(table.schemas) if every else [chosen]
    if output.as_json:
        from lakelens.cli.facts import describe_schema, describe_spec

        schemas = (describe_schema(schema) for schema in shown)
        output.write_answer(table, schemas=schemas, partitioning=describe_spec(table.partitioning))
        return
    for kept in shown:
        output.show_view(kept, 1)


@click.command(epilog="lakelens refs sample:iceberg-branches")
@table_options
@output_options
def refs(table: Table, output: Output) -> None:
    """List branches and tags with the snapshots they point to."""
    if output.as_json:
        from lakelens.cli.facts import describe_ref

        output.write_answer(table, refs=(describe_ref(ref) for ref in table.refs))
    elif len(table.refs):
        from lakelens.views.cards.schema import grid_refs

        output.write_grid(lambda: grid_refs(table.refs, table))
    else:
        output.write_line("no branch and no tag")


@click.command(epilog="lakelens findings sample:iceberg")
@table_options
@output_options
def findings(table: Table, output: Output) -> None:
    """Read every snapshot, manifest list and manifest, and list what is wrong or odd. Errors end with status 1."""
    states: list[Snapshot | None] = [*table.snapshots] or [table.current]
    for snapshot in states:
        if snapshot is None:
            continue
        for read in _PARTS:  # what is damaged becomes a finding, or a problem of the answer
            note_problem(output, lambda: read(snapshot))  # noqa: B023 - called at once
    if output.as_json:
        output.write_answer(table)
    else:
        output.show_view(table.findings, 1)


# what `findings` reads of each snapshot
_PARTS: tuple[Callable[[Snapshot], object], ...] = (
    lambda snapshot: snapshot.schema,
    lambda snapshot: snapshot.manifests,
    lambda snapshot: snapshot.index_files,
    lambda snapshot: snapshot.statistics,
    lambda snapshot: len(snapshot.files),
)


@click.command(epilog="lakelens tree sample:paimon  ·  lakelens tree sample:iceberg | grep manifest")
@table_options
@click.option("--unreferenced", is_flag=True, help="only objects that nothing refers to")
@output_options
def tree(table: Table, unreferenced: bool, output: Output) -> None:
    """Show every file in a table's directory with its size, its role, and who refers to it."""
    found = table.tree()
    stored = [file for file in found if not (unreferenced and file.referenced_by)]
    stored.sort(key=lambda file: file.relative_path.split("/"))
    if output.as_json:
        from lakelens.cli.facts import describe_stored

        files = (describe_stored(file) for file in stored)
        output.write_answer(table, truncated=found.truncated, files=files)
    else:
        _write_tree(found, stored, output)


def _write_tree(tree: StorageTree, stored: list[Any], output: Output) -> None:
    from lakelens.views.card.model import Column
    from lakelens.views.card.wording import plural, size

    columns = (
        Column("object"),
        Column("role", is_short=True),
        Column("bytes", is_number=True),
        Column("referred to by"),
    )
    rows = _list_flat(stored) if output.is_plain else _list_nested(stored)
    output.write_rows(columns, rows)
    if not output.is_plain:
        cut = ", the listing was cut" if tree.truncated else ""
        output.write_line(
            f"{plural(len(stored), 'object')}, {size(sum(f.size_bytes for f in stored))}{cut}", "dim"
        )


def _list_flat(stored: list[Any]) -> Iterator[tuple[Cell, ...]]:
    """List one object a line with its whole path, for a pipe."""
    from lakelens.views.card.model import Cell
    from lakelens.views.card.wording import clean
    from lakelens.views.cards.tree import format_referrers

    for f in stored:
        by = format_referrers(f.referenced_by) or "nothing found"
        yield Cell(clean(f.path, 100_000)), Cell(clean(f.role)), Cell(str(f.size_bytes)), Cell(clean(by))


def _list_nested(stored: list[Any]) -> Iterator[tuple[Cell, ...]]:
    """Directories as lines of their own, what is in them drawn below."""
    from lakelens.views.card.cells import size, text
    from lakelens.views.card.model import Cell
    from lakelens.views.card.wording import clean
    from lakelens.views.cards.tree import format_referrers

    above: tuple[str, ...] = ()
    for f in stored:
        folder, name = posixpath.split(f.relative_path)
        parts = tuple(folder.split("/")) if folder else ()
        same = 0
        while same < min(len(above), len(parts)) and above[same] == parts[same]:
            same += 1
        for depth in range(same, len(parts)):
            yield Cell(f"{'  ' * depth}{clean(parts[depth])}/", "tree"), Cell(""), Cell(""), Cell("")
        above = parts
        by = text(format_referrers(f.referenced_by) or "nothing found", "mute" if f.referenced_by else "warn")
        yield Cell(f"{'  ' * len(parts)}{clean(name)}", "tree"), text(f.role), size(f.size_bytes), by


@click.command(epilog="lakelens html sample:paimon page.html  ·  lakelens html sample:paimon --site folder")
@table_options
@click.argument("target", type=click.Path(dir_okay=False, path_type=Path), required=False)
@click.option(
    "--site",
    type=click.Path(file_okay=False, path_type=Path),
    help="a folder for the pages of the explorer, with links between them, instead of one page",
)
@click.option(
    "-d", "--detail", type=click.IntRange(1, 3), default=2, show_default=True, help="how much to show"
)
@click.option("--json", "as_json", is_flag=True, help="say what was written as one JSON document")
def html(table: Table, target: Path | None, site: Path | None, detail: int, as_json: bool) -> None:
    """Write a self-contained HTML page about a table, or a folder of them: light and dark, no server, no script."""
    if (target is None) == (site is None):
        raise click.UsageError("either the file of a page, or --site and a folder")
    with answering(table, Output(as_json=as_json, pages=False)) as output:
        if site is not None:
            _write_site(table, site, output, as_json)
            return
        assert target is not None
        table.to_html(target, detail=detail)
        if as_json:
            output.write_answer(table, path=str(target), size_bytes=target.stat().st_size)
        else:
            output.write_line(str(target))


def _write_site(table: Table, folder: Path, output: Output, as_json: bool) -> None:
    site = table.to_html(site=folder)
    index = str(folder / "index.html")
    if as_json:
        output.write_answer(
            table, path=index, size_bytes=site.size_bytes, pages=len(site.pages), left_out=site.left_out
        )
    else:
        output.write_line(index)
        output.write_line(site.words, "dim")


# The verbs about a table's states: snapshots, manifests, history, diff.

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
