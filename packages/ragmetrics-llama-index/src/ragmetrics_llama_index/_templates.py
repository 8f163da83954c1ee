"""The prompts of a metric as templates of LlamaIndex, which a user can read and replace."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

from llama_index.core.base.llms.types import ChatMessage, MessageRole
from llama_index.core.llms import LLM
from llama_index.core.prompts import BasePromptTemplate, ChatPromptTemplate, PromptTemplate

from ragmetrics_core import InvalidInput, Message, Prompt, Reply

T = TypeVar("T")

Template = str | BasePromptTemplate

DATA = "data"
"""The variable that stands for all inputs of a prompt as one JSON object."""

REPLY_FORM = "reply_form"
"""The variable that stands for the instructions on how to reply."""

ROLES: Mapping[MessageRole, Any] = {
    MessageRole.SYSTEM: "system",
    MessageRole.DEVELOPER: "system",
    MessageRole.ASSISTANT: "assistant",
    MessageRole.MODEL: "assistant",
    MessageRole.CHATBOT: "assistant",
}


@dataclass(frozen=True)
class Slot:
    """Which prompt a template replaces, and how the template is filled in.

    Attributes:
        prompt: field of the metric that holds the prompt.
        variables: the variables of the template, each with the text that fills it in, where ``{input}`` stands for an input of the
            prompt. Empty: the variables are the inputs themselves.
        aliases: further variables that are filled in, but not shown.
        missing: the text for an input that is missing or empty.
        adds_form: whether a template without instructions on how to reply gets the instructions of the prompt.
        one_text: whether the prompt is shown as one text, as LlamaIndex's own is, rather than as messages.
    """

    prompt: str
    variables: Mapping[str, str] = field(default_factory=dict)
    aliases: Mapping[str, str] = field(default_factory=dict)
    missing: str | None = None
    adds_form: bool = True
    one_text: bool = False

    def values(self, inputs: Mapping[str, Any]) -> dict[str, str]:
        """Return the text for each variable."""
        texts = {name: self._text(value) for name, value in inputs.items()}
        wanted = {**self.variables, **self.aliases}
        return {name: words.format_map(texts) for name, words in wanted.items()} if wanted else texts

    def _text(self, value: Any) -> str:
        if self.missing is not None and not value:
            return self.missing
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


@dataclass(frozen=True, repr=False, kw_only=True)
class TemplatePrompt(Prompt[T]):
    """A prompt with the words of a template, whose replies are read by the prompt that it replaces.

    Attributes:
        template: the template. Two templates with the same content are equal.
        slot: how it is filled in.
        reader: the prompt that it replaces.
        llm: the LLM that is asked.
    """

    template: BasePromptTemplate = field(hash=False)
    slot: Slot = field(hash=False)
    reader: Prompt[T]
    llm: LLM | None = field(compare=False)

    @cached_property
    def system(self) -> str:
        """The text of the template with its placeholders: the part of the prompt that is the same for all data."""
        return self.template.get_template()

    def messages(self, inputs: Mapping[str, Any]) -> tuple[Message, ...]:
        """Return the messages that the template makes.

        Raises:
            InvalidInput: the template shows the judge no data.
        """
        data, form = self.data(inputs), self.reply.instructions()
        # the values come from the JSON that the core sends, so that items keep their numbers
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
        """Parse and check one reply in the same way as the prompt that is replaced, and return its value."""
        return self.reader.read(reply, inputs)


def with_template(prompt: Prompt[T], template: BasePromptTemplate, slot: Slot, llm: LLM | None = None) -> Prompt[T]:
    """Return the prompt with the words of the template; its version is a hash of these words."""
    digest = hashlib.sha256(template.get_template().encode("utf-8", "backslashreplace")).hexdigest()
    kept: Any = {name: getattr(prompt, name) for name in ("instructions", "reply", "name", "numbered")}
    version = f"template {digest[:8]}"
    return TemplatePrompt(**kept, version=version, template=template, slot=slot, reader=prompt, llm=llm)


def check_shows_data(name: str, template: BasePromptTemplate, known: Iterable[str]) -> None:
    """Refuse a template without any of the known variables, because a judge that does not see the data would only guess.

    Args:
        name: the name of the template in messages.
        template: the template.
        known: the variables that will be filled in, in addition to ``data``.
    """
    known = dict.fromkeys([DATA, *known])
    mapped = {*(template.function_mappings or {}), *(template.template_var_mappings or {})}
    if mapped.union(template.template_vars).isdisjoint(set(known) - {REPLY_FORM}):
        listed = ", ".join(f"{{{variable}}}" for variable in known)
        raise InvalidInput(f"the template for {name!r} shows the judge no data: use at least one of {listed} in it")


def as_template(template: Template) -> BasePromptTemplate:
    """Return a template, given as such or as its text.

    Raises:
        InvalidInput: the value is neither.
    """
    if isinstance(template, str):
        return PromptTemplate(template)
    if not isinstance(template, BasePromptTemplate):
        raise InvalidInput(f"a template is a str or a prompt template of LlamaIndex, got {type(template).__name__}")
    return template


@dataclass(frozen=True)
class AsJson:
    """Formats one variable as JSON. Objects are compared by value, so all templates that ``shown`` makes of a prompt are equal."""

    name: str

    def __call__(self, **values: Any) -> str:
        return json.dumps(values[self.name], ensure_ascii=False)


def template_of(prompt: Prompt[Any], slot: Slot) -> BasePromptTemplate:
    """Return the prompt as a template that a user can change and give back: its instructions, then the data as JSON."""
    pairs = ", ".join(f'"{name}": {{{name}}}' for name in slot.variables)
    # LlamaIndex replaces the names that it knows and leaves all other braces unchanged
    data = f"{{{pairs or DATA}}}"
    encoders: dict[str, Callable[..., str]] = {name: AsJson(name) for name in slot.variables}
    if slot.one_text:
        return PromptTemplate(f"{prompt.system}\n\n{data}", function_mappings=encoders)
    messages = [
        ChatMessage(role=MessageRole.SYSTEM, content=prompt.system),
        ChatMessage(role=MessageRole.USER, content=data),
    ]
    return ChatPromptTemplate(message_templates=messages, function_mappings=encoders)
