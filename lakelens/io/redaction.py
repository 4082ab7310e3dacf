"""Secrets that may stand in the address of a lake or in its options, kept out of errors and names."""

from __future__ import annotations

import json
import os
import re
from base64 import b64encode
from collections.abc import Collection, Iterator, Mapping
from html import escape
from typing import Any
from urllib.parse import quote

HIDDEN = "…"
_SECRET_KEY = re.compile(
    r"secret|token|passw|pwd|credential|signature|sas|connection.?string|cookie|(account|access)[._-]?key|^key$|auth",
    re.IGNORECASE,
)
_USER = re.compile(r"(?<=://)[^/?#@\s]*@")
_VALUE = re.compile(r"(?<=[?&])([^=&#\s]+)=[^&#\s'\")]*")
_KEY_ID = re.compile(r"\b(?:AKIA|ASIA)[A-Z0-9]{8,}\b")
#: Variables of the environment that clients take secrets from.
_VARIABLES = re.compile(
    r"^(AWS_(ACCESS_KEY_ID|SECRET_ACCESS_KEY|SESSION_TOKEN|SECURITY_TOKEN)|AZURE_.*(KEY|SECRET|STRING|TOKEN|PASSWORD)"
    r"|GOOGLE_API_KEY|HF_TOKEN|FSSPEC_.*(KEY|SECRET|TOKEN|PASSWORD))$"
)
_SHORTEST = 4  # shorter ones are hidden only where an address has them: they stand in every other word
_LONG_PART = 12  # of a secret of several words, as "Bearer …"


def redact(text: str, secrets: Collection[str] = ()) -> str:
    """Text without the user, the password and the values of parameters of each URL in it, and without the known secrets.

    >>> redact("https://me:hunter2@host/t?X-Amz-Signature=ab12&v=1 says s3cret-s3cret", ["s3cret-s3cret"])
    'https://…@host/t?X-Amz-Signature=…&v=… says …'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _KEY_ID.sub(HIDDEN, _VALUE.sub(rf"\1={HIDDEN}", _USER.sub(f"{HIDDEN}@", text)))


def find_spellings(secrets: Collection[str]) -> frozenset[str]:
    """Secrets, those of the environment too, as an answer or a client may repeat them: quoted, escaped, in base64.

    >>> sorted(find_spellings(["a/b+c"]) - find_spellings([]))
    ['YS9iK2M', 'a%2Fb%2Bc', 'a/b%2Bc', 'a/b+c']
    """
    known = {
        value for name, value in os.environ.items() if _VARIABLES.match(name) and len(value) >= _SHORTEST
    }
    found: set[str] = set()
    for secret in {*known, *secrets}:
        parts = [one for one in secret.split() if len(one) >= _LONG_PART]
        for one in (secret, *parts):
            found |= {
                one,
                quote(one),
                quote(one, safe=""),
                escape(one),
                repr(one)[1:-1],
                json.dumps(one)[1:-1],
            }
        encoded = b64encode(secret.encode()).decode().rstrip("=")
        found.add(encoded)
    return frozenset(one for one in found if len(one) >= _SHORTEST)


def find_secrets(options: Mapping[str, Any] | None) -> frozenset[str]:
    """Find what options of a store hold under names that speak of secrets, however deep.

    >>> sorted(find_secrets({"key": "AKIA1", "client_kwargs": {"token": "t0ken"}, "region": "eu-west-1"}))
    ['AKIA1', 't0ken']
    """
    return frozenset(_walk(options or {}, False))


def _walk(held: Any, is_secret: bool) -> Iterator[str]:
    if isinstance(held, Mapping):
        for name, value in held.items():
            yield from _walk(value, is_secret or bool(_SECRET_KEY.search(str(name))))
    elif isinstance(held, list | tuple):
        for value in held:
            yield from _walk(value, is_secret)
    elif is_secret and isinstance(held, str) and len(held) >= _SHORTEST:
        yield held
