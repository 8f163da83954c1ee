"""The ladder of structured output: a JSON schema, else JSON mode, else plain text; learned from what a server refuses.

Strategy. Every question with a schema starts on the highest rung that is not known to be refused. When the server refuses
the form (and nothing else), the same question is asked one rung lower, and the refusal is remembered only once that
worked: so a refusal for another reason, such as a text too long, never costs a model its schemas. A server that calls one
schema invalid loses that schema only. Reply formats read all three forms, so the rung never changes what a reply means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

__all__ = ["Ladder", "Rung", "is_refusal", "response_format", "strict_schema"]

Rung = Literal["schema", "json", "text"]
RUNGS: tuple[Rung, ...] = ("schema", "json", "text")

STATUSES = frozenset({400, 404, 415, 422, 500, 501})
"""Servers disagree on how to refuse a parameter; some even crash over it."""

OTHER_REASONS = frozenset({"content_filter", "context_length_exceeded", "json_validate_failed", "model_not_found"})
ABOUT_THE_FORM = re.compile(
    r"response[ _.]?format|json[ _]?schema|json[ _]?(?:mode|object)|structured[ _]outputs?|grammar", re.IGNORECASE
)
ABOUT_THE_SIZE = re.compile(r"context[ _]length|maximum context|too many tokens|too long", re.IGNORECASE)
ABOUT_ONE_SCHEMA = re.compile(r"invalid schema|invalid json[ _]?schema|schema conversion|parse grammar", re.IGNORECASE)

NOT_STRICT = frozenset({"oneOf", "allOf", "not", "if", "prefixItems", "patternProperties"})
MEANINGLESS = frozenset({"title", "default", "$schema", "examples"})


MOST_FORMS = 64
"""Far more than the metrics of one run have prompts; a bound for reply formats that build their schema anew each time."""


class Ladder:
    """What one model has learned about its server. Safe to share between threads: it only ever learns more.

    Args:
        highest: the first rung to try.
    """

    def __init__(self, highest: Rung = "schema") -> None:
        self._floor = RUNGS.index(highest)
        self._special: dict[str, int] = {}
        self._forms: dict[tuple[str, str, int], tuple[Mapping[str, Any], dict[str, Any]]] = {}

    def rungs(self, schema: Mapping[str, Any] | None) -> tuple[Rung, ...]:
        """The rungs to try for a question, highest first."""
        if schema is None:
            return ("text",)
        special = self._special.get(_key(schema), 0) if self._special else 0
        return RUNGS[max(self._floor, special) :]

    def form(self, rung: Rung, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that ask for this form, as ``response_format`` makes them; a prompt's own are made once."""
        key = (rung, name, id(schema))
        known = self._forms.get(key)
        if known is None or known[0] is not schema:  # the entry holds the schema, so that its id stays its own
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            known = self._forms[key] = (schema, response_format(rung, name, schema))
        return known[1]

    def learn(self, worked: Rung, schema: Mapping[str, Any], refusal: str) -> None:
        """A question was answered on this rung, after a higher one was refused with these words."""
        if _key(schema) in self._special or ABOUT_ONE_SCHEMA.search(refusal):
            self._special[_key(schema)] = RUNGS.index(worked)
        else:
            self._floor = max(self._floor, RUNGS.index(worked))


def is_refusal(status: int, code: str | None, text: str) -> bool:
    """Whether an error is about the form of the reply and nothing else."""
    if status not in STATUSES or code in OTHER_REASONS:
        return False
    return bool(ABOUT_THE_FORM.search(text)) and not ABOUT_THE_SIZE.search(text)


def response_format(rung: Rung, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters that ask for this form: at most ``response_format``."""
    if rung == "text":
        return {}
    if rung == "json":
        return {"response_format": {"type": "json_object"}}
    strict = strict_schema(schema)
    wanted = {"name": re.sub(r"[^\w-]", "_", name, flags=re.ASCII)[:64] or "reply"}
    if strict is None:
        return {"response_format": {"type": "json_schema", "json_schema": {**wanted, "schema": dict(schema)}}}
    return {"response_format": {"type": "json_schema", "json_schema": {**wanted, "schema": strict, "strict": True}}}


def strict_schema(schema: Mapping[str, Any]) -> dict[str, Any] | None:
    """The schema in the strict dialect (all properties required, no others allowed); None where it has no such form.

    The dialect: https://platform.openai.com/docs/guides/structured-outputs#supported-schemas
    """
    try:
        return _strict(schema, schema)
    except NotStrictError:
        return None


class NotStrictError(Exception):
    """The schema says what the strict dialect cannot, such as objects with free keys."""


def _strict(node: Mapping[str, Any], root: Mapping[str, Any]) -> dict[str, Any]:
    if len(node.get("allOf", ())) == 1:
        node = {**node["allOf"][0], **{key: item for key, item in node.items() if key != "allOf"}}
    if "$ref" in node and len(node) > 1:  # nothing may stand beside a reference
        node = {**_resolve(node["$ref"], root), **{key: item for key, item in node.items() if key != "$ref"}}
    typed = node.keys() & {"$ref", "type", "anyOf", "enum", "const"}
    if not typed or node.keys() & NOT_STRICT or node.get("additionalProperties"):
        raise NotStrictError
    result = {key: item for key, item in node.items() if key not in MEANINGLESS}
    for key in ("properties", "$defs"):
        if key in node:
            result[key] = {name: _strict(item, root) for name, item in node[key].items()}
    if "anyOf" in node:
        result["anyOf"] = [_strict(item, root) for item in node["anyOf"]]
    if isinstance(node.get("items"), Mapping):
        result["items"] = _strict(node["items"], root)
    if node.get("type") == "object":
        if "properties" not in node:
            raise NotStrictError
        result.update(required=list(node["properties"]), additionalProperties=False)
    return result


def _resolve(reference: str, root: Mapping[str, Any]) -> Mapping[str, Any]:
    for part in reference.removeprefix("#/").split("/"):
        root = root[part]
    return root


def _key(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True, default=str)
