"""What the viewer shows: the list of runs, a run, two runs compared, a run that goes on."""

from __future__ import annotations

import os
import re
import shutil
from pathlib import Path

import pytest

from ragmetrics_core import evaluate
from ragmetrics_core.metrics import ExactMatch

from .viewing import Viewing, asked, keys, text_of, viewing


def test_the_list_has_the_latest_run_first(open_viewer: Viewing) -> None:
    text = text_of(open_viewer)
    names = [
        name.replace("<wbr>", "") for name in re.findall(r'<a href="/run/[0-9a-f]{12}/" dir="auto">(.*?)</a>', text)
    ]
    assert names == ["new", "old", "sub/few.jsonl"]
    assert re.findall(r"<td class=\"when\">(20[^<]*)</td><td class=\"number\">([^<]*)</td>", text) == [
        ("2027-01-15 09:00 UTC", "4"),
        ("2027-01-15 08:00 UTC", "4"),
        ("2023-11-14 22:13 UTC", "2"),
    ]
    assert '<h2 id="runs-title">3 runs</h2>' in text
    assert "is 0.75 (0.30 to 0.95) and " in text
    assert "exact_match: 1.000, 0.500, 0.750, the oldest run first" in text
    assert text.count("<circle") == 6


def test_the_page_of_a_run_asks_for_its_rows(open_viewer: Viewing) -> None:
    key = keys(open_viewer)[0]
    page = open_viewer.client.get(f"/run/{key}/")
    assert page.headers["content-type"] == "text/html; charset=utf-8"
    assert "Who built tower" not in page.text
    assert "Served by ragmetrics view, from this folder only." in page.text
    assert "connect-src 'self'" in page.headers["content-security-policy"]
    index = asked(open_viewer, f"/run/{key}/", "index").json()
    assert index["rows"]["questions"] == [f"Who built tower {at}?" for at in range(4)]
    assert (index["blocks"], index["rows"]["values"][0]) == ([[0, 1, 2, 3]], [1, 1, 1, 0])
    block = asked(open_viewer, f"/run/{key}/", "block-0")
    assert [row["sample"]["id"] for row in block.json()] == ["q0", "q1", "q2", "q3"]
    assert asked(open_viewer, f"/run/{key}/", "block-1").status_code == 404


def test_two_runs_are_compared_the_earlier_first(open_viewer: Viewing) -> None:
    new, old, _ = keys(open_viewer)
    for query in (f"run={new}&run={old}", f"run={old}&run={new}"):
        chosen = open_viewer.client.get(f"/compare?{query}")
        assert (chosen.status_code, chosen.headers["location"]) == (303, f"/compare/{old}/{new}/")
    page = text_of(open_viewer, f"/compare/{old}/{new}/")
    assert '<h1><span dir="auto">old</span>' in page
    index = asked(open_viewer, f"/compare/{old}/{new}/", "index").json()
    assert index["names"] == ["old", "new"]
    assert index["rows"]["values"][0] == [[1, 1, 0, 0], [1, 1, 1, 0]]
    block = asked(open_viewer, f"/compare/{old}/{new}/", "block-0").json()
    assert [len(side) for side in block[2]["sides"]] == [1, 1]
    assert asked(open_viewer, f"/compare/{old}/{new}/", "block-1").status_code == 404


@pytest.mark.parametrize("count", [0, 1, 3])
def test_it_takes_two(open_viewer: Viewing, count: int) -> None:
    query = "&".join(f"run={key}" for key in keys(open_viewer)[:count])
    response = open_viewer.client.get(f"/compare?{query}")
    assert response.status_code == 400
    assert f"A comparison needs two runs, and {count} are ticked." in response.text


def test_runs_that_cannot_be_compared(runs: Path, tmp_path: Path) -> None:
    for name, old, new in (("a", "q0", "x0"), ("b", "q0", "y0")):
        text = (runs / "sub" / "few.jsonl").read_text().splitlines()[0].replace(old, new).replace("tower", name)
        (tmp_path / f"{name}.jsonl").write_text(text + "\n")
    found = viewing(tmp_path)
    a, b = keys(found)
    assert "This cannot be shown" in text_of(found, f"/compare/{a}/{b}/")
    assert found.client.get(f"/compare/{a}/{b}/").status_code == 422


def test_a_folder_may_be_a_run_itself(runs: Path) -> None:
    found = viewing(runs / "new")
    assert len(keys(found)) == 1
    assert asked(found, f"/run/{keys(found)[0]}/", "index").json()["rows"]["ids"] == ["q0", "q1", "q2", "q3"]


def test_the_list_is_new_after_a_change(runs: Path, tmp_path: Path) -> None:
    few = (runs / "sub" / "few.jsonl").read_text()
    (tmp_path / "a.jsonl").write_text(few)
    found = viewing(tmp_path)
    assert " is 1.00 (0.34 to 1.00) and " in text_of(found)
    (tmp_path / "a.jsonl").write_text(few.splitlines()[0].replace('"value": 1.0', '"value": 0.0') + "\n")
    os.utime(tmp_path / "a.jsonl", (1_900_000_000,) * 2)
    assert " is 0.00 " in text_of(found)


def test_a_page_asks_about_the_rows_that_it_was_made_of(runs: Path, tmp_path: Path) -> None:
    few = (runs / "sub" / "few.jsonl").read_text()
    (tmp_path / "a.jsonl").write_text(few)
    found = viewing(tmp_path)
    (key,) = keys(found)
    version = re.search(r'id="served">(\w+)', text_of(found, f"/run/{key}/"))
    assert version is not None
    (tmp_path / "b").write_text(few.splitlines()[1] + "\n")
    (tmp_path / "b").replace(tmp_path / "a.jsonl")
    assert found.client.get(f"/run/{key}/index?v={version[1]}").json()["rows"]["ids"] == ["q0", "q1"]
    assert asked(found, f"/run/{key}/", "index").json()["rows"]["ids"] == ["q1"]
    gone = found.client.get(f"/run/{key}/index?v=0123456789abcdef")
    assert (gone.status_code, gone.text) == (410, "This page is no longer kept by the viewer: load it again.\n")


def test_a_page_has_the_name_in_the_list_and_says_what_was_scored_and_when(tmp_path: Path) -> None:
    data = tmp_path / "data.jsonl"
    data.write_text('{"id": "q1", "response": "yes", "reference": "yes"}\n')
    evaluate(data, [ExactMatch()], run_dir=tmp_path / "runs" / "before", progress=False)
    shutil.copy(tmp_path / "runs" / "before" / "scores.jsonl", tmp_path / "runs" / "after.jsonl")
    for name, at in (("before/scores", 1_800_000_000), ("after", 1_700_000_000)):
        os.utime(tmp_path / "runs" / f"{name}.jsonl", (at, at))
    found = viewing(tmp_path / "runs")
    before, after = (text_of(found, f"/run/{key}/") for key in keys(found))
    assert '<h1 dir="auto">before</h1>' in before
    assert re.search(r'<p class="kicker">ragmetrics report of <bdi>[^<]*data.jsonl</bdi></p>', before)
    assert ">2027-01-15 08:00 UTC</dd>" in before
    assert '<h1 dir="auto">after.jsonl</h1>' in after
    assert '<p class="kicker">ragmetrics report</p>' in after
    assert ">2023-11-14 22:13 UTC</dd>" in after
    assert str(tmp_path / "runs") not in before + after
