"""The part of a run's page about its labels: can the judge be trusted, and on which rows do judge and people differ?

All numbers and sentences are those of the calibration; this module only arranges them. The links lead to rows by their number,
which is the same in the calibration and in the page. A viewer shows this part on a page of its own, with the caveats and
remarks that a report has in its other parts.
"""

from __future__ import annotations

from collections.abc import Iterator

from .._calibrate._calibration import (
    Calibration,
    LabelledScore,
    MetricCalibration,
    agreement_table,
    corrected_in_words,
    remarks_of,
    threshold_in_words,
)
from .._show._blocks import Items, as_html
from .._show._sentences import as_sentence
from .._values._counts import count_of
from .._values._tags import Html, element, joined
from ._charts import across
from ._page import caveat_section, section

MOST_DIFFERING = 10
"""The number of rows that are listed; the rest is counted."""

WIDTH, HEIGHT, MARGIN = 320, 120, 4
"""The size of the curve of thresholds, in units of the picture, and the room around it."""

WORDS = {True: "pass", False: "fail"}


def calibration_section(calibration: Calibration, page: str = "") -> Html:
    """Return the section.

    Args:
        calibration: the calibration.
        page: the address of the page with the rows; empty if it is the page that the section is on.
    """
    sentence = element("p", calibration.sentence, class_="lead", dir="auto")
    metrics = (_metric(item, page) for item in calibration.metrics)
    return section("calibration", "Judge and people", sentence, *metrics)


def calibration_remarks(calibration: Calibration) -> Html:
    """Return the caveats, and the remarks on how the numbers were computed."""
    remarks = as_html([Items([as_sentence(text) for text in remarks_of(calibration)])])
    return joined([caveat_section(calibration.caveats), section("rests", "What the numbers rest on", remarks)])


def _metric(item: MetricCalibration, page: str) -> Html:
    words = [*corrected_in_words(item), threshold_in_words(item), item.problem]
    lines = [element("p", as_sentence(text), dir="auto") for text in words if text]
    return element(
        "div",
        element("h3", item.name, dir="auto"),
        element("div", *_pictures(item), class_="pictures"),
        *lines,
        *_by_claim(item),
        *_differing(item, page),
        class_="calibrated",
    )


def _pictures(item: MetricCalibration) -> Iterator[Html]:
    """Yield the confusion table, the measures of agreement, and the curve of thresholds, as far as there are any."""
    if item.confusion:
        yield _confusion(item)
    if item.agreement is not None:
        measures = as_html(list(agreement_table(item.agreement, item.ceiling, grades=not item.verdicts)))
        yield element("div", measures, class_="measures")
    if item.kappas and item.threshold is not None:
        yield _curve(item, item.threshold)


def _confusion(item: MetricCalibration) -> Html:
    """Return the table of verdicts; cells in which judge and people differ are marked."""
    people = (True, False)
    heads = (element("th", f"people {WORDS[side]}", scope="col") for side in people)
    rows = []
    for judge in (True, False):
        cells = (_cell(item.confusion[judge, side], same=judge == side) for side in people)
        rows.append(element("tr", element("th", f"judge would {WORDS[judge]}", scope="row"), *cells))
    split = f", {count_of(item.split, 'row')} on which people are split left out" if item.split else ""
    return element(
        "table",
        element("caption", f"Labelled rows by verdict{split}"),
        element("thead", element("tr", element("td"), *heads)),
        element("tbody", *rows),
        class_="confusion",
    )


def _cell(count: int, *, same: bool) -> Html:
    """Return a cell of the table; a sign marks those in which judge and people differ."""
    sign = None if same else element("span", "\u2260", class_="sign", aria_hidden="true")
    return element("td", sign, f"{count:,}", class_="number" if same else "number differ")


def _curve(item: MetricCalibration, threshold: float) -> Html:
    """Return kappa by each threshold as a chart, with the best threshold marked."""
    points = sorted(item.kappas.items())
    low, high = item.scale or (points[0][0], points[-1][0])
    floor = min(0.0, *item.kappas.values())
    places = [(_along(value, low, high), _up(kappa, floor)) for value, kappa in points]
    best = item.kappas[threshold]
    marks = element(
        "circle", class_="best", cx=f"{_along(threshold, low, high):.1f}", cy=f"{_up(best, floor):.1f}", r=5
    )
    zero = f"{_up(0.0, floor):.1f}"
    words = f"best threshold {threshold:g} with kappa {best:.2f}; " + ", ".join(
        f"{at:.3g}: {k:.2f}" for at, k in points
    )
    picture = element(
        "svg",
        element("line", class_="axis", x1=0, x2=WIDTH, y1=zero, y2=zero),
        element("polyline", class_="curve", points=" ".join(f"{x:.1f},{y:.1f}" for x, y in places)),
        *(element("circle", class_="point", cx=f"{x:.1f}", cy=f"{y:.1f}", r=2) for x, y in places),
        marks,
        class_="thresholds",
        viewBox=f"0 0 {WIDTH} {HEIGHT}",
        role="img",
        aria_label=f"Kappa by threshold: {words}",
    )
    side = "up to" if item.lower_is_better else "from"
    caption = f"Kappa if a row passes {side} each value, on the labelled rows: highest at {threshold:g} ({best:.2f})"
    ends = element(
        "p", element("span", f"{low:.4g}"), element("span", f"{high:.4g}"), class_="ends", aria_hidden="true"
    )
    return element("figure", element("figcaption", caption), picture, ends)


def _along(value: float, low: float, high: float) -> float:
    return across(value, low, high, WIDTH, 2 * MARGIN)


def _up(kappa: float, floor: float) -> float:
    return MARGIN + (1.0 - kappa) / (1.0 - floor) * (HEIGHT - 2 * MARGIN)


def _by_claim(item: MetricCalibration) -> Iterator[Html]:
    claims = item.claims
    if claims is None:
        return
    size = f"{count_of(claims.claims, 'labelled claim')} of {count_of(claims.rows, 'row')}"
    yield element("h4", f"Claim by claim: {size}")
    if claims.agreement is None:
        yield element("p", claims.problem, dir="auto")
    else:
        yield element("div", as_html(list(agreement_table(claims.agreement, claims.ceiling))), class_="measures")


def _differing(item: MetricCalibration, page: str) -> Iterator[Html]:
    """Yield the rows on which judge and people differ most."""
    if not item.beside:
        return
    found = item.differing
    if not found:
        known = any(row.error is not None for row in item.beside)
        none = "Judge and people differ on no labelled row."
        yield element("p", none if known else "It is not known from which score on a row passes.")
        return
    yield element("h4", f"Rows on which judge and people differ{' most' if len(found) > MOST_DIFFERING else ''}")
    more = len(found) - MOST_DIFFERING
    last = element("li", f"and {count_of(more, 'more row')}", class_="remark") if more > 0 else None
    yield element("ol", *(_row(each, item.verdicts, page) for each in found[:MOST_DIFFERING]), last, class_="differing")


def _row(item: LabelledScore, verdicts: bool, page: str) -> Html:
    people = f"people give {item.label:.3g}"
    if verdicts:
        people = "people are split" if item.label not in (0, 1) else f"people {WORDS[item.label == 1]} it"
    judge = f"judge {item.score:.3g}" + ("" if item.passes is None else f", which would {WORDS[item.passes]}")
    return element(
        "li",
        element("a", item.name, href=f"{page}#n={item.row + 1}", dir="auto"),
        element("span", f"{judge}; {people}", class_="remark"),
    )
