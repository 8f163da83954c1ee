"""A judge behind the OpenAI chat protocol: OpenAI, Azure, or any compatible server (Ollama, vLLM, llama.cpp, ...).

Strategy. One question is one or more attempts, one per form of structured output, until the server accepts the form (see
``_openai_attempts``); ``generate`` and ``agenerate`` differ in nothing but the call itself. Retries of failed connections
and busy servers are the openai client's own, as it is configured.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .._errors import InvalidInput
from .._requests import Ask, Reply
from ._openai_attempts import Attempts
from ._openai_clients import Clients
from ._openai_errors import mask
from ._structured import RUNGS, Ladder, Rung

if TYPE_CHECKING:
    import openai

__all__ = ["OpenAILLM"]

SET_ELSEWHERE = {
    "messages": "they come from the metrics",
    "response_format": "it follows from the reply that a metric asks for; see structured=...",
    "n": "a metric reads one reply",
    "stream": "a metric reads whole replies",
    "tools": "a metric reads text",
    "extra_headers": "headers belong to the client: client=openai.OpenAI(default_headers=...)",
    "extra_query": "the query belongs to the client: client=openai.OpenAI(default_query=...)",
}


class OpenAILLM:
    """An LLM that is called through the ``openai`` package.

    Args:
        model: name of the model, or of the deployment on Azure.
        client: an ``openai.OpenAI``, ``AsyncOpenAI``, ``AzureOpenAI`` or ``AsyncAzureOpenAI``. Either kind serves both
            ``generate`` and ``agenerate``. It stays the caller's: it is never closed here.
        base_url: address of a compatible server, such as ``http://localhost:11434/v1``; needs no key.
        api_key: default: the environment variable ``OPENAI_API_KEY``.
        timeout: seconds to wait for an answer; default: the openai package's.
        max_retries: retries of the openai client; default: the package's (2).
        structured: the highest form of structured output to try: ``schema`` (JSON schema), ``json`` (JSON mode) or ``text``.
            What the server refuses is found out by itself and remembered.
        temperature: sent only if it is set; newer models refuse it. So it is with all ``parameters``.
        parameters: any other parameter of the chat protocol, such as ``max_completion_tokens``, ``seed``, ``extra_body``.

    Raises:
        MissingExtra: the openai package is not installed.
        InvalidInput: the client is of another library, or two settings contradict each other.
    """

    def __init__(
        self,
        model: str,
        *,
        client: openai.OpenAI | openai.AsyncOpenAI | None = None,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        structured: Rung = "schema",
        temperature: float | None = None,
        **parameters: Any,
    ) -> None:
        if not isinstance(model, str) or not model.strip():
            raise InvalidInput(f"model must be the name of a model, got {model!r}")
        if structured not in RUNGS:
            raise InvalidInput(f"structured must be one of {', '.join(RUNGS)}, got {structured!r}")
        for name, reason in SET_ELSEWHERE.items():
            if name in parameters:
                raise InvalidInput(f"{name} cannot be set here: {reason}")
        self.model = model
        self.parameters = {**({} if temperature is None else {"temperature": temperature}), **parameters}
        self.structured = structured
        settings = {"base_url": base_url, "api_key": api_key, "timeout": timeout, "max_retries": max_retries}
        self._clients = Clients(client, settings)
        self._ladder = Ladder(structured)

    def _attempts(self, ask: Ask) -> Attempts:
        return Attempts(self.model, self.parameters, self._clients, self._ladder, ask)

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a reply; no key."""
        return {
            "provider": "openai",
            "model": self.model,
            "base_url": self._clients.base_url,
            "structured": self.structured,
            "parameters": dict(self.parameters),
        }

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        The usage counts one call, with the tokens that the server reports; attempts that the server refused cost nothing.

        Raises:
            ModelError: no key, no connection, no such model, no quota, no answer in time, or one that is not of the protocol.
            BadReply: the model refused to answer, a content filter stopped it, or it answered without any text.
            InvalidInput: a message cannot be sent as UTF-8, or the client given cannot serve synchronous calls.
        """
        client = self._clients.sync()
        attempts = self._attempts(ask)
        for parameters in attempts:
            with attempts:
                return attempts.answered(client.chat.completions.create(**parameters))
        raise attempts.failure()

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop; otherwise the same as ``generate``."""
        client = await self._clients.here()
        if client is None:
            import asyncio  # noqa: PLC0415  costs more to import than all of this package

            return await asyncio.to_thread(self.generate, ask)
        attempts = self._attempts(ask)
        for parameters in attempts:
            with attempts:
                return attempts.answered(await client.chat.completions.create(**parameters))
        raise attempts.failure()

    def __deepcopy__(self, memo: Any) -> OpenAILLM:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        settings = [repr(self.model), f"base_url={self._clients.base_url!r}"]
        settings += [f"{name}={value!r}" for name, value in self.parameters.items()]
        return f"{type(self).__name__}({mask(', '.join(settings), self._clients.secrets)})"
