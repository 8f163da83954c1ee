"""What is sent to a chat server for one question, and how its answer is read. No IO: ``OpenAILLM`` makes the calls."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from .._errors import BadReply, ModelError
from .._requests import Ask, Message, Reply, Usage
from ._openai_clients import Clients
from ._openai_errors import Explained, check_sendable, mask, message_of
from ._structured import Ladder, Rung, is_refusal, response_format

__all__ = ["Attempts"]


class Attempts(Explained):
    """The attempts at one question: iterating gives the parameters of each, until one is answered or fails for good.

    for parameters in attempts:
        with attempts:
            return attempts.answered(client.chat.completions.create(**parameters))
    raise attempts.failure()
    """

    def __init__(self, model: str, parameters: Mapping[str, Any], clients: Clients, ladder: Ladder, ask: Ask) -> None:
        super().__init__(model, clients)
        self._parameters = parameters
        self._ladder = ladder
        self._ask = ask
        self._rung: Rung = "text"
        self._refusals: list[str] = []

    def __iter__(self) -> Iterator[dict[str, Any]]:
        schema = self._ask.reply.schema
        messages = [_wire(message) for message in self._ask.messages]
        for number, rung in enumerate(self._ladder.rungs(schema)):
            if len(self._refusals) < number:
                return  # the last attempt failed for a reason that another form would not mend
            self._rung = rung
            form = response_format(rung, self._ask.prompt.name, schema or {})
            yield {"model": self.model, "messages": messages, **self._parameters, **form}

    def failed(self, error: Exception) -> None:
        """Keep the explanation, and note whether the server refused nothing but the form."""
        super().failed(error)
        status, code = getattr(error, "status_code", 0), getattr(error, "code", None)
        said = f"{getattr(error, 'param', None) or ''} {message_of(error)}" if status else ""
        if self._rung != "text" and is_refusal(status, code, said):
            self._refusals.append(said)

    def failure(self) -> ModelError:
        """Why the last attempt failed."""
        assert self.problem is not None
        return self.problem

    def answered(self, answer: Any) -> Reply[str]:
        """Read the answer, and learn which form the server accepts.

        Raises:
            ModelError: the answer is not one of the protocol.
            BadReply: there is no text in it.
        """
        choices: Any = getattr(answer, "choices", None) or [None]
        message = getattr(choices[0], "message", None)
        if message is None:
            problem = getattr(answer, "error", None) or "it holds no choices"
            raise ModelError(
                f"{self.model}: {self.clients.base_url} sent an answer that is not one of the OpenAI protocol "
                f"({mask(str(problem), self.clients.secrets)})"
            )
        if self._refusals and self._ask.reply.schema is not None:
            self._ladder.learn(self._rung, self._ask.reply.schema, self._refusals[0])
        return self._read(message, choices[0].finish_reason, _usage(answer))

    def _read(self, message: Any, finish_reason: str | None, usage: Usage) -> Reply[str]:
        refusal = getattr(message, "refusal", None)
        if refusal:
            raise BadReply(f"{self.model} refuses to answer: {refusal}", refusal)
        text = message.content
        if finish_reason == "content_filter":
            raise BadReply(f"a content filter stopped the answer of {self.model}", text or ())
        if finish_reason == "length":
            return Reply(text or "", usage, truncated=True)
        if not isinstance(text, str):
            raise BadReply(f"{self.model} answered without any text (finish reason {finish_reason!r})")
        return Reply(text, usage)


def _wire(message: Message) -> dict[str, str]:
    content = message.content
    if message.role == "assistant":
        # what a model wrote is sent back as well as UTF-8 can carry it
        content = content.encode("utf-8", "backslashreplace").decode()
    check_sendable(message.role, content)
    return {"role": message.role, "content": content}


def _usage(answer: Any) -> Usage:
    usage = getattr(answer, "usage", None)
    counts = (getattr(usage, name, None) or 0 for name in ("prompt_tokens", "completion_tokens"))
    return Usage(1, *counts)
