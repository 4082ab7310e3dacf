"""The bench, on the side of Python: bytes change, and the codec says what they mean then."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
import traitlets

import lakelens as ll
from lakelens.codecs.span.span import Span
from lakelens.errors import LakeError
from lakelens.model.bytes_view import BytesView
from lakelens.widgets.bench import BenchWidget
from tests.browser.host import ask
from tests.views.test_hostile import HOSTILE

FIELDS = [("id", "INT"), ("name", "STRING"), ("price", "DECIMAL(20, 2)")]


def make_bench() -> BenchWidget:
    snapshot = ll.sample("paimon-deletion-vectors").snapshot(7)
    entries = [entry for manifest in snapshot.manifests for entry in manifest.entries]
    row: Any = entries[-1].file.value_stats
    bench: BenchWidget = row.min_values.bytes_view().edit()
    return bench


def list_bytes(bench: BenchWidget) -> str:
    return "".join(line["bytes"] for line in bench.view["lines"])


def test_a_byte_changes_the_value_or_breaks_it() -> None:
    bench = make_bench()
    assert bench.explanation.value["name"] == "uno, not yet com" and bench.changed == ()
    assert bench.view["value"] and not bench.view["error"] and "as it is stored" in bench.view["sentence"]
    bench.change(20, 7)
    assert bench.explanation.value["id"] == 7 and "id: 7" in bench.view["value"]
    assert bench.view["changed"] == [20] == list(bench.changed) and "1 byte changed" in bench.view["sentence"]
    bench.change(44, 0x80)
    assert "not UTF-8" in bench.view["error"] and bench.view["value"] == ""
    assert any(line["isWrong"] for line in bench.view["lines"])
    bench.change(5, 1)
    bench.change(44, ord("U"))
    assert bench.explanation.value["p"] is None and not bench.view["error"]
    bench.change(0, 1)
    assert "another arity" in bench.view["error"]
    bench.reset()
    assert bench.view["value"] == make_bench().view["value"] and bench.changed == ()
    assert bench.data == make_bench().data


def test_bounds_are_changed_as_rows_are() -> None:
    bench = ll.sample("iceberg-planning").files[0].bounds["amount"].bytes_view().edit()
    titles = [line["title"].split(",")[0] for line in bench.view["lines"]]
    assert titles == ["lower_bounds", "upper_bounds"]
    bench.change(0, 0xFF)
    assert str(bench.explanation.value["lower_bounds"]) == "-0.01"
    both = ll.sample("paimon").files[0].bounds["id"].bytes_view().edit()
    both.change(12, 9)
    assert both.explanation.value["_MIN_VALUES"]["id"] == 9


def test_every_byte_is_shown_once_whatever_it_is() -> None:
    chosen = random.Random(21)
    bench = make_bench()
    for _ in range(150):
        bench.change(chosen.randrange(len(bench.data)), chosen.randrange(256))
        assert list_bytes(bench) == bench.hex
        assert bench.view["error"] or bench.view["value"]
        assert len(json.dumps(bench.view)) < 65_536
        if chosen.random() < 0.1:
            bench.reset()


def test_what_a_browser_asks() -> None:
    bench = make_bench()
    first = bench.hex
    ask(bench, {"type": "change", "at": 20, "byte": 2})
    ask(bench, {"type": "change", "at": 21, "byte": 1})
    assert bench.explanation.value["id"] == 258
    ask(bench, {"type": "restore", "at": 21})
    assert bench.explanation.value["id"] == 2
    ask(bench, {"type": "undo"})
    assert bench.explanation.value["id"] == 258
    ask(bench, {"type": "undo"})
    ask(bench, {"type": "undo"})
    ask(bench, {"type": "undo"})
    assert bench.hex == first
    for foreign in (
        {}, [], None, {"type": "change"}, {"type": "change", "at": -1, "byte": 1}, {"type": "change", "at": 0, "byte": 256},
        {"type": "change", "at": True, "byte": 1}, {"type": "change", "at": "0", "byte": "1"},
        {"type": "restore", "at": 10**9},
    ):  # fmt: skip
        ask(bench, foreign)
    assert bench.hex == first
    ask(bench, {"type": "change", "at": 20, "byte": 2})
    ask(bench, {"type": "reset"})
    assert bench.hex == first


@pytest.mark.parametrize("wrong", ["", "00", "zz" * 60, "0" * 119])
def test_the_trait_takes_bytes_of_the_same_length_alone(wrong: str) -> None:
    bench = make_bench()
    with pytest.raises(traitlets.TraitError):
        bench.hex = wrong
    with pytest.raises(ValueError, match="a byte"):
        bench.change(60, 0)
    bench.hex = bench.hex.upper()
    assert bench.changed == ()


def test_what_cannot_be_changed_says_so() -> None:
    with pytest.raises(LakeError, match="not to be changed"):
        BytesView(b"\x05", Span(0, 1, "id", 5)).edit()
    with pytest.raises(LakeError, match="too many bytes"):
        ll.explain_bytes(b'{"a": "' + b"x" * 2000 + b'"}', "json").edit()


def test_without_a_kernel_it_says_so() -> None:
    still = make_bench()._render_still()
    assert "where a kernel runs" in still and "uno, not yet com" in still


def test_text_of_a_lake_stays_text() -> None:
    for text in HOSTILE:
        content = str(text).encode("utf-8", "surrogatepass")[:7]
        slot = content.ljust(7, b"\0") + bytes([0x80 + len(content)])
        data = bytes.fromhex("00000001 0000000000000000".replace(" ", "")) + slot
        try:
            view = ll.explain_bytes(data, "binary_row", fields=[("<b>" + str(text), "STRING")])
        except LakeError:
            continue
        said = json.dumps(view.edit().view, ensure_ascii=False)
        assert not any(ord(one) < 32 or one in "\u202e\u2066\u200b" for one in said), repr(said)
