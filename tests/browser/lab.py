"""A real JupyterLab on a directory of its own, driven in a real browser."""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

import nbformat

THEMES = {"light": "JupyterLab Light", "dark": "JupyterLab Dark"}
_WAIT = 180_000  # milliseconds; a cold JupyterLab on two busy cores

_RUN_CELL = """async index => {
  const panel = window.jupyterapp.shell.currentWidget;
  await panel.sessionContext.ready;
  panel.content.activeCellIndex = index;
  window.jupyterapp.commands.execute('notebook:run-cell');
}"""


class Lab:
    """A running JupyterLab server, below a base URL as on a hub if one is given; `open` gives a page with a notebook."""

    def __init__(self, root: Path, base: str = "/") -> None:
        self.root = root / "notebooks"
        self.root.mkdir(parents=True)
        self.port = find_port()
        self.url = f"http://127.0.0.1:{self.port}{base}"
        self.environment = {
            **os.environ,
            "JUPYTER_CONFIG_DIR": str(root / "config"),
            "JUPYTER_DATA_DIR": str(root / "data"),
            "JUPYTER_RUNTIME_DIR": str(root / "runtime"),
            "IPYTHONDIR": str(root / "ipython"),
        }
        _keep_settings(root / "config" / "lab" / "user-settings")
        self._log = (root / "lab.log").open("w")
        options = {
            "ServerApp.root_dir": str(self.root),
            "ServerApp.port": str(self.port),
            "ServerApp.port_retries": "0",
            "ServerApp.base_url": base,
            "ServerApp.open_browser": "False",
            "ServerApp.allow_root": "True",
            "IdentityProvider.token": "",
            "ServerApp.password": "",
            "LabApp.expose_app_in_browser": "True",
            "JupyterNotebookApp.expose_app_in_browser": "True",  # where Notebook 7 is installed, the same server has it
        }
        arguments = [f"--{name}={value}" for name, value in options.items()]
        self._process = subprocess.Popen(
            [sys.executable, "-m", "jupyterlab", *arguments],
            env=self.environment,
            cwd=self.root,
            stdout=self._log,
            stderr=subprocess.STDOUT,
        )
        self._wait(root / "lab.log")

    def _wait(self, log: Path) -> None:
        for _ in range(240):
            if self._process.poll() is not None:
                break
            try:
                with urllib.request.urlopen(f"{self.url}api", timeout=5) as answer:
                    json.load(answer)
                return
            except OSError:
                time.sleep(0.5)
        raise RuntimeError(f"JupyterLab did not start:\n{log.read_text()[-3000:]}")

    def close(self) -> None:
        """Stop the server and its kernels."""
        self._process.terminate()
        try:
            self._process.wait(20)
        except subprocess.TimeoutExpired:
            self._process.kill()
        self._log.close()

    def write(self, name: str, cells: list[Any], *, trusted: bool = False) -> str:
        """Keep a notebook with its outputs; only a trusted one may run what its outputs hold."""
        kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
        notebook = nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})
        path = self.root / name
        nbformat.write(notebook, path)
        if trusted:
            subprocess.run(
                [sys.executable, "-m", "jupyter", "trust", str(path)],
                env=self.environment,
                check=True,
                capture_output=True,
            )
        return name

    def open(self, page: Any, name: str, theme: str = "light") -> Any:
        """Show a notebook in a page, in a theme of JupyterLab's own; gives the notebook's panel."""
        return self._open(page, f"lab/tree/{name}?reset", theme)

    def open_alone(self, page: Any, name: str, theme: str = "light") -> Any:
        """The same in Notebook 7, which shows one notebook and nothing else."""
        return self._open(page, f"notebooks/{name}", theme)

    def _open(self, page: Any, place: str, theme: str) -> Any:
        page.goto(f"{self.url}{place}", timeout=_WAIT)
        panel = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden)")
        panel.locator(".jp-Cell").first.wait_for(timeout=_WAIT)
        self.change_theme(page, theme)
        return panel

    def change_theme(self, page: Any, theme: str) -> None:
        """Another theme in the page that is open."""
        page.evaluate(
            "async theme => { const app = window.jupyterapp; await app.restored; app.shell.collapseLeft();"
            " await app.commands.execute('apputils:change-theme', { theme }) }",
            THEMES[theme],
        )
        flag = "true" if theme == "light" else "false"
        page.locator(f"body[data-jp-theme-light={flag}]").wait_for(state="attached", timeout=_WAIT)

    def run_cell(self, page: Any, index: int) -> None:
        """Run one cell of the notebook in front; without waiting for its kernel JupyterLab would ask which one."""
        page.evaluate(_RUN_CELL, index)

    def run_until(self, page: Any, index: int, words: str) -> None:
        """Run a cell again until its output says these words: what a widget changed last reaches the kernel a little later.

        A widget's messages wait for the kernel's answer to the one before, a cell does not wait for them.
        """
        from playwright.sync_api import TimeoutError as TooLate

        answer = page.locator(".jp-NotebookPanel:not(.lm-mod-hidden) .jp-OutputArea-output", has_text=words)
        for _ in range(5):
            self.run_cell(page, index)
            try:
                answer.wait_for(timeout=10_000)
                return
            except TooLate:
                continue
        answer.wait_for(timeout=1)


def _keep_settings(folder: Path) -> None:
    """No question about news, no side bar: what is tested is the notebook."""
    settings = {
        "apputils-extension/notification": {"fetchNews": "false", "checkForUpdates": False},
        "notebook-extension/tracker": {"windowingMode": "none"},
    }
    for name, held in settings.items():
        path = folder / "@jupyterlab" / f"{name}.jupyterlab-settings"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(held))


def find_port() -> int:
    """A port that nobody uses."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
