"""Reads messages in the texts that Python writes for objects of LlamaIndex and Haystack.

Every text in quotation marks is read as a whole, so what a message says cannot pose as another message. A text that is cut off has
no closing quotation mark, and is left out.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from dataclasses import replace

from .._values._turns import SPEAKERS
from ._reading import Said

STRING = r"""('(?:[^'\\]|\\[\s\S])*(?:'|\\?\Z)|"(?:[^"\\]|\\[\s\S])*(?:"|\\?\Z))"""
"""A text as Python shows it, or one that is cut off.

The latter matches as a whole, for a search for other texts in it would take very long.
"""

PARTS = re.compile(rf"ChatMessage\(_?role=<\w+\.(\w+)|text={STRING}\)|{STRING}|(ToolCall(?:Block)?\()")


LABEL = re.compile(r"(?:\A|\n)(system|developer|user|assistant|function|tool|chatbot|model): ")


def text_shown(literal: str) -> str:
    """Return the text that a literal of Python stands for; "" if it is none, which Python did not write."""
    try:
        return str(ast.literal_eval(literal))
    except (SyntaxError, ValueError):
        return ""


def texts_shown(shown: str) -> Iterator[str]:
    """Yield the texts in quotation marks in a text that Python wrote."""
    return map(text_shown, re.findall(STRING, shown))


def messages_labelled(text: str) -> list[Said]:
    """Return the messages of a history that LlamaIndex wrote as one text, each after the label of its role.

    A message may contain such a label. The text is read only if user and assistant take turns in it.
    """
    _, *parts = LABEL.split(text)
    found = [Said(SPEAKERS.get(role, role), said) for role, said in zip(parts[::2], parts[1::2], strict=True)]
    turns = [said.role for said in found if said.role != "system"]
    return found if turns == ["user", "assistant"] * (len(turns) // 2) else []


def messages_shown(shown: str) -> list[Said]:
    """Return the messages in a text that Python wrote."""
    found: list[Said] = []
    for part in PARTS.finditer(shown):
        role, text, _, calls = part.groups()
        if role:
            found.append(Said(SPEAKERS.get(role.lower(), "tool"), ""))
        elif found and text:
            found[-1] = replace(found[-1], content=found[-1].content + text_shown(text))
        elif found and calls:
            found[-1] = replace(found[-1], calls_tools=True)
    return found
