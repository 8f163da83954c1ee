"""Models of the sentence-transformers package, which run in this process. A model is loaded once, when it is first used, and is
used by one thread at a time.

Loading takes seconds and memory, so a metric that never needs its model does not load it. Every use takes a lock, because
tokenizers store their padding settings on themselves and fail if two threads set them.

The models have only synchronous methods, because computing blocks. The code that drives a model from an event loop decides how
many threads to use.

``CrossEncoder`` is a cross-encoder: it reads the two texts of a pair together and gives one score.

Strategy. The scale of a score is a property of the model and is known before any text is seen. A model whose activation is a
sigmoid gives 0 to 1. A model without an activation gives a logit, which becomes 0 to 1 by the sigmoid here, pair by pair. If
the scale were guessed from the scores of a batch, the score of a pair would depend on the other pairs.

``SentenceTransformerEmbeddings`` is a bi-encoder: it computes one vector per text.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Generic, Literal, TypeVar

from .._kernel._model_traits import readable_texts
from .._values._errors import InvalidInput, ModelError
from .._values._requests import Reply
from .._values._settings import check_whole
from ..llms._wire._connections import check_installed
from ..llms._wire._failures import first_line

if TYPE_CHECKING:
    from sentence_transformers import CrossEncoder as SentenceTransformersCrossEncoder  # noqa: F401  in quotes below
    from sentence_transformers import SentenceTransformer  # noqa: F401  in quotes below


Loaded = TypeVar("Loaded")
Self = TypeVar("Self", bound="LocalModel[Any]")


class LocalModel(Generic[Loaded]):
    """A model of the sentence-transformers package.

    Args:
        model: name on the Hugging Face Hub, a folder, or the loaded model itself.
        device: such as ``cpu`` or ``cuda``; default: the best one available. A loaded model stays on its device.
        batch_size: the number of texts or pairs that are computed at once.

    Raises:
        MissingExtra: the sentence-transformers package is not installed.
        InvalidInput: the model is something else, or a device is given for a loaded model.
    """

    _kind: ClassVar[Literal["SentenceTransformer", "CrossEncoder"]]
    """Name of the model's class in that package."""

    def __init__(self, model: str | Path | Loaded, *, device: str | None = None, batch_size: int = 32) -> None:
        check_installed("sentence_transformers", "sentence-transformers")
        check_whole("batch_size", batch_size, least=1)
        self.batch_size = batch_size
        self._name = str(model) if isinstance(model, str | Path) else None
        self._lock = threading.Lock()
        self._device = device
        self._loaded = None if self._name is not None else self._checked(model, device)

    @property
    def identity(self) -> dict[str, Any] | None:
        """The name of the model; None for a loaded model, which does not show where its weights come from."""
        if self._name is None:
            return None
        return {"provider": "sentence-transformers", "kind": self._kind, "model": self._name}

    def __getstate__(self) -> dict[str, Any]:
        """Return the state for another process, which loads the model by its name.

        Raises:
            InvalidInput: the model was given loaded, so its name is not known.
        """
        if self._name is None:
            raise InvalidInput(f"{self!r} cannot be pickled: give the name or the folder of the model instead")
        return {**vars(self), "_loaded": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def _get(self) -> Any:
        """Return the model, and load it if necessary. The caller must hold the lock while it gets and uses the model.

        Raises:
            ModelError: there is no such model, it cannot be downloaded, or the device has too little memory.
        """
        if self._loaded is None:
            found = self._load()
            if isinstance(found, ModelError):
                raise found  # raised outside the except block: the original exception may show the token of the Hub
            self._loaded = found
        return self._loaded

    def _load(self) -> Any:
        import sentence_transformers  # noqa: PLC0415  heavy

        what = f"the model {self._name!r} cannot be loaded as a {self._kind}"
        try:
            return getattr(sentence_transformers, self._kind)(self._name, device=self._device)
        except (OSError, ValueError) as error:
            return ModelError(
                f"{what} ({first_line(error)}): give the name of a model on the Hugging Face Hub, or the folder of one that is "
                "already on this machine",
                fatal=True,
            )
        except (RuntimeError, AssertionError) as error:  # AssertionError: torch is built only for the CPU
            if self._device is None:
                raise
            return ModelError(
                f"{what} on the device {self._device!r} ({first_line(error)}): leave device out, which takes the best there is, "
                "or write device='cpu'",
                fatal=True,
            )

    def _checked(self, model: Any, device: str | None) -> Any:
        import sentence_transformers  # noqa: PLC0415  heavy

        if not isinstance(model, getattr(sentence_transformers, self._kind)):
            raise InvalidInput(f"model must be a name, a folder or a {self._kind}, got {type(model).__name__}")
        if device is not None:
            raise InvalidInput("device is for models that are loaded here: move a loaded model with model.to(device)")
        return model

    def __deepcopy__(self: Self, memo: Any) -> Self:
        return self  # copies of an object that contains it share the weights

    def __repr__(self) -> str:
        source = repr(self._name) if self._name is not None else f"<a loaded {self._kind}>"
        return f"{type(self).__name__}({source})"


class CrossEncoder(LocalModel["SentenceTransformersCrossEncoder"]):
    """A pair scorer that runs in this process. The model is loaded when it is first used.

    Args:
        model: name on the Hugging Face Hub, a folder, or a loaded ``sentence_transformers.CrossEncoder``; it must have one label.
        device: such as ``cpu`` or ``cuda``; default: the best one available.
        batch_size: the number of pairs that are computed at once.

    Raises:
        MissingExtra: the sentence-transformers package is not installed.
        InvalidInput: the model is something else, or a device is given for a loaded model.
    """

    _kind = "CrossEncoder"

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Reply[list[float]]:
        """Return one number per pair, from 0 (unrelated) to 1 (same meaning).

        Raises:
            ModelError: the model cannot be loaded, or not on the device.
            InvalidInput: the model has several labels, or an activation whose scale is unknown.
        """
        items = [tuple(readable_texts(pair)) for pair in pairs]
        if not items:
            return Reply([])
        with self._lock:
            model = self._get()
            gives_logits = self._gives_logits(model)
            scores = model.predict(items, batch_size=self.batch_size, show_progress_bar=False).tolist()
        return Reply([sigmoid(score) for score in scores] if gives_logits else scores)

    def _gives_logits(self, model: Any) -> bool:
        labels = model.config.num_labels
        if labels != 1:
            raise InvalidInput(
                f"{self!r} has {labels} labels, but a similarity is one number: give a model with "
                "num_labels=1, such as 'cross-encoder/stsb-roberta-base'"
            )
        # before sentence-transformers 4, the attribute had the longer name
        activation = model.activation_fn if hasattr(model, "activation_fn") else model.default_activation_function
        name = type(activation).__name__
        if name not in ("Identity", "Sigmoid"):
            raise InvalidInput(
                f"{self!r} ends in the activation {name}, whose scale is unknown: load it with "
                "activation_fn=torch.nn.Sigmoid() and give the loaded model"
            )
        return name == "Identity"


def sigmoid(logit: float) -> float:
    """Return 1 / (1 + exp(-logit)), without overflow."""
    if logit >= 0:
        return 1 / (1 + math.exp(-logit))
    power = math.exp(logit)
    return power / (1 + power)


class SentenceTransformerEmbeddings(LocalModel["SentenceTransformer"]):
    """An embedding model that runs in this process. The model is loaded when it is first used.

    Args:
        model: name on the Hugging Face Hub, a folder, or a loaded ``SentenceTransformer``.
        device: such as ``cpu`` or ``cuda``; default: the best one available.
        batch_size: the number of texts that are computed at once.

    Raises:
        MissingExtra: the sentence-transformers package is not installed.
        InvalidInput: the model is something else, or a device is given for a loaded model.
    """

    _kind = "SentenceTransformer"

    def embed(self, texts: Sequence[str]) -> Reply[list[list[float]]]:
        """Return one vector per text, in order. Up to rounding, a vector does not depend on the other texts.

        Raises:
            ModelError: the model cannot be loaded, or not on the device.
            InvalidInput: an item is not a text.
        """
        items = readable_texts(texts)
        if not items:
            return Reply([])
        with self._lock:
            vectors = self._get().encode(items, batch_size=self.batch_size, show_progress_bar=False)
        return Reply(vectors.tolist())
