"""SemanticSimilarity with an embedding model and with a pair scorer, given in each of the ways there are."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import pytest

from ragmetrics_core import Compare, InvalidInput, Metric, MissingInput, ModelError, Models, Sample, run
from ragmetrics_core.metrics import SemanticSimilarity

VECTORS = {
    "east": [1.0, 0.0],
    "north": [0.0, 2.0],
    "west": [-3.0, 0.0],
    "north-east": [1.0, 1.0],
    "nowhere": [0.0, 0.0],
}


@dataclass
class Compass:
    """An embedding model that knows a few texts."""

    instant = True
    asked: list[Sequence[str]] = field(default_factory=list)

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        self.asked.append(texts)
        return [VECTORS[text] for text in texts]


@dataclass
class Scorer:
    """A pair scorer that answers always the same."""

    answer: float
    asked: list[Sequence[tuple[str, str]]] = field(default_factory=list)

    def compare(self, pairs: Sequence[tuple[str, str]]) -> list[float]:
        self.asked.append(pairs)
        return [self.answer for _ in pairs]


@pytest.mark.parametrize(
    ("response", "reference", "cosine"),
    [
        ("east", "east", 1.0),
        ("east", "north", 0.0),
        ("east", "west", -1.0),
        ("east", "north-east", 0.5**0.5),  # 1 * 1 / (1 * sqrt(2))
    ],
)
def test_the_cosine_of_an_embedding_model(response: str, reference: str, cosine: float) -> None:
    score = SemanticSimilarity(Compass()).score(response=response, reference=reference)

    assert score.value == pytest.approx(cosine, abs=1e-12)
    assert (score.metric, score.scale) == ("semantic_similarity", (-1.0, 1.0))
    assert score.usage.calls == 1


def test_a_pair_scorer_is_asked_for_response_and_reference_in_this_order() -> None:
    model = Scorer(0.75)

    score = SemanticSimilarity(model).score(response="east", reference="west")

    assert score.value == 0.75
    assert model.asked == [(("east", "west"),)]


async def test_works_asynchronously() -> None:
    score = await SemanticSimilarity(Compass()).ascore(response="east", reference="west")

    assert score.value == -1.0


def test_asks_one_request() -> None:
    program = SemanticSimilarity().program(Sample(response="a", reference="b"))

    assert next(program) == (Compare((("a", "b"),)),)


def test_the_model_may_come_from_outside() -> None:
    program = SemanticSimilarity().program(Sample(response="east", reference="west"))

    assert run(program, Models(embeddings=Compass())).value == -1.0


def test_without_a_model_the_error_names_the_cure() -> None:
    with pytest.raises(ModelError) as caught:
        SemanticSimilarity().score(response="a", reference="b")
    assert str(caught.value) == (
        "semantic_similarity asks an embedding model, but none is set in the metric or the run: give embeddings=..."
    )


def test_model_and_embeddings_are_two_names_for_one() -> None:
    model = Compass()

    assert SemanticSimilarity(model).models.embeddings is model
    assert SemanticSimilarity(embeddings=model).models.embeddings is model
    assert SemanticSimilarity(model, embeddings=model).models.embeddings is model
    assert replace(SemanticSimilarity(model), name="sas").models.embeddings is model
    assert replace(SemanticSimilarity(embeddings=model), embeddings=Scorer(1.0)).models.embeddings is not model
    with pytest.raises(InvalidInput) as caught:
        SemanticSimilarity(model, embeddings=Scorer(1.0))
    assert str(caught.value) == ("semantic_similarity: 'model' and 'embeddings' mean the same here: give only one")


def test_the_model_is_no_setting() -> None:
    metric = SemanticSimilarity(Scorer(0.5), name="sas")

    assert metric == SemanticSimilarity(name="sas")
    assert repr(metric) == "SemanticSimilarity(name='sas')"
    assert metric.to_dict() == {"metric": "SemanticSimilarity", "settings": {"name": "sas"}}
    assert Metric.from_dict(metric.to_dict()) == metric


def test_a_vector_without_direction_is_a_model_error() -> None:
    with pytest.raises(ModelError, match="zero vector"):
        SemanticSimilarity(Compass()).score(response="east", reference="nowhere")


def test_a_score_off_the_scale_is_refused() -> None:
    with pytest.raises(ModelError, match=r"the pair scorer gave 5\.3, but a similarity lies between -1 and 1"):
        SemanticSimilarity(Scorer(5.3)).score(response="a", reference="b")


def test_a_name_is_no_model() -> None:
    with pytest.raises(
        InvalidInput, match="model must be a model, got the text 'MiniLM': write SentenceTransformerEmbeddings"
    ):
        SemanticSimilarity("MiniLM")


def test_inputs_are_checked_before_the_model_is_asked() -> None:
    model = Scorer(1.0)
    with pytest.raises(MissingInput, match="semantic_similarity needs 'reference', which is missing"):
        SemanticSimilarity(model).score(response="a")
    assert model.asked == []
