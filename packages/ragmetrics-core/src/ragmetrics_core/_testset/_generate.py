"""``generate_testset`` and ``agenerate_testset``: documents in, a ``Testset`` out.

Sync and async are the same run, as with ``evaluate``. There are two ways to say how many questions there are to be. A number per
document is what the function has always taken: each document is asked for as many, and each question that it answers is taken. A
number in total (``n``) is what a test set needs: see ``_collect``.

With a ``run_dir`` there are the journal of ``evaluate`` and, beside it, the questions as they come. Only the journal is needed to
go on: a question whose replies are all there is made again within a millisecond. ``testset.jsonl`` is there to be looked at, and
holds the whole test set when the run is over. Questions of another test set are not written over: their file is set aside as
``testset.1.jsonl``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .._engine import Budget, Rules
from .._kernel._model_traits import ModelTraits
from .._kernel._prompt import Prompt
from .._lexical._judge import LexicalJudge
from .._names._named import llm_named
from .._show._progress import Bar, Progress, check_progress, progress_bar, watching
from .._store._files import check_directory, explain_errors, free_name, make_directory, replace_file
from .._store._journal import Journal
from .._store._prices import ModelUsage, Prices
from .._store._run_dir import JOURNAL
from .._support._blocking import run_blocking
from .._values._errors import InvalidInput, RagmetricsError, Setting
from .._values._requests import AnyLLM
from .._values._sample import Document, Sample
from .._values._settings import check_run_dir, check_seconds, check_whole
from ._chunks import CHUNK_OVERLAP, CHUNK_SIZE, Chunk, check_sizes, chunks_of
from ._collect import Collection, Drive, counts_of
from ._documents import documents_of
from ._kinds import NO_ANSWER, OnePassage
from ._program import ANSWER_FROM_DOCUMENT, WRITE_QUESTIONS, Part, Questioning
from ._testset import NO_USAGE, Dropped, Problem, Testset, line_of

QUESTIONS = "testset.jsonl"


class KeptQuestions:
    """What a run keeps on disk.

    Args:
        path: the directory; made when there is something to keep.

    Attributes:
        journal: the replies.

    Raises:
        InvalidInput: the path cannot be a directory, or the journal in it is something else.
    """

    def __init__(self, path: Path) -> None:
        check_directory(path)
        self.journal = Journal(path / JOURNAL)
        self._file = path / QUESTIONS
        self._there = self._read()
        self._added: set[str] = set()

    def _read(self) -> set[str]:
        """The lines that are there; the last one may be torn."""
        if not self._file.is_file():
            return set()
        with explain_errors(self._file):
            text = self._file.read_bytes().decode("utf-8", "replace")
        return {f"{line}\n" for line in text.split("\n")[:-1]} | {text.split("\n")[-1]} - {""}

    def add(self, sample: Sample) -> None:
        """Write a question, unless it is there.

        Raises:
            RagmetricsError: it cannot be written.
        """
        line = line_of(sample)
        if not self._added and self._is_of_another(line):
            self._set_aside()
        self._added.add(line)
        if line in self._there:
            return
        make_directory(self._file.parent)
        with explain_errors(self._file), self._file.open("a", encoding="utf-8", newline="\n") as file:
            file.write(line)

    def finish(self, samples: Iterable[Sample]) -> None:
        """The run is over: write the questions in their order.

        Raises:
            RagmetricsError: they cannot be written.
        """
        lines = [line_of(sample) for sample in samples]
        if not lines:
            return
        if not self._there <= set(lines):
            self._set_aside()
        with replace_file(self._file) as file:
            file.writelines(line.encode() for line in lines)

    def close(self) -> None:
        """Nothing more will be kept."""
        self.journal.close()

    def _is_of_another(self, line: str) -> bool:
        """Whether the file holds questions, and not this first one among them, or a line that is torn."""
        return bool(self._there) and (line not in self._there or any(not known.endswith("\n") for known in self._there))

    def _set_aside(self) -> None:
        with explain_errors(self._file):
            self._file.rename(free_name(self._file))
        self._there = set()


PER_DOCUMENT = 10
"""Questions per document where neither number is given."""


@dataclass(frozen=True)
class Options:
    """The arguments of ``generate_testset`` other than documents and model; it says what each of them means.

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
            share = getattr(self, name)
            if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
                raise InvalidInput(Setting(name), f" must be a share from 0 to 1, got {share!r}")
        if not isinstance(self.refusal, str) or not self.refusal.strip():
            raise InvalidInput(Setting("refusal"), f" must be a text that is not blank, got {self.refusal!r}")
        for name in ("write", "answer"):
            if not isinstance(getattr(self, name), Prompt):
                raise InvalidInput(f"{name} must be a Prompt, got {type(getattr(self, name)).__name__}")
        self._check_numbers()

    def _check_numbers(self) -> None:
        if self.n is None:
            for name in ("unanswerable", "two_passages"):
                if getattr(self, name):
                    raise InvalidInput(Setting(name), " is a share of all questions: give n, their number, too")
            return
        if self.questions_per_document is not None:
            raise InvalidInput("give n, the number of all questions, or questions_per_document, and not both")
        self.counts()

    @property
    def passage_size(self) -> int:
        """Most characters of a passage, where documents become passages."""
        return CHUNK_SIZE if self.chunk_size is None else self.chunk_size

    def counts(self) -> dict[str, int]:
        """How many questions of each kind there are to be, where there is a number of all questions."""
        shares = {"unanswerable": self.unanswerable, "two_passages": self.two_passages}
        return counts_of(self.n or 0, shares, "one_passage")


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
                Setting("unanswerable"),
                " and ",
                Setting("two_passages"),
                " need a language model: LexicalJudge only leaves blanks",
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
        self._collection = Collection(
            chunks, plain, self._keep, counts=options.counts(), refusal=options.refusal, seed=options.seed
        )
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
        missing: list[str] = []
        dropped: list[Dropped] = []
        if self._collection is not None:
            samples, dropped = self._collection.samples, self._collection.dropped
            problems = [*self._blank, *self._collection.problems]
            missing = self._collection.missing(self._stopped)
        elif self._budget.used_up is not None:
            missing = [f"{self._budget.used_up}: not all documents were asked"]
        answers = self._drive.answers if self._drive else None
        callers = answers.callers if answers else ()
        return Testset(
            tuple(samples),
            problems=tuple(problems),
            usage=answers.usage() if answers else NO_USAGE,
            asked=self._options.n,
            missing=tuple(missing),
            dropped=tuple(dropped),
            models=tuple(ModelUsage.of(item.model, item.usage, item.repeated) for item in callers),
            skipped=tuple(self._skipped),
            stopped=self._budget.used_up if missing else None,
        )


if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    Documents = os.PathLike[str] | Iterable[str | Document | Mapping[str, Any]]


def generate_testset(
    documents: Documents,
    llm: AnyLLM | str,
    questions_per_document: int | None = None,
    *,
    n: int | None = None,
    unanswerable: float = 0.0,
    two_passages: float = 0.0,
    refusal: str = NO_ANSWER,
    seed: int = 0,
    chunk_size: int | None = None,
    chunk_overlap: int = CHUNK_OVERLAP,
    run_dir: str | os.PathLike[str] | None = None,
    max_concurrency: int = 16,
    budget: Mapping[str, float] | None = None,
    timeout: float | None = None,
    max_retries: int = 5,
    progress: Progress = True,
    write: Prompt[Any] = WRITE_QUESTIONS,
    answer: Prompt[Any] = ANSWER_FROM_DOCUMENT,
) -> Testset:
    """Write questions with reference answers from documents; works in plain scripts and inside a running event loop.

    The ``Testset`` has a sample per question, in the order of the documents; what is not there, or was not read, it names.

    Args:
        documents: texts, mappings with ``content``, documents of any framework; or the ``Path`` of a folder, a file or rows.
        llm: writes the questions and the answers; a model, or its name as ``evaluate`` takes it.
        questions_per_document: most questions per document (10, if ``n`` is not given either); they are not checked.
        n: how many questions there are to be in total, each about a passage; they are checked, and replaced where they fail.
        unanswerable: share of the ``n`` questions that no passage answers, 0 to 1.
        two_passages: share of them that need two passages.
        refusal: the reference of a question that no passage answers, in the words or the language of your system; not blank.
        seed: the same seed chooses the same passages.
        chunk_size: most characters of a passage (1,000); without it and ``n``, what does not come from files stays whole.
        chunk_overlap: most characters that a passage repeats of the one before.
        run_dir: a directory that keeps replies and questions; the same call goes on there where a stopped one ended.
        max_concurrency: most calls in flight.
        budget: most ``"calls"``, ``"tokens"`` or ``"dollars"`` to spend; where it ends the run, ``stopped`` says so.
        timeout: seconds for one attempt of a call.
        max_retries: how often a call that was lost is made again.
        progress: a progress bar in a terminal or a notebook; "always" shows it anyway.
        write: asked with ``document``, ``number_of_questions`` and perhaps ``already_asked``; its reply is a list of texts.
        answer: asked with ``document`` and ``question``; its reply is an object with ``evidence`` and ``answer``.

    Raises:
        InvalidInput: arguments or files cannot be used; raised before the first call.
        ModelError: a model refuses in a way that every further call would meet; ``error.partial`` is the ``Testset`` until then.
    """
    return Generation(documents, llm, Options.of(locals())).block()


async def agenerate_testset(
    documents: Documents,
    llm: AnyLLM | str,
    questions_per_document: int | None = None,
    *,
    n: int | None = None,
    unanswerable: float = 0.0,
    two_passages: float = 0.0,
    refusal: str = NO_ANSWER,
    seed: int = 0,
    chunk_size: int | None = None,
    chunk_overlap: int = CHUNK_OVERLAP,
    run_dir: str | os.PathLike[str] | None = None,
    max_concurrency: int = 16,
    budget: Mapping[str, float] | None = None,
    timeout: float | None = None,
    max_retries: int = 5,
    progress: Progress = True,
    write: Prompt[Any] = WRITE_QUESTIONS,
    answer: Prompt[Any] = ANSWER_FROM_DOCUMENT,
) -> Testset:
    """The same without blocking the running loop; arguments, result and errors as in ``generate_testset``."""
    return await Generation(documents, llm, Options.of(locals())).execute()
