"""One program of a dry run: its questions, and what they are answered with in the place of a model."""

from __future__ import annotations

from typing import Any

from .._engine import Assignment, ReplyStore
from .._kernel._errors import InvalidInput, MissingInput, ModelError
from .._kernel._inputs import Reading
from .._kernel._requests import Ask, Compare, Reply, Request
from .._kernel._score import Score
from .._kernel._steps import Outcome, Steps, next_round
from ._asking import AskedModel, Cost
from ._stand_in import likely_reply

TEXTS_PER_CALL = 512
"""Requests for embeddings that go in one call where rows ask for nothing else before."""

ROUNDS = 200
"""No program goes on for longer with replies that are made up."""

FIRST_ATTEMPT = 2
"""Messages of a question that is put for the first time."""

Known = dict[tuple[int, int, Request], tuple[Any, bool]]
"""What a row has been told so far, by model, repeat and request; with whether it was made up."""


class Replies:
    """Where the replies of a dry run come from.

    Args:
        journal: the replies that are there already; None where none are kept.

    Attributes:
        kept: whether there is a journal.
        models: every model that was asked, by its ``id``.
        coming: replies that would be in the journal by now, by their keys there.
        unforeseen: names of prompts that no reply could be thought of for.
    """

    def __init__(self, journal: ReplyStore | None) -> None:
        self._journal = journal
        self.kept = journal is not None
        self.models: dict[int, AskedModel] = {}
        self.coming: dict[bytes, Any] = {}
        self.unforeseen: set[str] = set()

    def model(self, model: Any) -> AskedModel:
        """A model as it is asked here."""
        if id(model) not in self.models:
            self.models[id(model)] = AskedModel(model, stored=self.kept)
        return self.models[id(model)]

    def found(self, digest: bytes | None) -> Reply[Any] | None:
        """The reply that stands in the journal."""
        return None if digest is None or self._journal is None else self._journal.find(digest)


class Walk:
    """One program, from its start to its end.

    Args:
        replies: who answers.
        assignment: the metric, and who would answer.
        told: what the row has been told so far; filled in here.
        replayed: whether replies are taken from the journal.

    Attributes:
        new, paid: what it asks by model: anew, and of the journal.
        shared: questions that were answered already.
        guessed: whether anything it was told was made up.
        rounds: how many rounds of new questions it waits for.
    """

    def __init__(self, replies: Replies, assignment: Assignment, told: Known, *, replayed: bool) -> None:
        self._replies = replies
        self._assignment = assignment
        self._told = told
        self._replayed = replayed
        self.new: dict[int, Cost] = {}
        self.paid: dict[int, Cost] = {}
        self.shared = 0
        self.guessed = False
        self.rounds = 0

    def go(self, reading: Reading) -> bool:
        """Go through the program; False where the row cannot be scored."""
        try:
            program = self._assignment.metric.begin(reading)
        except (MissingInput, InvalidInput, ModelError):
            return False
        return isinstance(program, Score) or self._drive(program)

    def _drive(self, program: Steps[Score]) -> bool:
        outcomes: list[Outcome] | None = None
        try:
            for _ in range(ROUNDS):
                requests = next_round(program, outcomes)
                before = sum(cost.calls for cost in self.new.values())
                outcomes = []
                for request in requests:
                    if (
                        isinstance(request, Ask)
                        and len(request.messages) > FIRST_ATTEMPT
                        and not self._replayed_one(request)
                    ):
                        # a second attempt: what was made up for the first one could not be used
                        self._replies.unforeseen.add(request.prompt.name)
                        return True
                    outcomes.append(self._answer(request))
                self.rounds += sum(cost.calls for cost in self.new.values()) > before
        except (MissingInput, InvalidInput):
            return False
        except (StopIteration, ModelError):
            return True
        finally:
            program.close()
        return True

    def _replayed_one(self, ask: Ask) -> bool:
        return self._replayed and self._replies.found(self._digest(ask)) is not None

    def _digest(self, request: Request) -> bytes | None:
        keys = self._replies.model(self._model(request)).keys
        return None if keys is None else keys.key(request, self._assignment.repeat if isinstance(request, Ask) else 0)

    def _model(self, request: Request) -> Any:
        models = self._assignment.models.asked_by(request)
        return models.llm if isinstance(request, Ask) else models.embeddings

    def _answer(self, request: Request) -> Reply[Any]:
        model = self._model(request)
        key = (id(model), self._assignment.repeat if isinstance(request, Ask) else 0, request)
        if key in self._told:
            self.shared += 1
        else:
            self._told[key] = self._value(request, model)
        value, made_up = self._told[key]
        self.guessed |= made_up
        return Reply(value)

    def _value(self, request: Request, model: Any) -> tuple[Any, bool]:
        """The reply to a question that is new in this row, and whether it is made up; its cost is noted."""
        digest = self._digest(request) if self._replayed else None
        found = self._replies.found(digest)
        if found is not None:
            _of(self.paid, model).add(1, found.usage.prompt_tokens, found.usage.completion_tokens)
            return found.value, False
        if digest is not None and digest in self._replies.coming:
            self.shared += 1
            return self._replies.coming[digest], True
        value = _made_up(request)
        text = value if isinstance(value, str) else None
        asked = self._replies.model(model)
        prompt, completion = asked.cost(request, text)
        alone = isinstance(request, Ask) or self.rounds or asked.free
        calls = 1.0 if alone else 1.0 / TEXTS_PER_CALL
        _of(self.new, model).add(calls, prompt, completion)
        if digest is not None:
            self._replies.coming[digest] = value
        return value, True


def _made_up(request: Request) -> Any:
    if isinstance(request, Ask):
        return likely_reply(request)
    if isinstance(request, Compare):
        return [0.5] * len(request.pairs)
    return [[1.0, 0.5]] * len(request.texts)


def _of(costs: dict[int, Cost], model: Any) -> Cost:
    return costs.setdefault(id(model), Cost())
