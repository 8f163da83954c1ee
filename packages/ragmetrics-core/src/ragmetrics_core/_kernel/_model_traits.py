"""What models are and what they answer: their optional attributes, checks of what is given as a model, checks of answers.

Models are other people's objects, and reading an attribute may cost or do anything. So whoever needs the traits reads them once and
keeps the value, and a single score reads no more than the two that tell how a call is made.

What is said of something that was given as a model and is none, with what to write instead.

Texts as every embedding model can read them.

The answers of models are checked once, where they come in, so that no metric ever meets NaN or a missing vector.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._values._errors import InvalidInput, ModelError
from .._values._requests import Reply


@dataclass(frozen=True)
class ModelTraits:
    """What a model says about itself.

    Attributes:
        kind: name of its class.
        name: its name in messages: its attribute ``model``, or its class.
        identity: every setting that can change an answer; None if it does not say.
        instant: it computes in place.
        on_this_machine: its server is on this machine.
        texts_per_call: most texts or pairs in one request; None if it does not say.
        compares: it has a method for pairs, which is asked instead of comparing its vectors.
        caveat: what must be known about its answers.
        testset_caveat: what must be known about test sets that it writes.
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
        """The traits of a model."""
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
        """What an account calls it: the model that its settings name, else its class."""
        return str(self.settings.get("model") or self.kind)

    @property
    def settings(self) -> Mapping[str, Any]:
        """The identity, where it is a mapping of settings."""
        return self.identity if isinstance(self.identity, Mapping) else {}


def same_model(one: Any, other: Any) -> bool:
    """Whether two models are one and the same, or say of themselves that they are."""
    identity = None if one is None else ModelTraits.of(one).identity
    return one is other or (identity is not None and other is not None and identity == ModelTraits.of(other).identity)


def is_instant(model: Any) -> bool:
    """Whether it computes in place; read alone where nothing else is needed, as an ``identity`` may be long to tell."""
    return bool(getattr(model, "instant", False))


def compares_pairs(model: Any) -> bool:
    """Whether it has a method for pairs; read alone as ``is_instant`` is."""
    return any(hasattr(model, method) for method in ("compare", "acompare"))


def _text(model: Any, name: str) -> str | None:
    value = getattr(model, name, None)
    return value if isinstance(value, str) else None


def prepared(model: Any, repeats: int) -> Any:
    """The model as a run asks it.

    Its retries are off, since only the run sees all failures and can pace the calls. And if rows are judged several
    times, its cache is off: an answer that a cache gives twice is a single judgement.
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
"""For each kind of model: its methods, of which a model has at least one, and a class to name as an example."""


FRAMEWORKS = {"LlamaIndex": "llama_index", "LangChain": "langchain_core", "Haystack": "haystack"}
"""The frameworks with an adapter package, and the package that the classes of their models come from."""


def wrappers(example: str, model: object) -> str:
    """The adapter packages' classes that wrap such a model; if its framework is known, only the class for that one."""
    packages = _packages_of(model)
    own = [framework for framework, package in FRAMEWORKS.items() if package in packages]
    return " or ".join(f"{framework}{example.removeprefix('OpenAI')}(...)" for framework in own or FRAMEWORKS)


def is_of_langchain(model: object) -> bool:
    """Whether it is a model of LangChain itself, whose ``generate`` means something else."""
    return FRAMEWORKS["LangChain"] in _packages_of(model)


def _packages_of(model: object) -> set[str]:
    """The packages that the classes of an object come from."""
    return {cls.__module__.split(".")[0] for cls in type(model).__mro__}


def check_model(kind: str, model: object, metric: str) -> None:
    """Check that something can be a model of this kind, ``llm`` or ``embeddings``, for the metric of that name; None always can.

    Raises:
        InvalidInput: it is a text, a class, or an object without any method of a model.
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


SURROGATE = re.compile("[\ud800-\udfff]")


def readable_texts(texts: Iterable[str]) -> list[str]:
    """The texts, with lone surrogates replaced by U+FFFD, the replacement character: no model can read them.

    Raises:
        InvalidInput: a lone text instead of a list, or an item that is no text.
    """
    if isinstance(texts, str):
        raise InvalidInput("embed takes a list of texts, got one str: write [text]")
    items = list(texts)
    for index, item in enumerate(items):
        if not isinstance(item, str):
            raise InvalidInput(f"embed: text [{index}] must be a str, got {type(item).__name__}")
    return [SURROGATE.sub("\ufffd", item) for item in items]


def check_text(answer: Any) -> Reply[str]:
    """The answer of an LLM: a ``Reply`` or plain text."""
    if isinstance(answer, str):
        return Reply(answer)
    if isinstance(answer, Reply) and isinstance(answer.value, str):
        return answer
    raise TypeError(f"an LLM answers with a Reply or a str, got {type(answer).__name__}")


def check_vectors(answer: Any, count: int) -> Reply[list[list[float]]]:
    """The answer of an embedding model: ``count`` vectors of finite numbers, of one length."""
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    vectors = _plain(reply.value)
    if not isinstance(vectors, list | tuple):
        raise TypeError(f"an embedding model answers with one vector per text, got {type(vectors).__name__}")
    if len(vectors) != count:
        raise ModelError(f"the embedding model returned {len(vectors)} vectors for {count} texts")
    rows = [_floats(vector, "the embedding model") for vector in vectors]
    if len({len(row) for row in rows}) > 1:
        raise ModelError("the embedding model returned vectors of different lengths")
    return Reply(rows, reply.usage)


def check_numbers(answer: Any, count: int) -> Reply[list[float]]:
    """The answer of a pair scorer: ``count`` finite numbers."""
    reply = answer if isinstance(answer, Reply) else Reply(answer)
    if isinstance(reply.value, str) or not hasattr(reply.value, "__len__"):
        raise TypeError(f"a pair scorer answers with one number per pair, got {type(reply.value).__name__}")
    numbers = _floats(reply.value, "the pair scorer")
    if len(numbers) != count:
        raise ModelError(f"the pair scorer returned {len(numbers)} numbers for {count} pairs")
    return Reply(numbers, reply.usage)


def cosines(
    reply: Reply[list[list[float]]], texts: Sequence[str], pairs: Sequence[tuple[str, str]]
) -> Reply[list[float]]:
    """The cosine of every pair, from the vectors of the distinct texts."""
    vectors = dict(zip(texts, reply.value, strict=True))
    return Reply([cosine(vectors[left], vectors[right]) for left, right in pairs], reply.usage)


def cosine(left: Sequence[float], right: Sequence[float]) -> float:
    """Cosine of the angle between two vectors, clipped to [-1, 1].

    Raises:
        ModelError: a vector is zero, so that it has no direction.
    """
    if left == right and any(left):
        return 1.0  # exactly, whatever the rounding below would make of it
    # hypot scales inside, so neither tiny nor huge vectors under- or overflow
    left_length, right_length = math.hypot(*left), math.hypot(*right)
    if not (left_length and right_length):
        raise ModelError("the embedding model returned a zero vector, which has no direction to compare")
    dot = math.fsum([a / left_length * (b / right_length) for a, b in zip(left, right, strict=True)])
    return max(-1.0, min(1.0, dot))


def distinct_texts(pairs: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The texts of all pairs, each once, in order of appearance."""
    return tuple(dict.fromkeys(text for pair in pairs for text in pair))


def _floats(values: Any, who: str) -> list[float]:
    try:
        numbers = list(map(float, _plain(values)))
    except (OverflowError, TypeError, ValueError):  # a server may send anything in the place of numbers
        raise ModelError(f"{who} returned something else in the place of finite numbers") from None
    if not all(map(math.isfinite, numbers)):
        odd = next(number for number in numbers if not math.isfinite(number))
        raise ModelError(f"{who} returned {odd}, which is not a finite number")
    return numbers


def _plain(values: Any) -> Any:
    return values.tolist() if hasattr(values, "tolist") else values
