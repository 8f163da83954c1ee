"""NDCG: how close a ranking comes to the best possible ranking, if some documents matter more than others."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from math import fsum, inf, log2, nan
from operator import itemgetter
from typing import Any

from ragmetrics_core import InvalidInput, Score
from ragmetrics_core.metrics.matching import DocumentList, Hits, RankingMetric, find_hits


@dataclass(frozen=True)
class NDCG(RankingMetric):
    """Normalised discounted cumulated gain: the gain of the ranking / the gain of the ideal ranking (0 to 1).

    DCG is the sum over hits of grade / log2(rank + 1); the value is DCG / ideal DCG. The ideal ranking has all distinct relevant
    documents by descending grade, cut at k like the ranking. The grade of a relevant document is its ``score`` (linear gain), or
    1.0 for all documents if none has a score. Of duplicates the highest grade counts. If all grades are 0, there is nothing to
    find and the sample is unscored.

    Args:
        k: count the first k retrieved documents only; None: all.
        field: the field by which two documents are the same: ``content``, ``id`` or ``meta.<key>[.<key>]``.

    Raises:
        InvalidInput: an impossible ``k`` or ``field``. From ``measure``: only some of the relevant documents have a score, or a
            score is not a number, is negative or is not finite.

    Source: Järvelin, Kekäläinen 2002, Cumulated gain-based evaluation of IR techniques, ACM TOIS 20(4), section 2, with the
    discount log2(rank + 1) of trec_eval, measures ``ndcg`` and ``ndcg_cut``.
    """

    def measure(self, retrieved_documents: DocumentList, reference_documents: DocumentList) -> Score:
        """Score one ranking. The details hold the ranks of the hits and, if documents have grades, their grades."""
        grades = self._grades(reference_documents)
        if grades:
            # of duplicates the first one counts, so sort the best to the front
            best_first = sorted(zip(grades, reference_documents, strict=True), key=itemgetter(0), reverse=True)
            hits = find_hits(retrieved_documents, [document for _, document in best_first], self.field, self.k)
            return self._graded(hits, [grade for grade, _ in best_first])
        hits = find_hits(retrieved_documents, reference_documents, self.field, self.k)
        if not hits.ranks:
            return hits.score(0.0)
        best = min(len(hits.relevant), self.k or len(hits.relevant))
        return hits.score(min(1.0, fsum(map(_discount, hits.ranks)) / _ideal(best)))

    def _graded(self, hits: Hits, grades: list[float]) -> Score:
        """Return the score, given the grades of all relevant documents in descending order."""
        if not hits.relevant:
            return hits.score(0.0)
        top = grades[hits.relevant[0]]
        if top == 0:
            nothing = "every relevant document has the grade 0, so there is nothing to find"
            return Score.unscored(nothing, details={"ranks": hits.ranks, "relevant": len(hits.relevant)})
        hit_grades = [grades[index] for index in hits.found]
        ideal = [grades[index] for index in hits.relevant[: self.k]]
        # grades relative to the highest, so that sums of huge grades do not overflow
        gain = fsum(grade / top * _discount(rank) for rank, grade in zip(hits.ranks, hit_grades, strict=True))
        best = fsum(grade / top * _discount(rank) for rank, grade in enumerate(ideal, 1))
        return hits.score(min(1.0, gain / best), grades=hit_grades)

    def _grades(self, documents: DocumentList) -> list[float]:
        """Return the grade of each relevant document; empty if none has one."""
        scores = [None if isinstance(document, str) else document.score for document in documents]
        missing = scores.count(None)
        if missing == len(scores):
            return []
        if missing:
            first = f"reference_documents[{scores.index(None)}]"
            raise InvalidInput(f"{self.name}: {first} has no score, but others have: score all or none")
        grades = [_float(score) for score in scores]
        for row, (score, grade) in enumerate(zip(scores, grades, strict=True)):
            if not 0 <= grade < inf:
                raise InvalidInput(f"{self.name}: reference_documents[{row}] has the score {score!r}: give 0 or more")
        return grades


def _float(score: Any) -> float:
    """Return a float for any real number, numpy scalars included; NaN for anything else, texts included."""
    try:
        return float(score) if hasattr(score, "__float__") else nan
    except OverflowError:  # an int that is too large for a float
        return inf


@lru_cache(maxsize=1024)  # few different ranks occur
def _discount(rank: int) -> float:
    return 1 / log2(rank + 1)


@lru_cache(maxsize=1024)
def _ideal(relevant: int) -> float:
    """Return the gain of a ranking that begins with ``relevant`` equally relevant documents."""
    return fsum(map(_discount, range(1, relevant + 1)))
