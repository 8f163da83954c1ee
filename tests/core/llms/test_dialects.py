"""Errors as the servers of the OpenAI protocol really send them, each in words that name the cure."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from core.conftest import Asking
from loopback import OpenAIServer, Response, dialects
from ragmetrics_core import ModelError
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM

pytest.importorskip("openai")
pytest.importorskip("aiohttp")


@pytest.fixture(params=["openai", "server"])
def llm(request: pytest.FixtureRequest, server: OpenAIServer, key: str) -> Any:
    if request.param == "openai":
        return OpenAILLM("judge", base_url=server.base_url, api_key=key, max_retries=0)
    return OpenAIServerLLM(server.base_url, "judge", api_key=key)


def failure(llm: Any, ask: Any) -> ModelError:
    with pytest.raises(ModelError) as caught:
        asyncio.run(llm.agenerate(ask))
    return caught.value


SET_KEY = "Set the environment variable OPENAI_API_KEY, or give api_key."
NO_KEY_SENT = (
    "To this server no key of the environment is sent: give api_key. "
    "llm='openai:MODEL' sends the one in the environment variable OPENAI_API_KEY."
)

CASES = [
    (
        dialects.openrouter_failed(502, "Provider returned error"),
        "is failing (502): Provider returned error. Try again later.",
        ("transient",),
    ),
    (
        dialects.openrouter_failed(429, "Rate limit exceeded", raw="Acme: free-tier requests"),
        (
            "answers too many requests (429): Rate limit exceeded: Acme: free-tier requests. Ask fewer questions at a time, or try "
            "again later."
        ),
        ("transient", "rate_limited"),
    ),
    (
        dialects.openrouter_cut(502, "Upstream idle timeout"),
        "is failing (502): Upstream idle timeout. Try again later.",
        ("transient",),
    ),
    (
        dialects.openrouter_lacks_credit(),
        (
            "wants to be paid (402): Insufficient credits. Add more using https://openrouter.ai/settings/credits. The account or "
            "the key has no credit left."
        ),
        ("fatal",),
    ),
    (
        dialects.litellm(400, "Invalid model name passed in model=judge. Call `/v1/models` to view available models."),
        (
            "refuses the request (400): Invalid model name passed in model=judge. Call `/v1/models` to view available models."
        ),
        (),
    ),
    (
        dialects.litellm(401, "Authentication Error, No api key passed in.", "auth_error"),
        "refuses the API key (401): Authentication Error, No api key passed in. {cure}",
        ("fatal",),
    ),
    (dialects.llamacpp_loads(), "is failing (503): Loading model. Try again later.", ("transient",)),
    (
        dialects.ollama_lacks("judge"),
        (
            'has no such model or address (404): model "judge" not found, try pulling it first. '
            "Check the model name and the base URL."
        ),
        ("fatal",),
    ),
    (
        dialects.vllm_refuses("This model's maximum context length is 4096 tokens."),
        "refuses the request (400): This model's maximum context length is 4096 tokens.",
        (),
    ),
]


@pytest.mark.parametrize(("response", "words", "traits"), CASES, ids=range(len(CASES)))
def test_errors(
    llm: Any, server: OpenAIServer, ask: Asking, response: Response, words: str, traits: tuple[str, ...]
) -> None:
    server.queue.append(response)
    error = failure(llm, ask(schema=None))
    cure = SET_KEY if isinstance(llm, OpenAILLM) else NO_KEY_SENT
    assert str(error) == f"judge: {server.base_url} {words.format(cure=cure)}"
    assert tuple(name for name in ("fatal", "transient", "rate_limited") if getattr(error, name)) == traits
    assert len(server.requests) == 1


@pytest.mark.parametrize(
    "refusal",
    [
        dialects.litellm(400, "litellm.UnsupportedParamsError: response_format is not supported by this model"),
        dialects.openrouter_status(400, "Provider returned error", raw="response_format json_schema is not supported"),
        dialects.vllm_refuses("Invalid grammar specification: failed to parse json_schema"),
        dialects.lmstudio_refuses_json_mode(),
    ],
    ids=["litellm", "openrouter", "vllm", "lmstudio"],
)
def test_a_form_that_is_refused_is_left_out(llm: Any, server: OpenAIServer, ask: Asking, refusal: Response) -> None:
    server.queue.append(refusal)
    assert asyncio.run(llm.agenerate(ask())).value == '{"reason": "so", "verdict": true}'
    assert [(chat.get("response_format") or {}).get("type") for chat in server.chats] == ["json_schema", "json_object"]


@pytest.mark.parametrize("error", ["overloaded", {"message": "odd"}, {"code": 200}, {"code": True}, {"code": "none"}])
def test_other_errors_in_a_body_are_shown(llm: Any, server: OpenAIServer, ask: Asking, error: Any) -> None:
    server.queue.append(dialects.said(200, {"error": error}))
    said = str(failure(llm, ask(schema=None)))
    assert said.startswith(
        f"judge: the answer of {server.base_url} does not follow the OpenAI protocol ({error}): does "
    )


def test_an_error_in_a_body_with_its_code_as_a_text(llm: Any, server: OpenAIServer, ask: Asking) -> None:
    server.queue.append(dialects.said(200, {"error": {"code": "503", "message": "Busy"}}))
    assert failure(llm, ask(schema=None)).transient
