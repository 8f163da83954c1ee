"""Reads the values of cells: lists, objects and texts in the forms in which people and programs write them.

Strategy. A list may be a list already, or a text that JSON, Python, numpy or Postgres would print for a list. Any other text in
the place of a list becomes a list with this text, or is split at the user's separator. Nothing is guessed: a text that begins
like a list and cannot be parsed is refused, unless it clearly is a text that begins with a mark in brackets, such as ``[1] Paris
is ...``. Values of the usual form are recognised by their type and passed on unchanged.
"""

from __future__ import annotations

import ast
import io
import json
import re
import tokenize
from collections.abc import Callable, Mapping
from itertools import pairwise
from typing import Any

from .._values._errors import InvalidInput
from .._values._sample import IDENTIFYING, Document

QUOTED = r"""(?:'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
NUMPY = re.compile(rf"\[\s*{QUOTED}(?:\s+{QUOTED})*\s*\]", re.DOTALL)
"""An array of texts as numpy prints it, with spaces or line breaks between the texts."""

ELEMENT = r'(?:"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}",\\]+)'
ARRAY = rf"\{{(?:{ELEMENT}(?:,{ELEMENT})*)?\}}"
POSTGRES = re.compile(ARRAY, re.DOTALL)
"""An array of texts as Postgres writes it. An item with a space, a comma or a brace is quoted."""

NESTED = re.compile(rf"\{{{ARRAY}(?:,{ARRAY})*\}}", re.DOTALL)

MARK = re.compile(r"""\[(?!\s*['"\[{])[^\[\]]*\]\s*[^\s\],]""")
"""A text that begins with a mark in brackets, such as the number of a citation."""

CONTENTS = ("content", "page_content", "text", "document.content")
"""The names of the text of a document in Haystack, LangChain, LlamaIndex and Phoenix, as keys and as attributes."""

IDS = ("id", "id_", "node_id", "doc_id")
OBJECTS = frozenset({"rubric", "metadata"})
METAS = ("meta", "metadata")
FOREIGN = frozenset({*CONTENTS[1:], "node", "lc"})
NAMED = frozenset({*CONTENTS, *IDS, *METAS, "score"})

WRITTEN = NAMED | {
    *("type", "lc", "kwargs", "embedding", "sparse_embedding", "blob", "dataframe", "mimetype", "relationships"),
    *("class_name", "text_resource", "image_resource", "audio_resource", "video_resource"),
    *("excluded_embed_metadata_keys", "excluded_llm_metadata_keys", "metadata_template", "metadata_separator"),
    *("metadata_seperator", "text_template", "start_char_idx", "end_char_idx", "hash", "metadata_str"),
    *("document.id", "document.score", "document.metadata"),
}
"""The keys of a document that one of these libraries wrote as JSON."""

AROUND_NODE = frozenset({"node", "score", "class_name"})
"""The keys of a node with its score, as LlamaIndex writes it."""


def read_cell(field: str, value: Any, column: str, separator: str | None) -> Any:
    """Parse a cell of this field. Fields of lists or objects may be written as one text; values of other fields are returned
    unchanged.

    Raises:
        InvalidInput: the text looks like a list or an object but cannot be parsed.
    """
    if field in ITEMS:
        items = _list(value, column, separator) if isinstance(value, str) else value
        items = [items] if isinstance(items, Mapping) else items
        if not isinstance(items, list | tuple) or all(map(ITEMS[field], items)):
            return items
        read = document_of if field.endswith("_documents") else _content
        return [read(item) for item in items]
    if field in OBJECTS and isinstance(value, str):
        parsed = literal(value)
        if not isinstance(parsed, dict):
            raise InvalidInput(f'{column}: the cell is neither a JSON nor a Python object: write {{"key": "text"}}')
        return parsed
    if field == "history" and isinstance(value, str):
        parsed = literal(value)
        return parsed if isinstance(parsed, list) else value  # the metric that reads it says what is wrong
    return value


def one_text(value: Any, column: str, field: str, *, mapped: bool) -> Any:
    """Return the text of a list with a single text, or of the last chat message by the speaker of this field. Other values are
    returned unchanged.

    Raises:
        InvalidInput: the list has several values, and the user named the column or the place (``mapped``). If the user did not
            name it, the metric that needs the field reports the problem.
    """
    if not isinstance(value, list | tuple) or not value:
        return value
    if len(value) == 1 and isinstance(value[0], str):
        return value[0]
    messages = [item for item in value if isinstance(item, Mapping) and item.get("role") in SPEAKERS[field]]
    # an earlier message belongs to an earlier turn
    if messages and (text := _message_text(messages[-1].get("content"))) is not None:
        return text
    if mapped and len(value) > 1:
        raise InvalidInput(f"{column} has {len(value)} values, but {field} is one text: name one, as in {column}.0")
    return value


def _message_text(content: Any) -> str | None:
    """Return the text of a message, which may consist of parts; None if the message has no text, such as a tool call."""
    if not isinstance(content, list | tuple):
        return content if isinstance(content, str) else None
    found = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "".join(found) if found else None


SPEAKERS = {"user_input": ("user", "human"), "response": ("assistant", "ai"), "reference": ("assistant", "ai")}
"""For each field, the roles whose chat messages contain its text."""


def _list(cell: str, column: str, separator: str | None) -> Any:
    """Parse the list in a text. A blank text is returned unchanged."""
    if not cell.strip():
        return cell
    if cell.lstrip().startswith("["):
        value = literal(cell)
        if isinstance(value, list):
            return value
        if separator is None and not MARK.match(cell.lstrip()):
            cure = 'write ["first text", "second text"]'
            raise InvalidInput(f"{column}: the cell starts with '[' but is not a JSON or Python list: {cure}")
    if POSTGRES.fullmatch(cell.strip()):
        return [_element(item) for item in re.findall(ELEMENT, cell.strip()[1:-1], re.DOTALL)]
    if NESTED.fullmatch(cell.strip()):
        raise InvalidInput(f"{column}: the cell is a nested Postgres array: write one list of texts")
    if separator is None:
        return [cell]
    return [part.strip() for part in cell.split(separator) if part.strip()]


def _element(item: str) -> str | None:
    """Return one text of an array as Postgres writes it; None for NULL."""
    if item.startswith('"'):
        return re.sub(r"\\(.)", r"\1", item[1:-1], flags=re.DOTALL)
    return None if item.upper() == "NULL" else item


def literal(cell: str) -> Any:
    """Return the value that a text represents in JSON, in Python or as numpy prints texts; None if the text represents no value."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    text = cell.strip()
    try:
        if NUMPY.fullmatch(text):
            return [ast.literal_eval(item) for item in re.findall(QUOTED, text, re.DOTALL)]
        value = ast.literal_eval(text)  # before _joins_texts, because only valid Python is tokenized in linear time
        return None if _joins_texts(text) else value
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
        return None


def _joins_texts(text: str) -> bool:
    """Whether two string literals are next to each other, which Python would join into one."""
    kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
    solid = [kind for kind in kinds if kind not in (tokenize.NL, tokenize.NEWLINE)]
    return any(left == right == tokenize.STRING for left, right in pairwise(solid))


def _content(item: Any) -> Any:
    """Return the text of a document of any form; other items are returned unchanged."""
    document = document_of(item)
    if isinstance(document, Mapping):
        content = document.get("content")
        return item if content is None else content
    return document


def _is_text(item: Any) -> bool:
    """Whether an item is a text that is not a document written as JSON."""
    return type(item) is str and item[:1] != "{"


def _is_document(item: Any) -> bool:
    """Whether a document can be used unchanged."""
    kind = type(item)
    if kind is Document or kind is str:
        return kind is Document or _is_text(item)
    if kind is not dict and not isinstance(item, Mapping):
        return False
    return "content" in item or (FOREIGN.isdisjoint(item) and not IDENTIFYING.isdisjoint(item))


def _is_written_document(found: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a document as a library writes it. A context that is itself a JSON object would lose a part if it
    were read as a document.
    """
    node = found.get("node")
    if isinstance(node, Mapping) and AROUND_NODE.issuperset(found):
        found = node
    return not set(CONTENTS).isdisjoint(found) and WRITTEN.issuperset(found)


def _unwrap(item: Any) -> Any:
    """Return the content of an object that LangChain's ``dumps`` wrote; other items are returned unchanged."""
    inner = item.get("kwargs") if isinstance(item, Mapping) and "lc" in item else None
    return inner if isinstance(inner, Mapping) else item


def document_of(item: Any) -> Any:
    """Return the fields of a document of any library, under the names of ``Document``.

    A document may be an object, a mapping, or a mapping written as JSON. An item that is not a document is returned unchanged.
    """
    if isinstance(item, str):
        parsed = _unwrap(literal(item)) if item.startswith("{") else None
        return document_of(parsed) if isinstance(parsed, dict) and _is_written_document(parsed) else item
    item = _unwrap(item)
    get: Callable[[str], Any] = item.get if isinstance(item, Mapping) else lambda name: getattr(item, name, None)
    content = next((text for text in map(get, CONTENTS) if isinstance(text, str)), None)
    if content is None:  # a node of LlamaIndex, with its score beside it, or no document
        node = get("node")
        return {**document_of(node), "score": get("score")} if isinstance(node, Mapping) else item
    others = {name: item[name] for name in item if name not in NAMED} if isinstance(item, Mapping) else {}
    meta = next((value for value in map(get, METAS) if isinstance(value, Mapping)), {})
    identifier = next((value for value in map(get, IDS) if value is not None), None)
    fields = {"content": content, "id": identifier, "score": get("score"), "meta": {**others, **meta} or None}
    return {name: value for name, value in fields.items() if value is not None}


ITEMS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("retrieved_contexts", "reference_contexts"), _is_text),
    **dict.fromkeys(("retrieved_documents", "reference_documents"), _is_document),
}
"""The fields of lists, each with a function that says whether an item can be used unchanged."""
