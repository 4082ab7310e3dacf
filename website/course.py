"""The course as pages: notebooks as Markdown, each with the outputs that it keeps; tests compare these with a new run."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping, Sequence
from functools import cache
from html import escape
from typing import Any

from website.lab import CHAPTERS
from website.repository import ROOT, outside_fences, read_source, widen_lists
from website.shown import LAB, STYLE, highlight, lead_to_tab, strict

_ACTIVE = re.compile(r"<script|<iframe|<object|<embed|\son\w+\s*=|javascript:", re.IGNORECASE)
_SAMPLE = re.compile(r'll\.sample\("([\w-]+)"\)')
_SPARK = re.compile(r"ll\.spark\.session\(")
_TITLE = re.compile(r"^# (?:\d+ · )?(.+)$", re.MULTILINE)
_MINUTES = re.compile(r"(\d+) minutes")


@cache
def list_notebooks() -> dict[str, str]:
    """List the notebooks of the course, by name, with their titles."""
    names = sorted(path.stem for path in (ROOT / "notebooks").glob("*.ipynb"))
    return {name: _find(_TITLE, name) for name in names}


def list_rows() -> list[dict[str, str]]:
    """List the course: of each notebook its name, title, minutes, and the first sample that it opens."""
    return [
        {
            "name": name,
            "title": title,
            "minutes": _find(_MINUTES, name),
            "sample": _find_sample(name),
        }
        for name, title in list_notebooks().items()
    ]


def _find(pattern: re.Pattern[str], name: str) -> str:
    """Find something in the first cell of a notebook."""
    found = pattern.search(join(read_cells(name)[0]["source"]))
    if found is None:
        raise ValueError(f"the first cell of {name} has no {pattern.pattern}")
    return found[1]


def _find_sample(name: str) -> str:
    """Find what a reader may open in the tab: nothing where the notebook makes its own tables with Spark."""
    code = _read_code(name)
    found = _SAMPLE.search(code)
    return "" if found is None or _SPARK.search(code) else found[1]


@cache
def _read_code(name: str) -> str:
    return "\n".join(join(cell["source"]) for cell in read_cells(name) if cell["cell_type"] == "code")


@cache
def read_cells(name: str) -> list[dict[str, Any]]:
    """Read the cells of a notebook."""
    cells: list[dict[str, Any]] = json.loads(read_source(f"notebooks/{name}.ipynb"))["cells"]
    return cells


def join(text: str | Sequence[str]) -> str:
    """Join a text that a notebook keeps as lines."""
    return text if isinstance(text, str) else "".join(text)


def write_page(name: str) -> str:
    """Write a notebook as Markdown; a cell with code is a block of the language `cell`, which has its number."""
    parts = [part for number, cell in enumerate(read_cells(name)) for part in _write_cell(name, number, cell)]
    sample = _find_sample(name)
    ways = "Run it yourself with `make lab`, or on [Binder](../binder.md)."
    if name in CHAPTERS:
        ways = f"[Run it in the browser]({LAB}notebooks/index.html?path={name}.ipynb). {ways}"
    if sample:
        ways = (
            f"[Open its first table in the tab]({lead_to_tab(sample + '/')}), with nothing installed. {ways}"
        )
    parts.insert(1, f"{ways}\n{{ .ls-ways-line }}")
    return "\n\n".join(parts) + "\n"


def _write_cell(name: str, number: int, cell: Mapping[str, Any]) -> Iterator[str]:
    source = join(cell["source"])
    if cell["cell_type"] == "markdown":
        folds = outside_fences(source, widen_lists).replace("<details>", '<details markdown="1">')
        yield re.sub(r"(?<=\]\()(\d\d-[\w-]+)\.ipynb", r"\1.md", folds)
    elif not source.startswith("# Checks"):
        yield f"```cell\n{name} {number}\n```"


@strict
def show_cell(
    source: str, language: str, class_name: str, options: dict[str, Any], md: Any, **_: object
) -> str:
    """Write a cell: its code, folded where the notebook folds it, and what it gave."""
    name, number = source.split()
    cell = read_cells(name)[int(number)]
    text = join(cell["source"])
    code = highlight(md, text)
    shown = "".join(show_output(output) for output in cell["outputs"])
    if cell["metadata"].get("jupyter", {}).get("source_hidden"):
        head = escape(text.partition("\n")[0].lstrip("# ").rstrip())
        return f'<details class="ls-fold"><summary>{head}</summary>{code}{shown}</details>'
    return code + shown


def show_output(output: Mapping[str, Any]) -> str:
    """Write an output as a reader sees it who trusts nothing: no script, and no style but the one of all cards."""
    data = output.get("data", {})
    if "text/html" in data:
        markup = STYLE.sub("", join(data["text/html"]))
        if not markup:  # the place of a widget, whose still picture follows
            return ""
        if _ACTIVE.search(re.sub(r">[^<]*<", "><", markup)):
            raise ValueError(f"an output with a script: {markup[:200]}")
        return f'<div class="ls-out">{markup}</div>'
    if "image/png" in data:
        picture = join(data["image/png"]).replace("\n", "")
        return f'<div class="ls-out"><img src="data:image/png;base64,{picture}" alt="The plot of the cell above"></div>'
    text = join(data.get("text/plain", output.get("text", "")))
    return f'<div class="ls-out"><pre class="ls-text" tabindex="0">{escape(text)}</pre></div>'
