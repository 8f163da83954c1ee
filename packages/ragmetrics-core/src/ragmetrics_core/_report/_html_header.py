"""The head of a page: what was evaluated, by whom, when, what it cost, how much of it has scores, and what must be known.

All of it is markup that needs no script: whoever opens the file where scripts do not run still sees what came of the run.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from .._kernel._tags import Html, element, joined
from .._store._prices import ModelUsage
from .._store._run_dir import SCORES
from .._store._run_settings import RunSettings
from ._reasons import Reason
from ._summary import Summary

if TYPE_CHECKING:
    from ._evaluation import Evaluation

MOST_REASONS = 12
"""Reasons that the page shows per state; the rest is counted."""

PROMPTS = "Prompt versions"
NOT_TOLD = "not known: a file of scores does not tell"


@dataclass(frozen=True)
class Origin:
    """Where the scores of a page come from.

    Attributes:
        source: name of the data set, or "".
        rows: how many rows there are.
        complete: how many of them have a value of every metric.
        scored_at: when the scores were written; None where nobody knows.
        settings: what decided about them; None in a file of scores.
        prompts: by name of the prompt, its versions.
    """

    source: str
    rows: int
    complete: int
    scored_at: datetime | None
    settings: RunSettings | None
    prompts: Mapping[str, Iterable[str]]


def header(summary: Summary, origin: Origin) -> Html:
    """The head of the page: caveats first, for who overlooks them misreads all numbers."""
    return joined(
        [
            element("p", "ragmetrics report", class_="kicker"),
            element("h1", origin.source or "Evaluation", dir="auto"),
            *(notice("Read this first", text, "caveat") for text in summary.caveats),
            notice("Stopped", summary.stopped, "caveat") if summary.stopped is not None else None,
            _without_any(summary),
            element("dl", *(part for fact in facts(summary, origin) for part in _fact(*fact)), class_="facts"),
        ]
    )


def notice(head: str, text: str, kind: str) -> Html:
    """A paragraph that stands out."""
    return element(
        "p", element("span", "!", class_="sign", aria_hidden="true"), element("b", f"{head}: "), text, class_=kind
    )


def _without_any(summary: Summary) -> Html | None:
    names = summary.failed_everywhere
    return notice("Failed on every row", ", ".join(names), "caveat bad") if names else None


def _fact(name: str, values: Sequence[str]) -> tuple[Html, ...]:
    shown = (element("dd", value, dir="auto") for value in values)
    return (element("div", element("dt", name), *shown, class_="wide" if name == PROMPTS else None),)


def facts(summary: Summary, origin: Origin) -> Iterator[tuple[str, Sequence[str]]]:
    """Who gave the scores, when, and what that cost: the name of each fact, and what it is."""
    share = f" ({origin.complete / origin.rows:.0%})" if origin.rows else ""
    yield "Rows", [f"{origin.rows:,}"]
    yield "Coverage", [f"{origin.complete:,} of {origin.rows:,} rows{share} have a value of every metric"]
    yield "Judge", _models(origin.settings, "llm") or ["none was asked"]
    if origin.settings is None or _models(origin.settings, "embeddings"):
        yield "Embeddings", _models(origin.settings, "embeddings")
    yield "Scored", [_date(origin.scored_at)]
    yield from _spent(summary)
    versions = [f"{name} {', '.join(found)}" for name, found in origin.prompts.items()]
    none = "not recorded" if _models(origin.settings, "llm") else "no prompt was used"
    yield PROMPTS, [", ".join(versions) or none]


def scored_at(evaluation: Evaluation) -> datetime | None:
    """When the scores were written: their file says so; those of a run without one were made in this process."""
    if evaluation.run_dir is None and evaluation.settings is not None:
        return datetime.now(timezone.utc)
    file = evaluation.run_dir / SCORES if evaluation.run_dir else Path(evaluation.source)
    try:
        return datetime.fromtimestamp(file.stat().st_mtime, timezone.utc)
    except OSError:
        return None


def _spent(summary: Summary) -> Iterator[tuple[str, Sequence[str]]]:
    """Calls, tokens, costs: of this part of the run and, where it went on with an earlier one, of that."""
    usage = [item.usage for item in summary.metrics]
    calls, cached = sum(item.calls for item in usage), sum(item.cached_calls for item in usage)
    known = all(item.tokens_known for item in summary.metrics)
    tokens = sum(item.prompt_tokens for item in usage), sum(item.completion_tokens for item in usage)
    yield "Calls", [f"{calls:,}" + (f", {cached:,} of them answered without asking again" if cached else "")]
    yield (
        "Tokens",
        [f"{tokens[0]:,} in, {tokens[1]:,} out" if known and any(tokens) else "not reported" if calls else "none"],
    )
    costs = [*_costs(summary.models, ""), *_costs(summary.earlier, "earlier: ")]
    yield "Cost", costs or ["nothing was paid for" if not any(tokens) else "not known"]
    if summary.seconds is not None:
        yield "Time", [f"{summary.seconds:,.1f} s"]


def _costs(models: Sequence[ModelUsage], when: str) -> list[str]:
    costs = ((item.name, item.cost()) for item in models)
    return [f"{when}{name}: {cost}" for name, cost in costs if cost is not None]


def _models(settings: RunSettings | None, kind: str) -> list[str]:
    """The names of the models of this kind, each once."""
    if settings is None or settings.scored_by is None:
        return [NOT_TOLD]
    models = (item.model(kind) for item in settings.scored_by.values())
    return list(dict.fromkeys(model.name for model in models if model is not None))


def _date(moment: datetime | None) -> str:
    return "not known" if moment is None else f"{moment.astimezone(timezone.utc):%Y-%m-%d %H:%M} UTC"


def without_scores(reasons: Sequence[Reason]) -> Html | None:
    """Why rows have no value, the most common reasons first; None where all have one."""
    parts = [_reasons(state, [item for item in reasons if item.state == state]) for state in ("failed", "unscored")]
    found = [part for part in parts if part is not None]
    return element("section", element("h2", "Without a score"), *found, class_="reasons") if found else None


def _reasons(state: str, reasons: Sequence[Reason]) -> Html | None:
    if not reasons:
        return None
    sign = element("span", "\u2718" if state == "failed" else "\u2013", class_="sign", aria_hidden="true")
    items = [element("li", str(item), dir="auto") for item in reasons[:MOST_REASONS]]
    if len(reasons) > MOST_REASONS:
        items.append(element("li", f"and {len(reasons) - MOST_REASONS} more reasons"))
    return joined([element("h3", sign, state.capitalize()), element("ul", *items, class_=state)])
