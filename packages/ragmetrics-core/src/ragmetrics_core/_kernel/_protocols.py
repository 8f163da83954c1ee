"""The shapes that models, prompts and reply formats have. Structural types: nobody has to inherit from anything.

A model may offer a synchronous method, an asynchronous one, or both; the drivers take the one that fits and bridge the
gap with a thread. Optional attributes tell more:

* ``identity``: a mapping of every setting that can change a reply (never a key or another secret);
* ``instant``: True for a model that computes in place, for which threads would only cost time;
* ``caveat``: what must be known about the model's answers, for every table that shows them;
* ``on_this_machine``: True for a model whose server is on this machine: whether it refuses a call is known within milliseconds,
  so ``evaluate`` need not wait tenths of a second to see how many calls it takes at once;
* ``texts_per_call``: of an embedding model or a pair scorer, the most texts or pairs that make one request;
* ``without_retries()``: the same model without retries of its own, for ``evaluate``, which repeats lost calls itself;
* ``without_cache()``: the same model without a cache of its own, for ``evaluate(repeats=...)``, which judges each row anew.

A reply format may have ``is_json``: whether its replies are JSON, so that models ask their servers for JSON. Without it, a
format with a schema counts as JSON, and one without as text.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, runtime_checkable

if TYPE_CHECKING:
    from ._requests import Ask, Message, Reply

T_co = TypeVar("T_co", covariant=True)


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


class WritingPrompt(PromptView, Protocol):
    """A prompt that writes its questions out when they are needed."""

    @property
    def reply(self) -> ReplyView:
        """The form of the reply."""
        ...

    def written_out(self, known_by: Any, inputs: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages of the question that is known by this and has these inputs."""
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
class LLM(Protocol):
    """A language model: ``generate(ask)`` and ``agenerate(ask)`` answer ``ask.messages`` with a ``Reply`` or plain text."""

    def generate(self, ask: Ask) -> Reply[str] | str:
        """Answer one question; raises ``ModelError`` when it cannot."""
        ...

    async def agenerate(self, ask: Ask) -> Reply[str] | str:
        """Answer one question; raises ``ModelError`` when it cannot."""
        ...


Vectors = Sequence[Sequence[float]]


class SyncEmbeddings(Protocol):
    """An embedding model that can only be called synchronously."""

    def embed(self, texts: Sequence[str]) -> Reply[Vectors] | Vectors:
        """One vector per text, all of one length."""
        ...


@runtime_checkable
class Embeddings(Protocol):
    """An embedding model: one vector of finite numbers per text, all of one length, in the order of the texts."""

    def embed(self, texts: Sequence[str]) -> Reply[Vectors] | Vectors:
        """One vector per text; raises ``ModelError`` when it cannot."""
        ...

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
