"""What can be set, on the command line and in the configuration file of pytest, each under one name.

``--ragmetrics-llm`` comes before the environment variable ``RAGMETRICS_LLM``, and that before ``ragmetrics_llm`` in pyproject.toml.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import pytest

RUN_DIR = ".ragmetrics"


@dataclass(frozen=True)
class Setting:
    """One thing that can be set.

    Attributes:
        help: what it means.
        metavar: what stands for its value.
        several: whether it may be given several times; the ini value then has one per line.
        variable: environment variable that is looked at too.
    """

    help: str
    metavar: str = "VALUE"
    several: bool = False
    variable: str = ""


SETTINGS = {
    "llm": Setting(
        "the judge, as in `ragmetrics evaluate --llm`: openai:MODEL, ollama:MODEL, lexical, ...",
        "MODEL",
        variable="RAGMETRICS_LLM",
    ),
    "embeddings": Setting("the embedding model: openai:MODEL, hashing, ...", "MODEL", variable="RAGMETRICS_EMBEDDINGS"),
    "run_dir": Setting(
        f"directory that keeps replies and scores, from the root directory; {RUN_DIR} if not given", "DIR"
    ),
    "gates": Setting(
        "'METRIC >= NUMBER' or 'METRIC drop <= NUMBER', in quotes: the session fails if the 95 %% interval says so",
        "GATE",
        several=True,
    ),
    "baseline": Setting("a stored run to compare the session with", "RUN"),
    "undecided": Setting("what an undecided gate does: warn (the default) or fail", "WORD"),
    "by": Setting("decide each gate for every value of this column too", "COLUMN"),
    "cluster": Setting("rows that share a value of this column are alike", "COLUMN"),
    "min_coverage": Setting("a gate fails if less than this share of its rows has a score; 0.9 if not given", "SHARE"),
    "max_failed": Setting("a gate fails if more than this share of its rows failed; 0.05 if not given", "SHARE"),
    "repeats": Setting("how often each row is judged; the score is the mean", "N"),
    "empty": Setting("rows without contexts or with a blank answer: skip, or zero for the worst value", "WORD"),
    "max_concurrency": Setting("most calls to models in flight; 16 if not given", "N"),
}
OPTIONS = {"gates": "gate"}
"""Where the option has another name than the ini value."""


def add_options(parser: pytest.Parser) -> None:
    """Declare all settings."""
    group = parser.getgroup("ragmetrics", "RAG evaluation metrics")
    for name, item in SETTINGS.items():
        group.addoption(
            f"--ragmetrics-{OPTIONS.get(name, name).replace('_', '-')}",
            action="append" if item.several else "store",
            dest=f"ragmetrics_{name}",
            metavar=item.metavar,
            default=None,
            help=f"{item.help} (ini: ragmetrics_{name})",
        )
        about = item.help.replace("%%", "%")
        if item.several:
            for ini in (name, OPTIONS[name]):  # pytest would only warn of the other name, and the gates would be none
                parser.addini(f"ragmetrics_{ini}", about, type="linelist", default=None)
        else:
            parser.addini(f"ragmetrics_{name}", about, type="string", default=None)


def any_option(config: pytest.Config) -> bool:
    """Whether an option of this plugin is given."""
    return any(config.getoption(f"ragmetrics_{name}") is not None for name in SETTINGS)


def setting(config: pytest.Config, name: str) -> Any:
    """The value of a setting; None where nobody has set it."""
    item = SETTINGS[name]
    given = config.getoption(f"ragmetrics_{name}")
    if given is None and item.variable:
        given = os.environ.get(item.variable, "").strip() or None
    if given is None and item.several:
        given = [text for ini in (name, OPTIONS[name]) for text in config.getini(f"ragmetrics_{ini}") or ()]
        return given or None
    return given if given is not None else config.getini(f"ragmetrics_{name}") or None


def settings(config: pytest.Config, *names: str) -> dict[str, Any]:
    """Those of the settings that are set, by name; numbers as numbers.

    Raises:
        pytest.UsageError: a number is none.
    """
    found = {name: setting(config, name) for name in names}
    return {name: _number(name, value) for name, value in found.items() if value is not None}


def _number(name: str, value: Any) -> Any:
    kind = {"min_coverage": float, "max_failed": float, "repeats": int, "max_concurrency": int}.get(name)
    if kind is None:
        return value
    try:
        return kind(value)
    except ValueError:
        raise pytest.UsageError(f"ragmetrics_{name} must be a number, got {value!r}") from None
