"""Makes the samples of a trace: question, history, contexts, documents and answer of every turn.

The contexts are taken from the first of these sources that has any: the nodes that a response of LlamaIndex names; the context
that the call itself returned; the documents that its retrievers found; the documents that tools left; documents in the output;
documents that a step returned; the contexts in the input; texts that a step returned as its context; the texts of tools. Only the
first two are what the model saw.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from typing import Any

from .._values._sample import Document, Sample
from .._values._turns import earlier_turns
from ._json import parsed_or_none
from ._pipelines import answer_and_contexts, is_pipeline, question_and_history
from ._reading import (
    HISTORY,
    QUESTIONS,
    REFERENCES,
    Context,
    Said,
    answer_in,
    blank,
    document_in,
    documents_in,
    finite,
    last_answer,
    last_question,
    leaves_of,
    messages_in,
    named_contexts,
    question_in,
    text_of,
    this_turn,
)
from ._shown import messages_labelled, messages_shown, texts_shown
from ._span import (
    HANDED,
    TURNS,
    Span,
    Tree,
    Turn,
    Unread,
    UnreadableTrace,
    having,
    in_metadata,
    metadata_of,
    readable,
    unflattened,
    value_of,
)

NODE = re.compile(r"\(id_=(.{0,1000}?)\), score=")
"""The id in the text that LlamaIndex writes for a node of a response."""

BEGUN, PARSED = ".setup_agent", ".parse_agent_output"
"""The names of steps of LlamaIndex's agents."""

WRITING = "write_response_to_history"
"""The span in which LlamaIndex reads a stream to its end; it is a separate trace, and no turn."""

EXPECTED = ("reference_contexts", "reference_documents", "rubric")
FALLBACKS = "RunnableWithFallbacks"
COUNTS = {
    "prompt_tokens": ("llm.token_count.prompt", "gen_ai.usage.input_tokens", "gen_ai.usage.prompt_tokens"),
    "completion_tokens": ("llm.token_count.completion", "gen_ai.usage.output_tokens", "gen_ai.usage.completion_tokens"),
    "cost": ("llm.cost.total",),
}


def samples_of(trace_id: str, spans: Iterable[Span]) -> Iterator[Sample | UnreadableTrace]:
    """Yield the samples of a trace, by their start, and in place of a turn that cannot be read the reason. A trace of a judge has
    neither.
    """
    tree = Tree(spans)
    turns = tree.turns()
    if tree.spans and not turns:
        yield UnreadableTrace("no span of a chain, an agent, a model or a retriever", trace_id)
    for turn in turns:
        if turn.root.name.endswith(WRITING):
            continue
        try:
            yield _sample(turn, is_only=len(turns) == 1)
        except Unread as error:
            yield UnreadableTrace(str(error), trace_id, turn.root.span_id, turn.root.error or turn.last.error or "")


def _sample(turn: Turn, *, is_only: bool) -> Sample:
    root = turn.root
    if root.error is not None or turn.last.error is not None:
        raise Unread("the application failed")
    inputs, outputs = value_of(root, "input"), value_of(turn.last, "output")
    if root.name == FALLBACKS and len(turn.spans) == 1:
        raise Unread("a chain with fallbacks, whose attempts are separate traces")
    if any(map(_is_cut, turn.spans)):
        raise Unread("its stream was closed")
    if _is_many(inputs, outputs):
        raise Unread("several questions and answers in one call")
    question, history, answer, contexts, seen = _parts(turn, inputs, outputs)
    if question is None or answer is None:
        raise Unread("no question" if question is None else "no answer")
    given = metadata_of(root)
    reference = next((given[name] for name in REFERENCES if isinstance(given.get(name), str)), None)
    return Sample(
        user_input=question,
        response=answer,
        retrieved_contexts=None if contexts is None else [_text(item) for item in contexts],
        retrieved_documents=contexts,
        reference=reference,
        id=root.trace_id if is_only else f"{root.trace_id}-{root.span_id}",
        metadata=_metadata(turn, given, None if contexts is None else "seen" if seen else "retrieved"),
        history=history,
        **{name: given[name] for name in EXPECTED if name in given},
    )


def _parts(turn: Turn, inputs: Any, outputs: Any) -> tuple[Any, Any, Any, list[Context] | None, bool]:
    """Return question, history, answer and contexts, and whether the model saw exactly these."""
    if is_pipeline(turn):
        question, history = question_and_history(inputs)
        answer, documents = answer_and_contexts(turn)
        return question, history, answer, None if documents is None else [*documents], False
    question = _question(turn, inputs, outputs)
    history = None if question is None else _history(turn, inputs, outputs, question)
    contexts, seen = _contexts(turn, inputs, outputs)
    return question, history, _answer(turn, inputs, outputs), contexts, seen


def _text(context: Context) -> str:
    return context if isinstance(context, str) else context.content or ""


def _below(turn: Turn, span: Span) -> list[Span]:
    return [other for other in turn.spans if span in turn.above[other.span_id]]


def _is_cut(span: Span) -> bool:
    """Whether a stream was closed before its end. OpenInference then has an error only in the span of the model, if at all."""
    if span.kind == "LLM":
        return span.error is not None and span.error.startswith("GeneratorExit")
    if span.name != "StrOutputParser":
        return False
    read = messages_in(readable(span, "input")) or []
    passed = readable(span, "output") or ""
    return bool(read) and read[0].content != passed and isinstance(passed, str) and read[0].content.startswith(passed)


def _is_many(inputs: Any, outputs: Any) -> bool:
    are_lists = isinstance(inputs, list) and isinstance(outputs, list)
    return are_lists and len(inputs) == len(outputs) > 1 and messages_in(inputs) is None


def _question(turn: Turn, inputs: Any, outputs: Any) -> str | None:
    came_back = {}
    if isinstance(outputs, dict):
        came_back = {name: outputs[name] for name in (*QUESTIONS, "messages") if name in outputs}
    if (talk := _asked_of_agent(turn)) is not None:
        return last_question(talk)
    if (question := question_in(inputs) or question_in(came_back)) is not None:
        return question
    queries = (question_in(readable(span, "input")) for span in turn.of_kind("RETRIEVER"))
    asked = (last_question(_messages(span, "input")) for span in turn.of_kind("LLM"))
    return next(filter(None, asked), None) or next(filter(None, queries), None)


def _asked_of_agent(turn: Turn) -> list[Said] | None:
    """Return the messages that an agent of LlamaIndex began with, as Python shows them; None if the turn is no such run."""
    inputs = [readable(span, "input") for span in turn.spans if span.name.endswith(BEGUN)]
    return messages_shown(str(inputs[0].get("ev"))) if inputs and isinstance(inputs[0], dict) else None


def _answer(turn: Turn, inputs: Any, outputs: Any) -> str | None:
    last = turn.last
    if last.kind == "RETRIEVER":
        return None
    if any(span.name.endswith(PARSED) for span in turn.spans):
        return _agent_answer(turn, outputs)
    answer = None
    if not _is_stream(outputs):
        # several parallel answers are not one structured answer
        is_graph = _is_graph(turn)
        answer = answer_in(outputs, inputs, whole=not last.name.startswith("RunnableParallel") and not is_graph)
        if is_graph and isinstance(outputs, dict) and "messages" not in outputs and not _is_written(turn, answer):
            return None  # the state of the graph has it from an earlier call
    if answer is None and (_is_stream(outputs) or "output.value" not in last.attributes):
        models = [last] if last.kind in ("LLM", "AGENT") else []
        said = (last_answer(_messages(span, "output")) for span in (*models, *reversed(turn.of_kind("LLM"))))
        answer = next(filter(None, said), None)
    return answer


def _is_written(turn: Turn, answer: str | None) -> bool:
    """Whether a step of the turn returned this answer, or handed it over to the graph above. A step that waits for a person has
    no output.
    """
    steps = [span for span in turn.spans if span is not turn.root]
    handed = (text for span in steps for text in texts_shown(span.attributes.get(HANDED, "")))
    returned = (str(leaf) for span in steps for leaf in leaves_of(readable(span, "output")))
    return any(text == answer for text in chain(handed, returned))


def _is_stream(outputs: Any) -> bool:
    """Whether an output is a stream of LlamaIndex, whose text is only in the span of the model."""
    return isinstance(outputs, dict) and ("response_txt" in outputs or "chat_stream" in outputs)


def _agent_answer(turn: Turn, outputs: Any) -> str | None:
    """Return the answer of an agent of LlamaIndex. It is in the texts that Python writes for events: that of the root, which may be
    cut off, or that which the last step got; and in what the parser of a ReAct agent returned.
    """
    parsed = [readable(span, "output") for span in turn.spans if span.name.endswith("OutputParser.parse")]
    steps = [readable(span, "input") for span in turn.spans if span.name.endswith(PARSED)]
    events = [str(step.get("ev")) for step in steps[-1:] if isinstance(step, dict)]
    said = [step.get("response") for step in parsed[-1:] if isinstance(step, dict)]
    answers = [_in_event(str(outputs)), *said, *map(_in_event, events)]
    return next((answer for answer in answers if isinstance(answer, str)), None)


def _in_event(event: str) -> str | None:
    response, ends, _ = event.partition("response=ChatMessage(")[2].partition("structured_")
    said = messages_shown(f"ChatMessage({response}") if ends else []
    return said[0].content or None if said else None


def _is_graph(turn: Turn) -> bool:
    return any(in_metadata(span, "langgraph_node") for span in turn.spans)


def _messages(span: Span, side: str) -> list[Said]:
    """Return the messages that a model got or said."""
    listed = unflattened(span.attributes, f"llm.{side}_messages")
    found = messages_in([{name.removeprefix("message."): item for name, item in each.items()} for each in listed])
    if found:
        return found
    written = span.attributes.get(f"gen_ai.{side}.messages")
    value = readable(span, side) if written is None else parsed_or_none(written)
    if side == "input":
        value = value.get("messages", value.get("prompt")) if isinstance(value, dict) else value
        return (messages_in(value) if value else None) or []
    text = answer_in(value)
    return [] if text is None else [Said("assistant", text)]


def _history(turn: Turn, inputs: Any, outputs: Any, question: str) -> list[dict[str, Any]] | None:
    """Return the earlier turns: the history in the input, else the one that a step got or returned, else the messages before the
    question.
    """
    steps = [having(span, side, "history") for span in turn.spans if span.kind in TURNS for side in ("input", "output")]
    earlier = [
        value[name] for value in (inputs, *steps) if isinstance(value, dict) for name in HISTORY if name in value
    ]
    talks = [value.get("messages") for value in (outputs, inputs) if isinstance(value, dict)]
    talks += [inputs] if isinstance(inputs, list) else []
    talks += [inputs.get(name) for name in QUESTIONS] if isinstance(inputs, dict) else []
    models = [span for span in turn.spans if span.kind == "LLM"]
    read = [[item.turn for item in _asked_of_agent(turn) or ()]]
    read += [[item.turn for item in messages_in(talk) or ()] for talk in talks if isinstance(talk, list)]
    if turn.root.name.endswith((".chat", ".achat", ".stream_chat", ".astream_chat", ".run")):
        read += [[item.turn for item in _messages(span, "input")] for span in models]
    elif turn.root.kind == "LLM":
        read += [[item.turn for item in _messages(turn.root, "input")]]
    before = [[item.turn for item in messages_in(talk) or ()] for talk in earlier if isinstance(talk, list)]
    before += [[item.turn for item in messages_labelled(text)] for text in map(_history_in_prompt, models)]
    return earlier_turns(before, read, question)


def _history_in_prompt(span: Span) -> str:
    """Return the history that a chat engine of LlamaIndex put into the prompt which condenses the question."""
    variables = span.attributes.get("llm.prompt_template.variables")
    found = parsed_or_none(variables) if isinstance(variables, str) and HISTORY[0] in variables else None
    return str(found.get(HISTORY[0], "")) if isinstance(found, dict) else ""


def _metadata(turn: Turn, given: Mapping[str, Any], contexts: str | None) -> dict[str, Any]:
    """Return the metadata of the application, and what is known of the call."""
    root = turn.root
    models = turn.of_kind("LLM")
    kept = {name: value for name, value in given.items() if name not in (*REFERENCES, *EXPECTED)}
    session = root.attributes.get("session.id", given.get("session_id", given.get("thread_id")))
    sums = {name: _sum(models, keys) for name, keys in COUNTS.items()}
    error = next((span.error for span in turn.spans if span.error), None)
    known = {
        "trace_id": root.trace_id,
        "span_id": root.span_id,
        "session_id": session,
        "user_id": root.attributes.get("user.id"),
        "latency": None if turn.last.end is None or not root.start else round(turn.last.end - root.start, 6),
        **sums,
        "contexts": contexts,
        "error": error,
    }
    return {**kept, **{name: value for name, value in known.items() if value is not None}}


def _sum(models: Sequence[Span], keys: Sequence[str]) -> float | None:
    counts = [next((span.attributes[key] for key in keys if key in span.attributes), None) for span in models]
    known = [number for number in map(finite, counts) if number is not None]
    return sum(known) if known else None


def _contexts(turn: Turn, inputs: Any, outputs: Any) -> tuple[list[Context] | None, bool]:
    """Return the contexts that the answer rests on, and whether the model saw exactly these; None if nothing was searched."""
    nodes = _nodes(turn)
    if nodes is not None:
        return list(nodes), True
    documents, texts = named_contexts(outputs)
    if documents is not None and not (documents == [] and _is_graph(turn)):
        return documents, True
    if found := _retrieved(turn):  # usually they are here, and nothing else need be read
        return list(found), False
    by_tools = _by_tools(outputs) or _tool_outputs(turn)
    are_texts = all(isinstance(item, str) for item in by_tools)
    given, written = named_contexts(inputs)
    listed, step_texts = _by_steps(turn)
    surest_first: list[Sequence[Context] | None] = [
        None if are_texts else by_tools,
        documents_in(outputs),
        listed,
        given,
        texts,
        step_texts if found is None else None,
        written,
        by_tools if found is None else None,
    ]
    contexts = next(filter(None, surest_first), found)
    return None if contexts is None else list(contexts), contexts is not None and contexts is texts


def _nodes(turn: Turn) -> list[Document] | None:
    """Return the nodes that responses of LlamaIndex name, with the texts that the model saw; None if there is no such response.

    Raises:
        Unread: the text of a node is not in the trace.
    """
    listed = [(span, having(span, "output", "source_nodes").get("source_nodes")) for span in turn.spans]
    responses = [(span, sources) for span, sources in listed if isinstance(sources, list)]
    if not responses:
        return None
    named: dict[str, None] = {}
    answering: list[str] = []
    for span, sources in responses:
        if any(above.span_id in answering for above in turn.above[span.span_id]):
            continue
        if sources:  # a stream names its nodes only in the spans below
            answering.append(span.span_id)
        named.update((found[1], None) for found in map(NODE.search, map(str, sources)) if found)
    chunks: list[str] = []
    for span in turn.spans:
        shown = having(span, "input", "text_chunks").get("text_chunks")
        chunks += [chunk for chunk in shown if isinstance(chunk, str)] if isinstance(shown, list) else []
        shown = having(span, "input", "kwds").get("kwds")
        if isinstance(shown, dict):
            chunks += [str(value) for name, value in shown.items() if name in ("context_str", "context_msg")]
    found = {document.id: document for span in turn.of_kind("RETRIEVER") for document in _documents(turn, span) or ()}
    if any(key not in found for key in named):
        raise Unread("the documents of its search are not in the trace")
    return [_as_seen(found[key], chunks) for key in named]


def _as_seen(document: Document, chunks: Sequence[str]) -> Document:
    """Return the document with the text that the model saw, which has the metadata before it."""
    seen = [chunk for chunk in chunks if not blank(document.content) and str(document.content) in chunk]
    return Document(min(seen, key=len, default=document.content), document.id, document.score, document.meta)


def _retrieved(turn: Turn) -> list[Document] | None:
    """Return the documents of all searches, each document once; None if nothing was searched. Those of failed attempts are left
    out.

    Raises:
        Unread: a search has no documents in its span.
    """
    searches = [span for span in turn.of_kind("RETRIEVER") if span.error is None]
    searching = {above.span_id for span in searches for above in turn.above[span.span_id]}
    tools = [span for span in turn.of_kind("TOOL") if span.span_id not in searching]
    found = [(span, _documents(turn, span)) for span in turn.spans if span in searches]
    found += [(span, documents) for span in tools if (documents := documents_in(_artifact(span)))]
    found.sort(key=lambda item: item[0].start)
    root = turn.root.span_id
    sound = [
        item
        for item in found
        if not any(above.error is not None and above.span_id != root for above in turn.above[item[0].span_id])
    ]
    if any(documents is None for _, documents in sound or found):
        raise Unread("the documents of its search are not in the trace")
    distinct: dict[tuple[str | None, str | None], Document] = {}
    for _, documents in sound or found:
        for document in documents or ():
            distinct.setdefault((document.id, document.content), document)
    return list(distinct.values()) if found else None


def _documents(turn: Turn, span: Span) -> list[Document] | None:
    """Return the documents of a search; those of a search inside it, if they are not in its own span. None if they are not in the
    trace.
    """
    output = readable(span, "output")
    inner = output.get("documents") if isinstance(output, dict) else output
    read = [document_in(item) for item in inner] if isinstance(inner, list) else [None]
    if all(read):
        return [item for item in read if item is not None]
    listed = [document_in(each) for each in unflattened(span.attributes, "retrieval.documents")]
    known = [item for item in listed if item is not None]
    if known:
        return known
    below = [other for other in _below(turn, span) if other.kind == "RETRIEVER"]
    return next(filter(None, (_documents(turn, other) for other in below)), None)


def _artifact(span: Span) -> Any:
    """Return what a tool left for the program, or else what it returned."""
    output = readable(span, "output")
    messages = messages_in(output) if isinstance(output, dict) else None
    return messages[0].artifact if messages and messages[0].artifact is not None else output


def _by_tools(outputs: Any) -> list[Context]:
    """Return the documents in the messages of this turn's tools; else their texts, unless such a text is the answer."""
    messages = messages_in(outputs.get("messages") if isinstance(outputs, dict) else outputs) or []
    said = [item for item in this_turn(messages) if item.role == "tool"]
    documents = [document for item in said for document in documents_in(item.artifact) or ()]
    if documents:
        return list({(document.id, document.content): document for document in documents}.values())
    before = said[:-1] if said and said[-1] is messages[-1] else said
    return [item.content for item in before if not blank(item.content)]


def _tool_outputs(turn: Turn) -> list[Context]:
    """Return the texts that the tools of an agent of LlamaIndex returned, without errors."""
    outputs = [readable(span, "output") for span in turn.of_kind("TOOL")]
    found = [output for output in outputs if isinstance(output, dict) and "blocks" in output]
    texts = [text_of(output["blocks"]) for output in found if not output.get("is_error")]
    return [text for text in dict.fromkeys(texts) if not blank(text)]


def _by_steps(turn: Turn) -> tuple[list[Document] | None, list[str] | None]:
    """Return the last documents, and the last texts under the name of a context, that a step returned."""
    listed, texts = None, None
    steps = [span for span in turn.spans if span.kind in TURNS and span is not turn.root]
    for span in sorted(steps, key=lambda span: span.end or 0):
        outputs = readable(span, "output")
        listed = documents_in(outputs) or listed
        texts = named_contexts(outputs)[1] or texts
    return listed, texts
