"""The prompts of a metric as LlamaIndex's templates, and LlamaIndex's templates as the words of a prompt.

Strategy. Filling a template in, reading the reply and the record of versions are the core's. A prompt that nobody has changed keeps
the words of the core, and is shown as a template that renders the same two messages.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate

from ragmetrics_core import InvalidInput, Message, Prompt
from ragmetrics_core.adapters import DATA, Slot

Template = str | BasePromptTemplate

ROLES: Mapping[MessageRole, Any] = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.CHATBOT: "assistant",
}


@dataclass(frozen=True)
class Filled:
    """A template as the core fills it in, for the LLM that is asked."""

    template: BasePromptTemplate = field(hash=False)
    llm: LLM | None = field(default=None, compare=False)

    def variables(self) -> set[str]:
        """Its own variables, and those that are mapped to others."""
        template = self.template
        return {*template.template_vars, *(template.function_mappings or {}), *(template.template_var_mappings or {})}

    def words(self) -> str:
        """Its text."""
        return self.template.get_template()

    def messages(self, values: Mapping[str, str]) -> list[Message]:
        """The messages that it makes."""
        made = self.template.format_messages(llm=self.llm, **values)
        return [Message(ROLES.get(item.role, "user"), item.content or "") for item in made]


def as_template(template: Template) -> BasePromptTemplate:
    """A template, given as such or as its text; ``InvalidInput`` if it is neither."""
    if isinstance(template, str):
        return PromptTemplate(template)
    if not isinstance(template, BasePromptTemplate):
        raise InvalidInput(f"a template is a str or a prompt template of LlamaIndex, got {type(template).__name__}")
    return template


@dataclass(frozen=True)
class AsJson:
    """Shows one variable as JSON; a value, so that all templates that ``shown`` makes of a prompt are equal."""

    name: str

    def __call__(self, **values: Any) -> str:
        return json.dumps(values[self.name], ensure_ascii=False)


def shown(prompt: Prompt[Any], slot: Slot) -> BasePromptTemplate:
    """The prompt as a template that a user can change and give back: its instructions, then the data as JSON."""
    pairs = ", ".join(f'"{name}": {{{name}}}' for name in slot.variables)
    # LlamaIndex fills in the names it knows and leaves all other braces alone
    data = f"{{{pairs or DATA}}}"
    encoders: dict[str, Callable[..., str]] = {name: AsJson(name) for name in slot.variables}
    if slot.one_text:
        return PromptTemplate(f"{prompt.system}\n\n{data}", function_mappings=encoders)
    messages = [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt.system),
        ChatMessage(role=MessageRole.USER, content=data),
    ]
    return ChatPromptTemplate(message_templates=messages, function_mappings=encoders)
