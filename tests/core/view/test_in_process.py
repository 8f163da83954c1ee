"""What the viewer does while pages are open, seen in this process: events, a bug, agreement, names of this machine."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from ragmetrics_core import evaluate
from ragmetrics_core.metrics import ExactMatch

from .test_labels import Labelling, label
from .viewing import Viewing, asked, keys, refused, text_of, viewing

TOKEN = "0123456789abcdef-token"


async def first_event(found: Viewing, place: str) -> dict[str, Any]:
    """The first event there; then the browser leaves."""
    event: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
    asked = asyncio.Event()

    async def receive() -> dict[str, Any]:
        if asked.is_set():
            await asyncio.sleep(3600)
        asked.set()
        return {"type": "http.request", "body": b"", "more_body": False}

    async def send(message: Any) -> None:
        if message.get("body") and not event.done():
            event.set_result(message["body"])

    headers = [(b"host", f"127.0.0.1:{found.port}".encode())]
    scope = {"type": "http", "method": "GET", "path": place, "raw_path": place.encode(), "query_string": b""}
    app: Any = found.client.app
    task = asyncio.create_task(app({**scope, "headers": headers, "root_path": "", "scheme": "http"}, receive, send))
    body = await asyncio.wait_for(event, 60)
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
    found_event: dict[str, Any] = json.loads(body.removeprefix(b"data: "))
    return found_event


@pytest.fixture
def going_on(runs: Path, tmp_path: Path) -> Path:
    """A run with one row and half a line, whose lock file is there."""
    run = tmp_path / "run"
    run.mkdir()
    account = json.loads((runs / "new" / "run.json").read_text())
    ended = ("scores", "stopped", "models", "seconds")
    (run / "run.json").write_text(json.dumps({name: account[name] for name in account if name not in ended}))
    (run / ".ragmetrics.lock").write_text("{}")
    lines = (runs / "new" / "scores.jsonl").read_text().splitlines(keepends=True)
    (run / "scores.jsonl").write_text(lines[0] + lines[3][:50])
    return run


@pytest.fixture
def ended_process() -> int:
    """The number of a process that has ended."""
    found = subprocess.run([sys.executable, "-c", "import os; print(os.getpid())"], capture_output=True, check=True)
    return int(found.stdout)


async def test_a_run_that_goes_on(going_on: Path, ended_process: int) -> None:
    found = viewing(going_on.parent)
    assert "1 row so far, exact_match 1.000, token_f1 1.000" in found.client.get("/").text
    (key,) = keys(found)
    event = await first_event(found, f"/run/{key}/events")
    means = {"exact_match": 1.0, "token_f1": 1.0}
    assert event == {"rows": 1, "means": means, "going_on": True, "ready": False}
    (going_on / "scores.jsonl").write_text("not a row\n")
    assert (await first_event(found, f"/run/{key}/events"))["rows"] == 0
    lock = going_on / ".ragmetrics.lock"
    for holder, is_going_on in (
        ({"host": socket.gethostname(), "process": os.getpid()}, True),
        ({"host": "another", "process": ended_process}, True),
        ({"host": socket.gethostname(), "process": 10**30}, True),
        ({"host": socket.gethostname(), "process": ended_process}, sys.platform == "win32"),
    ):
        lock.write_text(json.dumps(holder))
        assert (await first_event(found, f"/run/{key}/events"))["going_on"] is is_going_on, holder
    lock.unlink()
    assert (await first_event(found, f"/run/{key}/events"))["going_on"] is False
    assert (await first_event(found, "/events")).keys() == {"state"}


def test_agreement_is_shown_from_eight_labels_on(tmp_path: Path) -> None:
    rows = [{"id": f"q{at}", "response": "yes", "reference": "yes" if at % 2 else "no"} for at in range(10)]
    evaluate(rows, [ExactMatch()], run_dir=tmp_path / "run", progress=False)
    labelling = Labelling(tmp_path)
    assert labelling.send({"labels": [label(at, bool(at % 2)) for at in range(10)]})[0] == 200
    text = labelling.viewing.client.get(f"/run/{labelling.key}/agreement").text
    assert "<h1>Agreement so far</h1>" in text
    assert '<section id="calibration"' in text
    assert "judge would pass" in text
    assert "kappa, ac1, alpha: 1 is full agreement" in text.lower()
    page = labelling.viewing.client.get(f"/run/{labelling.key}/").text
    assert (
        '<p id="labelled">10 labels on 10 rows by 1 annotator: <a href="agreement">how far judge and people agree</a></p>'
    ) in page
    for place in ("agreement", "", "index", "block-0"):
        page = f"/run/{labelling.key}/"
        found = asked(labelling.viewing, page, place) if place else labelling.viewing.client.get(page)
        assert found.status_code == 200
        assert str(tmp_path) not in found.text


def test_a_bug_is_told_at_the_terminal_only(
    runs: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    found = viewing(runs)

    def broken(_: object) -> object:
        raise ZeroDivisionError("of the test")

    monkeypatch.setattr(os, "scandir", broken)
    client = TestClient(found.client.app, f"http://127.0.0.1:{found.port}", raise_server_exceptions=False)
    response = client.get("/")
    assert (response.status_code, response.text) == (500, "This is a bug in ragmetrics; the terminal shows where.\n")
    assert "ZeroDivisionError: of the test" in capsys.readouterr().err


def test_with_a_host_it_answers_to_the_names_of_this_machine(runs: Path) -> None:
    found = viewing(runs, "--host", "0.0.0.0", token=TOKEN)
    cookie = found.client.get(f"/?token={TOKEN}").headers["set-cookie"].partition(";")[0]
    for host in ("0.0.0.0", socket.gethostname(), "127.0.0.1"):
        headers = {"host": f"{host}:{found.port}", "cookie": cookie}
        assert found.client.get("/", headers=headers).status_code == 200
    assert found.client.get("/", headers={"host": f"evil.example:{found.port}", "cookie": cookie}).status_code == 421
    named = viewing(runs, "--host", "localhost", token=TOKEN)
    assert named.result.stderr.startswith(f"http://localhost:{named.port}/ shows the runs in ")


def test_what_keeps_it_from_starting(runs: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        status, said = refused(runs, "--port", str(taken.getsockname()[1]))
    assert status == 2
    assert said.endswith("cannot be used: Address already in use: give another one\n")
    monkeypatch.setitem(sys.modules, "starlette", None)
    message = 'ragmetrics: ragmetrics view needs starlette: pip install "ragmetrics-core[view]"\n'
    assert refused(runs) == (2, message)


def test_a_body_without_a_length_is_counted(runs: Path, tmp_path: Path) -> None:
    (tmp_path / "few.jsonl").write_bytes((runs / "sub" / "few.jsonl").read_bytes())
    labelling = Labelling(tmp_path)
    headers = {"origin": labelling.origin, "content-type": "application/json"}
    parts = (b"x" * 50_000 for _ in range(6))
    response = labelling.viewing.client.post(labelling.place, content=parts, headers=headers)
    assert response.status_code == 413


def test_parquet_files_are_runs_too(runs: Path, tmp_path: Path) -> None:
    pytest.importorskip("pyarrow")
    from ragmetrics_core import Evaluation

    Evaluation.load(runs / "new").to_parquet(tmp_path / "new.parquet")
    (tmp_path / "other.parquet").write_bytes(b"PAR1")
    found = viewing(tmp_path)
    assert len(keys(found)) == 1
    assert " is 0.75 (0.30 to 0.95) and " in text_of(found)
