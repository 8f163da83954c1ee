"""``evaluate(..., batch=True)`` with a provider in this process: waves, what is paid, and everything that a provider may do."""

from __future__ import annotations

import json
import os
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from core.evaluate.batches import BatchedModel, Provider, busy
from core.evaluate.doubles import AsyncModel, Rated, RatedContexts, RatedTwice
from ragmetrics_core import Batch, Estimate, Evaluation, InvalidInput, ModelError, RagmetricsError, estimate, evaluate
from ragmetrics_core._values._batches import LostBatch
from ragmetrics_core.llms import LexicalJudge

ROWS = [{"user_input": "x" * n, "retrieved_contexts": ["y" * n, "z" * n]} for n in range(1, 9)]
METRICS = (Rated(), RatedTwice(), RatedContexts())
QUESTIONS = 8 * 4
QUICK = Batch(poll=0.001, grace=0.01, window_rows=3)


def run(provider: Provider, run_dir: Path, batch: Any = QUICK, **more: Any) -> Evaluation:
    return evaluate(ROWS, METRICS, llm=BatchedModel(provider), run_dir=run_dir, progress=False, batch=batch, **more)


def scores(path: Path) -> list[Any]:
    lines = [json.loads(line) for line in (path / "scores.jsonl").read_text().splitlines()]
    for score in (score for line in lines for score in line["scores"].values()):
        del score["usage"]
    return lines


def ledger(path: Path) -> list[Any]:
    file = path / "batches" / "ledger.json"
    return list(json.loads(file.read_text())["submissions"]) if file.exists() else []


def states(path: Path) -> list[str]:
    return [item["state"] for item in ledger(path)]


@pytest.fixture(scope="module")
def online(tmp_path_factory: pytest.TempPathFactory) -> list[Any]:
    path = tmp_path_factory.mktemp("online")
    run(Provider(), path, batch=False)
    return scores(path)


def test_the_scores_are_those_of_a_run_online(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert len(provider.online) == 1
    assert provider.paid == dict.fromkeys(provider.paid, 1)
    assert sum(provider.paid.values()) == QUESTIONS
    assert [path.name for path in (tmp_path / "batches").iterdir()] == ["ledger.json"]


def test_each_step_is_written_before_the_next_one(tmp_path: Path) -> None:
    seen: list[Any] = []

    class Watched(Provider):
        def _called(self, name: str, result: Any) -> Any:
            seen.append((name, *states(tmp_path)))
            return super()._called(name, result)

    run(Watched(), tmp_path, Batch(poll=0.001))
    assert seen == [
        ("check",),
        ("upload", "waiting"),
        ("create", "creating"),
        ("retrieve", "created"),
        ("download", "created"),
    ]
    assert states(tmp_path) == ["completed"]


def test_a_window_of_rows_is_sent_while_the_pass_goes_on(tmp_path: Path) -> None:
    provider = Provider()
    run(provider, tmp_path, Batch(poll=0.001, window_rows=2), max_concurrency=1)
    assert provider.calls.count("create") == 4


def test_a_finished_run_asks_nothing(tmp_path: Path, online: list[Any]) -> None:
    run(Provider(), tmp_path)
    provider = Provider()
    run(provider, tmp_path)
    assert provider.calls == []
    assert scores(tmp_path) == online


def test_the_samples_may_come_only_once(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    evaluate(iter(ROWS), METRICS, llm=BatchedModel(provider), run_dir=tmp_path, progress=False, batch=QUICK)
    assert scores(tmp_path) == online


def test_what_was_spent_is_in_the_account_at_half_the_price(tmp_path: Path) -> None:
    summary = run(Provider(), tmp_path).summary()
    (model,) = summary.models
    assert (model.usage.calls, model.usage.prompt_tokens, model.batched.calls) == (32, 320, 31)
    loaded = Evaluation.load(tmp_path).summary().models
    assert loaded == summary.models
    text = " ".join(str(summary).split())
    assert "batches batched: 310 tokens in, 62 tokens out, which the table leaves out" in text


def test_an_estimate_leaves_out_what_is_paid_for(tmp_path: Path) -> None:
    def left(**more: Any) -> Estimate:
        return estimate(ROWS, METRICS, llm=BatchedModel(provider), run_dir=tmp_path, **more)

    provider = Provider()
    assert left().calls == QUESTIONS
    provider.statuses = ["in_progress"]
    # the first question is answered online, the other 31 are in a batch
    run(provider, tmp_path, Batch(wait=False))
    foreseen = left(batch=True)
    assert (foreseen.calls, foreseen.waiting) == (0, 31)
    assert "not counted: 31 questions in open batches" in str(foreseen)
    assert (left().calls, left().waiting) == (0, 31)
    cancelled = left(batch=Batch(finish_online=True))
    assert (cancelled.calls, cancelled.waiting, cancelled.is_batched) == (31, 0, False)
    run(provider, tmp_path)
    for name in ("scores.jsonl", "run.json"):
        (tmp_path / name).unlink()
    assert (left().calls, left().waiting) == (0, 0)


def test_batches_that_are_not_there_cannot_be_cancelled(tmp_path: Path) -> None:
    provider, batch = Provider(), Batch(finish_online=True)
    message = (
        f"{tmp_path} has no batches to cancel: leave out batch=Batch(finish_online=True) to ask all questions online"
    )
    with pytest.raises(InvalidInput) as refused:
        run(provider, tmp_path, batch)
    assert str(refused.value) == message
    with pytest.raises(InvalidInput, match="no batches to cancel"):
        estimate(ROWS, METRICS, llm=BatchedModel(provider), run_dir=tmp_path, batch=batch)
    assert not provider.online


def foreign(lines: list[Any]) -> list[Any]:
    return [*lines, {"custom_id": "0" * 32, "response": "0.1"}, {"custom_id": 7}, b"[1]\n", b"{\n"]


@pytest.mark.parametrize(
    "change", [lambda lines: lines[::-1], lambda lines: [*lines, *lines], foreign], ids=["reversed", "twice", "foreign"]
)
def test_any_order_and_additional_lines(tmp_path: Path, online: list[Any], change: Any) -> None:
    provider = Provider()
    provider.lines = [change]
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS


def without_response(lines: list[Any]) -> list[Any]:
    return [{**line, "response": None} for line in lines]


def garbled(lines: list[Any]) -> list[Any]:
    return [json.dumps(line).encode()[:-9] + b"\n" for line in lines]


@pytest.mark.parametrize(
    "change", [lambda lines: lines[1:], without_response, garbled], ids=["missing", "empty", "garbled"]
)
def test_lines_without_a_reply_are_asked_again(tmp_path: Path, online: list[Any], change: Any) -> None:
    provider = Provider()
    provider.lines = [change]
    run(provider, tmp_path)
    assert scores(tmp_path) == online


@pytest.mark.parametrize("end", ["expired", "cancelled"])
def test_a_batch_that_ended_early_keeps_what_it_answered(tmp_path: Path, online: list[Any], end: str) -> None:
    provider = Provider()
    provider.statuses = [end]
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS
    assert end in states(tmp_path)


@pytest.mark.parametrize("method", ["check", "upload", "retrieve", "download"])
def test_calls_that_cost_nothing_are_made_again(tmp_path: Path, online: list[Any], method: str) -> None:
    provider = Provider()
    provider.failures = {method: [busy()] if method != "check" else []}
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS


def without_mark(state: SimpleNamespace) -> None:
    state.mark = None


@pytest.mark.parametrize("doubt", [lambda state: None, without_mark], ids=["mark", "input file"])
def test_a_batch_whose_creation_got_no_answer_is_found(tmp_path: Path, online: list[Any], doubt: Any) -> None:
    provider = Provider()
    provider.failures = {"create": [doubt], "list": [busy()]}
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS
    assert len(provider.states) == len(states(tmp_path))


def test_a_batch_that_was_not_created_is_created_after_the_grace(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()

    def lost(state: SimpleNamespace) -> None:
        del provider.states[state.id]

    provider.failures = {"create": [lost]}
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS


def test_a_doubt_that_cannot_be_cleared_stops_the_run(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    provider.failures = {"create": [lambda state: None], "list": [ModelError("no list here", fatal=True)]}
    with pytest.raises(RagmetricsError) as stopped:
        run(provider, tmp_path, Batch(poll=0.001))
    assert str(stopped.value) == (
        "it is not known whether a batch of 31 questions was created, for its creation got no answer and the batches cannot be "
        "listed (no list here): look at them at the provider, or give batch=Batch(finish_online=True)"
    )
    provider.failures = {"list": [ModelError("no list here", fatal=True)]}
    run(provider, tmp_path, Batch(poll=0.001, finish_online=True))
    assert scores(tmp_path) == online
    assert states(tmp_path) == ["lost"]


def test_a_server_that_is_busy_gets_the_file_once(tmp_path: Path) -> None:
    provider = Provider()
    provider.failures = {"create": [busy(), busy()]}
    run(provider, tmp_path, Batch(poll=0.001))
    assert (provider.calls.count("upload"), provider.calls.count("create")) == (1, 3)


def test_a_refusal_to_create_stops_the_run_and_the_next_one_uploads_again(tmp_path: Path) -> None:
    provider = Provider()
    provider.failures = {"create": [ModelError("no such file"), ModelError("no such file")]}
    for uploads in (1, 2):
        with pytest.raises(ModelError, match="no such file"):
            run(provider, tmp_path, Batch(poll=0.001))
        assert provider.calls.count("upload") == uploads
    run(provider, tmp_path)
    assert sum(provider.paid.values()) == QUESTIONS


FULL = SimpleNamespace(status="failed", code="token_limit_exceeded", message="too many")


def test_too_many_tokens_halve_what_is_sent(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    provider.statuses = [FULL, FULL, FULL]
    run(provider, tmp_path, Batch(poll=0.001))
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS
    assert provider.calls.count("create") >= 5


def test_too_many_lines_halve_the_batch(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    provider.statuses = [SimpleNamespace(status="failed", code="too_many_tasks", message="more than 15")] * 2
    result = run(provider, tmp_path, Batch(poll=0.001), budget={"calls": 1000, "tokens": 10**6})
    assert result.stopped is None
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS
    assert sorted(states(tmp_path)) == ["completed", "completed", "completed", "split", "split"]


def test_a_batch_of_one_line_cannot_be_halved(tmp_path: Path) -> None:
    provider = Provider()
    provider.statuses = [SimpleNamespace(status="failed", code="too_many_tasks", message="more than 0")] * 200
    with pytest.raises(RagmetricsError, match="the last problem: too_many_tasks: more than 0"):
        run(provider, tmp_path, Batch(poll=0.001))


def test_the_provider_may_say_so_at_once(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    provider.failures = {"create": [lambda state: SimpleNamespace(**{**vars(state), **vars(FULL)})]}

    run(provider, tmp_path)
    assert scores(tmp_path) == online


def test_waves_that_answer_nothing_stop_the_run(tmp_path: Path) -> None:
    provider = Provider()
    broken = SimpleNamespace(status="failed", code="invalid_json_line", message="line 1")
    provider.statuses = [broken, broken]
    with pytest.raises(RagmetricsError) as stopped:
        run(provider, tmp_path, Batch(poll=0.001))
    assert str(stopped.value) == (
        "questions are left after 2 waves of batches, the last 2 of them without any answer (the last problem: invalid_json_line: "
        "line 1): run it again to go on with batches, or ask the rest online with batch=Batch(finish_online=True)"
    )


def test_waves_are_counted_across_calls_that_do_not_wait(tmp_path: Path, online: list[Any]) -> None:
    """Otherwise a call that is repeated every hour would send the same questions for ever."""
    provider = Provider()
    provider.statuses = [SimpleNamespace(status="failed", code="invalid_json_line", message="line 1") for _ in range(4)]
    unanswered = "^questions are left after 2 waves of batches, the last 2 of them without any answer"
    for created in (2, 4):  # the call after the error goes on with batches, as the error says
        for wave in (1, 2):
            result = run(provider, tmp_path, Batch(wait=False))
            assert str(result.stopped).startswith(f"submitted: wave {wave}, 1 of 1 batches created")
        with pytest.raises(RagmetricsError, match=unanswered):
            run(provider, tmp_path, Batch(wait=False))
        assert provider.calls.count("create") == created
    run(provider, tmp_path, Batch(finish_online=True))
    assert scores(tmp_path) == online


def test_questions_that_join_open_batches_are_in_their_wave(tmp_path: Path) -> None:
    provider = Provider()
    running = SimpleNamespace(status="in_progress")
    for rows in range(2, 9):
        provider.statuses = [running] * rows
        result = run(provider, tmp_path, Batch(wait=False), limit=rows)
        assert str(result.stopped).startswith("submitted: wave 1, ")
    assert provider.calls.count("create") > 3


def test_each_call_up_to_its_budget_counts_its_own_waves(tmp_path: Path) -> None:
    for _ in range(14):
        result = run(Provider(), tmp_path, Batch(poll=0.001), budget={"calls": 4})
        assert result.stopped is None or result.stopped.startswith("the budget of 4 calls is used up")


def test_a_budget_that_is_used_up_before_any_batch(tmp_path: Path) -> None:
    result = run(Provider(), tmp_path, Batch(poll=0.001), budget={"calls": 1})
    assert result.stopped == "the budget of 1 calls is used up"
    assert states(tmp_path) == []


def test_open_batches_of_another_model_are_left_alone(tmp_path: Path, online: list[Any]) -> None:
    """This run does not ask their questions."""
    run(Provider(), tmp_path, Batch(wait=False))
    other = BatchedModel(Provider())
    other.identity = {"model": "other", "base_url": Provider.base_url}
    result = evaluate(ROWS, METRICS, llm=other, run_dir=tmp_path, progress=False, replace=True)
    assert result.stopped is None
    assert [line["scores"] for line in scores(tmp_path)] == [line["scores"] for line in online]
    assert states(tmp_path) == ["created"]


@pytest.mark.skipif(sys.platform != "linux", reason="names of open files are read from /proc")
def test_replies_are_on_the_disk_before_the_ledger_calls_a_batch_done(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise they could be lost by a power cut, and would be paid for again."""
    provider, synced, sync = Provider(), list[str](), os.fsync

    def spied(file: int) -> None:
        name = Path(f"/proc/self/fd/{file}").resolve().name
        done = b'"completed"' in Path(f"/proc/self/fd/{file}").read_bytes() if "ledger" in name else False
        synced.append("done" if done else name)
        sync(file)

    monkeypatch.setattr(os, "fsync", spied)
    run(provider, tmp_path)
    assert synced[synced.index("done") - 1] == "journal.sqlite-wal"


def test_twelve_waves_are_the_most(tmp_path: Path) -> None:
    provider = Provider()
    provider.lines = [lambda lines: lines[:1]] * 12
    with pytest.raises(RagmetricsError, match="^questions are left after 12 waves of batches: run it again"):
        run(provider, tmp_path, Batch(poll=0.001))


def test_an_error_for_good_fails_the_score_as_online(tmp_path: Path) -> None:
    def answer(text: str) -> str:
        return "refused" if text == "xx" else "0.5"

    provider = Provider(answer)
    run(provider, tmp_path)
    assert [line["scores"]["rated"]["error"] for line in scores(tmp_path)] == [
        "BadReply: the model refuses" if number == 1 else None for number in range(8)
    ]
    assert provider.paid["xx"] == 1


def test_errors_are_kept_until_the_run_is_finished(tmp_path: Path) -> None:
    provider = Provider(lambda text: "refused" if len(text) == 2 else "0.5")
    provider.failures = {"retrieve": [lambda state: state, ModelError("the key is refused", fatal=True)]}
    with pytest.raises(ModelError, match="the key is refused"):
        run(provider, tmp_path, Batch(poll=0.001, window_rows=2), max_concurrency=1)
    assert "the model refuses" in (tmp_path / "batches" / "ledger.json").read_text()
    run(provider, tmp_path)
    assert provider.paid["xx"] == 1
    run(provider, tmp_path)
    assert provider.paid["xx"] > 1


def test_an_error_that_every_question_would_meet_stops_the_run(tmp_path: Path) -> None:
    provider = Provider(lambda text: "gone" if len(text) > 2 else "0.5")
    with pytest.raises(ModelError, match="no such model"):
        run(provider, tmp_path)


def test_without_waiting_the_same_call_continues(tmp_path: Path, online: list[Any]) -> None:
    provider, calls = Provider(), 0
    while True:
        result = run(provider, tmp_path, Batch(poll=0.001, wait=False))
        calls += 1
        if result.stopped is None:
            break
        assert result.stopped.startswith("submitted: wave 1, 1 of 1 batches created, 0 of ")
    assert calls == 2
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS


def test_open_batches_are_not_paid_for_again_online(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    run(provider, tmp_path, Batch(wait=False))
    with pytest.raises(InvalidInput) as refused:
        run(provider, tmp_path, batch=False)
    assert str(refused.value) == (
        f"{tmp_path} has 1 open batch, whose questions would be paid for twice: give batch=True to go on with batches, or "
        "batch=Batch(finish_online=True) to cancel them"
    )
    provider.statuses = ["in_progress"]
    run(provider, tmp_path, Batch(poll=0.001, finish_online=True))
    assert scores(tmp_path) == online
    assert provider.calls.count("cancel") == 1
    assert states(tmp_path) == ["cancelled"]
    assert sum(provider.paid.values()) == QUESTIONS


LOST = LostBatch("the provider does not know batch-1")


@pytest.mark.parametrize("method", ["retrieve", "download"])
def test_a_lost_batch_is_paid_for_again_only_if_the_user_says_so(
    tmp_path: Path, online: list[Any], method: str
) -> None:
    provider = Provider()
    provider.failures = {method: [LOST]}
    with pytest.raises(RagmetricsError) as stopped:
        run(provider, tmp_path, Batch(poll=0.001, window_rows=4))
    assert str(stopped.value) == (
        "questions are left after 1 wave of batches (the last problem: the provider does not know batch-1): ask the rest online "
        "with batch=Batch(finish_online=True)"
    )
    assert len(stopped.value.partial) == 4
    assert states(tmp_path) == ["created", "completed"]
    once = sum(provider.paid.values())
    provider.failures = {method: [LOST]}
    run(provider, tmp_path, Batch(poll=0.001, finish_online=True))
    assert states(tmp_path) == ["lost", "completed"]
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == once + sum(text in provider.online[1:] for text in provider.paid)


def test_a_batch_that_is_found_again_is_not_lost(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    provider.failures = {"retrieve": [LOST]}
    with pytest.raises(RagmetricsError, match="the provider does not know batch-1"):
        run(provider, tmp_path, Batch(poll=0.001))
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS


def test_what_was_not_sent_is_asked_online_at_the_end(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    provider.failures = {"upload": [busy()]}
    result = run(provider, tmp_path, Batch(wait=False))
    assert result.stopped is not None
    assert result.stopped.startswith(
        "submitted: wave 1, 0 of 1 batches created, 0 of 31 lines answered; the same command"
    )
    run(provider, tmp_path, Batch(poll=0.001, finish_online=True))
    assert scores(tmp_path) == online
    assert states(tmp_path) == ["cancelled"]
    assert sum(provider.paid.values()) == len(provider.online) == QUESTIONS


def test_the_status_has_the_counts_of_the_provider(tmp_path: Path) -> None:
    provider = Provider()
    run(provider, tmp_path, Batch(wait=False))
    provider.statuses = [SimpleNamespace(status="in_progress", total=31, completed=20, failed=3)] * 2
    stopped = run(provider, tmp_path, Batch(wait=False)).stopped
    assert stopped is not None
    assert stopped.startswith(
        "submitted: wave 1, 1 of 1 batches created, 23 of 31 lines answered, 3 failed, submitted "
    )


def test_a_budget_counts_batches_of_earlier_calls_first(tmp_path: Path) -> None:
    provider = Provider()
    first = run(provider, tmp_path, Batch(poll=0.001, wait=False), limit=4)
    assert first.stopped is not None
    provider.statuses = ["in_progress"]
    provider.online.clear()
    result = run(provider, tmp_path, Batch(poll=0.001, wait=False), budget={"calls": 15})
    assert result.stopped is not None
    assert provider.online == []


def test_a_budget_that_is_enough_after_all_does_not_stop_the_run(tmp_path: Path, online: list[Any]) -> None:
    result = run(Provider(), tmp_path, Batch(poll=0.001), budget={"tokens": 700})
    assert result.stopped is None
    assert scores(tmp_path) == online


def test_a_budget_counts_what_is_sent(tmp_path: Path) -> None:
    provider = Provider()
    result = run(provider, tmp_path, budget={"calls": 10})
    assert result.stopped == "the budget of 10 calls is used up"
    assert sum(provider.paid.values()) == 10


def test_what_a_kill_has_left_is_removed(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    run(provider, tmp_path, Batch(wait=False))
    (tmp_path / "batches" / ".ledger.json.123").write_bytes(b"{")
    (tmp_path / "batches" / "unfinished.input.jsonl").write_bytes(b"{")
    (tmp_path / "batches" / "notes of the user").mkdir()
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS
    assert {path.name for path in (tmp_path / "batches").iterdir()} == {"ledger.json", "notes of the user"}


def test_a_batch_of_an_earlier_call_that_ends_during_the_first_pass(tmp_path: Path, online: list[Any]) -> None:
    provider = Provider()
    run(provider, tmp_path, Batch(wait=False))
    provider.failures["retrieve"] = [
        lambda state: SimpleNamespace(**{**vars(state), "status": "in_progress", "is_final": False})
    ]
    run(provider, tmp_path)
    assert scores(tmp_path) == online
    assert sum(provider.paid.values()) == QUESTIONS


def test_rows_that_are_gone_before_they_are_finished_stop_the_run(tmp_path: Path) -> None:
    provider, path = Provider(), tmp_path / "rows.jsonl"

    def write(rows: Any) -> None:
        path.write_text("".join(json.dumps(row) + "\n" for row in rows))

    def truncated(state: Any) -> Any:
        write(ROWS[:3])
        return state

    write(ROWS)
    provider.failures["retrieve"] = [truncated]
    with pytest.raises(
        InvalidInput, match="^5 rows left the samples during the run, row 4 first: give the same samples again$"
    ):
        evaluate(
            path, METRICS, llm=BatchedModel(provider), run_dir=tmp_path / "run", progress=False, batch=Batch(poll=0.001)
        )
    write(ROWS)
    done = evaluate(path, METRICS, llm=BatchedModel(provider), run_dir=tmp_path / "run", progress=False, batch=QUICK)
    assert len(done.rows) == len(ROWS)
    assert sum(provider.paid.values()) == QUESTIONS


def test_a_damaged_ledger_stops_the_run(tmp_path: Path) -> None:
    provider = Provider()
    run(provider, tmp_path, Batch(wait=False))
    file, (item,) = tmp_path / "batches" / "ledger.json", ledger(tmp_path)
    for damaged in ({"name": "unknown", "state": "created"}, item | {"at": "x"}, item | {"lines": 1.0}):
        file.write_text(json.dumps({"submissions": [damaged], "errors": []}))
        with pytest.raises(InvalidInput, match="is damaged, so it is not known what was paid: give another run_dir"):
            run(provider, tmp_path)


def test_a_missing_input_file_stops_the_run(tmp_path: Path) -> None:
    provider = Provider()
    run(provider, tmp_path, Batch(wait=False))
    next((tmp_path / "batches").glob("*.input.jsonl")).unlink()
    with pytest.raises(
        InvalidInput, match="is missing or damaged, and its questions may be paid for: give another run_dir"
    ):
        run(provider, tmp_path)


def test_what_is_wrong_is_said_before_anything_is_asked(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match=r"^batch keeps what it sends in a directory: give run_dir=\.\.\.$"):
        evaluate(ROWS, METRICS, llm=BatchedModel(Provider()), batch=True)
    with pytest.raises(InvalidInput, match="^batch must be True, False or a Batch, got 3$"):
        run(Provider(), tmp_path, 3)
    with pytest.raises(
        InvalidInput,
        match="^batch reads the rows several times, but standard input can be read only once: write them into a file$",
    ):
        evaluate("-", METRICS, llm=BatchedModel(Provider()), run_dir=tmp_path, batch=True)
    with pytest.raises(InvalidInput, match="^AsyncModel has no batches: give an OpenAILLM or an OpenAIServerLLM"):
        evaluate(ROWS, METRICS, llm=AsyncModel(), run_dir=tmp_path, progress=False, batch=True)
    with pytest.raises(InvalidInput, match="^poll must be a positive number of seconds, got 0$"):
        Batch(poll=0)


def test_equal_models_share_their_batches(tmp_path: Path) -> None:
    provider = Provider()
    metrics = (Rated(llm=BatchedModel(provider)), RatedContexts(llm=BatchedModel(provider)))
    result = evaluate(ROWS, metrics, run_dir=tmp_path, progress=False, batch=QUICK)
    assert result.stopped is None
    assert set(provider.paid.values()) == {1}
    assert sum(model.usage.calls for model in result.models) == sum(provider.paid.values())
    assert sum(model.batched.calls for model in result.models) == sum(provider.paid.values()) - len(provider.online)
    assert len({item["model"] for item in ledger(tmp_path)}) == 1


def test_a_judge_in_this_process_needs_no_batches(tmp_path: Path) -> None:
    rows = [{"response": "It is red.", "retrieved_contexts": ["It is red."], "user_input": "What colour?"}]
    result = evaluate(rows, "faithfulness", llm=LexicalJudge(), run_dir=tmp_path, progress=False, batch=True)
    assert result.stopped is None


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"poll": None}, "poll must be a positive number of seconds, got None"),
        ({"grace": 0}, "grace must be a positive number of seconds, got 0"),
        ({"window_rows": 0}, "window_rows must be a whole number from 1, got 0"),
        (
            {"wait": False, "finish_online": True},
            "finish_online waits for all answers: leave wait=False out",
        ),
    ],
)
def test_settings_are_checked(options: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidInput) as raised:
        Batch(**options)
    assert str(raised.value) == message
