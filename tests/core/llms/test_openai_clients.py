"""Whichever client is given, both ways of calling work, in as many event loops and threads as there are, and nothing leaks."""

from __future__ import annotations

import asyncio
import gc
import itertools
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import openai
import pytest

from core.evaluate.doubles import Rated, questions
from loopback import OpenAIServer, Response
from ragmetrics_core import InvalidInput, ModelError, evaluate
from ragmetrics_core.llms import OpenAILLM
from waiting import Crowd, until_async

TEXT = '{"reason": "so", "verdict": true}'


@pytest.fixture(params=["none", "sync", "async"])
def llm(request: Any, server: OpenAIServer, key: str) -> Any:
    settings = {"base_url": server.base_url, "api_key": key, "max_retries": 0}
    if request.param == "none":
        yield OpenAILLM("judge", **settings)
    elif request.param == "sync":
        with openai.OpenAI(**settings) as client:
            yield OpenAILLM("judge", client=client)
    else:
        client = openai.AsyncOpenAI(**settings)
        yield OpenAILLM("judge", client=client)


async def use_and_close(llm: OpenAILLM, ask: Any, times: int = 1) -> list[str]:
    """Ask side by side; then close the user's own client, as a careful user does."""
    replies = await asyncio.gather(*(llm.agenerate(ask(str(number))) for number in range(times)))
    given = llm._clients._given
    if isinstance(given, openai.AsyncOpenAI) and not given.is_closed():
        await given.close()
    return [reply.value for reply in replies]


def test_both_ways_work_in_any_order(llm: OpenAILLM, server: OpenAIServer, ask: Any) -> None:
    for _ in range(3):
        assert llm.generate(ask()).value == TEXT
        assert asyncio.run(use_and_close(llm, ask, times=4)) == [TEXT] * 4
    assert len(server.chats) == 15
    gc.collect()  # a connection left open is a ResourceWarning here, and so an error


def test_synchronously_inside_a_running_loop(llm: OpenAILLM, ask: Any) -> None:
    async def cell() -> str:
        return llm.generate(ask()).value

    assert asyncio.run(cell()) == TEXT


def test_two_loops_at_the_same_time(llm: OpenAILLM, ask: Any) -> None:
    """Each thread has a loop of its own, and each loop connections of its own."""
    barrier = threading.Barrier(3)

    async def work() -> list[str]:
        found = [(await llm.agenerate(ask())).value]
        await asyncio.to_thread(barrier.wait)
        found.append((await llm.agenerate(ask())).value)
        return found

    with ThreadPoolExecutor(3) as pool:
        found = list(pool.map(lambda _: asyncio.run(work()), range(3)))
    assert found == [[TEXT, TEXT]] * 3


def test_threads_share_one_client(llm: OpenAILLM, server: OpenAIServer, ask: Any) -> None:
    crowd = Crowd(2)
    server.responder = lambda body: TEXT if crowd.wait() else "alone"
    with ThreadPoolExecutor(8) as pool:
        found = list(pool.map(lambda number: llm.generate(ask(str(number))).value, range(16)))
    assert found == [TEXT] * 16
    assert server.max_in_flight > 1
    assert server.connections <= 8


def test_tasks_are_answered_side_by_side_over_kept_connections(llm: OpenAILLM, server: OpenAIServer, ask: Any) -> None:
    together, numbers = threading.Barrier(10, timeout=60), itertools.count(1)

    def answer(body: Any) -> str:
        if next(numbers) <= 10:
            together.wait()  # nobody is answered before all have asked
        return TEXT

    server.responder = answer

    async def twice() -> None:
        await asyncio.gather(*(llm.agenerate(ask(str(number))) for number in range(10)))
        await use_and_close(llm, ask, times=10)

    asyncio.run(twice())
    assert server.max_in_flight == 10
    assert server.connections == 10


def test_every_loop_has_a_client_of_its_own_and_the_users_stays_untouched(
    server: OpenAIServer, key: str, ask: Any
) -> None:
    client = openai.AsyncOpenAI(base_url=server.base_url, api_key=key)
    llm = OpenAILLM("judge", client=client)

    async def cell() -> None:
        assert await llm._clients.here() is not client
        assert (await llm.agenerate(ask())).value == TEXT
        assert await llm._clients.here() is await llm._clients.here()

    asyncio.run(cell())
    asyncio.run(cell())
    assert not llm._clients._kept  # closed and forgotten when the loop shut down
    assert not client.is_closed()


def judged(client: openai.AsyncOpenAI) -> int:
    """One run with a model made anew, as a cell of a notebook makes it each time."""
    llm = OpenAILLM("judge", client=client, structured="text")
    return evaluate(questions(4), Rated(), llm=llm, progress=False).summary()["rated"].scored


@pytest.mark.filterwarnings("error")
def test_one_client_serves_many_runs_in_a_script(server: OpenAIServer, key: str) -> None:
    server.responder = lambda body: Response("0.5", delay=0.02)
    client = openai.AsyncOpenAI(base_url=server.base_url, api_key=key, max_retries=0)
    assert [judged(client) for _ in range(2)] == [4, 4]
    gc.collect()


@pytest.mark.filterwarnings("error")
def test_one_client_serves_many_runs_and_its_owner_in_a_notebook(server: OpenAIServer, key: str) -> None:
    """The runs take place in loops of their own; what the owner has open in this loop is none of their business."""
    server.responder = lambda body: Response("0.5", delay=0.02)

    async def cell() -> None:
        async with openai.AsyncOpenAI(base_url=server.base_url, api_key=key, max_retries=0) as client:
            for _ in range(2):
                own = await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])
                assert own.choices[0].message.content == "0.5"
                assert judged(client) == 4
            await client.chat.completions.create(model="m", messages=[{"role": "user", "content": "x"}])

    asyncio.run(cell())
    gc.collect()


def test_own_clients_are_closed_with_the_model(server: OpenAIServer, key: str, ask: Any) -> None:
    llm = OpenAILLM("judge", base_url=server.base_url, api_key=key)
    llm.generate(ask())
    sync = llm._clients.sync()

    async def main() -> openai.AsyncOpenAI:
        nonlocal llm
        await llm.agenerate(ask())
        client = await llm._clients.here()
        assert client is not None
        del llm
        gc.collect()
        assert await until_async(client.is_closed)  # while the loop still runs: nobody needs it any more
        return client

    asyncio.run(main())
    assert sync.is_closed()


def test_a_loop_that_was_closed_without_shutting_down_is_forgotten(server: OpenAIServer, key: str, ask: Any) -> None:
    llm = OpenAILLM("judge", base_url=server.base_url, api_key=key)
    loop = asyncio.new_event_loop()
    client = loop.run_until_complete(llm._clients.here())
    assert client is not None
    loop.close()
    assert asyncio.run(use_and_close(llm, ask)) == [TEXT]
    assert len(llm._clients._kept) == 0


@pytest.mark.parametrize("kind", [openai.OpenAI, openai.AsyncOpenAI])
def test_a_client_of_the_other_kind_has_the_same_settings(server: OpenAIServer, key: str, ask: Any, kind: Any) -> None:
    client = kind(
        base_url=server.base_url,
        api_key=key,
        organization="org-1",
        project="proj-1",
        timeout=12.5,
        max_retries=7,
        default_headers={"X-Team": "search"},
        default_query={"version": "3"},
    )
    llm = OpenAILLM("judge", client=client)
    if kind is openai.OpenAI:
        asyncio.run(llm.agenerate(ask()))
        other = asyncio.run(llm._clients.here())
        client.close()
    else:
        llm.generate(ask())
        other = llm._clients.sync()
    assert type(other) is not kind
    assert other is not None
    assert (other.timeout, other.max_retries) == (12.5, 7)
    received = server.requests[0]
    assert received.path == "/v1/chat/completions?version=3"
    names = ("authorization", "openai-organization", "openai-project", "x-team")
    assert [received.headers[name] for name in names] == [f"Bearer {key}", "org-1", "proj-1", "search"]


@pytest.mark.parametrize("kind", [openai.AzureOpenAI, openai.AsyncAzureOpenAI])
@pytest.mark.parametrize("credentials", [{"api_key": "azure-key-123"}, {"azure_ad_token": "azure-token-123"}])
def test_azure_clients_serve_both_ways(ask: Any, kind: Any, credentials: dict[str, str]) -> None:
    with OpenAIServer(lambda body: TEXT) as server:
        client = kind(azure_endpoint=server.origin, azure_deployment="dep", api_version="2024-10-21", **credentials)
        llm = OpenAILLM("judge", client=client)
        assert llm.generate(ask()).value == TEXT
        assert asyncio.run(use_and_close(llm, ask)) == [TEXT]
        if kind is openai.AzureOpenAI:
            client.close()
        assert llm.identity["base_url"] == f"{server.origin}/openai/deployments/dep"
    secret = next(iter(credentials.values()))
    for received in server.requests:
        assert received.path == "/openai/deployments/dep/chat/completions?api-version=2024-10-21"
        assert secret in (received.headers.get("api-key"), received.headers.get("authorization", "")[len("Bearer ") :])
    assert secret in llm._clients.secrets


def test_a_sync_client_that_cannot_be_rebuilt_serves_async_code_from_a_thread(
    server: OpenAIServer, key: str, ask: Any
) -> None:
    threads = []

    class Traced(openai.OpenAI):
        def _prepare_request(self, request: Any) -> None:
            threads.append(threading.current_thread())

    with Traced(base_url=server.base_url, api_key=key) as client:
        assert asyncio.run(OpenAILLM("judge", client=client).agenerate(ask())).value == TEXT
    assert threads
    assert threading.main_thread() not in threads


def test_a_client_in_threads_answers_as_many_at_once_as_are_asked(server: OpenAIServer, key: str, ask: Any) -> None:
    """And its threads end with the process: one that still waits keeps nobody from leaving."""
    together = threading.Barrier(40, timeout=60)  # nobody is answered before all have asked

    def answer(body: Any) -> str:
        together.wait()
        return TEXT

    server.responder = answer
    daemons = []

    class Watched(openai.OpenAI):
        def _prepare_request(self, request: Any) -> None:
            daemons.append(threading.current_thread().daemon)

    with Watched(base_url=server.base_url, api_key=key) as client:
        llm = OpenAILLM("judge", client=client)

        async def main() -> list[Any]:
            return await asyncio.gather(*(llm.agenerate(ask(str(number))) for number in range(40)))

        assert len(asyncio.run(main())) == 40
    # asyncio's own pool has at most 32 threads, and CPU count + 4 mostly
    assert server.max_in_flight == 40
    assert daemons == [True] * 40


def test_a_call_in_a_thread_may_be_cancelled(server: OpenAIServer, key: str, ask: Any) -> None:
    """The thread is not waited for, and its late answer changes nothing."""
    late, before = threading.Event(), set(threading.enumerate())

    def answer(body: Any) -> str:
        late.wait(60)
        return TEXT

    server.responder = answer

    class Mine(openai.OpenAI):
        pass

    with Mine(base_url=server.base_url, api_key=key, max_retries=0) as client:
        llm = OpenAILLM("judge", client=client)

        async def main() -> str:
            task = asyncio.ensure_future(llm.agenerate(ask()))
            assert await until_async(lambda: bool(server.in_flight))
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            late.set()
            own = [thread for thread in set(threading.enumerate()) - before if thread.name == "ragmetrics-call"]
            assert await until_async(lambda: not server.in_flight and not any(map(threading.Thread.is_alive, own))), own
            assert len(server.requests) == 1
            return (await llm.agenerate(ask())).value

        assert asyncio.run(main()) == TEXT


def test_a_call_in_a_thread_fails_as_any_other(server: OpenAIServer, key: str, ask: Any) -> None:
    class Mine(openai.OpenAI):
        pass

    server.models = {"another"}
    with Mine(base_url=server.base_url, api_key=key) as client, pytest.raises(ModelError, match="no such model"):
        asyncio.run(OpenAILLM("judge", client=client).agenerate(ask()))


def test_an_async_client_that_cannot_be_rebuilt_keeps_to_its_first_loop(
    server: OpenAIServer, key: str, ask: Any
) -> None:
    client = openai.AsyncOpenAI(base_url=server.base_url, api_key=key, http_client=openai.DefaultAsyncHttpxClient())
    llm = OpenAILLM("judge", client=client)
    with pytest.raises(InvalidInput) as caught:
        llm.generate(ask())
    assert str(caught.value) == (
        "the AsyncOpenAI given as client cannot serve synchronous calls, because it is a subclass, or has its own http_client or "
        "credentials: use the asynchronous methods, or give an openai.OpenAI"
    )
    assert asyncio.run(use_and_close(llm, ask)) == [TEXT]
    with pytest.raises(InvalidInput) as caught:
        asyncio.run(llm.agenerate(ask()))
    assert str(caught.value) == (
        "the AsyncOpenAI given as client belongs to another event loop and cannot be rebuilt for this one, because it is a "
        "subclass or has its own http_client: give an openai.OpenAI, or make one model per event loop"
    )
