"""``generate_testset`` and ``agenerate_testset``: documents in, a ``Testset`` out.

Sync and async are the same run, as with ``evaluate``.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from .._kernel._prompt import Prompt
from .._kernel._requests import AnyLLM
from .._kernel._sample import Document
from .._report._progress import Progress
from ._chunks import CHUNK_OVERLAP
from ._kinds import NO_ANSWER
from ._program import ANSWER_FROM_DOCUMENT, WRITE_QUESTIONS
from ._run import Generation, Options
from ._values import Testset

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
