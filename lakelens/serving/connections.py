"""Connections: one that says nothing ends, and those of strangers make room, so that they keep nobody out.

A stranger is a connection on which nobody has shown a token or a cookie yet. All users of a machine have the same address
here: a new connection is always taken, and the oldest one of the strangers at its address goes instead.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any

import h11
import uvicorn
from starlette.responses import Response
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from lakelens.serving.access import MOST_ADDRESS, MOST_HEADERS
from lakelens.serving.responses import make_headers

#: What a request's scope has of its connection: to be called once it is known that the peer may ask.
ADMIT = "lakelens.admit"


@dataclass(frozen=True, slots=True)
class Limits:
    """How many connections there are at once, and for how long one is waited for.

    `head` is the seconds in which a whole request has to come; `one_peer` and `strangers` are the connections of one
    address and of all in which nobody has entered; `connections` counts those of everybody.
    """

    head: float = 10.0
    one_peer: int = 50
    strangers: int = 200
    connections: int = 500


class Strangers:
    """The connections of those who have not entered, by their addresses, the oldest first."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self._peers: dict[str, dict[Connection, None]] = {}

    def add(self, connection: Connection) -> None:
        """Take a connection; where there are too many, one of the address that has most of them goes."""
        own = self._peers.setdefault(connection.peer, {})
        own[connection] = None
        if sum(map(len, self._peers.values())) > self.limits.strangers:
            own = max(self._peers.values(), key=len)
        elif len(own) <= self.limits.one_peer:
            return
        oldest = next(iter(own))
        self.discard(oldest)
        oldest.transport.abort()

    def discard(self, connection: Connection) -> None:
        """Forget a connection: it has ended, or somebody has entered by it."""
        own = self._peers.get(connection.peer, {})
        own.pop(connection, None)
        if not own:
            self._peers.pop(connection.peer, None)

    def __contains__(self, connection: Connection) -> bool:
        return connection in self._peers.get(connection.peer, {})


class Connection(H11Protocol):
    """A connection whose requests have to come in time. Its own answers have the headers of all others."""

    strangers: Strangers

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.peer = ""
        self._deadline: asyncio.TimerHandle | None = None
        self._answer: Callable[[Scope, Receive, Send], Awaitable[None]] = self.app
        self.app = self._ask

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self.peer = self.client[0] if self.client else ""
        self.strangers.add(self)
        self._watch()

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        self._watch()

    def connection_lost(self, exc: Exception | None) -> None:
        self._stop_watching()
        self.strangers.discard(self)
        super().connection_lost(exc)

    def _watch(self) -> None:
        """Wait for a head as long as no request is being answered: from its first byte, or from the first connection on."""
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_watching()
        elif self._deadline is None and not self.transport.is_closing():
            self._deadline = self.loop.call_later(self.strangers.limits.head, self._end)

    def _stop_watching(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _end(self) -> None:
        self._deadline = None
        if self in self.strangers:
            self.transport.abort()  # one that does not read its answers is not waited for either
        else:
            self.transport.close()

    def timeout_keep_alive_handler(self) -> None:
        """No other request came on an open connection."""
        self._end()

    async def _ask(self, scope: Scope, receive: Receive, send: Send) -> None:
        if len(self.connections) > self.strangers.limits.connections:
            words, headers = "too many connections are open", make_headers(may_be_framed=False)
            await Response(words, 503, {**headers, "connection": "close"}, "text/plain")(scope, receive, send)
            return
        scope[ADMIT] = lambda: self.strangers.discard(self)
        await self._answer(scope, receive, send)

    def send_400_response(self, msg: str) -> None:
        """Say what is no request of HTTP is answered like everything else: with the policy."""
        body = b"this is no request of HTTP"
        headers = {
            **make_headers(may_be_framed=False),
            "content-type": "text/plain; charset=utf-8",
            "content-length": str(len(body)),
            "connection": "close",
        }
        try:
            for event in (
                h11.Response(status_code=400, headers=list(headers.items())),
                h11.Data(data=body),
                h11.EndOfMessage(),
            ):
                self.transport.write(self.conn.send(event) or b"")
        except h11.LocalProtocolError:  # an answer to the request before it is under way
            pass
        self.transport.close()


def configure(app: Any, limits: Limits | None = None) -> uvicorn.Config:
    """Say how an app is served: quietly, by HTTP/1.1 alone, within limits.

    >>> configure(None, Limits(head=2)).http.strangers.limits.head
    2
    """
    chosen = limits or Limits()
    return uvicorn.Config(
        app,
        http=type("Connection", (Connection,), {"strangers": Strangers(chosen)}),
        ws="none",
        log_config=None,
        log_level="error",
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=15,  # longer than clients keep one (httpx: 5): who closes first must not be the server
        timeout_graceful_shutdown=1,
        h11_max_incomplete_event_size=MOST_ADDRESS + MOST_HEADERS + 4_096,
    )
