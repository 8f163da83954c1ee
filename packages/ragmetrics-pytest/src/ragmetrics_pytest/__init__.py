"""RAG evaluation metrics in pytest: one test for each row, with assertions on the scores, and gates that decide at the end of
the session whether it fails.

    @pytest.mark.ragmetrics(rows="questions.jsonl", metrics=["faithfulness"])
    def test_answers(ragmetrics_row):
        assert_score(ragmetrics_row["faithfulness"], at_least=0.8)

pytest finds the plugin by itself. This module is for type hints: the fixture ``ragmetrics_row`` returns a ``ScoredRow``, and the
fixture ``ragmetrics_scorer`` returns a ``Scorer``. Importing the module loads neither ragmetrics_core nor asyncio.
"""

from __future__ import annotations

from ._row import ScoredRow, Scorer

__all__ = ["ScoredRow", "Scorer"]

__version__ = "0.1.0"
