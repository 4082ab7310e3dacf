"""What decides a verdict, worked out without lakelens: limits of engines, of properties and of predicates."""

from __future__ import annotations

import operator
import re
from datetime import date
from typing import Any

SENSES: dict[str, Any] = {
    "≤": operator.le,
    "≥": operator.ge,
    "<": operator.lt,
    ">": operator.gt,
    "=": operator.eq,
    "≠": operator.ne,
    "∉": lambda figure, limit: figure not in limit,
    "∈": lambda figure, limit: figure in limit,
}
_WORDS = {
    "recorded": ("as recorded", ("differs",)),
    "compared": ("the same", ("different",)),
    "predicate": ("ruled out", ("not ruled out",)),
    **dict.fromkeys(("lakelens", "default", "property"), ("good", ("act", "watch"))),
}
#: What engines do where a table says nothing, from their documentation; files of lakelens's own limits are in its docs.
_MIB = 1 << 20
_DEFAULTS = {
    "delete-ratio-threshold of rewrite_data_files": ("<", 0.3),
    "commit.manifest.min-count-to-merge": ("≤", 100),
    "history.expire.max-snapshot-age-ms": ("≤", 5 * 24 * 3600),
    "write.metadata.previous-versions-max, and the one in use": ("≤", 101),
    "75 % of write.target-file-size-bytes": ("≥", 384 * _MIB),
    "manifest.merge-min-count": ("≤", 30),
    "snapshot.time-retained": ("≤", 3600),
    "70 % of target-file-size": ("≥", int(0.7 * 128 * _MIB)),
    "autoCompact.minFileSize": ("≥", 64 * _MIB),
    "optimize.maxDeletedRowsRatio": ("≤", 0.05),
    "delta.checkpointInterval": ("≤", 10),
    "hive.merge.smallfiles.avgsize": ("≥", 16_000_000),
}
_OWN = {
    "metadata.json, size": ("≤", 4 * _MIB),
    "checkpoint, size": ("≤", 100 * _MIB),
    "file size, median": ("≥", int(0.75 * 128 * _MIB)),
}
_UNITS = {"": 1, "b": 1, "k": 1 << 10, "kb": 1 << 10, "m": _MIB, "mb": _MIB, "g": 1 << 30, "gb": 1 << 30}
_SECONDS = {"ms": 0.001, "s": 1, "min": 60, "m": 60, "h": 3600, "d": 86400}
#: By the test of a comparison, what shows of each fact that no row fits.
_RULES_OUT = {
    "=": {("lower", ">"), ("upper", "<"), ("value", "≠")},
    "<": {("lower", "≥"), ("value", "≥")},
    "<=": {("lower", ">"), ("value", ">")},
    ">": {("upper", "≤"), ("value", "≤")},
    ">=": {("upper", "<"), ("value", "<")},
    "!=": {("value", "=")},
    "<>": {("value", "=")},
}
_TERM = re.compile(r"\s*(?:[\w.\"]+|`[^`]*`)\s*(<=|>=|<>|!=|=|<|>)\s*(.+?)\s*", re.S)
_LIST = re.compile(r"\s*(?:[\w.\"]+|`[^`]*`)\s+(NOT\s+)?IN\s*\((.*)\)\s*", re.S | re.I)


def check_limit(claim: dict[str, Any], stored: Any) -> None:
    """The words and the limit of a rule are those of its source; `stored` is the property that sets it."""
    rule = claim["rule"]
    kept, broken = _WORDS[rule["of"]]
    assert rule["kept"] == kept
    assert rule["broken"] in broken
    words = rule.get("words", "")
    if rule["of"] in ("recorded", "compared"):
        assert rule["sense"] == "="
    elif rule["of"] == "predicate":
        check_term(claim["says"].rpartition(": ")[2], rule["sense"], rule["limit"], words)
    elif rule["of"] == "default":
        known = [limit for text, limit in _DEFAULTS.items() if words.startswith(text)]
        assert (rule["sense"], rule["limit"]) in known, f"no such default: {words} {rule['limit']}"
    elif rule["of"] == "lakelens":
        assert _OWN[claim["says"]] == (rule["sense"], rule["limit"])
    else:
        assert stored is not None, "the property is not cited"
        assert rule["limit"] == read_property(str(stored), words), f"{words} is {stored}"


def read_property(text: str, words: str) -> Any:
    """The limit that a property sets: a number, a size or a duration, and what of it."""
    match = re.fullmatch(r"\s*([\d.]+)\s*([a-z]*)\s*", text.lower())
    assert match is not None, text
    number = float(match[1])
    if "-ms" in words:
        return number / 1000
    if "time" in words:
        return number * _SECONDS[match[2] or "ms"]
    number *= _UNITS[match[2]]
    percent = re.match(r"(\d+) % of ", words)
    if percent:
        return int(number * int(percent[1]) / 100)
    return max(number, 1) + ("the one in use" in words)


def read_literal(text: str) -> Any:
    text = text.strip()
    dated = re.fullmatch(r"DATE\s*'(.*)'|CAST\('(.*)' AS DATE\)", text, re.I)
    if dated:
        return date.fromisoformat(dated[1] or dated[2]).isoformat()
    if text.startswith("'"):
        return text[1:-1].replace("''", "'")
    return int(text)


def check_term(fact: str, sense: str, limit: Any, term: str) -> None:
    """A fact that stands so to the limit shows that no row fits the comparison, as it was written."""
    name = fact.split(" ")[0]
    if fact == "nulls of the column":
        assert re.fullmatch(r".*\bIS NULL", term.strip(), re.I), term
        assert (sense, limit) == ("=", 0)
        return
    if fact == "nulls of all values":
        assert sense == "=", sense
        assert not re.fullmatch(r".*\bIS NULL", term.strip(), re.I), term
        return
    several = _LIST.fullmatch(term)
    if several:
        literals = [read_literal(part) for part in several[2].split(",")]
        expected: dict[tuple[str, str], Any] = {
            ("value", "∈" if several[1] else "∉"): literals,
            ("lower", ">"): max(literals),
            ("upper", "<"): min(literals),
        }
        given = sorted(limit) if name == "value" else limit
        wanted = expected[name, sense]
        assert given == (sorted(set(wanted)) if name == "value" else wanted), (fact, sense, limit, term)
        assert name == "value" or not several[1], term
        return
    compared = _TERM.fullmatch(term)
    assert compared is not None, f"{term} is no comparison"
    assert (name, sense) in _RULES_OUT[compared[1]], (fact, sense, term)
    assert read_literal(compared[2]) == limit, (limit, term)
