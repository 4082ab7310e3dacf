"""What all widgets share: the still picture beside them, and how little a host is told of them."""

from __future__ import annotations

import json
from typing import Any

import pytest

import lakelens as ll
from tests.browser.host import collect, read_state
from tests.views.test_bytes import make_row


def make_objects() -> dict[str, Any]:
    """Every kind of widget by the object that it shows."""
    table: Any = ll.sample("iceberg")
    return {
        "timeline": table.history,
        "diff": table.diff(table.snapshots[0], table.current),
        "bytes": make_row(),
        "list": table.files,
    }


@pytest.mark.parametrize("name", ["timeline", "diff", "bytes", "list"])
def test_the_module_takes_nothing_from_elsewhere_and_writes_text_alone(name: str) -> None:
    widget = make_objects()[name].widget()
    # the name of what a picture's elements are, which nothing is fetched by
    module = widget._esm.replace("http://www.w3.org/2000/svg", "") if name == "timeline" else widget._esm
    for forbidden in (
        "innerHTML",
        "outerHTML",
        "insertAdjacentHTML",
        "document.write",
        "eval(",
        "http",
        "import ",
    ):
        assert forbidden not in module
    assert "url(" not in widget._css
    assert "!important" not in widget._css


@pytest.mark.parametrize("name", ["timeline", "diff", "bytes"])
def test_it_is_shown_with_the_still_picture_behind_it(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that knows of widgets, but not of this one any more, shows an error in place of the first output."""
    import IPython.display

    shown: list[dict[str, str]] = []
    monkeypatch.setattr(IPython.display, "publish_display_data", lambda data, *_: shown.append(data))
    thing = make_objects()[name]
    thing.widget()._ipython_display_()
    living, still = shown
    assert "application/vnd.jupyter.widget-view+json" in living
    assert living["text/html"] == living["text/plain"] == "", (
        "nothing beside the picture where it cannot live"
    )
    assert still["text/html"].startswith('<div class="ll-still"><style>')
    assert still["text/html"].endswith(f"</style>{thing._repr_html_()}</div>")
    assert still["text/plain"] == thing.to_text()


@pytest.mark.parametrize(
    ("name", "picks"),
    [
        ("timeline", {"selected", "range", "spacing"}),
        ("diff", {"selected", "order", "filter", "kept"}),
        ("bytes", {"selected"}),
    ],
)
def test_a_host_is_told_the_picks_alone(name: str, picks: set[str]) -> None:
    """marimo's `value` is every synced trait: a view of 60 kB among them would bury what the reader chose."""
    widget = make_objects()[name].widget()
    state = read_state(widget)
    assert set(state) == picks
    assert len(json.dumps(state)) < 200


@pytest.mark.parametrize("name", ["timeline", "diff", "bytes"])
def test_a_view_that_asks_gets_everything_and_the_others_what_changed(name: str) -> None:
    widget = make_objects()[name].widget()
    sent = collect(widget)
    widget._handle_custom_msg({"type": "show"}, [])
    (first,) = sent
    assert (first["type"], first["whole"], first["parts"]["view"]) == ("shown", True, widget.view)
    assert ["?" in key for key, _ in first["parts"]["keys"]].count(True) == 1
    if name == "diff":
        widget.order = "name"
        assert (sent[1]["whole"], list(sent[1]["parts"])) == (False, ["view"])
        assert sent[1]["version"] > first["version"]
