"""What can be set, on the command line and in the configuration file of pytest, each under one name; and whether pytest read it.

``--ragmetrics-llm`` comes before the environment variable ``RAGMETRICS_LLM``, and that before ``ragmetrics_llm`` in pyproject.toml.

pytest looks for its configuration before it loads plugins, so it does not know our options yet. In
``--ragmetrics-baseline ../runs/base`` it reads the value as the path of a test, looks above that path and the project, and may
read another file or none. So the files are looked up again from the tests that pytest really collects. A file named by ``-c`` is
the user's choice.
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
    """The value of a setting; None where it is not set."""
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


def as_option(setting: Any) -> str:
    """How a setting that a message of the core names is set here; as an argument of Python where it cannot be set here."""
    name, value = setting.name, setting.value
    if name not in SETTINGS:
        return str(setting)
    if value is ...:
        return f"ragmetrics_{name} in the configuration of pytest, or --ragmetrics-{name.replace('_', '-')}"
    return f"ragmetrics_{name}" if value is None else f"ragmetrics_{name}={value}"


def _number(name: str, value: Any) -> Any:
    kind = {"min_coverage": float, "max_failed": float, "repeats": int, "max_concurrency": int}.get(name)
    if kind is None:
        return value
    try:
        return kind(value)
    except ValueError:
        raise pytest.UsageError(f"ragmetrics_{name} must be a number, got {value!r}") from None


GATE = "--ragmetrics-gate"

DECIDING = ("baseline", "undecided", "min_coverage", "max_failed")
"""What else a session may fail by."""


def problem_of_configuration(config: pytest.Config) -> str | None:
    """Which settings beside the tests this session does not have, and what to do; None where it has them."""
    if config.getoption("inifilename", None):
        return None
    for found, content in _beside_tests(config):
        lost = _lost(config, content)
        if lost:
            read = "no configuration file" if config.inipath is None else str(config.inipath)
            return (
                f"{found} sets {lost}, but pytest has read {read} instead: join each option and its value by '=', as in "
                f"--ragmetrics-baseline=RUN (pytest reads a path after a space as the path of a test), or give -c {found}"
            )
    return None


def _beside_tests(config: pytest.Config) -> Iterator[tuple[Path, Mapping[str, Any]]]:
    """The configuration files closest to the tests and to the place where pytest was started, without the one it has read."""
    here, read = config.invocation_params.dir, config.inipath
    starts = [here / text.partition("::")[0] for text in config.args]
    if read is None or here.is_relative_to(read.parent):  # one below is the choice of a part of the project
        starts.append(here)
    seen = {read}
    for start in dict.fromkeys(starts):
        _, found, content, *_ = locate_config(here, [start])
        if found is not None and found not in seen:
            seen.add(found)
            yield found, content


def _lost(config: pytest.Config, content: Mapping[str, Any]) -> str:
    """The settings of a file that the session does not have, in words; if pytest has read another file, only those that decide."""
    options = _items(content.get("addopts"), shlex.split)
    given = [name for name in content if name.startswith("ragmetrics_")]
    given += [text.partition("=")[0] for text in options if text.startswith("--ragmetrics-")]
    if (
        config.inipath is None or load_config_dict_from_file(config.inipath) is None
    ):  # pytest names a pyproject.toml without settings too
        return ", ".join(dict.fromkeys(given))
    unset = [f"ragmetrics_{name}" for name in DECIDING if setting(config, name) is None]
    lost = [name for name in given if name.removeprefix("--").replace("-", "_") in unset]
    if any(str(text).startswith(GATE) for text in config.invocation_params.args):
        return ", ".join(lost)  # gates of the command line count alone, whatever the file says
    gates = [
        text for name in ("ragmetrics_gates", "ragmetrics_gate") for text in _items(content.get(name)) if text.strip()
    ]
    gates += [text.removeprefix(f"{GATE}=") for text in options if text.startswith(f"{GATE}=")]
    gates += [text for name, text in pairwise(options) if name == GATE]
    known = {" ".join(text.split()) for text in setting(config, "gates") or ()}
    lost += [f"the gate '{text}'" for text in gates if " ".join(text.split()) not in known]
    return ", ".join(lost)


def _items(value: Any, split: Callable[[str], list[str]] = str.splitlines) -> list[str]:
    """The items of a setting in a file, which is a text or a list; newer releases of pytest wrap the value."""
    value = getattr(value, "value", value)
    return split(value) if isinstance(value, str) else [str(item) for item in value or ()]
