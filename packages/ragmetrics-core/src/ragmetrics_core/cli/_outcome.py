"""What a finished run comes to on the command line: the file, the table, and the status that its gates deserve."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

import typer

from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric
from .._kernel._sample import Sample
from .._read import keys_of
from .._report._evaluation import Evaluation
from .._report._summary import Summary
from ._columns import SHORT, map_for
from ._messages import in_cli_words
from ._output import complain, how_to_continue, say, stop, to_stdout, write

__all__ = ["parse_gates", "report"]

MOST_FAILED = 0.5
"""Share of failed rows above which a mean no longer passes a gate: the rows that failed may be the bad ones."""

UNREAD = re.compile(r"MissingInput: needs '(\w+)'|InvalidInput: (\w+) must be a str, got (?:dict|list)\b")
"""Failures of a field that stands in another column, or deeper inside its own."""


def parse_gates(texts: list[str], metrics: list[Metric]) -> dict[str, float]:
    """The least mean by metric, of texts such as ``faithfulness=0.8``.

    Raises:
        InvalidInput: a text is of another form, or names no metric of the run, or a value that is not on its scale.
    """
    scales: dict[str, Any] = {metric.name: metric.scale for metric in metrics}
    gates = {}
    for text in texts:
        name, equals, number = (part.strip() for part in text.partition("="))
        try:
            value = float(number) if equals else math.nan
        except ValueError:
            value = math.nan
        if not math.isfinite(value):
            raise InvalidInput(f"--fail-under takes METRIC=NUMBER, got {text!r}")
        if name not in scales:
            raise InvalidInput(f"--fail-under: {name!r} is not among the metrics of this run: {', '.join(scales)}")
        scale = scales[name]
        if scale is not None and not scale[0] <= value <= scale[1]:
            raise InvalidInput(
                f"--fail-under: {name} goes from {scale[0]:g} to {scale[1]:g}, so {value:g} is no gate for it"
            )
        gates[name] = value
    return gates


def report(evaluation: Evaluation, out: Path | None, run_dir: Path | None, gates: dict[str, float]) -> None:
    """Write the file, print the table, and end with the status that they deserve."""
    summary = _in_cli_words(evaluation.summary())
    if objects := _objects(evaluation):
        complain(f"judged as an object, as it stands: {objects}; `ragmetrics look` shows how to name what is inside")
    dead = summary.failed_everywhere
    for name in dead:
        complain(f"{name} failed on every row: {_why(summary, name)}")
    if unread := _unread(_why(summary, name) for name in dead):
        complain(f"where the data has it under another name: {map_for(unread)} (`ragmetrics look` shows the columns)")
    try:
        if out is not None:
            write(evaluation, out)
    finally:
        say(str(summary), err=to_stdout(out))
    if summary.stopped is not None:
        remark, command = how_to_continue(run_dir)
        stop(summary.stopped + remark, 2, command)
    if dead:
        if run_dir is not None:
            remark, command = how_to_continue(run_dir)
            complain(remark.replace("(", "").replace(")", ""), command)
        raise typer.Exit(2)
    if unknown := [item.name for item in summary.metrics if item.failed and not item.scored]:
        remark, command = how_to_continue(run_dir) if run_dir else ("", "")
        if any(item.scored for item in summary.metrics):
            text = "; ".join(f"{name} was scored on no row: {_why(summary, name)}" for name in unknown)
        else:
            text = "nothing was scored: see the failures above"
        stop(text + remark, 2, command)
    if missed := _missed(summary, gates):
        stop("; ".join(missed), 1)


def _objects(evaluation: Evaluation) -> str:
    """The fields whose text is an object in the first row: cells of exports hold the question or answer inside of one."""
    first = evaluation.rows[0] if len(evaluation) else Sample()
    texts = {name: getattr(first, name) for name in SHORT}
    return ", ".join(name for name, text in texts.items() if isinstance(text, str) and keys_of(text))


def _unread(causes: Iterable[str]) -> list[str]:
    """The fields that such failures are about, each once."""
    found = (UNREAD.match(cause) for cause in causes)
    return list(dict.fromkeys(match[1] or match[2] for match in found if match))


def _missed(summary: Summary, gates: dict[str, float]) -> list[str]:
    """The gates that are not met, and why."""
    missed = []
    for name, least in gates.items():
        item = summary[name]
        mean = item.mean
        if mean is None:
            missed.append(f"{name} has no score, so it is not known to reach {least:g}")
        elif item.failed > MOST_FAILED * item.rows:
            missed.append(f"{name} failed on {item.failed} of {item.rows} rows, so its mean says too little for a gate")
        elif mean < least and not math.isclose(mean, least, rel_tol=1e-9):
            missed.append(f"{name} is {mean:.6g}, under {least:g}")
    return missed


def _in_cli_words(summary: Summary) -> Summary:
    reasons = tuple(replace(reason, text=in_cli_words(reason.text)) for reason in summary.reasons)
    stopped = summary.stopped and in_cli_words(summary.stopped)
    return replace(summary, reasons=reasons, stopped=stopped)


def _why(summary: Summary, metric: str) -> str:
    """The most common cause of a metric's failures."""
    return next(reason.text for reason in summary.reasons if reason.state == "failed" and metric in reason.metrics)
