"""``ragmetrics show``, to the letter; texts of data that would steer a terminal; colours only in a terminal."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, TextIO

import pytest

from core.cli.calling import call
from ragmetrics_core import BadReply, Evaluation, Metric, Score, evaluate
from ragmetrics_core.cli import app

VERDICTS = [
    {
        "claim": "It opens at nine.",
        "supported": True,
        "verdict": "supported",
        "supported_by": [2],
        "reason": "as it says",
    },
    {"claim": "It is red.", "supported": False, "verdict": "not stated", "supported_by": [], "reason": ""},
]


@dataclass(frozen=True)
class Support(Metric):
    """High is good, with evidence."""

    def measure(self, response: str) -> Score:
        if response == "lost":
            return Score.failed(BadReply("no verdict in it", ["Well, that depends.", "\x1b[31mAs I said."]))
        return Score(0.5 if response == "half" else 1.0, details={"verdicts": VERDICTS})


@dataclass(frozen=True)
class Errors(Metric):
    """Low is good."""

    higher_is_better: ClassVar[bool | None] = False

    def measure(self, response: str) -> Score:
        return Score(len(response) / 10)


@dataclass(frozen=True)
class Size(Metric):
    """Neither end is good."""

    higher_is_better: ClassVar[bool | None] = None

    def measure(self, response: str) -> Score:
        return Score(len(response) / 10)


ROWS = [
    {"id": "a", "user_input": "When?", "response": "half", "contexts": ["Closed on Sundays.", "Open from nine."], "lang": "en"},
    {"id": "b", "user_input": "Where?", "response": "lost", "reference": "Here.", "lang": "de"},
    {"user_input": "Why?", "response": "fine", "contexts": [], "lang": "en"},
]  # fmt: skip


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    Path("q.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    evaluate("q.jsonl", [Support(), Errors(), Size()], run_dir="run", progress=False)
    return Path("run")


def shown(*arguments: str | Path) -> str:
    result = call("show", *arguments)
    assert (result.exit_code, result.stderr) == (0, "")
    return result.stdout


def refused(*arguments: str | Path) -> str:
    result = call("show", *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    return result.stderr


def test_the_summary(run: Path) -> None:
    assert shown(run) == f"{Evaluation.load(run).summary()}\n"
    assert shown(run, "--by", "lang") == f"{Evaluation.load(run).summary(by='lang')}\n"
    assert [line.split()[:5] for line in shown(run, "--by", "lang").splitlines() if line.startswith("lang=en")] == [
        ["lang=en", "0.750", "2", "of", "2"],
        ["lang=en", "0.400", "2", "of", "2"],
        ["lang=en", "0.400", "2", "of", "2"],
    ]


A = """\
a (q.jsonl, line 1)
  question: When?
  answer: half
  support: 0.5 (scale 0 to 1)
    claims:
    ✔ It opens at nine.
        supported by passage 2: as it says
        passage 2: "Open from nine."
    – It is red.
        not stated
"""


def test_the_worst_rows_of_a_metric(run: Path) -> None:
    assert shown(run, "--metric", "support", "--worst", "1") == f"support: the lowest of 3 rows\n\n{A}"
    assert [line for line in shown(run, "--metric", "support").splitlines() if not line.startswith(" ") and line] == [
        "support: the lowest of 3 rows",
        "a (q.jsonl, line 1)",
        "q.jsonl, line 3",
    ]


def test_the_worst_rows_of_all_metrics(run: Path) -> None:
    assert shown(run, "--worst", "1") == (
        f"support: the lowest of 3 rows\n\n{A}\n"
        "errors: the highest of 3 rows\n"
        "\n"
        "a (q.jsonl, line 1)\n"
        "  question: When?\n"
        "  answer: half\n"
        "  errors: 0.4 (scale 0 to 1)\n"
        "\n"
        "neither high nor low values of size are better, so that no row is the worst\n"
    )


def test_one_row_in_full(run: Path) -> None:
    assert shown(run, "--row", "b") == (
        "b (q.jsonl, line 2)\n"
        "  question: Where?\n"
        "  answer: lost\n"
        "  reference: Here.\n"
        "  metadata.lang: de\n"
        "\n"
        "  support: failed\n"
        "    BadReply: no verdict in it\n"
        "    raw reply 1: Well, that depends.\n"
        "    raw reply 2: \\x1b[31mAs I said.\n"
        "\n"
        "  errors: 0.4 (scale 0 to 1)\n"
        "\n"
        "  size: 0.4 (scale 0 to 1)\n"
    )


def test_the_earlier_turns_of_a_row(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    turns = [
        {"role": "user", "content": "Who?"},
        {"role": "assistant", "content": "\x1b[31mShe.", "retrieved_contexts": ["She did."]},
    ]
    rows: list[dict[str, Any]] = [{"id": "a", "response": "half", "history": turns}, {"id": "b", "history": ["hi"]}]
    evaluate(rows, [Size()], run_dir="run", progress=False)
    assert shown("run", "--row", "a") == (
        "a (row 1)\n"
        "  earlier user: Who?\n"
        "  earlier assistant: \\x1b[31mShe.\n"
        "  earlier passage 1: She did.\n"
        "  answer: half\n"
        "\n"
        "  size: 0.4 (scale 0 to 1)\n"
    )
    assert shown("run", "--row", "b").startswith("b (row 2)\n  earlier turn: hi\n\n  size: failed\n")


def test_a_row_without_an_id_is_called_by_its_line(run: Path) -> None:
    assert shown(run, "--row", "line 3", "--metric", "errors") == (
        "q.jsonl, line 3\n"
        "  question: Why?\n"
        "  answer: fine\n"
        "  no passages\n"
        "  metadata.lang: en\n"
        "\n"
        "  errors: 0.4 (scale 0 to 1)\n"
    )


def test_a_row_is_called_as_its_title_says(run: Path) -> None:
    assert shown(run, "--row", "q.jsonl, line 3") == shown(run, "--row", "line 3")
    assert shown(run, "--row", "q.jsonl, line 2") == shown(run, "--row", "b")


def test_rows_that_failed(run: Path) -> None:
    assert shown(run, "--failed") == (
        "b (q.jsonl, line 2)\n"
        "  question: Where?\n"
        "  answer: lost\n"
        "  support: failed\n"
        "    BadReply: no verdict in it\n"
        "    raw reply 1: Well, that depends.\n"
        "    raw reply 2: \\x1b[31mAs I said.\n"
    )
    assert shown(run, "--failed", "--metric", "errors") == "no score failed in 3 rows\n"


def test_a_file_of_scores_is_a_run_too(run: Path) -> None:
    Evaluation.load(run).to_jsonl("scores.jsonl")
    assert "support: 0.5" in shown("scores.jsonl", "--row", "a")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--row", "z"], "--row: no row is called 'z'; rows are called a, b, line 3"),
        (["--metric", "z"], "--metric: there is no metric 'z'; there are support, errors, size"),
        (["--metric", "size"], "worst: neither high nor low values of size are better, so that no row is the worst"),
        (["--worst", "0"], "--worst must be at least 1, got 0"),
        (["--worst", "2", "--failed"], "--worst and --failed cannot be combined: give only one of them"),
        (["--by", "lang", "--metric", "size"], "--by shows all metrics: leave --metric out"),
        (
            ["--by", "tongue"],
            "--by tongue: no row has it; columns of the metadata: lang; fields have their own names, such as 'user_input'",
        ),
    ],
)  # fmt: skip
def test_what_cannot_be_shown(run: Path, arguments: list[str], message: str) -> None:
    assert refused(run, *arguments) == f"ragmetrics: {message}\n"


def test_the_direction_of_another_s_metric_is_not_in_a_file_of_scores(run: Path) -> None:
    Evaluation.load(run).to_jsonl("scores.jsonl")
    assert refused("scores.jsonl", "--metric", "errors") == (
        "ragmetrics: worst: a file of scores does not say which values of errors are better: load the directory of the run\n"
    )


def test_no_such_run(run: Path) -> None:
    assert refused("nowhere").startswith("ragmetrics: ")


HOSTILE = [
    "\x1b[31mred",
    "\x1b]0;title\x07",
    "\x1b]8;;http://x\x1b\\link",
    "\x9b2J",
    "\u202egnp",
    "\u2066x\u2069",
    "\u200fx",
    "a\rb",
    "a\x08b",
    "\x00",
    "\u2028x",
    "\U000e0041",
    "\ufeff",
    "\ud800",
]


@pytest.mark.parametrize("text", HOSTILE, ids=ascii)
@pytest.mark.parametrize("arguments", [[], ["--worst", "3"], ["--row", "line 2"], ["--failed"], ["--by", "lang"]])
def test_nothing_in_data_or_replies_steers_the_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str, arguments: list[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    verdict = {"claim": text, "supported": True, "verdict": f"supported{text}", "supported_by": [1], "reason": text}

    def measure(self: object, response: str) -> Score:
        if response == "lost":
            return Score.failed(BadReply(f"none {text}", [text]))
        return Score(0.5, reason=f"r{text}", label=f"l{text}", details={"verdicts": [verdict], f"k{text}": text})

    metric = type("Hostile", (Metric,), {"measure": measure})(name=f"m{text}")
    row = {"user_input": text, "response": f"x{text}", "contexts": [text], f"c{text}": {text: text}, "lang": f"l{text}"}
    rows = [{**row, "id": f"i{text}"}, row, {**row, "response": "lost"}]
    evaluate(rows, metric, progress=False, run_dir="hostile")
    name = ["row 2"] if "--row" in arguments else []
    output = shown("hostile", *arguments[: 1 if name else None], *name)
    assert [character for character in output if not character.isprintable() and character != "\n"] == []


@contextmanager
def terminal(encoding: str = "utf-8") -> Iterator[tuple[TextIO, Callable[[], str]]]:
    """A pseudo-terminal to write to, and a function that closes it and says what was written."""
    pty = pytest.importorskip("pty")
    ours, theirs = pty.openpty()
    written = os.fdopen(theirs, "w", encoding=encoding)

    def read() -> str:
        written.close()
        output = b""
        try:
            while part := os.read(ours, 65536):
                output += part
        except OSError:  # Linux says so at the end of a terminal
            pass
        return output.decode().replace("\r\n", "\n")

    try:
        yield written, read
    finally:
        written.close()
        os.close(ours)


def in_terminal(*arguments: str | Path, encoding: str = "utf-8", **variables: str) -> str:
    """What the command writes to a terminal; it is called in this process."""
    words = ["ragmetrics", *map(str, arguments)]
    environment = {"TERM": "xterm-256color", "COLUMNS": "80", **variables}
    with terminal(encoding) as (written, read), pytest.MonkeyPatch.context() as patch:
        for name, value in environment.items():
            patch.setenv(name, value)
        patch.setattr(sys, "argv", words)
        patch.setattr(sys, "stdout", written)
        assert app(words[1:], standalone_mode=False) in {None, 0}
        return read()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_colours_are_for_those_who_watch(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    show = ["show", str(run), "--metric", "support", "--worst", "1"]
    plain = f"support: the lowest of 3 rows\n\n{A}"
    with terminal() as (written, read):
        command = [sys.executable, "-m", "ragmetrics_core", *show]
        environment = {**os.environ, "TERM": "xterm-256color", "COLUMNS": "80"}
        subprocess.run(command, stdin=written, stdout=written, stderr=written, env=environment, check=True, timeout=300)
        painted = read()
    assert "\x1b[32m    ✔ It opens at nine.\x1b[0m\n" in painted
    assert "\x1b[33m    – It is red.\x1b[0m\n" in painted
    assert "\x1b[1msupport: the lowest of 3 rows\x1b[0m\n" in painted
    assert in_terminal(*show) == painted
    assert in_terminal(*show, NO_COLOR="1") == plain
    assert in_terminal(*show, TERM="dumb") == plain
    assert shown(*show[1:]) == plain


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_shows_a_summary_in_colours_with_bars(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The same in a terminal without colours; a dumb terminal and a pipe get the text alone."""
    monkeypatch.delenv("NO_COLOR", raising=False)
    plain = shown(str(run))
    assert "├" not in plain
    coloured, without = in_terminal("show", run), in_terminal("show", run, NO_COLOR="1")
    assert coloured.startswith(f"\x1b[1m{plain.splitlines()[0]}\x1b[0m\n")
    assert without == re.sub(r"\x1b\[\d*m", "", coloured)
    assert [line.split()[0] for line in without.splitlines() if "●" in line] == ["support", "errors", "size"]
    texts = [line for line in plain.splitlines() if line]
    assert [line for line in without.splitlines() if line in texts] == texts
    assert in_terminal("show", run, TERM="dumb") == plain
    ascii_bars = in_terminal("show", run, NO_COLOR="1", encoding="ascii")
    assert "]" in ascii_bars
    assert "●" not in ascii_bars
    assert ascii_bars.isascii()


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_a_terminal_that_has_no_ticks(run: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("NO_COLOR", raising=False)
    painted = in_terminal("show", run, "--metric", "support", "--worst", "1", encoding="ascii")
    assert "\x1b[32m    \\u2714 It opens at nine.\x1b[0m\n" in painted


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo-terminals")
def test_wide_terminals_get_long_lines_and_the_same_words(run: Path) -> None:
    texts = [in_terminal("show", run, "--row", "a", NO_COLOR="1", COLUMNS=width) for width in ("40", "80", "200")]
    assert [max(map(len, text.splitlines())) for text in texts] == [37, 42, 42]
    assert len({" ".join(text.split()) for text in texts}) == 1


def test_slices_on_the_command_line_of_evaluate(run: Path) -> None:
    result = call("evaluate", "q.jsonl", "-m", "exact_match", "--by", "lang")
    assert (result.exit_code, result.stderr) == (0, "")
    assert "exact_match   mean  scored  95 % interval  unscored  failed\n" in result.stdout
    assert "lang=de      0.000  1 of 1              -         0       0\n" in result.stdout
    assert "lang=en          -  0 of 2              -         0       2\n" in result.stdout


def test_a_column_that_is_not_there_costs_nothing(run: Path) -> None:
    result = call("evaluate", "q.jsonl", "-m", "exact_match", "--by", "tongue", "--out", "scores.jsonl")
    assert result.exit_code == 2
    assert result.stderr.endswith(
        "--by tongue: no row has it; columns of the metadata: lang; fields have their own names, such as 'user_input'\n"
    )
    assert result.stdout == ""
    assert not Path("scores.jsonl").exists()
