"""The numbers of a summary and their words: one metric, one slice, the reasons for missing scores, the whole run.

A mean over no values is shown as "-". Below the table come the rows to read first: those with the lowest values, and those
without a value. Rows without a value are grouped by cause, because ten rows with one cause need one cure.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from .._calibrate._calibration import MetricCalibration, agreement_sentences, corrected_in_words
from .._lexical._judge import lexical_remark
from .._run._judgements import JurorSummary, JurySummary
from .._show._bars import Bar
from .._show._blocks import Block, Details, Items, Note, Result, Sentence, Table, Text
from .._show._sentences import MOST_NAMED, as_sentence, in_words, listed, names_in_words, spoken
from .._show._tables import LONGEST_ROW, cut_middle, first_of, in_groups, number, or_dash, whole
from .._store._prices import ModelUsage
from .._values._counts import count_of, grouped
from .._values._layout import printable
from .._values._plain import plain
from .._values._requests import Usage
from ..statistics import METHODS, Interval


@dataclass(frozen=True)
class LabelRate:
    """How often a metric gave a label.

    Attributes:
        count: number of scored rows with the label.
        share: their share of all scored rows, 0 to 1.
        interval: 95 % interval of the share; None if fewer than two rows were scored.
    """

    count: int
    share: float
    interval: Interval | None


@dataclass(frozen=True)
class MetricSummary:
    """One metric over all rows.

    Attributes:
        name: name of the metric.
        mean: mean of the scored rows' values; None if no row was scored.
        interval: 95 % interval of the mean, with its method; None if fewer than two rows were scored, or if all values
            are equal and the scale is not known.
        scale: lowest and highest possible value; None if there is no scale, or if it differs from row to row.
        scored: number of rows with a value.
        unscored: number of rows that had nothing to score.
        failed: number of rows whose scoring failed.
        passed: number of rows that passed; None if the metric gave no verdicts.
        pass_rate: share of the rows with a verdict that passed, 0 to 1; None if there are no verdicts.
        pass_interval: 95 % interval of the pass rate; None if fewer than two rows have a verdict.
        usage: calls, cached calls and tokens, summed.
        lowest: the rows with the lowest values, as (label, value), lowest first; rows at the top of the scale are left out. Empty
            if low values are good.
        spread: standard deviation of the judgements of one row, averaged over the rows that were judged several times; None if
            there are no such rows.
        unsteady: number of rows whose judgements differ.
        labels: number of rows with each label, the most common label first.
        silent: number of rows counted as the worst value because the system retrieved or answered nothing (``empty="zero"``).
        label_rates: for a metric that labels scored rows, how often it gave each label, the most common label first.
        highest: for a metric whose low values are good, the rows with the highest values, highest first; rows at the bottom
            of the scale are left out.
        jury: for a jury, the results of each juror and their agreement; None for any other metric.
        calibration: the metric compared with people's labels, with the mean that people would give; None without labels.
    """

    name: str
    mean: float | None
    interval: Interval | None
    scale: tuple[float, float] | None
    scored: int
    unscored: int
    failed: int
    passed: int | None
    pass_rate: float | None
    pass_interval: Interval | None
    usage: Usage
    lowest: tuple[tuple[str, float], ...] = ()
    spread: float | None = None
    unsteady: int = 0
    labels: Mapping[str, int] = field(default_factory=dict)
    silent: int = 0
    label_rates: Mapping[str, LabelRate] = field(default_factory=dict)
    highest: tuple[tuple[str, float], ...] = ()
    jury: JurySummary | None = None
    calibration: MetricCalibration | None = None

    @property
    def rows(self) -> int:
        """The number of all rows, with and without a value."""
        return self.scored + self.unscored + self.failed

    @property
    def failed_everywhere(self) -> bool:
        """Whether the metric failed on every row, so that its result is unknown."""
        return self.failed > 0 and self.failed == self.rows

    @property
    def tokens_known(self) -> bool:
        """Whether the number of tokens is known. A server that reports no tokens may still have used some."""
        usage = self.usage
        return usage.calls == usage.cached_calls or bool(usage.prompt_tokens or usage.completion_tokens)

    @property
    def has_own_pass_rate(self) -> bool:
        """Whether the pass rate adds information to the mean; for yes/no metrics they are equal."""
        return self.passed is not None and self.pass_rate != self.mean

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        interval, limits = self.interval, self.pass_interval
        values = {
            **vars(self),
            "interval": interval and interval[:2],
            "interval_method": interval.method if interval else None,
            "pass_interval": limits and limits[:2],
            "label_rates": {
                label: {**vars(rate), "interval": rate.interval and rate.interval[:2]}
                for label, rate in self.label_rates.items()
            },
        }
        if self.calibration is not None:
            found = self.calibration.to_dict()
            values["corrected"] = {**found["corrected"], "warnings": found["warnings"]}
        left_out = {"name", "calibration", *(["jury"] if self.jury is None else [])}
        return plain({name: value for name, value in values.items() if name not in left_out})


LONGEST_REASON = 240
"""The number of characters of a reason in the text."""


@dataclass(frozen=True)
class Reason:
    """One cause of missing values, with all scores that it explains.

    Attributes:
        state: ``unscored`` or ``failed``.
        text: the reason or the error, without the place of a single row.
        metrics: names of the metrics concerned.
        rows: labels of the rows concerned: their ids or places. For a run in Parquet files, they are read when they are used.
        counts: number of rows for each of these metrics, in their order.
    """

    state: str
    text: str
    metrics: tuple[str, ...]
    rows: Sequence[str]
    counts: tuple[int, ...]

    @property
    def count(self) -> int:
        """The number of scores concerned: the sum of the rows of all these metrics."""
        return sum(self.counts)

    def __str__(self) -> str:
        shown = printable(" ".join(self.text.split()))
        shown = shown if len(shown) <= LONGEST_REASON else f"{shown[: LONGEST_REASON - 3]}..."
        return f"{self._size()}: {shown} ({first_of(self.rows)})"

    def _size(self) -> str:
        """Return the number of rows for each metric. Rows of different metrics are never added up, because they may be the same
        rows.
        """
        names = [cut_middle(name, LONGEST_ROW) for name in self.metrics]
        if len(set(self.counts)) == 1:
            several = "each of " if len(self.metrics) > 1 else ""
            return f"{count_of(self.counts[0], 'row')} in {several}{', '.join(names)}"
        rest = (f"{count} in {name}" for count, name in zip(self.counts[1:], names[1:], strict=True))
        return ", ".join([f"{count_of(self.counts[0], 'row')} in {names[0]}", *rest])


@dataclass(frozen=True)
class SliceSummary:
    """The metrics over the rows that share a value.

    Attributes:
        name: the readable name, such as ``lang=de``, or ``without lang``.
        label: the value as text; None for rows without a value.
        rows: number of rows.
        metrics: one entry per metric, over these rows alone.
    """

    name: str
    label: str | None
    rows: int
    metrics: tuple[MetricSummary, ...]

    def __getitem__(self, name: str) -> MetricSummary:
        return named(self.metrics, name)

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return {"label": self.label, "rows": self.rows, "metrics": {item.name: item.to_dict() for item in self.metrics}}


def named(metrics: Sequence[MetricSummary], name: str) -> MetricSummary:
    """Return the summary of the metric with this name.

    Raises:
        KeyError: there is no such metric; the message lists the names that exist.
    """
    for item in metrics:
        if item.name == name:
            return item
    raise KeyError(f"no metric {name!r}; there are {', '.join(item.name for item in metrics)}")


@dataclass(frozen=True)
class Summary(Result):
    """The summary of a run; ``str()`` or ``print`` shows it as a table, as wide as the terminal, or 80 columns without a
    terminal.

    Attributes:
        title: what was evaluated.
        metrics: one entry per metric.
        reasons: causes of missing values, the most common first.
        caveats: warnings about the models that were asked, and about the rows.
        seconds: wall time of the run; None if it is not known.
        models: the usage of every model; its ``cost()`` is the price.
        stopped: why the run ended before its last row; None if it did not.
        earlier: the usage of every model in earlier parts of the run.
        waited: for each metric, the mean seconds that a row waited for models; metrics that wait for no model are left out.
        by: the path of the column that defines ``slices``; None if there are no slices.
        slices: the metrics for each value of the column, by the value as text: ``slices["de"]["faithfulness"].mean``; the key
            None has the rows without a value.
        contradicting: number of rows of which the judge says that a context contradicts a claim of the answer, and none supports
            it.
    """

    title: str
    metrics: tuple[MetricSummary, ...]
    reasons: tuple[Reason, ...] = ()
    caveats: tuple[str, ...] = ()
    seconds: float | None = None
    models: tuple[ModelUsage, ...] = ()
    stopped: str | None = None
    earlier: tuple[ModelUsage, ...] = ()
    waited: Mapping[str, float] = field(default_factory=dict)
    by: str | None = None
    slices: Mapping[str | None, SliceSummary] = field(default_factory=dict)
    contradicting: int = 0

    def __getitem__(self, name: str) -> MetricSummary:
        return named(self.metrics, name)

    @property
    def failed_everywhere(self) -> tuple[str, ...]:
        """Names of the metrics that failed on every row."""
        return tuple(item.name for item in self.metrics if item.failed_everywhere)

    @property
    def asked(self) -> Usage:
        """The usage of all models, including calls for rows that were not finished."""
        return sum((item.usage for item in self.models), Usage())

    @property
    def calls_of_unfinished_rows(self) -> int:
        """The number of calls for rows that the run left unfinished; these calls are in no score."""
        finished = sum(item.usage.calls - item.usage.cached_calls for item in self.metrics)
        return max(0, self.asked.calls - finished) if self.stopped is not None else 0

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        values = {
            **vars(self),
            "metrics": {item.name: item.to_dict() for item in self.metrics},
            "reasons": [{**vars(item), "count": item.count} for item in self.reasons],
            "models": [_model_dict(item) for item in self.models],
            "earlier": [_model_dict(item) for item in self.earlier],
            "slices": [item.to_dict() for item in self.slices.values()],
        }
        left_out = {"by", "slices"} if self.by is None else set()
        return plain({name: value for name, value in values.items() if name not in left_out})

    @property
    def sentence(self) -> str:
        """The result in a sentence or two, with which text, Markdown, page, notebook and pytest begin."""
        return summary_sentence(self)

    def _blocks(self) -> list[Block]:
        """Return the content as blocks, for every renderer."""
        return summary_blocks(self)


def _model_dict(item: ModelUsage) -> dict[str, Any]:
    cost = item.cost()
    price = {} if cost is None else {"dollars": cost.dollars, "prices": cost.source}
    return {**item.to_dict(), **price}


MOST_REASONS = 4
"""The number of reasons shown per state; the rest is counted."""

LONGEST_NAME, LONGEST_JUROR, LONGEST_ERROR = 40, 60, 120
"""The number of columns of the name of a metric or a label, of a juror's name or model, and of an error."""

FAR_FEWER = 0.9
"""A mean of fewer than this share of the rows of another mean is said with its own number of rows."""

OF_SLICES = "slices: each interval is about its own slice; among many slices, some means are low or high by chance"
UNREADABLE = "replies that could not be read: details['raw'] of these scores, also in the file of --out"

Column = tuple[str, Callable[[MetricSummary], str]]
"""The heading of a column, and the function that makes a cell from a metric."""

SCORES: tuple[Column, ...] = (
    ("mean", lambda item: number(item.mean)),
    ("scored", lambda item: f"{item.scored} of {item.rows}"),
    ("95 % interval", lambda item: or_dash(item.interval)),
    ("unscored", lambda item: str(item.unscored)),
    ("failed", lambda item: str(item.failed)),
    ("scale", lambda item: f"{item.scale[0]:g} to {item.scale[1]:g}" if item.scale else "-"),
)
CALLS: tuple[Column, ...] = (
    ("calls", lambda item: str(item.usage.calls)),
    ("cached", lambda item: str(item.usage.cached_calls)),
    ("tokens in", lambda item: str(item.usage.prompt_tokens) if item.tokens_known else "-"),
    ("tokens out", lambda item: str(item.usage.completion_tokens) if item.tokens_known else "-"),
)
IN_SLICES = SCORES[:-1]


def summary_sentence(summary: Summary) -> str:
    """Return the result of a run in one sentence or a few: what was measured, and reasons to doubt it."""
    return " ".join(map(as_sentence, _sentences(summary))) or "Nothing was scored."


def _sentences(summary: Summary) -> Iterator[str]:
    means = [item for item in summary.metrics if item.mean is not None]
    silent = [item.name for item in summary.metrics if item.mean is None and not item.failed_everywhere]
    if means:
        yield _means_in_words(means[:MOST_NAMED])
    if (more := len(means) - MOST_NAMED) > 0:
        yield f"the table has {count_of(more, 'more metric')}"
    if rows := summary.contradicting:
        yield "1 row contradicts its contexts" if rows == 1 else f"{rows:,} rows contradict their contexts"
    if dead := summary.failed_everywhere:
        yield f"{names_in_words(dead)} failed on every row"
    if silent:
        yield f"{names_in_words(silent)} {'was' if len(silent) == 1 else 'were'} scored on no row"
    if failed := grouped((count_of(item.failed, "row"), item.name) for item in means if item.failed):
        parts = (
            rows if len(summary.metrics) == 1 else f"{rows} ({names_in_words(names)})" for rows, names in failed.items()
        )
        yield f"scoring failed on {' and on '.join(parts)}"
    yield from agreement_sentences([item.calibration for item in summary.metrics if item.calibration is not None])
    if summary.stopped is not None:
        yield "the run is not complete"
    yield from lexical_remark(summary.caveats)


def _means_in_words(items: Sequence[MetricSummary]) -> str:
    """Return the means with their intervals, and the number of rows behind them: the smallest and the largest, of all rows. A mean
    of far fewer rows has its own number.
    """
    most, rows = max(item.scored for item in items), items[0].rows
    own = [item.scored < FAR_FEWER * most for item in items]
    least = min(item.scored for item, few in zip(items, own, strict=True) if not few)
    means = [
        f"{in_words(item.name)}{'' if place else ' is'} {_mean_in_words(item, rows=few)}"
        for place, (item, few) in enumerate(zip(items, own, strict=True))
    ]
    span = f"{least:,} to " if least < most else ""
    return f"{listed(means)} on {span}{f'{most:,} of ' if most < rows else ''}{count_of(max(most, rows), 'row')}"


def _mean_in_words(item: MetricSummary, *, rows: bool) -> str:
    """Return the mean with its interval, its scale if that is not 0 to 1, how many rows passed if the mean does not say it, and
    with ``rows`` how many have a value.
    """
    mean, *limits = spoken(item.mean or 0.0, *(item.interval or ())[:2])
    remarks = [" to ".join(limits)] if limits else []
    if item.scale is not None and item.scale != (0.0, 1.0):
        remarks.append(f"scale {item.scale[0]:g} to {item.scale[1]:g}")
    if item.passed is not None and item.has_own_pass_rate:
        verdicts = round(item.passed / item.pass_rate) if item.pass_rate else item.scored
        remarks.append(f"{item.passed:,} of {count_of(verdicts, 'row')} passed")
    if rows:
        remarks.append(f"{item.scored:,} of {count_of(item.rows, 'row')}")
    return f"{mean} ({'; '.join(remarks)})" if remarks else mean


def summary_blocks(summary: Summary) -> list[Block]:
    """Return all blocks; the sentence at the top names metrics that failed on every row."""
    metrics = tuple(replace(item, name=_name(item.name)) for item in summary.metrics)
    summary = replace(summary, metrics=metrics)
    seconds = "" if summary.seconds is None else f", {_seconds(summary.seconds)}"
    failed = _reasons(summary, "failed")
    if any(reason.text.startswith("BadReply: ") for reason in summary.reasons):
        failed.append(UNREADABLE)
    rests = [
        Items(list(_corrected(metrics)), "corrected:"),
        Items([OF_SLICES] if len(summary.slices) > 1 else []),
        Items([*_of_scores(metrics), *_of_calls(summary)]),
        Items([_jury(item.name, item.jury) for item in metrics if item.jury]),
        Items(_worst((item.name, item.lowest) for item in metrics), "lowest:"),
        Items(_worst((item.name, item.highest) for item in metrics), "highest (where low is good):"),
        Items(_reasons(summary, "unscored"), "unscored:"),
        Items(failed, "failed:"),
    ]
    return [
        Sentence(summary_sentence(summary)),
        Text(f"{summary.title}{seconds}"),
        _table(metrics),
        *_slice_tables(summary),
        Details("What the numbers rest on", rests),
        *map(Note, summary.caveats),
        Note(summary.stopped or "", "stopped"),
    ]


def _table(metrics: Sequence[MetricSummary]) -> Table:
    """Return the table of scores, with usage columns if a model was asked; a table that is too wide is split in two."""
    columns = (*SCORES, *CALLS) if any(item.usage.calls for item in metrics) else SCORES
    rows = [[item.name, *(cell(item) for _, cell in columns)] for item in metrics]
    headings = ["metric", *(heading for heading, _ in columns)]
    return Table(headings, rows, split=len(SCORES) + 1, bars=list(map(_bar, metrics)))


def _bar(item: MetricSummary) -> Bar | None:
    """Return the mean and its interval on the scale of the metric; None if one of them is not known."""
    if item.mean is None or item.interval is None or item.scale is None:
        return None
    return Bar(item.mean, item.interval[:2], item.scale)


def _slice_tables(summary: Summary) -> Iterator[Table]:
    """Return one table per metric with one line per slice, so that values to compare stand below each other."""
    for place, item in enumerate(summary.metrics if summary.slices else ()):
        parts = [(part.name, part.metrics[place]) for part in summary.slices.values()]
        rows = [[name, *(cell(part) for _, cell in IN_SLICES)] for name, part in parts]
        yield Table([item.name, *(heading for heading, _ in IN_SLICES)], rows, bars=[_bar(part) for _, part in parts])


def _corrected(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    """Return the means that people would give, for metrics with labels."""
    for item in metrics:
        if item.calibration is not None:
            yield from (f"{item.name}: {words}" for words in corrected_in_words(item.calibration))


def _of_scores(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    """Return remarks on how the numbers in the table were made, and on other measurements."""
    if ways := in_groups((METHODS[item.interval.method], item.name) for item in metrics if item.interval):
        yield f"95 % interval: {ways}"
    for item in metrics:
        if item.has_own_pass_rate:
            limits = f", {whole(f'95 % interval {item.pass_interval}')}" if item.pass_interval else ""
            yield f"passed {item.name}: {item.passed} ({item.pass_rate:.3f}{limits})"
    for item in metrics:
        if item.label_rates:
            rates = (
                whole(f"{_name(label)} {rate.count} ({rate.share:.3f}{f', {rate.interval}' if rate.interval else ''})")
                for label, rate in item.label_rates.items()
            )
            yield f"labels {item.name} (share of {count_of(item.scored, 'scored row')}, 95 % interval): {', '.join(rates)}"
    yield from _labels_without_rate(metrics)
    for item in metrics:
        if item.spread is not None:
            rows = f"{item.unsteady} of {item.scored} rows differ"
            yield f"repeats {item.name}: standard deviation {item.spread:.3f} within a row, {rows}"


def _labels_without_rate(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    """Return the number of rows per label that the rates leave out, in one remark for all metrics with the same numbers."""
    pairs = []
    for item in metrics:
        others = Counter(item.labels) - Counter({label: rate.count for label, rate in item.label_rates.items()})
        if others:
            rows = ", ".join(f"{_name(label)} on {count} of {item.rows} rows" for label, count in others.items())
            worst = f"; {item.silent} of them counted as the worst value" if item.silent else ""
            pairs.append((f"{rows}{worst}", item.name))
    return (f"{text}: {first_of(names)}" for text, names in grouped(pairs).items())


def _of_calls(summary: Summary) -> Iterator[str]:
    """Return remarks on waiting, on calls that are in no score, and on costs."""
    if summary.waited:
        waits = (f"{_name(name)} {_seconds(mean)}" for name, mean in summary.waited.items())
        yield f"waiting per row: {', '.join(waits)}"
    asked, unfinished = summary.asked, summary.calls_of_unfinished_rows
    if unfinished:
        tokens = f"{asked.prompt_tokens} tokens in, {asked.completion_tokens} tokens out"
        yield f"asked altogether: {asked.calls} calls ({tokens}), {unfinished} of them for rows that were not finished"
    for when, models in (("", summary.models), ("earlier parts of this run, ", summary.earlier)):
        for item in models:
            cost = item.cost()
            if cost is not None:
                yield f"{when}cost {item.name}: {cost}"
            if item.batched.calls:
                tokens = f"{item.batched.prompt_tokens} tokens in, {item.batched.completion_tokens} tokens out"
                yield f"{when}batches {item.name}: {tokens}, which the table leaves out: it counts these calls as cached"
            if item.repeated:
                yield f"{when}{item.name}: {item.repeated} calls were refused or lost, and made again"


def _jury(name: str, jury: JurySummary) -> Items:
    """Describe the agreement of the jurors, rows that were tied or judged by fewer jurors, each juror, and the rows on which
    they differ most.
    """
    count, alpha = len(jury.jurors), jury.alpha
    limits = f", 95 % interval {alpha.interval}" if alpha.interval else ""
    said = f"how far its {count} jurors agree is not known: {alpha.problem}"
    if alpha.value is not None:
        said = f"its {count} jurors agree with Krippendorff's alpha {alpha.value:.3f}{limits}"
    for rows, what in ((jury.tied, "tied"), (jury.incomplete, "scored by fewer of them")):
        if rows:
            said += f"; {rows} of {count_of(jury.rows, 'row')} {what}"
    disputed = _worst([("they differ most on", jury.disputed)])
    return Items([*map(_juror, jury.jurors), *disputed], f"jury {name}: {said}")


def _juror(juror: JurorSummary) -> str:
    """Describe the results of one juror and the cost of its calls."""
    said, usage = cut_middle(juror.name, LONGEST_JUROR), juror.usage
    if juror.model and f"({juror.model})" not in juror.name:
        said += f" by {cut_middle(juror.model, LONGEST_JUROR)}"
    said += f": mean {number(juror.mean)}, {juror.scored} scored, {juror.unscored} unscored, {juror.failed} failed"
    if usage.calls:
        cached = f" ({usage.cached_calls} cached)" if usage.cached_calls else ""
        said += f"; {count_of(usage.calls, 'call')}{cached}"
    if usage.prompt_tokens or usage.completion_tokens:
        said += f", {usage.prompt_tokens} tokens in, {usage.completion_tokens} tokens out"
    if juror.errors:
        said += f"; failed most often by {cut_middle(juror.errors[0][0], LONGEST_ERROR)}"
    return said


def _worst(named: Iterable[tuple[str, Sequence[tuple[str, float]]]]) -> list[str]:
    """Return the rows to read first, each with its value; no line break separates them."""
    rows = (
        (name, [whole(f"{cut_middle(row, LONGEST_ROW)} ({value:.3g})") for row, value in rows]) for name, rows in named
    )
    return [f"{name}: {', '.join(shown)}" for name, shown in rows if shown]


def _reasons(summary: Summary, state: str) -> list[str]:
    reasons = [str(reason) for reason in summary.reasons if reason.state == state]
    hidden = len(reasons) - MOST_REASONS
    return reasons if hidden <= 0 else [*reasons[:MOST_REASONS], f"and {count_of(hidden, 'more reason')}"]


def _name(name: str) -> str:
    return cut_middle(name, LONGEST_NAME)


def _seconds(seconds: float) -> str:
    return f"{seconds:.{2 if seconds < 10 else 1 if seconds < 100 else 0}f} s"
