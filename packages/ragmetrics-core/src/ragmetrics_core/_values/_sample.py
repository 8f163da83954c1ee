"""One row of a data set: what was asked, retrieved, answered and expected, under stable field names.

``Sample.from_mapping`` reads the data of users: it accepts other common column names, keeps unknown columns as metadata, and
refuses a row whose columns contradict each other. The types of values are checked later, by the metric that uses them, so a
bad column that no metric uses does no harm.

A ``Row`` of a run is a sample with its place in the input, or the reason why the sample could not be read.
"""

from __future__ import annotations

import re
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import lru_cache
from typing import Any

from ._errors import InvalidInput, MissingInput

_OTHER_NAMES = {
    "user_input": "question query input",
    "response": "answer predicted_answer generated_answer output actual_output",
    "retrieved_contexts": "contexts context retrieval_context",
    "reference": "ground_truth reference_answer ground_truth_answer expected_answer expected_output",
    "rubric": "rubrics",
    "history": "chat_history",
}
ALIASES = {name: field for field, names in _OTHER_NAMES.items() for name in names.split()}
"""Other common column names, and the field that each of them means."""

APP_ERROR = "app_error"
"""The name of metadata that say why an application gave no answer; every metric fails with it."""

SESSIONS = ("session_id", "thread_id", "conversation_id")
"""The names of metadata that say which session a call of an application belongs to."""


def session_of(metadata: Mapping[str, Any]) -> tuple[str, Any] | None:
    """Return the name and the value of the metadata that say which session a call belongs to; None if there are none."""
    return next(((name, metadata[name]) for name in SESSIONS if metadata.get(name) is not None), None)


@dataclass(frozen=True)
class Document:
    """A retrieved or a relevant document.

    Attributes:
        content: the text; None if it is not known.
        id: the identifier; None if there is none.
        score: for a relevant document, its grade of relevance (0 or more); for a retrieved one, the score of the retriever.
        meta: other data; metrics can match documents by ``meta.<key>``.
    """

    content: str | None = None
    id: str | None = None
    score: float | None = None
    meta: Mapping[str, Any] = field(default_factory=dict, hash=False)

    def __post_init__(self) -> None:
        if not (self.content is None or isinstance(self.content, str)):
            raise InvalidInput(f"a document's content must be a str, got {type(self.content).__name__}")
        # the usual type comes first, because the check for any mapping takes longer than everything else
        if type(self.meta) is not dict and not isinstance(self.meta, Mapping):
            raise InvalidInput(f"a document's meta must be a mapping, got {type(self.meta).__name__}")

    @classmethod
    def of(cls, value: object, path: str) -> Document | str:
        """Return a document made from a mapping, or from an object with the attributes of a document; return a str unchanged.

        Keys of the mapping that are not fields of a document become metadata.

        Raises:
            InvalidInput: the value is none of these, a mapping has neither content nor id nor meta, or a field has the wrong type;
                the message starts with ``path``.
        """
        if isinstance(value, cls | str):
            return value
        if type(value) is dict or isinstance(value, Mapping):
            if IDENTIFYING.isdisjoint(value):
                raise InvalidInput(f"{path} has neither content nor id nor meta: documents are matched by one of them")
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
    return {**others, **meta} if isinstance(meta, Mapping) else meta  # Document refuses anything but a mapping


class Documents(list[Document | str]):
    """Validated documents as ``measure`` gets them: one list for all metrics of a row, with a cache that they share.

    Attributes:
        found: the cache: results worth keeping while the row is scored, by a key of everything they depend on.
    """

    __slots__ = ("found",)

    found: dict[Hashable, Any]

    @classmethod
    def of(cls, documents: list[Document | str]) -> Documents:
        """Return the documents in a new list with an empty cache."""
        made = cls(documents)  # no Python __init__: it would take as long as everything else
        made.found = {}
        return made


@dataclass(frozen=True)
class Sample:
    """One sample to evaluate. Every field is optional; each metric says which fields it needs.

    Attributes:
        user_input: the question.
        response: the generated answer.
        retrieved_contexts: the texts given to the generator, in rank order.
        reference: the expected answer.
        reference_contexts: the texts that should have been found.
        retrieved_documents: the documents found, in rank order.
        reference_documents: the relevant documents.
        rubric: what each score means, for rubric metrics.
        id: the identifier of the sample, copied to the results.
        metadata: other data, copied to the results. It is never judged, unless a ``CustomJudge`` asks for a column by name.
        history: the earlier turns of the conversation, oldest first, each a mapping with ``role`` (``user``, ``assistant``,
            ``system`` or ``tool``), ``content`` (a text) and, if known, ``retrieved_contexts`` (texts). The question is not in it.
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
    history: Sequence[Mapping[str, Any]] | None = field(default=None, hash=False)

    @classmethod
    def from_mapping(cls, row: Mapping[str, Any]) -> Sample:
        """Make a sample from a row of data.

        Other common column names are understood (``question``, ``answer``, ``contexts``, ``ground_truth``, ...), also with other
        case, spaces or dashes (``Ground Truth``). A single text in ``context`` counts as a list of one text. Unknown columns become
        metadata. Arrays, as data frames and Parquet files contain them, become lists.

        Raises:
            InvalidInput: two columns name the same field and differ, or ``metadata`` is not a mapping.
        """
        if not PLAIN.issuperset(map(type, row.values())):
            row = {column: without_arrays(value) for column, value in row.items()}
        if FIELD_NAMES.issuperset(row) and "metadata" not in row:  # only field names: the usual case
            return cls(**row)
        fields = fields_of(tuple(row))
        values = _by_field(row, fields)
        metadata = values.pop("metadata", None)
        if not isinstance(metadata, Mapping | None):
            raise InvalidInput(f"metadata must be a mapping, got {type(metadata).__name__}")
        unknown = {column: value for column, value in row.items() if column not in fields}
        return cls(**values, metadata={**(metadata or {}), **unknown})

    def get(self, name: str) -> Any:
        """Return the value of a field, or of a metadata column; None if there is neither.

        Other common names of a field count as its name.
        """
        field = ALIASES.get(name, name)
        if field in FIELD_NAMES:
            return getattr(self, field)
        if name in self.metadata:
            return self.metadata[name]
        meant = fields_of((name,))
        return getattr(self, meant[name]) if meant else None

    def updated(self, row: Mapping[str, Any]) -> Sample:
        """Return a copy in which the fields of a row replace the fields of the sample; unknown columns of the row are added to the
        metadata.
        """
        other = Sample.from_mapping(row)
        names = set(fields_of(tuple(row)).values()) - {"metadata"}
        changes = {name: getattr(other, name) for name in names}
        return replace(self, **changes, metadata={**self.metadata, **other.metadata})

    def to_dict(self) -> dict[str, Any]:
        """Return the fields that are set, under their own names. The result can be written as JSON if the metadata can."""
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
KNOWN_NAMES = FIELD_NAMES.union(ALIASES)


BETWEEN_WORDS = re.compile(r"[\s_-]+|(?<=[a-z0-9])(?=[A-Z])")


def plain_name(column: object) -> str:
    """Normalize the name of a column to snake case: ``ground_truth`` for ``Ground Truth``, ``ground-truth`` and ``groundTruth``."""
    return "_".join(part for part in BETWEEN_WORDS.split(str(column).strip()) if part).lower()


@lru_cache(1024)
def fields_of(columns: tuple[Any, ...]) -> Mapping[Any, str]:
    """Return the field that each column means; columns that mean no field are left out.

    If a column has exactly the name of a field, or one of its other common names, columns whose names are only equal after
    normalization do not count for this field. A column like ``Metadata`` never means ``metadata``, because its content may be
    anything.
    """
    # in this order, messages name the columns
    exact: dict[Any, str] = {each: ALIASES.get(each) or each for each in columns if each in KNOWN_NAMES}
    fields = dict(exact)
    for column in columns:
        name = plain_name(column)
        field = ALIASES.get(name, name)
        if column not in exact and field in FIELD_NAMES - {"metadata"} - set(exact.values()):
            fields[column] = field
    return fields


def _by_field(row: Mapping[str, Any], meant: Mapping[str, str]) -> dict[str, Any]:
    """Return the values of the columns that mean a field, by name of the field."""
    given: dict[str, dict[str, Any]] = {}
    for column, name in meant.items():
        value = row[column]
        is_single_text = isinstance(value, str) and plain_name(column) == "context"
        given.setdefault(name, {})[column] = [value] if is_single_text else value
    return {name: agreed(name, values) for name, values in given.items()}


def agreed(field: str, values: Mapping[str, Any]) -> Any:
    """Return the common value of several columns that mean the same field; columns with None are ignored.

    Raises:
        InvalidInput: two of the values differ.
    """
    value_so_far, first = None, ""
    for column, value in values.items():
        if value is None:
            continue
        if value_so_far is not None and not (value_so_far is value or value_so_far == value):
            raise InvalidInput(f"the columns {first!r} and {column!r} both mean {field!r} but differ: keep one of them")
        value_so_far, first = value, column
    return value_so_far


PLAIN = frozenset({str, int, float, bool, list, dict, type(None)})
"""The types of cells that need no conversion."""


def without_arrays(value: Any) -> Any:
    """Return the value with lists instead of numpy arrays, and Python numbers instead of numpy numbers."""
    if type(value) in PLAIN or not hasattr(value, "tolist"):
        return value
    return _deep(value.tolist())


def _deep(value: Any) -> Any:
    """Convert the content of an array, which may contain other arrays."""
    if isinstance(value, list):
        return [_deep(item) for item in value]
    if isinstance(value, dict):
        return {key: _deep(item) for key, item in value.items()}
    return without_arrays(value)


def _document_row(document: object) -> object:
    if not isinstance(document, Document):
        return document
    row = {item.name: getattr(document, item.name) for item in fields(document)}
    return {name: value for name, value in row.items() if value not in (None, {})}


@dataclass(frozen=True, slots=True)
class Row:
    """One row of the input.

    Attributes:
        index: the position of the row, from 0.
        place: where the row is in the input, for messages: ``questions.jsonl, line 7`` or ``row 3``.
        sample: the data of the row; if the row cannot be read, an empty sample (with the id, if there is one).
        problem: why the row cannot be read, in a message that starts with the place; None if it can be read.
        asked: the names of the metrics that are asked about the row; None: all metrics.
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
        """Return the same error with the place of the row in its message."""
        if isinstance(error, MissingInput):
            return MissingInput(error.metric, error.field, f"{error.problem} in {self.place}", error.cure)
        return InvalidInput(f"{self.place}: ", *error.args)
