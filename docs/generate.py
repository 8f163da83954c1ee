"""Write the pages and parts of pages that repeat what the code says. ``python docs/generate.py`` does it.

A list kept by hand is wrong the day after it was written, so the list of metrics comes from ``catalogue()`` and the tree of
errors from its own module. A test compares the files with ``pages()``.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from ragmetrics_core import RagmetricsError
from ragmetrics_core.metrics import Entry, catalogue

DOCS = Path(__file__).resolve().parent

HEAD = """# Metrics

Every built-in metric, as the code lists it. In Python they are classes of `ragmetrics_core.metrics`; on the command line they go
by the name in the heading. How each one is computed in every edge case stands in its docstring (`help(Faithfulness)`).

"Calls" are model calls per sample, and *n* is the number of retrieved contexts. Inputs with a question mark are optional. Every
metric also takes `name=...`, the name of its column of scores, and metrics with calls take `llm=...` or `embeddings=...`.
"""

TABLE_HEAD = ("| metric | inputs | scale | calls |", "|---|---|---|---|")

GROUPS = {
    "Without a model": "These compare texts or rankings and cost nothing.",
    "With a model": "These ask an LLM, an embedding model or both, and keep what was answered in `score.details`.",
}


def pages() -> dict[Path, str]:
    """The text of every page that is generated, in whole or in part."""
    errors = DOCS / "errors.md"
    return {
        DOCS / "metrics.md": metrics_page(),
        errors: with_part(errors.read_text(encoding="utf-8"), "tree", f"```text\n{error_tree()}\n```"),
    }


def metrics_page() -> str:
    """All metrics: first a table, then one section each."""
    groups: dict[str, list[Entry]] = {title: [] for title in GROUPS}
    for entry in catalogue():
        groups["Without a model" if entry.calls == "none" else "With a model"].append(entry)
    parts = [HEAD]
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
    return "\n\n".join(part.rstrip("\n") for part in parts) + "\n"


def section(entry: Entry) -> str:
    """One metric: what it says, what it takes, where it comes from."""
    lines = [f"### {entry.name}", "", f"`{entry.cls.__name__}`: {entry.summary}", ""]
    lines.append(f"* inputs: {inputs(entry)}")
    if entry.settings:
        lines.append(f"* settings: {', '.join(f'`{name}`' for name in entry.settings)}")
    lines.append(f"* scale: {scale(entry)}; calls: {entry.calls}")
    if entry.source:
        lines.append(f"* source: {entry.source}")
    return "\n".join(lines).replace("``", "`")


def inputs(entry: Entry) -> str:
    """The inputs as code, optional ones with a question mark."""
    names = [f"`{item.name}`{'' if item.required else '?'}" for item in entry.inputs]
    return ", ".join(names) or "as declared"


def scale(entry: Entry) -> str:
    """Lowest and highest value in words."""
    return f"{entry.scale[0]:g} to {entry.scale[1]:g}" if entry.scale else "its own"


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
