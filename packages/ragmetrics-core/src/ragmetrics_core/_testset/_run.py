"""One run that writes a test set: its arguments, checked; its parts, joined; what it has finished, kept.

There are two ways to say how many questions there are to be. A number per document is what the function has always taken: each
document is asked for as many, and each question that it answers is taken. A number in total (``n``) is what a test set needs: see
``_collect``. Both go over the same engine (``_drive``), and into the same journal (``_kept``).
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any

from .._engine import Budget, Rules
from .._kernel._errors import InvalidInput, RagmetricsError
from .._kernel._model_traits import ModelTraits
from .._kernel._prompt import Prompt
from .._kernel._sample import Sample
from .._kernel._settings import check_run_dir, check_seconds, check_whole
from .._lexical._judge import LexicalJudge
from .._names._models import llm_named
from .._report._progress import Bar, Progress, check_progress, progress_bar, watching
from .._store._prices import ModelUsage, Prices
from .._support._blocking import run_blocking
from ._chunks import CHUNK_SIZE, Chunk, check_sizes, chunks_of
from ._collect import Collection, Wanted
from ._documents import documents_of
from ._drive import Drive
from ._kept import KeptQuestions
from ._kinds import OnePassage
from ._plan import check_share
from ._program import Part, Questioning
from ._values import NO_USAGE, Dropped, Problem, Testset

PER_DOCUMENT = 10
"""Questions per document where neither number is given."""


@dataclass(frozen=True)
class Options:
    """The arguments of ``generate_testset`` besides documents and model; it says what each of them means.

    Raises:
        InvalidInput: one of them may not have this value.
    """

    questions_per_document: int | None
    n: int | None
    unanswerable: float
    two_passages: float
    refusal: str
    seed: int
    chunk_size: int | None
    chunk_overlap: int
    run_dir: str | os.PathLike[str] | None
    max_concurrency: int
    budget: Mapping[str, float] | None
    timeout: float | None
    max_retries: int
    progress: Progress
    write: Prompt[Any]
    answer: Prompt[Any]

    @classmethod
    def of(cls, arguments: Mapping[str, Any]) -> Options:
        """The options among all arguments, by name."""
        return cls(**{item.name: arguments[item.name] for item in fields(cls)})

    def __post_init__(self) -> None:
        for name in ("questions_per_document", "n"):
            if getattr(self, name) is not None:
                check_whole(name, getattr(self, name), least=1)
        check_whole("max_concurrency", self.max_concurrency, least=1)
        check_whole("max_retries", self.max_retries, least=0)
        check_whole("seed", self.seed)
        check_seconds("timeout", self.timeout)
        check_run_dir(self.run_dir)
        check_progress(self.progress)
        check_sizes(self.passage_size, self.chunk_overlap)
        for name in ("unanswerable", "two_passages"):
            check_share(name, getattr(self, name))
        if not isinstance(self.refusal, str) or not self.refusal.strip():
            raise InvalidInput(f"refusal must be a text that is not blank, got {self.refusal!r}")
        for name in ("write", "answer"):
            if not isinstance(getattr(self, name), Prompt):
                raise InvalidInput(f"{name} must be a Prompt, got {type(getattr(self, name)).__name__}")
        self._check_numbers()

    def _check_numbers(self) -> None:
        if self.n is None:
            for name in ("unanswerable", "two_passages"):
                if getattr(self, name):
                    raise InvalidInput(f"{name} is a share of all questions: give n, their number, too")
            return
        if self.questions_per_document is not None:
            raise InvalidInput("give n, the number of all questions, or questions_per_document, and not both")
        self.wanted.counts()

    @property
    def passage_size(self) -> int:
        """Most characters of a passage, where documents become passages."""
        return CHUNK_SIZE if self.chunk_size is None else self.chunk_size

    @property
    def wanted(self) -> Wanted:
        """What is asked for, where there is a number of all questions."""
        assert self.n is not None
        return Wanted(self.n, self.unanswerable, self.two_passages, self.seed, self.refusal)


class Generation:
    """One run.

    Args:
        documents: in any form that ``generate_testset`` takes.
        llm: writes and answers.
        options: how it goes.

    Raises:
        InvalidInput: an argument or a file cannot be used.
    """

    def __init__(self, documents: Any, llm: Any, options: Options) -> None:
        if llm is None:
            raise InvalidInput("generate_testset needs a model: give llm=...")
        self._llm = llm_named(llm)
        if isinstance(self._llm, LexicalJudge) and (options.unanswerable or options.two_passages):
            raise InvalidInput(
                "unanswerable and two_passages need a language model: LexicalJudge can only leave parts of sentences blank"
            )
        self._options = options
        self._caveat = ModelTraits.of(self._llm).testset_caveat
        prices = Prices()
        self._budget = Budget(options.budget, prices)
        if "dollars" in self._budget.limits:
            prices.check(self._llm, local=False)
        self._documents, self._skipped = documents_of(documents)
        self._from_files = isinstance(documents, os.PathLike)  # what is given one by one may be passages already
        self._drive: Drive | None = None
        self._parts: dict[int, Part] = {}
        self._collection: Collection | None = None
        self._blank: list[Problem] = []
        self._kept: KeptQuestions | None = None
        self._stopped: str | None = None
        self._bar = Bar()
        self._dropped = 0

    def block(self) -> Testset:
        """Run to the end from synchronous code."""
        try:
            return run_blocking(self.execute)
        except BaseException as error:
            # Ctrl-C may arrive as an error that execute() has never seen
            vars(error).setdefault("partial", self.result())
            raise

    async def execute(self) -> Testset:
        """Run to the end; an error that stops the run, or a cancellation, carries what was finished as its ``partial``."""
        options = self._options
        if options.run_dir is not None:
            self._kept = KeptQuestions(Path(options.run_dir))
        rules = Rules(options.timeout, options.max_retries)
        journal = None if self._kept is None else self._kept.journal
        drive = self._drive = Drive(self._llm, options.max_concurrency, rules, self._budget, journal)
        try:
            with self._progress_bar() as self._bar:
                async with watching(self._bar, drive.answers.waiting):
                    await (self._per_document(drive) if options.n is None else self._in_total(drive))
            self._stopped = self._budget.used_up
            if self._kept is not None:
                self._kept.finish(self.result())
        except BaseException as error:
            self._stopped = str(error) if isinstance(error, RagmetricsError) else "the run was stopped"
            vars(error)["partial"] = self.result()
            raise
        finally:
            drive.close()
            if self._kept is not None:
                self._kept.close()
        return self.result()

    async def _per_document(self, drive: Drive) -> None:
        options = self._options
        number = options.questions_per_document or PER_DOCUMENT
        size = options.passage_size if self._from_files else options.chunk_size
        questioning = Questioning(number, options.write, options.answer, self._caveat, size, options.chunk_overlap)

        def finished(index: int, part: Part) -> None:
            self._parts[index] = part
            for sample in part.samples:
                self._keep(sample)
            self._advance(len(part.problems))

        await drive.all((questioning.program(document) for document in self._documents), finished)

    async def _in_total(self, drive: Drive) -> None:
        options = self._options
        chunks: list[Chunk] = []
        for document in self._documents:
            found = chunks_of(document, options.passage_size, options.chunk_overlap)
            if not found:
                self._blank.append(Problem(document.id, None, "the document has no text"))
            chunks += found
        plain = OnePassage(options.write, options.answer, self._caveat)
        self._collection = Collection(chunks, options.wanted, plain, self._keep)
        await self._collection.run(drive)

    def _progress_bar(self) -> AbstractContextManager[Bar]:
        options = self._options
        if options.n is None:
            return progress_bar(options.progress, lambda: len(self._documents), "generate", "documents")
        return progress_bar(options.progress, lambda: options.n, "generate", "questions", "dropped")

    def _keep(self, sample: Sample) -> None:
        if self._kept is not None:
            self._kept.add(sample)
        if self._collection is not None:
            dropped = len(self._collection.dropped)
            self._advance(dropped - self._dropped)
            self._dropped = dropped

    def _advance(self, failed: int) -> None:
        if self._drive is not None:
            self._bar.advance(failed, self._drive.answers.usage)

    def result(self) -> Testset:
        """What is finished by now, in the order of the documents."""
        parts = [self._parts[index] for index in sorted(self._parts)]
        samples = [sample for part in parts for sample in part.samples]
        problems = [problem for part in parts for problem in part.problems]
        if self._collection is None:
            stopped = self._budget.used_up
            missing = [] if stopped is None else [f"{stopped}: not all documents were asked"]
            return self._testset(samples, problems, missing, ())
        made = self._collection
        return self._testset(
            made.samples, [*problems, *self._blank, *made.problems], made.missing(self._stopped), made.dropped
        )

    def _testset(
        self, samples: Sequence[Sample], problems: Sequence[Problem], missing: Sequence[str], dropped: Sequence[Dropped]
    ) -> Testset:
        answers = self._drive.answers if self._drive else None
        return Testset(
            tuple(samples),
            problems=tuple(problems),
            usage=answers.usage() if answers else NO_USAGE,
            asked=self._options.n,
            missing=tuple(missing),
            dropped=tuple(dropped),
            models=tuple(ModelUsage.of(item.model, item.usage, item.repeated) for item in answers.callers)
            if answers
            else (),
            skipped=tuple(self._skipped),
            stopped=self._budget.used_up if missing else None,
        )
