"""What a call costs through each client of the OpenAI chat protocol: processor time of the client, and calls a second.

Run with ``python bench/llm_clients.py``. A server in another process answers every question at once, so what remains is the client.
All clients send the same messages with a JSON schema, 32 at a time; the rounds take turns, so that a busy machine slows all
alike; the medians are shown. Processor time is this process's own: the server's is not in it.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import importlib.metadata
import json
import multiprocessing
import platform
import statistics
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

import aiohttp
import openai

from ragmetrics_core import Ask, Prompt, Reply
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM
from ragmetrics_core.metrics import Faithfulness

IN_FLIGHT = 32
ANSWER = json.dumps(
    {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "judge",
        "choices": [
            {
                "index": 0,
                "message": {
                    "role": "assistant",
                    "content": json.dumps(
                        {"verdicts": [{"number": n, "reason": "It says so.", "supported": True} for n in range(1, 6)]}
                    ),
                    "refusal": None,
                },
                "logprobs": None,
                "finish_reason": "stop",
            }
        ],
        "usage": {"prompt_tokens": 700, "completion_tokens": 90, "total_tokens": 790},
    }
).encode()
RESPONSE = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(ANSWER), ANSWER)

Call = Callable[[], Awaitable[Any]]
Opened = Callable[[str], contextlib.AbstractAsyncContextManager[Call]]


class Answering(asyncio.Protocol):
    """Answers each request of a connection as soon as its body is there."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.received = b""

    def data_received(self, data: bytes) -> None:
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = self.received[:end].lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0])
            if len(self.received) < end + 4 + length:
                return
            self.received = self.received[end + 4 + length :]
            self.transport.write(RESPONSE)


def serve(ready: Connection) -> None:
    async def forever() -> None:
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    asyncio.run(forever())


@contextlib.contextmanager
def running_server() -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs,), daemon=True)
    process.start()
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def question() -> Ask:
    """A verification of five claims against three contexts."""
    prompt: Prompt[Any] = Faithfulness().verify
    contexts = [
        f"Passage {n}. " + "The tower stands on the left bank of the river, and it is painted anew. " * 6 for n in "123"
    ]
    data = {"claims": [f"The tower has {n} floors." for n in range(5)], "contexts": contexts}
    return Ask(prompt.messages(data), prompt.reply, prompt, data)


@contextlib.asynccontextmanager
async def bare(url: str) -> AsyncIterator[Call]:
    asked = question()
    async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

        async def call() -> Any:
            messages: Any = [{"role": message.role, "content": message.content} for message in asked.messages]
            schema: Any = {"type": "json_schema", "json_schema": {"name": "reply", "schema": asked.reply.schema}}
            answer = await client.chat.completions.create(model="judge", messages=messages, response_format=schema)
            return answer.choices[0].message.content

        yield call


@contextlib.asynccontextmanager
async def aiohttp_alone(url: str) -> AsyncIterator[Call]:
    asked = question()
    async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

        async def call() -> Any:
            messages = [{"role": message.role, "content": message.content} for message in asked.messages]
            schema = {"type": "json_schema", "json_schema": {"name": "reply", "schema": asked.reply.schema}}
            body = json.dumps({"model": "judge", "messages": messages, "response_format": schema})
            async with session.post(f"{url}/chat/completions", data=body.encode()) as response:
                return (await response.json())["choices"][0]["message"]["content"]

        yield call


def through(make: Callable[[str], OpenAILLM | OpenAIServerLLM]) -> Opened:
    @contextlib.asynccontextmanager
    async def opened(url: str) -> AsyncIterator[Call]:
        llm, asked = make(url), question()

        async def call() -> Reply[str]:
            return await llm.agenerate(asked)

        yield call

    return opened


CLIENTS: dict[str, Opened] = {
    "bare AsyncOpenAI loop": bare,
    "OpenAILLM": through(lambda url: OpenAILLM("judge", base_url=url, max_retries=0)),
    "OpenAIServerLLM": through(lambda url: OpenAIServerLLM(url, "judge")),
    "bare aiohttp loop": aiohttp_alone,
}


async def round_of(opened: Opened, url: str, calls: int) -> tuple[float, float]:
    """Milliseconds of processor time per call, and calls per second."""
    async with opened(url) as call:
        await asyncio.gather(*(call() for _ in range(IN_FLIGHT)))  # opens the connections
        left = iter(range(calls))

        async def worker() -> None:
            for _ in left:
                await call()

        wall, processor = time.perf_counter(), time.process_time()
        await asyncio.gather(*(worker() for _ in range(IN_FLIGHT)))
        processor, wall = time.process_time() - processor, time.perf_counter() - wall
    return processor / calls * 1000, calls / wall


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=2000, help="calls of each client in a round (default 2000)")
    parser.add_argument("--rounds", type=int, default=7, help="rounds, of which the median counts (default 7)")
    chosen = parser.parse_args()
    found: dict[str, list[tuple[float, float]]] = {name: [] for name in CLIENTS}
    with running_server() as url:
        for _ in range(chosen.rounds):
            for name, opened in CLIENTS.items():
                found[name].append(asyncio.run(round_of(opened, url, chosen.calls)))
    versions = ", ".join(f"{name} {importlib.metadata.version(name)}" for name in ("openai", "aiohttp"))
    print(
        f"Python {platform.python_version()}, {versions}; {IN_FLIGHT} in flight, {chosen.rounds} x {chosen.calls} calls"
    )
    medians = {name: [statistics.median(column) for column in zip(*rows, strict=True)] for name, rows in found.items()}
    floor = medians["bare AsyncOpenAI loop"][0]
    print(f"{'client':<24}{'CPU ms/call':>12}{'of the bare loop':>18}{'calls/s':>10}")
    for name, (processor, rate) in medians.items():
        print(f"{name:<24}{processor:>12.3f}{processor / floor:>18.2f}{rate:>10,.0f}")


if __name__ == "__main__":
    main()
