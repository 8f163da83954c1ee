"""Matching retrieved to relevant documents, and what all ranking metrics have in common."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from ragmetrics_core import Document, InvalidInput, Metric, MissingInput, Sample, Score, evaluate
from ragmetrics_core.metrics import NDCG, AveragePrecision, HitRate, Precision, Recall, ReciprocalRank
from ragmetrics_core.metrics.matching import find_hits

RANKING = [AveragePrecision, ReciprocalRank, NDCG, Recall, Precision, HitRate]

letters = st.sampled_from("abcdefgh")
metrics = st.sampled_from(RANKING)


def url(*values: object) -> list[Document]:
    return [Document(meta={"url": value}) for value in values]


def ranks(retrieved: list, reference: list, field: str = "content", k: int | None = None) -> list[int]:
    return find_hits(retrieved, reference, field, k).ranks


class TestRanks:
    def test_are_those_of_the_relevant_documents_from_one(self) -> None:
        hits = find_hits(["x", "b", "y", "a"], ["a", "b", "c"], "content", None)

        assert hits.ranks == [2, 4]
        assert hits.found == [1, 0]
        assert hits.relevant == [0, 1, 2]
        assert hits.retrieved == 4

    def test_a_cut_off_hides_what_comes_later(self) -> None:
        hits = find_hits(["x", "b", "y", "a"], ["a", "b"], "content", 2)

        assert (hits.ranks, hits.retrieved) == ([2], 2)

    def test_a_duplicate_counts_once_at_its_first_rank_and_keeps_its_place(self) -> None:
        assert ranks(["a", "a", "b", "a"], ["a", "b"]) == [1, 3]

    def test_duplicate_relevant_documents_collapse_to_the_first(self) -> None:
        hits = find_hits(["b"], ["a", "b", "b", "a"], "content", None)

        assert (hits.relevant, hits.found) == ([0, 1], [1])

    def test_a_missing_value_never_matches_but_keeps_its_rank(self) -> None:
        retrieved = [Document(id="a"), Document("b", id="b"), Document("c")]

        assert ranks(retrieved, [Document("b"), Document(id="a"), Document("c")]) == [2, 3]

    def test_relevant_documents_without_a_value_are_not_counted(self) -> None:
        assert len(find_hits(["a"], [Document("a"), Document(id="b")], "content", None).relevant) == 1

    def test_empty_content_is_a_value_like_any_other(self) -> None:
        assert ranks(["", "a"], ["", "a"]) == [1, 2]


class TestFields:
    def test_content_and_id(self) -> None:
        one, other = Document("text", id="1"), Document("text", id="2")

        assert ranks([one], [other], "content") == [1]
        assert ranks([one], [other], "id") == []

    def test_plain_strings_are_contents_or_ids(self) -> None:
        assert ranks(["1"], [Document("1", id="x")], "content") == [1]
        assert ranks(["1"], [Document("x", id="1")], "id") == [1]
        assert ranks([Document("x", id="1")], ["1"], "id") == [1]

    def test_plain_strings_never_match_by_metadata(self) -> None:
        assert ranks(["u"], url("u"), "meta.url") == []
        assert find_hits(url("u"), ["u"], "meta.url", None).relevant == []

    def test_nested_metadata(self) -> None:
        deep = [Document(meta={"file": {"page": {"number": 3}}})]

        assert ranks(deep, deep, "meta.file.page.number") == [1]
        assert ranks(deep, deep, "meta.file.page") == [1]
        assert ranks(deep, deep, "meta.file.sheet.number") == []
        assert ranks(deep, deep, "meta.file.page.number.digit") == []

    def test_equality_is_that_of_python(self) -> None:
        assert ranks(url(1, "1"), url(True), "meta.url") == [1]
        assert ranks(url(1.0), url(1), "meta.url") == [1]

    def test_nan_equals_nothing_not_even_the_same_object(self) -> None:
        nan = math.nan
        assert find_hits(url(nan), url(nan), "meta.url", None).relevant == []
        assert ranks(url([], nan, 1), url(nan, [1], 1), "meta.url") == [3]

    @pytest.mark.parametrize("value", [["a", 1], {"a": 1}, {1, 2}, [["a"], {}], np.array([1, 2]), np.float64(2.5)])
    def test_values_that_cannot_be_hashed_match_too(self, value: object) -> None:
        assert ranks(url("x", value, value), url("y", value), "meta.url") == [2]
        assert ranks(url("x", "y"), url("y", value), "meta.url") == [2]
        assert ranks(url(value, "y"), url("y"), "meta.url") == [2]

    def test_arrays_equal_lists_of_the_same_items(self) -> None:
        assert ranks(url([1, 2]), url(np.array([1, 2])), "meta.url") == [1]

    @given(st.lists(letters), st.lists(letters), st.none() | st.integers(1, 9))
    def test_search_and_look_up_agree(self, retrieved: list[str], reference: list[str], k: int | None) -> None:
        lists = (
            [Document(meta={"url": [text]}) for text in retrieved],
            [Document(meta={"url": [text]}) for text in reference],
        )

        assert find_hits(*lists, "meta.url", k)[:4] == find_hits(retrieved, reference, "content", k)[:4]


@pytest.mark.parametrize("cls", RANKING)
class TestEveryRankingMetric:
    @pytest.mark.parametrize("k", [0, -1, True, 1.0, "3"])
    def test_refuses_an_impossible_cut_off(self, cls: type[Metric], k: object) -> None:
        with pytest.raises(InvalidInput) as caught:
            cls(k=k)
        assert str(caught.value) == f"{cls.default_name()}: k must be a whole number from 1 or None, got {k!r}"

    @pytest.mark.parametrize("field", ["", "meta", "meta.", "meta.a..b", "meta.a.", "a.b", None, 3])
    def test_refuses_an_unknown_field(self, cls: type[Metric], field: object) -> None:
        with pytest.raises(InvalidInput) as caught:
            cls(field=field)
        assert str(caught.value).startswith(
            f"{cls.default_name()}: field must be 'content', 'id' or 'meta.<key>[.<key>]', got {field!r}"
        )

    def test_shows_how_to_match_by_metadata(self, cls: type[Metric]) -> None:
        with pytest.raises(InvalidInput) as caught:
            cls(field="url")
        assert str(caught.value) == (
            f"{cls.default_name()}: field must be 'content', 'id' or 'meta.<key>[.<key>]', got 'url': write 'meta.url' for an "
            "entry of the metadata"
        )

    def test_round_trips_and_shows_its_settings(self, cls: type[Metric]) -> None:
        metric = cls(k=3, field="meta.url")

        assert Metric.from_dict(metric.to_dict()) == metric
        assert metric.to_dict()["metric"] == cls.__name__
        assert repr(metric) == f"{cls.__name__}(k=3, field='meta.url')"
        assert repr(cls()) == f"{cls.__name__}()"
        assert hash(metric) == hash(cls(k=3, field="meta.url"))

    def test_nothing_retrieved_is_zero(self, cls: type[Metric]) -> None:
        score = cls().score(retrieved_documents=[], reference_documents=["a"])

        assert (score.value, score.state) == (0.0, "scored")
        assert score.details == {"ranks": [], "relevant": 1, "retrieved": 0}

    def test_no_hit_is_zero_without_a_reason(self, cls: type[Metric]) -> None:
        score = cls().score(retrieved_documents=["x"], reference_documents=["a"])

        assert (score.value, score.reason) == (0.0, None)

    def test_relevant_documents_without_a_value_are_unscored(self, cls: type[Metric]) -> None:
        score = cls(field="id").score(retrieved_documents=["a"], reference_documents=[Document("a"), Document("b")])

        assert score.state == "unscored"
        assert score.reason == "none of the 2 reference_documents has a value in the field 'id' to match by"

    def test_says_so_when_no_retrieved_document_has_a_value(self, cls: type[Metric]) -> None:
        score = cls(field="id").score(retrieved_documents=[Document("a")], reference_documents=[Document("a", id="1")])

        assert score.value == 0.0
        assert score.reason == "none of the 1 retrieved_documents has a value in the field 'id' to match by"

    def test_details_hold_ranks_counts_and_the_cut_off(self, cls: type[Metric]) -> None:
        score = cls(k=4).score(retrieved_documents=["x", "b", "b", "a", "c"], reference_documents=["a", "b", "c", "c"])

        assert score.details == {"ranks": [2, 4], "relevant": 3, "retrieved": 4, "k": 4}

    def test_missing_inputs_are_named(self, cls: type[Metric]) -> None:
        name = cls().name
        with pytest.raises(MissingInput) as caught:
            cls().score(retrieved_documents=["a"], reference_documents=[])
        assert str(caught.value).startswith(f"{name} needs 'reference_documents', which is an empty list")
        with pytest.raises(MissingInput, match="'retrieved_documents', which is missing"):
            cls().score(reference_documents=["a"])

    def test_takes_mappings_and_samples(self, cls: type[Metric]) -> None:
        row = {"retrieved_documents": [{"id": "1"}], "reference_documents": [{"id": "1", "content": "text"}]}

        assert cls(field="id").score(row).value == 1.0
        assert cls(field="id").score(Sample.from_mapping(row)).value == 1.0

    def test_names_the_place_of_what_is_no_document(self, cls: type[Metric]) -> None:
        with pytest.raises(
            InvalidInput, match=r"retrieved_documents\[1\] must be a Document, a mapping or a str, got int"
        ):
            cls().score(retrieved_documents=["a", 2], reference_documents=["a"])


class TestProperties:
    @given(metrics, st.lists(letters), st.lists(letters, min_size=1), st.none() | st.integers(1, 9))
    def test_values_are_floats_from_zero_to_one(
        self, cls: type[Metric], retrieved: list[str], reference: list[str], k: int | None
    ) -> None:
        value = cls(k=k).measure(retrieved, reference).value

        assert type(value) is float
        assert 0.0 <= value <= 1.0

    @given(metrics, st.lists(letters), st.lists(letters, min_size=1), st.randoms())
    def test_the_order_of_the_relevant_documents_is_irrelevant(
        self, cls: type[Metric], retrieved: list[str], reference: list[str], random: object
    ) -> None:
        shuffled = list(reference)
        random.shuffle(shuffled)  # type: ignore[attr-defined]

        assert cls().measure(retrieved, shuffled).value == cls().measure(retrieved, reference).value

    @given(metrics, st.lists(letters), st.lists(letters, min_size=1), st.integers(1, 9))
    def test_a_cut_off_equals_a_shorter_list(
        self, cls: type[Metric], retrieved: list[str], reference: list[str], k: int
    ) -> None:
        assume(cls is not NDCG)  # also cuts the ideal
        assume(cls is not Precision or len(retrieved) >= k)  # divides by k in any case
        cut = cls(k=k).measure(retrieved, reference).value
        assert cut == cls().measure(retrieved[:k], reference).value

    @given(metrics, st.lists(letters, min_size=1, unique=True), st.booleans())
    def test_a_perfect_ranking_is_exactly_one(self, cls: type[Metric], relevant: list[str], cut: bool) -> None:
        metric = cls(k=len(relevant)) if cut else cls()

        assert metric.measure(relevant, list(reversed(relevant))).value == 1.0

    @given(metrics, st.lists(letters, unique=True), st.lists(letters, min_size=1), st.none() | st.integers(1, 9))
    def test_moving_a_hit_up_never_lowers_the_value(
        self, cls: type[Metric], retrieved: list[str], reference: list[str], k: int | None
    ) -> None:
        for place in range(1, len(retrieved)):
            if retrieved[place] in reference and retrieved[place - 1] not in reference:
                better = list(retrieved)
                better[place - 1 : place + 1] = [retrieved[place], retrieved[place - 1]]
                assert cls(k=k).measure(better, reference).value >= cls(k=k).measure(retrieved, reference).value


@dataclass(frozen=True)
class Takes(Metric):
    """Keeps the documents that it is given."""

    taken: list[Any]

    def measure(self, retrieved_documents: list[Any], reference_documents: list[Any]) -> Score:
        self.taken.append((retrieved_documents, reference_documents))
        return Score(1.0)


def documents_of(sample: Sample, metrics: int = 1) -> list[tuple[list[Any], list[Any]]]:
    """The documents of a row, as each of so many metrics gets them."""
    taken: list[Any] = []
    evaluate([sample], [Takes(taken, name=f"takes_{number}") for number in range(metrics)], progress=False)
    return taken


class TestSharing:
    """The metrics of one row read and match its documents once."""

    ROW = Sample(retrieved_documents=["x", "b", "y", "a"], reference_documents=[{"content": "a"}, {"content": "c"}])

    def test_scores_are_those_of_each_metric_alone(self) -> None:
        every = [cls(k=k, name=f"{cls.__name__}_{k}") for cls in RANKING for k in (None, 2, 4)]
        scores = evaluate([self.ROW], every, progress=False).scores

        assert [scores[metric.name][0] for metric in every] == [metric.score(self.ROW) for metric in every]

    def test_documents_are_read_once(self) -> None:
        taken = documents_of(self.ROW, metrics=2)

        assert taken[0][0] is taken[1][0]
        assert taken[0][1] is taken[1][1]

    def test_hits_are_found_once_per_field_and_cut_off(self) -> None:
        ((shown, wanted),) = documents_of(self.ROW)

        assert find_hits(shown, wanted, "content", None) is find_hits(shown, wanted, "content", None)
        assert find_hits(shown, wanted, "content", None).ranks == [4]
        assert find_hits(shown, wanted, "content", 2).ranks == []
        assert find_hits(shown, wanted, "id", None).relevant == []

    def test_hits_belong_to_one_ranking(self) -> None:
        ((_, wanted),) = documents_of(self.ROW)

        assert find_hits(["a"], wanted, "content", None).ranks == [1]
        assert find_hits(["x", "a"], wanted, "content", None).ranks == [2]

    @pytest.mark.parametrize("change", [list.clear, list.reverse])
    def test_a_sample_that_changes_is_read_anew(self, change: object) -> None:
        sample = Sample(retrieved_documents=["a", "x", "y"], reference_documents=["a"])
        before = ReciprocalRank().score(sample)
        change(sample.retrieved_documents)  # type: ignore[operator]

        assert (before.value, ReciprocalRank().score(sample).value != 1.0) == (1.0, True)

    def test_a_missing_input_is_reported_for_each_metric(self) -> None:
        rows = [self.ROW, Sample(retrieved_documents=["a"])]
        scores = evaluate(rows, [Recall(), NDCG()], progress=False).scores
        for name in ("recall", "ndcg"):
            assert f"{name} needs 'reference_documents', which is missing" in (scores[name][1].error or "")

    def test_the_documents_of_the_sample_stay_its_own(self) -> None:
        sample = Sample(retrieved_documents=["a"], reference_documents=["a"])
        ((shown, _),) = documents_of(sample)
        shown.append("b")

        assert sample.retrieved_documents == ["a"]
