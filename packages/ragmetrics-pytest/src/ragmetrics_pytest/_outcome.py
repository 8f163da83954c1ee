"""What became of a session."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

from ragmetrics_core import Comparison, Decision, Evaluation


@dataclass
class Outcome:
    """What became of a session.

    Attributes:
        run_dir: where it is kept.
        evaluation: all that was scored; None if nothing was.
        summary: of what was scored, as text; empty if nothing was.
        decision: what became of the gates; None if none was decided.
        comparison: with the baseline, if there is one.
        baseline: the baseline as the settings name it.
        failures: why the session fails, besides gates, in words.
        warnings: what is open, in words.
        unscored_tests: how many tests have no scores, and why.
        undecided_fails: whether what is open fails the session.
    """

    run_dir: Path
    evaluation: Evaluation | None = None
    summary: str = ""
    decision: Decision | None = None
    comparison: Comparison | None = None
    baseline: str = ""
    failures: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    unscored_tests: list[str] = field(default_factory=list)
    undecided_fails: bool = False

    @property
    def red(self) -> bool:
        """Whether the session fails by what was decided."""
        verdict = None if self.decision is None else self.decision.verdict
        is_open = verdict == "undecided" or bool(self.warnings)
        return verdict == "failed" or bool(self.failures) or (is_open and self.undecided_fails)

    def open(self, problem: str, *, fails: bool) -> None:
        """Note what cannot be decided."""
        (self.failures if fails else self.warnings).append(problem)
