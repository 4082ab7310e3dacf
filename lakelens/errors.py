"""The errors that lakelens raises: each says what and where, what was seen and expected, and what to try.

`LakeError` is the root. Damage found while *walking* a table is not raised but kept as a `Finding` on `table.findings`;
reading the damaged object itself raises.

>>> error = Corrupt("not an Avro file", path="m0.avro", offset=0, expected="magic Obj", seen="PAR1")
>>> print(error)
m0.avro: not an Avro file (at byte 0; expected magic Obj; seen PAR1)
"""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from typing import Self, cast

from lakelens.display import Displayable, call

_MOST_LISTED = 12  # names of a hint
# categories whose characters act on the text around them: control, format (bidirectional marks), surrogate, private use,
# line and paragraph separators
_ACTIVE = frozenset(("Cc", "Cf", "Cs", "Co", "Zl", "Zp"))
_NO_TEXT = "\ufffe\uffff"  # a document in XML, as pictures are, may not hold them


class LakeError(Displayable, Exception):
    """Anything that keeps lakelens from reading a table.

    `path` names the file or directory, `hint` says what to try, `expected` and `seen` are text; `sql` is a condition or a
    query that is wrong, `span` the first character of its wrong part and the one after it. Each may be None. A notebook
    shows an error that is raised as a card of text, with `%tb` for the traceback, and one that is a value as a card;
    of one that `is_brief`, because a magic raised it, a line.
    """

    is_brief = False

    def __init__(
        self,
        message: str,
        *,
        path: str | None = None,
        hint: str | None = None,
        expected: object = None,
        seen: object = None,
        sql: str | None = None,
        span: tuple[int, int] | None = None,
    ) -> None:
        super().__init__(message)
        self.message = message
        self.path = path
        self.hint = hint
        self.expected = None if expected is None else str(expected)
        text = str(seen)
        self.seen = None if seen is None else text if len(text) <= 200 else f"{text[:200]}…"
        self.sql, self.span = sql, span

    def _details(self) -> list[str]:
        return [
            f"{word} {text}" for word in ("expected", "seen") if (text := getattr(self, word)) is not None
        ]

    def without_frames(self) -> Self:
        """This error to be kept: its traceback would keep what it failed on, the bytes of a whole file among it."""
        self.__cause__ = self.__context__ = None
        return self.with_traceback(None)

    @property
    def place(self) -> str:
        """Where in the file it is wrong, in words; empty where that is not known."""
        return ""

    @property
    def reason(self) -> str:
        """The message with its details, without the path in front and without the hint."""
        details = "; ".join(self._details())
        return f"{self.message} ({details})" if details else self.message

    def __str__(self) -> str:
        text = f"{self.path}: {self.reason}" if self.path else self.reason
        return visible(f"{text}; try: {self.hint}" if self.hint else text)

    def _render_traceback_(self) -> list[str]:
        """Say what IPython shows instead of a traceback."""
        return cast("list[str]", call("views.render.raised:render_raised", self, is_brief=self.is_brief))


class UnknownName(LakeError, KeyError):
    """There is nothing of that name; the hint has the nearest names.

    >>> print(UnknownName("no ref 'mian'", hint=list_nearest("mian", ["main"])))
    no ref 'mian'; try: did you mean main?
    """


class WrongArgument(LakeError, TypeError):
    """A call with a value that it does not take; the hint has the nearest names."""


class NotATable(LakeError):
    """No format recognises what is at this place; the message lists what was looked for, or says that it holds tables."""

    def _details(self) -> list[str]:
        return [text for text in (self.expected and f"looked for {self.expected}", self.seen) if text]


class Missing(LakeError, FileNotFoundError):
    """A file or directory that was requested, or that metadata refers to, does not exist."""

    def __str__(self) -> str:
        return LakeError.__str__(self)


class Ambiguous(Missing):
    """A name that several things could mean; the hint lists them."""


class Corrupt(LakeError):
    """Bytes or a document that break the rules of the format.

    `offset` is the byte of the error, `json_path` the place in a JSON document.
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
        super().__init__(message, path=path, hint=hint, expected=expected, seen=seen)
        self.offset = offset
        self.json_path = json_path

    @property
    def place(self) -> str:
        """The byte and the place in the document."""
        byte = [] if self.offset is None else [f"byte {self.offset:,}"]
        return ", ".join([*byte, *([] if self.json_path is None else [self.json_path])])

    def _details(self) -> list[str]:
        byte = [] if self.offset is None else [f"at byte {self.offset}"]
        key = [] if self.json_path is None else [f"at {self.json_path}"]
        return [*byte, *key, *super()._details()]


class Unsupported(LakeError):
    """Something valid that lakelens does not read."""


class NotInstalled(Unsupported, ModuleNotFoundError):
    """Something that takes a package which is not installed: the hint is the command that installs it."""

    def __str__(self) -> str:
        return LakeError.__str__(self)


class AccessDenied(LakeError, PermissionError):
    """The storage denied access."""

    def __str__(self) -> str:
        return LakeError.__str__(self)


class Unavailable(LakeError, ConnectionError):
    """The storage did not answer, or not wholly, and did not when it was asked again: it may another time."""

    def __str__(self) -> str:
        return LakeError.__str__(self)


class Interrupted(KeyboardInterrupt):
    """A long reading that was interrupted. The message says how far it was, and is all that a notebook shows."""

    def _render_traceback_(self) -> list[str]:
        """Say what IPython shows instead of a traceback."""
        return [f"Interrupted: {self}"]


def visible(text: str) -> str:
    r"""Text with every active character shown, not obeyed; line feeds are kept.

    >>> visible("a\x1b[0m\nb")
    'a⟨U+001B⟩[0m\nb'
    """
    if text.isprintable():
        return text
    return "".join(character if character == "\n" else show_active(character) for character in text)


def visible_line(text: str) -> str:
    r"""Text as one line with every active character shown: what a `__repr__` says, which goes to terminals and into logs.

    >>> visible_line("a\x1b[0m\nb")
    'a⟨U+001B⟩[0m⟨U+000A⟩b'
    """
    return text if text.isprintable() else "".join(map(show_active, text))


def show_active(character: str) -> str:
    """Show a character that acts on the text around it by its number; any other one as it is."""
    if unicodedata.category(character) in _ACTIVE or character in _NO_TEXT:
        return f"⟨U+{ord(character):04X}⟩"
    return character


def say_value(value: object, most: int = 200) -> str:
    """Say what was given, as Python writes it and not too long, for a message; of what cannot be written its type.

    >>> say_value("a"), say_value("x" * 500, 5), say_value(10**5000)
    ("'a'", "'xxxx…", 'an int')
    """
    try:
        text = repr(value)
    except Exception:  # a number of thousands of digits, a foreign object
        kind = type(value).__name__
        return f"{'an' if kind[:1] in 'aeiou' else 'a'} {kind}"
    return text if len(text) <= most else f"{text[:most]}…"


def find_nearest(name: str, known: Iterable[str]) -> list[str]:
    """Find the known names nearest to one that there is not, at most three: spelled alike, else those that it is a part of.

    >>> find_nearest("PAIMONN", ["hive", "paimon"]), find_nearest("dynamic", ["paimon-dynamic-bucket"])
    (['paimon'], ['paimon-dynamic-bucket'])
    """
    from difflib import get_close_matches

    wanted = name.lower()
    lowered = {one.lower(): one for one in known}
    near = get_close_matches(wanted, lowered, 3, 0.75)
    near = near or [one for one in lowered if len(wanted) > 2 and wanted in one][:3]
    return [lowered[one] for one in near or get_close_matches(wanted, lowered, 3, 0.6)]


def list_nearest(name: str, known: Iterable[str]) -> str:
    """List what to try instead of a name that there is not: the nearest ones, else those that there are.

    >>> list_nearest("sise_bytes", ["path", "size_bytes"]), list_nearest("x", ["path", "size_bytes"])
    ('did you mean size_bytes?', 'there are path, size_bytes')
    """
    names = list(known)
    near = find_nearest(name, names)
    if near:
        return f"did you mean {' or '.join(near)}?"
    more = f" and {len(names) - _MOST_LISTED:,} more" if len(names) > _MOST_LISTED else ""
    return f"there are {', '.join(names[:_MOST_LISTED])}{more}" if names else "there is none"


def __dir__() -> list[str]:
    return [
        name for name, held in globals().items() if isinstance(held, type) and held.__module__ == __name__
    ]
