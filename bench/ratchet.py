"""What a row and an import cost now, beside any earlier commit: a ratchet that should only turn one way.

    python bench/ratchet.py COMMIT [--rounds 7] [--rows 200]

The commit is checked out into a temporary folder. Both trees score the rows of ``row_cost.py`` with a model that answers at once,
by the metrics that both have: in memory, and with a run directory. Each measurement is the processor time of one process. The two
trees take turns, and the ratio is the median over the rounds, so a machine whose speed drifts moves both alike. Needs git, and the
dependencies of ``ragmetrics-core`` in the environment that runs it.
"""

from __future__ import annotations

import argparse
import statistics

from commits import ROOT, checked_out, printed_by

WORKER = """
import json, sys, tempfile, time
names, count = map(json.loads, sys.argv[1:])
started = time.process_time()
import ragmetrics_core
found = {"import": 1000 * (time.process_time() - started)}
from ragmetrics_core import evaluate
from ragmetrics_core.metrics import catalogue
from row_data import Double, row
classes = {entry.name: entry.cls for entry in catalogue()}
if not names:
    print(json.dumps(sorted(classes)))
    raise SystemExit
metrics = [classes[name]() for name in names]
rows = [row(number) for number in range(count + 5)]
double = Double(rows)
evaluate(rows[count:], metrics, llm=double, progress=False).raise_for_errors()
for kind in ("row", "row, stored"):
    with tempfile.TemporaryDirectory() as folder:
        started = time.process_time()
        evaluate(rows[:count], metrics, llm=double, progress=False, run_dir=folder + "/run" if "stored" in kind else None)
        found[kind] = 1000 * (time.process_time() - started) / count
print(json.dumps(found))
"""
METRICS = [
    *(
        "faithfulness",
        "context_recall",
        "factual_correctness",
        "passage_precision",
        "claim_utilization",
        "hallucination",
    ),
    *("noise_sensitivity", "self_knowledge", "diagnosis", "answer_or_abstain", "citation_recall", "citation_precision"),
    *("misattribution", "fabricated_citations", "uncited_claims"),
]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("commit")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--rows", type=int, default=200)
    given = parser.parse_args()
    with checked_out(given.commit) as before:
        shared = set(printed_by(before, WORKER, [], 0)) & set(printed_by(ROOT, WORKER, [], 0))
        names = [name for name in METRICS if name in shared]
        rounds = [[printed_by(tree, WORKER, names, given.rows) for tree in (before, ROOT)] for _ in range(given.rounds)]
    print(f"CPU ms, {given.rows} rows, {len(names)} metrics, median of {given.rounds} rounds")
    print(f"{'':14}{given.commit[:10]:>12}{'now':>12}{'ratio':>8}")
    for kind in rounds[0][0]:
        one, two = ([pair[side][kind] for pair in rounds] for side in (0, 1))
        ratio = statistics.median(now / then for then, now in zip(one, two, strict=True))
        print(f"{kind:14}{statistics.median(one):12.3f}{statistics.median(two):12.3f}{ratio:8.3f}")


if __name__ == "__main__":
    main()
