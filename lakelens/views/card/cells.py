"""Small builders of cells and grids that every card uses."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence, Sized
from dataclasses import replace
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from itertools import islice
from math import log10
from typing import Any

from lakelens.model.facts.traits import UNKNOWN, Amount, Place, Vocabulary
from lakelens.options import display
from lakelens.views.card import wording
from lakelens.views.card.glossary import find_meaning
from lakelens.views.card.model import (
    About,
    Bar,
    Block,
    Body,
    Cell,
    Column,
    Gauge,
    Grid,
    Note,
    Pairs,
    Role,
    Strip,
    Target,
)

_SHORT = 12
_AT_LIMIT = 48  # pixels, of every limit
ABSENT = Cell("absent", "mute")
#: The value that a row of a table does not have.
NULL = Cell("NULL", "mute")
#: What begins a new line between the parts of a cell.
BREAK = Cell("\n")


def text(thing: object, role: Role = "") -> Cell:
    """Plain text from a lake."""
    return ABSENT if thing is None else Cell(wording.clean(thing), role, key=_measure(thing))


def code(thing: object) -> Cell:
    """A name, an id, a type, a path: in the code font."""
    return ABSENT if thing is None else Cell(wording.clean(thing), "code", key=_measure(thing))


def _measure(thing: object) -> object:
    """Measure what a thing is sorted by other than its text."""
    return thing if isinstance(thing, int | float | Decimal | date) else None


def codes(*things: object) -> tuple[Cell, ...]:
    """Several of them side by side."""
    return tuple(code(thing) for thing in things)


def value(thing: object, missing: str = "absent") -> Cell:
    """A decoded value; a number in it is never clipped like an id. `missing` is said of what is none inside of it."""
    if thing is None:
        return ABSENT
    return Cell(wording.value(thing, missing), _choose_role(thing), key=_measure(thing))


def _choose_role(thing: object) -> Role:
    return "exact" if _is_number(thing) else "code"


def _is_number(thing: object, levels: int = wording.DEEPEST) -> bool:
    """Check whether a value is a number, the digits of one, or made of such values alone, as deep as values are written."""
    if isinstance(thing, Mapping | list | tuple):
        parts = thing.values() if isinstance(thing, Mapping) else thing
        return levels > 0 and all(_is_number(part, levels - 1) for part in parts)
    return thing.lstrip("-").isdecimal() if isinstance(thing, str) else not isinstance(thing, bytes)


def values(*things: object) -> tuple[Cell, ...]:
    """Several decoded values side by side."""
    return tuple(value(thing) for thing in things)


def number(amount: int | None) -> Cell:
    """A count; zero and unknown are muted."""
    return Cell(wording.count(amount), "" if amount else "mute", key=amount)


def size(amount: int | None) -> Cell:
    """Bytes, with the exact number for those who hover."""
    exact = f"{amount:,} bytes" if amount is not None and abs(amount) >= 10_000 else ""
    return Cell(wording.size(amount), "" if amount else "mute", exact, key=amount)


def added(amount: int) -> Cell:
    """Say what came."""
    return Cell(wording.change(amount), "add" if amount else "mute", key=amount)


def removed(amount: int) -> Cell:
    """Say what went."""
    return Cell(wording.change(-amount), "del" if amount else "mute", key=amount)


def deleted(rows: Amount | None, values: int | None) -> Cell:
    """Rows that were deleted in files that stay."""
    if rows is None:
        return number(None)
    if rows.exact is not None:
        return removed(rows.exact)
    if rows.most is not None:
        return Cell(f"{wording.change(-rows.most)} at most", "del", key=rows.most)
    known = f"{wording.change(-rows.least)} at least" if rows.least else ""
    by = f"by {wording.plural(values, 'value')}" if values else ""
    return Cell(", ".join(filter(None, (known, by))) or "unknown", "del", key=rows.least)


def changed(amount: int) -> Cell:
    """A net change."""
    return added(amount) if amount >= 0 else replace(removed(-amount), key=amount)


def added_size(amount: int) -> Cell:
    """Bytes that came."""
    return _sign(size(amount), "add", "+") if amount else size(0)


def removed_size(amount: int) -> Cell:
    """Bytes that went."""
    return _sign(size(amount), "del", wording.MINUS) if amount else size(0)


def changed_size(amount: int) -> Cell:
    """A net change of bytes."""
    return added_size(amount) if amount >= 0 else replace(removed_size(-amount), key=amount)


def _sign(cell: Cell, role: Role, sign: str) -> Cell:
    return Cell(sign + cell.text, role, cell.title, key=cell.key)


def optional(thing: object) -> Cell:
    """An id or a number that the format may not have."""
    return ABSENT if thing is None else Cell(wording.clean(thing), key=_measure(thing))


def optional_number(amount: int | None) -> Cell:
    """A count that the format may not have."""
    return ABSENT if amount is None else number(amount)


def join(*parts: Cell) -> Cell:
    """Cells side by side in one, each by its own role; a line break is said with "; " where there are no lines.

    >>> join(code("status"), Cell(" "), Cell("'paid'", "changed"), BREAK, Cell("row 3", "small")).text
    "status 'paid'; row 3"
    """
    said = "".join("; " if part is BREAK else part.text for part in parts)
    return Cell(said, parts=parts)


def explain(cell: Cell, small: str, target: Target | None = None) -> Cell:
    """Explain a cell with small print in a second line, where there is any; `target` is what that names.

    >>> explain(Cell("rewrite_data_files"), "lakelens").text
    'rewrite_data_files; lakelens'
    """
    if not small:
        return cell
    printed = Cell(wording.clean(small), "small", target=target)
    return join(*(cell.parts or (cell,)), BREAK, printed) if cell.text else join(printed)


def state(word: str) -> Cell:
    """A word of state; colour repeats what it says."""
    upper = word.upper()
    came = upper in ("ADDED", "ADD", "NEW")
    went = upper in ("DELETED", "DELETE", "DROPPED", "REMOVED")
    return Cell(wording.clean(word, 40), "add" if came else "del" if went else "")


def moment(time: datetime | None, *, exact: bool = False) -> Cell:
    """A time in UTC, exact for those who hover."""
    if time is None:
        return ABSENT
    shown, title = wording.moment(time, exact=exact), f"{wording.moment(time, exact=True)} UTC"
    return Cell(shown, "", "" if exact else title, key=time)


def moments(times: Sequence[datetime | None]) -> list[Cell]:
    """The times of a column in UTC: to the second, and all to the millisecond where rows share a second.

    >>> from datetime import UTC, datetime
    >>> noon = datetime(2026, 11, 21, 12, tzinfo=UTC)
    >>> [cell.text for cell in moments([noon, noon.replace(microsecond=50_000)])]
    ['2026-11-21 12:00:00.000', '2026-11-21 12:00:00.050']
    """
    exact = wording.share_a_second(times)
    return [moment(time, exact=exact) for time in times]


def json_value(thing: object) -> Cell:
    """A value of a JSON document as JSON words it."""
    import json

    text = wording.clean(json.dumps(thing, ensure_ascii=False, default=_format_raw))
    return Cell(text, _choose_role(thing))


def stored(thing: object, place: Place, vocabulary: Vocabulary) -> Cell:
    """A value of a document as it is stored, and beside it what its format says that it means: a time as a time.

    >>> stored(1795261674986, ("at-ms",), Vocabulary({"at-ms": "time"})).text
    '1795261674986 2026-11-21 11:47:54.986'
    """
    small, kind = vocabulary.find_special(place, thing), vocabulary.find_kind(place, thing)
    if not small and kind == "time":
        small = wording.moment(read_milliseconds(thing), exact=True)
    elif not small and kind == "duration":
        small = wording.duration(int(str(thing)))
    elif not small and kind == "id":
        return code(thing)
    return join(Cell(str(thing), "exact"), Cell(" "), Cell(small, "small")) if small else json_item(thing)


def read_milliseconds(thing: object) -> datetime | None:
    """Read the time that milliseconds since 1970 are; None beyond the years that Python has."""
    try:
        return datetime(1970, 1, 1, tzinfo=UTC) + timedelta(milliseconds=int(str(thing)))
    except (ValueError, OverflowError):
        return None


def grid(
    columns: Sequence[str | Column],
    rows: Iterable[Sequence[Cell]],
    *,
    how: str = "",
    noun: str | tuple[str, str] = "row",
    total: int | None = None,
    about: About = (),
    is_open: bool = False,
    totals: Sequence[Sequence[Cell]] = (),
    groups: Sequence[tuple[int, str]] = (),
    target: Target | None = None,
) -> Grid:
    """Make a bounded grid.

    A column name that ends in `#` holds numbers, one that ends in `!` short words. `total` counts rows also where only the
    first ones were made. The names of the columns of an `open` grid are a lake's own. `groups` are headings, each with the
    place of the row that it stands above. `how` and `target` lead to the rows that are left out.
    """
    # where the others are counted no more are made than are shown
    listed = [tuple(row) for row in (rows if total is None else islice(rows, display.max_rows))]
    shown = tuple(listed[: display.max_rows])
    made = []
    for i, column in enumerate(columns):
        if not isinstance(column, Column):
            is_number = column.endswith("#")
            name = column.removesuffix("#") if is_number else column.removesuffix("!")
            column = Column(name, is_number=is_number, is_short=column.endswith("!"))
        if shown and not column.is_number and max(len(row[i].text) for row in shown) <= _SHORT:
            column = replace(column, is_short=True)  # a column of short words is not broken
        made.append(column)
    left = (len(listed) if total is None else total) - len(shown)
    one, many = (noun, f"{noun}s") if isinstance(noun, str) else noun
    more = f"… {wording.count(left)} more {one if left == 1 else many}" if left > 0 else ""
    sums = tuple(tuple(row) for row in totals)
    headings = tuple((place, name) for place, name in groups if place < len(shown))
    return Grid(tuple(made), shown, more, how if more else "", about, is_open, sums, headings, target=target)


def bars(changes: Sequence[tuple[int, int]]) -> list[Cell]:
    """A bar for each pair of what went and what came, all on one scale; what is not nothing is at least 1 pixel."""
    longest = max((max(pair) for pair in changes), default=0) or 1
    return [Cell("", bar=Bar(_scale(gone, longest), _scale(came, longest))) for gone, came in changes]


def shares(parts: Sequence[int | None], wholes: Sequence[int | None]) -> list[Cell]:
    """A bar for each part of its whole; none where either is unknown, nor where there is nothing to compare with."""
    if len(parts) < 2:
        return [Cell("") for _ in parts]
    return [
        Cell("", bar=Bar(0, _scale(min(part, whole), whole), is_share=True)) if part and whole else Cell("")
        for part, whole in zip(parts, wholes, strict=True)
    ]


def gauge(amount: float | None, limit: float | None) -> Cell:
    """A bar beside its limit, which stands at the same place in every row; cut at twice the limit.

    >>> gauge(5, 10).bar, gauge(1, 1_000).bar, gauge(50, 10).bar
    (Gauge(length=24, is_cut=False), Gauge(length=1, is_cut=False), Gauge(length=96, is_cut=True))
    """
    if amount is None or limit is None:
        return Cell("")
    if limit <= 0:
        return Cell("", bar=Gauge(96 if amount > 0 else 0, amount > 0))
    length = round(_AT_LIMIT * amount / limit) if amount < 2 * limit else 2 * _AT_LIMIT
    return Cell("", bar=Gauge(max(length, 1 if amount > 0 else 0), amount > 2 * limit))


def strip(amounts: Sequence[float], decade: int) -> Cell:
    """Strokes at some amounts of 1 or more, on a logarithmic axis with `decade` pixels from 1 to 10; the last is the worst.

    >>> strip([1, 10, 31.6, 100], 70).bar
    Strip(places=(0, 70, 105, 140))
    """
    places = (round(decade * log10(max(amount, 1))) for amount in amounts)
    return Cell("", bar=Strip(tuple(places)))


def _scale(amount: int, longest: int) -> int:
    return max(round(40 * amount / longest), 1) if amount > 0 else 0


def prune(full: Grid) -> Grid:
    """Prune the grid without the columns that say nothing in any row."""
    kept = [
        index
        for index in range(len(full.columns))
        if any(row[index].bar or row[index].text not in _SILENT for row in full.rows)
    ]
    columns = tuple(full.columns[index] for index in kept)
    rows, totals = (tuple(tuple(row[i] for i in kept) for row in part) for part in (full.rows, full.totals))
    return replace(full, columns=columns, rows=rows, totals=totals)


_SILENT = ("", "absent", "unknown")


def pairs(items: Iterable[tuple[str, Cell]], about: About = (), *, is_open: bool = False) -> Pairs:
    """Names with values. The names of `open` pairs are a lake's own."""
    return Pairs(tuple((wording.clean(name, 80), cell) for name, cell in items), about, is_open)


def mapping(items: Mapping[str, Any], *, how: str, about: About = ()) -> Grid:
    """Show a map of a lake's own strings as key and value; keys that the glossary knows have their meaning."""
    rows = []
    for name, item in items.items():
        key = code(str(name))
        if about:
            key = replace(key, meaning=find_meaning(str(name), about))
        rows.append((key, value(item)))
    return grid(("key", "value"), rows, how=how, noun="key")


def hint(text: str, typed: str, target: Target | None = None, words: str = "") -> Note:
    """Say what to type for more, in small print; a view with links has `words` instead, which lead to the target."""
    return Note(text, "mute", typed, target, words)


def fields(
    raw: Mapping[str, Any], about: About = (), *, how: str = "", skip: Sequence[str] = ()
) -> list[Body]:
    """A stored record, key by key under its specified names; what it leaves empty is only named."""
    known = getattr(raw, "vocabulary", None) or UNKNOWN
    filled = [
        (str(key), stored(held, (str(key),), known))
        for key, held in raw.items()
        if key not in skip and held is not None
    ]
    absent = [str(key) for key, held in raw.items() if key not in skip and held is None]
    shown = filled[: display.max_rows * 3]
    bodies: list[Body] = [pairs(shown, about)]
    if len(filled) > len(shown):
        left = f"… {wording.count(len(filled) - len(shown))} more keys"
        bodies.append(hint(left, how, words=left))
    if absent:
        bodies.append(Note(f"null: {', '.join(wording.clean(key, 80) for key in absent[:40])}", "mute"))
    return bodies


def json_item(thing: object) -> Cell:
    """A value of a document in one line: texts and numbers as they are, larger things by their size."""
    if isinstance(thing, bytes):
        return value(thing)
    if isinstance(thing, Mapping) and _is_long(thing):
        return Cell(f"{{{wording.plural(len(thing), 'key')}}}", "mute")
    if isinstance(thing, list | tuple) and _is_long(thing):
        return Cell(f"[{wording.plural(len(thing), 'item')}]", "mute")
    return json_value(thing)


def _is_long(thing: Sized) -> bool:
    """Check whether a value takes more than a line; one with many items is not written out to find out."""
    return len(thing) > 60 or len(str(thing)) > 120


def document(raw: object, most: int = 6_000, how: str = ".raw or .metadata") -> Block:
    """A raw JSON document, indented and bounded."""
    import json

    whole = json.dumps(raw, indent=2, ensure_ascii=False, default=_format_raw)
    lines = [wording.clean(line, 500) for line in whole[:most].split("\n")]
    if len(whole) > most:
        lines.append(f"… {len(whole) - most:,} more characters: {how}")
    return Block("\n".join(lines))


def _format_raw(thing: object) -> str:
    return wording.octets(thing) if isinstance(thing, bytes) else wording.value(thing)
