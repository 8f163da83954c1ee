"""What is sent to a chat server for one question, and how its answer is read. No IO: the models make the calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ..._kernel._errors import BadReply, InvalidInput, ModelError
from ..._kernel._requests import Ask, Message, Reply, Usage, counted
from ..._support._secrets import conceal, mask, without_secrets
from ._climb import Climb
from ._failures import Failures, Refused, check_sendable, refused_in_body
from ._refusals import is_refusal
from ._structured import RUNGS, Ladder, schema_of

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
