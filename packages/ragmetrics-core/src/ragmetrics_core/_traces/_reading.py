"""Reads messages, questions, answers and documents in plain values, as traces contain them.

Strategy. The same rules as those of the live callbacks, for values that have become JSON: a text is used unchanged; in a mapping,
the usual names come first, then messages, and last the only text under a name that means nothing else. Two equally good readings
are no reading.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._values._sample import Document
from .._values._turns import SPEAKERS
from ._json import parsed_or_none

QUESTIONS = ("user_input", "question", "query", "input", "query_str", "str_or_query_bundle", "query_bundle", "message")
ANSWERS = (
    "structured_response",
    "response",
    "answer",
    "output",
    "result",
    "generation",
    "final_answer",
    "predicted_answer",
    "generated_answer",
    "text",
)
CONTEXTS = ("retrieved_contexts", "contexts", "context", "retrieved_documents", "source_documents", "documents", "docs")
REFERENCES = ("reference", "ground_truth", "reference_answer", "ground_truth_answer", "expected_answer")
HISTORY = ("chat_history", "history")
NEITHER = frozenset({*CONTEXTS, *REFERENCES, *HISTORY, "messages"})
NO_QUESTION = NEITHER.union(ANSWERS, ("context_str",))
NO_ANSWER = NEITHER.union(QUESTIONS)
TOOLS = frozenset({"tool", "function"})


@dataclass(frozen=True, slots=True)
class Said:
    """A message: ``role`` is ``user``, ``assistant``, ``system`` or ``tool``."""

    role: str
    content: str
    calls_tools: bool = False
    artifact: Any = None

    @property
    def turn(self) -> dict[str, Any]:
        """The message as a turn of a history."""
        return {"role": self.role, "content": self.content, "tool_calls": self.calls_tools}


def message_in(value: Any) -> Said | None:
    """Return the message that a value is, in any of the forms that frameworks export; None if it is none."""
    if isinstance(value, list) and len(value) == 2 and all(isinstance(part, str) for part in value):
        value = {"role": value[0], "content": value[1]}
    if not isinstance(value, dict):
        return None
    role = str(value.get("role", value.get("type", value.get("_role"))))
    inner = next((value[name] for name in ("data", "kwargs", "message") if isinstance(value.get(name), dict)), value)
    role = str(inner.get("type", role)) if inner is not value and role not in SPEAKERS else role
    role = role.rpartition(".")[2]  # ChatRole.USER
    role = SPEAKERS.get(role, role.lower())
    speaker = "tool" if role in TOOLS else SPEAKERS.get(role)
    if speaker is None:
        return None
    content = next((inner[name] for name in ("content", "blocks", "_content", "parts") if name in inner), None)
    calls = inner.get("tool_calls") or inner.get("invalid_tool_calls")
    if content is None and not calls:
        return None
    return Said(speaker, text_of(content), bool(calls), inner.get("artifact"))


def text_of(content: Any) -> str:
    """Return the text of a content, which is a text or a list of parts."""
    if isinstance(content, str) or not isinstance(content, list):
        return content if isinstance(content, str) else ""
    parts = (part.get("text", part.get("content")) if isinstance(part, dict) else part for part in content)
    return "".join(part for part in parts if isinstance(part, str))


def messages_in(value: Any) -> list[Said] | None:
    """Return the messages in a value; None if it is anything else. A single text is a message of the user."""
    if isinstance(value, str):
        return [Said("user", value)]
    if (one := message_in(value)) is not None:
        return [one]
    if not isinstance(value, list) or not value or (len(value) > 1 and all(isinstance(item, str) for item in value)):
        return None
    if isinstance(value[0], list) and len(value) == 1 and message_in(value[0]) is None:
        return messages_in(value[0])  # a batch of one
    found = [Said("user", item) if isinstance(item, str) else message_in(item) for item in value]
    known = [item for item in found if item is not None]
    return known if len(known) == len(found) else None


def this_turn(messages: Sequence[Said]) -> Sequence[Said]:
    """Return the messages after the user's last one; all of them if there is none."""
    start = next((at for at in range(len(messages), 0, -1) if messages[at - 1].role == "user"), 0)
    return messages[start:]


def last_question(messages: Iterable[Said]) -> str | None:
    """Return the last text of the user."""
    asked = [item.content for item in messages if item.role == "user" and item.content.strip()]
    return asked[-1] if asked else None


def last_answer(messages: Sequence[Said]) -> str | None:
    """Return the last text of the assistant after the user's last message, or that of a tool which spoke last."""
    said = this_turn(messages)
    if said and said[-1].role == "tool":
        return said[-1].content or None
    answers = [item for item in said if item.role == "assistant" and not item.calls_tools]
    texts = [item.content for item in answers if item.content.strip()]
    return texts[-1] if texts else "" if answers and answers[-1] is said[-1] else None


def finite(value: Any) -> float | None:
    """Return a number; None for any other value, and for numbers that no float can hold."""
    return value if isinstance(value, int | float) and abs(value) < sys.float_info.max else None


def blank(text: Any) -> bool:
    """Whether a value is no text, or one without words."""
    return not isinstance(text, str) or not text.strip()


def question_in(value: Any, depth: int = 3) -> str | None:
    """Return the question in the input of a call; None if there is none."""
    if isinstance(value, str):
        return None if blank(value) else value
    if isinstance(value, list):
        return last_question(messages_in(value) or ())
    if not isinstance(value, dict) or not depth or {"resume", "goto"} <= set(value):  # LangGraph's Command asks nothing
        return None
    if (message := message_in(value)) is not None:
        return message.content or None
    for name in QUESTIONS:
        if (question := question_in(value.get(name), depth - 1)) is not None:
            return question
    if (messages := messages_in(value.get("messages"))) is not None:
        return last_question(messages)
    return _only_text(value, NO_QUESTION)


def _only_text(value: Mapping[str, Any], others: Iterable[str]) -> str | None:
    texts = [text for name, text in value.items() if name not in others and not blank(text)]
    return texts[0] if len(texts) == 1 else None


def answer_in(value: Any, inputs: Any = None, depth: int = 3, *, whole: bool = True) -> str | None:
    """Return the answer in the output of a call; None if it is not clear which part is the answer.

    Args:
        value: the output.
        inputs: the input; what an output repeats of it is no answer.
        depth: levels of mappings to look into.
        whole: whether a mapping or a list as a whole may be the answer, as structured output.
    """
    if isinstance(value, str | int | float):
        return str(value)
    if isinstance(value, list):
        messages = None if all(isinstance(item, str) for item in value) else messages_in(value)
        if messages is not None:
            return last_answer(messages)
        mappings = bool(value) and all(isinstance(item, dict) for item in value)
        return _structure(value) if whole and mappings and not documents_in(value) else None
    if not isinstance(value, dict) or not value or not depth:
        return None
    if (message := message_in(value)) is not None:
        return None if message.calls_tools else message.content
    return _named_answer(value, inputs, depth, whole=whole)


def _named_answer(value: Mapping[str, Any], inputs: Any, depth: int, *, whole: bool) -> str | None:
    named = [name for name in ("parsed", "raw", *ANSWERS, "message") if value.get(name) is not None]
    answers = [_part(value[name], depth) for name in named]
    found = [answer for answer in answers if answer is not None]
    if found:
        return min(found, key=blank)  # the first one that is not blank
    if (messages := messages_in(value.get("messages"))) is not None:
        return last_answer(messages)
    for name in ("generations", "choices", "replies", "answers"):
        several = value.get(name)
        if isinstance(several, list) and several:
            first = several[0][0] if isinstance(several[0], list) and several[0] else several[0]
            data = first.get("data") if isinstance(first, dict) else None
            return data if isinstance(data, str) else answer_in(first, None, depth - 1)
    if any(name in value for name in ANSWERS):
        return None
    others = NO_ANSWER | set(inputs if isinstance(inputs, dict) else ())
    text = _only_text(value, others)
    return text if text is not None else _structure(value) if whole and others.isdisjoint(value) else None


def _part(value: Any, depth: int) -> str | None:
    answer = answer_in(value, None, depth - 1)
    return _structure(value) if answer is None and isinstance(value, list) and value else answer


def _structure(value: Any) -> str | None:
    """Return structured output as JSON; None if there is nothing in it."""
    leaves = list(leaves_of(value))
    if all(leaf is None for leaf in leaves):
        return None
    written = all(isinstance(leaf, str) and not leaf.strip() for leaf in leaves)
    return "" if written else json.dumps(value, ensure_ascii=False)


def leaves_of(value: Any) -> Iterator[Any]:
    """Yield the values that contain no other values."""
    if isinstance(value, dict):
        for item in value.values():
            yield from leaves_of(item)
    elif isinstance(value, list) and value:
        for item in value:
            yield from leaves_of(item)
    else:
        yield value


Context = Document | str
OF_DOCUMENTS = frozenset({"page_content", "id", "id_", "metadata", "meta", "embedding"})
OF_HAYSTACK = frozenset({"id", "content", "blob", "score", "embedding", "sparse_embedding", "meta"})


def document_in(value: Any) -> Document | None:
    """Return the document that a value is, as frameworks and OpenInference write it; None if it is none."""
    if not isinstance(value, dict) or message_in(value) is not None:
        return None
    score = value.get("score")
    is_named = "node" in value or any(str(name).partition(".")[0] == "document" for name in value)
    inner = next((value[name] for name in ("document", "kwargs", "node") if isinstance(value.get(name), dict)), value)
    value = {str(name).removeprefix("document."): item for name, item in inner.items()} if is_named else inner
    text = next((value[name] for name in ("page_content", "content", "text") if isinstance(value.get(name), str)), None)
    key = next((value[name] for name in ("id", "id_", "node_id") if value.get(name) is not None), None)
    if (text is None and key is None) or not (is_named or not OF_DOCUMENTS.isdisjoint(value)):
        return None
    meta = value.get("metadata", value.get("meta"))
    if "blob" in value:  # Haystack writes the metadata beside its own fields
        meta = {name: item for name, item in value.items() if name not in OF_HAYSTACK}
    meta = parsed_or_none(meta)
    grade = finite(value.get("score", score))
    known_id = None if key is None else str(key)
    return Document(text, known_id, grade if grade is None else float(grade), meta if isinstance(meta, dict) else {})


def contexts_in(value: Any, depth: int = 2) -> list[Context] | None:
    """Return contexts in any form: a text, a document, a list of both, or a mapping with one of these. A pair of a document and a
    score counts as the document. An empty list stays empty. None for any other value.
    """
    if isinstance(value, list):
        found = [_context(item) for item in value]
        known = [item for item in found if item is not None]
        return known if len(known) == len(found) else None
    context = _context(value)
    if context is None and isinstance(value, dict) and depth:
        names = sorted(CONTEXTS, key=lambda name: "doc" not in name)
        inner = (contexts_in(value[name], depth - 1) for name in names if name in value)
        return next((contexts for contexts in inner if contexts is not None), None)
    return None if context is None or (isinstance(context, str) and blank(context)) else [context]


def _context(item: Any) -> Context | None:
    if isinstance(item, list) and len(item) == 2 and isinstance(item[1], int | float):
        item = item[0]
    return item if isinstance(item, str) else document_in(item)


def documents_in(value: Any, depth: int = 2) -> list[Document] | None:
    """Return the first list of documents in a value: the value itself, or a list in mappings up to ``depth`` levels deep."""
    if isinstance(value, list):
        found = contexts_in(value)
        documents = [item for item in found or () if isinstance(item, Document)]
        return documents if found and len(documents) == len(found) else None
    if isinstance(value, dict) and depth:
        return next(filter(None, (documents_in(item, depth - 1) for item in value.values())), None)
    return None


def named_contexts(value: Any) -> tuple[list[Context] | None, list[str] | None]:
    """Return the contexts under the usual names: as documents, and as texts. An empty list of documents means that nothing was
    shown.
    """
    found = value if isinstance(value, dict) else {}
    given = (contexts_in(found[name]) for name in CONTEXTS if name in found)
    readings = [reading for reading in given if reading is not None]
    documents = next((items for items in readings if any(isinstance(item, Document) for item in items)), None)
    texts = next(([str(item) for item in items] for items in readings if items and items is not documents), None)
    return ([] if documents is None and texts is None and readings else documents), texts
