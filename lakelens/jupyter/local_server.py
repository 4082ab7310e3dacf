"""A server of the explorer in this process, for what no Jupyter server shows: on 127.0.0.1, at an address nobody can guess.

The token is the first part of the path, so that it is right in a frame of another origin and behind a proxy, where a cookie
is not sent; the pages' links are relative and keep it. Without it every address is answered with 404.
"""

from __future__ import annotations

import atexit
import secrets
import socket
from collections.abc import Awaitable, Callable, Hashable, MutableMapping
from threading import Lock, Thread
from typing import TYPE_CHECKING, Any, TypeAlias

from lakelens.errors import LakeError, Unsupported

if TYPE_CHECKING:
    from lakelens.explorer.explorer import Explorer

Message: TypeAlias = MutableMapping[str, Any]
Receive: TypeAlias = Callable[[], Awaitable[Message]]
Send: TypeAlias = Callable[[Message], Awaitable[None]]
App: TypeAlias = Callable[[Message, Receive, Send], Awaitable[None]]

# what a browser says about the page that asks: a notebook of any origin may, if it has the token
_ORIGIN = (b"origin", b"sec-fetch-site")
_PATIENCE = 10.0  # seconds for a start and for a stop


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

        until = time.monotonic() + _PATIENCE
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
        self._thread.join(_PATIENCE)
        self._socket.close()


def guard(app: App, token: str) -> App:
    """An app below a path that only who was given it knows; what is asked elsewhere is not there."""

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
    """Pages that a notebook of any origin may show in a frame: only who has the token can name one."""

    async def allow(message: Message) -> None:
        if message["type"] == "http.response.start":
            message = {**message, "headers": [_open_header(*one) for one in message.get("headers", ())]}
            message["headers"] = [one for one in message["headers"] if one[0].lower() != b"x-frame-options"]
        await send(message)

    return allow


def _open_header(name: bytes, value: bytes) -> tuple[bytes, bytes]:
    if name.lower() != b"content-security-policy":
        return name, value
    kept = [one for one in value.split(b";") if not one.strip().startswith(b"frame-ancestors")]
    return name, b";".join(kept)


_SERVERS: dict[Hashable, LocalServer] = {}
_LOCK = Lock()


def serve_locally(key: Hashable, make: Callable[[], Explorer]) -> LocalServer:
    """The server of a root, which is started once; `make` gives its explorer. Stopped when Python ends."""
    with _LOCK:
        running = _SERVERS.get(key)
        if running is None or not running.is_running:
            running = _SERVERS[key] = LocalServer(make_app(make()))
        return running


def make_app(explorer: Explorer) -> App:
    """The explorer over HTTP. Raises `Unsupported` where it cannot be served."""
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
