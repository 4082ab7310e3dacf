"""What goes wrong on the way to a store, produced for real: answers of S3, cut connections, silence, other versions."""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterable
from typing import Any

from tests.support.far import KEY, Fault, Weather


def gather(weather: Weather, count: int, *, when: str = "") -> Fault:
    """No fault: requests whose method, path and query have `when` wait until as many have been under way at once.

    So a slow machine, which begins them one after the other, is not taken for a reader that asks one by one. Whoever
    never asks for as many waits for twenty seconds in all, and is found by `weather.together`.
    """
    end: list[float] = []

    def fault(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes] | None:
        if when in _line(environ):
            end[:] = end or [time.monotonic() + 20]
            while weather.together < count and time.monotonic() < end[0]:
                time.sleep(0.005)
        return None

    return fault


def refuse(
    status: str, code: str, message: str = "", *, often: int = 1 << 30, when: str = "", **headers: str
) -> Fault:
    """An error of S3, for the first requests (`often`) whose method, path and query have `when`."""
    left = [often]

    def fault(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes] | None:
        if left[0] <= 0 or when not in _line(environ):
            return None
        left[0] -= 1
        # servers repeat what they were sent
        body = (
            f"<?xml version='1.0' encoding='UTF-8'?><Error><Code>{code}</Code><Message>{message}</Message>"
            f"<AWSAccessKeyId>{KEY}</AWSAccessKeyId><RequestId>1</RequestId></Error>"
        ).encode()
        named = [(name.replace("_", "-"), value) for name, value in headers.items()]
        start_response(
            status, [("Content-Type", "application/xml"), ("Content-Length", str(len(body))), *named]
        )
        return [b"" if environ["REQUEST_METHOD"] == "HEAD" else body]

    return fault


def send(body: bytes, kind: str, *, when: str = "GET") -> Fault:
    """Something else, as a success."""

    def fault(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes] | None:
        if when not in _line(environ):
            return None
        start_response("200 OK", [("Content-Type", kind), ("Content-Length", str(len(body)))])
        return [body]

    return fault


def cut(inner: Callable[..., Iterable[bytes]], *, often: int = 1 << 30, when: str = "GET") -> Fault:
    """Half of the body, and then the connection is closed."""
    left = [often]

    def fault(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes] | None:
        if left[0] <= 0 or when not in _line(environ):
            return None
        left[0] -= 1
        body = b"".join(inner(environ, start_response))

        def send_half() -> Iterable[bytes]:
            yield body[: len(body) // 2]
            environ["werkzeug.socket"].shutdown(socket.SHUT_RDWR)

        return send_half()

    return fault


def shorten(inner: Callable[..., Iterable[bytes]], *, often: int = 1 << 30) -> Fault:
    """A part of a range whose header promises all of it, with a length that is true."""
    left = [often]

    def fault(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes] | None:
        if left[0] <= 0 or "HTTP_RANGE" not in environ:
            return None
        left[0] -= 1
        kept: list[Any] = []
        body = b"".join(inner(environ, lambda *said: kept.extend(said[:2])))[:-1]
        status, headers = kept
        others = [(name, value) for name, value in headers if name.lower() != "content-length"]
        start_response(status, [*others, ("Content-Length", str(len(body)))])
        return [body]

    return fault


def silence(gone: threading.Event, when: str = "GET") -> Fault:
    """No answer until the test is over."""

    def fault(environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes] | None:
        if when in _line(environ):
            gone.wait(30)
        return None

    return fault


def _line(environ: dict[str, Any]) -> str:
    return f"{environ['REQUEST_METHOD']} {environ['PATH_INFO']}?{environ['QUERY_STRING']}"
