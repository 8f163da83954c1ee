"""How far a row travels from the reader to the scores file: through how many files, and how often from room to room.

    python bench/row_path.py [COMMIT ...] [--rows 20] [--list]

For each commit, and for the sources beside this script ("now"). ``--list`` prints for the latter the calls from room to room,
the files with one or two calls, and the functions that are called most often.

Way of counting. A file of rows in JSON lines is scored by ``evaluate`` with a run directory, by Faithfulness (two calls of an
LLM) and TokenF1 (none); a double answers at once. ``sys.setprofile`` counts function calls in a run of N + 1 rows and in a run of
N rows, after a run that is not counted; the difference is what one row costs: the least of five differences, as the engine gives
way to other tasks by the clock. A room is the first folder below
``ragmetrics_core``.

* Files: distinct modules of the core in which a function is called for the extra row.
* Calls between rooms: calls for the extra row whose caller is in another room of the core. The caller is the function that calls
  at once: calls by the event loop, by the standard library or by the double belong to no room.
* All calls: of functions of the core for the extra row.
* Only written functions count, not those that ``dataclass`` makes, and no comprehensions. A generator or coroutine is one call,
  however often it goes on.
"""

from __future__ import annotations

import argparse
from collections import Counter
from pathlib import Path

from commits import ROOT, checked_out, printed_by

WORKER = '''
import inspect, json, os, sys, tempfile, threading
from collections import Counter
from pathlib import Path
import ragmetrics_core
from ragmetrics_core import evaluate
from ragmetrics_core.metrics import Faithfulness, TokenF1
from row_data import Double, row

(count,) = map(json.loads, sys.argv[1:])
ROOT = str(Path(ragmetrics_core.__file__).parent) + os.sep
NO_FUNCTIONS = {"<listcomp>", "<setcomp>", "<dictcomp>", "<genexpr>", "<module>"}
RESUMABLE = inspect.CO_GENERATOR | inspect.CO_COROUTINE | inspect.CO_ASYNC_GENERATOR


def counted(rows):
    """Calls by (caller, callee), each a file with a function; the caller is empty outside of the core."""
    found, begun = Counter(), set()

    def profile(frame, event, argument):
        code = frame.f_code
        if event != "call" or not code.co_filename.startswith(ROOT) or code.co_name in NO_FUNCTIONS:
            return
        if code.co_flags & RESUMABLE:
            if frame in begun:
                return
            begun.add(frame)
        caller = frame.f_back
        while caller is not None and caller.f_code.co_name in NO_FUNCTIONS:
            caller = caller.f_back
        by = name(caller.f_code) if caller is not None and caller.f_code.co_filename.startswith(ROOT) else ""
        found[by, name(code)] += 1

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "rows.jsonl")
        path.write_text("".join(json.dumps(item) + "\\n" for item in rows), encoding="utf-8")
        threading.setprofile(profile)
        sys.setprofile(profile)
        try:
            result = evaluate(path, METRICS, llm=Double(rows), run_dir=Path(folder, "run"), progress=False)
        finally:
            sys.setprofile(None)
            threading.setprofile(None)
        result.raise_for_errors()
    return found


def name(code):
    return code.co_filename[len(ROOT):].replace(os.sep, "/") + ":" + getattr(code, "co_qualname", code.co_name)


METRICS = [Faithfulness(), TokenF1()]
rows = [row(number) for number in range(count + 1)]
counted(rows)
differences = []
for _ in range(5):
    few, many = counted(rows[:count]), counted(rows)
    many.subtract(few)
    differences.append(many)
least = sorted(differences, key=lambda calls: sum(map(abs, calls.values())))[0]
print(json.dumps([[by, to, times] for (by, to), times in sorted(least.items()) if times]))
'''


def room(place: str) -> str:
    """The room of a function: the first folder of its file."""
    return place.split("/", maxsplit=1)[0] if "/" in place else ""


def between_rooms(calls: list[tuple[str, str, int]]) -> Counter[tuple[str, str]]:
    """Calls from room to room, by caller and callee."""
    found: Counter[tuple[str, str]] = Counter()
    for by, to, times in calls:
        if by and room(by) != room(to):
            found[by, to] += times
    return found


def by_file(calls: list[tuple[str, str, int]]) -> Counter[str]:
    """Calls by the file of the function that is called."""
    found: Counter[str] = Counter()
    for _, to, times in calls:
        found[to.partition(":")[0]] += times
    return +found


def by_function(calls: list[tuple[str, str, int]]) -> Counter[str]:
    """Calls by the function that is called."""
    found: Counter[str] = Counter()
    for _, to, times in calls:
        found[to] += times
    return +found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commits", nargs="*", metavar="COMMIT")
    parser.add_argument("--rows", type=int, default=20)
    parser.add_argument("--list", action="store_true")
    given = parser.parse_args()

    def show(name: str, tree: Path) -> list[tuple[str, str, int]]:
        calls = [(by, to, times) for by, to, times in printed_by(tree, WORKER, given.rows)]
        files, crossings = by_file(calls), between_rooms(calls)
        print(f"{name[:10]:12}{len(files):>6}{crossings.total():>22}{sum(files.values()):>12}")
        return calls

    print(f"{'':12}{'files':>6}{'calls between rooms':>22}{'all calls':>12}")
    for commit in given.commits:
        with checked_out(commit) as tree:
            show(commit, tree)
    calls = show("now", ROOT)
    if given.list:
        print("\ncalls between rooms")
        for (by, to), times in between_rooms(calls).most_common():
            print(f"{times:5}  {by} -> {to}")
        print("\nfiles with one or two calls")
        for file, times in sorted(by_file(calls).items(), key=lambda item: item[1]):
            if times <= 2:
                print(f"{times:5}  {file}")
        print("\nfunctions called most often")
        for function, times in by_function(calls).most_common(60):
            print(f"{times:5}  {function}")


if __name__ == "__main__":
    main()
