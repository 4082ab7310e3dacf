"""The widget of an explanation, on the side of Python: what it gives to the browser and takes from it."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import html5lib
import pytest
import traitlets

from lakelens.codecs.span.span import Span
from lakelens.errors import Corrupt
from lakelens.model.bytes_view import BytesView
from lakelens.widgets.bytes import BytesWidget
from tests.browser.host import ask
from tests.views.test_bytes import Zeros, make_endless, make_packed, make_row
from tests.views.test_hostile import HOSTILE


def make_blocks(count: int = 30, *, asked: list[int] | None = None) -> BytesView:
    """A file of blocks of records of fields, each made when it is asked for."""

    def make_records(start: int) -> Iterator[Span]:
        for at in range(start, start + 100, 50):
            yield Span(at, at + 50, "record", None, "", lambda at=at: make_fields(at))

    def make_fields(start: int) -> Iterator[Span]:
        if asked is not None:
            asked.append(start)
        for at in range(start, start + 50):
            yield Span(at, at + 1, f"field {at}", at % 100, "uint8")

    blocks = [
        Span(at, at + 100, f"block {at // 100}", None, "two records", lambda at=at: make_records(at))
        for at in range(0, count * 100, 100)
    ]
    return BytesView(bytes(count * 100), Span(0, count * 100, "file", None, "blocks", blocks))


def test_the_state_is_small_json() -> None:
    for explanation in (make_row(), make_blocks(), BytesView(Zeros(10**12), make_endless(10**12))):
        widget = explanation.widget()
        text = json.dumps(widget.view)
        assert json.loads(text) == widget.view
        assert len(text) < 65_536


def test_nothing_behind_a_fold_is_made_before_it_is_opened() -> None:
    asked: list[int] = []
    widget = make_blocks(asked=asked).widget()
    before = len(asked)
    folds = [row for row in widget.view["rows"] if row["kind"] == "fold" and not row["loaded"]]
    assert len(folds) == 30
    (answer,) = ask(widget, {"type": "open", "id": folds[3]["id"]})
    assert answer["type"] == "rows"
    assert answer["id"] == folds[3]["id"]
    assert all(row["depth"] >= 1 for row in answer["rows"])
    assert [row["label"] for row in answer["rows"] if row["kind"] == "fold"] or answer["rows"][0][
        "kind"
    ] == "title"
    assert len(asked) - before < 20


def test_what_is_answered_once_stays_the_same() -> None:
    widget = make_blocks().widget()
    fold = next(row for row in widget.view["rows"] if row["kind"] == "fold")
    assert ask(widget, {"type": "open", "id": fold["id"]}) == ask(widget, {"type": "open", "id": fold["id"]})


def test_all_that_was_left_out_can_be_asked_for() -> None:
    widget = BytesView(bytes(300), make_endless(300)).widget()
    rows = list(widget.view["rows"])
    while rows[-1]["kind"] == "more":
        (answer,) = ask(widget, {"type": "open", "id": rows.pop()["id"]})
        rows += answer["rows"]
    assert [row["field"] for row in rows] == [f"f{n}" for n in range(300)]
    assert len({row["id"] for row in rows}) == 300


@pytest.mark.parametrize(
    "content",
    [None, "open", {}, {"type": "open"}, {"type": "open", "id": 7}, {"type": "close", "id": "r1"}, [1]],
)
def test_messages_of_another_kind_are_ignored(content: Any) -> None:
    assert ask(make_blocks().widget(), content) == []


def test_an_unknown_row_is_answered_in_words() -> None:
    (answer,) = ask(make_blocks().widget(), {"type": "open", "id": "r999999"})
    assert answer["rows"] == []
    assert "at(offset)" in answer["message"]


def test_a_fold_that_fails_is_answered_in_words() -> None:
    def fail() -> Iterator[Span]:
        raise OSError("the disk is gone")
        yield

    spans = [
        Span(n, n + 1, f"s{n}", None, "", lambda n=n: [Span(n, n + 1, "a", children=list)]) for n in range(80)
    ]
    explanation = BytesView(bytes(80), Span(0, 80, "file", children=spans))
    widget = explanation.widget()
    fold = next(row for row in widget.view["rows"] if row["kind"] in ("fold", "more"))
    source = widget._rows._sources[fold["id"]]
    widget._rows._sources[fold["id"]] = (Span(0, 1, "broken", children=fail), *source[1:2])
    (answer,) = ask(widget, {"type": "open", "id": fold["id"]})
    assert answer["rows"] == []
    assert "OSError: the disk is gone" in answer["message"]


def test_damage_behind_a_fold_is_told() -> None:
    def make() -> Iterator[Span]:
        yield Span(0, 40, "good", None, "", lambda: [Span(n, n + 1, "v", n) for n in range(40)])
        raise Corrupt("cut short", offset=40)

    blocks = [Span(0, 50, "block", None, "", make), *(Span(n, n + 1, f"v{n}", n) for n in range(50, 130))]
    widget = BytesView(bytes(130), Span(0, 130, "file", children=blocks)).widget()
    fold = next(row for row in widget.view["rows"] if row["kind"] == "fold")
    rows = ask(widget, {"type": "open", "id": fold["id"]})[0]["rows"]
    told = "".join(text for row in rows if row["kind"] == "line" for text, _ in row["meaning"])
    assert "ERROR: cut short (at byte 40)" in told


def test_selected_and_span_are_two_sides_of_one_thing() -> None:
    row = make_row()
    widget = row.widget()
    assert widget.selected is None
    assert widget.span is None
    widget.select(30)
    assert widget.selected == {"start": 28, "end": 38, "label": "text", "code": ""}
    assert widget.span is not None
    assert widget.span.value == "helloworld"
    widget.selected = {"start": 12, "end": 20, "label": "id"}
    assert widget.span.value == 7
    widget.select(None)
    assert widget.selected is None


def test_spans_of_decompressed_bytes_can_be_selected() -> None:
    inner = Span(0, 3, "records", None, "1 record", (Span(0, 1, "id", 5, "varint"), Span(1, 3, "name", "ab")))
    widget = make_packed(inner, b"\x0aab").widget()
    line = next(row for row in widget.view["rows"] if row.get("name") == "name")
    assert line["code"] == ".unpacked(4)"
    widget.selected = {name: line[name] for name in ("start", "end", "code")} | {"label": line["name"]}
    assert widget.span is not None
    assert widget.span.value == "ab"


def find(widget: BytesWidget, words: str, *, again: bool = False) -> Any:
    (answer,) = ask(widget, {"type": "find", "words": words, "again": again})
    return answer


def read_row(widget: BytesWidget, answer: Any) -> Any:
    """The row that an answer leads to; every fold on the way was given with its rows."""
    assert answer["type"] == "reveal", answer
    rows = {row["id"]: row for row in widget.view["rows"]}
    for identifier, given in answer["opened"]:
        assert identifier in rows, "from the outermost inwards"
        rows |= {row["id"]: row for row in given}
    return rows[answer["row"]]


def test_a_search_goes_from_hit_to_hit_by_name_value_and_bytes() -> None:
    widget = make_row().widget()
    assert read_row(widget, find(widget, "HELLO"))["field"] == "name", "by its value"
    widget = make_row().widget()
    first = read_row(widget, find(widget, "id"))
    assert first["field"] == "id"
    assert read_row(widget, find(widget, "0x68656c6c6f"))["field"] == "name"
    assert read_row(widget, find(widget, "68 65 6c"))["name"] == "name"
    names = [span.label for span in make_row().walk() if "bits" in span.label]
    found = [read_row(widget, find(widget, "bits", again=True)) for _ in names]
    assert found
    assert "from the beginning again" in find(widget, "bits", again=True)["message"]
    assert "nowhere" in find(widget, "no such thing")["message"]
    assert "nowhere" in find(widget, "no such thing", again=True)["message"]
    assert "search for a name" in find(widget, " ")["message"]


def test_a_hit_deep_in_closed_folds_is_led_to() -> None:
    asked: list[int] = []
    widget = make_blocks(asked=asked).widget()
    row = read_row(widget, find(widget, "field 2851"))
    assert (row["kind"], row["field"], row["start"]) == ("line", "field 2851", 2851)
    assert find(widget, "block 7")["row"] != row["id"]
    (answer,) = ask(widget, {"type": "go", "text": "0x2bc", "origin": 0})
    assert read_row(widget, answer)["field"] == "field 700"
    (answer,) = ask(widget, {"type": "go", "text": "+12", "origin": 700})
    assert read_row(widget, answer)["field"] == "field 712"
    for text, words in (
        ("3000", "is not among bytes 0 to 2,999"),
        ("x", "an offset is 28"),
        ("-1", "not among"),
    ):
        (answer,) = ask(widget, {"type": "go", "text": text, "origin": 0})
        assert words in answer["message"]


def test_an_offset_far_in_a_long_list_leaves_out_what_is_between() -> None:
    widget = BytesView(bytes(100_000), make_endless(100_000)).widget()
    (answer,) = ask(widget, {"type": "go", "text": "90,000"})
    assert read_row(widget, answer)["field"] == "f90000"
    assert sum(len(rows) for _, rows in answer["opened"]) < 200
    (skipped,) = [
        row for _, rows in answer["opened"] for row in rows if "left out here" in row.get("text", "")
    ]
    assert skipped["kind"] == "more"
    (answer,) = ask(widget, {"type": "open", "id": skipped["id"]})
    first = answer["rows"][0]
    assert first["field"] == f"f{first['start']}"
    assert answer["rows"][-1]["kind"] == "more", "and so on, as far as one likes"
    (answer,) = ask(widget, {"type": "go", "text": str(first["start"] + 500)})
    assert read_row(widget, answer)["field"] == f"f{first['start'] + 500}"


def test_an_endless_search_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lakelens.widgets.bytes._SECONDS", 0.05)
    widget = BytesView(Zeros(10**12), make_endless(10**12)).widget()
    answer = find(widget, "nothing")
    assert "goes on searching" in answer["message"]
    assert "goes on searching" in find(widget, "nothing", again=True)["message"]


def test_what_was_compressed_is_searched_where_it_is() -> None:
    inner = Span(0, 3, "records", None, "1 record", (Span(0, 1, "id", 5, "varint"), Span(1, 3, "name", "ab")))
    widget = make_packed(inner, b"\x0aab").widget()
    row = read_row(widget, find(widget, "0x6162"))
    assert (row["code"], row["field"]) == (".unpacked(4)", "name")


def test_a_value_is_copied_whole() -> None:
    text = "long " * 200
    spans = (Span(0, 4, "text", text), Span(4, 6, "raw"), Span(6, 7, "gone", role="null"))
    widget = BytesView(b"abcd\x01\xff\x00", Span(0, 7, "row", children=spans)).widget()
    for line, copied in zip(widget.view["rows"], (text, "01 ff", "00"), strict=True):
        wanted = {name: line[name] for name in ("start", "end", "code")} | {"label": line["name"]}
        (answer,) = ask(widget, {"type": "value", **wanted})
        assert answer == {"type": "copy", "text": copied}
    (answer,) = ask(widget, {"type": "value", "start": 0, "end": 99, "label": "", "code": ""})
    assert "bytes 0 to 99 are not in" in answer["message"]


@pytest.mark.parametrize(
    "value",
    [
        {"start": -1, "end": 3},
        {"start": 3, "end": 1},
        {"start": 0, "end": 1000},
        {"start": "0", "end": "1"},
        {"start": True, "end": 2},
        {"start": 0},
        {"start": 0, "end": 1, "label": 7},
        7,
    ],
)
def test_what_is_no_place_in_the_bytes_is_refused(value: Any) -> None:
    widget = make_row().widget()
    with pytest.raises(traitlets.TraitError):
        widget.selected = value
    assert widget.selected is None


def test_offsets_outside_and_unknown_arguments_are_refused() -> None:
    with pytest.raises(ValueError, match="byte 44 is outside"):
        make_row().widget().select(44)
    with pytest.raises(TypeError):
        make_row().widget(theme="dark")
    with pytest.raises(TypeError):
        BytesWidget(make_row(), theme="dark")  # type: ignore[call-arg]


def test_a_place_without_widgets_shows_the_static_picture() -> None:
    row = make_row()
    bundle = row.widget()._repr_mimebundle_()
    data = bundle[0] if isinstance(bundle, tuple) else bundle
    assert data["text/html"] == row._repr_html_()
    assert "application/vnd.jupyter.widget-view+json" in data
    assert data["text/plain"].strip("'") == "<BytesWidget of BinaryRow: 44 bytes>"
    html5lib.HTMLParser(strict=True).parseFragment(data["text/html"])


def test_the_sheet_is_small() -> None:
    assert len(make_row().widget()._css.encode()) < 8192


def test_what_comes_from_a_lake_is_made_visible() -> None:
    leaves = [Span(n, n + 1, word, word, word, number=n) for n, word in enumerate(HOSTILE)]
    root = Span(
        0, len(HOSTILE), HOSTILE[-3], None, HOSTILE[-4], (Span(0, len(HOSTILE), "x", None, "", leaves),)
    )
    widget = BytesView(bytes(len(HOSTILE)), root, what=HOSTILE[10], place=HOSTILE[11]).widget()

    def walk(held: Any) -> Iterator[str]:
        if isinstance(held, str):
            yield held
        elif isinstance(held, dict):
            for inner in held.values():
                yield from walk(inner)
        elif isinstance(held, list):
            for inner in held:
                yield from walk(inner)

    for text in walk(widget.view):
        assert all(character == "\n" or character.isprintable() for character in text), repr(text)
        assert len(text) < 2000
