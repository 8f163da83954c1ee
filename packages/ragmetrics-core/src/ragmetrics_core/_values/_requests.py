"""What a metric may ask of the outside world, and what comes back. Values only: nothing here performs IO.

Three kinds of request exist because three kinds of model exist: an LLM answers messages, an embedding model maps texts to
vectors, a pair scorer compares two texts. All are frozen and hashable, so that a driver can recognise the same request
asked twice. What decides equality of an ``Ask`` is what is sent: the messages and the form of the reply. The prompt and the
inputs travel along for models that do not read text, such as the offline judge.

Models, prompts and reply formats are structural types: a class needs the methods, and no base class.

A model may offer a synchronous method, an asynchronous one, or both; the drivers take the one that fits and bridge the
gap with a thread. Optional attributes tell more:

* ``identity``: a mapping of every setting that can change a reply (never a key or another secret);
* ``instant``: True for a model that computes in place, for which threads would only cost time;
* ``caveat``: what must be known about the model's answers, for every table that shows them;
* ``on_this_machine``: True for a model whose server is on this machine, so ``ragmetrics doctor`` may look for it there;
* ``texts_per_call``: of an embedding model or a pair scorer, the most texts or pairs that make one request;
* ``without_retries()``: the same model without its retries, for ``evaluate``, which repeats lost calls itself;
* ``without_cache()``: the same model without its cache, for ``evaluate(repeats=...)``, which judges each row anew.

A reply format may have ``is_json``: whether its replies are JSON, so that models ask their servers for JSON. Without it, a
format with a schema counts as JSON, and one without as text.
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
    """What answering cost. Token counts are what the server reported: 0 where it reported none.

    Attributes:
        calls: requests answered by a model, cached ones included.
        cached_calls: those among them that were answered from memory or disk.
    """

    calls: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_calls: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.calls + other.calls,
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_calls + other.cached_calls,
        )

    def to_dict(self) -> dict[str, int]:
        """The four counts, ready for JSON."""
        return {
            "calls": self.calls,
            "prompt_tokens": self.prompt_tokens,
            "completion_tokens": self.completion_tokens,
            "cached_calls": self.cached_calls,
        }


NO_USAGE = Usage()
ONE_CALL = Usage(calls=1)

MOST_COUNTED = 2**53
"""A larger number is not a count; up to this one, all programs that read JSON agree on the number."""


def counted(number: object) -> int:
    """A count as a server reports it; 0 where it reports none, or an impossible one."""
    return number if type(number) is int and 0 <= number <= MOST_COUNTED else 0


@dataclass(frozen=True, slots=True)
class Ask:
    """One question to an LLM.

    Attributes:
        messages: what is sent: the system message with the instructions, the user message with the data as JSON, and on a
            second attempt the bad reply and what was wrong with it.
        reply: the form of the reply; its ``schema`` is a JSON schema or None.
        prompt: the prompt that was rendered (``prompt.name`` tells built-in prompts apart).
        inputs: the data before rendering.
        to: whose model is asked, of a metric made of others: its place among them, from the outermost in. It says nothing about
            what is asked, so that the same question is the same for every metric.
    """

    messages: tuple[Message, ...]
    reply: ReplyView
    prompt: PromptView = field(compare=False)
    inputs: Mapping[str, Any] = field(compare=False)
    to: tuple[int, ...] = field(default=(), compare=False, repr=False)

    @property
    def wants_json(self) -> bool:
        """Whether the reply is to be JSON: what its format says by ``is_json``; if it says nothing, whether it has a schema."""
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
    """What a model answered.

    Attributes:
        value: text for an ``Ask``, vectors for an ``Embed``, numbers for a ``Compare``.
        usage: what the answer cost.
        truncated: True when the model stopped at its token limit, so that the text may lack its end.
        made: what programs that share the reply have made of its value so far; None: no program shares it.
    """

    value: T_co
    usage: Usage = ONE_CALL
    truncated: bool = False
    made: dict[Hashable, Any] | None = field(default=None, compare=False, repr=False)


def texts_of(name: str, texts: Iterable[str]) -> tuple[str, ...]:
    """The texts as a tuple; a lone str, or an item that is not a text, is refused before it costs a call."""
    if isinstance(texts, str):
        raise InvalidInput(f"{name} takes a list of texts, got one str: write [text]")
    items: tuple[Any, ...] = tuple(texts)
    for index, item in enumerate(items):
        if not isinstance(item, str):
            raise InvalidInput(f"{name}: text [{index}] must be a str, got {type(item).__name__}")
    return items


class ReplyView(Protocol):
    """What a model may know about the form of the reply it is asked for."""

    @property
    def schema(self) -> Mapping[str, Any] | None:
        """JSON schema of the reply, or None where the reply is plain text."""
        ...


class ReplyFormat(ReplyView, Protocol[T_co]):
    """A form of reply: how it is asked for and how it is read.

    Implementations are values: frozen, hashable, picklable, with a repr that can be read back.
    """

    def instructions(self) -> str:
        """The words that tell a model how to reply."""
        ...

    def parse(self, text: str) -> T_co:
        """The value that the text holds; raises ``BadReply`` where there is no honest reading."""
        ...


class PromptView(Protocol):
    """What a model may know about the prompt it is asked with."""

    @property
    def name(self) -> str:
        """Name of the prompt, unique among the built-in ones."""
        ...

    @property
    def version(self) -> str:
        """Version of the wording."""
        ...


class SyncLLM(Protocol):
    """An LLM that can only be called synchronously."""

    def generate(self, ask: Ask) -> Reply[str] | str:
        """Answer one question; raises ``ModelError`` when it cannot."""
        ...


class AsyncLLM(Protocol):
    """An LLM that can only be called asynchronously."""

    async def agenerate(self, ask: Ask) -> Reply[str] | str:
        """Answer one question; raises ``ModelError`` when it cannot."""
        ...


@runtime_checkable
class LLM(SyncLLM, AsyncLLM, Protocol):
    """A language model: ``generate(ask)`` and ``agenerate(ask)`` answer ``ask.messages`` with a ``Reply`` or plain text."""


Vectors = Sequence[Sequence[float]]


class SyncEmbeddings(Protocol):
    """An embedding model that can only be called synchronously."""

    def embed(self, texts: Sequence[str]) -> Reply[Vectors] | Vectors:
        """One vector per text; raises ``ModelError`` when it cannot."""
        ...


@runtime_checkable
class Embeddings(SyncEmbeddings, Protocol):
    """An embedding model: one vector of finite numbers per text, all of one length, in the order of the texts."""

    async def aembed(self, texts: Sequence[str]) -> Reply[Vectors] | Vectors:
        """One vector per text; raises ``ModelError`` when it cannot."""
        ...


@runtime_checkable
class PairScorer(Protocol):
    """A model that compares two texts, such as a cross-encoder: one finite number per pair, in the order of the pairs."""

    def compare(self, pairs: Sequence[tuple[str, str]]) -> Reply[Sequence[float]] | Sequence[float]:
        """One number per pair, 0 (unrelated) to 1 (same meaning); raises ``ModelError`` when it cannot."""
        ...


AnyLLM = LLM | SyncLLM | AsyncLLM
AnyEmbeddings = Embeddings | SyncEmbeddings | PairScorer
