"""``ragmetrics doctor``: what it says about servers that work, that work in part, and that fail in every way that servers do."""

from __future__ import annotations

import json
import re
import socket
import threading
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from core.cli.calling import call
from loopback import OpenAIServer, Response, dialects, error, rate_limited
from ragmetrics_core._support._providers import SERVERS, NamedServer
from ragmetrics_core.cli import _doctor
from ragmetrics_core.cli._doctor import environment
from ragmetrics_core.llms._openai import _probe

pytest.importorskip("openai")

KEY = "sk-secret-4711-abcdefghijklmnop"
GOOD = {
    "verdicts": [
        {"number": 1, "reason": "It opens at nine.", "contradicted": False, "supported": True},
        {"number": 2, "reason": "It opens at nine.", "contradicted": True, "supported": False},
    ]
}
SECONDS = re.compile(r"\d+\.\d s\b")
RATE = re.compile(r"\d+ tokens/s")


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "400")


class Clock:
    """Replaces the module ``time``: a millisecond passes from look to look, and as long as a server says that it takes."""

    def __init__(self) -> None:
        self.now = 0.0

    def perf_counter(self) -> float:
        self.now += 0.001
        return self.now


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    """What the answers are timed by."""
    clock = Clock()
    monkeypatch.setattr(_doctor, "time", clock)
    monkeypatch.setattr(_probe, "time", clock)
    return clock


@pytest.fixture
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(lambda body: GOOD) as running:
        yield running


def doctor(*arguments: str | Path) -> tuple[int, str]:
    """The status, and the output with names of things that change from run to run in the place of numbers."""
    result = call("doctor", *arguments)
    assert "Traceback" not in result.stderr
    text = RATE.sub("N tokens/s", SECONDS.sub("N s", result.stdout))
    return result.exit_code, (text + result.stderr).rstrip()


def seen(output: str) -> dict[str, tuple[str, str]]:
    """The state and the words of each check by its name; a cure stands behind its words."""
    lines = re.findall(r"^  (ok|no|-)\s+(\S+(?: \S+)*?)  +(.*(?:\n {9,}->.*)?)$", output, re.MULTILINE)
    return {name: (state, re.sub(r"\s+->", " ->", words)) for state, name, words in lines}


def test_a_server_that_can_do_everything(server: OpenAIServer) -> None:
    usage = {"prompt_tokens": 512, "completion_tokens": 64}
    headers = {"x-ratelimit-limit-requests": "60", "x-ratelimit-remaining-requests": "59", "x-ratelimit-reset": "1s"}
    server.responder = lambda body: Response(GOOD, headers=headers, usage=usage)
    server.models = {"judge"}
    server.described = {"max_model_len": 8192}
    status, output = doctor("--llm", "vllm:judge", "--base-url", server.origin)
    assert (status, output) == (
        0,
        f"""vllm:judge at {server.base_url}
  ok  address       {server.base_url} answers
  ok  key           no key is sent, and the server asks for none
  ok  model         judge
  ok  plain text    readable, its verdicts right, after N s
  ok  JSON schema   readable, its verdicts right, after N s
  ok  JSON mode     readable, its verdicts right, after N s
  ok  token counts  512 in, 64 out for one small question
  -   context       8192 tokens
  -   limits        limit-requests 60, remaining-requests 59
  -   seed          settable, sent as seed
  -   prompt cache  the provider caches the words of prompts by itself
  -   speed         N s for an answer, N tokens/s
  ok  two at once   N s for both
it can be used: it is asked by JSON schema""",
    )
    forms = [(chat.get("response_format") or {}).get("type") for chat in server.chats]
    assert forms == [None, "json_schema", "json_object", "json_schema", "json_schema"]
    assert len(server.requests) == 6


def test_what_a_server_refuses_is_no_obstacle(server: OpenAIServer) -> None:
    server.refuses = {"json_schema", "json_object"}
    status, output = doctor("--llm", "ollama:judge", "--base-url", server.base_url)
    checks = seen(output)
    refused = "refused (400) -> nothing to do: a run goes on with the next form by itself"
    assert status == 0
    assert (checks["JSON schema"], checks["JSON mode"]) == (("no", refused), ("no", refused))
    assert output.endswith(
        "\nit can be used: it is asked by plain text; the server refuses JSON schema and JSON mode, which a run finds out by itself"
    )


def test_json_mode_where_only_the_schema_is_refused(server: OpenAIServer) -> None:
    server.refuses = {"json_schema"}
    _, output = doctor("--llm", "openai:judge", "--base-url", server.base_url)
    assert output.endswith(
        "it can be used: it is asked by JSON mode; the server refuses JSON schema, which a run finds out by itself"
    )
    assert [bool(chat.get("response_format")) for chat in server.chats] == [False, True, True, True, True]


def test_a_refusal_that_a_run_would_not_recognise(server: OpenAIServer) -> None:
    def answer(body: Any) -> Any:
        return error(400, "Bad Request") if "response_format" in body else GOOD

    server.responder = answer
    status, output = doctor("--llm", "openai:judge", "--base-url", server.base_url)
    assert status == 2
    assert seen(output)["JSON schema"] == (
        "no",
        (
            f"judge: {server.base_url} refuses the request (400): Bad Request. -> if it stays so: OpenAILLM(..., "
            "structured='text') asks in plain words alone"
        ),
    )
    assert output.endswith(
        "it can be used from Python alone, by OpenAILLM(..., structured='text'): answers by JSON schema fail"
    )


def test_wrong_verdicts_are_reported(server: OpenAIServer) -> None:
    server.responder = lambda body: {"verdicts": [{**verdict, "supported": True} for verdict in GOOD["verdicts"]]}
    status, output = doctor("--llm", "openai:judge", "--base-url", server.base_url)
    assert status == 0
    assert seen(output)["plain text"] == ("-", "readable, 1 of 2 easy verdicts wrong, after N s")


def test_a_model_that_thinks(server: OpenAIServer) -> None:
    server.responder = lambda body: f"<think>Nine is not noon.</think>{json.dumps(GOOD)}"
    thinking = ("-", "it thinks before it answers: its thoughts are skipped, but take time and tokens")
    assert seen(doctor("--llm", "openai:judge", "--base-url", server.base_url)[1])["thinking"] == thinking
    message = {"role": "assistant", "content": json.dumps(GOOD), "reasoning_content": "Nine is not noon."}
    server.responder = lambda body: Response(message=message)
    assert seen(doctor("--llm", "openai:judge", "--base-url", server.base_url)[1])["thinking"] == thinking


def test_no_token_counts_and_no_list_of_models(server: OpenAIServer) -> None:
    server.responder = lambda body: Response(GOOD, usage=None)
    server.refusal_of = lambda got: error(404, "No such path") if got.method == "GET" else None
    checks = seen(doctor("--llm", "openai:judge", "--base-url", server.base_url)[1])
    assert checks["token counts"] == (
        "no",
        "none are reported -> costs are not known, and --budget tokens=N or dollars=N has no effect",
    )
    assert checks["speed"] == ("-", "N s for an answer")
    assert checks["context"] == ("-", "the server does not say how many tokens fit")


@pytest.mark.parametrize(
    ("described", "shown"),
    [
        ({"meta": {"n_ctx": 4096}}, "4096 tokens"),
        ({"context_length": 131072}, "131072 tokens"),
        ({"meta": "odd", "context_length": "many"}, "the server does not say how many tokens fit"),
    ],
)
def test_how_many_tokens_fit(server: OpenAIServer, described: dict[str, Any], shown: str) -> None:
    server.models, server.described = {"judge"}, described
    assert seen(doctor("--llm", "openai:judge", "--base-url", server.base_url)[1])["context"] == ("-", shown)


@pytest.mark.parametrize(("seconds", "noticed"), [(0.8, True), (0.4, False)])
def test_answers_one_after_the_other(server: OpenAIServer, clock: Clock, seconds: float, noticed: bool) -> None:
    """The second of two questions waits, as where one model has one place; with quick ones it is hardly to be seen."""
    place = threading.Lock()

    def answer(body: Any) -> Any:
        with place:
            clock.now += seconds
        return GOOD

    server.responder = answer
    checks = seen(doctor("--llm", "openai:judge", "--base-url", server.base_url)[1])
    after = "N s for both: answered one after the other -> more than --max-concurrency 1 saves no time here"
    assert checks["two at once"] == (("-", after) if noticed else ("ok", "N s for both"))


def test_two_at_once_are_refused(server: OpenAIServer) -> None:
    server.responder = lambda body: rate_limited() if len(server.chats) > 3 else GOOD
    status, output = doctor("--llm", "openai:judge", "--base-url", server.base_url)
    assert status == 0
    assert seen(output)["two at once"] == (
        "no",
        (
            f"judge: {server.base_url} answers too many requests (429): Rate limit reached for requests per min. Please try again "
            "later. Ask fewer questions at a time, or try again later. -> give --max-concurrency 1"
        ),
    )


class TestFailures:
    """Each ends the examination with one line, status 2 and as few requests as can be."""

    def failed(self, server: OpenAIServer, *more: str, name: str = "openai:judge") -> tuple[str, str, int]:
        status, output = doctor("--llm", name, "--base-url", server.base_url, *more)
        assert status == 2
        assert output.endswith("\nit cannot be used as it is")
        bad = {name: words for name, (state, words) in seen(output).items() if state == "no"}
        assert len(bad) == 1
        return (*next(iter(bad.items())), len(server.chats))

    def test_nothing_listens(self) -> None:
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            url = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
        status, output = doctor("--llm", "ollama:judge", "--base-url", url)
        (check,) = seen(output).items()
        assert (status, check[0]) == (2, "address")
        assert check[1][1].startswith(f"judge: cannot reach {url} (")
        assert check[1][1].endswith(
            "): is a server listening there? -> nothing listens at this address: start the server (ollama serve); inside a "
            "container, localhost is the container itself"
        )
        output = doctor("--llm", "openai:judge", "--base-url", url)[1]
        assert "nothing listens at this address: start the server, or give its address; inside" in output

    @pytest.mark.parametrize(
        ("code", "words"),
        [
            (socket.EAI_NONAME, "Name or service not known"),
            (socket.EAI_AGAIN, "Temporary failure in name resolution"),
        ],
    )
    def test_no_such_host(self, monkeypatch: pytest.MonkeyPatch, code: int, words: str) -> None:
        def unknown(*arguments: Any, **settings: Any) -> Any:
            raise socket.gaierror(code, words)

        monkeypatch.setattr(socket, "getaddrinfo", unknown)  # which a name server may take its time to say, or deny
        status, output = doctor("--llm", "vllm:judge", "--base-url", "http://nowhere.invalid/v1")
        assert status == 2
        assert seen(output)["address"][1].endswith("-> the name of the host is unknown: check it")

    def test_no_tls(self, server: OpenAIServer) -> None:
        url = server.base_url.replace("http:", "https:")
        output = doctor("--llm", "openai:judge", "--base-url", url)[1]
        assert seen(output)["address"][1].endswith("-> the server does not speak TLS there: write http:// for https://")

    def test_a_page(self, server: OpenAIServer) -> None:
        server.responder = lambda body: Response(body="<html>Welcome</html>", headers={"Content-Type": "text/html"})
        assert self.failed(server) == (
            "address",
            (
                f"judge: the answer of {server.base_url} does not follow the OpenAI protocol (it is an HTML page, not JSON): does "
                "the base URL end in /v1, as it does for most servers?"
            ),
            1,
        )

    def test_a_key_that_is_refused(self, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        server.api_key = "another"
        monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
        assert self.failed(server, name="openrouter:judge") == (
            "key",
            (
                f"judge: {server.base_url} refuses the API key (401): Incorrect API key provided: ***. You can find your API key "
                "in your account settings. Set the environment variable OPENROUTER_API_KEY."
            ),
            1,
        )

    def test_no_key(self) -> None:
        status, output = doctor("--llm", "openai:gpt-4o-mini")
        assert (status, seen(output)) == (
            2,
            {
                "key": (
                    "no",
                    (
                        "no API key for OpenAI: set the environment variable OPENAI_API_KEY, or give --base-url URL for a "
                        "server of your own that needs none"
                    ),
                )
            },
        )

    def test_no_credit(self, server: OpenAIServer) -> None:
        server.responder = lambda body: dialects.openrouter_lacks_credit()
        assert self.failed(server) == (
            "key",
            (
                f"judge: {server.base_url} wants to be paid (402): Insufficient credits. Add more using "
                "https://openrouter.ai/settings/credits. The account or the key has no credit left."
            ),
            1,
        )

    def test_no_such_model(self, server: OpenAIServer) -> None:
        server.models = {f"m{number}" for number in range(1, 10)}
        name, words, _ = self.failed(server)
        assert (name, words.partition(" -> ")[2]) == (
            "model",
            "use one of those that are there: m1, m2, m3, m4, m5, m6, m7, m8 and 1 more",
        )

    def test_no_such_model_of_ollama(self, server: OpenAIServer) -> None:
        server.responder = lambda body: dialects.ollama_lacks("judge")
        name, words, _ = self.failed(server, name="ollama:judge")
        assert (name, words) == (
            "model",
            (
                f'judge: {server.base_url} has no such model or address (404): model "judge" not found, try pulling it first. '
                "Check the model name and the base URL. -> ollama pull judge, or use one of those that are there: loopback"
            ),
        )

    def test_no_such_model_of_a_proxy(self, server: OpenAIServer) -> None:
        server.responder = lambda body: dialects.litellm(400, "Invalid model name passed in model=judge")
        name, words, _ = self.failed(server, name="litellm:judge")
        assert (name, words.partition(" -> ")[2]) == ("model", "use one of those that are there: loopback")

    @pytest.mark.parametrize(
        ("listed", "cure"),
        [
            (Response(body='{"data": []}'), "no model is there"),
            (Response(body='{"data": 1}'), "check the address and the name (what it sends is no list)"),
            (Response(body="<html>"), "check the address and the name (Expecting value: line 1 column 1 (char 0))"),
            (Response(body='{"data": [' + " " * 2**20 + "]}"), "check the address and the name (the list is too long)"),
            (Response(hang=True), "check the address and the name (no list in time)"),
        ],
        ids=["empty", "number", "page", "long", "hangs"],
    )
    def test_no_list_to_choose_from(self, server: OpenAIServer, listed: Response, cure: str) -> None:
        missing = error(404, "The model `judge` does not exist.", code="model_not_found")
        server.refusal_of = lambda got: listed if got.method == "GET" else missing
        seconds = "4" if listed.hang else "60"
        assert self.failed(server, "--timeout", seconds)[1].partition(" -> ")[2] == cure

    def test_no_such_deployment(self, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("AZURE_OPENAI_API_KEY", KEY)
        monkeypatch.setenv("OPENAI_API_VERSION", "2024-10-21")
        server.refusal_of = lambda got: dialects.azure(got.path, got.headers, {"my-dep"}, KEY)
        status, output = doctor("--llm", "azure:judge", "--base-url", server.origin)
        assert status == 2
        assert seen(output)["model"][1].endswith(
            "-> azure: is followed by the name of a deployment, as the portal lists them, not by the name of a model"
        )
        assert seen(output)["key"] == ("ok", "the key in AZURE_OPENAI_API_KEY is accepted")
        assert doctor("--llm", "azure:my-dep", "--base-url", server.origin)[0] == 0

    @pytest.mark.parametrize(
        ("response", "words"),
        [
            (
                rate_limited(),
                (
                    "answers too many requests (429): Rate limit reached for requests per min. Please try again later. Ask fewer "
                    "questions at a time, or try again later."
                ),
            ),
            (dialects.llamacpp_loads(), "is failing (503): Loading model. Try again later."),
            (
                dialects.openrouter_failed(502, "Provider returned error"),
                "is failing (502): Provider returned error. Try again later.",
            ),
        ],
    )
    def test_a_server_that_is_busy_or_failing(self, server: OpenAIServer, response: Response, words: str) -> None:
        server.responder = lambda body: response
        assert self.failed(server) == ("plain text", f"judge: {server.base_url} {words}", 1)

    def test_no_answer_in_time(self, server: OpenAIServer) -> None:
        server.responder = lambda body: Response(hang=True)
        assert self.failed(server, "--timeout", "2.5") == (
            "plain text",
            (
                "no answer within N s -> a model that is being loaded takes a while: ask again, or give --timeout more "
                "seconds"
            ),
            1,
        )

    def test_no_answer_in_time_to_one_form(self, server: OpenAIServer, clock: Clock) -> None:
        def answer(body: Any) -> Any:
            if "response_format" not in body:
                return GOOD
            clock.now += 4
            return Response(hang=True)

        server.responder = answer
        status, output = doctor("--llm", "openai:judge", "--base-url", server.base_url, "--timeout", "4")
        checks = seen(output)
        assert (status, len(server.chats)) == (2, 2)
        assert checks["JSON schema"] == ("no", "no answer within 4 s")
        assert checks["JSON mode"] == ("-", "not asked, as the last answer did not come in time")
        assert "two at once" not in checks
        assert output.endswith(
            "it is not known whether it can be used: not every question was answered; try again later"
        )

    @pytest.mark.parametrize(
        ("response", "words"),
        [
            (Response(GOOD, finish_reason="length"), "the answer is unreadable: the reply was cut at the token limit"),
            (
                Response(message={"role": "assistant", "content": None}),
                "judge answered without any text (finish reason 'stop')",
            ),
            (Response("I cannot say."), "the answer is unreadable: "),
        ],
        ids=["truncated", "empty", "prose"],
    )
    def test_no_readable_answer(self, server: OpenAIServer, response: Response, words: str) -> None:
        server.responder = lambda body: response
        status, output = doctor("--llm", "openai:judge", "--base-url", server.base_url)
        assert status == 2
        assert seen(output)["plain text"][1].startswith(words)
        assert output.endswith("it cannot be used as it is: no answer of it was readable; a larger model may do")


def test_no_key_and_no_escape_sequence_is_printed(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    said = f"\x1b[2Jwrong key {KEY}, and sk-other-1234567890 too"
    server.responder = lambda body: error(400, said)
    for more in ([], ["--json"]):
        output = doctor("--llm", "openai:judge", "--base-url", server.base_url, *more)[1]
        assert KEY not in output
        assert "sk-other" not in output
        assert "\x1b" not in output
        assert "wrong key ***, and *** too" in output


def test_hostile_names_of_models(server: OpenAIServer) -> None:
    server.models = {f"\x1b]0;{KEY}\x07"}
    output = doctor("--llm", "openai:judge", "--base-url", server.base_url)[1]
    assert "\x1b" not in output
    assert KEY not in output


def test_the_lean_client_is_examined_as_the_other_one(server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("aiohttp")
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    status, output = doctor("--llm", "server:judge", "--base-url", server.base_url)
    assert status == 0
    assert seen(output)["key"] == ("ok", "no key is sent, and the server asks for none")
    assert {item.headers["authorization"] for item in server.requests} == {"Bearer no-key"}


def test_json(server: OpenAIServer) -> None:
    server.refuses = {"json_schema"}
    result = call("doctor", "--llm", "vllm:judge", "--base-url", server.origin, "--json")
    (found,) = json.loads(result.stdout)
    assert (found["what"], found["usable"]) == (f"vllm:judge at {server.base_url}", True)
    assert found["checks"][0] == {
        "name": "address",
        "state": "ok",
        "seen": f"{server.base_url} answers",
        "cure": "",
    }


class TestEmbeddings:
    def test_they_work(self, server: OpenAIServer) -> None:
        server.embedder = lambda text: [float(len(text)), 1.0, 2.0]
        status, output = doctor("--embeddings", "ollama:embedder", "--base-url", server.origin)
        assert (status, output) == (
            0,
            f"ollama:embedder at {server.base_url}\n  ok  vectors  3 numbers each; 3 texts in N s\nit can be used",
        )
        assert len(server.requests) == 1

    @pytest.mark.parametrize(
        ("vector", "check", "words"),
        [
            ([0.0, 0.0], "vectors", "a vector is all zeros, which has no direction"),
            ([1.0, 2.0], "meaning", "two different texts have the same vector -> is this a model for embeddings?"),
        ],
    )
    def test_vectors_without_meaning(self, server: OpenAIServer, vector: list[float], check: str, words: str) -> None:
        server.embedder = lambda text: vector
        status, output = doctor("--embeddings", "openai:e", "--base-url", server.base_url)
        assert (status, seen(output)[check]) == (2, ("no", words))

    def test_a_failure(self, server: OpenAIServer) -> None:
        server.queue.append(error(404, "no such model"))
        status, output = doctor("--embeddings", "openai:e", "--base-url", server.base_url)
        assert (status, seen(output)["vectors"]) == (
            2,
            (
                "no",
                (
                    f"e: {server.base_url} has no such model or address (404): no such model. Check the model name and "
                    "the base URL."
                ),
            ),
        )

    def test_no_answer_in_time(self, server: OpenAIServer) -> None:
        server.queue.append(Response(hang=True))
        status, output = doctor("--embeddings", "openai:e", "--base-url", server.base_url, "--timeout", "2.5")
        assert (status, seen(output)["vectors"]) == (2, ("no", "no answer within N s"))

    def test_offline_models(self) -> None:
        status, output = doctor("--embeddings", "hashing", "--llm", "lexical")
        assert (status, output) == (
            0,
            (
                "lexical\nit can be used: it works offline and needs no server\n\n"
                "hashing\n  ok  vectors  512 numbers each; 3 texts in N s\nit can be used"
            ),
        )


class TestThisMachine:
    def test_what_is_set_but_not_what_it_holds(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("OPENROUTER_API_KEY", KEY)
        status, output = doctor()
        assert status == 0
        assert re.search(r"^  OPENROUTER_API_KEY +set$", output, re.MULTILINE)
        assert re.search(r"^  LITELLM_API_KEY +-$", output, re.MULTILINE)
        assert re.search(r"^  ragmetrics-core +\d", output, re.MULTILINE)
        assert KEY not in output

    def test_json(self) -> None:
        assert json.loads(call("doctor", "--json").stdout) == json.loads(json.dumps(environment()))

    def test_every_extra_is_listed(self) -> None:
        extras = metadata.metadata("ragmetrics-core").get_all("Provides-Extra")
        required = metadata.requires("ragmetrics-core") or []
        assert set(_doctor.EXTRAS) == set(extras or [])
        for extra, package in _doctor.EXTRAS.items():
            assert any(line.startswith(f"{package}>=") and extra in line for line in required), extra

    def test_a_package_that_is_missing(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setitem(_doctor.EXTRAS, "server", "no-such-package-anywhere")
        assert re.search(r'^  server +no: pip install "ragmetrics-core\[server\]"$', doctor()[1], re.MULTILINE)

    def test_servers_that_listen(self, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        port = server.origin.rpartition(":")[2]
        table = {"here": NamedServer(f"http://localhost:{port}/v1"), "far": SERVERS["openrouter"]}
        monkeypatch.setattr(_doctor, "SERVERS", table)
        assert environment()["listening"] == {"here": f"http://localhost:{port}/v1"}
        assert re.search(rf"^  here +http://localhost:{port}/v1$", doctor()[1], re.MULTILINE)
        monkeypatch.setattr(_doctor, "SERVERS", {})
        assert re.search(r"^  - +no server at the usual ports of this machine$", doctor()[1], re.MULTILINE)

    def test_an_address_without_a_model(self) -> None:
        assert doctor("--base-url", "http://localhost:1/v1") == (
            2,
            "ragmetrics: --base-url needs --llm MODEL or --embeddings MODEL",
        )


def test_a_name_that_is_wrong() -> None:
    assert doctor("--llm", "openrouter:a/b") == (
        2,
        ("ragmetrics: the provider 'openrouter' needs a key (set the environment variable OPENROUTER_API_KEY)"),
    )


class TestAnthropic:
    """A model that is called by its provider's own protocol is asked one question."""

    @pytest.fixture(autouse=True)
    def _address(self, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> None:
        pytest.importorskip("anthropic")
        server.api_key = None
        monkeypatch.setenv("ANTHROPIC_API_KEY", "sk-ant-4711-abcdefgh")
        monkeypatch.setenv("ANTHROPIC_BASE_URL", server.base_url)

    def test_it_can_be_used(self, server: OpenAIServer) -> None:
        server.responder = lambda body: GOOD
        status, text = doctor("--llm", "anthropic:claude-x")
        assert status == 0
        assert text.startswith(f"anthropic:claude-x at {server.origin}\n  ok  key and model  claude-x answers\n")
        assert "its verdicts right" in text
        assert text.endswith("it can be used")
        found = seen(text)
        assert found["seed"] == ("-", "the provider takes none")
        assert found["prompt cache"] == ("-", "the words of prompts are marked for the cache of the provider")
        assert len(server.requests) == 1

    def test_it_cannot(self, server: OpenAIServer) -> None:
        server.queue.append(error(401, "invalid x-api-key"))
        status, text = doctor("--llm", "anthropic:claude-x")
        assert status == 2
        assert "refuses the API key (401)" in text
        assert "ANTHROPIC_API_KEY" in text
