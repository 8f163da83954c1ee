"""Reads the runs of Haystack's pipelines, from Haystack's own spans or from those of OpenInference.

The rules are those of the live tracer: the question is an input named ``query``, ``question`` or the like, the contexts are the
documents of the last component that returned any, and the answer is what the last answer builder or generator returned.
OpenInference writes documents, answers and messages as Python shows them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from .._values._sample import Document
from .._values._turns import earlier_turns
from ._reading import HISTORY, Said, blank, document_in, last_question, message_in, messages_in
from ._shown import STRING, messages_shown, text_shown
from ._span import Turn, Unread, readable, unflattened

RUN = re.compile(r"haystack\.(async_)?pipeline\.run|\w*Pipeline\.(run|run_async)(_generator)?")
QUESTIONS = ("query", "question", "text", "messages", "prompt")
DATA = re.compile(rf"GeneratedAnswer\(data={STRING}")
DOCUMENT = re.compile(r"Document\(id=(.*?)[,)]")


def is_pipeline(turn: Turn) -> bool:
    """Whether a turn is the run of a pipeline."""
    return RUN.fullmatch(turn.root.name) is not None


def question_and_history(inputs: Any) -> tuple[str | None, list[dict[str, Any]] | None]:
    """Return the question and the earlier turns among the inputs of a pipeline."""
    data = inputs.get("data", inputs) if isinstance(inputs, dict) else {}
    given = [item for item in (data, *data.values()) if isinstance(item, dict)] if isinstance(data, dict) else []
    values = (item.get(name) for name in QUESTIONS for item in given)
    question = next(filter(None, map(_asked, values)), None)
    earlier, talks = (
        [[said.turn for said in _talk(item.get(name))] for name in names for item in given]
        for names in (HISTORY, ("messages",))
    )
    return question, earlier_turns(earlier, talks, question)


def _asked(value: Any) -> str | None:
    found = value if isinstance(value, str) else last_question(_talk(value))
    return None if blank(found) else found


def _talk(value: Any) -> list[Said]:
    """Return the messages in a list, which Python may show; empty for any other value."""
    if not isinstance(value, list):
        return []
    return messages_shown(" ".join(value)) if all(isinstance(item, str) for item in value) else messages_in(value) or []


def answer_and_contexts(turn: Turn) -> tuple[str | None, list[Document] | None]:
    """Return what the components of a pipeline returned last: the answer, and the documents.

    Raises:
        Unread: the text of a document is not in the trace.
    """
    answer: str | None = None
    listed: list[Any] | None = None
    for span in sorted(turn.spans, key=lambda span: span.end or 0):
        output = readable(span, "output")
        if span is turn.root or not isinstance(output, dict):
            continue
        listed = output["documents"] if isinstance(output.get("documents"), list) else listed
        said = output.get("answers") or output.get("replies")
        answer = _said(said[0]) if isinstance(said, list) and said else answer
    if listed is None:
        return answer, None
    known = {document.id: document for document in _found(turn)}
    documents = [document_in(item) or known.get(_id_shown(item)) for item in listed]
    if not all(documents):
        raise Unread("the documents of its search are not in the trace")
    return answer, [document for document in documents if document is not None and document.content]


def _said(item: Any) -> str | None:
    """Return the text of an answer, a message or a text."""
    if isinstance(item, dict):
        message = message_in(item)
        within = item.get("init_parameters")
        data = item.get("data", within.get("data") if isinstance(within, dict) else None)
        return data if isinstance(data, str) else None if message is None else message.content
    shown = str(item)
    if found := DATA.match(shown):
        return text_shown(found[1])
    messages = messages_shown(shown) if shown.startswith("ChatMessage(") else []
    return messages[0].content if messages else shown


def _id_shown(item: Any) -> str | None:
    found = DOCUMENT.match(str(item))
    return None if found is None else found[1]


def _found(turn: Turn) -> Iterator[Document]:
    """Yield the documents in the attributes of searches and rerankers."""
    for span in turn.of_kind("RETRIEVER", "RERANKER"):
        for name in ("retrieval.documents", "reranker.input_documents", "reranker.output_documents"):
            yield from filter(None, (document_in(flat) for flat in unflattened(span.attributes, name)))
