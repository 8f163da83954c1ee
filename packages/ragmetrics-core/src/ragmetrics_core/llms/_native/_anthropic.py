"""Claude by Anthropic's Messages API, through the package ``anthropic``.

The words of a prompt are the same for all its questions and are marked for Anthropic's cache; short ones are not cached.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

from ..._support._providers import Rung
from ..._support._strict_schema import strict_schema
from ..._values._requests import Ask, Reply, Usage
from ..._values._settings import check_whole
from .._wire._attempts import field_of, wire_message
from .._wire._bounded import bounded_client
from .._wire._failures import Refused
from .._wire._package_errors import TranslatedErrors
from ._clients import Service
from ._model import EMPTY, NativeModel, no_answer, reply_of, total

MAX_TOKENS = 8192
"""The most tokens of a reply, because Anthropic's API requires a limit. Long answers with many claims need some thousands."""

CACHED = {"cache_control": {"type": "ephemeral"}}

CUT = frozenset({"max_tokens", "model_context_window_exceeded"})
"""The reasons to stop after which the end of a text may be missing."""

OWN = frozenset({"model", "max_tokens", "messages", "system", "output_config"})
"""The parameters that every release of the package knows."""

TOKENS = ("input_tokens", "cache_creation_input_tokens", "cache_read_input_tokens")
"""The counts of tokens that were sent: outside the cache, written to it, and read from it."""

NO_CREDIT = "credit balance is too low"
"""How the API says, with the status of a bad request, that no further call will be answered."""

SET_ELSEWHERE = {
    "system": "it comes from the metrics",
    "output_config": "its format follows from the reply that a metric asks for; see structured=...",
    "output_format": "it follows from the reply that a metric asks for; see structured=...",
    "extra_headers": "headers of your own need a model of your own: a class with a method generate(ask)",
}


class AnthropicErrors(TranslatedErrors):
    """The errors of the package ``anthropic`` in our words."""

    @staticmethod
    def package() -> Any:
        """Return the package."""
        import anthropic  # noqa: PLC0415  heavy

        return anthropic

    def _refused(self, error: Any) -> Refused | None:
        refused = super()._refused(error)
        if refused is not None and NO_CREDIT in refused.message:
            return replace(refused, code="insufficient_quota")
        return refused


def _client(*, asynchronous: bool, base_url: str, key: str, timeout: float, retries: int) -> Any:
    package = AnthropicErrors.package()
    return getattr(package, "AsyncAnthropic" if asynchronous else "Anthropic")(
        api_key=key,
        base_url=base_url,
        timeout=timeout,
        max_retries=retries,
        http_client=bounded_client(package.DefaultAsyncHttpxClient if asynchronous else package.DefaultHttpxClient),
    )


SERVICE = Service(
    "Anthropic",
    "anthropic",
    "anthropic",
    AnthropicErrors.package,
    _client,
    ("/v1",),
    {"max_tokens": MAX_TOKENS},
)


class AnthropicLLM(NativeModel):
    """Claude, called through the package ``anthropic``.

    Args:
        model: name of the model, such as ``claude-sonnet-4-5``.
        base_url: default: the environment variable ``ANTHROPIC_BASE_URL``, else Anthropic's own address.
        api_key: default: the value of the environment variable ``key_variable``.
        timeout: seconds for a whole answer, which may have at most 64 MB; default: 600. No redirect is followed.
        max_retries: retries of failed calls; default: 2. ``evaluate`` retries by its own rules.
        key_variable: the environment variable that holds the key; default: ``ANTHROPIC_API_KEY``. No other key is sent.
        structured: ``schema``: replies follow a JSON schema; if the model refuses it, or with ``text``, the prompt alone says how
            to reply.
        max_tokens: the most tokens of a reply; the API requires a limit.
        temperature: sent only if it is set, because newer models refuse it.
        cache: whether the words of prompts are marked for Anthropic's cache. Tokens from the cache cost a tenth, tokens that are
            written to it a quarter more.
        parameters: any other parameter of the Messages API, such as ``thinking`` or ``extra_body``; sent only if it is set.

    Raises:
        MissingExtra: the package is not installed.
        InvalidInput: a setting is impossible, or belongs elsewhere.
    """

    _errors = AnthropicErrors
    service = SERVICE
    known = ("extra_body", "metadata", "service_tier", "stop_sequences", "thinking", "top_k", "top_p")
    set_elsewhere = SET_ELSEWHERE

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | None = None,
        timeout: float | None = None,
        max_retries: int | None = None,
        key_variable: str | None = None,
        structured: Rung = "schema",
        max_tokens: int = MAX_TOKENS,
        temperature: float | None = None,
        cache: bool = True,
        **parameters: Any,
    ) -> None:
        given = locals()
        check_whole("max_tokens", max_tokens, least=1)
        self._cache = cache
        self._set(given, {"max_tokens": max_tokens})

    def _sent(self, ask: Ask) -> dict[str, Any]:
        return {"model": self.model, **_messages(ask, cache=self._cache), **self.parameters}

    def _in_form(self, sent: dict[str, Any], rung: Rung, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {**sent, **(_format(schema) if rung == "schema" else {})}

    def _read(self, answer: Any, answered: Callable[[], None]) -> Reply[str]:
        content = field_of(answer, "content")
        if not isinstance(content, list):
            raise no_answer(answer, self._failures, "content")
        answered()
        usage = field_of(answer, "usage")
        spent = Usage(1, total(usage, *TOKENS), total(usage, "output_tokens"))
        texts = [field_of(part, "text") for part in content if field_of(part, "type") == "text"]
        reason = field_of(answer, "stop_reason")
        problem = "refuses to answer" if reason == "refusal" else None
        if not texts and reason not in {"refusal", *CUT}:
            problem = f"answered without any text (stop reason {reason!r})"
        text = "".join(part for part in texts if isinstance(part, str))
        return reply_of(text, spent, self._failures, is_cut=reason in CUT, problem=problem)

    def _send(self, client: Any, parameters: dict[str, Any]) -> Any:
        # the package's releases know different parameters; those in extra_body are sent by all
        more = {name: value for name, value in parameters.items() if name not in OWN}
        own = {name: value for name, value in parameters.items() if name in OWN}
        extra = {**(more.pop("extra_body", None) or {}), **more}
        make = partial(client.messages.with_raw_response.create, **own, extra_body=extra or None)
        return _plain(make) if hasattr(client, "__aenter__") else make().http_response.json()


async def _plain(make: Any) -> Any:
    return (await make()).http_response.json()


def _messages(ask: Ask, *, cache: bool) -> dict[str, Any]:
    """Return the messages as Anthropic takes them: system messages are apart, and the last of them ends what is cached."""
    sent = [wire_message(message) for message in ask.messages]
    system: list[dict[str, Any]] = [
        {"type": "text", "text": message["content"]} for message in sent if message["role"] == "system"
    ]
    if system and cache:
        system[-1] |= CACHED
    # the API refuses messages without text; an empty one is a bad reply that is asked for again
    rest = [{**message, "content": message["content"] if message["content"].strip() else EMPTY} for message in sent]
    rest = [message for message in rest if message["role"] != "system"]
    return {"messages": rest, **({"system": system} if system else {})}


def _format(schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"output_config": {"format": {"type": "json_schema", "schema": strict_schema(schema) or dict(schema)}}}
