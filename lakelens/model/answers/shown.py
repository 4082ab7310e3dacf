"""A table as pages: the explorer at it, a page of it in one file, or those of the explorer as a folder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from lakelens import display
from lakelens.errors import LakeError

if TYPE_CHECKING:
    import os

    from lakelens.explorer.site.folder import Site
    from lakelens.jupyter.exploring import Explored
    from lakelens.model.table import Table


class Pages:
    """What shows a table as pages, for every format alike."""

    __slots__ = ()

    def explore(self, *, frame: bool = True, height: int = 640) -> Explored:
        """Show the explorer at this table: its snapshots, files and bytes are walked by clicking.

        In Jupyter with jupyter-server-proxy a table below the directory that Jupyter shows is shown by its server. For any
        other one a server on 127.0.0.1 runs in this process. The address is pinned to the snapshot that is current here.

        Parameters
        ----------
        frame
            Whether the cell shows the explorer itself below the link to it.
        height
            The height of that in pixels.

        Returns
        -------
        Explored
            What a cell shows; `url` is for a browser, `stop()` ends a server of this process.

        Raises
        ------
        Unsupported
            Starlette or uvicorn is not installed (`pip install 'lakelens[serve]'`).

        Examples
        --------
        >>> import lakelens as ll
        >>> shown = ll.sample("hive").explore()
        >>> shown
        http://127.0.0.1:.../@-/
        >>> shown.stop()
        """
        return cast("Explored", display.call("jupyter.exploring:explore_table", self, frame, height))

    def to_html(
        self,
        path: str | os.PathLike[str] | None = None,
        detail: int = 2,
        *,
        meanings: bool | None = None,
        site: str | os.PathLike[str] | None = None,
        most_pages: int = 400,
        most_bytes: int = 40_000_000,
    ) -> Any:
        """Write a self-contained page, or the pages of the explorer as a folder: what one puts on a share or into a ticket.

        A folder begins at `index.html`; every link in it is relative, it needs neither a server nor a script, and its first
        page says what was left out. It holds what the explorer shows, values of rows in bounds and bytes included.

        Parameters
        ----------
        path
            The file to write; one that is there is overwritten.
        detail
            From 0 (one line) to 3 (everything), of one page.
        meanings
            Of one page, whether what each name stands for is a column of its tables; None for `options.display.meanings`.
        site
            The folder to write in place of `path`: a new or empty one, or one with an earlier site, which is replaced.
        most_pages, most_bytes
            The bounds of a folder: pages that are many links away are left out.

        Returns
        -------
        Site or None
            For a folder its `path`, its `pages` by name, `size_bytes`, `left_out` (pages at least), and `words` about these;
            a cell shows these figures and a link to the first page.

        Raises
        ------
        LakeError
            The folder holds files that are no earlier site, or is inside of the table; neither or both of `path` and `site`
            are given.

        Examples
        --------
        >>> import lakelens as ll, tempfile
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     site = ll.sample("hive").to_html(site=folder + "/hive", most_pages=5)
        >>> "index.html" in site.pages
        True
        """
        if (path is None) == (site is None):
            raise LakeError("to_html takes the path of a file, or site=, a folder")
        if site is not None:
            limits = {"most_pages": most_pages, "most_bytes": most_bytes}
            return cast("Site", display.call("explorer.site.folder:write_site", self, site, **limits))
        assert path is not None
        cast("Table", super()).to_html(path, detail, meanings=meanings)
        return None
