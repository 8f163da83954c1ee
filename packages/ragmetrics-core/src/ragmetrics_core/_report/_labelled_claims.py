"""People's labels of single claims beside the judge's verdicts on them.

A claim is named by its text, as a report writes it, or by its number among the claims of the row. Claims of one row are alike, so
each row is a cluster.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from .._kernel._errors import InvalidInput
from .._store._labels import Label
from ..statistics import Agreement, Measure, agreement, annotator_alpha
from ..statistics._labelled import FEWEST_LABELS
from ._table import cut_middle

LONGEST_CLAIM = 80
"""Characters of a claim that a message shows."""

Claims = Sequence[tuple[str, bool]]


@dataclass(frozen=True)
class ClaimCalibration:
    """The judge beside people, claim by claim.

    Attributes:
        claims: how many have a label that most annotators share.
        rows: of how many rows.
        split: claims on which annotators are split; they are left out.
        agreement: over these claims, the rows taken for clusters; None where there are too few.
        ceiling: Krippendorff's alpha between annotators.
        problem: why there is no agreement; None where there is.
    """

    claims: int
    rows: int
    split: int
    agreement: Agreement | None
    ceiling: Measure
    problem: str | None = None


def claim_calibration(labels: Sequence[Label], claims: Mapping[str, Claims]) -> ClaimCalibration:
    """Hold labels of claims against the judge's verdicts.

    Args:
        labels: of claims of one metric.
        claims: by the name of each labelled row, its claims with the judge's verdicts.

    Raises:
        InvalidInput: a row has no such claim, or somebody has labelled a claim by its text and by its number.
    """
    given: defaultdict[tuple[str, str], dict[str | None, Label]] = defaultdict(dict)
    verdicts: dict[tuple[str, str], bool] = {}
    for item in labels:
        text, holds = _claim(item, claims[item.id])
        verdicts[item.id, text] = holds
        first = given[item.id, text].setdefault(item.annotator, item)
        if first is not item:
            raise InvalidInput(
                f"{item.place}: this claim has a label of the same annotator in {first.place}: keep one of them"
            )
    shares = {claim: sum(bool(item.label) for item in said.values()) / len(said) for claim, said in given.items()}
    known = [claim for claim, share in shares.items() if share != 0.5]
    rows = [row for row, _ in known]
    problem = None
    if len(known) < FEWEST_LABELS:
        problem = f"{len(known)} claim{'s have' if len(known) != 1 else ' has'} a label: label at least {FEWEST_LABELS}"
    return ClaimCalibration(
        claims=len(known),
        rows=len(set(rows)),
        split=len(shares) - len(known),
        agreement=None
        if problem
        else agreement(
            [verdicts[claim] for claim in known],
            [shares[claim] > 0.5 for claim in known],
            clusters=rows,
            scale=(0.0, 1.0),
        ),
        ceiling=annotator_alpha([[float(item.label) for item in said.values()] for said in given.values()]),
        problem=problem,
    )


def _claim(label: Label, claims: Claims) -> tuple[str, bool]:
    """The claim that a label is about."""
    if not claims:
        raise InvalidInput(
            f"{label.place}: the evidence of {label.metric!r} for the row {label.id!r} has no claims: leave 'claim' out to "
            "label the row"
        )
    if isinstance(label.claim, int):
        if label.claim <= len(claims):
            return claims[label.claim - 1]
        count = f"{len(claims)} claim{'s' * (len(claims) != 1)}"
        raise InvalidInput(
            f"{label.place}: there is no claim {label.claim}: the row {label.id!r} has {count} for {label.metric!r}"
        )
    wanted = " ".join(str(label.claim).split())
    for text, holds in claims:
        if text == wanted:
            return text, holds
    first = cut_middle(claims[0][0], LONGEST_CLAIM)
    raise InvalidInput(
        f"{label.place}: no claim of the row {label.id!r} reads {cut_middle(wanted, LONGEST_CLAIM)!r}; its claims for "
        f"{label.metric!r} begin with {first!r}: write a claim as the report does, or its number"
    )
