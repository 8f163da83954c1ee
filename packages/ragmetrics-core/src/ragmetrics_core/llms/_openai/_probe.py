"""One question to a server in one form of reply and no other, with all that can be seen from outside: to find out what works.

Strategy. What is sent, how the answer is read and what a failure is called are those of ``OpenAILLM``, part by part; only the way
down the forms of reply is missing, and the time is measured. So what is found here is what a run will meet.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..._support._secrets import mask
from ..._values._errors import ModelError
from ..._values._requests import Ask, Reply
from .._wire._attempts import Exchange, Ladder, Rung, chat, field_of, is_refusal
from .._wire._failures import Failures, first_line
from ._clients import NO_KEY
from ._llm import OpenAILLM, TranslatedErrors, clients_of, prepared

LONGEST_LIST = 2.0**20
"""Bytes of a list of models that is still read: the longest known one has half of it."""


@dataclass(frozen=True)
class Found:
    """What one question brought.

    Attributes:
        seconds: until the answer was there, or until it was known that there is none.
        reply: the answer; None if there is none.
        problem: why there is none; None if there is one.
        status: the HTTP status of an answer that is an error, or holds one; None without an answer in the protocol.
        form_refused: whether the server refused nothing but the form of the reply, so that a run goes on with another one.
        late: whether no answer came in time.
        headers: those of the answer, with names in small letters.
        thought: whether the answer came with thoughts of the model's, in a field beside its text.
    """

    seconds: float
    reply: Reply[str] | None = None
    problem: ModelError | None = None
    status: int | None = None
    form_refused: bool = False
    late: bool = False
    headers: Mapping[str, str] = field(default_factory=dict)
    thought: bool = False


async def probe(llm: OpenAILLM, ask: Ask, form: Rung, timeout: float) -> Found:
    """Put one question to a model, in this form alone, and wait so many seconds for the answer at most.

    Raises:
        ModelError: there is no key, or it cannot be sent.
    """
    clients = clients_of(llm)
    client = await clients.here()
    assert client is not None  # no name stands for a client with its own ways
    failures = Failures(llm.model, clients)
    exchange = chat(failures, llm.parameters, Ladder(form), ask)
    sent = prepared(next(exchange))
    # loads a part of the package, which is no time of the server's
    create = client.chat.completions.with_raw_response.create
    start = time.perf_counter()
    with TranslatedErrors(failures) as errors:
        try:
            response = (await asyncio.wait_for(create(**sent), timeout)).http_response
        except asyncio.TimeoutError:  # not the built-in TimeoutError before Python 3.11
            return Found(time.perf_counter() - start, problem=failures.too_late(), late=True)
        headers = {name.lower(): value for name, value in response.headers.items()}
        return _read(exchange, response.json(), Found(time.perf_counter() - start, headers=headers))
    refused = errors.failure.refused
    seconds, problem = time.perf_counter() - start, errors.failure.problem
    if refused is None:
        return Found(seconds, problem=problem)
    is_form = form != "text" and is_refusal(refused, (message.content for message in ask.messages)) is not None
    return Found(seconds, problem=problem, status=refused.status, form_refused=is_form)


def _read(exchange: Exchange[Reply[str]], answer: Any, found: Found) -> Found:
    """What an answer brought."""
    try:
        exchange.send(answer)
    except StopIteration as done:
        return replace(found, reply=done.value, thought=_thought(answer))
    except ModelError as problem:  # what it holds is no answer
        return replace(found, problem=problem, status=200)
    raise AssertionError("one form of reply is one call")


def _thought(answer: Any) -> bool:
    choices = field_of(answer, "choices")
    message = field_of(choices[0], "message") if isinstance(choices, list) and choices else None
    return any(field_of(message, name) for name in ("reasoning_content", "reasoning"))


def as_openai(model: Any) -> Any:
    """A model of the lean client as one of the openai package, which speaks the same protocol; any other as it is."""
    if isinstance(model, OpenAILLM) or not hasattr(model, "wants_key_of_environment"):
        return model
    key = None if model.wants_key_of_environment else NO_KEY
    return OpenAILLM(model.model, base_url=model.identity["base_url"], api_key=key)


async def models_of(llm: OpenAILLM, timeout: float) -> list[dict[str, Any]] | str:
    """The models that the server lists, as it describes them; or in words why there is no list."""
    import openai  # noqa: PLC0415  heavy

    clients = clients_of(llm)
    client = await clients.here()
    assert client is not None
    try:
        response = await asyncio.wait_for(client.models.with_raw_response.list(), timeout)
        if len(response.http_response.content) > LONGEST_LIST:
            return "the list is too long"
        listed = field_of(response.http_response.json(), "data")
    except asyncio.TimeoutError:
        return "no list in time"
    except (openai.OpenAIError, ValueError, RecursionError) as error:
        return mask(first_line(error), clients.secrets)
    if not isinstance(listed, list):
        return "what it sends is no list"
    return [item for item in listed if isinstance(item, dict) and isinstance(item.get("id"), str)]
