"""Templates of LlamaIndex in the place of a prompt of the core, and the prompts of the core shown as templates.

Strategy. A ``TemplatePrompt`` is a prompt of the core that renders its messages with a template; asking, reading, the one
re-ask and the record of versions stay the core's. A ``Slot`` says which prompt of a metric a template stands for, and what
LlamaIndex calls the inputs of that prompt. A prompt that nobody has changed is asked as the core words it, and
shown as a template that renders the same two messages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate

from ragmetrics_core import InvalidInput, Message, Prompt, Reply

__all__ = ["Slot", "Template", "TemplatePrompt", "as_template", "check_shows_data", "is_same", "shown", "worded"]

T = TypeVar("T")

Template = str | BasePromptTemplate

DATA = "data"
"""The variable that holds all inputs of a prompt as one JSON object."""

REPLY_FORM = "reply_form"
"""The variable that holds the words that tell the judge how to reply."""

ROLES: Mapping[MessageRole, Any] = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.CHATBOT: "assistant",
}


@dataclass(frozen=True)
class Slot:
    """Where a template belongs.

    Attributes:
        prompt: field of the metric that holds the prompt.
        variables: the variables of the template and what stands for each, with inputs of the prompt in braces; empty where they
            are the inputs of the prompt, whatever these are.
        aliases: variables that are filled in too, though the prompt is not shown with them.
        missing: what stands for an input that is left out or empty.
        adds_form: whether the words that tell how to reply are added to a template that leaves them out.
        one_text: whether the prompt is shown as one text, as LlamaIndex's own is, and not as messages.
    """

    prompt: str
    variables: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    missing: str | None = None
    adds_form: bool = True
    one_text: bool = False

    def values(self, inputs: Mapping[str, Any]) -> dict[str, str]:
        """The variables of the template, filled in from the inputs of the prompt."""
        texts = {name: self._text(value) for name, value in inputs.items()}
        wanted = {**self.variables, **self.aliases}
        return {name: words.format_map(texts) for name, words in wanted.items()} if wanted else texts

    def _text(self, value: Any) -> str:
        if self.missing is not None and not value:
            return self.missing
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, repr=False, kw_only=True)
class TemplatePrompt(Prompt[T]):
    """A prompt that is worded by a template of LlamaIndex, and read as the prompt is in whose place it stands."""

    template: BasePromptTemplate = field(hash=False)
    slot: Slot = field(hash=False)
    llm: LLM | None = field(compare=False)
    reader: Prompt[T]

    def messages(self, inputs: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages that the template renders.

        Raises:
            InvalidInput: the template shows none of the data to the judge.
        """
        data, form = self.data(inputs), self.reply.instructions()
        # by way of the JSON that the core sends, so that numbered items have their numbers here too
        values = {DATA: data, REPLY_FORM: form, **self.slot.values(json.loads(data))}
        check_shows_data(self.name, self.template, values)
        messages = [
            Message(ROLES.get(item.role, "user"), (item.content or "").encode("utf-8", "backslashreplace").decode())
            for item in self.template.format_messages(llm=self.llm, **values)
        ]
        if self.slot.adds_form and form and not any(form in item.content for item in messages):
            messages[-1] = Message(messages[-1].role, f"{messages[-1].content}\n\n{form}")
        return tuple(messages)

    def read(self, reply: Reply[str], inputs: Mapping[str, Any]) -> T:
        """The value in one reply, read and checked as without the template."""
        return self.reader.read(reply, inputs)


def check_shows_data(name: str, template: BasePromptTemplate, known: Iterable[str]) -> None:
    """A judge that sees nothing of what it is to judge would only guess.

    Raises:
        InvalidInput: the template has none of the known variables.
    """
    used = {*template.template_vars, *(template.function_mappings or {}), *(template.template_var_mappings or {})}
    known = dict.fromkeys([DATA, *known])
    if used.isdisjoint(set(known) - {REPLY_FORM}):
        listed = ", ".join(f"{{{variable}}}" for variable in known)
        raise InvalidInput(f"the template for {name!r} shows the judge no data: use any of {listed} in it")


def as_template(template: Template) -> BasePromptTemplate:
    """A template from a template or from its text.

    Raises:
        InvalidInput: it is neither.
    """
    if isinstance(template, str):
        return PromptTemplate(template)
    if not isinstance(template, BasePromptTemplate):
        raise InvalidInput(f"a template is a str or a prompt template of LlamaIndex, got {type(template).__name__}")
    return template


def worded(prompt: Prompt[T], template: BasePromptTemplate, slot: Slot, llm: LLM | None) -> Prompt[T]:
    """The prompt with the words of the template; its version is a fingerprint of these words."""
    digest = hashlib.sha256(template.get_template().encode("utf-8", "backslashreplace")).hexdigest()
    return TemplatePrompt(
        instructions=prompt.instructions,
        reply=prompt.reply,
        name=prompt.name,
        version=f"template {digest[:8]}",
        numbered=prompt.numbered,
        template=template,
        slot=slot,
        llm=llm,
        reader=prompt,
    )


def shown(prompt: Prompt[Any], slot: Slot) -> BasePromptTemplate:
    """A prompt of the core as a template that can be changed and given back: its instructions, then the data as JSON."""
    pairs = ", ".join(f'"{name}": {{{name}}}' for name in slot.variables)
    # LlamaIndex fills in the names it knows and leaves every other brace as it is
    data = f"{{{pairs or DATA}}}"
    encoders: dict[str, Callable[..., str]] = {name: partial(_as_json, name) for name in slot.variables}
    if slot.one_text:
        return PromptTemplate(f"{prompt.system}\n\n{data}", function_mappings=encoders)
    messages = [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt.system),
        ChatMessage(role=MessageRole.USER, content=data),
    ]
    return ChatPromptTemplate(message_templates=messages, function_mappings=encoders)


def _as_json(name: str, /, **values: Any) -> str:
    return json.dumps(values[name], ensure_ascii=False)


def is_same(template: BasePromptTemplate, own: BasePromptTemplate) -> bool:
    """Whether a template is one that ``shown`` made, unchanged."""
    if type(template) is not type(own):
        return False
    words = "message_templates" if isinstance(own, ChatPromptTemplate) else "template"
    parts = [
        # functions are made anew each time, so only their names are compared
        (
            getattr(item, words),
            item.kwargs,
            item.output_parser,
            item.template_var_mappings or {},
            {*(item.function_mappings or {})},
        )
        for item in (template, own)
    ]
    return parts[0] == parts[1]
