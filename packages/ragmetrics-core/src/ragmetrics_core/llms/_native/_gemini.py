"""Gemini by Google's own protocol, through the package ``google-genai``. Its servers cache the words of a prompt by themselves."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

from ..._support._providers import Rung
from ..._support._retry_after import seconds_to_wait
from ..._support._strict_schema import strict_schema
from ..._values._errors import ModelError
from ..._values._requests import Ask, Reply, Usage
from .._wire._attempts import field_of, wire_message
from .._wire._bounded import bounded_client
from .._wire._failures import Failures, Refused, root_of
from .._wire._package_errors import TooLong, TranslatedErrors
from ._clients import Service
from ._model import EMPTY, NativeModel, no_answer, reply_of, total

NO_REPLY = {
    "BLOCKLIST": "was stopped by a list of forbidden words",
    "LANGUAGE": "refuses to answer in this language",
    "MODEL_ARMOR": "was stopped by a content filter",
    "PROHIBITED_CONTENT": "was stopped by a content filter",
    "RECITATION": "was stopped because it recited a source",
    "SAFETY": "was stopped by a content filter",
    "SPII": "was stopped because of personal data",
}
"""The reasons to stop after which there is no reply, whatever text there is."""

DELAY = re.compile(r"(\d{1,6}(?:\.\d{1,9})?)s")

SET_ELSEWHERE = {
    "contents": "they come from the metrics",
    "system_instruction": "it comes from the metrics",
    "candidate_count": "a metric reads one reply",
    "response_mime_type": "it follows from the reply that a metric asks for; see structured=...",
    "response_schema": "it follows from the reply that a metric asks for; see structured=...",
    "response_json_schema": "it follows from the reply that a metric asks for; see structured=...",
    "http_options": "headers of your own need a model of your own: a class with a method generate(ask)",
}


class GeminiErrors(TranslatedErrors):
    """The errors of the package ``google-genai`` in our words. Those of connections come from the package httpx2."""

    @staticmethod
    def package() -> Any:
        """Return the package."""
        from google import genai  # noqa: PLC0415  heavy

        return genai

    def _explain(self, error: Exception) -> ModelError:
        import httpx2  # noqa: PLC0415  heavy

        if isinstance(error, TooLong):
            return self._failures.too_long()
        if isinstance(error, httpx2.TimeoutException):
            return self._failures.too_late()
        if isinstance(error, httpx2.DecodingError):
            return self._failures.no_http(str(error))
        if isinstance(error, httpx2.RequestError):
            return self._failures.unreachable(root_of(error))
        return self._of_answer(error)

    def _refused(self, error: Any) -> Refused | None:
        if not isinstance(error, self.package().errors.APIError):
            return None
        response, body = error.response, error.details
        body = body.get("error", body) if isinstance(body, dict) else body
        details = body.get("details") if isinstance(body, dict) else None
        known = [item for item in details if isinstance(item, dict)] if isinstance(details, list) else []
        status = error.code if isinstance(error.code, int) else response.status_code
        if any(item.get("reason") == "API_KEY_INVALID" for item in known):
            status = 401  # it is sent as 400
        if location := response.headers.get("Location") if status < 400 else None:
            body = Failures.redirected(location)
        delays = (DELAY.fullmatch(str(item.get("retryDelay"))) for item in known)
        delay = next((float(found[1]) for found in delays if found), None)
        wait = seconds_to_wait(response.headers)
        source = body if isinstance(body, dict) else {}
        return Refused.of(status, body, error.status or "it gives no reason", source, delay if wait is None else wait)


class Handle:
    """A client for synchronous or for asynchronous calls, which can be closed."""

    def __init__(self, models: Any, http: Any) -> None:
        self.models, self._http = models, http

    def close(self) -> Any:
        """Close the connections; with an asynchronous client, the result must be awaited."""
        return self._http.aclose() if hasattr(self._http, "aclose") else self._http.close()


def _client(*, asynchronous: bool, base_url: str, key: str, timeout: float, retries: int) -> Handle:
    import httpx2  # noqa: PLC0415  heavy

    genai = GeminiErrors.package()
    http = bounded_client(httpx2.AsyncClient if asynchronous else httpx2.Client)
    options = {
        "base_url": base_url,
        "api_version": "v1beta",
        "timeout": math.ceil(timeout * 1000),
        "retry_options": {"attempts": retries + 1},
        "httpx_async_client" if asynchronous else "httpx_client": http,
    }
    client = genai.Client(api_key=key, vertexai=False, http_options=options)
    return Handle(client.aio.models if asynchronous else client.models, http)


SERVICE = Service(
    "Gemini",
    "google.genai",
    "gemini",
    GeminiErrors.package,
    _client,
    ("/v1beta/openai", "/v1beta"),
)


class GeminiLLM(NativeModel):
    """Gemini, called through the package ``google-genai``.

    Args:
        model: name of the model, such as ``gemini-2.5-flash``.
        base_url: default: the environment variable ``GEMINI_BASE_URL``, else Google's own address.
        api_key: default: the value of the environment variable ``key_variable``.
        timeout: seconds for a whole answer, which may have at most 64 MB; default: 600. No redirect is followed.
        max_retries: retries of failed calls; default: 2. ``evaluate`` retries by its own rules.
        key_variable: the environment variable that holds the key; default: ``GEMINI_API_KEY``, else ``GOOGLE_API_KEY``. No other
            key is sent.
        structured: the highest form of structured output to try: ``schema`` (JSON schema), ``json`` (JSON mode) or ``text``. If
            the model refuses a form, the next lower form is used and remembered.
        temperature: sent only if it is set.
        parameters: any other parameter of the protocol, under the names of the package, such as ``max_output_tokens``, ``seed`` or
            ``thinking_config``; sent only if it is set.

    Raises:
        MissingExtra: the package is not installed.
        InvalidInput: a setting is impossible, or belongs elsewhere.
    """

    _errors = GeminiErrors
    service = SERVICE
    known = (
        "extra_body",
        "frequency_penalty",
        "labels",
        "max_output_tokens",
        "presence_penalty",
        "safety_settings",
        "seed",
        "service_tier",
        "stop_sequences",
        "thinking_config",
        "top_k",
        "top_p",
    )
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
        temperature: float | None = None,
        **parameters: Any,
    ) -> None:
        self._set(locals(), {})

    def _sent(self, ask: Ask) -> dict[str, Any]:
        sent = [wire_message(message) for message in ask.messages]
        system = [message["content"] for message in sent if message["role"] == "system"]
        contents = [_content(message) for message in sent if message["role"] != "system"]
        config = {**self.parameters, **({"system_instruction": "\n\n".join(system)} if system else {})}
        return {"model": self.model, "contents": contents, "config": config}

    def _in_form(self, sent: dict[str, Any], rung: Rung, schema: Mapping[str, Any]) -> dict[str, Any]:
        return {**sent, "config": {**sent["config"], **_format(rung, schema)}}

    def _read(self, answer: Any, answered: Callable[[], None]) -> Reply[str]:
        candidates, blocked = field_of(answer, "candidates"), field_of(answer, "promptFeedback")
        candidate = candidates[0] if isinstance(candidates, list) and candidates else None
        why_blocked = field_of(blocked, "blockReason")
        if not isinstance(candidate, dict) and why_blocked is None:
            raise no_answer(answer, self._failures, "candidates")
        answered()
        usage = field_of(answer, "usageMetadata")
        written = total(usage, "candidatesTokenCount", "thoughtsTokenCount")
        spent = Usage(1, total(usage, "promptTokenCount"), written)
        parts = field_of(field_of(candidate, "content"), "parts")
        found = [part for part in parts if isinstance(part, dict)] if isinstance(parts, list) else []
        texts = [part["text"] for part in found if isinstance(part.get("text"), str) and not part.get("thought")]
        reason = field_of(candidate, "finishReason")
        problem = NO_REPLY.get(reason) if isinstance(reason, str) else None
        if why_blocked is not None:
            problem = f"was not asked, because a filter blocks the question ({why_blocked})"
        elif problem is None and not texts and reason != "MAX_TOKENS":
            problem = f"answered without any text (finish reason {reason!r})"
        return reply_of("".join(texts), spent, self._failures, is_cut=reason == "MAX_TOKENS", problem=problem)

    def _send(self, client: Any, parameters: dict[str, Any]) -> Any:
        config = {**parameters["config"], "should_return_http_response": True}
        if extra := config.pop("extra_body", None):
            config["http_options"] = {"extra_body": extra}
        made = client.models.generate_content(**{**parameters, "config": config})
        return _plain(made) if hasattr(made, "__await__") else json.loads(made.sdk_http_response.body)


async def _plain(made: Any) -> Any:
    return json.loads((await made).sdk_http_response.body)


def _content(message: Mapping[str, str]) -> dict[str, Any]:
    role = "model" if message["role"] == "assistant" else "user"
    text = message["content"]
    return {"role": role, "parts": [{"text": text if text.strip() else EMPTY}]}


def _format(rung: Rung, schema: Mapping[str, Any]) -> dict[str, Any]:
    if rung == "text":
        return {}
    json_mode = {"response_mime_type": "application/json"}
    return json_mode | ({"response_json_schema": strict_schema(schema) or dict(schema)} if rung == "schema" else {})
