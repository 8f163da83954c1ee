"""How many questions of each kind, and which passages are visited in which order."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ragmetrics_core import InvalidInput, Prompt
from ragmetrics_core._testset._chunks import Chunk
from ragmetrics_core._testset._collect import ATTEMPTS, MOST_PER_VISIT, KindRun, counts_of, in_turn, related_pairs
from ragmetrics_core._testset._kinds import OnePassage, Visit
from ragmetrics_core._testset._similar import PassageIndex
from ragmetrics_core.replies import LinesReply

WRITER = Prompt("Write.", LinesReply())


def chunks(document: str, *texts: str) -> list[Chunk]:
    return [Chunk(text, document, index, 0, len(text), only=len(texts) == 1) for index, text in enumerate(texts)]


@pytest.mark.parametrize(
    ("total", "shares", "expected"),
    [
        (10, {"a": 0.2, "b": 0.2}, {"rest": 6, "a": 2, "b": 2}),
        (10, {"a": 0.0, "b": 0.0}, {"rest": 10, "a": 0, "b": 0}),
        (3, {"a": 0.5, "b": 0.5}, {"rest": 0, "a": 2, "b": 1}),
        (7, {"a": 0.1, "b": 0.3}, {"rest": 4, "a": 1, "b": 2}),
        (10, {"a": 0.7, "b": 0.3}, {"rest": 0, "a": 7, "b": 3}),
        (1, {"a": 0.4, "b": 0.3}, {"rest": 0, "a": 1, "b": 0}),
    ],
)
def test_counts(total: int, shares: dict[str, float], expected: dict[str, int]) -> None:
    assert counts_of(total, shares, "rest") == expected


@given(st.integers(1, 2000), st.floats(0, 0.5), st.floats(0, 0.5))
def test_counts_add_up_and_none_is_off_by_one(total: int, first: float, second: float) -> None:
    counts = counts_of(total, {"a": first, "b": second}, "rest")
    assert sum(counts.values()) == total
    assert all(
        abs(counts[name] - share * total) < 1 + 1e-6
        for name, share in {"a": first, "b": second, "rest": 1 - first - second}.items()
    )


def test_shares_are_not_more_than_the_whole() -> None:
    with pytest.raises(InvalidInput, match=r"^a and b must add up to at most 1, got 1\.3$"):
        counts_of(10, {"a": 0.6, "b": 0.7}, "rest")


def test_documents_take_turns() -> None:
    all_chunks = [*chunks("a", "1", "2", "3"), *chunks("b", "4"), *chunks("c", "5", "6")]
    order = in_turn(all_chunks, 0)
    assert Counter(chunk.id for chunk in order) == Counter(chunk.id for chunk in all_chunks)
    assert {chunk.document for chunk in order[:3]} == {"a", "b", "c"}
    assert {chunk.document for chunk in order[3:5]} == {"a", "c"}
    assert order == in_turn(all_chunks, 0)
    assert len({tuple(chunk.id for chunk in in_turn(all_chunks, seed)) for seed in range(20)}) > 5


def test_pairs_share_words_and_are_no_neighbours() -> None:
    all_chunks = [
        *chunks("a", "Maps are lent in Lyon.", "Lyon lends maps and atlases.", "Who wants maps of Lyon?"),
        *chunks("b", "Atlases cost nothing."),
        *chunks("c", "Nobody knows."),
    ]
    index = PassageIndex([chunk.text for chunk in all_chunks])
    pairs = related_pairs(all_chunks, index, all_chunks)
    assert [tuple(chunk.id for chunk in pair) for pair in pairs] == [("a#1", "a#3"), ("a#2", "b")]


class TestCourse:
    def course(self, asked: int, spots: int) -> KindRun:
        passages = [(chunk,) for chunk in chunks("d", *(str(number) for number in range(spots)))]
        return KindRun(OnePassage(WRITER, WRITER), asked, passages)

    @staticmethod
    def ids(visits: list[Visit]) -> Iterator[tuple[str, int]]:
        return ((visit.passages[0].id, visit.wanted) for visit in visits)

    def test_one_question_each_where_there_are_passages_enough(self) -> None:
        course = self.course(3, 5)
        assert list(self.ids(course.next_visits())) == [("d#1", 1), ("d#2", 1), ("d#3", 1)]

    def test_several_where_there_are_few(self) -> None:
        assert list(self.ids(self.course(5, 2).next_visits())) == [("d#1", 3), ("d#2", 2)]
        assert list(self.ids(self.course(99, 2).next_visits())) == [("d#1", MOST_PER_VISIT), ("d#2", MOST_PER_VISIT)]

    def test_what_is_missing_is_asked_of_those_whose_turn_it_is(self) -> None:
        course = self.course(2, 3)
        first, second = course.next_visits()
        course.visited(first, ["q"])
        course.visited(second, [])
        course.delivered = 1
        (third,) = course.next_visits()
        course.visited(third, ["r", "s"])
        (again,) = course.next_visits()
        assert (third.passages[0].id, third.known, again.passages[0].id, again.known) == ("d#3", (), "d#1", ("q",))

    def test_it_ends_after_so_many_attempts(self) -> None:
        course = self.course(2, 1)
        for _ in range(ATTEMPTS):
            (visit,) = course.next_visits()
            course.visited(visit, ["p", "q"])
        assert course.next_visits() == []
        assert (
            course.missing(None) == "2 of 2 questions are missing: 3 questions were tried for each that was asked for"
        )
        assert course.missing("no key") == "2 of 2 questions are missing: no key"

    def test_it_ends_with_the_passages(self) -> None:
        course = self.course(2, 1)
        (visit,) = course.next_visits()
        course.delivered = 1
        course.visited(visit, ["q"])
        assert course.next_visits() == []
        assert course.missing(None) == "1 of 2 questions is missing: the documents have no other passages"

    def test_there_are_none(self) -> None:
        assert self.course(1, 0).missing(None) == "1 of 1 question is missing: the documents have no other passages"
