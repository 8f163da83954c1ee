"""The output of a command: what it prints, the files it writes, and its exit status.

A run may have cost hours and money, so its scores are never lost because of a failed output. A file that cannot be written is
refused before any work. A file is written before the table is printed, and replaces an older file only when it is complete. A
terminal or a pipe that cannot encode a text changes only that text. Texts from the data never control a terminal: control
characters are printed as escapes. Colours add nothing that the text does not say; a pipe, a file, ``NO_COLOR``
(https://no-color.org) and a dumb terminal get none. rich, which is installed with typer, is loaded only if colours are printed.
"""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import sys
import traceback
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from itertools import combinations, pairwise
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NoReturn, TextIO

import typer
from typer.core import TyperCommand

from .._evaluate._evaluation import Evaluation
from .._gate._results import Decision
from .._page._run_page import write_html
from .._read._input_file import STDIN
from .._show._bars import Glyphs, glyphs_for
from .._show._blocks import Result
from .._show._progress import Progress
from .._store._parquet import SUFFIXES, parquet_package
from .._support._secrets import conceal, without_secrets
from .._values._errors import InvalidInput, MissingInput, RagmetricsError, Setting
from .._values._findings import Line, Tone
from .._values._layout import harmless


def to_stdout(path: Path | None) -> bool:
    """Whether the output goes to stdout because the file is named ``-``."""
    return str(path) == "-"


def put_file(path: Path, option: str, fill: Callable[[Path], None]) -> None:
    """Write a file under a temporary name, and rename it when it is complete.

    Args:
        path: the path of the file.
        option: the option that named it.
        fill: writes the content to the path that it is given.

    Raises:
        InvalidInput: the file cannot be written.
    """
    target = Path(os.path.realpath(path))
    in_place = (target.exists() and not target.is_file()) or not os.access(target.parent, os.W_OK)
    part = target if in_place else target.with_name(f".ragmetrics-{os.getpid()}.part")
    try:
        try:
            fill(part)
            if part != target and target.exists():
                shutil.copymode(target, part)
            part.replace(target)
        finally:
            if part != target:
                part.unlink(missing_ok=True)
    except OSError as error:
        raise InvalidInput(f"{option}: {path} cannot be written: {error.strerror}") from None


OPTIONS = {"columns": "--map", "n": "--suggest", "api_key": "", "stop": "--stop-when-decided", "gates": "--gate"}
"""Options whose name differs from the argument's, and arguments without an option."""

CHOICES = {
    "llm": " MODEL (or --llm lexical, offline)",
    "embeddings": " MODEL (or --embeddings hashing, offline)",
    "base_url": " URL",
    "encoding": " NAME",
    "repeats": " N",
    "run_dir": " DIR",
}
"""What follows an option whose value the user is to choose."""

BUG = 70
"""The exit status of a crash (EX_SOFTWARE of sysexits.h). It must differ from 1, which means that a gate failed."""

JSONL = frozenset({".jsonl", ".ndjson"})
"""The endings of files with one JSON object per line."""

HTML = frozenset({".html", ".htm"})

ENDINGS = JSONL | HTML | SUFFIXES | {".csv", ".md"}
"""The endings of files that ``--out`` can write."""

NO_GATES = Decision(())


USAGE_ERROR: Any = next(kind for kind in typer.BadParameter.__mro__ if kind.__name__ == "UsageError")
"""The class of errors in options and arguments. Newer versions of typer bring their own click, so it cannot be imported by name."""


class Command(TyperCommand):
    """A command whose usage line names its argument without braces: DATA. A wrong option or argument is one line."""

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """Return the pieces of the usage line."""
        return [piece.strip("{}") for piece in super().collect_usage_pieces(ctx)]

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Parse the arguments."""
        try:
            self._check_once(ctx, args)
            return super().parse_args(ctx, args)
        except USAGE_ERROR as error:
            said = error.format_message()
            stop(f"{said[:1].lower()}{said[1:].rstrip('.')} (`{ctx.command_path} --help` shows all options)", 2)

    def _check_once(self, ctx: Any, args: list[str]) -> None:
        """Check that no option that takes one value is given twice; otherwise the last one would win silently."""
        given: list[Any] = self.make_parser(ctx).parse_args(list(args))[2]
        for option in given:
            once = option.param_type_name == "option" and not (option.multiple or option.is_flag or option.count)
            if once and (times := given.count(option)) > 1:
                stop(f"{max(option.opts, key=len)} is given {times} times, and takes one value: give it once", 2)


def say(text: str | bytes, *, err: bool = False) -> None:
    """Print to stdout, or to stderr if stdout is already used; bytes are written unchanged, for another program.

    Raises:
        InvalidInput: the stream cannot be written to. A reader that has closed the pipe, such as ``head``, is not an error.
    """
    stream = sys.stderr if err else sys.stdout
    try:
        typer.echo(printable_on(text, stream) if isinstance(text, str) else text, err=err)
    except BrokenPipeError:
        _silence(stream)
    except OSError as error:
        _silence(stream)
        raise InvalidInput(f"the output cannot be written: {error.strerror}") from None


def stop(message: str, status: int, command: str = "") -> NoReturn:
    """End the command with one line on stderr, followed by the command that resumes the run, if there is one."""
    complain(message, command)
    raise typer.Exit(status)


def complain(message: str, command: str = "") -> None:
    """Print one line to stderr; a command is printed on its own line, so that it can be copied."""
    one_line = " ".join(part.strip() for part in without_secrets(message).splitlines())
    _say_on_stderr(f"ragmetrics: {one_line}" + (f"\n{command}" if command else ""))


def _say_on_stderr(text: str) -> None:
    with suppress(InvalidInput):  # the exit status still says it
        say(text, err=True)


def in_cli_words(error: RagmetricsError) -> str:
    """Return the message with options in place of arguments."""
    return error.message_for_data() if isinstance(error, MissingInput) else error.message(as_option)


def as_option(setting: Setting) -> str:
    """Return a setting as an option of the command that has it; empty if there is no such option."""
    name, value = setting.name, setting.value
    option = OPTIONS.get(name, f"--{name.replace('_', '-')}")
    if value is ...:
        return option and option + CHOICES.get(name, "")
    if isinstance(value, Mapping):
        return f"{option} {shlex.quote(','.join(f'{key}={item}' for key, item in value.items()))}"
    if value is None or value is True:
        return option
    return f"{option} {shlex.quote(value) if isinstance(value, str) else setting.text}"


def loaded(run: Path, *, said: bool = False) -> Evaluation:
    """Load the run in a directory or a file; a warning is printed at once if it is damaged or unverified.

    Args:
        run: the directory or file.
        said: whether the output of the command, or its error, contains this warning anyway.

    Raises:
        InvalidInput: the run cannot be read.
    """
    evaluation = Evaluation.load(run)
    if evaluation.doubt and not said:
        complain(f"{run}: {evaluation.doubt}")
    return evaluation


def parse_progress(text: str) -> Progress:
    """Convert the word to the ``progress`` argument of ``evaluate``.

    Raises:
        InvalidInput: the word is unknown.
    """
    words: dict[str, Progress] = {"auto": True, "always": "always", "never": False}
    if text not in words:
        raise InvalidInput(f"--progress must be one of {', '.join(words)}, got {text!r}")
    return words[text]


def how_to_continue(run_dir: Path | None) -> tuple[str, str]:
    """Return a sentence on how to resume this run, and the command for it; no command if nothing was kept."""
    if run_dir is None:
        return " (with --run-dir DIR, the next run would go on from here)", ""
    without_passwords = (re.sub(r"(://)[^/@\s]*@", r"\1", argument) for argument in sys.argv[1:])
    command = shlex.join(["ragmetrics", *map(conceal, without_passwords)])
    reads_stdin = any(argument == STDIN and before != "--out" for before, argument in pairwise(sys.argv))
    rows = ", with the same rows on standard input" if reads_stdin else ""
    return f" (all replies are kept in {run_dir}); to go on{rows}:", command


def stop_unfinished(message: str, run_dir: Path | None, status: int = 2) -> None:
    """End the command after a run that did not reach its end, and say how to resume it."""
    remark, command = how_to_continue(run_dir)
    stop(message + remark, status, command)


@contextmanager
def clear_errors(out: Path | None = None, run_dir: Path | None = None) -> Iterator[None]:
    """Turn an error that stops a run into one line and an exit status, save what was finished until then, and say how to resume."""
    try:
        yield
    except typer.Exit:
        raise
    except RagmetricsError as error:
        message = in_cli_words(error) + _save(error, out)
        if error.partial and run_dir:  # without a started run there is nothing to resume
            stop_unfinished(message, run_dir)
        stop(message, 2)
    except KeyboardInterrupt as error:
        stop_unfinished("stopped" + _save(error, out), run_dir, 130)
    except (Exception, asyncio.CancelledError) as bug:
        _say_on_stderr(conceal(traceback.format_exc().rstrip()))  # the traceback may quote data and keys
        complain("this is a bug, in a metric or a model of your own or in ragmetrics" + _save(bug, out))
        raise typer.Exit(BUG) from bug


def _save(error: BaseException, out: Path | None) -> str:
    """Write the rows that were finished before the error; return a sentence about them."""
    partial: Evaluation | None = getattr(error, "partial", None)
    if not partial or out is None:
        return ""
    rows = "row" if len(partial) == 1 else f"{len(partial)} rows"
    try:
        write(partial, out)
    except InvalidInput as failure:
        return f" (the {rows} finished before are lost: {failure})"
    return f" (the {rows} finished before can be found in {out})"


def check_out(out: Path | None, data: str) -> None:
    """Check before the first call that the file can be written after the last call, and that it is not the file that is read.

    Raises:
        InvalidInput: its name has no known ending, or ``check_files`` refuses it.
        MissingExtra: it is a Parquet file, and pyarrow is not installed.
    """
    if out is None or to_stdout(out):
        return
    if out.is_file() or not out.exists():  # a device, or a pipe to another program, gets JSON lines
        check_ending(
            out,
            ENDINGS,
            ".jsonl or .parquet (rows, scores and evidence, for programs), .html (the same, for people), .csv (rows and scores as "
            "a table) or .md (the summary)",
        )
        if out.suffix.lower() in SUFFIXES:
            parquet_package(f"--out {out}")
    check_files({"--out": out}, [Path(data)], "the file that the rows are read from")


def check_ending(out: Path, endings: Container[str], words: str) -> None:
    """Check that a file has one of these endings, which ``words`` explain.

    Raises:
        InvalidInput: it has another ending.
    """
    if out.suffix.lower() not in endings:
        raise InvalidInput(f"--out: {out} must have a name that ends in {words}")


def check_megabytes(number: float) -> None:
    """Check the largest size of a page.

    Raises:
        InvalidInput: it is not above 0.
    """
    if not number > 0:
        raise InvalidInput(f"--max-megabytes must be a number greater than 0, got {number:g}")


def write(evaluation: Evaluation, out: Path, by: str | None = None, gates: Decision = NO_GATES) -> None:
    """Write the file under a temporary name and rename it when it is complete; or write it to stdout.

    Args:
        evaluation: the run to write.
        out: the path; the ending of its name selects the format.
        by: a column whose values are slices in a summary.
        gates: the results of the gates.

    Raises:
        InvalidInput: the file cannot be written.
    """

    def fill(path: Path) -> None:
        ending = out.suffix.lower()
        if ending in HTML:
            write_html(evaluation, path, decision=gates)
        elif ending == ".csv":
            evaluation.to_csv(path)
        elif ending == ".md":
            above = f"{gates.to_markdown()}\n" if gates.results else ""
            _write(path, above + evaluation.summary(by).to_markdown())
        else:
            evaluation.to_jsonl(path)

    if out.suffix.lower() in SUFFIXES:
        evaluation.to_parquet(out)
        return
    if not to_stdout(out):
        put_file(out, "--out", fill)
        return
    with TemporaryDirectory() as folder:
        part = Path(folder) / "scores.jsonl"
        fill(part)
        with part.open("rb") as lines:
            for line in lines:
                say(line.removesuffix(b"\n"))


def printable_on(text: str, stream: TextIO | None) -> str:
    """Return the text as this stream can encode it; control characters, and characters outside its encoding, become escapes."""
    encoding = getattr(stream, "encoding", None) or "utf-8"
    try:
        "→".encode(encoding)
    except UnicodeEncodeError:
        text = text.replace("→", "->")
    return harmless(text).encode(encoding, "backslashreplace").decode(encoding)


def _silence(stream: Any) -> None:
    """Discard what the stream still buffers; otherwise the interpreter would fail on it again at exit."""
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())
    os.close(nowhere)


FILES_OF_A_RUN = ("run.json", "scores.jsonl", "journal.sqlite")


def check_files(files: dict[str, Path | None], runs: Sequence[Path], called: str) -> None:
    """Check before any work that files can be written and would not damage a run.

    Args:
        files: the files to write, by option.
        runs: the runs, and other files, that are read.
        called: the name of their files in the message.

    Raises:
        InvalidInput: two files go to stdout or to the same path; or a file cannot be written, or is a file of a run.
    """
    named = {option: path for option, path in files.items() if path is not None}
    for (one, path), (other, there) in combinations(named.items(), 2):
        if path.absolute() == there.absolute():
            raise InvalidInput(f"{one} and {other} name the same file, {path}: give each a different one")
    for option, path in named.items():
        if to_stdout(path):
            continue
        parts = [run / name for run in runs for name in FILES_OF_A_RUN if run.is_dir()]
        if path.exists() and any(part.exists() and path.samefile(part) for part in (*parts, *runs)):
            raise InvalidInput(f"{option}: {path} is {called}: give another path")
        if path.is_dir():
            raise InvalidInput(f"{option}: {path} is a directory: give the path of a file")
        if not path.parent.is_dir():
            raise InvalidInput(f"{option}: there is no directory {path.parent}")
        if not os.access(path if path.exists() else path.parent, os.W_OK):
            raise InvalidInput(f"{option}: {path} cannot be written: Permission denied")


def put_texts(
    texts: Mapping[str, str | Callable[[Path], None]],
    files: Mapping[str, Path | None],
    *shown: Result | str,
    err: bool = False,
) -> None:
    """Write the files, and print the text for people, to stderr if one of the files goes to stdout.

    Args:
        texts: for each option, the content of its file, or a function that writes a file that cannot go to stdout.
        files: for each option, the path of its file; None if it was not requested.
        shown: the results or texts for people.
        err: whether stdout is already used.
    """
    piped = err or any(to_stdout(path) for path in files.values())
    try:
        for option, path in files.items():
            if path is None:
                continue
            text = texts[option]
            if not isinstance(text, str):
                put_file(path, option, text)
            elif to_stdout(path):
                say(text.rstrip("\n"))
            else:
                put_file(path, option, partial(_write, text=text))
    finally:
        say_results(*shown, err=piped)


def _write(path: Path, text: str) -> None:
    path.write_text(text.rstrip("\n") + "\n", encoding="utf-8", errors="backslashreplace", newline="\n")


STYLES: dict[Tone, str] = {"title": "bold", "good": "green", "bad": "red", "open": "yellow", "aside": "dim"}


def say_results(*results: Result | str, err: bool = False) -> None:
    """Print results or texts, with a blank line between two; a terminal gets colours and bars, a pipe the text alone."""
    stream = sys.stderr if err else sys.stdout
    if not _is_read(stream):
        say("\n\n".join(map(str, results)), err=err)
        return
    glyphs = glyphs_for(getattr(stream, "encoding", None))
    say_lines((_lines(result, glyphs) for result in results), err=err)


def _lines(result: Result | str, glyphs: Glyphs) -> list[Line]:
    return [Line(result)] if isinstance(result, str) else result.terminal_lines(glyphs)


def say_lines(parts: Iterable[Iterable[Line]], *, err: bool = False) -> None:
    """Print the lines of each part, with a blank line between two parts, in colours if a terminal shows them."""
    stream = sys.stderr if err else sys.stdout
    in_colours = _is_read(stream) and not os.environ.get("NO_COLOR")
    for number, part in enumerate(parts):
        lines = [Line(""), *part] if number else list(part)
        if in_colours:
            _paint(lines, stream)
        else:
            say("\n".join(line.text for line in lines), err=err)


def _is_read(stream: TextIO | None) -> bool:
    """Whether a person reads the output in a terminal that shows more than plain text."""
    return stream is not None and stream.isatty() and os.environ.get("TERM") != "dumb"


def _paint(lines: Sequence[Line], stream: TextIO) -> None:
    from rich.console import Console  # noqa: PLC0415  a pipe needs no colours
    from rich.text import Text  # noqa: PLC0415  the same

    console = Console(file=stream, highlight=False, markup=False, emoji=False, soft_wrap=True)
    for line in lines:
        console.print(Text(printable_on(line.text, stream), style=STYLES.get(line.tone, "")))
