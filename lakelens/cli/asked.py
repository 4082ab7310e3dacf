"""What was asked for: the options that verbs share, and the table that they choose."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import TYPE_CHECKING, Any, TypeVar

import rich_click as click

from lakelens.cli.completing import complete_path, complete_ref
from lakelens.cli.exits import DAMAGED, end_with, format_damage, format_error, remember_place
from lakelens.cli.output import Output
from lakelens.errors import LakeError, Missing, Unsupported, find_nearest

if TYPE_CHECKING:
    from lakelens.model.snapshot import Snapshot
    from lakelens.model.table import Table
    from lakelens.model.view import View
    from lakelens.model.warehouse.sample import Sample

Verb = TypeVar("Verb", bound=Callable[..., Any])
SAMPLE = "sample:"


def open_table(
    path: str,
    format: str | None = None,
    branch: str | None = None,
    version: str | None = None,
    storage: tuple[tuple[str, str], ...] = (),
    catalog: str | None = None,
    enclosed: bool = False,
) -> Table:
    """The table that the command line names. Raises `LakeError`; what an option makes missing is the user's mistake."""
    from lakelens import opening

    table: Table = _open(opening.open_table, path, format, branch, version, storage, catalog, enclosed)
    return _check_version(table, version)


def _check_version(table: Table, version: str | None) -> Table:
    if version is not None and not table.traits.has_versions:
        raise Unsupported(
            f"--version chooses an older metadata file, and a {table.traits.title} table has none",
            path=table.location,
            hint="--snapshot",
        )
    return table


def open_any(
    path: str,
    format: str | None = None,
    branch: str | None = None,
    version: str | None = None,
    storage: tuple[tuple[str, str], ...] = (),
    catalog: str | None = None,
    enclosed: bool = False,
) -> Table | View:
    """Open the table or the view that the command line names. Raises `LakeError` as `open_table` does."""
    from lakelens.model.view import View
    from lakelens.opening import open_any

    found = _open(open_any, path, format, branch, version, storage, catalog, enclosed)
    return found if isinstance(found, View) else _check_version(found, version)


def _open(
    open: Callable[..., Any],
    path: str,
    format: str | None,
    branch: str | None,
    version: str | None,
    storage: tuple[tuple[str, str], ...],
    catalog: str | None,
    enclosed: bool,
) -> Any:
    path = unpack(path)
    remember_place(path if catalog is not None else normalise(path))
    options = dict(storage) or None
    try:
        found = open(
            path,
            format=format,
            branch=branch,
            version=version,
            storage_options=options,
            catalog=catalog,
            enclosed=enclosed,
        )
    except Missing:
        if branch is not None or version is not None:
            remember_place(None)
        raise
    remember_place(found.location)  # what is missing of it, as a snapshot is, is the user's mistake
    return found


def unpack(path: str) -> str:
    """Unpack the path of a copy of a sample where one is named: `sample:iceberg`, or a file in it; any other path as it is.

    Raises `Missing`.
    """
    if not path.startswith(SAMPLE):
        return path
    name, _, inside = path.removeprefix(SAMPLE).partition("/")
    return str(find_sample(name).unpack() / inside)


def find_sample(name: str) -> Sample:
    """Find the sample of a name. Raises `Missing`."""
    import lakelens as ll

    known = ll.sample()
    try:
        return known[name]
    except KeyError:
        near = find_nearest(name, known.keys())
        listed = "lakelens samples, which lists them"
        hint = f"{' or '.join(f'sample:{name}' for name in near)}; {listed}" if near else listed
        raise Missing(f"no sample {name!r}", hint=hint) from None


def normalise(path: str) -> str:
    """Normalise the path as errors name it."""
    return path if "://" in path else os.path.abspath(path.removeprefix("file:"))  # noqa: PTH100


def find_snapshot(table: Table, ref: str | None) -> Snapshot | None:
    """Find the snapshot of a ref; the current one for None, which may be None itself before the first commit."""
    if ref is None:
        return table.current
    return table.snapshot(ref)


@contextmanager
def answering(table: Table | View, output: Output) -> Iterator[Output]:
    """Around a verb's answer: it is written out, then damage that was found ends with status 1 and one line."""
    with output:
        yield output
    damage = format_damage(table.findings, table.location)
    if damage or output.problems:
        end_with(damage or format_error(output.problems[0]), DAMAGED)


def note_problem(output: Output, make: Callable[[], Any], default: Any = None) -> Any:
    """Note what `make` gives; what cannot be read is a problem of the answer, and `default` is given instead."""
    try:
        return make()
    except LakeError as error:
        output.problems.append(error)
        return default


def place_options(verb: Verb) -> Verb:
    """Place what `table_options` does, for a verb that takes a view as well."""
    return table_options(verb, open_any)


def table_options(verb: Verb, open: Callable[..., Any] = open_table) -> Verb:
    """PATH and the options that say which table is meant; the verb gets the open `table`."""
    names = ("path", "format", "branch", "version", "storage", "catalog", "enclosed")

    @wraps(verb)
    def choose(**options: Any) -> Any:
        table = open(*(options.pop(name) for name in names))
        return verb(table=table, **options)

    for decorate in reversed(
        (
            click.argument("path", shell_complete=complete_path),
            click.option(
                "--format", help="hive, iceberg or paimon: take the directory for a table of this format"
            ),
            click.option("--branch", metavar="NAME", shell_complete=complete_ref, help="open this branch"),
            click.option("--version", metavar="N", help="open an older metadata file of an Iceberg table"),
            storage_option,
            catalog_option,
            enclosed_option,
        )
    ):
        choose = decorate(choose)
    return choose  # type: ignore[return-value]


def parse_storage(
    ctx: click.Context, param: click.Parameter, value: tuple[str, ...]
) -> tuple[tuple[str, Any], ...]:
    """KEY=VALUE pairs for fsspec; a value that is JSON (`true`, `{"region_name": "eu-west-1"}`) is what it says."""
    pairs = []
    for text in value:
        key, equals, held = text.partition("=")
        if not equals or not key:
            raise click.BadParameter(f"{text!r} is not KEY=VALUE, for example anon=true")
        pairs.append((key, _read_value(held)))
    return tuple(pairs)


def _read_value(text: str) -> Any:
    """Read what a value means: keys and passwords that look like numbers stay text."""
    if text not in ("true", "false", "null") and text[:1] not in ("{", "["):
        return text
    try:
        return json.loads(text)
    except ValueError:
        return text


storage_option = click.option(
    "--storage-option",
    "storage",
    multiple=True,
    metavar="KEY=VALUE",
    callback=parse_storage,
    help="an option of the storage, as fsspec takes it; may be given more than once",
)
catalog_option = click.option(
    "--catalog",
    metavar="CATALOG",
    help="PATH is the name of a table in this catalog: its name in .pyiceberg.yaml, its address, or a warehouse directory",
)
enclosed_option = click.option(
    "--enclosed",
    is_flag=True,
    help="read nothing outside of the directory, wherever metadata and links lead: what is there alone is missing",
)
snapshot_option = click.option(
    "-s",
    "--snapshot",
    "ref",
    metavar="REF",
    shell_complete=complete_ref,
    help="the snapshot of this id, branch, tag or time, instead of the current one",
)
detail_option = click.option(
    "-d", "--detail", type=click.IntRange(0, 3), default=1, show_default=True, help="how much to show"
)


def output_options(verb: Verb) -> Verb:
    """`--json` and `--no-pager`; the verb gets an `Output`, and its answer about a table is written when it ends."""

    @wraps(verb)
    def choose(as_json: bool, pages: bool, table: Table | None = None, **options: Any) -> Any:
        output = Output(as_json=as_json, pages=pages)
        if table is None:
            return verb(output=output, **options)
        with answering(table, output):
            return verb(table=table, output=output, **options)

    for decorate in (
        click.option("--pager/--no-pager", "pages", default=True, help="page what is longer than the screen"),
        click.option("--json", "as_json", is_flag=True, help="one JSON document, every value exact"),
    ):
        choose = decorate(choose)
    return choose  # type: ignore[return-value]
