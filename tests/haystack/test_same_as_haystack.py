"""The evaluators without a model against Haystack's own, on generated inputs: the same outputs, the same errors."""

from __future__ import annotations

import copy
import logging
from importlib.metadata import version
from typing import Any

import pytest
from haystack.components import evaluators as haystack_evaluators
from hypothesis import given
from hypothesis import strategies as st

import ragmetrics_haystack
from examples import examples
from haystack import Document

# what is compared is what this release and its successors do
HAYSTACK = tuple(int(part) for part in version("haystack-ai").split(".")[:2])
pytestmark = pytest.mark.skipif(HAYSTACK < (3, 4), reason="Haystack's own evaluators did other things before 3.4")

TEXTS = st.sampled_from([None, "", " ", "Paris", "paris", "Berlin", "9th", "é", "a\nb"])
META = st.one_of(
    st.just({}),
    st.fixed_dictionaries({"key": st.one_of(st.none(), st.sampled_from(["", "x", "y", 1, 1.0, True, 2]))}),
    st.fixed_dictionaries({"key": st.fixed_dictionaries({"inner": st.sampled_from([None, "", "x", 1])})}),
    st.fixed_dictionaries({"": st.sampled_from(["x", None])}),
)
IDS = st.sampled_from(["", "1", "2", "3"])
FIELDS = ["content", "id", "meta.key", "meta.key.inner", "meta.absent", "meta.", "meta", "name", ""]
GRADES = st.one_of(st.none(), st.sampled_from([0, 0.0, 0.25, 1, 1.0, 2.0, 3, 1e6]))


NOT_GRADED = st.none()


def documents(graded: Any = NOT_GRADED) -> st.SearchStrategy[list[Document]]:
    one = st.builds(Document, id=IDS, content=TEXTS, meta=META, score=graded)
    return st.lists(one, max_size=5)


def rows(graded: Any = NOT_GRADED) -> st.SearchStrategy[tuple[Any, Any]]:
    same = st.integers(0, 4).flatmap(
        lambda n: st.tuples(
            st.lists(documents(graded), min_size=n, max_size=n), st.lists(documents(), min_size=n, max_size=n)
        )
    )
    return st.one_of(
        same, same, same, st.tuples(st.lists(documents(graded), max_size=3), st.lists(documents(), max_size=3))
    )


def outcome(evaluator: Any, *args: Any) -> Any:
    """What came of it: the outputs, or the error as type and text."""
    try:
        return evaluator.run(*copy.deepcopy(args))
    except (ValueError, AttributeError, TypeError) as error:
        return type(error), str(error)


def check(name: str, settings: dict[str, Any], *args: Any) -> None:
    theirs = outcome(getattr(haystack_evaluators, name)(**settings), *args)
    ours = outcome(getattr(ragmetrics_haystack, name)(**settings), *args)
    if isinstance(theirs, tuple) and theirs[0] is TypeError and "unhashable" in theirs[1]:
        # lists and mappings among the metadata stop two of Haystack's evaluators, but none of these
        assert all(0 <= value <= 1 for value in ours["individual_scores"])
        return
    if isinstance(theirs, tuple):
        assert ours == theirs
        return
    assert ours["score"] == pytest.approx(theirs["score"], abs=1e-12)
    assert ours["individual_scores"] == pytest.approx(theirs["individual_scores"], abs=1e-12)
    assert all(0 <= value <= 1 for value in ours["individual_scores"])


@pytest.mark.parametrize("name", ["DocumentMAPEvaluator", "DocumentMRREvaluator"])
@given(inputs=rows(), field=st.sampled_from(FIELDS))
@examples(150)
def test_rankings(name: str, inputs: tuple[Any, Any], field: str) -> None:
    check(name, {"document_comparison_field": field}, *inputs)


@given(inputs=rows(), field=st.sampled_from(FIELDS), mode=st.sampled_from(["single_hit", "multi_hit"]))
@examples(150)
def test_recall(inputs: tuple[Any, Any], field: str, mode: str) -> None:
    logging.disable(logging.WARNING)
    try:
        check("DocumentRecallEvaluator", {"mode": mode, "document_comparison_field": field}, *inputs)
    finally:
        logging.disable(logging.NOTSET)


@given(inputs=rows(GRADES), field=st.sampled_from(FIELDS))
@examples(300)
def test_ndcg(inputs: tuple[Any, Any], field: str) -> None:
    check("DocumentNDCGEvaluator", {"document_comparison_field": field}, *inputs)


@given(truths=documents(GRADES), found=documents(), field=st.sampled_from(["content", "id", "meta.key.inner"]))
@examples(150)
def test_gains(truths: list[Document], found: list[Document], field: str) -> None:
    theirs = haystack_evaluators.DocumentNDCGEvaluator(document_comparison_field=field)
    ours = ragmetrics_haystack.DocumentNDCGEvaluator(document_comparison_field=field)
    assert ours.calculate_dcg(truths, found) == pytest.approx(theirs.calculate_dcg(truths, found), rel=1e-12)
    assert ours.calculate_idcg(truths) == pytest.approx(theirs.calculate_idcg(truths), rel=1e-12)


ANSWERS = st.one_of(
    st.sampled_from(["", " ", "Paris", "paris", "Paris ", "é", "e\u0301"]),
    st.sampled_from([None, 1, 1.0, True, 0, False, "1", [], [1], ["1"], [True], {"a": 1}]),
)


@given(truths=st.lists(ANSWERS, max_size=5), predicted=st.lists(ANSWERS, max_size=5))
@examples(150)
def test_exact_match(truths: list[Any], predicted: list[Any]) -> None:
    check("AnswerExactMatchEvaluator", {}, truths, predicted)
    check("AnswerExactMatchEvaluator", {}, truths, list(truths))


@pytest.mark.parametrize(
    "arguments", [("abc", "abd"), (("a", "b"), ("a", "c")), (["a"], "a"), ("", ""), (None, []), (5, 5)]
)
def test_exact_match_of_other_things(arguments: tuple[Any, Any]) -> None:
    check("AnswerExactMatchEvaluator", {}, *arguments)


@pytest.mark.parametrize(
    "name", ["DocumentMAPEvaluator", "DocumentMRREvaluator", "DocumentNDCGEvaluator", "DocumentRecallEvaluator"]
)
@pytest.mark.parametrize(
    "inputs",
    [
        (["text"], ["text"]),
        ([["text"]], [[Document(content="text")]]),
        ([[Document(content="text")]], [["text"]]),
        ([[{"content": "text"}]], [[Document(content="text")]]),
        ([None], [None]),
        (None, []),
        ([], None),
        ([[]], []),
        ([[], []], [[]]),
        ([[]], [[]]),
        ([Document(content="text")], [Document(content="text")]),
    ],
)
@pytest.mark.parametrize("field", ["content", "id", "meta.key", "title"])
def test_inputs_that_are_no_documents(name: str, inputs: tuple[Any, Any], field: str) -> None:
    check(name, {"document_comparison_field": field}, *inputs)
