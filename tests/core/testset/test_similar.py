"""Near-duplicates and related passages, recognized by their words."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core._testset._similar import (
    ALIKE,
    Fact,
    KnownQuestions,
    PassageIndex,
    TextWords,
    alikeness,
    plain_words,
)


def alike(left: str, right: str) -> float:
    return alikeness(TextWords.of(left), TextWords.of(right))


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ("What year was the Eiffel Tower completed?", "In which year was the Eiffel Tower completed?"),
        ("Welcher Tag ist in der Bibliothek frei?", "Welcher Tag ist frei in der Bibliothek?"),
        ("Когда открылась библиотека в Москве?", "когда открылась   БИБЛИОТЕКА в Москве"),
        ("東京タワーはいつ建てられましたか", "東京タワーは、いつ建てられましたか？"),
        ("متى افتتحت المكتبة في القاهرة؟", "متى افتتحت المكتبة في القاهرة"),
    ],
)
def test_near_duplicates(left: str, right: str) -> None:
    assert alike(left, right) >= ALIKE
    assert alike(left, left) == 1.0


@pytest.mark.parametrize(
    ("left", "right", "expected"),
    [
        ("When was the Eiffel Tower built?", "Who built the Eiffel Tower?", 3.25 / 4.0),
        ("What was built in 1889?", "What was built in 1890?", 0.0),
        ("Which maps may be lent?", "Which maps may not be lent?", 0.0),
        ("What is the population of Lyon?", "What is the population of Nice?", 0.0),
        ("???", "???", 0.0),
    ],
)
def test_different_questions(left: str, right: str, expected: float) -> None:
    assert alike(left, right) == pytest.approx(expected)
    assert alike(left, right) < ALIKE


@given(st.text(), st.text())
def test_it_is_a_share_and_does_not_know_left_from_right(left: str, right: str) -> None:
    assert 0.0 <= alike(left, right) == alike(right, left) <= 1.0


@given(st.text())
def test_case_and_blanks_make_no_difference_to_plain_words(text: str) -> None:
    assert plain_words(f"  {text}\n") == plain_words(text)
    assert plain_words(plain_words(text)) == plain_words(text)


def test_plain_words() -> None:
    assert plain_words("**It** was\n built, in Ｐaris (1889)") == " it was built in paris 1889 "
    assert plain_words("東京1958") == " 東 京 1958 "
    assert plain_words("...") == "  "


def test_known_questions() -> None:
    built = Fact.of("1889", ["The Eiffel Tower was built in 1889."])
    known = KnownQuestions()
    known.add("When was the Eiffel Tower built?", built)
    known.add("Who lends maps?")
    assert known.like("when was the Eiffel Tower built") == "When was the Eiffel Tower built?"
    assert known.like("When was the Eiffel Tower built?", built) is None, "a question does not repeat itself"
    assert "Who lends maps?" in known


@pytest.mark.parametrize(
    ("answer", "quotation", "same"),
    [
        (" 1889.", "built in 1889", True),
        ("1889", "They say: the Eiffel Tower was built in 1889.", True),
        ("In 1889", "built in 1889", False),
        ("1889", "It stands since 1889", False),
    ],
)
def test_paraphrases_about_one_fact(answer: str, quotation: str, *, same: bool) -> None:
    known = KnownQuestions()
    known.add("When was the Eiffel Tower built?", Fact.of("1889", ["The Eiffel Tower was built in 1889."]))
    other = known.like("Since when has the Eiffel Tower stood?", Fact.of(answer, [quotation]))
    assert other == ("When was the Eiffel Tower built?" if same else None)


class TestPassages:
    TEXTS = (
        "The library lends maps.",
        "Maps and atlases are lent for two weeks.",
        "The museum is closed.",
        "東京の地図",
    )

    def test_the_nearest_come_first(self) -> None:
        index = PassageIndex(self.TEXTS)
        assert index.nearest("Who lends maps of the museum?", 3) == [0, 2, 1]
        assert index.nearest("Who lends maps?", 1) == [0]
        assert index.nearest("地図はどこですか", 9) == [3]
        assert index.nearest("Nothing of that", 9) == []

    def test_some_are_left_out(self) -> None:
        assert PassageIndex(self.TEXTS).nearest("Who lends maps?", 2, lambda index: index != 0) == [1]

    def test_words_that_very_many_have_tell_nothing(self) -> None:
        index = PassageIndex([f"The library keeps number {number} of the maps." for number in range(51)])
        assert index.nearest("Which library keeps maps?", 3) == []
        assert index.nearest("Which library keeps map 7?", 3) == [7]
