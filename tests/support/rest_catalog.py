"""A small REST catalog of Iceberg over the names of another one: config, namespaces, tables, views, vended credentials."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qs, unquote

TOKEN = "t0ken-of-the-catalog-00000000"
_SEPARATOR = "\x1f"


class RestServer:
    """`tables` and `views` are metadata locations by name, `config` what is vended with each, `read` reads a document.

    Nothing is answered without the token; `failing` gives another status instead, `answers` another body for a path.
    """

    def __init__(self, read: Callable[[str], bytes], config: dict[str, str] | None = None) -> None:
        self.tables: dict[tuple[str, ...], str] = {}
        self.views: dict[tuple[str, ...], str] = {}
        self.documents: dict[str, bytes] = {}
        self.config, self.read = dict(config or {}), read
        self.failing: int | None = None
        self.requests: list[str] = []

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> Iterable[bytes]:
        path = environ["PATH_INFO"].encode("latin-1").decode()
        asked = {key: values[0] for key, values in parse_qs(environ["QUERY_STRING"]).items()}
        self.requests.append(path)
        length = int(environ.get("CONTENT_LENGTH") or 0)
        environ["wsgi.input"].read(length)
        if self.failing is not None:
            status, answer = (
                self.failing,
                _refuse("Failure", f"told {environ.get('HTTP_AUTHORIZATION')}", self.failing),
            )
        elif environ.get("HTTP_AUTHORIZATION") != f"Bearer {TOKEN}":
            status, answer = 401, _refuse("NotAuthorizedException", "who are you?", 401)
        else:
            status, answer = self._answer(path.removeprefix("/v1/").split("/"), asked)
        body = json.dumps(answer).encode()
        start_response(
            f"{status} {'OK' if status == 200 else 'No'}",
            [("Content-Type", "application/json"), ("Content-Length", str(len(body)))],
        )
        return [body]

    def _answer(self, parts: list[str], asked: dict[str, str]) -> tuple[int, Any]:
        if parts == ["config"]:
            return 200, {"defaults": {}, "overrides": {"view-endpoints-supported": "true"}}
        names = {*self.tables, *self.views}
        if parts == ["namespaces"]:
            parent = tuple(filter(None, asked.get("parent", "").split(_SEPARATOR)))
            known = {name[: len(parent) + 1] for name in names if len(name) > len(parent) + 1}
            return 200, {"namespaces": sorted(one for one in known if one[: len(parent)] == parent)}
        namespace = tuple(unquote(parts[1]).split(_SEPARATOR))
        held = self.tables if parts[2] == "tables" else self.views
        if len(parts) == 3:
            if not any(name[: len(namespace)] == namespace for name in names):
                return 404, _refuse("NoSuchNamespaceException", "no such namespace")
            found = sorted(name for name in held if name[:-1] == namespace)
            return 200, {"identifiers": [{"namespace": one[:-1], "name": one[-1]} for one in found]}
        location = held.get((*namespace, unquote("/".join(parts[3:]))))
        if location is None:
            return 404, _refuse("NoSuchTableException", "no such table")
        document = self.documents.get(location) or self.read(location)
        answer = {"metadata-location": location, "metadata": json.loads(document), "config": self.config}
        return 200, answer


def _refuse(kind: str, message: str, code: int = 404) -> dict[str, Any]:
    return {"error": {"message": message, "type": kind, "code": code}}
