"""Serving an explorer: the place it listens at, the address it has, and a clean end."""

from __future__ import annotations

import logging
import os
import secrets
import signal
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from ipaddress import ip_address
from pathlib import Path
from types import FrameType
from typing import Any
from urllib.parse import quote, urlsplit

import uvicorn

from lakelens.errors import AccessDenied, LakeError
from lakelens.explorer.explorer import Explorer
from lakelens.options import display
from lakelens.serving.access import Access
from lakelens.serving.application import make_app
from lakelens.serving.connections import Limits, configure
from lakelens.serving.workers import Workers

#: The port that is taken where none is asked for, or one of those after it.
PORT = 8765
_PORTS_TRIED = 50
_LOOPBACK = ("localhost", "127.0.0.1", "::1")


@dataclass(frozen=True)
class Settings:
    """How an explorer is served.

    `port` is one that is asked for: another one is not taken instead; 0 is any. `unix_socket` is the path of a socket
    instead of host and port. Behind a proxy (`is_proxied`) that has checked the user, a socket needs no token, and a port
    needs that of the environment. `base_url` is the address that a proxy gives it, as a whole or as a path.
    """

    host: str = "127.0.0.1"
    port: int | None = None
    unix_socket: str | None = None
    base_url: str = ""
    is_proxied: bool = False
    token: str = field(default="", repr=False)
    allow_download: bool = False
    timeout: float = 20.0
    limits: Limits = field(default_factory=Limits)

    @property
    def is_local(self) -> bool:
        """Whether nobody on another machine can reach it."""
        if self.unix_socket is not None or self.host == "localhost":
            return True
        with suppress(ValueError):
            return ip_address(self.host).is_loopback
        return False


def serve(
    root: str | os.PathLike[str],
    settings: Settings | None = None,
    *,
    storage_options: Mapping[str, Any] | None = None,
    announce: Callable[[str], None] = print,
) -> None:
    """Serve the explorer of a root until it is interrupted; `announce` gets its address once it can be opened.

    Raises `LakeError` where it cannot listen. What is wrong with the root is said by its pages.
    """
    chosen = settings or Settings()
    explorer = Explorer(root, storage_options=storage_options)
    with closing(_listen(chosen)) as listening:
        port = 0 if chosen.unix_socket is not None else int(listening.getsockname()[1])
        access = _make_access(chosen, port)
        workers = Workers(timeout=chosen.timeout)
        app = make_app(explorer, access=access, allow_download=chosen.allow_download, workers=workers)
        config = configure(app, chosen.limits)
        address = _find_address(chosen, access, port)
        with display.using(progress=False), _logging():
            _Server(config, workers, lambda: announce(address)).run(sockets=[listening])
    if chosen.unix_socket is not None:
        Path(chosen.unix_socket).unlink(missing_ok=True)


class _Server(uvicorn.Server):
    """Stops at once: who waits for a page is answered, and no thread that still makes one is waited for."""

    def __init__(self, config: uvicorn.Config, workers: Workers, started: Callable[[], None]) -> None:
        super().__init__(config)
        self._workers, self._announce = workers, started

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self._announce()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self._workers.stop()
        await super().shutdown(sockets)

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Stop at a signal, which is not raised again: it is the way to end a server."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        former = {
            number: signal.signal(number, self.handle_exit) for number in (signal.SIGINT, signal.SIGTERM)
        }
        try:
            yield
        finally:
            for one, handler in former.items():
                signal.signal(one, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        self.should_exit = True


def _listen(settings: Settings) -> socket.socket:
    if settings.unix_socket is not None:
        return _listen_at(settings.unix_socket)
    first = PORT if settings.port is None else settings.port
    wanted = range(first, first + (_PORTS_TRIED if settings.port is None else 1))
    family = socket.AF_INET6 if ":" in settings.host else socket.AF_INET
    for port in wanted:
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            if os.name == "posix":
                made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind((settings.host, port))
            # another process may have bound it as well, and listen
            made.listen(1_024)
            made.set_inheritable(False)
        except OverflowError:
            made.close()
            raise LakeError("a port is a number up to 65,535", path=str(port)) from None
        except OSError as error:
            made.close()
            if port != wanted[-1] and not isinstance(error, PermissionError | socket.gaierror):
                continue
            reason = f"cannot listen at {settings.host}, port {port}: {error.strerror or error}"
            raise LakeError(reason, hint="another --port, or none: then a free one is taken") from None
        return made
    raise LakeError("no port to listen at")


def _listen_at(path: str) -> socket.socket:
    """A socket in the file system that only this user may open."""
    if not hasattr(socket, "AF_UNIX"):
        raise LakeError("this system has no unix sockets", hint="--port")
    place = Path(path)
    if place.is_socket():
        place.unlink()  # of a server that has ended
    made = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    former = os.umask(0o177)
    try:
        made.bind(path)
        made.listen(1_024)
    except OSError as error:
        made.close()
        raise AccessDenied(f"cannot listen here: {error.strerror or error}", path=path) from None
    finally:
        os.umask(former)
    return made


def _make_access(settings: Settings, port: int) -> Access:
    is_open = settings.is_proxied and settings.unix_socket is not None
    base = urlsplit(settings.base_url)
    host = settings.host.lower().strip("[]")
    names = {*_LOOPBACK, host, (base.hostname or host).lower()}
    if not settings.is_local:
        names |= {socket.gethostname().lower(), socket.getfqdn().lower()}
    return Access(
        "" if is_open else settings.token or secrets.token_urlsafe(32),
        hosts=frozenset(names),
        takes_any_host=settings.is_proxied,
        takes_addresses=not settings.is_local,
        is_proxied=settings.is_proxied,
        cookie=f"lakelens-{port}",
        base=base.path.rstrip("/"),
        is_secure=base.scheme == "https",
    )


def _find_address(settings: Settings, access: Access, port: int) -> str:
    """Find what is printed and opened; with the token, but for a proxy, which has it."""
    if settings.unix_socket is not None:
        return f"unix:{settings.unix_socket}"
    host = settings.host
    if host in ("0.0.0.0", "::"):  # of every address of this machine, its name
        host = socket.gethostname()
    own = f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
    base = urlsplit(settings.base_url)
    if base.netloc:
        own = f"{base.scheme}://{base.netloc}"
    asked = "" if settings.is_proxied else f"?token={quote(access.token)}"
    return f"{own}{access.base}/{asked}"


@contextmanager
def _logging() -> Iterator[None]:
    """Errors go to standard error, one record after the other, whatever else logs."""
    handler = logging.StreamHandler()
    handler.setFormatter(logging.Formatter("lakelens: %(asctime)s %(message)s"))
    loggers = [logging.getLogger(name) for name in ("lakelens.serving", "uvicorn.error", "asyncio")]
    for logger in loggers:
        logger.addHandler(handler)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeHandler(handler)
