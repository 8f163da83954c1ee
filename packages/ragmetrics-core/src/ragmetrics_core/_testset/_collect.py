"""A test set of a given number of questions: waves of visits to passages, until all are there or no more can be had. No clock.

Strategy. The plan depends on the documents and the seed alone, never on which reply came first, so that the same command makes the
same calls again and finds all of them in the journal. Each wave visits as many passages as questions are missing, the documents
taking turns. The passages are asked for questions first. What rules and comparison can tell is dropped before a call is spent on
it: questions that lean on a text, near-duplicates. Then the rest is checked, question by question. What has failed a check in one
wave is replaced in the next by a question about the passage whose turn it is. After ``ATTEMPTS`` times as many questions as were
asked for the run ends, and what is missing is missing.

The programs run over the engine of ``evaluate``: its pace, its retries, its budget, its journal. As many run side by side as calls
may be in flight. Results are handed over in the order of the programs, so that nothing that follows from them depends on chance.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, zip_longest
from typing import Any, NamedTuple, TypeVar

from .._engine import Answers, Budget, Rules
from .._engine._pending import PendingCall, RowMemory
from .._engine._reply_keys import ReplyStore
from .._kernel._drive import Models
from .._kernel._model_traits import prepared
from .._kernel._steps import Outcome, Steps, next_round
from .._support._blocking import all_of
from .._values._errors import InvalidInput
from .._values._requests import AnyLLM
from .._values._sample import Sample
from ._chunks import Chunk
from ._kinds import Checked, Kind, OnePassage, TwoPassages, Unanswerable, Visit, Written, drop
from ._similar import KnownQuestions, PassageIndex, leans_on_a_text, plain_words
from ._testset import Dropped, Problem, Why, counted

ATTEMPTS = 3
"""Questions that are tried for each one that is asked for, at most."""

MOST_PER_VISIT = 5
"""Questions that a passage is asked for at a time, at most; there are more than one only where there are few passages."""

NAMES = {
    "one_passage": ("question", "questions"),
    "unanswerable": ("unanswerable question", "unanswerable questions"),
    "two_passages": ("question over two passages", "questions over two passages"),
}
"""What the kinds of questions are called, one of them and several."""

PARTNERS = 3
"""Passages with which a passage forms a pair, at most."""


def counts_of(total: int, shares: Mapping[str, float], rest: str) -> dict[str, int]:
    """How many of ``total`` each share gets, by largest remainder; ``rest`` names who gets what no share takes.

    Raises:
        InvalidInput: the shares are more than the whole.
    """
    exact = {name: Fraction(repr(float(share))) for name, share in shares.items()}
    left = 1 - sum(exact.values())
    if left < 0:
        raise InvalidInput(f"{' and '.join(shares)} must not be more than 1 together, got {float(1 - left):g}")
    quotas = {name: share * total for name, share in {rest: left, **exact}.items()}
    counts = {name: int(quota) for name, quota in quotas.items()}
    remainders = sorted(quotas, key=lambda name: counts[name] - quotas[name])
    for name in remainders[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def in_turn(chunks: Sequence[Chunk], seed: object) -> list[Chunk]:
    """The chunks in the order in which they are visited: the documents take turns, and which chunk it is the seed decides."""
    chance = random.Random(repr(seed))  # noqa: S311  chooses passages, hides nothing
    documents: dict[str, list[Chunk]] = {}
    for chunk in chunks:
        documents.setdefault(chunk.document, []).append(chunk)
    order = list(documents.values())
    chance.shuffle(order)
    for parts in order:
        chance.shuffle(parts)
    return [chunk for chunk in chain.from_iterable(zip_longest(*order)) if chunk is not None]


def related_pairs(order: Sequence[Chunk], index: PassageIndex, chunks: Sequence[Chunk]) -> list[tuple[Chunk, ...]]:
    """Pairs of chunks that share telling words, first each chunk with its best partner. Neighbours in a document are no pair.

    Args:
        order: the chunks in the order in which they get a partner.
        index: an index of ``chunks``.
        chunks: all chunks.
    """
    rounds: list[list[tuple[Chunk, ...]]] = [[] for _ in range(PARTNERS)]
    for chunk in order:
        partners = index.nearest(chunk.text, PARTNERS, lambda other, chunk=chunk: _apart(chunk, chunks[other]))  # type: ignore[misc]
        for place, partner in enumerate(partners):
            rounds[place].append((chunk, chunks[partner]))
    return list({frozenset(chunk.id for chunk in pair): pair for pair in reversed([*chain(*rounds)])}.values())[::-1]


def _apart(one: Chunk, other: Chunk) -> bool:
    return one.document != other.document or abs(one.index - other.index) > 1


class Course:
    """How far one kind of questions has come.

    Args:
        kind: the kind.
        asked: how many questions of it are asked for.
        spots: passages, or pairs of them, in the order of their turns.

    Attributes:
        delivered: how many questions have passed all checks.
        dropped: questions that fell through one.
    """

    def __init__(self, kind: Kind, asked: int, spots: Sequence[tuple[Chunk, ...]]) -> None:
        self.kind = kind
        self.asked = asked
        self.delivered = 0
        self.dropped: list[Dropped] = []
        self._queue = deque(spots)
        self._has_spots = bool(spots)
        self._known: dict[tuple[Chunk, ...], tuple[str, ...]] = {}
        self._tried = 0

    def next_visits(self) -> list[Visit]:
        """The visits of the next wave; none where nothing is missing, or nothing can be done about it."""
        wanted = min(self.asked - self.delivered, ATTEMPTS * self.asked - self._tried)
        if wanted <= 0 or not self._queue:
            return []
        each = min(MOST_PER_VISIT, -(-wanted // len(self._queue)))
        visits = []
        while wanted > 0 and self._queue:
            spot = self._queue.popleft()
            visits.append(Visit(spot, min(each, wanted), self._known.get(spot, ())))
            wanted -= visits[-1].wanted
            self._tried += visits[-1].wanted
        return visits

    def visited(self, visit: Visit, questions: Sequence[str]) -> None:
        """Note what was written on a visit; a passage that gives what is wanted is visited again when all others were."""
        if len(questions) >= visit.wanted:
            self._known[visit.passages] = (*visit.known, *questions)
            self._queue.append(visit.passages)

    def missing(self, stopped: str | None) -> str | None:
        """How many questions are missing and why; None: none is.

        Args:
            stopped: why the run has ended; None where it has come to its end.
        """
        if self.delivered == self.asked:
            return None
        one, several = NAMES[self.kind.name]
        left = self.asked - self.delivered
        dropped = counted(item.why for item in self.dropped)
        return (
            f"{left} of {self.asked} {one if self.asked == 1 else several} {'is' if left == 1 else 'are'} missing: "
            f"{f'{dropped}; ' if dropped else ''}{stopped or self._end}"
        )

    @property
    def _end(self) -> str:
        if self._tried == ATTEMPTS * self.asked:
            return f"{ATTEMPTS} questions were tried for each that was asked for"
        if self.kind.name == "two_passages" and not self._has_spots:
            return "no two passages have enough in common"
        return "the documents have no more passages for them"


T = TypeVar("T")


class Drive:
    """Runs programs whose results have ``unread``: the replies that could not be read.

    Args:
        llm: answers.
        most: most calls in flight.
        rules: how calls are made.
        budget: what they may cost.
        journal: keeps replies, and has those of earlier runs; None: nothing is kept.

    Attributes:
        answers: the calls that were made, and what they cost.
    """

    def __init__(self, llm: AnyLLM, most: int, rules: Rules, budget: Budget, journal: ReplyStore | None) -> None:
        self._models = Models(prepared(llm, 1), metric="generate_testset")
        self._most = most
        self._budget = budget
        self.answers = Answers(most, rules, budget, journal)

    @property
    def stopped(self) -> str | None:
        """Why no more calls are made; None where that is not so."""
        return self._budget.used_up

    async def all(self, programs: Iterable[Steps[T]], finished: Callable[[int, T], None]) -> None:
        """Run all programs, and hand over each result with the number of its program, from 0, in this order.

        When the budget is used up, programs that would need another call are left out, with all that follow.

        Raises:
            RagmetricsError: whatever stops the whole run.
        """
        queue = enumerate(programs)
        waiting: dict[int, T] = {}
        handed_over = 0

        def note(index: int, result: T) -> None:
            nonlocal handed_over
            waiting[index] = result
            while handed_over in waiting:
                finished(handed_over, waiting.pop(handed_over))
                handed_over += 1

        try:
            await all_of(self._work(queue, note) for _ in range(self._most))
        finally:  # where one is missing, those behind it are finished all the same
            for index in sorted(waiting):
                finished(index, waiting[index])

    def close(self) -> None:
        """Give up what is under way."""
        self.answers.close()

    async def _work(self, queue: Iterator[tuple[int, Steps[T]]], note: Callable[[int, T], None]) -> None:
        for index, program in queue:
            await asyncio.sleep(0)  # a model that computes in place would never let others run
            result = await self._finish(program)
            if result is None:
                return
            note(index, result)

    async def _finish(self, program: Steps[Any]) -> Any:
        memory = RowMemory()
        asked: list[PendingCall] = []
        outcomes: list[Outcome] | None = None
        while True:
            try:
                requests = next_round(program, outcomes)
            except StopIteration as done:
                for error in done.value.unread:
                    self.answers.strike(error.raw, asked, memory)
                return done.value
            calls = self.answers.resolve(self._models, requests, 0, memory)
            outcomes = self.answers.now(calls, memory)
            if outcomes is None:
                outcomes = await self.answers.later(calls, memory)
            if outcomes is None:
                program.close()
                return None
            asked += calls


LOOKED_AT = 4
"""Passages other than its own in which an answer to a question that is to have none is looked for."""


class Candidate(NamedTuple):
    """A question that has passed the checks that cost nothing."""

    course: Course
    visit: Visit
    question: str


class Collection:
    """The questions of a test set, as far as they are there.

    Args:
        chunks: the passages, in the order of their documents.
        plain: the usual kind of questions.
        keep: called with each question that has passed.
        counts: how many questions of each kind there are to be.
        refusal: the reference of the questions that no passage answers.
        seed: decides which passages are visited first.

    Attributes:
        problems: passages that were left out.
    """

    def __init__(
        self,
        chunks: Sequence[Chunk],
        plain: OnePassage,
        keep: Callable[[Sample], None],
        *,
        counts: Mapping[str, int],
        refusal: str,
        seed: int,
    ) -> None:
        self.problems: list[Problem] = []
        self._chunks = self._distinct(chunks)
        self._places = {chunk: place for place, chunk in enumerate(self._chunks)}
        self._courses = self._planned(counts, refusal, seed, plain)
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

    def _planned(self, counts: Mapping[str, int], refusal: str, seed: int, plain: OnePassage) -> list[Course]:
        order = in_turn(self._chunks, seed)
        courses = [Course(plain, counts["one_passage"], [(chunk,) for chunk in order])]
        if counts["unanswerable"]:
            unanswerable = Unanswerable(self._nearest, refusal, plain.caveat)
            others = [(chunk,) for chunk in in_turn(self._chunks, (seed, "unanswerable"))]
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
