"""Ask a server one question in one form of reply, and record everything that can be observed, to find out what works.

Strategy. The request, the reading of the answer and the error messages are as in ``OpenAILLM``. The only differences are that
no lower form of reply is tried, and that the time is measured. So a run will meet what is found here.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from ..._support._providers import Rung
from ..._support._secrets import mask
from ..._values._errors import ModelError
from ..._values._requests import Ask, Reply
from .._wire._attempts import Exchange, Ladder, chat, field_of, is_refusal
from .._wire._failures import Failures, first_line
from .._wire._package_errors import TranslatedErrors
from ._clients import NO_KEY
from ._llm import OpenAILLM, clients_of, prepared

LONGEST_LIST = 2.0**20
"""The most bytes of a list of models that is read. The longest known list has half of that."""


@dataclass(frozen=True)
class Found:
    """The result of one question.

    Attributes:
        seconds: time until the answer arrived, or until it was clear that there is none.
        reply: the answer; None if there is none.
        problem: why there is no answer; None if there is one.
        status: the HTTP status of an error answer, or the status in an answer that contains an error; None if no answer followed
            the protocol.
        form_refused: whether the server refused only the form of the reply, so that a run would continue with a lower form.
        late: whether no answer arrived in time.
        headers: the headers of the answer, with lower-case names.
        thought: whether the answer has the model's thoughts in a field beside its text.
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
    """Ask a model one question in this form only. ``timeout``: the most seconds to wait for the answer.

    Raises:
        ModelError: there is no key, or the key cannot be sent.
    """
    clients = clients_of(llm)
    client = await clients.here()
    assert client is not None  # named servers never have a client that cannot be rebuilt
    failures = Failures(llm.model, clients)
    exchange = chat(failures, llm.parameters, Ladder(form), ask)
    sent = prepared(next(exchange))
    # loads a part of the package; that must not count as the server's time
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
    """Record the result of an answer in ``found``."""
    try:
        exchange.send(answer)
    except StopIteration as done:
        return replace(found, reply=done.value, thought=_thought(answer))
    except ModelError as problem:  # the answer contains an error
        return replace(found, problem=problem, status=200)
    raise AssertionError("one form of reply is one call")


def _thought(answer: Any) -> bool:
    choices = field_of(answer, "choices")
    message = field_of(choices[0], "message") if isinstance(choices, list) and choices else None
    return any(field_of(message, name) for name in ("reasoning_content", "reasoning"))


def as_openai(model: Any) -> Any:
    """Turn an ``OpenAIServerLLM`` into an ``OpenAILLM``, which speaks the same protocol. Any other model is returned unchanged."""
    if isinstance(model, OpenAILLM) or not hasattr(model, "wants_key_of_environment"):
        return model
    key = None if model.wants_key_of_environment else NO_KEY
    return OpenAILLM(model.model, base_url=model.identity["base_url"], api_key=key)


async def models_of(llm: OpenAILLM, timeout: float) -> list[dict[str, Any]] | str:
    """Return the models that the server lists, as it describes them; or a text that says why there is no list."""
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
