"""The end of a program whose calls are still being judged."""

from __future__ import annotations

import subprocess
import sys

import pytest

pytestmark = pytest.mark.slow

PROGRAM = """
import time
from langchain_core.runnables import RunnableLambda
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import RagEvaluationCallback

def judge(ask):
    time.sleep({seconds})
    return '{{"claims": []}}'

callback = RagEvaluationCallback([Faithfulness()], llm=ScriptedLLM(judge), exit_timeout={exit_timeout},
                                 on_result=lambda record: print(record.scores["faithfulness"].state + "\\n", end=""))
chain = RunnableLambda(lambda question: {{"answer": "a", "context": ["c"]}})
for _ in range(20):
    chain.invoke("q", config={{"callbacks": [callback]}})
"""

LOST = "20 of 20 evaluations not judged: 0 dropped, 20 pending, after 0.2 seconds: set exit_timeout=... or close(timeout=...)\n"


@pytest.mark.parametrize(
    ("seconds", "exit_timeout", "output", "logged"), [(0.05, 30, "unscored\n" * 20, ""), (1000, 0.2, "", LOST)]
)
def test_what_is_pending_is_finished_or_said_to_be_lost(
    seconds: float, exit_timeout: float, output: str, logged: str
) -> None:
    program = PROGRAM.format(seconds=seconds, exit_timeout=exit_timeout)
    result = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False, timeout=300)
    assert (result.returncode, result.stdout, result.stderr) == (0, output, logged)
