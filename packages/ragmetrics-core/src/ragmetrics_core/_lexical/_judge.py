"""The offline judge. It answers the built-in prompts by comparing words, so that everything runs without a key or a download.

The judge does not read messages. Each prompt that it knows has a function with the prompt's name, whose parameters are the inputs
that the function needs. The function returns the reply as an object or as text, and the usual parsers of replies read it. All
answers depend on one signal: how many of the content words of one text occur in the other. A prompt without a function raises an
error; it is never answered by a guess.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from inspect import signature
from typing import Any, TypeAlias

from .._values._errors import ModelError, Setting
from .._values._requests import ONE_CALL, Ask, Reply
from ._claims import ends_in_refusal, is_greeting, is_question, is_refusal, sentences, split_claims
from ._ratings import (
    agreement,
    check_question,
    cloze_questions,
    fill_in,
    noncommittal,
    questions_from,
    relevance,
    relevant_sentences,
)
from ._support import Support, verify
from ._words import guess_language

VERSION = "7"  # of the rules; increased by every change that can change an answer

SLIGHTLY, MOSTLY = 0.25, 0.75
"""Signals below the first value count as nothing, from the second value on as everything, and between the two as partial."""

CLEAR = 0.05
"""The smallest difference of signals that makes one response better than another."""

Answer: TypeAlias = dict[str, Any] | list[str] | str


@dataclass(frozen=True)
class LexicalJudge:
    """A deterministic baseline judge that compares words: claims by sentence and clause, support by overlap of content words.

    Numbers, names and negations have the largest weight. The judge needs no key, no download and no network, and takes well under
    a millisecond per question. It does not understand text: treat its scores as a lexical baseline. The documentation shows how
    well they agree with human labels.

    It answers the prompts of the built-in metrics, whatever their wording. Your own prompts, ``RubricScore``, ``Guideline`` and
    ``CustomJudge`` need a language model. When it is asked to write questions about a document, it turns sentences into questions
    with a blank to fill in.
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
        """The version of the rules, which is all that can change a reply."""
        return {"provider": "lexical", "version": VERSION}

    def generate(self, ask: Ask) -> Reply[str]:
        """Answer a built-in prompt.

        Raises:
            ModelError: the prompt is not a built-in one.
        """
        answer, needed, optional = ANSWERS.get(ask.prompt.name, (None, (), ()))
        # a user's own prompt may have the name of a built-in prompt, but is unlikely to have the same inputs
        if answer is None or not ask.inputs.keys() >= set(needed):
            raise ModelError(
                f"the offline LexicalJudge cannot answer the prompt {ask.prompt.name!r}; it knows the prompts of the built-in "
                "metrics except RubricScore, Guideline and CustomJudge: use a language model, such as ",
                Setting("llm", "openai:gpt-4o-mini"),
                fatal=True,
            )
        inputs = {name: ask.inputs[name] for name in (*needed, *optional) if name in ask.inputs}
        reply = answer(**inputs)
        return Reply(reply if isinstance(reply, str) else json.dumps(reply), ONE_CALL)

    async def agenerate(self, ask: Ask) -> Reply[str]:
        """Answer as ``generate`` does, which never has to wait."""
        return self.generate(ask)


def extract_claims(question: str, answer: str) -> Answer:
    return {"claims": split_claims(question, answer)}


def verify_claims(claims: Sequence[str], contexts: Sequence[str]) -> Answer:
    together = verify(claims, contexts)
    alone = [verify(claims, [context]) for context in contexts] if len(contexts) > 1 else [together]
    rows = zip(together, *alone, strict=True)
    return {"verdicts": [_verdict(number, support, each) for number, (support, *each) in enumerate(rows, 1)]}


def _verdict(number: int, together: Support, alone: Sequence[Support]) -> dict[str, Any]:
    """Return the verdict on a claim, with the contexts that support it and those that deny it. A claim that one context supports
    is supported.
    """
    by = [index for index, each in enumerate(alone, 1) if each.supported]
    if together.supported and not by:  # only all contexts together support the claim
        by = [index for index, each in enumerate(alone, 1) if each.share] or [*range(1, len(alone) + 1)]
    decisive = alone[by[0] - 1] if by and not together.supported else together
    against = [index for index, each in enumerate(alone, 1) if each.denied and index not in by]
    return {"number": number, "reason": decisive.reason, "for": by, "against": against}


def split_and_check(question: str, answer: str, contexts: Sequence[str]) -> Answer:
    claims = split_claims(question, answer)
    found = verify(claims, contexts)
    scores = [int(support.supported) for support in found]
    return {"statements": claims, "reasons": [support.reason for support in found], "statement_scores": scores}


def judge_abstention(question: str, contexts: Sequence[str], response: str) -> Answer:
    held = max((relevance(question, context) for context in contexts), default=0.0)
    reason, suffice = f"a context holds {held:.0%} of the words of the question", "yes" if held >= MOSTLY else "no"
    return {"reason": reason, "contexts_suffice": suffice, "response_declines": _declines(response)}


def _declines(response: str) -> str:
    said = [sentence for sentence in sentences(response) if not is_greeting(sentence)]
    if noncommittal(response) or all(is_question(sentence) for sentence in said):
        return "wholly"  # a response that only asks back, or is empty, declines too
    language = guess_language(response)
    refuses = (is_refusal(sentence, language) or ends_in_refusal(sentence) for sentence in said)
    return "partly" if any(refuses) else "no"


def supported_by_context(information: str, context: str) -> Answer:
    share = supported_share(information, [context])
    return yes_or_no(share >= MOSTLY, f"the context holds {share:.0%} of the parts of the information")


def judge_usefulness(question: str, answer: str, context: str) -> Answer:
    claims = split_claims(question, answer)
    found = [support for support in verify(claims, [context]) if support.supported]
    return {"reason": f"{len(found)} of {len(claims)} parts of the answer are in the context", "useful": bool(found)}


def judge_usefulness_of_all(question: str, answer: str, contexts: Sequence[str]) -> Answer:
    verdicts: Any = (judge_usefulness(question, answer, context) for context in contexts)
    return {"verdicts": [{"number": number, **verdict} for number, verdict in enumerate(verdicts, 1)]}


def rate_contexts(question: str, contexts: Sequence[str]) -> Answer:
    signal = relevance(question, "\n".join(contexts))
    return rating_reply(signal, (0, 1, 2), f"the contexts hold {signal:.0%} of the words of the question")


def rate_groundedness(response: str, contexts: Sequence[str]) -> Answer:
    share = supported_share(response, contexts)
    return rating_reply(share, (0, 1, 2), f"the contexts hold {share:.0%} of the parts of the response")


def rate_answer(answer: str, reference: str) -> Answer:
    signal = agreement(answer, reference)
    return rating_reply(signal, (0, 2, 4), f"the words of answer and reference agree to {signal:.0%}")


def compare_answers(first_answer: str, second_answer: str) -> Answer:
    signal = agreement(second_answer, first_answer)
    return rating_reply(signal, (0, 2, 4), f"the words of both answers agree to {signal:.0%}")


def questions_of_answer(answer: str, number_of_questions: int) -> Answer:
    return {"questions": questions_from(answer, number_of_questions), "noncommittal": noncommittal(answer)}


def find_relevant_statements(question: str, contexts: Sequence[str]) -> Answer:
    return {"relevant_statements": relevant_sentences(question, contexts)}


def grade_correctness(query: str, generated_answer: str, reference_answer: str | None) -> Answer:
    if noncommittal(generated_answer) and not (reference_answer and noncommittal(reference_answer)):
        return "1\nthe answer says that it has no answer"
    if reference_answer:
        signal, words = agreement(generated_answer, reference_answer), "the words of answer and reference agree"
    else:
        signal = relevance(query, generated_answer)
        words = "without a reference, the answer holds words of the query"
    grade = round(2 * (1 + 4 * signal)) / 2  # 1 to 5, in steps of 0.5
    return f"{grade:g}\n{words} to {signal:.0%}"


def in_line_with_context(query: str, response: str, context: str) -> Answer:
    if noncommittal(response):
        return yes_or_no(False, "the response says that it has no answer")
    if relevance(query, f"{response}\n{context}") < SLIGHTLY:
        return yes_or_no(False, "the query is about other things")
    share = supported_share(response, [context])
    return yes_or_no(share >= MOSTLY, f"the context holds {share:.0%} of the parts of the response")


def rate_answer_relevance(query: str, response: str) -> Answer:
    if noncommittal(response):
        return "0\nthe response says that it has no answer"
    signal = relevance(query, response)
    return f"{rating(signal, (0, 1, 2))}\nthe response holds {signal:.0%} of the words of the query"


def rate_context_relevance(query: str, context: str, existing_score: float = 0.0) -> Answer:
    signal = relevance(query, context)
    score = max(round(2 * 4 * signal) / 2, existing_score)  # 0 to 4, in steps of 0.5
    return f"{score:g}\nthe context holds {signal:.0%} of the words of the query"


def compare_responses(query: str, reference: str | None, response_a: str, response_b: str) -> Answer:
    first, second = (merit(query, reference, response) for response in (response_a, response_b))
    better = "tie" if abs(first - second) < CLEAR else "A" if first > second else "B"
    what = "the reference" if reference else "the query"
    return {"reason": f"A has {first:.0%} in common with {what}, B {second:.0%}", "better": better}


def write_questions(document: str, number_of_questions: int, already_asked: Sequence[str] = ()) -> Answer:
    found = cloze_questions(document, number_of_questions + len(already_asked))
    return [question for question in found if question not in already_asked][:number_of_questions]


def answer_from_document(question: str, document: str) -> Answer:
    cloze = fill_in(question, document)
    said = {"evidence": cloze.sentence if cloze else "", "answer": cloze.answer if cloze else ""}
    return json.dumps(said, ensure_ascii=False)


def supported_share(text: str, contexts: Sequence[str]) -> float:
    """Return the share of the text's claims that the contexts support. A text without claims is checked as a whole.

    The share is 1 for a text that only says that it has no answer.
    """
    if noncommittal(text):
        return 1.0
    claims = split_claims(None, text) or [text]
    found = verify(claims, contexts)
    return sum(support.supported for support in found) / len(found)


def merit(query: str, reference: str | None, response: str) -> float:
    """Return the signal for a response: its agreement with the reference, or without a reference its relevance to the query."""
    if reference:
        return agreement(response, reference)
    return 0.0 if noncommittal(response) else relevance(query, response)


def yes_or_no(yes: bool, reason: str) -> Answer:
    return {"reason": reason, "answer": "yes" if yes else "no"}


def rating_reply(signal: float, menu: tuple[int, int, int], reason: str) -> Answer:
    return {"reason": reason, "rating": rating(signal, menu)}


def rating(signal: float, menu: tuple[int, int, int]) -> int:
    """Convert a signal from 0 to 1 to one of three ratings."""
    nothing, part, everything = menu
    return nothing if signal < SLIGHTLY else everything if signal >= MOSTLY else part


def _with_inputs(answer: Callable[..., Answer]) -> tuple[Callable[..., Answer], tuple[str, ...], tuple[str, ...]]:
    """Return a function with the names of its required and of its optional inputs."""
    parameters = signature(answer).parameters.values()
    needed = tuple(one.name for one in parameters if one.default is one.empty)
    return answer, needed, tuple(one.name for one in parameters if one.default is not one.empty)


ANSWERS = {
    answer.__name__: _with_inputs(answer)
    for answer in (
        extract_claims, verify_claims, split_and_check, judge_abstention, supported_by_context, judge_usefulness,
        judge_usefulness_of_all, rate_contexts, rate_groundedness, rate_answer, compare_answers, questions_of_answer,
        find_relevant_statements, grade_correctness, in_line_with_context, rate_answer_relevance, rate_context_relevance,
        compare_responses, write_questions, answer_from_document, check_question,
    )
}  # fmt: skip
"""For each built-in prompt, by its name: the function that answers it, with the function's inputs."""
ANSWERS["refine_supported"] = ANSWERS["supported_by_context"]
ANSWERS["rate_contexts_again"] = ANSWERS["rate_contexts"]
ANSWERS["rate_groundedness_again"] = ANSWERS["rate_groundedness"]
ANSWERS["refine_in_line"] = ANSWERS["in_line_with_context"]
ANSWERS["refine_context_relevance"] = ANSWERS["rate_context_relevance"]


def lexical_remark(caveats: Iterable[str], all_runs: str = "") -> Iterator[str]:
    """Yield the remark for a sentence that sums up a result, if this judge is among the caveats of the result. Caveats of several
    runs begin with names of runs; ``all_runs`` is the beginning of those that are about all of them.
    """
    for text in caveats:
        if text.endswith(LexicalJudge.caveat):
            run = text.removesuffix(LexicalJudge.caveat).removesuffix(": ")
            of = "" if run in {"", all_runs} else f" of {run}"
            yield f"the judge{of} was a lexical baseline, which only compares words"
