"""Running the extractors of a callback: the built-in ones, and those of the user, whose results are checked.

Strategy. An extractor of the user's may raise or return anything. What it cannot mean leaves the field empty, and the record says
what it returned and what would do.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from langchain_core.messages import BaseMessage

from ragmetrics_core import InvalidInput, Sample
from ragmetrics_core.adapters import settled

from ._live._recover import FROM_METADATA, Extractor, answer_of, contexts_of, question_of, references_in
from ._reading._contexts import contexts_in, with_contexts
from ._reading._messages import text_of
from ._runs import FinishedRun

__all__ = ["Extractors", "Reading"]

BUILT_IN: Mapping[str, Extractor] = {"question": question_of, "answer": answer_of, "contexts": contexts_of}


class Reading:
    """The sample of one run, as far as it is recovered, and what went wrong on the way.

    Args:
        run: what has finished.
        known: what does not have to be recovered.
        own: the functions of the user's that are still to be called.
    """

    def __init__(self, run: FinishedRun, known: Sample, problems: list[str], own: Mapping[str, Extractor]) -> None:
        self._run = run
        self._known = known
        self._fields: dict[str, Any] = {}
        self._problems = problems
        self._missing = dict(own)

    @property
    def is_complete(self) -> bool:
        """Whether every function of the user's has returned."""
        return not self._missing

    def complete(self) -> None:
        """Call the functions of the user's that have not been called."""
        for name in list(self._missing):
            self.read(name, self._missing[name])
            del self._missing[name]

    def sample(self) -> tuple[Sample, str | None]:
        """What is recovered so far, and what went wrong."""
        late = [f"the extractor of the {name} did not return in time" for name in list(self._missing)[:1]]
        return self._known.updated(self._fields), "; ".join([*self._problems, *late]) or None

    def read(self, name: str, extractor: Extractor) -> None:
        """What one extractor finds."""
        read = _contexts if name == "contexts" else _text
        outcome = settled(lambda: extractor(self._run))
        error = outcome.exception()
        if error is not None:
            self._problems.append(f"the extractor of the {name} raised {type(error).__name__}: {error}")
            return
        checked = settled(lambda: read(name, outcome.result()))
        problem = checked.exception()
        if problem is not None:
            self._problems.append(str(problem))
            return
        self._fields.update(checked.result())


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

    def start(self, run: FinishedRun) -> Reading:
        """Read at once what may change later; the user's own functions are left to ``complete``."""
        metadata = {name: value for name, value in run.metadata.items() if name not in FROM_METADATA}
        references, problems = references_in(run.metadata)
        example = run.metadata.get("example_id")
        known = Sample(metadata=metadata, id=None if example is None else str(example), **references)
        reading = Reading(run, known, problems, self._own)
        for name, extractor in self._built_in.items():
            reading.read(name, extractor)
        return reading


def _text(name: str, found: Any) -> dict[str, Any]:
    if found is not None and not isinstance(found, str | BaseMessage):
        raise InvalidInput(
            f"the extractor of the {name} returned {type(found).__name__}: return a text, a message or None"
        )
    if name == "question":
        return {"user_input": text_of(found)}
    return {"response": str(found.text) if isinstance(found, BaseMessage) else found}  # blank is not missing


def _contexts(name: str, found: Any) -> dict[str, Any]:
    contexts = contexts_in(found)
    if contexts is None and found is not None and not isinstance(found, str):
        raise InvalidInput(
            f"the extractor of the {name} returned {type(found).__name__}: return texts, documents, a list of them or None"
        )
    return {} if contexts is None else with_contexts(contexts)
