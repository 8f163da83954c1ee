"""How often intervals, tests, planned rows, verdicts and gates keep what they promise, in samples of populations that are known.

    python bench/coverage.py [--runs N] [--only paired,sizes,clusters,rows,verdicts,power,several,gates,sessions,corrected,
        looks,stops,labels]

Prints every cell, with its goal above it. A cell that misses its goal has a ``!``, and the last lines list those cells again; it
has a ``?`` where it misses by at most two standard errors of the simulation (at 0.95 and 2,000 runs: 0.01), too little to tell.
Seeds are fixed: the same command prints the same figures.

paired      Share of 95 % intervals of a difference that contain the truth, with 20, 50, 100 and 200 rows. Claim fractions: 2 to 7
            claims, supported with a chance that is beta(5, 0.7); pass rates; grades from 1 to 5; few changes: one row in ten
            changes, in most populations all of them for the worse.
sizes       Share of p-values of at most 0.05 where there is no difference.
clusters    The same intervals for rows in unequal clusters that are alike (intra-class correlation 0.1 and 0.5), and single means.
rows        A pilot names the rows that would show a difference with 80 % power; then so many are drawn: the share that shows it.
verdicts    Share of whole comparisons with any false *better* or *worse* where nothing changed, over all metrics and slices.
power       Share of the real changes that such comparisons find.
several     Share of comparisons of 3 and 10 runs in which any two are told apart where nothing differs, over all metrics.
gates       Share of commands with a gate falsely red, and of gates falsely green, where all truths are exactly at their limits.
sessions    The same for a session of tests, decided at its end: of 100 tests, and again with 100 more until it is decided, to 500.
            Nothing protects the latter: it is there to show why numbers have to be fixed.
corrected   Share of 95 % intervals of the difference that people would see (`compare --labels`) that contain the truth.
looks       The same as gates, over all looks of runs that stop when their gates are decided, 500 rows: any gate red, all green.
labels      The same share for real labels of people: 500 of the rows of a source, with gates 0.05 and 0.1 from their mean.
stops       Share of the rows that such runs score where the truth is 0.1 from the limit, with 500, 200 and 100 rows.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import os
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Any

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
from core.statistics import comparison_simulation, gate_simulation, looks_simulation, simulation
from core.statistics.populations import (
    CLUSTERS,
    claim_fractions,
    drawn_falls,
    everyday,
    few_changes,
    grades,
    pass_rates,
)

DATA = Path(os.environ.get("RAGMETRICS_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
LABELLED = ("begin", "wice", "openqa")
ALIKE = (0.0, 0.5, 0.9)
SAME = (claim_fractions(), pass_rates(0.8, 0.8), grades())
WORSE = (claim_fractions(0.057), pass_rates(0.8, 0.75), grades(0.16))
LOST = claim_fractions(0.228)
LABEL = 80
ROWS = (20, 50, 100, 200)
LIKENESS = (0.1, 0.5)


@dataclass(frozen=True)
class Cell:
    """A share of this many runs, and between which bounds it should lie."""

    name: str
    value: float
    runs: int
    least: float = 0.0
    most: float = 1.0

    @property
    def miss(self) -> float:
        """How far it lies outside its bounds; 0 if it does not."""
        return max(self.least - self.value, self.value - self.most, 0.0)

    @property
    def sign(self) -> str:
        bound = self.least if self.value < self.least else self.most
        error = math.sqrt(bound * (1 - bound) / self.runs)
        return " " if not self.miss else "!" if self.miss > 2 * error else "?"

    def __str__(self) -> str:
        return f"{self.value:8.3f}{self.sign}"


def count(number: int, noun: str) -> str:
    return f"{number} {noun}{'s' * (number != 1)}"


Line = tuple[str, list[Cell]]
"""What stands at the left of a line, and its cells."""


def paired(runs: int) -> Iterator[Line]:
    """Coverage of the intervals of differences; binary pairs have no upper bound."""
    for name, population in everyday().items():
        most = 1.0 if name.startswith(("pass", "few passes")) else 0.98
        yield (
            name,
            [
                Cell(f"{name}, {rows} rows", simulation.pairs(population, rows, runs).coverage, runs, *bounds)
                for rows, bounds in zip(ROWS, [(0.92, 1.0), *[(0.93, most)] * 3], strict=True)
            ],
        )


def sizes(runs: int) -> Iterator[Line]:
    """How often the p-value is at most 0.05 although there is no difference."""
    for name, population in everyday().items():
        if abs(population.difference) < 1e-9:
            yield (
                name,
                [
                    Cell(f"{name}, {rows} rows", simulation.pairs(population, rows, runs).rejected, runs, 0.0, 0.05)
                    for rows in ROWS
                ],
            )


def clusters(runs: int) -> Iterator[Line]:
    """Coverage with 8, 15 and 30 unequal clusters."""
    shown = {
        "claim fractions, no difference": claim_fractions(),
        "claim fractions, -0.10": claim_fractions(0.114),
        "pass rate 0.8, no difference": pass_rates(0.8, 0.8),
        "pass rate 0.9, -0.10": pass_rates(0.9, 0.8),
        "grades, -0.36": grades(0.3),
        "30 % change, one way": few_changes(drawn_falls("even"), share=0.3),
        "few changes, one way": few_changes(drawn_falls("even")),
    }
    columns = [(number, likeness) for number in CLUSTERS for likeness in LIKENESS]
    for name, population in shown.items():
        yield (
            name,
            [
                Cell(
                    f"{name}, {number} clusters, {likeness}",
                    simulation.clustered_pairs(population, CLUSTERS[number], likeness, runs).coverage,
                    runs,
                    0.93,
                )
                for number, likeness in columns
            ],
        )
    for name, population in {"claim fractions": claim_fractions(), "pass rate 0.8": pass_rates(0.8, 0.8)}.items():
        yield (
            f"single mean of {name}",
            [
                Cell(
                    f"single mean of {name}, {number} clusters, {likeness}",
                    simulation.clustered_means(population, CLUSTERS[number], likeness, runs),
                    runs,
                    0.93,
                )
                for number, likeness in columns
            ],
        )


def rows(runs: int) -> Iterator[Line]:
    """The power of as many rows as a pilot of 100 asks for, whose own true difference is 0 or just that of the margin."""
    few = max(runs // 4, 1)
    margins = {
        "claim fractions, margin 0.03": (claim_fractions(), claim_fractions(0.0342)),
        "claim fractions, margin 0.10": (claim_fractions(), claim_fractions(0.114)),
        "claim fractions, 70 % kept, 0.03": (claim_fractions(0.0, 0.7), claim_fractions(0.114, 0.7)),
        "pass rate 0.8, margin 0.10": (pass_rates(0.8, 0.8), pass_rates(0.8, 0.7)),
        "pass rate 0.9, margin 0.05": (pass_rates(0.9, 0.9), pass_rates(0.9, 0.85)),
        "grades, margin 0.36": (grades(), grades(0.3)),
        "30 % change, margin 0.03": (
            few_changes(drawn_falls("even"), 0.3, 0.5),
            few_changes(drawn_falls("even"), 0.3, 0.5 + 0.03 / 0.3 / 0.65),
        ),
    }
    for name, (same, changed) in margins.items():
        plans = [simulation.planned(pilot, changed, 100, few) for pilot in (same, changed)]
        named = " / ".join("none" if plan.rows is None else f"{plan.rows:.0f}" for plan in plans)
        yield f"{name} ({named} rows)", [Cell(f"{name}, power", plan.power, few, 0.75, 0.87) for plan in plans]


def verdicts(runs: int) -> Iterator[Line]:
    """Any false verdict where nothing changed."""
    few = max(runs // 4, 1)
    for metrics, slices, rows in ((1, 1, 100), (3, 1, 100), (11, 1, 100), (1, 8, 400), (3, 8, 400), (11, 8, 400)):
        cells = []
        for alike in ALIKE:
            scene = [[SAME[metric % 3]] * slices for metric in range(metrics)]
            times = few if slices > 1 else runs
            name = f"{count(metrics, 'metric')}, {count(slices, 'slice')}, correlation {alike}"
            cells.append(Cell(name, comparison_simulation.compared(scene, rows, alike, times).false, times, 0.0, 0.05))
        yield f"{count(metrics, 'metric')}, {count(slices, 'slice')}, {rows} rows", cells


def power(runs: int) -> Iterator[Line]:
    """What is shown of real changes."""
    few = max(runs // 4, 1)
    for metrics, slices, rows in ((1, 1, 100), (3, 1, 100), (11, 1, 100), (3, 8, 400), (11, 8, 400)):
        all_same = [[SAME[metric % 3]] * slices for metric in range(metrics)]
        scenes = {"claim fractions fall by 0.05": [[WORSE[0]] * slices, *all_same[1:]]}
        if metrics > 1:
            scenes["all metrics fall by 0.05"] = [[WORSE[metric % 3]] * slices for metric in range(metrics)]
        if slices > 1:
            scenes["claim fractions fall by 0.2 in one slice"] = [[LOST, *all_same[0][1:]], *all_same[1:]]
        for label, scene in scenes.items():
            found = comparison_simulation.compared(scene, rows, 0.5, few)
            shares = [share for share in (found.metrics, found.slices) if share is not None]
            name = f"{count(metrics, 'metric')}, {count(slices, 'slice')}, {rows} rows: {label}"
            yield name, [Cell(name, share, few) for share in shares]


def several(runs: int) -> Iterator[Line]:
    """Three and ten runs with nothing different."""
    few = max(runs // 4, 1)
    for row in (comparison_simulation.pass_or_fail, comparison_simulation.shares_of_claims):
        for metrics in (1, 3):
            line = f"{row.__name__.replace('_', ' ')}, {count(metrics, 'metric')}, 100 rows"
            shares = {n: comparison_simulation.any_alarm(row, n, 100, metrics, few) for n in (3, 10)}
            yield line, [Cell(f"{line}: {n} runs", share, few, 0.0, 0.05) for n, share in shares.items()]


def gates(runs: int) -> Iterator[Line]:
    """One gate and eight, with the truth at the limit."""
    means = {
        "claim fractions >= 0.8": claim_fractions(shape=(2.8, 0.7)),
        "claim fractions >= 0.95": claim_fractions(shape=(13.3, 0.7)),
        "pass rate >= 0.8": pass_rates(0.8, 0.8),
        "pass rate >= 0.95": pass_rates(0.95, 0.95),
        "grades >= 3.97": grades(),
    }
    drops = {
        "claim fractions drop <= 0.03": claim_fractions(0.0342),
        "pass rate drop <= 0.03": pass_rates(0.8, 0.77),
        "few changes, drop <= 0.03": few_changes(drawn_falls("even")),
    }
    of_means = [(name, population, gate_simulation.mean_gates) for name, population in means.items()]
    of_drops = [(name, population, gate_simulation.drop_gates) for name, population in drops.items()]
    few = max(runs // 4, 1)
    for name, population, simulated in of_means + of_drops:
        for size in (20, 100):
            one, eight = simulated(population, 1, size, runs), simulated(population, 8, size, few)
            line = f"{name}, {size} rows"
            yield (
                line,
                [
                    Cell(f"{line}: one gate red", one.red, runs, 0.0, 0.05),
                    Cell(f"{line}: any of eight red", eight.red, few, 0.0, 0.05),
                    Cell(f"{line}: one gate green", one.green, runs, 0.0, 0.05),
                    Cell(f"{line}: any of eight red by itself", eight.alone, few),
                ],
            )


def sessions(runs: int) -> Iterator[Line]:
    """A gate of a session of tests, once and repeated with more tests."""
    for rate in (0.8, 0.95):
        cells = []
        for name, sizes in (("once", (100,)), ("repeated", (100, 200, 300, 400, 500))):
            shares = gate_simulation.repeated_sessions(rate, f"m >= {rate}", sizes, runs)
            most = 0.05 if name == "once" else 1.0
            cells += [
                Cell(f"{name}, {rate}: {verdict}", share, runs, 0.0, most)
                for verdict, share in zip(("red", "green"), shares, strict=True)
            ]
        yield f"pass rate >= {rate}", cells


def corrected(runs: int) -> Iterator[Line]:
    """Differences that people would see, with labels in both runs."""
    few = max(runs // 4, 1)
    for better, worse in ((0.0, 0.0), (0.05, 0.0), (0.05, 0.05), (0.1, 0.05), (0.0, 0.1)):
        for errors in ((0.05, 0.05), (0.2, 0.2), (0.05, 0.2)):
            name = f"{better:.0%} better, {worse:.0%} worse, the judge errs in {errors[0]:.0%} and {errors[1]:.0%}"
            shares = {n: comparison_simulation.corrected(better, worse, errors, n, few) for n in (30, 100)}
            yield name, [Cell(f"{name}, {n} labels", share, few, 0.92, 1.0) for n, share in shares.items()]


def looks(runs: int) -> Iterator[Line]:
    """Runs that stop when their gates are decided, with all truths at their limits."""
    few = max(runs // 4, 1)
    scenes: dict[str, tuple[looks_simulation.Draw, Sequence[str], dict[str, Any]]] = {
        "pass rate >= 0.8": (looks_simulation.passes(0.8, 500), ["m0 >= 0.8"], {}),
        "pass rate >= 0.95": (looks_simulation.passes(0.95, 500), ["m0 >= 0.95"], {}),
        "claim fractions >= 0.8": (looks_simulation.claim_shares(500), ["m0 >= 0.8"], {}),
        "beta(9, 1) >= 0.9": (looks_simulation.beta_values(9, 1, 500), ["m0 >= 0.9"], {}),
        "drop <= 0.05, 85 % ties": (looks_simulation.two_runs(0.05, 0.1, 500), ["m0 drop <= 0.05"], {}),
        "drop <= 0.05, all worse": (looks_simulation.two_runs(0.0, 0.05, 500), ["m0 drop <= 0.05"], {}),
        "clusters of 5, correlation 0.3": (
            looks_simulation.in_clusters(0.8, 5, 0.3, 500),
            ["m0 >= 0.8"],
            {"cluster": "doc"},
        ),
        "fails take 1.5 times as long": (looks_simulation.passes(0.8, 500), ["m0 >= 0.8"], {"slow": 1.5}),
        "fails take twice as long": (looks_simulation.passes(0.8, 500), ["m0 >= 0.8"], {"slow": 2.0}),
        "three metrics, half of each row alike": (
            looks_simulation.several_passes(0.8, 3, 0.5, 500),
            [f"m{place} >= 0.8" for place in range(3)],
            {},
        ),
    }
    for name, (draw, gates, options) in scenes.items():
        found = looks_simulation.looked(draw, gates, few, **options)
        yield (
            name,
            [
                Cell(f"{name}: any gate red", found.red, few, 0.0, 0.05),
                Cell(f"{name}: all green", found.green, few, 0.0, 0.05),
            ],
        )


def stops(runs: int) -> Iterator[Line]:
    """Runs whose truth is 0.1 from the limit."""
    few = max(runs // 10, 1)
    scenes: dict[str, tuple[Callable[[int], looks_simulation.Draw], str, dict[str, Any]]] = {
        "pass rate 0.8 >= 0.7": (lambda rows: looks_simulation.passes(0.8, rows), "m0 >= 0.7", {}),
        "pass rate 0.8 >= 0.9": (lambda rows: looks_simulation.passes(0.8, rows), "m0 >= 0.9", {}),
        "pass rate 0.5 >= 0.4": (lambda rows: looks_simulation.passes(0.5, rows), "m0 >= 0.4", {}),
        "pass rate 0.5 >= 0.6": (lambda rows: looks_simulation.passes(0.5, rows), "m0 >= 0.6", {}),
        "claim fractions 0.8 >= 0.7": (looks_simulation.claim_shares, "m0 >= 0.7", {}),
        "beta(8, 2) >= 0.7": (lambda rows: looks_simulation.beta_values(8, 2, rows), "m0 >= 0.7", {}),
        "beta(0.8, 0.2) >= 0.7": (lambda rows: looks_simulation.beta_values(0.8, 0.2, rows), "m0 >= 0.7", {}),
        "drop 0, 90 % ties, <= 0.1": (lambda rows: looks_simulation.two_runs(0.05, 0.05, rows), "m0 drop <= 0.1", {}),
        "drop 0.05, 85 % ties, <= 0.15": (
            lambda rows: looks_simulation.two_runs(0.05, 0.1, rows),
            "m0 drop <= 0.15",
            {},
        ),
        "drop 0.1, 70 % ties, <= 0": (lambda rows: looks_simulation.two_runs(0.1, 0.2, rows), "m0 drop <= 0", {}),
        "clusters of 5, correlation 0.3, 0.8 >= 0.7": (
            lambda rows: looks_simulation.in_clusters(0.8, 5, 0.3, rows),
            "m0 >= 0.7",
            {"cluster": "doc"},
        ),
    }
    for name, (draw, gate, options) in scenes.items():
        cells = []
        for rows in (500, 200, 100):
            found = looks_simulation.looked(draw(rows), [gate], few, **options)
            most = 0.6 if rows == 500 and not options else 1.0
            cells.append(Cell(f"{name}, {rows} rows", found.rows, few, 0.0, most))
        yield name, cells


def labels(runs: int) -> Iterator[Line]:
    """Labels of people as scores: whether an answer is faithful, or correct."""
    found: dict[str, list[float]] = {}
    with gzip.open(DATA / "rag_records.jsonl.gz", "rt", encoding="utf-8") as lines:
        for record in map(json.loads, lines):
            source = record["id"].partition("-")[0]
            for name in ("faithful", "correct"):
                if record[name] is not None and source in LABELLED:
                    found.setdefault(f"{source}, {name}", []).append(float(record[name]))
    for name, values in found.items():
        mean, count = fmean(values), min(500, len(values) - 1)
        cells = []
        for distance in (-0.1, -0.05, 0.05, 0.1):
            draw, few = looks_simulation.labelled(values, count), max(runs // 20, 1)
            run = looks_simulation.looked(draw, [f"m0 >= {mean + distance:.4f}"], few)
            cells.append(Cell(f"{name}, limit {distance:+} from the mean", run.rows, few))
        yield f"{name}: mean {mean:.2f}, {count} rows", cells


SECTIONS: dict[str, tuple[str, Sequence[str], Callable[[int], Iterator[Line]]]] = {
    "paired": (
        "Intervals of differences, by rows: goal 0.92 or more with 20, 0.93 to 0.98 from 50 on (Tango may be above)",
        [str(count) for count in ROWS],
        paired,
    ),
    "sizes": (
        "P-values of at most 0.05 where there is no difference: goal 0.05 or less",
        [str(n) for n in ROWS],
        sizes,
    ),
    "clusters": (
        "Intervals with unequal clusters, by their number and intra-class correlation: goal 0.93 or more",
        [f"{number}/{likeness}" for number in CLUSTERS for likeness in LIKENESS],
        clusters,
    ),
    "rows": (
        "Power with the rows that a pilot of 100 asks for, by the true difference of the pilot: goal about 0.8 (0.75 to 0.87)",
        ["none", "margin"],
        rows,
    ),
    "verdicts": (
        "Whole comparisons, by the correlation of metrics: any false verdict, goal 0.05 or less",
        [str(alike) for alike in ALIKE],
        verdicts,
    ),
    "power": ("Share of real changes that whole comparisons show (correlation 0.5)", ["metrics", "slices"], power),
    "several": (
        "Several runs with nothing different: any two told apart, goal 0.05 or less",
        ["3 runs", "10 runs"],
        several,
    ),
    "gates": (
        "Gates with the truth at their limit: falsely red (one, any of 8) or green, goal 0.05 or less; without adjustment",
        ["one", "of 8", "green", "(alone)"],
        gates,
    ),
    "sessions": (
        "A gate of a session of tests, with the truth at its limit: goal 0.05 or less once, none if repeated until decided",
        ["red", "green", "(red)", "(green)"],
        sessions,
    ),
    "corrected": (
        "Intervals of the difference that people would see, by the number of labels in both runs: goal 0.92 or more",
        ["30", "100"],
        corrected,
    ),
    "looks": (
        "Runs that stop when their gates are decided, with the truth at the limit: goal 0.05 or less",
        ["red", "green"],
        looks,
    ),
    "stops": (
        "Share of the rows that they score, with the truth 0.1 from the limit: goal 0.6 or less with 500 rows",
        ["500", "200", "100"],
        stops,
    ),
    "labels": (
        "Share of the rows that they score, for labels of people, by the distance of the limit from the mean",
        ["-0.1", "-0.05", "+0.05", "+0.1"],
        labels,
    ),
}


def main() -> None:
    parser = argparse.ArgumentParser(description="How often the statistics keep what they promise.")
    parser.add_argument("--runs", type=int, default=2000, help="samples per cell; the slow ones have a quarter of them")
    parser.add_argument("--only", default=",".join(SECTIONS), help="sections, with commas between them")
    arguments = parser.parse_args()
    cells = list[Cell]()
    for name in arguments.only.split(","):
        if name not in SECTIONS:
            parser.error(f"--only takes {', '.join(SECTIONS)}, got {name!r}")
        title, columns, lines = SECTIONS[name]
        started = time.perf_counter()
        print(f"\n{title}\n{'':{LABEL}s}{''.join(f'{column:>9s}' for column in columns)}")
        for label, found in lines(arguments.runs):
            print(f"{label:{LABEL}s}{''.join(map(str, found))}", flush=True)
            cells += found
        print(f"({time.perf_counter() - started:.0f} s)")
    short = [cell for cell in cells if cell.sign == "!"]
    unclear = sum(cell.sign == "?" for cell in cells)
    print(f"\n{len(short)} of {len(cells)} cells miss their goal, {unclear} more by too little to tell")
    for cell in short:
        print(f"! {cell.name}: {cell.value:.3f}, goal {cell.least:.2f} to {cell.most:.2f}")


if __name__ == "__main__":
    main()
