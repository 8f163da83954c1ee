"""The ladder of structured output: a JSON schema, else JSON mode, else plain text; learned from what a server refuses.

Strategy. Every question for JSON starts on the highest rung that is not known to be refused. When the server refuses
the form (and nothing else), the same question is asked one rung lower, and the refusal is remembered only once that
worked: so a refusal for another reason, such as a text too long, never costs a model its schemas. A refusal in mere words (see
``_refusals``) counts only once a second question met it too. A server that calls one schema invalid loses that schema only.
Reply formats read all three forms, so the rung never changes what a reply means.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any, Literal

from ..._kernel._requests import Ask
from ..._support._strict_schema import strict_schema

Rung = Literal["schema", "json", "text"]
RUNGS: tuple[Rung, ...] = ("schema", "json", "text")


SURE = 2
"""How many questions a server must refuse in mere words before its refusal is remembered."""

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
        self._doubts: dict[str, int] = {}
        self._forms: dict[tuple[str, str, int], tuple[Mapping[str, Any], dict[str, Any]]] = {}

    def rungs(self, schema: Mapping[str, Any] | None) -> tuple[Rung, ...]:
        """The rungs to try for a question, highest first; ``schema`` as ``schema_of`` gives it."""
        if schema is None:
            return ("text",)
        special = self._special.get(_key(schema), 0) if self._special else 0
        return RUNGS[max(self._floor, special, 0 if schema else RUNGS.index("json")) :]

    def form(self, rung: Rung, name: str, schema: Mapping[str, Any]) -> dict[str, Any]:
        """The parameters that ask for this form, as ``response_format`` makes them; a prompt's own are made once."""
        key = (rung, name, id(schema))
        known = self._forms.get(key)
        if known is None or known[0] is not schema:  # the entry holds the schema, so that its id stays its own
            if len(self._forms) >= MOST_FORMS:
                self._forms.clear()
            known = self._forms[key] = (schema, response_format(rung, name, schema))
        return known[1]

    def learn(self, worked: Rung, schema: Mapping[str, Any], *, this_schema_only: bool, certain: bool) -> None:
        """A question was answered on this rung, after a higher one was refused.

        Args:
            worked: the rung.
            schema: the schema of the question.
            this_schema_only: whether the server refused this schema, and not schemas as such.
            certain: whether the server pointed at the form; if not, a second question must be refused too.
        """
        key = _key(schema)
        special = this_schema_only or key in self._special
        if not certain:
            what = key if special else ""
            self._doubts[what] = self._doubts.get(what, 0) + 1
            if self._doubts[what] < SURE:
                return
        if special:
            self._special[key] = RUNGS.index(worked)
        else:
            self._floor = max(self._floor, RUNGS.index(worked))


def schema_of(ask: Ask) -> Mapping[str, Any] | None:
    """The schema of the reply; empty where it is JSON whose shape only the instructions tell, None where it is text."""
    return (ask.reply.schema or {}) if ask.wants_json else None


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


def _key(schema: Mapping[str, Any]) -> str:
    return json.dumps(schema, sort_keys=True, default=str)
