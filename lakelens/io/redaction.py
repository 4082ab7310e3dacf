"""Secrets that may stand in the address of a lake or in its options, kept out of errors and names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from typing import Any

HIDDEN = "…"
_SECRET_KEY = re.compile(
    r"secret|token|passw|pwd|credential|signature|sas|account_?key|access_?key|^key$|auth", re.IGNORECASE
)
_USER = re.compile(r"(?<=://)[^/?#@\s]*@")
_VALUE = re.compile(r"(?<=[?&])([^=&#\s]+)=[^&#\s'\")]*")
_SHORTEST = 4  # shorter ones are hidden only where an address has them: they stand in every other word


def redact(text: str, secrets: Collection[str] = ()) -> str:
    """Text without the user, the password and the values of parameters of each URL in it, and without the known secrets.

    >>> redact("https://me:hunter2@host/t?X-Amz-Signature=ab12&v=1 says s3cret-s3cret", ["s3cret-s3cret"])
    'https://…@host/t?X-Amz-Signature=…&v=… says …'
    """
    for secret in sorted(secrets, key=len, reverse=True):
        text = text.replace(secret, HIDDEN)
    return _VALUE.sub(rf"\1={HIDDEN}", _USER.sub(f"{HIDDEN}@", text))


def find_secrets(options: Mapping[str, Any] | None) -> frozenset[str]:
    """What options of a store hold under names that speak of secrets, however deep.

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
