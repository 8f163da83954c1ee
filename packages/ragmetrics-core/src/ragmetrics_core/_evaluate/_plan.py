"""Find out what a run would ask and cost, without calling a model.

Each metric's program goes over each row once, with made-up replies, and its questions are counted. The data determine the calls
and the prompt tokens. They do not determine the length of a reply or the number of its claims, so the completion tokens are a
range (`_estimate`). Rows with scores in the run directory are counted too: the usage in their scores, divided by what was counted
for them, is the factor for the rows that are left. Calls, prompt tokens and completion tokens each have a factor. For the rows that
are left, the replies in the journal are used, and neither they nor the questions in open batches are counted: they are paid for.

A program continues according to the replies, so a made-up reply must be readable. It has the form of the reply's schema. Values
that decide how the program continues come from the offline judge. A text has one claim per 10.5 tokens: the mean of 13.3 in 948
answers whose claims people have labelled, 11 by readers who answered the prompts of this library, and 7.6 in the example of
RAGChecker.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from operator import add, mul
from textwrap import wrap
from typing import Any, NamedTuple

from .._engine._reply_keys import Keys
from .._engine._schedule import Assignment
from .._kernel._inputs import Reading
from .._kernel._model_traits import ModelTraits
from .._kernel._steps import Outcome, next_round
from .._lexical._judge import LexicalJudge
from .._store._prices import ModelUsage
from .._store._records import Record
from .._store._run_dir import Keeper
from .._support._strict_schema import strict_schema
from .._support._tokens import tokens_in
from .._values._errors import BadReply, InvalidInput, MissingInput, ModelError
from .._values._requests import Ask, Compare, Embed, Reply, Request, Usage
from .._values._sample import Row
from .._values._score import Score
from ._estimate import LEAST_MEASURED, Estimate, MetricEstimate

PER_MESSAGE, PER_QUESTION, PER_SCHEMA = 3, 3, 10
"""Tokens that the chat protocol adds to each message, to each question, and to a schema."""

TEXTS_PER_CALL = 512
"""Embedding requests that share a call, if they are the first requests of their rows."""

ROUNDS = 200
"""The limit of rounds for a program with made-up replies."""

FIRST_ATTEMPT = 2
"""The number of messages in the first attempt of a question."""

FIRST_TOKEN, TOKENS_PER_SECOND = 0.6, 70.0
"""Assumptions about every call: seconds until a model starts to write, and tokens per second after that."""

TOKENS_PER_CLAIM = 10.5
REASON = "The second context says so directly, and nothing else in it is at odds with that."
SENTENCE = "This is one statement of the usual length, as a model writes it."

JUDGE = LexicalJudge()


cached_tokens = lru_cache(1000)(tokens_in)
"""The tokens of system messages and schemas, which occur many times."""


class Count(NamedTuple):
    """Calls, prompt tokens and completion tokens."""

    calls: float = 0.0
    prompt: float = 0.0
    completion: float = 0.0

    def __add__(self, other: Any) -> Count:
        return Count(*map(add, self, other))

    def usage(self) -> Usage:
        """Return the count in whole numbers. A fraction of a call counts as one call."""
        calls = round(self.calls) if self.calls >= 1 else int(self.calls > 0)
        return Usage(calls, round(self.prompt), round(self.completion))


class CountedModel:
    """Counts the tokens of questions to one model."""

    def __init__(self, model: Any) -> None:
        self.model = model
        self._traits = ModelTraits.of(model)
        self.keys = None if self._traits.identity is None else Keys(self._traits.identity)
        self.is_free = self._traits.instant

    def tokens(self, request: Request, reply: Any) -> tuple[float, float]:
        """Return the prompt and completion tokens of a request and its reply."""
        settings = self._traits.settings
        if self.is_free:
            return 0.0, 0.0
        if isinstance(request, Ask):
            prompt = float(PER_QUESTION + PER_MESSAGE * len(request.messages))
            prompt += sum(cached_tokens(message.content) for message in request.messages[:1])
            prompt += sum(tokens_in(message.content) for message in request.messages[1:])
            schema = request.reply.schema
            if schema is not None and request.wants_json and settings.get("structured", "schema") == "schema":
                sent_schema = strict_schema(schema) or dict(schema)
                prompt += PER_SCHEMA + cached_tokens(json.dumps(sent_schema, separators=(",", ":"), default=str))
            return prompt, tokens_in(reply)
        if settings.get("base_url") is None:
            return 0.0, 0.0
        texts = request.texts if isinstance(request, Embed) else {text for pair in request.pairs for text in pair}
        return sum(map(tokens_in, texts)), 0.0


@dataclass
class MetricCount:
    """What one metric asks.

    Attributes:
        left: counts for rows without a score, by the ``id`` of the model.
        counted: the count for rows with a score.
        used: what these rows really used.
        shared: questions that need no call.
        measured: the number of rows with a score.
        failed: the number of rows that cannot be scored.
    """

    left: dict[int, Count] = field(default_factory=lambda: defaultdict(Count))
    counted: Count = field(default_factory=Count)
    used: Count = field(default_factory=Count)
    shared: int = 0
    measured: int = 0
    failed: int = 0

    def scaled(self) -> dict[int, Count]:
        """Return the counts for the rows that are left, scaled by the rows with a score if there are enough of them."""
        if self.measured < LEAST_MEASURED:
            return self.left
        pairs = zip(self.used, self.counted, strict=True)
        factors = [used / counted if used and counted else 1.0 for used, counted in pairs]
        return {key: Count(*map(mul, count, factors)) for key, count in self.left.items()}


class Planner:
    """Counts what a run will ask.

    Args:
        assignments: the metrics with the models that would answer.
        keeper: the replies and scores that an earlier part of the run has stored.
        sent: the keys of the questions in open batches.
    """

    def __init__(self, assignments: Sequence[Assignment], keeper: Keeper, sent: set[bytes]) -> None:
        self._assignments = assignments
        self._keeper = keeper
        self._sent = sent
        self._waiting: set[bytes] = set()
        self._models: dict[int, CountedModel] = {}
        self._metrics = {item.metric.name: MetricCount() for item in assignments}
        self._asked: set[int] = set()  # hashes of questions that were already counted
        self._unforeseen: set[str] = set()

    def estimate(self, rows: Iterable[Row], max_concurrency: int, source: str) -> Estimate:
        """Count over all rows.

        Raises:
            RagmetricsError: the rows cannot be read.
        """
        number = 0
        for row in rows:
            number += 1
            if row.problem is None:
                self._add(row)
            else:
                for metric in self._metrics.values():
                    metric.failed += 1
        metrics, models = [], dict.fromkeys(self._models, Count())
        for name, metric in self._metrics.items():
            scaled = metric.scaled()
            for key, count in scaled.items():
                models[key] += count
            usage = sum(scaled.values(), Count()).usage()
            metrics.append(MetricEstimate(name, usage, metric.shared, metric.measured, metric.failed))
        all_ = sum(models.values(), Count())
        seconds_per_call = _seconds_per_call(self._keeper.earlier)
        assumed = all_.calls * FIRST_TOKEN + all_.completion / TOKENS_PER_SECOND
        seconds = assumed if seconds_per_call is None else all_.calls * seconds_per_call
        counted = ((self._models[key].model, count.usage()) for key, count in models.items() if count.calls)
        return Estimate(
            source=source,
            rows=number,
            metrics=tuple(metrics),
            models=tuple(ModelUsage.of(model, usage, 0) for model, usage in counted),
            max_concurrency=max_concurrency,
            seconds=seconds / min(max_concurrency, max(1.0, all_.calls)),
            seconds_per_call=seconds_per_call,
            unforeseen=tuple(sorted(self._unforeseen)),
            waiting=len(self._waiting),
        )

    def _add(self, row: Row) -> None:
        if self._keeper.journal is None:
            self._asked.clear()
        record = self._keeper.earlier_record(row.index, row.sample)
        measures = record is not None and not _is_from_journal(record)
        reading = Reading(row.sample)
        for assignment in self._assignments:
            name = assignment.metric.name
            if not row.is_asked(name):
                continue
            metric, is_first = self._metrics[name], assignment.repeat == 0
            counts: dict[int, Count] = defaultdict(Count)
            score = None if record is None else record.scores.get(name)
            is_left = score is None or score.error is not None
            try:
                metric.shared += self._count(assignment, reading, row.index, counts, is_left)
            except (MissingInput, InvalidInput):
                metric.failed += is_first
                continue
            if score is None or is_left:
                for key, count in counts.items():
                    metric.left[key] += count
            elif measures:
                metric.measured += is_first
                metric.counted = sum(counts.values(), metric.counted)
                if is_first:  # the score covers all repeats
                    used = score.usage
                    metric.used += Count(used.calls - used.cached_calls, used.prompt_tokens, used.completion_tokens)

    def _count(
        self, assignment: Assignment, reading: Reading, index: int, counts: dict[int, Count], is_left: bool
    ) -> int:
        """Run a program with made-up replies and add its questions to ``counts``, by model; for a row that is left, only those that
        are not paid for. Returns how many of the questions need no call.

        Raises:
            MissingInput, InvalidInput: the row cannot be scored.
        """
        shared = 0
        outcomes: list[Outcome] | None = None
        program = assignment.metric.begin(reading)
        if isinstance(program, Score):
            return 0
        try:
            for number in range(ROUNDS):
                requests = next_round(program, outcomes)
                outcomes = []
                for request in requests:
                    if isinstance(request, Ask) and len(request.messages) > FIRST_ATTEMPT:
                        self._unforeseen.add(request.prompt.name)  # the made-up reply could not be used
                        return shared
                    model = self._model(assignment, request)
                    repeat = assignment.repeat if isinstance(request, Ask) else 0
                    paid = self._paid(model, request, repeat) if is_left else None
                    reply = paid.value if isinstance(paid, Reply) else _made_up(request)
                    outcomes.append(Reply(reply))
                    if paid:
                        continue
                    key = hash((id(model.model), repeat, request, None if model.keys else index))
                    if key in self._asked:
                        shared += 1
                        continue
                    self._asked.add(key)
                    is_batched = number == 0 and not isinstance(request, Ask) and not model.is_free
                    calls = 1 / TEXTS_PER_CALL if is_batched else 1
                    counts[id(model.model)] += Count(calls, *model.tokens(request, reply))
        except (StopIteration, ModelError):
            pass
        finally:
            program.close()
        return shared

    def _paid(self, model: CountedModel, request: Request, repeat: int) -> Reply[Any] | bool:
        """Return the reply in the journal, if it can be read; without one, whether the question is in an open batch."""
        if model.keys is None or self._keeper.journal is None:
            return False
        key = model.keys.key(request, repeat)
        found = self._keeper.journal.find(key)
        if found is not None and (not isinstance(request, Ask) or _is_readable(request, found.value)):
            return found
        self._waiting |= {key} & self._sent
        return key in self._waiting

    def _model(self, assignment: Assignment, request: Request) -> CountedModel:
        models = assignment.models.asked_by(request)
        model = models.llm if isinstance(request, Ask) else models.embeddings
        if id(model) not in self._models:
            self._models[id(model)] = CountedModel(model)
        return self._models[id(model)]


def _is_from_journal(record: Record) -> bool:
    """Whether all replies of a row were in the journal before the run that scored it. Then its usage says nothing."""
    usage = sum((score.usage for score in record.scores.values()), Usage())
    return 0 < usage.calls == usage.cached_calls


def _seconds_per_call(earlier: Sequence[ModelUsage]) -> float | None:
    """Return the mean seconds of a call; None if too few were measured."""
    timed = [item for item in earlier if item.seconds]
    calls = sum(item.usage.calls - item.batched.calls for item in timed)
    return sum(item.seconds for item in timed) / calls if calls >= LEAST_MEASURED else None


def _made_up(request: Request) -> Any:
    if isinstance(request, Ask):
        return made_up_reply(request)
    if isinstance(request, Compare):
        return [0.5] * len(request.pairs)
    return [[1.0, 0.5]] * len(request.texts)


def made_up_reply(ask: Ask) -> str:
    """Return a reply that a model might give; a plain sentence if no reply of its form can be made up."""
    schema = ask.reply.schema
    try:
        text = JUDGE.generate(ask).value
    except ModelError:  # the offline judge does not know the prompt
        text = ""
    if schema is not None:
        said = _with_usual_claims(json.loads(text), ask) if text.startswith("{") else None
        text = json.dumps(_example(schema, schema.get("$defs", {}), said), ensure_ascii=False)
    return next((reply for reply in (text, "1", "yes") if reply and _is_readable(ask, reply)), SENTENCE)


def _is_readable(ask: Ask, reply: str) -> bool:
    parse = getattr(ask.reply, "parse", None)
    try:
        return parse is not None and parse(reply) is not None
    except BadReply:
        return False


def _with_usual_claims(said: dict[str, Any], ask: Ask) -> dict[str, Any]:
    """Return a reply of the offline judge, with as many claims as a language model would find. The offline judge splits a text
    into more claims.
    """
    answer = ask.inputs.get("answer")
    claims = [name for name in ("claims", "statements") if said.get(name)]
    if not claims or not isinstance(answer, str):
        return said
    number = max(1, round(tokens_in(answer) / TOKENS_PER_CLAIM))
    parts = wrap(answer, len(answer) // number + 5)
    lists = {name: item[:1] * len(parts) for name, item in said.items() if isinstance(item, list)}
    return {**said, **lists, **dict.fromkeys(claims, parts)}


def _example(schema: Mapping[str, Any], definitions: Mapping[str, Any], said: Any, name: str = "") -> Any:
    """Return a value that the schema allows: ``said`` if there is such a value, else the simplest."""
    while "$ref" in schema or "anyOf" in schema:
        pointed = "$ref" in schema
        schema = definitions[schema["$ref"].rpartition("/")[2]] if pointed else schema["anyOf"][0]
    kind = schema.get("type")
    if "properties" in schema:
        values = said if isinstance(said, dict) else {}
        return {key: _example(part, definitions, values.get(key), key) for key, part in schema["properties"].items()}
    if kind == "array":
        items = said if isinstance(said, list) else [None, None]
        return [_example(schema.get("items") or {}, definitions, item, name) for item in items]
    if kind == "string" and name in ("reason", "feedback", "explanation"):
        return REASON
    if said is not None:
        return said
    if "const" in schema or "enum" in schema:
        return schema.get("const", next(iter(schema.get("enum", [])), None))
    if kind in ("integer", "number"):
        return schema.get("minimum", 1)
    return {"boolean": True, "null": None, "object": {}}.get(str(kind), SENTENCE)
