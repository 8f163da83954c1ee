"""Write the pages and parts of pages that repeat what the code says. ``python docs/generate.py`` does it.

A list kept by hand is wrong the day after it was written, so the list of metrics comes from ``catalogue()`` and the tree of
errors from its own module. A test compares the files with ``pages()``.
"""

from __future__ import annotations

import inspect
import json
import re
import sys
from dataclasses import MISSING, fields
from pathlib import Path
from typing import Any

from declining import declining_table

from ragmetrics_core import Ask, Metric, Prompt, RagmetricsError, evaluate
from ragmetrics_core._support._providers import OPENAI, SERVERS
from ragmetrics_core._testset import _kinds
from ragmetrics_core.metrics import AnswerCorrectness, Entry, catalogue, ragchecker_metrics

DOCS = Path(__file__).resolve().parent

COMMON = ("name", "llm", "embeddings")
"""Settings that every metric has; the head of the page tells about them."""

GROUPS = {
    "Without a model": "These compare texts or rankings and cost nothing.",
    "With a model": "These ask an LLM, an embedding model or both, and keep what was answered in `score.details`.",
}


def pages() -> dict[Path, str]:
    """The text of every page that is generated, in whole or in part."""
    parts = [
        ("metrics.md", "metrics", metric_list()),
        ("metrics.md", "claim questions", claim_questions()),
        ("metrics.md", "declining", declining_table()),
        ("errors.md", "tree", f"```text\n{error_tree()}\n```"),
        ("prompt-texts.md", "prompts", prompt_texts()),
        ("models.md", "servers", server_table()),
    ]
    written: dict[Path, str] = {}
    for page, name, text in parts:
        path = DOCS / page
        written[path] = with_part(written.get(path) or path.read_text(encoding="utf-8"), name, text)
    return written


WORDS = {"schema": "JSON schema", "json": "JSON mode"}
"""The forms of reply in the table of providers."""


def server_table() -> str:
    """The providers that have a name."""
    rows = []
    for name, server in {"openai": OPENAI, **SERVERS}.items():
        url = f"`{server.url}`" if "//" in server.url else "none"
        keys, needed = " or ".join(f"`{each}`" for each in server.key_variables), "; needed" if server.needs_key else ""
        places = " or ".join(f"`{each}`" for each in (*server.url_variables, *server.region_variables))
        can = ", ".join(WORDS[form] for form in server.forms[:-1])
        seed, cached = (f"`{server.seed}`" if server.seed else "none"), server.caching or "not known"
        more = f"{can} | {seed} | {cached} | {f'`{server.prices}`' if server.prices else 'none'}"
        rows.append(f"| `{name}:{server.model}` | {url} | {places} | {keys}{needed} | {more} |")
    names = ["name", "usual address", "variable of another address, or of the region", "variable of the key"]
    names += ["forms of reply, beside text", "seed", "prompt cache", "price list"]
    return "\n".join([f"| {' | '.join(names)} |", "|---" * len(names) + "|", *rows])


def metric_list() -> str:
    """All metrics in two groups: first a table, then one section each."""
    groups: dict[str, list[Entry]] = {title: [] for title in GROUPS}
    for entry in catalogue():
        groups["Without a model" if entry.calls == "none" else "With a model"].append(entry)
    parts = []
    for title, entries in groups.items():
        rows = [
            f"| [`{entry.name}`](#{entry.name}) | {inputs(entry)} | {scale(entry)} | {entry.calls} |"
            for entry in entries
        ]
        parts.append(
            "\n".join(
                [f"## {title}\n\n{GROUPS[title]}\n", "| metric | inputs | scale | calls |", "|---|---|---|---|", *rows]
            )
        )
        parts += [section(entry) for entry in entries]
    return "\n\n".join(part.rstrip("\n") for part in parts)


QUESTIONS = {
    ("extract_claims", "response", ""): "claims of the response",
    ("extract_claims", "reference", ""): "claims of the reference",
    ("verify_claims", "response", "contexts"): "response by contexts",
    ("verify_claims", "reference", "contexts"): "reference by contexts",
    ("verify_claims", "response", "reference"): "response by reference",
    ("verify_claims", "reference", "response"): "reference by response",
}
"""The questions that claim metrics ask: the prompt, whose claims it is about, and what they are checked against."""


class Noting:
    """A judge for which each text is one claim, supported by all; it notes which of the questions it is asked."""

    def __init__(self) -> None:
        self.asked: set[str] = set()

    def generate(self, ask: Ask) -> str:
        """Note the question, and answer it."""
        data = ask.inputs
        if ask.prompt.name == "extract_claims":
            self.asked.add(QUESTIONS[ask.prompt.name, data["answer"], ""])
            return json.dumps({"claims": [data["answer"]]})
        (claim,), sent = data["claims"], data["contexts"]
        self.asked.add(QUESTIONS[ask.prompt.name, claim, "contexts" if len(sent) > 1 else sent[0]])
        numbers = list(range(1, len(sent) + 1))
        return json.dumps({"verdicts": [{"number": 1, "supported_by": numbers, "supported": True}]})


def claim_questions() -> str:
    """Which of the shared questions each claim metric asks."""
    row = {
        "user_input": "question",
        "response": "response",
        "reference": "reference",
        "retrieved_contexts": ["one", "two"],
    }
    rows = ["| metric | " + " | ".join(QUESTIONS.values()) + " | calls |", "|---" * (len(QUESTIONS) + 2) + "|"]
    metrics = [*ragchecker_metrics(), AnswerCorrectness(weights=(1, 0))]
    for metric in metrics:
        judge = Noting()
        evaluate([row], metric, llm=judge, progress=False).raise_for_errors()
        ticks = ["✓" if question in judge.asked else "" for question in QUESTIONS.values()]
        rows.append(f"| `{metric.name}` | " + " | ".join(ticks) + f" | {len(judge.asked)} |")
    return "\n".join(rows)


def prompt_texts() -> str:
    """The words of every built-in prompt, as they are sent, by the metrics that ask with it."""
    users: dict[str, list[str]] = {}
    words: dict[str, Prompt[Any]] = {}
    for entry in catalogue():
        for prompt in (item.default for item in fields(entry.cls) if isinstance(item.default, Prompt)):
            users.setdefault(prompt.name, []).append(f"`{entry.cls.__name__}`")
            words[prompt.name] = prompt
    of_testsets = [value for value in vars(_kinds).values() if isinstance(value, Prompt)]
    for prompt in of_testsets:
        users[prompt.name] = ["`generate_testset`"]
        words[prompt.name] = prompt
    return "\n\n".join(
        f"## {name}\n\nVersion {words[name].version}. Asked by {', '.join(users[name])}.\n\n````text\n{words[name].system}\n````"
        for name in sorted(words)
    )


def section(entry: Entry) -> str:
    """One metric: what it says, what it takes and costs, where it comes from."""
    lines = [f"### {entry.name}", "", f"`{entry.cls.__name__}`: {entry.summary}", ""]
    lines += [f"* inputs: {inputs(entry)}", f"* scale: {scale(entry)}; calls: {cost(entry)}"]
    prompts, meanings = [], documented(entry.cls)
    for item in fields(entry.cls):
        if item.name in COMMON:
            continue
        if isinstance(item.default, Prompt):
            prompts.append(f"`{item.name}`")
            continue
        default = "required" if item.default is MISSING else f"default `{item.default!r}`"
        lines.append(f"* `{item.name}` ({default}): {meanings[item.name]}")
    if prompts:
        lines.append(f"* prompts, to be exchanged by your own: {', '.join(prompts)}")
    if entry.source:
        lines.append(f"* source: {short(entry.source)}")
    return "\n".join(lines).replace("``", "`")


def documented(cls: type[Metric]) -> dict[str, str]:
    """What the docstring says about each setting, under ``Args`` or ``Attributes``, each on one line."""
    found = re.search(r"^(?:Args|Attributes):\n((?:[ ]+.*\n?)+)", inspect.getdoc(cls) or "", re.MULTILINE)
    items = re.split(r"^ {4}(\w+): ", found[1], flags=re.MULTILINE)[1:] if found else []
    return {name: " ".join(text.split()) for name, text in zip(items[::2], items[1::2], strict=True)}


def cost(entry: Entry) -> str:
    """Model calls per sample, and which of them other metrics share."""
    shares = {item.name for item in fields(entry.cls)} >= {"extract", "verify"}
    return f"{entry.calls}; [shared](#what-they-cost) with other claim metrics" if shares else entry.calls


def short(source: str) -> str:
    """Author, year and title: what is needed to find it. The docstring has the rest."""
    return source.split("; ", maxsplit=1)[0].removesuffix(".")


def inputs(entry: Entry) -> str:
    """The inputs as code, optional ones with a question mark."""
    names = [f"`{item.name}`{'' if item.required else '?'}" for item in entry.inputs]
    return ", ".join(names) or "as declared"


def scale(entry: Entry) -> str:
    """Lowest and highest value in words."""
    bounds = f"{entry.scale[0]:g} to {entry.scale[1]:g}" if entry.scale else "its own"
    return f"{bounds}, low is good" if entry.cls.higher_is_better is False else bounds


def error_tree() -> str:
    """The tree in the docstring of the module that defines the errors."""
    text = sys.modules[RagmetricsError.__module__].__doc__ or ""
    tree = [line[4:] for line in text.splitlines() if line.startswith("    ")]
    return "\n".join(tree)


def with_part(page: str, name: str, text: str) -> str:
    """The page with the text between the markers of that name exchanged."""
    parts = re.split(rf"(<!-- generated: {name} -->\n|<!-- end: {name} -->)", page)
    if len(parts) != 5:
        raise ValueError(f"the page needs one pair of markers 'generated: {name}' and 'end: {name}'")
    parts[2] = f"{text}\n"
    return "".join(parts)


if __name__ == "__main__":
    for path, content in pages().items():
        path.write_text(content, encoding="utf-8")
        print(path.name)
