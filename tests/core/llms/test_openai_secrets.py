"""Keys that cannot travel in a header, and secrets among the settings: both models say the same, and show neither."""

from __future__ import annotations

import asyncio
import json
import traceback
from typing import Any

import openai
import pytest

from core.llms import clients
from loopback import OpenAIServer, error
from ragmetrics_core import InvalidInput, ModelError
from ragmetrics_core.embeddings import OpenAIEmbeddings
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM

BAD_KEYS = [
    ("sk-sécret-4711", 4),
    ("sk-secret\n-4711", 9),
    ("sk-secret-4711\x00", 14),
    ("sk-secret-\ud800", 10),
]


def made(way: str, url: str, **settings: Any) -> Any:
    name = way.partition(",")[0]
    return clients.made("openai" if name in {"sync", "async"} else name, url, **settings)


def call(llm: Any, question: Any, way: str) -> Any:
    is_async = way == "server" or way.endswith("async")
    return asyncio.run(llm.agenerate(question)) if is_async else llm.generate(question)


WAYS = ["sync", "async", "server"]
ALL_WAYS = [*WAYS, *clients.NATIVE, *(f"{name}, async" for name in clients.NATIVE)]


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize(("key", "place"), BAD_KEYS)
def test_a_key_that_no_header_can_carry(ask: Any, way: str, key: str, place: int) -> None:
    assert_refused(made(way, "http://127.0.0.1:9/v1", api_key=key), ask(), way, place)


@pytest.mark.parametrize("way", ALL_WAYS)
@pytest.mark.parametrize(("key", "place"), BAD_KEYS[:2])  # no environment can hold the others
def test_a_key_of_the_environment_that_no_header_can_carry(
    ask: Any, way: str, key: str, place: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("OPENAI", "ANTHROPIC", "GEMINI"):
        monkeypatch.setenv(f"{name}_API_KEY", key)
    none = {} if way in WAYS else {"api_key": None}
    assert_refused(made(way, "https://api.openai.com/v1", **none), ask(), way, place)


def assert_refused(llm: Any, question: Any, way: str, place: int) -> None:
    with pytest.raises(ModelError) as caught:
        call(llm, question, way)
    assert str(caught.value) == (
        f"the API key contains a character that is not allowed in a header "
        f"(position {place}): check that it was copied completely and alone"
    )
    assert caught.value.fatal
    assert "4711" not in "".join(traceback.format_exception(caught.value)) + repr(llm)


@pytest.mark.parametrize("way", ALL_WAYS)
def test_white_space_around_a_key_is_left_out(server: OpenAIServer, key: str, ask: Any, way: str) -> None:
    assert call(made(way, server.base_url, api_key=f" {key}\r\n"), ask(), way).usage.calls == 1
    headers = server.requests[0].headers
    assert {f"Bearer {key}", key} & {headers.get(name) for name in ("authorization", "x-api-key", "x-goog-api-key")}


def test_white_space_around_the_key_of_the_environment(
    server: OpenAIServer, key: str, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", f"{key}\n")
    assert OpenAILLM("judge", base_url=server.base_url).generate(ask()).usage.calls == 1
    assert server.requests[0].headers["authorization"] == f"Bearer {key}"


@pytest.mark.parametrize("key", ["", "  \n"])
def test_an_empty_key_is_none(ask: Any, key: str) -> None:
    with OpenAIServer() as server:
        for way, sent in [("sync", "Bearer no-key"), ("async", "Bearer no-key"), ("server", None)]:
            assert call(made(way, server.base_url, api_key=key), ask(schema=None), way).value == "ok"
            assert server.requests[-1].headers.get("authorization") == sent
    with pytest.raises(ModelError, match="^no API key for OpenAI: set the environment variable"):
        OpenAILLM("judge", api_key=key).generate(ask())


@pytest.mark.parametrize("kind", [openai.OpenAI, openai.AsyncOpenAI])
@pytest.mark.parametrize(
    ("settings", "what"),
    [
        (
            {"api_key": "sk-secret-4711\n"},
            "the API key contains a character that is not allowed in a header (position 14): ",
        ),
        (
            {"api_key": " sk-secret-4711"},
            "the API key contains a character that is not allowed in a header (position 0): ",
        ),
        (
            {"api_key": "x", "default_headers": {"X-Team": "4711-é"}},
            "the header 'X-Team' of the client contains a character that is not allowed in a header (position 5): ",
        ),
    ],
)
def test_a_client_whose_headers_cannot_be_sent(ask: Any, kind: Any, settings: dict[str, Any], what: str) -> None:
    client = kind(base_url="http://127.0.0.1:9/v1", max_retries=0, **settings)
    for way in ("sync", "async"):
        with pytest.raises(ModelError) as caught:
            call(OpenAILLM("judge", client=client), ask(), way)
        assert str(caught.value).startswith(what)
        assert caught.value.fatal
        assert "4711" not in str(caught.value)


def test_embeddings_check_the_key_too() -> None:
    with pytest.raises(ModelError, match="the API key contains a character that is not allowed in a header"):
        OpenAIEmbeddings("m", base_url="http://127.0.0.1:9/v1", api_key="sk-é").embed(["a"])
    with pytest.raises(InvalidInput, match="api_key must be a str, got int"):
        OpenAIEmbeddings("m", api_key=4711)  # type: ignore[arg-type]


def test_headers_of_the_client_are_secrets(ask: Any) -> None:
    headers = {"X-Gateway": "gateway-4711", "Proxy-Authorization": "Basic dXNlcjo0NzEx"}
    with OpenAIServer(lambda body: error(400, "no gateway-4711 and no dXNlcjo0NzEx here")) as server:
        client = openai.OpenAI(base_url=server.base_url, api_key="x", default_headers=headers)
        with client, pytest.raises(ModelError) as caught:
            OpenAILLM("judge", client=client).generate(ask())
    assert str(caught.value) == f"judge: {server.base_url} refuses the request (400): no *** and no *** here."


OWN_DATA = {
    "data_sources": [
        {
            "type": "azure_search",
            "parameters": {
                "index_name": "docs",
                "authentication": {"type": "api_key", "key": "hidden-1"},
                "credentials": {"user": "hidden-2"},
                "accessToken": "hidden-3",
                "empty_secret": "",
            },
        }
    ],
    "api_key": "hidden-4",
    "eos_token_id": 7,
}


@pytest.mark.parametrize("way", ["sync", "server"])
def test_secrets_among_the_parameters_are_not_shown(way: str) -> None:
    settings: dict[str, Any] = {"max_tokens": 50, "prompt_cache_key": "tests", "extra_body": OWN_DATA}
    llm = made(way, "http://localhost:8000/v1", **settings)
    text = repr(llm) + json.dumps(llm.identity)
    assert "hidden" not in text
    assert "max_tokens=50, prompt_cache_key='tests'" in repr(llm)
    assert "'index_name': 'docs', 'authentication': {'type': 'api_key', 'key': '***'}" in repr(llm)
    assert "'credentials': {'user': '***'}, 'accessToken': '***', 'empty_secret': ''" in repr(llm)
    assert llm.identity == made(way, "http://localhost:8000/v1", **settings).identity
    other = {**settings, "extra_body": {**OWN_DATA, "api_key": "hidden-5"}}
    assert llm.identity != made(way, "http://localhost:8000/v1", **other).identity


@pytest.mark.parametrize("way", ["sync", "server"])
def test_the_key_as_another_parameter_is_not_shown(way: str, key: str) -> None:
    llm = made(way, "http://localhost:8000/v1", api_key=key, user=f"me:{key}")
    assert key not in repr(llm) + json.dumps(llm.identity)
    assert "user='me:***'" in repr(llm)


@pytest.mark.parametrize("way", ["sync", "server"])
def test_a_short_key_mangles_no_words(ask: Any, way: str) -> None:
    """Servers of the user's own take any key, such as the model's name."""
    with OpenAIServer(lambda body: error(400, "llama cannot do this")) as server:
        if way == "server":
            llm: Any = OpenAIServerLLM(server.base_url, "llama", api_key="llama", user="llama")
        else:
            llm = OpenAILLM("llama", base_url=server.base_url, api_key="llama", user="llama")
        with pytest.raises(ModelError) as caught:
            call(llm, ask(), way)
    assert str(caught.value) == f"llama: {server.base_url} refuses the request (400): llama cannot do this."
    assert "'llama'" in repr(llm)
    assert "user='llama'" in repr(llm)
    long = OpenAILLM("sk-model-of-mine", base_url="http://sk-model-of-mine/v1", api_key="sk-model-of-mine")
    assert repr(long) == "OpenAILLM('sk-model-of-mine', base_url='http://sk-model-of-mine/v1')"


def test_the_query_of_a_client_is_part_of_the_identity() -> None:
    with openai.OpenAI(api_key="x", default_query={"version": "3", "api_key": "hidden"}) as client:
        identity = OpenAILLM("judge", client=client).identity
    assert identity["query"]["version"] == "3"
    assert "hidden" not in json.dumps(identity)
    with openai.AzureOpenAI(api_key="x", azure_endpoint="https://a.example", api_version="2024-10-21") as azure:
        assert OpenAILLM("judge", client=azure).identity["query"] == {"api-version": "2024-10-21"}
    assert "query" not in OpenAILLM("judge").identity
