"""The application: from a request to the page of its address, made in a thread, or to words about why not."""

from __future__ import annotations

import hashlib
import logging
import traceback
from collections.abc import AsyncIterator, Callable
from functools import partial
from typing import TypeVar
from urllib.parse import quote

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.types import Receive, Scope, Send

from lakelens.errors import AccessDenied, LakeError, Missing, visible
from lakelens.explorer import download
from lakelens.explorer.assets import read_assets
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.listing import AS
from lakelens.explorer.page import Link, Page, Redirect
from lakelens.explorer.place import Place
from lakelens.serving.access import Access, Refusal, drop_home, drop_token, hide_token
from lakelens.serving.connections import ADMIT
from lakelens.serving.responses import (
    Answer,
    make_answer,
    make_entrance,
    make_headers,
    make_notice,
    make_refusal,
    pack,
)
from lakelens.serving.workers import Stopping, TooMany, TooSlow, Workers
from lakelens.views.present import present

T = TypeVar("T")
LOG = logging.getLogger("lakelens.serving")
_ASSETS = "/-/"
_KINDS = {"css": "text/css", "js": "text/javascript"}
_CHUNK = 1 << 20
_MOST_WAITED = 600.0


class Application:
    """Answers requests for the pages of one explorer, by the rules of one `Access`."""

    def __init__(self, explorer: Explorer, access: Access, workers: Workers, *, allow_download: bool) -> None:
        self.explorer, self.access, self.workers = explorer, access, workers
        self.allow_download = allow_download
        self._headers = make_headers(may_be_framed=access.is_proxied)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request: no router looks at it before the rules do."""
        if scope["type"] == "lifespan":
            while (await receive())["type"] == "lifespan.startup":
                await send({"type": "lifespan.startup.complete"})
            self.workers.stop()
            await send({"type": "lifespan.shutdown.complete"})
            return
        if scope["type"] == "websocket":
            await send({"type": "websocket.close", "code": 1008})
            return
        request = Request(scope, receive)
        try:
            response = await self._respond(request)
        except Exception as error:  # nothing of ours may end a request without an answer
            self._log(request, error)
            response = Response("an error of lakelens: see its log", 500, self._headers, "text/plain")
        await response(scope, receive, send)

    async def _respond(self, request: Request) -> Response:
        asked = self._find_path(request)
        home = self.access.home
        is_home = asked == home or asked.startswith(home + "/")
        path = asked[len(home) :] if is_home else asked
        asset = path.removeprefix(_ASSETS) if path.startswith(_ASSETS) else None
        # browsers ask for it unasked, above the path of the pages, where they send no cookie
        is_icon = path == "/favicon.ico"
        verdict = self.access.judge(request, is_asset=is_icon or asset in read_assets(), is_home=is_home)
        if isinstance(verdict, Refusal):
            answer = make_refusal(verdict, max(asked.count("/") - 1, 0))
            return answer.send(request, {**self._headers, **dict(verdict.headers)})
        if verdict == "enter" or self.access.knows(request):
            request.scope.get(ADMIT, _do_nothing)()
        if asset in read_assets():
            return self._send_asset(request, asset or "")
        if is_icon:  # there is none, which is no error
            return Response(None, 204, self._headers)
        query = request.scope.get("query_string", b"").decode("latin-1")
        if verdict == "enter" or not path:
            return self._lead_in(request, asked, drop_token(query), is_entering=verdict == "enter")
        try:
            place = Place.parse(path, query)
        except LakeError as error:
            return self._make_page_of(Place(), error, path.count("/") - 1).send(request, self._headers)
        if place.table is not None and place.page == download.PAGE:
            return await self._send_file(request, place)
        if place.get(AS):
            return await self._send_list(request, place)
        answer = await self._wait_for(request, place)
        return answer.send(request, self._headers)

    def _find_path(self, request: Request) -> str:
        """Find the path as it was sent, still encoded, below the base."""
        raw = request.scope.get("raw_path") or request.scope["path"].encode()
        path = quote(raw.decode("latin-1"), safe="/%@~!$&'()*+,;=:-._", encoding="latin-1")
        base = self.access.base
        return path[len(base) :] if base and (path == base or path.startswith(base + "/")) else path

    def _lead_in(self, request: Request, asked: str, query: str, *, is_entering: bool) -> Response:
        """To the same page below the home, without the token; who enters gets the cookie for it."""
        up = ("../" * (asked.count("/") - 1) or "./") if asked else f"{self.access.base}/"
        place = drop_home(asked) if self.access.home else asked
        location = up + (self.access.home + (place or "/")).removeprefix("/") + (f"?{query}" if query else "")
        is_own_site = request.headers.get("sec-fetch-site", "") in ("", "none", "same-origin")
        response = make_entrance(location, is_own_site=is_own_site).send(request, self._headers)
        if is_entering and self.access.home:
            response.headers["set-cookie"] = self.access.make_cookie(request)
        return response

    def _send_asset(self, request: Request, name: str) -> Response:
        body = read_assets()[name]
        tag = f'"{hashlib.sha256(body).hexdigest()[:20]}"'
        # looked at again each time, which costs no body: a newer version is never shown with an older sheet
        headers = {**self._headers, "cache-control": "no-cache", "etag": tag}
        if tag in request.headers.get("if-none-match", ""):
            return Response(None, 304, headers)
        return pack(200, body).send(request, headers, _KINDS[name.rpartition(".")[2]])

    async def _wait_for(self, request: Request, place: Place) -> Answer:
        """The page of a place, made in a thread; words where that takes too long."""
        key = "" if place.table is None else "/".join(place.table)
        try:
            return await self.workers.run(key, place, partial(self._make, request, place))
        except TooSlow as slow:
            return _describe_slow(place, key, slow)
        except TooMany:
            why = f"{self.workers.most_waiting:,} pages are asked for already."
            return make_notice(place, 503, "Too much at once", why, reload="Later:")
        except Stopping:
            return make_notice(place, 503, "Stopped", "The server stops.")

    def _make(self, request: Request, place: Place) -> Answer:
        """Make a page, in a thread of the pool."""
        try:
            found = self.explorer.follow(place)
            if isinstance(found, Redirect):
                return Answer(303, location=found.place.link_from(place))
            return make_answer(found)
        except LakeError as error:
            return self._make_page_of(place, error)
        except Exception as error:
            self._log(request, error)
            words = (
                f"This is an error of lakelens ({type(error).__name__}), not of the table. The log of the server has more.",
                "Other pages of the table may be shown all the same.",
            )
            return make_notice(place, 500, "Cannot be shown", *words)

    def _make_page_of(self, place: Place, error: LakeError, depth: int | None = None) -> Answer:
        """Make the page of an error; `depth` is how far down its address is, where that is not an address of ours."""
        statuses = ((Missing, 404), (AccessDenied, 403))
        status = next((status for kind, status in statuses if isinstance(error, kind)), 500)
        parts = [present(error.without_frames())]
        page = Page(place, type(error).__name__, parts, crumbs=(Link("all tables", Place()),), status=status)
        return make_answer(page, up=None if depth is None else "../" * depth or "./")

    async def _send_file(self, request: Request, place: Place) -> Response:
        if not self.allow_download:
            words = (
                "This server does not give data files away.",
                "Who may do so starts it with: lakelens serve --allow-download",
            )
            return make_notice(place, 403, "Not allowed", *words).send(request, self._headers)
        found = await self._find(request, place, partial(download.find_download, self.explorer, place))
        if isinstance(found, Response):
            return found
        headers = {
            **self._headers,
            "content-length": str(found.size),
            "content-disposition": _attach(found.name),
        }
        body = self._read(request, place, found) if request.method == "GET" else _nothing()
        return StreamingResponse(body, 200, headers, "application/octet-stream")

    async def _send_list(self, request: Request, place: Place) -> Response:
        found = await self._find(request, place, partial(download.find_export, self.explorer, place))
        if isinstance(found, Response):
            return found
        if isinstance(found, Redirect):
            return Answer(303, location=found.place.link_from(place)).send(request, self._headers)
        if isinstance(found, Page):
            return make_answer(found).send(request, self._headers)
        headers = {**self._headers, "content-disposition": _attach(found.name)}
        body = self._write(place, found) if request.method == "GET" else _nothing()
        return StreamingResponse(body, 200, headers, found.media_type)

    async def _find(self, request: Request, place: Place, find: Callable[[], T]) -> T | Response:
        """Find what is to be sent, in a thread; words where there is nothing of the kind, or where it takes too long."""
        try:
            return await self.workers.run("/".join(place.table or ()), place, find)
        except LakeError as error:
            return self._make_page_of(place, error).send(request, self._headers)
        except (TooSlow, TooMany, Stopping):
            why = "It could not be looked up in time."
            notice = make_notice(place, 504, "Takes long", why, reload="It goes on where it was:")
            return notice.send(request, self._headers)

    async def _write(self, place: Place, found: download.Export) -> AsyncIterator[bytes]:
        """Write the pieces of a list; what goes wrong ends the connection, so that nobody takes a part for the whole."""
        key = "/".join(place.table or ())
        while (chunk := await self.workers.run(key, object(), partial(next, found.chunks, None))) is not None:
            yield chunk

    async def _read(self, request: Request, place: Place, found: download.Download) -> AsyncIterator[bytes]:
        key, at = "/".join(place.table or ()), 0
        while at < found.size:
            wanted = min(_CHUNK, found.size - at)
            try:
                part = await self.workers.run(key, object(), partial(found.read, at, wanted))
            except (LakeError, TooSlow, TooMany, Stopping) as error:
                self._log(request, error)
                return
            if not part:  # it became shorter: the reader sees that it is cut
                return
            at += len(part)
            yield part

    def _log(self, request: Request, error: BaseException) -> None:
        """The traceback of what went wrong; nothing in it acts on a terminal, and no token is in it."""
        asked = request.scope["path"] + "?" + request.scope.get("query_string", b"").decode("latin-1")
        lines = "".join(traceback.format_exception(error))
        LOG.error("%s", visible(hide_token(f"{request.method} {asked}\n{lines}".rstrip())))


def _describe_slow(place: Place, key: str, slow: TooSlow) -> Answer:
    table = f"of the table {key}" if key else "of all tables"
    if slow.is_waiting:
        doing = "It waits: other pages of this table are being made."
    else:
        doing = f"It is {slow.doing}." if slow.doing else "It is nearly done."
    words = (
        f"The page {place.page or 'overview'!r} {table} was not made within {slow.seconds:.0f} seconds.",
        doing,
        "It is still being made, and what was read is kept. Pages of other tables do not wait for it.",
    )
    return make_notice(place, 504, "Takes long", *words, reload="It goes on where it was:")


def _attach(name: str) -> str:
    """The header by which a browser keeps a file under a name."""
    return f"attachment; filename*=UTF-8''{quote(name, safe='')}"


def _do_nothing() -> None:
    """For a server that counts no strangers."""


async def _nothing() -> AsyncIterator[bytes]:
    for part in (b"",):
        yield part


def make_app(
    explorer: Explorer,
    *,
    access: Access,
    timeout: float = 20.0,
    allow_download: bool = False,
    workers: Workers | None = None,
) -> Application:
    """Make the ASGI application of an explorer.

    Parameters
    ----------
    explorer
        What makes the pages.
    access
        Who may ask.
    timeout
        Seconds that a request waits for its page.
    allow_download
        Whether data files are given as they are stored.
    workers
        The threads that make pages; own ones where there are none.

    Examples
    --------
    >>> import lakelens as ll
    >>> app = make_app(Explorer(ll.sample("iceberg").location), access=Access("secret"))
    >>> type(app).__name__
    'Application'
    """
    pool = workers or Workers(timeout=min(timeout, _MOST_WAITED))
    return Application(explorer, access, pool, allow_download=allow_download)
