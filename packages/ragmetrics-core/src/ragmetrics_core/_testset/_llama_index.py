"""LlamaIndex's old data sets, read from their JSON without LlamaIndex, which no longer has the classes that wrote them."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from .._kernel._errors import InvalidInput
from .._kernel._sample import Document, Sample
from .._read._input_file import InputFile
from .._read._text import lines_of

CARRIED = ("query_by", "reference_answer_by")


def labelled_rag_samples(path: Path, predictions: Path | None) -> Iterator[Sample]:
    """The examples of a ``LabelledRagDataset``, with the predictions of another file where there is one."""
    examples = _list(path, "examples", "LabelledRagDataset")
    answers: list[Any] = [{}] * len(examples)
    if predictions is not None:
        answers = _list(predictions, "predictions", "RagPredictionDataset")
        if len(answers) != len(examples):
            raise InvalidInput(
                f"{predictions.name} holds {len(answers)} predictions for the {len(examples)} examples of {path.name}: "
                "both files must come from the same data set"
            )
    for number, (example, answer) in enumerate(zip(examples, answers, strict=True), 1):
        place = f"{path.name}, example {number}"
        given = _mapping(place, example)
        predicted = _mapping(f"{predictions and predictions.name}, prediction {number}", answer)
        yield Sample(
            user_input=_question(place, given.get("query")),
            response=predicted.get("response"),
            retrieved_contexts=predicted.get("contexts"),
            reference=given.get("reference_answer") or None,
            reference_contexts=given.get("reference_contexts") or None,
            id=str(number),
            metadata={name: given[name] for name in CARRIED if given.get(name) is not None},
        )


def embedding_qa_samples(path: Path) -> Iterator[Sample]:
    """The queries of an ``EmbeddingQAFinetuneDataset``, each with its relevant documents."""
    data = _load(path)
    parts = {name: data.get(name) for name in ("queries", "corpus", "relevant_docs")}
    if not all(isinstance(part, dict) for part in parts.values()):
        raise InvalidInput(
            f'{path.name} is no EmbeddingQAFinetuneDataset: it must be an object with "queries", "corpus" and "relevant_docs"'
        )
    mode = data.get("mode", "text")
    if mode != "text":
        raise InvalidInput(f"{path.name}: its mode is {mode!r}; only data sets of text can be read")
    corpus = parts["corpus"] or {}
    for key, query in (parts["queries"] or {}).items():
        place = f"{path.name}, query {key!r}"
        ids = _document_ids(place, (parts["relevant_docs"] or {}).get(key), corpus)
        yield Sample(
            user_input=_question(place, query),
            reference_contexts=[corpus[item] for item in ids],
            reference_documents=[Document(corpus[item], item) for item in ids],
            id=key,
        )


def _document_ids(place: str, ids: Any, corpus: Mapping[str, Any]) -> list[str]:
    if not isinstance(ids, list) or not ids:
        raise InvalidInput(f'{place} has no list of documents in "relevant_docs"')
    unknown = [item for item in ids if not isinstance(item, str) or not isinstance(corpus.get(item), str)]
    if unknown:
        raise InvalidInput(f'{place}: the relevant document {unknown[0]!r} has no text in "corpus"')
    return ids


def _load(path: Path) -> Mapping[str, Any]:
    try:
        data = json.loads("".join(line for _, line in lines_of(InputFile.of(path))))
    except json.JSONDecodeError as error:
        raise InvalidInput(f"{path.name}, line {error.lineno}: not JSON ({error.msg})") from None
    return data if isinstance(data, dict) else {}


def _list(path: Path, name: str, kind: str) -> list[Any]:
    items = _load(path).get(name)
    if not isinstance(items, list):
        raise InvalidInput(f'{path.name} is no {kind}: it must be an object with a list under "{name}"')
    return items


def _mapping(place: str, value: Any) -> Mapping[str, Any]:
    if not isinstance(value, dict):
        raise InvalidInput(f"{place} must be an object, got {type(value).__name__}")
    return value


def _question(place: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InvalidInput(f"{place}: its query must be a text, got {value!r}")
    return value
