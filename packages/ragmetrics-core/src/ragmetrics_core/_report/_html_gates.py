"""What became of gates, in the page of a comparison: those first that need attention."""

from __future__ import annotations

from .._kernel._tags import EMPTY, Html, element
from ._gate_results import Decision, GateResult

MARKS = {"failed": ("\u2718", "bad"), "undecided": ("?", "open"), "passed": ("\u2714", "good")}
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
    mark, kind = MARKS[result.verdict]
    sign = element("span", mark, class_="sign", aria_hidden="true")
    return element(
        "li",
        element("span", sign, result.verdict, class_=f"verdict {kind}"),
        " ",
        element("code", result.name),
        ": ",
        element("bdi", result.why),
    )
