"""Connections of the client of S3 that go where they were sent: they follow no redirect, and every answer has a limit.

The client's own follow a redirect to any host, with the session token in a header, and read whatever a listing becomes.
Imported only where that client is installed.
"""

from __future__ import annotations

from contextvars import ContextVar
from functools import partial
from typing import Any

from aiobotocore.httpsession import AIOHTTPSession

from lakelens.io.remote.requests import LARGEST_PAGE, receive_whole

_is_stream = ContextVar("_is_stream", default=False)


class DirectSession(AIOHTTPSession):  # type: ignore[misc]
    """The client's connections, each request of which is answered by the host that it is for."""

    async def send(self, request: Any) -> Any:
        """An answer; one that is no object has at most 64 MiB."""
        _is_stream.set(bool(request.stream_output))
        return await super().send(request)

    async def _get_session(self, proxy_url: Any) -> Any:
        return _Direct(await super()._get_session(proxy_url))


class _Direct:
    """A session of aiohttp, as far as the client uses it."""

    def __init__(self, session: Any) -> None:
        self._session = session

    async def request(self, *given: Any, **named: Any) -> Any:
        answer = await self._session.request(*given, **{**named, "allow_redirects": False})
        if not _is_stream.get() or answer.status >= 300:
            answer.read = partial(_read, answer)
        return answer


async def _read(answer: Any) -> bytes:
    try:
        return await receive_whole(answer.content.read, LARGEST_PAGE)
    except Exception:
        answer.close()
        raise
