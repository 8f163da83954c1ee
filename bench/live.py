"""What live evaluation costs an application, with judges that answer, are slow, hang or raise.

The application is a chain of LangChain: a retriever, a prompt and a model that answers after 20 ms. Every cell runs in a process
of its own, and the cells of a round follow each other, so that a busy machine slows all of them.

``python bench/live.py serving`` sends 40 requests a second for a minute to each: without live evaluation (twice: the difference of
the two is the noise), with an empty handler of LangChain, and with each judge. ``burst`` sends 200 requests at once. ``soak`` sends
40 requests a second for half an hour while the judge turns from good to hung, to dead, and to good again, and checks that every
request is accounted for and that the memory does not grow.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import logging
import os
import statistics
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

from langchain_core.callbacks import AsyncCallbackHandler
from langchain_core.documents import Document
from langchain_core.language_models.fake_chat_models import FakeListChatModel
from langchain_core.output_parsers import StrOutputParser
from langchain_core.prompts import ChatPromptTemplate
from langchain_core.retrievers import BaseRetriever
from langchain_core.runnables import Runnable, RunnablePassthrough

from ragmetrics_core.metrics import Faithfulness
from ragmetrics_langchain import RagEvaluationCallback

NUMBERS = itertools.count()
"""Every question is another one, because equal calls are judged once."""

JUDGES = ("none", "none again", "listener", "good", "slow", "hung", "dead")
RATE = 40
PASSAGES = [f"Passage {number}: the lighthouse of Lindholm was built in {1860 + number}. " * 4 for number in range(4)]
CLAIMS = json.dumps({"claims": ["It was built in 1861."]})
VERDICTS = json.dumps({"verdicts": [{"number": 1, "reason": "Passage 1 says so.", "supported": True}]})


class Retriever(BaseRetriever):
    """Finds four passages at once."""

    def _get_relevant_documents(self, query: str, **_: Any) -> list[Document]:  # noqa: ARG002
        return [Document(text) for text in PASSAGES]

    async def _aget_relevant_documents(self, query: str, **_: Any) -> list[Document]:
        return self._get_relevant_documents(query)


def chain() -> Runnable[Any, Any]:
    """The application."""
    prompt = ChatPromptTemplate.from_template("{context}\n\n{question}")
    model = FakeListChatModel(responses=["It was built in 1861."], sleep=0.02)
    found = {"context": Retriever(), "question": RunnablePassthrough()}
    return (
        RunnablePassthrough.assign(answer=prompt | model | StrOutputParser()).with_config(run_name="rag").__ror__(found)
    )


class Judge:
    """An asynchronous judge; ``kind`` may change at any time."""

    kind = "good"

    async def agenerate(self, ask: Any) -> str:
        """Answer as the kind of judge does."""
        if self.kind == "hung":
            await asyncio.sleep(3600)
        if self.kind == "dead":
            raise RuntimeError("the judge is dead")
        await asyncio.sleep({"good": 0.0, "slow": 1.0}[self.kind])
        return (
            VERDICTS if "It was built" in ask.messages[-1].content and "number" in ask.messages[0].content else CLAIMS
        )


def evaluated(kind: str, **settings: Any) -> tuple[Any, Judge]:
    """A callback with a judge; None if there is none; an empty handler shows what LangChain takes to call any handler."""
    judge = Judge()
    judge.kind = kind
    if kind.startswith("none"):
        return None, judge
    if kind == "listener":
        return AsyncCallbackHandler(), judge
    return RagEvaluationCallback([Faithfulness()], llm=judge, keep=100, exit_timeout=0, **settings), judge


async def send(app: Runnable[Any, Any], number: int, config: Any, took: list[float]) -> None:
    """Make one request and note its seconds."""
    begun = time.perf_counter()
    await app.ainvoke(f"When was lighthouse {number} built?", config=config)
    took.append(time.perf_counter() - begun)


async def at_rate(app: Runnable[Any, Any], seconds: float, config: Any, took: list[float]) -> None:
    """Send requests at fixed times, however long they take."""
    loop = asyncio.get_running_loop()
    begun = loop.time()
    tasks = []
    for number in range(round(seconds * RATE)):
        await asyncio.sleep(max(0.0, begun + number / RATE - loop.time()))
        tasks.append(loop.create_task(send(app, next(NUMBERS), config, took)))
        if len(tasks) > 40:
            await tasks.pop(0)
    await asyncio.gather(*tasks)


def cell(kind: str, seconds: float) -> dict[str, float]:
    """The milliseconds of requests with one judge; a burst of 200 if ``seconds`` is 0."""
    callback, _ = evaluated(kind)
    config: Any = {} if callback is None else {"callbacks": [callback]}
    app, took = chain(), list[float]()

    async def run() -> None:
        warm: list[float] = []
        await at_rate(app, 1, config, warm)  # imports, caches
        if isinstance(callback, RagEvaluationCallback):
            await callback.aflush(3)
        if seconds:
            await at_rate(app, seconds, config, took)
        else:
            await asyncio.gather(*(send(app, next(NUMBERS), config, took) for _ in range(200)))

    asyncio.run(run())
    took.sort()
    return {
        name: took[place] * 1000
        for name, place in (("p50", len(took) // 2), ("p99", len(took) * 99 // 100), ("max", -1))
    }


def rounds(count: int, seconds: float) -> None:
    """Run every cell in each round, and print medians and differences."""
    found: dict[str, list[dict[str, float]]] = {kind: [] for kind in JUDGES}
    for number in range(count):
        for kind in JUDGES[number % 2 :] + JUDGES[: number % 2]:
            command = [sys.executable, __file__, "cell", "--judge", kind, "--seconds", str(seconds)]
            made = subprocess.run(command, check=True, capture_output=True, text=True)
            found[kind].append(json.loads(made.stdout.splitlines()[-1]))
    print(f"{count} rounds of {seconds:g} s at {RATE} requests/s" if seconds else f"{count} bursts of 200 requests")
    print(f"{'judge':12}{'p50 ms':>9}{'p99 ms':>9}{'max ms':>9}   median difference to none, of pairs")
    for kind, cells in found.items():
        middle = {name: statistics.median(each[name] for each in cells) for name in ("p50", "p99", "max")}
        differences = []
        for name in ("p50", "p99"):
            pairs = [each[name] - none[name] for each, none in zip(cells, found["none"], strict=True)]
            ratio = statistics.median(each[name] / none[name] for each, none in zip(cells, found["none"], strict=True))
            differences.append(
                f"{name} {statistics.median(pairs):+.2f} ms ({min(pairs):+.2f} to {max(pairs):+.2f}), x {ratio:.2f}"
            )
        print(f"{kind:12}{middle['p50']:9.2f}{middle['p99']:9.2f}{middle['max']:9.1f}   {'; '.join(differences)}")


def memory() -> float:
    """The megabytes that this process holds."""
    return int(Path("/proc/self/statm").read_text(encoding="ascii").split()[1]) * os.sysconf("SC_PAGESIZE") / 1e6


def soak(minutes: float) -> None:
    """Four phases of equal length; fails if a request raises, is not accounted for, or the memory grows by 10 MB."""
    callback, judge = evaluated("good", timeout=5.0)
    assert callback is not None
    app, held = chain(), list[float]()
    took = Counter[str]()

    async def run() -> None:
        for kind in ("good", "hung", "dead", "good"):
            judge.kind = kind
            for _ in range(max(1, round(minutes * 60 / 4 / 10))):
                times: list[float] = []
                await at_rate(app, 10, {"callbacks": [callback]}, times)
                took["seen"] += len(times)
                held.append(memory())
            print(
                f"{kind}: {held[-1]:.1f} MB, p50 {statistics.median(times) * 1000:.1f} ms, {callback.counts}",
                flush=True,
            )

    asyncio.run(run())
    callback.close(30)
    counts = callback.counts
    total = sum(counts[name] for name in ("scored", "failed", "missing", "timed_out", "dropped", "pending"))
    settled = held[len(held) * 5 // 30 :]  # five of thirty minutes
    print(f"seen {took['seen']}, accounted for {total}: {counts}")
    least, most = min(settled), max(settled)
    print(f"memory after a sixth of the time {settled[0]:.1f} MB, then {least:.1f} to {most:.1f}")
    assert total == took["seen"], "requests are not accounted for"
    assert most - settled[0] < 10, "the memory grows"


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=("serving", "burst", "soak", "cell"))
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--minutes", type=float, default=30.0)
    parser.add_argument("--judge", choices=JUDGES, default="none")
    given = parser.parse_args()
    logging.disable(logging.CRITICAL)
    if given.what == "cell":
        print(json.dumps(cell(given.judge, given.seconds)), flush=True)
        os._exit(0)  # threads that hang are not waited for
    elif given.what == "soak":
        soak(given.minutes)
    else:
        rounds(given.rounds, given.seconds if given.what == "serving" else 0.0)


if __name__ == "__main__":
    main()
