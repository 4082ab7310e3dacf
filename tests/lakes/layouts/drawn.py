"""Twenty tables whose columns, rows and workloads are drawn by a number: nobody chose them for what `advise` would say.

Ten kinds of workload (`_KINDS`), each twice with other columns, spans and frequencies; every third table is Paimon's.
Nothing is planted by hand: the best is what read least of the layouts that Spark made (`drawn.json`), or to leave the table,
where the best of them saves less than it costs to read and write the table once, or less than a tenth.

    python -m tests.lakes.layouts.drawn        says what is drawn
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import permutations
from random import Random

from tests.lakes.layouts.cases import Layout, optimize
from tests.lakes.layouts.planted import Planted, curve, draw, paimon, plant, sort

SEED, COUNT = 20261128, 20
_ROWS, _BEGIN = 16_000, 1_767_225_600
_NUMBERS = ("account", "customer", "device", "price", "score", "weight")


@dataclass(frozen=True)
class _Column:
    """A column: its name and type, what makes its value, and how the rows between two shares of it are asked for."""

    name: str
    kind: str
    made: str
    ask: Callable[[float, float], str]


class _Drawing:
    """What is drawn of one table: its columns, and which of them are asked how often."""

    def __init__(self, number: int) -> None:
        self._random = Random(f"{SEED} {number}")
        self.columns = [self._draw_number(name) for name in self._random.sample(_NUMBERS, 3)]
        self.columns += [self._draw_time(), self._draw_word()]
        self.asked: dict[str, int] = {}
        self.wanted: list[str] = []

    def _draw_number(self, name: str) -> _Column:
        """Draw a number in no order: even, or a power of an even one, which is skewed to small values."""
        most, power = self._random.choice([300, 2_000, 9_000, 50_000]), self._random.choice([1, 1, 2, 3])
        made = f"pow({self._draw_value(10_000)} / 10000.0, {power}) * {most}"

        def ask(low: float, high: float) -> str:
            first, last = int(low**power * most), int(high**power * most)
            return f"{name} = {first}" if low == high else f"{name} BETWEEN {first} AND {last}"

        return _Column(name, "INT", made, ask)

    def _draw_time(self) -> _Column:
        """Draw a time that follows the order of arrival, exactly or late by a random number of seconds."""
        late, step = self._random.choice([0, 600, 40_000, 900_000]), self._random.choice([20, 60, 300])
        made = f"timestamp_seconds({_BEGIN} + id * {step}{f' + {self._draw_value(late)}' if late else ''})"

        def ask(low: float, high: float) -> str:
            seconds = (_BEGIN + int(share * (_ROWS * step + late)) for share in (low, high))
            first, last = (f"{datetime.fromtimestamp(second, UTC):%Y-%m-%d %H:%M:%S}" for second in seconds)
            return f"at >= '{first}' AND at < '{last}'"

        return _Column("at", "TIMESTAMP", made, ask)

    def _draw_word(self) -> _Column:
        """Draw one of a few words."""
        many = self._random.choice([4, 7, 16])
        made = f"concat('team-', lpad(CAST({self._draw_value(many)} AS STRING), 2, '0'))"
        return _Column("team", "STRING", made, lambda low, high: f"team = 'team-{int(low * many):02}'")

    def _draw_value(self, most: int) -> str:
        return draw(self._random.randrange(1, 1_000), most)

    def ask(self, *places: int, share: float = 0.0, times: int = 0) -> None:
        """Ask for the rows where each of some columns is within a random span of a share, a number of times."""
        chosen = [self.columns[place] for place in places]
        begins = [self._random.uniform(0, 0.98 - share) for _ in chosen]
        where = " AND ".join(column.ask(low, low + share) for column, low in zip(chosen, begins, strict=True))
        self.asked[where] = times or self._random.choice([30, 50, 80])
        self.wanted += [column.name for column in chosen if column.name not in self.wanted]


_TIME, _WORD = 3, 4


def _ask_points(drawing: _Drawing) -> None:
    for _ in range(2):
        drawing.ask(0)


def _ask_spans(drawing: _Drawing) -> None:
    drawing.ask(0, share=0.04)
    drawing.ask(0, share=0.1)


def _ask_words(drawing: _Drawing) -> None:
    drawing.ask(_WORD)
    drawing.ask(_WORD, times=20)


def _ask_words_and_spans(drawing: _Drawing) -> None:
    for _ in range(2):
        drawing.ask(_WORD, 1, share=0.08)


def _ask_boxes(drawing: _Drawing) -> None:
    for _ in range(2):
        drawing.ask(0, 1, share=0.12, times=40)
    drawing.ask(0, share=0.1, times=15)
    drawing.ask(1, share=0.1, times=15)


def _ask_times(drawing: _Drawing) -> None:
    for _ in range(3):
        drawing.ask(_TIME, share=0.05)


def _ask_times_and_points(drawing: _Drawing) -> None:
    drawing.ask(_TIME, share=0.1)
    drawing.ask(2)


def _ask_seldom(drawing: _Drawing) -> None:
    drawing.ask(0, times=1)


def _ask_rivals(drawing: _Drawing) -> None:
    drawing.ask(0, share=0.03, times=90)
    drawing.ask(1, share=0.03, times=10)


def _ask_times_with_spans(drawing: _Drawing) -> None:
    for _ in range(2):
        drawing.ask(_TIME, 2, share=0.15)


_KINDS = (
    *(_ask_points, _ask_spans, _ask_words, _ask_words_and_spans, _ask_boxes),
    *(_ask_times, _ask_times_and_points, _ask_seldom, _ask_rivals, _ask_times_with_spans),
)


def _list_layouts(catalog: str, names: list[str]) -> tuple[Layout, ...]:
    """List what Spark makes: every sort of a column and of two, curves of two, and partitions with a sort inside of them."""
    pairs = list(permutations(names, 2))
    if catalog == "paimon":
        curves = [paimon(way, ",".join(pair)) for pair in pairs[:1] for way in ("zorder", "hilbert")]
        return (
            *(paimon("order", name) for name in names),
            *(paimon("order", ",".join(p)) for p in pairs),
            *curves,
        )
    layouts = [*(sort(name) for name in names), *(sort(", ".join(pair)) for pair in pairs)]
    layouts += [curve(", ".join(pair)) for pair in pairs[:1]]
    terms = {"at": "days(at)", "team": "team"}
    for name in names:
        partition = terms.get(name, f"bucket(8, {name})")
        layouts += [sort(other, partition) for other in names]
    return tuple(layouts)


def draw_table(number: int) -> Planted:
    """Draw a table with its workload."""
    drawing = _Drawing(number)
    _KINDS[number % len(_KINDS)](drawing)
    catalog = "paimon" if number % 3 == 2 else "iceberg"
    columns = {f"{column.name} {column.kind}": column.made for column in drawing.columns}
    layouts = _list_layouts(catalog, drawing.wanted) + ADVISED.get(number, ())
    return plant(catalog, {"id LONG": "id", **columns}, layouts, drawing.asked, (), rows=_ROWS)


#: What `advise` named when it saw the tables, and Spark had not made: made since, to see what it reads.
ADVISED = {
    0: (sort("price", "bucket(16, price)"),),
    6: (sort("at", "bucket(4, price)"),),
    10: (sort("price", "bucket(16, price)"),),
    13: (sort("account", "bucket(8, team)"),),
    14: (paimon("hilbert", "score,weight"),),
    16: (sort("at", "bucket(16, device)"),),
    19: (sort("device", "months(at)"),),
}
TABLES = {f"drawn_{number:02}": draw_table(number) for number in range(COUNT)}


def draw_optimized(number: int) -> Planted:
    """Draw a Delta table, every second one in partitions, with ten predicates."""
    drawing = _Drawing(100 + number)
    for place, share in ((0, 0.0), (0, 0.05), (1, 0.1), (2, 0.03), (1, 0.0), (_TIME, 0.05), (_WORD, 0.0)):
        drawing.ask(place, share=share)
    for first, second, share in ((0, 1, 0.2), (_WORD, 0, 0.1), (_TIME, 1, 0.3)):
        drawing.ask(first, second, share=share)
    names = [column.name for column in drawing.columns]
    ways = [names[:1], names[:2], names[:3], ["at", names[1]], ["team", names[0]]]
    layouts = [optimize(", ".join(way), 12_288) for way in ways[: 4 if number % 2 else 5]]
    columns = {f"{column.name} {column.kind}": column.made for column in drawing.columns}
    parts = "team" if number % 2 else ""
    return plant(
        "delta",
        {"id LONG": "id", **columns},
        tuple(layouts),
        drawing.asked,
        (),
        rows=_ROWS,
        partitioned=parts,
        properties={},
    )


#: Tables of a format that has no other layouts, to be foretold.
OPTIMIZED = {f"optimized_{number}": draw_optimized(number) for number in range(4)}


if __name__ == "__main__":
    for name, table in (TABLES | OPTIMIZED).items():
        print(name, table.catalog, len(table.layouts), dict(table.asked))
