"""Who watches sees the rate, the failures and the tokens; who does not watch sees nothing."""

from __future__ import annotations

import io
import os
import re
import struct
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from core.engine.virtual_time import run
from core.evaluate.doubles import AsyncModel, Length, Rated, questions
from ragmetrics_core import Ask, ModelError, Usage, aevaluate, evaluate
from ragmetrics_core._show._progress import Bar, _short
from ragmetrics_core._show._progress import progress_bar as progress

TESTS = Path(__file__).resolve().parents[2]

SCRIPT = """
from core.evaluate.doubles import AsyncModel, Rated, questions
from ragmetrics_core import ModelError, evaluate

for setting in SETTINGS:
    model = AsyncModel(lambda text: ModelError("no") if text == "3" else "0.5", delay=0.01)
    evaluate(questions(100), Rated(), llm=model, max_concurrency=4, progress=setting)
    print("END", flush=True)
"""


def environment() -> dict[str, str]:
    return {**os.environ, "PYTHONPATH": os.pathsep.join(map(str, [TESTS, *sys.path]))}


def script(*settings: object) -> str:
    return SCRIPT.replace("SETTINGS", repr(settings))


def on_a_terminal(*settings: object, width: int = 120) -> list[str]:
    """For each setting, all that the script writes to a terminal that is so many columns wide."""
    pty = pytest.importorskip("pty")
    main, terminal = pty.openpty()
    import fcntl
    import termios

    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 40, width, 0, 0))
    process = subprocess.Popen(
        [sys.executable, "-c", script(*settings)], stderr=terminal, stdout=terminal, env=environment()
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            part = os.read(main, 65536)
        except OSError:  # the other end is closed
            break
        if not part:
            break
        shown += part
    os.close(main)
    assert process.wait(timeout=300) == 0
    *parts, rest = shown.decode().split("END\r\n")
    assert rest == ""
    return parts


class TestTerminal:
    def test_rate_failures_and_tokens_unless_asked_not_to(self) -> None:
        nothing, shown = on_a_terminal(False, True)
        assert nothing == ""
        last = shown.replace("\n", "\r").rstrip("\r").split("\r")[-1]
        assert re.search(r"evaluate: 100%\|.*\| 100/100 \[.*, +[\d.]+ rows/s, 1 failed, 1\.2k tokens\]", last), last
        assert re.search(r"\d+/100 \[00:0\d<\d\d:\d\d", shown), "the time left"

    def test_80_columns_hold_the_count_the_time_left_and_the_tokens(self) -> None:
        (shown,) = on_a_terminal(True, width=80)
        last = shown.replace("\n", "\r").rstrip("\r").split("\r")[-1]
        assert re.search(r"evaluate: 100% 100/100 \[\d\d:\d\d<\d\d:\d\d, 1 failed, 1\.2k tokens\]", last), last
        assert max(map(len, re.split("[\r\n]", shown))) <= 80


class TestSilence:
    def run(self, code: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, check=True, timeout=300, env=environment()
        )

    def test_where_there_is_no_terminal_and_nothing_is_loaded_for_it(self) -> None:
        done = self.run(script(True) + "\nimport sys; print('tqdm' in sys.modules)")
        assert (done.stdout, done.stderr) == ("END\nFalse\n", "")

    def test_but_where_it_is_asked_for(self) -> None:
        done = self.run(script("always"))
        assert done.stdout == "END\n"
        assert "1 failed, 1.2k tokens]" in done.stderr

    def test_a_process_without_stderr(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stderr", None)
        assert len(evaluate(questions(3), Length(), progress="always")) == 3


class FakeBar:
    """What tqdm's bar is asked to do."""

    def __init__(self, **settings: Any) -> None:
        self.settings = settings
        self.shown: list[str] = []
        self.rows = 0

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: object) -> None:
        self.shown.append("closed")

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        assert refresh is False, "tqdm decides how often it draws"
        self.shown.append(text)

    def update(self) -> None:
        self.rows += 1


class TestNotebook:
    @pytest.fixture
    def bars(self, monkeypatch: pytest.MonkeyPatch) -> list[FakeBar]:
        """The bars that are made in a notebook."""
        made: list[FakeBar] = []

        def tqdm(**settings: Any) -> FakeBar:
            made.append(FakeBar(**settings))
            return made[-1]

        shell = type("ZMQInteractiveShell", (), {})()
        ipython, auto = ModuleType("IPython"), ModuleType("tqdm.auto")
        ipython.get_ipython = lambda: shell  # type: ignore[attr-defined]
        auto.tqdm = tqdm  # type: ignore[attr-defined]
        monkeypatch.setitem(sys.modules, "IPython", ipython)
        monkeypatch.setitem(sys.modules, "tqdm.auto", auto)
        return made

    def test_each_run_has_its_own_bar(self, bars: list[FakeBar]) -> None:
        model = AsyncModel(lambda text: ModelError("no") if text == "1" else "0.5")
        evaluate(questions(3), Rated(), llm=model, max_concurrency=1)
        (bar,) = bars
        assert bar.settings == {"total": 3, "unit": " rows", "desc": "evaluate", "file": None}
        assert bar.rows == 3
        assert bar.shown == ["0 failed, 12 tokens", "1 failed, 12 tokens", "1 failed, 24 tokens", "closed"]

    def test_a_generator_has_no_known_end(self, bars: list[FakeBar]) -> None:
        evaluate(iter(questions(3)), Length(), progress="always")
        assert bars[0].settings["total"] is None
        evaluate(iter(questions(3)), Length(), progress=False)
        assert len(bars) == 1

    def test_a_run_that_fails_closes_it(self, bars: list[FakeBar]) -> None:
        with pytest.raises(ModelError):
            evaluate(questions(3), Rated(), llm=AsyncModel(ModelError("refused", fatal=True)))
        assert bars[0].shown == ["closed"]

    @pytest.mark.parametrize("shell", [None, SimpleNamespace()])
    def test_ipython_on_a_terminal_is_none(
        self, bars: list[FakeBar], monkeypatch: pytest.MonkeyPatch, shell: object
    ) -> None:
        monkeypatch.setattr(sys.modules["IPython"], "get_ipython", lambda: shell)
        evaluate(questions(3), Length())
        assert bars == []


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0"), (999, "999"), (1000, "1.0k"), (12_345, "12.3k"), (1_000_000, "1.0M"), (2_560_000, "2.6M")],
)
def test_short_numbers(number: int, text: str) -> None:
    assert _short(number) == text


def test_it_costs_little_if_no_bar_is_shown() -> None:
    started = time.process_time()
    with progress(True, lambda: 10) as bar:
        for record in evaluate(questions(100), Length()).records:
            bar.advance(0, record.scores["length"].usage)
    assert time.process_time() - started < 2


class Watched:
    """What a bar gets, from which caller."""

    def __init__(self) -> None:
        self.shown: list[str] = []

    def set_postfix_str(self, text: str, refresh: bool) -> None:
        self.shown.append(text)

    def update(self) -> None:
        pass


class TestNarrow:
    """What tqdm makes of 10,000 rows in 80 columns."""

    def lines(self, act: Callable[[Bar], None]) -> list[str]:
        tqdm = pytest.importorskip("tqdm").tqdm
        stream = io.StringIO()
        with tqdm(total=10_000, initial=1_200, desc="generate", unit=" questions", file=stream, ncols=80) as bar:
            now = bar.start_t
            bar._time = lambda: now  # a machine that stops for a second would show it
            bar.start_t -= 7_332
            act(Bar(bar, "dropped", narrow=True))
        return [line.rstrip() for line in re.split("[\r\n]", stream.getvalue())]

    @pytest.mark.parametrize("reason", ["the server's limit (429)", "retries of failed calls"])
    def test_a_wait(self, reason: str) -> None:
        lines = self.lines(lambda bar: bar.wait((123.0, reason)))
        assert f"generate: 1200/10000 [2:02:12, waiting 123 s: {reason}]" in lines

    def test_progress_after_a_wait(self) -> None:
        def act(bar: Bar) -> None:
            bar.wait((12.0, "the server's limit (429)"))
            bar.advance(1_112, lambda: Usage(1, 120_000_000, 500_000))
            bar.wait(None)

        last = [line for line in self.lines(act) if "tokens" in line][-1]
        assert re.fullmatch(
            r"generate:  12% 1201/10000 \[2:02:12<[\d:, days?]+, 1112 dropped, 120\.5M tokens\]", last
        ), last


class TestWaiting:
    def test_a_pipe_gets_it_once(self) -> None:
        watched = Watched()
        bar = Bar(watched)
        for seconds in (4.4, 3.4, 2.4):
            bar.wait((seconds, "the server's limit (429)"))
        bar.wait(None)
        bar.wait(None)
        assert watched.shown == ["waiting 4 s: the server's limit (429)", ""]

    def test_a_person_sees_the_seconds_run_down(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "stderr", SimpleNamespace(isatty=lambda: True))
        watched = Watched()
        bar = Bar(watched)
        for seconds in (3.0, 2.0, 0.4):
            bar.wait((seconds, "the server's limit (429)"))
        assert watched.shown == [
            "waiting 3 s: the server's limit (429)",
            "waiting 2 s: the server's limit (429)",
            "",
        ]

    @pytest.mark.parametrize(
        ("limited", "reason"), [(True, "the server's limit (429)"), (False, "retries of failed calls")]
    )
    def test_a_run_says_for_what_it_waits(
        self, limited: bool, reason: str, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("COLUMNS", "80")
        failures = iter([ModelError("no", transient=True, rate_limited=limited, retry_after=3.0)])

        class Busy:
            async def agenerate(self, ask: Ask) -> str:
                for failure in failures:
                    raise failure
                return "0.5"

        run(aevaluate(questions(1), Rated(), llm=Busy(), progress="always"))
        shown = capsys.readouterr().err
        assert f"waiting 2 s: {reason}" in shown
        assert shown.count("waiting") == 1
        assert "0 failed" in shown.rpartition("waiting")[2]
