"""``generate_testset`` and ``agenerate_testset`` write a ``Testset`` from documents.

Both functions run the same code, as with ``evaluate``. The number of questions can be given per document or in total (``n``);
``_collect`` describes both.

A ``run_dir`` contains the journal of ``evaluate`` and the questions in ``testset.jsonl``. Only the journal is needed to continue
a run: the questions are made again from its replies without new calls. ``testset.jsonl`` is for the user; it contains the whole
test set when the run is over. Questions of another test set are not overwritten: their file is renamed to ``testset.1.jsonl``.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from .._engine._budget import Budget
from .._engine._questions import Answers
from .._engine._traffic import Traffic
from .._kernel._model_traits import ModelTraits, prepared
from .._kernel._prompt import Prompt
from .._lexical._judge import LexicalJudge
from .._names._named import llm_named
from .._show._progress import Bar, Progress, check_progress, progress_bar, watching
from .._store._files import explain_errors, free_name, replace_file
from .._store._journal import Journal
from .._store._lock import only_writer
from .._store._prices import ModelUsage, Prices
from .._store._run_dir import JOURNAL
from .._support._blocking import run_blocking
from .._support._signatures import with_arguments_of
from .._values._errors import InvalidInput, RagmetricsError, Setting
from .._values._requests import AnyLLM
from .._values._sample import Document, Sample
from .._values._settings import check_calls, check_run_dir, check_whole
from ._chunks import CHUNK_OVERLAP, CHUNK_SIZE, check_sizes
from ._collect import Collection, PerDocument, ProgramRunner, counts_of
from ._documents import documents_of
from ._kinds import ANSWER_FROM_DOCUMENT, NO_ANSWER, WRITE_QUESTIONS
from ._testset import NO_USAGE, Testset, line_of

QUESTIONS = "testset.jsonl"

SHARES = ("unanswerable", "two_passages")


class KeptQuestions:
    """The files that a run keeps in its directory.

    Args:
        path: the directory; it is created when there is something to keep.

    Attributes:
        journal: the replies.

    Raises:
        InvalidInput: the path cannot be a directory, or its journal is a file of another kind.
    """

    def __init__(self, path: Path) -> None:
        self.journal = Journal(path / JOURNAL)
        self._file = path / QUESTIONS
        with explain_errors(self._file):
            found = self._file.read_bytes().decode("utf-8", "replace") if self._file.is_file() else ""
        self._there = {f"{line}\n" for line in found.split("\n")[:-1]}
        self._is_torn = not found.endswith("\n")  # the process was killed while it wrote a line
        self._is_new = True

    def add(self, sample: Sample) -> None:
        """Write a question unless it is already in the file.

        Raises:
            RagmetricsError: the question cannot be written.
        """
        line = line_of(sample)
        if self._is_new and (self._is_torn or line not in self._there):
            self._set_aside()
        self._is_new = False
        if line not in self._there:
            with explain_errors(self._file), self._file.open("a", encoding="utf-8", newline="\n") as file:
                file.write(line)

    def finish(self, samples: Iterable[Sample]) -> None:
        """Write all questions in their order, at the end of the run.

        Raises:
            RagmetricsError: the questions cannot be written.
        """
        lines = list(map(line_of, samples))
        if not lines:
            return
        if not self._there <= set(lines):
            self._set_aside()
        with replace_file(self._file) as file:
            file.writelines(line.encode() for line in lines)

    def _set_aside(self) -> None:
        """Rename the file, which belongs to another test set."""
        if self._file.is_file():
            with explain_errors(self._file):
                self._file.rename(free_name(self._file))
        self._there = set()


def checked_options(given: Mapping[str, Any]) -> SimpleNamespace:
    """Check the arguments of ``generate_testset`` other than documents and model, and return them with the number of questions
    of each kind.

    Raises:
        InvalidInput: an argument has a value that is not allowed.
    """
    options = SimpleNamespace(**given)
    for name in ("questions_per_document", "n"):
        if given[name] is not None:
            check_whole(name, given[name], least=1)
    check_calls(options.max_concurrency, options.max_retries, options.timeout)
    check_whole("seed", options.seed)
    check_run_dir(options.run_dir)
    check_progress(options.progress)
    check_sizes(CHUNK_SIZE if options.chunk_size is None else options.chunk_size, options.chunk_overlap)
    for name in SHARES:
        check_share(name, given[name], options.n)
    if not isinstance(options.refusal, str) or not options.refusal.strip():
        raise InvalidInput(Setting("refusal"), f" must be a text that is not blank, got {options.refusal!r}")
    for name in ("write", "answer"):
        if not isinstance(given[name], Prompt):
            raise InvalidInput(f"{name} must be a Prompt, got {type(given[name]).__name__}")
    if options.n is not None and options.questions_per_document is not None:
        raise InvalidInput("give either n, the number of all questions, or questions_per_document, not both")
    options.counts = counts_of(options.n or 0, {name: given[name] for name in SHARES}, "one_passage")
    return options


def check_share(name: str, share: object, n: int | None) -> None:
    """Check a share of the ``n`` questions.

    Raises:
        InvalidInput: the share is not a number from 0 to 1, or the share is not 0 and ``n`` is None.
    """
    if isinstance(share, bool) or not isinstance(share, int | float) or not 0 <= share <= 1:
        raise InvalidInput(Setting(name), f" must be a share from 0 to 1, got {share!r}")
    if share and n is None:
        raise InvalidInput(Setting(name), " is a share of all questions: also give n, the number of all questions")


class Generation:
    """One run with the arguments of ``generate_testset``.

    Raises:
        InvalidInput: an argument or a file cannot be used.
    """

    def __init__(self, documents: Any, llm: Any, **given: Any) -> None:
        options = self._options = checked_options(given)
        if llm is None:
            raise InvalidInput("generate_testset needs a model: give llm=...")
        llm = llm_named(llm)
        if isinstance(llm, LexicalJudge) and (options.unanswerable or options.two_passages):
            need = " need a language model: LexicalJudge only writes questions with a blank to fill in"
            raise InvalidInput(Setting("unanswerable"), " and ", Setting("two_passages"), need)
        prices = Prices()
        self._budget = Budget(options.budget, prices)
        if "dollars" in self._budget.limits:
            prices.check(llm, local=False)
        self._llm = prepared(llm, 1)
        read, self._skipped = documents_of(documents)
        size = options.chunk_size or CHUNK_SIZE
        caveat = ModelTraits.of(self._llm).testset_caveat
        self._questions: PerDocument | Collection
        if options.n is not None:
            self._questions = Collection(read, size, options, caveat, self._keep)
        else:  # documents that are not files may already be passages
            are_files = isinstance(documents, os.PathLike)
            most = size if options.chunk_size or are_files else None
            self._questions = PerDocument(read, most, options, caveat, self._keep)
        self._answers: Answers | None = None
        self._kept: KeptQuestions | None = None
        self._stopped: str | None = None
        self._bar = Bar()

    def block(self) -> Testset:
        """Run to the end from synchronous code."""
        try:
            return run_blocking(self.execute)
        except BaseException as error:
            # Ctrl-C may raise an error that does not pass through execute()
            vars(error).setdefault("partial", self.result())
            raise

    async def execute(self) -> Testset:
        """Run to the end. An error that stops the run, or a cancellation, has the questions finished so far as its ``partial``."""
        directory = self._options.run_dir
        with only_writer(None if directory is None else Path(directory)):
            return await self._execute()

    async def _execute(self) -> Testset:
        options = self._options
        if options.run_dir is not None:
            self._kept = KeptQuestions(Path(options.run_dir))
        journal = None if self._kept is None else self._kept.journal
        traffic = Traffic(options.max_concurrency, options.timeout)
        answers = self._answers = Answers(traffic, options.max_retries, self._budget, journal)
        try:
            with self._progress_bar() as self._bar:
                async with watching(self._bar, answers.waiting):
                    await self._questions.run(ProgramRunner(self._llm, options.max_concurrency, answers))
            self._stopped = self._budget.used_up
            if self._kept is not None:
                self._kept.finish(self.result())
        except BaseException as error:
            self._stopped = str(error) if isinstance(error, RagmetricsError) else "the run was stopped"
            vars(error)["partial"] = self.result()
            raise
        finally:
            if journal is not None:
                journal.close()
        return self.result()

    def _progress_bar(self) -> AbstractContextManager[Bar]:
        options, questions = self._options, self._questions
        if isinstance(questions, PerDocument):
            return progress_bar(options.progress, lambda: len(questions.documents), "generate", "documents")
        return progress_bar(options.progress, lambda: options.n, "generate", "questions", "dropped")

    def _keep(self, samples: Iterable[Sample], failed: int) -> None:
        assert self._answers is not None
        if self._kept is not None:
            for sample in samples:
                self._kept.add(sample)
        self._bar.advance(failed, self._answers.usage)

    def result(self) -> Testset:
        """Return what is finished so far, in the order of the documents."""
        questions, answers = self._questions, self._answers
        missing = questions.missing(self._stopped)
        callers = answers.callers if answers else ()
        return Testset(
            tuple(questions.samples),
            problems=tuple(questions.problems),
            usage=answers.usage() if answers else NO_USAGE,
            asked=self._options.n,
            missing=tuple(missing),
            dropped=tuple(questions.dropped),
            models=tuple(ModelUsage.of(item.model, item.usage, item.repeated) for item in callers),
            skipped=tuple(self._skipped),
            stopped=self._budget.used_up if missing else None,
        )


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

    The ``Testset`` has one sample per question, in document order. It lists what is missing and which files were skipped.

    Args:
        documents: texts, mappings with ``content``, documents of any framework; or the ``Path`` of a folder, document or row file.
        llm: the model that writes the questions and the answers, or its name as ``evaluate`` takes it.
        questions_per_document: the most questions per document (10 if ``n`` is not given either); they are not checked.
        n: the total number of questions, each about a passage; they are checked, and replaced if they fail.
        unanswerable: the share of the ``n`` questions that no passage answers, 0 to 1.
        two_passages: the share of the ``n`` questions that need two passages, 0 to 1.
        refusal: the reference of unanswerable questions, in the words and language of your system; not blank.
        seed: the same seed chooses the same passages.
        chunk_size: the most characters of a passage (1,000); without it and ``n``, documents that are not files stay whole.
        chunk_overlap: the most characters that a passage repeats from the previous one.
        run_dir: a directory for replies and questions; the same call with this directory continues a stopped run.
        max_concurrency: the most calls in flight.
        budget: the most ``"calls"``, ``"tokens"`` or ``"dollars"`` to spend; if it ends the run, ``stopped`` says so.
        timeout: seconds for one attempt of a call.
        max_retries: how often a failed call is made again.
        progress: whether to show a progress bar in a terminal or a notebook; "always" shows it everywhere.
        write: a prompt that gets ``document``, ``number_of_questions`` and maybe ``already_asked``; it returns a list of texts.
        answer: a prompt that gets ``document`` and ``question``; it returns an object with ``evidence`` and ``answer``.

    Raises:
        InvalidInput: arguments or files cannot be used; raised before the first call.
        ModelError: a model fails so that every further call would fail too; ``error.partial`` is the ``Testset`` so far.
    """
    return Generation(**locals()).block()


@with_arguments_of(generate_testset)
async def agenerate_testset(**arguments: Any) -> Testset:
    """Write questions as ``generate_testset`` does, without blocking the running event loop.

    Arguments, result and errors are the same as for ``generate_testset``.
    """
    return await Generation(**arguments).execute()
