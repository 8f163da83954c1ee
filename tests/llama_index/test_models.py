"""The bridges to models: what is sent, what is read, how failures look, and that they keep the contract of the core."""

from __future__ import annotations

import asyncio
import json
from datetime import datetime, timedelta, timezone
from email.utils import format_datetime
from functools import partial
from threading import Barrier, Event
from typing import Any

import httpx
import openai
import pytest
from llama_index.core import Settings
from llama_index.core.base.llms.types import CompletionResponse
from llama_index.core.bridge.pydantic import PrivateAttr
from llama_index.core.llms import MockLLM
from llama_index.core.prompts import PromptTemplate

from llama_index.doubles import Completions, HashingEmbedding, openai_like
from loopback import OpenAIServer, Response, error, rate_limited, server_error
from ragmetrics_core import Ask, BadReply, InvalidInput, Message, ModelError, Models, Prompt, arun, run, together
from ragmetrics_core.replies import YesNoReply
from ragmetrics_core.testing import EmbeddingsContract, LLMContract
from ragmetrics_llama_index import LlamaIndexEmbeddings, LlamaIndexLLM

KEY = "sk-secret-4711-abcdefghijklmnop"
QUESTION = Prompt("Is it so?", YesNoReply(), name="is_it_so")


def ask(text: str = "yes?") -> Ask:
    return Ask(QUESTION.messages({"text": text}), QUESTION.reply, QUESTION, {"text": text})


class TestChat(LLMContract):
    secrets = (KEY,)

    @pytest.fixture
    def llm(self, server: OpenAIServer) -> LlamaIndexLLM:
        return LlamaIndexLLM(openai_like(server, KEY))

    @pytest.fixture
    def failing_llm(self, server: OpenAIServer) -> LlamaIndexLLM:
        server.models = {"another"}
        return LlamaIndexLLM(openai_like(server, KEY))


class TestCompletion(LLMContract):
    counts_tokens = False
    can_fail = False

    @pytest.fixture
    def llm(self) -> LlamaIndexLLM:
        return LlamaIndexLLM(Completions("Iceland"))


class TestEmbeddings(EmbeddingsContract):
    can_fail = False

    @pytest.fixture
    def embeddings(self) -> LlamaIndexEmbeddings:
        return LlamaIndexEmbeddings(HashingEmbedding())


def test_what_is_sent_to_a_chat_model(server: OpenAIServer, llm: Any) -> None:
    assert LlamaIndexLLM(llm).generate(ask()).value == "YES"
    first, second = ask().messages
    assert server.chats[0]["messages"] == [
        {"role": "system", "content": first.content},
        {"role": "user", "content": second.content},
    ]


def test_the_system_prompt_of_the_llm_stays_in_front(server: OpenAIServer) -> None:
    LlamaIndexLLM(openai_like(server, KEY, system_prompt="Be strict.")).generate(ask())
    (system, _) = server.chats[0]["messages"]
    assert system["content"] == f"Be strict.\n\n{ask().messages[0].content}"


def test_what_is_sent_to_a_completion_model() -> None:
    llm = Completions(
        messages_to_prompt=lambda messages: "|".join(f"{item.role.value}={item.content}" for item in messages),
        query_wrapper_prompt=PromptTemplate("<<{query_str}>>"),
    )
    LlamaIndexLLM(llm).generate(ask())
    first, second = ask().messages
    assert llm.prompts == [f"<<system={first.content}|user={second.content}>>"]


def test_a_completion_model_that_calls_itself_a_chat_model() -> None:
    llm = Completions("no", is_chat=True)
    assert LlamaIndexLLM(llm).generate(ask()).value == "no"
    assert "Is it so?" in llm.prompts[0]


def test_tokens_are_counted(server: OpenAIServer, llm: Any) -> None:
    server.responder = lambda body: Response("yes", usage={"prompt_tokens": 11, "completion_tokens": 3})
    usage = LlamaIndexLLM(llm).generate(ask()).usage
    assert (usage.calls, usage.prompt_tokens, usage.completion_tokens) == (1, 11, 3)


@pytest.mark.parametrize(
    ("raw", "usage", "truncated"),
    [
        ({"prompt_eval_count": 5, "eval_count": 7, "done_reason": "length"}, (5, 7), True),
        ({"usage": {"input_tokens": 2, "output_tokens": 3}, "stop_reason": "max_tokens"}, (2, 3), True),
        ({"candidates": [{"finish_reason": "FinishReason.MAX_TOKENS"}]}, (0, 0), True),
        ({"usage": {"input_tokens": 2, "output_tokens": 3}, "stop_reason": "end_turn"}, (2, 3), False),
        (None, (0, 0), False),
    ],
)
def test_what_other_integrations_report(raw: Any, usage: tuple[int, int], truncated: bool) -> None:
    reply = LlamaIndexLLM(Completions([CompletionResponse(text="yes", raw=raw)])).generate(ask())
    assert (reply.usage.prompt_tokens, reply.usage.completion_tokens) == usage
    assert reply.truncated is truncated


def test_a_reply_that_was_cut_is_a_bad_reply(server: OpenAIServer, llm: Any) -> None:
    server.responder = lambda body: Response("ye", finish_reason="length")
    with pytest.raises(BadReply, match="cut at the token limit"):
        run(QUESTION.ask(text="?"), LlamaIndexLLM(llm))


def test_no_text_is_an_empty_reply(server: OpenAIServer, llm: Any) -> None:
    server.responder = lambda body: Response(message={"role": "assistant", "content": None})
    assert LlamaIndexLLM(llm).generate(ask()).value == ""


@pytest.mark.parametrize(
    ("response", "fatal", "transient", "limited", "wait"),
    [
        (rate_limited("7"), False, True, True, 7.0),
        (error(429, "No credit.", code="insufficient_quota"), True, False, False, None),
        (error(401, f"Incorrect API key provided: {KEY}.", code="invalid_api_key"), True, False, False, None),
        (error(404, "No such model."), True, False, False, None),
        (server_error(503), False, True, False, None),
        (error(400, "Too long."), False, False, False, None),
    ],
)
def test_failures_of_the_server(
    server: OpenAIServer, response: Response, fatal: bool, transient: bool, limited: bool, wait: float | None
) -> None:
    server.queue.extend([response] * 6)  # a refusal may be about the form of the reply, so two more are tried
    bridge = LlamaIndexLLM(openai_like(server, KEY))
    for answer in (bridge.generate, lambda item: asyncio.run(bridge.agenerate(item))):
        with pytest.raises(ModelError, match=r"^judge .* \(\d+\): Error code: \d+") as caught:
            answer(ask())
        problem = caught.value
        assert (problem.fatal, problem.transient, problem.rate_limited) == (fatal, transient, limited)
        assert problem.retry_after == wait
        assert KEY not in f"{problem} {problem.__cause__!r} {problem.__context__!r}"


def test_a_content_filter_is_a_bad_reply(server: OpenAIServer, llm: Any) -> None:
    server.queue.append(error(400, "Filtered.", code="content_filter"))
    with pytest.raises(BadReply, match="the content filter refuses the question"):
        LlamaIndexLLM(llm).generate(ask())


def test_no_server_listens(server: OpenAIServer, llm: Any) -> None:
    server.queue.extend([Response(reset=True)] * 2)
    with pytest.raises(ModelError, match="Connect") as caught:
        LlamaIndexLLM(llm).generate(ask())
    assert (caught.value.transient, caught.value.fatal) == (True, False)


class OwnError(Exception):
    pass


@pytest.mark.parametrize("problem", [TypeError("a bug"), RuntimeError("boom"), ValueError("wrong"), OwnError("own")])
async def test_what_is_no_failure_of_a_model_comes_as_it_is(problem: Exception) -> None:
    bridge = LlamaIndexLLM(Completions([problem, problem]))
    for call in (lambda: bridge.generate(ask()), lambda: asyncio.run(bridge.agenerate(ask()))):
        with pytest.raises(type(problem), match=str(problem)):
            await asyncio.to_thread(call)


@pytest.mark.parametrize(
    ("problem", "transient"),
    [(httpx.ReadTimeout("slow"), True), (httpx.ConnectError("gone"), True), (openai.OpenAIError("odd"), False)],
)
def test_what_a_client_library_raises_is_a_failure_of_the_model(problem: Exception, transient: bool) -> None:
    with pytest.raises(
        ModelError, match=f"^completions (cannot be reached|failed): {type(problem).__name__}: {problem}$"
    ) as caught:
        LlamaIndexLLM(Completions([problem])).generate(ask())
    assert (caught.value.transient, caught.value.fatal) == (transient, False)


def test_waiting_times_in_other_forms() -> None:
    then = datetime.now(timezone.utc) + timedelta(seconds=60)
    for headers, low, high in [
        ({"retry-after-ms": "1500"}, 1.5, 1.5),
        ({"retry-after": format_datetime(then, usegmt=True)}, 50, 60),
    ]:
        answer = httpx.Response(429, headers=headers, request=httpx.Request("POST", "http://127.0.0.1"))
        problem = httpx.HTTPStatusError("busy", request=answer.request, response=answer)
        with pytest.raises(ModelError) as caught:
            LlamaIndexLLM(Completions([problem])).generate(ask())
        assert caught.value.rate_limited
        assert low <= caught.value.retry_after <= high


def test_a_timeout_of_python_is_transient() -> None:
    with pytest.raises(ModelError, match="^completions cannot be reached: TimeoutError: too slow$") as caught:
        LlamaIndexLLM(Completions([TimeoutError("too slow")])).generate(ask())
    assert caught.value.transient


def test_settings_are_looked_up_when_asked() -> None:
    bridge = LlamaIndexLLM()
    Settings._llm = None
    with pytest.raises(
        ModelError, match=r"no LLM is set: give llm=\.\.\. or set llama_index\.core\.Settings\.llm"
    ) as caught:
        bridge.generate(ask())
    assert caught.value.fatal
    assert bridge.identity is None
    Settings.llm = Completions("first")
    assert bridge.generate(ask()).value == "first"
    Settings.llm = Completions("second")
    assert bridge.generate(ask()).value == "second"


def test_settings_of_embeddings_are_looked_up_when_asked() -> None:
    bridge = LlamaIndexEmbeddings()
    Settings._embed_model = None
    with pytest.raises(ModelError, match=r"no embedding model is set: give embed_model=\.\.\. or set"):
        bridge.embed(["text"])
    Settings.embed_model = HashingEmbedding()
    assert len(bridge.embed(["text"]).value[0]) == 64


def test_what_is_no_llm_is_refused() -> None:
    with pytest.raises(InvalidInput, match="takes an LLM of LlamaIndex, got int"):
        LlamaIndexLLM(3)
    with pytest.raises(InvalidInput, match="takes an embedding model of LlamaIndex, got int"):
        LlamaIndexEmbeddings(3)


def test_identity_names_what_changes_a_reply_and_no_secret(server: OpenAIServer) -> None:
    def identity(**settings: Any) -> Any:
        return LlamaIndexLLM(openai_like(server, KEY, **settings)).identity

    assert identity()["model"] == "judge"
    assert identity()["class"].endswith("OpenAILike")
    assert identity() == identity(max_retries=3, timeout=2.0)
    assert identity() != identity(temperature=0.5)
    assert identity(additional_kwargs={"extra_body": {"api_key": "hidden-key"}}) == identity(
        additional_kwargs={"extra_body": {}}
    )
    assert KEY not in json.dumps(identity())
    assert repr(LlamaIndexLLM(openai_like(server, KEY))) == "LlamaIndexLLM(<OpenAILike 'judge'>)"


def test_who_cannot_say_what_it_is_has_no_identity() -> None:
    assert LlamaIndexLLM(MockLLM()).identity is None
    assert LlamaIndexLLM(Completions(model_name="unknown")).identity is None
    named = LlamaIndexLLM(Completions(model_name="mine")).identity
    assert named is not None
    assert named["model"] == "mine"


async def test_a_model_that_blocks_does_not_block_the_loop() -> None:
    """It answers when the loop says so."""
    release = Event()
    bridge = LlamaIndexLLM(Completions(lambda prompt: "yes" if release.wait(60) else "no"))

    async def tick() -> None:
        for _ in range(10):
            await asyncio.sleep(0.01)
        release.set()

    ticking = asyncio.create_task(tick())
    assert (await bridge.agenerate(ask())).value == "yes"
    await ticking


@pytest.mark.parametrize(("overlap", "most"), [(None, 1), (True, 3)])
def test_models_that_compute_in_this_process_are_asked_one_at_a_time(overlap: bool | None, most: int) -> None:
    gathered = Barrier(most, timeout=60)  # no call returns before so many are made at the same time
    llm = Completions(lambda prompt: "YES" if gathered.wait() >= 0 else "NO", delay=0.05)
    program = together(*(QUESTION.ask(text=str(number)) for number in range(3)))
    assert run(program, LlamaIndexLLM(llm, overlap=overlap)) == [True, True, True]
    assert llm.most_at_once == most


async def test_turns_are_those_of_the_model_and_not_of_the_bridge() -> None:
    llm = Completions(delay=0.02)
    bridges = [LlamaIndexLLM(llm) for _ in range(4)]
    await asyncio.gather(*(bridge.agenerate(ask()) for bridge in bridges))
    assert (len(llm.prompts), llm.most_at_once) == (4, 1)


def test_a_chat_model_is_asked_side_by_side_in_any_loop(server: OpenAIServer) -> None:
    """With the client that LlamaIndex uses again and again, whose connections belong to the first loop."""
    gathered = Barrier(5, timeout=60)  # no call returns before all are made
    server.responder = lambda body: "yes" if gathered.wait() >= 0 else "no"
    llm = openai_like(server, KEY, reuse_client=True)
    bridge = LlamaIndexLLM(llm)
    loops = [asyncio.new_event_loop() for _ in range(2)]
    for loop in loops:
        program = together(*(QUESTION.ask(text=str(number)) for number in range(5)))
        assert loop.run_until_complete(arun(program, Models(bridge))) == [True] * 5
    assert server.max_in_flight == 5
    loops[0].run_until_complete(llm._get_aclient().close())
    llm._get_client().close()
    for loop in loops:
        loop.close()


class LoopBound(Completions):
    """Its connections belong to a loop that has ended, as those of a client that was used before."""

    async def acomplete(self, prompt: str, formatted: bool = False, **kwargs: Any) -> CompletionResponse:
        try:
            raise RuntimeError("Event loop is closed")
        except RuntimeError as cause:
            raise ConnectionError("Connection error.") from cause


async def test_connections_of_a_loop_that_has_ended_are_gone_around() -> None:
    assert (await LlamaIndexLLM(LoopBound("yes")).agenerate(ask())).value == "yes"


class AsyncEmbedding(HashingEmbedding):
    """An embedding model with its own asynchronous method."""

    fails: bool = False
    _loops: list[Any] = PrivateAttr(default_factory=list)

    async def _aget_text_embedding(self, text: str) -> list[float]:
        self._loops.append(asyncio.get_running_loop())
        if self.fails:
            raise ConnectionError("no server there")
        return self._get_text_embedding(text)


def test_embeddings_use_the_asynchronous_method_in_one_loop_and_threads_in_others() -> None:
    model = AsyncEmbedding()
    bridge = LlamaIndexEmbeddings(model)
    vectors = [asyncio.run(bridge.aembed(["a", "b"])).value for _ in range(2)]
    assert vectors[0] == vectors[1] == bridge.embed(["a", "b"]).value
    assert len(model._loops) == 2, "two texts, in the first loop only"


async def test_embeddings_that_fail() -> None:
    bridge = LlamaIndexEmbeddings(AsyncEmbedding(fails=True))
    with pytest.raises(ModelError, match="^hashing cannot be reached: ConnectionError: no server there$") as caught:
        await bridge.aembed(["a"])
    assert caught.value.transient


def test_identity_of_embeddings() -> None:
    identity = LlamaIndexEmbeddings(HashingEmbedding()).identity
    assert identity is not None
    assert (identity["model"], identity["settings"]) == ("hashing", {"model_name": "hashing"})
    assert repr(LlamaIndexEmbeddings(HashingEmbedding())) == "LlamaIndexEmbeddings(<HashingEmbedding 'hashing'>)"
    assert repr(LlamaIndexEmbeddings()) == "LlamaIndexEmbeddings()"
    assert repr(LlamaIndexLLM()) == "LlamaIndexLLM()"
    Settings._embed_model = None
    assert LlamaIndexEmbeddings().identity is None


class WithExtras(Completions):
    extras: Any = None


def test_settings_that_are_no_json_leave_no_identity() -> None:
    assert LlamaIndexLLM(WithExtras(extras=object())).identity is None
    nested = LlamaIndexLLM(WithExtras(extras=[{"api_key": "hidden", "depth": 3}])).identity
    assert nested is not None
    assert nested["settings"]["extras"] == [{"depth": 3}]
    assert LlamaIndexLLM(Completions(completion_to_prompt=partial(str.strip))).identity is None


def test_a_key_in_the_words_of_a_failure_is_masked(server: OpenAIServer) -> None:
    key = "plain-word-key-0815"
    server.queue.extend([error(400, f"Do not send {key} here.")] * 3)
    llm = openai_like(server, KEY, additional_kwargs={"extra_body": {"keys": [{"password": key}]}})
    with pytest.raises(ModelError, match=r"Do not send \*\*\* here"):
        LlamaIndexLLM(llm).generate(ask())


def test_a_system_prompt_before_a_question_without_one() -> None:
    llm = Completions(
        system_prompt="Be strict.", messages_to_prompt=lambda messages: str([m.content for m in messages])
    )
    alone = Ask((Message("user", "So?"),), QUESTION.reply, QUESTION, {})
    LlamaIndexLLM(llm).generate(alone)
    assert llm.prompts == ["['Be strict.', 'So?']"]
    LlamaIndexLLM(plain := Completions(completion_to_prompt=lambda text: f"<s>{text}")).generate(alone)
    assert plain.prompts == ["<s>So?"]
