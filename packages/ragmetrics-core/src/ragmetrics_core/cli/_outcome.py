"""What a finished run comes to on the command line: the file, the table, and the status that its gates deserve."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import typer

from .._evaluate._estimate import Estimate
from .._evaluate._evaluation import Evaluation
from .._gate._results import Decision
from .._kernel._inputs import Input
from .._kernel._metric import Metric
from .._read import keys_of
from .._show._tables import hanging, room
from .._summary._summary import Summary
from .._values._errors import InvalidInput, MissingInput
from .._values._sample import Sample
from ._output import as_option, complain, how_to_continue, in_cli_words, say, stop, stop_unfinished, to_stdout, write
from ._parsing import SHORT, Wanted, compared_with_least, map_for


def report(
    evaluation: Evaluation, metrics: Sequence[Metric], out: Path | None, run_dir: Path | None, wanted: Wanted
) -> None:
    """Write the file, print the table and what became of the gates, and end with the status that they deserve."""
    summary, sliceless = _summed_up(evaluation, wanted.by)
    if objects := _objects(evaluation):
        complain(f"judged as an object, as it stands: {objects}; `ragmetrics look` shows how to name what is inside")
    dead = summary.failed_everywhere
    for name in dead:
        complain(f"{name} failed on every row: {_why(summary, name)}")
    if unread := _unread(evaluation, [metric for metric in metrics if metric.name in dead]):
        complain(f"where the data has it under another name: {map_for(unread)} (`ragmetrics look` shows the columns)")
    decision, problem = _decided(evaluation, wanted)
    try:
        if out is not None:
            write(evaluation, out, summary.by, decision)
    finally:
        say(str(summary), err=to_stdout(out))
    status, problems = _tell(decision, summary, wanted, err=to_stdout(out)) if not problem else (2, [problem])
    _stop_where_unknown(summary, dead, run_dir)
    if problems or sliceless:
        stop("; ".join(dict.fromkeys([*sliceless, *problems])), 2 if sliceless else status)


def show_price(price: Estimate) -> None:
    """Print what a run would ask and cost, in place of the run."""
    say(price.text(write=as_option))
    if lacking := [item.name for item in price.metrics if item.failed and item.failed == price.rows]:
        complain(f"no row can be scored by {', '.join(lacking)}: `ragmetrics look` shows what is missing")


def _summed_up(evaluation: Evaluation, by: str | None) -> tuple[Summary, list[str]]:
    """The summary, with its slices where there are any, and why there are none: the run is paid for, so its table comes anyhow."""
    try:
        return evaluation.summary(by), []
    except InvalidInput as error:
        return evaluation.summary(), [in_cli_words(error)]


def _decided(evaluation: Evaluation, wanted: Wanted) -> tuple[Decision, str]:
    """What became of the gates, and why they could not be decided: the table and what stopped the run are shown all the same."""
    try:
        return wanted.decide(evaluation), ""
    except InvalidInput as error:
        return Decision(()), in_cli_words(error)


def _tell(decision: Decision, summary: Summary, wanted: Wanted, *, err: bool) -> tuple[int, list[str]]:
    """Print what became of the gates; returns the status that they deserve, and what is to be said of it."""
    reached, missed = compared_with_least(summary, wanted.least)
    lines = [line for text in reached for line in hanging(f"fail-under: {text}", room())]
    if decision.results:
        lines.append(str(decision))
    if lines:
        say("\n" + "\n".join(lines), err=err)
    complaint = wanted.complaint(decision)
    return 1 if missed else wanted.status(decision), [*missed, *([complaint] if complaint else [])]


def _stop_where_unknown(summary: Summary, dead: Sequence[str], run_dir: Path | None) -> None:
    """End with status 2 where the run ended early, or where a metric has no score since it failed."""
    if summary.stopped is not None:
        stop_unfinished(summary.stopped, run_dir)
    if dead:
        if run_dir is not None:
            remark, command = how_to_continue(run_dir)
            complain(remark.replace("(", "").replace(")", ""), command)
        raise typer.Exit(2)
    if unknown := [item.name for item in summary.metrics if item.failed and not item.scored]:
        if any(item.scored for item in summary.metrics):
            text = "; ".join(f"{name} was scored on no row: {_why(summary, name)}" for name in unknown)
        else:
            text = "nothing was scored: see the failures above"
        if run_dir is not None:
            stop_unfinished(text, run_dir)
        stop(text, 2)


def _objects(evaluation: Evaluation) -> str:
    """The fields whose text is an object in the first row: cells of exports hold the question or answer inside of one."""
    first = evaluation.rows[0] if len(evaluation) else Sample()
    texts = {name: getattr(first, name) for name in SHORT}
    return ", ".join(name for name, text in texts.items() if isinstance(text, str) and keys_of(text))


def _unread(evaluation: Evaluation, metrics: Sequence[Metric]) -> list[str]:
    """The fields that the metrics need and the first row has no text in: they may stand in another column, or inside their own."""
    row = next((row for row in evaluation.rows if row.to_dict().keys() - {"id"}), None)
    needed = dict.fromkeys(field for metric in metrics for field in metric.inputs)
    return [] if row is None else list(dict.fromkeys(field.name for field in needed if _is_unread(field, row)))


def _is_unread(field: Input, row: Sample) -> bool:
    try:
        field.read("", row)
    except MissingInput:
        return True
    except InvalidInput:
        return field.kind == "text" and isinstance(row.get(field.name), dict | list)
    return False


def _why(summary: Summary, metric: str) -> str:
    """The most common cause of a metric's failures."""
    return next(reason.text for reason in summary.reasons if reason.state == "failed" and metric in reason.metrics)
