"""Labels that the viewer saves: as they are given, by one process, and never anything else."""

from __future__ import annotations

import json
import os
import shutil
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from ragmetrics_core import Evaluation, InvalidInput

from .test_server import serving
from .viewing import Viewing, asked, keys, text_of, viewing


class Labelling:
    """A viewer of one run, and what pages of it send."""

    def __init__(self, folder: Path) -> None:
        self.viewing = viewing(folder)
        (self.key,) = keys(self.viewing)
        text_of(self.viewing, f"/run/{self.key}/")
        self.place = f"/run/{self.key}/labels"
        self.origin = f"http://127.0.0.1:{self.viewing.port}"

    def send(self, body: Any) -> tuple[int, str]:
        content = body if isinstance(body, bytes) else json.dumps(body).encode()
        headers = {"origin": self.origin, "content-type": "application/json"}
        response = self.viewing.client.post(self.place, content=content, headers=headers)
        return response.status_code, response.text

    def labels(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.viewing.client.get(self.place).json()["labels"]
        return found


@pytest.fixture
def run(runs: Path, tmp_path: Path) -> Path:
    """A run of its own in a folder of its own."""
    shutil.copytree(runs / "new", tmp_path / "folder" / "run")
    return tmp_path / "folder" / "run"


@pytest.fixture
def labelling(run: Path) -> Labelling:
    return Labelling(run.parent)


def label(number: int, given: Any = True, **others: Any) -> dict[str, Any]:
    return {"id": f"q{number}", "metric": "exact_match", "label": given, "annotator": "ada", **others}


def test_each_label_is_a_line_and_the_last_one_counts(labelling: Labelling, run: Path) -> None:
    assert labelling.labels() == []
    assert labelling.send({"labels": [label(0), label(1, False)]}) == (200, '{"saved": 2}')
    assert labelling.send({"labels": [label(0, False, note="on second thought", blind=True)]}) == (200, '{"saved": 1}')
    assert labelling.send({"labels": [label(1, None)]}) == (200, '{"saved": 1}')
    lines = [json.loads(line) for line in (run / "labels" / "labels.jsonl").read_text().splitlines()]
    assert [(line["id"], line["label"]) for line in lines] == [("q0", True), ("q1", False), ("q0", False), ("q1", None)]
    assert all(line["given"].endswith("Z") for line in lines)
    (found,) = labelling.labels()
    assert (found["id"], found["label"], found["note"], found["blind"]) == ("q0", False, "on second thought", True)


def test_calibration_reads_the_file(labelling: Labelling, run: Path) -> None:
    right = [True, True, True, False]
    assert labelling.send({"labels": [label(at, not right[at]) for at in range(4)]})[0] == 200
    assert (
        labelling.send({"labels": [label(at, right[at], annotator=who) for at in range(4) for who in ("ada", "bob")]})[
            0
        ]
        == 200
    )
    with pytest.raises(InvalidInput, match="exact_match: 4 rows have a label, too few to conclude"):
        Evaluation.load(run).calibrate(run / "labels" / "labels.jsonl")


def test_two_tabs_are_one_writer_and_two_viewers_are_not(labelling: Labelling, run: Path) -> None:
    assert labelling.send({"labels": [label(0)]})[0] == 200
    assert labelling.send({"labels": [label(1)]})[0] == 200
    status, said = Labelling(run.parent).send({"labels": [label(2)]})
    assert status == 422
    assert said.startswith("labels of this run cannot be saved: ")
    assert "has been writing there since" in said
    assert str(run) not in said
    assert [line["id"] for line in Labelling(run.parent).labels()] == ["q0", "q1"]


def test_a_kill_loses_no_label_that_was_confirmed(run: Path) -> None:
    with serving(run.parent) as server:
        key = server.keys()[0]
        for number in range(3):
            assert server.post(f"/run/{key}/labels", {"labels": [label(number)]}) == (200, '{"saved": 1}')
        server.process.send_signal(signal.SIGKILL)
        server.process.wait()
    file = run / "labels" / "labels.jsonl"
    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == ["q0", "q1", "q2"]
    with file.open("a") as cut:
        cut.write('{"id": "q3", "metr')
    labelling = Labelling(run.parent)
    assert [line["id"] for line in labelling.labels()] == ["q0", "q1", "q2"]
    assert labelling.send({"labels": [label(3)]})[0] == 200
    assert [json.loads(line)["id"] for line in file.read_text().splitlines()] == ["q0", "q1", "q2", "q3"]


def test_agreement_so_far(labelling: Labelling) -> None:
    place = f"/run/{labelling.key}/agreement"
    nothing = "Nothing can be said yet: no row has a label yet: label rows to see how far the judge agrees with people"
    assert nothing in labelling.viewing.client.get(place).text
    page = labelling.viewing.client.get(f"/run/{labelling.key}/").text
    assert '<a href="#labelling">Label rows</a></p>' in page
    assert "<h1>run</h1>" in page.replace(' dir="auto"', "")
    labelling.send({"labels": [label(at) for at in range(4)]})
    assert "Nothing can be said yet: exact_match: " in labelling.viewing.client.get(place).text


BAD: list[tuple[Any, str]] = [
    (b"", "labels must be sent as JSON"),
    (b"{", "labels must be sent as JSON"),
    (b"\xff\xfe", "labels must be sent as JSON"),
    (b"[" * 100_000, "labels must be sent as JSON"),
    ([], 'labels must be sent as {"labels": [...]}, 1 to 500 of them'),
    (None, 'labels must be sent as {"labels": [...]}, 1 to 500 of them'),
    ({}, 'labels must be sent as {"labels": [...]}, 1 to 500 of them'),
    ({"labels": []}, 'labels must be sent as {"labels": [...]}, 1 to 500 of them'),
    ({"labels": {}}, 'labels must be sent as {"labels": [...]}, 1 to 500 of them'),
    ({"labels": [1], "path": "/etc/passwd"}, 'labels must be sent as {"labels": [...]}, 1 to 500 of them'),
    ({"labels": [{}] * 501}, 'labels must be sent as {"labels": [...]}, 1 to 500 of them'),
    ({"labels": [1]}, "label 1: a label must have id, metric and label, and nothing but id, "),
    ({"labels": [{"id": "q0"}]}, "label 1: a label must have id, metric and label, and nothing but id, "),
    ({"labels": [label(0, place="../x")]}, "label 1: a label must have id, metric and label, and nothing but id, "),
    (
        {"labels": [{**label(0), "given": "2020"}]},
        "label 1: a label must have id, metric and label, and nothing but id, ",
    ),
    ({"labels": [label(9)]}, "label 1: the run has no row 'q9'"),
    ({"labels": [{**label(0), "id": "../../q0"}]}, "label 1: the run has no row '../../q0'"),
    ({"labels": [{**label(0), "id": 0}]}, "label 1: the run has no row 0"),
    ({"labels": [{**label(0), "id": None}]}, "label 1: the run has no row None"),
    ({"labels": [label(0, metric="other")]}, "label 1: the run has no metric 'other'"),
    ({"labels": [label(0, "yes")]}, "label 1: the label 'yes' is neither a pass nor a fail nor a grade"),
    ({"labels": [label(0, [])]}, "label 1: the label [] is neither a pass nor a fail nor a grade"),
    ({"labels": [label(0, 7)]}, "label 1: the label 7 is not on the scale of 'exact_match', 0 to 1"),
    (b'{"labels": [{"id": "q0", "metric": "exact_match", "label": NaN}]}', "labels must be sent as JSON"),
    ({"labels": [label(0, annotator="a" * 201)]}, "label 1: annotator must be a text of at most 200 characters"),
    ({"labels": [label(0, note=["x"])]}, "label 1: note must be a text of at most 10,000 characters"),
    ({"labels": [label(0, note="x" * 10_001)]}, "label 1: note must be a text of at most 10,000 characters"),
    ({"labels": [label(0, weight=-1)]}, "label 1: the weight -1 is not a number from "),
    ({"labels": [label(0, digest="x")]}, "label 1: the digest 'x' was not written by a report"),
    ({"labels": [label(0, blind="maybe")]}, "label 1: blind is 'maybe': write true or false"),
]


@pytest.mark.parametrize(("body", "said"), BAD)
def test_nothing_else_is_saved(labelling: Labelling, run: Path, body: Any, said: str) -> None:
    status, text = labelling.send(body)
    assert status == 422
    assert text.startswith(said)
    assert not (run / "labels").exists()


def test_a_huge_body_is_refused(labelling: Labelling, run: Path) -> None:
    status, said = labelling.send({"labels": [label(0, note="x" * 300_000)]})
    assert (status, said) == (413, "The request is longer than 200,000 bytes.\n")
    assert not (run / "labels").exists()


def test_texts_stay_texts(labelling: Labelling, run: Path) -> None:
    note = "\u202e</script>\n\x00\ud800{}"
    body = json.dumps({"labels": [label(0, note=note)]}).encode()
    assert labelling.send(body)[0] == 200
    assert len((run / "labels" / "labels.jsonl").read_text().splitlines()) == 1
    assert labelling.labels()[0]["note"] == note


def test_links_are_not_followed(labelling: Labelling, run: Path, tmp_path: Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (run / "labels").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    assert labelling.send({"labels": [label(0)]})[0] == 422
    assert [*(tmp_path / "elsewhere").iterdir()] == []
    (run / "labels").unlink()
    (run / "labels").mkdir()
    (run / "labels" / "labels.jsonl").symlink_to(tmp_path / "stolen.jsonl")
    assert labelling.send({"labels": [label(0)]})[0] == 422
    assert labelling.labels() == []
    assert not (tmp_path / "stolen.jsonl").exists()


def test_a_folder_that_is_replaced_while_labels_are_given(labelling: Labelling, run: Path, tmp_path: Path) -> None:
    assert labelling.send({"labels": [label(0)]})[0] == 200
    (run / "labels").rename(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere" / "labels.jsonl").read_bytes()
    (run / "labels").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    status, text = labelling.send({"labels": [label(1)]})
    assert (status, "is a link: labels are saved in the folder of the run only" in text) == (422, True)
    assert (tmp_path / "elsewhere" / "labels.jsonl").read_bytes() == before
    (run / "labels").unlink()
    assert labelling.send({"labels": [label(2)]})[0] == 200
    assert [line["id"] for line in labelling.labels()] == ["q2"]
    assert Labelling(run.parent).send({"labels": [label(3)]})[0] == 422  # there is still one writer


@pytest.mark.skipif(sys.platform == "win32", reason="it has no limits of files, and no named pipes")
def test_a_full_disk_confirms_nothing(labelling: Labelling, run: Path) -> None:
    import resource

    assert labelling.send({"labels": [label(0)]})[0] == 200
    path = run / "labels" / "labels.jsonl"
    before = path.read_bytes()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (len(before) + 20, hard))
    try:
        status, text = labelling.send({"labels": [label(1)]})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (status, "cannot be written: File too large" in text, path.read_bytes()) == (422, True, before)
    assert labelling.send({"labels": [label(1)]})[0] == 200
    assert len(labelling.labels()) == 2


@pytest.mark.skipif(sys.platform == "win32", reason="it has no limits of files, and no named pipes")
def test_a_pipe_is_not_waited_for(labelling: Labelling, run: Path) -> None:
    (run / "labels").mkdir()
    os.mkfifo(run / "labels" / "labels.jsonl")
    assert labelling.labels() == []
    status, text = labelling.send({"labels": [label(0)]})
    assert (status, "labels.jsonl is no file: labels cannot be saved" in text) == (422, True)


@pytest.mark.parametrize("line", ["not JSON", "1", "{}", "null", "[" * 100_000, "\0"])
def test_a_line_that_is_no_label_is_named(labelling: Labelling, run: Path, line: str) -> None:
    labelling.send({"labels": [label(0)]})
    with (run / "labels" / "labels.jsonl").open("a") as file:
        file.write(f"{line}\n")
    found = labelling.viewing.client.get(labelling.place)
    said = "labels.jsonl, line 2, is no label: remove the line, or write it as the viewer writes labels"
    assert (found.status_code, found.text) == (422, f"{said}\n")
    assert said in labelling.viewing.client.get(f"/run/{labelling.key}/agreement").text


def test_blank_texts_are_none(labelling: Labelling, run: Path) -> None:
    """As in every file of labels; the texts None and null are texts."""
    labelling.send({"labels": [label(0, claim=""), label(0, claim=None, annotator=" ada "), label(0, claim="None")]})
    kept = [(line["annotator"], line["claim"]) for line in labelling.labels()]
    assert kept == [(" ada ", None), ("ada", "None")]


def test_a_file_of_scores_has_its_labels_beside_it(runs: Path, tmp_path: Path) -> None:
    shutil.copy(runs / "sub" / "few.jsonl", tmp_path / "few.jsonl")
    labelling = Labelling(tmp_path)
    assert labelling.send({"labels": [label(0)]})[0] == 200
    assert (tmp_path / "few.jsonl.labels" / "labels.jsonl").exists()
    assert keys(labelling.viewing) == [labelling.key]
    assert asked(labelling.viewing, f"/run/{labelling.key}/", "index").status_code == 200


def test_they_are_posted_from_its_own_pages_only(open_viewer: Viewing) -> None:
    place = f"/run/{keys(open_viewer)[0]}/labels"
    response = open_viewer.client.post(place, json={"labels": [label(0)]}, headers={"origin": "http://evil.example"})
    assert response.status_code == 403
    assert open_viewer.client.post(place, json={"labels": [label(0)]}).status_code == 403
    assert open_viewer.client.put(place, json={}).status_code == 405
