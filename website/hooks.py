"""What MkDocs calls: pages that the repository has already, links between them, ways into the tab, and `llms.txt`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from html import unescape
from pathlib import Path
from typing import Any

from jinja2 import Environment, StrictUndefined
from mkdocs.structure.files import File

from website import course, reference, repository, shown

_PARAGRAPH = re.compile(r"<p>(.*?)</p>", re.DOTALL)
_SENTENCE = re.compile(r".*?[.?!](?= [A-Z]|$)")
_listed: list[tuple[str, str, str]] = []


def on_files(files: Any, config: Any) -> Any:
    """Add what the repository has to the site's own pages."""
    only = config.extra.get("only")
    _listed.clear()
    for source, page in repository.list_pages().items():
        if files.get_file_from_path(page) is not None:
            continue  # the site has a page of its own of that: the start, instead of the README
        if source.endswith(".ipynb"):
            name = Path(source).stem
            words = (
                course.write_page(name)
                if only in (None, "", name)
                else f"# {course.list_notebooks()[name]}\n"
            )
            files.append(File.generated(config, page, content=words))
        else:
            files.append(File.generated(config, page, abs_src_path=str(repository.ROOT / source)))
    files.append(File.generated(config, "stylesheets/cards.css", content=shown.read_sheet()))
    return files


def on_page_markdown(markdown: str, page: Any, config: Any, files: Any) -> str:
    """Fill in what a page of the site takes from elsewhere, and lead the links of other pages to pages."""
    path = page.file.src_uri
    source = repository.find_source(path)
    if source is None:
        markdown = _fill(markdown, path)
    elif not source.endswith(".ipynb"):
        markdown = repository.move_links(markdown, source, path)
    return markdown


def _fill(markdown: str, path: str) -> str:
    """Fill in the parts that a page names: a section of a file, a table made of declarations."""

    def section(source: str, heading: str, level: int = 2) -> str:
        return repository.move_links(repository.cut_section(source, heading, level), source, path)

    environment = Environment(undefined=StrictUndefined, keep_trailing_newline=True, autoescape=False)
    environment.globals.update(
        section=section,
        verbs=reference.write_verbs,
        question=reference.write_question,
        lifetimes=reference.write_lifetimes,
        samples=reference.write_samples,
        course=reference.write_course,
        gallery=reference.write_gallery,
    )
    return environment.from_string(markdown).render()


def on_page_content(html: str, page: Any, config: Any, files: Any) -> str:
    """Lead into the tab and the notebooks from where the page is, and say how a page begins in `llms.txt`."""
    html = reference.put_back(html)
    up = "../" * page.url.count("/")
    first = _PARAGRAPH.search(html)
    words = " ".join(unescape(re.sub(r"<[^>]+>", "", first[1])).split()) if first else ""
    said = _SENTENCE.match(words)
    _listed.append((str(page.title), page.url, said[0] if said else words))
    return html.replace(f'"{shown.TAB}', f'"{up}tab/').replace(f'"{shown.LAB}', f'"{up}lab/')


def on_post_page(output: str, page: Any, config: Any) -> str:
    """Name the dialog of the theme's search, which has no name for a reader who hears it."""
    return output.replace('role="dialog"', 'role="dialog" aria-label="Search"')


def on_post_build(config: Any) -> None:
    """Write `llms.txt`; a page for what is not there would have to know the site's address, and so would a site map."""
    folder = Path(config.site_dir)
    (folder / "llms.txt").write_text(_write_list(config.site_name, config.site_description, _listed), "utf-8")
    for name in ("404.html", "sitemap.xml", "sitemap.xml.gz"):
        (folder / name).unlink(missing_ok=True)


def _write_list(name: str, about: str, pages: Sequence[tuple[str, str, str]]) -> str:
    lines = [
        f"- [{title}]({url or './'}){': ' + sentence if sentence else ''}" for title, url, sentence in pages
    ]
    return "\n".join((f"# {name}", "", f"> {about}", "", "## Pages", "", *lines, ""))
