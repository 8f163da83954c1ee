"""Metrics and models by name, for ``evaluate`` and the command line.

Metrics: ``faithfulness``, ``ndcg(k=3)``, ``mymodule:MyMetric(strict=True)``. A built-in metric is named by its name or its class,
a user's own metric by module and class. Settings are written as a call with literals. Nothing is executed to read them: the call
is parsed, and any value that is not a literal is an error.

Models: ``openai:gpt-4o-mini``, ``lexical``, ``hashing``. The meaning of a name is decided only here. Model classes are imported
when a name needs them.

Models for a price: a model that is only needed for its price is never called, so neither its package nor its key is needed. If
the package is missing, ``Uncalled`` replaces the model. It has the identity that the model would have, so the price is the same
and replies kept by an earlier run are found.
"""

from __future__ import annotations

import ast
import difflib
import os
from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import Any, NoReturn

from .._kernel._metric import Metric
from .._kernel._saved_settings import named_metric, unset
from .._support._other_names import replacement_of
from .._values._errors import InvalidInput, MissingExtra, RagmetricsError, Setting


def metrics_named(texts: Iterable[str]) -> list[Metric]:
    """Return the metrics that the texts name. Each text names one metric, or several separated by commas.

    Raises:
        InvalidInput: a metric is unknown, or its settings cannot be read or are not allowed.
    """
    return [_metric(spec) for text in texts for spec in split(text)]


def split(text: str) -> list[str]:
    """Split a text at the commas that are outside brackets and quotes."""
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
            raise InvalidInput(f"{path} is a metric object that already has its settings: write {path} without ({rest}")
        return cls
    settings = _settings(spec, f"({rest}") if bracket else {}
    if missing := unset(cls, settings):
        example = ", ".join(f"{name}=..." for name in (*settings, *missing))
        raise InvalidInput(f"{path} needs {' and '.join(map(repr, missing))}: write {path}({example})")
    if not settings:
        return cls()
    name = path if ":" in path else cls.__name__
    return Metric.from_dict({"metric": name, "settings": settings})


def _class(path: str) -> type[Metric]:
    from ..metrics import catalogue  # noqa: PLC0415  loads every metric

    entries = catalogue()
    metrics: dict[str, type[Metric]] = {entry.cls.__name__: entry.cls for entry in entries}
    metrics |= {entry.name: entry.cls for entry in entries}
    if path not in metrics:
        if advice := replacement_of(path):
            raise InvalidInput(f"there is no metric {path!r}: {advice}")
        close = difflib.get_close_matches(path, metrics, n=1)
        hint = f"; did you mean {close[0]!r}?" if close else ""
        raise InvalidInput(f"there is no metric {path!r}{hint} (see `ragmetrics metrics`; your own is module:NAME)")
    return metrics[path]


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


FINE_TUNED = "ft"
"""The prefix of the names of OpenAI's fine-tuned models, such as ``ft:gpt-4o-mini-2024-07-18:acme::7p4lURel``."""

OWN_EMBEDDINGS = {"sentence-transformers": True, "huggingface": True, "hashing": False}
"""Providers of embeddings that are not servers, and whether a model name must follow after a colon."""


def llm_named(model: Any, base_url: str | None = None, api_key: str | None = None) -> Any:
    """Return the LLM that a text names; any other value is returned unchanged.

    A name has one of these forms: ``lexical``; a model of OpenAI, with or without the prefix ``openai:``; a model on a named
    server (``azure:DEPLOYMENT``, ``ollama:llama3.1:8b``); or ``server:MODEL``, which speaks the same protocol through a lean
    client. Names of models on other servers may themselves contain colons (``llama3.1:8b``). So the text before a colon is reported
    as an unknown provider only if no other server is given, by ``base_url`` or in ``OPENAI_BASE_URL``. An ``api_key`` is used
    only for a named server.

    Raises:
        InvalidInput: there is no such provider, the name of the model is missing, or the address or key of the server is missing.
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
    try:
        return llms.llm_factory(model.strip().removeprefix("openai:"), **settings)
    except RagmetricsError as error:
        if not (colon or model.strip().startswith(OF_OPENAI)):
            error.args = (Setting("llm", model), f" names no provider, so it is read as openai:{model}: ", *error.args)
        raise


OF_OPENAI = ("gpt-", "chatgpt-", "o1", "o3", "o4", "lexical")
"""The beginnings of names that need no provider to be understood."""


def is_server(provider: str) -> bool:
    """Whether a provider is the name of a server that speaks the protocol of OpenAI, such as ``ollama``."""
    from .._support._providers import server_named  # noqa: PLC0415  loaded where a name is used

    return server_named(provider) is not None


def _servers() -> str:
    from .._support._providers import SERVERS  # noqa: PLC0415  for messages only

    return f"PROVIDER:MODEL ({', '.join(SERVERS)})"


def _parts(model: str) -> tuple[str, str, str]:
    provider, colon, name = model.partition(":")
    return provider.strip(), colon, name.strip()


def _check_llm_name(model: str, server: str | None) -> None:
    provider, colon, name = _parts(model)
    names = f"openai:MODEL, {_servers()}, server:MODEL or lexical"
    if not colon and provider == "":
        raise InvalidInput(Setting("llm"), f" is an empty text: write {names}")
    is_provider = is_server(provider) and bool(colon or not server)
    if (is_provider or provider in ("openai", "server")) and not name:
        raise InvalidInput(Setting("llm", model), f" lacks the model's name: write {provider}:MODEL")
    if is_provider or server or not colon:
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
    """Return the embedding model that a text names, ``provider`` or ``provider:MODEL``; any other value is returned unchanged.

    Raises:
        InvalidInput: there is no such provider, it needs the name of a model that is not given, or it takes no model name.
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
"""A substitute for the key of a server that needs a key; it is never sent."""


class Uncalled:
    """A substitute for a model of a server that has its identity but cannot be called.

    Args:
        missing: the error that a call raises.
        identity: the identity that the model would have; it has the name of the model.
    """

    def __init__(self, missing: MissingExtra, identity: Mapping[str, Any]) -> None:
        self._missing, self.identity, self.model = missing, identity, identity["model"]

    def generate(self, _: object) -> NoReturn:
        """Raise the error that says which package is missing."""
        raise self._missing

    embed = generate


def llm_to_price(model: Any, base_url: str | None = None) -> Any:
    """Return the LLM that a text names, or its substitute if its package is missing; any other value is returned unchanged.

    Raises:
        InvalidInput: as in ``llm_named``.
        MissingExtra: the model is at one of Azure's older addresses, and the openai package is not installed.
    """
    try:
        return llm_named(model, base_url, NO_KEY)
    except MissingExtra as missing:
        provider, _, name = _parts(model)
        is_provider = provider in ("openai", "server") or is_server(provider)
        model_name = name if is_provider and name else model.strip()
        from .._support._providers import OPENAI, SERVERS, server_named  # noqa: PLC0415  the same
        from ..llms._factory import NATIVE  # noqa: PLC0415  loaded where a name is used
        from ..llms._openai._named_servers import address_of  # noqa: PLC0415  the same

        known = {"provider": "openai", "model": model_name, "base_url": address_of(provider, base_url)}
        parameters: Mapping[str, Any] = {}
        server = server_named(provider) or ""
        if (native := NATIVE.get(server)) is not None:
            service = native.service
            known |= {"provider": service.extra, "base_url": service.address(known["base_url"])}
            parameters = service.defaults
        return Uncalled(
            missing, {**known, "structured": SERVERS.get(server, OPENAI).forms[0], "parameters": dict(parameters)}
        )


def embeddings_to_price(model: Any, base_url: str | None = None) -> Any:
    """Return the embedding model that a text names, or its substitute if its package is missing; any other value is returned
    unchanged.

    Raises:
        InvalidInput: as in ``embeddings_named``.
        MissingExtra: the package of a model that is computed locally is not installed.
    """
    try:
        return embeddings_named(model, base_url)
    except MissingExtra as missing:
        provider, _, name = _parts(model)
        if provider != "openai" and not is_server(provider):
            raise
        from ..llms._openai._named_servers import address_of  # noqa: PLC0415  loaded where a name is used

        known = {"provider": "openai", "model": name or "text-embedding-3-small"}
        return Uncalled(missing, {**known, "base_url": address_of(provider, base_url), "dimensions": None})
