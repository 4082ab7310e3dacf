"""docs/one-insert: one INSERT of each format on a page to print, made of what cells of the notebooks show.

    python -m notebooks.pages            writes the pages
    python -m notebooks.pages --check    says whether they are what would be written
    python -m notebooks.pages --from DIR takes the notebooks from another directory

A page has the cells with the tag `page`: what is printed is what nbval compares. A map is drawn and comes first, then files, then
fields: a table of a card or a data frame, JSON or a dict. Identifiers that are new at each run are cut, as the map cuts them. Such a
cell may say more in its metadata, under `page`:

    heading     what is above it
    of          the section of the cards' glossary that has the meanings of its fields, where no column has them
    rows        which rows are shown, by the names of their fields, or what is in their first column; all by default
    columns     true: below the table is what each of its columns means
    before      true: not printed; the files that it lists were there before, and are marked "untouched" among those of the INSERT
"""

from __future__ import annotations

import ast
import base64
import json
import re
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field
from html import escape
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PAGES = HERE.parent / "docs" / "one-insert"
#: Each page and the notebook that it is made of, with its title, the two sentences to take along, and what to say without looking.
FORMATS = {
    "hive": (
        "01-hive",
        "Hive",
        "A table is a directory. The metastore knows which one; nothing names a file.",
        ("Who names the data file?", "Where are the names of the columns?",
         "When does a reader see the row?", "What would a second INSERT touch?"),
    ),
    "iceberg": (
        "02-iceberg",
        "Iceberg",
        "Every file is named by another, and one pointer names the first. To swap it is the commit.",
        ("Who moves the pointer?", "In which order were the four files written?",
         "Which of them would a second INSERT name again?", "Why are bounds in the manifest?"),
    ),
    "paimon": (
        "03-paimon",
        "Paimon",
        "Everything is in storage, and writers only add. The snapshot with the highest number is the table.",
        ("Why is the base list empty?", "Which file would a second INSERT of the key 1 name again?",
         "Who decides which row counts?", "What if LATEST is lost?"),
    ),
    "delta": (
        "13-delta",
        "Delta Lake",
        "A table is a log, and the file with the next number is the commit. A version is the sum of its commits.",
        ("What makes the row visible?", "Where is the schema?",
         "What happens to a writer who finds the number taken?", "What would a second INSERT touch?"),
    ),
}
TAG = "page"
_UUID = re.compile(r"([0-9a-f]{8})-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}")
_LONG_ID = re.compile(r"(?<![\d.…])(?!9223372036854775807)(\d{8})\d{8,11}(?![\d.])")
_PLACE = re.compile(r"WAREHOUSE/(?:[^\s/'\"<]+/)*")
_PICTURE = re.compile(r"data:image/svg\+xml;base64,([A-Za-z0-9+/=]+)")
_NAMED = ("field", "name")  # the columns that have the names of fields
_BLANKS = " \u00a0"
_LONGEST = 64  # characters of a value
_ROOMY = 40  # of one that may break at its dots
_BESIDE = "checksum"  # Hadoop's files beside the others of a local disk belong to no table

_STYLE = """
@page { size: A4; margin: 7mm 14mm }
/* where there is no Helvetica and nothing of its widths, a wider font is made smaller, so that no text runs out of its box */
@font-face { font-family: Fitted; src: local("DejaVu Sans"), local("Verdana"); size-adjust: 86% }
@font-face { font-family: Fitted; font-weight: bold; src: local("DejaVu Sans Bold"), local("Verdana Bold"); size-adjust: 82% }
:root { color-scheme: light }
* { box-sizing: border-box }
body { margin: 0 auto; padding: 1mm 0; max-width: 182mm; background: #fff; color: #1b1b1b;
  font: 8.1pt/1.28 Helvetica, Arial, "Liberation Sans", "Nimbus Sans", Fitted, sans-serif }
h1 { margin: 0; font-size: 14pt; line-height: 1.1 }
h2 { margin: 1.4mm 0 .3mm; font-size: 9.2pt; break-after: avoid }
p { margin: .8mm 0 }
p.m { font-size: 7.3pt }
code, pre { font-family: Menlo, Consolas, "DejaVu Sans Mono", "Liberation Mono", monospace; font-size: 92% }
.sql { font-size: 9.4pt }
figure { margin: 2mm 0 0; display: flex; flex-wrap: wrap; gap: 2mm 6mm }
.ask { flex: 1 1 28mm; padding-top: 1mm }
svg { display: block; width: auto; height: auto; max-width: 146mm; max-height: 84mm; overflow: visible }
svg text { font-family: Helvetica, Arial, "Liberation Sans", "Nimbus Sans", Fitted, sans-serif }
table { width: 100%; border-collapse: collapse; break-inside: avoid }
th, td { padding: .18mm 3mm .18mm 0; text-align: left; vertical-align: top; border-bottom: .15mm solid #d8d8d8; font-size: 7.3pt;
  line-height: 1.22 }
th { color: #5f5f5f; font-weight: normal; white-space: nowrap }
th.n, td.n { text-align: right; white-space: nowrap }
td code { white-space: nowrap }
td code.w { white-space: normal; overflow-wrap: anywhere }
td:first-child { white-space: nowrap }
.m, footer { color: #5f5f5f }
.new { color: #17753a; font-weight: bold }
footer { margin-top: 2mm; font-size: 7pt }
@media print { body { padding: 0; max-width: none } }
"""


@dataclass
class Grid:
    """A table that a cell shows: its columns, and rows of texts; of a number it is known that it is one."""

    columns: list[str] = field(default_factory=list)
    rows: list[list[str]] = field(default_factory=list)
    numbers: set[int] = field(default_factory=set)
    codes: set[tuple[int, int]] = field(default_factory=set)
    #: what each column holds, where the card says it
    titles: dict[int, str] = field(default_factory=dict)


class _Tables(HTMLParser):
    """The tables of a card or of a data frame. Its facts are left out, and its folds, but for an open one before any table."""

    def __init__(self) -> None:
        super().__init__()
        self.found: list[Grid] = []
        self._folds: list[bool] = []
        self._grid: Grid | None = None
        self._text: list[str] | None = None
        self._row: list[str] = []
        self._is_head = self._in_style = False

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        """Open a table, a row or a cell."""
        known = dict(attributes)
        kind = known.get("class") or ""
        if tag == "details":
            self._folds.append("open" not in known or bool(self.found))
        self._in_style |= tag == "style"
        if any(self._folds) or (tag == "table" and "ll-f" in kind.split()):
            return
        if tag == "table":
            self._grid = Grid()
        elif self._grid is None:
            return
        elif tag == "tr":
            self._row, self._is_head = [], True
        elif tag in ("td", "th"):
            self._text = []
            self._is_head &= tag == "th" or not self._grid.rows and not self._grid.columns and not self._row
            if "ll-n" in kind.split():
                self._grid.numbers.add(len(self._row))
        elif tag == "abbr" and known.get("title") and not self._grid.columns:
            self._grid.titles[len(self._row)] = known["title"] or ""
        elif tag == "code" and self._text == []:
            self._grid.codes.add((len(self._grid.rows), len(self._row)))

    def handle_data(self, data: str) -> None:
        """Keep the words of a cell."""
        if self._text is not None and not self._in_style:
            self._text.append(data)

    def handle_endtag(self, tag: str) -> None:
        """Close what was opened."""
        if tag == "details":
            self._folds.pop()
        elif tag == "style":
            self._in_style = False
        if any(self._folds) or self._grid is None:
            return
        if tag in ("td", "th") and self._text is not None:
            self._row.append("".join(self._text).replace("\u200b", ""))
            self._text = None
        elif tag == "tr" and self._row:
            if self._is_head and not self._grid.rows and not self._grid.columns:
                self._grid.columns = self._row
            else:
                self._grid.rows.append(self._row)
        elif tag == "table":
            self.found.append(self._grid)
            self._grid = None


def cut_ids(text: str) -> str:
    """A text with the identifiers cut that an engine makes up.

    >>> cut_ids("snap-7613828692543026869-1-bc5b6091-f113-4466-9307-dc26cb09903a.avro")
    'snap-76138286…-1-bc5b6091….avro'
    """
    return _LONG_ID.sub(r"\1…", _UUID.sub(r"\1…", _PLACE.sub("…/", text)))


def list_cells(name: str, folder: Path = HERE) -> Iterator[tuple[dict[str, Any], dict[str, Any]]]:
    """The cells of a notebook that are printed, each with what its metadata say of it."""
    notebook = json.loads((folder / f"{name}.ipynb").read_text("utf-8"))
    for cell in notebook["cells"]:
        if TAG in cell["metadata"].get("tags", ()):
            yield cell, cell["metadata"].get(TAG, {})


def find_statement(name: str, folder: Path = HERE) -> str:
    """The INSERT of the first printed cell that has one."""
    notebook = json.loads((folder / f"{name}.ipynb").read_text("utf-8"))
    named = re.search(
        r'^name = "(?:\w+\.)*(\w+)"', "\n".join(_join(cell["source"]) for cell in notebook["cells"]), re.MULTILINE
    )
    for cell, _ in list_cells(name, folder):
        found = re.search(r"INSERT INTO (\S+) ((?:VALUES|SELECT) .*?)(?=\"|$)", "".join(cell["source"]), re.MULTILINE)
        if found:
            table = named[1] if named and found[1] == "{name}" else found[1].rpartition(".")[2]
            return f"INSERT INTO {table} {found[2]}".strip()
    raise ValueError(f"no cell of {name} with the tag {TAG!r} has an INSERT")


def write_page(key: str, folder: Path = HERE) -> str:
    """The page of a format. Raises `ValueError` where no cell has the tag, or one shows nothing that can be printed."""
    name, title, sentence, questions = FORMATS[key]
    cells = list(list_cells(name, folder))
    printed = [(cell, more) for cell, more in cells if not more.get("before")]
    before = None if len(printed) == len(cells) else _list_files(cell for cell, more in cells if more.get("before"))
    parts = sorted((_draw_cell(cell, more, before) for cell, more in printed), key=lambda part: part[0])
    if not parts:
        raise ValueError(f"no cell of {name} has the tag {TAG!r}")
    asked = "".join(f"<p>{escape(question)}</p>" for question in questions)
    body = "\n".join(drawn for _, drawn in parts)
    body = body.replace("</figure>", f'<div class="ask"><b>Without looking</b>{asked}</div></figure>', 1)
    return f"""<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>One INSERT: {title}</title>
<style>{_STYLE}</style>
</head>
<body>
<h1>One INSERT: {title}</h1>
<p>{escape(sentence)}</p>
<p class="sql"><code>{escape(find_statement(name, folder))}</code></p>
{body}
<footer>lakelens · made of what cells of notebooks/{name}.ipynb show, which each run of the tests compares. Identifiers are cut (…).</footer>
</body>
</html>
"""


def _list_files(cells: Iterable[Mapping[str, Any]]) -> Set[str]:
    """The files in the trees that cells show, by the names that the page has for them."""
    listed: set[str] = set()
    for cell in cells:
        for output in cell["outputs"]:
            for grid in _read_tables(_join(output.get("data", {}).get("text/html", ""))):
                if "role" in grid.columns:
                    listed |= {row[grid.columns.index("role") - 1] for row in _cut_rows(grid)}
    return listed


def _draw_cell(cell: Mapping[str, Any], more: Mapping[str, Any], before: Set[str] | None) -> tuple[int, str]:
    """What a cell shows, behind its place on the page: the drawing, then the files, then fields."""
    heading = f"<h2>{escape(more['heading'])}</h2>" if more.get("heading") else ""
    place, shown = 2, []
    for output in cell["outputs"]:
        data = output.get("data", {})
        text = _join(data.get("text/plain", output.get("text", "")))
        markup = _join(data.get("text/html", ""))
        picture = _PICTURE.search(markup)
        if picture:
            return 0, f"{heading}<figure>{_draw_picture(picture[1])}</figure>"
        for grid in _read_tables(markup) if markup else _read_fields(text):
            place = 1 if "role" in grid.columns else place
            shown.append(_draw_grid(grid, more, before))
    if not any(shown):
        raise ValueError(f"nothing to print in the output of: {_join(cell['source'])[:60]}")
    return place, heading + "".join(shown)


def _join(text: str | Sequence[str]) -> str:
    return text if isinstance(text, str) else "".join(text)


def _draw_picture(encoded: str) -> str:
    """A map as part of the page: in light, and without the size that it has on a screen."""
    drawn = base64.b64decode(encoded).decode("utf-8")
    drawn = re.sub(r"light-dark\((#\w+),\s*#\w+\)", r"\1", drawn).replace("color-scheme:light dark;", "")
    drawn = re.sub(r'(<svg [^>]*?) width="\d+" height="\d+"', r"\1", drawn, count=1)
    return _UUID.sub(r"\1…", re.sub(r":root\{", "svg{", drawn, count=1))


def _read_tables(markup: str) -> list[Grid]:
    reader = _Tables()
    reader.feed(markup)
    return reader.found


def _read_fields(text: str) -> list[Grid]:
    """JSON or a dict as fields and values; nothing for any other text."""
    held: Any = None
    for read in (json.loads, ast.literal_eval):
        try:
            held = read(text.strip())
            break
        except (ValueError, SyntaxError):
            continue
    if not isinstance(held, dict):
        return []
    shown = [
        [name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)] for name, value in held.items()
    ]
    return [Grid(["field", "value"], shown, codes={(row, 1) for row in range(len(shown))})]


def _draw_grid(grid: Grid, more: Mapping[str, Any], before: Set[str] | None) -> str:
    """A table, without the files that belong to no table, and with the meanings of its fields where it has none. Nothing for one of no row."""
    if not grid.columns:
        return ""
    columns, rows = list(grid.columns), _cut_rows(grid)
    named = next((place for place, name in enumerate(columns[:2]) if name in _NAMED), 0)
    wanted = more.get("rows")
    kept = [
        number
        for number, row in enumerate(rows)
        if _BESIDE not in row and any(row) and (wanted is None or row[named] in wanted)
    ]
    if not kept:
        return ""
    note = "" if not any(_BESIDE in row for row in rows) else "<p class=m>Checksums of Hadoop are left out.</p>"
    if more.get("of") and "meaning" not in columns:
        columns.append("meaning")
        rows = [[*row, _find_meaning(row[named], more["of"])] for row in rows]
    bare = not columns[0] and all(not rows[number][0] for number in kept)
    start = 1 if bare else 0
    states = {
        number: "untouched" if rows[number][columns.index("role") - 1] in before else "CREATED"
        for number in (kept if before is not None and "role" in columns else ())
    }
    head = "<th></th>" * bool(states) + "".join(
        _draw_cell_of("field" if place == named and more.get("of") else name, "th", place in grid.numbers)
        for place, name in enumerate(columns)
        if place >= start
    )
    body = []
    for number in kept:
        cells = [_draw_cell_of(states[number], "td", False)] if states else []
        cells += [
            _draw_cell_of(
                text if columns[place] == "meaning" else _shorten(text),
                "td",
                place in grid.numbers,
                is_code=(number, place) in grid.codes or (place == named and columns[place] in _NAMED),
            )
            for place, text in enumerate(rows[number])
            if place >= start
        ]
        body.append(f"<tr>{''.join(cells)}</tr>")
    if more.get("columns") and grid.titles:
        said = "; ".join(f"<b>{escape(columns[place])}</b>: {escape(title)[:-1]}" for place, title in grid.titles.items())
        note += f"<p class=m>{said}.</p>"
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n" + "\n".join(body) + f"\n</tbody></table>{note}"


def _cut_rows(grid: Grid) -> list[list[str]]:
    """The rows of a table with identifiers cut, and files of a tree under their whole names."""
    rows = [[cut_ids(text) for text in row] for row in grid.rows]
    if "role" in grid.columns:
        _join_directories(rows, grid.columns.index("role") - 1)
    return rows


def _join_directories(rows: list[list[str]], place: int) -> None:
    """Files below directories under their whole names: the rows of directories become empty."""
    above: list[str] = []
    for row in rows:
        name = row[place].lstrip(_BLANKS)
        depth = (len(row[place]) - len(name)) // 2
        if name.endswith("/") and not any(text for number, text in enumerate(row) if number != place):
            above[depth:] = [name]
            row[place] = ""
        else:
            row[place] = "".join(above[:depth]) + name


def _find_meaning(name: str, section: str) -> str:
    from lakelens.views.card.glossary import find_meaning

    return find_meaning(name, (section,)) or find_meaning(name.partition(",")[0], (section,))


def _shorten(text: str) -> str:
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"


def _draw_cell_of(text: str, tag: str, is_number: bool, *, is_code: bool = False) -> str:
    shown = escape(text.strip(_BLANKS), quote=False)
    if is_code:
        is_long = len(text) > _ROOMY
        shown = f"<code class=w>{shown.replace('.', '.<wbr>')}</code>" if is_long else f"<code>{shown}</code>"
    if tag == "td" and text in ("CREATED", "new"):
        shown = f"<span class=new>{shown}</span>"
    return f"<{tag}{' class=n' if is_number else ''}>{shown}</{tag}>"


def main(arguments: list[str]) -> int:
    """Write the pages, or say which are out of date."""
    stale = []
    folder = Path(arguments[arguments.index("--from") + 1]) if "--from" in arguments else HERE
    for key in FORMATS:
        path, page = PAGES / f"{key}.html", write_page(key, folder)
        if "--check" in arguments:
            stale += [key] if not path.is_file() or path.read_text("utf-8") != page else []
        else:
            path.parent.mkdir(exist_ok=True)
            path.write_text(page, "utf-8")
    if stale:
        print(f"stale: {', '.join(stale)}; run python -m notebooks.pages")
    return 1 if stale else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
