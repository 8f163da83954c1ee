"""Combine the scores of several jurors for one sample into one score.

Only jurors with a value count. The reason names jurors that failed or found nothing to score. With fewer values than the quorum
there is no score. The order of the jurors does not change the value.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from ragmetrics_core import BadReply, InvalidInput, ModelError, Score

__all__ = ["TIE", "Vote", "verdict_of"]

TIE = "tie"
"""Label of a sample for which no value has a majority."""


@dataclass(frozen=True)
class Vote:
    """The vote of one juror.

    Attributes:
        juror: its name, unique within the jury.
        model: the names of the models that it asks; None if they are unknown or it asks none.
        score: its score.
        error: why it failed, if a model failed.
    """

    juror: str
    model: str | None
    score: Score
    error: ModelError | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the vote as it appears in the details of the jury: the score without the parts that all jurors share."""
        shown = {name: item for name, item in self.score.to_dict().items() if name not in ("metric", "scale")}
        return {"juror": self.juror, "model": self.model, **shown}


def verdict_of(jury: str, votes: Sequence[Vote], quorum: int, *, majority: bool) -> Score:
    """Combine votes into the score of a jury.

    Args:
        jury: the name of the jury.
        votes: the votes of the jurors.
        quorum: how many jurors must have a value.
        majority: True: take the value that more than half of those jurors gave, and leave a tie unscored. False: take the median;
            of an even number of values it is the mean of the middle two.

    Raises:
        InvalidInput: the values are on different scales.
        ModelError: too few jurors have a value because some failed. It is a ``BadReply`` if the replies to all that failed could
            not be read.
    """
    valid = [vote for vote in votes if vote.score.value is not None]
    failed = [vote for vote in votes if vote.score.error is not None]
    silent = [vote for vote in votes if vote.score.state == "unscored"]
    if len({vote.score.scale for vote in valid}) > 1:
        scales_in_words = "; ".join(f"{vote.juror} {vote.score.scale}" for vote in valid)
        raise InvalidInput(f"{jury}: the jurors score on different scales: {scales_in_words}")
    rule = "majority" if majority else "median"
    details: dict[str, Any] = {"jurors": [vote.to_dict() for vote in votes], "rule": rule, "tied": False}
    others = "".join(f"; {vote.juror} {_why(vote.score)}" for vote in [*silent, *failed])
    if len(valid) < quorum:
        reason = f"{len(valid)} of {len(votes)} jurors gave a value, {quorum} are needed{others}"
        if len(silent) >= quorum or not failed:  # the quorum agrees that there is nothing to score
            labels = {vote.score.label for vote in silent}
            return Score.unscored(reason, details=details, label=labels.pop() if len(labels) == 1 else None)
        raise _failure(reason, failed, details)
    values_in_words = ", ".join(f"{vote.score.value:.4g}" for vote in valid)
    jurors = f"{len(valid)} jurors" if len(valid) == len(votes) else f"{len(valid)} of {len(votes)} jurors"
    values = sorted(float(vote.score) for vote in valid)
    value = _most(values) if majority else median(values)
    if value is None:
        details["tied"] = True
        reason = f"tie: none of the values of {jurors} has a majority: {values_in_words}{others}"
        return Score.unscored(reason, details=details, label=TIE)
    low, high = values[(len(values) - 1) // 2], values[len(values) // 2]
    details["tied"] = not majority and low != high
    between = f"; tie: the middle lies between {low:.4g} and {high:.4g}" if details["tied"] else ""
    verdicts = [vote.score.passing for vote in valid if vote.score.passing is not None]
    passing = _most(verdicts)
    if verdicts and passing is None:
        between += "; tie: as many of the jurors let it pass as do not"
        details["tied"] = True
    reason = f"{rule} of {jurors}: {values_in_words}{between}{others}"
    label = _most([vote.score.label for vote in valid])
    # rounding may move the mean of two values off the scale
    return Score(min(max(value, low), high), passing, reason, details, scale=valid[0].score.scale, label=label)


def _most(values: Sequence[Any]) -> Any:
    """Return the value that more than half of the jurors have; None if there is none."""
    common = Counter(values).most_common(1)
    return common[0][0] if common and 2 * common[0][1] > len(values) else None


def _why(score: Score) -> str:
    return f"failed: {score.error}" if score.error is not None else f"found nothing to score: {score.reason}"


def _failure(reason: str, failed: Sequence[Vote], details: dict[str, Any]) -> ModelError:
    """Return the error of a jury without a score: a ``BadReply`` if the replies of all jurors that failed could not be read."""
    bad = [vote.error for vote in failed if isinstance(vote.error, BadReply)]
    raw = [text for error in bad for text in error.raw]
    error = BadReply(reason, raw) if len(bad) == len(failed) else ModelError(reason)
    error.details = details
    return error
