"""A model that runs in this process: loaded when first used, once, and used by one thread at a time.

Loading takes seconds and memory, so a metric that never needs its model never pays. The lock around every use is needed because
tokenizers keep their padding settings on themselves and fail when two threads set them.

Computing blocks, so there are synchronous methods only: whoever drives a model from an event loop knows best how many threads
to spend on it.
"""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from typing import Any, ClassVar, Generic, Literal, TypeVar

from .._kernel._errors import InvalidInput, MissingExtra, ModelError
from ._texts import at_least_1

Loaded = TypeVar("Loaded")
Self = TypeVar("Self", bound="LocalModel[Any]")


class LocalModel(Generic[Loaded]):
    """A model of the sentence-transformers package.

    Args:
        model: name on the Hugging Face Hub, a folder, or the loaded model itself.
        device: such as ``cpu`` or ``cuda``; default: the best there is. A loaded model stays where it is.
        batch_size: texts or pairs computed at once.

    Raises:
        MissingExtra: the sentence-transformers package is not installed.
        InvalidInput: the model is something else, or a device is given for a loaded one.
    """

    _kind: ClassVar[Literal["SentenceTransformer", "CrossEncoder"]]
    """Name of the class there."""

    def __init__(self, model: str | Path | Loaded, *, device: str | None = None, batch_size: int = 32) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise MissingExtra(
                "the sentence-transformers package is not installed: "
                'pip install "ragmetrics-core[sentence-transformers]"'
            )
        self.batch_size = at_least_1("batch_size", batch_size)
        self._name = str(model) if isinstance(model, str | Path) else None
        self._lock = threading.Lock()
        self._device = device
        self._loaded = None if self._name is not None else self._checked(model, device)

    @property
    def identity(self) -> dict[str, Any] | None:
        """The model by name; None for a loaded one, which does not say where its weights come from."""
        if self._name is None:
            return None
        return {"provider": "sentence-transformers", "kind": self._kind, "model": self._name}

    def __getstate__(self) -> dict[str, Any]:
        """For another process, which loads the model by its name.

        Raises:
            InvalidInput: the model was given loaded, so its name is not known.
        """
        if self._name is None:
            raise InvalidInput(f"{self!r} cannot be pickled: give the name or the folder of the model instead")
        return {**vars(self), "_loaded": None, "_lock": None}

    def __setstate__(self, state: dict[str, Any]) -> None:
        vars(self).update(state, _lock=threading.Lock())

    def _get(self) -> Any:
        """The model; hold the lock while you load and use it.

        Raises:
            ModelError: there is no such model, it cannot be fetched, or the device cannot hold it.
        """
        if self._loaded is None:
            found = self._load()
            if isinstance(found, ModelError):
                raise found  # not from where it was caught: what it was made from may show the token of the Hub
            self._loaded = found
        return self._loaded

    def _load(self) -> Any:
        import sentence_transformers  # noqa: PLC0415  heavy

        what = f"the model {self._name!r} cannot be loaded as a {self._kind}"
        try:
            return getattr(sentence_transformers, self._kind)(self._name, device=self._device)
        except (OSError, ValueError) as error:
            return ModelError(
                f"{what} ({_first_line(error)}): give the name of a model on the Hugging Face Hub, or the folder of one that is "
                "already on this machine",
                fatal=True,
            )
        except (RuntimeError, AssertionError) as error:  # the second where torch is built for the CPU alone
            if self._device is None:
                raise
            return ModelError(
                f"{what} on the device {self._device!r} ({_first_line(error)}): leave device out, which takes the best there is, "
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
        return self  # copies of what holds it share the weights

    def __repr__(self) -> str:
        source = repr(self._name) if self._name is not None else f"<a loaded {self._kind}>"
        return f"{type(self).__name__}({source})"


def _first_line(error: BaseException) -> str:
    return str(error).strip().partition("\n")[0] or type(error).__name__
