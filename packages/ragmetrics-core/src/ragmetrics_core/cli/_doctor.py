"""``ragmetrics doctor``: what works with a judge, with an embedding model, or what is found on this machine.

Exit status: 0 when everything that was named can be used, 2 when something cannot. Texts of servers are shown without keys, and
control characters as escapes, as everything that the command prints.
"""

from __future__ import annotations

import asyncio
import json
from dataclasses import asdict
from typing import Annotated, Any

import typer

from .._kernel._errors import InvalidInput
from .._names._models import embeddings_named, llm_named
from .._show._tables import room, wrapped
from .._support._secrets import conceal
from ..llms._openai._llm import OpenAILLM
from ..llms._openai._probe import as_openai
from ._diagnosis import Diagnosis
from ._environment import environment
from ._examine import examine_embeddings, examine_llm
from ._output import clear_errors, say

DOCTOR = """Ask a server a few small questions, and say what works: key, model, forms of reply, speed.

\b
Examples:
  ragmetrics doctor
  ragmetrics doctor --llm openai:gpt-4o-mini
  ragmetrics doctor --llm ollama:llama3.1:8b
  ragmetrics doctor --llm azure:DEPLOYMENT --embeddings azure:DEPLOYMENT

Without a model it says which packages are installed, which variables are set (never what they hold), and which servers listen on
this machine: what a report of a bug should hold. A judge is asked at most five questions of some 500 tokens each.

Exit status: 0 what is named can be used; 2 it cannot, or its name is wrong; 70 a bug, after its traceback.
"""

LLMName = Annotated[str | None, typer.Option(metavar="MODEL", help="The judge to examine, named as for `evaluate`.")]
EmbeddingsName = Annotated[str | None, typer.Option(metavar="MODEL", help="The embedding model to examine.")]
BaseURL = Annotated[str | None, typer.Option(metavar="URL", help="Where its server is, if not where it usually is.")]
Timeout = Annotated[float, typer.Option(metavar="SECONDS", min=0.1, help="Seconds to wait for each answer.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object instead of the table.")]


def doctor(
    *,
    llm: LLMName = None,
    embeddings: EmbeddingsName = None,
    base_url: BaseURL = None,
    timeout: Timeout = 60.0,
    as_json: AsJson = False,
) -> None:
    """Examine the models that are named, or this machine."""
    with clear_errors():
        if llm is None and embeddings is None:
            if base_url is not None:
                raise InvalidInput("--base-url needs --llm MODEL or --embeddings MODEL")
            here = environment()
            say(json.dumps(here, indent=2) if as_json else _as_text(here))
            return
        found = asyncio.run(_examined(llm, embeddings, base_url, timeout))
        say(json.dumps([_plain(item) for item in found], indent=2) if as_json else "\n\n".join(map(_table, found)))
        if not all(item.usable for item in found):
            raise typer.Exit(2)


async def _examined(llm: str | None, embeddings: str | None, base_url: str | None, timeout: float) -> list[Diagnosis]:
    found = []
    vectors = None if embeddings is None else embeddings_named(embeddings, base_url)  # a wrong name costs no call
    if llm is not None:
        model = as_openai(llm_named(llm, base_url))
        if isinstance(model, OpenAILLM):
            found.append(await examine_llm(llm, model, timeout))
        else:
            found.append(Diagnosis(llm, verdict="it can be used: it works offline, and asks nobody", usable=True))
    if embeddings is not None:
        found.append(await examine_embeddings(embeddings, vectors, timeout))
    return found


def _plain(found: Diagnosis) -> dict[str, Any]:
    plain = asdict(found)
    for check in plain["checks"]:
        check.update({name: conceal(check[name]) for name in ("seen", "cure")})
    return plain


def _table(found: Diagnosis) -> str:
    """The lines of one model; what was seen stands beside the name of the check, the cure below it."""
    plain = _plain(found)
    width = max((len(check["name"]) for check in plain["checks"]), default=0)
    lines = [plain["what"]]
    for check in plain["checks"]:
        head = f"  {check['state']:2}  {check['name']:{width}}  "
        lines += _beside(head, check["seen"])
        lines += _beside(" " * len(head), f"-> {check['cure']}") if check["cure"] else []
    return "\n".join([*lines, *wrapped(plain["verdict"], room())])


def _beside(head: str, text: str) -> list[str]:
    first, *others = wrapped(text, max(20, room() - len(head))) or [""]
    return [head + first, *(" " * len(head) + line for line in others)]


def _as_text(here: dict[str, Any]) -> str:
    extras = {name: version or f'no: pip install "ragmetrics-core[{name}]"' for name, version in here["extras"].items()}
    variables = {name: "set" if is_set else "-" for name, is_set in here["variables"].items()}
    listening = here["listening"] or {"-": "no server at the usual ports of this machine"}
    parts = {
        "Versions": here["versions"],
        "Extras": extras,
        "Variables (never what they hold)": variables,
        "Listening (a guess by its port)": listening,
    }
    width = max(len(name) for items in parts.values() for name in items)
    return "\n\n".join(
        "\n".join([head, *(f"  {name:{width}}  {value}" for name, value in items.items())])
        for head, items in parts.items()
    )
