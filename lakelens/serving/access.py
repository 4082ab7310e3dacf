"""Who may ask: a token in the first address, then a cookie; by the server's own name; from its own pages; to read.

A browser sends the cookies of a host to all of its ports. So the pages are below a path that nobody can guess, and the
cookie is for that path: whoever listens at another port is never asked for it.

A page of another site may not show, load or send anything here, and it may not lead here either without the reader's own
click on a page of ours: the two are not distinguished by any header, and one page more to click is no harm.
"""

from __future__ import annotations

import hmac
import ipaddress
import re
import secrets
from dataclasses import dataclass, field
from typing import Literal
from urllib.parse import parse_qsl, unquote_plus, urlsplit

from starlette.requests import Request

#: What is asked with the token, and the header that has it behind a proxy.
TOKEN, HEADER = "token", "x-lakelens-token"
METHODS = ("GET", "HEAD")
MOST_ADDRESS, MOST_HEADERS = 16_384, 32_768
_PREFIX = re.compile(r"(?:/[\w.~@%+-]+)*", re.ASCII)
_OWN_SITE = ("", "none", "same-origin")
# a letter of the name may be encoded, as the mark behind it
_NAMED = "".join(f"(?:{letter}|%{ord(letter):x})" for letter in f"{TOKEN}=")
_TOKENS = re.compile(rf"([?&]|%3F|%26){_NAMED}[^&\s]*", re.IGNORECASE)
# no name of a table is spelled so in an address: see `Place`
_HOMES = re.compile(r"/~[\w-]{22}(?=/|$)", re.ASCII)


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that is not answered: the status, its name, why, and what to do."""

    status: int
    title: str
    why: str
    advice: str = ""
    headers: tuple[tuple[str, str], ...] = ()
    #: whether a click on a link to the same address, on a page of ours, is what to do
    may_click: bool = False


Verdict = Literal["open", "enter"]


@dataclass(frozen=True)
class Access:
    """The rules of one server.

    `token` is empty where whoever reaches the server may ask. `hosts` are the names that the server has, in lower case;
    `takes_any_host` where a proxy asks by another one, `takes_addresses` where it is asked by any address of the machine.
    `home` is the path of the pages: there is none where nobody gets a cookie.
    """

    token: str = field(repr=False)
    hosts: frozenset[str] = frozenset({"localhost", "127.0.0.1", "::1"})
    takes_any_host: bool = False
    takes_addresses: bool = False
    is_proxied: bool = False
    cookie: str = "lakelens"
    base: str = ""
    is_secure: bool = False
    secret: str = field(default_factory=lambda: secrets.token_urlsafe(32), repr=False)
    path: str = field(default_factory=lambda: f"/~{secrets.token_urlsafe(16)}", repr=False)

    @property
    def home(self) -> str:
        """The path below which the pages are; empty where a proxy, or nobody, checks who asks."""
        return self.path if self.token and not self.is_proxied else ""

    def judge(self, request: Request, *, is_asset: bool = False, is_home: bool = True) -> Verdict | Refusal:
        """Whether a request, of a page in the `home` or elsewhere, is answered or enters with its token; else why not."""
        for rule in (_check_method, _check_target, _check_size, self._check_host, self._check_origin):
            refusal = rule(request)
            if refusal is not None:
                return refusal
        given, foreign = find_token(request), self._check_site(request)
        is_known = is_asset or self.knows(request)
        if foreign is not None and not foreign.may_click:
            return foreign
        if given is not None and (_equal(given, self.token) or (is_known and foreign is None)):
            return "enter"
        if given is not None and not is_known:
            return Refusal(403, "Not open", "The token of this address is not this server's.", _HOW)
        if foreign is not None and (is_home or is_known):  # elsewhere one more click leads no further
            return foreign
        if is_known:
            return "open"
        return Refusal(
            403, "Not open", "This address has no token, and this browser has no cookie of it.", _HOW
        )

    def knows(self, request: Request) -> bool:
        """Check whether who asks has entered, or was checked by a proxy, or has no need to be."""
        if not self.token or _equal(request.headers.get(HEADER, ""), self.token):
            return True
        return bool(self.home) and _equal(request.cookies.get(self.cookie, ""), self.secret)

    def make_cookie(self, request: Request) -> str:
        """Say what is set when somebody enters: for the path of the pages, as the browser sees that."""
        prefix = request.headers.get("x-forwarded-prefix", "").rstrip("/")  # a proxy that knows no base
        before = self.base or (prefix if _PREFIX.fullmatch(prefix) else "")
        secure = "; Secure" if self.is_secure else ""
        return f"{self.cookie}={self.secret}; HttpOnly; SameSite=Strict; Path={before}{self.home}{secure}"

    def _check_host(self, request: Request) -> Refusal | None:
        given = request.headers.getlist("host")
        if self.takes_any_host:
            return None
        name = _read_host(given[0]) if len(given) == 1 else None
        if name is not None and (name in self.hosts or (self.takes_addresses and _is_address(name))):
            return None
        why = "This server was asked by a name that is not its own."
        return Refusal(421, "Not this server", why, "Use the address that it printed when it was started.")

    def _check_origin(self, request: Request) -> Refusal | None:
        """Check what a script, a form or a frame of another origin sends says where it is from."""
        origin = request.headers.get("origin")
        if origin is None:
            return None
        asked = request.headers.get("host", "").lower()
        forwarded = request.headers.get("x-forwarded-host", "").lower() if self.is_proxied else asked
        try:
            own = urlsplit(origin).netloc.lower()
        except ValueError:  # no URL: of nobody's own pages
            own = ""
        if own and own in (asked, forwarded):
            return None
        return Refusal(403, "Refused", "Another site asked for this page.", "Open it in a tab of its own.")

    def _check_site(self, request: Request) -> Refusal | None:
        site = request.headers.get("sec-fetch-site", "").lower()
        if site in _OWN_SITE:
            return None
        mode, target = (request.headers.get(f"sec-fetch-{name}", "").lower() for name in ("mode", "dest"))
        if mode != "navigate" or target != "document":
            return Refusal(403, "Refused", "Another site asked for this.", "Open it in a tab of its own.")
        if self.is_proxied:  # who came in was checked by the proxy, and is led here by it
            return None
        why = "You come from another site. What a browser keeps for this server, it does not send along from there."
        advice = "Go on by the link above. If this page stays, use the address that the server printed."
        return Refusal(403, "One more click", why, advice, may_click=True)


_HOW = (
    "Open the address that lakelens serve printed when it was started, with its token: it is asked once for each browser. "
    "A server that was started again has another token: an address that you kept is found again with ?token= and that "
    "behind it."
)


def find_token(request: Request) -> str | None:
    """Find the token in an address; None where none is."""
    query = request.scope.get("query_string", b"").decode("latin-1")
    found = [held for name, held in parse_qsl(query, keep_blank_values=True) if name == TOKEN]
    return found[-1] if found else None


def drop_token(query: str) -> str:
    """Drop a query without its token.

    >>> drop_token("from=50&token=abc&q=x%20y"), drop_token("%74oken=abc")
    ('from=50&q=x%20y', '')
    """
    return "&".join(part for part in query.split("&") if unquote_plus(part.partition("=")[0]) != TOKEN)


def drop_home(path: str) -> str:
    """Drop a path as it is below the path of the pages, of this server or of one before it.

    >>> drop_home("/~" + 22 * "a" + "/web/clicks/"), drop_home("/~" + 22 * "a"), drop_home("/~@81/")
    ('/web/clicks/', '/', '/~@81/')
    """
    return _HOMES.sub("", path, count=1) or "/" if _HOMES.match(path) else path


def hide_token(text: str) -> str:
    """Text for a log, without tokens.

    >>> hide_token("GET /t/?token=abc&q=1"), hide_token("?%74oken=abc")
    ('GET /t/?token=…&q=1', '?token=…')
    """
    return _TOKENS.sub(r"\1token=…", text)


def _check_method(request: Request) -> Refusal | None:
    if request.method in METHODS:
        return None
    why = "Nothing is written here: pages are asked for with GET and HEAD."
    return Refusal(405, "Not allowed", why, headers=(("allow", ", ".join(METHODS)),))


def _check_target(request: Request) -> Refusal | None:
    if (request.scope.get("raw_path") or request.scope["path"].encode()).startswith(b"/"):
        return None
    return Refusal(400, "No address", "What is asked for here is a path, which begins with a slash.")


def _check_size(request: Request) -> Refusal | None:
    raw, query = request.scope.get("raw_path") or b"", request.scope.get("query_string", b"")
    if len(raw) + len(query) > MOST_ADDRESS:
        return Refusal(414, "Too long", f"An address has at most {MOST_ADDRESS:,} characters.")
    if sum(len(name) + len(value) for name, value in request.scope["headers"]) > MOST_HEADERS:
        return Refusal(431, "Too long", f"The headers of a request have at most {MOST_HEADERS:,} bytes.")
    body = request.headers.get("content-length", "0").strip()
    if body.strip("0") or "transfer-encoding" in request.headers:
        closing = (("connection", "close"),)
        return Refusal(413, "Too much", "Nothing is sent here: a request has no body.", headers=closing)
    return None


def _read_host(text: str) -> str | None:
    """Read the name in a Host header, in lower case, without its port; None for what is none."""
    found = re.fullmatch(r"(\[[0-9a-f:.]+\]|[0-9a-z._-]+)(?::\d{1,5})?", text.strip().lower())
    return found[1].strip("[]") if found else None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _equal(given: str, wanted: str) -> bool:
    """Check whether two secrets are the same, in a time that says nothing about where they differ; an empty one is none."""
    return bool(wanted) and hmac.compare_digest(given.encode(), wanted.encode())
