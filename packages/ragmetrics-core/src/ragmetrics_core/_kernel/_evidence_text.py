"""A score with its evidence as lines of text: every claim with a mark, the verdict in words, the passages, and the reason.

A mark is never alone: the verdict stands beside it in words. Colours, which a terminal may add by the tone of a line, say nothing
that the text does not say.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from ._explain import scalar
from ._findings import Finding, findings_of
from ._layout import fitted, readable, shortened

if TYPE_CHECKING:
    from ._score import Score

QUOTED = 160
"""Columns of a passage that are shown below a claim."""

Tone = Literal["", "title", "good", "bad", "open", "aside"]


class Line(NamedTuple):
    """A line and what it is, for those who paint it."""

    text: str
    tone: Tone = ""


def mark_of(finding: Finding) -> str:
    """``✔`` it holds, ``✘`` it does not, ``–`` neither, ``•`` there is no verdict but a rating or a text."""
    if finding.holds is None:
        return "–" if finding.verdict and not _is_number(finding.verdict) else "•"
    return "✔" if finding.holds else "✘"


def _is_number(word: str) -> bool:
    return word.lstrip("-").replace(".", "", 1).isdigit()


def headline(score: Score) -> str:
    """The value with its scale, or why there is none; then the verdict and the label."""
    said = []
    if score.value is not None and score.scale is not None:
        said.append(f"scale {scalar(score.scale[0])} to {scalar(score.scale[1])}")
    if score.passing is not None:
        said.append("passed" if score.passing else "not passed")
    if score.label is not None:
        said.append(f"label {score.label}")
    value = score.state if score.value is None else scalar(score.value)
    name = f"{score.metric}: " if score.metric else ""
    return f"{name}{value} ({', '.join(said)})" if said else f"{name}{value}"


def standing(score: Score) -> str:
    """Why there is no value, or the reason of the value; empty where the evidence alone tells."""
    return score.error or score.reason or ""


def verdict_words(finding: Finding) -> str:
    """The verdict with its passages: ``supported by passages 1, 3, contradicted by passage 2``."""
    parts = [f"{finding.verdict}{_by(finding.passages, finding.verdict)}"]
    if finding.against:
        others = _by(finding.against, "contradicted")
        parts = (
            [f"{finding.verdict}{others}"] if finding.verdict == "contradicted" else [*parts, f"contradicted{others}"]
        )
    return ", ".join(part for part in parts if part)


def _by(passages: Sequence[int], verdict: str) -> str:
    if not passages:
        return ""
    numbers = ", ".join(map(str, passages))
    word = "in" if verdict == "found" else "by"
    return f" {word} passage{'s' * (len(passages) > 1)} {numbers}"


def _passages(contexts: Any) -> Iterator[tuple[int, str]]:
    """The texts among the contexts, each with its number; a row that could not be scored may have anything there."""
    if isinstance(contexts, Sequence) and not isinstance(contexts, str):
        yield from ((number, text) for number, text in enumerate(contexts, 1) if isinstance(text, str))


def evidence_lines(score: Score, width: int, contexts: Any = None) -> list[Line]:
    """The score, and below it what it rests on.

    Args:
        score: the score.
        width: columns of the terminal.
        contexts: the retrieved contexts; passages that a verdict names are quoted from them, as far as they fit a line or two.
    """
    found = findings_of(score.details)
    tone: Tone = "bad" if score.state == "failed" else "title"
    lines = _painted(fitted(headline(score), width, others="  "), tone)
    if standing(score):
        lines += _painted(fitted(standing(score), width, "  ", "  "))
    part, quoted = "", dict(_passages(contexts))
    for finding in found.items:
        if finding.part != part:
            part = finding.part
            lines += _painted(fitted(f"{part}:", width, "  ", "    ")) if part else []
        lines += _finding_lines(finding, width)
        for number in (*finding.passages, *finding.against):
            if number in quoted:  # once, below the first claim that names it
                quote = f'passage {number}: "{shortened(quoted.pop(number), QUOTED)}"'
                lines += _painted(fitted(quote, width, "      ", "        "), "aside")
    if found.words and found.words != readable(standing(score)):
        lines += _painted(fitted(found.words, width, "  ", "    "), "aside")
    return lines


def _finding_lines(finding: Finding, width: int) -> Iterator[Line]:
    mark = mark_of(finding)
    tone: Tone = {"✔": "good", "✘": "bad", "–": "open"}.get(mark, "")  # type: ignore[assignment]
    words = verdict_words(finding)
    yield from _painted(fitted(finding.label, width, f"  {mark} ", "    "), tone)
    said = ": ".join(part for part in (words, readable(finding.reason)) if part)
    if said:
        yield from _painted(fitted(said, width, "      ", "      "))


def _painted(lines: Iterable[str], tone: Tone = "") -> list[Line]:
    return [Line(line, tone) for line in lines]
