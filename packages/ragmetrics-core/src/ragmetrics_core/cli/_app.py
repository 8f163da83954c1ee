"""The command ``ragmetrics``.

Exit status: 0 if all went well, 1 if a gate failed (``--gate``, ``--fail-under``), 2 if the input or a model makes the run
impossible or a metric failed on every row that it could score (one line on stderr says why), 3 if a gate is undecided, 4 if
batches are sent and not yet answered (``--no-wait``), 130 after Ctrl-C. Tables are plain text, as wide as the terminal, or 80
columns in a file and in a CI log. They go to stdout, everything else to stderr. An exception that is not a ``RagmetricsError`` is a
bug: its traceback is shown and the status is 70, so 1 always means that a gate failed.
"""

from __future__ import annotations

from functools import partial

import typer

import ragmetrics_core

from .._show._tables import room, wrapped
from ..metrics import Entry, catalogue
from . import (
    _batches,
    _calibrate,
    _compare,
    _doctor,
    _evaluate,
    _generate,
    _live,
    _look,
    _plan,
    _report,
    _run,
    _show,
    _view,
)
from ._output import Command, clear_errors, say

app = typer.Typer(
    name="ragmetrics",
    help="Score RAG answers and retrieval results.",
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def main() -> None:
    """Entry point of the console command."""
    app()


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"ragmetrics {ragmetrics_core.__version__}")
        raise typer.Exit


VERSION = typer.Option(False, "--version", callback=_version, is_eager=True, help="Show the version and exit.")


@app.callback()
def options(version: bool = VERSION) -> None:
    """Score RAG answers and retrieval results."""


# The help of a command is the docstring of its module.
command = partial(app.command, cls=Command)
command(help=_evaluate.__doc__, short_help="Score the rows of a file, and print a table.")(_evaluate.evaluate)
command(help=_run.__doc__, short_help="Ask your application the questions of a file, and judge it.")(_run.run)
command(help=_look.__doc__, short_help="Show how the rows of a file are understood.")(_look.look)
command(help=_compare.__doc__, short_help="Say whether one run is better or worse than another.")(_compare.compare)
command(help=_calibrate.__doc__, short_help="Say whether the judge of a run agrees with people.")(_calibrate.calibrate)
command(help=_live.__doc__, short_help="Show the means of live traffic.")(_live.live)
command(help=_plan.__doc__, short_help="Say how many rows and labels an evaluation needs.")(_plan.plan)
command(help=_show.__doc__, short_help="Show a run, its worst rows, or one row with all its evidence.")(_show.show)
command(help=_generate.__doc__, short_help="Write questions with reference answers from documents.")(_generate.generate)
command(help=_doctor.__doc__, short_help="Say what works: a judge, an embedding model, this machine.")(_doctor.doctor)
command(help=_batches.__doc__, short_help="List or cancel the batches of a run.")(_batches.batches)
command(help=_report.__doc__, short_help="Write a run as one HTML file.")(_report.report)
command(help=_view.__doc__, short_help="Show the runs in a folder in a browser.")(_view.view)


@app.command("metrics", short_help="List the built-in metrics.")
def list_metrics() -> None:
    """List the built-in metrics: what each says, its inputs, scale, model calls per row (n = retrieved contexts), source."""
    with clear_errors():
        say("\n\n".join(map(_described, catalogue())))


def _described(entry: Entry) -> str:
    """Return a metric of the catalogue: its name, description, inputs, cost and source."""
    inputs = ", ".join(item.name + "?" * (not item.required) for item in entry.inputs) or "as declared"
    scale = f"{entry.scale[0]:g} to {entry.scale[1]:g}" if entry.scale else "its own"
    about = (
        entry.summary,
        f"inputs (? = optional): {inputs}",
        f"scale: {scale}; calls: {'1 per retrieved context' if entry.calls == 'n' else entry.calls}",
        f"source: {entry.source}",
    )
    lines = [line for text in about for line in wrapped(text.replace("``", ""), room(), indent="  ")]
    return "\n".join([entry.name, *lines])
