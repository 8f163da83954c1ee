"""Ask a server a few small questions, and say what works: key, model, forms of reply, speed.

\b
Examples:
  ragmetrics doctor
  ragmetrics doctor --llm openai:gpt-4o-mini
  ragmetrics doctor --llm ollama:llama3.1:8b
  ragmetrics doctor --llm azure:DEPLOYMENT --embeddings azure:DEPLOYMENT

Without a model it lists the packages that are installed, the variables that are set (without their values), and the servers that
listen on this machine, for use in a bug report. A judge is asked at most five questions of about 500 tokens each.

Exit status: 0 the named models can be used; 2 they cannot, or a name is wrong; 70 a bug, after its traceback.
"""

# Each form of reply is one question of a built-in metric, asked and read as a run asks and reads it. The plain question comes
# first: if it fails, nothing else can be known, and one line says what to do. After an answer that did not come in time no further
# question is asked, so an examination takes a bounded time. Texts of servers are shown without keys, and control characters as
# escapes.

from __future__ import annotations

import asyncio
import json
import os
import platform
import re
import socket
import statistics
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import asdict, dataclass, field
from functools import partial
from importlib import metadata
from itertools import chain
from typing import Any, Literal
from urllib.parse import urlsplit

import typer

from .._kernel._model_traits import check_vectors
from .._names._named import embeddings_named, llm_named
from .._show._tables import room, wrapped
from .._support._providers import OPENAI, RUNGS, SERVERS, Rung, provider_of, server_named
from .._support._secrets import conceal
from .._values._errors import BadReply, InvalidInput, ModelError
from .._values._requests import NO_USAGE, Ask, Usage
from ..llms._openai._llm import OpenAILLM, clients_of
from ..llms._openai._probe import Found, as_openai, models_of, probe
from ..llms._wire._package_model import PackageModel
from ..metrics.claims import VERIFY_CLAIMS
from ._options import flag, option
from ._output import clear_errors, in_cli_words, say

State = Literal["ok", "no", "-"]
SHOWN = 8
"""The number of model names shown if the requested model is missing."""

UNREACHED = (
    ("refused|connection attempts failed", "nothing listens at this address"),
    (r"name or service|nodename|name resolution|getaddrinfo|no address", "the name of the host is unknown: check it"),
    ("wrong_version|wrong version|record layer", "the server does not speak TLS there: write http:// for https://"),
    ("certificate", "its certificate is not trusted: set SSL_CERT_FILE to the certificates of your organisation"),
)

NO_MODEL = re.compile(r"no such model|invalid model name", re.IGNORECASE)
"""Phrases by which gateways say with status 400 that a model is missing."""


@dataclass(frozen=True)
class Check:
    """One line of the result: the name of the check, whether it succeeded (``-``: unknown or irrelevant), what was found, and
    the cure.
    """

    name: str
    state: State
    seen: str
    cure: str = ""


@dataclass
class Diagnosis:
    """The findings about one model.

    Attributes:
        what: the model as the user named it, and its address.
        checks: the checks in the order in which they were made.
        verdict: whether a run can use the model, in words; empty until this is known.
        usable: whether a run can use the model.
    """

    what: str
    checks: list[Check] = field(default_factory=list)
    verdict: str = ""
    usable: bool = False

    def add(self, name: str, state: State, seen: str, cure: str = "") -> None:
        """Add a line, without any keys that a server may have quoted."""
        self.checks.append(Check(name, state, conceal(seen), conceal(cure)))

    def give_up(self, name: str, seen: str, cure: str = "") -> Diagnosis:
        """Add the line that ends the examination."""
        self.add(name, "no", seen, cure)
        self.verdict = "it cannot be used as it is"
        return self


def add_server(found: Diagnosis, llm: OpenAILLM) -> None:
    """Add the lines about a server that has answered, whatever the answer was."""
    clients = clients_of(llm)
    found.add("address", "ok", f"{clients.base_url} answers")
    accepted = f"the key in {clients.key_variable} is accepted"
    seen = accepted if clients.sends_key else "no key is sent, and the server asks for none"
    found.add("key", "ok", seen)


async def add_failure(found: Diagnosis, name: str, llm: OpenAILLM, first: Found, timeout: float) -> Diagnosis:
    """Add the line that says why the plain question got no answer, and what to do."""
    words = in_cli_words(first.problem) if first.problem else ""
    server = server_named(name.partition(":")[0]) or ""
    if first.late:
        cure = "a model that is being loaded takes a while: ask again, or give --timeout more seconds"
        return found.give_up("plain text", f"no answer within {timeout:g} s", cure)
    if first.status is None:
        return found.give_up("address", words, _cure_of_address(words, server, llm))
    clients = clients_of(llm)
    if first.status in (401, 402, 403):
        found.add("address", "ok", f"{clients.base_url} answers")
        return found.give_up("key", words)
    add_server(found, llm)
    if first.status != 404 and not NO_MODEL.search(words):
        return found.give_up("plain text", words)
    return found.give_up("model", words, await _cure_of_model(server, llm, timeout))


def _cure_of_address(words: str, server: str, llm: OpenAILLM) -> str:
    cure = next((cure for pattern, cure in UNREACHED if re.search(pattern, words, re.IGNORECASE)), "")
    if not cure.startswith("nothing") or not llm.on_this_machine:
        return cure
    start = SERVERS[server].start if server else ""
    command = f": start the server ({start})" if start else ": start the server, or give its address"
    return f"{cure}{command}; inside a container, localhost is the container itself"


async def _cure_of_model(server: str, llm: OpenAILLM, timeout: float) -> str:
    if server == "azure":
        return "azure: is followed by the name of a deployment, as the portal lists them, not by the name of a model"
    listed = await models_of(llm, timeout)
    pull = f"ollama pull {llm.model}, or " if server == "ollama" else ""
    if isinstance(listed, str):
        return f"{pull}check the address and the name ({listed})"
    if not listed:
        return f"{pull}no model is there"
    more = f" and {len(listed) - SHOWN} more" if len(listed) > SHOWN else ""
    return f"{pull}use one of those that are there: {', '.join(str(item['id']) for item in listed[:SHOWN])}{more}"


EXTRAS = {
    "openai": "openai",
    "server": "aiohttp",
    "sentence-transformers": "sentence-transformers",
    "pandas": "pandas",
    "excel": "openpyxl",
    "fsspec": "fsspec",
    "parquet": "pyarrow",
    "documents": "pypdf",
    "prices": "genai-prices",
    "otel": "opentelemetry-api",
    "anthropic": "anthropic",
    "gemini": "google-genai",
    "view": "starlette",
}
"""The package that each extra is for."""

OTHERS = (
    "pydantic",
    "typer",
    *(f"ragmetrics-{name}" for name in ("langchain", "llama-index", "haystack", "mlflow", "pytest")),
)
CONNECTING = 0.3
"""Seconds to wait for a port of this machine; a server that listens there answers at once."""


def environment() -> dict[str, Any]:
    """Return versions, extras, variables (whether they are set) and the servers that listen at their usual ports of this
    machine.
    """
    variables: list[str] = []
    for server in (OPENAI, *SERVERS.values()):
        of_server = (server.url_variables, server.key_variables, server.version_variables, server.region_variables)
        variables += chain.from_iterable(of_server)
    return {
        "versions": {
            "ragmetrics-core": _version("ragmetrics-core"),
            "python": platform.python_version(),
            "system": conceal(platform.platform()),
            **{name: version for name in OTHERS if (version := _version(name))},
        },
        "extras": {extra: _version(package) for extra, package in EXTRAS.items()},
        "variables": {name: bool(os.environ.get(name, "").strip()) for name in variables},
        "listening": {name: url for name, server in SERVERS.items() if (url := _listening(server.url))},
    }


def _version(package: str) -> str | None:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return None


def _listening(url: str) -> str | None:
    """Return the address if it is on this machine and a server listens there."""
    parts = urlsplit(url)
    if parts.hostname != "localhost" or parts.port is None:
        return None
    try:
        with socket.create_connection(("127.0.0.1", parts.port), timeout=CONNECTING):
            return url
    except OSError:
        return None


INPUTS = {
    "contexts": ["The library opens at nine and closes at six."],
    "claims": ["The library opens at nine.", "The library opens at noon."],
}
RIGHT = [True, False]
FORMS: dict[Rung, str] = {"schema": "JSON schema", "json": "JSON mode", "text": "plain text"}
AT_ONCE = 2
ONE_AFTER_THE_OTHER, NOTICED = 1.7, 0.5
"""Two concurrent answers count as sequential if they take this many times as long as one answer, and this many seconds more."""

CONTEXT = ("max_model_len", "context_length", "context_window", "max_context_length", "n_ctx")
"""The names that vLLM, OpenRouter, Groq, LM Studio and llama.cpp give to a model's context size in tokens."""

CACHES = {
    "by itself": "the provider caches the words of prompts by itself",
    "marked": "the words of prompts are marked for the cache of the provider",
    "": "it is not known whether the provider has one",
}

Send = Callable[[Rung], Awaitable[Found]]
"""Asks the model once in this form."""

LIMIT = re.compile(r"x-ratelimit-(?:limit|remaining)-(?:requests|tokens)")


async def examine_llm(name: str, llm: OpenAILLM, timeout: float) -> Diagnosis:
    """Ask a judge at most five questions and for its list of models.

    Args:
        name: the name as the user wrote it.
        llm: the model.
        timeout: seconds to wait for each answer.
    """
    url = str(llm.identity["base_url"])
    diagnosis = Diagnosis(f"{name} at {url}")
    ask = Ask(VERIFY_CLAIMS.messages(INPUTS), VERIFY_CLAIMS.reply, VERIFY_CLAIMS, INPUTS)
    send = partial(probe, llm, ask, timeout=timeout)
    try:
        first = await send("text")
    except ModelError as error:  # no key, or one that cannot be sent
        return diagnosis.give_up("key", in_cli_words(error))
    if first.reply is None and not isinstance(first.problem, BadReply):
        return await add_failure(diagnosis, name, llm, first, timeout)
    add_server(diagnosis, llm)
    diagnosis.add("model", "ok", llm.model)
    answers: dict[Rung, Found] = {"text": first}
    readable: dict[Rung, bool] = {"text": _add_form(diagnosis, "text", first)}
    for form in RUNGS[:-1]:
        if any(answer.late for answer in answers.values()):
            diagnosis.add(FORMS[form], "-", "not asked, as the last answer did not come in time")
            continue
        answers[form] = await send(form)
        readable[form] = _add_form(diagnosis, form, answers[form])
    form_used: Rung = next(form for form in FORMS if form in answers and not answers[form].form_refused)
    _add_remarks(diagnosis, answers, await models_of(llm, timeout), llm.model)
    _add_documented(diagnosis, name, url)
    await _add_pace(diagnosis, send, answers, form_used)
    _add_verdict(diagnosis, answers, readable, form_used)
    return diagnosis


async def examine_native(name: str, llm: Any, timeout: float) -> Diagnosis:
    """Ask a judge that is called by its provider's own protocol one question, as a run asks it."""
    found = Diagnosis(f"{name} at {llm.identity['base_url']}")
    ask = Ask(VERIFY_CLAIMS.messages(INPUTS), VERIFY_CLAIMS.reply, VERIFY_CLAIMS, INPUTS)
    llm = llm.without_retries()  # this loads the package, whose seconds are not those of the answer
    start = time.perf_counter()
    try:
        reply = await asyncio.wait_for(llm.agenerate(ask), timeout)
    except asyncio.TimeoutError:  # not the built-in TimeoutError before Python 3.11
        cure = "give --timeout more seconds"
        return found.give_up("answer", f"no answer within {timeout:g} s", cure)
    except ModelError as error:
        return found.give_up("answer", in_cli_words(error))
    answer = Found(time.perf_counter() - start, reply)
    found.add("key and model", "ok", f"{llm.model} answers")
    found.usable = _add_form(found, llm.structured, answer)
    _add_tokens(found, reply.usage)
    _add_documented(found, name, str(llm.identity["base_url"]))
    usable, unreadable = "it can be used", "it cannot be used as it is: its answer is not readable"
    found.verdict = usable if found.usable else unreadable
    return found


def _add_form(found: Diagnosis, form: Rung, answer: Found) -> bool:
    """Add the line about one form of reply; return whether the answer can be read."""
    unread, wrong = _checked(answer)
    if answer.form_refused:
        cure = "nothing to do: a run goes on with the next form by itself"
        found.add(FORMS[form], "no", f"refused ({answer.status})", cure)
    elif answer.late:
        found.add(FORMS[form], "no", f"no answer within {answer.seconds:.0f} s")
    elif unread:
        cure = "" if form == "text" else "if it stays so: OpenAILLM(..., structured='text') asks in plain words alone"
        found.add(FORMS[form], "no", unread, cure)
    else:
        verdicts = f"{wrong} of {len(RIGHT)} easy verdicts wrong" if wrong else "its verdicts right"
        found.add(FORMS[form], "-" if wrong else "ok", f"readable, {verdicts}, after {answer.seconds:.1f} s")
    return not unread


def _checked(answer: Found) -> tuple[str, int]:
    """Return why the answer cannot be used (empty if it can), and how many of its verdicts are wrong; the questions have clear
    answers.
    """
    if answer.reply is None:
        return str(answer.problem), 0
    try:
        given = VERIFY_CLAIMS.read(answer.reply, INPUTS).verdicts
    except BadReply as problem:
        return f"the answer is unreadable: {problem.reason}", 0
    return "", sum(verdict.supported is not RIGHT[verdict.number - 1] for verdict in given)


def _add_remarks(found: Diagnosis, answers: dict[Rung, Found], listed: list[dict[str, Any]] | str, model: str) -> None:
    """Add further findings from the answers and the list of models."""
    replies = [answer.reply for answer in answers.values() if answer.reply is not None]
    _add_tokens(found, next((reply.usage for reply in replies if reply.usage.prompt_tokens), NO_USAGE))
    if any(answer.thought for answer in answers.values()) or any("<think" in reply.value for reply in replies):
        found.add("thinking", "-", "it thinks before it answers: its thoughts are skipped, but take time and tokens")
    entries = [] if isinstance(listed, str) else listed
    entry = next((item for item in entries if item["id"] == model), {})
    meta = entry.get("meta") if isinstance(entry.get("meta"), dict) else {}
    sizes = [value for name in CONTEXT for value in (entry.get(name), (meta or {}).get(name)) if isinstance(value, int)]
    found.add("context", "-", f"{sizes[0]} tokens" if sizes else "the server does not say how many tokens fit")
    headers = {name: value for answer in answers.values() for name, value in answer.headers.items()}
    limits = [f"{name.removeprefix('x-ratelimit-')} {most}" for name, most in headers.items() if LIMIT.fullmatch(name)]
    found.add("limits", "-", ", ".join(limits) or "the server does not tell its limits")


def _add_tokens(found: Diagnosis, usage: Usage) -> None:
    if usage.prompt_tokens:
        seen = f"{usage.prompt_tokens} in, {usage.completion_tokens} out for one small question"
        found.add("token counts", "ok", seen)
    else:
        cure = "costs are not known, and --budget tokens=N or dollars=N has no effect"
        found.add("token counts", "no", "none are reported", cure)


def _add_documented(found: Diagnosis, name: str, url: str) -> None:
    """Add what the provider documents, because no answer shows it."""
    if (provider := provider_of(name, url)) is not None:
        found.add("seed", "-", f"settable, sent as {provider.seed}" if provider.seed else "the provider takes none")
        found.add("prompt cache", "-", CACHES[provider.caching])


async def _add_pace(found: Diagnosis, send: Send, answers: dict[Rung, Found], used: Rung) -> None:
    """Measure how long one answer takes, and whether the server works on two requests at the same time."""
    if any(answer.late for answer in answers.values()) or answers[used].reply is None:
        return
    start = time.perf_counter()
    pair = await asyncio.gather(*(send(used) for _ in range(AT_ONCE)))
    together = time.perf_counter() - start
    done = [answer for answer in answers.values() if answer.reply is not None]
    done = done[1:] or done  # the server may have loaded the model for the first answer
    seconds = statistics.median(answer.seconds for answer in done)
    tokens = sum(answer.reply.usage.completion_tokens for answer in done if answer.reply)
    rate = f", {tokens / sum(answer.seconds for answer in done):.0f} tokens/s" if tokens else ""
    found.add("speed", "-", f"{seconds:.1f} s for an answer{rate}")
    if failed := [str(answer.problem) for answer in pair if answer.reply is None]:
        found.add("two at once", "no", failed[0], "give --max-concurrency 1")
    elif together > max(ONE_AFTER_THE_OTHER * seconds, seconds + NOTICED):
        seen = f"{together:.1f} s for both: answered one after the other"
        found.add("two at once", "-", seen, "more than --max-concurrency 1 saves no time here")
    else:
        found.add("two at once", "ok", f"{together:.1f} s for both")


def _add_verdict(found: Diagnosis, answers: dict[Rung, Found], readable: Mapping[Rung, bool], used: Rung) -> None:
    """Add the verdict whether a run can use the model. A run asks in the highest form that the server accepts, and must be able
    to read the answer.
    """
    found.usable = readable.get(used, False)
    if found.usable:
        lost = [FORMS[form] for form in FORMS if form in answers and answers[form].form_refused]
        remark = f"; the server refuses {' and '.join(lost)}, which a run finds out by itself" if lost else ""
        found.verdict = f"it can be used: it is asked by {FORMS[used]}{remark}"
    elif (problem := answers[used].problem) is not None and problem.transient:
        found.verdict = "it is not known whether it can be used: not every question was answered; try again later"
    elif lower := next((form for form in FORMS if readable.get(form)), None):
        only = f"OpenAILLM(..., structured={lower!r})"
        found.verdict = f"it can be used from Python alone, by {only}: answers by {FORMS[used]} fail"
    else:
        found.verdict = "it cannot be used as it is: no answer of it was readable; a larger model may do"


async def examine_embeddings(name: str, model: Any, timeout: float) -> Diagnosis:
    """Embed three short texts, two of which are equal."""
    url = getattr(model, "identity", {}).get("base_url")
    found = Diagnosis(f"{name} at {url}" if url else name)
    texts = ["The library opens at nine.", "Whales are mammals.", "The library opens at nine."]
    model = model.without_retries() if hasattr(model, "without_retries") else model
    start = time.perf_counter()
    try:
        is_async = hasattr(model, "aembed")
        answer = await asyncio.wait_for(model.aembed(texts), timeout) if is_async else model.embed(texts)
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


LLM = option("MODEL", "The judge to examine, named as for `evaluate`.")
EMBEDDINGS = option("MODEL", "The embedding model to examine.")
BASE_URL = option("URL", "Where its server is, if not where it usually is.")
TIMEOUT = option("SECONDS", "Seconds to wait for each answer.", least=0.1, default=60.0)
AS_JSON = flag("--json", "Print one JSON object instead of the table.")


def doctor(
    *,
    llm: str | None = LLM,
    embeddings: str | None = EMBEDDINGS,
    base_url: str | None = BASE_URL,
    timeout: float = TIMEOUT,
    as_json: bool = AS_JSON,
) -> None:
    """Examine the named models, or this machine."""
    with clear_errors():
        if llm is None and embeddings is None:
            if base_url is not None:
                raise InvalidInput("--base-url needs --llm MODEL or --embeddings MODEL")
            machine = environment()
            say(json.dumps(machine, indent=2) if as_json else _as_text(machine))
            return
        diagnoses = asyncio.run(_examined(llm, embeddings, base_url, timeout))
        say(json.dumps(list(map(asdict, diagnoses)), indent=2) if as_json else "\n\n".join(map(_table, diagnoses)))
        if not all(item.usable for item in diagnoses):
            raise typer.Exit(2)


async def _examined(llm: str | None, embeddings: str | None, base_url: str | None, timeout: float) -> list[Diagnosis]:
    diagnoses = []
    # made first, so that a wrong name costs no call
    vectors = None if embeddings is None else embeddings_named(embeddings, base_url)
    if llm is not None:
        model = as_openai(llm_named(llm, base_url))
        if isinstance(model, OpenAILLM):
            diagnoses.append(await examine_llm(llm, model, timeout))
        elif isinstance(model, PackageModel):
            diagnoses.append(await examine_native(llm, model, timeout))
        else:
            verdict = "it can be used: it works offline and needs no server"
            diagnoses.append(Diagnosis(llm, verdict=verdict, usable=True))
    if embeddings is not None:
        diagnoses.append(await examine_embeddings(embeddings, vectors, timeout))
    return diagnoses


def _table(found: Diagnosis) -> str:
    """Return the lines of one model: the finding beside the name of the check, the cure below it."""
    width = max((len(check.name) for check in found.checks), default=0)
    lines = [found.what]
    for check in found.checks:
        head = f"  {check.state:2}  {check.name:{width}}  "
        blank, most = " " * len(head), max(20, room() - len(head))
        cure = wrapped(f"-> {check.cure}", most) if check.cure else []
        beside = [*(wrapped(check.seen, most) or [""]), *cure]
        lines += [head + beside[0], *(blank + line for line in beside[1:])]
    return "\n".join([*lines, *wrapped(found.verdict, room())])


def _as_text(here: dict[str, Any]) -> str:
    missing = 'no: pip install "ragmetrics-core[{}]"'
    parts = {
        "Versions": here["versions"],
        "Extras": {name: version or missing.format(name) for name, version in here["extras"].items()},
        "Variables (their values are never shown)": {
            key: "set" if it else "-" for key, it in here["variables"].items()
        },
        "Listening (a guess by its port)": here["listening"] or {"-": "no server at the usual ports of this machine"},
    }
    width = max(len(name) for items in parts.values() for name in items)
    return "\n\n".join(
        "\n".join([head, *(f"  {name:{width}}  {value}" for name, value in items.items())])
        for head, items in parts.items()
    )
