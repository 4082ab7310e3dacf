"""Explainable: the way from an object to the bytes it was read from."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Self

from lakelens.errors import LakeError

if TYPE_CHECKING:
    from lakelens.model.bytes_view import BytesView


class Source:
    """How an object finds its bytes: a function, and what that needs besides the object.

    A format hands the function down from its opener, which may load the explaining modules late: no object names them. One
    source serves many objects. It belongs to an open table: a copy of an object shares it, a pickle leaves it behind.

    >>> import copy, pickle
    >>> source = Source(lambda thing, path: (thing, path), "m0.avro")
    >>> source(7), copy.deepcopy(source) is source, pickle.loads(pickle.dumps(source))
    ((7, 'm0.avro'), True, None)
    """

    __slots__ = ("_explain", "_needs")

    def __init__(self, explain: Callable[..., Any], *needs: Any) -> None:
        self._explain = explain
        self._needs = needs

    def __call__(self, thing: Any, *more: Any) -> BytesView:
        explanation: BytesView = self._explain(thing, *self._needs, *more)
        return explanation

    def __copy__(self) -> Source:
        return self

    def __deepcopy__(self, memo: object) -> Source:
        return self

    def __reduce__(self) -> tuple[type[None], tuple[()]]:
        return type(None), ()


class Bound:
    """What reads from an open table. It never changes, so that a copy is itself; a pickle would leave the table behind.

    >>> import copy, pickle
    >>> import lakelens as ll
    >>> files = ll.sample("iceberg").files
    >>> copy.deepcopy(files) is files
    True
    >>> pickle.loads(pickle.dumps(ll.sample("iceberg"))).format
    'iceberg'
    """

    __slots__ = ()

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce_ex__(self, protocol: object) -> Any:
        hint = "pickle the table or a snapshot, which are opened again, or what to_arrow() gives"
        kind = type(self).__name__
        raise LakeError(f"a {kind} belongs to an open table and is not pickled", hint=hint)


class Reopened:
    """A table: a pickle or a copy of it is the table opened again, as it is then."""

    #: the function that opens it again, and what that is called with
    reopening: ClassVar[tuple[Callable[..., Any], tuple[Any, ...]] | None] = None

    def __reduce_ex__(self, protocol: object) -> Any:
        if self.reopening is None:
            raise LakeError("this table is not pickled", hint="open it again where it is needed")
        return self.reopening


class FoundAgain:
    """A state of a table: a pickle or a copy of it is the state of the same id of the table opened again."""

    id: int | None

    def __reduce_ex__(self, protocol: object) -> Any:
        table = getattr(self, "_table", None)
        if table is None:
            raise LakeError("this snapshot is not pickled", hint="open its table again where it is needed")
        return _find_again, (table, self.id)


def _find_again(table: Any, number: int | None) -> Any:
    return table.current if number is None else table.snapshot(number)


class Explainable:
    """Gives an object that came from bytes its annotated hex view.

    Plain objects are given a `Source` as `_source` by the format that made them; those that know their file themselves
    have a `bytes_view` of their own.
    """

    __slots__ = ()

    #: what to ask instead, where objects of a class never have bytes of their own
    _without_bytes: ClassVar[str | None] = None

    def bytes_view(self) -> BytesView:
        """The bytes that this was read from, each with its name: a `BytesView`, read when this is called.

        Damage is shown in its place (a leaf of role `damage`), not raised; `BytesView.check` raises it. Raises `Missing`
        when the file is gone, and `LakeError` for what has no bytes of its own, saying what to ask instead.
        """
        source = getattr(self, "_source", None)
        if source is None:
            hint = self._without_bytes or "what was inferred, made by hand or unpickled has none"
            raise LakeError(f"no bytes belong to this {type(self).__name__}", hint=hint)
        explanation: BytesView = source(self)
        return explanation
