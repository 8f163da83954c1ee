"""What a judge or an embedding model can do, found out with a handful of small questions: the checks of ``ragmetrics doctor``.

Strategy. Each form of reply is one question of a built-in metric, asked and read as a run asks and reads it. The plain question
comes first, since without an answer to it nothing else can be known; its failure ends the examination with the one line that says
what to do. Nobody is asked again after one answer that did not come in time, so the whole is bounded.
"""

from __future__ import annotations

import asyncio
import re
import statistics
import time
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

from .._kernel._errors import BadReply, ModelError
from .._kernel._model_traits import check_vectors
from .._kernel._requests import Ask
from ..llms._openai._llm import OpenAILLM
from ..llms._openai._probe import RUNGS, Found, Rung, models_of, probe
from ..metrics.claims import VERIFY_CLAIMS
from ._diagnosis import Diagnosis, reached, why_not
from ._output import in_cli_words

INPUTS = {
    "contexts": ["The library opens at nine and closes at six."],
    "claims": ["The library opens at nine.", "The library opens at noon."],
}
RIGHT = [True, False]
FORMS: dict[Rung, str] = {"schema": "JSON schema", "json": "JSON mode", "text": "plain text"}
AT_ONCE = 2
ONE_AFTER_THE_OTHER, NOTICED = 1.7, 0.5
"""Times of one answer, and seconds more, from which on two at once are taken for answered one after the other."""

CONTEXT = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
"""How vLLM, OpenRouter, Groq, LM Studio and llama.cpp call the number of tokens that fit a model."""

LIMIT = re.compile(r"x-ratelimit-(?:limit|remaining)-(?:requests|tokens)")


async def examine_llm(name: str, llm: OpenAILLM, timeout: float) -> Diagnosis:
    """Ask a judge at most five questions and for its list of models.

    Args:
        name: as the user wrote it.
        llm: the model.
        timeout: seconds to wait for each answer.
    """
    url = str(llm.identity["base_url"])
    found = Diagnosis(f"{name} at {url}")
    ask = Ask(VERIFY_CLAIMS.messages(INPUTS), VERIFY_CLAIMS.reply, VERIFY_CLAIMS, INPUTS)
    asked = partial(probe, llm, ask, timeout=timeout)
    try:
        first = await asked("text")
    except ModelError as error:  # no key, or one that cannot be sent
        return found.give_up("key", in_cli_words(error))
    if first.reply is None and not isinstance(first.problem, BadReply):
        return await why_not(found, name, llm, first, timeout)
    reached(found, llm)
    found.add("model", "ok", llm.model)
    answers: dict[Rung, Found] = {"text": first}
    _form(found, "text", first)
    for form in RUNGS[:-1]:
        if any(answer.late for answer in answers.values()):
            found.add(FORMS[form], "-", "not asked, as the last answer did not come in time")
            continue
        answers[form] = await asked(form)
        _form(found, form, answers[form])
    used: Rung = next(form for form in FORMS if form in answers and not answers[form].form_refused)
    _extras(found, answers, await models_of(llm, timeout), llm.model)
    await _pace(found, asked, answers, used)
    _judge(found, answers, used)
    return found


def _form(found: Diagnosis, form: Rung, answer: Found) -> None:
    """The line of one form of reply."""
    if answer.form_refused:
        found.add(
            FORMS[form], "no", f"refused ({answer.status})", "nothing to do: a run goes on with the next form by itself"
        )
    elif answer.late:
        found.add(FORMS[form], "no", f"no answer within {answer.seconds:.0f} s")
    elif unread := _unread(answer):
        cure = "" if form == "text" else "if it stays so: OpenAILLM(..., structured='text') asks in plain words alone"
        found.add(FORMS[form], "no", unread, cure)
    else:
        wrong = _wrong(answer)
        verdicts = f"{wrong} of {len(RIGHT)} easy verdicts wrong" if wrong else "its verdicts right"
        found.add(FORMS[form], "-" if wrong else "ok", f"readable, {verdicts}, after {answer.seconds:.1f} s")


def _unread(answer: Found) -> str:
    """Why the answer cannot be used; empty if it can."""
    if answer.reply is None:
        return str(answer.problem)
    try:
        VERIFY_CLAIMS.read(answer.reply, INPUTS)
    except BadReply as problem:
        return f"the answer is unreadable: {problem.reason}"
    return ""


def _wrong(answer: Found) -> int:
    """How many verdicts of a readable answer are wrong; the questions leave no doubt."""
    assert answer.reply is not None
    given = {verdict.number: verdict.supported for verdict in VERIFY_CLAIMS.read(answer.reply, INPUTS).verdicts}
    return sum(given[number] is not right for number, right in enumerate(RIGHT, 1))


def _extras(found: Diagnosis, answers: dict[Rung, Found], listed: list[dict[str, Any]] | str, model: str) -> None:
    """What the answers and the list of models tell by the way."""
    replies = [answer.reply for answer in answers.values() if answer.reply is not None]
    counts = [
        (reply.usage.prompt_tokens, reply.usage.completion_tokens) for reply in replies if reply.usage.prompt_tokens
    ]
    if counts:
        found.add("token counts", "ok", f"{counts[0][0]} in, {counts[0][1]} out for one small question")
    else:
        cure = "costs are not known, and --budget tokens=N or dollars=N has no effect"
        found.add("token counts", "no", "none are reported", cure)
    if any(answer.thought for answer in answers.values()) or any("<think" in reply.value for reply in replies):
        found.add("thinking", "-", "it thinks before it answers: that is read past, and takes time and tokens")
    entries = [] if isinstance(listed, str) else listed
    entry = next((item for item in entries if item["id"] == model), {})
    meta = entry.get("meta") if isinstance(entry.get("meta"), dict) else {}
    told = [value for name in CONTEXT for value in (entry.get(name), (meta or {}).get(name)) if isinstance(value, int)]
    found.add("context", "-", f"{told[0]} tokens" if told else "the server does not tell how many tokens fit")
    headers = {name: value for answer in answers.values() for name, value in answer.headers.items()}
    limits = [
        f"{name.removeprefix('x-ratelimit-')} {value}" for name, value in headers.items() if LIMIT.fullmatch(name)
    ]
    found.add("limits", "-", ", ".join(limits) or "the server does not tell its limits")


async def _pace(
    found: Diagnosis, asked: Callable[[Rung], Awaitable[Found]], answers: dict[Rung, Found], used: Rung
) -> None:
    """How fast one answer comes, and whether two are made at the same time."""
    if any(answer.late for answer in answers.values()) or answers[used].reply is None:
        return
    start = time.perf_counter()
    pair = await asyncio.gather(*(asked(used) for _ in range(AT_ONCE)))
    together = time.perf_counter() - start
    done = [answer for answer in answers.values() if answer.reply is not None]
    done = done[1:] or done  # a model may have been loaded for the first
    seconds = statistics.median(answer.seconds for answer in done)
    tokens = sum(answer.reply.usage.completion_tokens for answer in done if answer.reply)
    rate = f", {tokens / sum(answer.seconds for answer in done):.0f} tokens/s" if tokens else ""
    found.add("speed", "-", f"{seconds:.1f} s for an answer{rate}")
    failed = [str(answer.problem) for answer in pair if answer.reply is None]
    if failed:
        found.add("two at once", "no", failed[0], "give --max-concurrency 1")
    elif together > max(ONE_AFTER_THE_OTHER * seconds, seconds + NOTICED):
        seen = f"{together:.1f} s for both: answered one after the other"
        found.add("two at once", "-", seen, "more than --max-concurrency 1 saves no time here")
    else:
        found.add("two at once", "ok", f"{together:.1f} s for both")


def _judge(found: Diagnosis, answers: dict[Rung, Found], used: Rung) -> None:
    """Whether a run can use the model: it asks in the highest form that the server takes, and must be able to read that."""
    found.usable = not _unread(answers[used])
    below = [form for form in FORMS if form in answers and not _unread(answers[form])]
    if found.usable:
        lost = [FORMS[form] for form in FORMS if form in answers and answers[form].form_refused]
        remark = f"; the server refuses {' and '.join(lost)}, which a run finds out by itself" if lost else ""
        found.verdict = f"it can be used: it is asked by {FORMS[used]}{remark}"
    elif (problem := answers[used].problem) is not None and problem.transient:
        found.verdict = "it is not known whether it can be used: not every question was answered; try again later"
    elif below:
        only = f"OpenAILLM(..., structured={below[0]!r})"
        found.verdict = f"it can be used from Python alone, by {only}: answers by {FORMS[used]} fail"
    else:
        found.verdict = "it cannot be used as it is: no answer of it was readable; a larger model may do"


async def examine_embeddings(name: str, model: Any, timeout: float) -> Diagnosis:
    """Embed three short texts, of which two are the same."""
    url = getattr(model, "identity", {}).get("base_url")
    found = Diagnosis(f"{name} at {url}" if url else name)
    texts = ["The library opens at nine.", "Whales are mammals.", "The library opens at nine."]
    model = model.without_retries() if hasattr(model, "without_retries") else model
    start = time.perf_counter()
    try:
        answer = (
            await asyncio.wait_for(model.aembed(texts), timeout) if hasattr(model, "aembed") else model.embed(texts)
        )
        vectors = check_vectors(answer, len(texts)).value
    except asyncio.TimeoutError:  # not the built-in TimeoutError before Python 3.11
        return found.give_up("vectors", f"no answer within {timeout:g} s")
    except ModelError as error:
        return found.give_up("vectors", in_cli_words(error))
    seconds = time.perf_counter() - start
    if not all(any(vector) for vector in vectors):
        return found.give_up("vectors", "a vector is all zeros, which has no direction")
    found.add("vectors", "ok", f"{len(vectors[0])} numbers each; {len(texts)} texts in {seconds:.1f} s")
    if vectors[0] == vectors[1]:
        return found.give_up("meaning", "two different texts have the same vector", "is this a model for embeddings?")
    found.usable, found.verdict = True, "it can be used"
    return found
