"""Answers over HTTP: pages, with what keeps a browser from doing more than showing them, and words for what failed."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from html import escape

from starlette.requests import Request
from starlette.responses import Response

from lakelens.explorer.page import Link, News, Page
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_fitting, render_page
from lakelens.serving.access import Refusal
from lakelens.views.card.model import Card, Note

_TINY = 1_000  # bytes that are not worth compressing
_POLICY = (
    "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'; frame-ancestors {frames}"
)
_NO_FEATURES = ", ".join(
    f"{feature}=()"
    for feature in (
        *("accelerometer", "autoplay", "camera", "display-capture", "encrypted-media", "fullscreen"),
        *(
            "geolocation",
            "gyroscope",
            "hid",
            "magnetometer",
            "microphone",
            "midi",
            "payment",
            "serial",
            "usb",
        ),
        *("picture-in-picture", "publickey-credentials-get", "screen-wake-lock", "xr-spatial-tracking"),
    )
)


def make_headers(*, may_be_framed: bool) -> dict[str, str]:
    """Say what every answer says to a browser: load and run nothing but what is this server's own."""
    return {
        "content-security-policy": _POLICY.format(frames="'self'" if may_be_framed else "'none'"),
        "x-frame-options": "SAMEORIGIN" if may_be_framed else "DENY",
        "x-content-type-options": "nosniff",
        "referrer-policy": "no-referrer",
        "cross-origin-opener-policy": "same-origin",
        "cross-origin-resource-policy": "same-origin",
        "permissions-policy": _NO_FEATURES,
        "cache-control": "no-store",
    }


@dataclass(frozen=True, slots=True)
class Answer:
    """What was made for an address: its status, markup, the same compressed, and where it leads instead, if anywhere."""

    status: int
    body: bytes = b""
    packed: bytes | None = None
    location: str = ""

    def send(self, request: Request, headers: Mapping[str, str], kind: str = "text/html") -> Response:
        """The answer to a request, compressed if it takes that."""
        own = {**headers, "vary": "Accept-Encoding"}
        if self.location:
            own["location"] = self.location
        body = self.body
        if self.packed is not None and _takes_gzip(request.headers.get("accept-encoding", "")):
            own["content-encoding"], body = "gzip", self.packed
        return Response(body, self.status, own, f"{kind}; charset=utf-8")


def make_answer(page: Page, *, up: str | None = None) -> Answer:
    """Make the answer that a page is. One that is too large says so, and is not cut.

    `up` leads to all tables from an address that is none of ours; without it the place of the page says that.
    """
    link = None if up is None else lambda place: up + place.url
    assets = None if up is None else f"{up}-"
    markup, status = render_fitting(page, link=link, assets=assets)
    return pack(status, markup.encode())


def make_notice(place: Place, status: int, title: str, *words: str, reload: str = "") -> Answer:
    """Make a page of words in the place of another one; `reload` is the text of a link to the same address."""
    news = News(reload, (Link("reload this page", place),)) if reload else None
    card = Card(title, "", body=tuple(Note(text) for text in words if text))
    page = Page(
        place, title, [card], crumbs=(Link("all tables", Place()), Link(title)), news=news, status=status
    )
    return pack(status, render_page(page).encode())


def make_refusal(refusal: Refusal, depth: int) -> Answer:
    """Say why a request is refused, in words; it names nothing that was asked. `depth` is how far down its address is."""
    news = News("You are asked once:", (Link("go on", Place()),)) if refusal.may_click else None
    card = Card(refusal.title, "", body=tuple(Note(text) for text in (refusal.why, refusal.advice) if text))
    page = Page(Place(), refusal.title, [card], news=news, status=refusal.status)
    markup = render_page(page, link=lambda place: "", assets=("../" * depth or "./") + "-")
    return pack(refusal.status, markup.encode())


def make_entrance(location: str, *, is_own_site: bool) -> Answer:
    """Say what leads on from the address with the token, which is not kept in the browser's history.

    To a browser that comes from another site it is a page of ours that leads on: what that one asks for is asked from here,
    with the cookie.
    """
    if is_own_site:
        return Answer(303, location=location)
    held = escape(location, quote=True)
    markup = (
        '<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>lakelens</title>'
        f'<meta http-equiv="refresh" content="0;url={held}"><p><a href="{held}">Go on</a></p></html>'
    )
    return Answer(200, markup.encode())


def pack(status: int, body: bytes) -> Answer:
    """Pack an answer with its compressed form, unless it is tiny."""
    return Answer(status, body, None if len(body) < _TINY else gzip.compress(body, 5, mtime=0))


def _takes_gzip(header: str) -> bool:
    """Check whether a header says that gzip is understood.

    >>> _takes_gzip("br, gzip;q=0.8"), _takes_gzip("gzip;q=0, *"), _takes_gzip("")
    (True, False, False)
    """
    for part in header.lower().split(","):
        name, _, options = part.partition(";")
        if name.strip() in ("gzip", "x-gzip"):
            quality = options.replace(" ", "").removeprefix("q=")
            return not quality or quality.strip("0.") != ""
    return False
