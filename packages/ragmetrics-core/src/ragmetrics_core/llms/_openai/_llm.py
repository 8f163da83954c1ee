"""An LLM behind the OpenAI chat protocol: OpenAI, Azure, or any compatible server (Ollama, vLLM, llama.cpp, ...).

Retries of failed connections and busy servers are left to the openai client.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from ..._support._providers import Rung
from ..._values._requests import Ask, Reply
from .._wire._attempts import (
    Exchange,
    Ladder,
    chat,
    chat_parameters,
    check_parameters,
)
from .._wire._batches import OpenAIBatches
from .._wire._connections import check_model, hashed, is_of_this_machine, shown
from .._wire._package_model import PackageModel
from ._clients import Clients

if TYPE_CHECKING:
    import openai

CLIENT_SETTINGS = ("base_url", "api_key", "timeout", "max_retries", "key_variable")
"""The settings of clients that are made here, see ``Clients``."""


class OpenAIModel(PackageModel):
    """The common base of the models of the openai package.

    Args:
        model: name of the model.
        client: the user's client, or None.
        arguments: the arguments of the constructor by name; ``CLIENT_SETTINGS`` are taken from them.

    Raises:
        InvalidInput: the model has no name, or an argument is refused by ``Clients``.
        MissingExtra: the openai package is not installed.
    """

    def __init__(
        self, model: str, client: openai.OpenAI | openai.AsyncOpenAI | None, arguments: Mapping[str, Any]
    ) -> None:
        check_model(model)
        self.model = model
        self._clients = Clients(client, {name: arguments[name] for name in CLIENT_SETTINGS})

    def _identity(self, **settings: Any) -> dict[str, Any]:
        """Return the model, its address and its settings, and the query and headers with which a user's client chooses a model."""
        query, headers = self._clients.query, self._clients.headers
        routing = {"query": hashed(query, self._clients.secrets), "headers": headers}
        known = {"provider": "openai", "model": self.model, "base_url": self._clients.base_url, **settings}
        return known | {name: value for name, value in routing.items() if value}


SET_ELSEWHERE = {
    "extra_headers": "headers belong to the client: client=openai.OpenAI(default_headers=...)",
    "extra_query": "the query belongs to the client: client=openai.OpenAI(default_query=...)",
}


class OpenAILLM(OpenAIModel):
    """An LLM that is called through the ``openai`` package.

    Args:
        model: name of the model, or of the deployment on Azure.
        client: an ``openai.OpenAI``, ``AsyncOpenAI``, ``AzureOpenAI`` or ``AsyncAzureOpenAI``. Either kind serves both
            ``generate`` and ``agenerate``. The client is never closed here. Asynchronous calls use a separate client with the
            same settings in each event loop. A client that cannot be rebuilt (a subclass, or a client with a custom
            ``http_client``) is used itself: a synchronous one in threads, an asynchronous one in one event loop only.
        base_url: address of a compatible server, such as ``http://localhost:11434/v1``; needs no key.
        api_key: default: the value of the environment variable ``key_variable``.
        timeout: seconds to wait for an answer; default: the openai package's (600). Without a ``client``, the whole answer must
            arrive in that time and have at most 64 MB after decompression, and no redirect is followed. A given client keeps its
            own rules.
        max_retries: retries of the openai client; default: the package's (2). ``evaluate`` retries by its own rules.
        key_variable: the environment variable that holds the key; default: ``OPENAI_API_KEY``. The key in any other variable is
            never sent.
        structured: the highest form of structured output to try: ``schema`` (JSON schema), ``json`` (JSON mode) or ``text``. If
            the server refuses a form, the next lower form is used and remembered.
        temperature: sent only if it is set, because newer models refuse it.
        parameters: any other parameter of the chat protocol, such as ``max_completion_tokens``, ``seed``, ``extra_body``; each is
            sent only if it is set. Parameters that only some servers know go into ``extra_body``.

    Raises:
        MissingExtra: the openai package is not installed.
        InvalidInput: the client is of another library, two settings contradict each other, the base URL is no address, or a
            parameter is unknown.
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
        key_variable: str | None = None,
        structured: Rung = "schema",
        temperature: float | None = None,
        **parameters: Any,
    ) -> None:
        given = locals()
        self.parameters = chat_parameters(structured, temperature, parameters, SET_ELSEWHERE)
        self.structured = structured
        super().__init__(model, client, given)
        check_parameters(parameters, by_package=True)
        self._ladder = Ladder(structured)

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a reply. A secret is included at most as a hash."""
        parameters = hashed(self.parameters, self._clients.secrets)
        return self._identity(structured=self.structured, parameters=parameters)

    @property
    def on_this_machine(self) -> bool:
        """Whether the server runs on this machine, so that a refused connection is final at once."""
        return is_of_this_machine(self._clients.base_url)

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        The usage counts one call, with the tokens that the server reports; attempts that the server refused cost nothing.

        Raises:
            ModelError: there is no key or a key that no header can carry, no connection, no such model, no quota left or no
                answer in time, or the answer does not follow the protocol.
            BadReply: the model refused to answer, a content filter stopped it, or its answer has no text.
            InvalidInput: a message cannot be sent as UTF-8, or the given client cannot serve synchronous calls.
        """
        return self._run(self._exchange(ask))

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop. Usage and errors are the same as for ``generate``."""
        return await self._run_async(self._exchange(ask))

    def _exchange(self, ask: Ask) -> Exchange[Reply[str]]:
        return chat(self._failures, self.parameters, self._ladder, ask)

    def batches(self) -> OpenAIBatches:
        """Return the batch API of this model. Making it calls no server."""
        return OpenAIBatches(self._clients.sync, self._failures, self._body)

    def _body(self, ask: Ask) -> dict[str, Any]:
        """Return what is sent for a question, with the entries of ``extra_body`` in their places."""
        sent = next(self._exchange(ask))
        return {**sent, **(sent.pop("extra_body", None) or {})}

    def _send(self, client: Any, parameters: dict[str, Any]) -> Any:
        completions, sent = client.chat.completions, prepared(parameters)
        is_async = hasattr(client, "__aenter__")
        return _plain(completions, sent) if is_async and not self._clients.given else completions.create(**sent)

    def __repr__(self) -> str:
        return self._repr(shown(self.parameters, self._clients.secrets))


async def _plain(completions: Any, sent: dict[str, Any]) -> Any:
    """Return the answer as plain JSON. Making objects of the openai package takes longer than reading the answer."""
    return (await completions.with_raw_response.create(**sent)).http_response.json()


def prepared(parameters: dict[str, Any]) -> dict[str, Any]:
    """Move the form of the reply into ``extra_body``, which the openai package sends without a check.

    As a parameter of the package, the schema would be checked against the package's types at every call.
    """
    rest = dict(parameters)
    if (form := rest.pop("response_format", None)) is not None:
        rest["extra_body"] = {"response_format": form, **(rest.get("extra_body") or {})}
    return rest


def clients_of(llm: OpenAILLM) -> Clients:
    """Return the clients of a model, without retries."""
    return llm.without_retries()._clients
