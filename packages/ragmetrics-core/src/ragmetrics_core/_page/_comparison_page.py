"""The page of a comparison: two runs side by side in one HTML file, which opens without a network and escapes all texts.

As in the text of a comparison, warnings that forbid crediting a difference to the system come before any number. The sentence and
the table of metrics with their verdicts follow, then gates, reasons, slices, who scored the runs, rows without a pair or a value,
and notes on the numbers. All of this is markup that needs no script. The rows, which the script shows, are columns with two sides
each.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from itertools import groupby
from pathlib import Path
from typing import Any

from .._compare._blocks import (
    NUMBERS,
    SHORT_VERDICTS,
    pairs_in_words,
    remarks,
    row_remarks,
    telling,
    verdict_in_words,
    warning_head,
)
from .._compare._comparison import ComparedRuns, MetricComparison
from .._compare._pairs import Pairing
from .._compare._sentence import comparison_sentence
from .._compare._verdicts import Verdict, ends, signed
from .._gate._evidence import about
from .._gate._results import Decision
from .._run._slices import slice_name
from .._show._blocks import Items, Table, as_html
from .._store._files import SCORES
from .._store._parquet import METADATA
from .._summary._tally import summary_of
from .._values._errors import InvalidInput
from .._values._tags import EMPTY, Html, element, joined
from ._charts import difference_chart, widest
from ._metrics_table import LOW_COVERAGE, Cell, direction, doubts, marked, metrics_table
from ._page import COMPARISON, LARGEST, Content, breakable, bytes_of, caveat_section, notice, section, title_of
from ._rows import PairedRows
from ._run_page import ABOUT, fact_list, facts, gate_list

MARKS: dict[Verdict, tuple[str, str]] = {
    "better": ("\u2714", "good"),
    "worse": ("\u2718", "bad"),
    "no difference larger than the margin": ("=", "same"),
    "cannot say": ("?", "open"),
}
"""The symbol and the kind of each verdict."""

IN_REASONS = ("p", "adjusted p", "pairs", "changed", "coverage")
"""The numbers that are not in the table of metrics."""

IN_SLICES = ("before", "after", "difference", "95 % interval", "adjusted p")
"""The numbers of the table of slices. Coverage stands there only where it is a caveat."""


def _header(comparison: ComparedRuns) -> Html:
    """Return the head of the page. Warnings that forbid crediting a difference to the system stand above all numbers."""
    warning = notice(warning_head(comparison), "", "caveat bad", comparison.warnings) if comparison.warnings else None
    return joined(
        [
            element("p", "ragmetrics comparison", class_="kicker"),
            element(
                "h1",
                element("span", *title_of(comparison.before), dir="auto"),
                element("span", " \u2192 ", aria_hidden="true", class_="arrow"),
                element("span", " compared with ", class_="aside"),
                element("span", *title_of(comparison.after), dir="auto"),
            ),
            element("p", comparison_sentence(comparison), class_="sentence", dir="auto"),
            warning,
        ]
    )


def comparison_metrics(comparison: ComparedRuns, name: str = "metrics", title: str = "Metrics", *below: Html) -> Html:
    """Return the table of metrics, in their order, with differences on comparable axes; ``below`` follows in the same section."""
    share = widest(comparison.metrics)
    columns: dict[str, Callable[[MetricComparison], Cell]] = {
        "Before": lambda item: _side(item.before),
        "After": lambda item: _side(item.after),
        "Change": lambda item: _change(item, share),
        "Verdict": lambda item: Cell(joined([_verdict(item), marked(_doubts(item))]), [*MARKS].index(item.verdict)),
    }
    lead = element("p", f"{pairs_in_words(comparison)}. Differences are after minus before.", class_="lead")
    return section(name, title, metrics_table(comparison.metrics, columns, _direction), lead, *below)


def _direction(item: MetricComparison) -> str:
    return direction(item.higher_is_better, "no better end known", item.scale)


def _side(mean: float | None) -> Cell:
    return Cell("\u2013" if mean is None else f"{mean:.3f}", mean)


def _change(item: MetricComparison, share: float) -> Cell:
    """Return the difference with its interval, in numbers and as a picture."""
    if item.difference is None:
        pairs = "no row has a value in both runs" if item.before is None else "not compared"
        return Cell(element("span", pairs, class_="limits"))
    limits = ends(item.interval) if item.interval else "no interval: too few rows"
    numbers = element("p", element("b", signed(item.difference)), element("span", limits, class_="limits"))
    return Cell(joined([numbers, difference_chart(item, share)]), item.difference)


def _doubts(item: MetricComparison) -> list[str]:
    """Return what stands against a verdict, in short: the section on rows without a value has it in full."""
    before, after = item.rows_before, item.rows_after
    failed = len(before.failed) + len(after.failed)
    few = next((short for short, _ in doubts(item.pairs, item.pairs, 0, "pair")), None)
    coverage = NUMBERS["coverage"](item).replace(", ", " \u2192 ")
    low = min(before.coverage or 0.0, after.coverage or 0.0) < LOW_COVERAGE
    texts = f"{failed:,} failed" if failed else None, f"{coverage} scored" if low else None, few
    return [text for text in texts if text]


def reasons(comparison: ComparedRuns) -> Html:
    """Return the reason for each verdict, with the difference that people would see, and the numbers behind it."""
    people = {item.metric: f"{item}." for item in comparison.corrected}
    items = [
        Items([text for text in (f"{item.why[:1].upper()}{item.why[1:]}.", people.get(item.name)) if text], item.name)
        for item in comparison.metrics
    ]
    numbers = [[item.name, *_numbers(item).values()] for item in comparison.metrics]
    headings = ["metric", *(_numbers(comparison.metrics[0]) if comparison.metrics else ())]
    table = as_html([Table(headings, numbers)])
    region = element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Table of numbers")
    return element("div", as_html([Items(items)]), region, class_="reasons")


def _verdict(item: MetricComparison) -> Html:
    """Return a verdict with its symbol."""
    mark, kind = MARKS[item.verdict]
    sign = element("span", mark, class_="sign", aria_hidden="true")
    words = verdict_in_words(item)
    return element("span", sign, SHORT_VERDICTS.get(words, words), class_=f"verdict {kind}")


def _numbers(item: MetricComparison) -> dict[str, str]:
    """Return the numbers behind a verdict, each with its name."""
    counts = (f"{found.scored:,} of {found.rows:,}" for found in (item.rows_before, item.rows_after))
    return {
        **{name: NUMBERS[name](item) for name in IN_REASONS},
        "rows with a value": " \u2192 ".join(counts),
        "margin": f"{item.margin:.3g}",
        "rows to show the margin": "not known" if item.rows_needed is None else f"about {about(item.rows_needed):,}",
        "shown with 80 % power": "not known" if item.smallest_change is None else f"{item.smallest_change:.3g}",
        "clusters": "-" if item.clusters is None else f"{item.clusters:,}",
    }


def slice_section(comparison: ComparedRuns, name: str = "slices", title: str = "Slices by ") -> Html:
    """Return each metric in each slice, and the reasons that must be read; nothing if there are no slices.

    Args:
        comparison: two runs.
        name: the id of the section.
        title: its title, without the column.
    """
    if not comparison.slices or comparison.by is None:
        return EMPTY
    share, path = widest(comparison.slices), comparison.by.removeprefix(METADATA)
    order = {item.label: at for at, item in reversed(list(enumerate(comparison.slices)))}
    items = sorted(comparison.slices, key=lambda item: order[item.label])  # put the metrics of a slice below each other
    columns: dict[str, Callable[[MetricComparison], Html | str | None]] = {
        "metric": lambda item: element("bdi", breakable(item.name)),
        "verdict": lambda item: joined([_verdict(item), marked(_doubts(item))]),
        "picture": lambda item: difference_chart(item, share, ends=False),
        **{name: NUMBERS[name] for name in IN_SLICES},
        "pairs (changed)": lambda item: f"{item.pairs:,} ({NUMBERS['changed'](item)})",
    }
    heads = [element("th", name, scope="col", class_=_kind(name)) for name in (path, *columns)]
    groups = ((label, list(group)) for label, group in groupby(items, key=lambda item: item.label))
    bodies = (_slice_rows(path, label, group, columns) for label, group in groups)
    told = [f"{item.name}, {item.slice}: {item.why}" for item in telling(items)]
    table = element("table", element("thead", element("tr", *heads)), *bodies, class_="slices")
    return section(
        name,
        f"{title}{path}",
        element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Table of slices"),
        as_html([Items(told)]),
    )


def _slice_rows(
    path: str,
    label: str | None,
    items: Sequence[MetricComparison],
    columns: Mapping[str, Callable[[MetricComparison], Any]],
) -> Html:
    """Return the rows of one slice, whose name stands once; the heading has the name of the column."""
    words = (items[0].slice or "").removeprefix(slice_name(path, ""))
    about = {"scope": "rowgroup", "rowspan": len(items), "dir": "auto", "data_slice": path, "data_value": label}
    heads = [element("th", words, **about), *[None] * (len(items) - 1)]
    rows = (
        element(
            "tr",
            head,
            *(element("td", cell(item), data_name=name, class_=_kind(name)) for name, cell in columns.items()),
        )
        for head, item in zip(heads, items, strict=True)
    )
    return element("tbody", *rows)


def _kind(column: str) -> str | None:
    """Return the class of the cells of a column."""
    numeric = column in IN_SLICES or column.startswith("pairs")
    return "number" if numeric else column if column in ("metric", "picture") else None


def write_comparison(
    comparison: ComparedRuns,
    path: str | os.PathLike[str],
    max_megabytes: float = LARGEST,
    decision: Decision | None = None,
) -> None:
    """Write the page of a comparison, with the results of its gates; ``Comparison.to_html`` documents the arguments.

    Raises:
        InvalidInput: the size is not above 0, the path is the scores file of a run, or the comparison has no rows.
    """
    if comparison.paired is None:
        raise InvalidInput("this comparison has no rows: make it with Evaluation.compare")
    pairing = comparison.paired.read()
    for run in (pairing.before, pairing.after):
        folder = run.evaluation.run_dir
        if folder is not None and Path(path).resolve() == (folder / SCORES).resolve():
            raise InvalidInput(f"{path} is the scores file of a compared run: give another path")
    comparison_content(comparison, pairing, decision).written_to(path, bytes_of(max_megabytes))


def comparison_content(comparison: ComparedRuns, pairing: Pairing, decision: Decision | None) -> Content:
    """Return the content of the page of a comparison."""
    rows, runs = PairedRows(pairing, comparison.metrics), (pairing.before, pairing.after)
    without, rests = (as_html([Items(list(found(comparison)))]) for found in (row_remarks, remarks))
    return Content(
        title=f"{comparison.before} \u2192 {comparison.after} \u2013 ragmetrics comparison",
        kind=COMPARISON,
        parts={
            "header": _header(comparison),
            "metrics": comparison_metrics(comparison),
            "caveats": caveat_section([*comparison.caveats, *comparison.incomplete]),
            "gates": gate_list(decision),
            "reasons": section("reasons", "Reasons and numbers", reasons(comparison)),
            "slices": slice_section(comparison),
            "about": section("about", ABOUT, fact_list(*(facts(run, summary_of(run.evaluation)) for run in runs))),
            "without": section("without", "Rows without a pair or a value", without),
            "rests_on": section("rests", "What the numbers rest on", rests),
        },
        data={
            "metrics": [_metric(item) for item in comparison.metrics],
            "names": [comparison.before, comparison.after],
        },
        rows=rows.to_dict(comparison.by),
        notes=rows.notes(),
        order=rows.order(),
        evidence=rows.evidence,
        markdown=rows.markdown,
    )


def _metric(item: MetricComparison) -> dict[str, Any]:
    """Return the data of a metric for the script; ``total`` is the sum of the sizes of all changes."""
    return {
        "name": item.name,
        "scale": list(item.scale) if item.scale else None,
        "better": item.higher_is_better,
        "credited": item.credited,
        "why": item.why,
        "total": item.values.changes.size if item.values else 0.0,
    }
