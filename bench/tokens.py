"""What five metrics cost on one row, in tokens: ours, and beside them those of ragas, if it is installed; and where ours go.

    python bench/tokens.py [--encoding o200k_base]

Needs openai and tiktoken; the encoding's file must be there, or a network (TIKTOKEN_CACHE_DIR names a folder that holds it).
No model is asked: a stand-in at the client's transport answers every question with as many claims, verdicts and words of
reason for either library, and counts the messages that were sent and the replies. One row: five contexts of 150 words, an
answer and a reference of 80 words, six claims in each. (ragas 0.4.3 cannot be imported without ``langchain-community<0.4``.)
``schemas`` are the tokens of the JSON schemas that go along with the messages; ``total`` is without them.
"""

from __future__ import annotations

import argparse
import asyncio
import importlib.util
import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx
import openai
import tiktoken
from prose import prose

from ragmetrics_core import Prompt, evaluate
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import OpenAILLM
from ragmetrics_core.metrics import (
    AnswerRelevancy,
    ContextPrecision,
    ContextRecall,
    FactualCorrectness,
    Faithfulness,
    ragchecker_metrics,
)

CLAIMS = 6


def words(count: int, start: int = 0) -> str:
    """So many words of prose."""
    return prose(count, start).capitalize() + "."


ROW: Mapping[str, Any] = {
    "user_input": "When was the old harbour of the town rebuilt, and which boats can land there?",
    "response": words(80, 3),
    "reference": words(80, 11),
    "retrieved_contexts": [words(150, 7 * index) for index in range(5)],
}
CLAIMS_OF = {
    text: [words(12, 5 * index + shift) for index in range(CLAIMS)]
    for shift, text in ((0, ROW["response"]), (1, ROW["reference"]))
}
REASON = words(12, 2)


@dataclass
class Bill:
    """Calls, and tokens of messages and of replies."""

    count: Callable[[str], int]
    calls: int = 0
    sent: int = 0
    received: int = 0
    schemas: int = 0
    parts: Counter[str] = field(default_factory=Counter)

    @property
    def total(self) -> int:
        return self.sent + self.received

    def answer(self, request: httpx.Request) -> httpx.Response:
        """Answer as a server does, and count."""
        body = json.loads(request.content)
        texts = [message["content"] for message in body["messages"]]
        reply = json.dumps(reply_to("\n".join(texts), body))
        self.calls += 1
        self.sent += sum(self.count(text) for text in texts)
        self.received += self.count(reply)
        self.schemas += self.count(json.dumps(body["response_format"])) if "response_format" in body else 0
        self.parts.update({part: self.count(text) for part, text in parts_of(texts[0], texts[-1], reply)})
        message = {"role": "assistant", "content": reply}
        choice = {"index": 0, "finish_reason": "stop", "message": message}
        return httpx.Response(
            200, json={"id": "x", "object": "chat.completion", "created": 0, "model": "m", "choices": [choice]}
        )


def parts_of(system: str, data: str, reply: str) -> Iterable[tuple[str, str]]:
    """What the messages of one of our calls are made of."""
    instructions, _, rest = system.partition(Prompt.notice)
    form, _, examples = rest.partition("Example 1")
    parts = {"instructions": instructions, "guard": Prompt.notice, "form of the reply": form, "examples": examples}
    return {**parts, "data": data, "reply": reply}.items()


def reply_to(prompt: str, body: Mapping[str, Any]) -> Any:
    """As many claims and verdicts for either library, told apart by the form that the prompt asks for."""
    claims = next((claims for text, claims in CLAIMS_OF.items() if text in prompt), CLAIMS_OF[ROW["response"]])
    verdicts = [{"statement": claim, "reason": REASON, "verdict": 1} for claim in claims]
    ours = [{"number": number, "reason": REASON, "for": [1], "against": []} for number in range(1, CLAIMS + 1)]
    rag = {
        "StatementGeneratorOutput": {"statements": claims},
        "ClaimDecompositionOutput": {"claims": claims},
        "NLIStatementOutput": {"statements": verdicts},
        "ContextPrecisionOutput": {"reason": REASON, "verdict": 1},
        "ContextRecallOutput": {
            "classifications": [{"statement": claim, "reason": REASON, "attributed": 1} for claim in claims]
        },
        "AnswerRelevanceOutput": {"question": ROW["user_input"], "noncommittal": 0},
    }
    for title, reply in rag.items():
        if f'"title": "{title}"' in prompt:
            return reply
    schema = json.dumps(body.get("response_format", {}))
    if '"verdicts"' in schema and '"useful"' in schema:
        contexts = range(1, len(ROW["retrieved_contexts"]) + 1)
        return {"verdicts": [{"number": number, "reason": REASON, "useful": True} for number in contexts]}
    if '"verdicts"' in schema:
        return {"verdicts": ours}
    if '"claims"' in schema:
        return {"claims": claims}
    if '"useful"' in schema:
        return {"reason": REASON, "useful": True}
    if '"questions"' in schema:
        return {"questions": [ROW["user_input"]] * 3, "noncommittal": False}
    raise ValueError(f"no reply for {schema or prompt[:300]}")


def client_of(bill: Bill) -> openai.AsyncOpenAI:
    transport = httpx.MockTransport(bill.answer)
    return openai.AsyncOpenAI(
        api_key="none", base_url="http://none/v1", http_client=httpx.AsyncClient(transport=transport), max_retries=0
    )


FIVE = [Faithfulness(), ContextPrecision(), ContextRecall(), FactualCorrectness(), AnswerRelevancy()]
AT_ONCE = [metric if metric.name != "context_precision" else ContextPrecision(per_passage=False) for metric in FIVE]


def ours(bill: Bill, metrics: Any) -> None:
    """One run of ours; questions that metrics share are asked once."""
    llm = OpenAILLM("m", client=client_of(bill))
    evaluate([ROW], metrics, llm=llm, embeddings=HashingEmbeddings(), progress=False).raise_for_errors()


def ragas(bill: Bill) -> None:
    """The five of ragas' collections."""
    from ragas.embeddings.base import BaseRagasEmbedding
    from ragas.llms import llm_factory
    from ragas.metrics import collections

    class Vectors(BaseRagasEmbedding):
        def embed_text(self, text: str, **_: Any) -> list[float]:
            return [1.0, float(len(text))]

        async def aembed_text(self, text: str, **_: Any) -> list[float]:
            return self.embed_text(text)

    async def run() -> None:
        llm = llm_factory("gpt-4o-mini", client=client_of(bill))
        one, two, three = (ROW[name] for name in ("user_input", "response", "reference"))
        contexts = ROW["retrieved_contexts"]
        await collections.Faithfulness(llm=llm).ascore(one, two, contexts)
        await collections.ContextPrecision(llm=llm).ascore(one, three, contexts)
        await collections.ContextRecall(llm=llm).ascore(one, contexts, three)
        await collections.FactualCorrectness(llm=llm).ascore(two, three)
        await collections.AnswerRelevancy(llm=llm, embeddings=Vectors()).ascore(one, two)

    asyncio.run(run())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--encoding", default="o200k_base")
    encoding = tiktoken.get_encoding(parser.parse_args().encoding)

    def bill() -> Bill:
        return Bill(lambda text: len(encoding.encode(text, disallowed_special=())))

    rows: list[tuple[str, Bill]] = []
    for name, metrics in [
        ("ragmetrics, the five", FIVE),
        *((f"  {metric.name}", metric) for metric in FIVE),
        ("the five, per_passage=False", AT_ONCE),
        ("  context_precision so", AT_ONCE[1]),
        ("ragmetrics, RAGChecker's eleven", ragchecker_metrics()),
    ]:
        rows.append((name, bill()))
        ours(rows[-1][1], metrics)
    if importlib.util.find_spec("ragas"):
        rows.append(("ragas, the five", bill()))
        ragas(rows[-1][1])
    base = rows[0][1]
    print(f"{'':34}{'calls':>7}{'sent':>9}{'received':>10}{'total':>9}{'of ours':>9}{'schemas':>9}{'of ours':>9}")
    for name, found in rows:
        share, whole = found.total / base.total, (found.total + found.schemas) / (base.total + base.schemas)
        print(
            f"{name:34}{found.calls:7}{found.sent:9,}{found.received:10,}{found.total:9,}{share:9.3f}{found.schemas:9,}{whole:9.3f}"
        )
    print("\nwhere the tokens of the five go")
    for part, count in base.parts.items():
        print(f"  {part:32}{count:9,}{count / base.total:9.1%}")


if __name__ == "__main__":
    main()
