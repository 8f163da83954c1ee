"""Metrics by name, for ``evaluate`` and the command line: ``faithfulness``, ``ndcg(k=3)``, ``mymodule:MyMetric(strict=True)``.

A built-in metric is named by its name or its class, a user's own by module and class; settings are written as a call with
literals. Nothing is executed to read them: the call is parsed, and its values are literals or an error.

Models by name, for ``evaluate`` and for the command line alike: ``openai:gpt-4o-mini``, ``lexical``, ``hashing``.

What a name means is decided here and nowhere else. Model classes are loaded when a name asks for them.

Models by name for a price alone: nothing is called, so neither the package of a model nor its key need be there.

Where the package is missing, what replaces the model says of itself what the model would, so that the price is the same, and
replies that an earlier run has kept are found.
"""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Iterable, Iterator
from dataclasses import MISSING, fields
from itertools import pairwise
from typing import Any, NoReturn

from .._kernel._metric import Metric
from .._kernel._saved_settings import named_metric
from .._support._other_names import replacement_of
from .._values._errors import InvalidInput, MissingExtra, Setting


def metrics_named(texts: Iterable[str]) -> list[Metric]:
    """The metrics that the texts name; each text names one, or several with commas between them.

    Raises:
        InvalidInput: a metric is unknown, or its settings cannot be read or do not fit.
    """
    return [_metric(spec) for text in texts for spec in split(text)]


def split(text: str) -> list[str]:
    """The parts between those commas that stand outside brackets and quotes."""
    cuts = [-1, *_commas(text), len(text)]
    parts = [text[start + 1 : end].strip() for start, end in pairwise(cuts)]
    return [part for part in parts if part]


def _commas(text: str) -> Iterator[int]:
    depth, quote, escaped = 0, "", False
    for position, char in enumerate(text):
        if quote:
            if not escaped and char == quote:
                quote = ""
            escaped = not escaped and char == "\\"
        elif char in "'\"":
            quote = char
        elif char in "([{":
            depth += 1
        elif char in ")]}":
            depth -= 1
        elif char == "," and depth == 0:
            yield position


def _metric(spec: str) -> Metric:
    path, bracket, rest = spec.partition("(")
    path = path.strip()
    cls = named_metric(path, Metric) if ":" in path else _class(path)
    if isinstance(cls, Metric):
        if bracket:
            raise InvalidInput(f"{path} is a metric that has its settings already: leave ({rest} out")
        return cls
    settings = _settings(spec, f"({rest}") if bracket else {}
    missing = unset(cls, settings)
    if missing:
        given = ", ".join(f"{name}=..." for name in (*settings, *missing))
        raise InvalidInput(f"{path} needs {' and '.join(map(repr, missing))}: write {path}({given})")
    if not settings:
        return cls()
    name = path if ":" in path else cls.__name__
    return Metric.from_dict({"metric": name, "settings": settings})


def _class(path: str) -> type[Metric]:
    from ..metrics import catalogue  # noqa: PLC0415  loads every metric

    entries = catalogue()
    known: dict[str, type[Metric]] = {name: entry.cls for entry in entries for name in (entry.cls.__name__, entry.name)}
    if path not in known:
        if advice := replacement_of(path):
            raise InvalidInput(f"there is no metric {path!r}: {advice}")
        close = difflib.get_close_matches(path, known, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InvalidInput(
            f"there is no metric {path!r}{hint} (see `ragmetrics metrics`; your own is written module:NAME)"
        )
    return known[path]


def _settings(spec: str, call: str) -> dict[str, Any]:
    try:
        node = ast.parse(f"metric{call}", mode="eval").body
    except SyntaxError:
        node = None
    if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
        raise InvalidInput(f"the metric {spec!r} cannot be read: write name(setting=value, ...)")
    if node.args or any(keyword.arg is None for keyword in node.keywords):
        raise InvalidInput(f"the metric {spec!r} has a setting without a name: write name(setting=value, ...)")
    return {str(keyword.arg): _literal(spec, keyword) for keyword in node.keywords}


def _literal(spec: str, keyword: ast.keyword) -> Any:
    try:
        return ast.literal_eval(keyword.value)
    except ValueError:
        raise InvalidInput(
            f"the setting {keyword.arg!r} of {spec!r} must be a number, a quoted text, True, False, None, or a list or "
            "dict of these"
        ) from None


def unset(cls: type[Metric], settings: dict[str, Any]) -> list[str]:
    """Settings that have no default and are not given."""
    needed = (item for item in fields(cls) if item.init and item.default is MISSING and item.default_factory is MISSING)
    return [item.name for item in needed if item.name not in settings]


FINE_TUNED = "ft"
"""What the names of OpenAI's fine-tuned models start with: ``ft:gpt-4o-mini-2024-07-18:acme::7p4lURel``."""

OWN_EMBEDDINGS = {"sentence-transformers": True, "huggingface": True, "hashing": False}
"""Providers of embeddings that are no servers, and whether the name of a model follows, after a colon."""


def llm_named(model: Any, base_url: str | None = None, api_key: str | None = None) -> Any:
    """The LLM that a text names; anything but a text is returned unchanged.

    A name is ``lexical``, a model of OpenAI, with or without ``openai:`` before its name, a model on a server that has a name too
    (``azure:DEPLOYMENT``, ``ollama:llama3.1:8b``), or ``server:MODEL``, the same protocol over a lean client. Names of models on
    other servers hold their own colons (``llama3.1:8b``), so the text before a colon counts as an unknown provider only
    where no other server is named, by ``base_url`` or in ``OPENAI_BASE_URL``. An ``api_key`` is for a server by name alone.

    Raises:
        InvalidInput: there is no such provider, no name of a model, or no address or key of the server.
        MissingExtra: the package that a provider needs is not installed.
    """
    if not isinstance(model, str):
        return model
    server = base_url or os.environ.get("OPENAI_BASE_URL")
    _check_llm_name(model, server)
    from .. import llms  # noqa: PLC0415  loaded where a name is used

    provider, colon, name = _parts(model)
    if provider == "server":
        return llms.OpenAIServerLLM(str(server), name)
    settings = {"base_url": base_url} if base_url and model != "lexical" else {}
    if colon and is_server(provider):
        return llms.llm_factory(name, provider, **settings, **({"api_key": api_key} if api_key else {}))
    return llms.llm_factory(model.strip().removeprefix("openai:"), **settings)


def is_server(provider: str) -> bool:
    """Whether a provider is a server that has a name."""
    from ..llms._openai._named_servers import server_named  # noqa: PLC0415  loaded where a name is used

    return server_named(provider) is not None


def _servers() -> str:
    from ..llms._openai._named_servers import SERVERS  # noqa: PLC0415  for messages only

    return ", ".join(f"{name}:{server.model}" for name, server in SERVERS.items())


def _parts(model: str) -> tuple[str, str, str]:
    provider, colon, name = model.partition(":")
    return provider.strip(), colon, name.strip()


def _check_llm_name(model: str, server: str | None) -> None:
    provider, colon, name = _parts(model)
    names = f"openai:MODEL, {_servers()}, server:MODEL or lexical"
    if not colon and provider == "":
        raise InvalidInput(Setting("llm"), f" is an empty text: write {names}")
    known = is_server(provider) and bool(colon or not server)
    if (known or provider in ("openai", "server")) and not name:
        raise InvalidInput(Setting("llm", model), f" lacks the model's name: write {provider}:MODEL")
    if known or server or not colon:
        return
    if provider == "server":
        raise InvalidInput(
            Setting("llm", model),
            " does not say where the server is: give ",
            Setting("base_url", "http://localhost:8000/v1", python=f"OpenAIServerLLM(base_url, {name!r})"),
            " or set OPENAI_BASE_URL",
        )
    if provider not in ("openai", FINE_TUNED):
        raise InvalidInput(
            Setting("llm", model),
            f": there is no provider {provider!r}: use {names}; a model of that name on a server of your own needs ",
            Setting("base_url", ..., python=f"OpenAILLM({model!r}, base_url=...)"),
        )


def embeddings_named(model: Any, base_url: str | None = None) -> Any:
    """The embedding model that a text names, ``provider`` or ``provider:MODEL``; anything but a text is returned unchanged.

    Raises:
        InvalidInput: there is no such provider, it needs the name of a model that is not given, or it takes none.
        MissingExtra: the package that a provider needs is not installed.
    """
    if not isinstance(model, str):
        return model
    provider, _, name = _parts(model)
    remote = provider == "openai" or is_server(provider)
    if not remote and provider not in OWN_EMBEDDINGS:
        raise InvalidInput(
            Setting("embeddings", model),
            f": there is no provider {provider!r}: use openai:MODEL, {_servers()}, sentence-transformers:MODEL or hashing",
        )
    if not name and provider not in ("openai", "azure", "hashing"):
        example = f", such as {provider}:all-MiniLM-L6-v2" if provider in OWN_EMBEDDINGS else ""
        raise InvalidInput(Setting("embeddings", model), f" lacks the model's name: write {provider}:MODEL{example}")
    if name and not remote and not OWN_EMBEDDINGS[provider]:
        raise InvalidInput(Setting("embeddings", model), f": {provider} uses no model: write {provider} alone")
    settings = {"base_url": base_url} if base_url and remote else {}
    from .. import embeddings  # noqa: PLC0415  loaded where a name is used

    return embeddings.embedding_factory(provider, name or None, **settings)


NO_KEY = "none"
"""Replaces the key of a server that wants one; it is never sent."""


class Uncalled:
    """What a model of OpenAI's protocol says of itself, with no way to call it.

    Args:
        missing: what a call would raise.
        model: its name.
        provider: the server that it is on.
        base_url: its address, if it is not the usual one.
        settings: what else identifies it.
    """

    def __init__(self, missing: MissingExtra, model: str, provider: str, base_url: str | None, **settings: Any) -> None:
        from ..llms._openai._named_servers import address_of  # noqa: PLC0415  loaded where a name is used

        self._missing = missing
        self.model = model
        url = address_of(provider, base_url)
        self.identity = {"provider": "openai", "model": model, "base_url": url, **settings}

    def generate(self, _: object) -> NoReturn:
        """Say which package is missing."""
        raise self._missing

    embed = generate


def llm_to_price(model: Any, base_url: str | None = None) -> Any:
    """The LLM that a text names, or what replaces it; anything but a text is returned unchanged.

    Raises:
        InvalidInput: as ``llm_named``.
        MissingExtra: it is at one of Azure's older addresses, and the openai package is not installed.
    """
    try:
        return llm_named(model, base_url, NO_KEY)
    except MissingExtra as missing:
        provider, _, name = _parts(model)
        known = provider in ("openai", "server") or is_server(provider)
        named = name if known and name else model.strip()
        return Uncalled(missing, named, provider, base_url, structured="schema", parameters={})


def embeddings_to_price(model: Any, base_url: str | None = None) -> Any:
    """The embedding model that a text names, or what replaces it; anything but a text is returned unchanged.

    Raises:
        InvalidInput: as ``embeddings_named``.
        MissingExtra: the package of a model that is computed here is not installed.
    """
    try:
        return embeddings_named(model, base_url)
    except MissingExtra as missing:
        provider, _, name = _parts(model)
        if provider != "openai" and not is_server(provider):
            raise
        return Uncalled(missing, name or "text-embedding-3-small", provider, base_url, dimensions=None)
