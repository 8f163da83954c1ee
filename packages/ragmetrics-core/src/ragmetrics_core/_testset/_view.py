"""A test set as an output of a notebook: its account, and a table of the first questions. Static; every text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from .._kernel._evidence_html import block, grid
from .._kernel._layout import readable, shortened
from .._kernel._sample import Sample
from .._kernel._tags import Html, element

if TYPE_CHECKING:
    from ._values import Testset

MOST_SAMPLES = 10
LONGEST_PASSAGE = 300
"""Columns of a passage that are shown."""


def testset_html(testset: Testset) -> Html:
    """What there is and what is missing, then the first samples."""
    account = (element("p", readable(line)) for line in str(testset).splitlines())
    rows = [_row(sample) for sample in testset.samples[:MOST_SAMPLES]]
    more = len(testset) - len(rows)
    return block(
        *account,
        grid(("document", "question", "reference", "passages"), rows, numbers=False) if rows else None,
        element("p", f"and {more} more") if more else None,
    )


def _row(sample: Sample) -> tuple[str, str, str, Html]:
    passages = sample.reference_contexts
    texts = passages if isinstance(passages, Sequence) and not isinstance(passages, str) else ()
    items = (element("li", shortened(str(text), LONGEST_PASSAGE)) for text in texts)
    document = sample.metadata.get("document_id")
    return str(document or ""), str(sample.user_input or ""), str(sample.reference or ""), element("ul", *items)
