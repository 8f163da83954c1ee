"""What a run must show to pass, as options: ``--gate`` and all that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Annotated, Any

import typer

from .._kernel._errors import InvalidInput
from .._kernel._metric import Metric
from .._report._evaluation import Evaluation
from .._report._gate_results import Decision, GateResult
from .._report._gates import Conditions, Gate, check_mean, parsed_gates
from .._report._slices import RowLabels
from ._fail_under import parse_least
from ._messages import in_cli_words

__all__ = [
    "GATE_OPTIONS",
    "By",
    "Cluster",
    "GateTexts",
    "MaxFailed",
    "MinCoverage",
    "Undecided",
    "Wanted",
    "parse_wanted",
]

GateTexts = Annotated[
    list[str] | None,
    typer.Option(
        "--gate",
        metavar="GATE",
        help="'METRIC >= NUMBER' or 'METRIC <= NUMBER', in quotes: passes if the 95 % interval of the mean lies on that side, "
        "fails (status 1) if it lies on the other, and is undecided (status 3) else. Repeatable.",
    ),
]
By = Annotated[
    str | None,
    typer.Option(metavar="COLUMN", help="Decide each --gate for every value of this column too, such as lang."),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        metavar="COLUMN",
        help="Rows that share a value of this column, such as document, are alike: the intervals of --gate count with that.",
    ),
]
MinCoverage = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="A --gate fails if less than this share of its rows has a score; 0.9 if not given."
    ),
]
MaxFailed = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="A --gate fails if more than this share of its rows failed; 0.05 if not given."),
]
Undecided = Annotated[
    str | None,
    typer.Option(
        metavar="WORD", help="pass: an undecided --gate ends with status 0; fail: with 1. Without it, with status 3."
    ),
]

GATE_OPTIONS = ("by", "cluster", "min_coverage", "max_failed", "undecided")
"""Options that are about the gates, and nothing without one."""

STATUS = {"pass": 0, "fail": 1, None: 3}
"""What an undecided gate ends with."""

MOST_NAMES = 5


@dataclass(frozen=True)
class Wanted:
    """What a run must show.

    Attributes:
        least: the least mean by metric, of ``--fail-under``.
        gates: those of ``--gate``.
        settings: what ``Evaluation.gate`` takes besides.
        status: what undecided gates end with.
    """

    least: Mapping[str, float]
    gates: Sequence[Gate]
    settings: Mapping[str, Any]
    status: int

    def decision(self, evaluation: Evaluation) -> Decision:
        """What becomes of the gates, in the words of the command line; nothing where there are none.

        Raises:
            InvalidInput: a column to go by is not there, or is none.
        """
        if not self.gates:
            return Decision(())
        results = evaluation.gate(*self.gates, **self.settings).results
        return Decision(tuple(replace(item, unmet=tuple(map(in_cli_words, item.unmet))) for item in results))

    def status_of(self, decision: Decision) -> int:
        """The exit status that a decision deserves."""
        return {"failed": 1, "undecided": self.status, "passed": 0}[decision.verdict]

    def complaint(self, decision: Decision) -> str:
        """What is wrong, in one line; empty if nothing is."""
        failed, open_ = decision.of("failed"), decision.of("undecided")
        parts = [f"failed: {_names(failed)}"] if failed else []
        if open_:
            parts.append(f"undecided: {_names(open_)}")
            if self.status == STATUS[None] and not failed:
                parts.append("more rows would decide; --undecided pass, or fail, decides without them")
        return "; ".join(parts)


def parse_wanted(
    metrics: Sequence[Metric], fail_under: list[str] | None, gates: list[str] | None, **options: Any
) -> Wanted:
    """What the options say, checked before anything is paid for.

    Args:
        metrics: those of the run.
        fail_under: texts such as ``faithfulness=0.8``.
        gates: texts such as ``faithfulness >= 0.8``.
        options: the values of ``GATE_OPTIONS``; None where one was not given.

    Raises:
        InvalidInput: one cannot be read or is about no gate, or a limit is off its metric's scale or out of reach.
    """
    scales = {metric.name: metric.scale for metric in metrics}
    given = {name: value for name, value in options.items() if value is not None}
    if given and not gates:
        name = next(iter(given)).replace("_", "-")
        raise InvalidInput(f"--{name} is about gates: add --gate 'METRIC >= NUMBER', or leave --{name} out")
    undecided = given.pop("undecided", None)
    if undecided not in STATUS:
        raise InvalidInput(f"--undecided is one of pass, fail, got {undecided!r}")
    for name in given.keys() & {"by", "cluster"}:
        RowLabels(given[name], name)
    Conditions(**{name: value for name, value in given.items() if name not in {"by", "cluster"}})
    least = parse_least(fail_under or [], scales)
    wanted = parsed_gates(gates) if gates else []
    for gate in wanted:
        check_mean(gate, scales)
    return Wanted(least, wanted, given, STATUS[undecided])


def _names(results: Iterable[GateResult]) -> str:
    names = [result.name for result in results]
    more = len(names) - MOST_NAMES
    return "; ".join(names[:MOST_NAMES]) + (f"; and {more} more" if more > 0 else "")
