"""Batches over the real client, against a server that counts how often each question is paid and fails on request."""

from __future__ import annotations

import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import openai
import pytest
from openai.types import FileObject

from core.cli.calling import call
from ragmetrics_core import Batch, InvalidInput, ModelError, RagmetricsError, evaluate
from ragmetrics_core.llms import OpenAILLM, OpenAIServerLLM
from waiting import until

ROWS = [
    {
        "user_input": f"question {n}",
        "response": f"The answer is {n}. It is a number.",
        "retrieved_contexts": [f"A context about {n}.", "Another."],
        "reference": f"It is {n}.",
    }
    for n in range(12)
]
METRICS = ["faithfulness", "answer_accuracy"]
QUICK = Batch(poll=0.05, grace=0.5)


class Server:
    """The server in a separate process."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        self._origin = f"http://127.0.0.1:{json.loads(process.stdout.readline())['port']}"
        self.url = f"{self._origin}/v1"
        self._options = self._ask("config")

    def _ask(self, what: str, sent: dict[str, Any] | None = None) -> Any:
        data = None if sent is None else json.dumps(sent).encode()
        request = urllib.request.Request(f"{self._origin}/control/{what}", data, {"Content-Type": "application/json"})
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def control(self, **options: Any) -> None:
        self._ask("config", options)

    def reset(self) -> None:
        self._ask("reset", {})
        self.control(**self._options)

    def paid(self) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("paid")
        return found


@pytest.fixture(scope="module")
def running(batch_server: Path) -> Iterator[Server]:
    command = [sys.executable, str(batch_server), "--config", '{"in_progress": 0.05}']
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        yield Server(process)
        process.kill()


@pytest.fixture
def server(running: Server) -> Server:
    running.reset()
    return running


@pytest.fixture
def model(server: Server) -> OpenAILLM:
    return OpenAILLM("judge", base_url=server.url, temperature=0.0, extra_body={"top_k": 1})


def scores(path: Path) -> list[Any]:
    lines = [json.loads(line) for line in (path / "scores.jsonl").read_text().splitlines()]
    for score in (score for line in lines for score in line["scores"].values()):
        del score["usage"]
    return lines


FAILURES: list[dict[str, Any]] = [
    {},
    {"create_reset_after": 1, "metadata": "dropped", "download_broken": 1, "download_short": 1, "line_500": 0.1},
    {"order": "reversed", "empty_ids": "", "line_duplicate": 0.5, "line_foreign": 0.5},
    {"upload_5xx_before": 1, "upload_5xx_after": 1, "retrieve_5xx": 4, "download_5xx": 4},
    {"create_5xx_before": 1},
    {"create_5xx_after": 1, "list_5xx": 4},
    {"create_429": 1, "retrieve_429": 4},
    {"create_5xx_after": 1, "list_lag": 0.2},
    {"fail_validation": 1, "fail_code": "invalid_json_line"},
    {"expire": 1, "line_500": 0.2, "errors_in_output": True},
    {"line_429": 0.2, "line_missing": 0.1, "line_garbled": 0.1},
    {"enqueued_token_limit": 5000},
    {"enqueued_token_limit": 5000, "full_is_429": True},
    {"expire": 1, "create_reset_after": 1, "download_short": 1, "line_500": 0.1, "retrieve_5xx": 1, "online_500": 0.3},
]


SLOW = [pytest.param(failures, marks=pytest.mark.slow) for failures in FAILURES[2:]]


@pytest.mark.parametrize("failures", [*FAILURES[:2], *SLOW], ids=lambda failures: "+".join(failures) or "none")
def test_scores_are_those_of_a_run_online_and_nothing_is_paid_twice(
    tmp_path: Path, server: Server, model: OpenAILLM, failures: dict[str, Any]
) -> None:
    evaluate(ROWS, METRICS, llm=model, run_dir=tmp_path / "online", progress=False)
    server.reset()
    server.control(**failures)
    evaluate(ROWS, METRICS, llm=model, run_dir=tmp_path / "batches", progress=False, batch=QUICK)
    assert scores(tmp_path / "batches") == scores(tmp_path / "online")
    paid = server.paid()
    assert paid["paid_more_than_once"] == paid["undelivered"]


@pytest.mark.parametrize("kind", ["server", "key", "azure", "client"])
def test_each_model_that_has_batches(tmp_path: Path, server: Server, kind: str) -> None:
    server.control(api_key="sk-secret-1234567890")
    url, key = server.url, "sk-secret-1234567890"
    azure = openai.AzureOpenAI(azure_endpoint=url.removesuffix("/v1"), api_version="2024-10-21", api_key=key)
    model: Any = {
        "server": OpenAIServerLLM(url, "judge", api_key=key),
        "key": OpenAILLM("judge", base_url=url, api_key=key),
        "azure": OpenAILLM("judge", client=azure),
        "client": OpenAILLM("judge", client=openai.AsyncOpenAI(base_url=url, api_key=key)),
    }[kind]
    result = evaluate(ROWS[:3], METRICS, llm=model, run_dir=tmp_path, progress=False, batch=QUICK)
    assert result.stopped is None
    assert server.paid()["by"]["batch"] > 0
    assert not any(key in path.read_text(errors="replace") for path in tmp_path.rglob("*") if path.is_file())


def test_a_server_without_batches(tmp_path: Path, model: OpenAILLM, server: Server) -> None:
    model = OpenAILLM("judge", base_url=server.url.replace("/v1", "/other/v1"))
    with pytest.raises(InvalidInput) as refused:
        evaluate(ROWS, METRICS, llm=model, run_dir=tmp_path, progress=False, batch=QUICK)
    assert str(refused.value) == (
        f"judge: {server.url.replace('/v1', '/other/v1')} has no batches: leave out batch, or use another model"
    )
    assert server.paid()["paid"] == 0


def test_a_list_that_is_not_there_stops_a_doubt(tmp_path: Path, model: OpenAILLM, server: Server) -> None:
    server.control(create_5xx_after=1, listing=False)
    with pytest.raises(RagmetricsError, match="and the batches cannot be listed"):
        evaluate(ROWS, METRICS, llm=model, run_dir=tmp_path, progress=False, batch=QUICK)


def test_a_file_without_a_size(
    tmp_path: Path, model: OpenAILLM, server: Server, monkeypatch: pytest.MonkeyPatch
) -> None:
    def retrieve(_: object, file: str) -> FileObject:
        return FileObject.construct(id=file)

    with monkeypatch.context() as patched:
        patched.setattr(openai.resources.Files, "retrieve", retrieve)
        with pytest.raises(ModelError) as stopped:
            evaluate(ROWS[:2], METRICS, llm=model, run_dir=tmp_path, progress=False, batch=QUICK)
    said = str(stopped.value)
    assert said.startswith(
        f"judge: the answer of {server.url} does not follow the OpenAI protocol (it does not say how many bytes "
    )
    assert evaluate(ROWS[:2], METRICS, llm=model, run_dir=tmp_path, progress=False, batch=QUICK).stopped is None


def test_a_batch_that_was_deleted(tmp_path: Path, model: OpenAILLM, server: Server) -> None:
    evaluate(ROWS, METRICS, llm=model, run_dir=tmp_path, progress=False, batch=Batch(poll=0.05, wait=False))
    server.reset()
    with pytest.raises(RagmetricsError) as stopped:
        evaluate(ROWS, METRICS, llm=model, run_dir=tmp_path, progress=False, batch=QUICK)
    (batch,) = json.loads((tmp_path / "batches" / "ledger.json").read_text())["submissions"]
    unknown = (
        f"judge: {server.url} does not know {batch['batch']}: it was deleted, or belongs to the project of another key; its "
        "questions may be paid for"
    )
    assert str(stopped.value) == (
        f"questions are left after 1 wave of batches (the last problem: {unknown}): ask the rest online "
        "with batch=Batch(finish_online=True)"
    )
    cancelled = call("batches", tmp_path, "--cancel", "--llm", "openai:judge", "--base-url", server.url)
    assert (cancelled.exit_code, " ".join(cancelled.stderr.split())) == (2, f"ragmetrics: {unknown}")
    finished = evaluate(
        ROWS, METRICS, llm=model, run_dir=tmp_path, progress=False, batch=Batch(poll=0.05, finish_online=True)
    )
    assert finished.stopped is None
    assert "batch" not in server.paid()["by"]


def test_the_commands(tmp_path: Path, server: Server) -> None:
    data, run_dir = tmp_path / "rows.jsonl", tmp_path / "run"
    data.write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    model = ("--llm", "openai:judge", "--base-url", server.url)
    command = ("evaluate", data, "-m", "answer_accuracy", *model, "--run-dir", run_dir)
    server.control(in_progress=30.0)
    sent = call(*command, "--batch", "--no-wait")
    assert sent.exit_code == 4
    assert sent.stderr.startswith(
        "ragmetrics: submitted: wave 1, 1 of 1 batches created, 0 of 23 lines answered, submitted "
    )
    priced = call(*command, "--batch", "--dry-run")
    assert priced.exit_code == 0, priced.stderr
    assert "no call is left to be made" in priced.stdout
    assert "not counted: 23 questions in open batches" in priced.stdout
    listed = call("batches", run_dir)
    assert listed.exit_code == 0
    assert "created" in listed.stdout
    assert "cost so far judge: nothing" in listed.stdout
    assert "answers of open batches are counted when the command of the run has collected them" in listed.stdout
    online = call(*command)
    assert online.exit_code == 2
    assert "give --batch to go on with batches, or --finish-online to cancel them" in " ".join(online.stderr.split())
    cancelled = call("batches", run_dir, "--cancel", *model)
    assert cancelled.exit_code == 0
    assert "cancelling batch_" in cancelled.stdout
    finished = call(*command, "--finish-online", "--batch-poll", "0.05")
    assert finished.exit_code == 0, finished.stderr
    assert server.paid()["paid_more_than_once"] == 0
    listed = call("batches", run_dir)
    assert "cancelled" in listed.stdout
    assert "collected" not in listed.stdout
    nothing = call("batches", run_dir, "--cancel", *model)
    assert (nothing.exit_code, "no batch of openai:judge is open" in nothing.stderr) == (2, True)
    assert call("batches", run_dir, "--cancel").exit_code == 2
    none = call("batches", tmp_path)
    assert none.exit_code == 2
    assert f"there are no batches in {tmp_path}: give the --run-dir of a run with --batch" in " ".join(
        none.stderr.split()
    )
    assert (
        "--batch-poll must be a positive number of seconds, got 0.0"
        in call(*command, "--batch", "--batch-poll", "0").stderr
    )
    assert call(*command, "--no-wait").exit_code == 2
    assert "--batch-poll is about batches: add --batch" in call(*command, "--batch-poll", "60").output
    elsewhere = call(*command[:-1], tmp_path / "other", "--finish-online")
    assert elsewhere.exit_code == 2
    assert "other has no batches to cancel: leave out --finish-online to ask all questions online" in " ".join(
        elsewhere.stderr.split()
    )
    both = call(*command, "--no-wait", "--finish-online")
    assert (both.exit_code, both.stderr.endswith("leave --no-wait out\n")) == (2, True)
    priced = call(*command[:4], "--llm", "openai:gpt-4o-mini", "--run-dir", tmp_path / "new", "--batch", "--dry-run")
    assert "half the price" in " ".join(priced.stdout.split())


def test_a_batch_that_has_ended_is_not_cancelled(tmp_path: Path, model: OpenAILLM, server: Server) -> None:
    evaluate(ROWS, METRICS, llm=model, run_dir=tmp_path, progress=False, batch=Batch(poll=0.05, wait=False))
    (batch,) = json.loads((tmp_path / "batches" / "ledger.json").read_text())["submissions"]
    assert until(lambda: model.batches().retrieve(batch["batch"]).is_final)
    cancelled = call("batches", tmp_path, "--cancel", "--llm", "openai:judge", "--base-url", server.url)
    assert cancelled.stdout.startswith(
        f"{batch['batch']} is completed: the command of the run collects what it has answered\n"
    )
