"""Small metrics and models for the tests of ``evaluate``: every one does one thing that a test needs."""

from __future__ import annotations

import asyncio
import random
import threading
import time
from dataclasses import dataclass

from ragmetrics_core import Ask, Metric, ModelError, Prompt, Reply, Score, Steps, Usage, embed, together


@dataclass(frozen=True)
class PlainReply:
    """The text itself."""

    schema = None

    def instructions(self) -> str:
        return "Reply with a number."

    def parse(self, text: str) -> str:
        return text


RATE = Prompt("Rate the text.", PlainReply(), name="rate")


@dataclass(frozen=True)
class Length(Metric):
    """Characters of the response over ten; asks no model."""

    def measure(self, response: str) -> Score:
        if response == "?":
            return Score.unscored("the response is a question mark")
        return Score(min(len(response), 10) / 10)


@dataclass(frozen=True)
class Rated(Metric):
    """One question, answered with the value."""

    prompt: Prompt[str] = RATE

    def measure(self, user_input: str) -> Steps[Score]:
        text = yield from self.prompt.ask(text=user_input)
        return Score(float(text), details={"said": text})


@dataclass(frozen=True)
class RatedTwice(Metric):
    """A second round that repeats the question of ``Rated``, after a different question."""

    def measure(self, user_input: str) -> Steps[Score]:
        yield from RATE.ask(text=f"first {user_input}")
        return Score(float((yield from RATE.ask(text=user_input))))


@dataclass(frozen=True)
class RatedContexts(Metric):
    """One question per context, all in one round."""

    def measure(self, retrieved_contexts: list[str]) -> Steps[Score]:
        texts = yield from together(*(RATE.ask(text=context) for context in retrieved_contexts))
        return Score(sum(map(float, texts)) / len(texts))


@dataclass(frozen=True)
class Embedded(Metric):
    """One embedding request."""

    def measure(self, response: str) -> Steps[Score]:
        (vector,) = yield from embed([response])
        return Score(vector[0])


class AsyncModel:
    """Answers every question after a delay, and counts how many it has at once."""

    def __init__(self, answer: object = "0.5", *, delay: float = 0.001, seed: int | None = None) -> None:
        self.answer = answer
        self.delay = delay
        self.random = random.Random(seed) if seed is not None else None
        self.asked: list[str] = []
        self.now = 0
        self.most = 0

    def reply(self, ask: Ask) -> object:
        text = ask.inputs["text"]
        self.asked.append(text)
        value = self.answer(text) if callable(self.answer) else self.answer
        if isinstance(value, BaseException):
            raise value
        return Reply(value, Usage(calls=1, prompt_tokens=10, completion_tokens=2))

    async def agenerate(self, ask: Ask) -> object:
        self.now += 1
        self.most = max(self.most, self.now)
        try:
            await asyncio.sleep(self.random.uniform(0, self.delay) if self.random else self.delay)
            return self.reply(ask)
        finally:
            self.now -= 1


OPENAI = "https://api.openai.com/v1"
ONE_CALL = Usage(1, 10_000, 1_000)


class Priced(AsyncModel):
    """A model that says what it is and where; every call costs the same tokens."""

    def __init__(self, model: str = "gpt-4o-mini", base_url: str | None = OPENAI, usage: Usage = ONE_CALL) -> None:
        super().__init__("0.5")
        self.usage = usage
        self.identity = {"model": model, **({"base_url": base_url} if base_url else {})}

    def reply(self, ask: Ask) -> object:
        self.asked.append(ask.inputs["text"])
        return Reply("0.5", self.usage)


class SyncModel(AsyncModel):
    """The same with nothing but a blocking method."""

    agenerate = None

    def __init__(self, *args: object, **kwargs: object) -> None:
        super().__init__(*args, **kwargs)  # type: ignore[arg-type]
        self.lock = threading.Lock()
        self.threads: set[str] = set()

    def generate(self, ask: Ask) -> object:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.threads.add(threading.current_thread().name)
        time.sleep(self.delay)
        with self.lock:
            self.now -= 1
            return self.reply(ask)


class Full(SyncModel):
    """Answers when as many ask at once as it has places, after a pause in which one more would come."""

    def __init__(self, places: int) -> None:
        super().__init__("1", delay=0.01)
        self.places = places
        self.full = threading.Event()

    def generate(self, ask: Ask) -> object:
        with self.lock:
            self.now += 1
            self.most = max(self.most, self.now)
            self.threads.add(threading.current_thread().name)
            if self.now == self.places:
                self.full.set()
        self.full.wait(60)
        time.sleep(self.delay)
        with self.lock:
            self.now -= 1
            return self.reply(ask)


class InstantModel(AsyncModel):
    """The same, computed in place."""

    instant = True
    caveat = "these scores are guesses"

    def generate(self, ask: Ask) -> object:
        return self.reply(ask)


def questions(count: int) -> list[dict[str, str]]:
    return [{"user_input": str(number), "response": "x" * (number % 10 + 1)} for number in range(count)]


def refused() -> ModelError:
    return ModelError("the key is refused", fatal=True)


class Echo:
    """Answers with the text that is to be rated, and is the same model in every process; counts what it is asked."""

    def __init__(self, name: str = "echo") -> None:
        self.identity = {"model": name}
        self.asked = 0

    def generate(self, ask: Ask[str]) -> Reply[str]:
        self.asked += 1
        return Reply(ask.inputs["text"], Usage(calls=1))
