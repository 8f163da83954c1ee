"""The list of runs that a viewer shows: one line per run, and above it one chart per metric, over time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from hashlib import sha256

from .._run._scored_rows import ScoredRows
from .._store._found_runs import FoundRun
from .._summary._summary import MetricSummary, Summary
from .._summary._tally import summary_of
from .._values._counts import count_of, grouped
from .._values._errors import RagmetricsError
from .._values._tags import EMPTY, Html, element, joined
from ._charts import across
from ._page import breakable, section

WIDTH, HEIGHT, EDGE = 240, 72, 6
"""The size of a chart, and the room at its edges, in units of the picture."""

MOST_POINTS = 60
"""How many runs a chart shows, the latest ones."""


@dataclass(frozen=True)
class ListedRun:
    """A run, with its summary, or why there is none, or how far it is; nothing of these while it is being read."""

    run: FoundRun
    summary: Summary | None = None
    problem: str = ""
    so_far: str = ""


def listed_run(run: FoundRun) -> ListedRun:
    """Read a run for the list."""
    try:
        return ListedRun(run, summary_of(ScoredRows.load(run.path)))
    except RagmetricsError as error:  # the list says it
        return ListedRun(run, problem=str(error))


def state_of(listed: Sequence[ListedRun]) -> str:
    """Return a text that is another one after each change of the list; a run that goes on changes it only when it ends."""
    states = [
        (item.run.key, item.run.going_on or item.run.stamp, bool(item.summary or item.problem)) for item in listed
    ]
    return sha256(repr(states).encode()).hexdigest()[:16]


def runs_overview(listed: Sequence[ListedRun]) -> Html:
    """Return the charts and the table of runs, the latest first."""
    if not listed:
        return element(
            "p", "There are no runs in this folder: ragmetrics evaluate --run-dir DIR writes one.", class_="lead"
        )
    read = [(item.run, item.summary) for item in reversed(listed) if item.summary is not None]
    points = grouped((metric.name, (run, metric)) for run, summary in read for metric in summary.metrics)
    charts = [chart for name, found in points.items() if (chart := _trend(name, found[-MOST_POINTS:]))]
    heads = [element("th", name, scope="col") for name in ("Compare", "Run", "Written", "Rows", "Result")]
    table = element(
        "table",
        element("thead", element("tr", *heads)),
        element("tbody", *map(_line, listed)),
        class_="runs",
        data_state=state_of(listed),
    )
    hint = element("span", "Tick two runs to compare them.", id="ticked", role="status", class_="remark")
    button = element("p", element("button", "Compare the two ticked runs", type="submit"), " ", hint, class_="buttons")
    wide = element("div", table, class_="scroll", tabindex=0, role="region", aria_label="Table of runs")
    form = element("form", button if len(listed) > 1 else None, wide, action="/compare", method="get")
    trends = section("trends", "Means over time", element("ul", *charts, class_="trends")) if charts else EMPTY
    return joined([trends, section("runs", count_of(len(listed), "run"), form)])


def _line(item: ListedRun) -> Html:
    run, summary = item.run, item.summary
    box = element("input", type="checkbox", name_="run", value=run.key, aria_label=f"Compare {run.name}")
    state = element("span", " going on", class_="going-on") if run.going_on else None
    if summary is None:
        words = item.problem or item.so_far or "being read \u2026"
        kind = "bad" if item.problem else None if item.so_far else "open"
        result = element("span", words, class_=kind, dir="auto")
    else:
        result = element("span", summary.sentence, dir="auto")
    return element(
        "tr",
        element("td", box),
        element("th", element("a", breakable(run.name), href=f"/run/{run.key}/", dir="auto"), state, scope="row"),
        element("td", _written(run), class_="when"),
        element("td", "" if summary is None else f"{_rows(summary):,}", class_="number"),
        element("td", result, class_="result"),
        data_run=run.key,
    )


def _written(run: FoundRun) -> str:
    return f"{datetime.fromtimestamp(run.changed, timezone.utc):%Y-%m-%d %H:%M} UTC"


def _rows(summary: Summary) -> int:
    return max((item.scored + item.unscored + item.failed for item in summary.metrics), default=0)


def _trend(name: str, points: Sequence[tuple[FoundRun, MetricSummary]]) -> Html | None:
    """Return the chart of a metric: a point for the mean of each run, the oldest first, with its interval as a line."""
    known = [(run, item) for run, item in points if item.mean is not None]
    if len(known) < 2:
        return None
    numbers = [number for _, item in known for number in (item.mean, *(item.interval or ())[:2]) if number is not None]
    low, high = known[-1][1].scale or (min(numbers), max(numbers))
    step = (WIDTH - 2 * EDGE) / (len(known) - 1)

    def height(value: float) -> float:
        return HEIGHT - across(value, low, high, HEIGHT, 2 * EDGE)

    marks, path = [], []
    for at, (run, item) in enumerate(known):
        x, mean = EDGE + at * step, item.mean or 0.0
        said = f"{run.name}, {_written(run)}: {mean:.3f}" + (f", {item.interval}" if item.interval else "")
        ends = [f"{height(end):.1f}" for end in (item.interval or ())[:2]]
        line = (
            element("line", x1=f"{x:.1f}", x2=f"{x:.1f}", y1=ends[0], y2=ends[1], class_="interval") if ends else None
        )
        dot = element("circle", cx=f"{x:.1f}", cy=f"{height(mean):.1f}", r=3)
        around = element("rect", x=f"{x - step / 2:.1f}", y=0, width=f"{step:.1f}", height=HEIGHT, class_="around")
        marks.append(element("a", element("title", said), around, line, dot, href=f"/run/{run.key}/"))
        path.append(f"{x:.1f},{height(mean):.1f}")
    latest, last = known[-1]
    drawn = element("polyline", points=" ".join(path), class_="trend")
    label = f"{name}: {', '.join(f'{item.mean:.3f}' for _, item in known)}, the oldest run first"
    box = f"0 0 {WIDTH} {HEIGHT}"
    picture = element("svg", drawn, *marks, viewBox=box, class_="trend-chart", role="group", aria_label=label)
    head = element("h3", element("span", name, dir="auto"), element("span", f" {last.mean:.3f}", class_="number"))
    remark = element("p", f"from {low:g} to {high:g}; latest run: ", element("bdi", latest.name), class_="remark")
    days = element("p", *(element("span", _written(run)[:10]) for run in (known[0][0], latest)), class_="ends")
    return element("li", head, remark, picture, days, class_="card")
