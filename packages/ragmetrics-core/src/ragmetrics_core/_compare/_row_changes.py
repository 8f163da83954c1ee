"""Find the rows that changed most between two runs, and the changes in the evidence of their scores.

Evidence has no fixed form, so claims are found by their shape and never by the metric: a list of objects that have a text and
``supported``, or a list of ``statements`` beside a list of ``statement_scores``, 0 and 1. Two claims are the same if their texts
are equal apart from spaces and citation markers such as [1]. For other evidence, the sentence that explains each score is kept.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from .._run._judgements import judgements
from .._values._counts import grouped
from .._values._plain import plain
from .._values._score import Score
from ._pairs import MetricPairs, Pairing

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
        says: a sentence that explains its score, for each run.
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


def row_changes(pairing: Pairing, pairs: MetricPairs) -> tuple[RowChange, ...]:
    """Return the rows that changed most, with the changes in their evidence. Of rows that changed equally, the earlier row comes
    first.
    """
    before, after = pairing.before, pairing.after
    sizes = [abs(new - old) for old, new in zip(pairs.usable.before, pairs.usable.after, strict=True)]
    total = math.fsum(sizes)
    order = sorted((place for place, size in enumerate(sizes) if size), key=lambda place: -sizes[place])
    changes = []
    for place in order[:MOST_CHANGED]:
        one, two = pairs.rows[place]
        old, new = before.scores(one, pairs.name), after.scores(two, pairs.name)
        changes.append(
            RowChange(
                row=before.rows[one].name,
                places=(before.rows[one].place, after.rows[two].place),
                before=pairs.values.before[place],
                after=pairs.values.after[place],
                share=sizes[place] / total,
                claims=claim_changes(old, new),
                labels=(before.columns[pairs.name].labels[one], after.columns[pairs.name].labels[two]),
                says=(old[0].explain(), new[0].explain()),
            )
        )
    return tuple(changes)


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
