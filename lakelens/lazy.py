"""`dataclass` for modules that a first card loads: a class costs a tenth until the first object of it is made.

That of the standard library compiles six methods for each class, half a millisecond; a first card would load a hundred
classes and make objects of thirty. Here `__init__` is written when it is first asked for, the other methods are shared, and
fields, comparisons and messages are those of the standard library, for whose functions (`fields`, `replace`, …) it is one.

>>> @dataclass(frozen=True, slots=True)
... class Point:
...     "A place."
...     x: int
...     y: int = 0
>>> Point(1), Point(1) == Point(1, 0), dataclasses.replace(Point(1), y=2)
(Point(x=1, y=0), True, Point(x=1, y=2))
>>> Point(1).x = 2
Traceback (most recent call last):
dataclasses.FrozenInstanceError: cannot assign to field 'x'
"""

from __future__ import annotations

import dataclasses
from functools import partial
from operator import attrgetter
from reprlib import recursive_repr
from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    from collections.abc import Callable
    from dataclasses import dataclass as dataclass
else:

    def dataclass(
        given: type | None = None,
        /,
        *,
        frozen: bool = False,
        slots: bool = False,
        eq: bool = True,
        repr: bool = True,
        kw_only: bool = False,
    ) -> Any:
        """Make a class a dataclass; the options are those of the standard library's."""

        def make(kind: type) -> type:
            return _make(kind, frozen, slots, eq, repr, kw_only)

        return make if given is None else make(given)


_FEW = 4  # objects of a class that are made before its `__init__` is written


def _make(kind: type, frozen: bool, slots: bool, eq: bool, shows: bool, kw_only: bool) -> Any:
    if not kind.__doc__:
        kind.__doc__ = kind.__name__  # else the standard library makes one of the signature
    bases = (getattr(base, "__dataclass_params__", None) for base in kind.__bases__)
    # it frees no class of a frozen one, and compiles what freezes
    frozen_base = frozen and any(params.frozen for params in bases if params is not None)
    dataclasses.dataclass(init=False, repr=False, eq=False, frozen=frozen_base, kw_only=kw_only)(kind)
    fields = dataclasses.fields(kind)
    given, methods = vars(kind), dict[str, Any]()
    if shows and "__repr__" not in given:
        methods["__repr__"] = _write_repr(tuple(field.name for field in fields if field.repr))
    if eq and "__eq__" not in given:
        methods["__eq__"] = _write_eq(tuple(field.name for field in fields if field.compare))
    if eq and ("__hash__" not in given or (given["__hash__"] is None and "__eq__" in given)):
        hashed = (field.name for field in fields if (field.compare if field.hash is None else field.hash))
        methods["__hash__"] = _write_hash(tuple(hashed)) if frozen else None
    for name, method in methods.items():
        setattr(kind, name, method)
    if slots:
        kind = _give_slots(kind, tuple(field.name for field in fields), frozen)
    later: dict[str, Any] = {"__init__": _Initializer(kind, frozen)} if "__init__" not in vars(kind) else {}
    if frozen:
        later |= _write_guards(kind, frozenset(field.name for field in fields))
        vars(kind)["__dataclass_params__"].frozen = True
    for name, method in later.items():
        setattr(kind, name, method)
    return kind


class _Made:
    """Stands in a signature for what a factory makes, in the standard library's word."""

    def __repr__(self) -> str:
        return "<factory>"


_MADE = _Made()


class _Initializer:
    """Stands for the `__init__` of a class until it is looked at, or some objects of the class were made."""

    __slots__ = ("_frozen", "_kind", "_made")

    def __init__(self, kind: type, frozen: bool) -> None:
        self._kind = kind
        self._frozen = frozen
        self._made = 0

    def __get__(self, thing: object, kind: type | None = None) -> Any:
        self._made += 1
        if thing is not None and self._made <= _FEW:
            return partial(self._fill, thing)
        written = self._write()
        setattr(self._kind, "__init__", written)  # noqa: B010 - mypy knows better
        return written if thing is None else written.__get__(thing)

    def _fill(self, thing: object, *given: Any, **named: Any) -> None:
        """Do for one of the first objects what a written `__init__` does; that one has the words for a wrong call."""
        fields = dataclasses.fields(self._kind)
        asked = {field.name: field.kw_only for field in fields if field.init}
        values = dict(zip((name for name in asked if not asked[name]), given, strict=False)) | named
        is_right = len(values) == len(given) + len(named) and values.keys() <= asked.keys()
        for field in fields:
            if field.name in values or not is_right:
                continue
            if field.default is not dataclasses.MISSING:
                values[field.name] = field.default
            elif field.default_factory is not dataclasses.MISSING:
                values[field.name] = field.default_factory()
            else:
                is_right = not field.init
        if not is_right:
            self._write()(thing, *given, **named)
        put = object.__setattr__ if self._frozen else setattr
        for name, value in values.items():
            put(thing, name, value)
        if hasattr(self._kind, "__post_init__"):
            cast("Any", thing).__post_init__()

    def _write(self) -> Any:
        scope: dict[str, Any] = {"_set": object.__setattr__, "_missing": _MADE}
        given: list[str] = ["self"]
        named: list[str] = []
        lines: list[str] = []
        fields = dataclasses.fields(self._kind)
        for field in fields:
            name, default = field.name, ""
            value = name if field.init else f"_of_{name}"
            if field.default is not dataclasses.MISSING:
                scope[f"_of_{name}"], default = field.default, f" = _of_{name}"
            elif field.default_factory is not dataclasses.MISSING:
                scope[f"_of_{name}"], default = field.default_factory, " = _missing"
                value = f"_of_{name}() if {name} is _missing else {name}" if field.init else f"_of_{name}()"
            elif not field.init:
                continue
            if field.init:
                (named if field.kw_only else given).append(name + default)
            lines.append(f"_set(self, {name!r}, {value})" if self._frozen else f"self.{name} = {value}")
        if hasattr(self._kind, "__post_init__"):
            lines.append("self.__post_init__()")
        parameters = ", ".join([*given, *(["*", *named] if named else [])])
        exec("def __init__({}):\n {}".format(parameters, "\n ".join(lines or ["pass"])), scope)  # noqa: S102
        written = scope["__init__"]
        written.__annotations__ = {field.name: field.type for field in fields if field.init} | {
            "return": None
        }
        written.__qualname__ = f"{self._kind.__qualname__}.__init__"
        written.__module__ = self._kind.__module__
        return written


def _write_repr(names: tuple[str, ...]) -> Callable[[Any], str]:
    @recursive_repr()
    def show(self: Any) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({', '.join(shown)})"

    return show


def _get_all(names: tuple[str, ...]) -> Callable[[Any], Any]:
    if len(names) > 1:
        return attrgetter(*names)
    return lambda thing: tuple(getattr(thing, name) for name in names)


def _write_eq(names: tuple[str, ...]) -> Callable[[Any, object], bool]:
    get = _get_all(names)

    def compare(self: Any, other: object) -> bool:
        return get(self) == get(other) if other.__class__ is self.__class__ else NotImplemented

    return compare


def _write_hash(names: tuple[str, ...]) -> Callable[[Any], int]:
    get = _get_all(names)
    return lambda self: hash(get(self))


def _write_guards(kind: type, names: frozenset[str]) -> dict[str, Callable[..., None]]:
    """Write what refuses a change of a field, and of anything but in a class below, which may have attributes of its own."""

    def refuse_change(self: Any, name: str, value: Any) -> None:
        if type(self) is kind or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot assign to field {name!r}")
        super(kind, self).__setattr__(name, value)  # type: ignore[arg-type]

    def refuse_deletion(self: Any, name: str) -> None:
        if type(self) is kind or name in names:
            raise dataclasses.FrozenInstanceError(f"cannot delete field {name!r}")
        super(kind, self).__delattr__(name)  # type: ignore[arg-type]

    return {"__setattr__": refuse_change, "__delattr__": refuse_deletion}


def _give_slots(kind: type, names: tuple[str, ...], frozen: bool) -> type:
    """Make the class again, with slots for its own fields: a class that is there cannot get any."""
    above = {slot for base in kind.__mro__[1:-1] for slot in base.__dict__.get("__slots__", ())}
    dropped = {*names, "__dict__", "__weakref__"}
    members = {name: held for name, held in vars(kind).items() if name not in dropped}
    members["__slots__"] = tuple(name for name in names if name not in above)
    if frozen and "__getstate__" not in members:  # pickle would set attributes
        members |= {"__getstate__": _get_state, "__setstate__": _set_state}
    made: type = type(kind)(kind.__name__, kind.__bases__, members)
    made.__qualname__ = kind.__qualname__
    return made


def _get_state(self: Any) -> list[Any]:
    return [getattr(self, field.name) for field in dataclasses.fields(self)]


def _set_state(self: Any, state: list[Any]) -> None:
    for field, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, field.name, value)
