"""The evidence of a score as a list of findings, and as lines of text.

Details are read by their shape, as in `_evidence`. The verdict of a finding is always in words; marks and colours only repeat it.
Programs that only compute scores do not import this module.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, NamedTuple, TypeGuard

from ._details import ScoreFields
from ._evidence import (
    NOT_EVIDENCE,
    Item,
    details_in_words,
    is_nested,
    judged_items,
    plural_name,
    scalar,
    take_side_by_side,
)
from ._layout import fitted, readable, shortened

NOT_STATED = "not stated"
ABOUT_PASSAGES = "useful"
"""The verdict that is given for each passage, in the order of the passages."""

WHOLE_TEXTS = ("reference", "response")
MOST_PASSAGE = 10**9


class Finding(NamedTuple):
    """What a judge said about one item, such as a claim or a passage.

    Attributes:
        part: the list to which the item belongs, such as ``claims`` or ``response claims``, after the number of the judgement or
            the name of the juror if there are several; empty if the list has no name.
        number: the position of the item in its list, from 1.
        text: the claim or statement; None for an item that only has a number, such as a passage.
        holds: whether the verdict is positive; None if it is neither positive nor negative, like ``not stated``, or if there is
            none.
        verdict: the verdict in a word or two: ``supported``, ``contradicted``, ``not stated``, ``useful``, a rating; empty if there
            is none.
        passages: the numbers, from 1, of the passages that support the item.
        against: the numbers, from 1, of the passages that contradict the item.
        reason: the reason in the words of the judge; may be empty.
    """

    part: str
    number: int
    text: str | None
    holds: bool | None
    verdict: str
    passages: tuple[int, ...] = ()
    against: tuple[int, ...] = ()
    reason: str = ""

    @property
    def label(self) -> str:
        """The text of the item, or its name with its number, such as ``passage 2``."""
        if self.text is not None and self.text.strip():
            return self.text
        return f"{self.part.removesuffix('s') if self.part.endswith('s') else 'no.'} {self.number}"


class Findings(NamedTuple):
    """The content of the details of a score.

    Attributes:
        items: the findings, in the order of the details.
        words: the other details, on one line.
    """

    items: tuple[Finding, ...]
    words: str


def findings_of(details: Mapping[str, Any]) -> Findings:
    """Return the findings and the other details of a score."""
    left = {name: item for name, item in details.items() if name not in NOT_EVIDENCE}
    findings = [*_of_repeats(left), *_of_jurors(left)]
    beside = take_side_by_side(left)
    if beside is not None:
        name, items, are_verdicts = beside
        findings += _side_by_side(name, items, are_verdicts=are_verdicts)
    for name in [name for name, value in left.items() if _is_list_of_mappings(value)]:
        findings += _compared(name, _judged(name.replace("_", " "), left.pop(name)), details)
    return Findings(tuple(findings), details_in_words(left))


def _of_repeats(details: dict[str, Any]) -> Iterator[Finding]:
    """Yield a finding for each of several judgements of the row, each followed by the findings of this judgement."""
    if not _is_list_of_mappings(details.get("repeats")):
        return
    for number, judgement in enumerate(details.pop("repeats"), 1):
        verdict = _verdict_of(judgement.get("value"))
        yield Finding("judgements", number, None, None, verdict, reason=_why(judgement))
        yield from _inner_findings(judgement, f"judgement {number}")


def _of_jurors(details: dict[str, Any]) -> Iterator[Finding]:
    """Yield a finding for each juror of a jury, each followed by the findings of this juror."""
    jurors = details.get("jurors")
    if not (_is_list_of_mappings(jurors) and all(_text(item.get("juror")) for item in jurors)):
        return
    for name in ("jurors", "rule", "tied"):  # the reason of the score contains the rule and the tie
        details.pop(name, None)
    for number, item in enumerate(jurors, 1):
        model = _text(item.get("model"))
        name = item["juror"] if not model or f"({model})" in item["juror"] else f"{item['juror']} by {model}"
        verdict = _verdict_of(item.get("value")) or _text(item.get("state"))
        passing = item["passing"] if isinstance(item.get("passing"), bool) else None
        yield Finding("jurors", number, name, passing, verdict, reason=_why(item))
        yield from _inner_findings(item, item["juror"])


def _why(judgement: Mapping[str, Any]) -> str:
    return _text(judgement.get("error")) or _text(judgement.get("reason"))


def _inner_findings(judgement: Mapping[str, Any], by: str) -> Iterator[Finding]:
    """Yield the findings of one of several judgements, with its name ``by`` before their part."""
    inner = judgement.get("details")
    for finding in findings_of(inner).items if isinstance(inner, Mapping) else ():
        yield finding._replace(part=f"{by}, {finding.part}".removesuffix(", "))


def _side_by_side(name: str, items: Sequence[Item], *, are_verdicts: bool) -> Iterator[Finding]:
    for number, item in enumerate(items, 1):
        holds = bool(item.mark) if are_verdicts else None
        verdict = f"scored {int(item.mark)}" if are_verdicts else _verdict_of(item.mark)
        yield Finding(name, number, item.text, holds, verdict, reason=item.why)


def _judged(name: str, values: Sequence[Mapping[str, Any]]) -> Iterator[Finding]:
    items, flag = judged_items(values)
    part = plural_name(name, values) or ("passages" if flag == ABOUT_PASSAGES else "")
    for number, (value, item) in enumerate(zip(values, items, strict=True), 1):
        passages = _numbers(value.get("passages" if "passages" in value else "supported_by"))
        against = _numbers(value.get("contradicted_by"))
        is_search = flag is None and "passages" in value and item.mark is None
        found = ("found", True) if passages else ("not found", False)
        verdict, holds = found if is_search else _verdict(value, flag, item)
        yield Finding(part, number, item.text, holds, verdict, passages, against, item.why)


def _compared(name: str, found: Iterable[Finding], details: Mapping[str, Any]) -> Iterable[Finding]:
    """Remove the numbers of passages from findings about claims that were compared with one whole text, not with passages.

    These are the lists ``reference_verdicts`` and ``response_verdicts``; and, if the details have no list ``verdicts``, also
    ``reference_claims`` and ``response_claims``. All other findings are returned unchanged.
    """
    text, _, kind = name.partition("_")
    if text not in WHOLE_TEXTS or not (kind == "verdicts" or (kind == "claims" and "verdicts" not in details)):
        return found
    part = f"claims, compared with the {text}" if kind == "verdicts" else ""
    return [finding._replace(part=part or finding.part, passages=(), against=()) for finding in found]


def _verdict(value: Mapping[str, Any], flag: str | None, item: Item) -> tuple[str, bool | None]:
    """Return the verdict in a word or two, and whether it is positive (None: neither)."""
    if flag is None:
        return _verdict_of(item.mark), None
    name = flag.replace("_", " ")
    said = _text(value.get("verdict")) or (
        name if item.mark else "contradicted" if value.get("contradicted") is True else f"not {name}"
    )
    return said, True if item.mark else None if said == NOT_STATED else False


def _verdict_of(mark: Any) -> str:
    return "" if mark is None else mark if isinstance(mark, str) else "" if is_nested(mark) else scalar(mark)


def _is_list_of_mappings(value: Any) -> TypeGuard[list[Mapping[str, Any]]]:
    return isinstance(value, list) and bool(value) and all(isinstance(item, Mapping) for item in value)


def _numbers(values: Any) -> tuple[int, ...]:
    """Return the values that can be numbers of passages; none if ``values`` is not a list."""
    if not isinstance(values, list):
        return ()
    return tuple(value for value in values if type(value) is int and 0 < value < MOST_PASSAGE)


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


QUOTED = 160
"""The largest number of columns of a passage quoted below a claim."""


Tone = Literal["", "title", "good", "bad", "open", "aside"]

TONES: Mapping[str, Tone] = {"✔": "good", "✘": "bad", "–": "open"}
"""The tone of a finding by its mark."""


class Line(NamedTuple):
    """A line of text, with its tone, from which callers choose a colour."""

    text: str
    tone: Tone = ""


def mark_of(finding: Finding) -> str:
    """Return ``✔`` for a positive verdict, ``✘`` for a negative one, ``–`` for neither, ``•`` for a rating or a text."""
    if finding.holds is None:
        is_rating = finding.verdict.lstrip("-").replace(".", "", 1).isdigit()
        return "–" if finding.verdict and not is_rating else "•"
    return "✔" if finding.holds else "✘"


def headline(score: ScoreFields) -> str:
    """Return the metric and the value (or the state if there is none), with scale, verdict and label in parentheses."""
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


def standing(score: ScoreFields) -> str:
    """Return the error, or the reason, of a score; empty if it has neither."""
    return score.error or score.reason or ""


def verdict_words(finding: Finding) -> str:
    """Return the verdict with its passages: ``supported by passages 1, 3, contradicted by passage 2``."""
    said = finding.verdict + _by(finding.passages, finding.verdict)
    against = f"contradicted{_by(finding.against, 'contradicted')}" if finding.against else ""
    return ", ".join(filter(None, ("" if against and finding.verdict == "contradicted" else said, against)))


def _by(passages: Sequence[int], verdict: str) -> str:
    if not passages:
        return ""
    numbers = ", ".join(map(str, passages))
    word = "in" if verdict == "found" else "by"
    return f" {word} passage{'s' * (len(passages) > 1)} {numbers}"


def evidence_lines(score: ScoreFields, width: int, contexts: Any = None) -> list[Line]:
    """Return the lines of a score and its evidence.

    Args:
        score: the score.
        width: the width of the terminal, in columns.
        contexts: the retrieved contexts, from which the passages named in verdicts are quoted, shortened to ``QUOTED`` columns.
    """
    findings = findings_of(score.details)
    tone: Tone = "bad" if score.state == "failed" else "title"
    lines = _painted(fitted(headline(score), width, others="  "), tone)
    if standing(score):
        lines += _painted(fitted(standing(score), width, "  ", "  "))
    # in a row that could not be scored, the contexts may be of any type
    passages = contexts if isinstance(contexts, Sequence) and not isinstance(contexts, str) else ()
    part, quoted = "", {number: text for number, text in enumerate(passages, 1) if isinstance(text, str)}
    for finding in findings.items:
        if finding.part != part:
            part = finding.part
            lines += _painted(fitted(f"{part}:", width, "  ", "    ")) if part else []
        lines += _finding_lines(finding, width)
        for number in (*finding.passages, *finding.against):
            if number in quoted:  # once, below the first claim that names it
                quote = f'passage {number}: "{shortened(quoted.pop(number), QUOTED)}"'
                lines += _painted(fitted(quote, width, "      ", "        "), "aside")
    if findings.words and findings.words != readable(standing(score)):
        lines += _painted(fitted(findings.words, width, "  ", "    "), "aside")
    return lines


def _finding_lines(finding: Finding, width: int) -> Iterator[Line]:
    mark = mark_of(finding)
    yield from _painted(fitted(finding.label, width, f"  {mark} ", "    "), TONES.get(mark, ""))
    said = ": ".join(filter(None, (verdict_words(finding), readable(finding.reason))))
    if said:
        yield from _painted(fitted(said, width, "      ", "      "))


def _painted(lines: Iterable[str], tone: Tone = "") -> list[Line]:
    return [Line(line, tone) for line in lines]
