"""What is sent to a chat server for one question, and how its answer is read. No IO: the models make the calls.

Whether an error of a server is about the form of the reply (JSON schema, JSON mode), and how sure that is.

Strategy. A wrong guess costs a model its schemas for good, so the server's own pointer to the culprit (``param`` of the protocol,
``loc`` of FastAPI servers) decides where there is one. Without a pointer, only phrases that servers are known to use
count, and none that also is in the question: servers quote what they were sent.

The ladder of structured output: a JSON schema, else JSON mode, else plain text; learned from what a server refuses.

Strategy. Every question for JSON starts on the highest rung that is not known to be refused. When the server refuses
the form (and nothing else), the same question is asked one rung lower, and the refusal is remembered only once that
worked: so a refusal for another reason, such as a text too long, never costs a model its schemas. A refusal in mere words (see
``is_refusal``) counts only once a second question met it too. A server that calls one schema invalid loses that schema only.
Reply formats read all three forms, so the rung never changes what a reply means.

The forms of reply that one question is asked for, one after the other, and what the server's answers teach about them.

The parameters of the chat protocol by name, so that a misspelt one is found when the model is made, and not after an hour.

Strategy. The well-known names stand here, because looking them up means loading the openai package, which takes most of a second.
Only a name that is not among them is looked up, so a newer package may know more.
"""

from __future__ import annotations

import difflib
import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Literal

from ..._support._secrets import conceal, mask, without_secrets
from ..._support._strict_schema import strict_schema
from ..._values._errors import BadReply, InvalidInput, ModelError
from ..._values._requests import Ask, Message, Reply, Usage, counted
from ._failures import Failures, Refused, check_sendable, refused_in_body

STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""Servers disagree on how to refuse a parameter; some even crash over it."""

OTHER_REASONS = frozenset({"content_filter", "context_length_exceeded", "json_validate_failed", "model_not_found"})
FORM = r"(?:response[ _.]?format|json[ _]?schema|json[ _]?(?:mode|object)|structured[ _]outputs?|grammar)"
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
ABOUT_ONE_SCHEMA = re.compile(
    r"invalid (?:json[ _]?)?schema|schema conversion|schema contains|parse grammar", re.IGNORECASE
)


def is_refusal(refused: Refused, sent: Iterable[str]) -> Literal["pointed at", "said"] | None:
    """Whether the error is about the form and nothing else: the server points at it, or only says so in words; or None.

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


def is_about_one_schema(refusal: str) -> bool:
    """Whether a refusal concerns the schema of this question, and not schemas as such."""
    return bool(ABOUT_ONE_SCHEMA.search(refusal))


def _locations(body: Any) -> list[str]:
    """The places that a FastAPI server names: ``{"detail": [{"loc": ["body", "response_format", "type"], ...}]}``."""
    details = body.get("detail") if isinstance(body, dict) else None
    found = [item.get("loc") for item in details if isinstance(item, dict)] if isinstance(details, list) else []
    return [".".join(map(str, place)) for place in found if isinstance(place, list)]


Rung = Literal["schema", "json", "text"]
RUNGS: tuple[Rung, ...] = ("schema", "json", "text")


SURE = 2
"""How many questions a server must refuse in mere words before its refusal is remembered."""

MOST_FORMS = 64
"""Far more than the metrics of one run have prompts; a bound for reply formats that build their schema anew each time."""


class Ladder:
    """What one model has learned about its server. Safe to share between threads: it only ever learns more.

    Args:
        highest: the first rung to try.
    """

    def __init__(self, highest: Rung = "schema") -> None:
        self._floor = RUNGS.index(highest)
        self._special: dict[str, int] = {}
        self._doubts: dict[str, int] = {}
        self._forms: dict[tuple[str, str, int], tuple[Mapping[str, Any], dict[str, Any]]] = {}

    def rungs(self, schema: Mapping[str, Any] | None) -> tuple[Rung, ...]:
        """The rungs to try for a question, highest first; ``schema`` as ``schema_of`` gives it."""
        if schema is None:
            return ("text",)
        special = self._special.get(_key(schema), 0) if self._special else 0
        return RUNGS[max(self._floor, special, 0 if schema else RUNGS.index("json")) :]

    def form(self, rung: Rung, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that ask for this form, as ``response_format`` makes them; a prompt's own are made once."""
        key = (rung, name, id(schema))
        known = self._forms.get(key)
        if known is None or known[0] is not schema:  # the entry holds the schema, so that its id stays its own
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            known = self._forms[key] = (schema, response_format(rung, name, schema))
        return known[1]

    def learn(self, worked: Rung, schema: Mapping[str, Any], *, this_schema_only: bool, certain: bool) -> None:
        """A question was answered on this rung, after a higher one was refused.

        Args:
            worked: the rung.
            schema: the schema of the question.
            this_schema_only: whether the server refused this schema, and not schemas as such.
            certain: whether the server pointed at the form; if not, a second question must be refused too.
        """
        key = _key(schema)
        special = this_schema_only or key in self._special
        if not certain:
            what = key if special else ""
            self._doubts[what] = self._doubts.get(what, 0) + 1
            if self._doubts[what] < SURE:
                return
        if special:
            self._special[key] = RUNGS.index(worked)
        else:
            self._floor = max(self._floor, RUNGS.index(worked))


def schema_of(ask: Ask) -> Mapping[str, Any] | None:
    """The schema of the reply; empty where it is JSON whose shape only the instructions tell, None where it is text."""
    return (ask.reply.schema or {}) if ask.wants_json else None


def response_format(rung: Rung, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that ask for this form: at most ``response_format``."""
    if rung == "text":
        return {}
    if rung == "json":
        return {"response_format": {"type": "json_object"}}
    strict = strict_schema(schema)
    wanted = {"name": re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:64] or "reply"}
    if strict is None:
        return {"response_format": {"type": "json_schema", "json_schema": {**wanted, "schema": dict(schema)}}}
    return {"response_format": {"type": "json_schema", "json_schema": {**wanted, "schema": strict, "strict": True}}}


def _key(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True, default=str)


class Climb:
    """One question on its way down the ladder: the next form is tried only where the server refused the one before.

    Attributes:
        rung: the form of the attempt at hand.
    """

    def __init__(self, ladder: Ladder, schema: Mapping[str, Any] | None) -> None:
        self.rung: Rung = "text"
        self._ladder = ladder
        self._schema = schema
        self._refusals: list[tuple[str, bool]] = []

    def __iter__(self) -> Iterator[Rung]:
        for number, rung in enumerate(self._ladder.rungs(self._schema)):
            if len(self._refusals) < number:
                return  # the last attempt failed for a reason that another form would not mend
            self.rung = rung
            yield rung

    def form(self, prompt: str) -> dict[str, Any]:
        """What a client of the OpenAI protocol is told for the form at hand: at most ``response_format``."""
        return dict(self._ladder.form(self.rung, prompt, self._schema or {}))

    def refused(self, words: str, *, certain: bool) -> None:
        """The server refused the form at hand, in these words; ``certain``: they point at it."""
        self._refusals.append((words, certain))

    def answered(self) -> None:
        """The server took the form at hand: remember it for the questions to come, if it had refused another one."""
        if self._refusals and self._schema is not None:
            words, certain = self._refusals[0]
            one = bool(self._schema) and is_about_one_schema(words)
            self._ladder.learn(self.rung, self._schema, this_schema_only=one, certain=certain)


SET_ELSEWHERE = {
    "messages": "they come from the metrics",
    "response_format": "it follows from the reply that a metric asks for; see structured=...",
    "n": "a metric reads one reply",
    "stream": "a metric reads whole replies",
    "tools": "a metric reads text",
}


def chat_parameters(
    model: object,
    structured: object,
    temperature: float | None,
    parameters: Mapping[str, Any],
    set_elsewhere: Mapping[str, str],
) -> dict[str, Any]:
    """The parameters of the protocol that a user has set.

    Raises:
        InvalidInput: a setting is impossible, or a parameter is set here that belongs elsewhere.
    """
    if not isinstance(model, str) or not model.strip():
        raise InvalidInput(f"model must be the name of a model, got {model!r}")
    if structured not in RUNGS:
        raise InvalidInput(f"structured must be one of {', '.join(RUNGS)}, got {structured!r}")
    for name, reason in {**SET_ELSEWHERE, **set_elsewhere}.items():
        if name in parameters:
            raise InvalidInput(f"{name} cannot be set here: {reason}")
    return {**({} if temperature is None else {"temperature": temperature}), **parameters}


class Attempts:
    """The attempts at one question: iterating gives the parameters of each, until one is answered or fails for good.

    for parameters in attempts:
        ... call the server; if that worked:
        return attempts.answered(answer)
        ... if not:
        attempts.failed(problem, refused)
    raise attempts.failure()
    """

    def __init__(self, failures: Failures, parameters: Mapping[str, Any], ladder: Ladder, ask: Ask) -> None:
        self._failures = failures
        self._parameters = parameters
        self._ask = ask
        self._climb = Climb(ladder, schema_of(ask))
        self._problem: ModelError | None = None

    def __iter__(self) -> Iterator[dict[str, Any]]:
        messages = [_wire(message) for message in self._ask.messages]
        for _ in self._climb:
            form = self._climb.form(self._ask.prompt.name)
            yield {"model": self._failures.model, "messages": messages, **self._parameters, **form}

    def failed(self, problem: ModelError | None, refused: Refused | None) -> None:
        """Keep why an attempt failed, and note whether the server refused nothing but the form."""
        self._problem = problem
        if refused is None or self._climb.rung == "text":
            return
        found = is_refusal(refused, (message.content for message in self._ask.messages))
        if found is not None:
            self._climb.refused(refused.message, certain=found == "pointed at")

    def failure(self) -> ModelError:
        """Why the last attempt failed."""
        assert self._problem is not None
        return self._problem

    def answered(self, answer: Any) -> Reply[str]:
        """Read the answer, an object of the openai package or plain JSON, and learn which form the server accepts.

        Raises:
            ModelError: the answer is not one of the protocol, or it is an error in spite of its status.
            BadReply: there is no text in it; ``usage`` tells what it cost.
        """
        try:
            return self._answered(answer)
        except RecursionError:  # it could be parsed, but not be put into words
            raise self._failures.too_deep() from None

    def _answered(self, answer: Any) -> Reply[str]:
        if isinstance(answer, str):
            raise self._failures.no_json(answer)
        choices = field_of(answer, "choices")
        choice = choices[0] if isinstance(choices, list) and choices else None
        message = field_of(choice, "message")
        error = field_of(answer, "error") or field_of(choice, "error")
        refused = refused_in_body(error)
        if refused is not None:
            raise self._failures.refused(refused)
        if message is None:
            raise self._failures.other_protocol(str(error or "it holds no choices"))
        self._climb.answered()
        return self._read(message, field_of(choice, "finish_reason"), _usage(answer))

    def _read(self, message: Any, finish_reason: Any, usage: Usage) -> Reply[str]:
        model, text, refusal = self._failures.model, _text(field_of(message, "content")), field_of(message, "refusal")
        if text is not None:
            text = without_secrets(
                text, self._failures.place.secrets
            )  # some servers quote the request in their answers
        if refusal:
            said = conceal(str(refusal), self._failures.place.secrets)
            raise _billed(BadReply(f"{model} refuses to answer: {mask(said, ())}", said), usage)
        if finish_reason == "content_filter":
            raise _billed(
                BadReply(f"a content filter stopped the answer of {model}", () if text is None else text), usage
            )
        if finish_reason == "length":
            return Reply(text or "", usage, truncated=True)
        if text is None:
            raise _billed(BadReply(f"{model} answered without any text (finish reason {finish_reason!r})"), usage)
        return Reply(text, usage)


def _billed(error: BadReply, usage: Usage) -> BadReply:
    """The error with what the answer cost: a server asks to be paid for a refusal too."""
    error.usage = usage
    return error


def _text(content: Any) -> str | None:
    """The text of a message; some servers send it in parts, such as ``[{"type": "text", "text": "yes"}]``."""
    if isinstance(content, list):
        texts = [field_of(part, "text") for part in content if field_of(part, "type") in ("text", "output_text")]
        content = "".join(text for text in texts if isinstance(text, str)) if texts else None
    return content if isinstance(content, str) else None


def _wire(message: Message) -> dict[str, str]:
    content = message.content
    if message.role == "assistant":
        # what a model wrote is sent back as well as UTF-8 can carry it
        content = content.encode("utf-8", "backslashreplace").decode()
    check_sendable(message.role, content)
    return {"role": message.role, "content": content}


def field_of(value: Any, name: str) -> Any:
    """The field of a JSON object or of an object of the openai package; None where there is none."""
    if isinstance(value, str | list):
        return None  # both have a method called index
    return value.get(name) if isinstance(value, dict) else getattr(value, name, None)


def _usage(answer: Any) -> Usage:
    usage = field_of(answer, "usage")
    counts = (field_of(usage, name) for name in ("prompt_tokens", "completion_tokens"))
    return Usage(1, *map(counted, counts))


KNOWN = frozenset(
    [
        "audio",
        "extra_body",
        "frequency_penalty",
        "function_call",
        "functions",
        "logit_bias",
        "logprobs",
        "max_completion_tokens",
        "max_tokens",
        "metadata",
        "modalities",
        "moderation",
        "parallel_tool_calls",
        "prediction",
        "presence_penalty",
        "prompt_cache_key",
        "prompt_cache_options",
        "prompt_cache_retention",
        "reasoning_effort",
        "safety_identifier",
        "seed",
        "service_tier",
        "stop",
        "store",
        "temperature",
        "tool_choice",
        "top_logprobs",
        "top_p",
        "user",
        "verbosity",
        "web_search_options",
    ]
)
SETTINGS = frozenset({"api_key", "base_url", "structured", "timeout"})
ALMOST_SURELY = 0.9
"""Similarity from which on a name counts as a misspelt one; ``min_tokens``, which vLLM knows, is 0.8 like ``max_tokens``."""


def check_against_package(names: Iterable[str]) -> None:
    """Refuse what the openai package does not take.

    Raises:
        InvalidInput: a name is none of its parameters.
    """
    for name in names:
        if name not in KNOWN and name not in _of_package():
            near = _nearest(name, 0.6)
            hint = f": did you mean {near!r}?" if near else "."
            raise InvalidInput(
                f"{name} is no parameter of the chat protocol{hint} What only some servers know goes into "
                f"extra_body={{{name!r}: ...}}"
            )


def check_near_misses(names: Iterable[str]) -> None:
    """Refuse what is nearly a well-known name; other names are a matter between the user and the server.

    Raises:
        InvalidInput: a name is nearly a well-known one.
    """
    for name in names:
        near = None if name in KNOWN else _nearest(name, ALMOST_SURELY)
        if near:
            raise InvalidInput(
                f"{name} is no well-known parameter of the chat protocol: did you mean {near!r}? If the server does know it, give "
                f"extra_body={{{name!r}: ...}}"
            )


def _nearest(name: str, similarity: float) -> str | None:
    found = difflib.get_close_matches(name, sorted(KNOWN | SETTINGS), 1, similarity)
    return found[0] if found else None


def _of_package() -> frozenset[str]:
    import inspect  # noqa: PLC0415  rarely needed

    from openai.resources.chat.completions import Completions  # noqa: PLC0415  heavy

    return frozenset(inspect.signature(Completions.create).parameters)
