"""A model that runs in this process: loaded when first used, once, and used by one thread at a time.

Loading takes seconds and memory, so a metric that never needs its model never pays. The lock around every use is needed because
tokenizers keep their padding settings on themselves and fail when two threads set them.
"""

from __future__ import annotations

import importlib.util
import threading
from pathlib import Path
from typing import Any, Literal

from .._errors import InvalidInput, MissingExtra, ModelError

__all__ = ["LocalModel"]


class LocalModel:
    """A model of the sentence-transformers package.

    Args:
        kind: name of its class there.
        source: name on the Hugging Face Hub, folder, or the loaded model itself.
        device: such as ``cpu`` or ``cuda``; default: the best there is. A loaded model stays where it is.
        batch_size: checked to be at least 1.

    Raises:
        MissingExtra: the package is not installed.
        InvalidInput: the source is something else.
    """

    def __init__(
        self, kind: Literal["SentenceTransformer", "CrossEncoder"], source: Any, device: str | None, batch_size: int
    ) -> None:
        if importlib.util.find_spec("sentence_transformers") is None:
            raise MissingExtra(
                "the sentence-transformers package is not installed: "
                'pip install "ragmetrics-core[sentence-transformers]"'
            )
        if batch_size < 1:
            raise InvalidInput(f"batch_size must be at least 1, got {batch_size}")
        self.kind = kind
        self.name = str(source) if isinstance(source, str | Path) else None
        self.lock = threading.Lock()
        self._device = device
        self._loaded = None if self.name is not None else self._checked(source, device)

    @property
    def identity(self) -> dict[str, Any] | None:
        """The model by name; None for a loaded one, which does not say where its weights come from."""
        return (
            None if self.name is None else {"provider": "sentence-transformers", "kind": self.kind, "model": self.name}
        )

    def get(self) -> Any:
        """The model; hold the lock while you load and use it.

        Raises:
            ModelError: there is no such model, or it cannot be fetched.
        """
        if self._loaded is None:
            import sentence_transformers  # noqa: PLC0415  heavy

            problem = ""
            try:
                self._loaded = getattr(sentence_transformers, self.kind)(self.name, device=self._device)
            except (OSError, ValueError) as error:
                problem = str(error).strip().partition("\n")[0]
            if problem:
                raise ModelError(
                    f"the model {self.name!r} cannot be loaded as a {self.kind} ({problem}): give the name of a model on the "
                    "Hugging Face Hub, or the folder of one that is already on this machine",
                    fatal=True,
                )
        return self._loaded

    def _checked(self, source: Any, device: str | None) -> Any:
        import sentence_transformers  # noqa: PLC0415  heavy

        if not isinstance(source, getattr(sentence_transformers, self.kind)):
            raise InvalidInput(f"model must be a name, a folder or a {self.kind}, got {type(source).__name__}")
        if device is not None:
            raise InvalidInput("device is for models that are loaded here: move a loaded model with model.to(device)")
        return source

    def __repr__(self) -> str:
        return repr(self.name) if self.name is not None else f"<a loaded {self.kind}>"
