"""What is said of something that was given as a model and is none, with what to write instead."""

from __future__ import annotations

from ._errors import InvalidInput

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


BY_NAME = {
    "lexical": ("LexicalJudge", False),
    "hashing": ("HashingEmbeddings", False),
    "sentence-transformers": ("SentenceTransformerEmbeddings", True),
    "huggingface": ("SentenceTransformerEmbeddings", True),
}
"""Names of models, as ``evaluate`` takes them: the class, and whether the name of a model follows the colon."""
SERVERS = ("azure", "ollama", "vllm", "llamacpp", "lmstudio", "openrouter", "litellm")
"""Servers that have a name: their models are made by the factories."""


def in_code(name: str, example: str) -> str:
    """The call that makes the model of this name; ``example`` is the class for a model of OpenAI."""
    provider, _, model = name.partition(":")
    if provider in BY_NAME:
        cls, named = BY_NAME[provider]
        return f"{cls}({model!r})" if named else f"{cls}()"
    if model and provider in SERVERS:
        llm = f"llm_factory({model!r}, {provider!r})"
        return llm if example == "OpenAILLM" else f"embedding_factory({provider!r}, {model!r})"
    return f"{example}({name.removeprefix('openai:')!r})"


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
            f"{owner} must be a model, got the text {model!r}: write {kind}={in_code(model, example)}, or give the text "
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
