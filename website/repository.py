"""Which file of the repository is which page, and links between them: a file says where it leads on the code host."""

from __future__ import annotations

import posixpath
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
OWN = ROOT / "website" / "pages"
_FENCE = re.compile(r"^(```+|~~~+).*?^\1\s*$", re.MULTILINE | re.DOTALL)
# code is left as it is; what leads somewhere is the target of a link, or a source of a picture
_LEADS = re.compile(
    r"(?P<code>(`+)(?!`).*?(?<!`)\2(?!`))|(?P<before>\]\()(?P<target>[^)\s]+)(?=\))", re.DOTALL
)
_PICTURE = re.compile(
    r'<picture><source[^>]*srcset="(?P<dark>[^"]+)"><img src="(?P<light>[^"]+)" alt="(?P<words>[^"]*)"></picture>'
)
_IMAGE = re.compile(r'<img src="(?P<source>[^"]+)" alt="(?P<words>[^"]*)">')
_ITEM = re.compile(r"(?:[*+-]|\d+[.)]) +")
_NAMED_BY_PATH = re.compile(r"\[`?(?P<path>[\w./-]+\.md)`?\]\((?P=path)\)")
_NO_PAGE = re.compile(r"\[([^\]]+)\]\(\x00\)")


@cache
def list_pages() -> dict[str, str]:
    """List the pages and other files that the site takes from the repository: the path there, and the one in the site."""
    found = {
        "README.md": "index.md",
        "CHANGELOG.md": "changelog.md",
        "CONTRIBUTING.md": "contributing.md",
        "SECURITY.md": "security.md",
        "CODE_OF_CONDUCT.md": "conduct.md",
        "LICENSE": "LICENSE.txt",
        "notebooks/README.md": "course/writing.md",
    }
    for folder, pattern in (
        ("docs", "*.md"),
        ("docs/benchmarks", "*.*"),
        ("docs/one-insert", "*.html"),
        ("docs/pictures", "*.png"),
    ):
        for path in sorted((ROOT / folder).glob(pattern)):
            named = path.relative_to(ROOT).as_posix()
            found[named] = named.removeprefix("docs/")
    found["docs/tab.md"] = "a-tab.md"  # tab/ is the tab itself
    for path in sorted((ROOT / "notebooks").glob("*.ipynb")):
        found[f"notebooks/{path.name}"] = f"course/{path.stem}.md"
    return found


_FOLDERS = {
    "docs/benchmarks": "benchmarks.md",
    "docs/one-insert": "course/index.md",
    "notebooks": "course/index.md",
}


def find_source(page: str) -> str | None:
    """Find the file that a page of the site is made of; None for one that is the site's own."""
    if (OWN / page).is_file():
        return None
    return next((source for source, path in list_pages().items() if path == page), None)


def read_source(source: str) -> str:
    """Read a text of the repository."""
    return (ROOT / source).read_text("utf-8")


def find_page(source: str, target: str) -> str | None:
    """Find the page that a link in a file leads to, with its anchor; None where the site has none of it.

    >>> find_page("docs/tab.md", "explorer.md#keys"), find_page("README.md", "docs/benchmarks/")
    ('explorer.md#keys', 'benchmarks.md')
    >>> find_page("docs/tab.md", "../lakelens/tab") is None
    True
    """
    path, mark, anchor = target.partition("#")
    if not path:
        return target
    wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), path))
    found = list_pages().get(wanted) or _FOLDERS.get(wanted)
    return None if found is None else found + mark + anchor


def move_links(text: str, source: str, page: str) -> str:
    """Lead the links of a file's Markdown to pages of the site, as seen from `page`; what is on none becomes words."""

    def move(target: str) -> str | None:
        if re.match(r"[a-z]+:", target) or target.startswith("#"):
            return target
        found = find_page(source, target)
        return None if found is None else posixpath.relpath(found, posixpath.dirname(page) or ".")

    def replace(match: re.Match[str]) -> str:
        if match["code"] is not None:
            return match[0]
        return match["before"] + (move(match["target"]) or "\0")

    def show_both(match: re.Match[str]) -> str:
        return " ".join(
            f"![{match['words']}]({move(match[theme])}#only-{theme})" for theme in ("light", "dark")
        )

    def show_one(match: re.Match[str]) -> str:
        return f"![{match['words']}]({move(match['source'])})"

    def name_page(match: re.Match[str]) -> str:
        wanted = posixpath.normpath(posixpath.join(posixpath.dirname(source), match["path"]))
        title = re.search(r"^# (.+)$", read_source(wanted), re.MULTILINE) if wanted in list_pages() else None
        return f"[{title[1]}]({match['path']})" if title else match[0]

    def treat(part: str) -> str:
        part = _NAMED_BY_PATH.sub(name_page, widen_lists(part))
        part = _NO_PAGE.sub(r"\1", _LEADS.sub(replace, part))
        return _IMAGE.sub(show_one, _PICTURE.sub(show_both, part))

    return outside_fences(text, treat)


def widen_lists(text: str) -> str:
    """Indent by four what belongs to an item of a list: this reader of Markdown takes less for the end of the list.

    >>> widen_lists("* a\\n  b\\n  1. c\\n\\nd")
    '* a\\n    b\\n    1. c\\n\\nd'
    """
    shown: list[str] = []
    starts: list[int] = []
    is_loose = False
    for line in text.split("\n"):
        bare = line.lstrip(" ")
        indent = len(line) - len(bare)
        while bare and starts and indent < starts[-1]:
            starts.pop()
        inner = indent - (starts[-1] if starts else 0)
        marker = _ITEM.match(bare)
        if marker and is_loose and shown[-1]:
            shown.append("")  # below a paragraph of an item the next one begins after an empty line
        is_loose = bool(starts) and (is_loose or not bare)
        shown.append(" " * (4 * len(starts) + inner) + bare if bare else "")
        if marker:
            starts.append(indent + len(marker[0]))
    return "\n".join(shown)


def outside_fences(text: str, treat: Callable[[str], str]) -> str:
    """Treat what of a Markdown text is no block of code.

    >>> print(outside_fences("a\\n```\\na\\n```\\na", str.upper))
    A
    ```
    a
    ```
    A
    """
    shown, at = [], 0
    for fence in _FENCE.finditer(text):
        shown += [treat(text[at : fence.start()]), fence[0]]
        at = fence.end()
    return "".join((*shown, treat(text[at:])))


def cut_section(source: str, heading: str, level: int = 2) -> str:
    """Cut what stands below a heading out of a file, with the headings in it from `level` on. Raises `KeyError`."""
    text = read_source(source)
    headings = [
        found
        for found in re.finditer(r"^(#+) (.+)$", text, re.MULTILINE)
        if not any(fence.start() <= found.start() < fence.end() for fence in _FENCE.finditer(text))
    ]
    number, found = next(
        ((number, found) for number, found in enumerate(headings) if found[2] == heading), (0, None)
    )
    if found is None:
        raise KeyError(f"{source} has no heading {heading!r}")
    after = (later.start() for later in headings[number + 1 :] if len(later[1]) <= len(found[1]))
    below = text[found.end() : next(after, len(text))].strip()
    moved = level - len(found[1]) - 1

    def move(part: str) -> str:
        return re.sub(r"^(#+) ", lambda mark: "#" * (len(mark[1]) + moved) + " ", part, flags=re.MULTILINE)

    return outside_fences(below, move)
