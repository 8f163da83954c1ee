"""A judge behind the OpenAI chat protocol: OpenAI, Azure, or any compatible server (Ollama, vLLM, llama.cpp, ...).

Strategy. One question is one or more attempts, one per form of structured output, until the server accepts the form (see
``_attempts``); ``generate`` and ``agenerate`` differ in nothing but the call itself. Retries of failed connections
and busy servers are the openai client's own, as it is configured.

What the openai package raises, in the words that all models share (see ``_failures``).

The original exception, which holds the request with its headers, is never chained. Whatever the package raises for one call is a
failure of that call, because a server can make it raise nearly anything. So the block holds the call and nothing of ours.

    errors = TranslatedErrors(failures)
    with errors:
        answer = client.embeddings.create(...)
    if errors.problem: raise errors.problem
"""

from __future__ import annotations

import copy
import json
from functools import partial
from typing import TYPE_CHECKING, Any

from ..._support._retry_after import seconds_to_wait
from ..._support._threads import in_own_thread
from ..._values._errors import ModelError, RagmetricsError
from ..._values._requests import Ask, Reply
from .._wire._attempts import Attempts, Ladder, Rung, chat_parameters, check_against_package
from .._wire._connections import hashed, is_of_this_machine, shown
from .._wire._failures import Failures, Refused, first_line, root_of
from ._bounded import TooLong
from ._clients import Clients

if TYPE_CHECKING:
    import openai


class TranslatedErrors:
    """A block in which the openai package is called: a failure ends the block and is kept, in words, as ``problem``.

    Errors of ``ragmetrics_core``, cancellation and Ctrl-C go through.

    It is not raised from here, so that the exception raised later has nothing attached: the original holds the key.

    Attributes:
        problem: the failure; None while there was none.
        refused: the server's own words, where the failure is an answer with an error status.
    """

    def __init__(self, failures: Failures) -> None:
        self.problem: ModelError | None = None
        self.refused: Refused | None = None
        self._failures = failures

    def __enter__(self) -> None:
        self.problem = self.refused = None

    def __exit__(self, kind: object, error: BaseException | None, traceback: object) -> bool:
        if not isinstance(error, Exception) or isinstance(error, RagmetricsError):
            return False
        self.refused = _refused(error)
        self.problem = self._failures.refused(self.refused) if self.refused is not None else self._explain(error)
        return True

    def _explain(self, error: Exception) -> ModelError:
        import openai  # noqa: PLC0415  heavy

        if isinstance(error, openai.APITimeoutError):
            return self._failures.too_late()
        if isinstance(error.__cause__, TooLong):
            return self._failures.too_long()
        if type(error.__cause__).__name__ == "DecodingError":
            return self._failures.no_http(str(error.__cause__))
        if isinstance(error, openai.APIConnectionError):
            return self._failures.unreachable(root_of(error))
        if isinstance(error, json.JSONDecodeError):
            return self._failures.no_json(error.doc)
        if isinstance(error, UnicodeDecodeError):
            return self._failures.other_protocol("it is not UTF-8", transient=True)
        if isinstance(error, RecursionError):
            return self._failures.too_deep()
        if isinstance(error, openai.OpenAIError):
            return self._failures.other_protocol(first_line(error))
        return self._failures.unexpected(error)


def _refused(error: Any) -> Refused | None:
    import openai  # noqa: PLC0415  heavy

    if not isinstance(error, openai.APIStatusError):
        return None
    wait = seconds_to_wait(error.response.headers)
    location = error.response.headers.get("Location") if error.status_code < 400 else None
    body = error.body if location is None else Failures.redirected(location)
    return Refused(error.status_code, body, error.message, error.code, error.param, wait)


SET_ELSEWHERE = {
    "extra_headers": "headers belong to the client: client=openai.OpenAI(default_headers=...)",
    "extra_query": "the query belongs to the client: client=openai.OpenAI(default_query=...)",
}


class OpenAILLM:
    """An LLM that is called through the ``openai`` package.

    Args:
        model: name of the model, or of the deployment on Azure.
        client: an ``openai.OpenAI``, ``AsyncOpenAI``, ``AzureOpenAI`` or ``AsyncAzureOpenAI``. Either kind serves both
            ``generate`` and ``agenerate``. It stays the caller's: it is never closed here, and asynchronous calls go
            through a client of the same settings in each event loop. One that cannot be rebuilt (a subclass, or with an
            ``http_client`` of its own) is used itself: a synchronous one in threads, an asynchronous one in one loop only.
        base_url: address of a compatible server, such as ``http://localhost:11434/v1``; needs no key.
        api_key: default: what the environment variable ``key_variable`` holds.
        timeout: seconds to wait for an answer; default: the openai package's (600). Without a ``client``, the whole answer must
            come in that time and have at most 64 MB unpacked, and no redirect is followed; a client of yours stays as it is.
        max_retries: retries of the openai client; default: the package's (2). ``evaluate`` retries by its own rules.
        key_variable: the environment variable that holds the key; default: ``OPENAI_API_KEY``. No other is sent.
        structured: the highest form of structured output to try: ``schema`` (JSON schema), ``json`` (JSON mode) or ``text``.
            What the server refuses is found out by itself and remembered.
        temperature: sent only if it is set; newer models refuse it. So it is with all ``parameters``.
        parameters: any other parameter of the chat protocol, such as ``max_completion_tokens``, ``seed``, ``extra_body``;
            what only some servers know goes into ``extra_body``.

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
        self.parameters = chat_parameters(model, structured, temperature, parameters, SET_ELSEWHERE)
        self.model = model
        self.structured = structured
        settings = {"base_url": base_url, "api_key": api_key, "timeout": timeout, "max_retries": max_retries}
        settings["key_variable"] = key_variable
        self._clients = Clients(client, settings)
        check_against_package(parameters)
        self._ladder = Ladder(structured)

    def _attempts(self, ask: Ask) -> tuple[Attempts, TranslatedErrors]:
        failures = Failures(self.model, self._clients, self._clients.key_cure)
        return Attempts(failures, self.parameters, self._ladder, ask), TranslatedErrors(failures)

    def without_retries(self) -> OpenAILLM:
        """The same model for a caller that retries by itself, as ``evaluate`` does: every failure reaches it at once."""
        other = copy.copy(self)
        other._clients = self._clients.without_retries()
        return other

    @property
    def identity(self) -> dict[str, Any]:
        """Every setting that can change a reply; of secrets a hash at most."""
        query, headers = self._clients.query, self._clients.headers
        return {
            "provider": "openai",
            "model": self.model,
            "base_url": self._clients.base_url,
            "structured": self.structured,
            "parameters": hashed(self.parameters, self._clients.secrets),
            # such as api-version on Azure
            **({"query": hashed(query, self._clients.secrets)} if query else {}),
            # such as the provider behind a gateway
            **({"headers": headers} if headers else {}),
        }

    @property
    def on_this_machine(self) -> bool:
        """Whether the address is one of this machine, where a refusal is known at once."""
        return is_of_this_machine(self._clients.base_url)

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer one question.

        The usage counts one call, with the tokens that the server reports; attempts that the server refused cost nothing.

        Raises:
            ModelError: no key or one that no header can carry, no connection, no such model, no quota, no answer in time, or
                one that is not of the protocol.
            BadReply: the model refused to answer, a content filter stopped it, or it answered without any text.
            InvalidInput: a message cannot be sent as UTF-8, or the client given cannot serve synchronous calls.
        """
        client = self._clients.sync()
        attempts, errors = self._attempts(ask)
        for parameters in attempts:
            sent = prepared(parameters)
            answer: Any = None
            with errors:
                answer = client.chat.completions.create(**sent)
            if errors.problem is None:
                return attempts.answered(answer)
            attempts.failed(errors.problem, errors.refused)
        raise attempts.failure()

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer one question without blocking the running loop; otherwise the same as ``generate``."""
        client = await self._clients.here()
        if client is None:
            return await in_own_thread(partial(self.generate, ask))
        attempts, errors = self._attempts(ask)
        for parameters in attempts:
            sent = prepared(parameters)
            answer: Any = None
            with errors:
                completions = client.chat.completions
                if self._clients.given:
                    answer = await completions.create(**sent)
                else:  # to turn answers into objects of the package takes longer than to read them
                    answer = (await completions.with_raw_response.create(**sent)).http_response.json()
            if errors.problem is None:
                return attempts.answered(answer)
            attempts.failed(errors.problem, errors.refused)
        raise attempts.failure()

    def __deepcopy__(self, memo: Any) -> OpenAILLM:
        return self  # a handle to a server: copies of what holds it share its connections

    def __repr__(self) -> str:
        settings = [repr(self.model), f"base_url={self._clients.base_url!r}"]
        settings += [f"{name}={value!r}" for name, value in shown(self.parameters, self._clients.secrets).items()]
        return f"{type(self).__name__}({', '.join(settings)})"


def prepared(parameters: dict[str, Any]) -> dict[str, Any]:
    """The parameters with the form of the reply in ``extra_body``, which the package sends as it is.

    As its own parameter, the schema would be compared with the package's types at every call.
    """
    if "response_format" not in parameters:
        return parameters
    form = {"response_format": parameters["response_format"], **(parameters.get("extra_body") or {})}
    return {**{name: value for name, value in parameters.items() if name != "response_format"}, "extra_body": form}


def clients_of(llm: OpenAILLM) -> Clients:
    """The clients of a model, which report every failure at once."""
    return llm.without_retries()._clients
