"""Token F1 of two answers."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from ragmetrics_core import Metric, Score
from ragmetrics_core.metrics.squad import words


@dataclass(frozen=True)
class TokenF1(Metric):
    """Overlap of the words of response and reference (0 to 1): SQuAD's F1, for text in any script.

    2 * words in common / (words of the response + words of the reference). A word counts as often as it occurs in both. Case,
    punctuation and the English articles a, an and the are ignored. Chinese, Japanese and Korean are split into characters. If
    neither text has a word left the value is 1.0; if only one has none it is 0.0, as in SQuAD 2.0.

    Source: Rajpurkar et al. 2016, SQuAD, arXiv:1606.05250, section 6.1, and the official script evaluate-v2.0.py; punctuation and
    characters beyond ASCII as in Lewis et al. 2020, MLQA, arXiv:1910.07475, official script mlqa_evaluation_v1.py.
    """

    def measure(self, response: str, reference: str) -> Score:
        """Score one answer. The details hold the counts of words, precision and recall."""
        ours, theirs = words(response), words(reference)
        details: dict[str, float] = {"response_words": len(ours), "reference_words": len(theirs)}
        if not ours or not theirs:
            return Score(float(ours == theirs), details=details)
        common = (Counter(ours) & Counter(theirs)).total()
        details |= {"common_words": common, "precision": common / len(ours), "recall": common / len(theirs)}
        return Score(2 * common / (len(ours) + len(theirs)), details=details)
