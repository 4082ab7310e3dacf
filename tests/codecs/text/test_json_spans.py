"""JSON documents byte by byte: against json.loads over generated documents, and damage that names the place."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from lakelens.codecs.kinds import choose_kind
from lakelens.codecs.span.span import Span
from lakelens.codecs.text.json_spans import GROUP, MAX_DEPTH, explain_json, find_json
from lakelens.errors import Corrupt
from tests.support.span_checks import assert_survives, assert_tiles, find_error

SCALARS = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec=None, categories=None), max_size=8)  # lone surrogates too
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=5), inner, max_size=4),
    max_leaves=20,
)


def written(value: Any, indent: int | None, ascii_only: bool) -> bytes:
    try:
        return json.dumps(value, indent=indent, ensure_ascii=ascii_only).encode()
    except UnicodeEncodeError:  # a lone surrogate can be written as an escape only
        return json.dumps(value, indent=indent).encode()


def rebuilt(span: Span) -> Any:
    """The value of an explanation put together from its scalar leaves alone."""
    if span.is_leaf:
        return span.value
    parts = span.children
    if span.label[1:-1].isdigit() and parts[0].label == span.label:  # an item with the comma behind it
        return parts[0].value
    items = [part for part in parts[1:-1] if not part.role]
    if (parts[0].label, parts[-1].label) == ("{", "}"):
        return {item.children[0].value: rebuilt(find_json(item, ())) for item in items}
    assert (parts[0].label, parts[-1].label) == ("[", "]")
    return [rebuilt(item) for item in items]


@pytest.mark.parametrize("key", ["{", "[", ",", ":", "key", "value", "}", "[0]", "[0] to [9]", ""])
@pytest.mark.parametrize("value", [None, 5, "{", {}, [1, 2], {"{": {}}, {"key": "["}])
def test_keys_that_look_like_labels(key: str, value: Any) -> None:
    for whole, steps in (({key: value, "z": 1}, (key,)), ([{key: value}, 2], (0, key))):
        root = explain_json(json.dumps(whole).encode())
        root.check()
        assert find_json(root, steps).value == value
        assert rebuilt(find_json(root, ())) == whole


@settings(max_examples=200)
@given(
    VALUES, st.sampled_from([None, 0, 2]), st.booleans(), st.sampled_from([b"", b" \r\n\t"]), st.booleans()
)
def test_documents_of_any_value(
    value: Any, indent: int | None, ascii_only: bool, blanks: bytes, has_mark: bool
) -> None:
    data = (b"\xef\xbb\xbf" if has_mark else b"") + blanks + written(value, indent, ascii_only) + blanks
    root = explain_json(data)
    assert_tiles(root, 0, len(data))
    root.check()
    assert root.value == value
    assert rebuilt(find_json(root, ())) == value


@settings(max_examples=150)
@given(
    st.binary(max_size=40) | st.text('{}[]",:0123456789.eE-+ \ntruefalsn\\uNaI', max_size=40).map(str.encode)
)
def test_any_bytes_are_a_document_or_damage(data: bytes) -> None:
    root = explain_json(data)
    assert_tiles(root, 0, len(data))
    try:
        expected = json.loads(data.decode("utf-8-sig"), parse_constant=pytest.fail)
    except (ValueError, pytest.fail.Exception):
        error = find_error(root)
        assert isinstance(error, Corrupt) and error.offset is not None
        with pytest.raises(Corrupt):
            _ = root.value
    else:
        root.check()
        assert root.value == expected


DOCUMENT = written(
    {"snapshots": [{"snapshot-id": 2**53 + 1, "summary": {"a b": "\ud800é"}}, {}], "é": [1.5, [], None]},
    1,
    False,
)


def test_cut_and_flipped() -> None:
    assert_survives(explain_json, DOCUMENT, flips=400)


def test_names_paths_and_exact_ids() -> None:
    root = explain_json(DOCUMENT)
    leaf = root.find(DOCUMENT.index(b"9007199254740993") + 3)
    assert (leaf.label, leaf.value, leaf.note) == ("snapshot-id", 2**53 + 1, "$.snapshots[0].snapshot-id")
    assert find_json(root, ("snapshots", 0, "summary", "a b")).note == '$.snapshots[0].summary["a b"]'
    item = find_json(root, ("snapshots", 1))
    assert (item.label, item.value) == ("[1]", {})
    for missing in (("a",), ("snapshots", 2), ("snapshots", "a"), ("snapshots", 0, "snapshot-id", 0)):
        with pytest.raises(KeyError):
            find_json(root, missing)


def test_of_a_key_that_comes_twice_the_last_counts() -> None:
    root = explain_json(b'{"a": 1, "key": {"key": 4}, "a": 2}')
    assert root.value["a"] == find_json(root, ("a",)).value == 2
    assert find_json(root, ("key", "key")).value == 4
    assert "comes again" in root.find(30).note or "comes again" in root.trace(30)[-2].note


@pytest.mark.parametrize(
    "word", [b"NaN", b"Infinity", b"-Infinity", b"nan", b"01", b"1.", b"+1", b"tru", b""]
)
def test_what_is_no_json_is_told(word: bytes) -> None:
    error = find_error(explain_json(b'{"a": ' + word + b"}"))
    assert isinstance(error, Corrupt) and error.offset == 6


def test_bytes_that_are_not_utf8_are_named() -> None:
    error = find_error(explain_json(b'["ab\xff"]'))
    assert isinstance(error, Corrupt) and error.offset == 4
    assert find_error(explain_json(b"xx[1]yy", 2, 5)) is None


@pytest.mark.parametrize("opening", [b"[", b'{"a":', b'[{"a":'])
def test_nesting_without_end_is_bounded(opening: bytes) -> None:
    data = opening * 100_000
    root = explain_json(data)
    assert isinstance(find_error(root), Corrupt)
    assert sum(len(leaf) for leaf in root.leaves()) == len(data)
    with pytest.raises(Corrupt):
        _ = root.value
    deepest = b"[" * MAX_DEPTH + b"]" * MAX_DEPTH
    assert find_error(explain_json(deepest)) is None
    assert find_error(explain_json(b"[" + deepest + b"]")) is not None


@pytest.mark.parametrize("count", [GROUP, GROUP + 1, 2 * GROUP])
def test_long_lists_come_in_groups(count: int) -> None:
    for value in (list(range(count)), {f"k{i}": [i] for i in range(count)}):
        data = json.dumps(value).encode()
        root = explain_json(data)
        root.check()
        assert_tiles(root, 0, len(data))
        container = find_json(root, ())
        assert len(container.children) <= 2 + 3 * GROUP
        last = count - 1
        if isinstance(value, list):
            assert [find_json(root, (i,)).value for i in (0, last // 2, last)] == [0, last // 2, last]
        else:
            assert find_json(root, (f"k{last}", 0)).value == last
        cut = explain_json(data[:-1])
        assert_tiles(cut, 0, len(data) - 1)
        assert find_error(cut) is not None


def test_a_large_document_is_not_made_at_once() -> None:
    data = json.dumps([{"snapshot-id": i, "summary": {"added": str(i)}} for i in range(30_000)]).encode()
    root = explain_json(data)
    span = find_json(root, (14_321, "summary", "added"))
    assert span.value == "14321"
    assert sum(len(part.children) for part in root.trace(span.start)) < 3 * 2000 + 200


def test_rows_as_json_are_lines() -> None:
    data = b'{"a": 1}\r\n\n{"a": [2]}\n{"a": 3}'
    assert choose_kind(data) == "json_lines"
    assert choose_kind(b'{"a":\n1}') == choose_kind(b'{"a": 1}\n') == "json"
