"""How a verb ends: its exit status, and one line on standard error that says what to do.

    0    everything that was asked for was shown
    1    the table is damaged in what was read for the answer; what can still be read was shown. `check` found a difference
    2    a user's mistake: a path that is no table, a snapshot that is not there, a wrong option
    130  interrupted

A reader that closes the pipe (`| head`) ends a verb quietly, with 0.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterable
from typing import Any, NoReturn

import rich_click as click
from click import get_current_context

from lakelens.answers.question import find_question, list_added, load
from lakelens.errors import AccessDenied, Corrupt, LakeError, Missing, NotATable, Unsupported
from lakelens.model.finding import GONE_ON, Finding
from lakelens.views.card.wording import clean

DAMAGED, MISTAKEN, INTERRUPTED = 1, 2, 130
_LONGEST = 2_000


class Verbs(click.RichGroup):
    """The group of all verbs; every error becomes one line and a status, whichever way the verbs are started."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """List the verbs, those of questions that other packages add at the end."""
        known = super().list_commands(ctx)
        added = (find_question(name).verb for name in sorted(list_added()))
        return [*known, *(verb for verb in added if verb not in self.commands)]

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Find a verb by its name; other packages are asked only for one that is none of lakelens's own."""
        if name not in self.commands and (added := name.replace("-", "_")) in list_added():
            self.add_command(load("lakelens.cli.questions:make_verb")(find_question(added)))
        return super().get_command(ctx, name)

    def main(self, *args: Any, **options: Any) -> Any:
        """Run a verb; a user's mistake in the options is one line too."""
        if not options.pop("standalone_mode", True):
            return super().main(*args, standalone_mode=False, **options)  # type: ignore[call-overload]
        try:
            sys.exit(super().main(*args, standalone_mode=False, **options) or 0)  # type: ignore[call-overload]
        except click.ClickException as error:
            end_with(_format_misuse(error), error.exit_code)
        except click.Abort:
            write_error("interrupted")
            sys.exit(INTERRUPTED)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the chosen verb and write out its answer."""
        try:
            super().invoke(ctx)
            sys.stdout.flush()
        except BrokenPipeError:  # Python's last flush finds a place to write to
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            sys.exit(0)
        except KeyboardInterrupt as error:
            write_error(str(error) or "interrupted")  # a long reading says how far it was
            ctx.exit(INTERRUPTED)
        except LakeError as error:
            end_with(format_error(error), find_status(error, ctx.obj))
        except OSError as error:  # a page that cannot be written, a command that cannot be run
            end_with(
                f"{error.filename or ''}: {error.strerror or error}; try: another path".removeprefix(": "),
                MISTAKEN,
            )


def remember_place(place: str | None) -> None:
    """Keep the place that the user named: if it is that which is missing, the table is not damaged."""
    get_current_context().find_root().obj = place


def end_with(line: str, status: int) -> NoReturn:
    """End with one line on standard error."""
    write_error(line)
    sys.exit(status)


def write_error(line: str) -> None:
    """Write one line on standard error, without control characters: it may quote names of a lake."""
    click.echo(f"lakelens: {clean(line, _LONGEST)}", err=True)


def find_status(error: LakeError, asked: object) -> int:
    """Whether a table is damaged, or who asked for it mistaken: about a path that is not there it depends on whose it is.

    Nobody but who asks names a column, an option or a catalog: what is missing without a path is a mistake.
    """
    if isinstance(error, Corrupt):
        return DAMAGED
    if isinstance(error, Missing) and error.path is not None and asked not in (None, error.path):
        return DAMAGED
    return MISTAKEN


def format_error(error: LakeError) -> str:
    """Say what is wrong and what to do, in one line."""
    if isinstance(error, NotATable) and error.hint:  # of Python; here is a verb for it
        return f"{error.path}: {error.message}; try: lakelens find '{error.path}'"
    return str(error) if error.hint else f"{error}; try: {_advise(error)}"


def _advise(error: LakeError) -> str:
    if isinstance(error, Corrupt) and error.path:
        at = "" if error.offset is None else f" --at {error.offset}"
        return f"lakelens bytes '{error.path}'{at}"
    if isinstance(error, NotATable):
        return "lakelens find DIRECTORY, which lists the tables below a directory"
    if isinstance(error, Missing):
        return "check the path; lakelens find DIRECTORY lists the tables below a directory"
    if isinstance(error, AccessDenied):
        return "ask for the right to read it, or give credentials with --storage-option KEY=VALUE"
    if isinstance(error, Unsupported):
        return "leave the option out, or see lakelens --help"
    return "lakelens --help"


def format_damage(findings: Iterable[Finding], place: str) -> str:
    """Format the errors that were found while reading, in one line; empty when there were none."""
    errors = [finding for finding in findings if finding.severity == "error"]
    if not errors:
        return ""
    more = f" and {len(errors) - 1:,} more" if len(errors) > 1 else ""
    first = errors[0]
    newer = next((finding.message for finding in findings if finding.code == GONE_ON), None)
    if newer is not None and all(finding.code in ("missing", "no-files") for finding in errors):
        return f"{first.path}: {first.message}{more}; {newer}"
    return f"{first.path}: damaged: {first.message}{more}; try: lakelens findings '{place}'"


def _format_misuse(error: click.ClickException) -> str:
    ctx = getattr(error, "ctx", None)
    called = "lakelens" if ctx is None else ctx.command_path
    message = error.format_message().rstrip(".").replace("\n", " ")
    return f"{message}; try: {called} --help"
