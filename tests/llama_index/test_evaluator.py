"""Any metric as an evaluator: the same scores as the core, on every kind of response, with the errors as they are."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest
from llama_index.core import Settings
from llama_index.core.base.response.schema import AsyncStreamingResponse, PydanticResponse, Response, StreamingResponse
from llama_index.core.bridge.pydantic import BaseModel
from llama_index.core.prompts import ChatPromptTemplate, PromptTemplate
from llama_index.core.schema import NodeWithScore, TextNode
from llama_index.core.utils import get_tokenizer

import ragmetrics_llama_index as ours
from exchanges import CONTEXTS, EXCHANGES, QUESTION, RESPONSE, VECTORS, WITH_EMBEDDINGS, Exchange
from llama_index.doubles import Completions, HashingEmbedding
from loopback import OpenAIServer, server_error
from ragmetrics_core import Ask, BadReply, InvalidInput, MissingInput, ModelError, Reply
from ragmetrics_core.embeddings import HashingEmbeddings
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import (
    NDCG,
    AnswerCorrectness,
    AnswerRelevancy,
    ContextRecall,
    Correctness,
    ExactMatch,
    Faithfulness,
    Jury,
    PairwiseComparison,
    RefineFaithfulness,
    SemanticSimilarity,
    SinglePassFaithfulness,
    TokenF1,
    catalogue,
)
from ragmetrics_core.metrics.windows import tokens as estimated
from ragmetrics_core.testing import ScriptedLLM
from ragmetrics_llama_index import LlamaIndexLLM, MetricEvaluator, MetricResult

NODES = [NodeWithScore(node=TextNode(text=text, id_=str(n)), score=1 / n) for n, text in enumerate(CONTEXTS, 1)]


class Vectors(HashingEmbedding):
    def _get_text_embedding(self, text: str) -> list[float]:
        return VECTORS[text]


def replay(exchange: Exchange) -> Callable[[dict[str, Any]], str]:
    def respond(body: dict[str, Any]) -> str:
        system, user = (message["content"] for message in body["messages"])
        return exchange.reply_to(system, user)

    return respond


def extras(exchange: Exchange) -> dict[str, Any]:
    own = ("user_input", "response", "retrieved_contexts")
    return {name: value for name, value in exchange.sample.items() if name not in own}


@pytest.mark.parametrize("exchange", [*EXCHANGES, WITH_EMBEDDINGS], ids=lambda exchange: exchange.name)
async def test_the_score_of_every_metric_is_that_of_the_core(
    exchange: Exchange, server: OpenAIServer, llm: Any
) -> None:
    """On the same recorded exchange, over a real client, by both roads and from texts and responses."""
    server.responder = replay(exchange)
    evaluator = MetricEvaluator(exchange.metric, llm=llm, embed_model=Vectors())
    said = exchange.sample.get("response", RESPONSE)
    texts = {"query": QUESTION, "response": said, "contexts": CONTEXTS, **extras(exchange)}
    response = Response(said, source_nodes=NODES)
    with_response = {"query": QUESTION, "response": response, **extras(exchange)}
    results = [
        await asyncio.to_thread(evaluator.evaluate, **texts),
        await evaluator.aevaluate(**texts),
        evaluator.evaluate_response(**with_response),  # synchronously, inside the running loop
        await evaluator.aevaluate_response(**with_response),
    ]
    for result in results:
        assert isinstance(result, MetricResult)
        assert result.score == pytest.approx(exchange.value, abs=1e-12)
        assert result.metric == exchange.name
        assert (result.query, result.response, result.contexts) == (QUESTION, said, CONTEXTS)
        assert result.feedback
        assert result.passing is not None
        assert not result.invalid_result
        assert result.details["prompts"].keys() == {call.prompt for call in exchange.calls}
        if exchange.passing is not None:
            assert result.passing is exchange.passing
    assert len(server.chats) == 4 * len(exchange.calls)


RECORDED = {call.prompt: call.reply for exchange in EXCHANGES for call in exchange.calls}


class OfflineJudge(LexicalJudge):
    """Also answers what takes more than comparing words: as it was recorded."""

    def generate(self, ask: Ask) -> Reply[str]:
        try:
            return super().generate(ask)
        except ModelError:
            return Reply('{"score": 1}' if ask.prompt.name == "custom_judge" else RECORDED[ask.prompt.name])


@pytest.mark.parametrize("entry", catalogue(), ids=lambda entry: entry.name)
def test_every_metric_of_the_catalogue_takes_the_response_of_a_query_engine(entry: Any, index: Any) -> None:
    settings: dict[str, dict[str, Any]] = {
        "custom_judge": {"instructions": "Is it polite?", "inputs": ["response"], "outputs": ["score"]},
        "guideline": {"guidelines": "It names a place."},
        "jury": {"jurors": [Faithfulness(), SinglePassFaithfulness()]},
        "rubric_score": {"rubric": {1: "wrong", 2: "right"}},
    }
    metric = entry.cls(**settings.get(entry.name, {}))
    response = index.as_query_engine(llm=Completions("Ada “was born in London” [1].")).query("Where was Ada born?")
    more = {
        "reference": "Ada Lovelace was born in London.",
        "reference_documents": [node.get_content() for node in response.source_nodes[:1]],
        "second_response": "In Paris.",
    }
    evaluator = MetricEvaluator(metric, OfflineJudge(), HashingEmbeddings())
    result = evaluator.evaluate_response(query="Where was Ada born?", response=response, **more)
    assert result.score is not None
    assert not result.invalid_result
    assert result.feedback
    assert result.response == "Ada “was born in London” [1]."
    assert result.contexts == [node.get_content() for node in response.source_nodes]


def test_documents_have_the_identifiers_of_the_nodes() -> None:
    evaluator = MetricEvaluator(NDCG(field="id"))
    result = evaluator.evaluate_response(response=Response("x", source_nodes=NODES), reference_documents=["2"])
    assert result.score == pytest.approx(0.6309297535714575)


class Person(BaseModel):
    name: str


async def tokens() -> Any:
    for token in ("She ", "was"):
        yield token


@pytest.mark.parametrize(
    ("make", "text"),
    [
        (lambda: Response("She was", source_nodes=NODES), "She was"),
        (lambda: StreamingResponse(iter(["She ", "was"]), source_nodes=NODES), "She was"),
        (lambda: AsyncStreamingResponse(tokens(), source_nodes=NODES), "She was"),
        (lambda: PydanticResponse(Person(name="Ada"), source_nodes=NODES), '{"name":"Ada"}'),
    ],
    ids=["plain", "streaming", "async streaming", "pydantic"],
)
async def test_all_kinds_of_responses(make: Callable[[], Any], text: str) -> None:
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions("yes"))
    response = make()
    for result in (
        evaluator.evaluate_response(query=QUESTION, response=response),
        await evaluator.aevaluate_response(query=QUESTION, response=response),
        await asyncio.to_thread(evaluator.evaluate_response, query=QUESTION, response=make()),
    ):
        assert (result.response, result.contexts, result.score) == (text, CONTEXTS, 1.0)
    if not isinstance(response, PydanticResponse | Response):
        assert response.response_txt == text, "the user can still print it"


def test_what_is_no_response() -> None:
    with pytest.raises(
        InvalidInput,
        match=r"takes the response of a query engine, a chat engine or an agent, got str: for a text call evaluate\(",
    ):
        MetricEvaluator(ExactMatch()).evaluate_response(query="?", response="text")  # type: ignore[arg-type]


def test_passing_follows_the_threshold_where_the_metric_has_no_verdict() -> None:
    case = {"response": "red car", "reference": "red bus"}  # F1 = 0.5
    assert MetricEvaluator(TokenF1()).evaluate(**case).passing is True
    assert MetricEvaluator(TokenF1(), threshold=0.6).evaluate(**case).passing is False
    vectors = {"a": [1.0, 0.0], "b": [0.4, 0.9165151389911681]}
    embed = SimpleNamespace(embed=lambda texts: [vectors[text] for text in texts])
    below = MetricEvaluator(SemanticSimilarity(), embed_model=embed).evaluate(response="a", reference="b")
    assert below.score == pytest.approx(0.4)
    assert below.passing is False, "half of the highest value, though the scale begins at -1"


def test_an_unreadable_judge_is_an_invalid_result() -> None:
    llm = Completions("Hm.")
    for on_error in ("raise", "record"):
        result = MetricEvaluator(RefineFaithfulness(), llm=llm, on_error=on_error).evaluate(
            response="x", contexts=["y"]
        )
        assert result.invalid_result
        assert (result.score, result.passing, result.response) == (None, None, "x")
        assert "unreadable, twice" in str(result.invalid_reason)
        assert result.feedback == "The answer could not be judged."
        assert result.details["raw"] == ["Hm.", "Hm."]
        assert result.metric == "refine_faithfulness"


def test_nothing_to_score_is_an_invalid_result_with_the_reason() -> None:
    llm = ScriptedLLM({"extract_claims": '{"claims": []}'})
    result = MetricEvaluator(Faithfulness(), llm=llm).evaluate(query="?", response="Hm.", contexts=["y"])
    assert (result.invalid_result, result.invalid_reason) == (True, "the response makes no claims")


def test_the_failure_of_a_server_is_raised_or_recorded(server: OpenAIServer, llm: Any) -> None:
    server.queue.extend([server_error()] * 2)
    with pytest.raises(ModelError, match=r"^judge is failing: try again later \(500\)"):
        MetricEvaluator(RefineFaithfulness(), llm=llm).evaluate(response="x", contexts=["y"])
    recorded = MetricEvaluator(RefineFaithfulness(), llm=llm, on_error="record").evaluate(response="x", contexts=["y"])
    assert recorded.invalid_result
    assert "judge is failing: try again later (500)" in str(recorded.invalid_reason)


@pytest.mark.parametrize(("problem", "on_error"), [(RuntimeError("boom"), "raise"), (KeyError("gone"), "record")])
async def test_the_original_exception_is_never_hidden(problem: Exception, on_error: Any) -> None:
    """LlamaIndex turns every RuntimeError into "Detected nested async"."""
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions([problem] * 3), on_error=on_error)
    case: dict[str, Any] = {"response": "x", "contexts": ["y"]}
    with pytest.raises(type(problem)) as caught:
        evaluator.evaluate(**case)
    assert caught.value is problem
    with pytest.raises(type(problem)):
        await evaluator.aevaluate(**case)
    with pytest.raises(type(problem)):
        await asyncio.to_thread(evaluator.evaluate, **case)


@pytest.mark.parametrize("is_chat", [False, True])
async def test_what_a_model_in_this_process_raises_is_recorded(is_chat: bool) -> None:
    model = Completions([RuntimeError("GPU out of memory")] * 2 + ["yes"], is_chat=is_chat)
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=model, on_error="record")
    case: dict[str, Any] = {"response": "x", "contexts": ["y"]}
    for result in (evaluator.evaluate(**case), await evaluator.aevaluate(**case)):
        assert (result.score, result.invalid_result) == (None, True)
        assert result.invalid_reason == "ModelError: completions failed: RuntimeError: GPU out of memory"
    assert evaluator.evaluate(**case).score == 1.0


def test_errors_name_the_arguments_of_llama_index() -> None:
    with pytest.raises(MissingInput) as caught:
        MetricEvaluator(Faithfulness(), llm=Completions()).evaluate(response="x", contexts=["y"])
    assert str(caught.value) == (
        "faithfulness needs 'query', which is missing: give query=... or leave the metric out for this sample"
    )
    with pytest.raises(MissingInput, match="'contexts', which is missing: give contexts="):
        MetricEvaluator(Faithfulness(), llm=Completions()).evaluate(query="q", response="x")


@pytest.mark.parametrize("threshold", ["0.5", True, float("nan"), float("inf")])
def test_a_threshold_is_a_number(threshold: Any) -> None:
    with pytest.raises(InvalidInput, match="MetricEvaluator: the threshold must be a finite number, got"):
        MetricEvaluator(Faithfulness(), threshold=threshold)


def test_an_input_that_is_left_out_is_a_value_error() -> None:
    evaluator = MetricEvaluator(ContextRecall(), llm=Completions())
    with pytest.raises(MissingInput, match="context_recall needs 'reference', which is missing") as caught:
        evaluator.evaluate(query="?", response="x", contexts=["y"])
    assert isinstance(caught.value, ValueError)
    recorded = MetricEvaluator(ContextRecall(), llm=Completions(), on_error="record").evaluate(
        query="?", contexts=["y"]
    )
    assert "needs 'reference'" in str(recorded.invalid_reason)


def test_an_engine_that_finds_or_says_nothing_is_data() -> None:
    evaluator = MetricEvaluator(RefineFaithfulness(), llm=Completions())
    result = evaluator.evaluate_response(query="?", response=Response("Empty Response", source_nodes=[]))
    assert result.invalid_result
    assert result.invalid_reason == "retrieved_contexts is an empty list"
    silent = evaluator.evaluate_response(query="?", response=Response(None, source_nodes=NODES))
    assert silent.invalid_reason == "response is blank"


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ({"query": " "}, "MissingInput: context_recall needs 'query', which is blank"),
        ({"reference": ""}, "MissingInput: context_recall needs 'reference', which is blank"),
    ],
)
def test_a_blank_field_costs_its_row_only(given: dict[str, str], reason: str) -> None:
    evaluator = MetricEvaluator(ContextRecall(), llm=Completions())
    result = evaluator.evaluate(**{"query": "?", "contexts": ["y"], "reference": "r", **given})  # type: ignore[arg-type]
    assert (result.score, result.invalid_result) == (None, True)
    assert str(result.invalid_reason).startswith(reason)


def test_unknown_arguments_are_ignored() -> None:
    result = MetricEvaluator(ExactMatch()).evaluate(
        "q", "x", reference="x", second_response="z", sleep_time_in_seconds=0, ground_truth="other"
    )
    assert result.score == 1.0


async def test_it_waits_on_request() -> None:
    loop = asyncio.get_running_loop()
    started = loop.time()
    await MetricEvaluator(ExactMatch()).aevaluate("q", "x", reference="x", sleep_time_in_seconds=0.1)
    assert loop.time() - started >= 0.1


def test_raise_error() -> None:
    strict = MetricEvaluator(ExactMatch(), raise_error=True)
    with pytest.raises(ValueError, match="^The response is invalid: "):
        strict.evaluate(response="x", reference="y")
    assert strict.evaluate(response="x", reference="x").passing


def test_models_of_the_metric_come_first_and_settings_last() -> None:
    own = ScriptedLLM("no")
    Settings.llm = Completions("yes")
    case: dict[str, Any] = {"response": "x", "contexts": ["y"]}
    assert MetricEvaluator(RefineFaithfulness(llm=own), llm=Completions("yes")).evaluate(**case).score == 0.0
    assert MetricEvaluator(RefineFaithfulness()).evaluate(**case).score == 1.0
    Settings.embed_model = Vectors()
    both = MetricEvaluator(AnswerRelevancy(strictness=2), llm=ScriptedLLM(WITH_EMBEDDINGS.calls[0].reply))
    assert both.evaluate(query=QUESTION, response=RESPONSE).score == pytest.approx(0.3)


def test_settings_unset_names_the_cure() -> None:
    Settings._llm = None
    with pytest.raises(ModelError, match=r"give llm=\.\.\. or set llama_index\.core\.Settings\.llm"):
        MetricEvaluator(Faithfulness()).evaluate(query="?", response="x", contexts=["y"])


def test_what_is_no_metric() -> None:
    with pytest.raises(InvalidInput, match=r"takes a metric such as Faithfulness\(\), got Faithfulness"):
        MetricEvaluator(Faithfulness)  # type: ignore[arg-type]
    with pytest.raises(InvalidInput, match="on_error must be 'raise' or 'record', got 'ignore'"):
        MetricEvaluator(Faithfulness(), on_error="ignore")  # type: ignore[arg-type]


def test_windows_shrink_to_what_the_judge_can_read() -> None:
    texts = [f"Sentence number {n} of a long text about nothing." for n in range(200)]
    llm = Completions("no", context_window=1500)
    result = MetricEvaluator(RefineFaithfulness(), llm=llm).evaluate(response="x", contexts=texts)
    assert result.details["windows"] > 2
    assert all(len(prompt) / 4 < 1500 - 200 for prompt in llm.prompts)
    shown = [prompt.partition('"context": "')[2] for prompt in llm.prompts]
    numbers = [int(word) for text in shown for word in text.split() if word.isdigit()]
    assert numbers == list(range(200)), "every piece once, in order"
    wide = Completions("no", context_window=100_000)
    assert (
        MetricEvaluator(RefineFaithfulness(), llm=wide).evaluate(response="x", contexts=texts[:100]).details["windows"]
        == 1
    )
    with pytest.raises(InvalidInput, match="leaves 100 tokens for a question, but the prompt and the inputs take"):
        MetricEvaluator(RefineFaithfulness(), llm=Completions(context_window=300)).evaluate(
            response="x", contexts=["y"]
        )


def test_prompts_are_shown_as_templates_that_render_what_is_asked(server: OpenAIServer, llm: Any) -> None:
    evaluator = MetricEvaluator(Correctness(), llm=llm)
    server.responder = lambda body: "4"
    case: dict[str, Any] = {"query": 'What is "{x}"?', "response": "A brace.\n", "reference": "R"}
    evaluator.evaluate(**case)
    evaluator.update_prompts(evaluator.get_prompts())
    result = evaluator.evaluate(**case)
    before, after = (chat["messages"] for chat in server.chats)
    assert before == after
    assert isinstance(evaluator.get_prompts()["grade"], ChatPromptTemplate)
    assert result.details["prompts"]["grade_correctness"] == "5", "nothing has changed"


@pytest.mark.parametrize("as_text", [True, False])
def test_prompts_can_be_replaced(as_text: bool) -> None:
    llm = Completions("4")
    evaluator = MetricEvaluator(Correctness(), llm=llm)
    text = "Grade {generated_answer} as an answer to {query} by {reference_answer}."
    evaluator.update_prompts({"grade": text if as_text else PromptTemplate(text), "unknown": "ignored"})
    assert evaluator.evaluate(query="{q}", response="A", reference=None).score == 4.0
    (prompt,) = llm.prompts
    assert prompt.startswith("Grade A as an answer to {q} by null.\n\nReply with one JSON object"), "the form is added"


@pytest.mark.parametrize(
    ("build", "problem"),
    [
        (lambda: ours.CorrectnessEvaluator(eval_template="Grade it."), "the template for 'eval_template' shows the judge no data"),
        (lambda: ours.FaithfulnessEvaluator(refine_template="{nope}"), "the template for 'refine_template' shows the judge"),
        (lambda: ours.CorrectnessEvaluator(parser_function=3), "a parser must be a function of the text of a reply, got 3"),
        (lambda: ours.PairwiseComparisonEvaluator(parser_function="x"), "a parser must be a function"),
        (lambda: ours.GuidelineEvaluator(output_parser=3), "output_parser must have a method parse, got 3"),
        (lambda: ours.SemanticSimilarityEvaluator(similarity_fn=3), "similarity_fn must be a function of two vectors, got 3"),
        (lambda: ours.QueryEvaluationHandler([ExactMatch()], on_result=3), "on_result must be a function, got 3"),
    ],
)  # fmt: skip
def test_arguments_that_cannot_work_are_refused_when_an_evaluator_is_made(
    build: Callable[[], Any], problem: str
) -> None:
    with pytest.raises(InvalidInput, match=problem):
        build()


def test_a_template_that_shows_no_data_is_refused() -> None:
    evaluator = MetricEvaluator(Correctness(), llm=Completions("4"))
    evaluator.update_prompts({"grade": "Grade it."})
    with pytest.raises(
        InvalidInput, match="the template for 'grade_correctness' shows the judge no data: use at least one of {data}"
    ):
        evaluator.evaluate(query="q", response="A")


def test_templates_of_one_evaluator_are_its_own() -> None:
    first, second = (MetricEvaluator(Correctness(), llm=Completions("4")) for _ in range(2))
    first.update_prompts({"grade": "{query} {generated_answer}"})
    assert "{query}" not in second.get_prompts()["grade"].get_template()


def test_numbered_inputs_have_their_numbers_in_templates() -> None:
    asked: list[str] = []

    def reply(prompt: str) -> str:
        asked.append(prompt)
        if prompt.startswith("Split"):
            return '{"claims": ["one"]}'
        return '{"verdicts": [{"number": 1, "reason": "so", "supported": true}]}'

    evaluator = MetricEvaluator(Faithfulness(), llm=Completions(reply))
    evaluator.update_prompts({"extract": "Split {answer}", "verify": "Check {claims} by {contexts}"})
    assert evaluator.evaluate(query="?", response="x", contexts=["c"]).score == 1.0
    assert asked[1].startswith('Check {"1": "one"} by {"1": "c"}\n\nReply in JSON')


def test_a_bad_reply_of_the_model_itself_is_an_invalid_result() -> None:
    llm = ScriptedLLM(BadReply("the model refuses to answer", "No."))
    result = MetricEvaluator(RefineFaithfulness(), llm=llm).evaluate(response="x", contexts=["y"])
    assert (result.invalid_result, result.details["raw"]) == (True, ["No."])


def test_ties_neither_pass_nor_fail() -> None:
    llm = ScriptedLLM('{"reason": "", "better": "tie"}', '{"reason": "", "better": "tie"}')
    result = MetricEvaluator(PairwiseComparison(), llm=llm).evaluate(query="?", response="x", second_response="y")
    assert (result.score, result.passing, result.invalid_result) == (0.5, None, False)


def test_a_metric_that_needs_two_models_takes_both() -> None:
    metric = AnswerCorrectness((0.0, 1.0))
    result = MetricEvaluator(metric, llm=LexicalJudge(), embed_model=HashingEmbedding()).evaluate(
        query="?", response="She was born in London.", reference="She was born in London."
    )
    assert result.score == pytest.approx(1.0)


TEXTS = {
    "prose": "The Eiffel Tower was completed in 1889 and remained the tallest building for forty-one years. ",
    "german": "Die Donaudampfschifffahrtsgesellschaft wurde im neunzehnten Jahrhundert gegründet. ",
    "numbers": "718.22 | 36.41 | 902.77 | 5.03\n",
    "json": '{"id": 17, "sku": "A4711-X", "price": 93.15}, ',
    "log": "2024-05-17T12:42:07Z ERROR 9f86d081884c7d65 code=503\n",
    "url": "https://example.com/a/b/c?x=1&y=2&token=ab12 ",
    "chinese": "埃菲尔铁塔建于一八八九年，位于法国首都巴黎，是世界著名的建筑之一。",
    "russian": "Эйфелева башня была построена в 1889 году и находится в Париже. ",
    "hindi": "एफिल टॉवर पेरिस में स्थित है और यह 1889 में बनाया गया था। ",
    "emoji": "😀🎉🚀🔥✅ ",
    "code": "def total(self, rows):\n    return sum(row['price'] * row[\"count\"] for row in rows)\n",
}


@pytest.mark.parametrize("name", TEXTS)
def test_prompts_stay_inside_the_context_window(name: str) -> None:
    count = get_tokenizer()
    text = TEXTS[name] * 100
    assert len(count(text)) <= estimated(text)
    llm = Completions("no", context_window=2000)
    MetricEvaluator(RefineFaithfulness(), llm=llm).evaluate(response="It is in Paris.", contexts=[text])
    assert max(len(count(prompt)) for prompt in llm.prompts) <= 2000 - 200


async def test_each_juror_of_a_jury_is_asked_by_its_own_model() -> None:
    def graded(grade: float) -> LlamaIndexLLM:
        return LlamaIndexLLM(Completions(f'{{"score": {grade}, "reason": "so"}}', model_name=f"m{grade}"))

    jury = Jury(
        [Correctness(llm=graded(2), name="own"), Correctness(name="given"), Correctness(llm=graded(5), name="other")]
    )
    evaluator = MetricEvaluator(jury, graded(4))
    for result in (evaluator.evaluate("When?", "In 1889."), await evaluator.aevaluate("When?", "In 1889.")):
        assert result.score == 4.0
        assert [item["value"] for item in result.details["jurors"]] == [2.0, 4.0, 5.0]
        assert all(item["model"] for item in result.details["jurors"])


async def test_a_juror_whose_model_breaks_does_not_count() -> None:
    class Broken(Completions):
        def complete(self, *_: Any, **__: Any) -> Any:
            raise RuntimeError("out of memory")

    said = Completions('{"score": 4, "reason": "so"}')
    jury = Jury(
        [
            Correctness(llm=LlamaIndexLLM(Broken("")), name="broken"),
            Correctness(name="given"),
            Correctness(4.5, name="strict"),
        ]
    )
    result = MetricEvaluator(jury, said, on_error="record").evaluate("When?", "In 1889.")
    assert result.score == 4.0
    assert [item["state"] for item in result.details["jurors"]] == ["failed", "scored", "scored"]
