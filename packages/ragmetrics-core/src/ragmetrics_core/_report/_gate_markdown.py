"""What became of gates as Markdown, for a comment on a pull request; what comes from the data has no effect there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._markdown import code, prose

if TYPE_CHECKING:
    from ._gate_results import Decision, GateResult

MARKS = {
    "failed": "\N{CROSS MARK}",
    "undecided": "\N{BLACK QUESTION MARK ORNAMENT}",
    "passed": "\N{WHITE HEAVY CHECK MARK}",
}


def decision_markdown(decision: Decision) -> str:
    """A heading that counts, and an item for each gate, those that need attention first."""
    items = [_item(result) for result in decision.ordered]
    return "\n".join([f"### Gates: {decision.counts}", "", *items]) + "\n"


def _item(result: GateResult) -> str:
    return f"* {MARKS[result.verdict]} **{result.verdict}** {code(result.name)}: {prose(result.why)}"
