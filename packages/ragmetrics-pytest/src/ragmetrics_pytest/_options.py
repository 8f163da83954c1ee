"""The settings of the plugin, on the command line and in pytest's configuration file, and a check that pytest has read that
file.

``--ragmetrics-llm`` overrides the environment variable ``RAGMETRICS_LLM``, and the variable overrides ``ragmetrics_llm`` in
pyproject.toml.

pytest looks for its configuration file before it loads plugins, so it does not know our options yet. In ``--ragmetrics-baseline
../runs/base``, for instance, it treats the value as the path of a test, searches the folders above that path, and may read a
different file or none. So we look the files up again, starting from the tests that pytest really collects. A file that was given
with ``-c`` is the user's choice and is not questioned.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from _pytest.config.findpaths import load_config_dict_from_file, locate_config

RUN_DIR = ".ragmetrics"


@dataclass(frozen=True)
class Setting:
    """A setting, which is both an option and an ini value.

    Attributes:
        help: what the setting means.
        metavar: the placeholder for the value in the help.
        several: whether it may be given several times; the ini value then has one value per line.
        variable: the environment variable that is read if the option is not given; empty for none.
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
        f"the directory for replies and scores, relative to pytest's root directory; {RUN_DIR} if not given", "DIR"
    ),
    "gates": Setting(
        "'METRIC >= NUMBER', 'METRIC drop <= NUMBER' or 'METRIC change within NUMBER', in quotes; fails if the 95 %% interval is "
        "on the wrong side",
        "GATE",
        several=True,
    ),
    "baseline": Setting("a stored run to compare the session with", "RUN"),
    "undecided": Setting("what an undecided gate does: warn (the default) or fail", "WORD"),
    "by": Setting("decide each gate also for every value of this column", "COLUMN"),
    "cluster": Setting("the column whose values group rows that depend on each other", "COLUMN"),
    "min_coverage": Setting("a gate fails if less than this share of its rows has a score; 0.9 if not given", "SHARE"),
    "max_failed": Setting("a gate fails if more than this share of its rows failed; 0.05 if not given", "SHARE"),
    "repeats": Setting("the number of times that each row is judged; the score is the mean", "N"),
    "empty": Setting(
        "what rows without contexts or with a blank answer get: skip (no score), or zero (the worst score)", "WORD"
    ),
    "max_concurrency": Setting("the largest number of model calls at a time; 16 if not given", "N"),
}
OPTIONS = {"gates": "gate"}
"""The settings whose option has another name than the ini value."""


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
            for ini in (name, OPTIONS[name]):  # pytest would only warn about the other name and ignore the gates
                parser.addini(f"ragmetrics_{ini}", about, type="linelist", default=None)
        else:
            parser.addini(f"ragmetrics_{name}", about, type="string", default=None)


def any_option(config: pytest.Config) -> bool:
    """Whether any option of this plugin is given on the command line."""
    return any(config.getoption(f"ragmetrics_{name}") is not None for name in SETTINGS)


def setting(config: pytest.Config, name: str) -> Any:
    """Return the value of a setting; None if it is not set."""
    item = SETTINGS[name]
    given = config.getoption(f"ragmetrics_{name}")
    if given is None and item.variable:
        given = os.environ.get(item.variable, "").strip() or None
    if given is None and item.several:
        given = [text for ini in (name, OPTIONS[name]) for text in config.getini(f"ragmetrics_{ini}") or ()]
        return given or None
    return given if given is not None else config.getini(f"ragmetrics_{name}") or None


def settings(config: pytest.Config, *names: str) -> dict[str, Any]:
    """Return the settings that are set, by name, with numbers converted.

    Raises:
        pytest.UsageError: a setting that must be a number is not one.
    """
    values = {name: setting(config, name) for name in names}
    return {name: _number(name, value) for name, value in values.items() if value is not None}


def as_option(setting: Any) -> str:
    """How to name here a setting that a message of the core mentions: as an option or ini value of the plugin, or as a Python
    argument if the plugin has no such setting.
    """
    name, value = setting.name, setting.value
    if name not in SETTINGS:
        return str(setting)
    if value is ...:
        return f"ragmetrics_{name} in the configuration of pytest, or --ragmetrics-{name.replace('_', '-')}"
    return f"ragmetrics_{name}" if value is None else f"ragmetrics_{name}={value}"


def _number(name: str, value: Any) -> Any:
    kind = float if name in SHARES else int if name in ("repeats", "max_concurrency") else None
    if kind is None:
        return value
    try:
        return kind(value)
    except ValueError:
        raise pytest.UsageError(f"ragmetrics_{name} must be a number, got {value!r}") from None


GATE = "--ragmetrics-gate"

SHARES = ("min_coverage", "max_failed")
"""The settings of gates that are shares of the rows."""

DECIDING = ("baseline", "undecided", *SHARES)
"""The settings, other than gates, that decide whether a session fails."""


def problem_of_configuration(config: pytest.Config) -> str | None:
    """Describe the settings in a configuration file next to the tests that this session lacks, with the cure; None if it lacks
    none.
    """
    if config.getoption("inifilename", None):
        return None
    for path, content in _beside_tests(config):
        missing = _lost(config, content)
        if missing:
            read = "no configuration file" if config.inipath is None else str(config.inipath)
            return (
                f"{path} sets {missing}, but pytest has read {read} instead: join each option and its value by '=', as in "
                f"--ragmetrics-baseline=RUN (pytest treats a path after a space as the path of a test), or give -c {path}"
            )
    return None


def _beside_tests(config: pytest.Config) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """Yield the configuration files closest to the tests and to the directory in which pytest was started, except the one that
    pytest has read.
    """
    here, read = config.invocation_params.dir, config.inipath
    starts = [here / text.partition("::")[0] for text in config.args]
    if read is None or here.is_relative_to(read.parent):  # a file further down was chosen for a part of the project
        starts.append(here)
    seen = {read}
    for start in dict.fromkeys(starts):
        _, found, content, *_ = locate_config(here, [start])
        if found is not None and found not in seen:
            seen.add(found)
            yield found, content


def _lost(config: pytest.Config, content: Mapping[str, Any]) -> str:
    """Name the settings in a file that the session lacks. If pytest has read a different file, only settings that decide whether
    the session fails count.
    """
    options = _items(content.get("addopts"), shlex.split)
    names = [name for name in content if name.startswith("ragmetrics_")]
    names += [text.partition("=")[0] for text in options if text.startswith("--ragmetrics-")]
    # ``inipath`` may also be a pyproject.toml without settings for pytest.
    if config.inipath is None or load_config_dict_from_file(config.inipath) is None:
        return ", ".join(dict.fromkeys(names))
    unset = [f"ragmetrics_{name}" for name in DECIDING if setting(config, name) is None]
    missing = [name for name in names if name.removeprefix("--").replace("-", "_") in unset]
    if any(str(text).startswith(GATE) for text in config.invocation_params.args):
        return ", ".join(missing)  # gates on the command line replace those in the file
    gates = [
        text for name in ("ragmetrics_gates", "ragmetrics_gate") for text in _items(content.get(name)) if text.strip()
    ]
    gates += [text.removeprefix(f"{GATE}=") for text in options if text.startswith(f"{GATE}=")]
    gates += [text for name, text in pairwise(options) if name == GATE]
    session_gates = {" ".join(text.split()) for text in setting(config, "gates") or ()}
    missing += [f"the gate '{text}'" for text in gates if " ".join(text.split()) not in session_gates]
    return ", ".join(missing)


def _items(value: Any, split: Callable[[str], list[str]] = str.splitlines) -> list[str]:
    """Return the items of a setting in a file, whose value is a text or a list; newer releases of pytest wrap the value."""
    value = getattr(value, "value", value)
    return split(value) if isinstance(value, str) else [str(item) for item in value or ()]
