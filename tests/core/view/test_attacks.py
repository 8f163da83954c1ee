"""What the viewer must not answer: requests from elsewhere, paths, forged headers, tokens, hostile runs."""

from __future__ import annotations

import json
import os
import re
from pathlib import Path

import pytest

from report_data import XSS, line, score

from .conftest import SECRET
from .viewing import Viewing, asked, keys, refused, text_of, viewing

TOKEN = "0123456789abcdef-token"


def paths_out(key: str) -> list[str]:
    """Addresses that would leave the folder, if a server made a path of them."""
    climbs = [
        "../secret.jsonl", "..%2fsecret.jsonl", "%2e%2e/secret.jsonl", "%2e%2e%2fsecret.jsonl", "..%252fsecret.jsonl",
        "..%5csecret.jsonl", "..\\secret.jsonl", "....//secret.jsonl", "/etc/passwd", "%2fetc%2fpasswd", "%00", "..;",
        "%c0%ae%c0%ae%2fsecret.jsonl", "file:///etc/passwd", "secret.jsonl", "sub/few.jsonl", "new", "C:%5cWindows",
        "\u2025/secret.jsonl", ".%0d%0a./secret.jsonl", key.upper(), key + "0", key[:-1], "*", "%25",
    ]  # fmt: skip
    places = [f"/run/{climb}/" for climb in climbs] + [f"/run/{climb}/index" for climb in climbs[:12]]
    places += [f"/compare/{key}/{climb}/" for climb in climbs[:8]] + [
        f"/compare?run={key}&run={climb}" for climb in climbs
    ]
    return places + [f"/{climb}" for climb in climbs[:9]] + [f"/run/{key}/{climb}" for climb in climbs[:9]]


@pytest.mark.parametrize("number", range(88))
def test_no_address_leads_out_of_the_folder(open_viewer: Viewing, number: int) -> None:
    places = paths_out(keys(open_viewer)[0])
    assert len(places) == 88
    response = open_viewer.client.get(places[number])
    assert response.status_code in (400, 404, 410)
    assert SECRET not in response.text
    assert "root:" not in response.text


@pytest.mark.parametrize(
    "number", [-1, "1e3", "0x1", "1.0", "", " 1", "١", 1, 10**9, 10**18, "9" * 1500, "1%00", "1;", "null"]
)
def test_rows_that_are_not_there(open_viewer: Viewing, number: object) -> None:
    response = asked(open_viewer, f"/run/{keys(open_viewer)[0]}/", f"block-{number}")
    assert response.status_code == 404


class TestLinks:
    """Links are not followed, wherever they lead."""

    @pytest.fixture
    def folder(self, runs: Path, tmp_path: Path) -> Path:
        folder = tmp_path / "linked"
        folder.mkdir()
        (folder / "file.jsonl").symlink_to(runs.parent / "secret.jsonl")
        (folder / "folder").symlink_to(runs, target_is_directory=True)
        (folder / "loop").symlink_to(folder, target_is_directory=True)
        for name in ("scores.jsonl", "run.json", "journal.sqlite"):
            run = folder / f"by-{name}"
            run.mkdir()
            for file in ("scores.jsonl", "run.json"):
                (run / file).write_bytes((runs / "new" / file).read_bytes())
            (run / name).unlink(missing_ok=True)
            (run / name).symlink_to(runs / "new" / name if name != "scores.jsonl" else runs.parent / "secret.jsonl")
        return folder

    def test_a_folder_of_links_has_no_runs(self, folder: Path) -> None:
        text = viewing(folder).client.get("/").text
        assert "There are no runs in this folder" in text
        assert SECRET not in text

    def test_the_folder_itself_may_be_one(self, runs: Path, tmp_path: Path) -> None:
        (tmp_path / "link").symlink_to(runs, target_is_directory=True)
        assert len(keys(viewing(tmp_path / "link"))) == 3


class TestHosts:
    """A name that leads to this machine is not enough: pages of other sites could use one of theirs."""

    @pytest.mark.parametrize(
        "host",
        [
            "evil.example", "evil.example:{port}", "127.0.0.1", "127.0.0.1:1", "127.0.0.1:{port}.evil.example",
            "evil.example#127.0.0.1:{port}", "127.0.0.1:{port}@evil.example", "localhost.evil.example:{port}", "", " ",
            "0.0.0.0:{port}", "[::]:{port}", "2130706433:{port}", "127.1:{port}", "localhost.:{port}", "127.0.0.1:0{port}",
        ],
    )  # fmt: skip
    def test_others_are_refused(self, open_viewer: Viewing, host: str) -> None:
        response = open_viewer.client.get("/", headers={"host": host.format(port=open_viewer.port)})
        assert (response.status_code, response.text) == (421, "This address is not served here.\n")

    @pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "LOCALHOST", "[::1]"])
    def test_the_names_of_this_machine_are_answered(self, open_viewer: Viewing, host: str) -> None:
        assert open_viewer.client.get("/", headers={"host": f"{host}:{open_viewer.port}"}).status_code == 200

    def test_two_of_them_are_refused(self, open_viewer: Viewing) -> None:
        here = f"127.0.0.1:{open_viewer.port}"
        response = open_viewer.client.get("/", headers=[("host", here), ("host", here)])  # type: ignore[arg-type]
        assert response.status_code == 421

    @pytest.mark.parametrize(
        "origin",
        ["null", "http://evil.example", "https://127.0.0.1:{port}", "http://127.0.0.1", "http://localhost:{port}",
         "http://127.0.0.1:{port}.evil.example", "http://127.0.0.1:{port}/", "file://", "", "http://[::1]:{port}"],
    )  # fmt: skip
    def test_other_origins_are_refused(self, open_viewer: Viewing, origin: str) -> None:
        headers = {"origin": origin.format(port=open_viewer.port)}
        for response in (
            open_viewer.client.get("/", headers=headers),
            open_viewer.client.post("/", json={}, headers=headers),
        ):
            assert (response.status_code, response.text) == (403, "Requests from other pages are refused.\n")


class TestMethods:
    @pytest.mark.parametrize(
        "method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND", "get", "MKCOL"]
    )
    def test_others_are_refused(self, open_viewer: Viewing, method: str) -> None:
        response = open_viewer.client.request(method, "/")
        assert response.status_code == (200 if method == "get" else 405)  # httpx writes methods in capitals

    def test_nothing_but_labels_is_taken(self, open_viewer: Viewing) -> None:
        headers = {"origin": f"http://127.0.0.1:{open_viewer.port}"}
        key = keys(open_viewer)[0]
        for place in ("/", "/compare", f"/run/{key}/", f"/run/{key}/index", f"/run/{key}/block-0", "/events"):
            assert open_viewer.client.post(place, json={}, headers=headers).status_code == 405

    def test_without_an_origin_nothing_is_changed(self, open_viewer: Viewing) -> None:
        response = open_viewer.client.post("/", json={})
        assert (response.status_code, response.text) == (403, "Changes must come from a page of this viewer.\n")

    @pytest.mark.parametrize(
        "kind", ["text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=a", ""]
    )
    def test_forms_of_other_pages_are_refused(self, open_viewer: Viewing, kind: str) -> None:
        headers = {"origin": f"http://127.0.0.1:{open_viewer.port}", "content-type": kind}
        response = open_viewer.client.post("/", content=b"{}", headers=headers)
        assert (response.status_code, response.text) == (415, "A change must be JSON.\n")

    def test_a_long_address_is_refused(self, open_viewer: Viewing) -> None:
        assert open_viewer.client.get("/" + "a" * 3000).status_code == 414
        assert open_viewer.client.get("/?" + "a" * 3000).status_code == 414


@pytest.fixture(scope="module")
def guarded(runs: Path) -> Viewing:
    """A viewer that needs a token."""
    return viewing(runs, token=TOKEN)


class TestToken:
    @pytest.mark.parametrize(
        "query",
        [
            "", "?token=", "?token=wrong", f"?token={TOKEN[:-1]}", f"?token={TOKEN}0", f"?token={TOKEN.upper()}", f"?Token={TOKEN}",
            f"?token=%20{TOKEN}", f"?token={TOKEN}&token=wrong", f"?token=wrong&token={TOKEN}", f"?token={TOKEN}&token={TOKEN}",
            "?token=" + "a" * 1500, "?token=%00", "?token=%ff", "?token=\u202e", f"?token[]={TOKEN}", f"?x={TOKEN}", f"?{TOKEN}",
        ],
    )  # fmt: skip
    def test_wrong_ones(self, guarded: Viewing, query: str) -> None:
        guarded.client.cookies.clear()
        response = guarded.client.get(f"/{query}")
        assert response.status_code == 403
        assert "set-cookie" not in response.headers
        assert "tower" not in response.text

    @pytest.mark.parametrize(
        "cookie", ["", TOKEN, "ragmetrics={token}", "{name}=", "{name}={token}", "{name}=x; {name}=y", "x" * 4000]
    )
    def test_wrong_cookies(self, guarded: Viewing, cookie: str) -> None:
        guarded.client.cookies.clear()
        given = cookie.format(name=f"ragmetrics-{guarded.port}", token=TOKEN)
        assert guarded.client.get("/", headers={"cookie": given}).status_code == 403

    def test_a_header_with_the_token_is_not_enough(self, guarded: Viewing) -> None:
        guarded.client.cookies.clear()
        headers = {"authorization": f"Bearer {TOKEN}", "x-forwarded-for": "127.0.0.1", "x-forwarded-host": "localhost"}
        assert guarded.client.get("/", headers=headers).status_code == 403

    def test_the_right_one_leaves_the_address(self, guarded: Viewing) -> None:
        guarded.client.cookies.clear()
        entered = guarded.client.get(f"/compare?run=a&token={TOKEN}&run=b%20c")
        assert entered.status_code == 200
        assert 'content="0;url=/compare?run=a&amp;run=b+c"' in entered.text
        assert TOKEN not in entered.text
        cookie = entered.headers["set-cookie"]
        name = f"ragmetrics-{guarded.port}"
        assert re.fullmatch(rf"{name}=[\w-]{{43}}; HttpOnly; SameSite=Strict; Path=/", cookie)
        assert TOKEN not in cookie
        assert guarded.client.get("/").status_code == 200
        assert TOKEN not in guarded.client.get("/").text

    def test_the_cookie_of_another_start_is_worth_nothing(self, guarded: Viewing, runs: Path) -> None:
        guarded.client.cookies.clear()
        cookie = guarded.client.get(f"/?token={TOKEN}").headers["set-cookie"].partition(";")[0]
        other = viewing(runs, token=TOKEN, port=str(guarded.port))
        assert other.client.get("/", headers={"cookie": cookie}).status_code == 403

    @pytest.mark.parametrize(
        "place",
        ["//evil.example/", "/\\evil.example/", "/%2fevil.example", "/a%0d%0aset-cookie:%20a=b", "/%22%3e%3cscript%3e"],
    )
    def test_it_leads_nowhere_else(self, guarded: Viewing, place: str) -> None:
        response = guarded.client.get(f"http://127.0.0.1:{guarded.port}{place}?token={TOKEN}")
        found = re.search(r'content="0;url=([^"]*)"', response.text)
        assert found is not None
        assert re.match(r"/(?![/\\])", found[1])
        assert not set("\r\n<>") & set(found[1])
        assert len(response.headers.get_list("set-cookie")) == 1

    def test_it_is_refused_where_it_is_short_or_missing(self, runs: Path) -> None:
        missing = "--host lets other machines in, so a token is needed: set RAGMETRICS_VIEW_TOKEN to a secret text"
        short = "RAGMETRICS_VIEW_TOKEN must have at least 16 letters, digits or signs, without spaces"
        for host in ("0.0.0.0", "127.0.0.1", "localhost"):
            assert refused(runs, "--host", host) == (2, f"ragmetrics: {missing}\n")
        for token in ("", "short", "a" * 15, "a" * 16 + " ", "ä" * 20, "a" * 20 + "\n"):
            status, said = refused(runs, token=token)
            assert status == 2
            assert said.startswith(f"ragmetrics: {short}: ")
            assert token == "" or token.strip() not in said

    def test_it_is_not_printed(self, runs: Path) -> None:
        found = viewing(runs, "--host", "127.0.0.1", token=TOKEN)
        assert TOKEN not in found.result.output
        assert found.result.stderr.startswith(f"http://127.0.0.1:{found.port}/ shows the runs in ")


class TestHeaders:
    @pytest.mark.parametrize("place", ["/", "/run/{key}/", "/run/{key}/index", "/nothing", "/run/nothing/", "/compare"])
    def test_every_answer_has_them(self, open_viewer: Viewing, place: str) -> None:
        headers = open_viewer.client.get(place.format(key=keys(open_viewer)[0])).headers
        policy = headers["content-security-policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'none'" in policy
        assert "unsafe" not in policy
        assert "*" not in policy
        wanted = {
            "cache-control": "no-store",
            "cross-origin-opener-policy": "same-origin",
            "cross-origin-resource-policy": "same-origin",
            "referrer-policy": "no-referrer",
            "x-content-type-options": "nosniff",
            "x-frame-options": "DENY",
        }
        assert {name: headers[name] for name in wanted} == wanted
        assert "access-control-allow-origin" not in headers

    def test_a_refusal_has_them_too(self, open_viewer: Viewing) -> None:
        headers = open_viewer.client.get("/", headers={"host": "evil.example"}).headers
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["content-security-policy"].endswith("frame-ancestors 'none'; sandbox")


@pytest.fixture(scope="module")
def hostile(tmp_path_factory: pytest.TempPathFactory) -> Viewing:
    """A viewer of runs whose names, ids and texts are hostile."""
    folder = tmp_path_factory.mktemp("hostile")
    names = [
        text.replace("/", "\u2215").replace("\x00", "\r\n").encode("utf-8", "ignore").decode()[:60] for text in XSS
    ]
    for number, (name, text) in enumerate(zip(names, XSS, strict=True)):
        rows = [
            line(at, {"user_input": text, "response": text, "id": f"{text}{at}"}, score(text, 0.5)) for at in (1, 2)
        ]
        (folder / f"{number}{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return viewing(folder)


class TestHostileRuns:
    """Names, ids and texts that would do something in a page that took them for markup."""

    def test_the_list_escapes_them(self, hostile: Viewing) -> None:
        assert len(keys(hostile)) == len(XSS)
        text = text_of(hostile)
        script = text.rpartition("<script>")
        assert text.count("<script>") == 1
        assert "window.hacked" in script[0]
        assert not re.search(
            r"<(img|svg/|iframe|style>\*|a href=.?javascript|object|embed|base|form action=javascript)", text
        )
        assert not re.search("[\x00-\x08\x0e-\x1f\x7f]", text)

    def test_every_page_of_a_run_escapes_them(self, hostile: Viewing) -> None:
        for key in keys(hostile)[:12]:
            response = hostile.client.get(f"/run/{key}/")
            assert response.status_code == 200
            assert response.text.count("<script>") == 1
            assert "<img" not in response.text
            assert asked(hostile, f"/run/{key}/", "block-0").json()[0]["sample"]["user_input"] in XSS


class TestErrors:
    def test_they_do_not_name_the_folder(self, tmp_path: Path) -> None:
        run = tmp_path / "broken"
        run.mkdir()
        (run / "scores.jsonl").write_text("{}\n")
        (run / "run.json").write_text('{"version": 99, "metrics": [], "judged": 1}')
        found = viewing(tmp_path)
        (key,) = keys(found)
        for place in ("/", f"/run/{key}/", f"/run/{key}/index", f"/run/{key}/block-0"):
            text = found.client.get(place).text
            assert str(tmp_path) not in text
            assert "Traceback" not in text
        assert found.client.get(f"/run/{key}/").status_code == 422
        assert "broken/run.json was not written by this version of ragmetrics" in text_of(found)

    def test_a_run_that_is_removed_is_gone(self, runs: Path, tmp_path: Path) -> None:
        (tmp_path / "a.jsonl").write_bytes((runs / "sub" / "few.jsonl").read_bytes())
        found = viewing(tmp_path)
        (key,) = keys(found)
        (tmp_path / "a.jsonl").unlink()
        assert found.client.get(f"/run/{key}/").status_code == 404
        assert keys(found) == []

    def test_what_cannot_be_served(self, tmp_path: Path, runs: Path) -> None:
        assert refused(tmp_path / "none") == (
            2,
            f"ragmetrics: {tmp_path / 'none'} is not a directory: give a folder of runs\n",
        )
        status, said = refused(runs, "--host", "no.such.host.invalid", token=TOKEN)
        assert (status, said.partition(":")[0]) == (2, "ragmetrics")
        assert said.startswith("ragmetrics: --host no.such.host.invalid cannot be used: ")

    @pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
    def test_folders_of_others_are_left_out(self, tmp_path: Path) -> None:
        (tmp_path / "theirs").mkdir(mode=0o000)
        assert keys(viewing(tmp_path)) == []
