"""What models were asked for each score and what they replied, read from the journal of the run.

A line of ``scores.jsonl`` names the calls of each metric with their keys in the journal. Where there is nothing to read, the
reason is shown.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import Any

from .._values._errors import RagmetricsError
from ._journal import Journal
from ._records import Record
from ._run_dir import JOURNAL
from ._run_settings import RunSettings, ScoredBy

WITHOUT_JOURNAL = "messages and replies are kept only by a run with a directory (run_dir, --run-dir)"
NOT_ASKED = "no language model was asked"
UNKNOWN = "only the directory of a run, with its run.json, has them"
NAMELESS = "the model does not say what it is (identity), so its replies are not kept"
EARLIER = "an earlier version scored this row, and kept no messages"


class Exchanges:
    """The messages and the replies of a run.

    Args:
        run_dir: its directory; None without one.
        settings: the settings that determine its scores; None if unknown.
        names: the names of its metrics.

    Attributes:
        problems: for each metric, why it has no exchanges, if it has none.
    """

    def __init__(self, run_dir: Path | None, settings: RunSettings | None, names: Iterable[str]) -> None:
        self._journal: Journal | None = None
        scored_by = settings.scored_by if settings else {}
        there = run_dir is not None and (run_dir / JOURNAL).exists()
        self.problems = {name: _problem(scored_by.get(name), there) for name in names}
        if run_dir is not None and there:
            try:
                self._journal = Journal(run_dir / JOURNAL)
            except RagmetricsError as error:
                self.problems = dict.fromkeys(self.problems, str(error))

    def of(self, record: Record) -> dict[str, list[dict[str, Any]]]:
        """Return for each metric the messages to language models about a row, in order, each with its reply (None if the reply
        was not stored).
        """
        exchanges_by_metric: dict[str, list[dict[str, Any]]] = {}
        if self._journal is None:
            return exchanges_by_metric
        for name, calls in record.calls.items():
            try:
                exchanges = [_exchange(self._journal, call) for call in calls]
            except RagmetricsError as error:  # the journal is damaged
                self.problems[name] = str(error)
                continue
            if all(item["messages"] or item["reply"] is None for item in exchanges):
                exchanges_by_metric[name] = exchanges
        return exchanges_by_metric

    def close(self) -> None:
        """Close the journal."""
        if self._journal is not None:
            self._journal.close()


def _exchange(journal: Journal, call: str) -> dict[str, Any]:
    prompt, _, key = call.rpartition(" ")
    reply = journal.find(bytes.fromhex(key))
    return {
        "prompt": prompt,
        "messages": journal.messages(bytes.fromhex(key)) or [],
        "reply": None if reply is None else reply.value,
    }


def _problem(scored_by: ScoredBy | None, has_journal: bool) -> str:
    """Return why a row that a metric scored in this way has no exchanges."""
    if scored_by is None:
        return UNKNOWN
    if scored_by.llm is None:
        return NOT_ASKED
    if scored_by.llm.is_unknown:
        return NAMELESS
    return EARLIER if has_journal else WITHOUT_JOURNAL
