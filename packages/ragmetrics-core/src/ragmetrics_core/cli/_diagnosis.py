"""What was found out about a model, line by line; and, where a server gives no answer at all, why, and what to do about it."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Literal

from ..llms._openai._llm import OpenAILLM, clients_of
from ..llms._openai._named_servers import SERVERS, server_named
from ..llms._openai._probe import Found, models_of

State = Literal["ok", "no", "-"]
SHOWN = 8
"""How many names of models are shown where the one that was asked for is missing."""

UNREACHED = (
    ("refused|connection attempts failed", "nothing listens at this address"),
    (r"name or service|nodename|name resolution|getaddrinfo|no address", "the name of the host is unknown: check it"),
    ("wrong_version|wrong version|record layer", "the server does not speak TLS there: write http:// for https://"),
    ("certificate", "its certificate is not trusted: set SSL_CERT_FILE to the certificates of your organisation"),
)

NO_MODEL = re.compile(r"no such model|invalid model name", re.IGNORECASE)
"""How gateways say with status 400 that a model is missing."""


@dataclass(frozen=True)
class Check:
    """One line of the result: what was looked at, whether it works (``-``: not known, or no matter), what was seen, the cure."""

    name: str
    state: State
    seen: str
    cure: str = ""


@dataclass
class Diagnosis:
    """What was found out about one model.

    Attributes:
        what: the model as the user named it, and where it is.
        checks: in the order in which they were made.
        verdict: in words, whether a run can use it; empty while that is open.
        usable: whether it can.
    """

    what: str
    checks: list[Check] = field(default_factory=list)
    verdict: str = ""
    usable: bool = False

    def add(self, name: str, state: State, seen: str, cure: str = "") -> None:
        """Add a line."""
        self.checks.append(Check(name, state, seen, cure))

    def give_up(self, name: str, seen: str, cure: str = "") -> Diagnosis:
        """Add the line that ends the examination."""
        self.add(name, "no", seen, cure)
        self.verdict = "it cannot be used as it is"
        return self


def reached(found: Diagnosis, llm: OpenAILLM) -> None:
    """The lines of a server that has answered, whatever it said."""
    clients = clients_of(llm)
    found.add("address", "ok", f"{clients.base_url} answers")
    seen = f"that in {clients.key_variable} is accepted" if clients.sends_key else "none is sent, and none is asked for"
    found.add("key", "ok", seen)


async def why_not(found: Diagnosis, name: str, llm: OpenAILLM, first: Found, timeout: float) -> Diagnosis:
    """The line that says why there is no answer to a plain question, and what to do."""
    words = str(first.problem)
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
    reached(found, llm)
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
        return "the name after azure: is that of a deployment, as the portal lists them, and not that of a model"
    listed = await models_of(llm, timeout)
    pull = f"ollama pull {llm.model}, or " if server == "ollama" else ""
    if isinstance(listed, str):
        return f"{pull}check the address and the name ({listed})"
    names = [str(item["id"]) for item in listed]
    more = f" and {len(names) - SHOWN} more" if len(names) > SHOWN else ""
    return (
        f"{pull}use one of those that are there: {', '.join(names[:SHOWN])}{more}"
        if names
        else f"{pull}no model is there"
    )
