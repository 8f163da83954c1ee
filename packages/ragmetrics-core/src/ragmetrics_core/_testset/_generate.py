"""``generate_testset`` and ``agenerate_testset``: documents in, a ``Testset`` out.

As many documents are worked on side by side as calls may be in flight, each by one worker; a gate that all calls pass holds the
limit, since one document asks several questions at once. Sync and async are the same run, as with ``evaluate``.
"""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from .._kernel._drive import Call, Models
from .._kernel._errors import InvalidInput
from .._kernel._model_traits import ModelTraits
from .._kernel._prompt import Prompt
from .._kernel._protocols import AnyLLM
from .._kernel._sample import Document
from .._kernel._steps import Outcome, next_round
from .._kernel._whole import check_whole
from .._names._models import llm_named
from .._support._blocking import run_blocking
from .._support._tasks import all_of
from ._documents import GivenDocument, documents_of
from ._program import ANSWER_FROM_DOCUMENT, WRITE_QUESTIONS, Part, Questioning
from ._values import NO_USAGE, Problem, Testset

if TYPE_CHECKING:
    import os
    from collections.abc import Mapping

    Documents = os.PathLike[str] | Iterable[str | Document | Mapping[str, Any]]

__all__ = ["agenerate_testset", "generate_testset"]


def generate_testset(
    documents: Documents,
    llm: AnyLLM | str,
    questions_per_document: int = 10,
    *,
    max_concurrency: int = 16,
    write: Prompt[Any] = WRITE_QUESTIONS,
    answer: Prompt[Any] = ANSWER_FROM_DOCUMENT,
) -> Testset:
    """Write questions with reference answers from documents; works in plain scripts and inside a running event loop.

    Per document one call writes the questions, then one call per question answers it from that document alone. A document is
    sent whole with every call, so split long ones before.

    Args:
        documents: texts, ``Document``s or mappings with ``content`` (and ``id``); or the ``Path`` of a folder of text files, of
            one text file, or of a .jsonl, .json, .csv or .parquet file with a column ``content``.
        llm: writes the questions and the answers; a model, or its name as ``evaluate`` takes it.
        questions_per_document: most questions per document.
        max_concurrency: most calls in flight at any time.
        write: asked with ``document`` and ``number_of_questions``; its reply is a list of texts.
        answer: asked with ``document`` and ``question``; its reply is an object with ``evidence`` and ``answer``.

    Returns:
        A ``Testset``: a sample per answered question, in the order of the documents, and ``problems``: every document and
        question that failed, and every file of a folder that was skipped. Nothing is left out without being named there.

    Raises:
        InvalidInput: the arguments or the files cannot be used; raised before the first call.
        ModelError: a model refuses in a way that every further call would meet (key, unknown model).

    Whatever stops it carries what was finished until then: ``error.partial`` is a ``Testset``.
    """
    return Generation(documents, llm, questions_per_document, max_concurrency, write, answer).block()


async def agenerate_testset(
    documents: Documents,
    llm: AnyLLM | str,
    questions_per_document: int = 10,
    *,
    max_concurrency: int = 16,
    write: Prompt[Any] = WRITE_QUESTIONS,
    answer: Prompt[Any] = ANSWER_FROM_DOCUMENT,
) -> Testset:
    """The same without blocking the running loop; arguments, result and errors as in ``generate_testset``."""
    return await Generation(documents, llm, questions_per_document, max_concurrency, write, answer).execute()


class Generation:
    """One run: its arguments, checked, and what it has finished so far."""

    def __init__(  # noqa: PLR0917  called twice, right above
        self,
        documents: Any,
        llm: Any,
        number: int,
        max_concurrency: int,
        write: Prompt[Any],
        answer: Prompt[Any],
    ) -> None:
        for name, value in (("questions_per_document", number), ("max_concurrency", max_concurrency)):
            check_whole(name, value, least=1)
        for name, prompt in (("write", write), ("answer", answer)):
            if not isinstance(prompt, Prompt):
                raise InvalidInput(f"{name} must be a Prompt, got {type(prompt).__name__}")
        if llm is None:
            raise InvalidInput("generate_testset needs a model: give llm=...")
        llm = llm_named(llm)
        self._models = Models(llm, metric="generate_testset")
        self._questioning = Questioning(number, write, answer, ModelTraits.of(llm).testset_caveat)
        self._documents, skipped = documents_of(documents)
        self._skipped = tuple(Problem(item.files, None, item.why) for item in skipped)
        self._most = max_concurrency
        self._parts: dict[int, Part] = {}
        self._usage = NO_USAGE

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
        gate = asyncio.Semaphore(self._most)
        queue = iter(enumerate(self._documents))
        try:
            await all_of(self._work(queue, gate) for _ in range(min(self._most, len(self._documents))))
        except BaseException as error:
            vars(error)["partial"] = self.result()
            raise
        return self.result()

    def result(self) -> Testset:
        """What is finished by now, in the order of the documents."""
        parts = [self._parts[index] for index in sorted(self._parts)]
        return Testset(
            tuple(sample for part in parts for sample in part.samples),
            self._skipped + tuple(problem for part in parts for problem in part.problems),
            self._usage,
        )

    async def _work(self, queue: Iterator[tuple[int, GivenDocument]], gate: asyncio.Semaphore) -> None:
        for index, document in queue:
            program = self._questioning.program(document)
            outcomes: list[Outcome] | None = None
            while True:
                try:
                    requests = next_round(program, outcomes)
                except StopIteration as done:
                    self._parts[index] = done.value
                    break
                outcomes = await all_of(self._answer(self._models.call(request), gate) for request in requests)

    async def _answer(self, call: Call, gate: asyncio.Semaphore) -> Outcome:
        async with gate:
            outcome = await call.aperform()
        self._usage += outcome.usage or NO_USAGE
        return outcome
