"""A card per metric: its mean with the interval, the distribution, how many rows were scored, labels.

The head of a page: what was evaluated, by whom, when, what it cost, how much of it has scores, and what must be known.

All of it is markup that needs no script: a reader without scripts still sees what came of the run.

Slices of a page: for each column of the metadata that makes groups of rows, the means of every group with their intervals.

A run as one HTML file that can be sent to anybody: it opens without a network, and holds the evidence of its rows.

The parts: `_html_header` and `_html_cards` (with `_html_charts`) are markup made here, which needs no script; `_html_index` holds
what the table of rows needs of every row, `_html_labels` what label mode needs, and `_html_evidence` all that is known of each,
packed by `_html_packed`, as much as fits by `_html_fitted`; `_html_page` joins them with the sources in the folder `page`, whose
script shows them. Texts become markup in `_values._tags` alone.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._calibrate._calibration import corrected_in_words
from .._gate._results import Decision, GateResult
from .._run._scored_rows import ScoredRows
from .._run._slices import slices_of
from .._store._exchanges import Exchanges
from .._store._prices import ModelUsage
from .._store._run_dir import SCORES
from .._store._run_settings import MetricColumn, RunSettings
from .._summary._summary import MetricSummary, Reason, Summary, agreement_in_words, juror_in_words
from .._summary._tally import summary_of
from .._values._tags import EMPTY, Html, element, joined
from ..statistics import METHODS, mean_interval
from ..statistics._means import mean_of
from ._charts import distribution
from ._page import LARGEST, REPORT, Content, bytes_of, fitted_page, put_page, row_evidence
from ._rows import RowIndex, label_data

if TYPE_CHECKING:
    from .._calibrate._calibration import Calibration


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
    found = () if item.calibration is None else corrected_in_words(item.calibration)
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


MOST_REASONS = 12
"""Reasons that the page shows per state; the rest is counted."""

PROMPTS = "Prompt versions"
NOT_TOLD = "not known: a file of scores does not tell"


@dataclass(frozen=True)
class Origin:
    """Where the scores of a page come from.

    Attributes:
        source: name of the data set, or "".
        rows: how many rows there are.
        complete: how many of them have a value of every metric.
        scored_at: when the scores were written; None where it is not known.
        settings: what decided about them; None in a file of scores.
        prompts: by name of the prompt, its versions.
    """

    source: str
    rows: int
    complete: int
    scored_at: datetime | None
    settings: RunSettings | None
    prompts: Mapping[str, Iterable[str]]


def header(summary: Summary, origin: Origin) -> Html:
    """The head of the page: caveats first, for who overlooks them misreads all numbers."""
    return joined(
        [
            element("p", "ragmetrics report", class_="kicker"),
            element("h1", origin.source or "Evaluation", dir="auto"),
            *(notice("Read this first", text, "caveat") for text in summary.caveats),
            notice("Stopped", summary.stopped, "caveat") if summary.stopped is not None else None,
            _without_any(summary),
            element("dl", *(part for fact in facts(summary, origin) for part in _fact(*fact)), class_="facts"),
        ]
    )


def notice(head: str, text: str, kind: str) -> Html:
    """A paragraph that stands out."""
    return element(
        "p", element("span", "!", class_="sign", aria_hidden="true"), element("b", f"{head}: "), text, class_=kind
    )


def _without_any(summary: Summary) -> Html | None:
    names = summary.failed_everywhere
    return notice("Failed on every row", ", ".join(names), "caveat bad") if names else None


def _fact(name: str, values: Sequence[str]) -> tuple[Html, ...]:
    shown = (element("dd", value, dir="auto") for value in values)
    return (element("div", element("dt", name), *shown, class_="wide" if name == PROMPTS else None),)


def facts(summary: Summary, origin: Origin) -> Iterator[tuple[str, Sequence[str]]]:
    """Who gave the scores, when, and what that cost: the name of each fact, and what it is."""
    share = f" ({origin.complete / origin.rows:.0%})" if origin.rows else ""
    yield "Rows", [f"{origin.rows:,}"]
    yield "Coverage", [f"{origin.complete:,} of {origin.rows:,} rows{share} have a value of every metric"]
    yield "Judge", _models(origin.settings, "llm") or ["none was asked"]
    if origin.settings is None or _models(origin.settings, "embeddings"):
        yield "Embeddings", _models(origin.settings, "embeddings")
    yield "Scored", [_date(origin.scored_at)]
    yield from _spent(summary)
    versions = [f"{name} {', '.join(found)}" for name, found in origin.prompts.items()]
    none = "not recorded" if _models(origin.settings, "llm") else "no prompt was used"
    yield PROMPTS, [", ".join(versions) or none]


def scored_at(evaluation: ScoredRows) -> datetime | None:
    """When the scores were written: their file says so; those of a run without one were made in this process."""
    if evaluation.run_dir is None and evaluation.settings is not None:
        return datetime.now(timezone.utc)
    file = evaluation.run_dir / SCORES if evaluation.run_dir else Path(evaluation.source)
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, timezone.utc)
    except OSError:
        return None


def _spent(summary: Summary) -> Iterator[tuple[str, Sequence[str]]]:
    """Calls, tokens, costs: of this part of the run and, where it went on with an earlier one, of that."""
    usage = [item.usage for item in summary.metrics]
    calls, cached = sum(item.calls for item in usage), sum(item.cached_calls for item in usage)
    known = all(item.tokens_known for item in summary.metrics)
    tokens = sum(item.prompt_tokens for item in usage), sum(item.completion_tokens for item in usage)
    yield "Calls", [f"{calls:,}" + (f", {cached:,} of them answered without asking again" if cached else "")]
    yield (
        "Tokens",
        [f"{tokens[0]:,} in, {tokens[1]:,} out" if known and any(tokens) else "not reported" if calls else "none"],
    )
    costs = [*_costs(summary.models, ""), *_costs(summary.earlier, "earlier: ")]
    yield "Cost", costs or ["nothing was paid for" if not any(tokens) else "not known"]
    if summary.seconds is not None:
        yield "Time", [f"{summary.seconds:,.1f} s"]


def _costs(models: Sequence[ModelUsage], when: str) -> list[str]:
    costs = ((item.name, item.cost()) for item in models)
    return [f"{when}{name}: {cost}" for name, cost in costs if cost is not None]


def _models(settings: RunSettings | None, kind: str) -> list[str]:
    """The names of the models of this kind, each once."""
    if settings is None or settings.scored_by is None:
        return [NOT_TOLD]
    models = (item.model(kind) for item in settings.scored_by.values())
    return list(dict.fromkeys(model.name for model in models if model is not None))


def _date(moment: datetime | None) -> str:
    return "not known" if moment is None else f"{moment.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"


def without_scores(reasons: Sequence[Reason]) -> Html | None:
    """Why rows have no value, the most common reasons first; None where all have one."""
    parts = [_reasons(state, [item for item in reasons if item.state == state]) for state in ("failed", "unscored")]
    found = [part for part in parts if part is not None]
    return element("section", element("h2", "Without a score"), *found, class_="reasons") if found else None


def _reasons(state: str, reasons: Sequence[Reason]) -> Html | None:
    if not reasons:
        return None
    sign = element("span", "\u2718" if state == "failed" else "\u2013", class_="sign", aria_hidden="true")
    items = [element("li", str(item), dir="auto") for item in reasons[:MOST_REASONS]]
    if len(reasons) > MOST_REASONS:
        items.append(element("li", f"and {len(reasons) - MOST_REASONS} more reasons"))
    return joined([element("h3", sign, state.capitalize()), element("ul", *items, class_=state)])


def slice_tables(index: RowIndex, summaries: Sequence[MetricSummary]) -> list[dict[str, Any]]:
    """Per column its groups: the value that the rows share (None: they have none), how many there are, and a mean per metric."""
    return [
        {
            "path": path,
            "groups": [
                {"value": value, "rows": len(rows), "scores": [_score(item, index, rows) for item in summaries]}
                for value, rows in slices_of(column, path).items()
            ],
        }
        for path, column in index.slices().items()
    ]


def _score(item: MetricSummary, index: RowIndex, rows: Sequence[int]) -> dict[str, Any]:
    column = index.values[item.name]
    values = [value for value in (column[row] for row in rows) if value is not None]
    interval = mean_interval(values, scale=item.scale)
    return {
        "scored": len(values),
        "mean": mean_of(values),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
    }


GATE_MARKS = {"failed": ("\u2718", "bad"), "undecided": ("?", "open"), "passed": ("\u2714", "good")}
"""The sign of an outcome, and what kind it is of."""


def gate_list(decision: Decision | None) -> Html:
    """The gates with their outcomes and the reasons; nothing where none were asked for."""
    if decision is None or not decision.results:
        return EMPTY
    return element(
        "section",
        element("h2", f"Gates: {decision.counts}", id="gates-title"),
        element("ul", *map(_gate, decision.ordered)),
        class_="gates",
        aria_labelledby="gates-title",
    )


def _gate(result: GateResult) -> Html:
    mark, kind = GATE_MARKS[result.verdict]
    sign = element("span", mark, class_="sign", aria_hidden="true")
    return element(
        "li",
        element("span", sign, result.verdict, class_=f"verdict {kind}"),
        " ",
        element("code", result.name),
        ": ",
        element("bdi", result.why),
    )


def write_html(
    evaluation: ScoredRows,
    path: str | os.PathLike[str],
    max_megabytes: float = LARGEST,
    calibration: Calibration | None = None,
    decision: Decision | None = None,
) -> None:
    """Write the page of an evaluation.

    Args:
        evaluation: the run.
        path: the file.
        max_megabytes: how large the file may become; evidence that does not fit is left out, that of the best rows first.
        calibration: of this run, with the means that people would give.
        decision: what became of its gates.

    Raises:
        InvalidInput: ``max_megabytes`` is no positive number, or the calibration is that of another run.
    """
    most = bytes_of(max_megabytes)
    index = RowIndex(evaluation.metrics)
    summary = summary_of(evaluation, calibration=calibration, also=index.add)
    with closing(Exchanges(evaluation.run_dir, evaluation.settings, index.values)) as exchanges:
        put_page(path, fitted_page(_content(evaluation, summary, index, exchanges, decision), most))


def _content(
    evaluation: ScoredRows, summary: Summary, index: RowIndex, exchanges: Exchanges, decision: Decision | None
) -> Content:
    records = evaluation.records
    return Content(
        title=f"{evaluation.source or summary.title} \u2013 ragmetrics report",
        kind=REPORT,
        parts={
            "header": header(summary, _origin(evaluation, index)),
            "gates": gate_list(decision),
            "cards": metric_cards(evaluation.metrics, summary.metrics, index.values),
            "reasons": without_scores(summary.reasons) or EMPTY,
        },
        data={
            "metrics": [
                _metric(column, item) for column, item in zip(evaluation.metrics, summary.metrics, strict=True)
            ],
            "slices": slice_tables(index, summary.metrics),
            "labelling": label_data(evaluation.metrics, index),
            "problems": exchanges.problems,
        },
        rows=index.to_dict,
        order=index.worst_first(),
        evidence=lambda row: row_evidence(records[row], exchanges, evaluation.metrics),
    )


def _origin(evaluation: ScoredRows, index: RowIndex) -> Origin:
    return Origin(
        evaluation.source,
        len(index),
        index.complete(),
        scored_at(evaluation),
        evaluation.settings,
        index.prompts,
    )


def _metric(column: MetricColumn, item: MetricSummary) -> dict[str, Any]:
    """What the script knows of a metric."""
    return {
        "name": column.name,
        "scale": list(item.scale) if item.scale else None,
        "better": column.higher_is_better,
        "labels": list(item.labels),
    }
