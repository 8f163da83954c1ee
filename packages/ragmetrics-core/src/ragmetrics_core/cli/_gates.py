"""What a run must show to pass, as options: ``--gate`` and all that belongs to it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Annotated

import typer

from .._evaluate._evaluation import Comparison, Evaluation, gated
from .._gate._gates import FORMS, Conditions, Gate, Of, parsed_gates
from .._gate._results import Decision, GateResult
from .._kernel._errors import InvalidInput

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
    typer.Option(
        metavar="COLUMN",
        help="Show the metrics for every value of this column too, such as lang, and decide each --gate for it.",
    ),
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

STATUS = {"pass": 0, "fail": 1, None: 3}
"""What an undecided gate ends with."""

MOST_NAMES = 5


@dataclass(frozen=True)
class Gates:
    """The gates of a command.

    Attributes:
        gates: those of ``--gate``.
        conditions: what they ask of the rows besides.
        undecided: the status that undecided ones end with.
    """

    gates: Sequence[Gate]
    conditions: Conditions
    undecided: int

    def status(self, decision: Decision) -> int:
        """The exit status that a decision deserves."""
        status = {"failed": 1, "undecided": self.undecided, "passed": 0}[decision.verdict]
        return status or (
            STATUS[None] if any(result.void for result in decision.results) else 0
        )  # more rows would not decide

    def complaint(self, decision: Decision) -> str:
        """What is wrong, in one line; empty if nothing is."""
        failed, open_ = decision.of("failed"), decision.of("undecided")
        parts = [f"failed: {_names(failed)}"] if failed else []
        if open_:
            parts.append(f"undecided: {_names(open_)}")
            if self.undecided == STATUS[None] and not failed and not all(result.void for result in open_):
                parts.append(
                    "a new run of more rows may decide (fix the number before you look); "
                    "--undecided pass or --undecided fail decides now"
                )
        return "; ".join(parts)


def parse_gates(
    texts: list[str] | None,
    min_coverage: float | None,
    max_failed: float | None,
    undecided: str | None,
    usual: Of = "mean",
    **others: str | None,
) -> Gates:
    """What the options say, checked before any work.

    Args:
        texts: those of ``--gate``, such as ``faithfulness >= 0.8``.
        min_coverage: None where it was not given, as with all that follow.
        max_failed: the same.
        undecided: ``pass`` or ``fail``.
        usual: what gates are mostly about in this command.
        others: more options that are about gates alone.

    Raises:
        InvalidInput: one cannot be read, or is about gates where there are none.
    """
    options = {**others, "min_coverage": min_coverage, "max_failed": max_failed, "undecided": undecided}
    given = [name for name, value in options.items() if value is not None]
    if given and not texts:
        name = given[0].replace("_", "-")
        raise InvalidInput(
            f"--{name} is about gates: add --gate '{FORMS[usual].partition(' or ')[0]}', or leave --{name} out"
        )
    if undecided not in STATUS:
        raise InvalidInput(f"--undecided is one of pass, fail, got {undecided!r}")
    default = Conditions()
    conditions = Conditions(
        default.min_coverage if min_coverage is None else min_coverage,
        default.max_failed if max_failed is None else max_failed,
    )
    return Gates(parsed_gates(texts, usual) if texts else (), conditions, STATUS[undecided])


def decision_of(
    gates: Gates, evaluation: Evaluation, by: str | None, cluster: str | None, comparison: Comparison | None = None
) -> Decision:
    """What becomes of the gates; nothing where there are none.

    Raises:
        InvalidInput: a gate is about nothing that is here or out of reach, or a column to go by is not there.
    """
    if not gates.gates:
        return Decision(())
    conditions = replace(gates.conditions, stopped=evaluation.stopped)
    return gated(evaluation, gates.gates, conditions, by=by, cluster=cluster, comparison=comparison)


def _names(results: Iterable[GateResult]) -> str:
    names = [result.name for result in results]
    more = len(names) - MOST_NAMES
    return "; ".join(names[:MOST_NAMES]) + (f"; and {more} more" if more > 0 else "")
