"""Whether what was given as a model is one: said before the first row, not after the first question."""

from __future__ import annotations

from .._errors import InvalidInput
from .._run import Models

__all__ = ["check_models"]

KINDS = {
    "llm": (("generate", "agenerate"), "OpenAILLM", "llms"),
    "embeddings": (("embed", "aembed", "compare", "acompare"), "OpenAIEmbeddings", "embeddings"),
}
"""Per setting: the methods of which a model has one at least, a class to name as the cure, and its module."""


def check_models(models: Models, owner: str = "") -> None:
    """Refuse what cannot be a model.

    Args:
        models: what answers the metrics.
        owner: what the message starts with, such as ``"faithfulness: "``.

    Raises:
        InvalidInput: a model is a text, a class, or an object without any method of a model.
    """
    for name, (methods, example, module) in KINDS.items():
        model = getattr(models, name)
        if isinstance(model, str):
            raise InvalidInput(
                f"{owner}{name} must be a model, got the text {model!r}: write {name}={example}({model!r}) "
                f"(from ragmetrics_core.{module})"
            )
        if isinstance(model, type):
            raise InvalidInput(
                f"{owner}{name} must be an instance, got the class {model.__name__}: write {model.__name__}(...)"
            )
        if model is not None and all(getattr(model, method, None) is None for method in methods):
            raise InvalidInput(
                f"{owner}{name} must be a model such as {example}(...): {type(model).__name__} has none of the methods "
                f"{', '.join(methods)}"
            )
