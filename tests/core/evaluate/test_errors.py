"""What is recorded, what stops a run, what propagates; and what is left in each case."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Iterator
from dataclasses import dataclass

import pytest

from core.evaluate.doubles import (
    RATE,
    AsyncModel,
    InstantModel,
    Length,
    Rated,
    SyncModel,
    questions,
    refused,
)
from ragmetrics_core import (
    BadReply,
    InvalidInput,
    Metric,
    MissingExtra,
    MissingInput,
    ModelError,
    Sample,
    Score,
    Steps,
    Usage,
    aevaluate,
    evaluate,
)

SERVERS = (
    "PROVIDER:MODEL (anthropic, azure, bedrock, deepseek, fireworks, gemini, groq, mistral, ollama, vllm, llamacpp, lmstudio, "
    "openrouter, together, litellm)"
)


def unit(text: str) -> str:
    """A reply that tells the rows apart: 7 becomes 0.07."""
    return str(int(text) / 100)


class TestErrors:
    def test_a_model_error_fails_its_score_alone(self) -> None:
        model = AsyncModel(lambda text: ModelError("busy") if text == "3" else "0.5")
        result = evaluate(questions(6), [Rated(), Length()], llm=model)
        assert [score.state for score in result.scores["rated"]] == ["scored"] * 3 + ["failed"] + ["scored"] * 2
        failed = result.scores["rated"][3]
        assert (failed.error, failed.metric, failed.scale) == ("ModelError: busy", "rated", (0.0, 1.0))
        assert {score.state for score in result.scores["length"]} == {"scored"}

    def test_a_bad_reply_keeps_its_text_and_what_it_cost(self) -> None:
        class Strict(type(RATE.reply)):  # type: ignore[misc]
            def parse(self, text: str) -> str:
                raise BadReply("no number")

        model = AsyncModel("maybe")
        result = evaluate(questions(1), Rated(prompt=RATE.replace(reply=Strict())), llm=model)
        (score,) = result.scores["rated"]
        assert score.error == "BadReply: the model's reply to the prompt 'rate' is unreadable, twice: no number"
        assert score.details == {"raw": ["maybe", "maybe"], "prompts": {"rate": "1"}}
        assert score.usage == Usage(calls=2, prompt_tokens=20, completion_tokens=4)

    def test_a_missing_field_fails_its_score_and_names_the_row(self) -> None:
        result = evaluate(
            [{"user_input": "1", "response": "abc"}, {"user_input": "0", "response": None}],
            [Length(), Rated()],
            llm=AsyncModel(unit),
        )
        assert [score.state for score in result.scores["rated"]] == ["scored", "scored"]
        assert result.scores["length"][1].error == (
            "MissingInput: length needs 'response', which is missing in row 2: "
            "add it to the data as a column 'response', or leave the metric out"
        )

    @pytest.mark.parametrize("column", ["Response", " response ", "ANSWER", "Generated Answer", "predicted-answer"])
    def test_a_column_may_differ_in_case_and_spaces(self, column: str) -> None:
        result = evaluate([{"Tone": "high", column: "abc"}], Length())
        assert result.scores["length"][0].value == 0.3
        assert result.rows == [Sample(response="abc", metadata={"Tone": "high"})]

    def test_a_model_that_raises_stop_iteration_does_not_hang(self) -> None:
        class Exhausted:
            def generate(self, ask: object) -> str:
                raise StopIteration

        async def main() -> None:
            await asyncio.wait_for(aevaluate(questions(2), Rated(), llm=Exhausted()), 20)

        with pytest.raises(RuntimeError, match="the model raised StopIteration"):
            asyncio.run(main())

    def test_a_wrong_type_names_row_and_place(self) -> None:
        result = evaluate([{"response": 5}], Length())
        assert result.scores["length"][0].error == "InvalidInput: row 1: length: response must be a str, got int"

    def test_an_impossible_value_found_while_measuring_is_recorded(self) -> None:
        @dataclass(frozen=True)
        class Picky(Metric):
            def measure(self, response: str) -> Score:
                raise InvalidInput("response[0] is no digit")

        result = evaluate([{"response": "a"}], Picky())
        assert result.scores["picky"][0].error == "InvalidInput: row 1: response[0] is no digit"

    def test_a_row_that_is_no_sample_fails_all_its_scores_and_keeps_its_place(self) -> None:
        rows = [{"response": "a"}, {"id": "q2", "answer": "a", "response": "b"}, {"response": "abc"}]
        result = evaluate(rows, [Length(), Length(name="again")])
        assert [score.value for score in result.scores["length"]] == [0.1, None, 0.3]
        for name in ("length", "again"):
            assert result.scores[name][1].error == (
                "InvalidInput: row 2: the columns 'answer' and 'response' both mean 'response' but differ: keep one of them, "
                "or choose: columns={'response': 'answer'}"
            )
        assert result.rows[1] == Sample(id="q2")

    def test_a_fatal_error_stops_the_run_and_keeps_what_is_finished(self) -> None:
        model = AsyncModel(lambda text: refused() if text == "5" else "1")
        with pytest.raises(ModelError, match="the key is refused") as caught:
            evaluate(questions(1000), Rated(), llm=model, max_concurrency=1)
        assert [row.user_input for row in caught.value.partial.rows] == ["0", "1", "2", "3", "4"]
        assert [score.value for score in caught.value.partial.scores["rated"]] == [1.0] * 5
        assert len(model.asked) == 6

    def test_a_fatal_error_stops_instant_models_too(self) -> None:
        model = InstantModel(refused())
        with pytest.raises(ModelError, match="the key is refused"):
            evaluate(questions(90), Rated(), llm=model, max_concurrency=4)
        assert len(model.asked) == 1

    @pytest.mark.parametrize("kind", [AsyncModel, SyncModel, InstantModel])
    def test_a_bug_in_a_model_propagates(self, kind: type[AsyncModel]) -> None:
        with pytest.raises(TypeError, match="an LLM must return a Reply or a str, got int"):
            evaluate(questions(4), Rated(), llm=kind(TypeError("an LLM must return a Reply or a str, got int")))

    def test_a_bug_in_a_metric_propagates(self) -> None:
        @dataclass(frozen=True)
        class Buggy(Metric):
            def measure(self, response: str) -> Score:
                return Score(1 / 0)

        with pytest.raises(ZeroDivisionError):
            evaluate(questions(1), [Length(), Buggy()])

    def test_a_forgotten_from_propagates(self) -> None:
        @dataclass(frozen=True)
        class Forgetful(Metric):
            def measure(self, user_input: str) -> Steps[Score]:
                yield RATE.ask(text=user_input)  # type: ignore[misc]
                return Score(1)

        with pytest.raises(TypeError, match="write 'yield from'"):
            evaluate(questions(1), Forgetful(), llm=AsyncModel())

    def test_an_absent_package_stops_the_run(self) -> None:
        with pytest.raises(MissingExtra, match="pip install"):
            evaluate(questions(3), Rated(), llm=AsyncModel(MissingExtra("pip install x")))

    def test_an_error_of_the_generator_itself_propagates(self) -> None:
        def rows():
            yield {"response": "abc"}
            raise OSError("the disk is gone")

        with pytest.raises(OSError, match="the disk is gone"):
            evaluate(rows(), Length())


class TestRaise:
    def test_input_errors_name_the_row(self) -> None:
        rows = [{"response": "abc"}, {"response": None}]
        with pytest.raises(MissingInput) as caught:
            evaluate(rows, Length(), on_error="raise")
        assert str(caught.value).startswith("length needs 'response', which is missing in row 2: ")
        assert (caught.value.metric, caught.value.field) == ("length", "response")
        assert [score.value for score in caught.value.partial.scores["length"]] == [0.3]

    def test_a_bad_row_is_raised(self) -> None:
        with pytest.raises(InvalidInput, match=r"^row 1: the columns 'answer' and 'response' both mean"):
            evaluate([{"answer": "a", "response": "b"}], Length(), on_error="raise")

    def test_model_errors_are_raised_as_they_are(self) -> None:
        error = ModelError("busy")
        with pytest.raises(ModelError) as caught:
            evaluate(questions(1), Rated(), llm=AsyncModel(error), on_error="raise")
        assert caught.value is error


def untouched() -> Iterator[dict[str, str]]:
    """Rows that no question may reach."""
    raise AssertionError("a row was read before the arguments were checked")
    yield {}


class TestArguments:
    @pytest.mark.parametrize(
        ("arguments", "message"),
        [
            ({"metrics": []}, "metrics is empty: give at least one metric"),
            ({"metrics": Length}, "metrics must be instances, got the class Length: write Length()"),
            ({"metrics": [Length(), Rated]}, "metrics must be instances, got the class Rated: write Rated()"),
            ({"metrics": None}, "metrics must be Metric instances such as Faithfulness(), got None"),
            ({"metrics": 3}, "metrics must be Metric instances such as Faithfulness(), got 3"),
            ({"progress": "never"}, "progress must be True, False or 'always', got 'never'"),
            ({"progress": None}, "progress must be True, False or 'always', got None"),
            ({"llm": " "}, f"llm is an empty text: write openai:MODEL, {SERVERS}, server:MODEL or lexical"),
            (
                {"llm": "cohere:gpt-4o"},
                (
                    f"llm='cohere:gpt-4o': there is no provider 'cohere': use openai:MODEL, {SERVERS}, server:MODEL or lexical; "
                    "a model of that name on a server of your own needs OpenAILLM('cohere:gpt-4o', base_url=...)"
                ),
            ),
            (
                {"embeddings": "word2vec"},
                (
                    f"embeddings='word2vec': there is no provider 'word2vec': use openai:MODEL, {SERVERS}, "
                    "sentence-transformers:MODEL or hashing"
                ),
            ),
            ({"llm": AsyncModel}, "llm must be an instance, got the class AsyncModel: write AsyncModel(...)"),
            (
                {"llm": 3},
                (
                    "llm must be a model such as OpenAILLM(...): int has none of the methods generate, agenerate; a model of a "
                    "framework needs its wrapper: LlamaIndexLLM(...) or LangChainLLM(...) or HaystackLLM(...) of its "
                    "adapter package"
                ),
            ),
            (
                {"embeddings": AsyncModel("1")},
                (
                    "embeddings must be a model such as OpenAIEmbeddings(...): AsyncModel has none of the methods "
                    "embed, aembed, compare, acompare; a model of a framework needs its wrapper: LlamaIndexEmbeddings(...) or "
                    "LangChainEmbeddings(...) or HaystackEmbeddings(...) of its adapter package"
                ),
            ),
            ({"metrics": ", "}, "metrics is empty: give at least one metric"),
            (
                {"metrics": [Length(), "faithfullness"]},
                (
                    "there is no metric 'faithfullness'; did you mean 'faithfulness'? (see `ragmetrics metrics`; your "
                    "own is module:NAME)"
                ),
            ),
            (
                {"metrics": "LLMContextRecall"},
                "there is no metric 'LLMContextRecall': instead of RAGAS' LLMContextRecall, use ContextRecall",
            ),
            (
                {"metrics": [Length(), Rated(name="length")]},
                (
                    "two metrics are named 'length' (Length() and Rated(name='length')): give one of them another name, "
                    "as in name='length_2'"
                ),
            ),
            ({"max_concurrency": 0}, "max_concurrency must be a whole number from 1, got 0"),
            ({"max_concurrency": 2.5}, "max_concurrency must be a whole number from 1, got 2.5"),
            ({"limit": -1}, "limit must be a whole number from 1, got -1"),
            ({"limit": True}, "limit must be a whole number from 1, got True"),
            ({"on_error": "ignore"}, "on_error must be 'record' or 'raise', got 'ignore'"),
        ],
    )
    def test_message(self, arguments: dict[str, object], message: str) -> None:
        with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
            evaluate(untouched(), **{"metrics": Length(), **arguments})

    def test_a_metric_s_own_model_is_looked_at_too(self) -> None:
        with pytest.raises(
            InvalidInput, match=r"^rated: llm must be a model such as OpenAILLM\(\.\.\.\): int has none"
        ):
            evaluate(untouched(), Rated(llm=3))

    def test_an_iterable_of_metrics_may_be_a_generator(self) -> None:
        result = evaluate(questions(1), (Length(name=name) for name in "ab"))
        assert list(result.scores) == ["a", "b"]
