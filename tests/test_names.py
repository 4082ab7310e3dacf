"""Names at hand: by Tab, in brackets, in `dir()`, in the documentation, and in errors that have the nearest ones."""

from __future__ import annotations

import ast
import importlib
import inspect
import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any

import pytest
from IPython.core.completer import provisionalcompleter
from IPython.core.interactiveshell import InteractiveShell

import lakelens as ll
from lakelens.display import Named
from lakelens.errors import LakeError, UnknownName
from lakelens.model.schema import DataType, Field, Schema
from lakelens.model.stats import Bounds, ColumnBounds
from lakelens.views.names import _load, describe_attributes, list_hidden

CELL = """
import lakelens as ll
table = ll.sample("iceberg-branches")
snapshots, refs, schema = table.snapshots, table.refs, table.schema
"""


@pytest.fixture(scope="module", params=[True, False], ids=["jedi", "without jedi"])
def shell(request: pytest.FixtureRequest) -> Iterator[Any]:
    """A shell of which the import alone has made a shell that knows the names."""
    made = InteractiveShell.instance()
    made.Completer.use_jedi = request.param
    made.Completer.custom_matchers.clear()
    made.inspector.mime_hooks = {}
    ll._offer_names()
    ll._offer_names()
    assert len(made.Completer.custom_matchers) == 1, "asked twice it offers once"
    assert made.run_cell(CELL).success
    yield made
    InteractiveShell.clear_instance()


def complete(shell: Any, text: str) -> list[str]:
    with provisionalcompleter():
        return [one.text.lstrip(".") for one in shell.Completer.completions(text, len(text))]


def test_keys_are_offered_in_brackets(shell: Any) -> None:
    table = shell.user_ns["table"]
    newest = [f'{one.id}"' for one in table.snapshots[::-1]]
    refs = [f'{name}"' for name, _ in table.refs.items()]
    for text, names in (
        ('table.refs["', refs),
        ('refs["', refs),
        ('table.snapshots["', [*refs, *newest]),
        ("table.schema['", [f"{name}'" for name, _ in table.schema.walk()]),
        ("table.files[0].bounds['", [f"{name}'" for name in table.files[0].bounds]),
    ):
        assert sorted(complete(shell, text)) == sorted(names)
    assert complete(shell, 'x = table.refs["ma') == ['main"']


def test_arguments_are_offered_in_calls(shell: Any) -> None:
    samples = [one.name for one in ll.sample() if one.name.startswith("ice")]
    assert complete(shell, 'll.sample("ice') == [f'{name}"' for name in samples]
    assert 'main"' in complete(shell, 'table.snapshot("')
    assert complete(shell, 'table.diff("main", "ma') == ['main"']
    assert 'expire_snapshots"' in complete(shell, 'table.dry_run("')
    assert complete(shell, "table.files.where(part") == ["partition="]
    assert complete(shell, 'table.files.sort_by("record_c') == ['record_count"']


def test_a_name_of_a_lake_leaves_no_quotes() -> None:
    from lakelens.completion import find_names

    names = ["id", '"] + evil() + ["', "a\u202eb", "back\\slash", "line\nfeed"]
    schema = Schema(0, tuple(Field(n, name, DataType("int", "int32")) for n, name in enumerate(names)))
    assert find_names('schema["', {"schema": schema}) == ("", ['id"'])
    assert find_names('schema["', {"schema": schema}, '"]') == ("", ["id"])


@pytest.mark.parametrize(
    "text", ['open("x").refs["', 'missing["', 'table[evil()]["', 'text["', 'table._context["', "("]
)
def test_nothing_is_run_and_nothing_foreign_is_asked(text: str) -> None:
    from lakelens.completion import find_names

    class Foreign(str):
        def __getitem__(self, key: Any) -> Any:
            raise AssertionError("asked")

    with suppress(LookupError, ValueError):
        assert find_names(text, {"table": ll.sample("hive"), "text": Foreign("x")})[1] == []


def test_public_names_alone_are_shown(shell: Any) -> None:
    assert {name for name in dir(ll) if not name.startswith("_")} == set(ll.__all__)
    assert "annotations" not in {*dir(ll.errors), *dir(ll.options)} and "Missing" in dir(ll.errors)
    inner = {
        "find_by_id",
        "key_id",
        "was_undone_by",
        "count_from",
        "find_document",
        "is_same",
    }
    table = shell.user_ns["table"]
    for thing in (
        table,
        table.current,
        table.files,
        table.files[0],
        table.current.manifests[0],
        table.schema,
    ):
        assert not inner & set(dir(thing))
        assert not any(name.startswith("_") for name in dir(thing))
    assert not inner & set(complete(shell, "table.snapshots[0].")), "behind a subscript too"
    assert "record_count" in complete(shell, "table.snapshots[0].rec")


def test_hidden_names_are_names() -> None:
    kinds = list_kinds()
    for section, held in _load().items():
        those = [kind for kind in kinds if any(section in _name_sections(one) for one in kind.__mro__)]
        assert those, section
        known = {
            name
            for kind in those
            for one in kind.__mro__
            for name in (*vars(one), *inspect.get_annotations(one))
        }
        inside = {name for kind in those for name in _list_assigned(kind)}
        assert set(held.get("hidden", "").split()) <= known | inside, section
        said = {name.removesuffix("_") for name in held} - {"hidden", "specified"}
        assert said <= {name for kind in those for name in _list_attributes(kind)} | inside, section


def test_every_attribute_of_every_class_that_is_shown_has_its_sentence() -> None:
    """Also of what no sample has: attributes are found in the source of the classes."""
    kinds = list_kinds()
    assert {"Health", "Space", "Plan", "Timeline", "Biography", "Explanation", "RowLife"} <= {
        kind.__name__ for kind in kinds
    }
    bare = set()
    for kind in kinds:
        said = describe_attributes(kind)
        for name in _list_attributes(kind) - list_hidden(kind):
            held = inspect.getattr_static(kind, name, None)
            made = (
                getattr(held, "fget", None) or getattr(held, "func", None) or getattr(held, "__func__", held)
            )
            explains_itself = callable(made) or isinstance(held, property | cached_property)
            if name not in said and not (explains_itself and inspect.getdoc(made)):
                bare.add(f"{kind.__module__}.{kind.__name__}.{name}")
    assert not bare


def _name_sections(kind: type) -> tuple[str, str]:
    return kind.__name__, f"{kind.__module__.rpartition('.')[2]}.{kind.__name__}"


def _list_attributes(kind: type) -> set[str]:
    """The public names of a class: those that it has, those that are annotated, and those that its methods assign."""
    names: set[str] = set()
    for one in kind.__mro__:
        if one.__module__.startswith("lakelens."):
            names |= {
                *vars(one),
                *inspect.get_annotations(one),
                *_read_assigned(one.__module__).get(one.__name__, ()),
            }
    return {name for name in names if not name.startswith("_")}


@cache
def _read_assigned(module: str) -> dict[str, set[str]]:
    """What the methods of each class of a module assign to `self`."""
    tree = ast.parse(inspect.getsource(sys.modules[module]))
    return {
        found.name: {
            node.attr
            for node in ast.walk(found)
            if isinstance(node, ast.Attribute)
            and isinstance(node.ctx, ast.Store)
            and isinstance(node.value, ast.Name)
            and node.value.id == "self"
        }
        for found in ast.walk(tree)
        if isinstance(found, ast.ClassDef)
    }


@cache
def list_kinds() -> list[type]:
    """Every class of lakelens whose objects show their names."""
    for module in pkgutil.walk_packages(ll.__path__, "lakelens."):
        if not module.name.startswith(("lakelens.cli", "lakelens.spark", "lakelens.samples.")):
            importlib.import_module(module.name)
    return [kind for kind in dict.fromkeys(walk_kinds(Named)) if kind.__module__.startswith("lakelens.")]


def walk_kinds(kind: type) -> Iterator[type]:
    for one in kind.__subclasses__():
        yield one
        yield from walk_kinds(one)


def _list_assigned(kind: type) -> set[str]:
    """What the methods of a class name: attributes that are assigned there."""
    return {
        name
        for one in kind.__mro__
        for held in vars(one).values()
        if inspect.isfunction(held)
        for name in (*held.__code__.co_names, *held.__code__.co_varnames)
    }


@pytest.mark.parametrize("name", ["iceberg", "paimon", "hive"])
def test_every_name_that_is_shown_is_explained(name: str) -> None:
    table = ll.sample(name)
    file = table.files[0]
    things: list[Any] = [
        table,
        table.schema,
        table.current,
        table.files,
        file,
        file.bounds,
        table.evidence,
        table.reads,
    ]
    things += [
        table.relocation,
        table.schema.fields[0],
        table.partitioning,
        next(table.list_files()),
        *table.refs,
    ]
    things += [
        table.current.live_rows,
        *file.bounds.values(),
        *table.current.manifest_lists,
        *table.current.index_files,
    ]
    things += [
        *table.current.manifests,
        *(one.entries[0] for one in table.current.manifests),
        *ll.sample()[:1],
    ]
    bare = set()
    for thing in things:
        kind, said = type(thing), describe_attributes(type(thing))
        for one in dir(thing):
            held = inspect.getattr_static(kind, one, None)
            made = getattr(held, "fget", None) or getattr(held, "func", None) or held
            is_explained = (
                callable(made) or isinstance(held, property | cached_property)
            ) and inspect.getdoc(made)
            if not is_explained and one not in said:
                bare.add(f"{kind.__name__}.{one}")
        if said:
            assert "Attributes\n----------" in (inspect.getdoc(kind) or "")
    assert not bare
    assert not set(describe_attributes(type(table))) & list_hidden(type(table))


def test_a_question_about_a_snapshot_says_what_its_attributes_hold(shell: Any) -> None:
    said = shell.object_inspect_text("snapshots", 0) + shell.object_inspect_text("table", 0)
    assert "Where the table is now." in said
    shell.run_cell("one = table.current")
    assert "When it was committed, in UTC." in shell.object_inspect_text("one", 0)


def test_a_question_about_an_attribute_is_answered_by_its_sentence(shell: Any) -> None:
    """As Shift-Tab asks in Jupyter: not what `int` says of itself."""

    def ask(name: str) -> str:
        return re.sub(r"\x1b\[[0-9;]*m", "", shell.object_inspect_mime(name)["text/plain"])

    shell.run_cell("one, file, text = table.current, table.files[0], 'x'")
    assert ask("one.record_count").startswith("Attribute:   Rows as the snapshot records them")
    assert "Convert a number" not in ask("one.record_count") and "Convert a number" in ask(
        "one.record_count.real"
    )
    assert "Bytes on disk of each column" in ask("file.column_sizes") and "Attributes\n---" in ask(
        "file.column_sizes"
    )
    assert ask("table.current").startswith("Attribute:   The current snapshot")
    assert "Docstring" in ask("table.files") and "Attribute:" not in ask("table.files"), (
        "a property speaks for itself"
    )
    assert ask("table.diff").startswith("Signature") and "Create a new string" in ask("text")
    html = shell.object_inspect_mime("table.name")["text/html"]
    assert html.startswith("<h1>Attribute</h1>\n<pre>The table&#x27;s name")
    assert "Attribute:" not in shell.object_inspect_mime("table.name", 1)["text/plain"], (
        "?? asks for the source"
    )


def test_a_name_of_a_lake_is_text_in_an_answer() -> None:
    from lakelens.completion import explain_attribute

    field = Field(1, "a\x1b[31m\u202eb", DataType("int", "int32"))
    known = {"name": "field.name", "type_name": "str", "string_form": field.name, "docstring": ""}
    info = SimpleNamespace(parent=field)
    asked = SimpleNamespace(info=info, info_dict=known, detail_level=0, omit_sections=[], obj=field.name)
    answer = explain_attribute(asked)
    assert answer is not None and answer[0] == ("Attribute", "The column's name.")
    assert answer[2] == ("String form", "a⟨U+001B⟩[31m⟨U+202E⟩b")
    assert explain_attribute(SimpleNamespace(info=None)) is None


def test_snapshots_by_name() -> None:
    table = ll.sample("iceberg-branches")
    for ref in table.refs:
        assert table.snapshots[ref.name].id == ref.snapshot_id
    first = table.snapshots[0]
    assert table.snapshots[str(first.id)].id == first.id and table.snapshots[:1][str(first.id)].id == first.id
    with pytest.raises(LakeError, match="did you mean main"):
        table.snapshots["mian"]
    with pytest.raises(KeyError):
        table.snapshots[:1]["mian"]
    paimon = ll.sample("paimon-branches")
    with pytest.raises(UnknownName, match="nothing was committed"):
        paimon.snapshots["blank"]
    for ref in (one for one in paimon.refs.branches if one.name != "blank"):
        assert paimon.snapshots[ref.name] is paimon.snapshot(ref.name)


def test_near_names_where_there_is_none() -> None:
    table = ll.sample("iceberg-branches")
    bounds = Bounds({"id": ColumnBounds("id", DataType("int", "int32"))})
    for ask, near in (
        (lambda: table.refs["mian"], "main"),
        (lambda: bounds["idd"], "id"),
        (lambda: table.schema["idd"], "id"),
        (lambda: ll.sample()["icebreg"], "iceberg"),
    ):
        with pytest.raises(UnknownName, match=f"did you mean .*{near}") as raised:
            ask()
        assert isinstance(raised.value, KeyError)
    assert "idd" not in bounds and bounds.get("idd") is None and "id" in bounds
    nested = next(name for name, _ in ll.sample("iceberg-evolution").schema.walk())
    assert ll.sample("iceberg-evolution").schema[nested].name == nested.rsplit(".", 1)[-1]
    with pytest.raises(TypeError, match=r"by id: schema\.field\(1\)"):
        table.schema[1]


def test_importing_reads_no_names() -> None:
    code = "import lakelens, lakelens.model.table, sys; print([n for n in sys.modules if 'views' in n or n == 'tomllib'])"
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.strip() == "[]"
