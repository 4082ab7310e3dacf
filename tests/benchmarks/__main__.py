"""Measure lakelens beside its peers, keep the results and write them into the README.

python -m tests.benchmarks                       every part: most of an hour on two quiet cores
python -m tests.benchmarks --quick --output ""   a minute or two, tiny tables, nothing kept
python -m tests.benchmarks --only iceberg,wide   some parts; what was kept of the others stays: `make benchmarks PARTS=…`
python -m tests.benchmarks --only steps --other ../older-checkout     the first steps, beside another checkout
python -m tests.benchmarks --only "" --write-readme     only write what is kept
"""

from __future__ import annotations

import argparse
import tempfile
import time
from dataclasses import replace
from pathlib import Path

from tests.benchmarks import cold_start, reach
from tests.benchmarks.measure import ROOT, Measurement, list_disagreements
from tests.benchmarks.parts import PARTS, QUICK, Plan
from tests.benchmarks.plots import draw_all
from tests.benchmarks.report import find_markers, render_report, render_steps, write_between_markers
from tests.benchmarks.report import say_seconds as say
from tests.benchmarks.results import Results, describe_machine, load_results
from tests.benchmarks.tables import Tables

COLD, REACH = "cold", "reach"


def main(arguments: list[str] | None = None) -> int:
    """Run what the command line asks for; 1 when readers of a table did not find the same."""
    asked = _parse(arguments)
    plan = _plan(asked)
    results = load_results(asked.output) if asked.output else Results()
    names = [*PARTS, COLD, REACH] if asked.only is None else [name for name in asked.only.split(",") if name]
    if asked.write_readme:
        find_markers((ROOT / "README.md").read_text("utf-8"))  # sooner than an hour later
    if unknown := set(names) - {*PARTS, COLD, REACH}:
        raise SystemExit(
            f"no part {', '.join(sorted(unknown))}; there are {', '.join([*PARTS, COLD, REACH])}"
        )
    if names:
        results.machine = describe_machine()
    with tempfile.TemporaryDirectory(prefix="lakelens-benchmarks-") as folder:
        tables = Tables(asked.tables or Path(folder), lambda line: print(line, flush=True))
        for name in names:
            _run_part(name, tables, plan, results)
            if asked.output:
                results.save(asked.output)
    steps = render_steps(results)
    if asked.output:
        draw_all(results, asked.output)
        if steps:
            (asked.output / "steps.md").write_text(steps, "utf-8")
    print("\n" + render_report(results))
    print("\n" + steps)
    if asked.write_readme:
        place = f"{asked.output.resolve().relative_to(ROOT)}/" if asked.output else ""
        write_between_markers(ROOT / "README.md", render_report(results, place))
    different = list_disagreements(results.measurements)
    print("\n".join(["", *different]) if different else "")
    return 1 if different else 0


def _run_part(name: str, tables: Tables, plan: Plan, results: Results) -> None:
    print(f"\n== {name}", flush=True)
    started = time.perf_counter()
    if name == COLD:
        results.cold_start = cold_start.measure_cases(plan.runs + 2, plan.files)
        results.cold_cpu = cold_start.measure_ratios(3 * plan.runs)
        results.modules = cold_start.count_all()
        print(cold_start.render_ratios(results.cold_cpu, results.modules), flush=True)
    elif name == REACH:
        few = ["--commits", "5", "--output", ""] if plan.runs == 1 else []
        reach.main(["--runs", str(min(3, plan.runs)), *few])
    else:
        measured = []
        for one in PARTS[name](tables, plan):
            measured.append(one)
            print(_say_line(one), flush=True)
        results.replace_case(name, measured)
    results.minutes[name] = (time.perf_counter() - started) / 60
    print(f"== {name}: {results.minutes[name]:.1f} minutes", flush=True)


def _say_line(one: Measurement) -> str:
    runner = f"{one.runner} ({one.checkout})" if one.checkout else one.runner
    if one.unavailable is not None:
        return f"{runner:38} {one.unavailable}"
    size = f"{one.table['files']:,} × {one.table['columns']:,}, {one.table['snapshots']:,}"
    memory = f"{(one.peak or 0) / 1e6:,.0f} MB" + (
        f", JVM {one.java_peak / 1e6:,.0f}" if one.java_peak else ""
    )
    return f"{runner:38} {size:22} warm {say(one.warm):16} cold {say(one.cold):16} {memory}"


def _plan(asked: argparse.Namespace) -> Plan:
    plan = replace(QUICK if asked.quick else Plan(), other=asked.other)
    if asked.runs:
        plan = replace(plan, runs=asked.runs)
    if asked.sizes:
        plan = replace(plan, entries=tuple(int(float(size)) for size in asked.sizes.split(",")))
    return plan


def _parse(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        "python -m tests.benchmarks", description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("--only", metavar="PARTS", help=f"of {','.join([*PARTS, COLD, REACH])}")
    parser.add_argument("--quick", action="store_true", help="tiny tables, one run of each")
    parser.add_argument("--sizes", metavar="FILES", help="sizes of the curve over files: 1e3,1e4,1e5")
    parser.add_argument("--runs", type=int, help="runs of what is quick (5)")
    parser.add_argument(
        "--other", type=_check_checkout, metavar="CHECKOUT", help="another one, for the steps"
    )
    parser.add_argument("--tables", type=Path, metavar="FOLDER", help="where grown tables are, and are kept")
    parser.add_argument("--write-readme", action="store_true", help="write between the README's markers")
    parser.add_argument(
        "--output",
        type=lambda text: Path(text) if text else None,
        default=ROOT / "docs" / "benchmarks",
        help='where results and plots are kept (docs/benchmarks; "": nowhere)',
    )
    return parser.parse_args(arguments)


def _check_checkout(text: str) -> Path:
    path = Path(text).resolve()
    if not (path / "lakelens" / "__init__.py").exists():
        raise argparse.ArgumentTypeError(f"{text} has no lakelens")
    return path


if __name__ == "__main__":
    raise SystemExit(main())
