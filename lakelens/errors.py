"""The errors that lakelens raises: each says what and where, what was seen and expected, and what to try.

`LakeError` is the root. Damage found while *walking* a table is not raised but kept as a `Finding` on `table.findings`;
reading the damaged object itself raises.

>>> error = Corrupt("not an Avro file", path="m0.avro", offset=0, expected="magic Obj", seen="PAR1")
>>> print(error)
m0.avro: not an Avro file (at byte 0; expected magic Obj; seen PAR1)
"""

from __future__ import annotations


class LakeError(Exception):
    """Anything that keeps lakelens from reading a table.

    `path` names the file or directory, `hint` says what to try; both may be None.
    """

    def __init__(self, message: str, *, path: str | None = None, hint: str | None = None) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hint = hint

    def _details(self) -> list[str]:
        return []

    @property
    def reason(self) -> str:
        """The message with its details, without the path in front and without the hint."""
        details = "; ".join(self._details())
        return f"{self.message} ({details})" if details else self.message

    def __str__(self) -> str:
        text = f"{self.path}: {self.reason}" if self.path else self.reason
        return f"{text}; try: {self.hint}" if self.hint else text


class NotATable(LakeError):
    """No format recognises what is at this place; the message lists what was looked for."""


class Missing(LakeError, FileNotFoundError):
    """A file or directory that was requested, or that metadata refers to, does not exist."""

    def __str__(self) -> str:
        return LakeError.__str__(self)


class Corrupt(LakeError):
    """Bytes or a document that break the rules of the format.

    `offset` is the byte of the error, `json_path` the place in a JSON document; `expected` and `seen` are text.
    """

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        offset: int | None = None,
        json_path: str | None = None,
        expected: object = None,
        seen: object = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(message, path=path, hint=hint)
        self.offset = offset
        self.json_path = json_path
        self.expected = None if expected is None else str(expected)
        self.seen = None if seen is None else _shorten(str(seen))

    def _details(self) -> list[str]:
        details = []
        if self.offset is not None:
            details.append(f"at byte {self.offset}")
        if self.json_path is not None:
            details.append(f"at {self.json_path}")
        if self.expected is not None:
            details.append(f"expected {self.expected}")
        if self.seen is not None:
            details.append(f"seen {self.seen}")
        return details


class Unsupported(LakeError):
    """Something valid that lakelens does not read."""


class AccessDenied(LakeError, PermissionError):
    """The storage denied access."""

    def __str__(self) -> str:
        return LakeError.__str__(self)


def _shorten(text: str, limit: int = 200) -> str:
    return text if len(text) <= limit else text[:limit] + "…"


class Interrupted(KeyboardInterrupt):
    """A long reading that was interrupted. The message says how far it was, and is all that a notebook shows."""

    def _render_traceback_(self) -> list[str]:
        """What IPython shows instead of a traceback."""
        return [f"Interrupted: {self}"]
