"""What importing and opening cost: nothing heavy is loaded, no manifest is read."""

from __future__ import annotations

import subprocess
import sys

import pytest

import lakelens as ll

HEAVY = {
    "pandas",
    "pyarrow",
    "pyspark",
    "datafusion",
    "numpy",
    "fsspec",
    "fastavro",
    "anywidget",
    "matplotlib",
}


def run(script: str) -> str:
    return subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    ).stdout.strip()


def loaded_by(script: str) -> set[str]:
    """The heavy packages that are loaded in a fresh interpreter after a script."""
    names = run(f"{script}\nimport sys\nprint(' '.join(name for name in sys.modules if '.' not in name))")
    return HEAVY & set(names.split())


def test_import_loads_nothing_heavy() -> None:
    assert loaded_by("import lakelens") == set()


def test_the_check_itself_sees_heavy_packages() -> None:
    assert "numpy" in loaded_by("import numpy")


def test_every_public_name_is_there() -> None:
    for name in ll.__all__:
        assert getattr(ll, name) is not None
    assert set(ll.__all__) <= set(dir(ll))
    with pytest.raises(AttributeError, match="nothing"):
        _ = ll.nothing


@pytest.mark.exhaustive(keep=4)
@pytest.mark.parametrize("name", [one.name for one in ll.sample()])
def test_opening_loads_no_engine_and_no_frame(name: str) -> None:
    loaded = loaded_by(f"import lakelens as ll\nll.sample({name!r})")
    # the schema of a Delta table may be in a checkpoint, which is Parquet
    arrow = set() if name.startswith("delta") else {"pyarrow"}
    assert loaded & {"pandas", "pyspark", "datafusion"} | loaded & arrow == set()


@pytest.mark.parametrize("name", [one.name for one in ll.sample()])
def test_opening_reads_no_manifest(name: str) -> None:
    table = ll.sample(name)
    read = {path.removeprefix(table.location) for path in table.reads.paths}
    read = {
        path for path in read if not path.startswith("/_delta_log/")
    }  # which has the schema beside the files
    assert not {path for path in read if path.endswith((".avro", ".parquet", ".orc", ".puffin"))}
    assert not {path for path in read if path.startswith(("/manifest/", "/bucket-", "/index/", "/data/"))}
    manifests = table.current.manifests if table.current is not None else ()
    for manifest in manifests:
        assert table.format == "delta" or manifest.path not in table.reads.paths
    assert len(table.files) > 0
    # what only tells of changes does not tell which files there are
    telling = {manifest.path for manifest in manifests if manifest.content != "changelog"}
    assert telling <= set(table.reads.paths)


@pytest.mark.parametrize("name", ["delta", "iceberg", "paimon"])
def test_a_card_and_the_listing_of_snapshots_load_no_engine_no_frame_no_arrow(name: str) -> None:
    script = f"import lakelens as ll\ntable = ll.sample({name!r})\ntable._repr_html_()\ntable.snapshots._repr_html_()"
    assert loaded_by(script) <= {"fastavro"}


def test_a_tab_keeps_no_code_for_webassembly_in_the_picture_of_its_memory() -> None:
    """A second visit begins with a picture of what `lakelens.tab.inside` imports, which holds plain Python alone."""
    script = """
import sys
from lakelens.tab.inside import _NATIVE, warm_up
warm_up()
assert "lakelens.views.card.glossary" in sys.modules
print(*(name for name in _NATIVE if name in sys.modules))
"""
    assert run(script).split() == []


#: Modules of ours that the card of a small table may load.
MOST_MODULES = 130


@pytest.mark.parametrize("name", ["hive", "iceberg", "paimon"])
def test_a_first_card_loads_what_it_shows(name: str) -> None:
    script = f"""
import dataclasses, sys
made = set()
process = dataclasses._process_class
def note(kind, *given, **options):
    asks = sys._getframe(1)
    while asks.f_globals["__name__"] == "dataclasses":
        asks = asks.f_back
    if asks.f_globals["__name__"] != "lakelens.lazy":
        made.add(f"{{kind.__module__}}.{{kind.__qualname__}}")
    return process(kind, *given, **options)
dataclasses._process_class = note
import lakelens as ll
ll.sample({name!r})._repr_html_()
ours = sorted(name for name in sys.modules if name.partition(".")[0] == "lakelens")
print(";".join([" ".join(ours), " ".join(sorted(set(sys.modules) - set(ours))), " ".join(sorted(made))]))
"""
    ours, others, compiled = (part.split() for part in run(script).split(";"))
    assert len(ours) <= MOST_MODULES, ours
    unasked = (
        "lakelens.analysis.explain",
        "lakelens.views.hexdump",
        "lakelens.views.render.plot",
        "lakelens.practice",
    )
    assert not [module for module in ours if module.startswith(unasked)]
    slow = {
        "asyncio",
        "concurrent.futures",
        "email",
        "http",
        "importlib.metadata",
        "importlib.resources",
        "logging",
    }
    assert slow.isdisjoint(others) and {"fastavro", "pyroaring"}.isdisjoint(others)
    # `lakelens.lazy` compiles a class when the first object of it is made
    assert [name for name in compiled if name.startswith("lakelens.")] == []
