"""OpenAIServerLLM against a loopback server: what is sent, what comes back, settings, loops and connections."""

from __future__ import annotations

import asyncio
import copy
import gc
import json
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

from core.evaluate.doubles import Rated, questions
from loopback import OpenAIServer, Response, error
from ragmetrics_core import Ask, BadReply, InvalidInput, Message, MissingExtra, ModelError, Reply, Usage, evaluate
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM
from ragmetrics_core.testing import LLMContract
from waiting import Crowd, until_async

KEY = "sk-secret-4711-abcdefghijklmnop"
TEXT = '{"reason": "so", "verdict": true}'


@pytest.fixture
def llm(server: OpenAIServer, key: str) -> OpenAIServerLLM:
    return OpenAIServerLLM(server.base_url, "judge", api_key=key)


def answer(llm: OpenAIServerLLM, question: Ask) -> Reply[str]:
    return asyncio.run(llm.agenerate(question))


class TestContract(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self, server: OpenAIServer) -> OpenAIServerLLM:
        return OpenAIServerLLM(server.base_url, "judge", api_key=KEY)

    @pytest.fixture
    def failing_llm(self, server: OpenAIServer) -> OpenAIServerLLM:
        server.models = {"another"}
        return OpenAIServerLLM(server.base_url, "judge", api_key=KEY)


def test_what_is_sent_and_what_comes_back(server: OpenAIServer, llm: OpenAIServerLLM, key: str, ask: Any) -> None:
    server.responder = lambda body: Response("yes", usage={"prompt_tokens": 7, "completion_tokens": 2})
    question = ask("Wo liegt Zürich? 東京", schema=None)
    assert answer(llm, question) == Reply("yes", Usage(calls=1, prompt_tokens=7, completion_tokens=2))
    assert server.chats == [
        {
            "model": "judge",
            "messages": [
                {"role": "system", "content": question.messages[0].content},
                {"role": "user", "content": '{"text": "Wo liegt Zürich? 東京"}'},
            ],
        }
    ]
    received = server.requests[0]
    assert (received.path, received.headers["content-type"]) == ("/v1/chat/completions", "application/json")
    assert received.headers["authorization"] == f"Bearer {key}"


def test_both_models_send_the_same(server: OpenAIServer, key: str, ask: Any) -> None:
    settings: Any = {"api_key": key, "temperature": 0.0, "max_tokens": 50, "extra_body": {"think": False}}
    answer(OpenAIServerLLM(server.base_url, "judge", **settings), ask())
    OpenAILLM("judge", base_url=server.base_url, **settings).generate(ask())
    assert server.chats[0] == server.chats[1]
    assert server.chats[0]["think"] is False


def test_both_models_have_the_same_identity() -> None:
    url, settings = "https://Example.com:8443/v1", {"temperature": 0.5, "seed": 7}
    lean = OpenAIServerLLM(f"{url}/", "judge", api_key="sk-key", structured="json", **settings)
    assert lean.identity == OpenAILLM("judge", base_url=url, structured="json", **settings).identity
    assert json.loads(json.dumps(lean.identity)) == lean.identity
    assert "sk-key" not in str(lean.identity)
    assert repr(lean) == "OpenAIServerLLM('https://Example.com:8443/v1', 'judge', temperature=0.5, seed=7)"
    assert copy.deepcopy(lean) is lean


@pytest.mark.parametrize(
    ("address", "expected"),
    [
        ("http://localhost:8000/v1", True),
        ("http://LOCALHOST/v1", True),
        ("http://127.0.0.1:8000/v1", True),
        ("http://127.1.2.3/v1", True),
        ("http://[::1]:8000/v1", True),
        ("https://api.openai.com/v1", False),
        ("http://127.0.0.1.example.com/v1", False),
        ("http://localhost.example.com/v1", False),
        ("http://192.168.0.7:8000/v1", False),
    ],
)
def test_a_server_on_this_machine(address: str, expected: bool) -> None:
    assert OpenAIServerLLM(address, "judge").on_this_machine is expected
    assert OpenAILLM("judge", base_url=address).on_this_machine is expected


@pytest.mark.parametrize("given", [None, "key"])
def test_the_key(ask: Any, monkeypatch: pytest.MonkeyPatch, given: str | None) -> None:
    """No server of the user's own needs one, and none gets the one that is meant for OpenAI."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    with OpenAIServer() as server:
        assert answer(OpenAIServerLLM(server.base_url, "llama", api_key=given), ask(schema=None)).value == "ok"
        assert server.requests[0].headers.get("authorization") == (given and f"Bearer {given}")


def test_the_key_of_the_environment_is_for_openai_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-environment")
    openai = OpenAIServerLLM("https://api.openai.com/v1/", "gpt")
    assert openai._endpoint._authorization() == {"Authorization": "Bearer sk-of-the-environment"}
    given = OpenAIServerLLM("https://api.openai.com/v1", "gpt", api_key="sk-given")
    assert given._endpoint._authorization() == {"Authorization": "Bearer sk-given"}
    assert OpenAIServerLLM("http://api.openai.com/v1", "gpt")._endpoint._authorization() == {}
    monkeypatch.setenv("OPENAI_API_KEY", "sk-with-a-break\n")
    assert openai._endpoint._authorization() == {"Authorization": "Bearer sk-with-a-break"}


def test_credentials_in_the_address_are_sent_and_never_shown(ask: Any) -> None:
    with OpenAIServer(lambda body: error(400, "bad request of dora:hunter2/word")) as server:
        llm = OpenAIServerLLM(server.base_url.replace("http://", "http://dora:hunter2%2Fword@"), "judge")
        with pytest.raises(ModelError) as caught:
            answer(llm, ask(schema=None))
        assert server.requests[0].headers["authorization"] == "Basic ZG9yYTpodW50ZXIyL3dvcmQ="
    assert str(caught.value) == f"judge: {server.base_url} refuses the request (400): bad request of dora:***."
    assert "hunter2" not in f"{llm!r} {llm.identity}"


def forms(server: OpenAIServer) -> list[str]:
    return [(body.get("response_format") or {"type": "none"})["type"] for body in server.chats]


@pytest.mark.parametrize(
    ("refused", "expected"),
    [
        (set(), ["json_schema", "json_schema"]),
        ({"json_schema"}, ["json_schema", "json_object", "json_object"]),
        ({"json_schema", "json_object"}, ["json_schema", "json_object", "none", "none"]),
    ],
)
def test_every_rung_is_learned_once(
    server: OpenAIServer, llm: OpenAIServerLLM, ask: Any, refused: set[str], expected: list[str]
) -> None:
    server.refuses = refused
    assert answer(llm, ask()).usage.calls == 1  # what the server refused was no call
    assert answer(llm, ask("again?")).value == TEXT
    assert forms(server) == expected


@pytest.mark.parametrize("highest", ["json", "text"])
def test_the_user_may_start_lower(server: OpenAIServer, key: str, ask: Any, highest: Any) -> None:
    answer(OpenAIServerLLM(server.base_url, "judge", api_key=key, structured=highest), ask())
    assert forms(server) == [{"json": "json_object", "text": "none"}[highest]]


def test_schemas_made_anew_for_each_question(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    """Forms are remembered by the schema itself; many of them neither mix nor pile up."""

    async def main() -> None:
        for number in range(130):
            schema = {"type": "object", "properties": {f"n{number}": {"type": "integer"}}}
            await llm.agenerate(ask(schema=schema))

    asyncio.run(main())
    sent = [body["response_format"]["json_schema"]["schema"]["required"] for body in server.chats]
    assert sent == [[f"n{number}"] for number in range(130)]
    assert len(llm._ladder._forms) <= 64


def test_an_answer_cut_at_the_token_limit_says_so(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    server.responder = lambda body: Response('{"reason": "beca', finish_reason="length", usage=None)
    assert answer(llm, ask()) == Reply('{"reason": "beca', Usage(calls=1), truncated=True)
    # a model that spent all its tokens on thinking
    nothing = {"role": "assistant", "content": None}
    server.responder = lambda body: Response(message=nothing, finish_reason="length", usage=None)
    assert answer(llm, ask()) == Reply("", Usage(calls=1), truncated=True)


@pytest.mark.parametrize(
    ("response", "message", "raw"),
    [
        (
            Response(message={"content": None, "refusal": "I cannot help with that."}),
            "judge refuses to answer: I cannot help with that.",
            ("I cannot help with that.",),
        ),
        (
            Response("half an ans", finish_reason="content_filter"),
            "a content filter stopped the answer of judge",
            ("half an ans",),
        ),
        (
            Response(message={"content": None}, finish_reason="content_filter"),
            "a content filter stopped the answer of judge",
            (),
        ),
        (
            Response(message={"content": [{"type": "image_url"}]}, finish_reason="tool_calls"),
            "judge answered without any text (finish reason 'tool_calls')",
            (),
        ),
    ],
)
def test_an_answer_without_text_is_a_bad_reply(
    server: OpenAIServer, llm: OpenAIServerLLM, ask: Any, response: Response, message: str, raw: tuple[str, ...]
) -> None:
    server.responder = lambda body: response
    with pytest.raises(BadReply) as caught:
        answer(llm, ask())
    assert str(caught.value) == message
    assert caught.value.raw == raw
    assert caught.value.usage.calls == 1  # it was billed
    assert caught.value.usage.prompt_tokens > 0


def test_an_answer_in_parts(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    parts = [{"type": "text", "text": "ye"}, {"type": "text", "text": "s"}]
    server.responder = lambda body: Response(message={"role": "assistant", "content": parts})
    assert answer(llm, ask()).value == "yes"


def test_counts_that_are_none(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    body = {"choices": [{"message": {"content": "yes"}}], "usage": {"prompt_tokens": "many", "completion_tokens": None}}
    server.responder = lambda _: Response(body=json.dumps(body))
    assert answer(llm, ask()) == Reply("yes", Usage(calls=1))


def test_what_a_model_wrote_goes_back_to_it_even_when_utf8_cannot_carry_it(
    server: OpenAIServer, llm: OpenAIServerLLM, ask: Any
) -> None:
    first = ask(schema=None)
    messages = (*first.messages, Message("assistant", "a \ud83d b"), Message("user", "Again."))
    answer(llm, Ask(messages, first.reply, first.prompt, first.inputs))
    assert server.chats[0]["messages"][2]["content"] == "a \\ud83d b"


def test_a_prompt_that_cannot_be_sent(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^the system message holds a lone surrogate \(U\+DC80\) at position 6"):
        answer(llm, ask(instructions="Judge \udc80 this."))
    assert server.requests == []


def test_a_very_long_text(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    text = "é" * 2_000_000
    answer(llm, ask(text, schema=None))
    assert json.loads(server.chats[0]["messages"][1]["content"]) == {"text": text}


WRONG_SETTINGS = [
    ({"model": ""}, "model must be the name of a model, got ''"),
    (
        {"model": "\ud800"},
        "model cannot be sent as JSON: 'utf-8' codec can't encode character '\\ud800' in position 1: ",
    ),
    ({"structured": "xml"}, "structured must be one of schema, json, text, got 'xml'"),
    ({"base_url": None}, "base_url must be the address of a server, got NoneType"),
    ({"base_url": "me:secret@host/v1"}, "base_url must start with http:// or https://, got 'host/v1'"),
    (
        {"base_url": "http:///v1"},
        "base_url must be an address such as http://localhost:8000/v1, with a valid host and port, got 'http://",
    ),
    (
        {"base_url": "http://host:port/v1"},
        "base_url must be an address such as http://localhost:8000/v1, with a valid host and port, got 'http://",
    ),
    (
        {"base_url": "http://two hosts/v1"},
        "base_url must be an address such as http://localhost:8000/v1, with a valid host and port, got 'http://",
    ),
    ({"base_url": "http://host/v1?version=3"}, "base_url must end with the path, such as /v1: "),
    (
        {"base_url": "http://me:secret@host/v1", "api_key": "x"},
        "an API key is given, and the base URL holds credentials too: ",
    ),
    ({"api_key": 4711}, "api_key must be a str, got int"),
    (
        {"base_url": "http://[::1/v1"},
        "base_url must be an address such as http://localhost:8000/v1, with a valid host and port, got 'http://",
    ),
    ({"temprature": 0}, "temprature is not a well-known parameter of the chat protocol: did you mean 'temperature'? "),
    ({"max_token": 9}, "max_token is not a well-known parameter of the chat protocol: did you mean 'max_tokens'? "),
    ({"timeout": 0}, "timeout must be a positive number of seconds, got 0"),
    ({"timeout": "5"}, "timeout must be a positive number of seconds, got '5'"),
    ({"timeout": float("inf")}, "timeout must be a positive number of seconds, got inf"),
    ({"stream": True}, "stream cannot be set here: a metric reads whole replies"),
    (
        {"max_retries": 3},
        "max_retries cannot be set here: nothing is asked twice here; evaluate makes lost calls again",
    ),
    ({"extra_headers": {}}, "extra_headers cannot be set here: headers of your own need OpenAILLM(..., client="),
    ({"extra_body": {"n": 2}}, "n cannot be set here: a metric reads one reply"),
    ({"extra_body": ["think"]}, "extra_body must be a mapping of parameters, got list"),
    ({"seed": {1, 2}}, "seed cannot be sent as JSON: Object of type set is not JSON serializable"),
    ({"top_p": float("nan")}, "top_p cannot be sent as JSON: Out of range float values are not JSON compliant"),
]


@pytest.mark.parametrize(("settings", "message"), WRONG_SETTINGS)
def test_wrong_settings(settings: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        OpenAIServerLLM(**{"base_url": "http://localhost:8000/v1", "model": "judge", **settings})
    assert str(caught.value).startswith(message)
    assert "secret" not in str(caught.value)


def test_the_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(MissingExtra) as caught:
        OpenAIServerLLM("http://localhost:8000/v1", "judge")
    assert str(caught.value) == 'the aiohttp package is not installed: pip install "ragmetrics-core[server]"'


def test_aiohttp_is_loaded_by_making_one_and_not_by_the_first_call_of_a_run() -> None:
    code = (
        "import sys; from ragmetrics_core.llms import OpenAIServerLLM\n"
        "print(sorted({'aiohttp', 'asyncio', 'openai'} & set(sys.modules)))\n"
        "OpenAIServerLLM('http://h/v1', 'm'); print('aiohttp' in sys.modules, 'openai' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines() == ["[]", "True False"]


def test_many_calls_at_once_over_kept_connections(
    server: OpenAIServer, llm: OpenAIServerLLM, ask: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "ragmetrics_core.llms._server._llm.IDLE", 60.0
    )  # a busy machine may take longer than usual from one round to the next
    crowd = threading.Event()

    def answer(body: Any) -> Any:
        if server.in_flight > 100:  # which is where aiohttp stops by default
            crowd.set()
        crowd.wait(60)
        return body["messages"][1]["content"]

    server.responder = answer

    async def main() -> None:
        for _ in range(2):
            replies = await asyncio.gather(*(llm.agenerate(ask(str(number), schema=None)) for number in range(300)))
            assert [json.loads(reply.value)["text"] for reply in replies] == [str(number) for number in range(300)]

    asyncio.run(main())
    gc.collect()
    assert crowd.is_set()
    assert server.connections <= 300


def test_loops_one_after_another(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    for _ in range(3):
        assert answer(llm, ask()).value == TEXT
        gc.collect()  # a connection left open is a ResourceWarning here, and so an error
        assert len(llm._endpoint._sessions) == 0
    assert server.connections == 3


def test_loops_at_the_same_time(llm: OpenAIServerLLM, ask: Any) -> None:
    barrier = threading.Barrier(4)

    async def work() -> list[str]:
        found = [(await llm.agenerate(ask())).value]
        await asyncio.to_thread(barrier.wait)
        return [*found, (await llm.agenerate(ask())).value]

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda _: asyncio.run(work()), range(4))) == [[TEXT, TEXT]] * 4


def test_a_loop_that_ends_by_hand(llm: OpenAIServerLLM, ask: Any) -> None:
    loop = asyncio.new_event_loop()
    assert loop.run_until_complete(llm.agenerate(ask())).value == TEXT
    loop.run_until_complete(loop.shutdown_asyncgens())
    loop.close()
    gc.collect()


def test_connections_are_closed_with_the_model(server: OpenAIServer, key: str, ask: Any) -> None:
    llm = OpenAIServerLLM(server.base_url, "judge", api_key=key)

    async def main() -> None:
        nonlocal llm
        await llm.agenerate(ask())
        session = await llm._endpoint._sessions.here(llm._endpoint._connect)
        assert not session.closed
        del llm
        gc.collect()
        assert await until_async(lambda: session.closed)  # while the loop still runs: nobody needs it any more

    asyncio.run(main())


def test_a_cancelled_call_harms_no_other(server: OpenAIServer, llm: OpenAIServerLLM, ask: Any) -> None:
    server.queue.append(Response(hang=True))

    async def main() -> str:
        given_up = asyncio.ensure_future(llm.agenerate(ask()))
        assert await until_async(lambda: len(server.requests) == 1)
        given_up.cancel()
        with pytest.raises(asyncio.CancelledError):
            await given_up
        return (await llm.agenerate(ask())).value

    assert asyncio.run(main()) == TEXT


def test_evaluate(server: OpenAIServer, llm: OpenAIServerLLM) -> None:
    crowd = Crowd(2)
    server.responder = lambda body: Response("0.5" if crowd.wait() else "alone", delay=0.02)
    for _ in range(2):
        summary = evaluate(questions(20), Rated(), llm=llm, max_concurrency=8).summary()["rated"]
        assert (summary.mean, summary.scored, summary.usage.calls) == (0.5, 20, 20)
        assert summary.usage.prompt_tokens > 0
    assert 2 <= server.max_in_flight <= 8
    assert server.connections <= 16


def test_a_single_score_from_synchronous_code(server: OpenAIServer, llm: OpenAIServerLLM) -> None:
    server.responder = lambda body: "0.5"
    assert Rated(llm=llm).score(questions(1)[0]).value == 0.5
