"""`lakelens bytes FILE`: every byte of a file with its name, as annotated hex or as JSON."""

from __future__ import annotations

import rich_click as click

import lakelens as ll
from lakelens.errors import LakeError


def parse_offset(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A byte offset: decimal, or hexadecimal after 0x."""
    try:
        return None if value is None else int(value, 0)
    except ValueError:
        raise click.BadParameter(f"{value!r} is no byte offset, such as 4096 or 0x1000") from None


@click.command("bytes")
@click.argument("file")
@click.option("--at", "offset", callback=parse_offset, metavar="OFFSET", help="show what is around this byte")
@click.option("--kind", help="what the file is, where its bytes do not tell: hash_index, roaring64, …")
@click.option(
    "-d", "--detail", type=click.IntRange(0, 3), default=1, show_default=True, help="how much to show"
)
@click.option("--json", "as_json", is_flag=True, help="print the spans as JSON, DETAIL levels deep (3: all)")
def show_bytes(file: str, offset: int | None, kind: str | None, detail: int, as_json: bool) -> None:
    """Show every byte of a file with its name: manifests, indexes, deletion vectors, footers."""
    try:
        explanation = ll.explain_file(file, kind)
        shown = explanation if offset is None else explanation.at(offset)
    except ValueError as error:
        raise LakeError(str(error), path=file) from error
    if not as_json:
        click.echo(shown.to_text(detail))
        return
    from lakelens.views.bytes_json import write_json

    for piece in write_json(shown, None if detail >= 3 else detail):
        click.echo(piece, nl=False)
    click.echo()
