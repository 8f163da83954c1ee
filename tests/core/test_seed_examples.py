"""The documented examples of ragas' collections and NVIDIA metrics run here with only their import lines changed.

Each is run as it is written (``await scorer.ascore``) and with ``scorer.score``, from a plain script and inside a running loop,
with the asynchronous client of the example and with a synchronous one; through the real openai client, against a loopback server
that judges by what it is asked.
"""

from __future__ import annotations

import ast
import asyncio
import inspect
import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from loopback import OpenAIServer
from ragmetrics_core import Score
from ragmetrics_core.metrics import AnswerAccuracy, ContextRelevance, ResponseGroundedness

KEY = "sk-seed-0123456789"

IMPORTS = {
    "from ragas.llms import": "from ragmetrics_core.llms import",
    "from ragas.embeddings.base import": "from ragmetrics_core.embeddings import",
    "from ragas.metrics.collections import": "from ragmetrics_core.metrics import",
}

SETUP = """
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.metrics.collections import {metric}

# Setup LLM
client = AsyncOpenAI()
llm = llm_factory("gpt-4o-mini", client=client)

# Create metric
scorer = {metric}(llm=llm)
"""


@dataclass(frozen=True)
class Seed:
    """An example, and what it must lead to against the server below."""

    metric: str
    code: str
    value: float
    chats: int
    embeddings: int = 0
    setup: str = SETUP


SEEDS = [
    Seed(
        "Faithfulness",
        """
# Evaluate
result = await scorer.ascore(
    user_input="When was the first super bowl?",
    response="The first superbowl was held on Jan 15, 1967",
    retrieved_contexts=[
        "The First AFL–NFL World Championship Game was an American football game played on January 15, 1967, at the Los Angeles Memorial Coliseum in Los Angeles."
    ]
)
print(f"Faithfulness Score: {result.value}")
""",  # noqa: E501  as documented
        value=0.5,
        chats=2,
    ),
    Seed(
        "AnswerRelevancy",
        """
# Evaluate
result = await scorer.ascore(
    user_input="When was the first super bowl?",
    response="The first superbowl was held on Jan 15, 1967"
)
print(f"Answer Relevancy Score: {result.value}")
""",
        value=0.5,
        chats=1,
        embeddings=1,
        setup="""
from openai import AsyncOpenAI
from ragas.llms import llm_factory
from ragas.embeddings.base import embedding_factory
from ragas.metrics.collections import {metric}

# Setup LLM and embeddings
client = AsyncOpenAI()
llm = llm_factory("gpt-4o-mini", client=client)
embeddings = embedding_factory("openai", model="text-embedding-3-small", client=client)

# Create metric
scorer = {metric}(llm=llm, embeddings=embeddings)
""",
    ),
    Seed(
        "ContextPrecision",
        """
# Evaluate
result = await scorer.ascore(
    user_input="Where is the Eiffel Tower located?",
    reference="The Eiffel Tower is located in Paris.",
    retrieved_contexts=[
        "The Eiffel Tower is located in Paris.",
        "The Brandenburg Gate is located in Berlin."
    ]
)
print(f"Context Precision Score: {result.value}")
""",
        value=1.0,
        chats=2,
    ),
    Seed(
        "ContextRecall",
        """
# Evaluate
result = await scorer.ascore(
    user_input="Where is the Eiffel Tower located?",
    retrieved_contexts=["Paris is the capital of France."],
    reference="The Eiffel Tower is located in Paris."
)
print(f"Context Recall Score: {result.value}")
""",
        value=0.0,
        chats=2,
    ),
    Seed(
        "AnswerAccuracy",
        """
# Evaluate
result = await scorer.ascore(
    user_input="When was Einstein born?",
    response="Albert Einstein was born in 1879.",
    reference="Albert Einstein was born in 1879."
)
print(f"Answer Accuracy Score: {result.value}")
""",
        value=0.75,
        chats=2,
    ),
    Seed(
        "ContextRelevance",
        """
# Evaluate
result = await scorer.ascore(
    user_input="When and Where Albert Einstein was born?",
    retrieved_contexts=[
        "Albert Einstein was born March 14, 1879.",
        "Albert Einstein was born at Ulm, in Württemberg, Germany.",
    ]
)
print(f"Context Relevance Score: {result.value}")
""",
        value=0.75,
        chats=2,
    ),
    Seed(
        "ResponseGroundedness",
        """
# Evaluate
result = await scorer.ascore(
    response="Albert Einstein was born in 1879.",
    retrieved_contexts=[
        "Albert Einstein was born March 14, 1879.",
        "Albert Einstein was born at Ulm, in Württemberg, Germany.",
    ]
)
print(f"Response Groundedness Score: {result.value}")
""",
        value=0.25,
        chats=2,
    ),
]

RATINGS = {
    AnswerAccuracy().first.system: 4,
    AnswerAccuracy().second.system: 2,
    ContextRelevance().first.system: 2,
    ContextRelevance().second.system: 1,
    ResponseGroundedness().first.system: 0,
    ResponseGroundedness().second.system: 1,
}

QUESTIONS = ["When was the first super bowl held?", "What happened on Jan 15, 1967?", "Which bowl was held in 1967?"]
VECTORS = {
    "When was the first super bowl?": [1.0, 0.0, 0.0, 0.0],
    QUESTIONS[0]: [1.0, 0.0, 0.0, 0.0],  # cosine 1
    QUESTIONS[1]: [0.0, 1.0, 0.0, 0.0],  # cosine 0
    QUESTIONS[2]: [1.0, 1.0, 1.0, 1.0],  # cosine 1/2
}


def judge(body: dict[str, Any]) -> Any:
    """The answer, by the data that the last message holds."""
    system, data = body["messages"][0]["content"], json.loads(body["messages"][1]["content"])
    assert body["model"] == "gpt-4o-mini"
    if system in RATINGS:
        return f'{{"reason": "as the rubric says", "rating": {RATINGS[system]}}}'
    if "claims" in data:
        # the game's date is in the contexts, everything else is not
        rows = [(int(number), "1967" in claim) for number, claim in data["claims"].items()]
        return {"verdicts": [{"number": number, "reason": "because", "supported": found} for number, found in rows]}
    if "number_of_questions" in data:
        return {"questions": QUESTIONS, "noncommittal": False}
    if "context" in data:
        return {"reason": "because", "useful": "Eiffel" in data["context"]}
    if "Eiffel" in data["answer"]:
        return {"claims": ["The Eiffel Tower is located in Paris."]}
    return {"claims": ["The first superbowl was held in 1967.", "The first superbowl was held on a Sunday."]}


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(judge, api_key=KEY) as running:
        running.embedder = VECTORS.__getitem__
        monkeypatch.setenv("OPENAI_BASE_URL", running.base_url)
        monkeypatch.setenv("OPENAI_API_KEY", KEY)
        yield running


async def run_code(code: str) -> Score:
    """Run code as a notebook cell is run; whatever client it made is closed, as a careful script does."""
    names: dict[str, Any] = {}
    compiled = compile(code, "<example>", "exec", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    result = eval(compiled, names)
    if inspect.isawaitable(result):
        await result
    closing = names["client"].close()
    if inspect.isawaitable(closing):
        await closing
    return names["result"]


def run_script(code: str) -> Score:
    names: dict[str, Any] = {}
    exec(compile(code, "<example>", "exec"), names)
    closing = names["client"].close()
    if inspect.isawaitable(closing):
        asyncio.run(closing)
    return names["result"]


@pytest.mark.parametrize("client", ["AsyncOpenAI", "OpenAI"])
@pytest.mark.parametrize("way", ["ascore", "score", "score in a running loop"])
@pytest.mark.parametrize("seed", SEEDS, ids=lambda seed: seed.metric)
def test_seed_example(
    server: OpenAIServer, capsys: pytest.CaptureFixture[str], seed: Seed, way: str, client: str
) -> None:
    code = seed.setup.format(metric=seed.metric) + seed.code
    for theirs, ours in IMPORTS.items():
        code = code.replace(theirs, ours)
    code = code.replace("AsyncOpenAI", client)
    if way != "ascore":
        code = code.replace("await scorer.ascore", "scorer.score")
    result = run_script(code) if way == "score" else asyncio.run(run_code(code))

    assert result.value == seed.value
    assert capsys.readouterr().out.endswith(f" Score: {seed.value}\n")
    assert (len(server.chats), len(server.embedded)) == (seed.chats, seed.embeddings)
    assert result.usage.calls == seed.chats + seed.embeddings
    assert result.usage.prompt_tokens > 0
    assert {received.headers["authorization"] for received in server.requests} == {f"Bearer {KEY}"}
