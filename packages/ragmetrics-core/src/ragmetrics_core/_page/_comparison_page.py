"""The page of a comparison: two runs side by side in one HTML file, which opens without a network and escapes all texts.

As in the text of a comparison, warnings that forbid crediting a difference to the system come before any number. The header says
which runs are compared and who scored them, and each metric has a card with its verdict. Then come slices, gates, rows without a
pair or a value, and notes on the numbers. All of this is markup that needs no script. The rows, which the script shows, are
columns with two sides each.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from .._compare._blocks import (
    NUMBERS,
    SLICE_NUMBERS,
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
from .._compare._verdicts import Verdict, signed
from .._gate._evidence import about
from .._gate._results import Decision
from .._show._blocks import Items, as_html
from .._store._files import SCORES
from .._store._parquet import METADATA
from .._summary._tally import summary_of
from .._values._errors import InvalidInput
from .._values._tags import EMPTY, Html, element, joined
from ._charts import difference_chart, widest
from ._page import COMPARISON, LARGEST, Content, bytes_of, notice, section
from ._rows import PairedRows
from ._run_page import direction, fact_list, facts, gate_list

MARKS: dict[Verdict, tuple[str, str]] = {
    "better": ("\u2714", "good"),
    "worse": ("\u2718", "bad"),
    "no difference larger than the margin": ("=", "same"),
    "cannot say": ("?", "open"),
}
"""The symbol and the kind of each verdict."""

IN_CARDS = ("95 % interval", "p", "adjusted p", "pairs", "changed", "coverage")
"""The numbers of a card that are not at its top."""


def _header(comparison: ComparedRuns, pairing: Pairing) -> Html:
    """Return the head of the page."""
    warning = notice(warning_head(comparison), "", "caveat bad", comparison.warnings) if comparison.warnings else None
    runs = pairing.before, pairing.after
    return joined(
        [
            element("p", "ragmetrics comparison", class_="kicker"),
            element(
                "h1",
                element("span", comparison.before, dir="auto"),
                element("span", " \u2192 ", aria_hidden="true", class_="arrow"),
                element("span", " compared with ", class_="aside"),
                element("span", comparison.after, dir="auto"),
            ),
            element("p", comparison_sentence(comparison), class_="sentence", dir="auto"),
            warning,
            *(notice("Read this first", text) for text in (*comparison.caveats, *comparison.incomplete)),
            element("p", f"{pairs_in_words(comparison)}. Differences are after minus before.", class_="lead"),
            *(element("p", str(item), class_="lead", dir="auto") for item in comparison.corrected),
            fact_list(*(facts(run, summary_of(run.evaluation)) for run in runs)),
        ]
    )


def cards(comparison: ComparedRuns) -> Html:
    """Return the cards of all metrics, in their order, on comparable axes."""
    share = widest(comparison.metrics)
    people = {item.metric: f"{item}." for item in comparison.corrected}
    found = (_card(item, share, people.get(item.name)) for item in comparison.metrics)
    return element("ul", *found, class_="cards differences")


def _card(item: MetricComparison, share: float, people: str | None) -> Html:
    """Return the card of a metric; ``people`` describes the difference that people would see, if labels show it."""
    return element(
        "li",
        element("h3", item.name, dir="auto"),
        direction(item.higher_is_better, "which end is better is not known, or neither is", item.scale),
        element("p", _verdict(item), class_="verdict-line"),
        _means(item),
        difference_chart(item, share),
        element("p", f"{item.why[:1].upper()}{item.why[1:]}.", class_="why", dir="auto"),
        element("p", people, class_="corrected", dir="auto") if people else None,
        _numbers(item),
        class_=f"card {MARKS[item.verdict][1]}",
    )


def _verdict(item: MetricComparison) -> Html:
    """Return a verdict with its symbol."""
    mark, kind = MARKS[item.verdict]
    sign = element("span", mark, class_="sign", aria_hidden="true")
    return element("span", sign, verdict_in_words(item), class_=f"verdict {kind}")


def _means(item: MetricComparison) -> Html:
    if item.before is None or item.after is None:
        return element("p", element("span", "no row has a value in both runs"), class_="mean-line")
    change = "not compared" if item.difference is None else signed(item.difference)
    return element(
        "p",
        element("span", f"{item.before:.3f}", class_="mean-value before"),
        element("span", "\u2192", aria_hidden="true"),
        element("span", " to ", class_="aside"),
        element("span", f"{item.after:.3f}", class_="mean-value"),
        element("span", change, class_="told"),
        class_="mean-line",
    )


def _numbers(item: MetricComparison) -> Html:
    """Return the numbers behind the verdict, each with its name."""
    counts = (f"{found.scored:,} of {found.rows:,}" for found in (item.rows_before, item.rows_after))
    needed = "not known" if item.rows_needed is None else f"about {about(item.rows_needed):,}"
    numbers = {name: NUMBERS[name](item) for name in IN_CARDS}
    numbers |= {"rows with a value": " \u2192 ".join(counts), f"rows to show {item.margin:.3g}": needed}
    if item.smallest_change is not None:
        numbers["shown with 80 % power"] = f"{item.smallest_change:.3g}"
    if item.clusters is not None:
        numbers["clusters"] = f"{item.clusters:,}"
    shown = (element("div", element("dt", name), element("dd", value)) for name, value in numbers.items())
    return element("dl", *shown, class_="numbers")


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
        "metric": lambda item: element("bdi", item.name),
        "verdict": _verdict,
        "picture": lambda item: difference_chart(item, share, ends=False),
        **SLICE_NUMBERS,
    }
    heads = [element("th", name, scope="col", class_=_kind(name)) for name in ("slice", *columns)]
    rows = []
    for item in items:
        head = element("th", item.slice, scope="row", dir="auto", data_slice=path, data_value=item.label)
        cells = (element("td", cell(item), data_name=column, class_=_kind(column)) for column, cell in columns.items())
        rows.append(element("tr", head, *cells))
    reasons = [f"{item.name}, {item.slice}: {item.why}" for item in telling(items)]
    table = element("table", element("thead", element("tr", *heads)), element("tbody", *rows), class_="slices")
    return section(
        name,
        f"{title}{path}",
        element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Table of slices"),
        as_html([Items(reasons)]),
    )


def _kind(column: str) -> str | None:
    """Return the class of the cells of a column."""
    return "number" if column in SLICE_NUMBERS else None if column in ("slice", "verdict") else column


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
    _content(comparison, pairing, decision).written_to(path, bytes_of(max_megabytes))


def _content(comparison: ComparedRuns, pairing: Pairing, decision: Decision | None) -> Content:
    rows = PairedRows(pairing, comparison.metrics)
    without, rests = (as_html([Items(list(found(comparison)))]) for found in (row_remarks, remarks))
    return Content(
        title=f"{comparison.before} \u2192 {comparison.after} \u2013 ragmetrics comparison",
        kind=COMPARISON,
        parts={
            "header": _header(comparison, pairing),
            "gates": gate_list(decision),
            "cards": cards(comparison),
            "slices": slice_section(comparison),
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
