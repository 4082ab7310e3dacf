"""Shell completion: `lakelens completion SHELL` prints the script, and the words it completes are found here."""

from __future__ import annotations

import os
import re
from itertools import islice
from typing import Any

import rich_click as click
from click.shell_completion import CompletionItem, get_completion_class

from lakelens.errors import LakeError

_MOST = 50
# the shell puts a completed word onto the line as it is: none that it would run, split or take for an option
_HARMLESS = re.compile(r"[\w.@%+:,/][\w.@%+=:,/-]*")
# of a condition, which stands in quotes: what no quotes give a meaning; text, in single quotes, only within double ones
_IN_QUOTES = re.compile(r"[\w .@%+=:,/<>(-]+")
_IN_DOUBLE_QUOTES = re.compile(r"[\w .@%+=:,/<>('-]+")


@click.command()
@click.pass_context
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion(ctx: click.Context, shell: str) -> None:
    """Print the script that completes verbs, options, paths, samples, snapshots, branches and tags.

    \b
    bash:  eval "$(lakelens completion bash)"                                       in ~/.bashrc
    zsh:   eval "$(lakelens completion zsh)"                                        in ~/.zshrc
    fish:  lakelens completion fish > ~/.config/fish/completions/lakelens.fish
    """
    made = get_completion_class(shell)
    assert made is not None
    source = made(ctx.find_root().command, {}, "lakelens", "_LAKELENS_COMPLETE")
    # click asks the running bash for its version first; the script itself needs no shell to be made
    click.echo(source.source_template % source.source_vars())


def complete_path(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the names of samples after `sample:`; files and directories are completed by the shell itself."""
    if not incomplete.startswith("s"):
        return [CompletionItem(incomplete, type="file")]
    import lakelens as ll

    names = [f"sample:{sample.name}" for sample in ll.sample()]
    found = [CompletionItem(name) for name in names if name.startswith(incomplete)]
    return found or [CompletionItem(incomplete, type="file")]


def complete_ref(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Branches, tags and the newest snapshots of the table that is named already; no manifest is read."""
    table = _open_quietly(ctx)
    if table is None:
        return []
    try:
        known = {ref.name: ref.type for ref in table.refs}
        if param.name != "branch":
            newest = table.outline_history(_MOST).newest
            known |= {str(snapshot.id): snapshot.operation or "" for snapshot in reversed(newest)}
    except LakeError:
        return []
    words = [name for name in known if name.startswith(incomplete) and _HARMLESS.fullmatch(name)]
    helps = ((name, known[name]) for name in islice(words, _MOST))
    return [CompletionItem(name, help=text if _HARMLESS.fullmatch(text) else None) for name, text in helps]


def complete_procedure(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the maintenance procedures of the table that is named already."""
    table = _open_quietly(ctx)
    known = {} if table is None else table.procedures
    return [CompletionItem(name, help=known[name].title) for name in known if name.startswith(incomplete)]


def complete_columns(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete the columns of a table's list of files; of several, separated by commas, the last one."""
    from lakelens.model.scan.files_to_arrow import list_columns

    table = _open_quietly(ctx)
    before, comma, begun = incomplete.rpartition(",")
    try:
        names = [] if table is None else [*list_columns(table.files.columns, stats=True), "all"]
    except LakeError:
        return []
    return [
        CompletionItem(f"{before}{comma}{name}")
        for name in names
        if name.startswith(begun) and _HARMLESS.fullmatch(name)
    ]


def complete_where(ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
    """Complete a condition: columns, operators, and values of the table's bounds."""
    from lakelens.analysis.explain.completing import complete_condition

    table = _open_quietly(ctx)
    try:
        begun, words = ("", []) if table is None else complete_condition(table, incomplete)
    except LakeError:
        return []
    before = incomplete.removesuffix(begun)
    is_double = os.environ.get("COMP_WORDS", "").endswith(f'"{incomplete}')
    harmless = _IN_DOUBLE_QUOTES if is_double else _IN_QUOTES
    # a shell does not replace what is written by the same letters in another case
    alike = [word for word in words if word.startswith(begun) and harmless.fullmatch(word)]
    return [CompletionItem(before + word) for word in alike]


def _open_quietly(ctx: click.Context) -> Any:
    """Open the table of PATH, if it is given and can be opened."""
    # an option that waits for its value keeps click from sorting the words before it
    path = ctx.params.get("path") or next(iter(ctx.args), None)
    if not path:
        return None
    import lakelens as ll

    try:
        if str(path).startswith("sample:"):
            return ll.sample(str(path).removeprefix("sample:"))
        return ll.open(path, catalog=ctx.params.get("catalog"))
    except LakeError:
        return None
