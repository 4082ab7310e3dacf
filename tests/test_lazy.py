"""`lakelens.lazy.dataclass` makes what the standard library's makes."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from functools import partial
from typing import Any

import pytest

from lakelens import lazy


def make_classes(dataclass: Any, **options: Any) -> list[type]:
    class Plain:
        "Has every kind of field."

        first: int
        second: str = "b"
        many: list[int] = dataclasses.field(default_factory=list, compare=False)
        hidden: int = dataclasses.field(default=3, repr=False, hash=False)
        computed: int = dataclasses.field(default=7, init=False)

    class Empty:
        "Has none."

    class Single:
        "Has one."

        only: float

    made: list[type] = [dataclass(**options)(kind) for kind in (Plain, Empty, Single)]

    class Below(made[0]):  # type: ignore[valid-type, misc]
        "Has one more."

        last: tuple[int, ...] = ()

        def __post_init__(self) -> None:
            object.__setattr__(self, "hidden", self.hidden + 1)

    return [*made, dataclass(**options)(Below)]


OPTIONS = [
    {},
    {"frozen": True},
    {"slots": True},
    {"frozen": True, "slots": True},
    {"frozen": True, "slots": True, "kw_only": True},
    {"frozen": True, "repr": False},
    {"frozen": True, "eq": False},
]


def answer(ask: Callable[[], Any]) -> Any:
    try:
        return ask()
    except Exception as error:
        return type(error), str(error)


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_it_is_the_one_of_the_standard_library(options: dict[str, Any]) -> None:
    pairs = zip(
        make_classes(lazy.dataclass, **options), make_classes(dataclasses.dataclass, **options), strict=True
    )
    for ours, theirs in pairs:
        assert str(inspect.signature(ours)) == str(inspect.signature(theirs))
        assert vars(ours).get("__slots__") == vars(theirs).get("__slots__")
        assert ours.__match_args__ == theirs.__match_args__  # type: ignore[attr-defined]
        assert [(one.name, one.type, one.default) for one in dataclasses.fields(ours)] == [
            (one.name, one.type, one.default) for one in dataclasses.fields(theirs)
        ]
        for given in ({}, {"only": 1.5}, {"first": 1}, {"first": 1, "hidden": 9}, {"first": 1, "nothing": 2}):
            made = [answer(partial(kind, **given)) for kind in (ours, theirs)]
            if isinstance(made[1], tuple):
                assert made[0] == made[1]
                continue
            ask: list[Callable[[Any], Any]] = [
                lambda thing: repr(thing).partition(" object at")[0],
                lambda thing: dataclasses.asdict(thing),
                lambda thing: thing == copy.copy(thing),
                lambda thing: thing == dataclasses.replace(thing),
                lambda thing: thing == thing,
                lambda thing: thing == 3,
                lambda thing: hash(thing) == hash(copy.copy(thing)),
                lambda thing: type(thing)(1),
            ]
            changes: list[Callable[[Any], Any]] = [
                lambda thing: setattr(thing, "hidden", 1),
                lambda thing: setattr(thing, "other", 1),
                lambda thing: delattr(thing, "first"),
            ]
            if options.get("frozen") and options.get("slots"):
                # the standard library's says this in other words: its super() is of the class without slots
                for change in changes:
                    assert answer(partial(change, made[0]))[0] is dataclasses.FrozenInstanceError
            else:
                ask += changes
            for question in ask:
                said = [answer(partial(question, thing)) for thing in made]
                if not hasattr(said[1], "__dataclass_fields__"):
                    assert said[0] == said[1]


@lazy.dataclass(frozen=True, slots=True)
class Kept:
    "Can be pickled."

    path: str
    size: int = 0


def test_it_can_be_pickled_before_the_first_is_made_and_after() -> None:
    assert pickle.loads(pickle.dumps(Kept("a", 1))) == Kept("a", 1)
    assert copy.deepcopy(Kept("a")) == Kept("a")


def test_what_contains_itself_is_shown() -> None:
    @lazy.dataclass
    class Ring:
        "Goes round."

        next: Any = None

    ring = Ring()
    ring.next = ring
    assert repr(ring).endswith("Ring(next=...)")


def test_a_class_of_the_standard_library_can_be_below() -> None:
    @dataclasses.dataclass(frozen=True)
    class Longer(Kept):
        note: str = ""

    assert Longer("a", note="n") == Longer("a", 0, "n")
    with pytest.raises(dataclasses.FrozenInstanceError, match="cannot assign to field 'note'"):
        Longer("a").note = "m"  # type: ignore[misc]
