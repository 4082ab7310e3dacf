"""The chain: a row of boxes for each tier, and the lines that say who names whom."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from lakelens.model.map.boxes import Box, Tier
from lakelens.views.map.marks import (
    LEFT,
    RIGHT,
    draw_box,
    draw_label,
    draw_path,
    draw_text,
    is_apart,
    is_marked,
    list_lines,
    wrap_lines,
)
from lakelens.views.map.metrics import LINE, break_word, fit, measure, wrap

_GAP = 10
_SECOND = 14  # the step to a second line of a field's name


@dataclass(frozen=True, slots=True)
class Place:
    """Where a box is."""

    x: float
    y: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        """Half of its width."""
        return self.x + round(self.width / 2)

    @property
    def bottom(self) -> float:
        """Its lower edge."""
        return self.y + self.height


def place_boxes(tier: Tier, y: float) -> list[Place]:
    """Where the boxes of a tier are: one beside its remark, two of which the first is wide, or equal ones."""
    count, whole = len(tier.boxes), float(RIGHT - LEFT)
    if count == 1:
        widths = [236.0 if tier.remark else 336.0]
    elif count == 2:
        widths = [336.0, whole - 336.0 - 2 * _GAP]
    elif count == 3 and tier.has_lead:
        widths = [258.0, 140.0, 140.0]
    else:
        widths = [(whole - _GAP * (count - 1)) // count] * count
    heights = [
        len(wrap_lines(list_lines(box, width), width)) for box, width in zip(tier.boxes, widths, strict=True)
    ]
    height = 26 + LINE * max(heights)
    gap = 2 * _GAP if count == 2 else _GAP
    found, x = [], float(LEFT)
    for width in widths:
        found.append(Place(x, y, width, height))
        x += width + gap
    return found


def draw_chain(tiers: Sequence[Tier]) -> tuple[list[str], float, list[Place]]:
    """The tiers below each other; where they end, and where the boxes of the last one are."""
    lines: list[str] = []
    boxes: list[str] = []
    above: list[Place] = []
    ends: list[float] = []
    y = 2.0
    for number, tier in enumerate(tiers):
        if number:
            namers = _list_namers(tiers[number - 1], tier)
            y = ends[-1] + (40 if namers else 26)
            if len({box.field for box in namers}) > 1 and any(
                len(_break_field(box.field, place)) > 1
                for box, place in zip(tier.boxes, place_boxes(tier, y), strict=True)
                if box in namers
            ):
                y += _SECOND
        places = place_boxes(tier, y)
        boxes += draw_label(y + 18, tier.noun, tier.notes)
        for box, place in zip(tier.boxes, places, strict=True):
            shown = wrap_lines(list_lines(box, place.width), place.width)
            boxes += draw_box(place.x, y, (place.width, place.height), box.name, box.state, shown,
                              is_file=box.names_files, is_stack=box.is_stack,
                              apart=is_apart(box.name, box.state, place.width, is_file=box.names_files))  # fmt: skip
        if tier.remark:
            boxes += _draw_remark(tier, places[-1])
        lines += _draw_links(tiers[number - 1] if number else None, tier, above, places)
        above = places
        ends.append(max(places[0].bottom, y + 22 + LINE * len(tier.notes)))
    y = ends[-1] if ends else y
    refers, y = _draw_references(tiers[-1], above, y) if tiers else ([], y)
    return [*lines, *boxes, *refers], y, above


def _list_namers(upper: Tier, tier: Tier) -> list[Box]:
    """The boxes of a tier that a box above names by a field."""
    return [
        box for box in tier.boxes if box.field and any(parent < len(upper.boxes) for parent in box.parents)
    ]


def _draw_remark(tier: Tier, place: Place) -> list[str]:
    x = place.x + place.width + 14
    lines = wrap(" ".join(tier.remark), RIGHT + 6 - x, 3)
    return [draw_text(x, place.y + 16 + LINE * number, line, "m") for number, line in enumerate(lines)]


def _draw_links(upper: Tier | None, tier: Tier, above: Sequence[Place], places: Sequence[Place]) -> list[str]:
    """Lines from the boxes above; those that are new over the others. The field is said once where it is one."""
    kept: list[str] = []
    new: list[str] = []
    words: list[str] = []
    fields = {box.field for box in tier.boxes if box.parents and box.field}
    said = False
    for number, (box, place) in enumerate(zip(tier.boxes, places, strict=True)):
        if box.is_joined and number:
            before = places[number - 1]
            y = round(before.y + before.height / 2)
            kept.append(draw_path(f"M{before.x + before.width:g} {y}H{place.x:g}", "w"))
        for parent in box.parents if upper is not None else ():
            if parent >= len(above):
                continue
            top = above[parent]
            half = min(round((top.bottom + place.y) / 2), round(top.bottom) + 20)
            shape = f"M{top.middle:g} {top.bottom:g}V{half}H{place.middle:g}V{place.y:g}"
            (new if is_marked(box.state) else kept).append(
                draw_path(shape, "w-new" if is_marked(box.state) else "w")
            )
            if len(fields) == 1 and not said:
                words.append(draw_text(top.middle + 7, half - 5, next(iter(fields)), "c m"))
                said = True
        if len(fields) > 1 and box.field:
            shown = _break_field(box.field, place)
            if (
                shown == [fit(box.field, place.width, code=True)]
                or number < len(places) - 1
                or len(shown) > 1
            ):
                at, anchor = place.middle + 6, ""
            else:  # what does not fit at the right edge stands left of its line
                at, anchor = place.middle - 6, "end"
                shown = [fit(box.field, place.width / 2 - 6 + _GAP, code=True)]
            for line, text in enumerate(reversed(shown)):
                words.append(draw_text(at, place.y - 9 - _SECOND * line, text, "c m", anchor))
    return [*kept, *new, *words]


def _break_field(field: str, place: Place) -> list[str]:
    """The name of a field beside the line to its box, in two lines where one is too short for it."""
    room = min(place.width - 6, RIGHT + 4 - place.middle - 6)
    first, rest = break_word(field, room, code=True)
    return [fit(part, room, code=True) for part in (first, rest) if part]


def _draw_references(tier: Tier, places: Sequence[Place], y: float) -> tuple[list[str], float]:
    """Dotted lines below the last tier, from what refers to what it refers to, with one word for each."""
    drawn: list[str] = []
    groups: dict[tuple[int, str], list[int]] = {}
    for number, box in enumerate(tier.boxes):
        if box.refers_to is not None and box.refers_to < len(places):
            groups.setdefault((box.refers_to, box.reference), []).append(number)
    for step, ((target, word), sources) in enumerate(groups.items()):
        base = y + 20 + 24 * step
        tip = places[target].middle - 8 * step
        ends = [tip]
        for source in sources:
            start = places[source].middle + (14 if source == target else 4)
            drawn.append(draw_path(f"M{start:g} {places[source].bottom:g}V{base:g}H{tip:g}", "w-ref"))
            ends.append(start)
        low = places[target].bottom
        drawn.append(draw_path(f"M{tip:g} {base:g}V{low + 4:g}", "w-ref"))
        drawn.append(draw_path(f"M{tip - 4:g} {low + 10:g}l4 -7l4 7", "w-tip"))
        width = measure(word)
        x = min(max((min(ends) + max(ends)) / 2 - width / 2, LEFT), RIGHT - width)
        drawn.append(draw_text(x, base + 15, word, "m"))
    return drawn, y + (20 + 24 * len(groups) if groups else 0)
