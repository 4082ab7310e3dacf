"""`lakelens bytes FILE`: every byte of a file with its name, as annotated hex or as JSON."""

from __future__ import annotations

import rich_click as click

from lakelens.cli.asked import detail_option, normalise, output_options, storage_option
from lakelens.cli.exits import DAMAGED, end_with, remember_place
from lakelens.cli.output import Output
from lakelens.errors import LakeError


def parse_offset(ctx: click.Context, param: click.Parameter, value: str | None) -> int | None:
    """A byte offset: decimal, or hexadecimal after 0x."""
    try:
        return None if value is None else int(value, 0)
    except ValueError:
        raise click.BadParameter(f"{value!r} is not a byte offset, for example 4096 or 0x1000") from None


@click.command("bytes", epilog="lakelens bytes FILE --at 0x1000  ·  lakelens bytes FILE --json -d 3")
@click.argument("file", type=click.Path())
@click.option("--at", "offset", callback=parse_offset, metavar="OFFSET", help="show what is around this byte")
@click.option("--kind", help="what the file is, where its bytes do not say it: hash_index, roaring64, …")
@storage_option
@detail_option
@output_options
def show_bytes(
    file: str,
    offset: int | None,
    kind: str | None,
    storage: tuple[tuple[str, str], ...],
    detail: int,
    output: Output,
) -> None:
    """Show every byte of a file with its name: manifests, indexes, deletion vectors, footers.

    With --json the spans are written DETAIL levels deep, all of them for 3. Damage is shown in its place and ends with
    status 1.
    """
    import lakelens as ll

    remember_place(normalise(file))
    try:
        explanation = ll.explain_file(file, kind, storage_options=dict(storage) or None)
        shown = explanation if offset is None else explanation.at(offset)
    except ValueError as error:
        raise LakeError(str(error), path=file, hint="lakelens bytes --help") from error
    with output:
        if output.as_json:
            from lakelens.views.hexdump.json import write_json

            output.write_pieces(write_json(shown, None if detail >= 3 else detail))
        else:
            from lakelens.views.hexdump.terminal import print_bytes

            if output.is_plain or detail <= 0:
                output.write_lines(shown.to_text(detail).split("\n"))
            else:
                print_bytes(output.console, shown, detail)
    from lakelens.views.hexdump.model import present_bytes

    if alert := present_bytes(shown, detail).alert:
        advice = f"lakelens bytes '{file}' -d 3, which shows in its place what is wrong"
        end_with(f"{file}: damaged: {alert}; try: {advice}", DAMAGED)
