"""The OpenAI chat protocol over a lean HTTP client, for very many calls.

Strategy. What is asked and how an answer is read is the same as for ``OpenAILLM`` (see ``_attempts``); only the way differs.
The openai package spends about a millisecond of processor time on each call, aiohttp an eighth of it, which decides
how long hundreds of thousands of calls take, or how much of a machine is left for the model next door.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ..._kernel._errors import InvalidInput, ModelError
from ..._kernel._requests import Ask, Reply
from .._wire._attempts import Attempts, chat_parameters
from .._wire._failures import SET_KEY, Failures, Refused
from .._wire._hidden import hashed, shown
from .._wire._known_parameters import check_near_misses
from .._wire._structured import Ladder, Rung
from .._wire._urls import is_of_this_machine
from ._endpoint import Endpoint, to_json

NO_KEY_SENT = (
    "This model sends only a key that is given in Python, as api_key; openai:MODEL sends the one in OPENAI_API_KEY."
)

FROM_OPENAI_LLM = "OpenAILLM(..., client=openai.AsyncOpenAI(...))"
SET_ELSEWHERE = {
    "client": f"this model makes its own connections; a client of yours serves {FROM_OPENAI_LLM}",
    "max_retries": "nothing is asked twice here; whoever runs many calls asks again",
    "extra_headers": f"headers of your own need {FROM_OPENAI_LLM}",
    "extra_query": f"a query of your own needs {FROM_OPENAI_LLM}",
}


class OpenAIServerLLM:
    """An LLM behind any server of the OpenAI chat protocol, called with little overhead: some 0.15 ms of processor time a call.

    It has the asynchronous method only. ``evaluate`` and ``ascore`` keep its connections open; a single ``score`` from
    synchronous code works too, but opens one for each question.

    Nothing is retried here: a busy server or a lost connection is a ``ModelError`` with ``transient`` and, where the server
    says so, ``retry_after``, and whoever runs many calls decides when to ask again.

    Args:
        base_url: address of the server, such as ``http://localhost:8000/v1``. A proxy that the environment names is used.
        model: name of the model.
        api_key: sent as a bearer token; a server of your own mostly needs none. The environment variable
            ``OPENAI_API_KEY`` is used for ``https://api.openai.com/v1`` alone, so that no other server ever sees that key.
        timeout: seconds for a whole request; None: no limit. Connecting may take 10 seconds of it.
        structured: the highest form of structured output to try: ``schema`` (JSON schema), ``json`` (JSON mode) or ``text``.
            What the server refuses is found out by itself and remembered.
        temperature: sent only if it is set; newer models refuse it. So it is with all ``parameters``.
        parameters: any other parameter of the chat protocol, such as ``max_completion_tokens`` or ``seed``; a mapping
            ``extra_body`` is spread into the request, as the openai package does it.

    Raises:
        MissingExtra: aiohttp is not installed.
        InvalidInput: a setting has the wrong type or an impossible value, or belongs elsewhere.
    """

    def __init__(
        self,
        base_url: str,
        model: str,
        *,
        api_key: str | None = None,
        timeout: float | None = 600.0,
        structured: Rung = "schema",
        temperature: float | None = None,
        **parameters: Any,
    ) -> None:
        spread = _spread(parameters)
        check_near_misses(parameters)
        parameters = chat_parameters(model, structured, temperature, spread, SET_ELSEWHERE)
        sent = {name: _as_sent(name, value) for name, value in {"model": model, **parameters}.items()}
        self.parameters = {name: sent[name] for name in parameters}
        self.model = model
        self.structured = structured
        self._endpoint = Endpoint(base_url, api_key, timeout)
        self._failures = Failures(
            model, self._endpoint, SET_KEY if self._endpoint.wants_key_of_environment else NO_KEY_SENT
        )
        self._ladder = Ladder(structured)

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a reply; no key. Equal to that of ``OpenAILLM``: the way to a server changes no reply."""
        return {
            "provider": "openai",
            "model": self.model,
            "base_url": self._endpoint.base_url,
            "structured": self.structured,
            "parameters": hashed(self.parameters, self._endpoint.secrets),
        }

    @property
    def on_this_machine(self) -> bool:
        """Whether the address is one of this machine, where a refusal is known at once."""
        return is_of_this_machine(self._endpoint.base_url)

    @property
    def wants_key_of_environment(self) -> bool:
        """Whether the key in ``OPENAI_API_KEY`` is sent: to OpenAI itself, where no other is given."""
        return self._endpoint.wants_key_of_environment

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        The usage counts one call, with the tokens that the server reports; attempts that the server refused cost nothing.

        Raises:
            ModelError: no connection, a key refused, no such model, no quota, no answer in time, or one that is not of the
                protocol.
            BadReply: the model refused to answer, a content filter stopped it, or it answered without any text.
            InvalidInput: a message cannot be sent as UTF-8.
        """
        attempts = Attempts(self._failures, self.parameters, self._ladder, ask)
        for parameters in attempts:
            found = await self._endpoint.post(parameters, self._failures)
            if isinstance(found, ModelError):
                raise found
            if not isinstance(found, Refused):
                return attempts.answered(found)
            attempts.failed(self._failures.refused(found), found)
        raise attempts.failure()

    def __deepcopy__(self, memo: Any) -> OpenAIServerLLM:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        settings = [repr(self._endpoint.base_url), repr(self.model)]
        settings += [f"{name}={value!r}" for name, value in shown(self.parameters, self._endpoint.secrets).items()]
        return f"{type(self).__name__}({', '.join(settings)})"


def _spread(parameters: Mapping[str, Any]) -> dict[str, Any]:
    extra = parameters.get("extra_body") or {}
    if not isinstance(extra, Mapping):
        raise InvalidInput(f"extra_body must be a mapping of parameters, got {type(extra).__name__}")
    return {**{name: value for name, value in parameters.items() if name != "extra_body"}, **extra}


def _as_sent(name: str, value: object) -> Any:
    """The value as the plain JSON values that are sent, whichever library writes them; later changes to it have no effect."""
    try:
        plain = json.loads(json.dumps(value, ensure_ascii=False, allow_nan=False).encode())
        to_json({name: plain})
    except (TypeError, ValueError, RecursionError) as error:
        raise InvalidInput(f"{name} cannot be sent as JSON: {error}") from None
    return plain
