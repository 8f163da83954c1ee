"""What a model was sent and what it replied is shown exactly as it was, or the reason why it cannot be shown."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from core.evaluate.doubles import RATE, Rated
from core.store.kept import Model
from exchanges import EXCHANGES, VECTORS, WITH_EMBEDDINGS, Exchange, with_own_words
from ragmetrics_core import Ask, Evaluation, ModelError, Reply, Usage, evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Faithfulness
from ragmetrics_core.testing import ScriptedEmbeddings
from report_data import exchanges_shown

WITHOUT_DIRECTORY = "messages and replies are kept only by a run with a directory (run_dir, --run-dir)"

ROWS = [
    {
        "user_input": "Where is the tower, and how tall is it?",
        "response": "The tower is in Paris. It is 500 metres tall.",
        "retrieved_contexts": ["The tower stands in Paris.", "It is 330 metres tall."],
        "reference": "It stands in Paris and is 330 metres tall.",
        "reference_contexts": ["The tower stands in Paris."],
    },
    {"user_input": "Which river?", "response": "The Seine \ud800 \u202e.", "retrieved_contexts": ["It is the Seine."]},
]


class Witness:
    """A judge that notes what it is asked and what it answers."""

    def __init__(self, **settings: Any) -> None:
        self.identity = {"model": "witness", **settings}
        self.judge = LexicalJudge()
        self.heard: list[tuple[list[tuple[str, str]], str]] = []

    def generate(self, ask: Ask) -> Reply[str]:
        reply = self.answer(ask)
        self.heard.append(([(message.role, message.content) for message in ask.messages], reply))
        return Reply(reply, Usage(1, 10, 2))

    def answer(self, ask: Ask) -> str:
        found = self.judge.generate(ask)
        assert isinstance(found, Reply)
        return str(found.value)


class Vectors(ScriptedEmbeddings):
    """Vectors of a model that says what it is."""

    @property
    def identity(self) -> Any:
        return {"model": "vectors"}


class Replaying(Witness):
    """Answers as recorded."""

    def __init__(self, exchange: Exchange) -> None:
        super().__init__()
        self.exchange = exchange

    def answer(self, ask: Ask) -> str:
        system, user = (message.content for message in ask.messages)
        return self.exchange.reply_to(system, user)


class Forgetful(Witness):
    """The first answer to each question cannot be read."""

    def answer(self, ask: Ask) -> str:
        return super().answer(ask) if len(ask.messages) > 2 else "Let me think."


class Useless(Witness):
    """No answer can be read."""

    def answer(self, ask: Ask) -> str:
        return "Let me think."


def exchanges_of(run: Path | Evaluation) -> tuple[list[dict[str, list[dict[str, Any]]]], dict[str, str]]:
    """The exchanges of each row, and why some are missing."""
    with TemporaryDirectory() as folder:
        return exchanges_shown(run if isinstance(run, Evaluation) else Evaluation.load(run), Path(folder))


def flat(found: list[dict[str, list[dict[str, Any]]]]) -> list[tuple[list[tuple[str, str]], str]]:
    return [
        ([(message["role"], message["content"]) for message in exchange["messages"]], exchange["reply"])
        for row in found
        for exchanges in row.values()
        for exchange in exchanges
    ]


def as_sets(heard: list[tuple[list[tuple[str, str]], str]]) -> set[tuple[tuple[tuple[str, str], ...], str]]:
    return {(tuple(messages), reply) for messages, reply in heard}


@pytest.fixture
def run_dir(tmp_path: Path) -> Path:
    return tmp_path / "run"


class TestFound:
    @pytest.mark.parametrize("exchange", [*EXCHANGES, WITH_EMBEDDINGS], ids=lambda exchange: exchange.name)
    def test_every_metric_that_asks_a_language_model(self, run_dir: Path, exchange: Exchange) -> None:
        witness = Replaying(exchange)
        embeddings = Vectors(VECTORS)
        evaluate([exchange.sample], [exchange.metric], llm=witness, embeddings=embeddings, run_dir=run_dir)
        (found,), _ = exchanges_of(run_dir)
        assert as_sets(flat([found])) == as_sets(witness.heard)
        assert len(witness.heard) >= 1

    def test_prompts_in_words_of_their_own(self, run_dir: Path) -> None:
        witness = Witness()
        evaluate(ROWS[:1], with_own_words(Faithfulness()), llm=witness, run_dir=run_dir)
        (found,), _ = exchanges_of(run_dir)
        assert found["faithfulness"][0]["messages"][0]["content"].startswith("Own words: ")
        assert flat([found]) == witness.heard

    def test_a_metric_without_a_model(self, run_dir: Path) -> None:
        evaluate(ROWS, "token_f1", run_dir=run_dir)
        assert exchanges_of(run_dir) == ([{}, {}], {"token_f1": "no language model was asked"})

    def test_in_the_order_in_which_it_was_asked_by_several_metrics(self, run_dir: Path) -> None:
        witness = Witness()
        evaluate(ROWS, ["faithfulness", "context_recall"], llm=witness, run_dir=run_dir, max_concurrency=1)
        found, _ = exchanges_of(run_dir)
        assert [item["prompt"] for item in found[0]["faithfulness"]] == ["extract_claims", "verify_claims"]
        assert [item["messages"][0]["role"] for item in found[0]["faithfulness"]] == ["system", "system"]
        assert as_sets(flat(found)) == as_sets(witness.heard)

    def test_a_second_attempt_shows_the_first(self, run_dir: Path) -> None:
        witness = Forgetful()
        evaluate(ROWS[:1], "faithfulness", llm=witness, run_dir=run_dir)
        found, _ = exchanges_of(run_dir)
        assert [len(item["messages"]) for item in found[0]["faithfulness"]] == [2, 4, 2, 4]
        assert flat(found) == witness.heard

    def test_a_reply_that_was_of_no_use_is_not_in_the_journal(self, run_dir: Path) -> None:
        witness = Useless()
        evaluation = evaluate(ROWS[:1], "faithfulness", llm=witness, run_dir=run_dir)
        (score,) = evaluation.scores["faithfulness"]
        assert score.details["raw"] == ["Let me think.", "Let me think."]
        found, _ = exchanges_of(run_dir)
        assert [(item["prompt"], item["reply"]) for item in found[0]["faithfulness"]] == [("extract_claims", None)] * 2
        assert [messages for messages, _ in flat(found)] == [messages for messages, _ in witness.heard]

    def test_each_judgement_of_a_row(self, run_dir: Path) -> None:
        evaluate(ROWS[:1], "faithfulness", llm=Witness(), run_dir=run_dir, repeats=2)
        found, _ = exchanges_of(run_dir)
        assert [item["prompt"] for item in found[0]["faithfulness"]] == [
            "extract_claims, judgement 1",
            "verify_claims, judgement 1",
            "extract_claims, judgement 2",
            "verify_claims, judgement 2",
        ]
        assert [item["reply"] is not None for item in found[0]["faithfulness"]] == [True] * 4

    def test_a_run_that_went_on(self, run_dir: Path) -> None:
        witness = Witness()
        evaluate(ROWS[:1], "faithfulness", llm=witness, run_dir=run_dir)
        evaluate(ROWS, "faithfulness", llm=witness, run_dir=run_dir)
        evaluate(ROWS, "faithfulness", llm=Witness(), run_dir=run_dir)
        found, _ = exchanges_of(run_dir)
        assert flat(found) == witness.heard

    def test_another_model_is_not_mistaken_for_this_one(self, run_dir: Path) -> None:
        evaluate(ROWS[:1], "faithfulness", llm=Forgetful(seed=1), run_dir=run_dir)
        witness = Witness(seed=2)
        evaluate(ROWS[:1], "faithfulness", llm=witness, run_dir=run_dir, replace=True)
        found, _ = exchanges_of(run_dir)
        assert flat(found) == witness.heard

    def test_a_metric_of_their_own(self, run_dir: Path) -> None:
        evaluate([{"user_input": "7"}], Rated(RATE), llm=Model(), run_dir=run_dir)
        (found,), _ = exchanges_of(run_dir)
        (exchange,) = found["rated"]
        assert (exchange["prompt"], exchange["reply"]) == ("rate", "0.07")
        assert [message["role"] for message in exchange["messages"]] == ["system", "user"]
        assert exchange["messages"][0]["content"] == RATE.system

    def test_words_of_the_system_stand_in_the_journal_once(self, run_dir: Path) -> None:
        witness = Witness()
        evaluate(ROWS, "faithfulness", llm=witness, run_dir=run_dir)
        assert len(witness.heard) == 4
        with closing(sqlite3.connect(run_dir / "journal.sqlite")) as database:
            assert database.execute("SELECT count(*) FROM texts").fetchone() == (2,)
            assert all(RATE.system.encode() not in sent for (sent,) in database.execute("SELECT messages FROM replies"))

    def test_a_call_that_failed(self, run_dir: Path) -> None:
        model = Model(lambda text: ModelError("gone") if text == "8" else "0.5")
        evaluate([{"user_input": "7"}, {"user_input": "8"}], Rated(RATE), llm=model, run_dir=run_dir, max_retries=0)
        found, _ = exchanges_of(run_dir)
        assert found[1] == {"rated": [{"prompt": "rate", "messages": [], "reply": None}]}

    def test_a_score_that_was_there_before_a_call_failed_keeps_its_messages(self, run_dir: Path) -> None:
        evaluate([{"user_input": "7"}], Rated(RATE), llm=Model(), run_dir=run_dir)
        before, _ = exchanges_of(run_dir)
        with closing(sqlite3.connect(run_dir / "journal.sqlite")) as database:
            database.execute("UPDATE replies SET digest = NULL")
            database.commit()
        gone = Model(lambda text: ModelError("gone") if text == "7" else "0.5")
        evaluate([{"user_input": "7"}, {"user_input": "8"}], Rated(RATE), llm=gone, run_dir=run_dir, max_retries=0)
        after, _ = exchanges_of(run_dir)
        assert after[0]["rated"][0]["messages"] == before[0]["rated"][0]["messages"]


class TestNotFound:
    @pytest.fixture(autouse=True)
    def scored(self, run_dir: Path) -> None:
        evaluate(ROWS[:1], "faithfulness", llm=Witness(), run_dir=run_dir)

    def test_an_earlier_version(self, run_dir: Path) -> None:
        """Its journal has no messages, and its lines name no calls: the run still goes on."""
        with closing(sqlite3.connect(run_dir / "journal.sqlite")) as database:
            database.execute("ALTER TABLE replies DROP COLUMN messages")
            database.execute("DROP TABLE texts")
            database.commit()
        why = {"faithfulness": "an earlier version scored this row, and kept no messages"}
        assert exchanges_of(run_dir) == ([{}], why)
        row = json.loads((run_dir / "scores.jsonl").read_text())
        assert [call.split()[0] for call in row.pop("calls")["faithfulness"]] == ["extract_claims", "verify_claims"]
        (run_dir / "scores.jsonl").write_text(json.dumps(row) + "\n")
        assert exchanges_of(run_dir) == ([{}], why)
        witness = Witness()
        evaluate(ROWS, "faithfulness", llm=witness, run_dir=run_dir)
        assert len(witness.heard) == 2, "only the new row was asked about"
        found, problems = exchanges_of(run_dir)
        assert (found[0], problems) == ({}, why)
        assert flat(found[1:]) == witness.heard

    @pytest.mark.parametrize("damage", ["x'ff'", "'{'", '\'[["system", "no digest"]]\'', "'3'", "NULL"])
    def test_damaged_messages(self, run_dir: Path, damage: str) -> None:
        with closing(sqlite3.connect(run_dir / "journal.sqlite")) as database:
            database.execute(f"UPDATE replies SET messages = {damage}")
            database.commit()
        assert exchanges_of(run_dir)[0] == [{}]

    @pytest.mark.parametrize("calls", [3, [], {"faithfulness": 3}, {"faithfulness": ["extract_claims 12"]}])
    def test_calls_that_are_none(self, run_dir: Path, calls: object) -> None:
        row = json.loads((run_dir / "scores.jsonl").read_text())
        (run_dir / "scores.jsonl").write_text(json.dumps({**row, "calls": calls}) + "\n")
        loaded = Evaluation.load(run_dir)
        assert (len(loaded), loaded.state) == (0, "damaged")

    def test_no_directory(self) -> None:
        assert exchanges_of(evaluate(ROWS[:1], "faithfulness", llm=Witness())) == (
            [{}],
            {"faithfulness": WITHOUT_DIRECTORY},
        )

    def test_no_journal(self, run_dir: Path) -> None:
        for file in run_dir.glob("journal.sqlite*"):
            file.unlink()
        assert exchanges_of(run_dir)[1] == {"faithfulness": WITHOUT_DIRECTORY}

    def test_a_file_of_scores(self, run_dir: Path, tmp_path: Path) -> None:
        Evaluation.load(run_dir).to_jsonl(tmp_path / "scores.jsonl")
        why = "only the directory of a run, with its run.json, has them"
        assert exchanges_of(tmp_path / "scores.jsonl") == ([{}], {"faithfulness": why})

    def test_a_journal_that_is_none(self, run_dir: Path) -> None:
        (run_dir / "journal.sqlite").write_bytes(b"no database" * 1000)
        found, problems = exchanges_of(run_dir)
        assert found == [{}]
        assert "has no replies of ragmetrics" in problems["faithfulness"]

    def test_a_model_that_does_not_say_what_it_is(self, tmp_path: Path) -> None:
        witness = Witness()
        witness.identity = {}
        evaluate(ROWS[:1], "faithfulness", llm=witness, run_dir=tmp_path / "other")
        assert exchanges_of(tmp_path / "other")[1] == {
            "faithfulness": "the model does not say what it is (identity), so its replies are not kept"
        }
