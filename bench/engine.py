"""What a run over many samples costs: this engine, the bare clients underneath, and the peers that are installed, side by side.

Run with ``python bench/engine.py``. A server in another process speaks the OpenAI chat protocol and answers every call after a
fixed time. Each contender judges the faithfulness of the same samples in a process of its own, one after the other, in turns, with
a client made anew (connections do not outlive an event loop); the medians are shown. "of ideal" is wall time over calls x latency /
calls in flight; processor time and peak memory are the contender's own (without what importing it cost), calls and prompt
characters are counted by the server, which has a core of its own where there are several. "of bare" is processor time over that
of the first contender in the same round, the median of these pairs: a busy machine slows both.

With ``--latency 0`` only the processor counts.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import functools
import importlib.util
import json
import multiprocessing
import os
import platform
import resource
import selectors
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from multiprocessing.connection import Connection
from typing import Any

CLAIMS = ["The tower has three floors.", "It stands on the left bank.", "It is painted anew."]
EXTRACTED = json.dumps({"claims": CLAIMS})
VERIFIED = json.dumps(
    {"verdicts": [{"number": n, "reason": "A passage says so.", "supported": True} for n in range(1, len(CLAIMS) + 1)]}
)
REPLIES: dict[str, Callable[[str], str]] = {
    "ragmetrics": lambda user: VERIFIED if '"claims"' in user else EXTRACTED,
    "haystack": lambda _: json.dumps({"statements": CLAIMS, "statement_scores": [1] * len(CLAIMS)}),
    "llama-index": lambda _: "YES",
    "ragas": lambda user: (
        json.dumps({"statements": [{"statement": text, "reason": "It says so.", "verdict": 1} for text in CLAIMS]})
        if "verdict" in user
        else json.dumps({"statements": CLAIMS})
    ),
}
"""What the server says to each contender, who comes under its name as the model."""

USAGE = {"prompt_tokens": 700, "completion_tokens": 90, "total_tokens": 790}


class Answering(asyncio.Protocol):
    """Answers each request of a connection after the latency; ``GET`` tells what was counted, and starts anew."""

    latency = 0.0
    calls = characters = 0

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport: Any = transport
        self.received = bytearray()

    def data_received(self, data: bytes) -> None:
        loop = asyncio.get_running_loop()
        due = loop.time() + Answering.latency  # the server's own work is done meanwhile
        self.received += data
        while (end := self.received.find(b"\r\n\r\n")) >= 0:
            head = bytes(self.received[:end]).lower()
            length = int(head.split(b"content-length:")[1].split(b"\r\n")[0]) if b"content-length:" in head else 0
            if len(self.received) < end + 4 + length:
                return
            body = bytes(self.received[end + 4 : end + 4 + length])
            del self.received[: end + 4 + length]
            if head.startswith(b"get"):
                counted = {"calls": Answering.calls, "characters": Answering.characters}
                Answering.calls = Answering.characters = 0
                self.transport.write(response(counted))
            elif Answering.latency:
                loop.call_at(due, self.transport.write, response(answer(body)))
            else:
                self.transport.write(response(answer(body)))


def response(value: dict[str, Any]) -> bytes:
    data = json.dumps(value).encode()
    return b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s" % (len(data), data)


MOST_IN_FLIGHT = 900  # a process may mostly open 1024 files

CORES = sorted(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else []


def keep_to(cores: list[int]) -> None:
    """The server and the one that it serves must not take each other's processor time, nor each other's caches."""
    if len(CORES) > 1:
        os.sched_setaffinity(0, cores)


def answer(body: bytes) -> dict[str, Any]:
    asked = json.loads(body)
    texts = [message["content"] for message in asked["messages"]]
    Answering.calls += 1
    Answering.characters += sum(map(len, texts))
    message = {"role": "assistant", "content": REPLIES[asked["model"]](texts[-1])}
    choice = {"index": 0, "message": message, "logprobs": None, "finish_reason": "stop"}
    return {
        "id": "c",
        "object": "chat.completion",
        "created": 1,
        "model": asked["model"],
        "choices": [choice],
        "usage": USAGE,
    }


class Polling(selectors.DefaultSelector):
    """Looks again at once instead of sleeping: what a machine takes to wake the server up, and to round its timers, is not what
    is measured here, but every call would be charged with it."""

    def select(self, timeout: float | None = None) -> list[tuple[selectors.SelectorKey, int]]:
        return super().select(timeout if len(CORES) < 2 else 0)


def serve(ready: Connection, latency: float) -> None:
    async def forever() -> None:
        Answering.latency = latency
        server = await asyncio.get_running_loop().create_server(Answering, "127.0.0.1", 0, backlog=1024)
        ready.send(server.sockets[0].getsockname()[1])
        await server.serve_forever()

    keep_to(CORES[-1:])
    asyncio.SelectorEventLoop(Polling()).run_until_complete(forever())


@contextlib.contextmanager
def running_server(latency: float) -> Iterator[str]:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=serve, args=(theirs, latency), daemon=True)
    process.start()
    theirs.close()  # or a server that died would be waited for
    try:
        yield f"http://127.0.0.1:{ours.recv()}/v1"
    finally:
        process.terminate()
        process.join()


def samples(count: int) -> list[dict[str, Any]]:
    passage = "The tower stands on the left bank of the river, has three floors, and is painted anew. " * 6
    return [
        {
            "user_input": f"What about tower {number}?",
            "response": f"Tower {number} has three floors, stands on the left bank and is painted anew.",
            "retrieved_contexts": [f"Passage {number}.{part} {passage}" for part in range(3)],
        }
        for number in range(count)
    ]


Work = Callable[[list[dict[str, Any]]], object]


@functools.cache
def prompts() -> tuple[Any, Any]:
    from ragmetrics_core.metrics import Faithfulness

    return Faithfulness().extract, Faithfulness().verify


def requests(row: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """What this engine sends for a sample."""
    first = {"question": row["user_input"], "answer": row["response"]}
    second = {"contexts": row["retrieved_contexts"], "claims": CLAIMS}
    for prompt, data in zip(prompts(), (first, second), strict=True):
        messages = [{"role": item.role, "content": item.content} for item in prompt.messages(data)]
        form = {"type": "json_schema", "json_schema": {"name": "reply", "schema": prompt.reply.schema}}
        yield {"model": "ragmetrics", "messages": messages, "response_format": form}


async def ask_all(rows: list[dict[str, Any]], in_flight: int, send: Callable[[dict[str, Any]], Awaitable[Any]]) -> None:
    """The requests of all samples, those of one sample one after the other, so many samples at a time."""
    left = iter(rows)

    async def worker() -> None:
        for row in left:
            for request in requests(row):
                await send(request)

    await asyncio.gather(*(worker() for _ in range(in_flight)))


def bare_openai(schema: bool) -> Callable[[str, int], Work]:
    """The same requests, sent by the openai client alone; with the schema of the reply, or without any."""

    def make(url: str, in_flight: int) -> Work:
        import openai

        async def run(rows: list[dict[str, Any]]) -> None:
            async with openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0) as client:

                async def send(request: dict[str, Any]) -> None:
                    if not schema:
                        del request["response_format"]
                    await client.chat.completions.create(**request)

                await ask_all(rows, in_flight, send)

        return lambda rows: asyncio.run(run(rows))

    return make


def bare_aiohttp(url: str, in_flight: int) -> Work:
    """The same requests, sent by aiohttp alone."""
    import aiohttp

    async def run(rows: list[dict[str, Any]]) -> None:
        async with aiohttp.ClientSession(connector=aiohttp.TCPConnector(limit=0)) as session:

            async def send(request: dict[str, Any]) -> None:
                async with session.post(f"{url}/chat/completions", json=request) as response:
                    json.loads(await response.read())

            await ask_all(rows, in_flight, send)

    return lambda rows: asyncio.run(run(rows))


def ours(lean: bool, journal: bool = False) -> Callable[[str, int], Work]:
    def make(url: str, in_flight: int) -> Work:
        from ragmetrics_core import evaluate
        from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM
        from ragmetrics_core.metrics import Faithfulness

        def work(rows: list[dict[str, Any]]) -> None:
            llm = OpenAIServerLLM(url, "ragmetrics") if lean else OpenAILLM("ragmetrics", base_url=url)
            with tempfile.TemporaryDirectory() as folder:
                found = evaluate(
                    rows,
                    Faithfulness(),
                    llm=llm,
                    max_concurrency=in_flight,
                    progress=False,
                    run_dir=folder if journal else None,
                )
                assert all(score.value == 1 for score in found.scores["faithfulness"])

        return work

    return make


def haystack(url: str, in_flight: int) -> Work:
    from haystack.components.evaluators import FaithfulnessEvaluator
    from haystack.components.generators.chat import OpenAIChatGenerator
    from haystack.utils import Secret

    form = {"response_format": {"type": "json_object"}}

    def work(rows: list[dict[str, Any]]) -> None:
        key = Secret.from_token("none")
        generator = OpenAIChatGenerator(model="haystack", api_base_url=url, api_key=key, generation_kwargs=form)
        evaluator = FaithfulnessEvaluator(chat_generator=generator, progress_bar=False)
        columns = {
            "questions": [row["user_input"] for row in rows],
            "contexts": [row["retrieved_contexts"] for row in rows],
            "predicted_answers": [row["response"] for row in rows],
        }
        found = asyncio.run(evaluator.run_async(**columns)) if in_flight > 1 else evaluator.run(**columns)
        assert found["score"] == 1

    return work


def llama_index(url: str, in_flight: int) -> Work:
    from llama_index.core.evaluation import BatchEvalRunner, FaithfulnessEvaluator
    from llama_index.llms.openai_like import OpenAILike

    settings: dict[str, Any] = {"api_key": "none", "is_chat_model": True, "context_window": 32000}

    def work(rows: list[dict[str, Any]]) -> None:
        llm = OpenAILike(model="llama-index", api_base=url, **settings)
        runner = BatchEvalRunner({"faithfulness": FaithfulnessEvaluator(llm=llm)}, workers=in_flight)
        columns = [[row[name] for row in rows] for name in ("user_input", "response", "retrieved_contexts")]
        found = asyncio.run(runner.aevaluate_response_strs(*columns))
        assert all(item.score == 1 for item in found["faithfulness"])

    return work


def ragas(url: str, in_flight: int) -> Work:
    import openai
    from ragas.llms import llm_factory
    from ragas.metrics.collections import Faithfulness

    def work(rows: list[dict[str, Any]]) -> None:
        async def run() -> None:
            client = openai.AsyncOpenAI(base_url=url, api_key="none", max_retries=0)
            metric = Faithfulness(llm=llm_factory("ragas", client=client))
            left = iter(rows)

            async def worker() -> None:
                for row in left:
                    await metric.ascore(**row)

            await asyncio.gather(*(worker() for _ in range(in_flight)))

        asyncio.run(run())

    return work


CONTENDERS: dict[str, tuple[str | None, Callable[[str, int], Work]]] = {
    "bare AsyncOpenAI, no schema": ("openai", bare_openai(schema=False)),
    "bare AsyncOpenAI loop": ("openai", bare_openai(schema=True)),
    "bare aiohttp loop": ("aiohttp", bare_aiohttp),
    "ragmetrics, OpenAILLM": ("openai", ours(lean=False)),
    "ragmetrics, OpenAIServerLLM": ("aiohttp", ours(lean=True)),
    "the same, with a journal": ("aiohttp", ours(lean=True, journal=True)),
    "Haystack": ("haystack", haystack),
    "LlamaIndex": ("llama_index.llms", llama_index),
    "ragas": ("ragas", ragas),
}


def contend(name: str, url: str, in_flight: int, count: int, done: Connection) -> None:
    """One contender in a process of its own: wall seconds, processor seconds, megabytes above the start."""
    keep_to(CORES[:-1])
    work = CONTENDERS[name][1](url, in_flight)
    work(samples(in_flight))  # imports, connections, the form of reply that the server takes
    urllib.request.urlopen(url).read()
    rows = samples(count)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wall, processor = time.perf_counter(), time.process_time()
    work(rows)
    processor, wall = time.process_time() - processor, time.perf_counter() - wall
    done.send((wall, processor, (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - memory) / 1024))


def measure(name: str, url: str, in_flight: int, count: int, latency: float) -> list[float] | None:
    context = multiprocessing.get_context("spawn")
    ours, theirs = context.Pipe()
    process = context.Process(target=contend, args=(name, url, in_flight, count, theirs))
    process.start()
    theirs.close()
    try:
        wall, processor, memory = ours.recv()
    except EOFError:
        return None
    finally:
        process.join()
    counted = json.loads(urllib.request.urlopen(url).read())
    calls = counted["calls"]
    ideal = calls * latency / in_flight
    return [
        wall / ideal if ideal else wall,
        processor / calls * 1000,
        memory,
        calls / count,
        counted["characters"] / count,
    ]


def installed(package: str | None) -> bool:
    with contextlib.suppress(ModuleNotFoundError):
        return package is None or importlib.util.find_spec(package) is not None
    return False


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", type=int, default=500)
    parser.add_argument("--latency", type=float, default=0.05, help="seconds (default 0.05)")
    parser.add_argument("--in-flight", type=int, default=32)
    parser.add_argument("--rounds", type=int, default=3, help="of which the median counts")
    parser.add_argument(
        "--only", default="", help="names of contenders that hold one of these texts, with commas between"
    )
    chosen = parser.parse_args()
    if chosen.in_flight > MOST_IN_FLIGHT:
        parser.error(f"the server takes at most {MOST_IN_FLIGHT} calls at once")
    wanted = [text for text in chosen.only.split(",") if text]
    names = [name for name, (package, _) in CONTENDERS.items() if installed(package)]
    names = [name for name in names if not wanted or any(text in name for text in wanted)]
    found: dict[str, list[list[float]]] = {name: [] for name in names}
    with running_server(chosen.latency) as url:
        for _ in range(chosen.rounds):
            floor: list[float] | None = None
            for number, name in enumerate(names):
                row = measure(name, url, chosen.in_flight, chosen.samples, chosen.latency)
                floor = row if number == 0 else floor
                if row:
                    found[name].append([*row, row[1] / floor[1] if floor else float("nan")])
    print(
        f"Python {platform.python_version()}; {chosen.samples} samples, {chosen.in_flight} in flight, "
        f"latency {chosen.latency:g} s, {chosen.rounds} rounds"
    )
    wall = "of ideal" if chosen.latency else "wall s"
    print(
        f"{'contender':<30}{wall:>10}{'CPU ms/call':>13}{'of bare':>9}{'peak MB':>9}{'calls/sample':>14}{'prompt chars':>14}"
    )
    for name, rows in found.items():
        if not rows:
            print(f"{name:<30}{'failed':>10}")
            continue
        medians = (statistics.median(column) for column in zip(*rows, strict=True))
        ratio, processor, memory, calls, characters, bare = medians
        print(f"{name:<30}{ratio:>10.3f}{processor:>13.3f}{bare:>9.3f}{memory:>9.1f}{calls:>14.2f}{characters:>14,.0f}")


if __name__ == "__main__":
    main()
