"""A test set of a given number of questions: waves of visits to passages, until all are there or no more can be had.

In each wave the passages are asked for questions first. What rules and comparison can tell is dropped before a call is spent on it:
questions that lean on a text, near-duplicates. Then the rest is checked, question by question. All that decides is decided in the
order of the plan, so a run that is started again takes the same way.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from functools import cached_property, partial
from typing import NamedTuple

from .._kernel._sample import Sample
from ._chunks import Chunk
from ._drive import Drive
from ._kinds import NO_ANSWER, Checked, OnePassage, TwoPassages, Unanswerable, Visit, Written, drop
from ._plan import ATTEMPTS, Course, counts_of, in_turn, related_pairs
from ._similar import KnownQuestions, PassageIndex, plain_words
from ._stands_alone import leans_on_a_text
from ._values import Dropped, Problem, Why

LOOKED_AT = 4
"""Passages besides its own in which an answer to a question that is to have none is looked for."""


class Wanted(NamedTuple):
    """What is asked for.

    Attributes:
        total: how many questions there are to be.
        unanswerable: which share of them no passage answers.
        two_passages: which share of them needs two passages.
        seed: decides which passages are visited first.
        refusal: the reference of the questions that no passage answers.
    """

    total: int
    unanswerable: float = 0.0
    two_passages: float = 0.0
    seed: int = 0
    refusal: str = NO_ANSWER

    def counts(self) -> dict[str, int]:
        """How many there are to be of each kind."""
        shares = {"unanswerable": self.unanswerable, "two_passages": self.two_passages}
        return counts_of(self.total, shares, "one_passage")


class Candidate(NamedTuple):
    """A question that has passed the checks that cost nothing."""

    course: Course
    visit: Visit
    question: str


class Collection:
    """The questions of a test set, as far as they are there.

    Args:
        chunks: the passages, in the order of their documents.
        wanted: what is asked for.
        plain: the usual kind of questions.
        keep: called with each question that has passed.

    Attributes:
        problems: passages that were left out.
    """

    def __init__(
        self, chunks: Sequence[Chunk], wanted: Wanted, plain: OnePassage, keep: Callable[[Sample], None]
    ) -> None:
        self.problems: list[Problem] = []
        self._chunks = self._distinct(chunks)
        self._places = {chunk: place for place, chunk in enumerate(self._chunks)}
        self._courses = self._planned(wanted, plain)
        self._keep = keep
        self._known = KnownQuestions()
        self._numbers: Counter[str] = Counter()
        self._samples: list[tuple[int, Sample]] = []

    def _distinct(self, chunks: Iterable[Chunk]) -> list[Chunk]:
        """The passages, each text once."""
        found: dict[str, Chunk] = {}
        for chunk in chunks:
            first = found.setdefault(plain_words(chunk.text), chunk)
            if first is not chunk:
                self.problems.append(Problem(chunk.id, None, f"left out: its text is that of {first.id}"))
        return list(found.values())

    @cached_property
    def _index(self) -> PassageIndex:
        """Made only where a kind of questions needs it, as every passage has to be read for it."""
        return PassageIndex([chunk.text for chunk in self._chunks])

    def _planned(self, wanted: Wanted, plain: OnePassage) -> list[Course]:
        counts = wanted.counts()
        order = in_turn(self._chunks, wanted.seed)
        courses = [Course(plain, counts["one_passage"], [(chunk,) for chunk in order])]
        if counts["unanswerable"]:
            unanswerable = Unanswerable(self._nearest, wanted.refusal, plain.caveat)
            others = [(chunk,) for chunk in in_turn(self._chunks, (wanted.seed, "unanswerable"))]
            courses.append(Course(unanswerable, counts["unanswerable"], others))
        if counts["two_passages"]:
            asked = counts["two_passages"]
            pairs = related_pairs(order[: ATTEMPTS * asked], self._index, self._chunks)
            courses.append(Course(TwoPassages(plain.answer, plain.caveat), asked, pairs))
        return courses

    def _nearest(self, question: str, own: Chunk) -> list[Chunk]:
        place = self._places[own]
        return [self._chunks[other] for other in self._index.nearest(question, LOOKED_AT, lambda other: other != place)]

    async def run(self, drive: Drive) -> None:
        """Go on until all questions are there, or no more can be had.

        Raises:
            RagmetricsError: whatever stops the run.
        """
        while planned := [(course, visit) for course in self._courses for visit in course.next_visits()]:
            written: dict[int, Written] = {}
            await drive.all((course.kind.write(visit) for course, visit in planned), written.__setitem__)
            candidates = [
                candidate for number, reply in written.items() for candidate in self._sifted(*planned[number], reply)
            ]
            if drive.stopped:
                return
            checks = (course.kind.check(visit, question) for course, visit, question in candidates)
            await drive.all(checks, partial(self._take, candidates))
            if drive.stopped:
                return

    def _sifted(self, course: Course, visit: Visit, written: Written) -> list[Candidate]:
        """The questions of a visit that are worth a call."""
        fresh = [question for question in written.questions if question not in visit.known]
        course.visited(visit, fresh)
        kept: list[Candidate] = []
        for question in fresh:
            if len(kept) == visit.wanted:
                return kept
            words = leans_on_a_text(question)
            other = question if question in self._known else self._known.like(question)
            if words is not None:
                self._drop(course, drop(Why.LEANS, visit, question, f"it speaks of a text: {words!r}"))
            elif other is not None:
                self._drop(course, drop(Why.REPEATED, visit, question, f"like {other!r}"))
            else:
                kept.append(Candidate(course, visit, question))
                self._known.add(question)
        why = Why.NOT_WRITTEN if written.problem is None else Why.FAILED
        for _ in range(visit.wanted - max(len(kept), len(fresh))):
            self._drop(course, drop(why, visit, None, written.problem or "fewer questions were written than asked for"))
        return kept

    def _take(self, candidates: Sequence[Candidate], number: int, checked: Checked) -> None:
        """Add a question that was checked, if it has passed."""
        course, visit, question = candidates[number]
        sample = checked.sample
        if sample is None:
            self._known.remove(question)
            self._drop(course, checked)
            return
        other = self._known.like(question, checked.fact)
        if other is not None:
            self._known.remove(question)
            self._drop(course, drop(Why.REPEATED, visit, question, f"asks for the same as {other!r}"))
            return
        self._known.add(question, checked.fact)
        spot = "+".join(passage.id for passage in visit.passages)
        self._numbers[spot] += 1
        sample = replace(sample, id=f"{spot}-{self._numbers[spot]}")
        self._samples.append((self._places[visit.passages[0]], sample))
        course.delivered += 1
        self._keep(sample)

    def _drop(self, course: Course, checked: Checked) -> None:
        if checked.dropped is not None:
            course.dropped.append(checked.dropped)

    @property
    def samples(self) -> list[Sample]:
        """The questions that are there, in the order of the passages."""
        return [sample for _, sample in sorted(self._samples, key=lambda item: item[0])]

    @property
    def dropped(self) -> list[Dropped]:
        """The questions that fell through a check."""
        return [item for course in self._courses for item in course.dropped]

    def missing(self, stopped: str | None) -> list[str]:
        """What is missing, and why.

        Args:
            stopped: why the run has ended before its end.
        """
        return [text for course in self._courses if (text := course.missing(stopped)) is not None]
