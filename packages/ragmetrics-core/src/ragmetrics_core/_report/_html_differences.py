"""What became of each metric between two runs: a card with its verdict, the reason and the numbers; and a table of its slices."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from .._kernel._tags import EMPTY, Html, element
from ._comparison_words import NUMBERS, telling
from ._html_difference_chart import difference_chart, widest
from ._slices import METADATA, slice_name
from ._verdicts import about, signed

if TYPE_CHECKING:
    from ._comparison import Comparison, MetricComparison, Verdict

MARKS: dict[Verdict, tuple[str, str]] = {
    "better": ("\u2714", "good"),
    "worse": ("\u2718", "bad"),
    "no difference larger than the margin": ("=", "same"),
    "cannot say": ("?", "open"),
}
"""The sign of a verdict, and what kind it is of."""

CELLS = dict(NUMBERS)

ARROW = " \u2192 "


def difference_cards(comparison: Comparison) -> Html:
    """The cards of all metrics, in their order, on axes that can be compared."""
    share = widest(comparison.metrics)
    people = {item.metric: str(item) for item in comparison.corrected}
    cards = (_card(item, share, people.get(item.name)) for item in comparison.metrics)
    return element("ul", *cards, class_="cards differences")


def verdict_mark(item: MetricComparison) -> Html:
    """A verdict with its sign; one that the warning takes the ground from says so."""
    mark, kind = MARKS[item.verdict]
    warned = " (see the warning)" if item.warnings and item.credited else ""
    sign = element("span", mark, class_="sign", aria_hidden="true")
    return element("span", sign, f"{item.verdict}{warned}", class_=f"verdict {kind}")


def _card(item: MetricComparison, share: float, people: str | None) -> Html:
    """The card of a metric; ``people`` is the difference that people would see, in words, where labels tell it."""
    return element(
        "li",
        element("h3", item.name, dir="auto"),
        element("p", _direction(item), class_="direction"),
        element("p", verdict_mark(item), class_="verdict-line"),
        _means(item),
        difference_chart(item, share),
        element("p", sentence(item.why), class_="why", dir="auto"),
        element("p", f"{people}.", class_="corrected", dir="auto") if people else None,
        _numbers(item),
        class_=f"card {MARKS[item.verdict][1]}",
    )


def sentence(text: str) -> str:
    """The words as a sentence."""
    return f"{text[:1].upper()}{text[1:]}."


def _direction(item: MetricComparison) -> str:
    words = {
        True: "higher is better",
        False: "lower is better",
        None: "which end is better is not known, or neither is",
    }
    better = words[item.higher_is_better]
    return f"{better}, {item.scale[0]:g} to {item.scale[1]:g}" if item.scale else better


def _means(item: MetricComparison) -> Html:
    if item.before is None or item.after is None:
        return element("p", element("span", "no row has a value in both runs"), class_="mean-line")
    told = "not compared" if item.difference is None else signed(item.difference)
    return element(
        "p",
        element("span", f"{item.before:.3f}", class_="mean-value before"),
        element("span", "\u2192", aria_hidden="true"),
        element("span", " to ", class_="aside"),
        element("span", f"{item.after:.3f}", class_="mean-value"),
        element("span", told, class_="told"),
        class_="mean-line",
    )


def _numbers(item: MetricComparison) -> Html:
    """What the verdict rests on, as pairs of a word and a number."""
    counts = (f"{found.scored:,} of {found.rows:,}" for found in (item.rows_before, item.rows_after))
    scored, shares = ARROW.join(counts), CELLS["coverage"](item).replace(", ", ARROW)
    facts = [
        ("95 % interval", CELLS["95 % interval"](item)),
        ("p", CELLS["p"](item)),
        ("adjusted p", CELLS["adjusted p"](item)),
        ("pairs", f"{item.pairs:,}" + (f", {CELLS['changed'](item)} changed" if item.credited else "")),
        ("rows with a value", f"{scored} ({shares})"),
        (f"rows to show {item.margin:.3g}", _rows_needed(item)),
    ]
    if item.clusters is not None:
        facts.append(("clusters", f"{item.clusters:,}"))
    return element(
        "dl", *(element("div", element("dt", name), element("dd", told)) for name, told in facts), class_="numbers"
    )


def _rows_needed(item: MetricComparison) -> str:
    return "not known" if item.rows_needed is None else f"about {about(item.rows_needed):,}"


def difference_slices(comparison: Comparison) -> Html:
    """Each metric in each slice, and the reasons that must be read; nothing where rows are not sliced."""
    if not comparison.slices or comparison.by is None:
        return EMPTY
    share = widest(comparison.slices)
    words = (element("th", name, scope="col") for name in ("slice", "metric", "verdict"))
    picture = element("th", "difference", scope="col", colspan=2)
    numbers = (element("th", name, scope="col", class_="number") for name in SLICE_CELLS)
    order = {item.label: at for at, item in reversed(list(enumerate(comparison.slices)))}
    rows = sorted(comparison.slices, key=lambda item: order[item.label])  # the metrics of a slice below each other
    reasons = [
        element("li", element("b", f"{item.name}, {item.slice}: ", dir="auto"), f"{item.why}.")
        for item in telling(rows)
    ]
    table = element(
        "table",
        element("thead", element("tr", *words, picture, *numbers)),
        element("tbody", *(_slice_row(item, comparison.by, share) for item in rows)),
        class_="slices",
    )
    return element(
        "section",
        element("h2", f"Slices by {comparison.by.removeprefix(METADATA)}", id="slices-title", dir="auto"),
        element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Table of slices"),
        element("ul", *reasons, class_="told") if reasons else None,
        id="slices",
        aria_labelledby="slices-title",
    )


SLICE_CELLS: dict[str, Callable[[MetricComparison], str]] = {
    "95 % interval": CELLS["95 % interval"],
    "adjusted p": CELLS["adjusted p"],
    "means": lambda item: f"{CELLS['before'](item)}{ARROW}{CELLS['after'](item)}",
    "pairs": lambda item: f"{CELLS['pairs'](item)}, {CELLS['changed'](item)} changed",
    "coverage": lambda item: CELLS["coverage"](item).replace(", ", ARROW),
}
"""The numbers of a slice that stand behind its picture."""


def _slice_row(item: MetricComparison, by: str, share: float) -> Html:
    cells = (element("td", told(item), class_="number", data_name=name) for name, told in SLICE_CELLS.items())
    path = by.removeprefix(METADATA)
    return element(
        "tr",
        element("th", slice_name(by, item.label), scope="row", dir="auto", data_slice=path, data_value=item.label),
        element("td", element("bdi", item.name), data_name="metric", class_="metric"),
        element("td", verdict_mark(item), data_name="verdict"),
        element("td", CELLS["difference"](item), class_="number", data_name="difference"),
        element("td", difference_chart(item, share, ends=False), class_="picture"),
        *cells,
    )
