"""Questions about documents, asked for and checked in an order that no reply decides. No clock.

Strategy. There are two ways to say how many questions there are to be. ``Collection``: a number altogether. The plan depends on the
documents and the seed alone, never on which reply came first, so that the same command makes the same calls again and finds all of
them in the journal. Each wave visits as many passages as questions are missing, the documents taking turns. The passages are asked
for questions first. What rules and comparison can tell is dropped before a call is spent on it: questions that lean on a text,
near-duplicates. Then the rest is checked, question by question. What has failed a check in one wave is replaced in the next by a
question about the passage whose turn it is. After ``ATTEMPTS`` times as many questions as were asked for the run ends, and what is
missing is missing. ``PerDocument``: each document is asked for as many, and each question that it answers is taken.

Both run over the engine of ``evaluate``: its pace, its retries, its budget, its journal. As many programs run side by side as calls
may be in flight. Results are handed over in order, so that nothing that follows from them depends on chance.
"""

from __future__ import annotations

import asyncio
import random
from collections import Counter, deque
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property, partial
from itertools import chain, zip_longest
from typing import Any, TypeVar

from .._engine import Answers
from .._engine._pending import PendingCall, RowMemory
from .._kernel._drive import Models
from .._kernel._steps import Outcome, Steps, next_round
from .._support._blocking import all_of
from .._values._errors import BadReply, InvalidInput, ModelError
from .._values._sample import Sample
from ._chunks import Chunk, chunks_of
from ._documents import GivenDocument
from ._kinds import Checked, Kind, OnePassage, Passed, Rejected, TwoPassages, Unanswerable, Visit, distinct, in_one_line
from ._similar import KnownQuestions, PassageIndex, leans_on_a_text, plain_words
from ._testset import CAVEAT, Dropped, Problem, Why, counted

PER_DOCUMENT = 10
"""Questions per document where neither number is given."""

ATTEMPTS = 3
"""Questions that are tried for each one that is asked for, at most."""

MOST_PER_VISIT = 5
"""Questions that a passage is asked for at a time, at most; there are more than one only where there are few passages."""

PARTNERS = 3
"""Passages with which a passage forms a pair, at most."""

LOOKED_AT = 4
"""Passages other than its own in which an answer to a question that is to have none is looked for."""

T = TypeVar("T")

Keep = Callable[[Sequence[Sample], int], None]
"""Called with samples as they are finished, and how many questions have failed since the last call."""


class Drive:
    """Runs programs over the engine.

    Args:
        llm: answers.
        most: most jobs at a time.
        answers: gets the replies.
    """

    def __init__(self, llm: Any, most: int, answers: Answers) -> None:
        self._models = Models(llm, metric="generate_testset")
        self._most = most
        self._answers = answers

    @property
    def used_up(self) -> str | None:
        """The budget that is used up, in words; None: none is."""
        return self._answers.budget.used_up

    async def run(self, program: Steps[T]) -> T | ModelError | None:
        """The result of a program, or the error that ended it; None: the budget was used up before it was finished.

        Raises:
            RagmetricsError: whatever stops the whole run.
        """
        await asyncio.sleep(0)  # a model that computes in place would never let others run
        memory: RowMemory = {}
        asked: list[PendingCall] = []
        outcomes: list[Outcome] | None = None
        while True:
            try:
                requests = next_round(program, outcomes)
            except StopIteration as done:
                result: T = done.value
                return result
            except ModelError as error:
                if isinstance(error, BadReply):
                    self._answers.strike(error.raw, asked)
                return error
            calls = self._answers.resolve(self._models, requests, 0)
            outcomes = await self._answers.outcomes(calls, memory)
            if outcomes is None:
                program.close()
                return None
            asked += calls

    async def all(self, jobs: Iterable[Coroutine[Any, Any, T | None]], finished: Callable[[int, T], None]) -> None:
        """Run all jobs; hand over each result with the number of its job, from 0, in this order.

        A job whose result is None met the end of the budget; it and all that were not begun are left out.

        Raises:
            RagmetricsError: whatever stops the whole run.
        """
        queue = enumerate(jobs)
        waiting: dict[int, T] = {}
        following = 0

        async def work() -> None:
            nonlocal following
            for index, job in queue:
                result = await job
                if result is None:
                    return
                waiting[index] = result
                while following in waiting:
                    finished(following, waiting.pop(following))
                    following += 1

        try:
            await self._answers.run([work() for _ in range(self._most)])
        finally:  # where one is missing, those behind it are finished all the same
            for index in sorted(waiting):
                finished(index, waiting[index])


@dataclass
class PerDocument:
    """The questions of a run that asks each document for as many.

    Attributes:
        documents: what is asked about.
        size: most characters of a passage; None: a document is asked about as a whole.
        options: the arguments of ``generate_testset``.
        caveat: what must be known about the model.
        keep: called for each document that is finished.
        samples: the questions that are there, in the order of the documents.
        problems: what went wrong.
        unasked: what is missing because the budget was used up, in words.
    """

    documents: Sequence[GivenDocument]
    size: int | None
    options: Any
    caveat: str | None
    keep: Keep
    samples: list[Sample] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    dropped: tuple[Dropped, ...] = ()
    unasked: tuple[str, ...] = ()

    async def run(self, drive: Drive) -> None:
        """Ask all documents.

        Raises:
            RagmetricsError: whatever stops the run.
        """
        await drive.all((self._document(drive, document) for document in self.documents), self._take)
        if drive.used_up is not None:
            self.unasked = (f"{drive.used_up}: not all documents were asked",)

    def missing(self, _: str | None) -> tuple[str, ...]:
        """What the end of the budget has left out; anything else is a problem of a document."""
        return self.unasked

    def _take(self, _: int, found: list[Sample | Problem]) -> None:
        samples = [item for item in found if isinstance(item, Sample)]
        problems = [item for item in found if isinstance(item, Problem)]
        self.samples.extend(samples)
        self.problems.extend(problems)
        self.keep(samples, len(problems))

    async def _document(self, drive: Drive, document: GivenDocument) -> list[Sample | Problem] | None:
        passages = chunks_of(document, self.size or len(document.text), self.options.chunk_overlap)
        if not passages:
            return [Problem(document.id, None, "the document has no text")]
        number = self.options.questions_per_document or PER_DOCUMENT
        parts = await all_of(self._passage(drive, *share) for share in shares(passages, number))
        found = [item for part in parts for item in part or ()]
        return None if None in parts else found

    async def _passage(self, drive: Drive, passage: Chunk, number: int) -> list[Sample | Problem] | None:
        written = await drive.run(self.options.write.ask(document=passage.text, number_of_questions=number))
        if written is None:
            return None
        if isinstance(written, ModelError):
            return [Problem(passage.id, None, f"no questions were written: {in_one_line(written)}")]
        questions = distinct(written)[:number]
        ask = self.options.answer.ask
        answers = await all_of(drive.run(ask(document=passage.text, question=question)) for question in questions)
        found: list[Sample | Problem] = []
        if len(questions) < number:
            found.append(Problem(passage.id, None, f"{number} questions were asked for, {len(questions)} written"))
        for place, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
            if answer is None:
                return None
            if isinstance(answer, ModelError):
                found.append(Problem(passage.id, question, f"no answer: {in_one_line(answer)}"))
            elif not answer.answer.strip():
                found.append(Problem(passage.id, question, "the document does not answer it"))
            else:
                found.append(self._sample(passage, place, question, answer))
        return found

    def _sample(self, passage: Chunk, place: int, question: str, answer: Any) -> Sample:
        metadata = {"document_id": passage.document, "evidence": answer.evidence.strip() or None, CAVEAT: self.caveat}
        return Sample(
            user_input=question,
            reference=answer.answer.strip(),
            reference_contexts=[passage.text],
            reference_documents=[passage.to_document()],  # what a retriever should find for this question
            id=f"{passage.id}-{place}",
            metadata={name: value for name, value in metadata.items() if value is not None},
        )


def shares(passages: Sequence[Chunk], number: int) -> list[tuple[Chunk, int]]:
    """How many of so many questions are written about which passages, spread over all of them."""
    if number < len(passages):
        return [(passages[turn * len(passages) // number], 1) for turn in range(number)]
    each, more = divmod(number, len(passages))
    return [(passage, each + (index < more)) for index, passage in enumerate(passages)]


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

    def __init__(self, kind: Kind, asked: int, spots: Iterable[tuple[Chunk, ...]]) -> None:
        self.kind = kind
        self.asked = asked
        self.delivered = 0
        self.dropped: list[Dropped] = []
        self._queue = deque(spots)
        self._known: dict[tuple[Chunk, ...], tuple[str, ...]] = {}
        self._tried = 0

    def next_visits(self) -> list[Visit]:
        """The visits of the next wave; none where nothing is missing, or nothing can be done about it."""
        wanted = min(self.asked - self.delivered, ATTEMPTS * self.asked - self._tried)
        each = min(MOST_PER_VISIT, -(-wanted // max(1, len(self._queue))))
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

    def drop(self, visit: Visit, question: str | None, why: Why, message: str) -> None:
        """Note a question that fell through a check."""
        self.dropped.append(Dropped(" + ".join(passage.id for passage in visit.passages), question, message, why))

    def missing(self, stopped: str | None) -> str | None:
        """How many questions are missing and why; None: none is.

        Args:
            stopped: why the run has ended; None where it has come to its end.
        """
        left = self.asked - self.delivered
        if left == 0:
            return None
        if stopped is None and self._tried == ATTEMPTS * self.asked:
            stopped = f"{ATTEMPTS} questions were tried for each that was asked for"
        elif stopped is None and self.kind.name == "two_passages" and not self._tried:
            stopped = "no two passages have enough in common"
        reasons = [counted(item.why for item in self.dropped), stopped or "the documents have no other passages"]
        name = f"question{'' if self.asked == 1 else 's'}"
        names = {"unanswerable": f"unanswerable {name}", "two_passages": f"{name} over two passages"}
        are = "is" if left == 1 else "are"
        return f"{left} of {self.asked} {names.get(self.kind.name, name)} {are} missing: {'; '.join(filter(None, reasons))}"


class Collection:
    """The questions of a run that asks for a number of them altogether.

    Args:
        documents: what is asked about.
        size: most characters of a passage.
        options: the arguments of ``generate_testset``.
        caveat: what must be known about the model.
        keep: called with each question that has passed.

    Attributes:
        problems: documents and passages that were left out.
    """

    def __init__(
        self, documents: Iterable[GivenDocument], size: int, options: Any, caveat: str | None, keep: Keep
    ) -> None:
        self.problems: list[Problem] = []
        self._chunks = self._cut(documents, size, options.chunk_overlap)
        self._places = {chunk: place for place, chunk in enumerate(self._chunks)}
        self._keep = keep
        self._caveat = caveat
        self._known = KnownQuestions()
        self._numbers: Counter[str] = Counter()
        self._samples: list[tuple[int, Sample]] = []
        self._counted = 0  # of the dropped questions
        order, counts = in_turn(self._chunks, options.seed), options.counts
        plain = OnePassage(options.write, options.answer)
        self._courses = [Course(plain, counts["one_passage"], [(chunk,) for chunk in order])]
        if asked := counts["unanswerable"]:
            others = in_turn(self._chunks, (options.seed, "unanswerable"))
            kind = Unanswerable(self._nearest, options.refusal)
            self._courses.append(Course(kind, asked, [(chunk,) for chunk in others]))
        if asked := counts["two_passages"]:
            pairs = related_pairs(order[: ATTEMPTS * asked], self._index, self._chunks)
            self._courses.append(Course(TwoPassages(plain.answer), asked, pairs))

    def _cut(self, documents: Iterable[GivenDocument], size: int, overlap: int) -> list[Chunk]:
        """The passages, each text once."""
        found: dict[str, Chunk] = {}
        repeated: list[Problem] = []
        for document in documents:
            chunks = chunks_of(document, size, overlap)
            if not chunks:
                self.problems.append(Problem(document.id, None, "the document has no text"))
            for chunk in chunks:
                first = found.setdefault(plain_words(chunk.text), chunk)
                if first is not chunk:
                    repeated.append(Problem(chunk.id, None, f"left out: its text is that of {first.id}"))
        self.problems += repeated
        return list(found.values())

    @cached_property
    def _index(self) -> PassageIndex:
        """Made only where a kind of questions needs it, as every passage has to be read for it."""
        return PassageIndex([chunk.text for chunk in self._chunks])

    def _nearest(self, question: str, own: Chunk) -> list[Chunk]:
        place = self._places[own]
        return [self._chunks[other] for other in self._index.nearest(question, LOOKED_AT, lambda other: other != place)]

    async def run(self, drive: Drive) -> None:
        """Go on until all questions are there, or no more can be had.

        Raises:
            RagmetricsError: whatever stops the run.
        """
        while planned := [(course, visit) for course in self._courses for visit in course.next_visits()]:
            written: dict[int, Any] = {}
            await drive.all((drive.run(course.kind.write(visit)) for course, visit in planned), written.__setitem__)
            candidates: list[tuple[Course, Visit, str]] = []
            for number, reply in written.items():
                candidates += [(*planned[number], question) for question in self._sift(*planned[number], reply)]
            if drive.used_up is not None:
                return
            checks = (drive.run(course.kind.check(visit, question)) for course, visit, question in candidates)
            await drive.all(checks, partial(self._take, candidates))
            if drive.used_up is not None:
                return

    def _sift(self, course: Course, visit: Visit, written: Sequence[str] | ModelError) -> list[str]:
        """The questions of a visit that are worth a call."""
        failure = f"no questions were written: {in_one_line(written)}" if isinstance(written, ModelError) else None
        questions = [] if isinstance(written, ModelError) else written
        fresh = [question for question in questions if question not in visit.known]
        course.visited(visit, fresh)
        kept: list[str] = []
        for question in fresh:
            if len(kept) == visit.wanted:
                return kept
            words = leans_on_a_text(question)
            other = question if question in self._known else self._known.like(question)
            if words is not None:
                course.drop(visit, question, Why.LEANS, f"it speaks of a text: {words!r}")
            elif other is not None:
                course.drop(visit, question, Why.REPEATED, f"like {other!r}")
            else:
                kept.append(question)
                self._known.add(question)
        why = Why.FAILED if failure else Why.NOT_WRITTEN
        for _ in range(visit.wanted - max(len(kept), len(fresh))):
            course.drop(visit, None, why, failure or "fewer questions were written than asked for")
        return kept

    def _take(self, candidates: Sequence[tuple[Course, Visit, str]], number: int, found: Checked | ModelError) -> None:
        """Add a question that was checked, if it has passed."""
        course, visit, question = candidates[number]
        if isinstance(found, ModelError):
            found = Rejected(Why.FAILED, in_one_line(found))
        elif isinstance(found, Passed) and (other := self._known.like(question, found.fact)) is not None:
            found = Rejected(Why.REPEATED, f"asks for the same as {other!r}")
        if isinstance(found, Rejected):
            del self._known[question]
            course.drop(visit, question, *found)
            return
        self._known.add(question, found.fact)
        course.delivered += 1
        self._numbers[visit.place] += 1
        sample = self._sample(course.kind.name, visit, question, found)
        self._samples.append((self._places[visit.passages[0]], sample))
        dropped = len(self.dropped)
        self._keep([sample], dropped - self._counted)
        self._counted = dropped

    def _sample(self, kind: str, visit: Visit, question: str, found: Passed) -> Sample:
        documents = list(dict.fromkeys(passage.document for passage in visit.passages))
        metadata = {"document_id": documents[0], "kind": kind, **found.evidence}
        if len(documents) > 1:
            metadata["document_ids"] = documents
        if self._caveat is not None:
            metadata[CAVEAT] = self._caveat
        return Sample(
            user_input=question,
            reference=found.reference,
            reference_contexts=visit.texts if found.fact else None,  # else there is nothing to be found
            reference_documents=[passage.to_document() for passage in visit.passages] if found.fact else None,
            id=f"{visit.place}-{self._numbers[visit.place]}",
            metadata=metadata,
        )

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
