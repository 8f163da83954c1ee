"""List the batches of RUN_DIR, the directory of a run with --batch: their state, what they have answered, and the cost so far.

\b
Examples:
  ragmetrics batches runs/today
  ragmetrics batches runs/today --cancel --llm openai:gpt-4o-mini

No model is called, except to cancel. A cancelled batch delivers what it has answered; the command of the run collects that.

Exit status: 0; 2 there are no batches, or one could not be cancelled; 70 a bug; 130 stopped.
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from .._show._tables import room, table
from .._store._batch_ledger import CLOSED, Ledger, Submission
from .._store._prices import ModelUsage, add_up
from .._values._batches import BatchApi, LostBatch
from .._values._errors import InvalidInput
from .._values._layout import printable
from .._values._requests import Usage
from ._options import BASE_URL, LLM, argument, flag
from ._output import clear_errors, say
from ._parsing import parse_models

RUN_DIR = argument("RUN_DIR", "The directory of --run-dir.")
CANCEL = flag("--cancel", "Cancel the open batches of the model that --llm names.")


def batches(
    run_dir: Path = RUN_DIR, *, cancel: bool = CANCEL, llm: str | None = LLM, base_url: str | None = BASE_URL
) -> None:
    """List or cancel the batches of a run."""
    with clear_errors():
        submissions = Ledger(run_dir).submissions
        if not submissions:
            raise InvalidInput(f"there are no batches in {run_dir}: give the --run-dir of a run with --batch")
        if cancel:
            _cancel([item for item in submissions if item.state == "created"], llm, base_url)
        say(_table(submissions))
        if any(item.state not in CLOSED for item in submissions):
            say("answers of open batches are counted when the command of the run has collected them")
        for usage in _spent(submissions):
            say(f"cost so far {printable(usage.name)}: {usage.cost() or 'nothing'}")


def _cancel(submissions: list[Submission], llm: str | None, base_url: str | None) -> None:
    """Cancel the open batches of one model.

    Raises:
        InvalidInput: no model is named, or no batch of this model is open.
        ModelError: the provider does not cancel a batch.
    """
    if llm is None:
        raise InvalidInput("--cancel needs the model whose batches to cancel: add --llm, as in the command of the run")
    model: Any = parse_models(llm, None, base_url)["llm"]
    api = model.batches() if hasattr(model, "batches") else None
    found = [item for item in submissions if api and (item.called, item.base_url) == (model.model, api.base_url)]
    if api is None or not found:
        raise InvalidInput(f"--cancel: no batch of {llm} is open")
    outcomes = [_cancelled(api, submission) for submission in found]
    for outcome in outcomes:
        if isinstance(outcome, str):
            say(f"{outcome}: the command of the run collects what it has answered")
    for outcome in outcomes:
        if isinstance(outcome, LostBatch):
            raise outcome


def _cancelled(api: BatchApi, submission: Submission) -> str | LostBatch:
    """Cancel a batch; return what became of it. If it is not known, the others are cancelled nevertheless."""
    try:
        state = api.retrieve(submission.batch)
        if not state.is_final:
            api.cancel(submission.batch)
    except LostBatch as error:
        return error
    return f"{submission.batch} is {state.status}" if state.is_final else f"cancelling {submission.batch}"


def _table(submissions: list[Submission]) -> str:
    rows = [
        (
            item.batch or item.name,
            item.state,
            f"{item.answered:,} of {item.lines:,}",
            time.strftime("%m-%d %H:%M", time.localtime(item.at)),
            f"{item.prompt_tokens + item.completion_tokens:,}",
            printable(item.called),
        )
        for item in submissions
    ]
    return table(["batch", "state", "answered", time.strftime("since (%Z)"), "tokens", "model"], rows, room())


def _spent(submissions: list[Submission]) -> tuple[ModelUsage, ...]:
    """Return what was paid, by model."""
    usages = [(item, Usage(item.answered, item.prompt_tokens, item.completion_tokens)) for item in submissions]
    return add_up(ModelUsage(item.called, item.base_url, usage, batched=usage) for item, usage in usages)
