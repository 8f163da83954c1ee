"""Running the extractors of a callback: the built-in ones, and those of the user, whose results are checked.

Strategy. An extractor of the user's may raise or return anything. What it cannot mean leaves the field empty, and the record says
what it returned and what would do.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from langchain_core.messages import BaseMessage

from ragmetrics_core import InvalidInput, Sample
from ragmetrics_core.adapters import settled

from ._documents import contexts_in
from ._messages import text_of
from ._recover import Extractor, answer_of, contexts_of, question_of
from ._references import FROM_METADATA, references_in
from ._runs import FinishedRun
from ._samples import with_contexts

__all__ = ["Extractors"]

BUILT_IN: Mapping[str, Extractor] = {"question": question_of, "answer": answer_of, "contexts": contexts_of}


@dataclass
class Recovered:
    """A sample that is being put together: its fields so far, and what went wrong."""

    fields: dict[str, Any] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)


class Extractors:
    """What finds question, answer and contexts in a finished run.

    Args:
        question, answer, contexts: functions of a run.

    Raises:
        InvalidInput: one of them is no function.
    """

    def __init__(self, **given: Extractor) -> None:
        for name, extractor in given.items():
            if not callable(extractor):
                raise InvalidInput(f"{name} must be a function of a FinishedRun, got {extractor!r}")
        self._built_in = {name: item for name, item in given.items() if item is BUILT_IN[name]}
        self._own = {name: item for name, item in given.items() if item is not BUILT_IN[name]}

    def start(self, run: FinishedRun) -> Callable[[], tuple[Sample, str | None]]:
        """Read at once what may change later, and return the rest of the work: the user's own functions."""
        recovered = Recovered()
        for name, extractor in self._built_in.items():
            _extract(name, extractor, run, recovered)
        metadata = {name: value for name, value in run.metadata.items() if name not in FROM_METADATA}
        references, problems = references_in(run.metadata)
        example = run.metadata.get("example_id")
        known = Sample(metadata=metadata, id=None if example is None else str(example), **references)
        recovered.problems.extend(problems)

        def complete() -> tuple[Sample, str | None]:
            for name, extractor in self._own.items():
                _extract(name, extractor, run, recovered)
            return known.updated(recovered.fields), "; ".join(recovered.problems) or None

        return complete

    @property
    def are_built_in(self) -> bool:
        """Whether no function of the user's has to be called."""
        return not self._own


def _extract(name: str, extractor: Extractor, run: FinishedRun, into: Recovered) -> None:
    read = _contexts if name == "contexts" else _text
    outcome = settled(lambda: extractor(run))
    error = outcome.exception()
    if error is not None:
        into.problems.append(f"the extractor of the {name} raised {type(error).__name__}: {error}")
        return
    checked = settled(lambda: read(name, outcome.result()))
    problem = checked.exception()
    if problem is not None:
        into.problems.append(str(problem))
        return
    into.fields.update(checked.result())


def _text(name: str, found: Any) -> dict[str, Any]:
    if found is not None and not isinstance(found, str | BaseMessage):
        raise InvalidInput(
            f"the extractor of the {name} returned {type(found).__name__}: return a text, a message or None"
        )
    return {"user_input" if name == "question" else "response": text_of(found)}


def _contexts(name: str, found: Any) -> dict[str, Any]:
    contexts = contexts_in(found)
    if contexts is None and found is not None and not isinstance(found, str):
        raise InvalidInput(
            f"the extractor of the {name} returned {type(found).__name__}: return texts, documents, a list of them or None"
        )
    return {} if contexts is None else with_contexts(contexts)
