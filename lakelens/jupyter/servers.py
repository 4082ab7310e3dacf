"""The servers that show the explorer in a notebook: the Jupyter server that started this kernel, or one in this process.

Of the Jupyter server it is found out what its address is, which directory it shows, and whether it is a proxy. The one in
this process is for what no Jupyter server shows: on 127.0.0.1, at an address nobody can guess. The token is the first part
of the path, so that it is right in a frame of another origin and behind a proxy, where a cookie is not sent; the pages'
links are relative and keep it. Without it every address is answered with 404.
"""

from __future__ import annotations

import atexit
import json
import os
import secrets
import socket
import sys
from collections.abc import Awaitable, Callable, Hashable, Mapping, MutableMapping
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeAlias

from lakelens.errors import LakeError, Unsupported

if TYPE_CHECKING:
    from lakelens.explorer.explorer import Explorer

# For jupyter-server-proxy: how the explorer of a Jupyter server's files is started.
#
# The explorer listens on a socket in a directory that only the user may enter, so that nobody else on the machine reaches
# it; who asks through the proxy was checked by Jupyter.

#: The name of the server, which is also its address below that of Jupyter: `/user/x/lakelens/`.
NAME = "lakelens"
_SECONDS = 30  # that a start on a busy machine may take

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

# what a browser says about the page that asks: a notebook of any origin may, if it has the token
_ORIGIN = (b"origin", b"sec-fetch-site")
_START_PATIENCE = 10.0  # seconds for a start and for a stop


def describe_server() -> dict[str, Any]:
    """Describe the server as jupyter-server-proxy's entry point wants it.

    >>> found = describe_server()
    >>> found["command"].__name__, found["unix_socket"], found["new_browser_tab"]
    ('make_command', True, False)
    """
    start: dict[str, Any] = {"command": make_command}
    if hasattr(socket, "AF_UNIX"):
        start["unix_socket"] = True
    else:  # a port, with a token that the proxy alone knows
        token = secrets.token_urlsafe(24)
        start["environment"] = {"LAKELENS_TOKEN": token}
        start["request_headers_override"] = {"x-lakelens-token": token}
    return {
        **start,
        "timeout": _SECONDS,
        "new_browser_tab": False,
        # JupyterLab's tile is the extension's, which follows the theme; Notebook 7 takes this for its menu "New"
        "launcher_entry": {"enabled": False, "title": NAME},
    }


def make_command(unix_socket: str, port: int) -> list[str]:
    """Make the command that serves the files which Jupyter shows; called in Jupyter's own process."""
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
    """Find the directory that the file browser of this Jupyter server shows."""
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
        """Find the names from its directory to a path, where its explorer shows what is there.

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
    """Find the server of this kernel; None outside of a kernel, and for a kernel that something else started."""
    if "ipykernel" not in sys.modules:
        return None
    known = _read_running(os.environ.get("JPY_PARENT_PID") or str(os.getppid()))
    if known is None:
        base = os.environ.get("JUPYTERHUB_SERVICE_PREFIX")
        return JupyterServer(base, None, has_proxy=_is_installed(), has_explorer=False) if base else None
    has_proxy, has_explorer = _ask_proxy(known)
    return JupyterServer(str(known["base_url"]), str(known["root_dir"]), has_proxy, has_explorer)


def _read_running(process: str) -> dict[str, Any] | None:
    """Read what a running server keeps about itself for its user, by its process."""
    try:
        from jupyter_core.paths import jupyter_runtime_dir

        text = Path(jupyter_runtime_dir(), f"jpserver-{int(process)}.json").read_text("utf-8")
        known = json.loads(text)
    except (ImportError, OSError, ValueError):
        return None
    return known if isinstance(known, dict) and {"base_url", "root_dir", "url"} <= known.keys() else None


def _ask_proxy(known: Mapping[str, Any]) -> tuple[bool, bool]:
    """Ask whether a server is a proxy, and for the explorer too; where it does not answer, see what is installed here."""
    from urllib.error import HTTPError
    from urllib.request import ProxyHandler, Request, build_opener

    request = Request(f"{known['url']}server-proxy/servers-info")
    if known.get("token"):
        request.add_header("Authorization", f"token {known['token']}")
    try:
        with build_opener(ProxyHandler({})).open(request, timeout=_PATIENCE) as answer:
            servers = json.load(answer)["server_processes"]
        return True, any(server.get("name") == NAME for server in servers)
    except HTTPError as error:
        return (False, False) if error.code == 404 else (_is_installed(), _is_installed())
    except (OSError, ValueError, LookupError, TypeError, AttributeError):
        return _is_installed(), _is_installed()


def _is_installed() -> bool:
    return find_spec("jupyter_server_proxy") is not None


class LocalServer:
    """A running server: its port, the path of its pages, and `stop`."""

    def __init__(self, app: App) -> None:
        import uvicorn

        from lakelens.serving.connections import configure

        self.token = secrets.token_urlsafe(24)
        self._socket = socket.socket()
        self._socket.bind(("127.0.0.1", 0))
        self.port: int = self._socket.getsockname()[1]
        self._server = uvicorn.Server(configure(guard(app, self.token)))
        self._thread = Thread(
            target=self._server.run, kwargs={"sockets": [self._socket]}, name="lakelens", daemon=True
        )
        self._thread.start()
        self._wait()

    def _wait(self) -> None:
        import time

        until = time.monotonic() + _START_PATIENCE
        while not self._server.started:
            if not self._thread.is_alive() or time.monotonic() > until:
                self.stop()
                raise LakeError("the explorer's server did not start")
            time.sleep(0.01)

    @property
    def is_running(self) -> bool:
        """Whether it answers."""
        return self._thread.is_alive() and not self._server.should_exit

    def stop(self) -> None:
        """Stop answering. Once is enough."""
        self._server.should_exit = True
        self._thread.join(_START_PATIENCE)
        self._socket.close()


def guard(app: App, token: str) -> App:
    """Put an app below a path that only who was given it knows; what is asked elsewhere is not there."""

    async def guarded(scope: Message, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return await app(scope, receive, send)
        known, slash, rest = scope.get("raw_path", b"").removeprefix(b"/").partition(b"/")
        if not slash or not secrets.compare_digest(known, token.encode()):
            await send({"type": "http.response.start", "status": 404, "headers": [(b"content-length", b"0")]})
            return await send({"type": "http.response.body", "body": b""})
        inner = {
            **scope,
            "path": scope["path"].removeprefix(f"/{token}"),
            "raw_path": b"/" + rest,
            "headers": [header for header in scope["headers"] if header[0] not in _ORIGIN],
        }
        return await app(inner, receive, _allow_frames(send))

    return guarded


def _allow_frames(send: Send) -> Send:
    """Let a notebook of any origin show the pages in a frame: only who has the token can name one."""

    async def allow(message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = []
            for name, value in message.get("headers", ()):
                if name.lower() == b"content-security-policy":
                    rules = value.split(b";")
                    value = b";".join(
                        rule for rule in rules if not rule.strip().startswith(b"frame-ancestors")
                    )
                if name.lower() != b"x-frame-options":
                    headers.append((name, value))
            message = {**message, "headers": headers}
        await send(message)

    return allow


_SERVERS: dict[Hashable, LocalServer] = {}
_LOCK = Lock()


def serve_locally(key: Hashable, make: Callable[[], Explorer]) -> LocalServer:
    """Start the server of a root, once; `make` gives its explorer. It is stopped when Python ends."""
    with _LOCK:
        running = _SERVERS.get(key)
        if running is None or not running.is_running:
            running = _SERVERS[key] = LocalServer(make_app(make()))
        return running


def make_app(explorer: Explorer) -> App:
    """Make the explorer an app over HTTP. Raises `Unsupported` where it cannot be served."""
    try:
        import uvicorn  # noqa: F401

        from lakelens.serving.access import Access
        from lakelens.serving.application import make_app as make
    except ImportError as error:
        raise Unsupported(
            "the explorer needs starlette and uvicorn, which are not installed",
            hint="pip install 'lakelens[serve]'",
        ) from error
    app: App = make(explorer, access=Access("", takes_any_host=True, is_proxied=True))
    return app


@atexit.register
def stop_all() -> None:
    """Stop every server of this process."""
    with _LOCK:
        for server in _SERVERS.values():
            server.stop()
        _SERVERS.clear()
