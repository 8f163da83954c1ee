"""What a summary says about the jurors of a jury, line by line.

A summary as text, for people: sections, one below the other, that fit the width they are given.

A mean over nothing shows as "-". Below the table come the rows to look at first: those with the lowest values, and those without
any.

Every section is a function from the summary and the width to its lines; one that has nothing to say returns no lines. ``SECTIONS``
is their order. What is wrong with a whole metric comes first, since the table below may be long.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from .._calibrate._words import summary_words
from .._kernel._layout import printable
from .._show._tables import cut_middle, hanging, table, whole, wrapped, wrapped_items
from ..statistics import METHODS
from ._jury import JurorSummary, JurySummary
from ._metric_summary import LONGEST_ROW, MetricSummary, first_of

if TYPE_CHECKING:
    from ._summary import Summary


LONGEST_JUROR, LONGEST_ERROR = 60, 120


def jury_lines(summary: Summary, width: int) -> list[str]:
    """For each jury how far its jurors agree, what each of them did, and the rows on which they differ most."""
    return [line for item in summary.metrics if item.jury for line in _lines(item.name, item.jury, width)]


def _lines(name: str, jury: JurySummary, width: int) -> Iterator[str]:
    yield from hanging(f"jury {name}: {agreement_in_words(jury)}", width)
    for juror in jury.jurors:
        yield from wrapped(juror_in_words(juror), width, indent="  ")
    rows = [f"{cut_middle(label, LONGEST_ROW)} ({difference:.3g})" for label, difference in jury.disputed]
    if rows:
        yield from wrapped_items("they differ most on:", rows, width, indent="  ")


def agreement_in_words(jury: JurySummary) -> str:
    """Krippendorff's alpha, and rows that were tied or judged by fewer jurors."""
    number, alpha = len(jury.jurors), jury.alpha
    if alpha.value is None:
        said = f"how far its {number} jurors agree is not known: {alpha.problem}"
    else:
        limits = f", 95 % interval {alpha.interval}" if alpha.interval else ""
        said = f"its {number} jurors agree with Krippendorff's alpha {alpha.value:.3f}{limits}"
    for count, what in ((jury.tied, "tied"), (jury.incomplete, "scored by fewer of them")):
        if count:
            said += f"; {count} of {jury.rows} row{'s' * (jury.rows != 1)} {what}"
    return said


def juror_in_words(juror: JurorSummary) -> str:
    """What one juror did, and what its calls cost."""
    name = cut_middle(juror.name, LONGEST_JUROR)
    model = (
        f" by {cut_middle(juror.model, LONGEST_JUROR)}" if juror.model and f"({juror.model})" not in juror.name else ""
    )
    mean = "-" if juror.mean is None else f"{juror.mean:.3f}"
    said = f"{name}{model}: mean {mean}, {juror.scored} scored, {juror.unscored} unscored, {juror.failed} failed"
    usage = juror.usage
    if usage.calls:
        cached = f" ({usage.cached_calls} cached)" if usage.cached_calls else ""
        said += f"; {usage.calls} call{'s' * (usage.calls != 1)}{cached}"
    if usage.prompt_tokens or usage.completion_tokens:
        said += f", {usage.prompt_tokens} tokens in, {usage.completion_tokens} tokens out"
    if juror.errors:
        said += f"; failed most often by {printable(cut_middle(juror.errors[0][0], LONGEST_ERROR))}"
    return said


MOST_REASONS = 4
"""Reasons that the text shows per state; the rest is counted."""

LONGEST_NAME = 40
"""Columns of the name of a metric or a label that are shown."""


def summary_text(summary: Summary, width: int) -> str:
    """The whole account."""
    shown = printable_summary(summary)
    parts = (section(shown, width) for section in SECTIONS)
    return "\n\n".join("\n".join(lines) for lines in parts if lines)


def printable_summary(summary: Summary) -> Summary:
    """The summary with nothing in its texts that a terminal would obey, and no name too long for a line.

    Labels, rows, reasons and slices look after themselves.
    """
    return replace(
        summary,
        title=printable(summary.title),
        metrics=tuple(replace(item, name=cut_middle(item.name, LONGEST_NAME)) for item in summary.metrics),
        caveats=tuple(map(printable, summary.caveats)),
        stopped=summary.stopped and printable(summary.stopped),
    )


def _title(summary: Summary, width: int) -> list[str]:
    head = summary.title if summary.seconds is None else f"{summary.title}, {_seconds(summary.seconds)}"
    return wrapped(head, width)


def _without_any_score(summary: Summary, width: int) -> list[str]:
    names = summary.failed_everywhere
    return wrapped_items("FAILED ON EVERY ROW:", names, width) if names else []


def _table(summary: Summary, width: int) -> list[str]:
    groups = groups_of(summary)
    whole = _columns(summary, sum(groups, ()), width)
    if "\n\n" not in whole:
        return [whole]
    # too wide: what was scored stays together, and so does what it took
    return ["\n\n".join(_columns(summary, group, width) for group in groups)]


def groups_of(summary: Summary) -> tuple[tuple[Column, ...], ...]:
    """The columns of the table, besides the name: what was scored, and what it took, if a model was asked."""
    return (SCORES, CALLS) if any(item.usage.calls for item in summary.metrics) else (SCORES,)


def _columns(summary: Summary, group: Sequence[Column], width: int) -> str:
    columns = (NAME, *group)
    rows = [[cell(item) for _, cell in columns] for item in summary.metrics]
    return table([heading for heading, _ in columns], rows, width)


Column = tuple[str, Callable[[MetricSummary], str]]

NAME: Column = ("metric", lambda item: _label(item.name))
SCORES: tuple[Column, ...] = (
    ("mean", lambda item: "-" if item.mean is None else f"{item.mean:.3f}"),
    ("scored", lambda item: f"{item.scored} of {item.rows}"),
    ("95 % interval", lambda item: str(item.interval) if item.interval else "-"),
    ("unscored", lambda item: str(item.unscored)),
    ("failed", lambda item: str(item.failed)),
    ("scale", lambda item: f"{item.scale[0]:g} to {item.scale[1]:g}" if item.scale else "-"),
)
CALLS: tuple[Column, ...] = (
    ("calls", lambda item: str(item.usage.calls)),
    ("cached", lambda item: str(item.usage.cached_calls)),
    ("tokens in", lambda item: _tokens(item, item.usage.prompt_tokens)),
    ("tokens out", lambda item: _tokens(item, item.usage.completion_tokens)),
)


IN_SLICES = SCORES[:-1]
OF_SLICES = "slices: each interval is about its own slice; among many slices, some means are low or high by chance"


def _tokens(item: MetricSummary, number: int) -> str:
    return str(number) if item.tokens_known else "-"


def _slices(summary: Summary, width: int) -> list[str]:
    """A table per metric, a line per slice, so that what is compared stands one below the other."""
    tables = [table(headings, rows, width) for headings, rows in slice_tables(summary)]
    return ["\n\n".join(tables)] if tables else []


def slice_tables(summary: Summary) -> Iterator[tuple[list[str], list[list[str]]]]:
    """The headings and the lines of each of these tables."""
    for place, item in enumerate(summary.metrics if summary.slices else ()):
        headings = [_label(item.name), *(heading for heading, _ in IN_SLICES)]
        parts = [(part.name, part.metrics[place]) for part in summary.slices.values()]
        yield headings, [[name, *(cell(part) for _, cell in IN_SLICES)] for name, part in parts]


def _of_slices(summary: Summary, width: int) -> list[str]:
    return hanging(OF_SLICES, width) if len(summary.slices) > 1 else []


def _remarks(summary: Summary, width: int) -> list[str]:
    """What the numbers of the table rest on, and what else was measured: a remark each."""
    rates = (_passed(item) for item in summary.metrics if item.has_own_pass_rate)
    remarks = (*_methods(summary.metrics), *rates, *_label_rates(summary.metrics), *_labels(summary.metrics))
    remarks += (*_spreads(summary.metrics), *_waits(summary), *_unfinished(summary), *_costs(summary))
    return [line for remark in remarks for line in hanging(remark, width)]


def _methods(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    """One remark: how the intervals were made, and for which metrics, if there was more than one way."""
    names: dict[str, list[str]] = {}
    for item in metrics:
        if item.interval:
            names.setdefault(METHODS[item.interval.method], []).append(item.name)
    if names:
        ways = names if len(names) == 1 else [f"{method} for {first_of(found)}" for method, found in names.items()]
        yield f"95 % interval: {'; '.join(ways)}"


def _passed(item: MetricSummary) -> str:
    limits = f", {whole(f'95 % interval {item.pass_interval}')}" if item.pass_interval else ""
    return f"passed {item.name}: {item.passed} ({item.pass_rate:.3f}{limits})"


def _label_rates(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    """How often a metric gave each of its labels, a remark per metric."""
    for item in metrics:
        rates = (
            whole(f"{_label(label)} {rate.count} ({rate.share:.3f}" + (f", {rate.interval})" if rate.interval else ")"))
            for label, rate in item.label_rates.items()
        )
        if item.label_rates:
            rows = f"{item.scored} scored row{'s' * (item.scored != 1)}"
            yield f"labels {item.name} (share of {rows}, 95 % interval): {', '.join(rates)}"


def _labels(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    """Rows by label that the rates leave out. One remark for all metrics that have the same."""
    found: dict[str, list[str]] = {}
    for item in metrics:
        others = Counter(item.labels) - Counter({label: rate.count for label, rate in item.label_rates.items()})
        if others:
            rows = ", ".join(f"{_label(label)} on {count} of {item.rows} rows" for label, count in others.items())
            worst = f"; {item.silent} of them counted as the worst value" if item.silent else ""
            found.setdefault(f"{rows}{worst}", []).append(item.name)
    for text, names in found.items():
        yield f"{text}: {first_of(names)}"


def _label(name: str) -> str:
    return cut_middle(name, LONGEST_NAME)


def _spreads(metrics: Sequence[MetricSummary]) -> Iterator[str]:
    for item in metrics:
        if item.spread is not None:
            rows = f"{item.unsteady} of {item.scored} rows differ"
            yield f"repeats {item.name}: standard deviation {item.spread:.3f} within a row, {rows}"


def _waits(summary: Summary) -> Iterator[str]:
    if summary.waited:
        yield "waiting per row: " + ", ".join(
            f"{_label(name)} {_seconds(mean)}" for name, mean in summary.waited.items()
        )


def _unfinished(summary: Summary) -> Iterator[str]:
    """What the table does not hold although it was spent: the calls of rows that a run has left unfinished."""
    asked, unfinished = summary.asked, summary.calls_of_unfinished_rows
    if unfinished:
        tokens = f"{asked.prompt_tokens} tokens in, {asked.completion_tokens} tokens out"
        yield f"asked altogether: {asked.calls} calls ({tokens}), {unfinished} of them for rows that were not finished"


def _costs(summary: Summary) -> Iterator[str]:
    for when, models in (("", summary.models), ("earlier parts of this run, ", summary.earlier)):
        for item in models:
            cost = item.cost()
            if cost is not None:
                yield f"{when}cost {printable(item.name)}: {cost}"
            if item.repeated:
                yield f"{when}{printable(item.name)}: {item.repeated} calls were refused or lost, and made again"


def _lowest(summary: Summary, width: int) -> list[str]:
    """The rows to read first; their names are cut, their values never."""
    return _worst("lowest:", ((item.name, item.lowest) for item in summary.metrics), width)


def _highest(summary: Summary, width: int) -> list[str]:
    """The rows to read first by metrics for which low values are good."""
    return _worst("highest (where low is good):", ((item.name, item.highest) for item in summary.metrics), width)


def _worst(title: str, named: Iterable[tuple[str, Sequence[tuple[str, float]]]], width: int) -> list[str]:
    lines = []
    for name, rows in named:
        shown = [f"{cut_middle(label, LONGEST_ROW)} ({value:.3g})" for label, value in rows]
        if shown:
            lines += wrapped_items(f"{name}:", shown, width, indent="  ")
    return [title, *lines] if lines else []


def _corrected(summary: Summary, width: int) -> list[str]:
    """What people would say, where labels tell it."""
    found = [(item.name, item.calibration) for item in summary.metrics if item.calibration is not None]
    texts = [f"{name}: {words}" for name, calibration in found for words in summary_words(calibration)]
    return ["corrected:", *(line for text in texts for line in wrapped(text, width, indent="  "))] if texts else []


def _unscored(summary: Summary, width: int) -> list[str]:
    return _reasons(summary, "unscored", width)


def _failed(summary: Summary, width: int) -> list[str]:
    lines = _reasons(summary, "failed", width)
    if any(reason.text.startswith("BadReply: ") for reason in summary.reasons):
        lines += wrapped(
            "replies that could not be read: details['raw'] of these scores, also in the file of --out", width
        )
    return lines


def _reasons(summary: Summary, state: str, width: int) -> list[str]:
    reasons = [str(reason) for reason in summary.reasons if reason.state == state]
    hidden = len(reasons) - MOST_REASONS
    if hidden > 0:
        reasons[MOST_REASONS:] = [f"and {hidden} more {'reason' if hidden == 1 else 'reasons'}"]
    lines = [line for reason in reasons for line in wrapped(reason, width, indent="  ")]
    return [f"{state}:", *lines] if lines else []


def _caveats(summary: Summary, width: int) -> list[str]:
    notes = ["\n".join(hanging(f"note: {text}", width)) for text in summary.caveats]
    return ["\n\n".join(notes)] if notes else []


def _stopped(summary: Summary, width: int) -> list[str]:
    return [] if summary.stopped is None else hanging(f"stopped: {summary.stopped}", width)


Section = Callable[["Summary", int], list[str]]

HEAD: tuple[Section, ...] = (_title, _without_any_score)
NOTES: tuple[Section, ...] = (
    _corrected,
    _of_slices,
    _remarks,
    jury_lines,
    _lowest,
    _highest,
    _unscored,
    _failed,
    _caveats,
    _stopped,
)
SECTIONS = (*HEAD, _table, _slices, *NOTES)


def _seconds(seconds: float) -> str:
    return f"{seconds:.{2 if seconds < 10 else 1 if seconds < 100 else 0}f} s"
