"""A provider of batches in this process: it counts how often each question is paid for, and fails as a test wishes."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from types import MappingProxyType, SimpleNamespace
from typing import Any

from ragmetrics_core import Ask, BadReply, ModelError, Reply, Usage

FINAL = ("completed", "failed", "expired", "cancelled")


def busy(message: str = "busy") -> ModelError:
    return ModelError(message, transient=True)


class Provider:
    """Batches that end at the first look.

    Attributes:
        answer: from the text of a question to the text of the reply.
        failures: for each method, what its next calls do: raise an error, or call a function with the result.
        statuses: how the next batches end; completed if there are none left.
        lines: changes the lines of the next files of answers.
        paid: by text, how often it was answered, online or in a batch.
    """

    base_url = "https://batches.example/v1"

    def __init__(self, answer: Callable[[str], str] = lambda text: f"0.{len(text) % 10}") -> None:
        self.answer = answer
        self.failures: dict[str, list[Any]] = {}
        self.statuses: list[SimpleNamespace | str] = []
        self.lines: list[Callable[[list[dict[str, Any]]], list[Any]]] = []
        self.files: dict[str, bytes] = {}
        self.states: dict[str, SimpleNamespace] = {}
        self.paid: Counter[str] = Counter()
        self.online: list[str] = []
        self.calls: list[str] = []

    def _called(self, name: str, result: Callable[[], Any]) -> Any:
        self.calls.append(name)
        failure = self.failures.get(name, [])
        what = failure.pop(0) if failure else None
        if isinstance(what, Exception):
            raise what
        return what(result()) if what else result()

    def check(self) -> None:
        self._called("check", lambda: None)

    def upload(self, path: Path) -> str:
        name = f"file-{len(self.files)}"
        return self._called("upload", lambda: self.files.setdefault(name, path.read_bytes()) and name)

    def create(self, file: str, mark: str) -> Any:
        def made() -> SimpleNamespace:
            state = SimpleNamespace(id=f"batch-{len(self.states)}", status="validating", input_file=file, mark=mark)
            vars(state).update(files=(), total=0, completed=0, failed=0, code="", message="", is_final=False)
            self.states[state.id] = state
            return state

        return self._called("create", made)

    def retrieve(self, batch: str) -> Any:
        return self._called("retrieve", lambda: self._ended(self.states[batch]))

    def _ended(self, state: SimpleNamespace) -> SimpleNamespace:
        if state.is_final:
            return state
        end = self.statuses.pop(0) if self.statuses else "completed"
        if isinstance(end, str):
            end = SimpleNamespace(status=end)
        vars(state).update(vars(end), is_final=end.status in FINAL)
        if state.is_final and state.status != "failed":
            found = [json.loads(line) for line in self.files[state.input_file].splitlines()]
            done = found[: len(found) // 2] if state.status == "expired" else found
            answered = [self._line(item) for item in done]
            answered = self.lines.pop(0)(answered) if self.lines else answered
            self.files[f"out-{state.id}"] = b"".join(
                item if isinstance(item, bytes) else json.dumps(item).encode() + b"\n" for item in answered
            )
            state.files = (f"out-{state.id}",)
        return state

    def _line(self, item: dict[str, Any]) -> dict[str, Any]:
        text = json.loads(item["body"]["messages"][-1]["content"])["text"]
        self.paid[text] += 1
        return {"custom_id": item["custom_id"], "response": self.answer(text)}

    def list(self) -> Iterator[Any]:
        return iter(self._called("list", lambda: list(self.states.values())))

    def download(self, file: str, path: Path) -> None:
        self._called("download", lambda: path.write_bytes(self.files[file]))

    def cancel(self, batch: str) -> None:
        self.statuses.insert(0, "cancelled")
        self._called("cancel", lambda: None)

    def line(self, ask: Ask, custom_id: str) -> bytes:
        messages = [{"role": message.role, "content": message.content} for message in ask.messages]
        line = {"custom_id": custom_id, "body": {"messages": messages}}
        return json.dumps(line, separators=(",", ":")).encode() + b"\n"

    def read(self, line: Mapping[str, Any]) -> Reply[str] | ModelError:
        said = line.get("response")
        if said == "refused":
            return BadReply("the model refuses", "no")
        if said == "gone":
            return ModelError("no such model", fatal=True)
        if not isinstance(said, str):
            return busy("the line has no response")
        return Reply(said, Usage(1, 10, 2))


class BatchedModel:
    """A model with batches; the first question of a run is asked online."""

    identity: Mapping[str, str] = MappingProxyType({"model": "batched", "base_url": Provider.base_url})
    model = "batched"

    def __init__(self, provider: Provider) -> None:
        self.provider = provider

    def batches(self) -> Provider:
        return self.provider

    async def agenerate(self, ask: Ask) -> Reply[str]:
        text = ask.inputs["text"]
        self.provider.paid[text] += 1
        self.provider.online.append(text)
        said = self.provider.answer(text)
        if said == "refused":
            raise BadReply("the model refuses", "no")
        return Reply(said, Usage(1, 10, 2))
