"""The test set: its samples, the problems of generating it, its files, and its display in notebooks.

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
    """Read the examples of a ``LabelledRagDataset``, with the predictions in another file if it is given."""
    examples = _field(load_json(InputFile.of(path)), "examples", list, path.name)
    answers: list[Any] = [{}] * len(examples)
    if predictions is not None:
        answers = _field(load_json(InputFile.of(predictions)), "predictions", list, predictions.name)
        if len(answers) != len(examples):
            raise InvalidInput(
                f"{predictions.name} has {len(answers)} predictions for the {len(examples)} examples of {path.name}: "
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
    """Read the queries of an ``EmbeddingQAFinetuneDataset``, each with its relevant documents."""
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
    """Return a field of an object that LlamaIndex wrote, after checking its type."""
    value = data.get(name) if isinstance(data, dict) else None
    if not isinstance(value, kind) or not value or (isinstance(value, str) and value.isspace()):
        raise InvalidInput(f"{place}: {name!r} must be {IN_WORDS[kind]} that is not empty, got {value!r}")
    return value


CAVEAT = "caveat"
"""The metadata column with a warning about how a sample was made."""


NO_USAGE = Usage()


@dataclass(frozen=True)
class Problem:
    """A question or document that failed, so that something requested is not in the test set.

    Attributes:
        document: the id of the document.
        question: the question that failed; None if the problem concerns the document as a whole.
        message: what went wrong.
    """

    document: str
    question: str | None
    message: str

    def __str__(self) -> str:
        where = self.document if self.question is None else f"{self.document}, {self.question!r}"
        return readable(f"{where}: {self.message}")


class Why(Enum):
    """The kind of reason why a question was dropped, in words: singular and plural."""

    REPEATED = ("near-duplicate of another question", "near-duplicates of other questions")
    LEANS = ("question that does not stand alone", "questions that do not stand alone")
    UNANSWERED = ("question that its passage does not answer", "questions that their passages do not answer")
    NOT_FOUND = ("answer not found in its passage", "answers not found in their passages")
    UNSUPPORTED = ("answer that its passage does not support", "answers that their passages do not support")
    ONE_IS_ENOUGH = ("question that one passage answers alone", "questions that one passage answers alone")
    ANSWERED = ("question for which an answer was found", "questions for which an answer was found")
    NOT_WRITTEN = ("question that the model did not write", "questions that the model did not write")
    FAILED = ("question without a usable reply of the model", "questions without a usable reply of the model")


def count_reasons(reasons: Iterable[Why]) -> str:
    """Say how often each reason occurs, in the order in which the reasons are defined."""
    counts = Counter(reasons)
    return ", ".join(f"{counts[why]} {why.value[counts[why] > 1]}" for why in Why if counts[why])


@dataclass(frozen=True)
class Dropped(Problem):
    """A question that failed a check. Another question was tried instead.

    Attributes:
        why: the kind of reason; ``message`` gives the reason for this question.
    """

    why: Why


@dataclass(frozen=True)
class Testset(Sequence[Sample]):
    """Questions with reference answers: a sequence of ``Sample``s with ``user_input``, ``reference``, ``reference_contexts``.

    Attributes:
        samples: the samples, in the order of the documents; ``metadata["document_id"]`` names the document of each.
        problems: documents and questions that failed, and documents that gave fewer questions than requested.
        usage: the number of calls and tokens used.
        asked: the total number of questions requested; None if a number per document was requested.
        missing: one text for each kind of questions that is incomplete: how many are missing and why.
        dropped: questions that failed a check.
        models: the usage of each model, and how many calls had to be made again.
        skipped: the files of a folder that were not read, each with its ``name`` and the ``reason``.
        stopped: the budget that ended the run before all questions were made, in words; None if no budget did.
    """

    __test__ = False  # pytest collects classes whose names begin with Test

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

    @property
    def caveats(self) -> tuple[str, ...]:
        """Warnings about how the samples were made, each once. They are also in saved files."""
        stated = (sample.metadata.get(CAVEAT) for sample in self.samples)
        return tuple(dict.fromkeys(caveat for caveat in stated if isinstance(caveat, str)))

    def __str__(self) -> str:
        used, asked, made = self.usage, self.asked, len(self)
        questions = count_of(made, "question") if asked is None else f"{made} of {count_of(asked, 'question')}"
        lines = [
            f"{questions}, {count_of(used.calls, 'call')}, {used.prompt_tokens} tokens in, {used.completion_tokens} tokens out",
            *(f"cost: {cost}" for item in self.models if (cost := item.cost()) is not None),
            *self.missing,
            *(f"dropped: {reasons}" for reasons in [count_reasons(item.why for item in self.dropped)] if reasons),
            *(f"problem: {problem}" for problem in self.problems),
            *(f"skipped: {line}" for line in by_reason(self.skipped)),
            *(f"caveat: {caveat}" for caveat in self.caveats),
        ]
        return "\n".join(map(printable, lines))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """IPython shows the text."""
        printer.text("..." if cycle else str(self))

    def _repr_html_(self) -> str:
        """Notebooks show the summary and the first questions."""
        return testset_html(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write one JSON object per sample. ``evaluate`` can read the file too. Problems and usage are not written."""
        with Path(path).open("w", encoding="utf-8", newline="\n") as file:
            file.writelines(map(line_of, self.samples))

    def to_jsonl(self, path: str | os.PathLike[str]) -> None:
        """Do the same as ``save``: ``Evaluation`` has a method of this name too."""
        self.save(path)

    @classmethod
    def load(cls, path: str | os.PathLike[str], *, columns: Mapping[str, str] | None = None) -> Testset:
        """Read a file that ``save`` wrote, or any other file of rows that ``evaluate`` reads, with its ``columns``.

        Raises:
            InvalidInput: the file or a row cannot be read, or a row has no question; the message names the line.
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
            predictions: the JSON file of a ``RagPredictionDataset`` over the same examples, in the same order. It gives the
                samples their ``response`` and ``retrieved_contexts``; None: they have none.

        Raises:
            InvalidInput: a file does not have this form; the message names the example.
        """
        return cls(tuple(labelled_rag_samples(Path(path), None if predictions is None else Path(predictions))))

    @classmethod
    def from_embedding_qa_dataset(cls, path: str | os.PathLike[str]) -> Testset:
        """Read the JSON file of a LlamaIndex ``EmbeddingQAFinetuneDataset``.

        The samples have ``reference_contexts`` (the relevant texts) and ``reference_documents`` (the same texts with their ids,
        for retrieval metrics). Such a data set has no reference answers.

        Raises:
            InvalidInput: the file does not have this form; the message names the query.
        """
        return cls(tuple(embedding_qa_samples(Path(path))))


def line_of(sample: Sample) -> str:
    """Return the sample as a line of a JSON Lines file."""
    return to_json(sample.to_dict()) + "\n"


def _with_documents(sample: Sample, place: str) -> Sample:
    """Return the sample with its reference documents restored from their JSON form."""
    given = sample.reference_documents
    if not isinstance(given, list):
        return sample
    documents = [Document.of(item, f"{place}: reference_documents[{index}]") for index, item in enumerate(given)]
    return replace(sample, reference_documents=documents)


MOST_SAMPLES = 10
LONGEST_PASSAGE = 300
"""The number of columns shown of a passage."""


def testset_html(testset: Testset) -> Html:
    """Show the summary, then the first samples."""
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
