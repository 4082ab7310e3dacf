"""The Jupyter server that started this kernel: its address, the directory that it shows, and whether it is a proxy."""

from __future__ import annotations

import json
import os
import secrets
import socket
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

# For jupyter-server-proxy: how the explorer of a Jupyter server's files is started.
#
# The explorer listens on a socket in a directory that only the user may enter, so that nobody else on the machine reaches
# it; who asks through the proxy was checked by Jupyter.

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


_PATIENCE = 3.0  # seconds: a server that does not say what it has
_DEPTH = 4  # levels below its root at which a server finds tables, as `lakelens.find` does


@dataclass(frozen=True, slots=True)
class JupyterServer:
    """A Jupyter server: the path at which a browser sees it, the directory that it shows, and what it proxies.

    `has_proxy`: any port of this machine below `proxy/`; `has_explorer`: the explorer of its directory below `lakelens/`.
    """

    base_url: str
    root: str | None
    has_proxy: bool
    has_explorer: bool

    def find_names(self, path: str) -> tuple[str, ...] | None:
        """The names from its directory to a path, where its explorer shows what is there.

        >>> server = JupyterServer("/", "/home/ada", True, True)
        >>> server.find_names("/home/ada/wh/t"), server.find_names("/home/eve/t"), server.find_names("/home/ada/.cache/t")
        (('wh', 't'), None, None)
        """
        if not self.has_explorer or self.root is None or "://" in path:
            return None
        try:
            names = Path(path).resolve().relative_to(Path(self.root).resolve()).parts
        except (ValueError, OSError):
            return None
        is_walked = len(names) <= _DEPTH and not any(name.startswith(("_", ".")) for name in names)
        return names if is_walked else None


@cache
def find_jupyter_server() -> JupyterServer | None:
    """The server of this kernel; None outside of a kernel, and for a kernel that something else started."""
    if "ipykernel" not in sys.modules:
        return None
    known = _read_running(os.environ.get("JPY_PARENT_PID") or str(os.getppid()))
    if known is None:
        base = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
        return JupyterServer(base, None, has_proxy=_is_installed(), has_explorer=False) if base else None
    has_proxy, has_explorer = _ask_proxy(known)
    return JupyterServer(str(known["base_url"]), str(known["root_dir"]), has_proxy, has_explorer)


def _read_running(process: str) -> dict[str, Any] | None:
    """What a running server keeps about itself for its user, by its process."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir

        text = Path(jupyter_runtime_dir(), f"jpserver-{int(process)}.json").read_text("utf-8")
        known = json.loads(text)
    except (ImportError, OSError, ValueError):
        return None
    return known if isinstance(known, dict) and {"base_url", "root_dir", "url"} <= known.keys() else None


def _ask_proxy(known: Mapping[str, Any]) -> tuple[bool, bool]:
    """Whether a server is a proxy, and for the explorer too; where it does not answer, what is installed here."""
    from urllib.error import HTTPError
    from urllib.request import ProxyHandler, Request, build_opener

    request = Request(f"{known['url']}server-proxy/servers-info")
    if known.get("token"):
        request.add_header("Authorization", f"token {known['token']}")
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=_PATIENCE) as answer:
            servers = json.load(answer)["server_processes"]
        return True, any(one.get("name") == NAME for one in servers)
    except HTTPError as error:
        return (False, False) if error.code == 404 else (_is_installed(), _is_installed())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return _is_installed(), _is_installed()


def _is_installed() -> bool:
    return find_spec("jupyter_server_proxy") is not None
