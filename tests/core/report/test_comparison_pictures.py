"""Comparisons as text and as Markdown: what is said first, what fits, and that data has no effect."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from core.report.comparing import FAILED, by_id, judged_by, metric_column, model_identity, run_of
from core.report.test_comparison import verdicts
from core.report.test_credit import OTHER, run
from ragmetrics_core import Comparison, Score

HOSTILE = (
    "a|b",
    "`code` ``` fence",
    "<script>alert(1)</script>",
    "</details><img src=x onerror=y>",
    "line one\n\n# heading\n* item",
    "@team @a/b",
    "[link](http://evil.example) ![image](http://evil.example/x.png)",
    "https://evil.example/?q=1 www.evil.example a@evil.example",
    "#12 owner/repo#3 GH-4",
    "**bold** _it_ ~~gone~~ $x$ \\| &#124; &lt;b&gt;",
    "\x1b[31mred\x1b[0m \u202egnp.exe \r over",
    ":smile: -- {{x}} !y ^z",
)


def usual() -> Comparison:
    before = by_id([0.5, 0.25, 1.0, None, FAILED, 0.5, 0.5] * 5, name="old")
    after = by_id([1.0, 0.5, 0.75, 1.0, 1.0, 1.0] * 5, name="new")
    return before.compare(after)


def words(text: str) -> str:
    return " ".join(text.split())


class TestText:
    def test_what_the_margin_is_where_the_scale_is_not_known(self) -> None:
        columns = [metric_column("free", None, "Free()"), metric_column("stars", (1.0, 5.0), "Stars()")]
        run = run_of([({"id": n, "question": f"{n}?"}, {"free": 1.0 + n, "stars": 2.0}) for n in range(3)], columns)
        words = "margin: 0.03 of the width of a scale, 0.12 for stars; 0.03 as it is for free, whose scale is not known"
        assert words in run.compare(run).text(200)

    def test_what_is_said(self) -> None:
        rows = [({"id": f"q{n}", "lang": "de"}, {"m": verdicts(A=True, B=n > 0)}) for n in range(3)]
        after = [({"id": f"q{n}", "lang": "de"}, {"m": verdicts(A=False, B=True)}) for n in range(4)]
        comparison = run_of(rows, name="old").compare(run_of(after, name="new"))
        item = comparison["m"]
        assert item.interval is not None
        low, high = (f"{end:+.3f}" for end in item.interval[:2])
        assert comparison.text(300) == (
            "Too few rows to tell: m 0.83 → 0.50 (-1.00 to +0.38); about 730 rows would probably show a difference of 0.03. "
            "It is not known whether both runs were scored in the same way.\n"
            "\n"
            "from old to new: 3 rows in both, paired by id\n"
            "\n"
            "m: cannot say\n"
            f"  {item.why}\n"
            "\n"
            "metric  before  after  difference     95 % interval      p  adjusted p  pairs  changed      coverage\n"
            f"m        0.833  0.500      -0.333  {low} to {high}  {item.p_value:.3f}       {item.p_adjusted:.3f}      3        2  "
            "100 %, 100 %\n"
            "\n"
            "changed most:\n"
            "  m of q1: 1 to 0.5 (-0.5, 50 % of all change)\n"
            "    lost support: 'A'\n"
            "  m of q2: 1 to 0.5 (-0.5, 50 % of all change)\n"
            "    lost support: 'A'\n"
            "\n"
            "only in new: 1 row (q3)\n"
            "\n"
            "not known: only scores are known of old and new: whether the settings are the same is not known (m)\n"
            "before, after and difference: of the rows that have a value in both runs\n"
            f"95 % interval: {comparison.text(200).rpartition('95 % interval: ')[2].splitlines()[0]}\n"
            "margin: 0.03 of the width of a scale"
        )

    @pytest.mark.parametrize("width", [40, 60, 80, 120, 200])
    def test_it_fits_its_width_and_cuts_no_value(self, width: int) -> None:
        values = ("-0.200", "+0.500", "0.550", "0.700")
        before = [({"id": "x" * 60 + str(n), "lang": f"l{n % 3}"}, {"metric" * 9: 0.5, "n": 0.6}) for n in range(30)]
        after = [(row, {"metric" * 9: (1.0, 0.3, 0.7)[n % 3], "n": None}) for n, (row, _) in enumerate(before)]
        comparison = run_of(before, name="runs/a").compare(run_of(after, name="runs/b"), by="lang")
        text = comparison.text(width)
        longest = max(len(line) for line in text.splitlines())
        whole = len(f"{comparison.slices[0].name[:19]}...{comparison.slices[0].name[-18:]}, lang=l0")
        assert longest <= max(width, whole + 2 + len("no difference larger than the margin"))
        for item in comparison.slices:
            assert item.interval is None or f"{item.interval.low:+.3f} to {item.interval.high:+.3f}" in text
        assert values[0] in text

    def test_at_80_columns_usual_names_fit(self) -> None:
        assert max(map(len, usual().text(80).splitlines())) <= 80

    @pytest.mark.parametrize("width", [40, 80, 200])
    def test_tables_fit_whatever_the_names_are(self, width: int) -> None:
        """Slices and metrics of any length, all four verdicts among the cells."""
        values = [n % 10 / 10 for n in range(60)]
        later = {
            "same": [max(0.0, value + 0.01 * (-1) ** n) for n, value in enumerate(values)],
            "better": [min(1.0, value + 0.3) for value in values],
        }
        rows = [
            {"id": n, "question": f"{n}?", "kind": "a" * 25 if n % 2 else "the other kind of questions"}
            for n in range(60)
        ]
        names = {kind: f"{kind}_metric_with_a_long_name" for kind in later}
        before = run_of([(row, dict.fromkeys(names.values(), values[n])) for n, row in enumerate(rows)])
        after = run_of([(row, {names[kind]: later[kind][n] for kind in later}) for n, row in enumerate(rows)])
        lines = before.compare(after, by="kind", margin=1.0).text(width).splitlines()
        assert [line for line in lines if len(line) > width] == []
        assert any("within the margin" in line for line in lines)

    def test_rows_without_a_value_are_counted_and_named(self) -> None:
        text = words(usual().text(200))
        assert "only in old: 5 rows (q30, q31, q32, q33, q34)" in text
        assert (
            "m in old: 5 of 35 rows unscored (q3, q10, q17, q24, q31); 5 of 35 rows failed (q4, q11, q18, q25, q32)"
            in text
        )
        assert "8 rows (q3, q4, q10, q11, q17 and 3 more) with a value in the other run" in text

    def test_metrics_of_one_run(self) -> None:
        before = run_of([({"id": 1}, {"a": 0.5, "b": 0.5})], name="old")
        text = before.compare(run_of([({"id": 1}, {"a": 0.5})], name="new")).text(80)
        assert "only in old, and not compared: b" in text.splitlines()

    def test_refused_metrics_come_first(self) -> None:
        comparison = run("a", settings=judged_by("m")).compare(run("b", settings=judged_by("m", llm=OTHER)))
        assert comparison.text(80).splitlines()[:9] == [
            "No verdict on m, because the judge or its settings differ between the runs.",
            "",
            "from a to b: 20 rows in both, paired by id",
            "",
            "NOT CREDITED TO THE SYSTEM, because who scored differs between the runs:",
            "  m: the LLM is gpt-4o in a, gpt-4o-mini in b",
            "",
            "m: cannot say",
            "  the LLM is gpt-4o in a, gpt-4o-mini in b: a difference may come from that",
        ]
        (line,) = [line for line in comparison.text(200).splitlines() if line.startswith("m ")]
        assert line.split() == ["m", "0.595", "0.595", "-", "-", "-", "-", "20", "-", "100", "%,", "100", "%"]

    def test_allowed_metrics_carry_the_warning(self) -> None:
        after = run("b", settings=judged_by("m", llm=OTHER))
        comparison = run("a", settings=judged_by("m")).compare(after, allow_different_judges=True)
        assert "m: cannot say (see the warning)" in comparison.text(80).splitlines()
        assert "* m: cannot say (see the warning)" in comparison.to_markdown()

    def test_what_is_not_known_is_said(self) -> None:
        text = words(run("a").compare(run("b")).text(80))
        assert (
            "not known: only scores are known of a and b: whether the judge, its parameters, the words of prompts and the settings "
            "are the same is not known (m)"
        ) in text

    def test_labels_and_sentences_where_there_are_no_claims(self) -> None:
        before = run_of([({"id": "a"}, {"m": Score(1.0, label="answered", reason="it answers")})])
        after = run_of([({"id": "a"}, {"m": Score(0.0, reason="it declines")})])
        text = before.compare(after).text(80)
        assert "    label: 'answered' to none\n    before: 'it answers'\n    after: 'it declines'" in text

    def test_more_claims_than_are_shown(self) -> None:
        before = run_of([({"id": "a"}, {"m": verdicts(**{f"c{n}": True for n in range(5)})})])
        after = run_of([({"id": "a"}, {"m": verdicts(x=False)})])
        text = before.compare(after).text(80)
        assert "    new: 'x' (not supported)" in text
        assert "gone: 'c0' (supported), 'c1' (supported), 'c2' (supported) and 2 more" in words(text)

    def test_margins_and_adjustments(self) -> None:
        columns = [metric_column("m", (1.0, 5.0), "M()"), metric_column("n", (0.0, 1.0), "N()")]
        rows = [({"id": n, "lang": "de"}, {"m": 3.0 + n % 2, "n": 0.5 + n % 2 / 4}) for n in range(8)]
        after = [({"id": n, "lang": "de"}, {"m": 3.0, "n": 0.5}) for n in range(8)]
        one, two = run_of(rows, columns), run_of(after, columns)
        assert words(one.compare(two).text(200)).endswith(
            "adjusted p: Holm's, over 2 metrics rows that would show a difference: of one comparison alone; among "
            "several it takes more margin: 0.03 of the width of a scale, 0.12 for m"
        )
        assert ("adjusted p: twice Holm's, over 2 metrics and separately over 2 slices of metrics") in one.compare(
            two, by="lang"
        ).text(200)

    def test_slices_that_look_clear_tell_why_they_are_not(self) -> None:
        values = [0.2, 0.3] * 15
        rows = [({"id": n, "lang": "de" if n < 30 else "en"}, {"m": [*values, *values][n]}) for n in range(60)]
        after = [
            (row, {"m": None if row["id"] in range(4) else scores["m"] + (0.1 if row["id"] % 2 else 0.05)})
            for row, scores in rows
        ]
        worse = [(row, {"m": scores["m"] - (0.1 if row["id"] % 2 else 0.05)}) for row, scores in rows]
        text = words(run_of(rows).compare(run_of(after), by="lang").text(200))
        assert "m, lang=de: it goes from" in text
        assert "m, lang=en: it goes from" not in text
        assert "m, lang=en: it goes from" in words(run_of(rows).compare(run_of(worse), by="lang").text(200))


class TestMarkdown:
    def test_what_is_said(self) -> None:
        comparison = usual()
        item = comparison["m"]
        lines = comparison.to_markdown().splitlines()
        assert comparison.sentence == (
            "The new version is better: m 0.53 → 0.85 (+0.19 to +0.45). 1 row got worse. It is not known whether "
            "both runs were scored in the same way. 5 rows of the first run are missing from the second."
        )
        assert lines[:7] == [
            f"**{comparison.sentence}**",
            "",
            "from old to new: 30 rows in both, paired by id",
            "",
            "* m: \N{HEAVY CHECK MARK} better",
            f"  * {item.why.replace('<', '&#60;')}",
            "",
        ]
        assert lines[7].startswith("| metric | before | after | difference | 95 % interval |")
        cells = [cell.strip() for cell in lines[9].strip("|").split("|")]
        assert cells[:2] == ["<code>m</code>", f"{item.before:.3f}"]
        assert all(line.count("|") == lines[7].count("|") for line in lines[7:10])
        assert "<summary>Rows that changed most</summary>" in lines
        assert comparison._repr_markdown_() == comparison.to_markdown()

    def test_marks_of_verdicts(self) -> None:
        one, two = by_id([0.5, 0.6] * 20), by_id([0.8, 0.7] * 20)
        assert "* m: \N{HEAVY CHECK MARK} better\n" in one.compare(two).to_markdown()
        assert "* m: \N{HEAVY BALLOT X} worse\n" in two.compare(one).to_markdown()

    @pytest.mark.parametrize("text", HOSTILE)
    def test_data_is_shown_as_it_is_and_has_no_effect(self, text: str) -> None:
        named = by_id([0.5, 0.6] * 3, metric=text)
        table = [line for line in named.compare(named).to_markdown().splitlines() if line.startswith("|")]
        shown = table[2].split(" | ")[0].removeprefix("| ")
        assert re.fullmatch(r"<code>[^<>`|*\[\]@#&]*(&#\d+;[^<>`|*\[\]@#&]*)*</code>", shown.replace("\u202e", "")), (
            shown
        )
        inner = shown.removeprefix("<code>").removesuffix("</code>")
        readable = html.unescape(inner)
        plain = "".join(part if part.isprintable() else ascii(part)[1:-1] for part in text)
        assert readable == (plain if len(plain) <= 40 else f"{plain[:19]}...{plain[-18:]}")
        before = run("a", settings=judged_by("m", llm=model_identity(text, {})))
        lines = before.compare(run("b", settings=judged_by("m", llm=OTHER))).to_markdown().splitlines()
        said = lines[lines.index("* m: cannot say") + 1].removeprefix("  * ")
        assert said.startswith("the LLM is ")
        assert said.endswith(" in a, gpt-4o-mini in b: a difference may come from that")
        assert not re.search(r"[<>`|*\[\]]|@\w|://|www\.|(?<!&)#", said)
        assert "&#64;&#8203;" in said or "@" not in text
        assert not re.search(r"@\w|#\d|://|www\.\w", html.unescape(said)), "nor after the references were read"

    def test_everywhere(self) -> None:
        """Names of runs, metrics, slices, rows, claims and models; whatever is not ours is in code or written as references."""
        for text in HOSTILE:
            rows = [
                ({"id": f"{text}{n}", "lang": text}, {text: verdicts(**{text: True, "B": False})}) for n in range(8)
            ]
            after = [
                (row, {text: verdicts(**{text: False, "B": False, text * 2: False}) if n else FAILED})
                for n, (row, _) in enumerate(rows)
            ]
            after.append(({"id": text}, {text: 0.5}))
            one, two = run_of(rows, name=text), run_of(after, name=f"{text}!", stopped=text)
            comparison = one.compare(two, by="lang")
            markdown = comparison.to_markdown()
            assert set(re.findall(r"</?[a-z]+", markdown)) <= {
                *("<code", "</code", "<details", "</details", "<summary", "</summary"),
            }
            assert not re.search(r"@\w|://|\]\(|www\.|[\x00-\x09\x0b-\x1f]", markdown), text
            tables = [line for line in markdown.splitlines() if line.startswith("|")]
            assert {line.count("|") for line in tables} == {11}, text
            for width in (80, 200):
                assert not re.search("[\x00-\x09\x0b-\x1f\x7f\u202e]", comparison.text(width))
                assert "\n\n# heading" not in comparison.text(width)

    def test_a_comment_is_never_too_long(self) -> None:
        names = [f"metric {n}" for n in range(12)]
        text = "|" * 400
        rows = [
            ({"id": f"{text}{n}", "lang": f"{n % 50}|"}, dict.fromkeys(names, verdicts(**{text: True})))
            for n in range(300)
        ]
        after = [
            (row, dict.fromkeys(names, verdicts(**{text: n % 3 == 0, text * 2: False})))
            for n, (row, _) in enumerate(rows)
        ]
        comparison = run_of(rows).compare(run_of(after), by="lang")
        assert len(comparison.slices) == 600
        markdown = comparison.to_markdown()
        assert len(markdown) < 65_536
        assert markdown.count("<details>") == markdown.count("</details>")
        assert re.search(r"\nand \d+ more lines, which the JSON has\n", markdown)
        assert len(comparison.text(80)) > 12_000, "more than one part of a comment may hold"

    def test_a_slice_that_is_worse_is_among_those_that_are_shown(self) -> None:
        def values(n: int, *, after: bool) -> Any:
            return 0.9 - (0.5 + n // 99 % 2 / 10) * (after and n % 99 == 98)

        rows = [({"id": n, "lang": f"{'x' * 30}{n % 99:02}"}, {"m": values(n, after=False)}) for n in range(99 * 30)]
        after = [(row, {"m": values(n, after=True)}) for n, (row, _) in enumerate(rows)]
        comparison = run_of(rows).compare(run_of(after), by="lang")
        assert [item.label for item in comparison.slices if item.verdict == "worse"] == [f"{'x' * 30}98"]
        (row,) = [line for line in comparison.to_markdown().splitlines() if line.startswith("|") and "x98" in line]
        assert "worse" in row
