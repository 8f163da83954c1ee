"""Citation recall and precision against ALCE's formulas, worked out from its paper; and where we differ on purpose.

ALCE asks a model whether a text entails a sentence. Its judge here is a table of the passages that support each sentence by
themselves: a joined text supports a sentence if one of its parts does. There both say the same, as far as ALCE is defined.
"""

from __future__ import annotations

from collections.abc import Sequence

from hypothesis import given
from hypothesis import strategies as st

from core.metrics.claim_calls import sides
from ragmetrics_core.metrics import CitationPrecision, CitationRecall
from ragmetrics_core.testing import ScriptedLLM

PASSAGES = 4
Row = list[tuple[list[int], frozenset[int]]]
"""For each sentence, the passages that it cites, and those that support it."""


def supports(cited: Sequence[int], by: frozenset[int]) -> bool:
    return any(number in by for number in cited)


def alce(row: Row) -> tuple[float, float | None]:
    """Recall: sentences that all they cite, joined, supports. Precision: citations of such sentences that are not irrelevant."""
    recalled, relevant, citations = 0, 0, 0
    for cited, by in row:
        citations += len(cited)
        if not (cited and supports(cited, by)):
            continue
        recalled += 1
        for index, number in enumerate(cited):
            others = cited[:index] + cited[index + 1 :]
            irrelevant = not supports([number], by) and supports(others, by)
            relevant += not irrelevant
    return recalled / len(row), relevant / citations if citations else None


def ours(row: Row) -> tuple[float | None, float | None]:
    marks = ["".join(f"[{number}]" for number in cited) for cited, _ in row]
    sample = {
        "user_input": "q",
        "response": " ".join(f"It is sentence {index} {mark}." for index, mark in enumerate(marks)),
        "retrieved_contexts": [f"p{number}" for number in range(PASSAGES)],
    }
    reply = sides(*(sorted(by) for _, by in row))
    values = [
        metric.score(sample).value
        for metric in (
            CitationRecall(llm=ScriptedLLM({"verify_claims": [reply]})),
            CitationPrecision(llm=ScriptedLLM({"verify_claims": [reply]})),
        )
    ]
    return values[0], values[1]


NUMBER = st.integers(1, PASSAGES)
ROWS = st.lists(st.tuples(st.lists(NUMBER, max_size=4), st.frozensets(NUMBER)), min_size=1, max_size=5)


@given(ROWS)
def test_where_alce_is_defined_the_values_are_its_own(row: Row) -> None:
    assert ours(row) == alce(row)


def test_a_fabricated_number_stays_in_the_denominator() -> None:
    """ALCE leaves a sentence with such a number out of the count of citations, so that it costs no precision."""
    assert ours([([1, 9], frozenset({1}))]) == (1.0, 1 / 2)
    assert ours([([9], frozenset({1})), ([2], frozenset({2}))]) == (1 / 2, 1 / 2)


def test_zero_is_no_passage() -> None:
    """In ALCE ``[0]`` is the index -1, the last passage."""
    assert ours([([0], frozenset({PASSAGES}))]) == (0.0, 0.0)


def test_a_response_without_citations_has_no_precision() -> None:
    """ALCE gives 0, which would be the same as citing wrongly everywhere."""
    assert ours([([], frozenset({1}))]) == (0.0, None)
