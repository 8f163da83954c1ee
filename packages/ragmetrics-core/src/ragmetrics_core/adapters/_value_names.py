"""Which name means what in the mappings that programs take and return: the only table, used by all readers of such values."""

from __future__ import annotations


class FieldNames:
    """The names of a sample's fields in the values of programs, each list in the order in which they are tried."""

    questions = ("user_input", "question", "query", "input")
    answers = (
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
    contexts = (
        "retrieved_contexts",
        "contexts",
        "context",
        "retrieved_documents",
        "source_documents",
        "documents",
        "docs",
    )
    references = ("reference", "ground_truth", "reference_answer", "ground_truth_answer", "expected_answer")
    expected = ("reference_contexts", "reference_documents", "rubric")
    history = ("chat_history", "history", "messages")
