"""RAG evaluation metrics in pytest: rows as tests that assert on evidence, and a gate for the session that decides on intervals.

    @pytest.mark.ragmetrics(rows="questions.jsonl", metrics=["faithfulness"])
    def test_answers(ragmetrics_row):
        assert_score(ragmetrics_row["faithfulness"], at_least=0.8)

pytest finds the plugin by itself. This module is for type hints: ``ScoredRow`` is what the fixture ``ragmetrics_row`` gives, and
``Scorer`` what ``ragmetrics_scorer`` gives. Importing it loads neither ragmetrics_core nor asyncio.
"""

from __future__ import annotations

from ._row import ScoredRow, Scorer

__all__ = ["ScoredRow", "Scorer"]

__version__ = "0.1.0"
