"""A run in Parquet files: it comes back as it was, is read when it is needed, and says what is wrong with its files."""

from __future__ import annotations

import gc
import json
import math
import pickle
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from core.evaluate.doubles import AsyncModel, Length, Rated, questions
from core.report.comparing import FAILED, by_id, judged_by, metric_column, not_asked, run_of, text_at
from ragmetrics_core import Evaluation, InvalidInput, MissingExtra, Score, Usage, evaluate
from ragmetrics_core.llms import LexicalJudge
from report_data import hostile, small
from source_tree import ROOT

pa = pytest.importorskip("pyarrow")
pq = pytest.importorskip("pyarrow.parquet")
duckdb = pytest.importorskip("duckdb")

ODD = [
    ({"id": 1, "question": "a", "lang": "de", "n": 1.0, "deep": {"x": 1}}, {"m": 0.25, "k": 1.0}),
    ({"id": "1.5", "question": ["a", 2], "contexts": "one text", "lang": True}, {"m": None, "k": FAILED}),
    ({"id": " q ", "question": "b\ud800", "lang": "\ud800", "n": 3}, {"m": FAILED, "k": 0.0}),
    ({"contexts": ["x", "\ud800"], "response": "e\u0301", "reference_contexts": []}, {"m": 0.75, "k": None}),
    ({"id": "\ud800", "contexts": [{"content": "c", "id": "d"}], "rubric": {1: "bad", "x": "y"}}, {"m": 1, "k": 1}),
]


def odd() -> Evaluation:
    """A run whose values fit no column."""
    scores = {
        "m": Score(0.5, passing=True, reason="r\ud800", label="l\ud800", details={"a": [1, "\ud800"]}, scale=(0, 2)),
        "k": Score.failed("went wrong \ud800", details={"raw": ["x"]}),
    }
    used = Score(0.5, usage=Usage(3, 20, 10, 1), details={"prompts": {"p": "1"}}).made_by(
        "m", (0, 1), Usage(3, 20, 10, 1)
    )
    others = [
        ({"id": "last", "metadata": {"id": "inner", "\ud800": 1}}, scores),
        ({"id": "used"}, {"m": used, "k": not_asked("k", (0, 1))}),
    ]
    return run_of([*ODD, *others], name="odd\ud800", settings=None, seconds=1.5, caveats=("note",), stopped="by hand")


def loaded(run: Evaluation, path: Path, rows_per_file: int | None = None) -> Evaluation:
    run.to_parquet(path, rows_per_file=rows_per_file)
    return Evaluation.load(path)


def query(run: Evaluation, sql: str, *values: object) -> list[Any]:
    records: Any = run.records
    return records.tables.query(sql, *values)


RUNS: dict[str, Callable[[Path], Evaluation]] = {
    "small": lambda path: small(path / "scores.jsonl"),
    "hostile": lambda path: hostile(path / "scores.jsonl"),
    "odd": lambda _: odd(),
    "judged": lambda path: evaluate(
        questions(7), [Length(), "faithfulness"], llm=LexicalJudge(), progress=False, run_dir=path / "run"
    ),
    "repeats": lambda _: evaluate(questions(4), "faithfulness", llm=LexicalJudge(), repeats=2, progress=False),
    "settings": lambda _: by_id([0.5, None, FAILED, 1.0], settings=judged_by("m")),
}


@pytest.fixture(params=sorted(RUNS))
def run(request: pytest.FixtureRequest, tmp_path: Path) -> Evaluation:
    return RUNS[request.param](tmp_path)


@pytest.mark.parametrize("rows_per_file", [None, 1, 3])
def test_it_comes_back_as_it_was(run: Evaluation, rows_per_file: int | None, tmp_path: Path) -> None:
    found = loaded(run, tmp_path / ("rows.parquet" if rows_per_file is None else "rows"), rows_per_file)
    run.to_jsonl(tmp_path / "before.jsonl")
    found.to_jsonl(tmp_path / "after.jsonl")
    assert (tmp_path / "after.jsonl").read_text() == (tmp_path / "before.jsonl").read_text()
    assert found.to_dict() == run.to_dict()
    assert (found.metrics, found.settings) == (run.metrics, run.settings)
    for name in ("caveats", "source", "seconds", "models", "stopped", "earlier", "waited", "fault", "state"):
        assert getattr(found, name) == getattr(run, name), name


def test_every_face_is_the_same(run: Evaluation, tmp_path: Path) -> None:
    found = loaded(run, tmp_path / "rows", 2)
    metric = run.metrics[0].name
    assert text_at(80, found.summary()) == text_at(80, run.summary())
    assert found.summary()._repr_html_() == run.summary()._repr_html_()
    assert repr(found.worst(metric)) == repr(run.worst(metric))
    assert str(found.worst(metric)) == str(run.worst(metric))
    assert found[metric] == run[metric]
    assert found.to_pandas(evidence=True).equals(run.to_pandas(evidence=True))
    found.to_csv(tmp_path / "found.csv")
    run.to_csv(tmp_path / "run.csv")
    assert (tmp_path / "found.csv").read_bytes() == (tmp_path / "run.csv").read_bytes()


def test_a_row_is_read_by_its_position(tmp_path: Path) -> None:
    found = loaded(by_id([number / 10 for number in range(10)]), tmp_path / "rows", 4)
    assert sorted(path.name for path in (tmp_path / "rows").iterdir()) == [
        "part-00000.parquet",
        "part-00001.parquet",
        "part-00002.parquet",
    ]
    assert [found.records[at].sample.id for at in (9, 0, 4, -1)] == ["q9", "q0", "q4", "q9"]
    assert [record.scores["m"].value for record in found.records[3:5]] == [0.3, 0.4]
    with pytest.raises(IndexError):
        found.records[10]


def test_the_columns_are_those_of_the_rows_and_the_metrics(tmp_path: Path) -> None:
    rows = [
        ({"id": f"q{number}", "question": "a", "contexts": ["x"], "lang": lang}, {"m": value})
        for number, (lang, value) in enumerate([("de", 0.5), (None, None), (3, FAILED)])
    ]
    run_of(rows, seconds=2.0).to_parquet(tmp_path / "rows.parquet")
    table = pq.read_table(tmp_path / "rows.parquet")
    shown = [name for name in table.column_names if not name.startswith("_")]
    assert shown[:8] == [
        *("id", "user_input", "response", "reference", "retrieved_contexts", "reference_contexts"),
        *("metadata.lang", "m"),
    ]
    assert shown[8:14] == ["m_label", "m_error", "m_calls", "m_tokens", "m_seconds", "m_evidence"]
    documented = (ROOT / "docs" / "report.md").read_text().partition("Their columns:")[2].partition("The files hold")[0]
    named = set(re.findall("`(.*?)`", documented))
    ours = {name: {name, name.removeprefix("m"), name.replace("m", "faithfulness", 1)} for name in table.column_names}
    ours["metadata.lang"] = {"metadata.<key>"}
    assert [name for name, words in ours.items() if named.isdisjoint(words)] == []
    assert table["metadata.lang"].to_pylist() == ["de", None, "3"]
    assert table["m"].to_pylist() == [0.5, None, None]
    assert table["m_error"].to_pylist() == [None, None, "ModelError: gone"]
    assert table["retrieved_contexts"].to_pylist() == [["x"]] * 3
    head = json.loads(table.schema.metadata[b"ragmetrics"])
    assert (head["account"]["seconds"], head["account"]["scores"]["rows"]) == (2.0, 3)


class TestWhatIsRefused:
    def test_a_directory_with_files(self, tmp_path: Path) -> None:
        (tmp_path / "x").write_text("x")
        with pytest.raises(InvalidInput) as caught:
            by_id([1.0]).to_parquet(tmp_path)
        assert str(caught.value) == f"to_parquet: {tmp_path} exists and is not an empty directory: give another path"

    def test_a_run_without_rows(self, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput) as caught:
            run_of([]).to_parquet(tmp_path / "rows.parquet")
        assert str(caught.value) == "to_parquet: the run has no finished row: there is nothing to write"
        assert not list(tmp_path.iterdir())

    @pytest.mark.parametrize(("name", "rows"), [("rows.parquet", 5), ("rows", 0), ("rows", True)])
    def test_a_number_of_rows(self, name: str, rows: Any, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput) as caught:
            by_id([1.0]).to_parquet(tmp_path / name, rows_per_file=rows)
        cure = {
            5: "a directory has several files, and rows.parquet is one: leave rows_per_file out",
            0: "must be a whole number, at least 1, got 0",
            True: "must be a whole number, at least 1, got True",
        }[rows]
        assert str(caught.value).replace(f"{tmp_path}/", "") == f"to_parquet: rows_per_file: {cure}"

    @pytest.mark.parametrize("name", ["m_label", "M", "ID", "a\0b"])
    def test_two_columns_of_one_name(self, name: str, tmp_path: Path) -> None:
        with pytest.raises(InvalidInput) as caught:
            run_of([({"id": "1"}, {"m": 1.0, name: 1.0})]).to_parquet(tmp_path / "rows.parquet")
        assert str(caught.value) == f"to_parquet: two columns would have the name {name!r}: rename the metric"

    def test_a_missing_package(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        by_id([1.0]).to_parquet(tmp_path / "rows.parquet")
        monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
        cure = 'needs pyarrow: pip install "ragmetrics-core[parquet]"'
        with pytest.raises(MissingExtra) as caught:
            Evaluation.load(tmp_path / "rows.parquet")
        assert str(caught.value) == f"reading {tmp_path / 'rows.parquet'} {cure}"
        with pytest.raises(MissingExtra) as caught:
            by_id([1.0]).to_parquet(tmp_path / "other.parquet")
        assert str(caught.value) == f"to_parquet() {cure}"

    def test_a_missing_package_for_queries(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        path = tmp_path / "rows.parquet"
        found = loaded(by_id([1.0]), path)
        monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
        with pytest.raises(MissingExtra) as caught:
            query(found, "SELECT 1")
        cure = 'needs duckdb: pip install "ragmetrics-core[parquet]"'
        assert str(caught.value) == f"counting the rows of {path} {cure}"


class TestQueries:
    """Files are queried whatever their names are, and nothing else is."""

    @pytest.mark.parametrize(
        "name", ["o'clock", '"q"', "a[1]", "a*", "?", "lang=de", "x;DROP TABLE run", "{a,b}", "s3:", "a\nb", "e\u0301"]
    )
    @pytest.mark.skipif(sys.platform == "win32", reason="Windows allows no such names")
    def test_names_of_files(self, name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for number, other in enumerate((name, "a1", "ab", "q")):
            (tmp_path / other).mkdir()
            by_id([number / 4]).to_parquet(tmp_path / other / f"{other}.parquet")
        monkeypatch.chdir(tmp_path)
        for path in (tmp_path / name, Path(name), Path(name) / f"{name}.parquet"):
            assert query(Evaluation.load(path), "SELECT id, m FROM run") == [("q0", 0.0)]
            with pytest.raises(duckdb.BinderException):
                query(Evaluation.load(path), "SELECT lang FROM run")

    def test_names_of_columns(self, tmp_path: Path) -> None:
        names = ['a"b', "x; DROP TABLE run", "a.b", "select", "\n", "'", " sp ", "e\u0301", "%s", "?", "$1"]
        rows = [({"id": "1", **dict.fromkeys(names, "de")}, dict.fromkeys(names, 0.5))]
        found = loaded(run_of(rows), tmp_path / "rows.parquet")
        for name in names:
            inside = name.replace('"', '""')
            sql = f'SELECT "{inside}", "metadata.{inside}" FROM run WHERE id = ?'
            assert query(found, sql, "1") == [(0.5, "de")]

    def test_keys_that_differ_in_case(self, tmp_path: Path) -> None:
        rows = [
            ({"id": "1", "lang": "de", "Lang": "en", "a\0b": "x"}, {"m": 1.0}),
            ({"id": "2", "Lang": "fr"}, {"m": 0.0}),
        ]
        found = loaded(run_of(rows), tmp_path / "rows.parquet")
        assert query(found, 'SELECT "metadata.lang", _nested FROM run') == [("de", True), (None, True)]
        assert [record.sample.metadata for record in found.records] == [
            record.sample.metadata for record in run_of(rows).records
        ]

    def test_files_whose_columns_differ_in_case(self, tmp_path: Path) -> None:
        run_of([({"id": "1", "lang": "de"}, {"m": 1.0}), ({"id": "2"}, {"m": 0.0})]).to_parquet(
            tmp_path, rows_per_file=1
        )
        part = tmp_path / "part-00001.parquet"
        table = pq.read_table(part)
        names = [name.replace("lang", "Lang") for name in table.column_names]
        pq.write_table(table.rename_columns(names).replace_schema_metadata(table.schema.metadata), part)
        with pytest.raises(InvalidInput) as caught:
            Evaluation.load(tmp_path)
        two = "'metadata.lang' and 'metadata.Lang'"
        assert str(caught.value) == f"{tmp_path}: the columns {two} differ only in case: rename one"

    def test_a_damaged_file(self, tmp_path: Path) -> None:
        path = tmp_path / "a.parquet"
        found = loaded(by_id([1.0, 0.5]), path)
        data = bytearray(path.read_bytes())
        data[4:-2000] = b"\xff" * (len(data) - 2004)
        path.write_bytes(data)
        with pytest.raises(InvalidInput) as caught:
            query(found, "SELECT * FROM run")
        assert str(caught.value).startswith(f"{path} cannot be read (")
        assert str(caught.value).endswith("): copy its files again")

    def test_the_temporary_directory_is_deleted(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
        found = loaded(by_id([1.0]), tmp_path / "rows.parquet")
        assert query(found, "SELECT count(*) FROM run") == [(1,)]
        (folder,) = tmp_path.glob("ragmetrics-*")
        assert query(found, "SELECT current_setting('temp_directory')") == [(str(folder),)]
        for name in ("autoinstall_known_extensions", "autoload_known_extensions"):
            assert query(found, "SELECT current_setting(?)", name) == [(False,)]
        del found
        gc.collect()
        assert not folder.exists()


CURE = "give files that Evaluation.to_parquet wrote, or score these rows with evaluate"


class TestFiles:
    """What is said of files that are damaged, of others, or not of one run."""

    def refused(self, path: Path) -> str:
        with pytest.raises(InvalidInput) as caught:
            Evaluation.load(path)
        return str(caught.value).replace(f"{path.parent}/", "")

    def test_not_parquet(self, tmp_path: Path) -> None:
        (tmp_path / "a.parquet").write_text("no")
        assert self.refused(tmp_path / "a.parquet").startswith("a.parquet is not a Parquet file that can be read: ")

    def test_of_another_program(self, tmp_path: Path) -> None:
        pq.write_table(pa.table({"a": [1]}), tmp_path / "a.parquet")
        why = "its schema contains no settings of a run"
        assert self.refused(tmp_path / "a.parquet") == f"a.parquet does not hold the scores of a run ({why}): {CURE}"

    @pytest.mark.parametrize(
        ("head", "why"),
        [
            (b"{", "its settings cannot be read: "),
            (b"[]", "it was written by another version of ragmetrics"),
            (b'{"version": 2}', "it was written by another version of ragmetrics"),
            (b'{"version": 1}', "its settings cannot be read: 'metrics'"),
        ],
    )
    def test_other_settings(self, head: bytes, why: str, tmp_path: Path) -> None:
        pq.write_table(pa.table({"a": [1]}).replace_schema_metadata({b"ragmetrics": head}), tmp_path / "a.parquet")
        assert self.refused(tmp_path / "a.parquet").startswith(f"a.parquet does not hold the scores of a run ({why}")

    def test_a_missing_column(self, tmp_path: Path) -> None:
        by_id([1.0]).to_parquet(tmp_path / "a.parquet")
        table = pq.read_table(tmp_path / "a.parquet")
        pq.write_table(table.drop_columns(["m_error"]), tmp_path / "a.parquet")
        why = "it has no column 'm_error'"
        assert self.refused(tmp_path / "a.parquet") == f"a.parquet does not hold the scores of a run ({why}): {CURE}"

    def test_a_column_of_another_type(self, tmp_path: Path) -> None:
        by_id([1.0]).to_parquet(tmp_path / "a.parquet")
        table = pq.read_table(tmp_path / "a.parquet")
        at = table.schema.get_field_index("m_seconds")
        pq.write_table(table.set_column(at, "m_seconds", pa.array(["x"])), tmp_path / "a.parquet")
        why = "its column 'm_seconds' has the type string, not double"
        assert self.refused(tmp_path / "a.parquet") == f"a.parquet does not hold the scores of a run ({why}): {CURE}"

    def test_a_missing_file(self, tmp_path: Path) -> None:
        by_id([1.0, 0.5, 0.0]).to_parquet(tmp_path / "rows", rows_per_file=2)
        (tmp_path / "rows" / "part-00001.parquet").unlink()
        found = Evaluation.load(tmp_path / "rows")
        assert found.state == "damaged"
        what = "the run ended with 3 rows, and 2 are there: copy its files again"
        assert found.doubt == f"{tmp_path / 'rows'} is damaged: {what}"

    def test_beside_a_file_of_scores(self, tmp_path: Path) -> None:
        folder, scores = tmp_path / "rows", tmp_path / "rows" / "scores.jsonl"
        folder.mkdir()
        by_id([1.0]).to_parquet(folder / "a.parquet")
        by_id([0.5, 0.5]).to_jsonl(scores)
        cure = "give rows/scores.jsonl, or move it away"
        assert self.refused(folder) == f"rows has Parquet files and scores.jsonl: {cure}"
        assert len(Evaluation.load(scores)) == 2
        assert len(Evaluation.load(folder / "a.parquet")) == 1

    def test_a_damaged_part(self, tmp_path: Path) -> None:
        by_id([1.0, 0.5]).to_parquet(tmp_path / "a.parquet")
        data = bytearray((tmp_path / "a.parquet").read_bytes())
        data[4:200] = b"\xff" * 196
        (tmp_path / "a.parquet").write_bytes(data)
        with pytest.raises(InvalidInput) as caught:
            list(Evaluation.load(tmp_path / "a.parquet").records)
        assert str(caught.value).startswith(f"{tmp_path / 'a.parquet'} is damaged (")

    @pytest.mark.parametrize(
        ("other", "what"),
        [
            (by_id([1.0], "k"), "other metrics (there: m; here: k)"),
            (by_id([1.0], settings=judged_by("m", llm=None)), "other settings: different k"),
            (by_id([1.0], seconds=3.0), "the settings of only one are known"),
            (by_id([1.0], settings=judged_by("m"), seconds=3.0), "one has another account of the run than the other"),
        ],
    )
    def test_of_two_runs(self, other: Evaluation, what: str, tmp_path: Path) -> None:
        folder = tmp_path / "rows"
        folder.mkdir()
        by_id([1.0], settings=judged_by("m", settings={"k": "4"})).to_parquet(folder / "a.parquet")
        if what.startswith("one"):
            by_id([1.0], settings=judged_by("m")).to_parquet(folder / "a.parquet")
        other.to_parquet(folder / "b.parquet")
        cure = "put each run into its own directory"
        assert self.refused(folder) == f"rows/a.parquet and rows/b.parquet are not parts of one run: {what}: {cure}"


LANGS = st.sampled_from(["de", "en", "e\u0301", " x ", True, 1, 1.0, 2.5, None, "<script>"])
SCORES = st.one_of(
    st.sampled_from([0.0, 1.0, 0.5, 1 / 3, None, FAILED]),
    st.floats(0, 1),
    st.builds(
        lambda value, passing, label: Score(value, passing=passing, label=label),
        st.sampled_from([0.0, 1.0, 0.25]),
        st.sampled_from([True, False, None]),
        st.sampled_from(["no_retrieval", "a", "b", None]),
    ),
    st.just(not_asked("m", (0.0, 1.0))),
    st.just(Score.unscored("nothing to score", label="no_answer")),
    st.sampled_from(["MissingInput: m needs 'x' in q.jsonl, line 3: add it", "BadReply: no"]).map(Score.failed),
)
ROWS = st.lists(
    st.tuples(
        st.fixed_dictionaries(
            {"id": st.one_of(st.none(), st.integers(0, 30), st.text(max_size=2))},
            optional={"lang": LANGS, "deep": st.just({"x": 1}), "question": st.sampled_from(["a", "b"])},
        ),
        st.fixed_dictionaries({"m": SCORES, "k": SCORES}),
    ),
    min_size=1,
    max_size=24,
)


def outcome(ask: Callable[[], Any]) -> Any:
    """What a call returns, as text and as data, or the message of its error."""
    try:
        found = ask()
    except InvalidInput as error:
        return str(error)
    return [text_at(90, found), found.to_markdown(), found._repr_html_(), found.to_dict()]


def asked(run: Evaluation) -> list[Any]:
    """All results that come from columns."""
    gates = ("m >= 0.5", "k <= 0.4", "k >= 0.2")
    return [
        outcome(run.summary),
        outcome(lambda: run.summary(by="lang")),
        outcome(lambda: run.summary(by="metadata.lang")),
        outcome(lambda: run.summary(by="absent")),
        outcome(lambda: run.summary(by=".")),
        outcome(lambda: run.gate(*gates)),
        outcome(lambda: run.gate(*gates, by="lang")),
        outcome(lambda: run.gate(*gates, by="deep.x")),
    ]


@given(rows=ROWS, better=st.sampled_from([True, False, None]), size=st.sampled_from([1, 3, 100]))
@settings(max_examples=60, deadline=None)
def test_columns_say_what_rows_say(rows: list[Any], better: bool | None, size: int) -> None:
    run = run_of(rows, [metric_column("k", (0.0, 1.0), "K()", better)], name="q")
    with tempfile.TemporaryDirectory() as folder:
        found = loaded(run, Path(folder) / "rows", size)
        assert asked(found) == asked(run)


def test_many_different_values(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmetrics_core._run._counted_columns.MOST_DIFFERENT", 3)
    monkeypatch.setattr("ragmetrics_core._run._parquet_rows.GROUP", 7)
    values = [(number * 37 % 101) / 101 for number in range(60)]
    rows = [
        ({"id": f"q{at}", "lang": ["de", "en", None][at % 3]}, {"m": value if at % 9 else None, "k": 1 - value / 2})
        for at, value in enumerate(values)
    ]
    run = run_of(rows, [metric_column("k", (0.0, 1.0), "K()", False)])
    found = loaded(run, tmp_path / "rows", 25)
    monkeypatch.setattr("ragmetrics_core._store._parquet.ParquetRecords.__iter__", None)  # no row is read
    for one, two in zip(asked(found)[:3], asked(run)[:3], strict=True):
        assert one[:3] == two[:3]
    for gate in ("m >= 0.3", "m >= 0.9", "m >= 0.45", "k <= 0.8", "k <= 0.1"):
        for by in (None, "lang"):
            one, two = (each.gate(gate, by=by) for each in (found, run))
            assert text_at(90, one) == text_at(90, two)
            assert one.verdict == two.verdict


@pytest.mark.parametrize("largest", [1e-9, 1.0, 40.0, 1e6])
def test_many_different_values_without_a_scale(largest: float, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The sums are exact, whatever the size of the values is."""
    monkeypatch.setattr("ragmetrics_core._run._counted_columns.MOST_DIFFERENT", 3)
    values = [largest * ((at * 37 % 101) / 101 - 0.3) for at in range(60)]
    run = run_of(
        [({"id": f"q{at}"}, {"m": value}) for at, value in enumerate(values)], [metric_column("m", None, "M()")]
    )
    found = loaded(run, tmp_path / "rows", 25)
    assert found.summary()["m"].mean == run.summary()["m"].mean
    one, two = (each.summary()["m"].interval for each in (found, run))
    assert one is not None
    assert two is not None
    assert one[:2] == pytest.approx(two[:2], rel=1e-12, abs=0.0)
    for gate in ("m >= 0.1", "m <= 2"):
        assert text_at(90, found.gate(gate)) == text_at(90, run.gate(gate))


def test_runs_are_named_by_their_paths(tmp_path: Path) -> None:
    run = by_id([0.5, 1.0], name="same")
    before, after = loaded(run, tmp_path / "old", 1), loaded(run, tmp_path / "new.parquet")
    comparison = before.compare(after)
    assert (comparison.before, comparison.after) == (str(tmp_path / "old"), str(tmp_path / "new.parquet"))
    assert comparison["m"].to_dict()["difference"] == 0.0


def test_other_faces_read_rows(tmp_path: Path) -> None:
    run = by_id([number % 5 / 4 for number in range(20)])
    found = loaded(run, tmp_path / "rows", 7)
    labels = [{"id": f"q{number}", "metric": "m", "label": number % 5 > 1} for number in range(12)]
    for one, two in ((found.calibrate(labels), run.calibrate(labels)), (found.compare(run), run.compare(run))):
        assert text_at(100_000, one).replace(str(tmp_path / "rows"), "the first run") == text_at(100_000, two)
    for each, name in ((found, "found.html"), (run, "run.html")):
        each.to_html(tmp_path / name)
    assert (tmp_path / "found.html").read_text() == (tmp_path / "run.html").read_text()
    fewer = by_id([number % 5 / 4 for number in range(15)])
    later = loaded(fewer, tmp_path / "fewer")
    for one, two in ((found, run), (later, fewer)):
        decisions = [
            each.gate("m drop <= 0.1", "m >= 0.2", "m <= 0.9", baseline=run, allow_different_judges=True)
            for each in (one, two)
        ]
        shown = [text_at(100_000, each).replace(str(tmp_path / "fewer"), "the second run") for each in decisions]
        assert shown[0].replace(str(tmp_path / "rows"), "the second run") == shown[1]


def test_files_without_a_column_of_metadata(tmp_path: Path) -> None:
    run = run_of([({"id": "1", "lang": "de"}, {"m": 1.0}), ({"id": "2"}, {"m": 0.0})])
    run.to_parquet(tmp_path / "rows", rows_per_file=1)
    part = tmp_path / "rows" / "part-00001.parquet"
    pq.write_table(pq.read_table(part).drop_columns(["metadata.lang"]), part)
    found = Evaluation.load(tmp_path / "rows")
    assert outcome(lambda: found.summary(by="lang")) == outcome(lambda: run.summary(by="lang"))
    assert [record.sample.metadata for record in found.records] == [{"lang": "de"}, {}]


def test_too_many_slices(tmp_path: Path) -> None:
    run = run_of([({"id": f"q{number}", "lang": number}, {"m": 1.0}) for number in range(101)])
    found = loaded(run, tmp_path / "rows.parquet")
    assert outcome(lambda: found.summary(by="lang")) == outcome(lambda: run.summary(by="lang"))


def test_passes_that_an_exact_test_doubts(tmp_path: Path) -> None:
    run = by_id([1.0] * 8 + [0.0] * 2)
    found = loaded(run, tmp_path / "rows", 4)
    for limit in (0.95, 0.97, 0.99):
        assert outcome(lambda: found.gate(f"m >= {limit}")) == outcome(lambda: run.gate(f"m >= {limit}"))  # noqa: B023


def test_rows_that_only_the_earlier_run_has(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("ragmetrics_core._run._counted_columns.MOST_DIFFERENT", 3)
    values = [0.5 + number / 100 for number in range(40)]
    before, after = by_id(values), by_id(values[:30])
    found = loaded(after, tmp_path / "rows.parquet")
    gates = ("m >= 0.4", "m drop <= 0.1")
    one, two = (each.gate(*gates, baseline=before, allow_different_judges=True) for each in (found, after))
    assert one.results[0].why == two.results[0].why
    assert one.verdict == two.verdict


def test_many_rows_without_a_value(tmp_path: Path) -> None:
    run = run_of([({"id": f"q{at}", "lang": "de"}, {"m": FAILED if at % 3 else 0.5}) for at in range(60)])
    found = loaded(run, tmp_path / "rows", 45)
    assert outcome(lambda: found.summary(by="lang")) == outcome(lambda: run.summary(by="lang"))


def test_rows_without_a_value_are_named_when_they_are_used(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def scores(at: int) -> dict[str, Any]:
        missing = Score.failed(f"MissingInput: m needs 'reference' in q.jsonl, line {at + 1}: add it")
        return {"m": missing if at % 2 else 0.5, "k": None if at % 3 else missing}

    run = run_of([({} if at % 5 else {"id": f"q{at}"}, scores(at)) for at in range(40)], name="q")
    found = loaded(run, tmp_path / "rows", 7)
    monkeypatch.setattr("ragmetrics_core._store._parquet.ParquetRecords.__iter__", None)  # no row is read
    reasons, expected = found.summary().reasons, run.summary().reasons
    queries: list[str] = []
    records: Any = found.records
    tables, ask = records.tables, records.tables.query

    def spied(sql: str, *values: object) -> list[Any]:
        queries.append(sql)
        return ask(sql, *values)

    monkeypatch.setattr(tables, "query", spied)
    assert [(reason.text, reason.counts, len(reason.rows)) for reason in reasons] == [
        (reason.text, reason.counts, len(reason.rows)) for reason in expected
    ]
    assert queries == []
    assert list(map(str, reasons)) == list(map(str, expected))
    assert [sql.rpartition("LIMIT ")[2] for sql in queries] == [str(min(5, len(each.rows))) for each in reasons]
    assert len(reasons) == 3
    queries.clear()
    assert [list(reason.rows) for reason in reasons] == [list(reason.rows) for reason in expected]
    assert len(queries) == len(reasons)  # and no row is asked for twice
    assert [reason.rows[-3:-1] for reason in reasons] == [reason.rows[-3:-1] for reason in expected]
    assert len(queries) == len(reasons)
    for one, two in zip(reasons, expected, strict=True):
        assert (one, hash(one), repr(one)) == (two, hash(two), repr(two))
        assert (one.rows[-1], one.rows[2:4], one.rows[:0]) == (two.rows[-1], two.rows[2:4], ())
        assert pickle.loads(pickle.dumps(one)).rows == two.rows


def test_texts_in_the_form_of_a_verdict_are_counted(tmp_path: Path) -> None:
    rows = [
        {"user_input": "q", "response": text, "retrieved_contexts": ["c"]} for text in ('{"score": 1}', "yes", "no")
    ]
    run = evaluate(rows, "faithfulness", llm=LexicalJudge(), progress=False)
    found = loaded(run, tmp_path / "rows", 2)
    assert any(text.startswith("1 row holds text in the form of a verdict") for text in run.summary().caveats)
    assert found.summary().caveats == run.summary().caveats


def test_a_row_that_cannot_be_read(tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    by_id([0.5]).to_parquet(path)
    table = pq.read_table(path)
    pq.write_table(table.set_column(table.column_names.index("m"), table.schema.field("m"), pa.array([5.0])), path)
    with pytest.raises(InvalidInput) as caught:
        list(Evaluation.load(path).records)
    why = "m: 5.0 is outside the scale (0.0, 1.0); set `scale` of the metric"
    assert str(caught.value) == f"{path}: the row of q.jsonl, line 1 cannot be read: {why}"


@pytest.mark.parametrize("value", [math.nan, math.inf, -math.inf])
def test_a_value_that_is_no_finite_number(value: float, tmp_path: Path) -> None:
    path = tmp_path / "rows.parquet"
    by_id([0.5, 0.25]).to_parquet(path)
    table = pq.read_table(path)
    values = pa.array([0.5, value])
    pq.write_table(table.set_column(table.column_names.index("m"), table.schema.field("m"), values), path)
    why = f"a score must be a finite number, got {value}: use Score.unscored(reason)"
    changed = Evaluation.load(path)
    for ask in (changed.summary, lambda: changed.compare(changed), lambda: list(changed.records)):
        with pytest.raises(InvalidInput) as caught:
            ask()
        assert str(caught.value) == f"{path}: the row of q.jsonl, line 2 cannot be read: {why}"


@pytest.mark.slow
def test_columns_are_faster_than_rows(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = [
        ({"id": f"q{at}", "lang": "de" if at % 2 else "en"}, {"m": at % 7 / 6, "k": at / 20_000 if at % 50 else None})
        for at in range(20_000)
    ]
    path = tmp_path / "rows.parquet"
    run_of(rows).to_parquet(path)
    table = pa.concat_tables([pq.read_table(path)] * 4)
    pq.write_table(table.set_column(0, table.schema.field("_row"), pa.array(range(80_000))), path)
    found = Evaluation.load(path)
    assert len(found) == 80_000
    start = time.process_time()
    by_columns = text_at(80, found.summary(by="lang"))
    columns = time.process_time() - start
    monkeypatch.setattr("ragmetrics_core._summary._tally.count_columns", lambda *_, **__: None)
    start = time.process_time()
    assert text_at(80, found.summary(by="lang")) == by_columns
    assert time.process_time() - start > 4 * columns


def test_the_seconds_of_a_score_are_in_all_files_of_a_run(tmp_path: Path) -> None:
    rows = questions(3)
    run = evaluate(rows, [Rated(), Length()], llm=AsyncModel(delay=0.02), run_dir=tmp_path / "run", progress=False)
    seconds = [score.usage.seconds for score in run.scores["rated"]]
    assert all(0.02 <= each < 60 and each == round(each, 3) for each in seconds)
    assert "seconds" not in run.scores["rated"][0].to_dict()["usage"]  # results of equal runs are equal
    run.to_parquet(tmp_path / "rows.parquet")
    columns = pq.read_table(tmp_path / "rows.parquet")
    assert columns["rated_seconds"].to_pylist() == seconds
    assert columns["length_seconds"].to_pylist() == [None] * 3  # it asks nothing
    for path in ("run", "rows.parquet"):
        found = Evaluation.load(tmp_path / path)
        assert [score.usage.seconds for score in found.scores["rated"]] == seconds
        assert found.summary().metrics[0].usage.seconds == pytest.approx(sum(seconds))
