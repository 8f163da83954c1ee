"""How ``ragmetrics run`` asks a pipeline, and reads the outputs of its components."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from haystack.dataclasses import ChatMessage

from haystack import Pipeline
from ragmetrics_core import InvalidInput

from ._tracer import QUESTIONS, fields_in


def function_of(app: Any) -> Callable[[str], Any] | None:
    """Return a function that asks a pipeline; None for another object.

    Every mandatory input that is named like a question gets the question, and so do all that are named query or question.

    Raises:
        InvalidInput: another input is mandatory, or there is no such input.
    """
    if not isinstance(app, Pipeline):
        return None
    needed = [(part, name) for part, inputs in app.inputs().items() for name in inputs if _is_asked(inputs, name)]
    other = [f"{part}.{name}" for part, name in needed if name not in QUESTIONS]
    if other or not needed:
        what = f"needs {', '.join(other)}" if other else "has no input for a question"
        raise InvalidInput(f"the pipeline {what}, so it cannot be asked with a question: write a function that runs it")
    parts = {part for part, _ in app.walk()}

    def ask(question: str) -> dict[str, Any]:
        data: dict[str, dict[str, Any]] = {}
        for part, name in needed:
            data.setdefault(part, {})[name] = [ChatMessage.from_user(question)] if name == "messages" else question
        return fields_of(app.run(data, include_outputs_from=parts))

    return ask


def _is_asked(inputs: dict[str, Any], name: str) -> bool:
    return inputs[name]["is_mandatory"] or name in ("query", "question")


def fields_of(answer: Any) -> dict[str, Any]:
    """Return the contexts and the answer in a message, an answer, the output of a component or the outputs of a pipeline.

    Texts in a mapping are kept under their names.
    """
    if not isinstance(answer, dict):
        return fields_in({"replies": [answer], "answers": [answer], "documents": getattr(answer, "documents", None)})
    outputs = [answer, *(output for output in answer.values() if isinstance(output, dict))]
    texts = {name: value for name, value in answer.items() if isinstance(value, str)}
    return texts | {name: value for output in outputs for name, value in fields_in(output).items()}
