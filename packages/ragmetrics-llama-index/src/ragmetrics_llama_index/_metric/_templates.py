"""Templates of LlamaIndex in the place of a prompt of the core, and the prompts of the core shown as templates.

Strategy. A ``TemplatePrompt`` is a prompt of the core that renders its messages with a template; asking, reading, the one
re-ask and the record of versions stay the core's. A ``Slot`` says which prompt of a metric a template stands for, and how the
inputs of that prompt are called in LlamaIndex. A prompt that nobody has changed is asked as the core words it, and
shown as a template that renders the same two messages.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate

from ragmetrics_core import InvalidInput, Message, Prompt, Reply

__all__ = [
    "DATA",
    "Slot",
    "Template",
    "TemplatePrompt",
    "as_template",
    "check_shows_data",
    "is_same",
    "shown",
    "worded",
]

T = TypeVar("T")

Template = str | BasePromptTemplate

DATA = "data"
"""The variable that holds all inputs of a prompt as one JSON object."""

REPLY_FORM = "reply_form"
"""The variable that holds the words that tell the judge how to reply."""

ROLES = {MessageRole.SYSTEM: "system", MessageRole.DEVELOPER: "system"}
ROLES |= {MessageRole.ASSISTANT: "assistant", MessageRole.MODEL: "assistant", MessageRole.CHATBOT: "assistant"}


def every_input(inputs: Mapping[str, Any]) -> dict[str, Any]:
    """The inputs of a prompt under their own names."""
    return dict(inputs)


@dataclass(frozen=True)
class Slot:
    """Where a template belongs.

    Attributes:
        prompt: field of the metric that holds the prompt.
        names: the variables of the template; empty where they are the inputs of the prompt, whatever these are.
        variables: from the inputs of the prompt to the variables.
        adds_form: whether the words that tell how to reply are added to a template that leaves them out.
        one_text: whether the prompt is shown as one text, as LlamaIndex's own is, and not as messages.
    """

    prompt: str
    names: tuple[str, ...] = ()
    variables: Callable[[Mapping[str, Any]], dict[str, Any]] = every_input
    adds_form: bool = True
    one_text: bool = False


@dataclass(frozen=True, repr=False)
class TemplatePrompt(Prompt[T]):
    """A prompt that is worded by a template of LlamaIndex, and read as the prompt is in whose place it stands."""

    template: BasePromptTemplate | None = field(default=None, hash=False)
    slot: Slot = Slot("")
    llm: LLM | None = field(default=None, compare=False)
    reader: Prompt[T] | None = None

    def messages(self, inputs: Mapping[str, Any]) -> tuple[Message, ...]:
        """The messages that the template renders.

        Raises:
            InvalidInput: the template shows none of the data to the judge.
        """
        assert self.template is not None
        values = {name: _text(value) for name, value in self.slot.variables(self._plain(inputs)).items()}
        values = {DATA: self.data(inputs), REPLY_FORM: self.reply.instructions(), **values}
        check_shows_data(self.name, self.template, values)
        rendered = self.template.format_messages(llm=self.llm, **values)
        messages = [Message(_role(item.role), _readable(item.content or "")) for item in rendered]
        form = values[REPLY_FORM]
        if self.slot.adds_form and form and not any(form in item.content for item in messages):
            messages[-1] = Message(messages[-1].role, f"{messages[-1].content}\n\n{form}")
        return tuple(messages)

    def read(self, reply: Reply[str], inputs: Mapping[str, Any]) -> T:
        """The value in one reply, read and checked as without the template."""
        assert self.reader is not None
        return self.reader.read(reply, inputs)

    def _plain(self, inputs: Mapping[str, Any]) -> dict[str, Any]:
        # by way of the JSON that the core sends, so that numbered items have their numbers here too
        return dict(json.loads(self.data(inputs)))


def check_shows_data(name: str, template: BasePromptTemplate, known: Iterable[str]) -> None:
    """A judge that sees nothing of what it is to judge would only guess.

    Raises:
        InvalidInput: the template has none of the known variables.
    """
    used = {*template.template_vars, *(template.function_mappings or {}), *(template.template_var_mappings or {})}
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
        check=prompt.check,
        numbered=prompt.numbered,
        template=template,
        slot=slot,
        llm=llm,
        reader=prompt,
    )


def shown(prompt: Prompt[Any], slot: Slot) -> BasePromptTemplate:
    """A prompt of the core as a template that can be changed and given back: its instructions, then the data as JSON."""
    fields = ", ".join(f'"{name}": {{{name}}}' for name in slot.names)
    # LlamaIndex fills in the names it knows and leaves every other brace as it is
    data = f"{{{fields}}}" if slot.names else f"{{{DATA}}}"
    mappings: dict[str, Any] = {name: _as_json(name) for name in slot.names}
    if slot.one_text:
        return PromptTemplate(f"{prompt.system}\n\n{data}", function_mappings=mappings)
    return ChatPromptTemplate(
        message_templates=[
            ChatMessage(role=MessageRole.SYSTEM, content=prompt.system),
            ChatMessage(role=MessageRole.USER, content=data),
        ],
        function_mappings=mappings,
    )


def is_same(template: BasePromptTemplate, own: BasePromptTemplate) -> bool:
    """Whether a template is one that ``shown`` made, unchanged."""
    if type(template) is not type(own):
        return False
    words = "message_templates" if isinstance(own, ChatPromptTemplate) else "template"
    parts = [
        (getattr(item, words), item.kwargs, item.output_parser, item.template_var_mappings or {})
        for item in (template, own)
    ]
    return parts[0] == parts[1] and {*(template.function_mappings or {})} == {*(own.function_mappings or {})}


def _as_json(name: str) -> Callable[..., str]:
    def encode(**values: Any) -> str:
        return json.dumps(values[name], ensure_ascii=False)

    return encode


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def _role(role: MessageRole) -> Any:
    return ROLES.get(role, "user")


def _readable(text: str) -> str:
    return text.encode("utf-8", "backslashreplace").decode()
