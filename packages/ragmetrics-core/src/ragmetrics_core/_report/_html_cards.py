"""A card per metric: its mean with the interval, the distribution, how many rows were scored, labels."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from .._kernel._tags import Html, element
from .._store._run_settings import MetricColumn
from ..statistics import METHODS
from ._calibration_words import summary_words
from ._html_charts import distribution
from ._jury_text import agreement_in_words, juror_in_words
from ._metric_summary import MetricSummary

MOST_LABELS = 12
"""Labels that a card shows; the rest is counted."""


def metric_cards(
    metrics: Sequence[MetricColumn], summaries: Sequence[MetricSummary], values: dict[str, list[float | None]]
) -> Html:
    """The cards of all metrics, in their order."""
    cards = (_card(column, item, values[item.name]) for column, item in zip(metrics, summaries, strict=True))
    return element("ul", *cards, class_="cards")


def _card(column: MetricColumn, item: MetricSummary, values: Sequence[float | None]) -> Html:
    known = [value for value in values if value is not None]
    return element(
        "li",
        element("h3", item.name, dir="auto"),
        element("p", _direction(column, item), class_="direction"),
        _mean(item),
        *_corrected(item),
        distribution(item, known),
        _ends(item, known),
        _counts(item),
        _passed(item),
        _labels(item),
        _jury(item),
        element("p", element("code", column.settings), class_="settings") if _tells(column) else None,
        class_="card failed" if item.failed_everywhere else "card",
    )


def _tells(column: MetricColumn) -> bool:
    """Whether the metric in words says more than its name does."""
    return column.settings != column.name and not column.settings.endswith("()")


def _direction(column: MetricColumn, item: MetricSummary) -> str:
    words = {True: "higher is better", False: "lower is better", None: "neither end is better"}
    better = words[column.higher_is_better] if column.knows_better else "which end is better is not known"
    return f"{better}, {item.scale[0]:g} to {item.scale[1]:g}" if item.scale else better


def _mean(item: MetricSummary) -> Html:
    if item.mean is None:
        words = "failed on every row" if item.failed_everywhere else "no row was scored"
        return element("p", element("span", "\u2013", class_="mean-value"), element("span", words), class_="mean-line")
    return element(
        "p",
        element("span", f"{item.mean:.3f}", class_="mean-value"),
        element(
            "span",
            f"95\u202f% interval {item.interval}" if item.interval else "no interval: too few rows",
            title=METHODS[item.interval.method] if item.interval else None,
        ),
        class_="mean-line",
    )


def _corrected(item: MetricSummary) -> Iterable[Html]:
    """The mean that people would give, where labels tell it."""
    found = () if item.calibration is None else summary_words(item.calibration)
    return [element("p", words, class_="corrected") for words in found]


def _ends(item: MetricSummary, known: Sequence[float]) -> Html | None:
    """What stands at both ends of the picture."""
    if not known:
        return None
    ends = item.scale or (min(known), max(known))
    return element("p", *(element("span", f"{end:.4g}") for end in ends), class_="ends", aria_hidden="true")


def _counts(item: MetricSummary) -> Html:
    parts = [
        ("\u2714", "scored", item.scored),
        ("\u2013", "unscored", item.unscored),
        ("\u2718", "failed", item.failed),
    ]
    shown = (
        element(
            "li",
            element("span", mark, class_="sign", aria_hidden="true"),
            element("b", f"{count:,}"),
            " ",
            element("span", name, class_="name"),
            class_=f"{name} none" if not count else name,
        )
        for mark, name, count in parts
    )
    return element("ul", *shown, class_="counts")


def _passed(item: MetricSummary) -> Html | None:
    if not item.has_own_pass_rate or item.pass_rate is None:
        return None
    limits = f", 95\u202f% interval {item.pass_interval}" if item.pass_interval else ""
    return element("p", f"passed {item.passed} ({item.pass_rate:.3f}{limits})", class_="remark")


def _labels(item: MetricSummary) -> Html | None:
    """How often each label was given; those of rows without an answer have no rate."""
    if not item.labels:
        return None
    return element("section", element("h4", "Labels"), element("ul", *_label_rows(item)), class_="labels")


def _jury(item: MetricSummary) -> Html | None:
    """How far the jurors agree, and what each of them did."""
    if item.jury is None:
        return None
    jurors = (element("li", juror_in_words(juror), dir="auto") for juror in item.jury.jurors)
    return element(
        "section", element("h4", "Jurors"), element("p", agreement_in_words(item.jury)), element("ul", *jurors)
    )


def _label_rows(item: MetricSummary) -> Iterable[Html]:
    most = max(item.labels.values())
    for label, count in list(item.labels.items())[:MOST_LABELS]:
        rate = item.label_rates.get(label)
        share = f"{rate.share:.0%}" if rate else "unscored" if not item.silent else "worst value"
        limits = f"95\u202f% interval {rate.interval}" if rate and rate.interval else None
        bar = element(
            "svg",
            element("rect", class_="bar", x=0, y=0, width=f"{count / most * 100:.1f}", height=4),
            viewBox="0 0 100 4",
            preserveAspectRatio="none",
            aria_hidden="true",
        )
        yield element(
            "li",
            element("span", label, dir="auto"),
            element("span", f"{count} \u00b7 {share}", class_="number", title=limits),
            bar,
        )
    if len(item.labels) > MOST_LABELS:
        yield element("li", element("span", f"and {len(item.labels) - MOST_LABELS} more labels"))
