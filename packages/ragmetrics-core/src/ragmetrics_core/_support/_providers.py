"""The table of all providers that have a name: where they are, which environment variables configure them, what they can do.

A name stands for an address and a key, and both come from variables that users of that server have already set. What a provider
can do is what its documentation says; a model may still refuse it, and a run finds that out by itself.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal
from urllib.parse import urlsplit

OPENAI_URL = "https://api.openai.com/v1"

Rung = Literal["schema", "json", "text"]
RUNGS: tuple[Rung, ...] = ("schema", "json", "text")
"""The forms in which a reply can be asked for."""


@dataclass(frozen=True, slots=True)
class NamedServer:
    """The settings behind the name of a server.

    Attributes:
        url: the default address of such a server. For Azure, where every user has a different host, only the path. For Bedrock
            it has a place for the region.
        url_variables, key_variables, version_variables, region_variables: environment variables for the address, the key, the
            version of the protocol, and the region; the first that is set counts.
        needs_key: whether the server requires a key.
        model: the word for the name of a model in messages: a deployment in Azure, a model elsewhere.
        start: the command that starts such a server on this machine.
        extra: the extra with which a judge is called by the server's own protocol; "": by that of OpenAI.
        forms: the forms in which replies can be asked for, the highest first. Some models take fewer.
        seed: the parameter that sets the seed; "": there is none.
        caching: whether the server caches the words of prompts by itself, or only those that are marked; "": not known.
        prices: the name of the provider in the price table; "": its models have no price there.
    """

    url: str
    url_variables: tuple[str, ...] = ()
    key_variables: tuple[str, ...] = ()
    version_variables: tuple[str, ...] = ()
    region_variables: tuple[str, ...] = ()
    needs_key: bool = False
    model: str = "MODEL"
    start: str = ""
    extra: str = ""
    forms: tuple[Rung, ...] = RUNGS
    seed: str = "seed"
    caching: Literal["by itself", "marked", ""] = ""
    prices: str = ""


def _hosted(name: str, url: str, *keys: str, **more: Any) -> NamedServer:
    """Return a service that needs a key; by default the names of its variables begin with its own name."""
    keys = keys or (f"{name}_API_KEY",)
    return NamedServer(url, (f"{name}_BASE_URL",), keys, needs_key=True, **more)


def _local(
    url: str, url_variables: tuple[str, ...], key_variables: tuple[str, ...], start: str, **more: Any
) -> NamedServer:
    """Return a server that users start on their machine; it keeps the beginnings of prompts in its memory."""
    return NamedServer(url, url_variables, key_variables, start=start, caching="by itself", **more)


OPENAI = NamedServer(
    OPENAI_URL, ("OPENAI_BASE_URL",), ("OPENAI_API_KEY",), needs_key=True, caching="by itself", prices="openai"
)

SERVERS: Mapping[str, NamedServer] = {
    "anthropic": _hosted(
        "ANTHROPIC",
        "https://api.anthropic.com",
        extra="anthropic",
        forms=("schema", "text"),
        seed="",
        caching="marked",
        prices="anthropic",
    ),
    "azure": NamedServer(
        "/openai/v1",
        ("AZURE_OPENAI_ENDPOINT",),
        ("AZURE_OPENAI_API_KEY", "AZURE_OPENAI_AD_TOKEN"),
        ("OPENAI_API_VERSION", "AZURE_OPENAI_API_VERSION"),
        needs_key=True,
        model="DEPLOYMENT",
        caching="by itself",
        prices="azure",
    ),
    "bedrock": _hosted(
        "BEDROCK",
        "https://bedrock-mantle.{region}.api.aws/v1",
        "AWS_BEARER_TOKEN_BEDROCK",
        region_variables=("AWS_REGION", "AWS_DEFAULT_REGION"),
        prices="aws",
    ),
    "deepseek": _hosted(
        "DEEPSEEK",
        "https://api.deepseek.com/v1",
        forms=("json", "text"),
        seed="",
        caching="by itself",
        prices="deepseek",
    ),
    "fireworks": _hosted("FIREWORKS", "https://api.fireworks.ai/inference/v1", caching="by itself", prices="fireworks"),
    "gemini": _hosted(
        "GEMINI",
        "https://generativelanguage.googleapis.com/v1beta/openai",
        "GEMINI_API_KEY",
        "GOOGLE_API_KEY",
        extra="gemini",
        caching="by itself",
        prices="google",
    ),
    "groq": _hosted("GROQ", "https://api.groq.com/openai/v1", caching="by itself", prices="groq"),
    "mistral": _hosted("MISTRAL", "https://api.mistral.ai/v1", seed="random_seed", prices="mistral"),
    "ollama": _local("http://localhost:11434/v1", ("OLLAMA_HOST",), ("OLLAMA_API_KEY",), "ollama serve"),
    "vllm": _local("http://localhost:8000/v1", ("VLLM_BASE_URL",), ("VLLM_API_KEY",), "vllm serve MODEL"),
    "llamacpp": _local(
        "http://localhost:8080/v1", ("LLAMACPP_BASE_URL",), ("LLAMA_API_KEY",), "llama-server -m FILE.gguf"
    ),
    "lmstudio": _local(
        "http://localhost:1234/v1",
        ("LMSTUDIO_BASE_URL",),
        ("LMSTUDIO_API_KEY",),
        "lms server start",
        forms=("schema", "text"),
    ),
    "openrouter": _hosted("OPENROUTER", "https://openrouter.ai/api/v1", prices="openrouter"),
    "together": _hosted("TOGETHER", "https://api.together.xyz/v1", prices="together"),
    "litellm": NamedServer(
        "http://localhost:4000/v1",
        ("LITELLM_BASE_URL", "LITELLM_PROXY_API_BASE"),
        ("LITELLM_API_KEY", "LITELLM_PROXY_API_KEY"),
        start="litellm --config FILE.yaml",
    ),
}


def server_named(provider: str) -> str | None:
    """Return the name of the server in the table, for any spelling (``llama.cpp``, ``LM-Studio``); None if there is no such
    server.
    """
    name = provider.strip().lower().translate({ord(sign): None for sign in ".-_ "})
    return name if name in SERVERS else None


def provider_of(name: str, url: str | None) -> NamedServer | None:
    """Return the provider of a model.

    Args:
        name: the model as the user named it, such as ``groq:MODEL``.
        url: its address, which decides if the name has no provider.
    """
    if server := server_named(name.partition(":")[0]):
        return SERVERS[server]
    try:
        host = urlsplit(url or "").hostname or ""
    except ValueError:  # run.json is data: an address in it that no browser would open belongs to no provider
        return None
    return next((each for each in (OPENAI, *SERVERS.values()) if each.prices and _is_host(host, each)), None)


def _is_host(host: str, provider: NamedServer) -> bool:
    usual = re.escape(urlsplit(provider.url).netloc).replace(r"\{region\}", "[a-z0-9-]+")
    return bool(usual) and re.fullmatch(usual, host) is not None
