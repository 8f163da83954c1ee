"""The sentences that results begin with: what they say of which numbers, and that every face shows the same ones."""

from __future__ import annotations

import html
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from core.report.comparing import FAILED, MetricComparison, Summary, by_id, judged_by, run_of, summed_up, text_at
from core.report.skeleton import Skeleton
from core.report.test_credit import OTHER
from core.report.test_credit import run as run_by
from ragmetrics_core import Calibration, Comparison, Evaluation, Metric, Score, compare_runs, evaluate
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.statistics import CorrectedMean, Interval, Measure

COMPARED = by_id([0.5] * 8).compare(by_id([0.5] * 8))


def metric(name: str, old: float, new: float, low: float, high: float, **more: Any) -> MetricComparison:
    """One metric of a comparison of 200 rows, undecided unless its verdict is given."""
    numbers: dict[str, Any] = {"p_adjusted": 0.2, "rows_needed": None, "verdict": "cannot say"}
    numbers |= {"pairs": 200, "changed": 60, "margin": 0.03, "higher_is_better": True, "void": "", "values": None}
    limits = {"difference": new - old, "interval": Interval(low, high, "t"), "before": old, "after": new}
    return replace(COMPARED.metrics[0], name=name, **{**numbers, **limits, **more})


def better(name: str = "faithfulness", **more: Any) -> MetricComparison:
    return metric(name, 0.81, 0.88, 0.02, 0.11, **{"verdict": "better", "p_adjusted": 0.01, **more})


def worse(name: str = "relevancy", **more: Any) -> MetricComparison:
    return metric(name, 0.9, 0.8, -0.15, -0.05, **{"verdict": "worse", "p_adjusted": 0.01, **more})


def same(name: str = "recall") -> MetricComparison:
    return metric(name, 0.7, 0.7, -0.01, 0.02, verdict="no difference larger than the margin")


def unsure(name: str = "precision", **more: Any) -> MetricComparison:
    return metric(name, 0.5, 0.53, -0.02, 0.08, **more)


def blank(name: str = "precision", **more: Any) -> MetricComparison:
    return metric(name, 0.5, 0.5, 0.0, 0.0, **{"interval": None, "difference": None, "p_adjusted": None, **more})


BETTER = "The new version is better: faithfulness 0.81 → 0.88 (+0.02 to +0.11)."
WORSE = "The new version is worse: relevancy 0.90 → 0.80 (-0.15 to -0.05)."
UNSURE = "precision 0.50 → 0.53 (-0.02 to +0.08)"
SAME = "No difference larger than 0.03: recall 0.70 → 0.70 (-0.01 to +0.02)."
LEXICAL = "The judge was a lexical baseline, which only compares words."

COMPARISONS: dict[str, tuple[list[MetricComparison], dict[str, Any], str]] = {
    "better": ([better()], {}, BETTER),
    "worse": ([worse()], {}, WORSE),
    "better, and the rest by chance": ([better(), unsure()], {}, f"{BETTER} No other metric changed beyond chance."),
    "worse, and the rest within the margin": ([same(), worse()], {}, f"{WORSE} No other metric changed beyond chance."),
    "two are better": (
        [better(), better("precision", before=0.5, after=0.6)],
        {},
        "The new version is better: faithfulness 0.81 → 0.88 (+0.02 to +0.11) and precision 0.50 → 0.60 (+0.02 to +0.11).",
    ),
    "five are better": (
        [better(name) for name in "abcde"],
        {},
        (
            "The new version is better: a 0.81 → 0.88 (+0.02 to +0.11), b 0.81 → 0.88 (+0.02 to +0.11), c 0.81 → 0.88 (+0.02 to "
            "+0.11) and 2 other metrics."
        ),
    ),
    "some better and some worse": (
        [better(), worse(), unsure()],
        {},
        (
            "Some metrics are better and some are worse; better: faithfulness 0.81 → 0.88 (+0.02 to +0.11); worse: relevancy "
            "0.90 → 0.80 (-0.15 to -0.05). No other metric changed beyond chance."
        ),
    ),
    "low values are good": (
        [better("hallucination", before=0.4, after=0.3, interval=Interval(-0.15, -0.05, "t"), higher_is_better=False)],
        {},
        "The new version is better: hallucination 0.40 → 0.30 (-0.15 to -0.05).",
    ),
    "a limit just beyond 0 is not shown as 0": (
        [better(interval=Interval(0.0041, 0.112, "t"))],
        {},
        "The new version is better: faithfulness 0.81 → 0.88 (+0.004 to +0.112).",
    ),
    "two means that differ look different": (
        [better(before=0.8112, after=0.8136, interval=Interval(0.001, 0.004, "t"))],
        {},
        "The new version is better: faithfulness 0.811 → 0.814 (+0.001 to +0.004).",
    ),
    "nearly perfect is not perfect": (
        [better(before=0.95, after=0.9981)],
        {},
        "The new version is better: faithfulness 0.950 → 0.998 (+0.02 to +0.11).",
    ),
    "too few rows": (
        [unsure(rows_needed=237)],
        {},
        f"Too few rows to tell: {UNSURE}; about 240 rows would probably show a difference of 0.03.",
    ),
    "too few rows, for the metric that needs most": (
        [unsure(rows_needed=237), unsure("recall", rows_needed=1212)],
        {},
        (
            f"Too few rows to tell: {UNSURE} and recall 0.50 → 0.53 (-0.02 to +0.08); about 1,300 rows would probably show a "
            "difference of 0.03."
        ),
    ),
    "too few rows, on scales that differ": (
        [unsure(rows_needed=237), unsure("stars", rows_needed=300, margin=0.12)],
        {},
        f"Too few rows to tell: {UNSURE} and stars 0.50 → 0.53 (-0.02 to +0.08).",
    ),
    "too few rows, and how many is not known of one": (
        [unsure(rows_needed=237), unsure("recall", rows_needed=None)],
        {},
        f"Too few rows to tell: {UNSURE} and recall 0.50 → 0.53 (-0.02 to +0.08).",
    ),
    "enough rows, and nothing shown": ([unsure(rows_needed=150)], {}, f"No change beyond chance: {UNSURE}."),
    "hardly a row changed": ([unsure(changed=3)], {}, f"Too few rows changed to tell: {UNSURE}."),
    "clear, but not when adjusted": (
        [unsure(interval=Interval(0.01, 0.05, "t"), p_adjusted=0.08)],
        {},
        "No change beyond chance: precision 0.50 → 0.53 (+0.01 to +0.05, but adjusted p = 0.080).",
    ),
    "within the margin": ([same()], {}, SAME),
    "one is undecided and one within the margin": (
        [unsure(), same()],
        {},
        f"No change beyond chance: {UNSURE}. {SAME}",
    ),
    "lost rows could turn it": (
        [better(verdict="cannot say")],
        {},
        "Undecided, as rows without a value could turn it: faithfulness 0.81 → 0.88 (+0.02 to +0.11).",
    ),
    "better, and lost rows could turn another one": (
        [better(), better("recall", verdict="cannot say"), same("ndcg")],
        {},
        (
            f"{BETTER} No other metric changed beyond chance. Undecided, as rows without a value could turn it: recall "
            "0.81 → 0.88 (+0.02 to +0.11)."
        ),
    ),
    "no end is better": (
        [better("length", verdict="cannot say", higher_is_better=None)],
        {},
        "Changed, for better or for worse: length 0.81 → 0.88 (+0.02 to +0.11).",
    ),
    "no row has both values": (
        [better(), blank(before=None, after=None, pairs=0), blank("recall", before=None, after=None, pairs=0)],
        {},
        f"{BETTER} No row has a value of precision and recall in both runs.",
    ),
    "no interval": ([blank(pairs=1)], {}, "No verdict on precision, because the difference has no interval."),
    "another judge": (
        [blank(credited=False), blank("recall", credited=False)],
        {},
        "No verdict on precision and recall, because the judge or its settings differ between the runs.",
    ),
    "another judge in one metric": (
        [better(), blank(credited=False)],
        {},
        f"{BETTER} No verdict on precision, because the judge or its settings differ between the runs.",
    ),
    "another judge, and allowed": (
        [better(warnings=("the LLM is a, then b",))],
        {"allow_different_judges": True},
        f"{BETTER} The judge or its settings differ between the runs, so a difference may not come from the system.",
    ),
    "a judge that is not known": (
        [better(void="?")],
        {},
        f"{BETTER} It is not known whether both runs were scored in the same way.",
    ),
    "no score changed": (
        [unsure(before=0.5, after=0.5, changed=0, rows_needed=900)],
        {},
        "No score changed: precision 0.50 → 0.50 (-0.02 to +0.08).",
    ),
    "a clear interval of a few changes": (
        [unsure(interval=Interval(0.001, 0.05, "t"), changed=4, rows_needed=230)],
        {},
        (
            "Too few rows to tell: precision 0.50 → 0.53 (+0.001 to +0.050, but only 4 rows changed); about 230 rows would "
            "probably show a difference of 0.03."
        ),
    ),
    "within margins of several scales": (
        [same(), replace(same("stars"), margin=0.12)],
        {},
        (
            "No difference larger than the margin: recall 0.70 → 0.70 (-0.01 to +0.02) and stars 0.70 → 0.70 (-0.01 to +0.02)."
        ),
    ),
    "rows got worse": ([better()], {"rows_worse": 3}, f"{BETTER} 3 rows got worse."),
    "rows got worse in several metrics": (
        [better(), unsure()],
        {"rows_worse": 3},
        f"{BETTER} No other metric changed beyond chance. 3 rows got worse in at least one metric.",
    ),
    "rows got worse, and nothing is decided": (
        [unsure(rows_needed=150)],
        {"rows_worse": 40},
        f"No change beyond chance: {UNSURE}.",
    ),
    "rows lost their value": ([better()], {"rows_lost": 3}, f"{BETTER} 3 rows have a value in the first run only."),
    "a row lost its value": ([better()], {"rows_lost": 1}, f"{BETTER} 1 row has a value in the first run only."),
    "a name of several words": (
        [better("context_recall")],
        {},
        "The new version is better: context recall 0.81 → 0.88 (+0.02 to +0.11).",
    ),
    "a slice is worse": (
        [better()],
        {"slices": (worse("faithfulness", by="metadata.lang", label="de"), better(by="metadata.lang", label="en"))},
        f"{BETTER} Worse in 1 slice: faithfulness in lang=de.",
    ),
    "slices alone decide": (
        [unsure()],
        {
            "slices": (
                *(worse("m", by="metadata.n", label=str(n)) for n in range(5)),
                better("m", by="metadata.n", label="9"),
            )
        },
        (
            f"No change beyond chance: {UNSURE}. Worse in 5 slices: m in n=0, m in n=1, m in n=2 and 2 more. Better in 1 slice: "
            "m in n=9."
        ),
    ),
    "rows are missing": (
        [better()],
        {"only_before": ("q1", "q2")},
        f"{BETTER} 2 rows of the first run are missing from the second.",
    ),
    "a row is missing": (
        [better()],
        {"only_before": ("q1",)},
        f"{BETTER} 1 row of the first run is missing from the second.",
    ),
    "a run stopped": ([better()], {"incomplete": ("a is not complete",)}, f"{BETTER} One of the runs is not complete."),
    "both runs stopped": ([worse()], {"incomplete": ("a: stopped", "b: stopped")}, f"{WORSE} Neither run is complete."),
    "the lexical baseline": ([better()], {"caveats": (f"both runs: {LexicalJudge.caveat}",)}, f"{BETTER} {LEXICAL}"),
    "the lexical baseline in one run": (
        [blank(credited=False)],
        {"caveats": (f"runs/old: {LexicalJudge.caveat}",)},
        (
            "No verdict on precision, because the judge or its settings differ between the runs. The judge of runs/old was a "
            "lexical baseline, which only compares words."
        ),
    ),
    "a long name": (
        [better("f" * 60)],
        {},
        f"The new version is better: {'f' * 19}...{'f' * 18} 0.81 → 0.88 (+0.02 to +0.11).",
    ),
}


@pytest.mark.parametrize("case", COMPARISONS)
def test_a_comparison_in_a_sentence(case: str) -> None:
    metrics, more, sentence = COMPARISONS[case]
    assert compared(metrics, more).sentence == sentence


def compared(metrics: list[MetricComparison], more: Mapping[str, Any]) -> Comparison:
    return replace(COMPARED, metrics=tuple(metrics), **more)


def test_rows_that_got_worse_are_counted() -> None:
    """29 of 30 rows rise by about 0.3, and one falls; with the signs turned, low values are good."""
    before, after = by_id([0.5, 0.6] * 15), by_id([0.2, *([0.9, 0.8] * 15)[1:]])
    comparison = before.compare(after)
    assert re.fullmatch(
        r"The new version is better: m 0\.55 → 0\.83 \(\+0\.\d\d to \+0\.\d\d\)\. 1 row got worse\. "
        r"It is not known whether both runs were scored in the same way\.",
        comparison.sentence,
    )


def test_a_verdict_that_lost_rows_could_turn() -> None:
    before, after = by_id([0.5, 0.6] * 15), by_id([FAILED] * 14 + [0.9, 0.8] * 8)
    sentence = before.compare(after).sentence
    assert sentence.startswith("Undecided, as rows without a value could turn it: m 0.55 → 0.85 (+0.2")


def summed(name: str, mean: float | None, limits: tuple[float, float] | None = None, **more: Any) -> Any:
    """One metric of a summary of 200 rows."""
    usual: dict[str, Any] = {"scored": 200, "unscored": 0, "failed": 0, "scale": (0.0, 1.0)}
    interval = None if limits is None else Interval(*limits, "wilson")
    return replace(SUMMED, name=name, mean=mean, interval=interval, **{**usual, **more})


SUMMED = summed_up("m", (0.0, 1.0), [])
FAITH = summed("faithfulness", 0.81, (0.74, 0.86))
DEAD = summed("recall", None, scored=0, failed=200)

SUMMARIES: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "one metric": ([FAITH], {}, "Faithfulness is 0.81 (0.74 to 0.86) on 200 rows."),
    "two metrics": (
        [FAITH, summed("ndcg", 0.9, (0.85, 0.95))],
        {},
        "Faithfulness is 0.81 (0.74 to 0.86) and ndcg 0.90 (0.85 to 0.95) on 200 rows.",
    ),
    "five metrics": (
        [summed(name, 0.5, (0.4, 0.6)) for name in "abcde"],
        {},
        "A is 0.50 (0.40 to 0.60), b 0.50 (0.40 to 0.60) and c 0.50 (0.40 to 0.60) on 200 rows. The table has 2 more metrics.",
    ),
    "rows without a value": (
        [summed("faithfulness", 0.81, (0.74, 0.86), scored=190, unscored=10)],
        {},
        "Faithfulness is 0.81 (0.74 to 0.86) on 190 of 200 rows.",
    ),
    "other rows for each metric": (
        [summed("faithfulness", 0.81, (0.74, 0.86), scored=190, unscored=10), summed("ndcg", 0.9, (0.85, 0.95))],
        {},
        "Faithfulness is 0.81 (0.74 to 0.86) and ndcg 0.90 (0.85 to 0.95) on 190 to 200 rows.",
    ),
    "far fewer rows for one metric": (
        [
            FAITH,
            summed("recall", 0.5, (0.4, 0.6), scored=68, unscored=132),
            summed("ndcg", 0.9, scored=198, unscored=2),
        ],
        {},
        "Faithfulness is 0.81 (0.74 to 0.86), recall 0.50 (0.40 to 0.60; 68 of 200 rows) and ndcg 0.90 on 198 to 200 rows.",
    ),
    "failed rows": (
        [summed("faithfulness", 0.81, (0.74, 0.86), scored=199, failed=1)],
        {},
        "Faithfulness is 0.81 (0.74 to 0.86) on 199 of 200 rows. Scoring failed on 1 row.",
    ),
    "rows that failed in several metrics": (
        [
            summed(name, 0.8, (0.7, 0.9), scored=200 - rows, failed=rows)
            for name, rows in (("a", 3), ("b", 3), ("c", 4))
        ],
        {},
        (
            "A is 0.80 (0.70 to 0.90), b 0.80 (0.70 to 0.90) and c 0.80 (0.70 to 0.90) on 196 to 197 of 200 rows. Scoring failed "
            "on 3 rows (a and b) and on 4 rows (c)."
        ),
    ),
    "failed on every row": ([DEAD], {}, "Recall failed on every row."),
    "failed on every row, and others did not": (
        [FAITH, DEAD],
        {},
        "Faithfulness is 0.81 (0.74 to 0.86) on 200 rows. Recall failed on every row.",
    ),
    "unscored everywhere": ([summed("recall", None, scored=0, unscored=200)], {}, "Recall was scored on no row."),
    "no interval": ([summed("faithfulness", 1.0, scored=1)], {}, "Faithfulness is 1.00 on 1 row."),
    "nearly perfect": (
        [summed("recall", 0.9975, (0.991, 0.9996))],
        {},
        "Recall is 0.9975 (0.9910 to 0.9996) on 200 rows.",
    ),
    "another scale": (
        [summed("rubric", 3.4, (3.1, 3.7), scale=(1.0, 5.0))],
        {},
        "Rubric is 3.40 (3.10 to 3.70; scale 1 to 5) on 200 rows.",
    ),
    "rows that passed": (
        [summed("rubric", 0.6, (0.5, 0.7), passed=120, pass_rate=0.75)],
        {},
        "Rubric is 0.60 (0.50 to 0.70; 120 of 160 rows passed) on 200 rows.",
    ),
    "rows of which none passed": (
        [summed("rubric", 0.2, (0.1, 0.3), passed=0, pass_rate=0.0)],
        {},
        "Rubric is 0.20 (0.10 to 0.30; 0 of 200 rows passed) on 200 rows.",
    ),
    "a run that stopped": (
        [FAITH],
        {"stopped": "the budget of 5 calls is spent"},
        "Faithfulness is 0.81 (0.74 to 0.86) on 200 rows. The run is not complete.",
    ),
    "a lexical baseline": (
        [FAITH],
        {"caveats": (LexicalJudge.caveat,)},
        f"Faithfulness is 0.81 (0.74 to 0.86) on 200 rows. {LEXICAL}",
    ),
    "rows contradict their contexts": (
        [FAITH],
        {"contradicting": 12},
        "Faithfulness is 0.81 (0.74 to 0.86) on 200 rows. 12 rows contradict their contexts.",
    ),
    "a row contradicts its contexts": (
        [FAITH],
        {"contradicting": 1},
        "Faithfulness is 0.81 (0.74 to 0.86) on 200 rows. 1 row contradicts its contexts.",
    ),
    "a name of several words": (
        [summed("context_recall", 0.81, (0.74, 0.86))],
        {},
        "Context recall is 0.81 (0.74 to 0.86) on 200 rows.",
    ),
    "two metrics without a value": (
        [summed(name, None, scored=0, unscored=200) for name in ("recall", "ndcg")],
        {},
        "Recall and ndcg were scored on no row.",
    ),
    "one of two metrics failed on some rows": (
        [FAITH, summed("recall", 0.5, (0.4, 0.6), scored=190, failed=10)],
        {},
        (
            "Faithfulness is 0.81 (0.74 to 0.86) and recall 0.50 (0.40 to 0.60) on 190 to 200 rows. Scoring failed on 10 rows "
            "(recall)."
        ),
    ),
    "nothing was asked": ([], {}, "Nothing was scored."),
}


@pytest.mark.parametrize("case", SUMMARIES)
def test_a_run_in_a_sentence(case: str) -> None:
    metrics, more, sentence = SUMMARIES[case]
    assert Summary("q.jsonl", tuple(metrics), **more).sentence == sentence


CONTRADICTED = {"claim": "It is in Rome.", "supported": False, "verdict": "contradicted"}
NOT_STATED = {"claim": "It is big.", "supported": False, "verdict": "not stated"}
EVIDENCE = [
    [CONTRADICTED, CONTRADICTED],
    [NOT_STATED],
    [NOT_STATED, CONTRADICTED],
    [{"claim": "It is.", "supported": True}],
]


@pytest.mark.parametrize("parquet", [False, True])
def test_rows_that_contradict_their_contexts_are_counted_once(parquet: bool, tmp_path: Path) -> None:
    """Two metrics that read answer and contexts alone, and one whose verdicts may be about the reference."""

    def measure(self: object, response: str, retrieved_contexts: list[str], user_input: str) -> Score:
        return Score(0.5, details={"verdicts": EVIDENCE[int(user_input)]})

    def by_reference(self: object, response: str, retrieved_contexts: list[str], reference: str) -> Score:
        return Score(0.5, details={"verdicts": [CONTRADICTED]})

    kinds = {"One": measure, "Two": measure, "Three": by_reference}
    made: list[Any] = [type(name, (Metric,), {"measure": function})() for name, function in kinds.items()]
    quoted = '"verdict": "contradicted"'
    rows = [
        {"id": n, "question": str(n), "answer": quoted, "contexts": [quoted], "reference": "Paris"} for n in range(4)
    ]
    run = evaluate(rows, made, progress=False)
    if parquet:
        run.to_parquet(tmp_path / "run.parquet")
        run = Evaluation.load(tmp_path / "run.parquet")
    assert run.summary().contradicting == 2
    assert "on 4 rows. 2 rows contradict their contexts." in run.summary().sentence


def test_a_run_with_labels_says_how_far_the_judge_agrees_with_people(tmp_path: Path) -> None:
    """The same sentence in text, Markdown, notebook and page."""
    rows = by_id([1.0, 0.0] * 10)
    labels = [{"id": f"q{n}", "metric": "m", "label": n % 2 == 0, "annotator": "ada"} for n in range(20)]
    calibration = rows.calibrate(labels)
    summary = rows.summary(calibration=calibration)
    assert calibration.sentence == (
        "On m, the judge agrees with people beyond chance (kappa 1.00, 0.54 to 1.00); people would pass 50 % of the rows (30 to "
        "70 %)."
    )
    assert f"on 20 rows. {calibration.sentence}" in summary.sentence
    rows.to_html(tmp_path / "page.html", calibration=calibration)
    shown = {"text": text_at(80, summary), "markdown": unmarked(summary), "page": text_of(tmp_path / "page.html")}
    for face, text in shown.items():
        assert summary.sentence in one_spaced(text), face


@pytest.mark.parametrize("judge", [LexicalJudge(), None])
def test_every_face_of_a_run_shows_the_same_sentence(judge: LexicalJudge | None, tmp_path: Path) -> None:
    rows = [{"id": n, "question": "Where?", "answer": "In *Paris*.", "contexts": ["In Paris."]} for n in range(4)]
    rows.append({**rows[0], "id": 4, "answer": 7})
    run = (
        evaluate(rows, ["faithfulness"], llm=judge, progress=False) if judge else by_id([0.5, FAILED, 0.7] * 9, "a_<b>")
    )
    summary = run.summary()
    run.to_html(tmp_path / "page.html")
    faces = {
        "terminal": text_at(80, summary),
        "markdown": unmarked(summary),
        "notebook": html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", run._repr_html_())),
        "notebook of the summary": html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", summary._repr_html_())),
        "page": text_of(tmp_path / "page.html"),
    }
    for face, text in faces.items():
        assert summary.sentence in one_spaced(text), face
        assert face == "page" or one_spaced(text).startswith(summary.sentence), face


def calibrated() -> Calibration:
    """Twenty rows that a judge and two people saw, who mostly agree."""
    rows = by_id([1.0, 0.0] * 10)
    labels = [
        {"id": f"q{n}", "metric": "m", "label": (n % 2 == 0) ^ (n in (3, 8 + more)), "annotator": name}
        for n in range(20)
        for more, name in enumerate(("ada", "bob"))
    ]
    return rows.calibrate(labels)


CALIBRATED = calibrated()


def measured(value: float | None, *limits: float) -> Measure:
    return Measure(
        value, Interval(limits[0], limits[1], "wilson") if limits else None, None if limits else "there are too few"
    )


def judged(kappa: Measure, people: Measure | None = None, **more: Any) -> Any:
    """One metric of a calibration, without a corrected score."""
    item = CALIBRATED["m"]
    assert item.agreement is not None
    agreement = replace(item.agreement, kappa=kappa, spearman=kappa)
    usual = {"name": "faithfulness", "corrected": None, "ceiling": people or Measure(problem="one annotator")}
    return replace(item, **{**usual, "agreement": agreement, **more})


def corrected(mean: float, low: float, high: float) -> CorrectedMean:
    return CorrectedMean(mean, Interval(low, high, "wilson"), "wilson", 0.6, 0.57, None, 30, 42)


KAPPA = measured(0.72, 0.33, 0.86)
BEYOND = "On faithfulness, the judge agrees with people beyond chance (kappa 0.72, 0.33 to 0.86)"

CALIBRATIONS: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "beyond chance": ([judged(KAPPA)], {}, f"{BEYOND}."),
    "with a corrected score": (
        [judged(KAPPA, corrected=corrected(0.557, 0.377, 0.726))],
        {},
        f"{BEYOND}; people would pass 56 % of the rows (38 to 73 %).",
    ),
    "as people among each other": (
        [judged(KAPPA, measured(0.75, 0.4, 0.9))],
        {},
        (
            "On faithfulness, the judge agrees with people about as well as they agree with each other, as far as the labels show "
            "(kappa 0.72, 0.33 to 0.86; between people 0.75)."
        ),
    ),
    "less than people among each other": (
        [judged(measured(0.3, 0.1, 0.5), measured(0.9, 0.8, 0.95))],
        {},
        (
            "On faithfulness, the judge agrees with people, but less than they agree with each other (kappa 0.30, 0.10 to 0.50; "
            "between people 0.90)."
        ),
    ),
    "more than people among each other": (
        [judged(measured(0.9, 0.8, 0.95), measured(0.3, 0.1, 0.5))],
        {},
        (
            "On faithfulness, the judge agrees with people more than they agree with each other (kappa 0.90, 0.80 to 0.95; between "
            "people 0.30)."
        ),
    ),
    "people without an interval": ([judged(KAPPA, measured(0.75))], {}, f"{BEYOND}."),
    "no more than chance": (
        [judged(measured(0.2, -0.1, 0.5))],
        {},
        "On faithfulness, it is not shown that the judge agrees with people beyond chance (kappa 0.20, -0.10 to 0.50).",
    ),
    "the opposite of people": (
        [judged(measured(-0.5, -0.8, -0.1))],
        {},
        "On faithfulness, the judge contradicts people more often than chance would (kappa -0.50, -0.80 to -0.10).",
    ),
    "grades": (
        [judged(measured(0.6, 0.4, 0.8), measured(0.7, 0.5, 0.8), verdicts=False, corrected=corrected(3.2, 3.0, 3.4))],
        {},
        (
            "On faithfulness, the judge agrees with people beyond chance (rank correlation 0.60, 0.40 to 0.80); people would give "
            "3.20 on average (3.00 to 3.40)."
        ),
    ),
    "no kappa": (
        [judged(Measure(problem="all labels are passes"))],
        {},
        "On faithfulness, it is not known whether judge and people agree: all labels are passes.",
    ),
    "too few labels": (
        [judged(KAPPA, agreement=None, problem="4 labels are too few")],
        {},
        "On faithfulness, it is not known whether judge and people agree: 4 labels are too few.",
    ),
    "nearly all pass": (
        [judged(KAPPA, corrected=corrected(0.9981, 0.972, 0.9996))],
        {},
        f"{BEYOND}; people would pass 99.81 % of the rows (97.20 to 99.96 %).",
    ),
    "the lexical baseline": ([judged(KAPPA)], {"caveats": (LexicalJudge.caveat,)}, f"{BEYOND}. {LEXICAL}"),
    "three metrics": (
        [judged(KAPPA, name=name) for name in "abc"],
        {},
        (
            "On a, the judge agrees with people beyond chance (kappa 0.72, 0.33 to 0.86). On b, the judge agrees with people "
            "beyond chance (kappa 0.72, 0.33 to 0.86). 1 other metric has labels."
        ),
    ),
    "a warning": (
        [judged(KAPPA, warnings=("weights differ",))],
        {},
        f"{BEYOND}. The labels may mislead: see the warnings.",
    ),
    "scores that may have changed": (
        [judged(KAPPA)],
        {"doubt": "the journal is gone"},
        f"{BEYOND}. The scores of the run may not be those that it ended with.",
    ),
}


@pytest.mark.parametrize("case", CALIBRATIONS)
def test_a_calibration_in_a_sentence(case: str) -> None:
    metrics, more, sentence = CALIBRATIONS[case]
    assert Calibration("a", tuple(metrics), **more).sentence == sentence


SEVERAL = compare_runs([by_id(values, name=name) for name, values in zip("abc", ([0.5] * 20,) * 3, strict=True)])
APART = replace(SEVERAL.best[0], best=("a",), worse=("b", "c"))

MANY: dict[str, tuple[list[Any], dict[str, Any], str]] = {
    "one is best": ([APART], {}, "On m, a is best; b and c are worse."),
    "best in two metrics": ([APART, replace(APART, metric="n")], {}, "On m and n, a is best; b and c are worse."),
    "best in one metric": (
        [APART, replace(APART, metric="n", best=("b",), worse=("a", "c"))],
        {},
        "On m, a is best; b and c are worse. On n, b is best; a and c are worse.",
    ),
    "none can be told apart": ([SEVERAL.best[0]], {}, "On m, a, b and c cannot be told apart."),
    "metrics beyond the third": (
        [replace(APART, metric=name, problem=f"problem {name}") for name in "efghi"],
        {},
        "On e, problem e. On f, problem f. On g, problem g. The table has 2 more metrics.",
    ),
    "rows are left out": (
        [APART],
        {"left_out": (0, 2, 0)},
        ("On m, a is best; b and c are worse. Rows that not all runs have are left out."),
    ),
    "no metric is shared": ([], {}, "No metric is in all runs."),
}


@pytest.mark.parametrize("case", MANY)
def test_several_runs_in_a_sentence(case: str) -> None:
    best, more, sentence = MANY[case]
    pairs = [replace(pair, metrics=tuple(replace(item, void="") for item in pair.metrics)) for pair in SEVERAL.pairs]
    assert replace(SEVERAL, best=tuple(best), pairs=tuple(pairs), **more).sentence == sentence


def test_what_is_not_known_of_several_runs() -> None:
    said = "On m, a, b and c cannot be told apart. It is not known whether all runs were scored in the same way."
    assert SEVERAL.sentence == said


@pytest.mark.parametrize("result", [SEVERAL, CALIBRATED], ids=["several", "calibration"])
def test_every_other_face_shows_the_same_sentence(result: Any, tmp_path: Path) -> None:
    faces = {
        "terminal": text_at(80, result),
        "markdown": unmarked(result),
        "notebook": html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", result._repr_html_())),
    }
    for face, text in faces.items():
        assert one_spaced(text).startswith(result.sentence), face
    if result is SEVERAL:
        SEVERAL.to_html(tmp_path / "page.html")
        assert SEVERAL.sentence in one_spaced(text_of(tmp_path / "page.html"))


def text_of(page: Path) -> str:
    body = page.read_text(encoding="utf-8").split("<body>")[1].split("<script", maxsplit=1)[0]
    return " ".join(Skeleton(body).texts)


def faces_of(result: Any, page: Path) -> dict[str, str]:
    """The texts of each face, with the spaces that a reader sees."""
    result.to_html(page)
    return {
        "terminal": text_at(80, result),
        "markdown": unmarked(result),
        "notebook": html.unescape(re.sub(r"<style>.*?</style>|<[^>]*>", " ", result._repr_html_())),
        "page": text_of(page),
    }


def unmarked(result: Any) -> str:
    """The Markdown of a result without the marks of its first line, which is bold."""
    return html.unescape(result.to_markdown()).replace("\u200b", "").replace("**", "")


def one_spaced(text: str) -> str:
    return " ".join(text.split())


def compared_runs() -> Comparison:
    before = by_id([0.5, 0.6] * 15, "faith_fulness", name="old", settings=judged_by("faith_fulness"))
    after = by_id([0.9, 0.8] * 15, "faith_fulness", name="new", settings=judged_by("faith_fulness"))
    return before.compare(after)


def several_metrics() -> Comparison:
    rows = [({"id": n, "question": f"{n}?"}, {"a<b": 0.5 + n % 2 / 10, "c*d": 0.9 - n % 2 / 10}) for n in range(30)]
    after = [(row, {"a<b": 0.9 - n % 2 / 10, "c*d": 0.5 + n % 3 / 10}) for n, (row, _) in enumerate(rows)]
    return run_of(rows, name="old").compare(run_of(after, name="new"))


def refused() -> Comparison:
    return run_by("a", settings=judged_by("m")).compare(run_by("b", settings=judged_by("m", llm=OTHER)))


@pytest.mark.parametrize("make", [compared_runs, several_metrics, refused])
def test_every_face_of_a_comparison_shows_the_same_sentence(make: Any, tmp_path: Path) -> None:
    comparison = make()
    for face, text in faces_of(comparison, tmp_path / "page.html").items():
        assert comparison.sentence in one_spaced(text), face
        assert face == "page" or one_spaced(text).startswith(comparison.sentence), face
