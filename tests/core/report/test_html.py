"""The page of an evaluation as a file: what is in it, what it lets a browser do, how large it is."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.resources import files
from pathlib import Path

import pytest

from core.report.skeleton import ALLOWED, Skeleton, check_policy
from ragmetrics_core import Evaluation, InvalidInput, Usage, evaluate
from ragmetrics_core._page._charts import histogram
from ragmetrics_core._page._page import joined_page, packed, source
from ragmetrics_core._store._prices import ModelUsage
from ragmetrics_core._store._run_settings import row_digest
from ragmetrics_core._values._tags import EMPTY, Html, element, joined, shown
from ragmetrics_core.llms import LexicalJudge
from ragmetrics_core.metrics import Faithfulness, Jury, ResponseGroundedness, SinglePassFaithfulness
from ragmetrics_core.metrics._response_groundedness import RATE_GROUNDEDNESS, RATE_GROUNDEDNESS_AGAIN
from ragmetrics_core.metrics._single_pass_faithfulness import SPLIT_AND_CHECK
from ragmetrics_core.metrics.claims import EXTRACT_CLAIMS, VERIFY_CLAIMS
from report_data import XSS, hostile, line, many, score, small, unpacked, written


def page_of(evaluation: Evaluation, folder: Path, **options: float) -> str:
    path = folder / "report.html"
    evaluation.to_html(path, **options)
    return path.read_text(encoding="utf-8")


SOURCES = sorted(
    item.name for item in (files("ragmetrics_core._page") / "sources").iterdir() if item.name.endswith((".js", ".css"))
)


class TestMarkup:
    def test_texts_are_escaped_and_markup_is_not(self) -> None:
        made = element("p", "<b> & \"'", element("b", "x"), class_="a\"b'<", hidden=True, title=None, dir=False)
        assert made == '<p class="a&quot;b&#x27;&lt;" hidden>&lt;b&gt; &amp; &quot;&#x27;<b>x</b></p>'

    def test_elements(self) -> None:
        assert element("p", "a<b", title='"', hidden=True, class_="x", data_a=None) == (
            '<p title="&quot;" hidden class="x">a&lt;b</p>'
        )
        assert element("br") == "<br>"
        assert joined(["<", element("b", "\x00"), None]) == "&lt;<b>\ufffd</b>"

    def test_what_html_cannot_hold_is_shown_as_a_replacement(self) -> None:
        assert shown("a\x00b\x1bc\ud800d\te\n") == "a\ufffdb\ufffdc\ufffdd\te\n"

    def test_parts_are_joined(self) -> None:
        assert joined(["<", Html("<br>"), None]) == "&lt;<br>"

    def test_nothing_that_is_filled_in_is_read_again(self) -> None:
        page = joined_page(
            "{{data}}",
            {
                "header": Html("{{metrics}}"),
                "metrics": Html("M"),
                "data": Html("D"),
                **dict.fromkeys(("gates", "caveats", "slices", "rests_on", "about"), EMPTY),
            },
        )
        assert "<title>{{data}}</title>" in page
        assert page.count("{{metrics}}") == 1


OF_SERVERS = ("served.js", "served-labels.js")
"""The sources that ask the server of a served page; no page in a file has them."""


class TestPolicy:
    def test_the_digests_are_those_of_the_script_and_the_style_in_the_file(self, tmp_path: Path) -> None:
        check_policy(page_of(small(tmp_path / "scores.jsonl"), tmp_path))

    @pytest.mark.parametrize("name", SOURCES)
    def test_a_source_reads_no_markup_and_loads_nothing(self, name: str) -> None:
        text = source(name)
        assert not re.search(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval\(|new Function|XMLHttp", text)
        assert name in OF_SERVERS or "fetch(" not in text
        assert not re.search(r"https?://(?!www\.w3\.org)|url\(|@import|</script|</style", text)
        assert len(text.splitlines()) <= 300


class TestContent:
    def test_rows_come_back_as_they_were(self, tmp_path: Path) -> None:
        evaluation = small(tmp_path / "scores.jsonl")
        page = page_of(evaluation, tmp_path)
        index = unpacked(page, "index")
        assert index["blocks"] == [[2, 0, 3, 1]]
        assert index["rows"]["ids"] == ["q1", "q2", "q3", None]
        assert index["rows"]["values"] == [[0.333333, 1.0, None, None], [0.0, 1.0, 1.0, 0.0]]
        assert index["rows"]["states"] == ["ssfu", "ssss"]
        assert index["rows"]["passing"] == ["----", "nyyn"]
        assert index["rows"]["labels"] == [
            [None, None, None, "no_retrieval"],
            ["contradicted", "right", "right", "not_retrieved"],
        ]
        assert index["rows"]["metadata"] == {"lang": ["en", "de", "de", None]}
        assert index["rows"]["notes"] == {}
        rows = evaluation.to_dict()["rows"]
        digests = [
            {item.name: row_digest(sample, item.inputs or ()) for item in evaluation.metrics}
            for sample in evaluation.rows
        ]
        expected = [{**rows[row], "exchanges": {}, "digests": digests[row]} for row in (2, 0, 3, 1)]
        assert unpacked(page, "block-0") == expected

    def test_slices_have_means_and_intervals(self, tmp_path: Path) -> None:
        (found,) = unpacked(page_of(small(tmp_path / "scores.jsonl"), tmp_path), "index")["slices"]
        assert (found["path"], [(group["value"], group["rows"]) for group in found["groups"]]) == (
            "lang",
            [("de", 2), ("en", 1), (None, 1)],
        )
        faithfulness, diagnosis = found["groups"][0]["scores"]
        assert faithfulness == {"scored": 1, "mean": 1.0, "low": None, "high": None}
        assert (diagnosis["scored"], diagnosis["mean"], diagnosis["high"]) == (2, 1.0, 1.0)
        assert diagnosis["low"] == pytest.approx(2 / (2 + 1.959964**2), abs=1e-4)  # Wilson's lower end of 2 of 2

    def test_the_head_of_a_lexical_run_says_so_first(self, tmp_path: Path) -> None:
        row = {"question": "Where?", "answer": "In Paris.", "contexts": ["It is in Paris."], "id": "a"}
        evaluation = evaluate([row], "faithfulness", llm=LexicalJudge())
        texts = [text.strip() for text in Skeleton(page_of(evaluation, tmp_path)).texts if text.strip()]
        at = texts.index("Evaluation") + 1
        assert (
            texts[at] == "Faithfulness is 1.00 on 1 row. The judge was a lexical baseline, which only compares words."
        )
        assert texts[at + 1 : at + 3] == ["Metrics", "Caveats (2)"], "the links to sections"
        caveats = texts.index("Caveats (2)", at + 3)
        assert texts[caveats + 1].startswith("These scores are a lexical baseline")
        assert texts[caveats + 2] == "faithfulness: the mean is of 1 row only, so it says little about other rows"
        page = " ".join(texts)
        for fact in ("Rows 1", "Coverage 1 of 1 rows (100%) have a value of every metric", "Judge LexicalJudge", "UTC"):
            assert fact in page
        assert "Prompt versions extract_claims 5, verify_claims 6" in page

    @pytest.mark.parametrize("repeats", [1, 2])
    def test_prompts_are_named_with_repeats_and_in_a_jury(self, tmp_path: Path, repeats: int) -> None:
        row = {"question": "Where?", "answer": "In Paris.", "contexts": ["It is in Paris."], "id": "a"}
        metrics = [Faithfulness(), Jury([SinglePassFaithfulness(), ResponseGroundedness()], rule="median")]
        result = evaluate([row], metrics, llm=LexicalJudge(), repeats=repeats, run_dir=tmp_path / "run", progress=False)
        asked = (EXTRACT_CLAIMS, VERIFY_CLAIMS, SPLIT_AND_CHECK, RATE_GROUNDEDNESS, RATE_GROUNDEDNESS_AGAIN)
        expected = {f"{prompt.name} {prompt.version}" for prompt in asked}
        for evaluation in (result, Evaluation.load(tmp_path / "run")):
            found = re.search(r"Prompt versions</dt><dd[^>]*>([^<]*)<", page_of(evaluation, tmp_path))
            assert found is not None
            assert set(found[1].split(", ")) == expected

    def test_prompts_that_nothing_tells_are_not_said_to_be_none(self, tmp_path: Path) -> None:
        told_nothing = written(tmp_path / "scores.jsonl", [line(1, {"id": "a"}, score("faithfulness", 0.5))])
        page = " ".join(Skeleton(page_of(told_nothing, tmp_path)).texts)
        assert "Prompt versions not recorded" in re.sub(r"\s+", " ", page)
        free = evaluate([{"response": "a", "reference": "a"}], "exact_match", progress=False)
        assert "Prompt versions no prompt was used" in re.sub(
            r"\s+", " ", " ".join(Skeleton(page_of(free, tmp_path)).texts)
        )

    def test_a_file_of_scores_tells_no_judge(self, tmp_path: Path) -> None:
        page = " ".join(Skeleton(page_of(small(tmp_path / "scores.jsonl"), tmp_path)).texts)
        assert "Judge not known: a file of scores does not tell" in page.replace("\n", " ")

    def test_a_metric_has_a_price_where_one_model_answered_all_of_its_calls(self, tmp_path: Path) -> None:
        pytest.importorskip("genai_prices")
        usage = {"calls": 2, "prompt_tokens": 1_000_000, "completion_tokens": 100_000, "cached_calls": 0}
        scores = (
            score("faithfulness", 0.5, usage=usage),
            score("context_recall", 0.5, usage={**usage, "cached_calls": 1}),
        )
        run = written(tmp_path / "scores.jsonl", [line(1, {"id": "a"}, *scores)])
        one = ModelUsage("gpt-4o-mini", "https://api.openai.com/v1", Usage(4, 2_000_000, 200_000))
        costs = r'data-name="Cost" data-order="([^"]*)">([^<]*)<'
        # 0.15 dollars per million tokens in, 0.60 per million out; cached calls leave the price of a metric open
        found = re.findall(costs, page_of(replace(run, models=(one,)), tmp_path))
        assert found == [("0.21", "$0.2100"), ("1100000", "1,100,000 tokens")]
        found = re.findall(costs, page_of(replace(run, models=(one, replace(one, name="gpt-4o"))), tmp_path))
        assert found == [("1100000", "1,100,000 tokens")] * 2

    def test_bins_of_a_distribution(self) -> None:
        assert [
            place for place, count in enumerate(histogram([0.0, 0.049, 0.05, 1.0], 0.0, 1.0)) for _ in range(count)
        ] == [
            0,
            0,
            1,
            19,
        ]
        assert histogram([3.0, 3.0], 3.0, 3.0)[10] == 2

    def test_an_evaluation_without_a_value(self, tmp_path: Path) -> None:
        page = " ".join(Skeleton(page_of(evaluate([{"id": "a"}], "token_f1"), tmp_path)).texts)
        assert "Failed on every row: token_f1" in re.sub(r"\s+", " ", page)
        assert "failed on every row" in page

    def test_halves_of_characters_survive(self) -> None:
        content = packed(["ü\ud800"])
        page = f'<script type="application/octet-stream" id="x">{content}</script>'
        assert unpacked(page, "x") == ["ü\ud800"]


class TestHostileTexts:
    def test_no_text_becomes_markup(self, tmp_path: Path) -> None:
        hostile_page = Skeleton(page_of(hostile(tmp_path / "hostile.jsonl"), tmp_path))
        elements = {part[0] for part in hostile_page.parts}
        assert elements - set(ALLOWED.split()) == set()
        assert all(link.startswith("#") for link in hostile_page.links)
        assert hostile_page.parts["script",] == 1
        handlers = [name for part in hostile_page.parts for name in part[1:] if name.startswith("on")]
        assert handlers == []
        shown_texts = "".join(hostile_page.texts)
        assert all(text in shown_texts for text in XSS if text.isprintable() and "&" not in text)


class TestSize:
    def test_what_does_not_fit_is_the_evidence_of_the_best_rows(self, tmp_path: Path) -> None:
        evaluation = many(tmp_path / "many.jsonl", 300)
        page = page_of(evaluation, tmp_path, max_megabytes=0.3)
        assert 250_000 <= len(page.encode()) <= 300_000
        index = unpacked(page, "index")
        worst = index["rows"]["worst"]
        inside = [row for block in index["blocks"] for row in block]
        outside = sorted(map(int, index["rows"]["notes"]))
        assert sorted([*inside, *outside]) == list(range(300))
        assert max(worst[row] for row in inside) <= min(worst[row] for row in outside)

    def test_a_page_without_room_for_evidence(self, tmp_path: Path) -> None:
        index = unpacked(page_of(small(tmp_path / "scores.jsonl"), tmp_path, max_megabytes=0.01), "index")
        assert index["blocks"] == []
        assert index["rows"]["notes"]["2"] == ["BadReply: no JSON", None]
        assert index["megabytes"] == 0.0

    @pytest.mark.parametrize("value", [0, -1, True, "12", float("nan")])
    def test_a_size_that_is_none(self, tmp_path: Path, value: float) -> None:
        with pytest.raises(InvalidInput, match=f"^max_megabytes must be a number greater than 0, got {value!r}$"):
            small(tmp_path / "scores.jsonl").to_html(tmp_path / "report.html", max_megabytes=value)


def test_the_scores_of_a_run_are_not_written_over(tmp_path: Path) -> None:
    evaluation = evaluate([{"answer": "a", "reference": "a"}], "token_f1", run_dir=tmp_path / "run")
    with pytest.raises(
        InvalidInput, match=r"scores\.jsonl is the scores file of this run and already has these scores: "
    ):
        evaluation.to_html(tmp_path / "run" / "scores.jsonl")
