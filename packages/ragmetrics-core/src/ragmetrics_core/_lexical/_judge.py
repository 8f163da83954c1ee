"""The offline judge: answers the built-in prompts by comparing words, so that everything runs with no key and no download.

It does not read messages; it recognises a prompt by its name, takes the data from ``ask.inputs`` and writes its
answer as text, in the form that the prompt asks of any model, so that the same code reads it. All answers rest on one signal:
how many of the content words of one text occur in the other (see ``_lexical``). A prompt it does not know has no lexical
answer: that is an error, never a guess.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .._values._errors import ModelError, Setting
from .._values._requests import ONE_CALL, Ask, Reply
from ._claims import ends_in_refusal, is_greeting, is_question, is_refusal, sentences, split_claims
from ._ratings import (
    agreement,
    check_cloze,
    cloze_questions,
    fill_in,
    noncommittal,
    questions_from,
    relevance,
    relevant_sentences,
)
from ._support import Support, verify
from ._words import guess_language

ENOUGH = 0.75
"""Share of the question's words that contexts hold which suffice; words alone cannot tell more."""


def judge_abstention(data: Mapping[str, Any]) -> str:
    held = max((relevance(data["question"], context) for context in data["contexts"]), default=0.0)
    return json.dumps(
        {
            "reason": f"a context holds {held:.0%} of the words of the question",
            "contexts_suffice": "yes" if held >= ENOUGH else "no",
            "response_declines": _declines(data["response"]),
        }
    )


def _declines(response: str) -> str:
    said = [sentence for sentence in sentences(response) if not is_greeting(sentence)]
    if noncommittal(response) or all(is_question(sentence) for sentence in said):
        return "wholly"  # so does a response that only asks back, or says nothing
    language = guess_language(response)
    refuses = (is_refusal(sentence, language) or ends_in_refusal(sentence) for sentence in said)
    return "partly" if any(refuses) else "no"


Data = Mapping[str, Any]

VERSION = "7"  # of the rules: raised by every change that can change an answer


def extract_claims(data: Data) -> str:
    return json.dumps({"claims": split_claims(data["question"], data["answer"])})


def verify_claims(data: Data) -> str:
    claims, contexts = data["claims"], data["contexts"]
    together = verify(claims, contexts)
    alone = [verify(claims, [context]) for context in contexts] if len(contexts) > 1 else [together]
    rows = [
        _verdict(number, support, each) for number, (support, *each) in enumerate(zip(together, *alone, strict=True), 1)
    ]
    return json.dumps({"verdicts": rows})


def _verdict(number: int, together: Support, alone: Sequence[Support]) -> dict[str, Any]:
    """What all contexts say about a claim, and which of them; what one supports is supported."""
    by = [index for index, each in enumerate(alone, 1) if each.supported]
    if together.supported and not by:  # they share it out
        by = [index for index, each in enumerate(alone, 1) if each.share] or [*range(1, len(alone) + 1)]
    decisive = alone[by[0] - 1] if by and not together.supported else together
    return {
        "number": number,
        "reason": decisive.reason,
        "for": by,
        "against": [index for index, each in enumerate(alone, 1) if each.denied and index not in by],
    }


def split_and_check(data: Data) -> str:
    claims = split_claims(data["question"], data["answer"])
    found = verify(claims, data["contexts"])
    return json.dumps(
        {
            "statements": claims,
            "reasons": [support.reason for support in found],
            "statement_scores": [int(support.supported) for support in found],
        }
    )


@dataclass(frozen=True)
class LexicalJudge:
    """A deterministic baseline judge that compares words: claims by sentence and clause, support by overlap of content words.

    Numbers, names and negation weigh most. It needs no key, no download and no network, and costs well under a millisecond per
    question. It does not understand text: take its scores as a lexical baseline, and see the documentation for how far they
    agree with human labels.

    It answers the prompts of the built-in metrics, whatever their wording. Prompts of your own, ``RubricScore``, ``Guideline``
    and ``CustomJudge`` need a language model. Asked to write questions about a document, it leaves parts of its sentences blank.
    """

    instant = True
    caveat = (
        "These scores are a lexical baseline: the offline judge compares words and does not understand text. "
        "Use a language model (such as openai:gpt-4o-mini) to judge meaning."
    )
    testset_caveat = (
        "These questions are a lexical baseline: sentences of the documents with a part left blank, which is the answer. "
        "Use a language model (such as openai:gpt-4o-mini) to have questions written."
    )

    @property
    def identity(self) -> Mapping[str, Any]:
        """What can change a reply: the version of the rules."""
        return {"provider": "lexical", "version": VERSION}

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer a built-in prompt.

        Raises:
            ModelError: the prompt is not a built-in one.
        """
        answer, needed = ANSWERS.get(ask.prompt.name, (None, ""))
        # a user's own prompt may have the name of a built-in one, but hardly its inputs
        if answer is None or not ask.inputs.keys() >= set(needed.split()):
            raise ModelError(
                f"the offline LexicalJudge cannot answer the prompt {ask.prompt.name!r}; it knows the prompts of the built-in "
                "metrics except RubricScore, Guideline and CustomJudge: use a language model, such as ",
                Setting("llm", "openai:gpt-4o-mini"),
                fatal=True,
            )
        return Reply(answer(ask.inputs), ONE_CALL)

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """The same; there is nothing to wait for."""
        return self.generate(ask)


def supported_by_context(data: Data) -> str:
    share = supported_share(data["information"], [data["context"]])
    return yes_or_no(share >= MOSTLY, f"the context holds {share:.0%} of the parts of the information")


def usefulness(question: str, answer: str, context: str) -> dict[str, Any]:
    claims = split_claims(question, answer)
    found = [support for support in verify(claims, [context]) if support.supported]
    return {"reason": f"{len(found)} of {len(claims)} parts of the answer are in the context", "useful": bool(found)}


def judge_usefulness(data: Data) -> str:
    return json.dumps(usefulness(data["question"], data["answer"], data["context"]))


def judge_usefulness_of_all(data: Data) -> str:
    contexts = enumerate(data["contexts"], 1)
    verdicts = [
        {"number": number, **usefulness(data["question"], data["answer"], context)} for number, context in contexts
    ]
    return json.dumps({"verdicts": verdicts})


def rate_contexts(data: Data) -> str:
    signal = relevance(data["question"], "\n".join(data["contexts"]))
    return rated(signal, (0, 1, 2), f"the contexts hold {signal:.0%} of the words of the question")


def rate_groundedness(data: Data) -> str:
    share = supported_share(data["response"], data["contexts"])
    return rated(share, (0, 1, 2), f"the contexts hold {share:.0%} of the parts of the response")


def rate_answer(data: Data) -> str:
    signal = agreement(data["answer"], data["reference"])
    return rated(signal, (0, 2, 4), f"the words of answer and reference agree to {signal:.0%}")


def compare_answers(data: Data) -> str:
    signal = agreement(data["second_answer"], data["first_answer"])
    return rated(signal, (0, 2, 4), f"the words of both answers agree to {signal:.0%}")


def questions_of_answer(data: Data) -> str:
    answer = data["answer"]
    questions = questions_from(answer, data["number_of_questions"])
    return json.dumps({"questions": questions, "noncommittal": noncommittal(answer)})


def find_relevant_statements(data: Data) -> str:
    return json.dumps({"relevant_statements": relevant_sentences(data["question"], data["contexts"])})


def grade_correctness(data: Data) -> str:
    answer, reference = data["generated_answer"], data["reference_answer"]
    if noncommittal(answer) and not (reference and noncommittal(reference)):
        return "1\nthe answer says that it has no answer"
    if reference:
        signal, words = agreement(answer, reference), "the words of answer and reference agree"
    else:
        signal, words = (
            relevance(data["query"], answer),
            "without a reference, the answer holds words of the query",
        )
    grade = round(2 * (1 + 4 * signal)) / 2  # 1 to 5, in halves
    return f"{grade:g}\n{words} to {signal:.0%}"


def in_line_with_context(data: Data) -> str:
    query, response, context = data["query"], data["response"], data["context"]
    if noncommittal(response):
        return yes_or_no(False, "the response says that it has no answer")
    addressed = relevance(query, f"{response}\n{context}") >= SLIGHTLY
    share = supported_share(response, [context])
    reason = (
        f"the context holds {share:.0%} of the parts of the response"
        if addressed
        else "the query is about other things"
    )
    return yes_or_no(addressed and share >= MOSTLY, reason)


def rate_answer_relevance(data: Data) -> str:
    if noncommittal(data["response"]):
        return "0\nthe response says that it has no answer"
    signal = relevance(data["query"], data["response"])
    return f"{rating(signal, (0, 1, 2))}\nthe response holds {signal:.0%} of the words of the query"


def rate_context_relevance(data: Data) -> str:
    signal = relevance(data["query"], data["context"])
    score = max(round(2 * 4 * signal) / 2, data.get("existing_score", 0.0))  # 0 to 4, in halves
    return f"{score:g}\nthe context holds {signal:.0%} of the words of the query"


def compare_responses(data: Data) -> str:
    first, second = (merit(data, response) for response in (data["response_a"], data["response_b"]))
    better = "tie" if abs(first - second) < CLEAR else "A" if first > second else "B"
    what = "the reference" if data["reference"] else "the query"
    return json.dumps({"reason": f"A has {first:.0%} in common with {what}, B {second:.0%}", "better": better})


def write_questions(data: Data) -> str:
    asked, number = data.get("already_asked", ()), data["number_of_questions"]
    found = cloze_questions(data["document"], number + len(asked))
    return json.dumps([question for question in found if question not in asked][:number])


def answer_from_document(data: Data) -> str:
    cloze = fill_in(data["question"], data["document"])
    return json.dumps(
        {"evidence": cloze.sentence if cloze else "", "answer": cloze.answer if cloze else ""}, ensure_ascii=False
    )


def check_question(data: Data) -> str:
    return json.dumps(check_cloze(data["question"], data["answer"], data["evidence"]))


ANSWERS: Mapping[str, tuple[Callable[[Data], str], str]] = {
    "extract_claims": (extract_claims, "question answer"),
    "verify_claims": (verify_claims, "claims contexts"),
    "judge_abstention": (judge_abstention, "question contexts response"),
    "split_and_check": (split_and_check, "question answer contexts"),
    "supported_by_context": (supported_by_context, "information context"),
    "refine_supported": (supported_by_context, "information context"),
    "judge_usefulness": (judge_usefulness, "question answer context"),
    "judge_usefulness_of_all": (judge_usefulness_of_all, "question answer contexts"),
    "rate_contexts": (rate_contexts, "question contexts"),
    "rate_contexts_again": (rate_contexts, "question contexts"),
    "rate_groundedness": (rate_groundedness, "response contexts"),
    "rate_groundedness_again": (rate_groundedness, "response contexts"),
    "rate_answer": (rate_answer, "answer reference"),
    "compare_answers": (compare_answers, "first_answer second_answer"),
    "questions_of_answer": (questions_of_answer, "answer number_of_questions"),
    "find_relevant_statements": (find_relevant_statements, "question contexts"),
    "grade_correctness": (grade_correctness, "query generated_answer reference_answer"),
    "in_line_with_context": (in_line_with_context, "query response context"),
    "refine_in_line": (in_line_with_context, "query response context"),
    "rate_answer_relevance": (rate_answer_relevance, "query response"),
    "rate_context_relevance": (rate_context_relevance, "query context"),
    "refine_context_relevance": (rate_context_relevance, "query context existing_score"),
    "compare_responses": (compare_responses, "query reference response_a response_b"),
    "write_questions": (write_questions, "document number_of_questions"),
    "answer_from_document": (answer_from_document, "document question"),
    "check_question": (check_question, "question answer evidence"),
}
"""What answers each built-in prompt, and the inputs that the prompt is asked with."""

SLIGHTLY, MOSTLY = 0.25, 0.75
"""Signals below the first count as nothing, from the second on as everything, and in between as a part."""

CLEAR = 0.05
"""Least difference of signals that makes one response better than another."""


def supported_share(text: str, contexts: Sequence[str]) -> float:
    """Share of the text's claims that the contexts support; of a text without claims, whether it is in them as it stands.

    A text that only says that it has no answer needs no support.
    """
    if noncommittal(text):
        return 1.0
    claims = split_claims(None, text) or [text]
    found = verify(claims, contexts)
    return sum(support.supported for support in found) / len(found)


def merit(data: Data, response: str) -> float:
    """What speaks for a response: its agreement with the reference, else what it holds of the query."""
    if data["reference"]:
        return agreement(response, data["reference"])
    return 0.0 if noncommittal(response) else relevance(data["query"], response)


def yes_or_no(yes: bool, reason: str) -> str:
    return json.dumps({"reason": reason, "answer": "yes" if yes else "no"})


def rated(signal: float, menu: tuple[int, int, int], reason: str) -> str:
    return json.dumps({"reason": reason, "rating": rating(signal, menu)})


def rating(signal: float, menu: tuple[int, int, int]) -> int:
    """The rating of a three-step menu that a signal from 0 to 1 earns."""
    nothing, part, everything = menu
    return nothing if signal < SLIGHTLY else everything if signal >= MOSTLY else part
