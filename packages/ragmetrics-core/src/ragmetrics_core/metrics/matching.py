"""Find out which retrieved documents are relevant. All ranking metrics share this step.

Two documents are the same if their values in the matching field are equal (Python ``==``, so 1 equals True). Each relevant value
is credited once, at the first rank where it appears. A repeated document, one without a match and one without a value keep their
ranks, so no later document moves up. These are the ranks of trec_eval. Values are looked up in a dict, which makes tens of
thousands of queries a second possible; values that cannot be hashed, such as lists in ``meta``, are compared one after the other.

A document's ``score`` plays no part here: every document in ``reference_documents`` is relevant. Only NDCG reads grades.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from ragmetrics_core import Details, Document, InvalidInput, Metric, Score
from ragmetrics_core.metrics.settings import check_whole

__all__ = ["DocumentList", "Hits", "RankingMetric", "check_cut_off", "find_hits"]


DocumentList = Sequence[Document | str]
"""Documents as ``measure`` gets them; a text stands for a document with this content and this id."""


class Hits(NamedTuple):
    """The result of matching a ranking with the relevant documents.

    Attributes:
        ranks: the rank of each hit, from 1, ascending.
        found: for each hit, the index of its relevant document in the given list, from 0.
        relevant: the index of each distinct relevant document, ascending; of duplicates the first.
        retrieved: the number of ranks that count: all retrieved documents, or the first k of them.
        k: the cut-off; None if there is none.
        problem: why nothing could be found, in words; empty if something could be found.
        details: ranks and counts, as the evidence of a score.
    """

    ranks: list[int]
    found: list[int]
    relevant: list[int]
    retrieved: int
    k: int | None
    problem: str
    details: Mapping[str, Any]

    def score(self, value: float, **evidence: Any) -> Score:
        """Return a score with the hits and ``evidence`` in its details. It is unscored if nothing could be found."""
        details = {**self.details, **evidence} if evidence else self.details
        if not self.relevant:
            return Score.unscored(self.problem, details=details)
        return Score(value, reason=self.problem or None, details=details)


def check_cut_off(metric: str, k: object, field: object) -> None:
    """Check ``k`` and ``field``, the settings of all ranking metrics.

    Raises:
        InvalidInput: ``k`` is neither None nor a whole number from 1, or ``field`` is not a matching field.
    """
    check_whole(metric, "k", k, or_none=True)
    is_path = isinstance(field, str) and field.startswith("meta.") and all(field.split("."))
    if field not in ("content", "id") and not is_path:
        hint = f": write 'meta.{field}' for an entry of the metadata" if str(field).isidentifier() else ""
        raise InvalidInput(f"{metric}: field must be 'content', 'id' or 'meta.<key>[.<key>]', got {field!r}{hint}")


def find_hits(retrieved: DocumentList, reference: DocumentList, field: str, k: int | None) -> Hits:
    """Match the first k retrieved documents (None: all) with the relevant ones, in rank order.

    Metrics that score the same row get the same two lists. The first metric matches them, and the others reuse its result.
    """
    cache: dict[Any, Any] | None = getattr(reference, "found", None)
    if cache is None:
        return _match(retrieved, reference, field, k)
    key = (field, k)
    pair = cache.get(key)
    if pair is None or pair[0] is not retrieved:
        pair = cache[key] = (retrieved, _match(retrieved, reference, field, k))
    return pair[1]


def _match(retrieved: DocumentList, reference: DocumentList, field: str, k: int | None) -> Hits:
    relevant_values = _values(reference, field)
    retrieved_values = _values(retrieved if k is None else retrieved[:k], field)
    try:
        ranks, indices, relevant = _look_up(relevant_values, retrieved_values)
    except TypeError:  # a value that cannot be hashed
        ranks, indices, relevant = _search(relevant_values, retrieved_values)
    without_values = ""
    if not relevant:
        without_values = f"{len(relevant_values)} reference_documents"
    elif not ranks and retrieved_values and all(value is None for value in retrieved_values):
        without_values = f"{len(retrieved_values)} retrieved_documents"
    problem = without_values and f"none of the {without_values} has a value in the field {field!r} to match by"
    cut_off = {} if k is None else {"k": k}
    details = Details(ranks=ranks, relevant=len(relevant), retrieved=len(retrieved_values), **cut_off)
    return Hits(ranks, indices, relevant, len(retrieved_values), k, problem, details)


Matches = tuple[list[int], list[int], list[int]]


def _look_up(wanted: list[Any], shown: list[Any]) -> Matches:
    indexes: dict[Any, int] = {}
    for index, value in enumerate(wanted):
        # NaN is not equal to itself, but a dict would find the same NaN object
        if value is not None and value == value and value not in indexes:  # noqa: PLR0124
            indexes[value] = index
    relevant = list(indexes.values())
    ranks, found = [], []
    for rank, value in enumerate(shown, 1):
        if value in indexes:
            ranks.append(rank)
            found.append(indexes.pop(value))
    return ranks, found, relevant


def _search(wanted: list[Any], shown: list[Any]) -> Matches:
    """Match values that cannot be hashed: give equal values the same number, and look up the numbers."""
    distinct: list[Any] = []

    def number_of(value: Any) -> int | None:
        if value is None or value != value:  # noqa: PLR0124
            return None
        if value not in distinct:
            distinct.append(value)
        return distinct.index(value)

    return _look_up(list(map(number_of, wanted)), list(map(number_of, shown)))


def _values(documents: DocumentList, field: str) -> list[Any]:
    """Return each document's value in the field; None if it has none. A plain text serves as its content and as its id."""
    if field == "content":
        return [item if isinstance(item, str) else item.content for item in documents]
    if field == "id":
        return [item if isinstance(item, str) else item.id for item in documents]
    keys = field.split(".")[1:]
    return [None if isinstance(item, str) else _entry(item.meta, keys) for item in documents]


def _entry(meta: Any, keys: list[str]) -> Any:
    for key in keys:
        if not isinstance(meta, Mapping):
            return None
        meta = meta.get(key)
    # arrays (from Parquet files) compare item by item; lists compare as a whole
    return meta.tolist() if hasattr(meta, "tolist") else meta


@dataclass(frozen=True)
class RankingMetric(Metric):
    """Base of metrics that compare a ranking of retrieved documents with the relevant documents.

    Attributes:
        k: count the first k retrieved documents only; None: all.
        field: the field by which two documents are the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``.
    """

    k: int | None = None
    field: str = "content"

    def __post_init__(self) -> None:
        super().__post_init__()
        check_cut_off(self.name, self.k, self.field)

    def measure(self, retrieved_documents: DocumentList, reference_documents: DocumentList) -> Score:
        """Score one ranking. The details hold the ranks of the hits and the number of relevant documents."""
        hits = find_hits(retrieved_documents, reference_documents, self.field, self.k)
        return hits.score(self._value_of(hits) if hits.ranks else 0.0)

    def _value_of(self, hits: Hits) -> float:
        """Return the value of a ranking with at least one hit."""
        raise NotImplementedError
