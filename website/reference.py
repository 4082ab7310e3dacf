"""What the package declares, as Markdown: verbs of the command line, questions, lives of files, samples, and the gallery."""

from __future__ import annotations

import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache
from typing import Any

import rich_click as click

import lakelens as ll
from lakelens.answers.own import QUESTIONS
from lakelens.answers.question import Question
from lakelens.cli.commands import commands
from website.course import list_rows
from website.repository import ROOT
from website.shown import draw, lead_to_tab, run

#: What of the options of every verb stands above all of them.
_COMMON = frozenset(
    ("format", "branch", "version", "storage_option", "catalog", "enclosed", "detail", "as_json", "pager")
)
_THEMES = ("light", "dark")


def write_table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    """Write a table of Markdown; a bar in a cell stays a letter of it."""
    lines = [head, ["---"] * len(head), *rows]
    return "\n".join(
        "| " + " | ".join(str(cell).replace("|", "\\|").replace("\n", " ") for cell in line) + " |"
        for line in lines
    )


def write_verbs() -> str:
    """Write each verb of the command line: what it does, its own options, and lines to try."""
    parent = click.Context(commands, info_name="lakelens")
    verbs = {name: commands.commands[name] for name in sorted(commands.commands)}
    used = {_name(option): option for verb in verbs.values() for option in verb.params}
    parts = ["## Options of most verbs", _write_options(used[name] for name in sorted(_COMMON & used.keys()))]
    for name, verb in verbs.items():
        context = click.Context(verb, info_name=name, parent=parent)
        usage = " ".join(
            (
                "lakelens",
                name,
                *(piece for piece in verb.collect_usage_pieces(context) if piece != "[OPTIONS]"),
            )
        )
        parts += [f"## `{name}`", f"```text\n{usage}\n```", (verb.help or "").replace("\b", "")]
        options = [
            option for option in verb.params if _name(option) not in _COMMON and hasattr(option, "help")
        ]
        if options:
            parts.append(_write_options(options))
        if verb.epilog:
            tried = "\n".join(f"$ {line}" for line in verb.epilog.split("  ·  "))
            parts.append(f"```console\n{tried}\n```")
    return "\n\n".join(parts)


def _name(option: click.Parameter) -> str:
    return option.name or ""


def _write_options(options: Iterable[Any]) -> str:
    rows = (
        (
            f"`{', '.join((*option.opts, *option.secondary_opts))}{' ' + option.metavar if option.metavar else ''}`",
            option.help or "",
        )
        for option in options
    )
    return write_table(("option", "what it does"), rows)


def write_question(name: str) -> str:
    """Write what a question declares of itself: how it is asked in Python, in a shell, of many tables, and its JSON."""
    question = QUESTIONS[name]
    asked = ", ".join(_write_parameter(option) for option in question.options)
    parts = [
        f"```python\ntable.{name}({asked})\n```",
        question.summary,
        write_table(("takes", "what it is"), _list_taken(question)) if question.options else "",
    ]
    ways = [("in a shell", f"`lakelens {question.verb}`, see [its options](verbs.md#{question.verb})")]
    if question.page is not None:
        ways.append(
            ("in the explorer and the tab", f"the page `{question.name.replace('_', '-')}` of a table")
        )
    if question.parts:
        ways.append(("as JSON", ", ".join(f"`{_name_part(part)}`" for part in question.parts)))
    if question.figures:
        ways.append(
            ("of many tables", ", ".join(f"`{_name_part(part)}`" for part in question.figures)),
        )
    parts.append(write_table(("where", "how"), ways))
    return "\n\n".join(part for part in parts if part)


def _name_part(part: Any) -> str:
    return part if isinstance(part, str) else str(part.name)


def _write_parameter(option: Any) -> str:
    return option.name if option.is_required else f"{option.name}={option.default!r}"


def _list_taken(question: Question) -> Iterator[tuple[str, str]]:
    for option in question.options:
        said = option.help or option.label or option.kind
        yield f"`{option.name}`", f"{said}{'' if not option.is_required else ', which has to be given'}"


def write_lifetimes(name: str) -> str:
    """Write the life of each kind of file of a format."""
    rows = (
        (f"`{life.file}`", life.what, life.written_by, life.named_by, life.change or "never", life.goes)
        for life in ll.lifetimes(name)
    )
    return write_table(("file", "what it is", "written by", "named by", "changes", "goes"), rows)


def write_samples(name: str) -> str:
    """Write the samples of a format, each with the way into the tab."""
    rows = (
        (f"`{sample.name}`", sample.story, f"[look at it]({lead_to_tab(sample.name + '/')})")
        for sample in ll.sample()
        if sample.format == name
    )
    return write_table(("sample", "what happened to it", "in the tab"), rows)


def write_course() -> str:
    """Write how long each chapter of the course takes, and what of it opens in the tab."""
    rows = (
        (
            f"[{row['title']}]({row['name']}.md)",
            row["minutes"],
            f"[open]({lead_to_tab(row['sample'] + '/')})" if row["sample"] else "",
        )
        for row in list_rows()
    )
    return write_table(("chapter", "minutes", "in the tab"), rows)


@cache
def read_gallery() -> Mapping[str, Mapping[str, str]]:
    """Read which cards are in the gallery, by their names: the lines that make each, and a sentence."""
    return tomllib.loads((ROOT / "website" / "gallery.toml").read_text("utf-8"))


def write_gallery() -> str:
    """Write every card of the gallery, light and dark."""
    parts = []
    for name, entry in read_gallery().items():
        shown = draw(run(entry["code"]), int(entry.get("detail", "1")))
        parts += [f"## {name}", entry["words"], f"```python\n{entry['code'].strip()}\n```"]
        for theme in _THEMES:
            panel = f'<div class="ls-out ls-{theme}">{shown}</div>'
            parts.append(f'=== "{theme}"\n\n    <div class="ls-made">{_keep(panel)}</div>')
    return "\n\n".join(parts)


_kept: list[str] = []


def _keep(markup: str) -> str:
    """Keep markup for when Markdown is done: a word stands for it until then."""
    _kept.append(markup)
    return f"KEPT{len(_kept) - 1}TPEK"


def put_back(markup: str) -> str:
    """Put what was kept where its words stand."""
    for number, kept in enumerate(_kept):
        markup = markup.replace(f"KEPT{number}TPEK", kept)
    return markup
