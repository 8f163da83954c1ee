"""Build the request for one question to a chat server, and read its answer. There is no IO here: the models make the calls.

The ladder of structured output has three rungs: a JSON schema, JSON mode, and plain text. Every question for JSON starts on the
highest rung that is not known to be refused. If the server refuses the form (and nothing else), the same question is asked one
rung lower. The refusal is remembered only if the lower rung worked, so a refusal for another reason, such as a text that is too
long, never costs a model its schemas. A refusal that is only said in words is remembered only after a second question met it too.
If a server calls one schema invalid, only that schema is no longer sent. Reply formats read all three forms, so the rung never
changes what a reply means.

Deciding whether an error is about the form: a wrong guess costs a model its schemas for good, so the server's own pointer to the
cause (``param`` of the protocol, ``loc`` of FastAPI servers) decides if there is one. Without a pointer, only phrases that
servers are known to use count. A phrase that is also in the question does not count, because servers quote requests.

The parameters of the chat protocol are checked when a model is made, so that a misspelt parameter is not found after an hour. The
usual names are listed here. Any other name is looked up in the openai package, which takes most of a second to load.
"""

from __future__ import annotations

import difflib
import json
import re
from collections import Counter
from collections.abc import Awaitable, Callable, Generator, Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Literal, TypeVar

from ..._support._providers import RUNGS, Rung
from ..._support._secrets import conceal, mask, without_secrets
from ..._support._strict_schema import strict_schema
from ..._values._errors import BadReply, InvalidInput, ModelError
from ..._values._requests import Ask, Message, Reply, Usage, counted
from ._failures import Failures, Refused, check_sendable, refused_in_body

T = TypeVar("T")

STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""The statuses with which servers refuse a parameter. Servers disagree, and some even crash."""

OTHER_REASONS = frozenset({"content_filter", "context_length_exceeded", "json_validate_failed", "model_not_found"})
FORM = (
    r"(?:(?:response|output)[ _.]?format|output[ _]config|json[ _]?schema|json[ _]?(?:mode|object)|"
    r"structured[ _]outputs?|grammar)"
)
ABOUT_THE_FORM = re.compile(FORM, re.IGNORECASE)
NO_BEFORE = (
    r"(?:not support|unsupported|unknown|unrecognized|unexpected|unavailable|not permitted|invalid|failed to parse)"
)
NO_AFTER = (
    r"(?:not (?:supported|implemented|available|allowed|permitted|enabled)|unsupported|unavailable|unimplemented|"
    r"unknown|unexpected|unrecognized|disabled|enabled only|(?:must|should) be|conversion failed)"
)
PHRASE = re.compile(rf"{NO_BEFORE}[^\n!?]{{0,40}}?{FORM}|{FORM}[^\n!?]{{0,40}}?{NO_AFTER}", re.IGNORECASE)
ABOUT_THE_SIZE = re.compile(r"context[ _]length|maximum context|too many tokens|too long", re.IGNORECASE)
ONE_SCHEMA = re.compile(r"invalid (?:json[ _]?)?schema|schema conversion|schema contains|parse grammar", re.IGNORECASE)


def is_refusal(refused: Refused, sent: Iterable[str]) -> Literal["pointed at", "said"] | None:
    """Return how certain it is that an error is only about the form of reply: "pointed at" if the server names the form, "said"
    if the message mentions it, None if it is about something else.

    Args:
        refused: the error.
        sent: the texts of the question.
    """
    if refused.status not in STATUSES or refused.code in OTHER_REASONS:
        return None
    pointers = [refused.param] if refused.param else _locations(refused.body)
    if pointers:
        about_form = any(ABOUT_THE_FORM.search(pointer) for pointer in pointers)
        return "pointed at" if about_form and not ABOUT_THE_SIZE.search(refused.message) else None
    phrase = PHRASE.search(refused.message)
    if phrase is None or ABOUT_THE_SIZE.search(refused.message):
        return None
    quoted = any(phrase[0].casefold() in text.casefold() for text in sent)
    return None if quoted else "said"


def _locations(body: Any) -> list[str]:
    """Return the locations that a FastAPI server names: ``{"detail": [{"loc": ["body", "response_format", "type"], ...}]}``."""
    details = body.get("detail") if isinstance(body, dict) else None
    found = [item.get("loc") for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    return [".".join(map(str, place)) for place in found if isinstance(place, list)]


SURE = 2
"""The number of questions that a server must refuse in words before its refusal is remembered."""

MOST_FORMS = 64
"""The most cached forms. The metrics of a run have far fewer prompts, but some reply formats build a new schema each time."""

REFUSED = frozenset({400, 415, 422})
"""The statuses with which a server refuses a request as such."""


class Ladder:
    """What one model has learned about its server. Safe to share between threads, because rungs are only ever lowered.

    Args:
        highest: the first rung to try.
        trusts_status: whether a refusal may be about the form whatever its words. It is set for models of a framework, which meet
            all kinds of servers.
    """

    def __init__(self, highest: Rung = "schema", *, trusts_status: bool = False) -> None:
        self.trusts_status = trusts_status
        self._floors = {"": RUNGS.index(highest)}  # by schema; "" means all schemas
        self._doubts: Counter[str] = Counter()
        self._forms: dict[tuple[str, str, int], tuple[Mapping[str, Any], dict[str, Any]]] = {}

    def rungs(self, schema: Mapping[str, Any] | None) -> tuple[Rung, ...]:
        """Return the rungs to try for a question, highest first. ``schema``: the result of ``schema_of``."""
        if schema is None:
            return ("text",)
        one = self._floors.get(_key(schema), 0) if len(self._floors) > 1 else 0
        return RUNGS[max(self._floors[""], one, 0 if schema else RUNGS.index("json")) :]

    def form(self, rung: Rung, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """Return the parameters that ask for this form (see ``response_format``), from a cache."""
        key = (rung, name, id(schema))
        known = self._forms.get(key)
        # the entry keeps the schema alive, so that no other schema gets its id
        if known is None or known[0] is not schema:
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            known = self._forms[key] = (schema, response_format(rung, name, schema))
        return known[1]

    def learn(self, worked: Rung, schema: Mapping[str, Any], refusal: str, *, certain: bool) -> None:
        """Record that a question was answered on this rung after a higher rung was refused.

        Args:
            worked: the rung.
            schema: the schema of the question.
            refusal: the server's message.
            certain: whether the server pointed at the form; if not, a second question must be refused too.
        """
        key = _key(schema)
        if key not in self._floors and not (schema and ONE_SCHEMA.search(refusal)):
            key = ""
        self._doubts[key] += SURE if certain else 1
        if self._doubts[key] >= SURE:
            self._floors[key] = max(self._floors.get(key, 0), RUNGS.index(worked))


def schema_of(ask: Ask) -> Mapping[str, Any] | None:
    """Return the schema of the reply; {} for JSON without a schema; None for text."""
    return (ask.reply.schema or {}) if ask.wants_json else None


def response_format(rung: Rung, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters that ask for this form: ``response_format`` or nothing."""
    if rung == "text":
        return {}
    if rung == "json":
        return {"response_format": {"type": "json_object"}}
    strict = strict_schema(schema)
    wanted: dict[str, Any] = {"name": re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:64] or "reply"}
    wanted |= {"schema": dict(schema)} if strict is None else {"schema": strict, "strict": True}
    return {"response_format": {"type": "json_schema", "json_schema": wanted}}


def _key(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True, default=str)


@dataclass(frozen=True, slots=True)
class Failure:
    """A failed call: the error, and the server's error answer if there was one."""

    problem: ModelError
    refused: Refused | None = None


class Attempts:
    """The attempts at one question. Iterating yields the form of each attempt, until one is answered or fails for good. ::

        attempts = forms.attempts(ask)
        for form in attempts:
            with (attempt := explained(model)):
                reply = ...  # ask for this form
                attempts.answered()
                return reply
            attempts.failed(attempt)
        raise attempts.problem

    The next form is tried only if the server refused the form before it.

    Attributes:
        rung: the form of the current attempt.
        problem: the error of the last attempt.
    """

    problem: ModelError

    def __init__(self, ladder: Ladder, ask: Ask | None) -> None:
        self.rung: Rung = "text"
        self._ladder = ladder
        self._ask = ask
        self._schema = None if ask is None else schema_of(ask)
        self._refusals: list[tuple[str, bool]] = []

    def __iter__(self) -> Iterator[Rung]:
        for number, rung in enumerate(self._ladder.rungs(self._schema)):
            if len(self._refusals) < number:
                return  # the last attempt failed for a reason that another form would not fix
            self.rung = rung
            yield rung

    def parameters(self) -> dict[str, Any]:
        """Return the parameters for the form of this attempt: ``response_format`` or nothing."""
        prompt = getattr(getattr(self._ask, "prompt", None), "name", None) or "reply"
        return dict(self._ladder.form(self.rung, prompt, self._schema or {}))

    def failed(self, attempt: Any) -> None:
        """Record the ``problem`` of an attempt, and its refusal if the server refused the form or may have refused it."""
        self.problem, refused = attempt.problem, attempt.refused
        if self._ask is None or refused is None or self.rung == "text":
            return
        found = is_refusal(refused, (message.content for message in self._ask.messages))
        may_be = self._ladder.trusts_status and refused.status in REFUSED and not isinstance(self.problem, BadReply)
        if found or may_be:
            self._refusals.append((refused.message, found == "pointed at"))

    def answered(self) -> None:
        """Record that the server accepted the current form, if it had refused a higher one."""
        if self._refusals and self._schema is not None:
            words, certain = self._refusals[0]
            self._ladder.learn(self.rung, self._schema, words, certain=certain)


Exchange = Generator[dict[str, Any], Any, T]
"""A generator that yields the parameters of each call, is sent the answer or a ``Failure``, and returns the result."""


def run_exchange(exchange: Exchange[T], call: Callable[[dict[str, Any]], Any]) -> T:
    """Run an exchange (one question with all calls that it takes), and return its result."""
    answer = None
    try:
        while True:
            answer = call(exchange.send(answer))
    except StopIteration as done:
        return done.value


async def arun_exchange(exchange: Exchange[T], call: Callable[[dict[str, Any]], Awaitable[Any]]) -> T:
    """Make the calls of an exchange without blocking the running loop, and return its result."""
    answer = None
    try:
        while True:
            answer = await call(exchange.send(answer))
    except StopIteration as done:
        return done.value


def asked(
    attempts: Attempts, parameters: Callable[[], dict[str, Any]], read: Callable[[Any], Reply[str]]
) -> Exchange[Reply[str]]:
    """Make the attempts at one question, until one is answered.

    Args:
        attempts: the attempts.
        parameters: returns what is sent, in the form of the current attempt.
        read: reads an answer; it calls ``attempts.answered`` as soon as the answer is known to follow the protocol.

    Raises:
        ModelError: the last call failed, or ``read`` raised it.
    """
    for _ in attempts:
        answer = yield parameters()
        if not isinstance(answer, Failure):
            return read(answer)
        attempts.failed(answer)
    raise attempts.problem


def chat(failures: Failures, settings: Mapping[str, Any], ladder: Ladder, ask: Ask) -> Exchange[Reply[str]]:
    """Ask one question. Answers are objects of the openai package or plain JSON.

    Raises:
        ModelError: the last call failed, or its answer does not follow the protocol or contains an error.
        BadReply: the answer has no text; ``usage`` is what it cost.
        InvalidInput: a message cannot be sent as UTF-8.
    """
    sent = {"model": failures.model, "messages": [wire_message(message) for message in ask.messages], **settings}
    attempts = Attempts(ladder, ask)
    return (
        yield from asked(
            attempts,
            lambda: {**sent, **attempts.parameters()},
            lambda answer: read_answer(answer, failures, attempts.answered),
        )
    )


def read_answer(answer: Any, failures: Failures, answered: Callable[[], None] | None = None) -> Reply[str]:
    """Read the answer to one question. ``answered`` is called as soon as it is known to follow the protocol.

    Raises:
        ModelError: the answer does not follow the protocol or contains an error.
        BadReply: the answer has no text; ``usage`` is what it cost.
    """
    try:
        choice = _choice(answer, failures)
        if answered is not None:
            answered()
        return _read(choice, _usage(answer), failures)
    except RecursionError:  # the answer could be parsed, but not be formatted for a message
        raise failures.too_deep() from None


def _choice(answer: Any, failures: Failures) -> Any:
    """Return the first choice of an answer. It has a message."""
    if isinstance(answer, str):
        raise failures.no_json(answer)
    choices = field_of(answer, "choices")
    choice = choices[0] if isinstance(choices, list) and choices else None
    error = field_of(answer, "error") or field_of(choice, "error")
    if (refused := refused_in_body(error)) is not None:
        raise failures.refused(refused)
    if field_of(choice, "message") is None:
        raise failures.other_protocol(str(error or "it holds no choices"))
    return choice


def _read(choice: Any, usage: Usage, failures: Failures) -> Reply[str]:
    message, finish_reason = field_of(choice, "message"), field_of(choice, "finish_reason")
    text, refusal = _text(field_of(message, "content")), field_of(message, "refusal")
    if text is not None:  # some servers quote the request in their answers
        text = without_secrets(text, failures.place.secrets)
    if refusal:
        refusal_text = conceal(str(refusal), failures.place.secrets)
        problem = BadReply(f"{failures.model} refuses to answer: {mask(refusal_text, ())}", refusal_text)
    elif finish_reason == "content_filter":
        problem = BadReply(f"a content filter stopped the answer of {failures.model}", () if text is None else text)
    elif finish_reason == "length":
        return Reply(text or "", usage, truncated=True, searched=text)
    elif text is None:
        problem = BadReply(f"{failures.model} answered without any text (finish reason {finish_reason!r})")
    else:
        return Reply(text, usage, searched=text)
    problem.usage = usage  # a refusal costs tokens too
    raise problem


def _text(content: Any) -> str | None:
    """Return the text of a message. Some servers send it in parts, such as ``[{"type": "text", "text": "yes"}]``."""
    if isinstance(content, list):
        texts = [field_of(part, "text") for part in content if field_of(part, "type") in ("text", "output_text")]
        content = "".join(text for text in texts if isinstance(text, str)) if texts else None
    return content if isinstance(content, str) else None


def wire_message(message: Message) -> dict[str, str]:
    """Return a message as the protocol has it.

    Raises:
        InvalidInput: it cannot be sent as UTF-8.
    """
    content = message.content
    if message.role == "assistant":
        # what a model wrote is sent back as well as UTF-8 can carry it
        content = content.encode("utf-8", "backslashreplace").decode()
    check_sendable(message.role, content)
    return {"role": message.role, "content": content}


def field_of(value: Any, name: str) -> Any:
    """Return a field of a JSON object or of an object of the openai package; None if it has no such field."""
    if isinstance(value, str | list):
        return None  # lists and texts have a method called index
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _usage(answer: Any) -> Usage:
    usage = field_of(answer, "usage")
    return Usage(1, *(counted(field_of(usage, name)) for name in ("prompt_tokens", "completion_tokens")))


SET_ELSEWHERE = {
    "messages": "they come from the metrics",
    "response_format": "it follows from the reply that a metric asks for; see structured=...",
    "n": "a metric reads one reply",
    "stream": "a metric reads whole replies",
    "tools": "a metric reads text",
}


def chat_parameters(
    structured: object, temperature: float | None, parameters: Mapping[str, Any], set_elsewhere: Mapping[str, str]
) -> dict[str, Any]:
    """Return the parameters of the protocol that a user has set.

    Raises:
        InvalidInput: a setting is impossible, or a parameter is set here that belongs elsewhere.
    """
    if structured not in RUNGS:
        raise InvalidInput(f"structured must be one of {', '.join(RUNGS)}, got {structured!r}")
    for name, reason in {**SET_ELSEWHERE, **set_elsewhere}.items():
        if name in parameters:
            raise InvalidInput(f"{name} cannot be set here: {reason}")
    return {**({} if temperature is None else {"temperature": temperature}), **parameters}


KNOWN = frozenset({"extra_body", "max_completion_tokens", "max_tokens", "seed", "stop", "temperature", "top_p"})
SETTINGS = frozenset({"api_key", "base_url", "structured", "timeout"})
ALMOST_SURELY = 0.9
"""Similarity from which on a name counts as misspelt. ``min_tokens``, a parameter of vLLM, has a similarity of 0.8 to
``max_tokens``.
"""


def check_parameters(names: Iterable[str], *, by_package: bool) -> None:
    """Refuse unknown parameters. ``by_package``: unknown to the openai package; otherwise only names that are nearly a usual
    name.

    Raises:
        InvalidInput: a name is refused.
    """
    for name in names:
        known_names = _of_package() if by_package and name not in KNOWN else KNOWN
        near = difflib.get_close_matches(name, sorted(known_names | SETTINGS), 1, 0.6 if by_package else ALMOST_SURELY)
        if name in known_names or not (by_package or near):
            continue
        kind, hint = "" if by_package else "well-known ", f": did you mean {near[0]!r}?" if near else "."
        raise InvalidInput(
            f"{name} is not a {kind}parameter of the chat protocol{hint} A parameter that only some servers know goes into "
            f"extra_body={{{name!r}: ...}}"
        )


def _of_package() -> frozenset[str]:
    import inspect  # noqa: PLC0415  rarely needed

    from openai.resources.chat.completions import Completions  # noqa: PLC0415  heavy

    return frozenset(inspect.signature(Completions.create).parameters)
