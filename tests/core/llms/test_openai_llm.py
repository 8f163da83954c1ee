"""OpenAILLM against a loopback server, through the real openai client."""

from __future__ import annotations

import asyncio
import copy
import json
import subprocess
import sys
from typing import Any

import openai
import pytest

from loopback import OpenAIServer, Response
from ragmetrics_core import BadReply, InvalidInput, MissingExtra, ModelError, Reply, Usage
from ragmetrics_core.llms import OpenAILLM

Ways = ["sync", "async"]


def answer(llm: OpenAILLM, question: Any, way: str) -> Reply[str]:
    return llm.generate(question) if way == "sync" else asyncio.run(llm.agenerate(question))


@pytest.mark.parametrize("way", Ways)
def test_what_is_sent_and_what_comes_back(server: OpenAIServer, key: str, ask: Any, way: str) -> None:
    server.responder = lambda body: Response("yes", usage={"prompt_tokens": 7, "completion_tokens": 2})
    question = ask(schema=None)
    reply = answer(OpenAILLM("judge", base_url=server.base_url, api_key=key), question, way)
    assert reply == Reply("yes", Usage(calls=1, prompt_tokens=7, completion_tokens=2))
    assert server.chats == [
        {
            "model": "judge",
            "messages": [
                {"role": "system", "content": question.messages[0].content},
                {"role": "user", "content": '{"text": "yes?"}'},
            ],
        }
    ]
    assert server.requests[0].headers["authorization"] == f"Bearer {key}"


@pytest.mark.parametrize("way", Ways)
def test_parameters_are_sent_only_when_set(server: OpenAIServer, key: str, ask: Any, way: str) -> None:
    llm = OpenAILLM(
        "judge",
        base_url=server.base_url,
        api_key=key,
        temperature=0.0,
        max_tokens=50,
        extra_body={"think": False},
    )
    answer(llm, ask(schema=None), way)
    sent = {name: value for name, value in server.chats[0].items() if name not in ("messages", "model")}
    assert sent == {"temperature": 0.0, "max_tokens": 50, "think": False}


@pytest.mark.parametrize("way", Ways)
def test_the_form_of_the_reply_and_parameters_of_the_user_are_sent_together(
    server: OpenAIServer, key: str, ask: Any, way: str
) -> None:
    extra: dict[str, Any] = {"think": False}
    llm = OpenAILLM("judge", base_url=server.base_url, api_key=key, extra_body=extra)
    answer(llm, ask(), way)
    assert server.chats[0]["think"] is False
    assert server.chats[0]["response_format"]["type"] == "json_schema"
    assert extra == {"think": False}
    own = {"response_format": {"type": "json_object"}}
    answer(OpenAILLM("judge", base_url=server.base_url, api_key=key, extra_body=own), ask(), way)
    assert server.chats[1]["response_format"] == {"type": "json_object"}


@pytest.mark.parametrize("way", Ways)
def test_an_answer_cut_at_the_token_limit_says_so(server: OpenAIServer, key: str, ask: Any, way: str) -> None:
    llm = OpenAILLM("judge", base_url=server.base_url, api_key=key)
    server.responder = lambda body: Response('{"reason": "beca', finish_reason="length", usage=None)
    assert answer(llm, ask(), way) == Reply('{"reason": "beca', Usage(calls=1), truncated=True)
    # a model that spent all its tokens on thinking
    server.responder = lambda body: Response(
        message={"role": "assistant", "content": None}, finish_reason="length", usage=None
    )
    assert answer(llm, ask(), way) == Reply("", Usage(calls=1), truncated=True)


NO_TEXT = [
    (
        Response(message={"role": "assistant", "content": None, "refusal": "I cannot help with that."}),
        "judge refuses to answer: I cannot help with that.",
        ("I cannot help with that.",),
    ),
    (
        Response("half an ans", finish_reason="content_filter"),
        "a content filter stopped the answer of judge",
        ("half an ans",),
    ),
    (
        Response(message={"role": "assistant", "content": None}, finish_reason="tool_calls"),
        "judge answered without any text (finish reason 'tool_calls')",
        (),
    ),
]


@pytest.mark.parametrize("way", Ways)
@pytest.mark.parametrize(("response", "message", "raw"), NO_TEXT)
def test_an_answer_without_text_is_a_bad_reply(
    server: OpenAIServer, key: str, ask: Any, way: str, response: Response, message: str, raw: tuple[str, ...]
) -> None:
    server.responder = lambda body: response
    with pytest.raises(BadReply) as caught:
        answer(OpenAILLM("judge", base_url=server.base_url, api_key=key), ask(), way)
    assert str(caught.value) == message
    assert caught.value.raw == raw
    assert caught.value.usage.calls == 1  # it was billed
    assert caught.value.usage.prompt_tokens > 0


@pytest.mark.parametrize("way", Ways)
def test_an_answer_in_parts(server: OpenAIServer, key: str, ask: Any, way: str) -> None:
    parts = [{"type": "text", "text": "ye"}, {"type": "thinking", "text": "hm"}, {"type": "text", "text": "s"}]
    server.responder = lambda body: Response(message={"role": "assistant", "content": parts})
    assert answer(OpenAILLM("judge", base_url=server.base_url, api_key=key), ask(), way).value == "yes"


@pytest.mark.parametrize(
    ("body", "said"),
    [
        ('{"id": "x", "choices": []}', "it holds no choices"),
        ('{"error": {"message": "upstream gone", "code": "gone"}}', "upstream gone"),
        ('"just text"', "it is not a JSON object: just text"),
        ("<html>proxy login</html>", "it is an HTML page, not JSON): does the base URL end in /v1"),
        ('{"choices": [', 'it is not a JSON object: {"choices": ['),
        ("", "it is empty"),
        ("word " * 100, f"it is not a JSON object: {'word ' * 16} ...)"),
    ],
)
@pytest.mark.parametrize("way", Ways)
def test_an_answer_of_another_protocol(
    server: OpenAIServer, key: str, ask: Any, way: str, body: str, said: str
) -> None:
    server.responder = lambda _: Response(body=body)
    with pytest.raises(ModelError, match="does not follow the OpenAI protocol") as caught:
        answer(OpenAILLM("judge", base_url=server.base_url, api_key=key), ask(), way)
    assert said in str(caught.value)
    assert server.base_url in str(caught.value)


def test_an_html_page_with_its_own_type(server: OpenAIServer, key: str, ask: Any) -> None:
    server.responder = lambda _: Response(body="<html>login</html>", headers={"Content-Type": "text/html"})
    with pytest.raises(ModelError, match=r"it is an HTML page, not JSON\): does the base URL end in /v1"):
        OpenAILLM("judge", base_url=server.base_url, api_key=key).generate(ask())


def test_a_client_that_checks_answers_itself(server: OpenAIServer, key: str, ask: Any) -> None:
    server.responder = lambda _: Response(body="<html>login</html>", headers={"Content-Type": "text/html"})
    client = openai.OpenAI(base_url=server.base_url, api_key=key, _strict_response_validation=True)
    with client, pytest.raises(ModelError, match="does not follow the OpenAI protocol .*`text/html`"):
        OpenAILLM("judge", client=client).generate(ask())


def test_a_server_without_a_key_needs_none(ask: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer() as server:
        assert OpenAILLM("llama", base_url=server.base_url).generate(ask()).value == "ok"
        assert server.requests[0].headers["authorization"] == "Bearer no-key"
        monkeypatch.setenv("OPENAI_BASE_URL", server.base_url)
        assert OpenAILLM("llama").generate(ask()).value == "ok"
        monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
        assert OpenAILLM("llama").generate(ask()).value == "ok"
        assert server.requests[2].headers["authorization"] == "Bearer sk-of-the-environment"


def test_what_a_model_wrote_goes_back_to_it_even_when_utf8_cannot_carry_it(
    server: OpenAIServer, key: str, ask: Any
) -> None:
    from ragmetrics_core import Ask, Message

    first = ask(schema=None)
    messages = (*first.messages, Message("assistant", "a \ud83d b"), Message("user", "Again."))
    OpenAILLM("judge", base_url=server.base_url, api_key=key).generate(
        Ask(messages, first.reply, first.prompt, first.inputs)
    )
    assert server.chats[0]["messages"][2]["content"] == "a \\ud83d b"


@pytest.mark.parametrize("way", Ways)
def test_a_prompt_that_cannot_be_sent(server: OpenAIServer, key: str, ask: Any, way: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        answer(OpenAILLM("judge", base_url=server.base_url, api_key=key), ask(instructions="Judge \udc80 this."), way)
    assert str(caught.value) == (
        "the system message holds a lone surrogate (U+DC80) at position 6, which no server can be sent: remove it from the prompt"
    )
    assert server.requests == []


NO_ADDRESS = "base_url must be an address such as http://localhost:8000/v1, with a valid host and port, got"
WRONG_SETTINGS = [
    ({"model": ""}, "model must be the name of a model, got ''"),
    ({"model": None}, "model must be the name of a model, got None"),
    ({"structured": "xml"}, "structured must be one of schema, json, text, got 'xml'"),
    ({"base_url": "localhost:8000/v1"}, "base_url must start with http:// or https://, got 'localhost:8000/v1'"),
    ({"base_url": "http://localhost:abc/v1"}, f"{NO_ADDRESS} 'http://localhost:abc/v1'"),
    ({"base_url": "http://localhost:99999/v1"}, f"{NO_ADDRESS} 'http://localhost:99999/v1'"),
    ({"base_url": "http://[::1/v1"}, f"{NO_ADDRESS} 'http://[::1/v1'"),
    ({"base_url": "http://two hosts/v1"}, f"{NO_ADDRESS} 'http://two hosts/v1'"),
    ({"base_url": 8000}, "base_url must be the address of a server, got int"),
    ({"api_key": 4711}, "api_key must be a str, got int"),
    (
        {"temprature": 0},
        (
            "temprature is not a parameter of the chat protocol: did you mean 'temperature'? "
            "A parameter that only some servers know goes into "
            "extra_body={'temprature': ...}"
        ),
    ),
    (
        {"top_k": 5},
        (
            "top_k is not a parameter of the chat protocol: did you mean 'top_p'? A parameter that only some servers know goes "
            "into extra_body={'top_k': ...}"
        ),
    ),
    (
        {"xyz": 5},
        "xyz is not a parameter of the chat protocol. A parameter that only some servers know goes into extra_body={'xyz': ...}",
    ),
    ({"stream": True}, "stream cannot be set here: a metric reads whole replies"),
    (
        {"extra_headers": {"X-Key": "secret"}},
        "extra_headers cannot be set here: headers belong to the client: client=openai.OpenAI(default_headers=...)",
    ),
    (
        {"client": "gpt-4o"},
        (
            "client must be an openai.OpenAI or an openai.AsyncOpenAI, got str; a model of another library is wrapped in a "
            "class with a method generate(ask)"
        ),
    ),
]


@pytest.mark.parametrize(("settings", "message"), WRONG_SETTINGS)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAILLM(**{"model": "judge", **settings})
    assert str(caught.value) == message


def test_an_address_of_the_environment_that_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_BASE_URL", "http://[::1/v1")
    with pytest.raises(InvalidInput, match=r"^OPENAI_BASE_URL must be an address such as "):
        OpenAILLM("judge")


def test_what_a_newer_package_takes_is_looked_up_in_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmetrics_core.llms._wire._attempts.KNOWN", frozenset())
    assert OpenAILLM("judge", seed=7, top_p=0.5).parameters == {"seed": 7, "top_p": 0.5}
    with pytest.raises(InvalidInput, match="^sead is not a parameter of the chat protocol"):
        OpenAILLM("judge", sead=7)


def test_a_client_has_its_own_settings() -> None:
    with openai.OpenAI(api_key="sk-x") as client, pytest.raises(InvalidInput) as caught:
        OpenAILLM("judge", client=client, timeout=3.0, api_key="sk-y")
    assert str(caught.value) == (
        "client and api_key are both given, but a client has its own settings: leave api_key out, or give "
        "client=client.with_options(...)"
    )


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra) as caught:
        OpenAILLM("judge")
    assert str(caught.value) == 'the openai package is not installed: pip install "ragmetrics-core[openai]"'


def test_identity_repr_and_copies(server: OpenAIServer) -> None:
    llm = OpenAILLM("judge", base_url="https://user:pass@example.com:8443/v1/", api_key="sk-key", temperature=0.5)
    assert llm.identity == {
        "provider": "openai",
        "model": "judge",
        "base_url": "https://example.com:8443/v1",
        "structured": "schema",
        "parameters": {"temperature": 0.5},
    }
    assert json.loads(json.dumps(llm.identity)) == llm.identity
    assert repr(llm) == "OpenAILLM('judge', base_url='https://example.com:8443/v1', temperature=0.5)"
    assert copy.deepcopy(llm) is llm
    assert OpenAILLM("judge").identity["base_url"] == "https://api.openai.com/v1"


def test_importing_the_models_loads_no_model_library() -> None:
    code = (
        "import sys, ragmetrics_core.llms, ragmetrics_core.embeddings, ragmetrics_core.testing\n"
        "print(sorted({'openai', 'httpx', 'httpx2', 'numpy', 'torch', 'sentence_transformers', 'pytest'} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
