"""Markdown pages as data: their fenced blocks, each with the marker comment above it and the output shown below it.

A marker is an HTML comment alone on the line above a block, which readers do not see: ``<!-- not run: needs a key -->``,
``<!-- file: brevity.py -->``.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import zip_longest
from pathlib import Path

from source_tree import ROOT

FENCE = re.compile(
    r"^(?:<!-- (?P<marker>[^\n]*) -->\n\n?)?```(?P<language>\w*)\n(?P<text>.*?)^```$", re.DOTALL | re.MULTILINE
)


@dataclass(frozen=True)
class Block:
    """A fenced block. ``line`` is the number of its first line of text, ``output`` the ``text`` block right below it."""

    page: Path
    line: int
    language: str
    text: str
    marker: str
    output: str | None

    @property
    def runs(self) -> bool:
        return not self.marker.startswith("not run: ")

    @property
    def file(self) -> str | None:
        """Name of the file that the text is to be saved in."""
        return self.marker.removeprefix("file: ") if self.marker.startswith("file: ") else None


def blocks(page: Path) -> list[Block]:
    """Every fenced block of a page, in order."""
    text = page.read_text(encoding="utf-8")
    found = list(FENCE.finditer(text))
    result = []
    for match, following in zip_longest(found, found[1:]):
        output = None
        if following and following["language"] == "text" and not text[match.end() : following.start()].strip():
            output = following["text"]
        line = text.count("\n", 0, match.start("text")) + 1
        result.append(Block(page, line, match["language"], match["text"], match["marker"] or "", output))
    return result


@dataclass(frozen=True)
class ServerRow:
    """A server of docs/models.md: its name, where it listens ("none": nowhere by default), where its settings are
    looked for, and what it can do."""

    name: str
    url: str
    url_variables: tuple[str, ...]
    key_variables: tuple[str, ...]
    needs_key: bool
    forms: str
    seed: str
    caching: str
    prices: str


def server_rows() -> list[ServerRow]:
    """The table of servers by name."""
    text = (ROOT / "docs" / "models.md").read_text(encoding="utf-8")
    lines = re.findall(r"^\| (`\w+:\S+` \| .+) \|$", text, re.MULTILINE)
    return [
        ServerRow(
            name.strip("`").partition(":")[0],
            *(url.strip("`"), names_in(of_url), names_in(of_key), of_key.endswith("needed")),
            *(forms, seed.strip("`"), caching, prices.strip("`")),
        )
        for name, url, of_url, of_key, forms, seed, caching, prices in (line.split(" | ") for line in lines)
    ]


def names_in(cell: str) -> tuple[str, ...]:
    """What is written as code in a cell."""
    return tuple(re.findall(r"`(\w+)`", cell))


def commands(text: str) -> Iterator[tuple[str, str]]:
    """The commands of a console block, without their prompts, each with the output shown for it."""
    for part in re.split(r"^\$ ", text, flags=re.MULTILINE)[1:]:
        lines = part.split("\n")
        last = next(number for number, line in enumerate(lines) if not line.endswith("\\"))
        command = " ".join(line.removesuffix("\\").strip() for line in lines[: last + 1])
        yield command, "\n".join(lines[last + 1 :])


def shows(expected: str, actual: str) -> bool:
    """Whether the page's output is the real one; ``...`` stands for anything, alone on a line for any lines."""
    lines = _trimmed(expected).split("\n")
    pattern = "".join("(?:.*\n)*" if line.strip() == "..." else _line(line) for line in lines)
    return re.fullmatch(pattern, _trimmed(actual) + "\n") is not None


def _line(text: str) -> str:
    return ".*".join(re.escape(part) for part in text.split("...")) + "\n"


def _trimmed(text: str) -> str:
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))
