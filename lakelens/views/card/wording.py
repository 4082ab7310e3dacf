"""How values are formatted: counts, sizes, times, and text that comes from a lake and is never trusted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime
from itertools import islice
from typing import TYPE_CHECKING, Any

from lakelens.codecs.moments import FarTime
from lakelens.errors import show_active
from lakelens.errors import visible as visible
from lakelens.model.facts.traits import format_size
from lakelens.options import display

if TYPE_CHECKING:
    from lakelens.model.deletes import LiveRows
    from lakelens.model.facts.traits import Amount, Figures

MINUS = "\u2212"
DEEPEST = 100  # levels of a value that are written
_MOST_ITEMS = 50  # of a list or a map within a value


def clean(text: object, limit: int | None = None) -> str:
    r"""Text from a lake made harmless: active characters are shown, not obeyed, and it is no longer than `limit`.

    >>> clean("a\x1b[31m\u202eb")
    'a⟨U+001B⟩[31m⟨U+202E⟩b'
    >>> clean("x" * 500, limit=10)
    'xxxxxxxxxx… (500 characters)'
    """
    whole = text if isinstance(text, str) else str(text)
    limit = display.max_text if limit is None else limit
    shown = whole[:limit]
    if not shown.isprintable():
        shown = "".join(show_active(character) for character in shown)
    return shown if len(whole) <= limit else f"{shown}… ({count(len(whole))} characters)"


# a uuid, or a number of 13 to 19 digits: what CSS clips to its first eight characters
_ID = re.compile(r"([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|(?<!\d)\d{13,19}(?!\d))")


def split_ids(text: str) -> list[tuple[str, bool]]:
    """Text cut at its long ids, each part with whether it is one.

    >>> split_ids("snap-8031123456789012345-m0.avro")
    [('snap-', False), ('8031123456789012345', True), ('-m0.avro', False)]
    """
    parts = enumerate(_ID.split(text))
    return [(part, index % 2 == 1) for index, part in parts if part]


def format_failure(thing: object, error: Exception) -> str:
    """Say what stands where a view failed: the object's one line, and why."""
    try:
        line = repr(thing)
    except Exception as second:  # the same damage may stop the one line too
        line = f"<{type(thing).__name__}: {second}>"
    return f"{clean(line, 500)}\nview failed: {type(error).__name__}: {clean(error, 500)}"


def count(number: int | None) -> str:
    """Give a count with separators; unknown is said.

    >>> count(1564185), count(-3), count(None)
    ('1,564,185', '−3', 'unknown')
    """
    if number is None:
        return "unknown"
    return f"{number:,}".replace("-", MINUS)


def change(number: int) -> str:
    """A count with its sign; zero has none.

    >>> change(5), change(-1200), change(0)
    ('+5', '−1,200', '0')
    """
    return f"+{number:,}" if number > 0 else count(number)


def list_changes(figures: Figures) -> list[str]:
    """Files and rows that a commit removed and added, as it records them: `files −1 +4`; what did not change is left out."""
    words = []
    for noun, gone, came in (
        ("files", figures.removed_files, figures.added_files),
        ("rows", figures.removed_rows, figures.added_rows),
    ):
        signed = [change(amount) for amount in (-(gone or 0), came or 0) if amount]
        if signed:
            words.append(f"{noun} {' '.join(signed)}")
    marked = deleted(figures.deleted, figures.added_equality_deletes)
    return [*words, marked] if marked else words


def amount(known: Amount) -> str:
    """A number of rows as far as it is known; nothing where nothing is known of it.

    >>> from lakelens.model.facts.traits import Amount
    >>> amount(Amount(5, 5)), amount(Amount(0, 5)), amount(Amount(2, 5)), amount(Amount(2, None)), amount(Amount(0, None))
    ('5', 'at most 5', '2 to 5', 'at least 2', '')
    """
    if known.exact is not None:
        return count(known.exact)
    if known.most is None:
        return f"at least {count(known.least)}" if known.least else ""
    return f"{count(known.least)} to {count(known.most)}" if known.least else f"at most {count(known.most)}"


def deleted(rows: Amount | None, values: int | None = None) -> str:
    """Rows that were deleted in files that stay, and the values that rows are deleted by; nothing for none.

    >>> from lakelens.model.facts.traits import Amount
    >>> deleted(Amount(1, 1)), deleted(Amount(0, 100)), deleted(Amount(0, None), 2)
    ('1 row deleted', 'at most 100 rows deleted', 'rows of 2 values deleted')
    """
    if rows is None or rows.most == 0:
        return ""
    known = amount(rows)
    words = [f"{known} row{'' if rows.exact == 1 else 's'} deleted"] if known else []
    if rows.most is None and values:
        words.append(f"rows of {plural(values, 'value')} deleted")
    return ", ".join(words) or "rows deleted, not counted"


def live(rows: LiveRows) -> str:
    """Say how many rows are left: the number, or between which numbers it is.

    >>> from lakelens.model.deletes import LiveRows
    >>> live(LiveRows(8, "", 10, 8, 8)), live(LiveRows(None, "", 10, 0, 10)), live(LiveRows(None, "", 1002, 800, 1002))
    ('8', '≤ 10', '800 to 1,002')
    """
    if rows.count is not None or rows.at_most is None:
        return count(rows.count)
    return f"{count(rows.at_least)} to {count(rows.at_most)}" if rows.at_least else f"≤ {count(rows.at_most)}"


def stored(rows: LiveRows) -> str:
    """What is stored beside the rows that are left, so that it adds up; else why they are not known; nothing where all is.

    >>> from lakelens.model.deletes import LiveRows
    >>> stored(LiveRows(800, "", 1002, 800, 800, deleted=202)), stored(LiveRows(4, "", 9, 4, 4, deleted=2, waiting=3))
    ('1,002 stored, 202 deleted', '9 stored, 2 deleted, 3 wait in level 0')
    """
    if rows.recorded is None or rows.recorded == rows.count:
        return ""
    words = f"{count(rows.recorded)} stored"
    if (
        rows.count is None
        or rows.deleted is None
        or rows.count + rows.deleted + rows.waiting != rows.recorded
    ):
        return f"{words}, {clean(rows.reason)}"
    words += f", {count(rows.deleted)} deleted" if rows.deleted else ""
    return f"{words}, {count(rows.waiting)} wait in level 0" if rows.waiting else words


def size(number: int | None) -> str:
    """Bytes: exact below 10,000, else three digits and a binary unit.

    >>> size(9814), size(19818086), size(None), size(-34304)
    ('9,814 B', '18.9 MiB', 'unknown', '−33.5 KiB')
    """
    if number is None:
        return "unknown"
    return f"{MINUS if number < 0 else ''}{format_size(abs(number))}"


def moment(value: datetime | None, *, exact: bool = False) -> str:
    """A time in UTC, to the second, or to the millisecond when `exact`; one without a zone is shown as it is.

    >>> moment(datetime(2026, 11, 21, 11, 48, 26, 50000, tzinfo=UTC), exact=True)
    '2026-11-21 11:48:26.050'
    """
    if value is None:
        return "unknown"
    moved = value.astimezone(UTC) if value.tzinfo else value
    return moved.strftime("%Y-%m-%d %H:%M:%S") + (f".{moved.microsecond // 1000:03d}" if exact else "")


def share_a_second(times: Iterable[datetime | None]) -> bool:
    """Check whether two of several times are in the same second, so that only their milliseconds distinguish them.

    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> share_a_second([noon, None, noon.replace(microsecond=50_000)]), share_a_second([noon, None, None])
    (True, False)
    """
    seconds = [time.replace(microsecond=0) for time in times if time is not None]
    return len(set(seconds)) < len(seconds)


def duration(milliseconds: int) -> str:
    """A length of time in the largest unit that it has at least two of.

    >>> duration(432_000_000), duration(31_000), duration(90_000)
    ('5 days', '31 s', '90 s')
    """
    for unit, length in (("days", 86_400_000), ("hours", 3_600_000), ("minutes", 60_000)):
        if abs(milliseconds) >= 2 * length:
            return f"{milliseconds / length:,.4g} {unit}"
    return f"{milliseconds / 1000:,.4g} s"


def name_statement(sql: str | None) -> str:
    """Name the kind of a statement of SQL, its first word; empty where that is no word.

    >>> name_statement("insert INTO t VALUES (1)"), name_statement("(SELECT 1)"), name_statement(None)
    ('INSERT', '', '')
    """
    word = ((sql or "").split(None, 1) or [""])[0]
    return word.upper() if word.isascii() and word.isalpha() and len(word) <= 20 else ""


def plural(number: int, noun: str, many: str | None = None) -> str:
    """A count with its noun.

    >>> plural(1, "file"), plural(2, "entry", "entries")
    ('1 file', '2 entries')
    """
    return f"{count(number)} {noun if number == 1 else many or noun + 's'}"


def some(items: Mapping[str, Any], most: int = 3) -> str:
    """The first of a map's items in a line, and how many more there are.

    >>> some({"a": "1", "b": "2"}, most=1)
    'a 1, 1 more'
    """
    listed = list(items.items())
    words = [f"{clean(key, 60)} {clean(held, 40)}" for key, held in listed[:most]]
    return ", ".join([*words, f"{count(len(listed) - most)} more"] if len(listed) > most else words)


def value(thing: object, missing: str = "absent", depth: int = 0) -> str:
    """Format a decoded value as Python would print it, harmless and bounded; what is `missing` is said.

    >>> value([None], "NULL"), value(None), value("a"), value(b"\\x01a"), value(date(2024, 1, 1)), value(True)
    ('[NULL]', 'absent', "'a'", '01 61', '2024-01-01', 'True')
    >>> value(dict.fromkeys(range(60), 0))[-19:]
    ', 49: 0, … 10 more}'
    """
    if depth > DEEPEST:
        return "…"
    if thing is None:
        return missing
    if isinstance(thing, str):
        return clean(repr(thing[: display.max_text])) if len(thing) <= display.max_text else clean(thing)
    if isinstance(thing, bytes | bytearray | memoryview):
        return octets(bytes(thing))
    if isinstance(thing, datetime):
        return clean(thing.isoformat(sep=" "))
    if isinstance(thing, date | FarTime):
        return thing.isoformat()
    if isinstance(thing, Mapping):
        pairs = islice(thing.items(), _MOST_ITEMS)
        return _enclose("{}", (f"{clean(k)}: {value(v, missing, depth + 1)}" for k, v in pairs), len(thing))
    if isinstance(thing, list | tuple | set | frozenset):
        items = islice(thing, _MOST_ITEMS)
        return _enclose("[]", (value(item, missing, depth + 1) for item in items), len(thing))
    if isinstance(thing, int | float) or not type(thing).__module__.startswith("lakelens."):
        return clean(thing)
    return clean(
        repr(thing)
    )  # objects of ours print a whole tree from str(); in a cell their one line is meant


def octets(data: bytes, most: int = 48) -> str:
    """Bytes as hex pairs, at most `most` of them."""
    shown = data[:most].hex(" ")
    return shown if len(data) <= most else f"{shown} … {count(len(data) - most)} more bytes"


def name(path: str | None) -> str:
    """Name the last component of a path, harmless."""
    return clean((path or "").rstrip("/").rsplit("/", 1)[-1])


def _enclose(brackets: str, items: Iterable[str], total: int) -> str:
    """Enclose the first items of a value in brackets, and say how many more there are."""
    more = [f"… {total - _MOST_ITEMS} more"] if total > _MOST_ITEMS else []
    return clean(brackets[0] + ", ".join([*items, *more]) + brackets[1])
