"""What a run would ask and cost, found out without a call: the same programs over the same rows, with replies made up here.

Within a row, and between rows where replies are kept, the same question is asked once, as in a run. Replies in the journal of
the run are used as they are: they are paid, and what they say decides how the program goes on. A row whose replies are all
there measures how far the made-up ones are from the truth: what it really took, over what the made-up replies would have taken,
is the factor for the rows that are still to come (a ratio estimate, as in surveys), for calls, prompt tokens and completion
tokens apart.

How many questions a program asks follows from the replies, so a made-up reply must be readable. It is built from the schema of
the reply; what the offline judge would say fills the places that decide how a program goes on. Its length is that of a language
model's: one claim for 10.5 tokens of an answer (13.3 in 948 answers whose claims people have labelled, 11 by readers who
answered the prompts of this library, 7.6 in the example of RAGChecker: the mean of the three), of about as many tokens each;
reasons of one sentence; as many questions as it is asked for, of 13 tokens each (the median of 1,499 questions of people).
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any

from .._engine import Assignment, Keys, ReplyStore
from .._kernel._inputs import Reading
from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome, Steps, next_round
from .._lexical._judge import LexicalJudge
from .._store._prices import ModelUsage
from .._support._strict_schema import strict_schema
from .._support._tokens import tokens_in
from .._values._errors import BadReply, InvalidInput, MissingInput, ModelError
from .._values._requests import Ask, Compare, Embed, Reply, Request, Usage
from .._values._sample import Row
from .._values._score import Score
from ._estimate import LEAST_MEASURED, Estimate, MetricEstimate

PER_MESSAGE, PER_QUESTION, PER_SCHEMA = 3, 3, 10
"""Tokens that the chat protocol adds to each message, to each question, and to a schema that is sent with it."""


@dataclass
class Cost:
    """What was or will be asked of one model: calls, prompt and completion tokens."""

    calls: float = 0.0
    prompt: float = 0.0
    completion: float = 0.0

    def add(self, calls: float, prompt: float, completion: float) -> None:
        """Add to it."""
        self.calls += calls
        self.prompt += prompt
        self.completion += completion


class AskedModel:
    """A model as a dry run sees it.

    Args:
        model: the model, or None.
        stored: whether its replies are looked for in a journal.

    Attributes:
        keys: of its replies in the journal; None if they cannot be there.
        free: whether it computes in place.
    """

    def __init__(self, model: Any, *, stored: bool) -> None:
        self.model = model
        traits = ModelTraits.of(model)
        self.keys = Keys(traits.identity) if stored and traits.identity else None
        self.free = traits.instant
        self._remote = traits.settings.get("base_url") is not None
        self._schemas = traits.settings.get("structured", "schema") == "schema"
        self._known: dict[str, float] = {}  # system messages and schemas, which stay the same

    def cost(self, request: Request, reply: str | None) -> tuple[float, float]:
        """Prompt and completion tokens."""
        if self.free:
            return 0.0, 0.0
        if isinstance(request, Ask):
            return self._asked(request), tokens_in(reply or "")
        if not self._remote:
            return 0.0, 0.0
        texts = request.texts if isinstance(request, Embed) else {text for pair in request.pairs for text in pair}
        return sum(map(tokens_in, texts)), 0.0

    def _asked(self, ask: Ask) -> float:
        total = float(PER_QUESTION)
        for message in ask.messages:
            total += PER_MESSAGE + (
                self._once(message.content) if message.role == "system" else tokens_in(message.content)
            )
        if self._schemas and ask.wants_json and ask.reply.schema is not None:
            total += PER_SCHEMA + self._schema(ask)
        return total

    def _schema(self, ask: Ask) -> float:
        schema = ask.reply.schema
        assert schema is not None
        return self._once(json.dumps(strict_schema(schema) or dict(schema), separators=(",", ":"), default=str))

    def _once(self, text: str) -> float:
        if text not in self._known:
            self._known[text] = tokens_in(text)
        return self._known[text]


TOKENS_PER_CLAIM = 10.5

REASON = "The passage says this in so many words, and nothing else in it is at odds with what is asked, so the verdict is clear."
SHORT_REASON = "The second context says so directly, in its first sentence."
QUESTION = "When does the library of the town open on weekdays in summer?"
SENTENCE = "This is one statement of the usual length, as a model writes it."

JUDGE = LexicalJudge()


def likely_reply(ask: Ask) -> str:
    """A reply that a model might give; where none can be thought of that its form would take, a sentence."""
    said = _said(ask)
    schema = ask.reply.schema
    text = said if schema is None else json.dumps(_filled(schema, schema, _value(said), ""), ensure_ascii=False)
    return next((reply for reply in (text, "1", "yes") if reply is not None and _readable(ask, reply)), SENTENCE)


def _readable(ask: Ask, reply: str) -> bool:
    parse = getattr(ask.reply, "parse", None)
    try:
        return parse is not None and parse(reply) is not None
    except BadReply:
        return False


def _said(ask: Ask) -> str | None:
    """What the offline judge says, with as many claims as a language model would find."""
    try:
        said = JUDGE.generate(ask).value
    except ModelError:  # it does not know the prompt
        return None
    value = _value(said)
    for name in ("claims", "statements"):
        if isinstance(value, dict) and value.get(name) and isinstance(ask.inputs.get("answer"), str):
            value[name] = _claims(ask.inputs["answer"])
            if "statement_scores" in value:
                value |= {"statement_scores": [1 for _ in value[name]], "reasons": [SHORT_REASON for _ in value[name]]}
            return json.dumps(value, ensure_ascii=False)
    number = ask.inputs.get("number_of_questions")
    if isinstance(value, dict) and isinstance(value.get("questions"), list) and isinstance(number, int):
        return json.dumps(value | {"questions": [QUESTION] * number}, ensure_ascii=False)
    return said


def _value(said: str | None) -> Any:
    try:
        return None if said is None else json.loads(said)
    except ValueError:
        return None


def _claims(answer: str) -> list[str]:
    """The answer in equal parts, as many as it has claims."""
    number = max(1, round(tokens_in(answer) / TOKENS_PER_CLAIM))
    words = answer.split()
    pieces: Sequence[str] = words if len(words) >= number else answer
    glue = " " if pieces is words else ""
    ends = [round(part * len(pieces) / number) for part in range(number + 1)]
    return [glue.join(pieces[start:end]) for start, end in pairwise(ends) if start < end]


def _filled(schema: Any, root: Mapping[str, Any], said: Any, name: str) -> Any:
    """A value that the schema allows: what was said, where that says something."""
    schema = _resolved(schema, root)
    if "properties" in schema:
        given = said if isinstance(said, dict) else {}
        return {key: _filled(item, root, given.get(key), key) for key, item in schema["properties"].items()}
    if schema.get("type") == "array":
        items = said if isinstance(said, list) else [None, None]
        return [_filled(schema.get("items") or {}, root, item, name) for item in items]
    if schema.get("type") == "string" and "enum" not in schema and (said is None or name == "reason"):
        short = SHORT_REASON if re.search(r"short|brief", schema.get("description", "")) else REASON
        return short if name in ("reason", "feedback", "explanation") else SENTENCE
    if said is not None:
        return said
    return _plainest(schema)


def _plainest(schema: Mapping[str, Any]) -> Any:
    if "const" in schema:
        return schema["const"]
    if schema.get("enum"):
        return schema["enum"][0]
    if schema.get("type") in ("integer", "number"):
        return schema.get("minimum", 1)
    return {"boolean": True, "null": None, "object": {}}.get(str(schema.get("type")), SENTENCE)


def _resolved(schema: Any, root: Mapping[str, Any]) -> Mapping[str, Any]:
    """The schema itself, where it only points to it or offers a choice."""
    for _ in range(8):
        if not isinstance(schema, Mapping):
            return {}
        reference = schema.get("$ref")
        if isinstance(reference, str):
            schema = root.get("$defs", {}).get(reference.rpartition("/")[2], {})
        elif schema.get("anyOf"):
            schema = schema["anyOf"][0]
        else:
            return schema
    return {}


TEXTS_PER_CALL = 512
"""Requests for embeddings that go in one call where rows ask for nothing else before."""

ROUNDS = 200
"""No program goes on for longer with replies that are made up."""

FIRST_ATTEMPT = 2
"""Messages of a question that is put for the first time."""

Known = dict[tuple[int, int, Request], tuple[Any, bool]]
"""The replies that a row has had so far, by model, repeat and request; with whether each was made up."""


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
        """The reply that is in the journal."""
        return None if digest is None or self._journal is None else self._journal.find(digest)


class Walk:
    """One program, from its start to its end.

    Args:
        replies: the source of the replies.
        assignment: the metric, and the models that would answer.
        seen: the replies that the row has had so far; filled in here.
        replayed: whether replies are taken from the journal.

    Attributes:
        new, paid: what it asks by model: anew, and of the journal.
        shared: questions that were answered already.
        guessed: whether any of its replies was made up.
        rounds: how many rounds of new questions it waits for.
    """

    def __init__(self, replies: Replies, assignment: Assignment, seen: Known, *, replayed: bool) -> None:
        self._replies = replies
        self._assignment = assignment
        self._seen = seen
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
        if key in self._seen:
            self.shared += 1
        else:
            self._seen[key] = self._value(request, model)
        value, made_up = self._seen[key]
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


FIRST_TOKEN, TOKENS_PER_SECOND = 0.6, 70.0
"""Assumed of every call: seconds until a model starts to write, and how fast it does."""


@dataclass
class Tally:
    """What one metric asks of one model.

    Attributes:
        left: what rows still cost, where they are not measured.
        paid: what measured rows have cost.
        foreseen: what would have been foreseen for the measured rows.
    """

    left: Cost = field(default_factory=Cost)
    paid: Cost = field(default_factory=Cost)
    foreseen: Cost = field(default_factory=Cost)

    def scaled(self, measured: int) -> Cost:
        """What is left, by the measure of the rows that are over."""
        if measured < LEAST_MEASURED:
            return self.left
        ratios = (
            paid / foreseen if paid and foreseen else 1.0
            for paid, foreseen in (
                (self.paid.calls, self.foreseen.calls),
                (self.paid.prompt, self.foreseen.prompt),
                (self.paid.completion, self.foreseen.completion),
            )
        )
        calls, prompt, completion = ratios
        return Cost(self.left.calls * calls, self.left.prompt * prompt, self.left.completion * completion)


@dataclass
class MetricTally:
    """What one metric asks of all models, over all rows."""

    models: dict[int, Tally] = field(default_factory=dict)
    shared: int = 0
    measured: int = 0
    failed: int = 0


class Foreseer:
    """Foresees a run.

    Args:
        assignments: the metrics with the models that would answer.
        journal: the replies that are there already; None where none are kept.
    """

    def __init__(self, assignments: Sequence[Assignment], journal: ReplyStore | None) -> None:
        self._assignments = assignments
        self._replies = Replies(journal)
        self.metrics = {item.metric.name: MetricTally() for item in assignments}
        self.rows = 0
        self._longest = 0  # rounds of a row, one after the other

    def estimate(self, rows: Iterable[Row], max_concurrency: int, name: str, earlier: Sequence[ModelUsage]) -> Estimate:
        """Go through all rows; ``earlier`` is what the models were asked in earlier parts of the run.

        Raises:
            RagmetricsError: they cannot be read.
        """
        for row in rows:
            self.rows += 1
            if row.problem is not None:
                for tally in self.metrics.values():
                    tally.failed += 1
                continue
            self._row(row)
        metrics, models = [], {key: Cost() for key in self._replies.models}
        for metric, tally in self.metrics.items():
            total = Cost()
            for key, part in tally.models.items():
                cost = part.scaled(tally.measured)
                for sum_ in (total, models[key]):
                    sum_.add(cost.calls, cost.prompt, cost.completion)
            usage = _usage(total)
            metrics.append(MetricEstimate(metric, usage, tally.shared, tally.measured, tally.failed))
        return Estimate(
            source=name,
            rows=self.rows,
            metrics=tuple(metrics),
            models=tuple(
                ModelUsage.of(self._replies.models[key].model, _usage(cost), 0)
                for key, cost in models.items()
                if cost.calls
            ),
            max_concurrency=max_concurrency,
            seconds=self._seconds(list(models.values()), max_concurrency, _seconds_per_call(earlier)),
            seconds_per_call=_seconds_per_call(earlier),
            unforeseen=tuple(sorted(self._replies.unforeseen)),
        )

    def _seconds(self, costs: list[Cost], max_concurrency: int, measured: float | None) -> float:
        calls = sum(cost.calls for cost in costs)
        if not calls:
            return 0.0
        writing = sum(cost.completion for cost in costs) / TOKENS_PER_SECOND
        total = calls * FIRST_TOKEN + writing if measured is None else calls * measured
        return max(total / max_concurrency, self._longest * total / calls)

    def _row(self, row: Row) -> None:
        seen: Known = {}
        seen_without: Known = {}
        reading = Reading(row.sample)
        for assignment in self._assignments:
            if not row.is_asked(assignment.metric.name):
                continue
            tally = self.metrics[assignment.metric.name]
            actual = Walk(self._replies, assignment, seen, replayed=self._replies.kept)
            if not actual.go(reading):
                tally.failed += assignment.repeat == 0
                continue
            tally.shared += actual.shared
            self._longest = max(self._longest, actual.rounds)
            if not self._replies.kept:
                _book(tally, actual.new, "left")
                continue
            without = Walk(self._replies, assignment, seen_without, replayed=False)
            without.go(reading)
            if not actual.guessed and (actual.paid or actual.shared):
                tally.measured += assignment.repeat == 0
                _book(tally, actual.paid, "paid")
                _book(tally, without.new, "foreseen")
            else:
                _book(tally, actual.new, "left")


def _book(tally: MetricTally, costs: dict[int, Cost], where: str) -> None:
    for key, cost in costs.items():
        part: Cost = getattr(tally.models.setdefault(key, Tally()), where)
        part.add(cost.calls, cost.prompt, cost.completion)


def _seconds_per_call(earlier: Sequence[ModelUsage]) -> float | None:
    """What a call has taken on average; None where too few were measured."""
    timed = [item for item in earlier if item.seconds]
    calls = sum(item.usage.calls for item in timed)
    return sum(item.seconds for item in timed) / calls if calls >= LEAST_MEASURED else None


def _usage(cost: Cost) -> Usage:
    calls = round(cost.calls) if cost.calls >= 1 else int(cost.calls > 0)
    return Usage(calls, round(cost.prompt), round(cost.completion))
