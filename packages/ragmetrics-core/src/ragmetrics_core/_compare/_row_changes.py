"""Find the rows that changed most between two runs, and the changes in the evidence of their scores.

Evidence has no fixed form, so claims are found by their shape and never by the metric: a list of objects that have a text and
``supported``, or a list of ``statements`` beside a list of ``statement_scores``, 0 and 1. Two claims are the same if their texts
are equal apart from spaces and citation markers such as [1]. For other evidence, the sentence that explains each score is kept.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .._run._columns import shared
from .._run._judgements import judgements, mean_of_repeats
from .._run._slices import ReadLater, name_of
from .._store._records import Record
from .._values._counts import grouped
from .._values._plain import plain
from .._values._score import Score
from ._outcomes import MetricPairs
from ._pairs import Paired

MOST_CHANGED = 10
"""The number of rows kept for every metric."""

CITATION = re.compile(r"\s*\[\d+(?:\s*[,;\u2013-]\s*\d+)*\]")

NO_CLAIMS = frozenset({"reason", "verdict"})
"""The keys of texts beside a verdict that are not the claim."""


@dataclass(frozen=True)
class ClaimChange:
    """A claim whose verdict differs between the runs, or that only one run has.

    Attributes:
        text: the claim.
        before: whether it was supported in the first run; None if that run does not have it.
        after: whether it was supported in the second run; None if that run does not have it.
    """

    text: str
    before: bool | None
    after: bool | None

    @property
    def kind(self) -> str:
        """The kind of change: ``gained`` or ``lost`` support; ``new`` or ``gone`` if only one run has the claim."""
        if self.before is None:
            return "new"
        if self.after is None:
            return "gone"
        return "gained" if self.after else "lost"

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return {**vars(self), "kind": self.kind}


@dataclass(frozen=True)
class RowChange:
    """A row whose score changed, with the changes in its evidence.

    Attributes:
        row: the id of the row, or its place in the first run.
        places: the place of the row in the input of each run.
        before: its score in the first run.
        after: its score in the second run.
        share: its part of all change: the size of its change divided by the sum of these sizes, 0 to 1.
        claims: claims that gained or lost support, are new, or are gone.
        labels: the label of its score in each run.
        says: for each run, a sentence that explains the score of the row.
    """

    row: str
    places: tuple[str, str]
    before: float
    after: float
    share: float
    claims: tuple[ClaimChange, ...]
    labels: tuple[str | None, str | None]
    says: tuple[str, str]

    @property
    def difference(self) -> float:
        """After minus before."""
        return self.after - self.before

    def of_kind(self, kind: str) -> list[ClaimChange]:
        """Return the claims of one kind: ``gained``, ``lost``, ``new`` or ``gone``."""
        return [claim for claim in self.claims if claim.kind == kind]

    def to_dict(self) -> dict[str, Any]:
        """Return all fields as plain JSON values."""
        return plain({**vars(self), "difference": self.difference})


def row_changes(paired: Paired, pairs: MetricPairs) -> Sequence[RowChange]:
    """Return the rows that changed most, with the changes in their evidence. Of rows that changed equally, the earlier row comes
    first.
    """
    values = pairs.usable
    if values is None:
        return ()

    def read(most: int) -> list[RowChange]:
        found = paired.most_changed(pairs.name, most, values.near)
        return [_change(pairs.name, before, after, values.changes.size) for before, after in found]

    return ReadLater(min(values.changes.changed, MOST_CHANGED), read)


def _change(metric: str, before: Sequence[Record], after: Sequence[Record], total: float) -> RowChange:
    """Return the change of a row, given its repeats in each run, and the size of all changes."""
    one, two = ([record.scores[metric] for record in records] for records in (before, after))
    old, new = (mean_of_repeats([score.value for score in scores if score.value is not None]) for scores in (one, two))
    return RowChange(
        row=name_of(before[0]),
        places=(before[0].place, after[0].place),
        before=old,
        after=new,
        share=abs(new - old) / total,
        claims=claim_changes(one, two),
        labels=(shared([score.label for score in one]), shared([score.label for score in two])),
        says=(one[0].explain(), two[0].explain()),
    )


def claim_changes(before: Iterable[Score], after: Iterable[Score]) -> tuple[ClaimChange, ...]:
    """Return the changes among the claims of two scores, or of several scores per run if rows were judged several times."""
    one, two = claims_of(before), claims_of(after)
    changes = (ClaimChange(text, one.get(text), two.get(text)) for text in dict.fromkeys((*one, *two)))
    order = ("lost", "gained", "new", "gone")
    changed = (item for item in changes if item.before is not item.after)
    return tuple(sorted(changed, key=lambda item: order.index(item.kind)))


def claims_of(scores: Iterable[Score]) -> dict[str, bool]:
    """Return for each claim, by its text, whether it is supported. If there are several judgements, the majority decides; a tie
    means not supported.
    """
    said = (grouped(_claims(details)) for score in scores for details in judgements(score.details))
    # a claim that occurs twice in a judgement is supported if both occurrences are
    votes = grouped((text, all(each)) for claims in said for text, each in claims.items())
    return {text: sum(given) * 2 > len(given) for text, given in votes.items()}


def _claims(details: Mapping[str, Any]) -> Iterator[tuple[str, bool]]:
    """Yield the claims of one judgement, from lists of objects, or from a list of texts with their verdicts in another list."""
    for value in details.values():
        for item in value if isinstance(value, list) else ():
            if isinstance(item, Mapping) and isinstance(item.get("supported"), bool):
                texts = (part for key, part in item.items() if isinstance(part, str) and key not in NO_CLAIMS)
                yield from ((_plain(text), item["supported"]) for text in islice(texts, 1))
    statements, marks = details.get("statements"), details.get("statement_scores")
    if isinstance(statements, list) and isinstance(marks, list) and len(statements) == len(marks):
        yield from ((_plain(str(text)), mark == 1) for text, mark in zip(statements, marks, strict=True))


def _plain(text: str) -> str:
    """Return the text of a claim without citation markers and with single blanks, so that a claim stays the same when only its
    citations change. A text that consists only of markers keeps them.
    """
    return " ".join(CITATION.sub("", text).split()) or " ".join(text.split())
