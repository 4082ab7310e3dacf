"""For jupyter-server-proxy: how the explorer of a Jupyter server's files is started.

The explorer listens on a socket in a directory that only the user may enter, so that nobody else on the machine reaches it;
who asks through the proxy was checked by Jupyter.
"""

from __future__ import annotations

import secrets
import socket
import sys
from pathlib import Path
from typing import Any

#: The name of the server, which is also its address below that of Jupyter: `/user/x/lakelens/`.
NAME = "lakelens"
_SECONDS = 30  # that a start on a busy machine may take


def describe_server() -> dict[str, Any]:
    """The server as jupyter-server-proxy's entry point wants it.

    >>> found = describe_server()
    >>> found["command"].__name__, found["unix_socket"], found["new_browser_tab"]
    ('make_command', True, False)
    """
    return {
        **({"command": make_command, "unix_socket": True} if hasattr(socket, "AF_UNIX") else _at_port()),
        "timeout": _SECONDS,
        "new_browser_tab": False,
        # JupyterLab's tile is the extension's, which follows the theme; Notebook 7 takes this for its menu "New"
        "launcher_entry": {"enabled": False, "title": NAME},
    }


def _at_port() -> dict[str, Any]:
    """Where there are no such sockets: a port, with a token that the proxy alone knows."""
    token = secrets.token_urlsafe(24)
    return {
        "command": make_command,
        "environment": {"LAKELENS_TOKEN": token},
        "request_headers_override": {"x-lakelens-token": token},
    }


def make_command(unix_socket: str, port: int) -> list[str]:
    """The command that serves the files which Jupyter shows; called in Jupyter's own process."""
    place = ["--unix-socket", unix_socket] if unix_socket else ["--port", str(port)]
    command = [
        sys.executable,
        "-m",
        "lakelens.cli",
        "serve",
        find_root(),
        "--proxied",
        "--no-browser",
        *place,
    ]
    return [
        part.replace("{", "{{").replace("}", "}}") for part in command
    ]  # the proxy formats what it is given


def find_root() -> str:
    """The directory that the file browser of this Jupyter server shows."""
    from jupyter_server.serverapp import ServerApp

    if ServerApp.initialized():
        return str(Path(ServerApp.instance().root_dir).resolve())
    return str(Path.cwd())
