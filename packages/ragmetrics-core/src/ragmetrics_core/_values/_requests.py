"""The requests of metrics to models, and the replies. These are values only: nothing here performs IO.

There are three kinds of request for three kinds of model: an LLM answers messages, an embedding model maps texts to vectors, a pair
scorer compares two texts. All requests are frozen and hashable, so that a driver can find equal requests. Two ``Ask`` are equal if
their messages and reply formats are equal, that is, everything that is sent. They also contain the prompt and the inputs, for
models that do not read text, such as the offline judge.

Models, prompts and reply formats are structural types: a class needs the methods, but no base class.

A model may have a synchronous method, an asynchronous one, or both. The drivers use the one that fits, and call a synchronous
method from asynchronous code in a thread. A model may have these optional attributes:

* ``identity``: a mapping of every setting that can change a reply (never a key or another secret);
* ``instant``: True for a model that computes in place and so fast that a thread would only cost time;
* ``caveat``: a warning about the model's answers, shown with every table of them;
* ``on_this_machine``: True for a model whose server is on this machine, so ``ragmetrics doctor`` may look for it there;
* ``texts_per_call``: the largest number of texts or pairs in one call to an embedding model or a pair scorer;
* ``without_retries()``: returns the same model without retries, for ``evaluate``, which retries lost calls itself;
* ``without_cache()``: returns the same model without its cache, for ``evaluate(repeats=...)``, which judges each row anew;
* ``batches()``: returns the ``BatchApi`` of the model, for ``evaluate(batch=True)``.

A reply format may have the attribute ``is_json``: whether its replies are JSON, so that models ask their servers for JSON. Without
this attribute, a format with a schema counts as JSON, and a format without a schema as text.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, Literal, Protocol, TypeVar, runtime_checkable

from ._errors import InvalidInput

T_co = TypeVar("T_co", covariant=True)


@dataclass(frozen=True, slots=True)
class Message:
    """One chat message."""

    role: Literal["system", "user", "assistant"]
    content: str


@dataclass(frozen=True, slots=True)
class Usage:
    """The calls and tokens of one or more answers. Token counts come from the server; 0 if it reported none.

    Attributes:
        calls: the number of requests answered by a model, including cached ones.
        prompt_tokens: the number of tokens sent.
        completion_tokens: the number of tokens generated.
        cached_calls: the number of these calls that were answered from memory or disk.
        seconds: for a score that had to wait for models, the time that it took, to the millisecond; else 0. Comparisons ignore
            it.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_calls: int = 0
    seconds: float = field(default=0.0, compare=False)

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_calls + other.cached_calls,
            self.seconds + other.seconds,
        )

    def to_dict(self) -> dict[str, int]:
        """Return the four counts as a dict for JSON; only the files of a run store the seconds."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_calls": self.cached_calls,
        }


NO_USAGE = Usage()
ONE_CALL = Usage(calls=1)

MOST_COUNTED = 2**53
"""The largest number accepted as a count: programs that read JSON agree on whole numbers up to this one."""


def counted(number: object) -> int:
    """Return a count that a server reported; 0 if it reported none, or an impossible value."""
    return number if type(number) is int and 0 <= number <= MOST_COUNTED else 0


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to an LLM.

    Attributes:
        messages: the messages to send: the system message with the instructions, the user message with the data as JSON, and on a
            second attempt the bad reply and what was wrong with it.
        reply: the format of the reply; its ``schema`` is a JSON schema or None.
        prompt: the prompt from which the messages were made; ``prompt.name`` identifies built-in prompts.
        inputs: the data that the prompt was filled with.
        to: for a metric that contains other metrics, the positions that lead to the metric whose model is to answer, outermost
            first. It does not count for equality, so equal questions are equal for every metric.
    """

    messages: tuple[Message, ...]
    reply: ReplyView
    prompt: PromptView = field(compare=False)
    inputs: Mapping[str, Any] = field(compare=False)
    to: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def wants_json(self) -> bool:
        """Whether the reply must be JSON: ``is_json`` of its format or, without this attribute, whether it has a schema."""
        return is_json(self.reply)


def is_json(reply: ReplyView) -> bool:
    """Whether a reply of this format is JSON."""
    said = getattr(reply, "is_json", None)
    return reply.schema is not None if said is None else bool(said)


@dataclass(frozen=True, slots=True)
class Embed:
    """One request to an embedding model: one vector per text, in order; ``to`` as in ``Ask``."""

    texts: tuple[str, ...]
    to: tuple[int, ...] = field(default=(), compare=False, repr=False)


@dataclass(frozen=True, slots=True)
class Compare:
    """One request to a pair scorer: one number per pair, in order; ``to`` as in ``Ask``."""

    pairs: tuple[tuple[str, str], ...]
    to: tuple[int, ...] = field(default=(), compare=False, repr=False)


Request = Ask | Embed | Compare


@dataclass(frozen=True, slots=True)
class Reply(Generic[T_co]):
    """The answer of a model.

    Attributes:
        value: text for an ``Ask``, vectors for an ``Embed``, numbers for a ``Compare``.
        usage: the calls and tokens of the answer.
        truncated: True when the model stopped at its token limit, so that the text may lack its end.
        made: a cache of what programs that share the reply parsed from its value; None: no program shares it.
        searched: the value, if the model has already masked the keys in it, as the models of this library do. Any other value is
            searched when a run receives it.
    """

    value: T_co
    usage: Usage = ONE_CALL
    truncated: bool = False
    made: dict[Hashable, Any] | None = field(default=None, compare=False, repr=False)
    searched: object = field(default=None, compare=False, repr=False)


def texts_of(name: str, texts: Iterable[str]) -> tuple[str, ...]:
    """Return the texts as a tuple.

    Raises:
        InvalidInput: ``texts`` is a single str, or an item is not a str; ``name`` is the name of the function in the message.
    """
    if isinstance(texts, str):
        raise InvalidInput(f"{name} takes a list of texts, got a single str: write [text]")
    items: tuple[Any, ...] = tuple(texts)
    for index, item in enumerate(items):
        if not isinstance(item, str):
            raise InvalidInput(f"{name}: text [{index}] must be a str, got {type(item).__name__}")
    return items


class ReplyView(Protocol):
    """The part of a reply format that models can see."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """The JSON schema of the reply; None if the reply has no schema."""
        ...


class ReplyFormat(ReplyView, Protocol[T_co]):
    """A reply format: the instructions for the model, and the parser of its reply.

    Implementations are values: frozen, hashable, picklable, with a repr that can be read back.
    """

    def instructions(self) -> str:
        """Return the instructions that tell a model how to reply."""
        ...

    def parse(self, text: str) -> T_co:
        """Parse the text of a reply; raises ``BadReply`` if this is not possible without guessing."""
        ...


class PromptView(Protocol):
    """The part of a prompt that models can see."""

    @property
    def name(self) -> str:
        """The name of the prompt, unique among the built-in prompts."""
        ...

    @property
    def version(self) -> str:
        """The version of the wording."""
        ...


class SyncLLM(Protocol):
    """An LLM that can only be called synchronously."""

    def generate(self, ask: Ask) -> Reply[str] | str:
        """Answer one question; raises ``ModelError`` if the model cannot answer."""
        ...


class AsyncLLM(Protocol):
    """An LLM that can only be called asynchronously."""

    async def agenerate(self, ask: Ask) -> Reply[str] | str:
        """Answer one question; raises ``ModelError`` if the model cannot answer."""
        ...


@runtime_checkable
class LLM(SyncLLM, AsyncLLM, Protocol):
    """A language model: ``generate(ask)`` and ``agenerate(ask)`` answer ``ask.messages`` with a ``Reply`` or plain text."""


Vectors = Sequence[Sequence[float]]


class SyncEmbeddings(Protocol):
    """An embedding model that can only be called synchronously."""

    def embed(self, texts: Sequence[str]) -> Reply[Vectors] | Vectors:
        """Return one vector per text; raises ``ModelError`` if the model cannot answer."""
        ...


@runtime_checkable
class Embeddings(SyncEmbeddings, Protocol):
    """An embedding model: one vector of finite numbers per text, all of one length, in the order of the texts."""

    async def aembed(self, texts: Sequence[str]) -> Reply[Vectors] | Vectors:
        """Return one vector per text; raises ``ModelError`` if the model cannot answer."""
        ...


@runtime_checkable
class PairScorer(Protocol):
    """A model that compares two texts, such as a cross-encoder: one finite number per pair, in the order of the pairs."""

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Reply[Sequence[float]] | Sequence[float]:
        """Return one number per pair, 0 (unrelated) to 1 (same meaning); raises ``ModelError`` if the model cannot answer."""
        ...


AnyLLM = LLM | SyncLLM | AsyncLLM
AnyEmbeddings = Embeddings | SyncEmbeddings | PairScorer
