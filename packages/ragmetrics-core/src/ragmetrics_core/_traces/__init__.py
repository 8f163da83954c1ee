"""Reads traces: the spans of an application become one sample for each of its answers.

Strategy. Every export first becomes ``Span``s in the words of OpenInference: a kind, an input, an output, documents, messages and
token counts. Only ``samples_of`` makes samples of them, so all exports are read by the same rules. A *turn* is the outermost chain,
agent or model call of a trace, with everything below it. The root may be missing, and spans come in any order.

Nothing is guessed. A turn whose question, answer or documents are not in its spans is an ``UnreadableTrace`` with a reason, and
never a sample with an empty list of contexts.
"""
