"""A row as MLflow hands it to a scorer, as a sample of the core."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

from ragmetrics_core import Document, Sample
from ragmetrics_core.adapters import earlier_turns, turns_of


def sample_of(inputs: Any, outputs: Any, expectations: Any, trace: Any) -> Sample:
    """Return the sample of a row.

    Mappings are read by the field names of the core and their other common names. Also understood are: messages of a chat, whose
    last question is the question and whose earlier turns are the history; outputs of chat completions; ``expected_response`` and
    ``expected_facts`` as the reference; a single input of any name, if it is a text, as the question. If neither inputs nor outputs
    have contexts, they come from the trace's spans of type RETRIEVER. Where two arguments name the same field, the outputs
    count before the expectations, and these before the inputs.

    Raises:
        InvalidInput: two keys of a mapping name the same field and differ.
    """
    sample = Sample.from_mapping(_asked(inputs)).updated(_expected(expectations)).updated(_answered(outputs))
    if trace is None:
        return sample
    documents = list(_documents(trace))
    if documents and sample.retrieved_contexts is None and sample.retrieved_documents is None:
        texts = [document.content for document in documents if document.content]
        sample = replace(sample, retrieved_contexts=texts, retrieved_documents=documents)
    return replace(sample, metadata={**sample.metadata, "trace_id": trace.info.trace_id})


def _asked(inputs: Any) -> dict[str, Any]:
    row = dict(inputs) if isinstance(inputs, Mapping) else {"user_input": inputs}
    if Sample.from_mapping(row).user_input is not None:
        return row
    if turns := turns_of(row.get("messages")):
        questions = [turn["content"] for turn in turns if turn["role"] == "user"]
        history = earlier_turns([], [row.pop("messages")], questions[-1]) if questions else None
        return {"user_input": questions[-1] if questions else None, **({"history": history} if history else {}), **row}
    texts = [(name, value) for name, value in row.items() if isinstance(value, str)]
    if len(row) == 1 and texts:
        return {"user_input": texts[0][1]}
    return row


def _answered(outputs: Any) -> dict[str, Any]:
    if outputs is None:
        return {}
    if not isinstance(outputs, Mapping):
        return {
            "response": outputs if isinstance(outputs, str) else json.dumps(outputs, ensure_ascii=False, default=str)
        }
    row = dict(outputs)
    if Sample.from_mapping(row).response is None:
        choices = row.get("choices")
        first = choices[0] if isinstance(choices, list) and choices else {}
        messages = row.get("messages") or [first.get("message") if isinstance(first, Mapping) else None]
        turns = turns_of(list(filter(None, messages)) if isinstance(messages, list) else None)
        if turns and turns[-1]["role"] == "assistant":
            row["response"] = turns[-1]["content"]
    return row


def _expected(expectations: Any) -> dict[str, Any]:
    row = dict(expectations) if isinstance(expectations, Mapping) else {}
    facts = row.get("expected_facts")
    if Sample.from_mapping(row).reference is None:
        if isinstance(row.get("expected_response"), str):
            row["reference"] = row.pop("expected_response")
        elif isinstance(facts, list) and facts:
            row["reference"] = "\n".join(map(str, facts))
    return row


def _documents(trace: Any) -> Iterator[Document]:
    """Yield the documents of the outermost retrievers, in the order of their spans; inner ones returned parts of the same."""
    spans = {span.span_id: span for span in trace.data.spans}
    for span in trace.data.spans:
        if span.span_type != "RETRIEVER" or _is_inside_retriever(span, spans) or not isinstance(span.outputs, list):
            continue
        for item in span.outputs:
            if isinstance(item, str):
                yield Document(item)
            elif isinstance(item, Mapping):
                meta: Any = item.get("metadata")
                meta = meta if isinstance(meta, Mapping) else {}
                key = next((found for found in (item.get("id"), meta.get("doc_uri"), meta.get("id")) if found), None)
                text = item.get("page_content", item.get("content"))
                yield Document(text if isinstance(text, str) else None, None if key is None else str(key), meta=meta)


def _is_inside_retriever(span: Any, spans: Mapping[str, Any]) -> bool:
    above = spans.get(span.parent_id)
    while above is not None:
        if above.span_type == "RETRIEVER":
            return True
        above = spans.get(above.parent_id)
    return False
