"""What a cell says: lists, objects and texts in the forms in which people and programs write them down.

Strategy. A list is what is already one, or a text that JSON, Python, numpy or Postgres would print for one; a text in the place of
a list is a list of one, or is split where the user says by what. Nothing is guessed: a text that begins as lists do and cannot be
read as one is refused, unless it plainly is a text that begins with a mark in brackets, such as ``[1] Paris is ...``. Values
of the usual form are recognised by their type and passed on unchanged.
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
"""How numpy prints an array of texts: with blanks or line ends between them."""

ELEMENT = r'(?:"[^"\\]*(?:\\.[^"\\]*)*"|[^\s{}",\\]+)'
ARRAY = rf"\{{(?:{ELEMENT}(?:,{ELEMENT})*)?\}}"
POSTGRES = re.compile(ARRAY, re.DOTALL)
"""How Postgres writes an array of texts; what holds a blank, a comma or a brace is in quotes there."""

NESTED = re.compile(rf"\{{{ARRAY}(?:,{ARRAY})*\}}", re.DOTALL)

MARK = re.compile(r"""\[(?!\s*['"\[{])[^\[\]]*\]\s*[^\s\],]""")
"""A text that begins with something in brackets, such as the number of a citation."""

CONTENTS = ("content", "page_content", "text", "document.content")
"""What Haystack, LangChain, LlamaIndex and Phoenix call the text of a document, in its dictionary and as an attribute."""

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
"""Keys of a document that one of these libraries has written as JSON."""

AROUND_NODE = frozenset({"node", "score", "class_name"})
"""Keys of a node with its score, as LlamaIndex writes it."""


def read_cell(field: str, value: Any, column: str, separator: str | None) -> Any:
    """What a cell of this column holds of the field, whose lists may be written as one text; other fields stay as they are.

    Raises:
        InvalidInput: it is a text that looks like a list or an object and is none.
    """
    if field in ITEMS:
        items = _list(value, column, separator) if isinstance(value, str) else value
        items = [items] if isinstance(items, Mapping) else items
        if not isinstance(items, list | tuple) or all(map(ITEMS[field], items)):
            return items
        read = document_of if field.endswith("_documents") else _content
        return [read(item) for item in items]
    if field in OBJECTS and isinstance(value, str):
        found = literal(value)
        if not isinstance(found, dict):
            raise InvalidInput(f'{column}: the cell is neither a JSON nor a Python object: write {{"key": "text"}}')
        return found
    return value


def one_text(value: Any, column: str, field: str, *, mapped: bool) -> Any:
    """The text of a list that holds one, or of the last chat message of the role whose field this is; other values stay.

    Raises:
        InvalidInput: the list has several values, and the user named the column or the place (``mapped``). Otherwise the metric
            that needs the field reports it.
    """
    if not isinstance(value, list | tuple) or not value:
        return value
    if len(value) == 1 and isinstance(value[0], str):
        return value[0]
    said = [item for item in value if isinstance(item, Mapping) and item.get("role") in SPEAKERS[field]]
    # an earlier message belongs to an earlier turn
    if said and (text := _message_text(said[-1].get("content"))) is not None:
        return text
    if mapped and len(value) > 1:
        raise InvalidInput(f"{column}: holds {len(value)} values, and {field} is one text: name one, as in {column}.0")
    return value


def _message_text(content: Any) -> str | None:
    """The text of a message, which may come in parts; None where it has none, as a call of a tool has not."""
    if not isinstance(content, list | tuple):
        return content if isinstance(content, str) else None
    found = [part["text"] for part in content if isinstance(part, Mapping) and isinstance(part.get("text"), str)]
    return "".join(found) if found else None


SPEAKERS = {"user_input": ("user", "human"), "response": ("assistant", "ai"), "reference": ("assistant", "ai")}
"""The roles whose chat messages hold the text of a field."""


def _list(cell: str, column: str, separator: str | None) -> Any:
    """The list that a text says; a blank text stays as it is."""
    if not cell.strip():
        return cell
    if cell.lstrip().startswith("["):
        value = literal(cell)
        if isinstance(value, list):
            return value
        if separator is None and not MARK.match(cell.lstrip()):
            cure = 'write ["first text", "second text"]'
            raise InvalidInput(f"{column}: the cell starts with '[' but is no JSON or Python list: {cure}")
    if POSTGRES.fullmatch(cell.strip()):
        return [_element(item) for item in re.findall(ELEMENT, cell.strip()[1:-1], re.DOTALL)]
    if NESTED.fullmatch(cell.strip()):
        raise InvalidInput(f"{column}: the cell is an array of arrays of Postgres: write one list of texts")
    if separator is None:
        return [cell]
    return [part.strip() for part in cell.split(separator) if part.strip()]


def _element(item: str) -> str | None:
    """One text of an array as Postgres writes it; None for its NULL."""
    if item.startswith('"'):
        return re.sub(r"\\(.)", r"\1", item[1:-1], flags=re.DOTALL)
    return None if item.upper() == "NULL" else item


def literal(cell: str) -> Any:
    """The value that a text spells in JSON, in Python or as numpy prints texts; None if it spells none."""
    try:
        return json.loads(cell)
    except (ValueError, RecursionError):
        pass
    text = cell.strip()
    try:
        if NUMPY.fullmatch(text):
            return [ast.literal_eval(item) for item in re.findall(QUOTED, text, re.DOTALL)]
        value = ast.literal_eval(text)  # first, as only of what is Python the tokens are found in linear time
        return None if _joins_texts(text) else value
    except (ValueError, SyntaxError, RecursionError, MemoryError, tokenize.TokenError):
        return None


def _joins_texts(text: str) -> bool:
    """Whether two texts stand side by side, which Python would join into one."""
    kinds = [token.type for token in tokenize.generate_tokens(io.StringIO(text).readline)]
    solid = [kind for kind in kinds if kind not in (tokenize.NL, tokenize.NEWLINE)]
    return any(left == right == tokenize.STRING for left, right in pairwise(solid))


def _content(item: Any) -> Any:
    """The text of a document, in whatever form the document is; anything else stays as it is."""
    document = document_of(item)
    if isinstance(document, Mapping):
        content = document.get("content")
        return item if content is None else content
    return document


def _is_text(item: Any) -> bool:
    """Whether it is a text, and no document that was written as JSON."""
    return type(item) is str and item[:1] != "{"


def _is_document(item: Any) -> bool:
    """Whether documents of this form can be used as they are."""
    kind = type(item)
    if kind is Document or kind is str:
        return kind is Document or _is_text(item)
    if kind is not dict and not isinstance(item, Mapping):
        return False
    return "content" in item or (FOREIGN.isdisjoint(item) and not IDENTIFYING.isdisjoint(item))


def _is_written_document(found: Mapping[str, Any]) -> bool:
    """Whether a JSON object is a document as a library writes it, and no context that is itself JSON and would lose a part."""
    node = found.get("node")
    if isinstance(node, Mapping) and AROUND_NODE.issuperset(found):
        found = node
    return not set(CONTENTS).isdisjoint(found) and WRITTEN.issuperset(found)


def _unwrap(item: Any) -> Any:
    """What an object holds that LangChain's ``dumps`` has written; anything else stays as it is."""
    inner = item.get("kwargs") if isinstance(item, Mapping) and "lc" in item else None
    return inner if isinstance(inner, Mapping) else item


def document_of(item: Any) -> Any:
    """A document under the names that documents have here; what is none stays as it is."""
    if isinstance(item, str):
        found = _unwrap(literal(item)) if item.startswith("{") else None
        return document_of(found) if isinstance(found, dict) and _is_written_document(found) else item
    item = _unwrap(item)
    get: Callable[[str], Any] = item.get if isinstance(item, Mapping) else lambda name: getattr(item, name, None)
    node = get("node")
    content = next((text for text in map(get, CONTENTS) if isinstance(text, str)), None)
    if content is None:
        return {**document_of(node), "score": get("score")} if isinstance(node, Mapping) else item
    others = {name: item[name] for name in item if name not in NAMED} if isinstance(item, Mapping) else {}
    meta = next((value for value in map(get, METAS) if isinstance(value, Mapping)), {})
    key = next((value for value in map(get, IDS) if value is not None), None)
    named = {"content": content, "id": key, "score": get("score"), "meta": {**others, **meta} or None}
    return {name: value for name, value in named.items() if value is not None}


ITEMS: Mapping[str, Callable[[Any], bool]] = {
    **dict.fromkeys(("retrieved_contexts", "reference_contexts"), _is_text),
    **dict.fromkeys(("retrieved_documents", "reference_documents"), _is_document),
}
"""Fields that hold lists, each with a check whether an item can stay as it is."""
