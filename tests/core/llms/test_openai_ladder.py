"""Structured output: schema, else JSON mode, else text; learned once, and only from refusals that are about the form."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from loopback import OpenAIServer, Response, error, server_error
from ragmetrics_core import Ask, ModelError, Prompt
from ragmetrics_core.llms import OpenAILLM
from ragmetrics_core.replies import LinesReply, ObjectReply

OTHER = {"type": "object", "properties": {"score": {"type": "integer"}}, "required": ["score"]}


@pytest.fixture
def llm(server: OpenAIServer, key: str) -> OpenAILLM:
    return OpenAILLM("judge", base_url=server.base_url, api_key=key, max_retries=0)


def answer(llm: OpenAILLM, question: Any, way: str) -> str:
    return (llm.generate(question) if way == "sync" else asyncio.run(llm.agenerate(question))).value


def forms(server: OpenAIServer) -> list[str]:
    return [(body.get("response_format") or {"type": "none"})["type"] for body in server.chats]


def test_the_schema_is_sent_in_the_strict_dialect(server: OpenAIServer, llm: OpenAILLM, ask: Any) -> None:
    llm.generate(ask(name="extract claims"))
    assert server.chats[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {
            "name": "extract_claims",
            "strict": True,
            "schema": {
                "type": "object",
                "properties": {"reason": {"type": "string"}, "verdict": {"type": "boolean"}},
                "required": ["reason", "verdict"],
                "additionalProperties": False,
            },
        },
    }


REFUSED = [
    (set(), ["json_schema", "json_schema"]),
    ({"json_schema"}, ["json_schema", "json_object", "json_object"]),
    ({"json_schema", "json_object"}, ["json_schema", "json_object", "none", "none"]),
]


@pytest.mark.parametrize("way", ["sync", "async"])
@pytest.mark.parametrize(("refused", "expected"), REFUSED)
def test_every_rung_is_learned_once(
    server: OpenAIServer, llm: OpenAILLM, ask: Any, way: str, refused: set[str], expected: list[str]
) -> None:
    server.refuses = refused
    first = llm.generate(ask()) if way == "sync" else asyncio.run(llm.agenerate(ask()))
    assert first.usage.calls == 1  # what the server refused was no call
    assert answer(llm, ask("again?"), way) == '{"reason": "so", "verdict": true}'
    assert forms(server) == expected


def test_json_without_a_schema_is_asked_for_in_json_mode(server: OpenAIServer, llm: OpenAILLM) -> None:
    for reply in (ObjectReply(("verdict",)), LinesReply()):
        prompt: Prompt[Any] = Prompt("Is it so?", reply)
        llm.generate(Ask(prompt.messages({"text": "?"}), reply, prompt, {}))
    assert forms(server) == ["json_object", "none"]


def test_what_was_learned_holds_for_every_schema_and_way(server: OpenAIServer, llm: OpenAILLM, ask: Any) -> None:
    server.refuses = {"json_schema"}
    llm.generate(ask())
    asyncio.run(llm.agenerate(ask(schema=OTHER)))
    llm.generate(ask(schema=None))
    assert forms(server) == ["json_schema", "json_object", "json_object", "none"]


@pytest.mark.parametrize(
    "refusal",
    [
        error(
            400, "response_format value as json_schema is enabled only for api versions 2024-08-01-preview and later"
        ),
        error(400, "This response_format type is unavailable now"),
        error(400, "This model does not support response format `json_schema`."),
        Response(status=400, body="{\"error\": \"'response_format.type' must be 'json_object' or 'text'\"}"),
        Response(
            status=400, body='{"object": "error", "message": "structured outputs are not supported", "code": 400}'
        ),
        Response(status=501, body='{"message": "json_schema is not implemented"}'),
        Response(status=400, body="response_format: unknown field"),
    ],
)
def test_refusals_in_the_words_of_many_servers(
    server: OpenAIServer, llm: OpenAILLM, ask: Any, refusal: Response
) -> None:
    """In mere words it may be a misunderstanding: a second question must meet it too."""
    server.queue.append(refusal)
    llm.generate(ask())
    server.queue.append(refusal)
    llm.generate(ask())
    llm.generate(ask())
    assert forms(server) == ["json_schema", "json_object", "json_schema", "json_object", "json_object"]


def test_a_refusal_in_words_that_comes_once_teaches_nothing(server: OpenAIServer, llm: OpenAILLM, ask: Any) -> None:
    server.queue.append(error(400, "This response_format type is unavailable now"))
    for _ in range(3):
        llm.generate(ask())
    assert forms(server) == ["json_schema", "json_object", "json_schema", "json_schema"]


def test_a_schema_that_is_called_invalid_in_words(server: OpenAIServer, llm: OpenAILLM, ask: Any) -> None:
    for _ in range(2):
        server.queue.append(error(400, "JSON schema conversion failed: unresolved reference"))
        llm.generate(ask())
    llm.generate(ask())
    llm.generate(ask(schema=OTHER))
    expected = ["json_schema", "json_object", "json_schema", "json_object", "json_object", "json_schema"]
    assert forms(server) == expected


POINTED = [
    Response(
        status=422,
        body='{"detail": [{"loc": ["body", "response_format", "type"], "msg": "Input should be \'text\' or \'json_object\'"}]}',
    ),
    error(400, "Unknown value.", param="response_format.type"),
]


@pytest.mark.parametrize("refusal", POINTED)
def test_a_server_that_points_at_the_form_is_believed_at_once(
    server: OpenAIServer, llm: OpenAILLM, ask: Any, refusal: Response
) -> None:
    server.queue.append(refusal)
    llm.generate(ask())
    llm.generate(ask())
    assert forms(server) == ["json_schema", "json_object", "json_object"]


ECHOED = "Unsupported grammar is a topic; the response_format is not supported in this tale"


@pytest.mark.parametrize(
    "failure",
    [
        error(400, f"bad input: {ECHOED}"),
        error(400, f"bad input: {ECHOED}", param="messages"),
        Response(
            status=422,
            body=f'{{"detail": [{{"loc": ["body", "messages", 0], "msg": "too odd", "input": "{ECHOED}"}}]}}',
        ),
        error(400, "the student has good grammar"),
    ],
)
def test_the_users_own_words_teach_nothing(server: OpenAIServer, llm: OpenAILLM, ask: Any, failure: Response) -> None:
    for _ in range(2):
        server.queue.append(failure)
        with pytest.raises(ModelError):
            llm.generate(ask(ECHOED))
    llm.generate(ask(ECHOED))
    assert forms(server) == ["json_schema"] * 3


@pytest.mark.parametrize(
    "failure",
    [
        error(
            400,
            "This model's maximum context length is 4097 tokens. However, your messages resulted in 5000 tokens (4900 in the "
            "messages, 100 in the response_format schemas).",
            code="context_length_exceeded",
        ),
        error(400, "Unsupported value: 'temperature' does not support 0 with this model.", param="temperature"),
        error(400, "Failed to generate JSON. Please adjust your prompt.", code="json_validate_failed"),
        server_error(),
    ],
)
def test_other_failures_teach_nothing(server: OpenAIServer, llm: OpenAILLM, ask: Any, failure: Response) -> None:
    server.queue.append(failure)
    with pytest.raises(ModelError):
        llm.generate(ask())
    llm.generate(ask())
    assert forms(server) == ["json_schema", "json_schema"]


def test_a_refusal_that_text_does_not_mend_teaches_nothing(server: OpenAIServer, llm: OpenAILLM, ask: Any) -> None:
    """Such as a server that quotes the whole request whatever was wrong with it."""
    quoting = error(400, "unknown field in {'messages': '...', 'response_format': '...'}")
    server.queue.extend([quoting] * 3)
    with pytest.raises(ModelError, match="refuses the request"):
        llm.generate(ask())
    llm.generate(ask())
    assert forms(server) == ["json_schema", "json_object", "none", "json_schema"]


def test_an_invalid_schema_is_given_up_alone(server: OpenAIServer, llm: OpenAILLM, ask: Any) -> None:
    invalid = error(400, "Invalid schema for response_format 'judge': In context=(), ...", param="response_format")
    server.queue.append(invalid)
    llm.generate(ask())
    llm.generate(ask())
    llm.generate(ask(schema=OTHER))
    assert forms(server) == ["json_schema", "json_object", "json_object", "json_schema"]


def test_an_invalid_schema_and_no_json_mode(server: OpenAIServer, llm: OpenAILLM, ask: Any) -> None:
    server.refuses = {"json_object"}
    server.queue.append(error(400, "Invalid schema for response_format 'judge'", param="response_format"))
    llm.generate(ask())
    llm.generate(ask())
    llm.generate(ask(schema=OTHER))
    assert forms(server) == ["json_schema", "json_object", "none", "none", "json_schema"]


@pytest.mark.parametrize(("highest", "form"), [("json", "json_object"), ("text", "none")])
def test_the_user_may_start_lower(server: OpenAIServer, key: str, ask: Any, highest: Any, form: str) -> None:
    OpenAILLM("judge", base_url=server.base_url, api_key=key, structured=highest).generate(ask())
    assert forms(server) == [form]


@pytest.mark.parametrize(
    "schema",
    [
        {"type": "object", "additionalProperties": {"type": "string"}},
        {"type": "object", "properties": {"anything": {}}},
        {"type": "object"},
        {"type": "object", "properties": {"pair": {"type": "array", "prefixItems": [{"type": "string"}]}}},
    ],
)
def test_what_the_strict_dialect_cannot_say_is_sent_as_it_is(
    server: OpenAIServer, llm: OpenAILLM, ask: Any, schema: dict[str, Any]
) -> None:
    llm.generate(ask(schema=schema))
    assert server.chats[0]["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "judge", "schema": schema},
    }
