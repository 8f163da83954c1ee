"""The test set: samples in order, what could not be made, its way to and from files, and its look in a notebook.

LlamaIndex's old data sets are read from their JSON without LlamaIndex, which no longer has the classes that wrote them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from enum import Enum
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, overload

from .._kernel._wording import to_json
from .._read._columns import Columns
from .._read._input_file import InputFile
from .._read._json import load_json
from .._read._rows import open_rows
from .._store._prices import ModelUsage
from .._values._counts import count_of
from .._values._errors import InvalidInput
from .._values._evidence_html import block, grid
from .._values._layout import printable, readable, shortened
from .._values._requests import Usage
from .._values._sample import Document, Sample
from .._values._tags import Html, element
from ._documents import Skipped, by_reason

if TYPE_CHECKING:
    import os


CARRIED = ("query_by", "reference_answer_by")

IN_WORDS = {dict: "an object", list: "a list", str: "a text"}

T = TypeVar("T", dict[str, Any], list[Any], str)


def labelled_rag_samples(path: Path, predictions: Path | None) -> Iterator[Sample]:
    """The examples of a ``LabelledRagDataset``, with the predictions of another file where there is one."""
    examples = _field(load_json(InputFile.of(path)), "examples", list, path.name)
    answers: list[Any] = [{}] * len(examples)
    if predictions is not None:
        answers = _field(load_json(InputFile.of(predictions)), "predictions", list, predictions.name)
        if len(answers) != len(examples):
            raise InvalidInput(
                f"{predictions.name} holds {len(answers)} predictions for the {len(examples)} examples of {path.name}: "
                "both files must come from the same data set"
            )
    for number, (example, answer) in enumerate(zip(examples, answers, strict=True), 1):
        if not isinstance(answer, dict):
            where = f"{predictions and predictions.name}, prediction {number}"
            raise InvalidInput(f"{where} must be an object, got {answer!r}")
        yield Sample(
            user_input=_field(example, "query", str, f"{path.name}, example {number}"),
            response=answer.get("response"),
            retrieved_contexts=answer.get("contexts"),
            reference=example.get("reference_answer") or None,
            reference_contexts=example.get("reference_contexts") or None,
            id=str(number),
            metadata={name: example[name] for name in CARRIED if example.get(name) is not None},
        )


def embedding_qa_samples(path: Path) -> Iterator[Sample]:
    """The queries of an ``EmbeddingQAFinetuneDataset``, each with its relevant documents."""
    data = load_json(InputFile.of(path))
    queries, corpus, relevant = (_field(data, name, dict, path.name) for name in ("queries", "corpus", "relevant_docs"))
    for key in queries:
        place = f"{path.name}, query {key!r}"
        ids = _field(relevant, key, list, f"{place}: relevant_docs")
        texts = [_field(corpus, str(item), str, f"{place}: corpus") for item in ids]
        yield Sample(
            user_input=_field(queries, key, str, f"{path.name}: queries"),
            reference_contexts=texts,
            reference_documents=[Document(text, item) for text, item in zip(texts, ids, strict=True)],
            id=key,
        )


def _field(data: Any, name: str, kind: type[T], place: str) -> T:
    """A field of an object that LlamaIndex wrote."""
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, kind) or not value or (isinstance(value, str) and value.isspace()):
        raise InvalidInput(f"{place}: {name!r} must be {IN_WORDS[kind]} that is not empty, got {value!r}")
    return value


CAVEAT = "caveat"
"""Column of the metadata that carries what must be known about how a sample was made."""


NO_USAGE = Usage()


@dataclass(frozen=True)
class Problem:
    """Something that was asked for and is not in the test set.

    Attributes:
        document: id of the document.
        question: the question that has no answer; None where the document as a whole is concerned.
        message: what happened.
    """

    document: str
    question: str | None
    message: str

    def __str__(self) -> str:
        where = self.document if self.question is None else f"{self.document}, {self.question!r}"
        return readable(f"{where}: {self.message}")


class Why(Enum):
    """Why a question was dropped: in words, for one and for several."""

    REPEATED = ("near-duplicate of another question", "near-duplicates of other questions")
    LEANS = ("question that does not stand alone", "questions that do not stand alone")
    UNANSWERED = ("question that its passage does not answer", "questions that their passages do not answer")
    NOT_FOUND = ("answer not found in its passage", "answers not found in their passages")
    UNSUPPORTED = ("answer that its passage does not support", "answers that their passages do not support")
    ONE_IS_ENOUGH = ("question that one passage answers alone", "questions that one passage answers alone")
    ANSWERED = ("question for which an answer was found", "questions for which an answer was found")
    NOT_WRITTEN = ("question that the model did not write", "questions that the model did not write")
    FAILED = ("question without a usable reply of the model", "questions without a usable reply of the model")


def counted(reasons: Iterable[Why]) -> str:
    """How often each reason occurs, in the order in which the reasons are defined."""
    counts = Counter(reasons)
    return ", ".join(f"{counts[why]} {why.value[counts[why] > 1]}" for why in Why if counts[why])


@dataclass(frozen=True)
class Dropped(Problem):
    """A question that was tried and fell through a check; another one was tried in its place.

    Attributes:
        why: the kind of reason; ``message`` tells about this question.
    """

    why: Why


@dataclass(frozen=True)
class Testset(Sequence[Sample]):
    """Questions with reference answers: a sequence of ``Sample``s with ``user_input``, ``reference``, ``reference_contexts``.

    Attributes:
        samples: the samples, in the order of the documents; ``metadata["document_id"]`` names the document of each.
        problems: documents and questions that failed, and documents that gave fewer questions than asked for.
        usage: what it cost: calls, tokens.
        asked: how many questions were asked for altogether; None where a number per document was.
        missing: of each kind of questions that is not complete, how many are missing and why.
        dropped: questions that were tried and fell through a check.
        models: what each model was asked, and how often calls had to be made again.
        skipped: the files of a folder that were not read, each with its ``name`` and the ``reason``.
        stopped: the budget that ended the run before all was made, in words; None where none did.
    """

    __test__ = False  # pytest takes every class whose name begins with Test for a test class

    samples: tuple[Sample, ...]
    problems: tuple[Problem, ...] = ()
    usage: Usage = NO_USAGE
    asked: int | None = None
    missing: tuple[str, ...] = ()
    dropped: tuple[Dropped, ...] = ()
    models: tuple[ModelUsage, ...] = ()
    skipped: tuple[Skipped, ...] = ()
    stopped: str | None = None

    def __post_init__(self) -> None:
        for name in ("samples", "problems", "skipped"):
            object.__setattr__(self, name, tuple(getattr(self, name)))

    @overload
    def __getitem__(self, index: int) -> Sample: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[Sample, ...]: ...

    def __getitem__(self, index: int | slice) -> Sample | tuple[Sample, ...]:
        return self.samples[index]

    def __len__(self) -> int:
        return len(self.samples)

    def __iter__(self) -> Iterator[Sample]:
        return iter(self.samples)

    @property
    def caveats(self) -> tuple[str, ...]:
        """What must be known about how the samples were made, each once; a file keeps it too."""
        stated = (sample.metadata.get(CAVEAT) for sample in self.samples)
        return tuple(dict.fromkeys(caveat for caveat in stated if isinstance(caveat, str)))

    def __str__(self) -> str:
        used, asked, made = self.usage, self.asked, len(self)
        questions = count_of(made, "question") if asked is None else f"{made} of {count_of(asked, 'question')}"
        lines = [
            f"{questions}, {count_of(used.calls, 'call')}, {used.prompt_tokens} tokens in, {used.completion_tokens} tokens out",
            *(f"cost: {cost}" for item in self.models if (cost := item.cost()) is not None),
            *self.missing,
            *(f"dropped: {reasons}" for reasons in [counted(item.why for item in self.dropped)] if reasons),
            *(f"problem: {problem}" for problem in self.problems),
            *(f"skipped: {line}" for line in by_reason(self.skipped)),
            *(f"caveat: {caveat}" for caveat in self.caveats),
        ]
        return "\n".join(map(printable, lines))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython shows the text."""
        printer.text("..." if cycle else str(self))

    def _repr_html_(self) -> str:
        """Notebooks show the account and the first questions."""
        return testset_html(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON object per sample; ``evaluate`` reads such a file too. Problems and usage are not part of it."""
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(map(line_of, self.samples))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """The same as ``save``, under the name that an ``Evaluation`` has for it."""
        self.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None) -> Testset:
        """The test set in a file that ``save`` wrote, or in any other file of rows that ``evaluate`` reads, with its ``columns``.

        Raises:
            InvalidInput: the file or one of its rows cannot be read, or a row has no question; the message names the line.
        """
        samples = []
        for row in open_rows(path, columns=Columns(columns)).rows:
            if row.problem is not None:
                raise row.problem
            if not isinstance(row.sample.user_input, str) or not row.sample.user_input.strip():
                raise InvalidInput(f"{row.place}: a row of a test set needs a question: give it a 'user_input'")
            samples.append(_with_documents(row.sample, row.place))
        return cls(tuple(samples))

    @classmethod
    def from_labelled_rag_dataset(
        cls, path: str | os.PathLike[str], *, predictions: str | os.PathLike[str] | None = None
    ) -> Testset:
        """Read the JSON file of a LlamaIndex ``LabelledRagDataset``.

        Args:
            path: the file (``rag_dataset.json``).
            predictions: JSON file of a ``RagPredictionDataset`` over the same examples, in the same order; gives the samples
                their ``response`` and ``retrieved_contexts``.

        Raises:
            InvalidInput: a file is not of that form; the message names the example.
        """
        return cls(tuple(labelled_rag_samples(Path(path), None if predictions is None else Path(predictions))))

    @classmethod
    def from_embedding_qa_dataset(cls, path: str | os.PathLike[str]) -> Testset:
        """Read the JSON file of a LlamaIndex ``EmbeddingQAFinetuneDataset``.

        The samples have ``reference_contexts`` (the relevant texts) and ``reference_documents`` (the same with their ids), as
        retrieval metrics take them; there are no reference answers in such a data set.

        Raises:
            InvalidInput: the file is not of that form; the message names the query.
        """
        return cls(tuple(embedding_qa_samples(Path(path))))


def line_of(sample: Sample) -> str:
    """The sample as a line of a file."""
    return to_json(sample.to_dict()) + "\n"


def _with_documents(sample: Sample, place: str) -> Sample:
    """The sample with its reference documents as they were before they were written to a file."""
    given = sample.reference_documents
    if not isinstance(given, list):
        return sample
    documents = [Document.of(item, f"{place}: reference_documents[{index}]") for index, item in enumerate(given)]
    return replace(sample, reference_documents=documents)


MOST_SAMPLES = 10
LONGEST_PASSAGE = 300
"""Columns of a passage that are shown."""


def testset_html(testset: Testset) -> Html:
    """What there is and what is missing, then the first samples."""
    account = (element("p", readable(line)) for line in str(testset).splitlines())
    more = len(testset) - MOST_SAMPLES
    rows = [_row(sample) for sample in testset.samples[:MOST_SAMPLES]]
    return block(
        *account,
        grid(("document", "question", "reference", "passages"), rows, numbers=False) if rows else None,
        element("p", f"and {more} more") if more > 0 else None,
    )


def _row(sample: Sample) -> tuple[str, str, str, Html]:
    passages = sample.reference_contexts if isinstance(sample.reference_contexts, list | tuple) else ()
    items = (element("li", shortened(str(text), LONGEST_PASSAGE)) for text in passages)
    texts = (sample.metadata.get("document_id"), sample.user_input, sample.reference)
    document, question, reference = (str(text or "") for text in texts)
    return document, question, reference, element("ul", *items)
