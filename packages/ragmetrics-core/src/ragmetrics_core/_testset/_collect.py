"""Asks models for questions about documents and checks the questions, in an order that does not depend on the replies. No clock.

Strategy. The number of questions can be given in two ways.

``Collection`` takes the total number. The plan depends only on the documents and the seed, never on which reply came first. So
the same command makes the same calls again and finds all of them in the journal. Each wave visits as many passages as questions
are missing, and the documents take turns. First the passages of the wave are asked for questions. Then questions that fail a
check without a model are dropped: those that refer to a text and near-duplicates. Each of the remaining questions is checked by
models. A question that failed a check is replaced in the next wave by a question about the next passage. The run ends when
``ATTEMPTS`` times the requested number of questions were tried, even if some questions are still missing.

``PerDocument`` takes a number per document. Each document is asked for that many questions, and every question that the document
answers is kept.

Both use the engine of ``evaluate``: its rate limits, retries, budget and journal. The number of programs that run at the same
time is the number of calls that may be in flight. Results are handed over in the order of the jobs, so nothing that follows
depends on timing.
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

from .._engine._programs import run_program
from .._engine._questions import Answers
from .._engine._tasks import Tasks
from .._kernel._drive import Models
from .._kernel._steps import Steps
from .._support._blocking import all_of
from .._values._counts import grouped
from .._values._errors import InvalidInput, ModelError
from .._values._sample import Sample
from ._chunks import Chunk, chunks_of
from ._documents import GivenDocument
from ._kinds import Checked, Kind, OnePassage, Passed, Rejected, TwoPassages, Unanswerable, Visit, distinct, in_one_line
from ._similar import KnownQuestions, PassageIndex, leans_on_a_text, plain_words
from ._testset import CAVEAT, Dropped, Problem, Why, count_reasons

PER_DOCUMENT = 10
"""The number of questions per document if neither number is given."""

ATTEMPTS = 3
"""The largest number of questions tried for each question that was requested."""

MOST_PER_VISIT = 5
"""The largest number of questions requested in one visit to a passage; more than 1 only if there are fewer passages than missing
questions.
"""

PARTNERS = 3
"""The largest number of passages that a passage is paired with."""

LOOKED_AT = 4
"""The number of other passages that are searched for an answer to a question that must not have an answer."""

T = TypeVar("T")

Keep = Callable[[Sequence[Sample], int], None]
"""Called with finished samples and the number of questions that failed since the last call."""


class ProgramRunner:
    """Runs programs over the engine.

    Args:
        llm: the model that answers.
        most: the largest number of jobs at the same time.
        answers: gets the replies.
    """

    def __init__(self, llm: Any, most: int, answers: Answers) -> None:
        self._models = Models(llm, metric="generate_testset")
        self._most = most
        self._answers = answers
        self._tasks = Tasks()

    @property
    def used_up(self) -> str | None:
        """The budget that is used up, in words; None if no budget is used up."""
        return self._answers.budget.used_up

    async def run(self, program: Steps[T]) -> T | ModelError | None:
        """Return the result of a program, or the error that ended it. None if the budget was used up before the program was
        finished.

        Raises:
            RagmetricsError: an error that stops the whole run.
        """
        await asyncio.sleep(0)  # lets other jobs run even if the model computes without awaiting
        return await run_program(program, self._models, self._answers, self._tasks)

    async def all(self, jobs: Iterable[Coroutine[Any, Any, T | None]], finished: Callable[[int, T], None]) -> None:
        """Run all jobs. Hand over each result with the number of its job, from 0, in the order of the jobs.

        A job whose result is None reached the end of the budget. This job and the jobs that were not begun are left out.

        Raises:
            RagmetricsError: an error that stops the whole run.
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
            await self._tasks.run([work() for _ in range(self._most)])
        finally:  # a missing result holds back the results after it
            for index in sorted(waiting):
                finished(index, waiting[index])


@dataclass
class PerDocument:
    """A run that asks each document for the same number of questions.

    Attributes:
        documents: the documents to ask about.
        size: the largest number of characters of a passage; None: a document is one passage.
        options: the arguments of ``generate_testset``.
        caveat: a warning about the model, for the metadata of every sample; None if there is none.
        keep: called for each finished document.
        samples: the finished questions, in the order of the documents.
        problems: what went wrong.
        dropped: always empty; a failed question is a problem here.
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

    async def run(self, drive: ProgramRunner) -> None:
        """Ask about all documents.

        Raises:
            RagmetricsError: an error that stops the run.
        """
        await drive.all((self._document(drive, document) for document in self.documents), self._take)
        if drive.used_up is not None:
            self.unasked = (f"{drive.used_up}: not all documents were asked",)

    def missing(self, _: str | None) -> tuple[str, ...]:
        """Return what is missing because the budget was used up. Everything else that is missing is a problem of its document."""
        return self.unasked

    def _take(self, _: int, found: list[Sample | Problem]) -> None:
        samples = [item for item in found if isinstance(item, Sample)]
        problems = [item for item in found if isinstance(item, Problem)]
        self.samples.extend(samples)
        self.problems.extend(problems)
        self.keep(samples, len(problems))

    async def _document(self, drive: ProgramRunner, document: GivenDocument) -> list[Sample | Problem] | None:
        passages = chunks_of(document, self.size or len(document.text), self.options.chunk_overlap)
        if not passages:
            return [Problem(document.id, None, "the document has no text")]
        number = self.options.questions_per_document or PER_DOCUMENT
        parts = await all_of(self._passage(drive, *share) for share in shares(passages, number))
        found = [item for part in parts for item in part or ()]
        return None if None in parts else found

    async def _passage(self, drive: ProgramRunner, passage: Chunk, number: int) -> list[Sample | Problem] | None:
        reply = await drive.run(self.options.write.ask(document=passage.text, number_of_questions=number))
        if reply is None:
            return None
        if isinstance(reply, ModelError):
            return [Problem(passage.id, None, f"no questions were written: {in_one_line(reply)}")]
        questions = distinct(reply)[:number]
        ask = self.options.answer.ask
        answers = await all_of(drive.run(ask(document=passage.text, question=question)) for question in questions)
        too_few = f"{number} questions were asked for, {len(questions)} were written"
        results: list[Sample | Problem] = [Problem(passage.id, None, too_few)] if len(questions) < number else []
        for place, (question, answer) in enumerate(zip(questions, answers, strict=True), 1):
            if answer is None:
                return None
            if isinstance(answer, ModelError):
                results.append(Problem(passage.id, question, f"no answer: {in_one_line(answer)}"))
            elif not answer.answer.strip():
                results.append(Problem(passage.id, question, "the document does not answer it"))
            else:
                results.append(self._sample(passage, place, question, answer))
        return results

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
    """Spread ``number`` questions evenly over the passages; return each passage that gets questions, with its number of them."""
    if number < len(passages):
        return [(passages[turn * len(passages) // number], 1) for turn in range(number)]
    each, more = divmod(number, len(passages))
    return [(passage, each + (index < more)) for index, passage in enumerate(passages)]


def counts_of(total: int, shares: Mapping[str, float], rest: str) -> dict[str, int]:
    """Divide ``total`` by the shares, by largest remainder. The key ``rest`` gets what the shares leave.

    Raises:
        InvalidInput: the shares add up to more than 1.
    """
    exact = {name: Fraction(repr(float(share))) for name, share in shares.items()}
    rest_share = 1 - sum(exact.values())
    if rest_share < 0:
        raise InvalidInput(f"{' and '.join(shares)} must add up to at most 1, got {float(1 - rest_share):g}")
    quotas = {name: share * total for name, share in {rest: rest_share, **exact}.items()}
    counts = {name: int(quota) for name, quota in quotas.items()}
    remainders = sorted(quotas, key=lambda name: counts[name] - quotas[name])
    for name in remainders[: total - sum(counts.values())]:
        counts[name] += 1
    return counts


def in_turn(chunks: Sequence[Chunk], seed: object) -> list[Chunk]:
    """Return the chunks in the order of the visits. The documents take turns; the seed decides the order of the documents and of
    the chunks in each.
    """
    chance = random.Random(repr(seed))  # noqa: S311  not for secrets
    order = list(grouped((chunk.document, chunk) for chunk in chunks).values())
    chance.shuffle(order)
    for parts in order:
        chance.shuffle(parts)
    return [chunk for chunk in chain.from_iterable(zip_longest(*order)) if chunk is not None]


def related_pairs(order: Sequence[Chunk], index: PassageIndex, chunks: Sequence[Chunk]) -> list[tuple[Chunk, ...]]:
    """Return pairs of chunks that share distinctive words, each pair once.

    The pairs of every chunk with its best partner come first, then the pairs with the second best, and so on up to ``PARTNERS``.
    A chunk is never paired with itself or with the chunk next to it in the same document.

    Args:
        order: the chunks in the order in which they are given partners.
        index: an index of ``chunks``.
        chunks: all chunks.
    """
    rounds: list[list[tuple[Chunk, ...]]] = [[] for _ in range(PARTNERS)]
    for chunk in order:
        partners = index.nearest(chunk.text, PARTNERS, lambda other, chunk=chunk: _apart(chunk, chunks[other]))  # type: ignore[misc]
        for place, partner in enumerate(partners):
            rounds[place].append((chunk, chunks[partner]))
    # each pair once: at the place of its last occurrence, in the direction of its first
    return list({frozenset(chunk.id for chunk in pair): pair for pair in reversed([*chain(*rounds)])}.values())[::-1]


def _apart(one: Chunk, other: Chunk) -> bool:
    return one.document != other.document or abs(one.index - other.index) > 1


class KindRun:
    """The progress of one kind of questions.

    Args:
        kind: the kind.
        asked: the number of questions of this kind that were requested.
        passages: passages, or pairs of passages, in the order of their turns.

    Attributes:
        delivered: the number of questions that passed all checks.
        dropped: the questions that failed a check.
    """

    def __init__(self, kind: Kind, asked: int, passages: Iterable[tuple[Chunk, ...]]) -> None:
        self.kind = kind
        self.asked = asked
        self.delivered = 0
        self.dropped: list[Dropped] = []
        self._queue = deque(passages)
        self._known: dict[tuple[Chunk, ...], tuple[str, ...]] = {}
        self._tried = 0

    def next_visits(self) -> list[Visit]:
        """Return the visits of the next wave. Empty if no question is missing, the attempts are used up, or no passages are
        left.
        """
        wanted = min(self.asked - self.delivered, ATTEMPTS * self.asked - self._tried)
        each = min(MOST_PER_VISIT, -(-wanted // max(1, len(self._queue))))
        visits = []
        while wanted > 0 and self._queue:
            passages = self._queue.popleft()
            visits.append(Visit(passages, min(each, wanted), self._known.get(passages, ())))
            wanted -= visits[-1].wanted
            self._tried += visits[-1].wanted
        return visits

    def visited(self, visit: Visit, questions: Sequence[str]) -> None:
        """Record the questions that a visit gave. A passage that gave as many questions as requested is visited again after all
        others.
        """
        if len(questions) >= visit.wanted:
            self._known[visit.passages] = (*visit.known, *questions)
            self._queue.append(visit.passages)

    def drop(self, visit: Visit, question: str | None, why: Why, message: str) -> None:
        """Note a question that failed a check."""
        self.dropped.append(Dropped(" + ".join(passage.id for passage in visit.passages), question, message, why))

    def missing(self, stopped: str | None) -> str | None:
        """Say how many questions are missing and why. None if no question is missing.

        Args:
            stopped: why the run ended early; None if it was not ended early.
        """
        number = self.asked - self.delivered
        if number == 0:
            return None
        if stopped is None and self._tried == ATTEMPTS * self.asked:
            stopped = f"{ATTEMPTS} questions were tried for each that was asked for"
        elif stopped is None and self.kind.name == "two_passages" and not self._tried:
            stopped = "no two passages have enough in common"
        reasons = [count_reasons(item.why for item in self.dropped), stopped or "the documents have no other passages"]
        name = f"question{'' if self.asked == 1 else 's'}"
        names = {"unanswerable": f"unanswerable {name}", "two_passages": f"{name} over two passages"}
        are = "is" if number == 1 else "are"
        return f"{number} of {self.asked} {names.get(self.kind.name, name)} {are} missing: {'; '.join(filter(None, reasons))}"


class Collection:
    """A run that asks for a total number of questions.

    Args:
        documents: the documents to ask about.
        size: the largest number of characters of a passage.
        options: the arguments of ``generate_testset``.
        caveat: a warning about the model, for the metadata of every sample; None if there is none.
        keep: called with each question that passed.

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
        self._counted = 0  # the number of dropped questions that ``keep`` has counted
        order, counts = in_turn(self._chunks, options.seed), options.counts
        plain = OnePassage(options.write, options.answer)
        self._courses = [KindRun(plain, counts["one_passage"], [(chunk,) for chunk in order])]
        if number := counts["unanswerable"]:
            others = in_turn(self._chunks, (options.seed, "unanswerable"))
            kind = Unanswerable(self._nearest, options.refusal)
            self._courses.append(KindRun(kind, number, [(chunk,) for chunk in others]))
        if number := counts["two_passages"]:
            pairs = related_pairs(order[: ATTEMPTS * number], self._index, self._chunks)
            self._courses.append(KindRun(TwoPassages(plain.answer), number, pairs))

    def _cut(self, documents: Iterable[GivenDocument], size: int, overlap: int) -> list[Chunk]:
        """Cut the documents into passages, without passages of the same text."""
        distinct_chunks: dict[str, Chunk] = {}
        repeated: list[Problem] = []
        for document in documents:
            chunks = chunks_of(document, size, overlap)
            if not chunks:
                self.problems.append(Problem(document.id, None, "the document has no text"))
            for chunk in chunks:
                first = distinct_chunks.setdefault(plain_words(chunk.text), chunk)
                if first is not chunk:
                    repeated.append(Problem(chunk.id, None, f"left out: it has the same text as {first.id}"))
        self.problems += repeated
        return list(distinct_chunks.values())

    @cached_property
    def _index(self) -> PassageIndex:
        """The index of all passages. It is built on first use, because some kinds of questions do not need it."""
        return PassageIndex([chunk.text for chunk in self._chunks])

    def _nearest(self, question: str, own: Chunk) -> list[Chunk]:
        place = self._places[own]
        return [self._chunks[other] for other in self._index.nearest(question, LOOKED_AT, lambda other: other != place)]

    async def run(self, drive: ProgramRunner) -> None:
        """Ask and check, wave by wave, until all questions are there or no visits are left.

        Raises:
            RagmetricsError: an error that stops the run.
        """
        while planned := [(course, visit) for course in self._courses for visit in course.next_visits()]:
            replies: dict[int, Any] = {}
            await drive.all((drive.run(course.kind.write(visit)) for course, visit in planned), replies.__setitem__)
            candidates: list[tuple[KindRun, Visit, str]] = []
            for number, reply in replies.items():
                candidates += [(*planned[number], question) for question in self._keep_usable(*planned[number], reply)]
            if drive.used_up is not None:
                return
            checks = (drive.run(course.kind.check(visit, question)) for course, visit, question in candidates)
            await drive.all(checks, partial(self._take, candidates))
            if drive.used_up is not None:
                return

    def _keep_usable(self, course: KindRun, visit: Visit, written: Sequence[str] | ModelError) -> list[str]:
        """Drop questions that fail a check without a model. Return the other questions, at most as many as the visit requested."""
        failure = f"no questions were written: {in_one_line(written)}" if isinstance(written, ModelError) else None
        questions = [] if isinstance(written, ModelError) else written
        fresh = [question for question in questions if question not in visit.known]
        course.visited(visit, fresh)
        passed: list[str] = []
        for question in fresh:
            if len(passed) == visit.wanted:
                return passed
            words = leans_on_a_text(question)
            other = question if question in self._known else self._known.like(question)
            if words is not None:
                course.drop(visit, question, Why.LEANS, f"it refers to a text its reader lacks: {words!r}")
            elif other is not None:
                course.drop(visit, question, Why.REPEATED, f"it repeats {other!r}")
            else:
                passed.append(question)
                self._known.add(question)
        why = Why.FAILED if failure else Why.NOT_WRITTEN
        for _ in range(visit.wanted - max(len(passed), len(fresh))):
            course.drop(visit, None, why, failure or "fewer questions were written than asked for")
        return passed

    def _take(self, candidates: Sequence[tuple[KindRun, Visit, str]], number: int, found: Checked | ModelError) -> None:
        """Add a checked question if it passed; otherwise drop the question."""
        course, visit, question = candidates[number]
        if isinstance(found, ModelError):
            found = Rejected(Why.FAILED, in_one_line(found))
        elif isinstance(found, Passed) and (other := self._known.like(question, found.fact)) is not None:
            found = Rejected(Why.REPEATED, f"it asks for the same as {other!r}")
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
            reference_contexts=visit.texts if found.fact else None,  # an unanswerable question has no contexts to find
            reference_documents=[passage.to_document() for passage in visit.passages] if found.fact else None,
            id=f"{visit.place}-{self._numbers[visit.place]}",
            metadata=metadata,
        )

    @property
    def samples(self) -> list[Sample]:
        """The finished questions, in the order of the passages."""
        return [sample for _, sample in sorted(self._samples, key=lambda item: item[0])]

    @property
    def dropped(self) -> list[Dropped]:
        """The questions that failed a check."""
        return [item for course in self._courses for item in course.dropped]

    def missing(self, stopped: str | None) -> list[str]:
        """Say what is missing of each kind of questions, and why.

        Args:
            stopped: why the run ended early; None if it was not ended early.
        """
        return [text for course in self._courses if (text := course.missing(stopped)) is not None]
