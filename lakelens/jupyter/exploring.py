"""`lakelens.explore` and `table.explore()`: the explorer in a cell, and what they give."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from lakelens.display import Named
from lakelens.jupyter.servers import NAME, JupyterServer, LocalServer, find_jupyter_server, serve_locally

if TYPE_CHECKING:
    from lakelens.model.table import Table

_SANDBOX = "allow-same-origin allow-scripts allow-forms allow-popups allow-downloads"


class Explored(Named):
    """The explorer at a table or a warehouse: a cell shows it, `url` leads a browser to it.

    Behind a Jupyter server the address is a path of that server. Else a server runs in this process until `stop()` or
    the end of Python; its `url` holds a token, and who has it sees what is shown: its `repr` is the address without.
    """

    def __init__(
        self, title: str, base: str, place: str, *, local: LocalServer | None, frame: bool, height: int
    ) -> None:
        self._title, self._base, self._place, self._local = title, base, place, local
        self._frame, self._height = frame, height

    @property
    def address(self) -> str:
        """The address without a token."""
        return f"{self._base}{self._place}"

    @property
    def url(self) -> str:
        """The address that a browser opens, with the token where there is one."""
        return f"{self._base}{self._local.token}/{self._place}" if self._local is not None else self.address

    def stop(self) -> None:
        """Stop the server that runs in this process; a Jupyter server goes on."""
        if self._local is not None:
            self._local.stop()

    def __repr__(self) -> str:
        return self.address

    def _repr_html_(self) -> str:
        from html import escape

        from lakelens.errors import visible_line

        title, url = escape(visible_line(self._title)), escape(self.url)
        link = f'<a href="{url}" target="_blank" rel="noopener noreferrer">{title} in lakelens</a>'
        style = (
            f"display:block;box-sizing:border-box;width:100%;height:{self._height}px;border:1px solid #8884"
        )
        frame = (
            f'<iframe name="{NAME}" title="lakelens: {title}" src="{url}" sandbox="{_SANDBOX}" loading="lazy"'
            f' style="{style}"></iframe>'
        )
        return f'<div style="max-width:none"><p style="margin:0 0 6px">{link}</p>{frame if self._frame else ""}</div>'


def explore_root(
    root: str | os.PathLike[str],
    *,
    frame: bool = True,
    height: int = 640,
    storage_options: Mapping[str, Any] | None = None,
) -> Explored:
    """Show the explorer of a warehouse, or of one table: everything in it is walked by clicking, down to bytes.

    In Jupyter with jupyter-server-proxy it is shown through the Jupyter server, on JupyterHub and Binder too; elsewhere a
    server on 127.0.0.1 runs in this process, one for each root.

    Parameters
    ----------
    root
        The path or URL of a directory of tables, or of a table.
    frame
        Whether the cell shows the explorer itself below the link to it.
    height
        The height of that in pixels.
    storage_options
        Options for fsspec.

    Returns
    -------
    Explored
        What a cell shows; `url` is for a browser, `stop()` ends a server of this process.

    Raises
    ------
    Missing, AccessDenied
        There is no such directory, or it may not be read.
    Unsupported
        Starlette or uvicorn is not installed.

    Examples
    --------
    >>> import lakelens as ll
    >>> shown = ll.explore(ll.sample("iceberg").location)
    >>> shown, "<iframe" in shown._repr_html_()
    (http://127.0.0.1:.../, True)
    >>> shown.stop()
    """
    from lakelens.explorer.explorer import Explorer

    text = os.fspath(root)
    jupyter = find_jupyter_server()
    names = None if jupyter is None or storage_options else jupyter.find_names(text)
    title = text.rstrip("/").rpartition("/")[2] or text
    if jupyter is not None and names is not None and os.path.isdir(text):  # noqa: PTH112
        place = f"open?path={quote('/'.join(names), safe='')}" if names else ""
        base = f"{jupyter.base_url}{NAME}/"
        return Explored(title, base, place, local=None, frame=frame, height=height)
    explorer = Explorer(text, storage_options=storage_options)
    for problem in explorer.catalog.problems:
        if problem.path == explorer.catalog.root:
            raise problem
    key = (text, repr(sorted((storage_options or {}).items(), key=repr)))
    return _explore_locally(jupyter, key, explorer, title, "", frame, height)


def explore_table(table: Table, frame: bool, height: int) -> Explored:
    """Show the explorer at a table, at the snapshot that is current in it."""
    from lakelens.explorer.locating import pin
    from lakelens.explorer.site.single import TableExplorer

    jupyter = find_jupyter_server()
    names = None if jupyter is None or not _is_plain(table) else jupyter.find_names(table.location)
    if jupyter is not None and names is not None:
        place = pin(table, names).url
        return Explored(
            table.name, f"{jupyter.base_url}{NAME}/", place, local=None, frame=frame, height=height
        )
    explorer = TableExplorer(table, is_live=True)
    how = table.reopening[1][1:] if table.reopening is not None else (id(table),)
    return _explore_locally(jupyter, repr(how), explorer, table.name, pin(table).url, frame, height)


def _is_plain(table: Table) -> bool:
    """Check whether a table was opened from the files of this machine, and its newest state: as everyone opens it."""
    if table.reopening is None or "://" in table.location:
        return False
    _, _, wanted = table.reopening[1]
    return all(wanted.get(name) is None for name in ("branch", "version", "catalog"))


def _explore_locally(
    jupyter: JupyterServer | None,
    key: Hashable,
    explorer: Any,
    title: str,
    place: str,
    frame: bool,
    height: int,
) -> Explored:
    server = serve_locally(key, lambda: explorer)
    is_proxied = jupyter is not None and jupyter.has_proxy
    base = (
        f"{jupyter.base_url}proxy/{server.port}/"
        if jupyter is not None and is_proxied
        else f"http://127.0.0.1:{server.port}/"
    )
    return Explored(title, base, place, local=server, frame=frame, height=height)
