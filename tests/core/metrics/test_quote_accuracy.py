"""Quote accuracy: which quotations are found, and what may differ from the passage."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import InvalidInput
from ragmetrics_core.metrics import QuoteAccuracy

PASSAGES = [
    "The tower, which opened in 1889, is 330 metres tall. It was painted red; later it became brown.",
    "Der Turm wurde im Jahr 1889 eröffnet. La tour a été peinte en rouge l’année suivante. 这座塔建于一八八九年，它很高。",
]


@pytest.mark.parametrize(
    ("response", "found"),
    [
        ("It says “which opened in 1889, is 330 metres tall”.", [[1]]),
        ('It says "which opened in 1889 is 330 metres tall".', [[1]]),
        ("It says “WHICH  opened in\u00a01889”.", [[1]]),
        ("It says “which opened in 1890, is tall”.", [[]]),
        ("It says “[W]hich opened in 1889”.", [[1]]),
        ("It says “The tower … is 330 metres tall”.", [[1]]),
        ("It says “The tower, ... later it became brown”.", [[1]]),
        ("It says “The tower [...] is 330 metres tall”.", [[1]]),
        ("It says “[the tower] was painted red; later it became brown”.", [[1]]),
        ("It says “is 330 metres tall … which opened in 1889”.", [[]]),
        ("It says “tower which opened … im Jahr 1889”.", [[]]),
        ("It says “he tower which opened in”.", [[]]),
        ("Es heißt: „Der Turm wurde im Jahr 1889 eröffnet“.", [[2]]),
        ("Es heißt: »Der Turm wurde im Jahr 1890 eröffnet«.", [[]]),
        ("On lit : « La tour a été peinte en rouge l'année suivante ».", [[2]]),
        ("文中说“这座塔建于一八八九年”。", [[2]]),
        ("文中说「这座塔很高」，又说『它很高』。", [[]]),
        ("It is “tall” and “later it became brown”, “as it is not written”.", [[1], []]),
    ],
)
def test_quotations(response: str, found: list[list[int]]) -> None:
    score = QuoteAccuracy().score(response=response, retrieved_contexts=PASSAGES)
    assert [quote["passages"] for quote in score.details["quotes"]] == found
    assert score.value == sum(map(bool, found)) / len(found)


def test_the_evidence_tells_where_the_quotation_stands() -> None:
    score = QuoteAccuracy(words=2).score(response="It « was painted » once.", retrieved_contexts=PASSAGES)
    assert dict(score.details) == {"quotes": [{"quote": "was painted", "passages": [1], "span": [3, 18]}]}


@pytest.mark.parametrize(
    "response",
    [
        "It is red.",
        "It is “red”.",
        "It says “[the tower] was painted red”.",
        "```\nprint(“one two three four five”)\n```",
        "He said “one two\nthree four”.",
    ],
)
def test_where_nothing_is_quoted_there_is_no_score(response: str) -> None:
    score = QuoteAccuracy().score(response=response, retrieved_contexts=PASSAGES)
    assert (score.value, score.reason) == (None, "the response quotes nothing")


@pytest.mark.parametrize("words", [0, -1, True, 2.5])
def test_the_fewest_words_are_a_whole_number(words: int) -> None:
    with pytest.raises(InvalidInput, match=f"quote_accuracy: words must be a whole number from 1, got {words}"):
        QuoteAccuracy(words=words)


@given(st.lists(st.sampled_from(["red", "tall", "Tower", "1889", "été"]), min_size=4, max_size=9), st.data())
def test_every_part_of_a_passage_is_a_true_quotation(words: list[str], data: st.DataObject) -> None:
    start = data.draw(st.integers(0, len(words) - 4))
    quoted = ", ".join(words[start:]).upper()
    assert QuoteAccuracy().score(response=f"It says “{quoted}”.", retrieved_contexts=[" ".join(words)]).value == 1.0


@pytest.mark.parametrize("piece", ["“", '"', "«", "»", "「a", '" ', "“a”", "[", "…", "a "])
def test_a_hostile_text_takes_no_longer_than_others(piece: str) -> None:
    started = time.process_time()
    QuoteAccuracy().score(response="“" + piece * 40_000 + " end”", retrieved_contexts=["a " * 20_000])
    assert time.process_time() - started < 8
