"""One row of a data set: what was asked, found, answered and expected, under names that never change.

``Sample.from_mapping`` is the border: it accepts the common other column names, keeps unknown columns as metadata, and
refuses a row whose columns contradict each other. The types of the values are checked later, by the metric that uses them,
so that a bad column that no metric uses costs nothing.

A row of a run is a sample with its place in the input, or the reason why it could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from ._errors import InvalidInput, MissingInput

ALIASES = {
    "question": "user_input",
    "query": "user_input",
    "input": "user_input",
    "answer": "response",
    "predicted_answer": "response",
    "generated_answer": "response",
    "output": "response",
    "actual_output": "response",
    "contexts": "retrieved_contexts",
    "context": "retrieved_contexts",
    "retrieval_context": "retrieved_contexts",
    "ground_truth": "reference",
    "reference_answer": "reference",
    "ground_truth_answer": "reference",
    "expected_answer": "reference",
    "expected_output": "reference",
    "rubrics": "rubric",
}
"""Other common column names and the field each one means."""


@dataclass(frozen=True)
class Document:
    """A retrieved or a relevant document.

    Attributes:
        content: its text.
        id: its identifier.
        score: for a relevant document, its grade of relevance (0 or more); for a retrieved one, the retriever's score.
        meta: anything else; metrics can match documents by ``meta.<key>``.
    """

    content: str | None = None
    id: str | None = None
    score: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not (self.content is None or isinstance(self.content, str)):
            raise InvalidInput(f"a document's content must be a str, got {type(self.content).__name__}")
        # the usual type comes first, since asking for any mapping takes longer than all the rest
        if type(self.meta) is not dict and not isinstance(self.meta, Mapping):
            raise InvalidInput(f"a document's meta must be a mapping, got {type(self.meta).__name__}")

    @classmethod
    def of(cls, value: object, path: str) -> Document | str:
        """A document from a mapping or from any object with the same attributes; a str stays as it is.

        Keys of the mapping that are not fields of a document become metadata.

        Raises:
            InvalidInput: the value is neither; the message starts with ``path``.
        """
        if isinstance(value, cls | str):
            return value
        if type(value) is dict or isinstance(value, Mapping):
            if IDENTIFYING.isdisjoint(value):
                raise InvalidInput(
                    f"{path} has neither content nor id nor meta: a document needs one of them to be matched by"
                )
            content, key, score, meta = value.get("content"), value.get("id"), value.get("score"), value.get("meta")
            if not DOCUMENT_FIELDS.issuperset(value):
                meta = _with_other_keys(meta, value)
        elif hasattr(value, "content"):
            content, key, score, meta = (getattr(value, name, None) for name in ("content", "id", "score", "meta"))
        else:
            raise InvalidInput(f"{path} must be a Document, a mapping or a str, got {type(value).__name__}")
        try:
            return cls(content, key, score, meta or {})
        except InvalidInput as error:
            raise InvalidInput(f"{path}: {error}") from None


DOCUMENT_FIELDS = frozenset(item.name for item in fields(Document))

IDENTIFYING = frozenset({"content", "id", "meta"})
"""Fields by which a document can be matched."""


def _with_other_keys(meta: Any, mapping: Mapping[str, Any]) -> Any:
    others = {name: item for name, item in mapping.items() if name not in DOCUMENT_FIELDS}
    if not meta:
        return others
    return {**others, **meta} if isinstance(meta, Mapping) else meta  # the document refuses what is not a mapping


class Documents(list[Document | str]):
    """Checked documents as ``measure`` gets them: a list that the metrics of one row share, with what they found out about it.

    Attributes:
        found: results that are worth keeping while the row is being scored, by whatever they depend on.
    """

    __slots__ = ("found",)

    found: dict[Hashable, Any]

    @classmethod
    def of(cls, documents: list[Document | str]) -> Documents:
        """The documents in a new list, without cached results."""
        made = cls(documents)  # without a Python __init__, which would take as long as all the rest
        made.found = {}
        return made


@dataclass(frozen=True)
class Sample:
    """One sample to evaluate. Every field is optional; each metric says which ones it needs.

    Attributes:
        user_input: the question.
        response: the generated answer.
        retrieved_contexts: the texts given to the generator, in rank order.
        reference: the expected answer.
        reference_contexts: the texts that should have been found.
        retrieved_documents: the documents found, in rank order.
        reference_documents: the relevant documents.
        rubric: what each score means, for rubric metrics.
        id: identifier of the sample, carried through.
        metadata: anything else, carried through and never judged (unless a ``CustomJudge`` asks for a column by name).
    """

    user_input: str | None = None
    response: str | None = None
    retrieved_contexts: Sequence[str] | None = None
    reference: str | None = None
    reference_contexts: Sequence[str] | None = None
    retrieved_documents: Sequence[Document | str] | None = None
    reference_documents: Sequence[Document | str] | None = None
    rubric: Mapping[int, str] | None = None
    id: str | None = None
    metadata: Mapping[str, Any] = field(default_factory=dict, hash=False)

    @classmethod
    def from_mapping(cls, row: Mapping[str, Any]) -> Sample:
        """The sample that a row describes.

        Other common column names are understood (``question``, ``answer``, ``contexts``, ``ground_truth``, ...), also where they
        differ in case, spaces or dashes (``Ground Truth``), a lone text in ``context`` counts as a list of one, and unknown
        columns become metadata. Arrays, as data frames and Parquet files hold them, become lists.

        Raises:
            InvalidInput: two columns name the same field and differ, or ``metadata`` is not a mapping.
        """
        if not PLAIN.issuperset(map(type, row.values())):
            row = {column: without_arrays(value) for column, value in row.items()}
        if FIELD_NAMES.issuperset(row) and "metadata" not in row:  # nothing to rename and nothing to sort out
            return cls(**row)
        meant = fields_of(tuple(row))
        values = _by_field(row, meant)
        given = values.pop("metadata", None)
        if not isinstance(given, Mapping | None):
            raise InvalidInput(f"metadata must be a mapping, got {type(given).__name__}")
        unknown = {column: value for column, value in row.items() if column not in meant}
        return cls(**values, metadata={**(given or {}), **unknown})

    def get(self, name: str) -> Any:
        """The field of that name (other common names of it included), or the metadata column of that name, or None."""
        if name in FIELD_NAMES:
            return getattr(self, name)
        if name in ALIASES:
            return getattr(self, ALIASES[name])
        if name in self.metadata:
            return self.metadata[name]
        meant = fields_of((name,))
        return getattr(self, meant[name]) if meant else None

    def updated(self, row: Mapping[str, Any]) -> Sample:
        """This sample with the fields that a row sets replaced; unknown columns are added to the metadata."""
        other = Sample.from_mapping(row)
        names = set(fields_of(tuple(row)).values()) - {"metadata"}
        changes = {name: getattr(other, name) for name in names}
        return replace(self, **changes, metadata={**self.metadata, **other.metadata})

    def to_dict(self) -> dict[str, Any]:
        """The fields that are set, under their own names, ready for JSON as far as the metadata is."""
        row: dict[str, Any] = {}
        for item in fields(self):
            value = getattr(self, item.name)
            if value is None or (item.name == "metadata" and not value):
                continue
            if item.name.endswith("_documents"):
                value = [_document_row(document) for document in value]
            row[item.name] = value
        return row


FIELD_NAMES = frozenset(item.name for item in fields(Sample))


BETWEEN_WORDS = re.compile(r"[\s_-]+|(?<=[a-z0-9])(?=[A-Z])")


def plain_name(column: object) -> str:
    """A column's name without regard to case, spaces, dashes, humps: ``ground_truth`` for ``Ground Truth`` and ``groundTruth``."""
    return "_".join(part for part in BETWEEN_WORDS.split(str(column).strip()) if part).lower()


@lru_cache(1024)
def fields_of(columns: tuple[Any, ...]) -> Mapping[Any, str]:
    """The field that each column means, for those that mean one.

    Where a column has the very name of a field, or one of its other common names, columns whose names only resemble these do not
    count. A column that resembles ``metadata`` never does, for people fill it with anything.
    """
    exact: dict[Any, str] = {}
    for column in columns:  # in their order, in which messages name them
        if column in ALIASES:
            exact[column] = ALIASES[column]
        elif column in FIELD_NAMES:
            exact[column] = column
    found = dict(exact)
    for column in columns:
        name = plain_name(column)
        meant = ALIASES.get(name, name)
        if column not in exact and meant in FIELD_NAMES - {"metadata"} - set(exact.values()):
            found[column] = meant
    return found


def _by_field(row: Mapping[str, Any], meant: Mapping[str, str]) -> dict[str, Any]:
    """The values of the columns that mean a field, by the name of the field."""
    given: dict[str, dict[str, Any]] = {}
    for column, name in meant.items():
        value = row[column]
        lone = isinstance(value, str) and plain_name(column) == "context"
        given.setdefault(name, {})[column] = [value] if lone else value
    return {name: agreed(name, values) for name, values in given.items()}


def agreed(field: str, values: Mapping[str, Any]) -> Any:
    """What several columns say of one field, which must be the same; None says nothing.

    Raises:
        InvalidInput: two of them differ.
    """
    found, first = None, ""
    for column, value in values.items():
        if value is None:
            continue
        if found is not None and not _same(found, value):
            raise InvalidInput(f"the columns {first!r} and {column!r} both mean {field!r} but differ: keep one of them")
        found, first = value, column
    return found


PLAIN = frozenset({str, int, float, bool, list, dict, type(None)})
"""Types of cells that stay as they are."""


def without_arrays(value: Any) -> Any:
    """The value with lists instead of numpy arrays, and Python's numbers instead of numpy's."""
    if type(value) in PLAIN or not hasattr(value, "tolist"):
        return value
    return _deep(value.tolist())


def _deep(value: Any) -> Any:
    """What an array held; there may be further arrays inside it."""
    if isinstance(value, list):
        return [_deep(item) for item in value]
    if isinstance(value, dict):
        return {key: _deep(item) for key, item in value.items()}
    return without_arrays(value)


def _same(left: Any, right: Any) -> bool:
    # arrays compare item by item, lists as a whole
    left, right = (value.tolist() if hasattr(value, "tolist") else value for value in (left, right))
    return left is right or bool(left == right)


def _document_row(document: object) -> object:
    if not isinstance(document, Document):
        return document
    return {
        item.name: getattr(document, item.name)
        for item in fields(document)
        if getattr(document, item.name) not in (None, {})
    }


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the input.

    Attributes:
        index: its position, from 0.
        place: where it stands, for messages: ``questions.jsonl, line 7`` or ``row 3``.
        sample: what it holds; an empty sample (with the id, if there is one) where it cannot be read.
        problem: why it cannot be read; the message starts with the place.
        asked: names of the metrics that are asked about it; None: all.
    """

    index: int
    place: str
    sample: Sample
    problem: InvalidInput | None = None
    asked: frozenset[str] | None = None

    def is_asked(self, metric: str) -> bool:
        """Whether the metric of this name is asked about the row."""
        return self.asked is None or metric in self.asked

    def locate(self, error: InvalidInput | MissingInput) -> InvalidInput | MissingInput:
        """The same error, naming the row as well."""
        if isinstance(error, MissingInput):
            return MissingInput(error.metric, error.field, f"{error.problem} in {self.place}", error.cure)
        return InvalidInput(f"{self.place}: ", *error.args)
