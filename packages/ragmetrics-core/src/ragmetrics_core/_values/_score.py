"""A score is in exactly one of three states.

* scored: ``value`` is a finite number on the scale of the metric;
* unscored: there is nothing to score in the sample, and ``reason`` says why;
* failed: something went wrong, and ``error`` says what.

An invalid score cannot be created, so no later code has to check for NaN. Nothing is validated twice, because ranking metrics
create a hundred thousand scores a second. So scores with the same evidence may share it: as ``Details``, or as ``Evidence`` in
their details, from which each score makes its own copy when its details are read.

Every row of a run has a score from every metric, so tables and files have no gaps. If a run does not ask a metric about a row, the
score of this row is ``not_asked``, and counts of rows leave it out.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .._support._secrets import without_secrets
from ._details import Details, Evidence, ScoreFields, unread_details, with_prompts
from ._errors import BadReply, MissingInput, ModelError, RagmetricsError
from ._evidence import in_words
from ._layout import readable
from ._requests import NO_USAGE, Usage


def checked_scale(scale: Sequence[float]) -> tuple[float, float]:
    """Return the two ends of a scale as floats.

    Raises:
        ValueError: the scale is not a pair of finite numbers, the lower one first.
    """
    try:
        low, high = map(float, scale)
    except (TypeError, ValueError):
        low, high = math.nan, math.nan
    if not (low <= high and high - low < math.inf):
        raise ValueError(f"a scale must be two finite numbers, the lower first, got {scale!r}: use None if unknown")
    return low, high


@dataclass(frozen=True, init=False)
class Score(ScoreFields):
    """The result of one metric on one sample.

    Attributes:
        value: a finite number inside ``scale``; None if the score is unscored or failed.
        passing: whether the sample passed; None if the metric gives no such verdict.
        reason: why the value is what it is, or why there is none.
        details: the evidence, as plain JSON values: statements, verdicts, ratings, questions. Do not change it.
        error: what went wrong, if the score failed; else None.
        usage: the calls, tokens and cached calls that the score needed.
        metric: the name of the metric.
        scale: the lowest and the highest possible value; None if they are not known.
        label: the kind of outcome in a word, such as ``no_retrieval`` or ``no_answer``; summaries count the rows with each label.

    Raises:
        ValueError: the value is not finite or is outside the scale, or the fields belong to different states.
        TypeError: the value is not a number, or the details are not JSON values.
    """

    def __init__(  # noqa: PLR0917  the order of the fields
        self,
        value: float | None,
        passing: bool | None = None,
        reason: str | None = None,
        details: Mapping[str, Any] | None = None,
        error: str | None = None,
        usage: Usage = NO_USAGE,
        metric: str | None = None,
        scale: tuple[float, float] | None = None,
        label: str | None = None,
    ) -> None:
        if scale is not None:
            scale = checked_scale(scale)
        if passing is not None:
            passing = bool(passing)
        if value is None:
            _check_no_value(passing, reason, error)
        else:
            if type(value) is not float:
                value = _number(value)
            if not math.isfinite(value):
                raise ValueError(f"a score must be a finite number, got {value}: use Score.unscored(reason)")
            if error is not None:
                raise ValueError(f"a failed score has no value, got {value}")
            _check_scale(value, metric, scale)
        if label is not None and not (isinstance(label, str) and label):
            raise TypeError(f"label must be a word or None, got {label!r}")
        vars(self).update(
            value=value,
            passing=passing,
            reason=reason,
            unread=unread_details(details),
            error=error,
            usage=usage,
            metric=metric,
            scale=scale,
            label=label,
        )

    @classmethod
    def unscored(cls, reason: str, *, details: Mapping[str, Any] | None = None, label: str | None = None) -> Score:
        """Return a score without a value, for a sample in which there is nothing to score."""
        return cls(None, reason=reason, details=details or {}, label=label)

    @classmethod
    def failed(cls, error: str | RagmetricsError, *, details: Mapping[str, Any] | None = None) -> Score:
        """Return the score of a sample that could not be scored; the texts of a ``BadReply`` are kept in ``details["raw"]``."""
        evidence = {**(error.details if isinstance(error, ModelError) else {}), **(details or {})}
        if isinstance(error, BadReply):
            evidence["raw"] = list(error.raw)
        if isinstance(error, ModelError) and error.prompts:
            evidence["prompts"] = error.prompts
        usage = getattr(error, "usage", None) or NO_USAGE
        words = error.message_for_data() if isinstance(error, MissingInput) else str(error)
        text = f"{type(error).__name__}: {words}" if isinstance(error, RagmetricsError) else error
        return cls(None, error=without_secrets(text), details=evidence, usage=usage)

    def made_by(
        self,
        metric: str,
        scale: tuple[float, float] | None,
        usage: Usage = NO_USAGE,
        prompts: Mapping[str, str] | None = None,
    ) -> Score:
        """Return a copy with its origin: the metric, its scale, the usage, and the versions of the prompts used.

        A scale that the score already has is kept.
        """
        scale = self.scale or scale
        if self.value is not None:
            _check_scale(self.value, metric, scale)
        score = object.__new__(type(self))
        vars(score).update(vars(self), usage=usage, metric=metric, scale=scale)
        if prompts:
            vars(score).update(unread=with_prompts(self.unread, prompts))
            vars(score).pop("details", None)
        return score

    def explain(self) -> str:
        """Explain the score in one sentence, such as "1 of 2 claims supported; not supported: 'C is D.'".

        The sentence is ``reason`` if it is set; otherwise it is made from ``details``. For a score without a value, it says why
        there is none. Long texts are shortened; the full texts are in ``details``.
        """
        return in_words(self)

    def text(self, width: int = 80, contexts: Sequence[str] | None = None) -> str:
        """Return the score and its evidence as text to print: every claim with its verdict, its passages and the reason.

        The marks mean: ✔ positive, ✘ negative, – neither. Control characters are escaped, so that a text written by a model cannot
        send commands to the terminal.

        Args:
            width: the width of the text, in columns.
            contexts: the retrieved contexts, from which the passages named in verdicts are quoted; None: none are quoted.
        """
        from ._findings import evidence_lines  # noqa: PLC0415  not needed to compute scores

        return "\n".join(line.text for line in evidence_lines(self, width, contexts))

    def _repr_html_(self) -> str:
        """Return the score with its evidence as HTML for notebooks."""
        from ._evidence_html import block, score_body  # noqa: PLC0415  not needed to compute scores

        return block(score_body(self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """Print the score with its evidence in IPython."""
        printer.text("Score(...)" if cycle else self.text())

    def to_dict(self) -> dict[str, Any]:
        """Return all fields and the state as plain JSON values; ``Score.from_dict`` reads them back."""
        return self.with_details(dict(self.details))

    def with_details(self, details: Any) -> dict[str, Any]:
        """Return the result of ``to_dict`` with the given details."""
        return {
            "metric": self.metric,
            "value": self.value,
            "state": self.state,
            "passing": self.passing,
            "label": self.label,
            "reason": self.reason,
            "error": self.error,
            "scale": list(self.scale) if self.scale else None,
            "details": details,
            "usage": self.usage.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Score:
        """Return the score that ``to_dict`` wrote."""
        given = {name: data.get(name) for name in ("passing", "reason", "error", "metric", "label")}
        usage = Usage(**(data.get("usage") or {}))
        return cls(data["value"], details=data.get("details"), usage=usage, scale=data.get("scale") or None, **given)

    if not TYPE_CHECKING:  # type checkers would accept any attribute

        def __getattr__(self, name: str) -> Any:
            own = vars(self)
            if name == "unread" and "details" in own:  # a subclass that set its fields itself
                own["unread"] = unread_details(own["details"])
            elif name == "details" and "unread" in own:
                if Evidence in map(type, own["unread"].values()):
                    own["unread"] = Details(own["unread"])
                own["details"] = own["unread"]
            else:
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            return own[name]

    def __float__(self) -> float:
        if self.value is None:
            raise ValueError(readable(f"{self.state}: {self.error or self.reason}"))
        return self.value

    def __format__(self, spec: str) -> str:
        if not spec:
            return str(self)
        return self.state if self.value is None else format(self.value, spec)

    def __str__(self) -> str:
        text = f"{self.value:.4g}" if self.value is not None else f"{self.state} ({self.error or self.reason})"
        return readable(f"{self.metric}: {text}" if self.metric else text)


def _check_no_value(passing: bool | None, reason: str | None, error: str | None) -> None:
    if not (error or reason):
        raise ValueError("a score without a value needs a reason: Score.unscored(reason) or Score.failed(error)")
    if passing is not None:
        raise ValueError(f"a score without a value neither passes nor fails, got passing={passing}")


def _check_scale(value: float, metric: str | None, scale: tuple[float, float] | None) -> None:
    if scale is not None and not scale[0] <= value <= scale[1]:
        raise ValueError(f"{metric or 'the score'}: {value} is outside the scale {scale}; set `scale` of the metric")


def _number(value: Any) -> float:
    """Convert any real number, including numpy scalars, to a float; text and None are refused."""
    if isinstance(value, str | bytes) or not hasattr(value, "__float__"):
        raise TypeError(f"a score must be a number, got {type(value).__name__}")
    return float(value)


NOT_ASKED = "not_asked"


def not_asked(metric: str, scale: tuple[float, float] | None) -> Score:
    """Return the score of a row that the metric was not asked about."""
    reason = "the run does not ask this metric about this row"
    return Score(None, reason=reason, metric=metric, scale=scale, label=NOT_ASKED)


def is_asked(score: Score) -> bool:
    """Whether the score comes from the metric, and not from ``not_asked``, which marks rows that the metric skips."""
    return score.label != NOT_ASKED
