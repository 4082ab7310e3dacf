"""Where a tab's Python runs: in Node, which sees this checkout, and in a page of Chromium, which sees its own folder."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from lakelens.tab.parts import Gathered, find_node
from tests.tab.parts import HERE, ROOT, archive_code


def run_in_node(
    parts: Gathered, *command: str, environment: dict[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run a module of Python in Pyodide in Node, at the root of this checkout."""
    mounts = json.dumps({"/checkout": str(ROOT)})
    # pytest and hypothesis are below what is tested on one stack, of which a browser gives a megabyte
    return subprocess.run(
        [
            find_node(),
            "--stack-size=3600",
            HERE / "node.mjs",
            parts.runtime,
            parts.packages,
            mounts,
            *command,
        ],
        env={**os.environ, "LAKELENS_STRICT_VIEWS": "1", **(environment or {})},
        capture_output=True,
        text=True,
        check=False,
    )


def make_page(parts: Gathered, folder: Path) -> None:
    """Make a folder of static files: the page, the runtime, packages and code."""
    shutil.copytree(HERE / "page", folder)
    shutil.copytree(parts.runtime, folder / "runtime")
    shutil.copy(parts.packages, folder / "packages.zip")
    (folder / "code.zip").write_bytes(archive_code())


class StaticFiles(SimpleHTTPRequestHandler):
    """A web server that knows files and nothing else."""

    extensions_map = {".html": "text/html", ".mjs": "text/javascript", ".wasm": "application/wasm"}  # noqa: RUF012

    def log_message(self, *_: object) -> None:
        """A test's output has no place for requests."""


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """Serve a folder of static files on this machine; gives its address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(StaticFiles, directory=str(folder)))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()


def walk_in_page(page: Any, address: str, directory: str, names: Sequence[str]) -> str:
    """Open the page and let it walk samples; gives the answers as JSON."""
    page.goto(address)
    page.wait_for_function("'walk' in window")
    answers: str = page.evaluate("([directory, names]) => walk(directory, names)", [directory, list(names)])
    return answers
