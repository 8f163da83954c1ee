"""A service that is evaluated while it runs, in uvicorn: the end of the service judges what is pending."""

from __future__ import annotations

import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest

APP = """
import logging, time
from contextlib import asynccontextmanager

from fastapi import FastAPI
from langchain_core.runnables import RunnableLambda

from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_langchain import RagEvaluationCallback

def judge(ask):
    time.sleep(SECONDS)
    return '{"claims": []}'

def note(record):
    with open("judged.txt", "a") as file:
        file.write(record.scores["faithfulness"].state + "\\n")

callback = RagEvaluationCallback([Faithfulness()], llm=ScriptedLLM(judge), on_result=note)
chain = RunnableLambda(lambda question: {"answer": "a", "context": ["c"]})

@asynccontextmanager
async def lifespan(app):
    yield
    await callback.aclose(timeout=TIMEOUT)

app = FastAPI(lifespan=lifespan)

@app.get("/ask")
async def ask(question: str):
    return (await chain.ainvoke(question, config={"callbacks": [callback]}))["answer"]
"""


def served(folder: Path, seconds: float, timeout: float) -> tuple[list[str], str]:
    """What was judged of 20 requests, and the log, after SIGTERM."""
    (folder / "app.py").write_text(f"SECONDS, TIMEOUT = {seconds}, {timeout}\n{APP}")
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = found.getsockname()[1]
    command = [sys.executable, "-m", "uvicorn", "app:app", "--port", str(port), "--log-level", "warning"]
    with subprocess.Popen(command, cwd=folder, stderr=subprocess.PIPE, text=True) as process:
        with httpx.Client(base_url=f"http://127.0.0.1:{port}", trust_env=False) as client:
            end = time.monotonic() + 120
            while True:
                try:
                    client.get("/ask", params={"question": "q0"})
                    break
                except httpx.ConnectError:
                    assert time.monotonic() < end
                    time.sleep(0.05)
            for number in range(1, 20):
                assert client.get("/ask", params={"question": f"q{number}"}).json() == "a"
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=300)
    judged = folder / "judged.txt"
    return judged.read_text().splitlines() if judged.exists() else [], log


@pytest.mark.skipif(sys.platform == "win32", reason="Windows has no SIGTERM that a server could handle")
class TestSigterm:
    def test_all_requests_are_judged(self, tmp_path: Path) -> None:
        judged, log = served(tmp_path, seconds=0.2, timeout=100)
        assert (judged, log) == (["unscored"] * 20, "")

    def test_what_is_not_judged_is_logged(self, tmp_path: Path) -> None:
        judged, log = served(tmp_path, seconds=1000, timeout=0.2)
        assert judged == []
        assert log.startswith("20 of 20 evaluations not judged: 0 dropped, 20 pending, after 0.2 seconds")
