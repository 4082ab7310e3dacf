"""Pages of an explorer for a browser: a server of this machine with nothing of the real one but its policy."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

from lakelens.explorer.assets import read_assets
from lakelens.explorer.explorer import Explorer
from lakelens.explorer.page import Redirect
from lakelens.explorer.place import Place
from lakelens.explorer.render import render_page

_POLICY = (
    "default-src 'none'; style-src 'self'; style-src-attr 'unsafe-inline'; script-src 'self'; img-src 'self' data:; "
    "form-action 'self'; base-uri 'none'"
)


@contextmanager
def serve(explorer: Explorer) -> Iterator[str]:
    """The address of a server that shows an explorer's pages."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            path, _, query = self.path.removeprefix("/").partition("?")
            if path.startswith("-/"):
                asset = read_assets()[path.removeprefix("-/")]
                self._send(200, "text/css" if path.endswith(".css") else "text/javascript", asset.decode())
                return
            answer = explorer.answer(Place.parse(path, query))
            if isinstance(answer, Redirect):
                self.send_response(302)
                self.send_header("Location", "/" + answer.place.url)
                self.end_headers()
            else:
                self._send(answer.status, "text/html", render_page(answer))

        def _send(self, status: int, kind: str, text: str) -> None:
            data = text.encode()
            self.send_response(status)
            self.send_header("Content-Type", f"{kind}; charset=utf-8")
            self.send_header("Content-Security-Policy", _POLICY)
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            """A test's output has no place for requests."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
