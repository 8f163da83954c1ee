"""Which column is which field: names, numbered columns, traces, and what a user says about columns."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel

from core.evaluate.doubles import Length
from core.read.reading import jsonl, looked_at, read, sample_of, samples, write
from ragmetrics_core import InvalidInput, Sample, evaluate, read_samples

NAMES = [
    *("user_input", "question", "query", "input", "id", "rubric", "rubrics"),
    *("response", "answer", "predicted_answer", "generated_answer", "output", "actual_output"),
    *("retrieved_contexts", "contexts", "context", "retrieval_context", "reference_contexts"),
    *("reference", "ground_truth", "reference_answer", "ground_truth_answer", "expected_answer", "expected_output"),
    *("retrieved_documents", "reference_documents"),
]
"""Fields but for metadata, and their other common names."""

Understood = tuple[Sample, dict[str, tuple[str, ...]], tuple[str, ...]]
"""A row: its sample, the columns of each field, and the columns that no field was read from."""


def understood(folder: Path, row: Any, columns: dict[str, str] | None = None) -> Understood:
    path = write(folder / "q.jsonl", jsonl([row]))
    look = looked_at(path, columns)
    fields = {name: tuple(origin["columns"][0]["columns"]) for name, origin in look["fields"].items()}
    (sample,) = read_samples(path, columns=columns)
    return sample, fields, tuple(look["unused"])


def outcome(read: Callable[[Any], Sample], row: Any) -> Sample | str:
    try:
        return read(row)
    except InvalidInput as error:
        return str(error).removeprefix("row 1: ")


def problem(row: Any, columns: dict[str, str] | None = None, separator: str | None = None) -> str:
    with pytest.raises(InvalidInput) as caught:
        sample_of(row, columns, separator)
    return str(caught.value).removeprefix("row 1: ")


class TestNames:
    @pytest.mark.parametrize(
        ("column", "field"),
        [
            ("Question", "user_input"),
            ("USER_INPUT", "user_input"),
            ("userInput", "user_input"),
            ("retrievedContexts", "retrieved_contexts"),
            ("Ground Truth", "reference"),
            (" ground-truth ", "reference"),
            ("expectedOutput", "reference"),
            ("ID", "id"),
        ],
    )
    def test_case_spaces_dashes_and_humps_do_not_matter(self, column: str, field: str) -> None:
        value = ["x"] if field == "retrieved_contexts" else "x"
        assert sample_of({column: value}) == Sample(**{field: value})
        assert Sample.from_mapping({column: value}) == Sample(**{field: value})
        assert sample_of({column: value}).get(column) == value

    def test_the_very_name_wins(self, tmp_path: Path) -> None:
        row = {"Question": "other", "question": "q", "QUERY": "another"}
        expected = Sample("q", metadata={"Question": "other", "QUERY": "another"})
        assert sample_of(row) == Sample.from_mapping(row) == expected
        assert understood(tmp_path, row) == (expected, {"user_input": ("question",)}, ("Question", "QUERY"))
        assert sample_of({"Question": "q", "user_input": None}) == Sample(metadata={"Question": "q"})

    @pytest.mark.parametrize("names", [("question", "query"), ("Question", "Query")])
    def test_columns_of_one_rank_must_agree(self, names: tuple[str, str]) -> None:
        first, second = names
        assert sample_of({first: "q", second: "q"}) == Sample("q")
        assert sample_of({first: None, second: "q"}) == Sample("q")
        message = f"the columns {first!r} and {second!r} both mean 'user_input' but differ: keep one of them"
        assert problem({first: "q", second: "p"}) == f"{message}, or choose: columns={{'user_input': {first!r}}}"
        with pytest.raises(InvalidInput, match=f"^{message}$"):
            Sample.from_mapping({first: "q", second: "p"})

    def test_what_resembles_metadata_is_a_column_like_others(self) -> None:
        assert sample_of({"Metadata": "a note", "response": "r"}) == Sample(
            response="r", metadata={"Metadata": "a note"}
        )
        assert sample_of({"metadata": {"a": 1}, "lang": "de"}) == Sample(metadata={"a": 1, "lang": "de"})
        assert sample_of({"metadata": None, "lang": "de"}) == Sample(metadata={"lang": "de"})
        assert problem({"metadata": [1]}) == "metadata must be a mapping, got list"

    def test_a_column_whose_name_is_no_text(self) -> None:
        assert sample_of({0: "q", "response": "r"}) == Sample(response="r", metadata={0: "q"})  # type: ignore[dict-item]
        assert sample_of({0: "q"}, {"question": "0"}) == Sample("q")

    @given(st.dictionaries(st.sampled_from(NAMES), st.text(min_size=1)))
    def test_reading_agrees_with_from_mapping(self, row: dict[str, str]) -> None:
        """Where cells are texts that no list or object begins with."""
        row = {name: f"x{text}" for name, text in row.items() if "context" not in name and "document" not in name}
        row = {name: text for name, text in row.items() if "rubric" not in name}
        read, made = (outcome(way, row) for way in (sample_of, Sample.from_mapping))
        assert read == made or (isinstance(read, str) and read.startswith(f"{made}, or choose: "))


class TestNumbered:
    @pytest.mark.parametrize(
        "names",
        [
            ("context_1", "context_2", "context_10"),
            ("context1", "context2", "context10"),
            ("contexts_0", "contexts_1", "contexts_2"),
            ("document_1", "document_2", "document_3"),
            ("Chunk-1", "Chunk-2", "Chunk-3"),
            ("Passage 9", "Passage 10", "Passage 11"),
            ("retrieved_context_1", "retrieved_context_2", "retrieved_context_3"),
            ("doc1", "doc2", "doc3"),
        ],
    )
    def test_are_gathered_in_the_order_of_their_numbers(self, tmp_path: Path, names: tuple[str, str, str]) -> None:
        row = dict(zip(reversed(names), "cba", strict=True))
        found = understood(tmp_path, row)
        assert found == (Sample(retrieved_contexts=["a", "b", "c"]), {"retrieved_contexts": names}, ())

    def test_empty_cells_are_left_out(self) -> None:
        row = {"context_1": "a", "context_2": None, "context_3": "  ", "context_4": float("nan"), "context_5": "b"}
        assert sample_of(row) == Sample(retrieved_contexts=["a", "b"])
        assert sample_of({"context_1": None, "context_2": ""}) == Sample(retrieved_contexts=[])

    def test_of_references(self) -> None:
        row = {"reference_context_1": "a", "reference_context_2": "b"}
        assert sample_of(row) == Sample(reference_contexts=["a", "b"])

    def test_a_column_of_the_name_wins(self) -> None:
        row = {"contexts": ["a"], "context_1": "b"}
        assert sample_of(row) == Sample(retrieved_contexts=["a"], metadata={"context_1": "b"})

    def test_differently_named_ones_must_agree(self) -> None:
        assert problem({"context_1": "a", "context_2": "b", "chunk_1": "c"}) == (
            "the columns 'context_1, context_2' and 'chunk_1' both mean 'retrieved_contexts' but differ: keep one of them"
        )

    @pytest.mark.parametrize("name", ["context_id", "document", "context_1_score", "doc_2024", "answer_1"])
    def test_other_columns_are_not(self, name: str) -> None:
        assert sample_of({name: "x"}) == Sample(metadata={name: "x"})


class TestMapping:
    """``columns=``."""

    def test_the_example_that_points_both_ways(self, tmp_path: Path) -> None:
        row = {"prompt": "q", "context_2": "b", "context_1": "a", "context_10": "c", "lang": "de"}
        found = understood(tmp_path, row, {"question": "prompt", "context_*": "contexts"})
        assert found[0] == Sample("q", retrieved_contexts=["a", "b", "c"], metadata={"lang": "de"})
        assert found[1] == {
            "user_input": ("prompt",),
            "retrieved_contexts": ("context_1", "context_2", "context_10"),
        }
        assert found[2] == ("lang",)

    @pytest.mark.parametrize(
        "columns",
        [{"user_input": "question"}, {"question": "question"}, {"User Input": "question"}, {"query": "Question"}],
    )
    def test_the_field_stands_first(self, columns: dict[str, str]) -> None:
        assert sample_of({"question": "q", "user_input": "other"}, columns).user_input == "q"

    def test_the_column_may_stand_first_where_it_is_no_field(self) -> None:
        assert sample_of({"prompt": "q"}, {"prompt": "question"}) == Sample("q")
        assert sample_of({"answer": "r"}, {"reference": "answer"}) == Sample(reference="r")

    def test_a_named_column_is_taken_from_its_own_field(self) -> None:
        row = {"answer": "expected", "model_answer": "said"}
        columns = {"reference": "answer", "response": "model_answer"}
        assert sample_of(row, columns) == Sample(response="said", reference="expected")
        assert sample_of(row, {"reference": "answer"}) == Sample(
            reference="expected", metadata={"model_answer": "said"}
        )

    def test_other_columns_of_the_field_give_way(self) -> None:
        row = {"context": "background", "retrieved": "['a']"}
        assert sample_of(row, {"contexts": "retrieved"}) == Sample(
            retrieved_contexts=["a"], metadata={"context": "background"}
        )

    def test_two_for_one_field_must_agree(self) -> None:
        assert problem({"a": "1", "b": "2"}, {"question": "a", "user_input": "b"}) == (
            "the columns 'a' and 'b' both mean 'user_input' but differ: keep one of them, or choose: columns={'user_input': 'a'}"
        )

    @pytest.mark.parametrize(
        ("pattern", "row", "found"),
        [
            ("ctx *", {"ctx b": "1", "ctx a": "2"}, ["1", "2"]),
            ("*_text", {"p2_text": "b", "p1_text": "a", "p1_id": "x"}, ["a", "b"]),
            ("Snippet_*", {"snippet 1": "a", "snippet 2": None}, ["a"]),
            ("hits.text_*", {"hits": {"text_10": "b", "text_9": "a", "n": "x"}}, ["a", "b"]),
        ],
    )
    def test_patterns(self, pattern: str, row: dict[str, Any], found: list[str]) -> None:
        assert sample_of(row, {"contexts": pattern}).retrieved_contexts == found

    @pytest.mark.parametrize(
        ("column", "row"),
        [
            ("outputs.text", {"outputs": {"text": "r"}}),
            ("a.b.c", {"a": {"b": {"c": "r"}}}),
            ("a.b.c", {"a.b": {"c": "r"}, "a": {"b": {"c": "other"}}}),
            ("a.b", {"a.b": "r", "a": {"b": "other"}}),
            ("answers.text.0", {"answers": {"text": ["r", "s"]}}),
            ("answers.text", {"answers": {"text": ["r"]}}),
            ("choices.0.text", {"choices": [{"text": "r"}]}),
            ("raw.text", {"raw": '{"text": "r"}'}),
            ("raw.text", {"raw": "{'text': 'r'}"}),
        ],
    )
    def test_paths(self, column: str, row: dict[str, Any]) -> None:
        assert sample_of(row, {"response": column}).response == "r"

    def test_a_path_goes_through_a_list(self, tmp_path: Path) -> None:
        row = {"hits": [{"text": "a", "id": 1}, {"id": 2}, {"text": "b"}], "n": 3}
        found = understood(tmp_path, row, {"contexts": "hits.text"})
        expected = Sample(retrieved_contexts=["a", "b"], metadata=row)
        assert found == (expected, {"retrieved_contexts": ("hits.text",)}, ("n",))

    def test_what_a_pattern_inside_matches_is_used(self, tmp_path: Path) -> None:
        row = {"hits": {"text_10": "b", "text_9": "a", "n": "x"}}
        found = understood(tmp_path, row, {"contexts": "hits.text_*"})
        assert found[1] == {"retrieved_contexts": ("hits.text_9", "hits.text_10")}
        assert found[2] == ("hits.n",)

    def test_arrays_inside_of_objects(self) -> None:
        row = {"answers": {"text": np.array(["r", "s"], dtype=object)}}
        assert sample_of(row, {"reference": "answers.text.0"}) == Sample(reference="r", metadata=row)

    def test_fields_that_are_no_texts_must_agree_too(self) -> None:
        assert sample_of({"Id": 5, "ID": 5}) == Sample(id=5)  # type: ignore[arg-type]
        assert problem({"Id": 5, "ID": 6}).startswith("the columns 'Id' and 'ID' both mean 'id' but differ: ")

    def test_what_a_path_leaves_is_unused(self, tmp_path: Path) -> None:
        row = {"answers": {"text": ["r"], "answer_start": [1]}}
        assert understood(tmp_path, row, {"reference": "answers.text"})[2] == ("answers.answer_start",)

    def test_several_texts_where_one_is_expected(self) -> None:
        assert problem({"answers": {"text": ["r", "s"]}}, {"reference": "answers.text"}) == (
            "answers.text has 2 values, but reference is one text: name one, as in answers.text.0"
        )

    def test_a_row_without_the_column_has_no_value(self) -> None:
        rows = [{"prompt": "q"}, {"other": 1}, {"answers": {"text": []}, "prompt": "p"}]
        found = read_samples(rows, columns={"question": "prompt", "response": "answers.text.0"})
        assert [(sample.user_input, sample.response) for sample in found] == [("q", None), (None, None), ("p", None)]

    def test_columns_of_samples(self) -> None:
        rows = [Sample("q", "old", metadata={"new answer": "new"})]
        assert samples(rows, columns={"response": "new answer"})[0] == Sample("q", "new", metadata={"response": "old"})


ROWS = [{"prompt": "q", "answer": "a", "out": {"text": "b"}}, {"prompt": "p", "late": "x"}]


class TestColumnsThatAreNowhere:
    @pytest.mark.parametrize(
        ("columns", "message"),
        [
            (
                {"question": "promt"},
                (
                    "columns={'question': 'promt'} reads 'user_input' from the column 'promt', which is in no row; did you mean "
                    "'prompt'? (there are: prompt, answer, out.text, late)"
                ),
            ),
            (
                {"response": "out.txt"},
                (
                    "columns={'response': 'out.txt'} reads 'response' from the column 'out.txt', which is in no row; did you mean "
                    "'out.text'? (there are: prompt, answer, out.text, late)"
                ),
            ),
            (
                {"answer": "response"},
                (
                    "columns={'answer': 'response'} reads 'response' from the column 'response', which is in no row "
                    "(there are: prompt, answer, out.text, late)"
                ),
            ),
            (
                {"contexts": "passage_*"},
                (
                    "columns={'contexts': 'passage_*'} reads 'retrieved_contexts' from the column 'passage_*', which is in no row "
                    "(there are: prompt, answer, out.text, late)"
                ),
            ),
        ],
    )
    def test_the_columns_are_listed(self, columns: dict[str, str], message: str) -> None:
        with pytest.raises(InvalidInput) as caught:
            evaluate(ROWS, Length(), columns=columns, progress=False)
        assert str(caught.value) == message

    def test_one_row_that_has_it_is_enough(self) -> None:
        result = evaluate(ROWS, Length(), columns={"response": "late"}, progress=False)
        assert [score.value for score in result.scores["length"]] == [None, 0.1]

    def test_not_all_rows_are_held_back(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("ragmetrics_core._read._columns.MOST_HELD", 3)
        rows = [{f"a{number}": "x" for number in range(30)}] * 5
        with pytest.raises(InvalidInput) as caught:
            read_samples(iter(rows), columns={"question": "b"})
        listed = ", ".join(f"a{number}" for number in range(20))
        assert str(caught.value) == (
            "columns={'question': 'b'} reads 'user_input' from the column 'b', which is in no row of the first 3 "
            f"(there are: {listed} and 10 more)"
        )

    def test_rows_that_cannot_be_read_are_reported_as_ever(self, tmp_path: Path) -> None:
        path = write(tmp_path / "q.jsonl", '{"a": "q"}\n[1]\n{"b": "x"}\n')
        rows = read(path, columns={"question": "b"})
        assert [sample.user_input for _, sample, _ in rows] == [None, None, "x"]
        assert str(rows[1][2]).startswith("q.jsonl, line 2: a row must be a JSON object")
        with pytest.raises(InvalidInput, match=r"^q\.jsonl, line 1: a row must be a JSON object"):
            read(write(path, "[1]\n"), columns={"question": "b"})


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ("a=b", "columns must map fields to columns, as {'question': 'prompt'} does, got 'a=b'"),
        ({"question": 1}, "columns must map names to names, got 'question': 1"),
        ({"question": " "}, "columns must map names to names, got 'question': ' '"),
        (
            {"qestion": "prompt"},
            (
                "columns={'qestion': 'prompt'}: neither name is a field; did you mean 'question'? (the fields are history, id, "
                "metadata, reference, reference_contexts, reference_documents, response, retrieved_contexts, retrieved_documents, "
                "rubric, user_input)"
            ),
        ),
        (
            {"a_*": "b_*"},
            (
                "columns={'a_*': 'b_*'}: neither name is a field (the fields are history, id, metadata, reference, "
                "reference_contexts, reference_documents, response, retrieved_contexts, retrieved_documents, rubric, user_input)"
            ),
        ),
        (
            {"question": "context_*"},
            "columns={'question': 'context_*'}: 'context_*' may be several columns, but user_input is one value: name one",
        ),
    ],
)
def test_columns_that_say_nothing(columns: Any, message: str) -> None:
    with pytest.raises(InvalidInput) as caught:
        evaluate([{"response": "x"}], Length(), columns=columns)
    assert str(caught.value) == message


@pytest.mark.parametrize("separator", ["", 5])
def test_a_separator_that_separates_nothing(separator: Any) -> None:
    with pytest.raises(InvalidInput, match=r"^separator must be a text such as '\|\|', got "):
        evaluate([{"response": "x"}], Length(), separator=separator)


class Example(BaseModel):
    """What LangSmith's examples are: their outputs are the expected ones."""

    dataset_id: str = "d"
    inputs: dict[str, Any]
    outputs: dict[str, Any]


class LabelledExample(BaseModel):
    """An example of a LlamaIndex data set."""

    query: str
    reference_answer: str
    reference_contexts: list[str]


class LabelledDataset(BaseModel):
    """A LlamaIndex data set, which is a model itself."""

    examples: list[LabelledExample]


@dataclass
class Answer:
    """An answer as Haystack has it."""

    query: str
    data: str


class TestTraces:
    @pytest.mark.parametrize(
        ("row", "expected"),
        [
            (
                {"inputs": {"question": "q"}, "outputs": {"answer": "a"}, "reference_outputs": {"answer": "r"}},
                Sample("q", "a", reference="r"),
            ),
            (
                {"inputs.question": "q", "outputs.Answer": "a", "reference_outputs.answer": "r"},
                Sample("q", "a", reference="r"),
            ),
            ({"dataset_id": "d", "inputs": {"question": "q"}, "outputs": {"answer": "r"}}, Sample("q", reference="r")),
            (
                {"dataset_id": "d", "trace_id": "t", "inputs": {"question": "q"}, "outputs": {"answer": "a"}},
                Sample("q", "a"),
            ),
            (
                {
                    "vars": {"question": "q", "context": "c", "answer": "?"},
                    "response": {"output": "a", "cached": False},
                },
                Sample("q", "a", ["c"]),
            ),
            (
                {
                    "input": {"question": "q"},
                    "output": {"answer": "a", "contexts": ["c"]},
                    "expectedOutput": {"answer": "r"},
                },
                Sample("q", "a", ["c"], "r"),
            ),
            (
                {
                    "input": [{"role": "system", "content": "s"}, {"role": "user", "content": "q"}],
                    "output": {"role": "assistant", "content": "a"},
                    "expected_output": "r",
                },
                Sample("q", "a", reference="r"),
            ),
            (
                {"inputs": {"query": "q"}, "outputs": {"context_2": "d", "context_1": "c", "output": "a"}},
                Sample("q", "a", ["c", "d"]),
            ),
            (
                {"reference_outputs": {"contexts": [{"text": "c"}], "ground_truth": "r"}},
                Sample(reference="r", reference_contexts=["c"]),
            ),
            ({"output": {"text": "?"}}, Sample(response={"text": "?"})),  # type: ignore[arg-type]
            ({"question": "q", "inputs": {"question": "other"}}, Sample("q")),
        ],
    )
    def test_what_is_read_from_them(self, row: dict[str, Any], expected: Sample) -> None:
        found = sample_of(row).to_dict()
        found.pop("metadata", None)
        assert found == expected.to_dict()

    def test_what_is_not_read_is_kept_and_named(self, tmp_path: Path) -> None:
        row = {"inputs": {"question": "q", "lang": "de"}, "outputs": {"answer": "a"}, "latency": 0.5}
        assert understood(tmp_path, row) == (
            Sample("q", "a", metadata=row),
            {"user_input": ("inputs.question",), "response": ("outputs.answer",)},
            ("inputs.lang", "latency"),
        )

    def test_places_must_agree(self) -> None:
        assert problem({"outputs": {"answer": "a", "output": "b"}}) == (
            "the columns 'outputs.answer' and 'outputs.output' both mean 'response' but differ: keep one of them, or choose: "
            "columns={'response': 'outputs.answer'}"
        )


class TestObjects:
    def test_models_and_data_classes(self) -> None:
        found = sample_of(Example(inputs={"question": "q"}, outputs={"answer": "r"}))
        assert (found.user_input, found.response, found.reference) == ("q", None, "r")
        doubtful = Example(inputs={"question": "NaN"}, outputs={"answer": "n/a"})
        caveats = evaluate([doubtful], Length(), progress=False).caveats
        assert [caveat.partition(") and ")[0] for caveat in caveats] == [
            "user_input is 'NaN' in 1 row (column 'inputs.question': row 1",
            "reference is 'n/a' in 1 row (column 'outputs.answer': row 1",
        ]
        assert sample_of(Answer("q", "a"), {"response": "data"}) == Sample("q", "a")

    def test_a_data_set_that_is_a_model(self) -> None:
        example = LabelledExample(query="q", reference_answer="r", reference_contexts=["c"])
        (sample,) = read_samples(LabelledDataset(examples=[example]))
        assert sample == Sample("q", reference="r", reference_contexts=["c"])

    def test_one_model_is_not_several(self) -> None:
        with pytest.raises(
            InvalidInput, match=r"^samples must be several rows, got one LabelledExample: write \[row\]$"
        ):
            read_samples(LabelledExample(query="q", reference_answer="r", reference_contexts=[]))


class TestLookingAtRows:
    def test_rows_that_cannot_be_read_say_why(self) -> None:
        rows: list[Any] = [Sample("q"), {"question": "q", "query": "p"}, 5]
        (good, *bad) = read(rows)
        first, second = (str(why) for _, _, why in bad)
        assert good == ("row 1", Sample("q"), None)
        assert first.startswith("row 2: the columns 'question' and 'query' both mean 'user_input' but differ: ")
        assert second == "row 3: a row must be a Sample or a mapping from column names to values, got int"

    def test_they_are_counted(self, tmp_path: Path) -> None:
        look = looked_at(write(tmp_path / "q.jsonl", jsonl([{"user_input": "q"}, {"question": "q", "query": "p"}])))
        assert (look["rows"], look["good"], len(look["problems"])) == (2, 1, 1)
        assert look["first"] == [{"place": "q.jsonl, line 1", "user_input": "q"}]
