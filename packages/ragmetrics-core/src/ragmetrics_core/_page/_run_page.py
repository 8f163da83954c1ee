"""A run as one HTML file to send to others: it opens without a network, and contains the evidence of its rows.

The overview is markup that needs no script: the sentence; the table of metrics, with short caveats beside the means; caveats in
full; gates; notes on the numbers, in the blocks of the summary; who scored the run, when, and at what cost. The script shows slices
and rows from the columns of `_rows` and the evidence that `_page` packs.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import replace
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._gate._results import MARKS, Decision
from .._run._columns import Column, Run
from .._run._scored_rows import ScoredRows
from .._run._slices import slices_of
from .._show._blocks import Details, Items, as_html
from .._store._exchanges import Exchanges
from .._store._files import SCORES
from .._store._records import Record, json_value, record_dict
from .._store._run_settings import MetricColumn, RunSettings, row_digest
from .._summary._summary import MetricSummary, Summary, summary_blocks
from .._summary._tally import summary_of
from .._values._counts import count_of, grouped
from .._values._tags import EMPTY, Html, element, joined
from ..statistics import METHODS
from ..statistics._means import mean_of
from ._calibration_view import calibration_section
from ._charts import distribution
from ._metrics_table import Cell, direction, doubts, marked, metrics_table
from ._page import LARGEST, REPORT, Content, bytes_of, caveat_section, section, source, title_of
from ._rows import RunRows

if TYPE_CHECKING:
    from .._calibrate._calibration import Calibration

PROMPTS = "Prompt versions"
ABOUT = "Judge and cost"
"""The title of the facts."""

WHO = frozenset({"Judge", "Embeddings", PROMPTS})
"""The facts that should be equal in two runs."""


def _metrics(run: Run, summary: Summary) -> Html:
    """Return the table of metrics: means with what stands against them, intervals on the distributions, coverage, and costs."""
    values = {name: [value for value in column.values if value is not None] for name, column in run.columns.items()}
    columns: dict[str, Callable[[MetricSummary], Cell]] = {
        "Mean": _mean,
        "Distribution and 95 % interval": lambda item: _interval(item, values[item.name]),
        "Rows scored": _coverage,
        **({"Cost": lambda item: _cost(item, summary)} if any(item.usage.calls for item in summary.metrics) else {}),
    }
    table = metrics_table(summary.metrics, columns, lambda item: _direction(run.columns[item.name].metric, item.scale))
    return section("metrics", "Metrics", table)


def _direction(metric: MetricColumn, scale: tuple[float, float] | None) -> str:
    without = "neither end is better" if metric.knows_better else "better end not known"
    return direction(metric.higher_is_better, without, scale)


def _doubts(item: MetricSummary) -> Iterator[tuple[str, str]]:
    return doubts(item.scored, item.rows, item.failed)


def _mean(item: MetricSummary) -> Cell:
    mean = element("b", "\u2013" if item.mean is None else f"{item.mean:.3f}")
    return Cell(joined([mean, marked([short for short, _ in _doubts(item)])]), item.mean)


def _interval(item: MetricSummary, values: Sequence[float]) -> Cell:
    """Return the distribution with the interval below it; it is sorted by the width of the interval."""
    limits, title = item.interval, None
    if item.mean is None:
        words = "failed on every row" if item.failed_everywhere else "no row was scored"
    elif limits:
        words, title = str(limits), METHODS[limits.method]
    else:
        words = "no interval: too few rows"
    text = element("span", words, title=title, class_="limits")
    return Cell(joined([distribution(item, values), text]), limits.high - limits.low if limits else None)


def _coverage(item: MetricSummary) -> Cell:
    rest = ", ".join(
        f"{count:,} {name}" for name, count in (("unscored", item.unscored), ("failed", item.failed)) if count
    )
    share = item.scored / item.rows if item.rows else None
    of = f"{item.scored:,} of {item.rows:,}"
    return Cell(joined([of, element("span", rest, class_="limits") if rest else None]), share)


def _cost(item: MetricSummary, summary: Summary) -> Cell:
    """Return the price of a metric's calls, where one model answered all of them, and their number."""
    usage = item.usage
    tokens = usage.prompt_tokens + usage.completion_tokens
    exact = len(summary.models) == 1 and not usage.cached_calls
    cost = replace(summary.models[0], usage=usage).cost() if exact else None
    dollars = None if cost is None else cost.dollars
    known = f"{tokens:,} tokens" if item.tokens_known else "tokens not reported"
    calls = count_of(usage.calls, "call") + (f", {usage.cached_calls:,} cached" if usage.cached_calls else "")
    parts = [*([] if dollars is None else [f"${dollars:.4f}"]), *([known] if tokens else []), calls]
    lines = [parts[0], *(element("span", text, class_="limits") for text in parts[1:])]
    return Cell(joined(lines), tokens if dollars is None else dollars)


def facts(run: Run, summary: Summary) -> dict[str, list[str]]:
    """Return who gave the scores, when, and at what cost, as facts with names."""
    rows, columns = len(run.rows), run.columns.values()
    complete = sum(None not in values for values in zip(*(column.values for column in columns), strict=True))
    share = f" ({complete / rows:.0%})" if rows else ""
    settings = run.evaluation.settings
    judges, embeddings = _models(settings, "llm"), _models(settings, "embeddings")
    prompt_versions = (
        (name, version) for column in columns for name, found in column.prompts.items() for version in found
    )
    prompts = [f"{name} {', '.join(sorted(set(versions)))}" for name, versions in grouped(prompt_versions).items()]
    return {
        "Rows": [f"{rows:,}"],
        "Coverage": [f"{complete:,} of {rows:,} rows{share} have a value of every metric"],
        "Judge": judges or ["none was asked"],
        **({"Embeddings": embeddings} if embeddings else {}),
        "Scored": [_scored_at(run.evaluation)],
        **_spent(summary),
        PROMPTS: [", ".join(prompts) or ("not recorded" if judges else "no prompt was used")],
    }


def _models(settings: RunSettings | None, kind: str) -> list[str]:
    """Return the names of the models of this kind, each once."""
    if settings is None:
        return ["not known: a file of scores does not tell"]
    models = (item.model(kind) for item in settings.scored_by.values())
    return list(dict.fromkeys(model.name for model in models if model is not None))


def _scored_at(evaluation: ScoredRows) -> str:
    """Return when the scores were written: the time of their file, or of this process if the run has no file."""
    file = evaluation.run_dir / SCORES if evaluation.run_dir else Path(evaluation.source)
    try:
        in_memory = evaluation.run_dir is None and evaluation.settings is not None
        moment = datetime.now(timezone.utc).timestamp() if in_memory else file.stat().st_mtime
    except OSError:
        return "not known"
    return f"{datetime.fromtimestamp(moment, timezone.utc):%Y-%m-%d %H:%M} UTC"


def _spent(summary: Summary) -> dict[str, list[str]]:
    """Return calls, tokens and costs of this part of the run, and of earlier parts if it was resumed."""
    usage = [item.usage for item in summary.metrics]
    calls, cached = sum(item.calls for item in usage), sum(item.cached_calls for item in usage)
    has_counts = all(item.tokens_known for item in summary.metrics)
    tokens = sum(item.prompt_tokens for item in usage), sum(item.completion_tokens for item in usage)
    models = [*(("", item) for item in summary.models), *(("earlier: ", item) for item in summary.earlier)]
    costs = [f"{when}{item.name}: {cost}" for when, item in models if (cost := item.cost()) is not None]
    text = f"{tokens[0]:,} in, {tokens[1]:,} out" if has_counts and any(tokens) else "not reported" if calls else "none"
    return {
        "Calls": [f"{calls:,}" + (f", {cached:,} of them answered without asking again" if cached else "")],
        "Tokens": [text],
        "Cost": costs or ["not known" if any(tokens) else "nothing was paid for"],
        **({} if summary.seconds is None else {"Time": [f"{summary.seconds:,.1f} s"]}),
    }


def fact_list(*runs: Mapping[str, Sequence[str]]) -> Html:
    """Return the facts of one run, or of two runs; facts that are equal in both appear once."""
    parts = []
    for name in dict.fromkeys(name for run in runs for name in run):
        values = [run.get(name, ["none"]) for run in runs]
        if values[0] == values[-1]:
            differs, lines = None, [element("dd", text, dir="auto") for text in values[0]]
        else:
            differs = element("span", " differs", class_="differs") if name in WHO else None
            lines = [
                element("dd", element("span", when, class_="when"), " ", element("bdi", text))
                for when, texts in zip(("before", "after"), values, strict=True)
                for text in texts
            ]
        parts.append(element("div", element("dt", name, differs), *lines, class_="wide" if name == PROMPTS else None))
    return element("dl", *parts, class_="facts")


def gate_list(decision: Decision | None) -> Html:
    """Return the gates with their results and reasons; nothing if there are no gates."""
    if decision is None:
        return EMPTY
    items = Items([f"{MARKS[result.verdict]}{result}" for result in decision.ordered])
    return section("gates", f"Gates: {decision.counts}", as_html([items]))


def _slice_tables(rows: RunRows, summaries: Sequence[MetricSummary]) -> Iterator[dict[str, Any]]:
    """Return for each column its slices: the shared value (None: no value), the number of rows, and the mean of each metric."""
    for path, column in rows.slices().items():
        groups = [
            {"value": value, "rows": len(found), "scores": [_score(item, rows.run, found) for item in summaries]}
            for value, found in slices_of(column, path).items()
        ]
        yield {"path": path, "groups": groups}


def _score(item: MetricSummary, run: Run, rows: Sequence[int]) -> dict[str, Any]:
    column = run.columns[item.name].values
    values = [value for value in (column[row] for row in rows) if value is not None]
    interval = run.evaluation.interval_of_rows(values, None, item.scale)
    low, high = interval[:2] if interval else (None, None)
    return {"scored": len(values), "mean": mean_of(values), "low": low, "high": high}


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
        max_megabytes: the largest size of the file. Evidence that does not fit is left out, beginning with the best rows.
        calibration: the calibration of this run, with the means that people would give.
        decision: the results of its gates.

    Raises:
        InvalidInput: ``max_megabytes`` is not a positive number, or the calibration belongs to another run.
    """
    most = bytes_of(max_megabytes)
    rows = RunRows(evaluation)
    summary = summary_of(evaluation, calibration=calibration, also=rows.add)
    with closing(Exchanges(evaluation.run_dir, evaluation.settings, rows.run.columns)) as exchanges:
        content = run_content(summary, rows, exchanges, decision)
        if calibration is not None:
            content = replace(content, parts={**content.parts, "calibration": calibration_section(calibration)})
        content.written_to(path, most)


def run_content(
    summary: Summary, rows: RunRows, exchanges: Exchanges, decision: Decision | None, name: str = ""
) -> Content:
    """Return the content of the page of a run; ``name`` is what the page calls it, if not by the file that was scored."""
    evaluation, columns = rows.run.evaluation, rows.run.columns
    rests = [block for block in summary_blocks(summary) if isinstance(block, Details)]
    slices = list(_slice_tables(rows, summary.metrics))
    return Content(
        title=f"{name or evaluation.source or summary.title} \u2013 ragmetrics report",
        kind=REPORT,
        parts={
            "header": _header(rows.run, summary, name),
            "metrics": _metrics(rows.run, summary),
            "caveats": _caveats(summary),
            "gates": gate_list(decision),
            "slices": Html(source("slices.html")) if slices else EMPTY,
            "rests_on": section("rests", "What the numbers rest on", as_html([*rests, _settings(summary, columns)])),
            "about": section("about", ABOUT, fact_list(facts(rows.run, summary))),
        },
        data={
            "metrics": [_metric(columns[item.name].metric, item) for item in summary.metrics],
            "slices": slices,
            "labelling": rows.labelling(),
            "problems": exchanges.problems,
        },
        rows=rows.to_dict(),
        notes=rows.texts.notes,
        order=rows.worst_first(),
        evidence=lambda row: evidence_of(evaluation.records[row], exchanges, evaluation.metrics),
        markdown=rows.texts.markdown,
    )


def _header(run: Run, summary: Summary, name: str) -> Html:
    scored = run.evaluation.source
    kicker = ["ragmetrics report"]
    if name and scored and run.evaluation.run_dir:  # a file of scores is its own source
        kicker += [" of ", element("bdi", scored)]
    return joined(
        [
            element("p", *kicker, class_="kicker"),
            element("h1", *title_of(name or scored or "Evaluation"), dir="auto"),
            element("p", summary.sentence, class_="sentence", dir="auto"),
        ]
    )


def _caveats(summary: Summary) -> Html:
    """Return the caveats in full: those of the run, then those of single means."""
    dead = ", ".join(summary.failed_everywhere)
    of_means = grouped(
        (text, item.name) for item in summary.metrics if item.mean is not None for _, text in _doubts(item)
    )
    return caveat_section(
        [
            *summary.caveats,
            *([] if summary.stopped is None else [f"Stopped: {summary.stopped}"]),
            *([f"Failed on every row: {dead}"] if dead else []),
            *(f"{', '.join(names)}: {text}" for text, names in of_means.items()),
        ]
    )


def _settings(summary: Summary, columns: Mapping[str, Column]) -> Items:
    """Return the settings of metrics where they say more than the name."""
    metrics = (columns[item.name].metric for item in summary.metrics)
    return Items(
        [each.settings for each in metrics if each.settings != each.name and not each.settings.endswith("()")],
        "settings:",
    )


def _metric(column: MetricColumn, item: MetricSummary) -> dict[str, Any]:
    """Return the data of a metric for the script."""
    return {
        "name": column.name,
        "scale": list(item.scale) if item.scale else None,
        "better": column.higher_is_better,
        "labels": list(item.labels),
    }


def evidence_of(record: Record, exchanges: Exchanges, metrics: Sequence[MetricColumn]) -> dict[str, Any]:
    """Return everything about a row, as plain and finite JSON values, and for each metric the digest that labels of the row get."""
    found: dict[str, Any] = json_value(record_dict(record))
    read = {item.name: row_digest(record.sample, item.inputs) for item in metrics if item.inputs is not None}
    return {**found, "exchanges": json_value(exchanges.of(record)), "digests": read}
