"""The optional attributes of models, and the validation of models and of their answers.

Users define models, and reading an attribute may be slow or have side effects. So a run reads the traits once and keeps
them, and a single score reads only the two attributes that decide how a call is made.

If an object is not a model, the message says what to write instead. The answers of models are validated once, when they arrive, so
no metric has to handle NaN or a missing vector.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

from .._support._secrets import without_secrets
from .._values._errors import InvalidInput, ModelError
from .._values._requests import Reply, texts_of
from ._wording import SURROGATE


@dataclass(frozen=True)
class ModelTraits:
    """The optional attributes of a model, read once.

    Attributes:
        kind: the name of the class.
        name: the name in messages: the attribute ``model``, or else the name of the class.
        identity: every setting that can change an answer, or a name; None if the model has no identity.
        instant: whether the model computes in place.
        on_this_machine: whether the server is on this machine.
        texts_per_call: the largest number of texts or pairs in one call; None if the model does not set it.
        compares: whether the model has a method for pairs; it is then used instead of the cosine of vectors.
        caveat: a warning about the answers; None if there is none.
        testset_caveat: a warning about test sets that the model writes; None if there is none.
    """

    kind: str
    name: str
    identity: Mapping[str, Any] | str | None
    instant: bool
    on_this_machine: bool
    texts_per_call: int | None
    compares: bool
    caveat: str | None
    testset_caveat: str | None

    @classmethod
    def of(cls, model: Any) -> ModelTraits:
        """Read the traits of a model."""
        kind = type(model).__name__
        return cls(
            kind=kind,
            name=_text(model, "model") or kind,
            identity=getattr(model, "identity", None) or None,
            instant=is_instant(model),
            on_this_machine=getattr(model, "on_this_machine", False) is True,
            texts_per_call=getattr(model, "texts_per_call", None) or None,
            compares=compares_pairs(model),
            caveat=_text(model, "caveat"),
            testset_caveat=_text(model, "testset_caveat"),
        )

    @property
    def called(self) -> str:
        """The name in reports of cost: the setting ``model`` of the identity, or else the name of the class."""
        return str(self.settings.get("model") or self.kind)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The identity if it is a mapping of settings, otherwise an empty mapping."""
        return self.identity if isinstance(self.identity, Mapping) else {}


def same_model(one: Any, other: Any) -> bool:
    """Whether two models are the same object or have equal identities."""
    identity = None if one is None else ModelTraits.of(one).identity
    return one is other or (identity is not None and other is not None and identity == ModelTraits.of(other).identity)


def is_instant(model: Any) -> bool:
    """Whether a model computes in place. Unlike ``ModelTraits.of``, this does not read the ``identity``, which may be slow."""
    return bool(getattr(model, "instant", False))


def blocking_twin(model: Any) -> Any:
    """Return a model that computes in place in a form that is called in threads; any other model is returned unchanged."""
    methods = {name: getattr(model, name) for name in ("generate", "embed", "compare") if hasattr(model, name)}
    return SimpleNamespace(model=ModelTraits.of(model).name, **methods) if methods and is_instant(model) else model


def compares_pairs(model: Any) -> bool:
    """Whether a model has a method for pairs; like ``is_instant``, this does not read the ``identity``."""
    return any(hasattr(model, method) for method in ("compare", "acompare"))


def _text(model: Any, name: str) -> str | None:
    value = getattr(model, name, None)
    return value if isinstance(value, str) else None


def prepared(model: Any, repeats: int) -> Any:
    """Return the model in the form that a run uses.

    Its retries are off, because only the run sees all failures and can pace the calls. If rows are judged several times, its
    cache is off too, because the same answer from a cache is not a second judgement.
    """
    if hasattr(model, "without_retries"):
        model = model.without_retries()
    if repeats > 1 and hasattr(model, "without_cache"):
        model = model.without_cache()
    return model


KINDS = {
    "llm": (("generate", "agenerate"), "OpenAILLM"),
    "embeddings": (("embed", "aembed", "compare", "acompare"), "OpenAIEmbeddings"),
}
"""For each kind of model: the methods of which it must have at least one, and the class that messages name as an example."""


FRAMEWORKS = {"LlamaIndex": "llama_index", "LangChain": "langchain_core", "Haystack": "haystack"}
"""The frameworks that have an adapter package, with the Python package that contains their model classes."""


def wrappers(example: str, model: object) -> str:
    """Return the names of the adapter classes that wrap a model, for messages: only the class for its framework if the framework
    is known.
    """
    packages = _packages_of(model)
    own = [framework for framework, package in FRAMEWORKS.items() if package in packages]
    return " or ".join(f"{framework}{example.removeprefix('OpenAI')}(...)" for framework in own or FRAMEWORKS)


def is_of_langchain(model: object) -> bool:
    """Whether a model comes from LangChain; its method ``generate`` has another meaning there."""
    return FRAMEWORKS["LangChain"] in _packages_of(model)


def _packages_of(model: object) -> set[str]:
    """Return the top-level packages that define the classes of an object."""
    return {cls.__module__.split(".")[0] for cls in type(model).__mro__}


def check_model(kind: str, model: object, metric: str) -> None:
    """Check that an object is None or can be a model of a kind (``llm`` or ``embeddings``); ``metric`` is for the message.

    Raises:
        InvalidInput: the object is a text, a class, or has none of the methods of such a model.
    """
    if model is None:
        return
    methods, example = KINDS[kind]
    owner = f"{metric}: {kind}" if metric else kind
    if isinstance(model, str):
        raise InvalidInput(
            f"{owner} must be a model, got the text {model!r}: write {kind}={kind}_named({model!r}), or give the text "
            f"to evaluate(..., {kind}={model!r})"
        )
    if isinstance(model, type):
        raise InvalidInput(f"{owner} must be an instance, got the class {model.__name__}: write {model.__name__}(...)")
    if all(getattr(model, method, None) is None for method in methods):
        raise InvalidInput(
            f"{owner} must be a model such as {example}(...): {type(model).__name__} has none of the methods "
            f"{', '.join(methods)}; a model of a framework needs its wrapper: {wrappers(example, model)} of its "
            "adapter package"
        )


def readable_texts(texts: Iterable[str]) -> list[str]:
    """Return the texts with lone surrogates, which no model can read, replaced by U+FFFD (the replacement character).

    Raises:
        InvalidInput: ``texts`` is a single text instead of a list, or an item is not a text.
    """
    return [SURROGATE.sub("\ufffd", item) for item in texts_of("embed", texts)]


def check_text(answer: Any) -> Reply[str]:
    """Validate the answer of an LLM (a ``Reply`` or plain text), and return it as a ``Reply``."""
    if isinstance(answer, str):
        return Reply(answer)
    if isinstance(answer, Reply) and isinstance(answer.value, str):
        return answer
    raise TypeError(f"an LLM must return a Reply or a str, got {type(answer).__name__}")


def check_text_from_outside(answer: Any) -> Reply[str]:
    """Validate the answer of an LLM that does not compute in place, and mask the secrets of the environment in it."""
    reply = check_text(answer)
    if reply.searched is reply.value:
        return reply
    text = without_secrets(reply.value)
    return reply if text == reply.value else replace(reply, value=text)


def check_vectors(answer: Any, count: int) -> Reply[list[list[float]]]:
    """Validate the answer of an embedding model: ``count`` vectors of finite numbers, all of the same length."""
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    vectors = _plain(reply.value)
    if not isinstance(vectors, list | tuple):
        raise TypeError(f"an embedding model must return one vector per text, got {type(vectors).__name__}")
    if len(vectors) != count:
        raise ModelError(f"the embedding model returned {len(vectors)} vectors for {count} texts")
    rows = [_floats(vector, "the embedding model") for vector in vectors]
    if len({len(row) for row in rows}) > 1:
        raise ModelError("the embedding model returned vectors of different lengths")
    return Reply(rows, reply.usage)


def check_numbers(answer: Any, count: int) -> Reply[list[float]]:
    """Validate the answer of a pair scorer: ``count`` finite numbers."""
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    if isinstance(reply.value, str) or not hasattr(reply.value, "__len__"):
        raise TypeError(f"a pair scorer must return one number per pair, got {type(reply.value).__name__}")
    numbers = _floats(reply.value, "the pair scorer")
    if len(numbers) != count:
        raise ModelError(f"the pair scorer returned {len(numbers)} numbers for {count} pairs")
    return Reply(numbers, reply.usage)


def cosines(
    reply: Reply[list[list[float]]], texts: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> Reply[list[float]]:
    """Return the cosine of each pair, computed from the vectors of the distinct texts."""
    vectors = dict(zip(texts, reply.value, strict=True))
    return Reply([cosine(vectors[left], vectors[right]) for left, right in pairs], reply.usage)


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Return the cosine of the angle between two vectors, clipped to [-1, 1].

    Raises:
        ModelError: a vector is zero and so has no direction.
    """
    if left == right and any(left):
        return 1.0  # exactly, without the rounding errors of the computation below
    # hypot scales its arguments, so tiny or huge vectors cause no underflow or overflow
    left_length, right_length = math.hypot(*left), math.hypot(*right)
    if not (left_length and right_length):
        raise ModelError("the embedding model returned a zero vector, which has no direction to compare")
    dot = math.fsum([a / left_length * (b / right_length) for a, b in zip(left, right, strict=True)])
    return max(-1.0, min(1.0, dot))


def distinct_texts(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """Return the texts of all pairs without duplicates, in order of first appearance."""
    return tuple(dict.fromkeys(text for pair in pairs for text in pair))


def _floats(values: Any, who: str) -> list[float]:
    try:
        numbers = list(map(float, _plain(values)))
    except (OverflowError, TypeError, ValueError):  # a server may send anything instead of numbers
        raise ModelError(f"{who} returned a value that is not a finite number") from None
    if not all(map(math.isfinite, numbers)):
        odd = next(number for number in numbers if not math.isfinite(number))
        raise ModelError(f"{who} returned {odd}, which is not a finite number")
    return numbers


def _plain(values: Any) -> Any:
    return values.tolist() if hasattr(values, "tolist") else values
