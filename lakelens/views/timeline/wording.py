"""What a timeline says: about one item, about all, about what is unusual. The picture only repeats it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

from lakelens.analysis.timeline.marks import Item
from lakelens.analysis.timeline.timeline import RowCount, Timeline
from lakelens.views.card import wording

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MOST_NAMES = 6
_NAME = 60  # characters


def format_time(time: int, *, exact: bool = False) -> str:
    """Milliseconds since 1970 as a moment in UTC."""
    return wording.moment(_EPOCH + timedelta(milliseconds=time), exact=exact)


def format_operations(operations: Mapping[str, int]) -> str:
    """Operations with their counts, the most frequent first."""
    ordered = sorted(operations.items(), key=lambda item: -item[1])
    listed = [f"{wording.count(number)} {wording.clean(name, 40)}" for name, number in ordered[:8]]
    return ", ".join([*listed, f"{len(ordered) - 8} more kinds"] if len(ordered) > 8 else listed)


def join_names(names: Sequence[str]) -> str:
    """Names in a line: 'a', 'a and b', 'a, b and c', 'a, b and 9 more'.

    >>> join_names(["main", "audit"]), join_names(["a"]), join_names(list("abcdefgh"))
    ('main and audit', 'a', 'a, b, c, d, e and 3 more')
    """
    shown = [wording.clean(name, _NAME) for name in names]
    if len(shown) > _MOST_NAMES:
        shown = [*shown[: _MOST_NAMES - 1], f"{wording.count(len(shown) - _MOST_NAMES + 1)} more"]
    return " and ".join(filter(None, (", ".join(shown[:-1]), *shown[-1:])))


def describe_rewrite(counts: Sequence[RowCount]) -> str:
    """Describe what happened to the rows of commits that only rewrote them.

    >>> describe_rewrite([RowCount(moved=8, dropped=2)]), describe_rewrite([RowCount()])
    ('8 rows moved, none changed, 2 left out that were not live', 'no row changed')
    """
    moved = sum(count.moved for count in counts)
    dropped = sum(count.dropped for count in counts)
    words = f"{wording.plural(moved, 'row')} moved, none changed" if moved else "no row changed"
    return f"{words}, {wording.count(dropped)} left out that were not live" if dropped else words


def describe_item(timeline: Timeline, item: Item, flags: Sequence[str]) -> str:
    """Describe one item for those who hear it: what, when, where, how many rows, which names."""
    counts = [mark.rows for mark in item.marks]
    if all(count.is_rewrite for count in counts):
        rows = describe_rewrite(counts)
    else:
        rows = f"rows +{wording.count(item.added)} {wording.MINUS}{wording.count(item.removed)}"
        deleted = wording.deleted(item.deleted, item.deleted_values)
        rows += f", {deleted}" if deleted else ""
    named = f", named {join_names(flags)}" if flags else ""
    mark = item.marks[0]
    if item.count > 1:
        span = f"{format_time(item.start)} to {format_time(item.end)} UTC"
        what = f"{wording.plural(item.count, 'snapshot')}: {format_operations(item.count_operations())}"
        return f"{what}, {span}, {rows}{named}. Enter opens them"
    lane = wording.clean(timeline.lanes[mark.lane].name, _NAME)
    where = f" on {lane}," if timeline.lanes[mark.lane].is_branch and lane else f" {lane}," if lane else ""
    notes = "".join(f", {wording.clean(note, 80)}" for note in mark.notes if note != lane)
    what = f"{wording.clean(mark.operation, 40)}, snapshot {wording.clean(mark.key, _NAME)}"
    return f"{what}, {format_time(item.start, exact=True)} UTC,{where} {rows}{notes}{named}"


def format_range(timeline: Timeline, *, exact: bool = False) -> str:
    """From when to when the snapshots were committed."""
    first, last = timeline.marks[0].time, timeline.marks[-1].time
    begin, end = format_time(first, exact=exact), format_time(last, exact=exact)
    if begin == end:
        return f"at {begin} UTC"
    return f"from {begin} to {end[11:] if end[:10] == begin[:10] else end} UTC"


def describe_history(timeline: Timeline) -> str:
    """Describe the history in a few sentences: what a reader without the picture needs."""
    marks = timeline.marks
    branches = [lane.name for lane in timeline.lanes if lane.is_branch and lane.name]
    where = f" on {'branch' if len(branches) == 1 else 'branches'} {join_names(branches)}" if branches else ""
    operations = format_operations(Counter(mark.operation for mark in marks))
    words = f"{wording.plural(len(marks), 'snapshot')} of {wording.clean(timeline.table.name, 80)} "
    sentences = [f"{words}{format_range(timeline)}{where}: {operations}."]
    sentences += list(
        filter(None, (_describe_growth(timeline), *list_oddities(timeline), _describe_flags(timeline)))
    )
    return " ".join(sentences)


def _describe_growth(timeline: Timeline) -> str:
    lane_marks = [mark for mark in timeline.marks if mark.lane == 0]
    own = [mark for mark in lane_marks if mark.amounts.rows is not None]
    if not own:
        return ""
    if own[-1] is not lane_marks[-1] and lane_marks[-1].snapshot.known_live_rows.recorded is not None:
        own.append(lane_marks[-1])  # what its commit does not record is known from elsewhere
    lane = wording.clean(timeline.lanes[0].name, _NAME)
    where = f" on {lane}" if lane else ""
    last_rows = own[-1].snapshot.known_live_rows
    ends = [last_rows if len(own) == 1 else own[0].snapshot.stated_live_rows, last_rows]
    # what is stored is compared with what is stored, and what lives with what lives
    is_known = all(end.count is not None for end in ends)
    first, last = ((end.count if is_known else end.recorded) or 0 for end in ends)
    noun = "Rows" if all(end.count == end.recorded for end in ends) else "Live rows"
    noun = noun if is_known else "Stored rows"
    is_bound = ends[1].count is not None or ends[1].at_least or ends[1].at_most != last
    live = f", of which {wording.live(ends[1])} live" if is_bound and not is_known else ""
    if first == last:
        return f"{noun}{where}: {wording.count(last)}{live}."
    verb = "grew" if last > first else "shrank"
    return f"{noun}{where} {verb} from {wording.count(first)} to {wording.count(last)}{live}."


def list_oddities(timeline: Timeline) -> list[str]:
    """List what a reader would not expect, a sentence each: rollbacks, snapshots off every branch, gaps."""
    sentences = []
    for rollback in timeline.rollbacks[:2]:
        many = wording.plural(len(rollback.undone), "snapshot")
        moment = f" at {wording.moment(rollback.at)} UTC" if rollback.at is not None else ""
        sentences.append(f"A rollback{moment} to {rollback.end} undid {many}.")
    if len(timeline.rollbacks) > 2:
        sentences.append(f"{wording.plural(len(timeline.rollbacks) - 2, 'more rollback')}.")
    for index, lane in enumerate(timeline.lanes):
        if not lane.is_branch and lane.name != "rolled back":
            number = sum(mark.lane == index for mark in timeline.marks)
            sentences.append(f"{wording.plural(number, 'snapshot')} off every branch: {lane.name}.")
    if timeline.gaps:
        sentences.append(_describe_gaps(timeline))
    return sentences


def _describe_gaps(timeline: Timeline) -> str:
    known = sum(gap.count or 0 for gap in timeline.gaps)
    places = "" if len(timeline.gaps) == 1 else f" in {wording.count(len(timeline.gaps))} places"
    if all(gap.count is not None for gap in timeline.gaps):
        return f"{wording.plural(known, 'snapshot')} expired{places}."
    return f"Older snapshots expired{places}."


def _describe_flags(timeline: Timeline) -> str:
    words = []
    for kind, one, many in (("tag", "Tag", "Tags"), ("branch", "Branch", "Branches")):
        names = [flag.name for flag in timeline.flags if flag.type == kind and flag.key is not None]
        if names:
            without = " without a snapshot to itself" if kind == "branch" and len(names) == 1 else ""
            without = without or (" without snapshots to themselves" if kind == "branch" else "")
            words.append(f"{one if len(names) == 1 else many} {join_names(names)}{without}.")
    lost = [flag.name for flag in timeline.flags if flag.key is None]
    if lost:
        words.append(f"Without any snapshot: {join_names(lost)}.")
    return " ".join(words)


def brief(number: int) -> str:
    """A count for the scale of the picture: three digits at most.

    >>> brief(84), brief(9_900), brief(312_017), brief(1_934_000), brief(25_000_000), brief(7_100_000_000)
    ('84', '9,900', '312 k', '1.9 M', '25 M', '7.1 G')
    >>> brief(10**400)
    '> 999 T'
    """
    if number < 10_000:
        return f"{number:,}"
    if number >= 999_500_000_000_000:  # no count of rows, but a summary may say it
        return "> 999 T"
    amount = float(number)
    unit = ""
    for unit in ("k", "M", "G", "T"):  # noqa: B007 - the last one that was tried
        amount /= 1000
        if amount < 999.5:
            break
    return f"{amount:,.1f} {unit}" if amount < 9.95 else f"{amount:,.0f} {unit}"
